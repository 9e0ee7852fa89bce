#ifndef REASON_H
#define REASON_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/outcome.h"

/*
 * The words for people: what a class means, what the sender can do, what the
 * admin of the receiving system can look at, and what every registered
 * enhanced status code stands for.  Pure: tables of sentences, printable
 * ASCII, never NULL, never owned by the caller.
 *
 * A sentence never claims to know the other machine: a reply says what a
 * server answers, not why.
 */

/* The class as a short noun phrase: "mail system full". "" for CLASS_NONE. */
const char	*reason_title(enum outcome_class);

/* One short line (<= 76 columns) of advice, for a table or a log. */
const char	*reason_advice(enum outcome_class, enum verdict);

/*
 * What it means: one paragraph without newlines, to be filled by
 * reason_wrap().  enhanced may be "".
 */
const char	*reason_meaning(enum outcome_class, enum verdict,
		    const char *enhanced);

/* What the sender can do: one paragraph without newlines. */
const char	*reason_do(enum outcome_class, enum verdict);

/* What a sending server does with such an answer: one short paragraph. */
const char	*reason_fate(enum outcome_class, enum verdict);

/*
 * What the admin of the receiving system can check: points separated by
 * '\n', without bullets, each to be filled by reason_wrap(); "" if there is
 * nothing to check on that side.
 */
const char	*reason_check(enum outcome_class, enum verdict);

/* How it differs from its neighbours: points as in reason_check(). */
const char	*reason_apart(enum outcome_class);

/*
 * What a registered enhanced status code (RFC 3463, RFC 5248 and the codes
 * registered since) says, in one sentence; "" if it is not registered for
 * that class.  Takes "4.3.1".
 */
const char	*reason_code(const char *enhanced);

/* The table behind reason_code(), in ascending order, for tests and docs. */
struct reason_code {
	int		 subject;
	int		 detail;
	const char	*success;	/* class 2 meaning, or NULL: none */
	const char	*temporary;	/* class 4 */
	const char	*permanent;	/* class 5 */
	const char	*source;	/* "RFC 3463" */
};
const struct reason_code	*reason_codes(size_t *count_r);

/*
 * Appends text to buf, filled to lines of at most columns (20-200)
 * characters; the first line begins with first, the others with rest.  Each
 * '\n' in text begins anew with first.  Ends with a newline.  A word longer
 * than a line stays whole.  True if it fitted.
 */
bool	 reason_wrap(char *buf, size_t size, const char *text, size_t columns,
	    const char *first, const char *rest);

#endif
