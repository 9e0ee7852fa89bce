#include "alerts/follow_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "alerts/judge.h"
#include "alerts/notice.h"
#include "alerts/tell.h"
#include "alerts/window.h"
#include "alerts/words.h"
#include "monitor/log.h"
#include "monitor/reply.h"
#include "monitor/text.h"

/*
 * One step of one episode: the table moves, the row is written, the reason
 * noted and the notices owed, all in one turn.
 */

const struct alerts *
followed_section(const struct follow *f, const struct episode *e)
{
	const char	*at = e->alerts;
	char		 name[PROBE_NAME];
	struct alerts	*a;

	while (words_next(&at, name, sizeof name))
		if ((a = config_alerts(f->config, name)) != NULL)
			return (a);
	return (NULL);
}

void
followed_limits(const struct follow *f, const struct episode *e,
    struct episode_limits *lim)
{
	judge_limits(followed_section(f, e), e, lim);
}

void
followed_unsaved(const struct follow *f, const struct episode *e)
{
	log_error("episode=%lld scope=\"%s\" not stored: %s",
	    (long long)e->id, e->scope, store_error(f->store));
}

void
followed_put(struct follow *f, struct episode *e)
{
	f->next->stale = true;
	if (store_episode_put(f->store, e) == -1)
		followed_unsaved(f, e);
}

static bool
blind_mailbox(const struct follow *f, const struct route *r)
{
	const struct followed	*fe;
	const char		*name;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.class == CLASS_BLIND &&
		    fe->e.state != EPISODE_QUIET &&
		    judge_scope(fe->e.scope, &name) == SCOPE_MAILBOX &&
		    strcmp(name, r->mailbox->name) == 0)
			return (true);
	return (false);
}

/* Is there any way to see arrivals on the routes of this episode? */
static bool
all_blind(const struct follow *f, const struct episode *e)
{
	const char	*at = e->routes;
	char		 name[PROBE_NAME];
	struct route	*r;
	bool		 blind = false;

	while (words_next(&at, name, sizeof name)) {
		if ((r = config_route(f->config, name)) == NULL)
			continue;
		if (!blind_mailbox(f, r))
			return (false);
		blind = true;
	}
	return (blind);
}

/*
 * What is told when a time has passed has no session of its own: the last
 * one that failed on a route of the episode since its trouble began.
 */
static void
last_transcript(const struct follow *f, const struct episode *e, char *buf,
    size_t size)
{
	const char	*at = e->routes, *name;
	char		 route[PROBE_NAME];
	int64_t		 at_ms;

	buf[0] = '\0';
	if (judge_scope(e->scope, &name) == SCOPE_MAILBOX ||
	    e->origin != EPISODE_BY_ATTEMPT)
		return;
	while (words_next(&at, route, sizeof route)) {
		if (store_transcript_get(f->store, route, &at_ms, buf,
		    size) == 1 && at_ms >= e->first_miss_ms)
			return;
		buf[0] = '\0';
	}
}

int
followed_tell(struct follow *f, const struct episode *e, unsigned owes,
    const char *section, const char *transcript, int64_t now_ms)
{
	char		kept[OUTCOME_TRANSCRIPT];
	struct telling	t = {
		.config = f->config, .store = f->store, .e = e,
		.transcript = transcript, .now_ms = now_ms,
	};
	int		rc;

	if (owes == 0)
		return (0);
	if (transcript[0] == '\0' && (owes & EPISODE_OWES_FAILING) != 0) {
		last_transcript(f, e, kept, sizeof kept);
		t.transcript = kept;
	}
	t.mailbox_blind = e->class != CLASS_BLIND && all_blind(f, e);
	rc = section != NULL ? tell_section(&t, owes, section) :
	    tell_all(&t, owes);
	if (rc == -1)
		followed_unsaved(f, e);
	else if (rc > 0 && f->owed != NULL)
		f->owed(f->arg);
	return (rc > 0 ? rc : 0);
}

