#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Strings of bounded size, and bytes that others wrote.  Pure.
 */

/*
 * Copies src into dst[size], always terminated, cut if too long (never
 * inside a UTF-8 sequence).  True if it fitted.
 */
bool	 text_copy(char *dst, size_t size, const char *src);

/* In any locale. */
static inline bool
text_is_digit(char c)
{
	return (c >= '0' && c <= '9');
}

/* Past the end of the line that begins at `at`; len if it is the last one. */
size_t	 text_line_end(const char *text, size_t len, size_t at);

/* FNV-1a over a string, from TEXT_HASH or what it gave for another before. */
#define TEXT_HASH	UINT64_C(14695981039346656037)
uint64_t text_hash(uint64_t, const char *);

/* Appends at the end of dst; as text_copy(). */
bool	 text_append(char *dst, size_t size, const char *src);

/* snprintf() appended at the end of dst; true if it fitted. */
bool	 text_appendf(char *dst, size_t size, const char *, ...)
	    __attribute__((format(printf, 3, 4)));

/*
 * Foreign bytes made harmless: printable UTF-8 stays; controls, CR, LF and
 * TAB become a space; bytes that are no UTF-8, and code points that steer a
 * terminal or the direction of text, become '?'.  Runs of spaces are kept.
 */
void	 text_clean(char *dst, size_t size, const char *src, size_t len);

/*
 * Stars out each occurrence of a secret of 4 bytes or more, and its beginning
 * where the text was cut within it.
 */
void	 text_scrub(char *text, const char *secret);

/* How many of the last bytes, 4 or more, begin the secret; else 0. */
size_t	 text_secret_tail(const char *bytes, size_t len, const char *secret);

/* True if the whole is printable ASCII (0x20-0x7e). */
bool	 text_is_ascii(const char *);

/* True if any byte is below 0x20 or 0x7f. */
bool	 text_has_controls(const char *);

#endif
