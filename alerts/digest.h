#ifndef DIGEST_H
#define DIGEST_H

#include "alerts/follow.h"
#include "alerts/notice.h"

/*
 * How the routes of an alerts section did: the body of its digest.
 */

/* Probes looked at; of more the newest count, and it says so. */
#define DIGEST_PROBES	250000

/*
 * Appends to body what ended at or after since_ms (wall) and the episodes
 * that are not over.  0, or -1 if the store failed.
 */
int	 digest_write(const struct config *, struct store *,
	    const struct follow *, const struct alerts *, int64_t since_ms,
	    char *body, size_t size);

#endif
