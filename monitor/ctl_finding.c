#include "monitor/ctl_finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define QUOTE	400	/* longer replies are cut: a plugin's line is read on
			 * a pager */

static const char *const levels[LEVELS] = {
	[LEVEL_OK]		= "OK",
	[LEVEL_WARNING]		= "WARNING",
	[LEVEL_CRITICAL]	= "CRITICAL",
	[LEVEL_UNKNOWN]		= "UNKNOWN",
};

const char *
level_name(enum level level)
{
	return (levels[level]);
}

bool
level_is_worse(enum level level, enum level than)
{
	static const int	weight[LEVELS] = {
		[LEVEL_OK] = 0, [LEVEL_UNKNOWN] = 1, [LEVEL_WARNING] = 2,
		[LEVEL_CRITICAL] = 3,
	};

	return (weight[level] > weight[than]);
}

/* Words. */

/* What would break the line or the figures behind it. */
static void
make_plain(char *buf, size_t size, const char *s)
{
	text_clean(buf, size, s, strlen(s));
	for (; *buf != '\0'; buf++)
		if (*buf == '|')
			*buf = '/';
}

const char *
finding_name(const json_t *route, char buf[static FINDING_NAME])
{
	const char	*host = member_text(route, "host");

	make_plain(buf, FINDING_NAME, member_text(route, "route"));
	if (host[0] != '\0')
		text_appendf(buf, FINDING_NAME, " %s", host);
	return (buf);
}

void
finding_quote(const json_t *o, const char *key, char *buf, size_t size)
{
	const char	*enhanced = member_text(o, "enhanced");
	int64_t		 code = member_number(o, "code", 0);
	char		 said[QUOTE], number[24] = "";

	make_plain(said, sizeof said, member_text(o, key));
	if (code > 0)
		snprintf(number, sizeof number, "%" PRId64, code);
	buf[0] = '\0';
	if (number[0] != '\0' && strncmp(said, number, strlen(number)) != 0) {
		text_append(buf, size, number);
		if (enhanced[0] != '\0')
			text_appendf(buf, size, " %.12s", enhanced);
		if (said[0] != '\0')
			text_append(buf, size, " ");
	}
	text_append(buf, size, said);
}

/* Everything a rule may look at. */
struct view {
	int64_t		 now_ms;
	const json_t	*route;
	const json_t	*mailbox;
	const json_t	*episode;	/* open; or NULL */
	const json_t	*current;	/* being tried or kept; or NULL */
	const json_t	*pending;	/* the oldest; or NULL */
	const json_t	*last;		/* or NULL */
};

static void conclude(struct finding *, enum level, const char *word,
    const char *, ...) __attribute__((format(printf, 4, 5)));