/* What a doubt still lacks to be told. */
static void
doubtful(const struct episode *e, const struct episode_limits *lim,
    int64_t now_ms, char *buf, size_t size)
{
	char	lasted[NOTICE_SPAN], needed[NOTICE_SPAN];

	if (e->misses < lim->misses_to_fail)
		text_appendf(buf, size, "; not told: %u of %u misses",
		    e->misses, lim->misses_to_fail);
	else
		text_appendf(buf, size, "; not told: enough misses, but for "
		    "%s of %s", notice_span(now_ms - e->first_miss_ms, lasted),
		    notice_span(lim->fail_for_ms, needed));
}

/* Why people hear of this step, or why they do not; told: how many notices
 * there are. */
static void
explain(const struct episode *e, enum episode_state before, unsigned owes,
    int told, const struct episode_limits *lim, int64_t now_ms, char *buf,
    size_t size)
{
	snprintf(buf, size, "%s->%s", episode_state_name(before),
	    episode_state_name(e->state));
	if (owes != 0 && e->alerts[0] == '\0')
		text_append(buf, size, "; no alerts section: nobody is told");
	else if (owes != 0 && told == 0)
		text_append(buf, size, "; nobody is told: its alerts sections "
		    "have gone, or tell nobody");
	else if (owes != 0)
		text_appendf(buf, size, "; told:%s%s%s%s%s",
		    owes & EPISODE_OWES_FAILING ? " failing" : "",
		    owes & EPISODE_OWES_REMINDER ? " still failing" : "",
		    owes & EPISODE_OWES_ACCEPTING ? " accepting again" : "",
		    owes & EPISODE_OWES_DELIVERED ? " delivered again" : "",
		    owes & EPISODE_OWES_UNWATCHED ? " no longer watched" : "");
	else if (e->held && before != e->state)
		text_append(buf, size, "; held back: a maintenance window");
	else if (e->owed != 0)
		text_append(buf, size, "; recovery held back until it has "
		    "lasted: it failed before");
	else if (e->state == EPISODE_SUSPECT)
		doubtful(e, lim, now_ms, buf, size);
	else if (e->state == EPISODE_FAILING && before != EPISODE_FAILING)
		text_append(buf, size, "; not told: its recovery had not been "
		    "told either");
	else if (e->state == EPISODE_FAILING && e->accepts > 0)
		text_appendf(buf, size, "; not told: %u of %u accepts in a "
		    "row", e->accepts, lim->accepts_to_mend);
	else if (before == EPISODE_SUSPECT && e->state == EPISODE_QUIET)
		text_append(buf, size, "; not told: it came to nothing");
}

void
followed_note(struct follow *f, const struct episode *e, const struct step *s,
    enum episode_state before, unsigned owes, int told,
    const struct episode_limits *lim, int64_t now_ms)
{
	char	why[256 + OUTCOME_REPLY];

	explain(e, before, owes, told, lim, now_ms, why, sizeof why);
	if (before != e->state)
		log_info("episode=%lld scope=\"%s\" class=%s state=%s misses=%u "
		    "accepts=%u", (long long)e->id, e->scope,
		    class_name(e->class), why, e->misses, e->accepts);
	if (s->said[0] != '\0')
		text_appendf(why, sizeof why, "; %s", s->said);
	if (store_episode_event(f->store, e->id, now_ms,
	    episode_event_name(s->event), s->token, why) == -1)
		followed_unsaved(f, e);
}

/* Reminders come at growing gaps while it fails and nobody said "I know". */
static void
set_reminder(const struct follow *f, struct episode *e, unsigned owes,
    int64_t now_ms)
{
	const struct alerts	*a = followed_section(f, e);

	if (e->state != EPISODE_FAILING || e->acked || a == NULL)
		e->remind_ms = 0;
	else if (e->remind_ms == 0 || owes != 0)
		e->remind_ms = now_ms + backoff_wait_ms(&a->remind,
		    e->reminders);
}

