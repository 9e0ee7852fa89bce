#ifndef BOUNCE_MAIL_H
#define BOUNCE_MAIL_H

#include "mailboxes/bounce_text.h"
#include "mailboxes/dsn.h"
#include "mailboxes/mime.h"

/*
 * A mail taken apart by what its parts are for in a bounce: the fields, the
 * words, the returned message.  Pure.
 */

#define BOUNCE_VALUE	1024

enum bounce_role {
	ROLE_NONE,
	ROLE_STATUS,		/* RFC 3464's fields */
	ROLE_RETURNED,		/* the message, or its header */
	ROLE_RECEIPT,		/* RFC 8098 */
	ROLE_FEEDBACK,		/* RFC 5965 */
	ROLE_WORDS,
	ROLE_HTML
};

struct bounce_mail {
	char			*text;		/* owned: line ends LF */
	size_t			 len;
	char			*decoded;	/* owned: the part in hand;
						 * room for len + 1 */
	struct mime_part	 parts[MIME_PARTS];
	size_t			 count;
	const struct mime_part	*status;	/* the first of each role, */
	const struct mime_part	*returned;	/* or NULL */
	const struct mime_part	*words;
	char			*plain;		/* owned: the words, decoded */
	size_t			 plain_len;
	char			 from[BOUNCE_VALUE];	/* decoded, or "" */
	char			 subject[BOUNCE_VALUE];
	char			 failed[BOUNCE_VALUE];	/* recipients */
	bool			 receipt, feedback;	/* has such a part */
	/* The recipient asked about, else the one that the returned message
	 * was sent to, if it was only one; or "". */
	char			 ours[DSN_ADDRESS];
};

void		 bounce_mail_open(struct bounce_mail *, const char *bytes,
		    size_t len, const char *ours);
void		 bounce_mail_close(struct bounce_mail *);

/* A field of the mail's header, decoded; "" if there is none. */
const char	*bounce_mail_field(const struct bounce_mail *, const char *name,
		    char value[BOUNCE_VALUE]);

enum bounce_role bounce_mail_role(const struct mime_part *);

/* The mail as words; they point into it. */
void		 bounce_mail_words(const struct bounce_mail *,
		    struct bounce_words *);

#endif
