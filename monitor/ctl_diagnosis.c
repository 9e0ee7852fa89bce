#include "monitor/ctl_diagnosis.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "monitor/ctl_say.h"
#include "monitor/ctl_table.h"
#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/text.h"

#define SLOW_GREETING_MS	5000
#define CERTIFICATE_SOON	14	/* days */
#define WIDTH			76

/* What one address came to. */

static bool
takes_mail(const struct diagnosed *d)
{
	return (!d->skipped && d->o.verdict == VERDICT_ACCEPTED);
}

/* "none: " and why: TLS was tried. */
static bool
lacks_tls(const struct diagnosed *d)
{
	return (strncmp(d->o.tls, "none: ", 6) == 0);
}

static bool
is_fine(const struct diagnosed *d)
{
	return (takes_mail(d) && !lacks_tls(d));
}

static enum outcome_class
kind_of(const struct diagnosed *d)
{
	return (takes_mail(d) && lacks_tls(d) ? CLASS_TLS : d->o.class);
}

/* A connection came about. */
static bool
is_reached(const struct diagnosed *d)
{
	return (!d->skipped && (takes_mail(d) || d->o.stage > STAGE_CONNECT));
}

int
diagnosis_of(const struct diagnosed *d, size_t count)
{
	size_t	tried = 0, fine = 0, reached = 0;

	for (size_t i = 0; i < count; i++) {
		tried += !d[i].skipped;
		fine += is_fine(&d[i]);
		reached += is_reached(&d[i]);
	}
	if (reached == 0)
		return (DIAGNOSIS_UNREACHABLE);
	return (fine == tried ? DIAGNOSIS_FINE : DIAGNOSIS_TROUBLE);
}

/* The table. */

static void
say_stage(const struct outcome *o, enum stage stage, char buf[static SAY_SHORT])
{
	buf[0] = '\0';
	if (o->stage_ms[stage] >= 0)
		say_short(o->stage_ms[stage], buf);
}

static const char *
result(const struct diagnosed *d)
{
	if (d->skipped)
		return ("no IPv6 here");
	if (d->no_mail)
		return ("takes no mail");
	if (is_fine(d))
		return ("fine");
	return (reason_title(kind_of(d)));
}

/* "TLSv1.3" of "TLSv1.3 unverified: self-signed certificate". */
static void
tls_word(const struct diagnosed *d, char *buf, size_t size)
{
	char	*end;

	text_copy(buf, size, d->o.tls);
	if ((end = strpbrk(buf, " :")) != NULL)
		*end = '\0';
}

static void
row(struct table *t, const struct diagnosed *d)
{
	const struct outcome	*o = &d->o;
	char			 preference[16] = "", tls[OUTCOME_TLS];
	char			 spans[3][SAY_SHORT];

	if (d->preference >= 0)
		snprintf(preference, sizeof preference, "%d", d->preference);
	tls_word(d, tls, sizeof tls);
	say_stage(o, STAGE_CONNECT, spans[0]);
	say_stage(o, STAGE_GREETING, spans[1]);
	say_stage(o, STAGE_EHLO, spans[2]);
	table_row(t, (const char *const []){ preference, o->host, o->address,
	    spans[0], spans[1], spans[2], tls, result(d) });
	table_paint(t, 7, is_fine(d) ? LEVEL_OK : d->skipped ? LEVEL_UNKNOWN :
	    LEVEL_CRITICAL);
}

static void
remark_offer(struct table *t, const struct outcome *o)
{
	char	text[OUTCOME_EXTENSIONS + 96] = "";

	if (o->extensions[0] == '\0')
		return;
	text_appendf(text, sizeof text, "offers %s", o->extensions);
	if (o->size_limit > 0)
		text_appendf(text, sizeof text, "; takes messages of up to %"
		    PRId64 " bytes", o->size_limit);
	table_remark(t, text);
}

static void
remark_tls(struct table *t, const struct diagnosed *d)
{
	const struct outcome	*o = &d->o;
	char			 text[OUTCOME_TLS + 96] = "";

	if (strncmp(o->tls, "none", 4) == 0 || o->tls[0] == '\0') {
		if (lacks_tls(d))
			text_appendf(text, sizeof text, "TLS was offered and "
			    "failed: %s", o->tls + 6);
	} else {
		text_append(text, sizeof text, o->tls);
	}
	if (o->certificate_days != OUTCOME_NO_CERTIFICATE &&
	    o->certificate_days < 0)
		text_appendf(text, sizeof text, "; its certificate ended %d "
		    "days ago", -o->certificate_days);
	else if (o->certificate_days != OUTCOME_NO_CERTIFICATE)
		text_appendf(text, sizeof text, "; its certificate ends in %d "
		    "days", o->certificate_days);
	table_remark(t, text);
}

/* "EHLO: 550 5.7.1 text", or what broke. */
static void
remark_reply(struct table *t, const struct outcome *o)
{
	char	text[OUTCOME_REPLY + 48] = "";

	if (o->code != 0)
		text_appendf(text, sizeof text, "%s: %d %s%s",
		    o->stage == STAGE_STARTTLS ? "STARTTLS" :
		    o->stage == STAGE_AUTH ? "AUTH" : "EHLO", o->code,
		    o->enhanced, o->enhanced[0] != '\0' ? " " : "");
	text_append(text, sizeof text, o->reply);
	table_remark(t, text);
}

static void
remarks(struct table *t, const struct diagnosed *d)
{
	const struct outcome	*o = &d->o;

	table_remark(t, o->greeting);
	remark_offer(t, o);
	remark_tls(t, d);
	if (!is_fine(d) && (o->stage != STAGE_GREETING || o->code == 0))
		remark_reply(t, o);
}

