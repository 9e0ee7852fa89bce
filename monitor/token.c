#include "monitor/token.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

#include "monitor/mem.h"

#define VERSION		"mf1"
#define VERSION_LEN	3
#define TAG_LEN		4	/* 20 bits */
#define NONCE_LEN	13	/* 65 bits */
#define MAC_LEN		16	/* 80 bits */
#define MAC_AT		(TOKEN_LEN - MAC_LEN)

static const char	alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

/* The first n letters of the bytes in base 32, most significant bit first. */
static void
base32(char *out, size_t n, const unsigned char *bytes)
{
	for (size_t i = 0; i < n; i++) {
		size_t		bit = i * 5;
		unsigned	two = (unsigned)bytes[bit / 8] << 8;

		if (bit % 8 > 3)
			two |= bytes[bit / 8 + 1];
		out[i] = alphabet[two >> (11 - bit % 8) & 31];
	}
}

/*
 * A monitor signs and checks by the thousand for one instance: what is the
 * same each time is looked up once for each thread.
 */
static _Thread_local EVP_MAC_CTX	*keyed;		/* HMAC-SHA-256 */
static _Thread_local char		 tagged[256];	/* the instance ... */
static _Thread_local char		 its_tag[TAG_LEN];	/* ... and its tag */

static EVP_MAC_CTX *
mac_context(void)
{
	char		 digest[] = "SHA256";
	OSSL_PARAM	 params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
		    digest, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC		*hmac;

	if (keyed != NULL)
		return (keyed);
	if ((hmac = EVP_MAC_fetch(NULL, "HMAC", NULL)) == NULL ||
	    (keyed = EVP_MAC_CTX_new(hmac)) == NULL ||
	    EVP_MAC_CTX_set_params(keyed, params) != 1)
		panic("HMAC-SHA-256 is not available");
	EVP_MAC_free(hmac);
	return (keyed);
}

static void
tag(char out[static TAG_LEN], const char *instance)
{
	unsigned char	digest[EVP_MAX_MD_SIZE];

	if (tagged[0] != '\0' && strcmp(tagged, instance) == 0) {
		memcpy(out, its_tag, TAG_LEN);
		return;
	}
	if (EVP_Digest(instance, strlen(instance), digest, NULL, EVP_sha256(),
	    NULL) != 1)
		panic("SHA-256 is not available");
	base32(out, TAG_LEN, digest);
	tagged[0] = '\0';
	if (strlen(instance) < sizeof tagged) {
		memcpy(its_tag, out, TAG_LEN);
		memcpy(tagged, instance, strlen(instance) + 1);
	}
}

/* Length-prefixed parts: no two different inputs give the same bytes. */
static size_t
part(unsigned char *buf, size_t at, size_t size, const char *s, size_t len)
{
	if (len > 255 || at + 1 + len > size)
		panic("token part of %zu bytes", len);
	buf[at] = (unsigned char)len;
	memcpy(buf + at + 1, s, len);
	return (at + 1 + len);
}

static void
mac(char out[static MAC_LEN], const char *nonce, const struct token_key *key,
    const char *instance, const char *mailbox)
{
	unsigned char	digest[EVP_MAX_MD_SIZE], input[1024];
	EVP_MAC_CTX	*ctx = mac_context();
	size_t		 n = 0, len;

	n = part(input, n, sizeof input, VERSION, VERSION_LEN);
	n = part(input, n, sizeof input, instance, strlen(instance));
	n = part(input, n, sizeof input, nonce, NONCE_LEN);
	n = part(input, n, sizeof input, mailbox, strlen(mailbox));
	if (EVP_MAC_init(ctx, key->bytes, TOKEN_KEY, NULL) != 1 ||
	    EVP_MAC_update(ctx, input, n) != 1 ||
	    EVP_MAC_final(ctx, digest, &len, sizeof digest) != 1)
		panic("HMAC-SHA-256 fails");
	base32(out, MAC_LEN, digest);
}

void
token_make(char out[static TOKEN_SIZE], const struct token_key *key,
    const char *instance, const char *mailbox,
    const unsigned char random[static TOKEN_RANDOM])
{
	memcpy(out, VERSION, VERSION_LEN);
	tag(out + VERSION_LEN, instance);
	base32(out + VERSION_LEN + TAG_LEN, NONCE_LEN, random);
	mac(out + MAC_AT, out + VERSION_LEN + TAG_LEN, key, instance, mailbox);
	out[TOKEN_LEN] = '\0';
}

static char
lower(char c)
{
	return (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
}

static bool
is_letter(char c)
{
	c = lower(c);
	return ((c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'));
}

static bool
touches(char c)
{
	c = lower(c);
	return ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
}

/* How many bytes at s could be a token's, up to one too many. */
static bool
has_form(const char *s, size_t len)
{
	size_t	i;

	if (len < TOKEN_LEN || lower(s[0]) != 'm' || lower(s[1]) != 'f' ||
	    s[2] != '1')
		return (false);
	for (i = VERSION_LEN; i < TOKEN_LEN; i++)
		if (!is_letter(s[i]))
			return (false);
	return (true);
}

enum token_verdict
token_check(const char *token, const struct token_key *key,
    const char *instance, const char *mailbox)
{
	char	ours[TOKEN_LEN], low[TOKEN_LEN];
	size_t	i;

	if (strnlen(token, TOKEN_SIZE) != TOKEN_LEN ||
	    !has_form(token, TOKEN_LEN))
		return (TOKEN_MALFORMED);
	for (i = 0; i < TOKEN_LEN; i++)
		low[i] = lower(token[i]);
	tag(ours + VERSION_LEN, instance);
	if (memcmp(low + VERSION_LEN, ours + VERSION_LEN, TAG_LEN) != 0)
		return (TOKEN_FOREIGN);
	mac(ours + MAC_AT, low + VERSION_LEN + TAG_LEN, key, instance,
	    mailbox);
	return (CRYPTO_memcmp(low + MAC_AT, ours + MAC_AT, MAC_LEN) == 0 ?
	    TOKEN_OURS : TOKEN_FORGED);
}

bool
token_find(const char *text, size_t len, size_t *at,
    char out[static TOKEN_SIZE])
{
	for (; *at + TOKEN_LEN <= len; ++*at) {
		size_t	i = *at;

		if (!has_form(text + i, len - i) ||
		    (i > 0 && touches(text[i - 1])) ||
		    (i + TOKEN_LEN < len && touches(text[i + TOKEN_LEN])))
			continue;
		for (size_t k = 0; k < TOKEN_LEN; k++)
			out[k] = lower(text[i + k]);
		out[TOKEN_LEN] = '\0';
		*at = i + TOKEN_LEN;
		return (true);
	}
	return (false);
}

const char *
token_short(const char *token, char out[static TOKEN_SHORT])
{
	out[0] = '\0';
	if (strlen(token) == TOKEN_LEN)
		memcpy(out, token + VERSION_LEN + TAG_LEN, TOKEN_SHORT - 1);
	out[TOKEN_SHORT - 1] = '\0';
	return (out);
}
