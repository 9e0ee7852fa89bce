#ifndef ZONE_H
#define ZONE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The time on somebody's wall, by the TZ database.  The C library knows one
 * zone per process: this sets TZ, asks, and puts back what was there.  Only
 * for a thread that is alone in reading the environment, as the monitor's is.
 * A zone that is not known is UTC, but for zone_local().
 */

/*
 * "2026-01-31 13:00:00 CET" for wall_ms (Unix time) in zone, such as
 * "Europe/Berlin"; "" if wall_ms is 0 or the zone is not known.  Fits
 * notice_local.
 */
#define ZONE_TIME	64
void	 zone_local(const char *zone, int64_t wall_ms, char *buf,
	    size_t size);

/* Days since 1970-01-01 on the calendar of zone at wall_ms. */
int64_t	 zone_day(const char *zone, int64_t wall_ms);
/* The weekday of such a day, 0: Sunday. */
int	 zone_weekday(int64_t day);

/* Which one, of a minute that a clock set back shows twice. */
enum zone_pick { ZONE_FIRST, ZONE_LAST };

/*
 * When the clocks of zone show this minute (0 to 1440, after midnight) of
 * that day, as wall milliseconds.  A minute that a clock set forward leaves
 * out is the first one that there is after it.
 */
int64_t	 zone_minute(const char *zone, int64_t day, int minute,
	    enum zone_pick);

#endif
