#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdint.h>

#include "monitor/outcome.h"
#include "monitor/probe.h"
#include "monitor/route.h"
#include "monitor/stamp.h"

/*
 * When to send, when to try again, when to stop.  Pure.
 */

/*
 * The monitor's own time line: wall time that never goes back.  When the
 * clock is set forward it follows at once; when the clock is set back it
 * walks at half speed until the two meet, so that no timer stalls for an
 * hour and none fires twice.
 */
struct steady {
	int64_t	now_ms;			/* 0: not begun */
	int64_t	boot_ms;		/* when that was */
	int64_t	odd_ms;			/* half a millisecond not yet walked */
};

/* Moves the line to the moment of the stamp; returns the time on it. */
int64_t	 steady_step(struct steady *, const struct stamp *);

/*
 * A route's first probe after the start of the monitor.  stored_ms is its
 * due time from before (0: none).  Routes start spread over a tenth of a
 * second each, so that a thousand of them do not fire at once; what was
 * missed while the monitor was down is not made up for.
 */
int64_t	 schedule_first_ms(const char *route, int64_t every_ms,
	    int64_t stored_ms, unsigned routes, int64_t now_ms);

/* The due time after one that has come up: on the grid, never in the past. */
int64_t	 schedule_next_ms(int64_t due_ms, int64_t every_ms, int64_t now_ms);

/* What becomes of a probe after an attempt. */
struct schedule_after {
	enum probe_state	state;		/* WAITING, ACCEPTED, UNCERTAIN, DONE */
	enum probe_end		end;		/* DONE only */
	int64_t			next_try_ms;	/* WAITING only */
	int64_t			hold_ms;	/* > 0: the route's next probe not
						 * before this time */
};

/*
 * probe has already counted the attempt; rejects is the number of permanent
 * refusals in a row on this route, this one included.
 */
struct schedule_after schedule_after(const struct route *,
	    const struct probe *, const struct outcome *, unsigned rejects,
	    int64_t now_ms);

/* A span that varies by route and count, 0 <= x < span_ms; not random, so
 * that a simulated year is the same every time. */
int64_t	 schedule_jitter_ms(const char *name, uint64_t n, int64_t span_ms);

#endif
