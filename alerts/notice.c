#include "alerts/notice_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alerts/judge.h"
#include "alerts/words.h"
#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/text.h"
#include "monitor/token.h"

/*
 * What a notice is: its name, its subject and its identity.
 */

static const char *const kinds[NOTICE_KINDS] = {
	[NOTICE_FAILING]	= "failing",
	[NOTICE_REMINDER]	= "reminder",
	[NOTICE_ACCEPTING]	= "accepting",
	[NOTICE_DELIVERED]	= "delivered",
	[NOTICE_UNWATCHED]	= "unwatched",
	[NOTICE_SUMMARY]	= "summary",
	[NOTICE_HEARTBEAT]	= "heartbeat",
	[NOTICE_DIGEST]		= "digest",
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

const char *
notice_utc(int64_t wall_ms, char buf[static NOTICE_TIME])
{
	time_t		t = (time_t)(wall_ms / 1000);
	struct tm	tm;

	buf[0] = '\0';
	if (wall_ms > 0 && gmtime_r(&t, &tm) != NULL)
		strftime(buf, NOTICE_TIME, "%Y-%m-%d %H:%M:%S UTC", &tm);
	return (buf);
}

int64_t
notice_lasted_ms(const struct draft *d)
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

/* Subjects: the state first, so that a telephone shows it. */

static void
ascii(char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			*s = '?';
}

/* The host that spoke, and what its system is called. */
static void
name_spoke(struct draft *d)
{
	const char	*system = d->facts->system, *host = d->e->host;
	char		 both[2 * EPISODE_SCOPE];

	text_copy(both, sizeof both, host);
	if (system != NULL && system[0] != '\0' && host[0] != '\0' &&
	    strcmp(system, host) != 0)
		snprintf(both, sizeof both, "%s (%s)", system, host);
	text_clean(d->spoke, sizeof d->spoke, both, strlen(both));
}

static void
name_who(struct draft *d)
{
	const char	*name;
	enum scope_kind	 kind = judge_scope(d->e->scope, &name);

	if (d->e->class == CLASS_BLIND || kind == SCOPE_MAILBOX)
		name = kind == SCOPE_SYSTEM ? name : d->e->scope;
	else if (kind == SCOPE_ROUTE && d->e->host[0] != '\0')
		name = d->spoke;
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
	case NOTICE_UNWATCHED:
		return ("NO LONGER WATCHED");
	case NOTICE_SUMMARY:
	case NOTICE_HEARTBEAT:
	case NOTICE_DIGEST:
	case NOTICE_KINDS:
		break;
	}
	return ("NEWS");
}

