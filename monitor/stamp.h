#ifndef STAMP_H
#define STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A stamp is one moment, read on both clocks by the process that saw it.
 * Pure: only clock.c makes one from a clock.
 *
 * wall_ms is Unix time (UTC) in milliseconds; 0 means "not known".
 * boot_ms is CLOCK_BOOTTIME in milliseconds: it never jumps and goes on
 * while the machine sleeps, but means something only within one boot,
 * which boot_id names (0: not known).
 */
struct stamp {
	int64_t		wall_ms;
	int64_t		boot_ms;
	uint64_t	boot_id;
};

/* "Not known" as a span; no real latency is this long or this negative. */
#define STAMP_NO_SPAN	INT64_MIN

/*
 * Milliseconds from one stamp to the other, negative if `to` came first;
 * STAMP_NO_SPAN if either is not known.  Within one boot BOOTTIME is
 * subtracted and *exact_r becomes true; else wall time is, and it becomes
 * false: a clock step may be in the figure.  exact_r may be NULL.
 */
static inline int64_t
stamp_span_ms(const struct stamp *from, const struct stamp *to, bool *exact_r)
{
	bool	exact;

	exact = from->boot_id != 0 && from->boot_id == to->boot_id;
	if (exact_r != NULL)
		*exact_r = exact;
	if (from->wall_ms == 0 || to->wall_ms == 0)
		return (STAMP_NO_SPAN);
	return (exact ? to->boot_ms - from->boot_ms :
	    to->wall_ms - from->wall_ms);
}

#endif
