#ifndef MIME_H
#define MIME_H

#include <stdbool.h>
#include <stddef.h>

#include "mailboxes/header.h"

/*
 * The parts of a mail (RFC 2045, RFC 2046) whose sender may have made every
 * mistake there is.  One walk over the lines, nothing is copied.  Mails
 * enclosed as message/rfc822 stay closed: what is in them was said by
 * somebody else.  Pure.
 */

#define MIME_DEPTH	8	/* multiparts in multiparts; deeper ones are
				 * leaves */
#define MIME_PARTS	64	/* the rest is not looked at */
#define MIME_HEADER	16384	/* bytes of a header that are read */
#define MIME_WORD	64
#define MIME_BOUNDARY	256	/* RFC 2046 allows 70 */

enum mime_encoding {
	MIME_AS_IS,		/* 7bit, 8bit, binary, unknown */
	MIME_BASE64,
	MIME_QUOTED_PRINTABLE
};

struct mime_part {
	const char	*head;		/* borrowed: its header fields */
	size_t		 head_len;	/* <= MIME_HEADER */
	const char	*body;		/* borrowed; still encoded */
	size_t		 body_len;
	char		 type[MIME_WORD];	/* "text/plain"; "" not said */
	char		 report[MIME_WORD];	/* report-type, or "" */
	char		 charset[MIME_WORD];	/* as written, or "" */
	enum mime_encoding encoding;
	unsigned	 depth;		/* 0: the mail itself */
	bool		 multipart;	/* its parts follow, depth + 1 */
};

/*
 * Line ends made one LF, whatever they were (CRLF, CR, LF, CR CR LF), and
 * NULs made spaces, as every function here wants its text.  dst has room for
 * len bytes and may be src; returns how many are used.
 */
size_t	 mime_lines(char *dst, const char *src, size_t len);

/* Fills parts[0..MIME_PARTS) in the order of the text; returns how many, at
 * least 1.  parts[0] is the mail. */
size_t	 mime_split(const char *text, size_t len,
	    struct mime_part parts[static MIME_PARTS]);

/*
 * The body decoded, its lines made one kind again, into buf (terminated);
 * body_len + 1 bytes are always enough.  Returns the length.
 */
size_t	 mime_body(const struct mime_part *, char *buf, size_t size);

/*
 * A field's value as header_decode() has it, but of no more than size bytes
 * of it: to look for the ends of encoded words in a long one is dear.
 */
size_t	 mime_value(const struct header *, char *buf, size_t size);

/*
 * A parameter of an unfolded field value (RFC 2045 5.1): quotes, comments and
 * blanks in odd places are understood.  buf is "" if there is none.
 */
bool	 mime_parameter(const char *value, const char *name, char *buf,
	    size_t size);

#endif
