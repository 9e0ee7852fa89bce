#include "mailboxes/imap_lex.h"

#include <string.h>
#include <strings.h>

static bool
atom_char(char c)
{
	unsigned char	u = (unsigned char)c;

	return (u > 0x20 && u < 0x7f && strchr("(){\"", c) == NULL);
}

void
imap_lex_spaces(struct imap_lex *c)
{
	while (c->p < c->end && *c->p == ' ')
		c->p++;
}

/* The word here, upper case in buf; its length. "" if none or too long. */
size_t
imap_lex_word(struct imap_lex *c, char *buf, size_t size)
{
	size_t	n = 0;

	imap_lex_spaces(c);
	for (; c->p < c->end && atom_char(*c->p) && *c->p != '[' &&
	    *c->p != ']'; c->p++, n++)
		if (n + 1 < size)
			buf[n] = (char)(*c->p >= 'a' && *c->p <= 'z' ?
			    *c->p - 'a' + 'A' : *c->p);
	if (n + 1 > size)
		n = 0;
	buf[n] = '\0';
	return (n);
}

bool
imap_lex_number(struct imap_lex *c, uint32_t *out)
{
	uint64_t	v = 0;
	const char	*p;

	imap_lex_spaces(c);
	for (p = c->p; p < c->end && *p >= '0' && *p <= '9' &&
	    v <= UINT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == c->p || v > UINT32_MAX || p - c->p > 10)
		return (false);
	c->p = p;
	*out = (uint32_t)v;
	return (true);
}

bool
imap_lex_accept(struct imap_lex *c, char what)
{
	imap_lex_spaces(c);
	if (c->p == c->end || *c->p != what)
		return (false);
	c->p++;
	return (true);
}

static bool
read_quoted(struct imap_lex *c, struct imap_string *out)
{
	const char	*p = c->p + 1;

	for (; p < c->end && *p != '"'; p++)
		if (*p == '\r' || *p == '\n' ||
		    (*p == '\\' && ++p == c->end))
			return (false);
	if (p >= c->end)
		return (false);
	*out = (struct imap_string){ c->p + 1, (size_t)(p - c->p - 1), true };
	c->p = p + 1;
	return (true);
}

static bool
read_literal(struct imap_lex *c, struct imap_string *out)
{
	uint32_t	n;

	c->p++;
	if (!imap_lex_number(c, &n) || c->end - c->p < 3 ||
	    memcmp(c->p, "}\r\n", 3) != 0)
		return (false);
	c->p += 3;
	if ((size_t)(c->end - c->p) < n)
		return (false);
	*out = (struct imap_string){ c->p, n, false };
	c->p += n;
	return (true);
}

/* A quoted string, literal or atom; NIL gives NULL. */
bool
imap_lex_string(struct imap_lex *c, struct imap_string *out)
{
	const char	*p;

	imap_lex_spaces(c);
	if (c->p == c->end)
		return (false);
	if (*c->p == '"')
		return (read_quoted(c, out));
	if (*c->p == '{')
		return (read_literal(c, out));
	for (p = c->p; p < c->end && (atom_char(*p) || (*p & 0x80)); p++)
		;
	*out = (struct imap_string){ c->p, (size_t)(p - c->p), false };
	c->p = p;
	if (out->len == 3 && strncasecmp(out->data, "NIL", 3) == 0)
		out->data = NULL;
	return (out->len > 0);
}

/* Skips one value of any kind; lists may nest, not without end. */
bool
imap_lex_skip(struct imap_lex *c)
{
	struct imap_string	s;
	int		depth = 0;

	do {
		if (imap_lex_accept(c, '(')) {
			if (++depth > IMAP_NESTING_MAX)
				return (false);
		} else if (imap_lex_accept(c, ')')) {
			if (--depth < 0)
				return (false);
		} else if (!imap_lex_string(c, &s))
			return (false);
	} while (depth > 0);
	return (true);
}
