#ifndef ZONE_H
#define ZONE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The time on somebody's wall, by the TZ database.  The C library knows one
 * zone per process: this sets TZ, asks, and puts back what was there.  Only
 * for a thread that is alone in reading the environment, as the monitor's is.
 */

/*
 * "2026-01-31 13:00:00 CET" for wall_ms (Unix time) in zone, such as
 * "Europe/Berlin"; "" if wall_ms is 0 or the zone is not known.  Fits
 * notice_local.
 */
void	 zone_local(const char *zone, int64_t wall_ms, char *buf,
	    size_t size);

#endif