unsigned
followed_withhold(const struct follow *f, struct followed *fe,
    enum episode_state believed, unsigned owes, int64_t now_ms)
{
	struct episode	*e = &fe->e;

	if (owes == 0 && !e->held)
		return (0);
	fe->hold_ms = window_covers(f->config, e->routes, now_ms);
	return (episode_withhold(e, believed, owes, fe->hold_ms != 0));
}

/* Owed to somebody: one that a window has kept back, or that no section hears
 * of, has told nobody. */
static void
note_failing_told(struct follow *f, struct episode *e, unsigned owes, int told,
    int64_t now_ms)
{
	if (told == 0 || (owes & EPISODE_OWES_FAILING) == 0 ||
	    e->failing_notice_ms != 0)
		return;
	e->failing_notice_ms = now_ms;
	followed_put(f, e);
}

void
followed_tell_newcomers(struct follow *f, struct episode *e, int64_t now_ms)
{
	char			kept[OUTCOME_TRANSCRIPT];
	struct telling		t = {
		.config = f->config, .store = f->store, .e = e,
		.transcript = kept, .now_ms = now_ms,
	};
	enum episode_state	believed = episode_believed(e);
	int			told;

	if (e->id == 0 || (believed != EPISODE_FAILING &&
	    believed != EPISODE_ACCEPTING))
		return;
	last_transcript(f, e, kept, sizeof kept);
	t.mailbox_blind = e->class != CLASS_BLIND && all_blind(f, e);
	told = tell_newcomers(&t, believed);
	note_failing_told(f, e, EPISODE_OWES_FAILING, told > 0 ? told : 0,
	    now_ms);
	if (told == -1 || (told > 0 && store_episode_event(f->store, e->id,
	    now_ms, "config", "", "told: failing, to those who are new in its "
	    "alerts sections") == -1))
		followed_unsaved(f, e);
	if (told > 0 && f->owed != NULL)
		f->owed(f->arg);
}

/* One step of the table: its row, its reason and its notices in one turn. */
unsigned
followed_move(struct follow *f, struct followed *fe, const struct step *s,
    int64_t now_ms)
{
	struct episode		*e = &fe->e;
	struct episode_limits	 lim;
	enum episode_state	 before = e->state;
	enum episode_state	 believed = episode_believed(e);
	bool			 damped = e->owed != 0, held = e->held;
	bool			 told_before = episode_is_open(e);
	unsigned		 owes;
	int			 told;

	followed_limits(f, e, &lim);
	owes = episode_step(e, s->event, &lim, now_ms);
	if (s->since_ms != 0 && e->misses == 1 && !told_before)
		e->first_miss_ms = s->since_ms;
	owes = followed_withhold(f, fe, believed, owes, now_ms);
	set_reminder(f, e, owes, now_ms);
	followed_put(f, e);
	told = followed_tell(f, e, owes, NULL, s->transcript, now_ms);
	note_failing_told(f, e, owes, told, now_ms);
	if (!s->quiet || before != e->state || owes != 0 ||
	    damped != (e->owed != 0) || held != e->held)
		followed_note(f, e, s, before, owes, told, &lim, now_ms);
	return (owes);
}

/* Finding. */

static bool
over(const struct follow *f, const struct episode *e, int64_t now_ms)
{
	struct episode_limits	lim;

	followed_limits(f, e, &lim);
	return (e->state == EPISODE_QUIET && e->opened_ms != 0 &&
	    e->owed == 0 && !e->held && now_ms - e->delivered_ms > lim.settle_ms);
}

/*
 * The server of a route that was refused, or its system.  Which of a domain's
 * mail hosts is met is nobody's choice, so they are one there.
 */
static bool
is_system_of(const struct episode *e, const struct route *refused,
    const struct route *r, const char *host)
{
	return (refused->server == r->server ||
	    strcasecmp(judge_system(refused->server, e->host),
	    judge_system(r->server, host)) == 0);
}

