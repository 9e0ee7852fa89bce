#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/classify.h"
#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

/* Room that the transcript's last lines can count on. */
#define TRANSCRIPT_RESERVE	256
#define TRANSCRIPT_LINE		240

/* The clock */

void
smtp_stage(struct smtp_session *s, enum stage next)
{
	int64_t	now = clock_boot_ms(), spent = now - s->stage_boot_ms;
	int32_t	*ms = &s->out->stage_ms[s->out->stage];

	if (s->out->stage != STAGE_NONE) {
		if (*ms < 0)
			*ms = 0;
		*ms = spent > INT32_MAX - *ms ? INT32_MAX :
		    (int32_t)(*ms + spent);
	}
	s->stage_boot_ms = now;
	if (next != STAGE_NONE)
		s->out->stage = next;
}

int64_t
smtp_step_deadline(const struct smtp_session *s, int64_t ms)
{
	int64_t	until = clock_boot_ms() + ms;

	return (until < s->deadline_boot_ms ? until : s->deadline_boot_ms);
}

/* The transcript */

static void
transcript(struct smtp_session *s, const char *who, const char *text)
{
	char	*t = s->out->transcript;
	size_t	 have = strlen(t);

	if (s->transcript_full)
		return;
	if (have + strlen(text) + 32 > OUTCOME_TRANSCRIPT - TRANSCRIPT_RESERVE) {
		s->transcript_full = true;
		text_append(t, OUTCOME_TRANSCRIPT, "[the rest is cut]\n");
		return;
	}
	text_appendf(t, OUTCOME_TRANSCRIPT, "+%lld %s %s\n",
	    (long long)(clock_boot_ms() - s->started_boot_ms), who, text);
}

void
smtp_note(struct smtp_session *s, const char *fmt, ...)
{
	char	text[TRANSCRIPT_LINE];
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	transcript(s, "--", text);
}

/* Scrubbed before it is cut: half a secret is no longer found. */
void
smtp_note_line(struct smtp_session *s, char who, const char *bytes, size_t len)
{
	char	whole[SMTP_REPLY_MAX + 1], text[TRANSCRIPT_LINE];
	char	name[3] = { who, ':', '\0' };

	while (len > 0 && (bytes[len - 1] == '\r' || bytes[len - 1] == '\n'))
		len--;
	text_clean(whole, sizeof whole, bytes, len);
	sasl_scrub(whole, s->job->secret);
	text_copy(text, sizeof text, whole);
	transcript(s, name, text);
}

static void
note_reply(struct smtp_session *s, const char *bytes, size_t len)
{
	const char	*end = bytes + len, *lf;

	for (; bytes < end; bytes = lf + 1) {
		lf = memchr(bytes, '\n', (size_t)(end - bytes));
		if (lf == NULL)
			lf = end - 1;
		smtp_note_line(s, 'S', bytes, (size_t)(lf + 1 - bytes));
	}
}

/* The end */

/* What was awaited, after "connection closed by the server" and the like. */
static const char *const awaiting[STAGES] = {
	[STAGE_NONE]	= "",
	[STAGE_LOOKUP]	= "",
	[STAGE_CONNECT]	= "",
	[STAGE_GREETING] = " before its greeting",
	[STAGE_EHLO]	= " before its reply to EHLO",
	[STAGE_STARTTLS] = " before its reply to STARTTLS",
	[STAGE_EHLO2]	= " before its reply to EHLO after STARTTLS",
	[STAGE_AUTH]	= " before its reply to AUTH",
	[STAGE_MAIL]	= " before its reply to MAIL",
	[STAGE_RCPT]	= " before its reply to RCPT",
	[STAGE_DATA]	= " before its reply to DATA",
	[STAGE_DOT]	= " before its reply to the final dot",
	[STAGE_QUIT]	= "",
};

