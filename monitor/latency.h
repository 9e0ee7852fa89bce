#ifndef LATENCY_H
#define LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/frame.h"
#include "monitor/probe.h"

/*
 * From stamps to the figures people read.  Pure.
 */

struct latency {
	int64_t	total_ms;	/* first attempt to arrival */
	int64_t	accept_ms;	/* first attempt to the 250 */
	int64_t	transit_ms;	/* 250 to arrival; may be negative */
	bool	wall_clock;	/* one of them had to trust the wall clock */
};

/*
 * The three spans of a probe, STAMP_NO_SPAN for those that are not known.
 * A probe whose dot was never answered has no 250, so neither accept_ms nor
 * transit_ms.
 */
void	 latency_of(const struct probe *, struct latency *);

/* The probe's stamp of its 250; not known (all zero) if it never had one. */
struct stamp latency_accepted(const struct probe *);

/*
 * Adds to note[size], words by a space, what a reader must know to trust the
 * figures: "wall-clock" (a step of the clock may be in them) and
 * "arrived-before-250" (fast local delivery was seen before the reply).  A
 * word that is there is not added again.
 */
void	 latency_notes(const struct latency *, char *note, size_t size);

/*
 * Adds what an Authentication-Results field (RFC 8601), without its
 * authserv-id, says of SPF, DKIM and DMARC: "spf=pass dkim=fail dmarc=none".
 * The first result of each method counts.
 */
void	 latency_authentication(char *note, size_t size,
	    const char *auth_results);

/*
 * When a mail arrived, as the CSV tells it: when it was seen, unless the
 * good look before lies longer than two polls back (or there was none).
 * Then the server's INTERNALDATE tells it, clamped to [last look, seen], and
 * the return is "internaldate"; "seen-after-gap" if there is no
 * INTERNALDATE; "" in the ordinary case.  The return is static and meant for
 * the note.
 */
const char *latency_arrived(const struct frame_arrival *, int64_t poll_ms,
	    struct stamp *arrived_r);

/* Adds one word to note[size], by a space, unless it is there or "". */
void	 latency_note(char *note, size_t size, const char *word);

struct latency_summary {
	size_t	count;
	int64_t	p50_ms;		/* all STAMP_NO_SPAN if count is 0 */
	int64_t	p95_ms;
	int64_t	max_ms;
};

/*
 * Nearest-rank percentiles: each is one of the values.  Sorts ms[count],
 * which holds no STAMP_NO_SPAN.
 */
void	 latency_summarise(int64_t *ms, size_t count,
	    struct latency_summary *);

#endif
