#ifndef TOKEN_H
#define TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The token names one probe and proves that this monitor sent it: letters
 * and digits only, so that no mail system has a reason to rewrite, fold or
 * encode it.  Pure.
 *
 *	mf1 tttt nnnnnnnnnnnnn mmmmmmmmmmmmmmmm
 *	|   |    |             the MAC's first 80 bits
 *	|   |    65 random bits
 *	|   20 bits of the instance's name, so that monitors sharing a
 *	|   mailbox tell each other's tokens from forgeries
 *	version
 *
 * in base 32 (a-z, 2-7), lower case; case is ignored when read.  The MAC is
 * HMAC-SHA-256 over the version, the instance, the random part and the name
 * of the mailbox that the probe is for: a copy in another mailbox is not
 * valid there.
 */

#define TOKEN_LEN	36
#define TOKEN_SIZE	(TOKEN_LEN + 1)
#define TOKEN_RANDOM	9		/* bytes of randomness that go in */
#define TOKEN_KEY	32		/* bytes of the key */
#define TOKEN_SHORT	9		/* short form for logs, with its NUL */

struct token_key {
	unsigned char	bytes[TOKEN_KEY];
};

enum token_verdict {
	TOKEN_OURS,		/* valid for this instance and mailbox */
	TOKEN_FOREIGN,		/* another instance's */
	TOKEN_FORGED,		/* our instance's tag, MAC does not hold here */
	TOKEN_MALFORMED
};

void	 token_make(char out[static TOKEN_SIZE], const struct token_key *,
	    const char *instance, const char *mailbox,
	    const unsigned char random[static TOKEN_RANDOM]);

enum token_verdict token_check(const char *token, const struct token_key *,
	    const char *instance, const char *mailbox);

/*
 * The next thing in text[*at..len) that has a token's form and stands alone
 * (no letter or digit touches it), in lower case; *at moves past it.  False
 * when there is none left.
 */
bool	 token_find(const char *text, size_t len, size_t *at,
	    char out[static TOKEN_SIZE]);

/* The first letters of the random part: enough to tell probes apart in a log. */
const char *token_short(const char *token, char out[static TOKEN_SHORT]);

#endif
