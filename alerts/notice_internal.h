#ifndef NOTICE_INTERNAL_H
#define NOTICE_INTERNAL_H

#include "alerts/notice.h"

/* What notice*.c share; nobody else includes this. */

#define NOTICE_COLUMNS	76

/* Everything the parts of a notice are written from. */
struct draft {
	struct notice			*n;
	const struct episode		*e;
	const struct notice_facts	*facts;
	int64_t				 now_ms;
	char				 who[EPISODE_SCOPE];
	char				 spoke[EPISODE_SCOPE];	/* "gw (10.0.0.1)" */
	char				 answer[64];	/* "452 4.3.1" or "" */
	char				 routes[96];	/* ", route a" */
	char				 title[80];
};

/* notice.c: how long it lasted, or has lasted. */
int64_t	 notice_lasted_ms(const struct draft *);

/* notice_parts.c: writes the body. */
void	 notice_parts(struct draft *);

#endif
