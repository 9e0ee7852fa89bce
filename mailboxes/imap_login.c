#include "mailboxes/imap_session.h"

#include <string.h>

#include "monitor/frame.h"
#include "monitor/mem.h"
#include "monitor/sasl.h"
#include "monitor/text.h"

/*
 * The login.  LOGIN is the library's; what goes by AUTHENTICATE (RFC 3501
 * 6.2.2) is said here, for the library knows no OAUTHBEARER and loses what a
 * server has against a token.
 */

/*
 * A response may ride on the command where the server takes one so (RFC
 * 4959), as long as the line has no more bytes than it must read (RFC 7162 4).
 */
#define LINE_BYTES	8192

#define RESPONSE_SIZE	(2 * FRAME_SECRET_SIZE)

static const struct mechanism {
	enum sasl_mechanism	 sasl;
	const char		*name;
	unsigned		 capability;
	bool			 oauth;
} mechanisms[] = {			/* the best of each kind first */
	{ SASL_OAUTHBEARER,	"OAUTHBEARER",	IMAP_CAP_OAUTHBEARER,	true },
	{ SASL_XOAUTH2,		"XOAUTH2",	IMAP_CAP_XOAUTH2,	true },
	{ SASL_PLAIN,		"PLAIN",	IMAP_CAP_PLAIN,		false },
};

/* NULL: none that both sides can. */
static const struct mechanism *
choose(const struct mailbox_box *box, unsigned capability)
{
	for (size_t i = 0; i < NITEMS(mechanisms); i++)
		if (mechanisms[i].oauth == box->oauth &&
		    (mechanisms[i].capability & capability) != 0)
			return (&mechanisms[i]);
	return (NULL);
}

static int
authenticate(struct mailbox_box *box, const struct mechanism *m,
    const char *secret)
{
	struct imap_stream	*s = box->session->stream;
	bool			 at_once = (s->filter.capability &
				    IMAP_CAP_SASL_IR) != 0;
	char			 response[RESPONSE_SIZE], *command;
	int			 r;

	if (sasl_response(m->sasl, box->user, secret, box->host, box->port,
	    response, sizeof response) == 0)
		panic("a secret longer than a frame");
	s->answered = 0;
	s->further = m->oauth ? sasl_acknowledge(m->sasl) : "*";
	if (at_once && strlen(response) < LINE_BYTES - 64)
		command = mem_printf("AUTHENTICATE %s %s", m->name, response);
	else {
		command = mem_printf("AUTHENTICATE %s", m->name);
		s->answer = mem_strdup(response);
	}
	mem_wipe(response, sizeof response);
	imap_arm(box, 0, IMAP_BUDGET);
	/* What was told before the login need not hold after it. */
	s->filter.capability = 0;
	r = mailimap_custom_command(box->session->imap, command);
	s->further = NULL;
	mem_wipe(command, strlen(command));
	mem_free(command);
	return (r);
}

static int
say_login(struct mailbox_box *box, const char *secret)
{
	imap_arm(box, 0, IMAP_BUDGET);
	box->session->stream->filter.capability = 0;
	return (mailimap_login(box->session->imap, box->user, secret));
}

/* The server's own words about the token stand behind those of its NO. */
static int
refused(struct mailbox_box *box, const struct mechanism *m,
    const char *secret, struct mailbox_trouble *trouble)
{
	char	said[IMAP_TEXT] = "";

	if (m != NULL && m->oauth)
		sasl_explained(box->session->stream->filter.challenge, said,
		    sizeof said);
	sasl_scrub(said, secret);
	imap_lost(box, IMAP_LOGGING_IN, trouble);
	if (said[0] != '\0')
		text_appendf(trouble->reason, sizeof trouble->reason, " %s",
		    said);
	return (-1);
}

/*
 * Who we are (RFC 2971).  Some providers open no folder to a client that does
 * not say it; what they answer, a refusal included, changes nothing.
 */
static int
introduce(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	int	r;

	if ((box->session->stream->filter.capability & IMAP_CAP_ID) == 0)
		return (0);
	imap_arm(box, 0, IMAP_BUDGET);
	r = mailimap_custom_command(box->session->imap,
	    "ID (\"name\" \"mailflowd\")");
	return (imap_result(box, r, IMAP_INTRODUCING, trouble) < 0 ? -1 : 0);
}

int
imap_login(struct mailbox_box *box, const char *secret,
    struct mailbox_trouble *trouble)
{
	struct imap_filter	*f = &box->session->stream->filter;
	const struct mechanism	*m = NULL;
	bool			 command;
	int			 r;

	if (f->greeting == IMAP_GREETING_PREAUTH || box->user[0] == '\0')
		return (introduce(box, trouble));
	if (!transport_verified(box->session->stream->transport) &&
	    !box->insecure_auth)
		return (imap_ours(box, IMAP_LOGGING_IN, CLASS_TLS,
		    "the password is not sent over a connection that is not "
		    "verified (insecure_auth)", trouble));
	command = !box->oauth && (f->capability & IMAP_CAP_LOGINDISABLED) == 0;
	if (!command && (m = choose(box, f->capability)) == NULL)
		return (imap_ours(box, IMAP_LOGGING_IN, CLASS_AUTH, box->oauth ?
		    "the server offers neither AUTH=OAUTHBEARER nor "
		    "AUTH=XOAUTH2" : "the server disables LOGIN on this "
		    "connection and does not offer AUTH=PLAIN", trouble));
	r = command ? say_login(box, secret) : authenticate(box, m, secret);
	if ((r = imap_result(box, r, IMAP_LOGGING_IN, trouble)) != 0)
		return (r < 0 ? -1 : refused(box, m, secret, trouble));
	box->session->imap->imap_state = MAILIMAP_STATE_AUTHENTICATED;
	if (imap_learn(box, trouble) < 0)
		return (-1);
	return (introduce(box, trouble));
}
