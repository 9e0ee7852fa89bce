#include "alerts/follow_internal.h"

#include "alerts/judge.h"
#include "alerts/window.h"
#include "alerts/words.h"
#include "monitor/csv.h"
#include "monitor/log.h"

/*
 * What only time brings: fail_for, reminders, recoveries that have held, and
 * the row of what is over.
 */

/* Doubts that came to nothing, kept so that the next one uses their row. */
#define SPARE_MAX	512

/* A reminder that fell due while the monitor was down waits for a look at how
 * things are now, for so long at most. */
#define LOOK_FIRST_MS	1800000

static int64_t
sooner(int64_t a, int64_t b)
{
	return (a == 0 || (b != 0 && b < a) ? b : a);
}

static bool
is_news(const struct follow *f, const struct episode *e)
{
	return (f->started_ms != 0 && e->last_miss_ms >= f->started_ms);
}

static int64_t
remind_at(const struct follow *f, const struct episode *e)
{
	int64_t	looked_ms = f->started_ms + LOOK_FIRST_MS;

	if (e->remind_ms == 0 || e->last_miss_ms >= f->started_ms ||
	    e->remind_ms >= looked_ms)
		return (e->remind_ms);
	return (looked_ms);
}

/*
 * When this episode needs follow_tick(); 0: never by itself.  A doubt opens
 * by time only upon what was seen since the start: what a monitor that was
 * down remembers is no news.
 */
static int64_t
tick_at(const struct follow *f, const struct followed *fe)
{
	const struct episode	*e = &fe->e;
	struct episode_limits	 lim;
	int64_t			 at = e->owed != 0 ? e->tell_ms : 0;

	if (e->held)
		at = sooner(at, fe->hold_ms);
	followed_limits(f, e, &lim);
	switch (e->state) {
	case EPISODE_SUSPECT:
		if (e->misses >= lim.misses_to_fail && is_news(f, e))
			at = sooner(at, e->first_miss_ms + lim.fail_for_ms);
		break;
	case EPISODE_FAILING:
		at = sooner(at, remind_at(f, e));
		break;
	case EPISODE_QUIET:
		if (e->opened_ms != 0 && e->owed == 0 && !e->held &&
		    !e->csv_done)
			at = e->delivered_ms + lim.settle_ms + 1;
		break;
	case EPISODE_ACCEPTING:
	case EPISODE_STATES:
		break;
	}
	return (at);
}

static void
settle(struct follow *f, struct followed *fe, int64_t now_ms)
{
	struct episode		*e = &fe->e;
	struct episode_limits	 lim;
	struct step		 s = { .event = EPISODE_EV_REMIND,
				    .token = e->closed_by, .said = "",
				    .transcript = "" };
	enum episode_state	 believed = episode_believed(e);
	unsigned		 owes;
	int			 told;

	followed_limits(f, e, &lim);
	if ((owes = episode_settled(e, &lim, now_ms)) == 0)
		return;
	owes = followed_withhold(f, fe, believed, owes, now_ms);
	followed_put(f, e);
	told = followed_tell(f, e, owes, NULL, "", now_ms);
	followed_note(f, e, &s, e->state, owes, told, &lim, now_ms);
}

/* Over for good: one row in the CSV, and out of memory. */
static void
finish(struct follow *f, struct followed *fe)
{
	csv_episode(f->csv, &fe->e);
	fe->e.csv_done = true;
	followed_put(f, &fe->e);
	followed_forget(f, &fe->e);
	log_info("episode=%lld scope=\"%s\" class=%s over swings=%u "
	    "refusals=%u", (long long)fe->e.id, fe->e.scope,
	    class_name(fe->e.class), fe->e.swings, fe->e.refusals);
	followed_drop(f, fe);
}

/* The window is over, or another one has taken its place. */
static void
unhold(struct follow *f, struct followed *fe, int64_t now_ms)
{
	struct step	s = { .event = EPISODE_EV_WINDOW, .token = "",
			    .said = "", .transcript = "", .quiet = true };

	if (fe->e.held && fe->hold_ms != 0 && fe->hold_ms <= now_ms)
		followed_move(f, fe, &s, now_ms);
}

