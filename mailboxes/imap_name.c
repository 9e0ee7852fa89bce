#include "mailboxes/imap_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

static const char	digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz0123456789+,";

/* Base 64 being written, six bits at a time. */
struct shift {
	char		*out;
	size_t		 len;
	uint32_t	 bits;
	int		 have;
};

static void
put_bits(struct shift *s, int least)
{
	while (s->have >= least) {
		s->out[s->len++] = digits[(s->have >= 6 ?
		    s->bits >> (s->have - 6) : s->bits << (6 - s->have)) & 63];
		s->have -= s->have >= 6 ? 6 : s->have;
	}
}

static void
put_unit(struct shift *s, uint32_t unit)
{
	s->bits = s->bits << 16 | unit;
	s->have += 16;
	put_bits(s, 6);
}

/* One code point at p, in UTF-16; bytes used. */
static size_t
put_point(struct shift *s, const unsigned char *p)
{
	size_t		n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2, i;
	uint32_t	cp = *p & (0x7fU >> n);

	for (i = 1; i < n && (p[i] & 0xc0) == 0x80; i++)
		cp = cp << 6 | (p[i] & 0x3fU);
	if (cp > 0xffff) {
		put_unit(s, 0xd800 | ((cp - 0x10000) >> 10 & 0x3ff));
		cp = 0xdc00 | ((cp - 0x10000) & 0x3ff);
	}
	put_unit(s, cp);
	return (i);
}

/* What a sequence stands for, UTF-16 on its way to UTF-8. */
struct plain {
	char		*out;
	size_t		 len;
	uint32_t	 high;		/* half of a pair; 0: none */
};

static void
put_utf8(struct plain *p, uint32_t cp)
{
	size_t	n = cp > 0xffff ? 4 : cp > 0x7ff ? 3 : cp > 0x7f ? 2 : 1;

	for (size_t i = n; i-- > 1; cp >>= 6)
		p->out[p->len + i] = (char)(0x80 | (cp & 0x3f));
	p->out[p->len] = (char)(n == 1 ? cp : (0xf00U >> n & 0xff) | cp);
	p->len += n;
}

/* False for what no sequence may hold: half pairs, and what is ASCII. */
static bool
take_unit(struct plain *p, uint32_t unit)
{
	bool	low = unit >= 0xdc00 && unit <= 0xdfff;

	if (low != (p->high != 0) || unit == 0 ||
	    (unit >= 0x20 && unit <= 0x7e))
		return (false);
	if (unit >= 0xd800 && unit <= 0xdbff) {
		p->high = unit;
		return (true);
	}
	put_utf8(p, low ? 0x10000 + ((p->high - 0xd800) << 10) +
	    (unit - 0xdc00) : unit);
	p->high = 0;
	return (true);
}

/*
 * The bytes from '&' to '-' of the sequence at p, what it stands for added to
 * plain; 0 if there is none.
 */
static size_t
read_sequence(const char *p, size_t len, struct plain *plain)
{
	const char	*digit;
	size_t		 i;
	uint32_t	 bits = 0;
	int		 have = 0;

	for (i = 1; i < len && p[i] != '-'; i++) {
		if ((digit = memchr(digits, p[i], 64)) == NULL)
			return (0);
		bits = bits << 6 | (uint32_t)(digit - digits);
		have += 6;
		if (have < 16)
			continue;
		have -= 16;
		if (!take_unit(plain, bits >> have & 0xffff))
			return (0);
	}
	if (i == len || have >= 6 || (bits & ((1U << have) - 1)) != 0 ||
	    plain->high != 0)
		return (0);
	if (i == 1)
		plain->out[plain->len++] = '&';
	return (i + 1);
}

char *
imap_name_decode(const char *name, size_t len)
{
	struct plain	p = { .out = mem_alloc(len * 2 + 1) };
	size_t		n, before;

	for (size_t i = 0; i < len; i += n) {
		before = p.len;
		p.high = 0;
		n = name[i] == '&' ?
		    read_sequence(name + i, len - i, &p) : 0;
		if (n > 0)
			continue;
		p.len = before;
		p.out[p.len++] = name[i];
		n = 1;
	}
	p.out[p.len] = '\0';
	return (p.out);
}

/* Sequences stay, a bare '&' becomes one. */
static void
encode_ascii(const char *name, char *out)
{
	size_t		len = strlen(name), n;
	struct plain	scratch = { .out = mem_alloc(len * 2 + 1) };

	for (; *name != '\0'; name += n, len -= n) {
		scratch.len = scratch.high = 0;
		n = *name == '&' ? read_sequence(name, len, &scratch) : 1;
		memcpy(out, name, n > 0 ? n : 1);
		out += n > 0 ? n : 1;
		if (n == 0) {
			*out++ = '-';
			n = 1;
		}
	}
	mem_free(scratch.out);
}

char *
imap_name_encode(const char *name)
{
	const unsigned char	*p = (const unsigned char *)name;
	struct shift		 s = { .out = mem_alloc(strlen(name) * 6 + 1) };

	if (text_is_ascii(name)) {
		encode_ascii(name, s.out);
		return (s.out);
	}
	while (*p != '\0') {
		if (*p < 0x80) {
			s.out[s.len++] = (char)*p;
			if (*p++ == '&')
				s.out[s.len++] = '-';
			continue;
		}
		s.out[s.len++] = '&';
		while (*p >= 0x80)
			p += put_point(&s, p);
		put_bits(&s, 1);
		s.out[s.len++] = '-';
		s.bits = 0;
	}
	return (s.out);
}