static const struct {
	enum outcome_class	class;
	bool			blind;
} meanings[] = {
	[TRANSPORT_OK]		= { CLASS_OTHER,	true },
	[TRANSPORT_NXDOMAIN]	= { CLASS_DNS,		false },
	[TRANSPORT_RESOLVER]	= { CLASS_DNS,		true },
	[TRANSPORT_NO_ADDRESS]	= { CLASS_DNS,		false },
	[TRANSPORT_REFUSED]	= { CLASS_NETWORK,	false },
	[TRANSPORT_UNREACHABLE]	= { CLASS_NETWORK,	false },
	[TRANSPORT_TIMEOUT]	= { CLASS_NETWORK,	false },
	[TRANSPORT_RESET]	= { CLASS_NETWORK,	false },
	[TRANSPORT_EOF]		= { CLASS_NETWORK,	false },
	[TRANSPORT_BUDGET]	= { CLASS_OTHER,	false },
	[TRANSPORT_CERT]	= { CLASS_TLS,		false },
	[TRANSPORT_TLS]		= { CLASS_TLS,		false },
	[TRANSPORT_LOCAL]	= { CLASS_OTHER,	true },
};

static int
finish(struct smtp_session *s, enum outcome_class class, enum verdict verdict,
    bool blind)
{
	s->out->class = class;
	s->out->verdict = verdict;
	s->out->blind = blind;
	s->over = true;
	return (-1);
}

/*
 * Once the last byte of the dot is with the kernel the server may have the
 * message, whatever breaks then: silence is no refusal (RFC 5321 4.5.3.2.6).
 */
static int
end_uncertain(struct smtp_session *s, const char *why)
{
	text_copy(s->out->reply, sizeof s->out->reply, why);
	smtp_note(s, "uncertain: %s", why);
	return (finish(s, CLASS_UNCERTAIN, VERDICT_UNCERTAIN, false));
}

int
smtp_end(struct smtp_session *s, enum outcome_class class,
    enum verdict verdict, bool blind, const char *fmt, ...)
{
	char	raw[OUTCOME_REPLY], text[OUTCOME_REPLY];
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof raw, fmt, ap);
	va_end(ap);
	text_clean(text, sizeof text, raw, strlen(raw));
	sasl_scrub(text, s->job->secret);
	if (s->dot_sent)
		return (end_uncertain(s, text));
	text_copy(s->out->reply, sizeof s->out->reply, text);
	smtp_note(s, "%s", text);
	return (finish(s, class, verdict, blind));
}

int
smtp_end_transport(struct smtp_session *s, enum transport_error error,
    const char *reason)
{
	const char	*when = awaiting[s->out->stage];

	if (s->out->stage == STAGE_DOT && !s->dot_sent)
		when = " while the message was sent";
	if (error == TRANSPORT_CERT || error == TRANSPORT_TLS ||
	    error == TRANSPORT_LOCAL)
		when = "";
	return (smtp_end(s, meanings[error].class, VERDICT_TEMPORARY,
	    meanings[error].blind, "%s%s", reason, when));
}

/*
 * What is no 235 is a refused login, our own trouble, whatever else its words
 * are like.  But a server that says "system full" or "too busy" to AUTH is in
 * trouble itself, and one that wants TLS first has not looked at the login.
 */
static bool
is_login_trouble(const struct reply *r, enum outcome_class class)
{
	if (r->code == 535 || r->code == 534)
		return (true);
	return (r->code != 421 && class != CLASS_SYSTEM_FULL &&
	    class != CLASS_CONGESTION && class != CLASS_TLS);
}

/* The message was never offered: it is not refused for good. */
static int
end_login(struct smtp_session *s, const struct reply *r,
    enum outcome_class class)
{
	if (is_login_trouble(r, class))
		return (finish(s, CLASS_AUTH, VERDICT_TEMPORARY, true));
	return (finish(s, class, VERDICT_TEMPORARY, false));
}

int
smtp_end_reply(struct smtp_session *s, const struct reply *r)
{
	struct meaning	m = classify(s->out->stage, r);

	s->out->code = r->code;
	s->out->contradiction = r->contradiction;
	text_copy(s->out->enhanced, sizeof s->out->enhanced, r->enhanced);
	text_copy(s->out->reply, sizeof s->out->reply, r->text);
	sasl_scrub(s->out->reply, s->job->secret);
	if (s->out->stage == STAGE_AUTH)
		return (end_login(s, r, m.class));
	return (finish(s, m.class, m.verdict, false));
}