static void add(struct finding *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

static void vadd(struct finding *, const char *, va_list)
    __attribute__((format(printf, 2, 0)));

static void
vadd(struct finding *f, const char *fmt, va_list ap)
{
	char	raw[FINDING_TEXT], plain[FINDING_TEXT];

	vsnprintf(raw, sizeof raw, fmt, ap);
	make_plain(plain, sizeof plain, raw);
	text_append(f->text, sizeof f->text, plain);
}

static void
add(struct finding *f, const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	vadd(f, fmt, ap);
	va_end(ap);
}

static void
conclude(struct finding *f, enum level level, const char *word,
    const char *fmt, ...)
{
	va_list	ap;

	f->level = level;
	f->word = word;
	f->text[0] = '\0';
	va_start(ap, fmt);
	vadd(f, fmt, ap);
	va_end(ap);
}

/* ", 452 4.3.1 Insufficient system storage (system-full)" */
static void
add_reply(struct finding *f, const json_t *o, const char *key,
    const char *before)
{
	const char	*class = member_text(o, "class");
	char		 quote[QUOTE + 40];

	finding_quote(o, key, quote, sizeof quote);
	if (quote[0] != '\0')
		add(f, "%s%s", before, quote);
	if (class[0] != '\0' && strcmp(class, "accepted") != 0)
		add(f, " (%s)", class);
}

/* " (12:00:03 UTC)" */
static void
add_moment(struct finding *f, int64_t wall_ms, int64_t now_ms)
{
	char	when[SAY_TIME];

	if (wall_ms != 0)
		add(f, " (%s)", say_time(wall_ms, now_ms, when));
}

static bool
is(const json_t *o, const char *key, const char *word)
{
	return (strcmp(member_text(o, key), word) == 0);
}

/* How a probe that was seen got there. */
static void
add_delivery(struct finding *f, const json_t *p, int64_t now_ms)
{
	int64_t	total_ms = member_number(p, "total_ms", -1);
	int64_t	deferrals = member_number(p, "deferrals", 0);
	char	span[SAY_SPAN];

	add(f, "delivered");
	if (total_ms >= 0)
		add(f, " in %s", say_span(total_ms, span));
	if (deferrals > 0)
		add(f, " after %" PRId64 " deferral%s", deferrals,
		    deferrals == 1 ? "" : "s");
	if (is(p, "outcome", "junk"))
		add(f, ", to %s", member_text(p, "folder")[0] != '\0' ?
		    member_text(p, "folder") : "the junk folder");
	add_moment(f, member_wall_ms(p, "arrived_at"), now_ms);
}

/*
 * The rules, in this order; the first that applies speaks.  What has been
 * seen to be wrong comes before what could not be looked at, and that before
 * what is merely slow.
 */

static bool
is_paused(const struct view *v, struct finding *f)
{
	if (!member_flag(v->route, "paused"))
		return (false);
	conclude(f, LEVEL_OK, "paused", "paused, no probes are sent");
	return (true);
}

/* Does it wait while another probe tries for all? */
static bool
is_held(const struct view *v)
{
	const char	*sentinel = member_text(v->episode, "sentinel");

	return (is(v->current, "state", "waiting") && sentinel[0] != '\0' &&
	    !is(v->current, "probe", sentinel));
}

static void
add_since(struct finding *f, const struct view *v)
{
	int64_t	since_ms = member_wall_ms(v->episode, "opened_at");
	char	when[SAY_TIME];

	if (since_ms != 0)
		add(f, " since %s", say_time(since_ms, v->now_ms, when));
}

static bool
fails(const struct view *v, struct finding *f)
{
	if (!is(v->episode, "state", "failing") ||
	    is(v->episode, "class", "blind"))
		return (false);
	conclude(f, LEVEL_CRITICAL, is_held(v) ? "held" : "failing",
	    "failing");
	add_since(f, v);
	/* A 250 is no reason; that nothing came of it is. */
	if (is(v->episode, "origin", "age"))
		add(f, ": accepted, but not delivered (%s)",
		    member_text(v->episode, "class"));
	else
		add_reply(f, v->episode, "last_reply", ": ");
	return (true);
}

static bool
cannot_look(const struct view *v, struct finding *f)
{
	if (!is(v->episode, "state", "failing") ||
	    !is(v->episode, "class", "blind"))
		return (false);
	conclude(f, LEVEL_UNKNOWN, "blind", "%s: cannot look",
	    member_text(v->episode, "scope"));
	add_since(f, v);
	add_reply(f, v->episode, "last_reply", ": ");
	return (true);
}

/* Its refusals are our own trouble: the login is, or the resolver. */
static bool
cannot_send(const struct view *v, struct finding *f)
{
	return (strncmp(member_text(v->episode, "scope"), "mailbox ", 8) != 0 &&
	    cannot_look(v, f));
}

static bool
ended_badly(const struct view *v, struct finding *f)
{
	static const char *const	bad[] = {
		"rejected", "bounced", "lost", "expired",
	};

	for (size_t i = 0; i < NITEMS(bad); i++) {
		if (!is(v->last, "outcome", bad[i]))
			continue;
		conclude(f, LEVEL_CRITICAL, bad[i], "%s", bad[i]);
		add_moment(f, member_wall_ms(v->last, "finished_at"),
		    v->now_ms);
		add_reply(f, v->last, "reply", ": ");
		return (true);
	}
	return (false);
}

static void
add_next_try(struct finding *f, const json_t *p, int64_t now_ms)
{
	int64_t	wait_ms = member_wall_ms(p, "next_try_at") - now_ms;
	char	span[SAY_SPAN];

	if (is(p, "state", "waiting") && wait_ms > 0)
		add(f, ", next try in %s", say_wait(wait_ms, span));
}

static bool
is_deferred(const struct view *v, struct finding *f)
{
	int64_t	deferrals = member_number(v->current, "deferrals", 0);
	char	when[SAY_TIME];

	if (deferrals == 0)
		return (false);
	conclude(f, member_flag(v->current, "blind") ? LEVEL_UNKNOWN :
	    LEVEL_WARNING, "deferred", "deferred since %s, %" PRId64 " tr%s",
	    say_time(member_wall_ms(v->current, "first_attempt_at"),
	    v->now_ms, when), deferrals, deferrals == 1 ? "y" : "ies");
	add_next_try(f, v->current, v->now_ms);
	add_reply(f, v->current, "reply", ": ");
	return (true);
}

static bool
accepts_again(const struct view *v, struct finding *f)
{
	char	when[SAY_TIME];

	if (!is(v->episode, "state", "accepting"))
		return (false);
	conclude(f, LEVEL_WARNING, "accepting", "accepting again since %s, "
	    "delivery is not confirmed yet (%s)",
	    say_time(member_wall_ms(v->episode, "accepting_at"), v->now_ms,
	    when), member_text(v->episode, "class"));
	return (true);
}

static bool
is_blind(const struct view *v, struct finding *f)
{
	int64_t	wait_ms = member_wall_ms(v->mailbox, "retry_at") - v->now_ms;
	char	span[SAY_SPAN];

	if (!is(v->mailbox, "state", "blind"))
		return (false);
	conclude(f, LEVEL_UNKNOWN, "blind",
	    "mailbox %s cannot be looked at: %s",
	    member_text(v->mailbox, "mailbox"),
	    member_text(v->mailbox, "reason")[0] != '\0' ?
	    member_text(v->mailbox, "reason") : "no reason is known");
	if (wait_ms > 0)
		add(f, ", next try in %s", say_wait(wait_ms, span));
	return (true);
}

/*
 * For how long the oldest pending probe has been looked for: time in which
 * nobody could look does not count.
 */
static int64_t
looked_for_ms(const struct view *v)
{
	int64_t	from_ms = member_wall_ms(v->pending, "accepted_at");
	int64_t	good_ms = member_wall_ms(v->mailbox, "since");

	if (from_ms == 0 || is(v->mailbox, "state", "starting"))
		return (0);
	return (v->now_ms - (good_ms > from_ms ? good_ms : from_ms));
}

static bool
is_overdue(const struct view *v, struct finding *f)
{
	int64_t	age_ms = looked_for_ms(v);
	int64_t	warn_ms = member_number(v->route, "warn_after_ms", INT64_MAX);
	int64_t	late_ms = member_number(v->route, "late_after_ms", INT64_MAX);
	char	when[SAY_TIME], span[SAY_SPAN];

	if (age_ms <= warn_ms && age_ms <= late_ms)
		return (false);
	if (age_ms > late_ms)
		conclude(f, LEVEL_CRITICAL, "late", "accepted");
	else
		conclude(f, LEVEL_WARNING, "waiting", "accepted");
	if (member_text(v->pending, "host")[0] != '\0')
		add(f, " by %s", member_text(v->pending, "host"));
	add(f, " at %s, not seen in %s for %s",
	    say_time(member_wall_ms(v->pending, "accepted_at"), v->now_ms,
	    when), member_text(v->pending, "mailbox"),
	    say_wait(age_ms, span));
	return (true);
}

static bool
came_late_or_as_junk(const struct view *v, struct finding *f)
{
	if (is(v->last, "outcome", "late"))
		conclude(f, LEVEL_WARNING, "late", "late: ");
	else if (is(v->last, "outcome", "junk"))
		conclude(f, LEVEL_WARNING, "junk", "junk: ");
	else
		return (false);
	add_delivery(f, v->last, v->now_ms);
	return (true);
}

static bool
ended_blind(const struct view *v, struct finding *f)
{
	bool	sent = member_wall_ms(v->last, "accepted_at") != 0;

	if (!is(v->last, "outcome", "blind"))
		return (false);
	conclude(f, LEVEL_UNKNOWN, "blind", "the last probe could not be %s",
	    sent ? "looked for" : "sent");
	add_moment(f, member_wall_ms(v->last, "finished_at"), v->now_ms);
	if (!sent)
		add_reply(f, v->last, "reply", ": ");
	return (true);
}

static bool
knows_nothing(const struct view *v, struct finding *f)
{
	if (v->last != NULL)
		return (false);
	conclude(f, LEVEL_UNKNOWN, "waiting", "no probe has ended yet");
	return (true);
}

static bool
is_stale(const struct view *v, struct finding *f)
{
	int64_t	age_ms = v->now_ms - member_wall_ms(v->last, "finished_at");
	char	span[SAY_SPAN];

	if (v->current != NULL || v->pending != NULL ||
	    age_ms <= 3 * member_number(v->route, "every_ms", 0) +
	    member_number(v->route, "late_after_ms", 0))
		return (false);
	conclude(f, LEVEL_UNKNOWN, "stale",
	    "the last result is %s old and no probe is under way",
	    say_wait(age_ms, span));
	return (true);
}

static bool
is_slow(const struct view *v, struct finding *f)
{
	int64_t	warn_ms = member_number(v->route, "warn_after_ms", INT64_MAX);
	char	span[SAY_SPAN];

	if (member_number(v->last, "total_ms", 0) <= warn_ms)
		return (false);
	conclude(f, LEVEL_WARNING, "slow", "slow: ");
	add_delivery(f, v->last, v->now_ms);
	add(f, ", more than %s", say_span(warn_ms, span));
	return (true);
}

static bool
is_good(const struct view *v, struct finding *f)
{
	conclude(f, LEVEL_OK, "ok", "%s", "");
	add_delivery(f, v->last, v->now_ms);
	return (true);
}

static bool	(*const rules[])(const struct view *, struct finding *) = {
	is_paused,
	fails,
	ended_badly,
	cannot_send,
	is_deferred,
	accepts_again,
	is_blind,
	cannot_look,
	is_overdue,
	came_late_or_as_junk,
	ended_blind,
	knows_nothing,
	is_stale,
	is_slow,
	is_good,
};

/* Each route that a failing episode names, with that episode. */
static void
index_episode(json_t *failing, json_t *episode)
{
	char	*routes, *rest, *name;

	if (!is(episode, "state", "failing") || is(episode, "class", "blind"))
		return;
	rest = routes = mem_strdup(member_text(episode, "routes"));
	while ((name = strsep(&rest, " ")) != NULL)
		if (name[0] != '\0' && json_object_get(failing, name) == NULL)
			(void)json_object_set(failing, name, episode);
	mem_free(routes);
}

void
finding_begin(struct finding_scene *s, const json_t *status)
{
	json_t	*j;
	size_t	 i;

	s->now_ms = member_wall_ms(status, "now");
	s->mailboxes = json_object();
	s->failing = json_object();
	json_array_foreach(json_object_get(status, "mailboxes"), i, j)
		(void)json_object_set(s->mailboxes, member_text(j, "mailbox"),
		    j);
	json_array_foreach(json_object_get(status, "episodes"), i, j)
		index_episode(s->failing, j);
}

void
finding_end(struct finding_scene *s)
{
	json_decref(s->mailboxes);
	json_decref(s->failing);
	s->mailboxes = s->failing = NULL;
}

/*
 * Of several episodes that cover a route the monitor tells the widest; one
 * that fails says more than one that is ending or only blind.
 */
static const json_t *
worst_episode(const struct finding_scene *s, const json_t *route)
{
	const json_t	*told = member_object(route, "episode"), *failing;

	/* What another mail host of it is in is not this one's. */
	if (member_text(route, "host")[0] != '\0')
		return (told);
	failing = member_object(s->failing, member_text(route, "route"));
	if (failing == NULL || (is(told, "state", "failing") &&
	    !is(told, "class", "blind")))
		return (told);
	return (failing);
}

static void
view_route(const struct finding_scene *s, const json_t *route,
    struct view *v)
{
	*v = (struct view){
		.now_ms = s->now_ms,
		.route = route,
		.mailbox = member_object(s->mailboxes,
		    member_text(route, "mailbox")),
		.episode = worst_episode(s, route),
		.current = member_object(route, "current"),
		.pending = member_object(route, "oldest_pending"),
		.last = member_object(route, "last"),
	};
}

void
finding_route(const struct finding_scene *s, const json_t *route,
    struct finding *f)
{
	struct view	v;
	size_t		i = 0;

	view_route(s, route, &v);
	while (!rules[i](&v, f))
		i++;
}

/* What a probe ends as, and what that means. */
static const struct {
	const char	*outcome;
	enum level	 level;
} ends[] = {
	{ "delivered", LEVEL_OK },
	{ "late", LEVEL_WARNING },
	{ "junk", LEVEL_WARNING },
	{ "rejected", LEVEL_CRITICAL },
	{ "bounced", LEVEL_CRITICAL },
	{ "expired", LEVEL_CRITICAL },
	{ "lost", LEVEL_CRITICAL },
	{ "blind", LEVEL_UNKNOWN },
};

static void
say_end(const json_t *p, size_t end, int64_t now_ms, struct finding *f)
{
	const char	*word = ends[end].outcome;

	if (member_wall_ms(p, "arrived_at") != 0) {
		conclude(f, ends[end].level, word, "%s%s",
		    ends[end].level == LEVEL_OK ? "" : word,
		    ends[end].level == LEVEL_OK ? "" : ": ");
		add_delivery(f, p, now_ms);
		return;
	}
	conclude(f, ends[end].level, word, "%s", word);
	add_reply(f, p, "reply", ", ");
}

/* The monitor's own trouble, not the server's. */
static bool
blind_class(const json_t *p)
{
	return (is(p, "class", "blind") || member_flag(p, "blind"));
}

void
finding_probe(const json_t *p, int64_t now_ms, struct finding *f)
{
	char	span[SAY_SPAN];

	for (size_t i = 0; i < NITEMS(ends); i++)
		if (is(p, "outcome", ends[i].outcome)) {
			say_end(p, i, now_ms, f);
			return;
		}
	if (is(p, "state", "waiting")) {
		conclude(f, blind_class(p) ? LEVEL_UNKNOWN : LEVEL_CRITICAL,
		    "deferred", "deferred");
		add_reply(f, p, "reply", ", ");
		add_next_try(f, p, now_ms);
	} else if (member_wall_ms(p, "accepted_at") != 0) {
		conclude(f, LEVEL_WARNING, "late",
		    "late: accepted %s ago, not seen in %s yet",
		    say_wait(now_ms - member_wall_ms(p, "accepted_at"), span),
		    member_text(p, "mailbox"));
	} else
		conclude(f, LEVEL_UNKNOWN, "unknown",
		    "the answer of mailflowd makes no sense");
}

void
finding_no_result(const struct finding_scene *s, const json_t *route,
    int64_t waited_ms, struct finding *f)
{
	struct view	v;
	struct finding	blind;
	char		span[SAY_SPAN];

	conclude(f, LEVEL_UNKNOWN, "waiting", "no result within %s",
	    say_span(waited_ms, span));
	if (route == NULL)
		return;
	view_route(s, route, &v);
	if (is_blind(&v, &blind))
		add(f, ": %s", blind.text);
	else if (is(v.current, "state", "waiting")) {
		add(f, ": the probe waits");
		add_next_try(f, v.current, v.now_ms);
		if (member_number(v.current, "deferrals", 0) > 0)
			add_reply(f, v.current, "reply", ": ");
	} else if (v.current != NULL)
		add(f, ": the probe is being sent");
	else if (v.pending != NULL)
		add(f, ": accepted by %s, not seen in %s yet",
		    member_text(v.pending, "host"),
		    member_text(v.pending, "mailbox"));
}
