#include "mailboxes/watch.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

#define SECOND		INT64_C(1000)
#define SECRET_WAIT	(60 * SECOND)
#define LONG_LIFE	(60 * SECOND)	/* of a session that was no accident */
#define IDLE_LIFE	(30 * SECOND)	/* of an IDLE that was none */
#define CALM_LIFE	(5 * SECOND)	/* of a wait that news may end */
#define CALM_MOST	6
#define NO_IDLE		(3600 * SECOND)	/* after two that were */
#define IDLE_LEAST	(20 * SECOND)	/* before it is begun anew */
#define LINGER		SECOND		/* after a find: its removal follows,
					 * and with luck the next probe */

/* Removals wait a little, for more of them: one round serves many. */
#define CLEAN_WAIT	(SECOND / 10)
#define CLEAN_MANY	32

/* Gaps between the looks of a burst; the last repeats until its end. */
static const int64_t burst_gaps[] = { 5, 5, 10, 20, 40, 80, 150, 300 };
/* A probe that is so late may lie in another folder. */
#define BURST_ALL	80
/* A burst that begins so late leaves time for IDLE before it. */
#define BURST_FAR	400

static const int64_t back_off[] = { 1, 2, 5, 10, 30, 60, 120, 300 };

static int64_t
back_off_ms(unsigned n, uint32_t random)
{
	int64_t	ms;

	ms = back_off[n < NITEMS(back_off) ? n : NITEMS(back_off) - 1] * SECOND;
	return (ms - ms / 5 + (int64_t)(random % 1024) * (ms * 2 / 5) / 1024);
}

void
watch_init(struct watch *w, int64_t now)
{
	*w = (struct watch){ .open_at = now, .idle_ms = WATCH_IDLE_MS };
}

void
watch_pause(struct watch *w, int64_t pause_ms, int64_t now)
{
	if (pause_ms <= 0)
		return;
	w->open_at = now + pause_ms;
	w->refusals = 2;
}

/* Deciding. */

static void
sooner(int64_t *at, int64_t other)
{
	if (other < *at)
		*at = other;
}

static enum watch_step
next_closed(struct watch *w, int64_t now, int64_t *at)
{
	if (now < w->open_at) {
		*at = w->open_at;
		return (WATCH_REST);
	}
	if (!w->needs_secret || w->has_secret)
		return (WATCH_OPEN);
	if (!w->asked || now - w->asked_at >= SECRET_WAIT)
		return (WATCH_ASK_SECRET);
	*at = w->asked_at + SECRET_WAIT;
	return (WATCH_REST);
}

static bool
may_wait(const struct watch *w, int64_t now)
{
	return (w->may_idle && now >= w->no_idle_until && w->to_clean == 0 &&
	    (w->burst_began == 0 || w->burst_at - now >= BURST_FAR));
}

static enum watch_step
next_open(struct watch *w, int64_t now, int64_t *at)
{
	if (w->more)
		return (w->more_all ? WATCH_LOOK_ALL : WATCH_LOOK);
	if (w->news)
		return (WATCH_LOOK);
	if (w->burst_began != 0) {
		if (now >= w->burst_at)
			return (w->other_folders && now - w->burst_began >=
			    BURST_ALL + w->usual_ms * 5 / 4 ? WATCH_LOOK_ALL :
			    WATCH_LOOK);
		sooner(at, w->burst_at);
	}
	if (w->to_clean >= CLEAN_MANY)
		return (WATCH_CLEAN);
	if (w->to_clean > 0 && w->burst_began == 0) {
		if (now >= w->clean_at)
			return (WATCH_CLEAN);
		sooner(at, w->clean_at);
	}
	if (now >= w->poll_at)
		return (WATCH_LOOK_ALL);
	sooner(at, w->poll_at);
	if (w->waiting) {
		if (now - w->wait_began >= w->idle_ms)
			return (WATCH_LOOK);
		sooner(at, w->wait_began + w->idle_ms);
	} else if (may_wait(w, now)) {
		if (now >= w->wait_at)
			return (WATCH_WAIT);
		sooner(at, w->wait_at);
	}
	return (WATCH_REST);
}

enum watch_step
watch_next(struct watch *w, int64_t now, int64_t *wait_ms_r)
{
	enum watch_step	step;
	int64_t		at = INT64_MAX;

	*wait_ms_r = -1;
	if (w->busy)
		return (WATCH_REST);
	step = w->open ? next_open(w, now, &at) : next_closed(w, now, &at);
	if (step == WATCH_REST) {
		if (at != INT64_MAX)
			*wait_ms_r = at > now ? at - now : 0;
		return (step);
	}
	if (step == WATCH_ASK_SECRET) {
		w->asked = true;
		w->asked_at = now;
		return (step);
	}
	w->busy = true;
	if (w->waiting && now - w->wait_began >= IDLE_LIFE)
		w->idle_deaths = 0;
	w->waiting = false;
	if (step == WATCH_WAIT)
		w->wait_began = now;
	/* What comes during the look is told anew. */
	if (step == WATCH_LOOK || step == WATCH_LOOK_ALL)
		w->news = false;
	return (step);
}

