#include "monitor/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * The length of the well-formed UTF-8 sequence at s (RFC 3629: no surrogates,
 * no overlong forms), its code point in *cp_r; 0 if there is none.
 */
static size_t
sequence(const unsigned char *s, size_t len, uint32_t *cp_r)
{
	static const uint32_t	least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t			n, i;
	uint32_t		cp;

	if (s[0] < 0x80) {
		*cp_r = s[0];
		return (1);
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
		return (0);
	cp = s[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return (0);
		cp = cp << 6 | (s[i] & 0x3fU);
	}
	if (cp < least[n] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return (0);
	*cp_r = cp;
	return (n);
}

/* C1 controls, marks that turn the direction of text, line separators. */
static bool
steers(uint32_t cp)
{
	return ((cp >= 0x80 && cp < 0xa0) || cp == 0x61c || cp == 0x200e ||
	    cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
	    (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff ||
	    (cp & 0xfffe) == 0xfffe);
}

/* Where to cut s so that at most size - 1 bytes remain, all of them whole. */
static size_t
cut(const char *s, size_t size)
{
	size_t	n = strlen(s);

	if (n < size)
		return (n);
	n = size - 1;
	while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	return (n);
}

bool
text_copy(char *dst, size_t size, const char *src)
{
	size_t	n;

	if (size == 0)
		return (false);
	n = cut(src, size);
	memmove(dst, src, n);
	dst[n] = '\0';
	return (src[n] == '\0');
}

size_t
text_line_end(const char *text, size_t len, size_t at)
{
	const char	*lf = memchr(text + at, '\n', len - at);

	return (lf != NULL ? (size_t)(lf - text) + 1 : len);
}

uint64_t
text_hash(uint64_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return (h);
}

bool
text_append(char *dst, size_t size, const char *src)
{
	size_t	have = strnlen(dst, size);

	if (have >= size)
		return (false);
	return (text_copy(dst + have, size - have, src));
}

bool
text_appendf(char *dst, size_t size, const char *fmt, ...)
{
	va_list	 ap;
	size_t	 have = strnlen(dst, size);
	int	 n;

	if (have >= size)
		return (false);
	va_start(ap, fmt);
	n = vsnprintf(dst + have, size - have, fmt, ap);
	va_end(ap);
	return (n >= 0 && (size_t)n < size - have);
}

void
text_clean(char *dst, size_t size, const char *src, size_t len)
{
	const unsigned char	*s = (const unsigned char *)src;
	size_t			 i, n, out = 0;
	uint32_t		 cp;

	if (size == 0)
		return;
	for (i = 0; i < len; i += n) {
		n = sequence(s + i, len - i, &cp);
		if (n > 1 && !steers(cp)) {
			if (out + n >= size)
				break;
			memcpy(dst + out, s + i, n);
			out += n;
			continue;
		}
		if (out + 1 >= size)
			break;
		dst[out++] = n != 1 ? '?' :
		    cp < 0x20 || cp == 0x7f ? ' ' : (char)cp;
		if (n == 0)
			n = 1;
	}
	dst[out] = '\0';
}

/* Shorter secrets, or parts, are in every other word. */
#define SECRET_LEAST	4

size_t
text_secret_tail(const char *bytes, size_t len, const char *secret)
{
	size_t	n = strlen(secret);

	if (n > len)
		n = len;
	for (; n >= SECRET_LEAST; n--)
		if (memcmp(bytes + len - n, secret, n) == 0)
			return (n);
	return (0);
}

void
text_scrub(char *text, const char *secret)
{
	size_t	len = strlen(secret), all = strlen(text), tail;
	char	*at;

	if (len < SECRET_LEAST)
		return;
	for (at = text; (at = strstr(at, secret)) != NULL; at += len)
		memset(at, '*', len);
	tail = text_secret_tail(text, all, secret);
	memset(text + all - tail, '*', tail);
}

bool
text_is_ascii(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			return (false);
	return (true);
}

bool
text_has_controls(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return (true);
	return (false);
}
