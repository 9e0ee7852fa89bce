#ifndef HTML_H
#define HTML_H

#include <stddef.h>

/*
 * HTML as text, roughly: enough to find a sentence in it.  Tags go, those that
 * end a line end one, the common entities are read.  Pure.
 *
 * dst may be src; returns how many bytes are used, never more than len.
 */
size_t	 html_text(char *dst, const char *src, size_t len);

#endif
