#ifndef SMTP_SECRET_H
#define SMTP_SECRET_H

#include <stddef.h>

#include "monitor/smtp_filter.h"

/*
 * What a login looks like on the wire, and how its secret is kept out of
 * everything that is told.  Pure.
 */

/*
 * Base 64 of len bytes; the length written, 0 if it does not fit buf[size]
 * with its NUL.
 */
size_t	 smtp_base64(char *buf, size_t size, const void *bytes, size_t len);

/*
 * The response of XOAUTH2 or OAUTHBEARER (RFC 7628 3.1), in base 64; its
 * length, 0 if it does not fit.  host and port are the server's, for the
 * latter.
 */
size_t	 smtp_oauth(enum smtp_auth, const char *user, const char *token,
	    const char *host, unsigned port, char *buf, size_t size);

/*
 * What a server explains in the challenge that follows a token it does not
 * take: JSON in base 64 (RFC 7628 3.2.2).  challenge is the text of its 334.
 * Printable, cut to buf[size]; "" if it explains nothing that can be read.
 */
void	 smtp_oauth_error(const char *challenge, char *buf, size_t size);

/*
 * Stars out a secret of 4 bytes or more wherever it stands in the text, as
 * it is or within base 64.
 */
void	 smtp_scrub(char *text, const char *secret);

#endif
