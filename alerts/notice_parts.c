#include "alerts/notice_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alerts/judge.h"
#include "alerts/words.h"
#include "monitor/probe.h"
#include "monitor/reason.h"
#include "monitor/text.h"

/*
 * The body of a notice, part by part.
 */

#define INDENT	"    "

static void
put(struct draft *d, const char *s)
{
	text_append(d->n->body, sizeof d->n->body, s);
}

static void
wrap(struct draft *d, const char *text)
{
	reason_wrap(d->n->body, sizeof d->n->body, text, NOTICE_COLUMNS, "", "");
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
	reason_wrap(d->n->body, sizeof d->n->body, text, NOTICE_COLUMNS, "  ", "  ");
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
	reason_wrap(d->n->body, sizeof d->n->body, value, NOTICE_COLUMNS, first,
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

/* Of the first one, that is: others may have come late since. */
static void
say_late(struct draft *d)
{
	const struct episode	*e = d->e;
	char			 when[128], span[NOTICE_SPAN];

	moment(d, e->first_miss_ms, when, sizeof when);
	if (e->misses == 1 && d->n->kind == NOTICE_FAILING)
		wrapf(d, "%s accepted a test message, but it has not arrived "
		    "in time: it was handed over at %s and has been under way "
		    "for %s.", d->who, when,
		    notice_span(d->now_ms - e->first_miss_ms, span));
	else
		wrapf(d, "%s accepted test messages, but they have not arrived "
		    "in time: the first of them was handed over at %s.",
		    d->who, when);
}

/* Words of others, set apart; "": none. */
static void
put_quoted(struct draft *d, const char *lead, const char *said)
{
	if (said[0] == '\0')
		return;
	put(d, lead);
	reason_wrap(d->n->body, sizeof d->n->body, said, NOTICE_COLUMNS, INDENT,
	    INDENT);
	put(d, "\n");
}

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
		say_late(d);
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
	put_quoted(d, "", said);
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
	put_quoted(d, "At first it was:\n\n", said);
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

/* Of a recipient others may think otherwise. */
static void
fact_refuser(struct draft *d)
{
	const char	*name;

	if (judge_scope(d->e->scope, &name) == SCOPE_RECIPIENT)
		fact(d, "Refused by", d->spoke);
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
	fact_refuser(d);
	fact_time(d, "Since", episode_since_ms(e));
	if (e->swings > 1) {
		fact_time(d, "Again since", e->first_miss_ms);
		fact_count(d, "Times so far", e->swings);
	}
	if (e->last_miss_ms != episode_since_ms(e))
		fact_time(d, "Last seen", e->last_miss_ms);
	fact_span(d, "Lasting", notice_lasted_ms(d));
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
		reason_wrap(d->n->body, sizeof d->n->body, point, NOTICE_COLUMNS,
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
	else if (d->e->class == CLASS_UNCERTAIN)
		paragraph(d, "That test message is never sent again, because "
		    "it may have been taken: this monitor looks for it, and "
		    "goes on with new ones. You get one message when mail is "
		    "accepted again, and one when a test message has really "
		    "arrived.");
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
	fact_span(d, "It lasted", notice_lasted_ms(d));
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
part_unwatched(struct draft *d)
{
	char	when[128], said[OUTCOME_REPLY + 32];

	moment(d, episode_since_ms(d->e), when, sizeof when);
	wrapf(d, "This trouble (%s) is no longer watched. It was open since "
	    "%s. Its route, server or mailbox was removed, renamed or changed, "
	    "or the host is no longer a mail host of its domain: nothing that "
	    "is configured now can show how it goes on.", d->who, when);
	paragraph(d, "It is not known whether the trouble is over. This is the "
	    "last message about it.");
	quote(d->e, d->e->last_reply, said, sizeof said);
	put_quoted(d, "What was last seen of it:\n\n", said);
}

static void
fact_left(struct draft *d)
{
	const struct episode	*e = d->e;

	fact_trouble(d);
	fact_time(d, "Open since", episode_since_ms(e));
	fact_time(d, "Last seen", e->last_miss_ms);
	fact_time(d, "Accepts since", e->accepting_ms);
	fact_count(d, e->class == CLASS_BLIND ? "Failed looks" :
	    e->origin == EPISODE_BY_AGE ? "Late mails" : "Refusals",
	    e->refusals);
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

	if (d->facts->test)
		return;
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
	if (!d->facts->test)
		wrapf(d, "Episode %" PRId64 " of monitor %s.", d->e->id,
	    d->facts->instance);
}

/* Whole lines, and a word when there are more than a mail should have. */
static void
part_transcript(struct draft *d)
{
	static const char	cut[] = "  | [cut; mailflowctl probes "
				    "--transcript shows more]\n";
	const char		*line = d->facts->transcript;
	char			 clean[512];
	size_t			 n;

	if (line[0] == '\0')
		return;
	put(d, "The session\n");
	for (; line[0] != '\0'; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		text_clean(clean, sizeof clean, line, n);
		if (strlen(d->n->body) + strlen(clean) + sizeof cut + 8 >
		    sizeof d->n->body) {
			put(d, cut);
			return;
		}
		put(d, "  | ");
		put(d, clean);
		put(d, "\n");
	}
}

static void
part_test(struct draft *d)
{
	char	when[128];

	if (!d->facts->test)
		return;
	moment(d, d->now_ms, when, sizeof when);
	wrapf(d, "THIS IS A TEST, asked for at %s by mailflowctl test-alert. "
	    "Nothing has happened: the system and the route below are made up. "
	    "If you read it, monitor %s can reach you. A real notice reads "
	    "like this:", when, d->facts->instance);
}

typedef void	(*part)(struct draft *);

static const part parts[NOTICE_KINDS][10] = {
	[NOTICE_FAILING] = { part_test, part_said, part_facts, part_never_stored,
	    part_meaning, part_next, part_foot, part_transcript },
	[NOTICE_REMINDER] = { part_said, part_first_said, part_facts,
	    part_never_stored, part_meaning, part_next, part_foot },
	[NOTICE_ACCEPTING] = { part_test, part_accepts, part_held, fact_recovery,
	    part_queues, part_end },
	[NOTICE_UNWATCHED] = { part_unwatched, fact_left, part_end },
	[NOTICE_DELIVERED] = { part_test, part_delivered, part_held, fact_recovery,
	    part_queues, part_end },
};

void
notice_parts(struct draft *d)
{
	size_t	len;

	for (const part *p = parts[d->n->kind]; *p != NULL; p++)
		(*p)(d);
	/* One newline at the end, not a paragraph's two. */
	len = strlen(d->n->body);
	if (len > 1 && strcmp(d->n->body + len - 2, "\n\n") == 0)
		d->n->body[len - 1] = '\0';
}
