#include "mailboxes/imap_name.h"

#include <stdint.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

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
	static const char	digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+,";

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

char *
imap_name_encode(const char *name)
{
	const unsigned char	*p = (const unsigned char *)name;
	struct shift		 s = { .out = mem_alloc(strlen(name) * 6 + 1) };

	if (text_is_ascii(name)) {
		memcpy(s.out, name, strlen(name));
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
