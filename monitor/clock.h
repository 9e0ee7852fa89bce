#ifndef CLOCK_H
#define CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/stamp.h"

/*
 * The only place that looks at a clock.  Everything that decides takes the
 * time as an argument, so that it can be tested in a simulated year.
 */

/* Both clocks now, and this boot's id. */
struct stamp	 clock_now(void);

/* CLOCK_BOOTTIME in milliseconds: for deadlines, never for stamps. */
int64_t		 clock_boot_ms(void);

/*
 * RFC 3339 in UTC with milliseconds, "2026-01-31T12:00:00.123Z" (25 bytes
 * with the NUL); "" for 0 and for what does not fit four year digits.
 */
#define CLOCK_RFC3339	25
const char	*clock_rfc3339(int64_t wall_ms, char buf[static CLOCK_RFC3339]);

/* RFC 5322 date in UTC, "Sat, 31 Jan 2026 12:00:00 +0000". */
#define CLOCK_RFC5322	48
const char	*clock_rfc5322(int64_t wall_ms, char buf[static CLOCK_RFC5322]);

/* The UTC day as "2026-01-31". */
#define CLOCK_DAY	11
const char	*clock_day(int64_t wall_ms, char buf[static CLOCK_DAY]);

#endif
