#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/outcome.h"

/*
 * One SMTP reply (RFC 5321 4.2) read from its wire lines, whatever they look
 * like.  Pure, bounded, total: any bytes give an answer.
 */

#define REPLY_TEXT	OUTCOME_REPLY

struct reply {
	int	code;			/* 200-599; 0: no valid code */
	/* "4.3.1" (RFC 3463), from whichever line or place has it; "" if none
	 * or none in range */
	char	enhanced[OUTCOME_ENHANCED];
	/* The text of all lines joined by " / ", without repeated codes,
	 * printable UTF-8, cut at the end if too long. */
	char	text[REPLY_TEXT];
	bool	contradiction;		/* basic and enhanced class differ, or
					 * lines carry different codes */
	bool	malformed;		/* a line broke the syntax */
};

/*
 * Reads the lines in bytes[0..len): CRLF, LF or a stray CR end one; the end
 * of the input ends the last.  Always fills *r.  Where no line begins with a
 * code, the first reply quoted in the text is taken ("host mx said: 452
 * 4.3.1 ..."), as reports have it.
 */
void	 reply_parse(struct reply *r, const char *bytes, size_t len);

/*
 * The whole as people quote it: "452 4.3.1 Insufficient system storage".
 * Cut if it does not fit; returns the length of what stands in buf.
 */
size_t	 reply_print(const struct reply *r, char *buf, size_t size);

#endif
