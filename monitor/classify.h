#ifndef CLASSIFY_H
#define CLASSIFY_H

#include "monitor/outcome.h"
#include "monitor/reply.h"

/*
 * What a reply means.  Trust goes: stage, basic code, enhanced code, text.
 * The basic code's first digit decides what happens to the message, the
 * enhanced code says what it is, the text speaks only where both are silent
 * or general.  Pure: a table, and a loop over it.
 */
struct meaning {
	enum outcome_class	class;
	enum verdict		verdict;	/* by the first digit */
};

/* stage may be STAGE_NONE: not known. */
struct meaning	 classify(enum stage stage, const struct reply *r);

#endif