int
smtp_expect(struct smtp_session *s, const struct reply *r, int digit)
{
	char	quoted[OUTCOME_REPLY];

	if (r->code / 100 == digit)
		return (0);
	if (r->code / 100 == 4 || r->code / 100 == 5)
		return (smtp_end_reply(s, r));
	reply_print(r, quoted, sizeof quoted);
	if (r->code == 0)
		return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, false,
		    "not an SMTP reply: %s", quoted));
	return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, false,
	    "a reply that makes no sense here: %s", quoted));
}

/* The dialogue */

static int
end_broken(struct smtp_session *s)
{
	return (smtp_end_transport(s, transport_error(s->server),
	    transport_reason(s->server)));
}

/*
 * What came before the command is no reply to it.  A refusal ends the
 * session ("421 shutting down"), anything else is dropped: taken for the
 * next reply it would put the dialogue out of step.
 */
static int
drop_unasked(struct smtp_session *s)
{
	struct reply	r;

	while (smtp_take_reply(s, &r, NULL, NULL)) {
		if (r.code >= 400)
			return (smtp_end_reply(s, &r));
		smtp_note(s, "not asked for; ignored");
	}
	return (0);
}

int
smtp_say(struct smtp_session *s, const char *line, const char *shown)
{
	size_t		len = strlen(line), done = 0;
	ptrdiff_t	n;

	if (drop_unasked(s) != 0)
		return (-1);
	smtp_note_line(s, 'C', shown != NULL ? shown : line,
	    strlen(shown != NULL ? shown : line));
	transport_arm(s->server,
	    smtp_step_deadline(s, s->job->timeout_ms), SMTP_REPLY_MAX);
	for (; done < len; done += (size_t)n)
		if ((n = transport_write(s->server, line + done,
		    len - done)) < 0)
			return (end_broken(s));
	return (0);
}

bool
smtp_take_reply(struct smtp_session *s, struct reply *r, char *bytes_r,
    size_t *len_r)
{
	size_t	len;

	if (smtp_gather(&s->in, &len) != SMTP_WHOLE)
		return (false);
	reply_parse(r, s->in.bytes, len);
	note_reply(s, s->in.bytes, len);
	if (bytes_r != NULL) {
		memcpy(bytes_r, s->in.bytes, len);
		*len_r = len;
	}
	smtp_gather_drop(&s->in, len);
	return (true);
}

/*
 * The connection broke in the middle of a line.  A refusal is believed all
 * the same, its text is what the admin wants to see; a half 250 is not.
 */
static bool
take_torn_refusal(struct smtp_session *s, struct reply *r)
{
	if (s->in.len == 0)
		return (false);
	reply_parse(r, s->in.bytes, s->in.len);
	if (r->code < 400)
		return (false);
	note_reply(s, s->in.bytes, s->in.len);
	smtp_gather_drop(&s->in, s->in.len);
	return (true);
}

int
smtp_hear(struct smtp_session *s, int64_t timeout_ms, struct reply *r,
    char *bytes_r, size_t *len_r)
{
	ptrdiff_t	n;

	transport_arm(s->server, smtp_step_deadline(s, timeout_ms),
	    2 * SMTP_REPLY_MAX);
	while (!smtp_take_reply(s, r, bytes_r, len_r)) {
		if (s->in.len == sizeof s->in.bytes)
			return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY,
			    false, "the server's reply has no end: %zu bytes%s",
			    s->in.len, awaiting[s->out->stage]));
		n = transport_read(s->server, s->in.bytes + s->in.len,
		    sizeof s->in.bytes - s->in.len);
		if (n <= 0)
			return (take_torn_refusal(s, r) ? 0 : end_broken(s));
		s->in.len += (size_t)n;
	}
	return (0);
}
