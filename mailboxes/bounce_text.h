#ifndef BOUNCE_TEXT_H
#define BOUNCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "mailboxes/dsn.h"
#include "monitor/classify.h"
#include "monitor/reply.h"

/*
 * Bounces written for people: what qmail, Exim, Sendmail, Exchange and many
 * others say in words.  Nothing of it is a standard (qmail's is at
 * cr.yp.to/proto/qsbmf.txt); phrases and the replies that are quoted in the
 * text are all there is to go by.  Pure.
 */

struct bounce_words {
	const char	*from;		/* borrowed, decoded, as are all */
	const char	*subject;
	const char	*failed;	/* X-Failed-Recipients, or "" */
	const char	*text;		/* line ends LF; not terminated */
	size_t		 len;
	bool		 no_sender;	/* Return-Path: <> */
	bool		 automatic;	/* Auto-Submitted, and not "no" */
	bool		 is_report;	/* multipart/report */
};

struct bounce_text {
	struct reply	 reply;		/* what was quoted, or the words */
	struct meaning	 meaning;
	bool		 spoken;	/* a code or clear words were found */
	char		 host[OUTCOME_HOST];	/* who refused, or "" */
	char		 recipient[DSN_ADDRESS];	/* lower case, or "" */
};

/*
 * Sent by a mail system, going by its name; by whatever else a person's mail
 * does not have.
 */
bool	 bounce_from_system(const char *from);
bool	 bounce_has_signs(const struct bounce_words *);
/* Whether the mail is a bounce in words. */
bool	 bounce_is_text(const struct bounce_words *);
/* Whether it says that all went well. */
bool	 bounce_is_success(const struct bounce_words *);
/* Whether it says that delivery is still being tried. */
bool	 bounce_is_delay(const struct bounce_words *);
/* Where the returned message begins in the text; its length if nowhere. */
size_t	 bounce_returned(const char *text, size_t len);

/* Finds the complaint; the one about `ours` (or "") where there are many. */
void	 bounce_text_read(const struct bounce_words *, const char *ours,
	    struct bounce_text *out);

/*
 * What the reply in a report means; *r becomes the reply it quotes where that
 * is the cause and the rest only says that time is over.
 */
struct meaning	 bounce_meaning(struct reply *r);

/* HTML as text, roughly: tags out, the common entities read.  dst may be
 * src; returns how many bytes are used, never more than len. */
size_t	 bounce_html(char *dst, const char *src, size_t len);

#endif
