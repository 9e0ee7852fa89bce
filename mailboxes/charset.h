#ifndef CHARSET_H
#define CHARSET_H

#include <stddef.h>

/*
 * Text in one of the character sets that mail systems still write, as UTF-8.
 * The tables are libc's; the names are ours, as a mail may name any.  Pure.
 */

#define CHARSET_GROWS	3	/* bytes of UTF-8 for one of another set */

/*
 * dst has room for CHARSET_GROWS * len + 1 bytes and is terminated; returns
 * how many are used.  What makes no sense becomes '?', and after too much of
 * that the rest stays as it is.  So does all of it in a set that is UTF-8 or
 * that we do not know.
 */
size_t	 charset_utf8(const char *set, char *src, size_t len, char *dst);

#endif
