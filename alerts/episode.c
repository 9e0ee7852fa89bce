#include "alerts/episode.h"

#include <string.h>

#include "monitor/mem.h"

/* A cell may depend on one of these, on nothing else. */
enum gate {
	ALWAYS,
	ENOUGH_MISSES,		/* the count, and fail_for since the first */
	ENOUGH_ACCEPTS,		/* of an episode whose accepts can be seen */
	BY_SIGNS,		/* an episode that has no accept to see */
	NOT_ACKED,
	GATES
};

struct cell {
	enum gate		gate;
	enum episode_state	next;		/* when the gate is open */
	unsigned		owes;
	enum episode_state	otherwise;	/* when it is not */
};

#define FAILS	EPISODE_OWES_FAILING
#define REMINDS	EPISODE_OWES_REMINDER
#define ACCEPTS	EPISODE_OWES_ACCEPTING
#define ARRIVES	EPISODE_OWES_DELIVERED
#define LEAVES	EPISODE_OWES_UNWATCHED

#define STAY(s)	{ ALWAYS, (s), 0, (s) }

/* The whole policy.  The manual prints this table; the test walks it. */
static const struct cell table[EPISODE_STATES][EPISODE_EVENTS] = {
	[EPISODE_QUIET] = {
		[EPISODE_EV_MISS]	= { ENOUGH_MISSES, EPISODE_FAILING,
					    FAILS, EPISODE_SUSPECT },
		[EPISODE_EV_ACCEPT]	= STAY(EPISODE_QUIET),
		[EPISODE_EV_DELIVERED]	= STAY(EPISODE_QUIET),
		[EPISODE_EV_BLIND]	= STAY(EPISODE_QUIET),
		[EPISODE_EV_REMIND]	= STAY(EPISODE_QUIET),
		[EPISODE_EV_WINDOW]	= STAY(EPISODE_QUIET),
		[EPISODE_EV_UNWATCHED]	= STAY(EPISODE_QUIET),
	},
	[EPISODE_SUSPECT] = {
		[EPISODE_EV_MISS]	= { ENOUGH_MISSES, EPISODE_FAILING,
					    FAILS, EPISODE_SUSPECT },
		[EPISODE_EV_ACCEPT]	= { ENOUGH_ACCEPTS, EPISODE_QUIET,
					    0, EPISODE_SUSPECT },
		[EPISODE_EV_DELIVERED]	= { BY_SIGNS, EPISODE_QUIET,
					    0, EPISODE_SUSPECT },
		[EPISODE_EV_BLIND]	= STAY(EPISODE_SUSPECT),
		[EPISODE_EV_REMIND]	= { ENOUGH_MISSES, EPISODE_FAILING,
					    FAILS, EPISODE_SUSPECT },
		[EPISODE_EV_WINDOW]	= STAY(EPISODE_SUSPECT),
		[EPISODE_EV_UNWATCHED]	= { ALWAYS, EPISODE_QUIET,
					    0, EPISODE_QUIET },
	},
	[EPISODE_FAILING] = {
		[EPISODE_EV_MISS]	= STAY(EPISODE_FAILING),
		[EPISODE_EV_ACCEPT]	= { ENOUGH_ACCEPTS, EPISODE_ACCEPTING,
					    ACCEPTS, EPISODE_FAILING },
		[EPISODE_EV_DELIVERED]	= { BY_SIGNS, EPISODE_QUIET,
					    ACCEPTS | ARRIVES, EPISODE_FAILING },
		[EPISODE_EV_BLIND]	= STAY(EPISODE_FAILING),
		[EPISODE_EV_REMIND]	= { NOT_ACKED, EPISODE_FAILING,
					    REMINDS, EPISODE_FAILING },
		[EPISODE_EV_WINDOW]	= STAY(EPISODE_FAILING),
		[EPISODE_EV_UNWATCHED]	= { ALWAYS, EPISODE_QUIET,
					    LEAVES, EPISODE_QUIET },
	},
	[EPISODE_ACCEPTING] = {
		[EPISODE_EV_MISS]	= { ALWAYS, EPISODE_FAILING,
					    FAILS, EPISODE_FAILING },
		[EPISODE_EV_ACCEPT]	= STAY(EPISODE_ACCEPTING),
		[EPISODE_EV_DELIVERED]	= { ALWAYS, EPISODE_QUIET,
					    ARRIVES, EPISODE_QUIET },
		[EPISODE_EV_BLIND]	= STAY(EPISODE_ACCEPTING),
		[EPISODE_EV_REMIND]	= STAY(EPISODE_ACCEPTING),
		[EPISODE_EV_WINDOW]	= STAY(EPISODE_ACCEPTING),
		[EPISODE_EV_UNWATCHED]	= { ALWAYS, EPISODE_QUIET,
					    LEAVES, EPISODE_QUIET },
	},
};