/* What happened. */

static struct watch_tell
tell_good(struct watch *w, int64_t now, bool whole)
{
	struct watch_tell	t = { .good = true };

	/* An edge, or the heartbeat: each poll has one. */
	t.tell = whole && (!w->told || !w->good ||
	    now - w->told_at >= w->poll_ms / 2);
	if (t.tell) {
		w->told = w->good = true;
		w->told_at = now;
	}
	return (t);
}

static struct watch_tell
tell_blind(struct watch *w, int64_t now, enum outcome_class class)
{
	w->told = true;
	w->good = false;
	w->told_at = now;
	return ((struct watch_tell){ .tell = true, .class = class,
	    .retry_ms = w->open_at > now ? w->open_at - now : 0 });
}

static void
closed(struct watch *w)
{
	w->open = w->waiting = w->news = w->more = w->has_secret = false;
	w->asked = false;
}

/* IDLE that ends by itself each time it is begun: poll for a while. */
static void
blame_idle(struct watch *w, int64_t now)
{
	if (now - w->wait_began >= IDLE_LIFE) {
		w->idle_deaths = 0;
		return;
	}
	if (++w->idle_deaths >= 2) {
		w->no_idle_until = now + NO_IDLE;
		w->idle_deaths = 0;
	}
}

/*
 * A server or a firewall that ends what has been silent for so long: from the
 * second time on IDLE is begun anew before that.
 */
static void
outpace(struct watch *w, int64_t now)
{
	int64_t	silent_ms = now - w->wait_began;

	if (silent_ms < IDLE_LIFE || w->short_lives == 0)
		return;
	if (silent_ms * 3 / 4 < w->idle_ms)
		w->idle_ms = silent_ms * 3 / 4;
	if (w->idle_ms < IDLE_LEAST)
		w->idle_ms = IDLE_LEAST;
}

/*
 * A session ended as sessions do: reconnect soon and say nothing, unless
 * that fails too.  The sooner it ended, the longer the wait, but none longer
 * than people were told they would be without a look.
 */
static void
reconnect_quietly(struct watch *w, int64_t now, uint32_t random)
{
	int64_t	wait_ms;

	if (now - w->opened_at >= LONG_LIFE)
		w->short_lives = 0;
	wait_ms = back_off_ms(w->short_lives++, random);
	w->open_at = now + (wait_ms < w->poll_ms ? wait_ms : w->poll_ms);
	w->quiet = true;
}

struct watch_tell
watch_lost(struct watch *w, const struct mailbox_trouble *trouble,
    int64_t now, uint32_t random)
{
	bool	was_open = w->open;

	if (trouble->idle)
		blame_idle(w, now);
	closed(w);
	w->busy = false;
	w->quiet = false;
	if (was_open && w->good && trouble->retry == MAILBOX_AT_ONCE) {
		if (trouble->idle)
			outpace(w, now);
		reconnect_quietly(w, now, random);
		return ((struct watch_tell){ .tell = false });
	}
	if (trouble->retry == MAILBOX_REFUSED && ++w->refusals >= 2)
		w->open_at = now + w->auth_pause_ms;
	else
		w->open_at = now + back_off_ms(w->failures, random);
	w->failures++;
	return (tell_blind(w, now, trouble->class));
}

static int64_t
burst_gap(unsigned step)
{
	return (burst_gaps[step < NITEMS(burst_gaps) ? step :
	    NITEMS(burst_gaps) - 1]);
}

/* A look has ended well. */
static struct watch_tell
looked(struct watch *w, bool all, bool more, int64_t now)
{
	w->more = more;
	w->more_all = all;
	if (w->burst_began != 0 && !more) {
		w->burst_at = now + burst_gap(w->burst_step++);
		if (now - w->burst_began >= w->burst_ms)
			w->burst_began = 0;
	}
	if (more)
		return ((struct watch_tell){ .tell = false });
	w->failures = 0;
	if (all)
		w->poll_at = now + w->poll_ms;
	return (tell_good(w, now, all));
}

static void
opened(struct watch *w, int64_t now)
{
	w->open = true;
	w->quiet = false;
	w->has_secret = w->asked = false;
	w->refusals = 0;
	w->opened_at = now;
	w->poll_at = now;		/* look at everything first */
	w->wait_at = now;
}

