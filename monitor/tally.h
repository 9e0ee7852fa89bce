#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/latency.h"
#include "monitor/probe.h"

/*
 * How routes did: ended probes counted by route, with their latencies.  Pure.
 */

struct tally;

struct tally_line {
	char			*route;		/* owned by the tally */
	unsigned		 ends[PROBE_ENDS];
	unsigned		 arrived;	/* in time, late or junk */
	unsigned		 failed;	/* rejected, bounced, expired, lost */
	unsigned		 deferrals;
	struct latency_summary	 latency;	/* of what arrived */
};

struct tally	*tally_new(void);
void		 tally_free(struct tally **);

/* Lists a route, even if nothing of it has ended. */
void		 tally_route(struct tally *, const char *route);
/* From now on every route is listed of which a probe comes. */
void		 tally_any(struct tally *);
/* One probe; ignored if its route is not listed.  total_ms may be
 * STAMP_NO_SPAN. */
void		 tally_add(struct tally *, const char *route, enum probe_end,
		    unsigned deferrals, int64_t total_ms);
/* Probes given to tally_add(), of whatever route. */
unsigned	 tally_probes(const struct tally *);

/*
 * Ends the counting: the lines, the worst first (what failed, came late, was
 * slow), *count_r of them; the tally's.
 */
const struct tally_line *const *tally_lines(struct tally *, size_t *count_r);

#endif
