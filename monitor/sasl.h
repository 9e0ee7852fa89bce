#ifndef SASL_H
#define SASL_H

#include <stddef.h>

/*
 * What a login says, whatever the protocol it is said in: SMTP (RFC 4954) and
 * IMAP (RFC 3501 6.2.2) both carry it in base 64.  Pure.
 */

/* As bits, for what a server offers. */
enum sasl_mechanism {
	SASL_LOGIN = 1,
	SASL_PLAIN = 2,
	SASL_XOAUTH2 = 4,
	SASL_OAUTHBEARER = 8
};

/*
 * Base 64 of len bytes; the length written, 0 if it does not fit buf[size]
 * with its NUL.
 */
size_t	 sasl_base64(char *buf, size_t size, const void *bytes, size_t len);

/*
 * The response of PLAIN (RFC 4616), XOAUTH2 or OAUTHBEARER (RFC 7628 3.1), in
 * base 64; its length, 0 if it does not fit.  secret is a password or an
 * access token; host and port are the server's, for OAUTHBEARER.  Wipe it.
 */
size_t	 sasl_response(enum sasl_mechanism, const char *user,
	    const char *secret, const char *host, unsigned port, char *buf,
	    size_t size);

/*
 * What the client says to the challenge that explains a refused token, before
 * the server refuses in so many words: base 64, static.
 */
const char	*sasl_acknowledge(enum sasl_mechanism);

/*
 * What a server explains in the challenge that follows a token it does not
 * take: JSON in base 64 (RFC 7628 3.2.2).  Printable, cut to buf[size]; "" if
 * it explains nothing that can be read.
 */
void	 sasl_explained(const char *challenge, char *buf, size_t size);

/*
 * Stars out a secret of 4 bytes or more wherever it stands in the text, as
 * it is or within base 64.
 */
void	 sasl_scrub(char *text, const char *secret);

#endif