static void
print_table(const struct diagnosed *d, size_t count, FILE *f, bool colours)
{
	static const char *const	 heads[] = { "PREF", "HOST", "ADDRESS",
	    "CONNECT", "GREETING", "EHLO", "TLS", "RESULT", NULL };
	struct table			*t = table_new(heads);

	for (size_t i = 0; i < count; i++) {
		row(t, &d[i]);
		remarks(t, &d[i]);
	}
	table_print(t, f, colours);
	table_free(&t);
}

/* The sentences. */

static void
say(FILE *f, const char *text)
{
	char	filled[4096] = "";

	(void)reason_wrap(filled, sizeof filled, text, WIDTH, "", "");
	fputs(filled, f);
}

static void	saying(FILE *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

static void
saying(FILE *f, const char *fmt, ...)
{
	char	text[2048];
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	say(f, text);
}

static void
say_whole(const struct diagnosed *d, size_t count, FILE *f)
{
	size_t	tried = 0, fine = 0, reached = 0;

	for (size_t i = 0; i < count; i++) {
		tried += !d[i].skipped;
		fine += is_fine(&d[i]);
		reached += is_reached(&d[i]);
	}
	if (tried == 0)
		say(f, "No address could be tried: this machine has no IPv6.");
	else if (fine == tried && tried == 1)
		say(f, "The server is fine: it greets, answers EHLO, and TLS "
		    "is as wanted.");
	else if (fine == tried)
		saying(f, "All %zu addresses are fine.", fine);
	else if (reached == 0 && d[0].no_mail)
		say(f, "There is no server to look at.");
	else if (reached == 0)
		say(f, "No server could be reached.");
	else
		saying(f, "%zu of %zu addresses %s fine.", fine, tried,
		    fine == 1 ? "is" : "are");
}

/* Mail takes the first that answers; what does that come to? */
static void
say_way(const struct diagnosed *d, size_t count, FILE *f)
{
	const struct diagnosed	*first = NULL, *good = NULL;

	for (size_t i = 0; i < count; i++) {
		if (d[i].skipped)
			continue;
		if (first == NULL)
			first = &d[i];
		if (good == NULL && takes_mail(&d[i]))
			good = &d[i];
	}
	if (good == NULL || good == first || first->preference < 0)
		return;
	saying(f, "A sending server passes over %s and hands its mail to %s: "
	    "mail flows, by the second way.", first->o.host, good->o.host);
}

static void
say_one_trouble(const struct diagnosed *d, FILE *f)
{
	const struct outcome	*o = &d->o;

	if (d->no_mail)
		saying(f, "%s: takes no mail at all, and says so by a null MX "
		    "(RFC 7505). Mail to it comes back at once; no server is "
		    "to be mended. Is the domain spelled right?", o->host);
	else if (takes_mail(d))
		saying(f, "%s [%s]: %s. It offers STARTTLS and then fails to "
		    "do it: mail to it travels in clear text, and senders "
		    "that insist on TLS cannot send to it.", o->host,
		    o->address, reason_title(CLASS_TLS));
	else
		saying(f, "%s%s%s%s: %s. %s %s", o->host,
		    o->address[0] != '\0' ? " [" : "", o->address,
		    o->address[0] != '\0' ? "]" : "", reason_title(o->class),
		    reason_meaning(o->class, o->verdict, o->enhanced),
		    reason_do(o->class, o->verdict));
}

/* Each kind of trouble once. */
static void
say_trouble(const struct diagnosed *d, size_t count, FILE *f)
{
	bool	said[CLASSES] = { false };

	for (size_t i = 0; i < count; i++) {
		enum outcome_class	class = kind_of(&d[i]);

		if (is_fine(&d[i]) || d[i].skipped || said[class])
			continue;
		said[class] = true;
		fprintf(f, "\n");
		say_one_trouble(&d[i], f);
	}
}

static void
hint(const struct diagnosed *d, FILE *f)
{
	const struct outcome	*o = &d->o;
	int32_t			 greeting_ms = o->stage_ms[STAGE_GREETING];
	char			 span[SAY_SPAN];

	if (o->certificate_days != OUTCOME_NO_CERTIFICATE &&
	    o->certificate_days < CERTIFICATE_SOON)
		saying(f, "The certificate of %s %s.", o->host,
		    o->certificate_days < 0 ? "has ended" : "ends soon");
	if (greeting_ms >= SLOW_GREETING_MS)
		saying(f, "%s [%s] takes %s to greet. Some servers let every "
		    "stranger wait, to shake off spammers; where it is not "
		    "usual, the server or its name server is under strain.",
		    o->host, o->address, say_span(greeting_ms, span));
	if (is_fine(d) && d->tls == TLS_OPPORTUNISTIC &&
	    strcmp(o->tls, "none") == 0)
		saying(f, "%s [%s] offers no TLS: mail to it travels in clear "
		    "text.", o->host, o->address);
	if (strstr(o->tls, "unverified") != NULL)
		saying(f, "The certificate of %s [%s] does not hold. Most "
		    "senders do not mind on port 25; those that follow DANE "
		    "or MTA-STS do.", o->host, o->address);
}

void
diagnosis_print(const struct diagnosed *d, size_t count, FILE *f, bool colours)
{
	print_table(d, count, f, colours);
	putc('\n', f);
	say_whole(d, count, f);
	say_way(d, count, f);
	for (size_t i = 0; i < count; i++)
		hint(&d[i], f);
	say_trouble(d, count, f);
}
