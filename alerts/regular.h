#ifndef REGULAR_H
#define REGULAR_H

#include <stdint.h>

#include "alerts/follow.h"

/*
 * What an alerts section is told by the clock: that the monitor is alive, how
 * the day was, and what an hour with too many notices kept back.  When each
 * was told last is on disk: restarts send nothing twice, and a stretch of
 * downtime is one digest.  Times are wall milliseconds.
 */

struct regular;

/* All borrowed; owed is called when there is something for the outbox. */
struct regular	*regular_open(const struct config *, struct store *,
		    struct follow *, follow_owed, void *arg);
void		 regular_close(struct regular **);
/* A section that the new configuration lacks is told now what was kept. */
void		 regular_config(struct regular *, const struct config *,
		    int64_t now_ms);

/* A notice has been owed, or kept. */
void		 regular_wake(struct regular *);
void		 regular_tick(struct regular *, int64_t now_ms);
int64_t		 regular_next_ms(const struct regular *);	/* 0: never */

#endif
