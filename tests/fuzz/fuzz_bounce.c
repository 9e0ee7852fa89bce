/*
 * Any bytes as a bounce, read twice: for nobody and for the recipient that
 * was found; and as a text in some character set.  What comes out is bounded,
 * printable and true to itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes/bounce.h"
#include "mailboxes/charset.h"
#include "mailboxes/mime.h"
#include "monitor/text.h"

#define CHECK(what)	do { if (!(what)) abort(); } while (0)

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_string(const char *s, size_t size)
{
	CHECK(strnlen(s, size) < size);
	CHECK(!text_has_controls(s));
}

static void
check_bounce(const struct bounce *b)
{
	size_t	i, k, at;
	char	token[TOKEN_SIZE];

	CHECK(b->kind < BOUNCE_KINDS && b->outcome < BOUNCE_OUTCOMES);
	CHECK(b->class > CLASS_NONE && b->class < CLASSES);
	CHECK(b->reply.code == 0 ||
	    (b->reply.code >= 200 && b->reply.code < 600));
	if (b->kind != BOUNCE_DSN && b->kind != BOUNCE_TEXT)
		CHECK(b->outcome == BOUNCE_IGNORE);
	check_string(b->action, sizeof b->action);
	check_string(b->status, sizeof b->status);
	check_string(b->reply.enhanced, sizeof b->reply.enhanced);
	check_string(b->reply.text, sizeof b->reply.text);
	check_string(b->remote_mta, sizeof b->remote_mta);
	check_string(b->reporting_mta, sizeof b->reporting_mta);
	check_string(b->final_recipient, sizeof b->final_recipient);
	check_string(b->original_recipient, sizeof b->original_recipient);
	check_string(b->envid, sizeof b->envid);
	CHECK(b->token_count <= BOUNCE_TOKENS);
	for (i = 0; i < b->token_count; i++) {
		at = 0;
		CHECK(token_find(b->tokens[i], TOKEN_LEN, &at, token));
		for (k = 0; k < i; k++)
			CHECK(strcmp(b->tokens[i], b->tokens[k]) != 0);
	}
}

static void
check_parts(const char *bytes, size_t len)
{
	static struct mime_part	 parts[MIME_PARTS];
	char			*text = malloc(len + 1), *body;
	size_t			 n, i;

	body = malloc(len + 1);
	CHECK(text != NULL && body != NULL);
	len = mime_lines(text, bytes, len);
	n = mime_split(text, len, parts);
	CHECK(n >= 1 && n <= MIME_PARTS);
	for (i = 0; i < n; i++) {
		CHECK(parts[i].depth <= MIME_DEPTH);
		CHECK(parts[i].head >= text && parts[i].head +
		    parts[i].head_len <= parts[i].body);
		CHECK(parts[i].body + parts[i].body_len <= text + len);
		CHECK(mime_body(&parts[i], body, len + 1) <= len);
	}
	free(text);
	free(body);
}

static void
check_charset(const char *bytes, size_t len)
{
	static const char *const	sets[] = { "iso-2022-jp", "shift_jis",
		"euc-jp", "gbk", "big5", "euc-kr", "koi8-r", "windows-1255",
		"iso-8859-1", "utf-8" };
	const char			*set;
	char				*src = malloc(len + 1), *dst;
	size_t				 n;

	dst = malloc(CHARSET_GROWS * len + 1);
	CHECK(src != NULL && dst != NULL);
	memcpy(src, bytes, len);
	set = sets[len % (sizeof sets / sizeof sets[0])];
	n = charset_utf8(set, src, len, dst);
	CHECK(n <= CHARSET_GROWS * len && dst[n] == '\0');
	free(src);
	free(dst);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bounce	 b, again;
	char			*copy = malloc(size + 1);

	CHECK(copy != NULL);
	memcpy(copy, data, size);
	check_parts(copy, size);
	check_charset(copy, size);
	bounce_read(copy, size, "", &b);
	check_bounce(&b);
	bounce_read(copy, size, b.final_recipient, &again);
	check_bounce(&again);
	CHECK(b.kind == again.kind && b.recipients == again.recipients);
	free(copy);
	return (0);
}
