#ifndef COMPLAINT_H
#define COMPLAINT_H

#include <stdbool.h>

#include "mailboxes/bounce_text.h"
#include "mailboxes/dsn.h"
#include "monitor/classify.h"
#include "monitor/reply.h"

/*
 * What a bounce in words complains about: the reply that is quoted in it, or
 * its words, whoever said it and for whom.  Its paragraphs are weighed one by
 * one; a code that says what it is about beats words, and what stands beside
 * our recipient beats what stands beside another's.  Pure.
 */

struct complaint {
	struct reply	 reply;		/* what was quoted, or the words */
	struct meaning	 meaning;
	bool		 spoken;	/* a code or clear words were found */
	char		 host[OUTCOME_HOST];	/* who refused, or "" */
	char		 recipient[DSN_ADDRESS];	/* or "" */
};

/* ours: the recipient that is asked about, or "". */
void		 complaint_read(const struct bounce_words *, const char *ours,
		    struct complaint *out);

/*
 * What the reply in a report means; *r becomes the reply it quotes where that
 * is the cause and the rest only says that time is over.
 */
struct meaning	 complaint_meaning(struct reply *r);

#endif