static void
subject(struct draft *d)
{
	struct notice	*n = d->n;
	char		 span[NOTICE_SPAN];
	bool		 recovery = n->kind == NOTICE_ACCEPTING ||
			    n->kind == NOTICE_DELIVERED;

	snprintf(n->subject, sizeof n->subject, "%s%s: %.100s",
	    d->facts->test ? "TEST: " : "", state_word(d), d->who);
	if (n->kind == NOTICE_FAILING || n->kind == NOTICE_REMINDER)
		text_append(n->subject, sizeof n->subject, d->answer);
	if (n->kind != NOTICE_FAILING)
		text_appendf(n->subject, sizeof n->subject, "%s %s",
		    recovery ? " after" : n->kind == NOTICE_REMINDER ?
		    " for" : ", open for",
		    notice_span(notice_lasted_ms(d), span));
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

/* For a name of any letters, some of those of an id. */
static void
mark(const char *name, char buf[static 16])
{
	base36((int64_t)(text_hash(TEXT_HASH, name) >> 24), buf);
}

/*
 * When the episode opened is part of the id: a store begun anew counts its
 * episodes from one, and mail systems drop a second message with an id they
 * have seen.  So is the section of what is about no episode: what two
 * sections owe at the same moment need not be the same.
 */
static void
message_id(char id[static NOTICE_ID], const char *what, unsigned number,
    int64_t episode, int64_t opened_ms, const struct notice_facts *facts)
{
	char	since[16], host[64], section[16] = "";

	base36(opened_ms, since);
	if (episode == 0)
		mark(facts->alerts, section);
	snprintf(host, sizeof host, "%.60s", facts->instance[0] != '\0' ?
	    facts->instance : "monitor");
	for (char *s = host; *s != '\0'; s++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "0123456789-", *s) == NULL)
			*s = '-';
	snprintf(id, NOTICE_ID, "<%s.%u.%" PRId64 ".%s%s%s@%s.mailflowd>",
	    what, number, episode, since, section[0] != '\0' ? "." : "",
	    section, host);
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

/* Letters enough to find the probe by, and too few to pass for it. */
static void
shorten_tokens(char *text)
{
	char	token[TOKEN_SIZE], id[TOKEN_SHORT];
	char	*begin_;
	size_t	 at = 0, len = strlen(text), n;

	while (token_find(text, len, &at, token)) {
		begin_ = text + at - TOKEN_LEN;
		n = strlen(token_short(token, id));
		memcpy(begin_, id, n);
		memmove(begin_ + n, text + at, len - at + 1);
		len -= TOKEN_LEN - n;
		at -= TOKEN_LEN - n;
	}
}

/* All tests of one moment to one section are a thread. */
static void
identify_test(struct notice *n, const struct notice_facts *facts,
    int64_t now_ms)
{
	char	what[32];

	n->number = (unsigned)(now_ms / 1000);
	snprintf(what, sizeof what, "test-%s", kinds[n->kind]);
	message_id(n->message_id, what, n->number, 0, now_ms, facts);
	message_id(n->thread_id, "test-failing", n->number, 0, now_ms, facts);
}

static void
identify(struct notice *n, const struct episode *e,
    const struct notice_facts *facts)
{
	n->episode = e->id;
	n->number = number_of(n->kind, e) + facts->number_more;
	message_id(n->message_id, kinds[n->kind], n->number, e->id,
	    e->opened_ms, facts);
	message_id(n->thread_id, kinds[NOTICE_FAILING], 1, e->id,
	    e->opened_ms, facts);
}

void
notice_write(struct notice *n, enum notice_kind kind, const struct episode *e,
    const struct notice_facts *facts, int64_t now_ms)
{
	struct draft	d = { .n = n, .e = e, .facts = facts,
			    .now_ms = now_ms };

	begin(n, kind, facts, now_ms);
	if (facts->test)
		identify_test(n, facts, now_ms);
	else
		identify(n, e, facts);
	text_copy(d.title, sizeof d.title, reason_title(e->class));
	name_spoke(&d);
	name_who(&d);
	name_answer(&d);
	name_routes(&d);
	subject(&d);
	notice_parts(&d);
	shorten_tokens(n->subject);
	shorten_tokens(n->body);
}

void
notice_begin(struct notice *n, enum notice_kind kind,
    const struct notice_facts *facts, const char *subject_, unsigned number,
    int64_t now_ms)
{
	begin(n, kind, facts, now_ms);
	n->number = number;
	message_id(n->message_id, kinds[kind], number, 0, now_ms, facts);
	text_copy(n->thread_id, sizeof n->thread_id, n->message_id);
	text_copy(n->subject, sizeof n->subject, subject_);
	ascii(n->subject);
}

bool
notice_is_test(const struct notice *n)
{
	return (n->episode == 0 && n->kind <= NOTICE_UNWATCHED);
}

void
notice_prefix(struct notice *n, const char *sentence)
{
	char	body[NOTICE_BODY] = "";

	reason_wrap(body, sizeof body, sentence, NOTICE_COLUMNS, "", "");
	text_append(body, sizeof body, "\n");
	text_append(body, sizeof body, n->body);
	text_copy(n->body, sizeof n->body, body);
}
