#include "mailboxes/imap_session.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static int
address_family(enum address_family family)
{
	return (family == FAMILY_IPV4 ? AF_INET : family == FAMILY_IPV6 ?
	    AF_INET6 : AF_UNSPEC);
}

/* One address after the other; the last one's failure is told. */
static struct transport *
connect_any(struct mailbox_box *box, int64_t deadline,
    struct mailbox_trouble *trouble)
{
	struct transport_addresses	 a;
	struct transport		*t = NULL;
	enum transport_error		 error = TRANSPORT_NO_ADDRESS;
	char				 reason[TRANSPORT_REASON] = "";
	char				 where[OUTCOME_ADDRESS];
	size_t				 i;

	if (transport_lookup(box->host, box->port, address_family(box->family),
	    box->resolver, deadline, &a) < 0) {
		imap_error_transport(trouble, a.error, a.reason);
		return (NULL);
	}
	for (i = 0; t == NULL && i < a.count; i++) {
		t = transport_connect(&a.list[i], box->source_address,
		    deadline, &error, reason);
		if (t == NULL) {
			transport_print_address(&a.list[i], where,
			    sizeof where);
			imap_error_transport(trouble, error, "");
			text_appendf(trouble->reason, sizeof trouble->reason,
			    "%s port %u (%s): %s", box->host,
			    (unsigned)box->port, where, reason);
		}
	}
	return (t);
}

/* TLS on the connection; what the filter read in the clear does not count. */
static int
secure(struct mailbox_box *box, int64_t deadline,
    struct mailbox_trouble *trouble)
{
	struct imap_stream	*s = box->session->stream;

	if (transport_starttls(s->transport, box->host, box->ca_file,
	    box->insecure_auth || box->tls == TLS_OPPORTUNISTIC ?
	    TRANSPORT_OPPORTUNISTIC : TRANSPORT_VERIFY, deadline) < 0)
		return (imap_lost(box, IMAP_STARTING_TLS, trouble));
	imap_filter_secured(&s->filter);
	return (0);
}

/* A greeting or an answer may have told the capabilities already. */
int
imap_learn(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	int	r;

	if ((box->session->stream->filter.capability & IMAP_CAP_KNOWN) != 0)
		return (0);
	imap_arm(box, 0, IMAP_BUDGET);
	/* The library's own function crashes without the untagged answer. */
	r = mailimap_custom_command(box->session->imap, "CAPABILITY");
	return (imap_result(box, r, IMAP_ASKING, trouble) < 0 ? -1 : 0);
}

static int
greet(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	int			 r;

	imap_arm(box, 0, IMAP_BUDGET);
	r = mailimap_connect(s->imap, s->stream->stream);
	if (r != MAILIMAP_NO_ERROR_AUTHENTICATED &&
	    r != MAILIMAP_NO_ERROR_NON_AUTHENTICATED)
		return (imap_lost(box, IMAP_GREETED, trouble));
	return (imap_learn(box, trouble));
}

/* RFC 3501 6.2.1; text sent along with the answer is an injection. */
static int
starttls(struct mailbox_box *box, int64_t deadline,
    struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	struct imap_filter	*f = &s->stream->filter;
	bool			 must = box->tls == TLS_STARTTLS;
	int			 r;

	if (f->greeting == IMAP_GREETING_PREAUTH && must)
		return (imap_ours(box, IMAP_STARTING_TLS, CLASS_TLS,
		    "the server takes us as logged in (PREAUTH) before TLS, "
		    "so TLS cannot be had", trouble));
	if (f->greeting == IMAP_GREETING_PREAUTH ||
	    ((f->capability & IMAP_CAP_STARTTLS) == 0 && !must))
		return (0);
	imap_arm(box, 0, IMAP_BUDGET);
	r = mailimap_starttls(s->imap);
	if (f->tagged == IMAP_OK &&
	    (f->after_tagged > 0 || f->end != IMAP_FILTER_OPEN))
		return (imap_ours(box, IMAP_STARTING_TLS, CLASS_TLS,
		    "text came in the clear after the answer to STARTTLS: "
		    "somebody may be tampering", trouble));
	r = imap_result(box, r, IMAP_STARTING_TLS, trouble);
	if (r < 0)
		return (-1);
	if (r > 0)
		return (must ? imap_ours(box, IMAP_STARTING_TLS, CLASS_TLS,
		    "the server refuses STARTTLS", trouble) : 0);
	if (secure(box, deadline, trouble) < 0)
		return (-1);
	return (imap_learn(box, trouble));
}

int
imap_open(struct mailbox_box *box, const char *secret,
    const struct mailbox_sink *sink, struct mailbox_trouble *trouble)
{
	int64_t			 deadline;
	struct transport	*t;
	int			 r;

	deadline = clock_boot_ms() + box->connect_timeout_ms;
	if ((t = connect_any(box, deadline, trouble)) == NULL)
		return (-1);
	box->session = mem_alloc(sizeof *box->session);
	box->session->stream = imap_stream_new(t);
	if ((box->session->imap = mailimap_new(0, NULL)) == NULL)
		panic("out of memory");
	imap_begin_step(box, box->connect_timeout_ms + box->timeout_ms);
	if ((box->tls == TLS_IMPLICIT && secure(box, deadline, trouble) < 0) ||
	    greet(box, trouble) < 0 ||
	    ((box->tls == TLS_STARTTLS || box->tls == TLS_OPPORTUNISTIC) &&
	    starttls(box, deadline, trouble) < 0) ||
	    imap_login(box, secret, trouble) < 0 ||
	    imap_find_folders(box, sink, trouble) < 0)
		return (-1);
	r = imap_select(box, &box->folders[0], trouble);
	if (r > 0)
		return (imap_lost(box, IMAP_SELECTING, trouble));
	return (r);
}
