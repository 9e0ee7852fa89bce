#include "mailboxes/dsn.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mailboxes/header.h"
#include "mailboxes/mime.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define VALUE_MAX	1536	/* of a field */

struct target {
	struct dsn_message	*message;
	struct dsn_recipient	*recipient;
};

static char
lower(char c)
{
	return ((char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

static bool
is_letter(char c)
{
	return (lower(c) >= 'a' && lower(c) <= 'z');
}

/*
 * What follows the type ("rfc822;", "dns;", "smtp;") or the whole where there
 * is none: "452 4.3.1 Full; try later".
 */
static const char *
untyped(const char *value)
{
	const char	*p;

	value += strspn(value, " \t");
	for (p = value; is_letter(*value) && (is_letter(*p) ||
	    text_is_digit(*p) || (*p != '\0' && strchr("-_/.", *p) != NULL)); p++)
		continue;
	p += strspn(p, " \t");
	if (*p == ';')
		value = p + 1;
	return (value + strspn(value, " \t"));
}

/* The values of the fields, one function each. */

static void
take_envid(struct target *t, const char *value)
{
	text_clean(t->message->envid, sizeof t->message->envid, value,
	    strlen(value));
}

/* "[192.0.2.1]", "mx.example.net. (192.0.2.1)": the name alone. */
static void
take_host(char host[OUTCOME_HOST], const char *value)
{
	size_t	n, i;

	value = untyped(value);
	value += strspn(value, "[<\"'");
	n = strcspn(value, " \t,;()<>[]\"'");
	while (n > 0 && value[n - 1] == '.')
		n--;
	text_clean(host, OUTCOME_HOST, value, n);
	for (i = 0; host[i] != '\0'; i++)
		host[i] = lower(host[i]);
}

static void
take_reporting(struct target *t, const char *value)
{
	take_host(t->message->reporting_mta, value);
}

static void
take_remote(struct target *t, const char *value)
{
	take_host(t->recipient->remote_mta, value);
}

static void
take_address(char address[DSN_ADDRESS], const char *value)
{
	char	raw[DSN_ADDRESS];
	size_t	at = 0;

	value = untyped(value);
	header_address(value, &at, raw, sizeof raw);
	text_clean(address, DSN_ADDRESS, raw, strlen(raw));
}

static void
take_original(struct target *t, const char *value)
{
	take_address(t->recipient->original, value);
}

static void
take_final(struct target *t, const char *value)
{
	take_address(t->recipient->final, value);
}

/* "Failed", "failed (bad destination mailbox address)". */
static void
take_action(struct target *t, const char *value)
{
	size_t	n = 0;

	for (; is_letter(*value) || *value == '-'; value++)
		if (n + 1 < DSN_WORD)
			t->recipient->action[n++] = lower(*value);
	t->recipient->action[n] = '\0';
}

/* "5.1.1" at s: its length; 0 if there is none. */
static size_t
status_length(const char *s)
{
	size_t	n = 1, i, digits;

	if (*s != '2' && *s != '4' && *s != '5')
		return (0);
	for (i = 0; i < 2; i++) {
		if (s[n] != '.')
			return (0);
		digits = 0;
		while (text_is_digit(s[n + 1 + digits]))
			digits++;
		if (digits == 0 || digits > 3)
			return (0);
		n += digits + 1;
	}
	return (n);
}

/*
 * "5.1.1", "5.1.1 (bad destination)"; where a basic code stands instead
 * ("552 too big"), its class with nothing more said.
 */
static void
take_status(struct target *t, const char *value)
{
	char	*out = t->recipient->status;
	size_t	 n;

	value += strcspn(value, "0123456789");
	n = status_length(value);
	if (n > 0 && n < OUTCOME_ENHANCED)
		snprintf(out, OUTCOME_ENHANCED, "%.*s", (int)n, value);
	else if ((*value == '2' || *value == '4' || *value == '5') &&
	    (!text_is_digit(value[1]) || (text_is_digit(value[2]) &&
	    !text_is_digit(value[3]))))
		snprintf(out, OUTCOME_ENHANCED, "%c.0.0", *value);
}

static void
take_diagnostic(struct target *t, const char *value)
{
	value = untyped(value);
	text_clean(t->recipient->diagnostic, sizeof t->recipient->diagnostic,
	    value, strlen(value));
}

/* "< #5.5.0 smtp;552 5.2.2 mailbox is full>" */
static void
take_supplement(struct target *t, const char *value)
{
	const char	*said = strcasestr(value, "smtp;");

	if (said != NULL)
		value = said + strlen("smtp;");
	text_clean(t->recipient->supplement, sizeof t->recipient->supplement,
	    value, strcspn(value, ">"));
}

#define MEMBER(m)	offsetof(struct dsn_recipient, m)

static const struct field {
	const char	*name;
	void		(*take)(struct target *, const char *value);
	bool		 of_recipient;
	bool		 address;
	size_t		 member;	/* in struct dsn_recipient */
} fields[] = {
	{ "Original-Envelope-Id", take_envid,	false, false, 0 },
	{ "Reporting-MTA",	take_reporting,	false, false, 0 },
	{ "Original-Recipient",	take_original,	true, true,
	    MEMBER(original) },
	{ "Final-Recipient",	take_final,	true, true, MEMBER(final) },
	{ "Action",		take_action,	true, false, MEMBER(action) },
	{ "Status",		take_status,	true, false, MEMBER(status) },
	{ "Remote-MTA",		take_remote,	true, false,
	    MEMBER(remote_mta) },
	{ "Diagnostic-Code",	take_diagnostic, true, false,
	    MEMBER(diagnostic) },
	{ "X-Supplementary-Info", take_supplement, true, false,
	    MEMBER(supplement) },
};

static const struct field *
field_of(const struct header *h)
{
	for (size_t i = 0; i < NITEMS(fields); i++)
		if (header_is(h, fields[i].name))
			return (&fields[i]);
	return (NULL);
}

static const char *
member(const struct dsn_recipient *r, const struct field *f)
{
	return ((const char *)r + f->member);
}

/* Whether the field belongs to the next recipient. */
static bool
is_next(const struct dsn_recipient *r, const struct field *f, bool gap)
{
	if (member(r, f)[0] != '\0')
		return (gap || f->address || r->diagnostic[0] != '\0' ||
		    r->status[0] != '\0');
	return (gap && f->address &&
	    (r->final[0] != '\0' || r->original[0] != '\0'));
}

void
dsn_open(struct dsn *d, const char *text, size_t len)
{
	*d = (struct dsn){ .text = text, .len = len };
}

/* Past the empty line that header_next() stopped at; false at the end. */
static bool
skip_empty_line(struct dsn *d)
{
	const char	*lf;

	if (d->at >= d->len)
		return (false);
	lf = memchr(d->text + d->at, '\n', d->len - d->at);
	d->at = lf != NULL ? (size_t)(lf - d->text) + 1 : d->len;
	return (true);
}

bool
dsn_next(struct dsn *d, struct dsn_recipient *out)
{
	struct target		 t = { &d->message, out };
	const struct field	*f;
	struct header		 h;
	char			 value[VALUE_MAX];
	size_t			 before;
	bool			 gap = false, any = false;

	memset(out, 0, sizeof *out);
	for (;;) {
		before = d->at;
		if (!header_next(d->text, d->len, &d->at, &h)) {
			if (!skip_empty_line(d))
				return (any);
			gap = true;
			continue;
		}
		if ((f = field_of(&h)) == NULL)
			continue;
		if (f->of_recipient && any && is_next(out, f, gap)) {
			d->at = before;
			return (true);
		}
		mime_value(&h, value, sizeof value);
		f->take(&t, value);
		any = any || f->of_recipient;
		gap = gap && !f->of_recipient;
	}
}

bool
dsn_sniff(const char *text, size_t len)
{
	struct dsn		d;
	struct dsn_recipient	r;

	dsn_open(&d, text, len);
	while (dsn_next(&d, &r))
		if ((r.action[0] != '\0' && r.status[0] != '\0') ||
		    (r.final[0] != '\0' && (r.action[0] != '\0' ||
		    r.status[0] != '\0' || r.diagnostic[0] != '\0')))
			return (true);
	return (false);
}

bool
dsn_is_whole(const char *text, size_t len)
{
	struct header	h;
	size_t		at = 0, first;

	while (at < len && text[at] == '\n')
		at++;
	first = at;
	return (header_next(text, len, &at, &h) && h.name == text + first &&
	    field_of(&h) != NULL && dsn_sniff(text, len));
}

/* Addresses. */

static int
hex_digit(char c)
{
	c = lower(c);
	return (text_is_digit(c) ? c - '0' :
	    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1);
}

/* "+2B" of RFC 3461 4. */
static void
decode_xtext(char *dst, size_t size, const char *src)
{
	size_t	n = 0;

	for (; *src != '\0' && n + 1 < size; src++) {
		dst[n++] = *src;
		if (*src != '+' || hex_digit(src[1]) < 0 ||
		    hex_digit(src[2]) < 0)
			continue;
		dst[n - 1] = (char)(hex_digit(src[1]) * 16 +
		    hex_digit(src[2]));
		src += 2;
	}
	dst[n] = '\0';
}

static size_t
put_utf8(char *dst, unsigned long cp)
{
	if (cp < 0x80)
		return (dst[0] = (char)cp, 1);
	if (cp < 0x800) {
		dst[0] = (char)(0xc0 | cp >> 6);
		dst[1] = (char)(0x80 | (cp & 0x3f));
		return (2);
	}
	if (cp < 0x10000) {
		dst[0] = (char)(0xe0 | cp >> 12);
		dst[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		dst[2] = (char)(0x80 | (cp & 0x3f));
		return (3);
	}
	dst[0] = (char)(0xf0 | (cp >> 18 & 7));
	dst[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	dst[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	dst[3] = (char)(0x80 | (cp & 0x3f));
	return (4);
}

/* "\x{E4}" of RFC 6533 3. */
static void
decode_unitext(char *dst, size_t size, const char *src)
{
	unsigned long	 cp;
	char		*end;
	size_t		 n = 0;

	while (*src != '\0' && n + 5 < size) {
		if (strncasecmp(src, "\\x{", 3) == 0 &&
		    hex_digit(src[3]) >= 0) {
			cp = strtoul(src + 3, &end, 16);
			if (*end == '}' && cp > 0 && cp <= 0x10ffff) {
				n += put_utf8(dst + n, cp);
				src = end + 1;
				continue;
			}
		}
		dst[n++] = *src++;
	}
	dst[n] = '\0';
}

bool
dsn_same_address(const char *plain, const char *written)
{
	char	other[DSN_ADDRESS];

	if (plain[0] == '\0' || written[0] == '\0')
		return (false);
	if (strcasecmp(plain, written) == 0)
		return (true);
	decode_xtext(other, sizeof other, written);
	if (strcasecmp(plain, other) == 0)
		return (true);
	decode_unitext(other, sizeof other, written);
	return (strcasecmp(plain, other) == 0);
}
