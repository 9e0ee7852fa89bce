#ifndef PHRASE_H
#define PHRASE_H

#include <stdbool.h>

#include "monitor/outcome.h"

/*
 * Words in a reply's text, whatever its punctuation.  Pure.
 *
 * A text is prepared once: in lower case, accents folded, everything but
 * letters and digits turned into single spaces, one space before and after;
 * addresses, host names and links are left out, since "<spam@example.org>"
 * says nothing about spam.
 */
struct phrase_text {
	char	words[OUTCOME_REPLY + 2];	/* " user unknown " */
	char	raw[OUTCOME_REPLY];		/* the whole, in lower case */
};

/* Takes at most OUTCOME_REPLY - 1 bytes of a UTF-8 string. */
void	 phrase_prepare(struct phrase_text *, const char *);

/*
 * True if the text has the phrases: "|" parts alternatives, "&" joins what
 * must all be there, "!" forbids one, "=" looks in the raw text (for what
 * stands in a link).  "" is an empty text.  A phrase may begin or end inside
 * a word unless it begins or ends with a space: "quota", " rbl ",
 * "mailbox& full ", "!user&=example.org/full".
 */
bool	 phrase_match(const struct phrase_text *, const char *phrases);

#endif
