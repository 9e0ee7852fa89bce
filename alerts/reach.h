#ifndef REACH_H
#define REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/outcome.h"

/*
 * Whose fault is it that nobody answers?  One host that cannot be reached is
 * that host's trouble; when every host we speak to falls silent at once, it
 * is the monitor that has no network.  Pure; times are wall milliseconds.
 */

/* Hosts remembered; the one not heard of for longest makes room. */
#define REACH_HOSTS	256

/* Fewer hosts than this may well fail together. */
#define REACH_QUORUM	3

/* What was seen longer ago says nothing about now. */
#define REACH_STALE_MS	INT64_C(1800000)

struct reach_host {
	char	 name[OUTCOME_HOST];
	bool	 reached;
	bool	 lasting;	/* holds until told otherwise: an open mailbox */
	int64_t	 at_ms;
};

struct reach {
	struct reach_host	 hosts[REACH_HOSTS];
	size_t			 count;
};

void	 reach_note(struct reach *, const char *host, bool reached,
	    bool lasting, int64_t now_ms);

/* Enough hosts are known, and none of them can be reached; how many. */
size_t	 reach_none(const struct reach *, int64_t now_ms);

/* Forgets the hosts for which known says no. */
void	 reach_keep(struct reach *, bool (*known)(const void *arg,
	    const char *host), const void *arg);

#endif
