#ifndef DSN_H
#define DSN_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/outcome.h"

/*
 * The fields of a message/delivery-status (RFC 3464 2), read one recipient
 * after the other from text whose line ends are LF.  What is missing is "";
 * everything is printable UTF-8.  Pure.
 */

#define DSN_ADDRESS	320	/* RFC 3696: 64 + 1 + 255 */
#define DSN_ENVID	128	/* RFC 3461 4.4: 100 */
#define DSN_WORD	24

struct dsn_message {
	char	envid[DSN_ENVID];		/* Original-Envelope-Id */
	char	reporting_mta[OUTCOME_HOST];	/* lower case */
};

struct dsn_recipient {
	char	original[DSN_ADDRESS];		/* lower case, no type */
	char	final[DSN_ADDRESS];
	char	action[DSN_WORD];		/* its first word, lower case */
	char	status[OUTCOME_ENHANCED];	/* no comment: "5.1.1" */
	char	remote_mta[OUTCOME_HOST];	/* lower case */
	char	diagnostic[OUTCOME_REPLY];	/* without its type */
	char	supplement[OUTCOME_REPLY];	/* X-Supplementary-Info: what
						 * Exchange may have there
						 * instead, likewise */
};

struct dsn {
	const char	*text;			/* borrowed */
	size_t		 len;
	size_t		 at;
	struct dsn_message message;		/* filled as its fields come */
};

/*
 * The next recipient; false at the end, when message is complete.  A group
 * ends where an empty line is followed by another recipient's address, or
 * where a field comes for the second time; the per-message fields may stand
 * anywhere.
 */
void	 dsn_open(struct dsn *, const char *text, size_t len);
bool	 dsn_next(struct dsn *, struct dsn_recipient *out);

/* Whether the text has the fields of a report at all: for text parts that a
 * report was written into. */
bool	 dsn_sniff(const char *text, size_t len);
/* Whether they are its first lines, so that it is nothing else. */
bool	 dsn_is_whole(const char *text, size_t len);

/*
 * Whether two addresses are one: case aside, and however the second is
 * written (xtext of RFC 3461 4, the utf-8 form of RFC 6533 3).
 */
bool	 dsn_same_address(const char *plain, const char *written);

#endif
