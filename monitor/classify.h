#ifndef CLASSIFY_H
#define CLASSIFY_H

#include <stddef.h>

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

/*
 * The row of the table that decides, 0 <= row < classify_rows(): for tests,
 * which see to it that every row is earned by a reply.
 */
size_t		 classify_row(enum stage stage, const struct reply *r);
size_t		 classify_rows(void);
/* That row's words, or "" where the codes decide. */
const char	*classify_row_words(size_t row);

#endif
