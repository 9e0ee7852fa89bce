#ifndef IMAP_LEX_H
#define IMAP_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The words of one IMAP response that lies whole in memory, literals
 * included (RFC 3501 section 9).  Pure.  Each function skips spaces first,
 * moves the reader past what it took and leaves it there on failure only
 * where said.
 */

#define IMAP_NESTING_MAX	24

struct imap_lex {
	const char	*p, *end;	/* borrowed */
};

/* A string: quoted, literal or atom; data is NULL for NIL. */
struct imap_string {
	const char	*data;		/* borrowed from the response */
	size_t		 len;
	bool		 quoted;	/* its backslashes are still in it */
};

void	 imap_lex_spaces(struct imap_lex *);

/*
 * An atom without brackets, in upper case; its length.  0 and "" if there is
 * none, or if it does not fit (then it is skipped).
 */
size_t	 imap_lex_word(struct imap_lex *, char *buf, size_t size);

/* A number of 32 bits; does not move on failure. */
bool	 imap_lex_number(struct imap_lex *, uint32_t *);

/* This very character; does not move past it on failure. */
bool	 imap_lex_accept(struct imap_lex *, char);

bool	 imap_lex_string(struct imap_lex *, struct imap_string *);

/* One value of any kind; lists nest at most IMAP_NESTING_MAX deep. */
bool	 imap_lex_skip(struct imap_lex *);

#endif
