#ifndef CAP_H
#define CAP_H

#include <stdint.h>

#include "monitor/store.h"

/*
 * How many notices of episodes one alerts section gets in an hour.  What is
 * more is kept, and told as a summary when the hour is over (summary.h).  The
 * count is on disk, in the turn's transaction.  Times are wall milliseconds.
 */

#define CAP_NOTICES	20
#define CAP_HOUR_MS	INT64_C(3600000)

/* Counts one more: 1 it may go, 0 it is to be kept, -1 the store failed. */
int	 cap_take(struct store *, const char *alerts, int64_t now_ms);

/* When the section's hour is over, if something is kept; 0: nothing is. */
int64_t	 cap_due_ms(struct store *, const char *alerts, int64_t *since_ms_r);

/* What was kept has been told: a new hour. */
int	 cap_reset(struct store *, const char *alerts, int64_t now_ms);

#endif