/*
 * Age, bounces and blindness show no accept in a session of ours: a relay's
 * 250 says nothing about what lies behind it, and a login is no delivery.
 */
static bool
by_signs(const struct episode *e)
{
	return (e->origin != EPISODE_BY_ATTEMPT || e->class == CLASS_BLIND);
}

static bool
gate_open(enum gate gate, const struct episode *e,
    const struct episode_limits *lim, int64_t now_ms)
{
	switch (gate) {
	case ALWAYS:
		return (true);
	case ENOUGH_MISSES:
		return (e->misses >= lim->misses_to_fail &&
		    now_ms - e->first_miss_ms >= lim->fail_for_ms);
	case ENOUGH_ACCEPTS:
		/* A doubt nobody was told of needs no second accept. */
		return (!by_signs(e) && (e->state == EPISODE_SUSPECT ||
		    e->accepts >= lim->accepts_to_mend));
	case BY_SIGNS:
		return (by_signs(e));
	case NOT_ACKED:
		return (!e->acked);
	case GATES:
		break;
	}
	panic("episode: gate %d", (int)gate);
}

static void
count_miss(struct episode *e, int64_t now_ms)
{
	bool	told = e->state == EPISODE_FAILING ||
		    e->state == EPISODE_ACCEPTING;

	if (e->misses == 0 && !told)
		e->first_miss_ms = now_ms;
	e->misses++;
	e->refusals++;
	e->last_miss_ms = now_ms;
	episode_break_run(e);
}

static void
count(struct episode *e, enum episode_event event, int64_t now_ms)
{
	switch (event) {
	case EPISODE_EV_MISS:
		count_miss(e, now_ms);
		break;
	case EPISODE_EV_ACCEPT:
		if (by_signs(e))
			break;
		e->misses = 0;
		if (e->state != EPISODE_FAILING &&
		    e->state != EPISODE_ACCEPTING)
			break;
		if (e->accepts++ == 0)
			e->run_ms = now_ms;
		break;
	case EPISODE_EV_DELIVERED:
		/* The proof may be learnt before the run is long enough. */
		if (e->state == EPISODE_FAILING && e->accepts > 0)
			e->delivered_ms = now_ms;
		break;
	case EPISODE_EV_BLIND:
	case EPISODE_EV_REMIND:
	case EPISODE_EV_WINDOW:
	case EPISODE_EV_UNWATCHED:
	case EPISODE_EVENTS:
		break;
	}
}

/* People were told of the last swing's end, or of nothing yet. */
static unsigned
begin_failing(struct episode *e, int64_t now_ms)
{
	bool	believed_well = e->owed == 0;

	e->state = EPISODE_FAILING;
	e->swings++;
	if (e->opened_ms == 0)
		e->opened_ms = now_ms;
	e->accepts = 0;
	e->run_ms = e->accepting_ms = e->delivered_ms = 0;
	e->closed_by[0] = '\0';
	e->csv_done = false;
	/* What was held back is no longer true, and nobody has heard it. */
	e->owed = 0;
	e->tell_ms = 0;
	if (!believed_well)
		return (0);
	e->reminders = 0;
	e->acked = false;
	return (EPISODE_OWES_FAILING);
}

