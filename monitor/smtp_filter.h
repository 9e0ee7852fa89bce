#ifndef SMTP_FILTER_H
#define SMTP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What stands between an SMTP server and libESMTP: replies are cut off the
 * wire here whole and bounded, and the library is told only what it can
 * take.  Pure: bytes in, bytes out, total for any input.
 */

/* Replies from the wire */

#define SMTP_REPLY_MAX	16384		/* bytes of one reply, all lines */

/* Bytes that came and are not used yet. */
struct smtp_gather {
	size_t	len;
	size_t	line;		/* where the line under way begins */
	bool	open;		/* a "250-" line came before it */
	char	bytes[SMTP_REPLY_MAX];
};

enum smtp_gathered { SMTP_MORE, SMTP_WHOLE, SMTP_TOO_LONG };

/*
 * Is a whole reply at the front?  A line ends at LF; "250 " and a bare "250"
 * end the reply, "250-" does not (RFC 5321 4.2.1).  Between such lines text
 * without a code belongs to the reply; a first line without one is a reply
 * by itself, what else should it be; empty lines before the first are part
 * of it.  SMTP_WHOLE: *len_r is its length.
 */
enum smtp_gathered smtp_gather(struct smtp_gather *, size_t *len_r);

/* Forgets the first len bytes. */
void	 smtp_gather_drop(struct smtp_gather *, size_t len);

/* What the server offers (RFC 5321 4.1.1.1) */

#define SMTP_AUTH_NAMES	128
#define SMTP_EXTENSIONS	256

struct smtp_features {
	bool		starttls;
	bool		dsn;		/* RFC 3461 */
	bool		eightbit;	/* RFC 6152 */
	bool		size;		/* RFC 1870 */
	int64_t		size_limit;	/* bytes; 0: none told */
	unsigned	auth;		/* bits of enum sasl_mechanism */
	char		auth_names[SMTP_AUTH_NAMES];	/* as told, cleaned */
	char		extensions[SMTP_EXTENSIONS];	/* keywords, by space */
};

/* Reads an EHLO reply; always fills *f. */
void	 smtp_features_read(struct smtp_features *f, const char *bytes,
	    size_t len);

/*
 * The EHLO reply for libESMTP: SIZE, DSN, 8BITMIME, and the one mechanism in
 * auth (0: none).  Never PIPELINING or CHUNKING (the library crashes on odd
 * replies to pipelined commands), STARTTLS (ours), ENHANCEDSTATUSCODES (it
 * refuses multi-line replies whose codes differ).  Returns the length.
 */
#define SMTP_GREETING_MAX	256
size_t	 smtp_features_print(const struct smtp_features *, unsigned auth,
	    char buf[static SMTP_GREETING_MAX]);

/* Commands from the library */

enum smtp_verb {
	VERB_EHLO, VERB_HELO, VERB_AUTH, VERB_MAIL, VERB_RCPT, VERB_DATA,
	VERB_RSET, VERB_NOOP, VERB_QUIT, VERB_OTHER, VERBS
};

enum smtp_verb	 smtp_verb_of(const char *line);

/*
 * Finds the end of a message, CRLF "." CRLF, in chunks of it; starts zeroed.
 * Returns how many of the bytes belong to the message, the end included;
 * *end_r tells whether it is among them.
 */
struct smtp_dot {
	unsigned	matched;
	bool		begun;
};
size_t	 smtp_dot_scan(struct smtp_dot *, const char *bytes, size_t len,
	    bool *end_r);

/* Texts */

/* An address that may stand between < and >: ASCII, no controls, no < >. */
enum smtp_address { SMTP_ADDRESS_GOOD, SMTP_ADDRESS_BAD, SMTP_ADDRESS_UTF8 };
enum smtp_address smtp_address_check(const char *);

/*
 * The queue id in a reply to the dot ("2.0.0 Ok: queued as 4ABC", "OK
 * id=1abc-00-2K", ...), or "".
 */
void	 smtp_queue_id(const char *text, char *buf, size_t size);

/*
 * The next line of padding, CRLF included, when `left` bytes are still to be
 * filled: its length, 0 when less than 2 are left.  The lines add up to
 * `left` to the byte.
 */
#define SMTP_PAD_LINE	78
size_t	 smtp_pad_line(int64_t left, char line[static SMTP_PAD_LINE]);

#endif
