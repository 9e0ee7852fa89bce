#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A short list of names in one bounded string, parted by single spaces; the
 * names hold none.  A list that is full ends in "...".  Pure.
 */

bool	 words_has(const char *list, const char *word);

/* True if word was not there before and has been added to list[size]. */
bool	 words_add(char *list, size_t size, const char *word);

/* The next word of *at into word[size]; false at the end. */
bool	 words_next(const char **at, char *word, size_t size);

#endif
