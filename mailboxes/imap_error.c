#include "mailboxes/imap_error.h"

#include "mailboxes/imap_refusal.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* Doing what, as "while ...". */
static const char *const doings[] = {
	[IMAP_GREETED] = "greeting",
	[IMAP_ASKING] = "CAPABILITY",
	[IMAP_STARTING_TLS] = "STARTTLS",
	[IMAP_LOGGING_IN] = "login",
	[IMAP_LISTING] = "LIST",
	[IMAP_SELECTING] = "SELECT",
	[IMAP_POLLING] = "NOOP",
	[IMAP_FETCHING] = "FETCH",
	[IMAP_IDLING] = "IDLE",
	[IMAP_REMOVING] = "clean-up",
	[IMAP_INTRODUCING] = "ID",
};

static const struct {
	enum transport_error	error;
	enum outcome_class	class;
} classes[] = {
	{ TRANSPORT_NXDOMAIN, CLASS_DNS },
	{ TRANSPORT_RESOLVER, CLASS_DNS },
	{ TRANSPORT_NO_ADDRESS, CLASS_DNS },
	{ TRANSPORT_CERT, CLASS_TLS },
	{ TRANSPORT_TLS, CLASS_TLS },
	{ TRANSPORT_LOCAL, CLASS_OTHER },
	{ TRANSPORT_BUDGET, CLASS_OTHER },
};

void
imap_error_ours(struct mailbox_trouble *t, enum outcome_class class,
    const char *sentence)
{
	t->retry = MAILBOX_BACK_OFF;
	t->class = class;
	text_copy(t->reason, sizeof t->reason, sentence);
}

void
imap_error_transport(struct mailbox_trouble *t, enum transport_error error,
    const char *reason)
{
	size_t	i;

	imap_error_ours(t, CLASS_NETWORK, reason);
	for (i = 0; i < NITEMS(classes); i++)
		if (classes[i].error == error)
			t->class = classes[i].class;
	if (error == TRANSPORT_EOF || error == TRANSPORT_RESET)
		t->retry = MAILBOX_AT_ONCE;
}

/* "login: NO [CODE] text". */
static void
say_status(struct mailbox_trouble *t, const struct imap_filter *f,
    const char *verb, const char *what)
{
	t->reason[0] = '\0';
	text_appendf(t->reason, sizeof t->reason, "%s: %s", what, verb);
	if (f->code[0] != '\0')
		text_appendf(t->reason, sizeof t->reason, " [%s]", f->code);
	text_appendf(t->reason, sizeof t->reason, " %s", f->text);
}

/* The words of the server by which the session did not go on. */
static void
refused(struct mailbox_trouble *t, const struct imap_filter *f,
    enum imap_doing doing, enum outcome_class class)
{
	static const char *const	verbs[] = {
		[IMAP_PENDING] = "BYE", [IMAP_OK] = "BYE",
		[IMAP_NO] = "NO", [IMAP_BAD] = "BAD"
	};

	t->retry = MAILBOX_BACK_OFF;
	t->class = class;
	if (doing == IMAP_LOGGING_IN &&
	    imap_refusal(f->tagged, f->code, f->text)) {
		t->retry = MAILBOX_REFUSED;
		t->class = CLASS_AUTH;
	}
	say_status(t, f, verbs[f->tagged], t->class == CLASS_AUTH ?
	    "login refused (wrong user or password?)" : doings[doing]);
}

void
imap_error(struct mailbox_trouble *t, const struct imap_stream *s,
    enum imap_doing doing)
{
	const struct imap_filter	*f = &s->filter;
	enum transport_error		 error = transport_error(s->transport);

	t->idle = doing == IMAP_IDLING;
	if (f->end == IMAP_FILTER_BYE &&
	    (f->tagged == IMAP_NO || f->tagged == IMAP_BAD))
		refused(t, f, doing, CLASS_OTHER);
	else if (f->end == IMAP_FILTER_BYE) {
		refused(t, f, doing, CLASS_NETWORK);
		if (doing != IMAP_GREETED && doing != IMAP_LOGGING_IN)
			t->retry = MAILBOX_AT_ONCE;
	} else if (f->end == IMAP_FILTER_BROKEN) {
		imap_error_ours(t, CLASS_OTHER, "");
		text_appendf(t->reason, sizeof t->reason,
		    "%s: the server sent %s", doings[doing], f->why);
		/* Whether one can look without IDLE the next session tells. */
		if (t->idle)
			t->retry = MAILBOX_AT_ONCE;
	} else if (error != TRANSPORT_OK) {
		imap_error_transport(t, error, "");
		text_appendf(t->reason, sizeof t->reason, "%s: %s",
		    doings[doing], transport_reason(s->transport));
		if (f->tagged == IMAP_PENDING && f->text[0] != '\0')
			text_appendf(t->reason, sizeof t->reason,
			    " (it said: %s)", f->text);
		/* So much news is no reason to see none. */
		if (error == TRANSPORT_BUDGET &&
		    (doing == IMAP_IDLING || doing == IMAP_POLLING))
			t->retry = MAILBOX_AT_ONCE;
	} else if (f->tagged == IMAP_NO || f->tagged == IMAP_BAD)
		refused(t, f, doing, CLASS_OTHER);
	else {
		imap_error_ours(t, CLASS_OTHER, "");
		text_appendf(t->reason, sizeof t->reason,
		    "%s: the server's answer makes no sense", doings[doing]);
	}
}
