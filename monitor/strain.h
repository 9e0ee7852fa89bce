#ifndef STRAIN_H
#define STRAIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How long a server lets its callers wait for the greeting, usually and now:
 * one that takes far longer than it does by custom is likely to be under
 * strain before it refuses anything.  Pure.
 */

#define STRAIN_SAMPLES	20
#define STRAIN_FEWEST	5	/* no custom is known before so many */

/* Starts zeroed. */
struct strain {
	int32_t		ms[STRAIN_SAMPLES];
	unsigned	count;
	unsigned	next;
};

/* One more; of too many the oldest is forgotten.  Below 0: not known. */
void	 strain_note(struct strain *, int32_t greeting_ms);

/* The median; -1 while no custom is known. */
int32_t	 strain_usual_ms(const struct strain *);

/* More than five times the usual, and two seconds beyond it. */
bool	 strain_is_slow(const struct strain *, int32_t greeting_ms);

#endif
