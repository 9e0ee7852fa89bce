#include "alerts/notice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alerts/judge.h"
#include "alerts/words.h"
#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/text.h"

#define COLUMNS		76
#define INDENT		"    "

static const char *const kinds[NOTICE_KINDS] = {
	[NOTICE_FAILING]	= "failing",
	[NOTICE_REMINDER]	= "reminder",
	[NOTICE_ACCEPTING]	= "accepting",
	[NOTICE_DELIVERED]	= "delivered",
	[NOTICE_TEST]		= "test",
};

const char *
notice_kind_name(enum notice_kind kind)
{
	return (kinds[kind]);
}

enum notice_kind
notice_kind_of(const char *word)
{
	for (size_t i = 0; i < NITEMS(kinds); i++)
		if (strcmp(kinds[i], word) == 0)
			return ((enum notice_kind)i);
	return (NOTICE_FAILING);
}

/* Times and spans. */

const char *
notice_span(int64_t span_ms, char buf[static NOTICE_SPAN])
{
	static const struct {
		int64_t		 s;
		const char	*word;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	int64_t	s = span_ms / 1000, count;
	int	left = 2;

	if (s < 1)
		return (text_copy(buf, NOTICE_SPAN, "less than 1 s"), buf);
	buf[0] = '\0';
	for (size_t i = 0; i < NITEMS(units) && left > 0; i++) {
		count = s / units[i].s;
		s -= count * units[i].s;
		if (buf[0] != '\0')
			left = 0;		/* the unit next to the first */
		if (count == 0)
			continue;
		text_appendf(buf, NOTICE_SPAN, "%s%" PRId64 " %s",
		    buf[0] != '\0' ? " " : "", count, units[i].word);
	}
	return (buf);
}

static bool
broken_down(int64_t wall_ms, struct tm *tm)
{
	time_t	t = (time_t)(wall_ms / 1000);

	return (wall_ms > 0 && gmtime_r(&t, tm) != NULL);
}

const char *
notice_utc(int64_t wall_ms, char buf[static NOTICE_TIME])
{
	struct tm	tm;

	buf[0] = '\0';
	if (broken_down(wall_ms, &tm))
		strftime(buf, NOTICE_TIME, "%Y-%m-%d %H:%M:%S UTC", &tm);
	return (buf);
}

/* RFC 5322 3.3; not by strftime(), whose names follow the locale. */
static void
mail_date(int64_t wall_ms, char *buf, size_t size)
{
	static const char	days[] = "SunMonTueWedThuFriSat";
	static const char	months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm		tm;

	buf[0] = '\0';
	if (broken_down(wall_ms, &tm))
		snprintf(buf, size, "%.3s, %02d %.3s %d %02d:%02d:%02d +0000",
		    days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
		    tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* Everything the parts of a notice are written from. */
struct draft {
	struct notice			*n;
	const struct episode		*e;
	const struct notice_facts	*facts;
	int64_t				 now_ms;
	char				 who[EPISODE_SCOPE];
	char				 answer[64];	/* "452 4.3.1" or "" */
	char				 routes[96];	/* ", route a" */
	char				 title[80];
};

static void
put(struct draft *d, const char *s)
{
	text_append(d->n->body, sizeof d->n->body, s);
}

static void
wrap(struct draft *d, const char *text)
{
	reason_wrap(d->n->body, sizeof d->n->body, text, COLUMNS, "", "");
}

static void
paragraph(struct draft *d, const char *text)
{
	if (text[0] == '\0')
		return;
	wrap(d, text);
	put(d, "\n");
}

static void wrapf(struct draft *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

static void
wrapf(struct draft *d, const char *fmt, ...)
{
	char	text[1024];
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	paragraph(d, text);
}

static void
headed(struct draft *d, const char *head, const char *text)
{
	if (text[0] == '\0')
		return;
	put(d, head);
	put(d, "\n");
	reason_wrap(d->n->body, sizeof d->n->body, text, COLUMNS, "  ", "  ");
	put(d, "\n");
}

static void
moment(const struct draft *d, int64_t wall_ms, char *buf, size_t size)
{
	char	utc[NOTICE_TIME], local[64] = "";

	text_copy(buf, size, notice_utc(wall_ms, utc));
	if (wall_ms <= 0 || d->facts->local == NULL ||
	    d->facts->timezone[0] == '\0' ||
	    strcmp(d->facts->timezone, "UTC") == 0)
		return;
	d->facts->local(d->facts->timezone, wall_ms, local, sizeof local);
	if (local[0] != '\0')
		text_appendf(buf, size, " (%s)", local);
}

static void
fact(struct draft *d, const char *name, const char *value)
{
	char	first[32];

	if (value[0] == '\0')
		return;
	snprintf(first, sizeof first, "  %-15s", name);
	reason_wrap(d->n->body, sizeof d->n->body, value, COLUMNS, first,
	    "                 ");
}

static void
fact_time(struct draft *d, const char *name, int64_t wall_ms)
{
	char	when[128];

	moment(d, wall_ms, when, sizeof when);
	fact(d, name, when);
}

static void
fact_span(struct draft *d, const char *name, int64_t span_ms)
{
	char	span[NOTICE_SPAN];

	if (span_ms > 0)
		fact(d, name, notice_span(span_ms, span));
}

static enum verdict
verdict_seen(const struct episode *e)
{
	return (e->code >= 500 ? VERDICT_PERMANENT : VERDICT_TEMPORARY);
}

/* How long it lasted, or has lasted. */
static int64_t
lasted_ms(const struct draft *d)
{
	const struct episode	*e = d->e;
	int64_t			 end_ms = d->now_ms;

	if (d->n->kind == NOTICE_ACCEPTING && e->accepting_ms != 0)
		end_ms = e->accepting_ms;
	else if ((d->n->kind == NOTICE_ACCEPTING ||
	    d->n->kind == NOTICE_DELIVERED) && e->delivered_ms != 0)
		end_ms = e->delivered_ms;
	return (end_ms - episode_since_ms(e));
}

/* What the server said, as people quote it, each line of it harmless. */
static void
quote(const struct episode *e, const char *reply, char *buf, size_t size)
{
	char	code[8] = "", clean[OUTCOME_REPLY];

	text_clean(clean, sizeof clean, reply, strlen(reply));
	buf[0] = '\0';
	if (e->code != 0)
		snprintf(code, sizeof code, "%d", e->code % 1000);
	if (code[0] != '\0' && strncmp(clean, code, strlen(code)) != 0) {
		text_appendf(buf, size, "%s ", code);
		if (e->enhanced[0] != '\0' && strncmp(clean, e->enhanced,
		    strlen(e->enhanced)) != 0)
			text_appendf(buf, size, "%s ", e->enhanced);
	}
	text_append(buf, size, clean);
}

/* Where in the session it was said. */
static const char *const moments[STAGES] = {
	[STAGE_NONE]		= "",
	[STAGE_LOOKUP]		= "when it was looked up",
	[STAGE_CONNECT]		= "when it was connected to",
	[STAGE_GREETING]	= "instead of a greeting",
	[STAGE_EHLO]		= "to EHLO",
	[STAGE_STARTTLS]	= "at STARTTLS",
	[STAGE_EHLO2]		= "to EHLO inside TLS",
	[STAGE_AUTH]		= "to AUTH",
	[STAGE_MAIL]		= "to MAIL FROM",
	[STAGE_RCPT]		= "to RCPT TO",
	[STAGE_DATA]		= "to DATA",
	[STAGE_DOT]		= "to the end of the message",
	[STAGE_QUIT]		= "to QUIT",
};

/* The parts. */

static void
part_said(struct draft *d)
{
	const struct episode	*e = d->e;
	char			 said[OUTCOME_REPLY + 32];

	if (e->class == CLASS_BLIND)
		wrapf(d, "This monitor cannot look (%s). That says nothing "
		    "about the mail itself: no probe is counted as lost "
		    "meanwhile. The reason:", d->who);
	else if (e->origin == EPISODE_BY_AGE)
		wrapf(d, "%s accepted a test message, but it has not arrived "
		    "in time.", d->who);
	else if (e->origin == EPISODE_BY_BOUNCE)
		wrapf(d, "A delivery report says that %s does not take mail:",
		    d->who);
	else if (e->code == 0)
		wrapf(d, "A test message could not be handed to %s%s%s:",
		    d->who, e->stage != STAGE_NONE ? ", " : "",
		    moments[e->stage]);
	else
		wrapf(d, "%s answered %s:", d->who, moments[e->stage]);
	quote(e, e->last_reply, said, sizeof said);
	if (said[0] == '\0')
		return;
	reason_wrap(d->n->body, sizeof d->n->body, said, COLUMNS, INDENT,
	    INDENT);
	put(d, "\n");
}

static void
part_first_said(struct draft *d)
{
	char	said[OUTCOME_REPLY + 32];

	if (strcmp(d->e->first_reply, d->e->last_reply) == 0 ||
	    d->e->first_reply[0] == '\0')
		return;
	text_clean(said, sizeof said, d->e->first_reply,
	    strlen(d->e->first_reply));
	put(d, "At first it was:\n\n");
	reason_wrap(d->n->body, sizeof d->n->body, said, COLUMNS, INDENT,
	    INDENT);
	put(d, "\n");
}

static void
fact_trouble(struct draft *d)
{
	const struct episode	*e = d->e;
	char			 trouble[EPISODE_SCOPE + 128], clean[EPISODE_SCOPE];

	text_clean(clean, sizeof clean, e->scope, strlen(e->scope));
	snprintf(trouble, sizeof trouble, "%s (%s), %s", d->title,
	    class_name(e->class), clean);
	fact(d, "Trouble", trouble);
}

static void
fact_routes(struct draft *d)
{
	const char	*at = d->e->routes;
	char		 name[PROBE_NAME], list[2 * EPISODE_ROUTES] = "";
	char		 clean[sizeof list];

	while (words_next(&at, name, sizeof name))
		text_appendf(list, sizeof list, "%s%s",
		    list[0] != '\0' ? ", " : "", name);
	if (*at != '\0')
		text_append(list, sizeof list, " and more");
	text_clean(clean, sizeof clean, list, strlen(list));
	fact(d, "Routes", clean);
}

static void
fact_count(struct draft *d, const char *name, unsigned count)
{
	char	number[16];

	snprintf(number, sizeof number, "%u", count);
	fact(d, name, number);
}

static void
part_facts(struct draft *d)
{
	const struct episode	*e = d->e;

	fact_trouble(d);
	fact_time(d, "Since", episode_since_ms(e));
	if (e->swings > 1) {
		fact_time(d, "Again since", e->first_miss_ms);
		fact_count(d, "Times so far", e->swings);
	}
	if (e->last_miss_ms != episode_since_ms(e))
		fact_time(d, "Last seen", e->last_miss_ms);
	fact_span(d, "Lasting", lasted_ms(d));
	fact_count(d, e->class == CLASS_BLIND ? "Failed looks" :
	    e->origin == EPISODE_BY_AGE ? "Late mails" : "Refusals",
	    e->refusals);
	fact_routes(d);
	put(d, "\n");
}

static void
part_meaning(struct draft *d)
{
	const struct episode	*e = d->e;
	enum verdict		 v = verdict_seen(e);
	const char		*at;
	char			 point[512];

	headed(d, "What it means", reason_meaning(e->class, v, e->enhanced));
	headed(d, "What becomes of such mail", e->class == CLASS_BLIND ||
	    e->origin == EPISODE_BY_AGE ? "" : reason_fate(e->class, v));
	headed(d, "What senders can do", reason_do(e->class, v));
	at = reason_check(e->class, v);
	if (at[0] == '\0')
		return;
	put(d, "What the admin of the receiving system can check\n");
	while (at[0] != '\0') {
		size_t	n = strcspn(at, "\n");

		snprintf(point, sizeof point, "%.*s", (int)n, at);
		reason_wrap(d->n->body, sizeof d->n->body, point, COLUMNS,
		    "  - ", "    ");
		at += n + (at[n] == '\n');
	}
	put(d, "\n");
}

/* A final 5.3.1 leaves somebody's message nowhere. */
static void
part_never_stored(struct draft *d)
{
	if (d->e->class == CLASS_SYSTEM_FULL && d->e->code >= 500)
		paragraph(d, "The answer was final: a message refused this way "
		    "was never stored and nobody retries it. Its sender has to "
		    "send it again later, and can tell the recipient another "
		    "way.");
}

static void
part_next(struct draft *d)
{
	if (d->e->class == CLASS_BLIND)
		paragraph(d, "You get one more message when this monitor can "
		    "look again.");
	else if (d->e->origin != EPISODE_BY_ATTEMPT)
		paragraph(d, "You get one message when it accepts and one when "
		    "it delivers again: here both are known at the same time, "
		    "by a new test message that arrives.");
	else if (d->e->code >= 500)
		paragraph(d, "This monitor tries again with a new test "
		    "message, at a gentle pace. You get one message when mail "
		    "is accepted again, and one when a test message has really "
		    "arrived.");
	else
		paragraph(d, "This monitor keeps its test message and tries "
		    "again, as a mail server would. You get one message when "
		    "mail is accepted again, and one when a test message has "
		    "really arrived.");
}

static void
fact_recovery(struct draft *d)
{
	const struct episode	*e = d->e;

	fact_trouble(d);
	fact_time(d, "Began", episode_since_ms(e));
	if (d->n->kind == NOTICE_ACCEPTING || e->accepting_ms != 0)
		fact_time(d, "Accepts since", e->accepting_ms);
	if (d->n->kind == NOTICE_DELIVERED)
		fact_time(d, e->class == CLASS_BLIND ? "Looking since" :
		    "Delivered", e->delivered_ms);
	fact_span(d, "It lasted", lasted_ms(d));
	if (e->swings > 1)
		fact_count(d, "Times it began", e->swings);
	fact_count(d, e->class == CLASS_BLIND ? "Failed looks" :
	    e->origin == EPISODE_BY_AGE ? "Late mails" : "Refusals",
	    e->refusals);
	fact_span(d, "Longest delay", e->max_delay_ms);
	fact_routes(d);
	put(d, "\n");
}

static void
part_accepts(struct draft *d)
{
	const struct episode	*e = d->e;

	if (e->origin == EPISODE_BY_ATTEMPT)
		wrapf(d, "%s accepts mail again: it took %u test messages in a "
		    "row.", d->who, e->accepts > 0 ? e->accepts : 1);
	else
		wrapf(d, "Mail passes %s again: a test message handed over "
		    "after the last sign of trouble has arrived. When it began "
		    "to accept cannot be seen from here.", d->who);
	if (d->facts->mailbox_blind)
		paragraph(d, "Delivery cannot be confirmed at the moment: this "
		    "monitor cannot look into the mailbox.");
	else if (e->delivered_ms == 0)
		paragraph(d, "Arrival has not been seen yet. You get one more "
		    "message when it has.");
}

/* One line: a latency in the unit that suits it. */
static void
latency(const struct draft *d, char *buf, size_t size)
{
	int64_t	ms = d->facts->proof_latency_ms;
	char	span[NOTICE_SPAN];

	if (ms == STAMP_NO_SPAN || ms < 0)
		text_copy(buf, size, "not known");
	else if (ms < 10000)
		snprintf(buf, size, "%" PRId64 " ms", ms);
	else
		text_copy(buf, size, notice_span(ms, span));
}

static void
part_delivered(struct draft *d)
{
	char	clean[256], took[64];

	if (d->e->class == CLASS_BLIND) {
		wrapf(d, "This monitor can look again (%s). What arrived "
		    "meanwhile is judged by its own stamps.", d->who);
		return;
	}
	wrapf(d, "Mail through %s is delivered again: a test message has "
	    "arrived. The proof:", d->who);
	fact(d, "Probe", d->e->closed_by);
	text_clean(clean, sizeof clean, d->facts->proof_folder,
	    strlen(d->facts->proof_folder));
	fact(d, "Folder", clean);
	latency(d, took, sizeof took);
	fact(d, "250 to arrival", took);
	put(d, "\n");
}

static void
part_queues(struct draft *d)
{
	if (d->e->class == CLASS_BLIND)
		return;
	paragraph(d, "Mail that other servers have kept in their queues comes "
	    "in by itself, but not at once: they may need up to an hour, after "
	    "a long outage more, until their next attempt.");
}

static void
part_held(struct draft *d)
{
	if (d->e->swings > 1)
		paragraph(d, "The trouble had come back before, so this was "
		    "told only after it had held for a while.");
}

/* Commands stand on lines of their own, to be copied. */
static void
part_foot(struct draft *d)
{
	char	line[96];

	wrapf(d, "Episode %" PRId64 " of monitor %s.", d->e->id,
	    d->facts->instance);
	put(d, "  mailflowctl episodes    shows it\n");
	snprintf(line, sizeof line, "  mailflowctl ack %-7" PRId64 " stops its "
	    "reminders\n\n", d->e->id);
	put(d, line);
}

static void
part_end(struct draft *d)
{
	wrapf(d, "Episode %" PRId64 " of monitor %s.", d->e->id,
	    d->facts->instance);
}

static void
part_transcript(struct draft *d)
{
	const char	*line = d->facts->transcript;
	char		 clean[512];
	size_t		 n;

	if (line[0] == '\0')
		return;
	put(d, "The session\n");
	for (; line[0] != '\0'; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		text_clean(clean, sizeof clean, line, n);
		put(d, "  | ");
		put(d, clean);
		if (!text_append(d->n->body, sizeof d->n->body, "\n"))
			break;
	}
}

static void
part_test(struct draft *d)
{
	char	when[128];

	moment(d, d->now_ms, when, sizeof when);
	wrapf(d, "This is a test, asked for at %s. If you read it, monitor %s "
	    "can reach you when a mail system is in trouble.", when,
	    d->facts->instance);
}

typedef void	(*part)(struct draft *);

static const part parts[NOTICE_KINDS][10] = {
	[NOTICE_FAILING] = { part_said, part_facts, part_never_stored,
	    part_meaning, part_next, part_foot, part_transcript },
	[NOTICE_REMINDER] = { part_said, part_first_said, part_facts,
	    part_never_stored, part_meaning, part_next, part_foot },
	[NOTICE_ACCEPTING] = { part_accepts, part_held, fact_recovery,
	    part_queues, part_end },
	[NOTICE_DELIVERED] = { part_delivered, part_held, fact_recovery,
	    part_queues, part_end },
	[NOTICE_TEST] = { part_test },
};

/* Subjects: the state first, so that a telephone shows it. */

static void
ascii(char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			*s = '?';
}

static void
name_who(struct draft *d)
{
	const char	*name;
	enum scope_kind	 kind = judge_scope(d->e->scope, &name);

	if (d->e->class == CLASS_BLIND || kind == SCOPE_MAILBOX)
		name = kind == SCOPE_SYSTEM ? name : d->e->scope;
	else if (kind == SCOPE_ROUTE && d->e->host[0] != '\0')
		name = d->e->host;
	else if (kind == SCOPE_ROUTE || kind == SCOPE_MONITOR)
		name = d->e->scope;
	text_clean(d->who, sizeof d->who, name, strlen(name));
}

static void
name_routes(struct draft *d)
{
	const char	*at = d->e->routes;
	char		 name[PROBE_NAME], first[PROBE_NAME] = "";
	unsigned	 n = 0;

	while (words_next(&at, name, sizeof name))
		if (n++ == 0)
			text_copy(first, sizeof first, name);
	if (*at != '\0')
		snprintf(d->routes, sizeof d->routes, ", more than %u routes",
		    n);
	else if (n == 1)
		snprintf(d->routes, sizeof d->routes, ", route %s", first);
	else if (n > 1)
		snprintf(d->routes, sizeof d->routes, ", %u routes", n);
}

static void
name_answer(struct draft *d)
{
	const struct episode	*e = d->e;

	if (e->origin == EPISODE_BY_AGE)
		text_copy(d->answer, sizeof d->answer,
		    " accepts, but nothing arrives");
	else if (e->code != 0 && e->class != CLASS_BLIND)
		snprintf(d->answer, sizeof d->answer, " answers %d%s%s",
		    e->code % 1000, e->enhanced[0] != '\0' ? " " : "",
		    e->enhanced);
}

static const char *
state_word(const struct draft *d)
{
	bool	blind = d->e->class == CLASS_BLIND;

	switch (d->n->kind) {
	case NOTICE_FAILING:
		return (blind ? "CANNOT LOOK" : "FAILING");
	case NOTICE_REMINDER:
		return (blind ? "STILL CANNOT LOOK" : "STILL FAILING");
	case NOTICE_ACCEPTING:
		return ("ACCEPTING AGAIN");
	case NOTICE_DELIVERED:
		return (blind ? "CAN LOOK AGAIN" : "DELIVERED AGAIN");
	case NOTICE_TEST:
	case NOTICE_KINDS:
		break;
	}
	return ("TEST");
}

static void
subject(struct draft *d)
{
	struct notice	*n = d->n;
	char		 span[NOTICE_SPAN];
	bool		 recovery = n->kind == NOTICE_ACCEPTING ||
			    n->kind == NOTICE_DELIVERED;

	snprintf(n->subject, sizeof n->subject, "%s: %.100s", state_word(d),
	    d->who);
	if (!recovery)
		text_append(n->subject, sizeof n->subject, d->answer);
	if (recovery || n->kind == NOTICE_REMINDER)
		text_appendf(n->subject, sizeof n->subject, " %s %s",
		    recovery ? "after" : "for", notice_span(lasted_ms(d), span));
	if (d->e->class != CLASS_BLIND)
		text_appendf(n->subject, sizeof n->subject, " (%s)", d->title);
	text_append(n->subject, sizeof n->subject, d->routes);
	ascii(n->subject);
}

/* Identity. */

/* Letters and digits for a number, so that an id stays short. */
static void
base36(int64_t value, char buf[static 16])
{
	uint64_t	v = (uint64_t)value;
	size_t		n = 15;
	char		tmp[16] = "";

	do
		tmp[--n] = "0123456789abcdefghijklmnopqrstuvwxyz"[v % 36];
	while ((v /= 36) != 0 && n > 0);
	memcpy(buf, tmp + n, 16 - n);
}

/*
 * The nth of its kind: failing and recovery once a swing, reminders many.
 * Also what keeps the notice from being owed twice.
 */
static unsigned
number_of(enum notice_kind kind, const struct episode *e)
{
	return (kind == NOTICE_REMINDER ? e->swings * 1000 + e->reminders :
	    e->swings);
}

/*
 * When the episode opened is part of the id: a store begun anew counts its
 * episodes from one, and mail systems drop a second message with an id they
 * have seen.
 */
static void
message_id(char id[static NOTICE_ID], enum notice_kind kind, unsigned number,
    int64_t episode, int64_t opened_ms, const char *instance)
{
	char	since[16], host[64];

	base36(opened_ms, since);
	snprintf(host, sizeof host, "%.60s", instance[0] != '\0' ? instance :
	    "monitor");
	for (char *s = host; *s != '\0'; s++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "0123456789-", *s) == NULL)
			*s = '-';
	snprintf(id, NOTICE_ID, "<%s.%u.%" PRId64 ".%s@%s.mailflowd>",
	    kinds[kind], number, episode, since, host);
}

static void
begin(struct notice *n, enum notice_kind kind,
    const struct notice_facts *facts, int64_t now_ms)
{
	memset(n, 0, sizeof *n);
	n->kind = kind;
	n->owed_ms = now_ms;
	text_copy(n->alerts, sizeof n->alerts, facts->alerts);
}

static void
write_parts(struct draft *d)
{
	size_t	len;

	for (const part *p = parts[d->n->kind]; *p != NULL; p++)
		(*p)(d);
	/* One newline at the end, not a paragraph's two. */
	len = strlen(d->n->body);
	if (len > 1 && strcmp(d->n->body + len - 2, "\n\n") == 0)
		d->n->body[len - 1] = '\0';
}

static void
write_test(struct notice *n, const struct notice_facts *facts, int64_t now_ms)
{
	struct draft	d = { .n = n, .facts = facts, .now_ms = now_ms };

	n->number = (unsigned)(now_ms / 1000);
	message_id(n->message_id, NOTICE_TEST, n->number, 0, now_ms,
	    facts->instance);
	text_copy(n->thread_id, sizeof n->thread_id, n->message_id);
	snprintf(n->subject, sizeof n->subject,
	    "TEST: mailflowd on %.64s can reach you", facts->instance);
	ascii(n->subject);
	write_parts(&d);
}

void
notice_write(struct notice *n, enum notice_kind kind, const struct episode *e,
    const struct notice_facts *facts, int64_t now_ms)
{
	struct draft	d = { .n = n, .e = e, .facts = facts,
			    .now_ms = now_ms };

	begin(n, kind, facts, now_ms);
	if (kind == NOTICE_TEST) {
		write_test(n, facts, now_ms);
		return;
	}
	n->episode = e->id;
	n->number = number_of(kind, e);
	message_id(n->message_id, kind, n->number, e->id, e->opened_ms,
	    facts->instance);
	message_id(n->thread_id, NOTICE_FAILING, 1, e->id, e->opened_ms,
	    facts->instance);
	text_copy(d.title, sizeof d.title, reason_title(e->class));
	name_who(&d);
	name_answer(&d);
	name_routes(&d);
	subject(&d);
	write_parts(&d);
}

void
notice_prefix(struct notice *n, const char *sentence)
{
	char	body[NOTICE_BODY] = "";

	reason_wrap(body, sizeof body, sentence, COLUMNS, "", "");
	text_append(body, sizeof body, "\n");
	text_append(body, sizeof body, n->body);
	text_copy(n->body, sizeof n->body, body);
}

/* The message. */

struct out {
	char	*buf;
	size_t	 size;
	size_t	 len;
	bool	 full;
};

static void
emit(struct out *o, const char *s, size_t n)
{
	if (o->full || n >= o->size - o->len) {
		o->full = true;
		return;
	}
	memcpy(o->buf + o->len, s, n);
	o->len += n;
	o->buf[o->len] = '\0';
}

static void
emits(struct out *o, const char *s)
{
	emit(o, s, strlen(s));
}

/*
 * One header field, folded at spaces (RFC 5322 2.2.3).  Controls cannot be
 * in value by now; whatever is one all the same becomes a space.
 */
static void
header(struct out *o, const char *name, const char *value)
{
	size_t	column = strlen(name) + 2;

	emits(o, name);
	emits(o, ": ");
	while (*value != '\0') {
		size_t	space = *value == ' ' ? 1 : 0;
		size_t	n = space + strcspn(value + space, " ");

		if (space && column + n > COLUMNS) {
			emits(o, "\r\n");
			column = 0;
		}
		for (size_t i = 0; i < n; i++)
			emit(o, (unsigned char)value[i] < 0x20 ? " " :
			    value + i, 1);
		column += n;
		value += n;
	}
	emits(o, "\r\n");
}

static bool
is_plain(const char *body)
{
	size_t	column = 0;

	for (; *body != '\0'; body++) {
		if (*body == '\n') {
			column = 0;
			continue;
		}
		if ((unsigned char)*body < 0x20 ||
		    (unsigned char)*body > 0x7e || ++column > COLUMNS)
			return (false);
	}
	return (true);
}

static void
plain_line(struct out *o, const char *line, size_t n)
{
	emit(o, line, n);
	emits(o, "\r\n");
}

/* Quoted-printable (RFC 2045 6.7). */
static void
quoted_line(struct out *o, const char *line, size_t n)
{
	size_t	column = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char	c = (unsigned char)line[i];
		bool		last = i + 1 == n;
		bool		raw = (c > 0x20 && c < 0x7f && c != '=') ||
				    (c == ' ' && !last);
		char		hex[4];

		if (column + (raw ? 1 : 3) > COLUMNS - 1) {
			emits(o, "=\r\n");
			column = 0;
		}
		snprintf(hex, sizeof hex, "=%02X", (unsigned)c);
		emit(o, raw ? line + i : hex, raw ? 1 : 3);
		column += raw ? 1 : 3;
	}
	emits(o, "\r\n");
}

#define CUT_MARK	"\r\n[The rest of this notice did not fit.]\r\n"

/* Line by line; a body that is too long ends at a whole line. */
static void
body(struct out *o, const char *text, bool plain)
{
	size_t	room = o->size;
	size_t	n, good;

	if (room <= o->len + sizeof CUT_MARK) {
		o->full = true;
		return;
	}
	o->size -= sizeof CUT_MARK;
	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		good = o->len;
		(plain ? plain_line : quoted_line)(o, text, n);
		if (!o->full)
			continue;
		*o = (struct out){ .buf = o->buf, .size = room, .len = good };
		emits(o, CUT_MARK);
		return;
	}
	o->size = room;
}

size_t
notice_message(const struct notice *n, const char *from, const char *to,
    int64_t now_ms, char *buf, size_t size)
{
	struct out	o = { .buf = buf, .size = size };
	char		date[64];
	bool		plain = is_plain(n->body);

	if (size == 0 || text_has_controls(from) || text_has_controls(to))
		return (0);
	mail_date(now_ms, date, sizeof date);
	header(&o, "Date", date);
	header(&o, "From", from);
	header(&o, "To", to);
	header(&o, "Subject", n->subject);
	header(&o, "Message-ID", n->message_id);
	if (strcmp(n->message_id, n->thread_id) != 0) {
		header(&o, "In-Reply-To", n->thread_id);
		header(&o, "References", n->thread_id);
	}
	header(&o, "Auto-Submitted", "auto-generated");
	header(&o, "X-Auto-Response-Suppress", "OOF, AutoReply");
	header(&o, "X-Mailflow-Notice", kinds[n->kind]);
	header(&o, "MIME-Version", "1.0");
	header(&o, "Content-Type", plain ? "text/plain; charset=us-ascii" :
	    "text/plain; charset=utf-8");
	header(&o, "Content-Transfer-Encoding", plain ? "7bit" :
	    "quoted-printable");
	emits(&o, "\r\n");
	body(&o, n->body, plain);
	return (o.full ? 0 : o.len);
}