static bool
is_paused(const struct follow *f, const struct route *r)
{
	int64_t	paused = 0;

	return (store_fact_get(f->store, "paused", r->name, &paused, NULL,
	    0) == 1 && paused != 0);
}

/* Whether a person has paused all that could show how it goes on.  Mailboxes
 * are looked at all the same. */
static bool
nothing_is_tried(const struct follow *f, const struct episode *e)
{
	struct route *const	*r;
	const char		*name;
	enum scope_kind		 kind = judge_scope(e->scope, &name);

	if (kind == SCOPE_MONITOR || kind == SCOPE_MAILBOX)
		return (false);
	for (r = f->config->routes; *r != NULL; r++)
		if (follow_shows(f, e, *r, "") && !is_paused(f, *r))
			return (false);
	return (true);
}

/* Until when nobody needs to be reminded: of what is being mended, or has been
 * put aside.  0: now is the time. */
static int64_t
quiet_until(const struct follow *f, const struct episode *e, int64_t now_ms)
{
	int64_t			 until_ms = window_covers(f->config, e->routes,
				    now_ms);
	const struct alerts	*a = followed_section(f, e);

	if (until_ms != 0 || a == NULL || !nothing_is_tried(f, e))
		return (until_ms);
	return (now_ms + backoff_wait_ms(&a->remind, e->reminders));
}

static bool
put_off_reminder(struct follow *f, struct followed *fe, int64_t now_ms)
{
	int64_t	until_ms = quiet_until(f, &fe->e, now_ms);

	if (fe->e.state != EPISODE_FAILING || until_ms == 0)
		return (false);
	fe->e.remind_ms = until_ms;
	followed_put(f, &fe->e);
	return (true);
}

static void
tick(struct follow *f, struct followed *fe, int64_t now_ms)
{
	struct step	s = { .event = EPISODE_EV_REMIND, .token = "",
			    .said = "", .transcript = "" };

	settle(f, fe, now_ms);
	unhold(f, fe, now_ms);
	if (tick_at(f, fe) == 0 || tick_at(f, fe) > now_ms)
		return;
	if (fe->e.state == EPISODE_QUIET) {
		finish(f, fe);
		return;
	}
	if (!put_off_reminder(f, fe, now_ms))
		followed_move(f, fe, &s, now_ms);
}

static bool
is_spare(const struct episode *e)
{
	return (e->state == EPISODE_QUIET && e->opened_ms == 0);
}

static void
bound_spares(struct follow *f)
{
	struct followed	*fe, *after;
	unsigned	 spares = 0;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		spares += is_spare(&fe->e);
	for (fe = TAILQ_FIRST(&f->episodes); fe != NULL && spares > SPARE_MAX;
	    fe = after) {
		after = TAILQ_NEXT(fe, entry);
		if (!is_spare(&fe->e))
			continue;
		followed_drop(f, fe);
		spares--;
	}
}

static int64_t
next_ms(const struct follow *f)
{
	const struct followed	*fe;
	int64_t			 at = 0;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		at = sooner(at, tick_at(f, fe));
		if (followed_wants_probe(f, fe))
			at = sooner(at, fe->ask_ms);
	}
	return (at);
}

int64_t
follow_next_ms(const struct follow *f)
{
	if (f->next->stale) {
		f->next->at_ms = next_ms(f);
		f->next->stale = false;
	}
	return (f->next->at_ms);
}

void
follow_tick(struct follow *f, int64_t now_ms)
{
	struct followed	*fe, *after;

	follow_begin(f, now_ms);
	if (follow_next_ms(f) == 0 || follow_next_ms(f) > now_ms)
		return;
	for (fe = TAILQ_FIRST(&f->episodes); fe != NULL; fe = after) {
		after = TAILQ_NEXT(fe, entry);
		tick(f, fe, now_ms);
	}
	bound_spares(f);
}
