#ifndef IMAP_FILTER_H
#define IMAP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stands between an IMAP server and the library that speaks IMAP for us, and
 * lets through only what that library is known to take: an allow-list, not a
 * list of known crashes.  Each response is collected whole, read here, and
 * what is wanted of it is written anew in one canonical form; the rest is
 * swallowed.  What a driver must know and the library would lose (the
 * conditions, codes and texts of status responses, EXISTS, UIDVALIDITY,
 * capabilities, BYE) is kept in the struct.  Pure.
 *
 * A line that no IMAP server may send, a literal or a line beyond the bounds
 * and BYE end the stream: what was let through before them can still be
 * taken, after it comes the error.  Grammar: RFC 3501 section 9, RFC 9051.
 */

#define IMAP_LINE_MAX		16384	/* one line, without literals */
#define IMAP_LITERAL_MAX	65536
#define IMAP_RESPONSE_MAX	131072	/* a response with all its literals */
#define IMAP_PLUS_MAX		8	/* continuations in one command */

#define IMAP_CODE		32
#define IMAP_TEXT		256

/* Condition of the last tagged status response. */
enum imap_condition { IMAP_PENDING, IMAP_OK, IMAP_NO, IMAP_BAD };

enum imap_greeting { IMAP_NO_GREETING, IMAP_GREETING_OK, IMAP_GREETING_PREAUTH };

/* Capabilities that matter to us, as bits. */
#define IMAP_CAP_IDLE		0x0001U
#define IMAP_CAP_UIDPLUS	0x0002U
#define IMAP_CAP_MOVE		0x0004U
#define IMAP_CAP_STARTTLS	0x0008U
#define IMAP_CAP_LOGINDISABLED	0x0010U
#define IMAP_CAP_PLAIN		0x0020U
#define IMAP_CAP_XOAUTH2	0x0040U
#define IMAP_CAP_SASL_IR	0x0080U
#define IMAP_CAP_GMAIL		0x0100U
#define IMAP_CAP_SPECIAL_USE	0x0200U
#define IMAP_CAP_OAUTHBEARER	0x0400U
#define IMAP_CAP_ID		0x0800U
#define IMAP_CAP_KNOWN		0x8000U	/* the server has told its list */

/* What the command in hand wants to reach the library. */
#define IMAP_WANT_FETCH		0x1U
#define IMAP_WANT_LIST		0x2U
#define IMAP_WANT_STATUS	0x4U
#define IMAP_WANT_PLUS		0x8U	/* the library awaits "+" itself */
#define IMAP_WANT_IDLE		0x10U	/* IDLE: after "+" all is news */

enum imap_filter_end {
	IMAP_FILTER_OPEN,
	IMAP_FILTER_BYE,	/* the server closes; text says why */
	IMAP_FILTER_BROKEN	/* not IMAP, or out of bounds; why says what */
};

struct imap_bytes {
	char	*data;			/* owned; NULL when cap is 0 */
	size_t	 len, cap, at;
};

struct imap_filter {
	/* For the driver to read. */
	enum imap_greeting	 greeting;
	enum imap_condition	 tagged;	/* of the command in hand */
	/* Of the last NO, BAD or BYE: code in upper case, printable text. */
	char			 code[IMAP_CODE];
	char			 text[IMAP_TEXT];
	char			 alert[IMAP_TEXT];	/* the last [ALERT] */
	char			 challenge[IMAP_TEXT];	/* of the last "+" */
	unsigned		 capability;
	unsigned		 pluses;	/* in the command in hand */
	bool			 idling;	/* "+" came, no tagged line yet */
	bool			 read_only;	/* of the selected folder: */
	uint32_t		 exists;
	uint32_t		 uidvalidity;	/* 0: not told */
	uint32_t		 uidnext;	/* 0: not told */
	unsigned		 grown;		/* counts EXISTS that rose */
	unsigned		 stirred;	/* counts RECENT beyond 0 */
	size_t			 after_tagged;	/* bytes since the tagged line */
	enum imap_filter_end	 end;
	const char		*why;		/* static; when broken */

	/* Inside. */
	unsigned		 want;
	size_t			 line;		/* where the line begins in `in` */
	size_t			 literal;	/* bytes of it still to come */
	struct imap_bytes	 in;		/* the response being collected */
	struct imap_bytes	 out;		/* for the library */
};

void	 imap_filter_init(struct imap_filter *);
void	 imap_filter_free(struct imap_filter *);

/*
 * A command is about to be sent: forgets the last one's outcome.
 * want: IMAP_WANT_* bits.
 */
void	 imap_filter_command(struct imap_filter *, unsigned want);

/* A folder is about to be selected: forgets what belongs to the last one. */
void	 imap_filter_deselect(struct imap_filter *);

/* TLS begins: nothing told in the clear counts (RFC 3501 6.2.1). */
void	 imap_filter_secured(struct imap_filter *);

/* Bytes from the server.  0, or -1 once the stream has ended. */
int	 imap_filter_feed(struct imap_filter *, const char *, size_t);

/* Up to n bytes for the library; 0 if there are none now. */
size_t	 imap_filter_take(struct imap_filter *, char *, size_t n);

/* True if nothing is half read nor waiting to be taken. */
bool	 imap_filter_empty(const struct imap_filter *);

/* Gives back the buffers of an empty filter; they come back by themselves. */
void	 imap_filter_rest(struct imap_filter *);

#endif
