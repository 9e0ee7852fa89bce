#ifndef BOUNCE_TEXT_H
#define BOUNCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bounces written for people: what qmail, Exim, Sendmail, Exchange and many
 * others say in words.  Nothing of it is a standard (qmail's is at
 * cr.yp.to/proto/qsbmf.txt); names and phrases are all there is to tell one
 * by.  Pure.
 */

struct bounce_words {
	const char	*from;		/* borrowed, decoded, as are all */
	const char	*subject;
	const char	*failed;	/* X-Failed-Recipients, or "" */
	const char	*text;		/* line ends LF; not terminated */
	size_t		 len;
	bool		 no_sender;	/* Return-Path: <> */
	bool		 has_sender;	/* Return-Path: somebody */
	bool		 automatic;	/* Auto-Submitted, and not "no" */
	bool		 returns;	/* a message is attached */
	bool		 is_report;	/* multipart/report */
};

/* Sent by a mail system, going by its name. */
bool	 bounce_from_system(const char *from);
/* The same by whatever a person's mail does not have. */
bool	 bounce_has_signs(const struct bounce_words *);
/* The same, and under no name that people write under, too. */
bool	 bounce_from_program(const struct bounce_words *);

/* Whether the mail is a bounce in words. */
bool	 bounce_is_text(const struct bounce_words *);
/* Whether it says that all went well. */
bool	 bounce_is_success(const struct bounce_words *);
/* Whether it says that delivery is still being tried. */
bool	 bounce_is_delay(const struct bounce_words *);

/* Where the returned message begins in the text; its length if nowhere. */
size_t	 bounce_returned(const char *text, size_t len);

#endif
