#ifndef LANE_H
#define LANE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/*
 * The ways out of the outbox: a lane for each alert server and for each
 * section's command.  How much is under way by each, and which of them has
 * lately given no answer, so that one that hangs holds up nobody but itself.
 * Pure: time is an argument, wall milliseconds.
 */

/* Under way by one lane: alerts must not starve the probes. */
#define LANE_MOST	4

/* For so long after it gave no answer others are tried before it. */
#define LANE_SHUN_MS	INT64_C(600000)

struct lane {
	char			*name;		/* owned */
	unsigned		 in_flight;
	int64_t			 busy_until_ms;	/* nobody took its job */
	int64_t			 shun_until_ms;
	bool			 doubted;	/* no answer since it gave none */
	LIST_ENTRY(lane)	 next;
};
LIST_HEAD(lanes, lane);

enum lane_kind { LANE_SERVER, LANE_COMMAND };

/* That of this server or this section's command, by name; made if need be.
 * It lives until lanes_forget(). */
struct lane	*lane_of(struct lanes *, enum lane_kind, const char *name);

/* May it have one more now?  One whose answer is in doubt has one at a time,
 * which finds out. */
bool		 lane_has_room(const struct lane *, int64_t now_ms);
/* Is another to be tried first? */
bool		 lane_is_shunned(const struct lane *, int64_t now_ms);

void		 lane_took(struct lane *);
void		 lane_busy(struct lane *, int64_t until_ms);
/* One that it took has ended.  True if that begins or ends the doubt. */
bool		 lane_ended(struct lane *, bool answered, int64_t now_ms);

/* Before each look at all that is due. */
void		 lanes_tick(struct lanes *, int64_t now_ms);
/* When the first of those that were busy may be asked again; 0: none was. */
int64_t		 lanes_retry_ms(const struct lanes *);
/* Frees those that have nothing under way. */
void		 lanes_forget(struct lanes *);

#endif
