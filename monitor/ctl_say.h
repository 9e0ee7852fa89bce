#ifndef CTL_SAY_H
#define CTL_SAY_H

#include <stdint.h>

/*
 * Spans and moments in words.  Pure.
 */

/* For columns: "840ms", "12s", "4m48s", "3h12m", "2d4h". */
#define SAY_SHORT	32
const char	*say_short(int64_t ms, char buf[static SAY_SHORT]);

/* For sentences: "0.84 s", "12.3 s", "20 s", "4 min 48 s", "3 h 12 min". */
#define SAY_SPAN	48
const char	*say_span(int64_t ms, char buf[static SAY_SPAN]);
/* The same rounded up to a second, for what nobody wants to know exactly. */
const char	*say_wait(int64_t ms, char buf[static SAY_SPAN]);

/*
 * A moment in UTC: "12:00:03 UTC" on the day of now_ms (wall), else with
 * its date.
 */
#define SAY_TIME	32
const char	*say_time(int64_t wall_ms, int64_t now_ms,
		    char buf[static SAY_TIME]);

#endif