static void
end(struct episode *e, int64_t now_ms)
{
	if (e->state != EPISODE_SUSPECT)
		e->delivered_ms = now_ms;
	e->state = EPISODE_QUIET;
	e->misses = 0;
	e->remind_ms = 0;
	if (e->opened_ms != 0)
		return;
	/* It was nothing: the next doubt starts anew. */
	e->refusals = 0;
	e->first_miss_ms = e->last_miss_ms = 0;
	e->first_reply[0] = e->last_reply[0] = '\0';
	e->routes[0] = e->alerts[0] = '\0';
	e->sentinel[0] = '\0';
}

/* No recovery follows, nor is one of before held back any longer. */
static void
leave(struct episode *e)
{
	e->owed = 0;
	e->tell_ms = 0;
	strcpy(e->closed_by, EPISODE_UNWATCHED);
}

static unsigned
enter(struct episode *e, enum episode_state next, unsigned owes,
    int64_t now_ms)
{
	switch (next) {
	case EPISODE_FAILING:
		return (begin_failing(e, now_ms));
	case EPISODE_ACCEPTING:
		e->accepting_ms = now_ms;
		e->remind_ms = 0;
		break;
	case EPISODE_QUIET:
		end(e, now_ms);
		break;
	case EPISODE_SUSPECT:
	case EPISODE_STATES:
		break;
	}
	e->state = next;
	return (owes);
}

/* When a recovery that is being watched has held for long enough. */
static int64_t
tell_at(const struct episode *e, const struct episode_limits *lim)
{
	return ((e->accepting_ms != 0 ? e->accepting_ms : e->delivered_ms) +
	    lim->settle_ms);
}

/* From the second swing on recovery is told once it has held. */
static unsigned
damp(struct episode *e, unsigned owes, const struct episode_limits *lim,
    int64_t now_ms)
{
	unsigned	recovery = owes & (ACCEPTS | ARRIVES);

	if (recovery == 0 || e->swings < 2)
		return (owes);
	e->owed |= recovery;
	e->tell_ms = tell_at(e, lim);
	return ((owes & ~recovery) | episode_settled(e, lim, now_ms));
}

/* Looking is all that a blind monitor can take up again. */
static unsigned
tellable(const struct episode *e, unsigned owes)
{
	return (e->class == CLASS_BLIND ? owes & ~ACCEPTS : owes);
}

unsigned
episode_step(struct episode *e, enum episode_event event,
    const struct episode_limits *lim, int64_t now_ms)
{
	const struct cell	*c;
	enum episode_state	 next;
	unsigned		 owes;
	bool			 open;

	if (e->state >= EPISODE_STATES || event >= EPISODE_EVENTS)
		panic("episode: state %d, event %d", (int)e->state, (int)event);
	count(e, event, now_ms);
	c = &table[e->state][event];
	open = gate_open(c->gate, e, lim, now_ms);
	next = open ? c->next : c->otherwise;
	owes = open ? c->owes : 0;
	if (owes & EPISODE_OWES_REMINDER)
		e->reminders++;
	if (next == e->state)
		return (owes);

	if (next == EPISODE_ACCEPTING && e->delivered_ms != 0) {
		/* The run's arrival was learnt first: both have happened. */
		e->accepting_ms = now_ms;
		next = EPISODE_QUIET;
		owes |= ARRIVES;
	}
	owes = enter(e, next, owes, now_ms);
	if (owes & LEAVES)
		leave(e);
	return (damp(e, tellable(e, owes), lim, now_ms));
}

unsigned
episode_settled(struct episode *e, const struct episode_limits *lim,
    int64_t now_ms)
{
	unsigned	owes = e->owed;

	if (owes == 0)
		return (0);
	/* A shorter settle of a new configuration counts at once. */
	if (tell_at(e, lim) < e->tell_ms)
		e->tell_ms = tell_at(e, lim);
	if (now_ms < e->tell_ms)
		return (0);
	e->owed = 0;
	e->tell_ms = 0;
	return (owes);
}

/* Windows. */

enum episode_state
episode_believed(const struct episode *e)
{
	if (e->held)
		return (e->told);
	if (e->owed & ACCEPTS)
		return (EPISODE_FAILING);
	if (e->owed & ARRIVES)		/* nobody hears of blind accepting */
		return (e->class == CLASS_BLIND ? EPISODE_FAILING :
		    EPISODE_ACCEPTING);
	return (e->state == EPISODE_SUSPECT ? EPISODE_QUIET : e->state);
}

