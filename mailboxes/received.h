#ifndef RECEIVED_H
#define RECEIVED_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/outcome.h"

/*
 * The way a mail took, from its Received fields (RFC 5321 4.4), which each
 * host writes by its own clock.  Pure.
 */

struct received {
	int32_t	hops;			/* how many; -1: none to be seen */
	/* The host before which the mail waited longest, and how long;
	 * STAMP_NO_SPAN and "" if fewer than two have a readable date. */
	int64_t	slowest_hop_ms;
	char	slowest_hop[OUTCOME_HOST];
	/* The largest step back in time along the way: clocks differ by at
	 * least this much; 0 if none; STAMP_NO_SPAN as above. */
	int64_t	skew_ms;
};

void	 received_read(const char *head, size_t len, struct received *);

/*
 * The Authentication-Results field (RFC 8601) of the server that calls
 * itself authserv_id, without that name, made printable; "" if there is
 * none or authserv_id is "": anybody can write such a field.
 */
void	 received_auth_results(const char *head, size_t len,
	    const char *authserv_id, char *buf, size_t size);

#endif