struct watch_tell
watch_finished(struct watch *w, enum watch_step step, enum watch_result result,
    const struct mailbox_trouble *trouble, int64_t now, uint32_t random)
{
	w->busy = false;
	if (result == WATCH_LOST)
		return (watch_lost(w, trouble, now, random));
	switch (step) {
	case WATCH_OPEN:
		opened(w, now);
		break;
	case WATCH_LOOK:
	case WATCH_LOOK_ALL:
		return (looked(w, step == WATCH_LOOK_ALL,
		    result == WATCH_MORE, now));
	case WATCH_WAIT:
		w->waiting = result == WATCH_DONE;
		if (!w->waiting)
			w->no_idle_until = now + NO_IDLE;
		break;
	case WATCH_CLEAN:
	case WATCH_ASK_SECRET:
	case WATCH_REST:
		break;
	}
	return ((struct watch_tell){ .tell = false });
}

struct watch_tell
watch_secret(struct watch *w, bool ok, int64_t now, uint32_t random)
{
	static const struct mailbox_trouble	none = {
		.retry = MAILBOX_BACK_OFF, .class = CLASS_AUTH
	};

	if (w->open || w->busy || !w->asked)
		return ((struct watch_tell){ .tell = false });
	w->asked = false;
	w->has_secret = ok;
	return (ok ? (struct watch_tell){ .tell = false } :
	    watch_lost(w, &none, now, random));
}

/* A server that has news whenever one begins to wait is not to be chased. */
static void
calm_down(struct watch *w, int64_t now)
{
	if (now - w->wait_began >= CALM_LIFE) {
		w->short_waits = 0;
		return;
	}
	if (w->short_waits > 0)
		w->wait_at = now + (SECOND << (w->short_waits - 1));
	if (w->short_waits < CALM_MOST)
		w->short_waits++;
}

void
watch_woken(struct watch *w, enum mailbox_wake what, int64_t now)
{
	if (!w->waiting || (what != MAILBOX_NEWS && what != MAILBOX_AWAKE))
		return;
	w->news = true;
	calm_down(w, now);
	if (what == MAILBOX_AWAKE) {
		/* The server ended it: a look, then wait anew. */
		blame_idle(w, now);
		w->waiting = false;
	}
}

void
watch_clean(struct watch *w, unsigned waiting, int64_t now)
{
	if (w->to_clean == 0)
		w->clean_at = now + CLEAN_WAIT;
	w->to_clean = waiting;
}

/* Expectations. */

static void
forget(struct watch *w, size_t i)
{
	w->expecting--;
	memmove(w->expected[i], w->expected[i + 1],
	    (w->expecting - i) * sizeof w->expected[0]);
	memmove(&w->expected_at[i], &w->expected_at[i + 1],
	    (w->expecting - i) * sizeof w->expected_at[0]);
}

/*
 * Looks long before the usual time would be in vain: the burst begins with
 * the last of its steps that is well before it.
 */
static int64_t
burst_lead(const struct watch *w, unsigned *step_r)
{
	int64_t	lead = 0, gap;

	*step_r = 0;
	while (lead + (gap = burst_gap(*step_r)) <= w->usual_ms * 3 / 4) {
		lead += gap;
		(*step_r)++;
	}
	return (lead);
}

/* The shortest of late, which longer ones only slowly make longer. */
static void
learn_usual(struct watch *w, int64_t ms)
{
	if (ms > w->burst_ms)
		return;
	if (w->usual_ms == 0 || ms < w->usual_ms)
		w->usual_ms = ms > 0 ? ms : 1;
	else
		w->usual_ms += (ms - w->usual_ms) / 8;
}

void
watch_expect(struct watch *w, const char *token, int64_t now)
{
	int64_t	at;

	if (w->expecting == WATCH_EXPECTED)
		forget(w, 0);
	text_copy(w->expected[w->expecting], TOKEN_SIZE, token);
	w->expected_at[w->expecting++] = now;
	if (w->quiet)
		sooner(&w->open_at, now + SECOND);
	at = now + burst_lead(w, &w->burst_step);
	if (w->burst_began == 0 || at < w->burst_at)
		w->burst_at = at;
	w->burst_began = now;
}

void
watch_arrived(struct watch *w, const char *token, bool first, int64_t now)
{
	size_t	i = 0;

	while (i < w->expecting && strcmp(w->expected[i], token) != 0)
		i++;
	if (i < w->expecting) {
		if (first)
			learn_usual(w, now - w->expected_at[i]);
		forget(w, i);
	}
	w->wait_at = now + LINGER;
	if (w->expecting == 0)
		w->burst_began = 0;
}

bool
watch_expecting(const struct watch *w)
{
	return (w->expecting > 0);
}