unsigned
episode_news(const struct episode *e, enum episode_state believed)
{
	/* From what people believe to what is. */
	static const unsigned	news[EPISODE_STATES][EPISODE_STATES] = {
		[EPISODE_QUIET] = {
			[EPISODE_FAILING]	= FAILS,
			[EPISODE_ACCEPTING]	= FAILS | ACCEPTS,
		},
		[EPISODE_FAILING] = {
			[EPISODE_ACCEPTING]	= ACCEPTS,
			[EPISODE_QUIET]		= ACCEPTS | ARRIVES,
			[EPISODE_SUSPECT]	= ACCEPTS | ARRIVES,
		},
		[EPISODE_ACCEPTING] = {
			[EPISODE_FAILING]	= FAILS,
			[EPISODE_QUIET]		= ARRIVES,
			[EPISODE_SUSPECT]	= ARRIVES,
		},
	};

	if (episode_is_unwatched(e))
		return (believed == EPISODE_QUIET ? 0 : LEAVES);
	return (tellable(e, news[believed][e->state]));
}

unsigned
episode_withhold(struct episode *e, enum episode_state believed,
    unsigned owes, bool covered)
{
	unsigned	news;

	if (!e->held && (owes == 0 || !covered))
		return (owes);
	e->held = true;
	e->told = believed;
	if (e->owed != 0)		/* damped: it may come back */
		return (0);
	news = episode_news(e, e->told);
	if (covered && news != 0)
		return (0);
	e->held = false;
	e->told = EPISODE_QUIET;
	return (news);
}

void
episode_break_run(struct episode *e)
{
	if (e->state != EPISODE_FAILING)
		return;
	e->accepts = 0;
	e->run_ms = e->delivered_ms = 0;
	e->closed_by[0] = '\0';
}

bool
episode_is_open(const struct episode *e)
{
	return (e->state == EPISODE_FAILING || e->state == EPISODE_ACCEPTING);
}

bool
episode_is_unwatched(const struct episode *e)
{
	return (!episode_is_open(e) &&
	    strcmp(e->closed_by, EPISODE_UNWATCHED) == 0);
}

int64_t
episode_since_ms(const struct episode *e)
{
	if (e->opened_ms != 0 && e->opened_ms < e->first_miss_ms)
		return (e->opened_ms);
	return (e->first_miss_ms);
}

static const char *const states[EPISODE_STATES] = {
	[EPISODE_QUIET]		= "quiet",
	[EPISODE_SUSPECT]	= "suspect",
	[EPISODE_FAILING]	= "failing",
	[EPISODE_ACCEPTING]	= "accepting",
};

static const char *const events[EPISODE_EVENTS] = {
	[EPISODE_EV_MISS]	= "miss",
	[EPISODE_EV_ACCEPT]	= "accept",
	[EPISODE_EV_DELIVERED]	= "delivered",
	[EPISODE_EV_BLIND]	= "blind",
	[EPISODE_EV_REMIND]	= "remind",
	[EPISODE_EV_WINDOW]	= "window",
	[EPISODE_EV_UNWATCHED]	= "unwatched",
};

static const char *const origins[EPISODE_ORIGINS] = {
	[EPISODE_BY_ATTEMPT]	= "attempt",
	[EPISODE_BY_AGE]	= "age",
	[EPISODE_BY_BOUNCE]	= "bounce",
};

static size_t
index_of(const char *const *names, size_t count_, const char *word)
{
	for (size_t i = 0; i < count_; i++)
		if (strcmp(names[i], word) == 0)
			return (i);
	return (0);
}

const char *
episode_state_name(enum episode_state s)
{
	return (states[s]);
}

enum episode_state
episode_state_of(const char *word)
{
	return ((enum episode_state)index_of(states, NITEMS(states), word));
}

const char *
episode_event_name(enum episode_event event)
{
	return (events[event]);
}

const char *
episode_origin_name(enum episode_origin o)
{
	return (origins[o]);
}

enum episode_origin
episode_origin_of(const char *word)
{
	return ((enum episode_origin)index_of(origins, NITEMS(origins), word));
}