bool
followed_refused_by(const struct follow *f, const struct episode *e,
    const struct route *r, const char *host)
{
	const char		*at = e->routes, *name;
	char			 route[PROBE_NAME];
	const struct route	*refused;
	bool			 known = false;

	if (r == NULL || judge_scope(e->scope, &name) != SCOPE_RECIPIENT)
		return (true);
	while (words_next(&at, route, sizeof route)) {
		if ((refused = config_route(f->config, route)) == NULL)
			continue;
		known = true;
		if (is_system_of(e, refused, r, host))
			return (true);
	}
	/* Its routes are gone: by the host that spoke last. */
	return (!known && (strcasecmp(e->host, r->server->host) == 0 ||
	    strcasecmp(e->host, judge_system(r->server, host)) == 0));
}

struct followed *
followed_known(const struct follow *f, const struct judgement *j,
    const struct route *r, const char *host, int64_t now_ms)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.class == j->class &&
		    strcmp(fe->e.scope, j->scope) == 0 &&
		    followed_refused_by(f, &fe->e, r, host) &&
		    !over(f, &fe->e, now_ms))
			return (fe);
	return (NULL);
}

/* What nobody is told of yet is of the kind that is seen now: that decides
 * what can end it. */
struct followed *
followed_find(struct follow *f, const struct judgement *j,
    const struct route *r, const char *host, int64_t now_ms)
{
	struct episode	 e = { .class = j->class, .origin = j->origin };
	struct followed	*fe = followed_known(f, j, r, host, now_ms);

	if (fe != NULL) {
		if (!episode_is_open(&fe->e))
			fe->e.origin = j->origin;
		return (fe);
	}
	text_copy(e.scope, sizeof e.scope, j->scope);
	return (followed_add(f, &e));
}

/* True if another alerts section has joined those that hear. */
bool
followed_join(struct episode *e, const struct route *r)
{
	words_add(e->routes, sizeof e->routes, r->name);
	if (r->alerts == NULL)
		return (false);
	return (words_add(e->alerts, sizeof e->alerts, r->alerts->name));
}

/*
 * A miss of this route.  A section that joins while others have been told
 * hears of it now, or its people would hear of a recovery from nothing.
 */
void
followed_miss(struct follow *f, struct followed *fe, const struct route *r,
    const struct step *s, int64_t now_ms)
{
	bool		joined = false;
	unsigned	owes;
	int		told;

	/* In a window nobody joins those who have been told: if it ends
	 * there, nobody of them needs to know. */
	if (episode_is_open(&fe->e) && !fe->e.held &&
	    window_covers(f->config, fe->e.routes, now_ms) != 0 &&
	    window_covers(f->config, r->name, now_ms) != 0)
		words_add(fe->e.routes, sizeof fe->e.routes, r->name);
	else
		joined = followed_join(&fe->e, r);
	owes = followed_move(f, fe, s, now_ms);
	if (joined && !fe->e.held && fe->e.state == EPISODE_FAILING &&
	    (owes & EPISODE_OWES_FAILING) == 0) {
		told = followed_tell(f, &fe->e, EPISODE_OWES_FAILING,
		    r->alerts->name, s->transcript, now_ms);
		note_failing_told(f, &fe->e, EPISODE_OWES_FAILING, told,
		    now_ms);
	}
}

void
followed_record(struct episode *e, enum stage stage, int code, const char *enhanced,
    const char *reply, const char *host)
{
	struct reply	said = { .code = code };

	/* As people quote it, codes and all: the row and the notice of an
	 * episode have no other place for the first ones. */
	text_copy(said.enhanced, sizeof said.enhanced, enhanced);
	text_copy(said.text, sizeof said.text, reply);
	e->stage = stage;
	e->code = code;
	text_copy(e->enhanced, sizeof e->enhanced, enhanced);
	(void)reply_print(&said, e->last_reply, sizeof e->last_reply);
	if (e->first_reply[0] == '\0')
		text_copy(e->first_reply, sizeof e->first_reply,
		    e->last_reply);
	if (host[0] != '\0')
		text_copy(e->host, sizeof e->host, host);
}
