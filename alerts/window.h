#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/route.h"

/*
 * Maintenance windows: when each takes place, and whether one covers what an
 * episode is about.  Knows no clock; the TZ database by zone.h.  Times are
 * wall milliseconds.
 */

struct window_span {
	int64_t	start_ms;
	int64_t	end_ms;		/* > start_ms; outside */
};

/*
 * The first occurrence that ends after at_ms, so perhaps the one under way.
 * A start that the clocks leave out moves to the first minute there is, one
 * they show twice is the first, an end the last.  False if there is none
 * within four weeks: one that begins and ends in the hour left out.
 */
bool	 window_next(const struct window *, int64_t at_ms,
	    struct window_span *);

/*
 * Until when every route of this list (words.h) is in a window, at least: at
 * that moment it is worth asking again.  0 if one of them is in none now, or
 * the list names no route of the configuration.
 */
int64_t	 window_covers(const struct config *, const char *routes,
	    int64_t now_ms);

#endif
