#ifndef EPISODE_H
#define EPISODE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/outcome.h"
#include "monitor/token.h"

/*
 * An episode is a stretch of trouble with one scope and one class: from the
 * first doubt to the mail that says it is over.  Pure: no clock, no store,
 * no mail; time comes in, what is owed goes out.
 */

enum episode_state {
	EPISODE_QUIET,		/* nothing wrong, or over */
	EPISODE_SUSPECT,	/* misses seen, not yet enough to wake anyone */
	EPISODE_FAILING,	/* people have been told */
	EPISODE_ACCEPTING,	/* accepts again, arrival not yet seen */
	EPISODE_STATES
};

enum episode_event {
	EPISODE_EV_MISS,
	EPISODE_EV_ACCEPT,	/* a 250 to the dot in our own session */
	EPISODE_EV_DELIVERED,	/* arrival of a probe of the current run */
	EPISODE_EV_BLIND,	/* we could not look */
	EPISODE_EV_REMIND,	/* a reminder is due, or the end of fail_for */
	EPISODE_EV_WINDOW,	/* a maintenance window begins or ends */
	EPISODE_EV_UNWATCHED,	/* nothing can show any more how it goes on */
	EPISODE_EVENTS
};

/* What the episode was opened by: what can end it depends on that. */
enum episode_origin {
	EPISODE_BY_ATTEMPT,	/* our own sessions: accepts are observable */
	EPISODE_BY_AGE,		/* a probe too long under way */
	EPISODE_BY_BOUNCE,	/* a report named the system */
	EPISODE_ORIGINS
};

/* What is owed to people after a step; bits, told in this order. */
#define EPISODE_OWES_FAILING	0x1U
#define EPISODE_OWES_REMINDER	0x2U
#define EPISODE_OWES_ACCEPTING	0x4U
#define EPISODE_OWES_DELIVERED	0x8U
#define EPISODE_OWES_UNWATCHED	0x10U

/* What closed an episode whose end nobody has seen, in place of a probe. */
#define EPISODE_UNWATCHED	"unwatched"

#define EPISODE_SCOPE	320
#define EPISODE_ROUTES	512

struct episode {
	int64_t			 id;		/* 0: not stored yet */
	char			 scope[EPISODE_SCOPE];	/* "system mx.example" */
	enum outcome_class	 class;
	enum episode_origin	 origin;
	enum episode_state	 state;
	unsigned		 misses;	/* in a row */
	unsigned		 accepts;	/* in a row: the current run */
	unsigned		 refusals;	/* misses in all */
	unsigned		 swings;	/* FAILING entered */
	unsigned		 reminders;	/* since failing was last told */
	bool			 acked;
	/* Wall milliseconds, 0: none. */
	int64_t			 first_miss_ms;	/* of the doubt that last led here;
						 * of age: the hand-over of the first
						 * that was late */
	int64_t			 opened_ms;	/* first became FAILING */
	int64_t			 failing_notice_ms;	/* first owed to anybody;
						 * the caller sets it */
	int64_t			 run_ms;	/* first accept of the run */
	int64_t			 accepting_ms;	/* of this swing */
	int64_t			 delivered_ms;	/* QUIET: closed, see
						 * episode_is_unwatched(); FAILING: the
						 * run's arrival has been learnt already */
	int64_t			 last_miss_ms;
	int64_t			 remind_ms;	/* next reminder; 0: none */
	int64_t			 tell_ms;	/* damped recovery due; 0: none */
	unsigned		 owed;		/* EPISODE_OWES_*: held by damping */
	bool			 held;		/* a window keeps its notices */
	enum episode_state	 told;		/* held: what people believe */
	int64_t			 max_delay_ms;	/* of probes it delayed */
	char			 closed_by[TOKEN_SIZE];	/* the probe that proved
						 * it, or EPISODE_UNWATCHED */
	char			 sentinel[TOKEN_SIZE];	/* the probe being retried */
	char			 alerts[EPISODE_ROUTES];	/* sections that hear, by space */
	char			 routes[EPISODE_ROUTES];	/* names, by space */
	enum stage		 stage;		/* of the last miss */
	int			 code;
	char			 enhanced[OUTCOME_ENHANCED];
	char			 first_reply[OUTCOME_REPLY];
	char			 last_reply[OUTCOME_REPLY];
	char			 host[OUTCOME_HOST];
	bool			 csv_done;	/* its row is written */
};

/* The thresholds of the alerts section, for the class at hand. */
struct episode_limits {
	unsigned	 misses_to_fail;	/* full_after or fail_after */
	int64_t		 fail_for_ms;		/* 0 for system-full */
	unsigned	 accepts_to_mend;
	int64_t		 settle_ms;
};

/*
 * Moves e by one event that happened at now_ms (wall).  Returns what is owed
 * now (EPISODE_OWES_* bits).  The policy is one table, states by events.
 *
 * The caller gives ACCEPT only for the scope that the accept speaks about,
 * and DELIVERED only for an arrival that proves something: of a probe
 * accepted in the current run or, where no accept can be seen (age, bounces,
 * blindness), of one handed over after the last miss.  It sets closed_by
 * first.  From the second swing on what recovery owes waits in owed until
 * tell_ms; a relapse before that drops it, and then owes no second *failing*:
 * what people were last told is true again.
 */
unsigned	 episode_step(struct episode *e, enum episode_event,
		    const struct episode_limits *, int64_t now_ms);

/* What damping held back until now_ms; cleared by being returned. */
unsigned	 episode_settled(struct episode *e,
		    const struct episode_limits *, int64_t now_ms);

/*
 * A maintenance window keeps notices back.  What people believe, having
 * heard all that was owed so far: QUIET, FAILING or ACCEPTING.
 */
enum episode_state episode_believed(const struct episode *);
/* What those who believe this must hear to know how things are. */
unsigned	 episode_news(const struct episode *,
		    enum episode_state believed);
/*
 * After a step: believed is what it was before, owes what the step owed,
 * covered whether a window lasts.  Returns what to tell now; the rest waits
 * in held and told, and what has come to nothing meanwhile is dropped.
 */
unsigned	 episode_withhold(struct episode *,
		    enum episode_state believed, unsigned owes, bool covered);

/* Trouble of another class on the same scope: the run of accepts is over. */
void		 episode_break_run(struct episode *e);

/* People may have been told: FAILING or ACCEPTING. */
bool		 episode_is_open(const struct episode *e);

/* It was closed without anybody knowing whether the trouble is over: its end
 * is no delivery. */
bool		 episode_is_unwatched(const struct episode *);

/* When the trouble began, over all swings. */
int64_t		 episode_since_ms(const struct episode *e);

const char	*episode_state_name(enum episode_state);
enum episode_state episode_state_of(const char *);
const char	*episode_event_name(enum episode_event);
const char	*episode_origin_name(enum episode_origin);
enum episode_origin episode_origin_of(const char *);

#endif
