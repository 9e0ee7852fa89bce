#include "mailboxes/header.h"

#include <string.h>
#include <strings.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* A bounded buffer being written. */
struct sink {
	char	*buf;
	size_t	 len, size;
};

static void
put(struct sink *s, char c)
{
	if (s->len + 1 < s->size)
		s->buf[s->len++] = c;
}

static size_t
finish(struct sink *s)
{
	if (s->size > 0)
		s->buf[s->len] = '\0';
	return (s->len);
}

static bool
blank(char c)
{
	return (c == ' ' || c == '\t' || c == '\r' || c == '\n');
}

static bool
empty_line(const char *text, size_t at, size_t end)
{
	return (at == end || text[at] == '\n' ||
	    (text[at] == '\r' && (end - at == 1 || text[at + 1] == '\n')));
}

size_t
header_name(const char *text, size_t at, size_t end, size_t *colon_r)
{
	size_t	i, n;

	for (i = at; i < end && text[i] != ':' && text[i] > 0x20 &&
	    text[i] <= 0x7e; i++)
		continue;
	n = i - at;
	while (i < end && (text[i] == ' ' || text[i] == '\t'))
		i++;
	*colon_r = i;
	return (i < end && text[i] == ':' ? n : 0);
}

bool
header_next(const char *text, size_t len, size_t *at, struct header *out)
{
	size_t	n, start, end, colon;

	while (*at < len) {
		start = *at;
		end = text_line_end(text, len, start);
		if (empty_line(text, start, end))
			return (false);
		n = header_name(text, start, end, &colon);
		while (end < len && (text[end] == ' ' || text[end] == '\t'))
			end = text_line_end(text, len, end);
		*at = end;
		if (n == 0)
			continue;
		*out = (struct header){ text + start, n, text + colon + 1,
		    end - colon - 1 };
		return (true);
	}
	return (false);
}

bool
header_is(const struct header *h, const char *name)
{
	return (h->name_len == strlen(name) &&
	    strncasecmp(h->name, name, h->name_len) == 0);
}

bool
header_find(const char *text, size_t len, const char *name,
    struct header *out)
{
	size_t	at = 0;

	while (header_next(text, len, &at, out))
		if (header_is(out, name))
			return (true);
	return (false);
}

/* Encodings. */

static int
base64_digit(char c)
{
	static const char	 digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char		*p;

	p = c == '\0' ? NULL : strchr(digits, c);
	return (p != NULL ? (int)(p - digits) : -1);
}

static void
put_base64(struct sink *s, const char *p, size_t len)
{
	unsigned	bits = 0;
	int		have = 0, d;
	size_t		i;

	for (i = 0; i < len && p[i] != '='; i++) {
		if ((d = base64_digit(p[i])) < 0)
			continue;
		bits = (bits << 6 | (unsigned)d) & 0xffffU;
		if ((have += 6) >= 8) {
			have -= 8;
			put(s, (char)(bits >> have & 0xffU));
		}
	}
}

static int
hex_digit(char c)
{
	return (c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ?
	    c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1);
}

/* "=41" at p; its length, 0 if it is none. */
static size_t
put_hex(struct sink *s, const char *p, size_t len)
{
	if (len < 3 || hex_digit(p[1]) < 0 || hex_digit(p[2]) < 0)
		return (0);
	put(s, (char)(hex_digit(p[1]) * 16 + hex_digit(p[2])));
	return (3);
}

/* The "Q" encoding of RFC 2047 4.2. */
static void
put_q(struct sink *s, const char *p, size_t len)
{
	size_t	i, n;

	for (i = 0; i < len; i += n) {
		n = p[i] == '=' ? put_hex(s, p + i, len - i) : 0;
		if (n > 0)
			continue;
		put(s, (char)(p[i] == '_' ? ' ' : p[i]));
		n = 1;
	}
}

size_t
header_base64(const char *p, size_t len, char *buf, size_t size)
{
	struct sink	s = { buf, 0, size };

	put_base64(&s, p, len);
	return (finish(&s));
}

/* How long a soft line break at p is; 0 if there is none. */
static size_t
soft_break(const char *p, size_t len)
{
	size_t	n = 1;

	while (n < len && (p[n] == ' ' || p[n] == '\t' || p[n] == '\r'))
		n++;
	return (n < len && p[n] == '\n' ? n + 1 : 0);
}

size_t
header_quoted_printable(const char *p, size_t len, char *buf, size_t size)
{
	struct sink	s = { buf, 0, size };
	size_t		i, n;

	for (i = 0; i < len; i += n) {
		n = 0;
		if (p[i] == '=' && (n = soft_break(p + i, len - i)) == 0)
			n = put_hex(&s, p + i, len - i);
		if (n > 0)
			continue;
		put(&s, p[i]);
		n = 1;
	}
	return (finish(&s));
}

/*
 * The encoded word at p, "=?charset?B?text?=" (RFC 2047 2); its length, 0 if
 * there is none.  It may be longer than the 75 characters allowed.
 */
