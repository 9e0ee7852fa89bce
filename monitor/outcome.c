#include "monitor/outcome.h"

#include <string.h>

#include "monitor/mem.h"

static const char *const stages[STAGES] = {
	[STAGE_NONE]		= "",
	[STAGE_LOOKUP]		= "lookup",
	[STAGE_CONNECT]		= "connect",
	[STAGE_GREETING]	= "greeting",
	[STAGE_EHLO]		= "ehlo",
	[STAGE_STARTTLS]	= "starttls",
	[STAGE_EHLO2]		= "ehlo2",
	[STAGE_AUTH]		= "auth",
	[STAGE_MAIL]		= "mail",
	[STAGE_RCPT]		= "rcpt",
	[STAGE_DATA]		= "data",
	[STAGE_DOT]		= "dot",
	[STAGE_QUIT]		= "quit",
};

static const char *const classes[CLASSES] = {
	[CLASS_NONE]		= "",
	[CLASS_ACCEPTED]	= "accepted",
	[CLASS_SYSTEM_FULL]	= "system-full",
	[CLASS_MAILBOX_FULL]	= "mailbox-full",
	[CLASS_CONGESTION]	= "congestion",
	[CLASS_GREYLISTING]	= "greylisting",
	[CLASS_RATE_LIMIT]	= "rate-limit",
	[CLASS_SIZE]		= "size",
	[CLASS_POLICY]		= "policy",
	[CLASS_NO_SUCH_USER]	= "no-such-user",
	[CLASS_AUTH]		= "auth",
	[CLASS_TLS]		= "tls",
	[CLASS_DNS]		= "dns",
	[CLASS_NETWORK]		= "network",
	[CLASS_UNCERTAIN]	= "uncertain",
	[CLASS_UNDELIVERED]	= "undelivered",
	[CLASS_OTHER]		= "other",
	[CLASS_BLIND]		= "blind",
};

static const char *const verdicts[VERDICTS] = {
	[VERDICT_NONE]		= "",
	[VERDICT_ACCEPTED]	= "success",
	[VERDICT_TEMPORARY]	= "temporary",
	[VERDICT_PERMANENT]	= "permanent",
	[VERDICT_UNCERTAIN]	= "uncertain",
};

static size_t
index_of(const char *const *names, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], word) == 0)
			return (i);
	return (0);
}

void
outcome_init(struct outcome *o)
{
	memset(o, 0, sizeof *o);
	for (size_t i = 0; i < STAGES; i++)
		o->stage_ms[i] = -1;
	o->certificate_days = OUTCOME_NO_CERTIFICATE;
}

const char *
stage_name(enum stage s)
{
	return (stages[s]);
}

const char *
class_name(enum outcome_class c)
{
	return (classes[c]);
}

const char *
verdict_name(enum verdict v)
{
	return (verdicts[v]);
}

enum stage
stage_of(const char *word)
{
	return ((enum stage)index_of(stages, NITEMS(stages), word));
}

enum outcome_class
class_of(const char *word)
{
	return ((enum outcome_class)index_of(classes, NITEMS(classes), word));
}

enum verdict
verdict_of(const char *word)
{
	return ((enum verdict)index_of(verdicts, NITEMS(verdicts), word));
}
