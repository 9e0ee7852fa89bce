#include "monitor/sasl.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

#define SECRET_LEAST	4	/* as text_scrub() has it */
#define CODED_LEAST	6	/* that makes so much in base 64 */

static const char	alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz0123456789+/";

/* Base 64 */

size_t
sasl_base64(char *buf, size_t size, const void *bytes, size_t len)
{
	size_t	need = (len + 2) / 3 * 4;

	if (len > INT32_MAX || need >= size)
		return (0);
	EVP_EncodeBlock((unsigned char *)buf, bytes, (int)len);
	return (need);
}

/* Decodes len letters, all of the alphabet, into out[len]; how many bytes. */
static size_t
decode(const char *s, size_t len, char *out)
{
	unsigned	acc = 0, bits = 0;
	size_t		n = 0;

	for (size_t i = 0; i < len; i++) {
		acc = acc << 6 | (unsigned)(strchr(alphabet, s[i]) - alphabet);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (char)(acc >> bits & 0xff);
		}
	}
	return (n);
}

/* Responses */

/* A user within "n,a=user,": RFC 5801 4 has these two escaped. */
static void
escape_user(const char *user, char *buf, size_t size)
{
	char	one[2] = "";

	buf[0] = '\0';
	for (; *user != '\0'; user++) {
		one[0] = *user;
		text_append(buf, size, *user == ',' ? "=2C" :
		    *user == '=' ? "=3D" : one);
	}
}

static char *
oauthbearer(const char *user, const char *token, const char *host,
    unsigned port)
{
	size_t	 size = 3 * strlen(user) + 1;
	char	*escaped = mem_alloc(size), *plain;

	escape_user(user, escaped, size);
	plain = mem_printf("n,a=%s,\001host=%s\001port=%u\001auth=Bearer "
	    "%s\001\001", escaped, host, port, token);
	mem_free(escaped);
	return (plain);
}

size_t
sasl_response(enum sasl_mechanism mechanism, const char *user,
    const char *secret, const char *host, unsigned port, char *buf,
    size_t size)
{
	char	*plain;
	size_t	 len, n;

	if (mechanism == SASL_OAUTHBEARER)
		plain = oauthbearer(user, secret, host, port);
	else if (mechanism == SASL_XOAUTH2)
		plain = mem_printf("user=%s\001auth=Bearer %s\001\001", user,
		    secret);
	else
		plain = mem_printf("%c%s%c%s", '\0', user, '\0', secret);
	len = mechanism == SASL_PLAIN ? strlen(user) + strlen(secret) + 2 :
	    strlen(plain);
	n = sasl_base64(buf, size, plain, len);
	mem_wipe(plain, len);
	mem_free(plain);
	return (n);
}

const char *
sasl_acknowledge(enum sasl_mechanism mechanism)
{
	return (mechanism == SASL_OAUTHBEARER ? "AQ==" : "");
}

void
sasl_explained(const char *challenge, char *buf, size_t size)
{
	char	bytes[1024];
	size_t	len = strspn(challenge, alphabet), n;

	buf[0] = '\0';
	if (len > sizeof bytes)
		len = sizeof bytes;
	n = decode(challenge, len, bytes);
	if (n > 0 && bytes[0] == '{')
		text_clean(buf, size, bytes, n);
}

/* Scrubbing */

static bool
hides(const char *coded, size_t len, const char *secret)
{
	char	*plain = mem_alloc(len + 1);
	size_t	 n = decode(coded, len, plain);
	bool	 found;

	found = memmem(plain, n, secret, strlen(secret)) != NULL ||
	    text_secret_tail(plain, n, secret) > 0;
	mem_wipe(plain, len + 1);
	mem_free(plain);
	return (found);
}

/*
 * However a login is coded, alone, with the user before it or as a token, it
 * decodes to something that has the secret in it.
 */
static void
scrub_coded(char *text, const char *secret)
{
	size_t	len;

	for (; *text != '\0'; text += len + (text[len] != '\0')) {
		len = strspn(text, alphabet);
		if (len >= CODED_LEAST && hides(text, len, secret))
			memset(text, '*', len);
	}
}

void
sasl_scrub(char *text, const char *secret)
{
	text_scrub(text, secret);
	if (strlen(secret) >= SECRET_LEAST)
		scrub_coded(text, secret);
}