static size_t
put_encoded_word(struct sink *s, const char *p, size_t len)
{
	const char	*end = p + len, *set, *text, *close;
	char		 encoding;

	if (len < 8 || p[0] != '=' || p[1] != '?')
		return (0);
	for (set = p + 2; set < end && *set != '?'; set++)
		if (*set <= 0x20 || *set > 0x7e)
			return (0);
	if (set == p + 2 || end - set < 5 || set[2] != '?')
		return (0);
	encoding = set[1];
	text = set + 3;
	for (close = text; close + 1 < end &&
	    (close[0] != '?' || close[1] != '='); close++)
		if (*close == '\r' || *close == '\n')
			return (0);
	if (close + 1 >= end)
		return (0);
	if (encoding == 'B' || encoding == 'b')
		put_base64(s, text, (size_t)(close - text));
	else if (encoding == 'Q' || encoding == 'q')
		put_q(s, text, (size_t)(close - text));
	else
		return (0);
	return ((size_t)(close + 2 - p));
}

/*
 * Blanks at p: one space in the text, unless they only part two encoded
 * words (RFC 2047 6.2); how many.
 */
static size_t
put_blanks(struct sink *s, const char *p, size_t len, bool after_word)
{
	struct sink	nowhere = { NULL, 0, 0 };
	size_t		n = 0;

	while (n < len && blank(p[n]))
		n++;
	if (n < len && !(after_word &&
	    put_encoded_word(&nowhere, p + n, len - n) > 0))
		put(s, ' ');
	return (n);
}

size_t
header_decode(const struct header *h, char *buf, size_t size)
{
	struct sink	 s = { buf, 0, size };
	const char	*p = h->value;
	size_t		 i = 0, n, len = h->value_len;
	bool		 after_word = false;

	while (i < len && blank(p[i]))
		i++;
	for (; i < len; i += n) {
		if (blank(p[i])) {
			n = put_blanks(&s, p + i, len - i, after_word);
			continue;
		}
		n = put_encoded_word(&s, p + i, len - i);
		after_word = n > 0;
		if (n > 0)
			continue;
		put(&s, (char)(p[i] == '\0' ? ' ' : p[i]));
		n = 1;
	}
	return (finish(&s));
}

/* Addresses. */

/* A quoted string or a comment at *at, skipped whole; false if neither. */
static bool
skip_aside(const char *t, size_t *at)
{
	char	open = t[*at], close = open == '"' ? '"' : ')';
	int	depth = 1;
	size_t	i = *at;

	if (open != '"' && open != '(')
		return (false);
	for (i++; t[i] != '\0' && depth > 0; i++) {
		if (t[i] == '\\' && t[i + 1] != '\0')
			i++;
		else if (t[i] == close)
			depth--;
		else if (t[i] == '(' && open == '(')
			depth++;
	}
	*at = i;
	return (true);
}

static void
put_lower(struct sink *s, const char *p, size_t len)
{
	size_t	i;

	for (i = 0; i < len; i++)
		put(s, (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] - 'A' + 'a' :
		    p[i]));
}

/* What stands in angle brackets at *at, without a source route. */
static size_t
angle(const char *t, size_t *at, struct sink *s)
{
	size_t	from = ++*at, i, len;

	while (t[*at] != '\0' && t[*at] != '>')
		if (!skip_aside(t, at))
			++*at;
	len = *at - from;
	*at += t[*at] == '>';
	if (len > 0 && t[from] == '@')
		for (i = 0; i < len; i++)
			if (t[from + i] == ':') {
				from += i + 1;
				len -= i + 1;
				break;
			}
	s->len = 0;
	put_lower(s, t + from, len);
	return (finish(s));
}

bool
header_address(const char *t, size_t *at, char *buf, size_t size)
{
	struct sink	s = { buf, 0, size };
	bool		closed = false;
	char		c;

	finish(&s);
	while ((c = t[*at]) != '\0') {
		if (c == ',' || c == ';') {
			++*at;
			if (s.len > 0)
				break;
		} else if (c == '<') {
			angle(t, at, &s);
			closed = true;
		} else if (c == ':' && !closed) {
			++*at;		/* the name of a group */
			s.len = 0;
		} else if (!skip_aside(t, at)) {
			if (!closed && !blank(c))
				put_lower(&s, &c, 1);
			++*at;
		}
	}
	return (finish(&s) > 0);
}

bool
header_is_answer(const char *subject)
{
	static const char *const	words[] = { "re", "fwd", "fw", "aw",
		"wg", "antw", "antwort", "sv", "vs", "vb", "vl", "tr", "rv",
		"rif", "res", "enc", "doorst", "odp", "pd", "ynt", "ilt", "fs",
		"i", "r", "回复", "回覆", "答复", "转发", "轉寄" };
	size_t				i, n = strcspn(subject, " [(:\xef");
	const char			*s = subject + n;

	if (*s == '[' || *s == '(') {
		s += strcspn(s, "])");
		s += *s != '\0';
	}
	s += strspn(s, " ");
	if (*s != ':' && strncmp(s, "\xef\xbc\x9a", 3) != 0)
		return (false);
	for (i = 0; i < NITEMS(words); i++)
		if (strlen(words[i]) == n &&
		    strncasecmp(subject, words[i], n) == 0)
			return (true);
	return (false);
}
