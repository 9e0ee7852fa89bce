#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The header fields of a mail, as bytes that somebody else wrote: nothing is
 * assumed of line ends, lengths or character sets, nothing is copied unless
 * asked for.  Pure.
 */

/*
 * The length of the name in a field's first line, from at to end; 0 if the
 * line is no field.  *colon_r: where its colon is.  Blanks before it are
 * obsolete (RFC 5322 4.5.8) and still written.
 */
size_t	 header_name(const char *text, size_t at, size_t end,
	    size_t *colon_r);

struct header {
	const char	*name;		/* borrowed; up to blanks, colon */
	size_t		 name_len;
	const char	*value;		/* borrowed; still folded */
	size_t		 value_len;
};

/*
 * The next field of text[*at..len); *at moves past it.  Lines that are no
 * field are skipped.  False at an empty line or the end.
 */
bool	 header_next(const char *text, size_t len, size_t *at,
	    struct header *out);

/* Whether the field has this name, in any case. */
bool	 header_is(const struct header *, const char *name);

/* The first field of that name; false if there is none. */
bool	 header_find(const char *text, size_t len, const char *name,
	    struct header *out);

/*
 * The value unfolded (RFC 5322 2.2.3) and trimmed, its encoded words decoded
 * (RFC 2047): adjacent ones are joined before, as characters may be split
 * between them.  Other character sets than UTF-8 are left as their bytes,
 * which leaves their ASCII readable.  Always terminated, cut if too long;
 * its length.
 */
size_t	 header_decode(const struct header *, char *buf, size_t size);

/*
 * The addresses of a value as header_decode() gives it (RFC 5322 3.4): the
 * next addr-spec from text[*at..], lower case.  False when there are no more.
 */
bool	 header_address(const char *text, size_t *at, char *buf, size_t size);

/*
 * Whether a subject begins as mail programs begin an answer or a forward:
 * "Re: ", "Fwd: ", "AW: ", "TR : ", "Re[2]: ".
 */
bool	 header_is_answer(const char *subject);

/*
 * Base 64 (RFC 2045 6.8) and quoted-printable (6.7) decoded in place of
 * nothing: into buf, terminated, cut if too long; the length.  What does not
 * belong is skipped.
 */
size_t	 header_base64(const char *, size_t len, char *buf, size_t size);
size_t	 header_quoted_printable(const char *, size_t len, char *buf,
	    size_t size);

#endif
