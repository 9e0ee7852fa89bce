#include "monitor/value.h"

#include <arpa/inet.h>		/* inet_pton(3): text, no network */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* RFC 5321 4.5.3.1; a domain name's own bound is RFC 1035 2.3.4. */
#define LOCAL_MAX	64
#define DOMAIN_MAX	255
#define LABEL_MAX	63

#define DIGITS	"0123456789"
#define LOWER	"abcdefghijklmnopqrstuvwxyz"
#define LETTERS	LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* RFC 5322 3.2.3. */
#define ATEXT	LETTERS DIGITS "!#$%&'*+-/=?^_`{|}~"

static int
refuse(const char **why_r, const char *why)
{
	*why_r = why;
	return (-1);
}

/*
 * The digits at the start of s; *end_r is what follows.  Whatever is wrong
 * with them is said here, so that every number says it in the same words.
 */
static int
digits(const char *s, int64_t *number_r, const char **end_r, const char **why_r)
{
	size_t	n = strspn(s, DIGITS), i;
	int64_t	number = 0;

	if (*s == '-')
		return (refuse(why_r, "must not be negative"));
	if (n == 0)
		return (refuse(why_r, "does not begin with a number"));
	if (n > 1 && *s == '0')
		return (refuse(why_r,
		    "a number must not have a leading zero"));
	for (i = 0; i < n; i++) {
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, s[i] - '0', &number))
			return (refuse(why_r, "the number is too large"));
	}
	*number_r = number;
	*end_r = s + n;
	return (0);
}

int
value_number(const char *s, int64_t *number_r, const char **why_r)
{
	const char	*end;

	if (digits(s, number_r, &end, why_r) == -1)
		return (-1);
	if (*end != '\0')
		return (refuse(why_r, "is not a whole number"));
	return (0);
}

int
value_bool(const char *s, bool *r, const char **why_r)
{
	static const char *const	words[] = { "false", "true", "no",
					    "yes", "off", "on" };
	size_t				i;

	for (i = 0; i < NITEMS(words); i++) {
		if (strcasecmp(s, words[i]) == 0) {
			*r = i % 2 == 1;
			return (0);
		}
	}
	return (refuse(why_r, "is neither true nor false"));
}

/* A number's unit, largest first: the first that divides prints shortest. */
struct unit {
	const char	*word;
	int64_t		 factor;
};

static const struct unit spans[] = {
	{ "d",	86400000 },
	{ "h",	3600000 },
	{ "m",	60000 },
	{ "s",	1000 },
	{ "ms",	1 },
};

static const struct unit sizes[] = {
	{ "G",	1 << 30 },
	{ "M",	1 << 20 },
	{ "k",	1 << 10 },
	{ "",	1 },
};

int
value_span(const char *s, int64_t *ms_r, const char **why_r)
{
	const char	*end;
	int64_t		 number;
	size_t		 i;

	if (digits(s, &number, &end, why_r) == -1)
		return (-1);
	if (*end == '\0' && number != 0)
		return (refuse(why_r,
		    "a span needs a unit: ms, s, m, h or d"));
	for (i = 0; i < NITEMS(spans); i++)
		if (strcmp(end, spans[i].word) == 0)
			break;
	if (*end != '\0' && i == NITEMS(spans))
		return (refuse(why_r,
		    "a span is one whole number and ms, s, m, h or d"));
	if (*end == '\0')
		*ms_r = 0;
	else if (number > VALUE_SPAN_MAX / spans[i].factor)
		return (refuse(why_r, "the span is too long"));
	else
		*ms_r = number * spans[i].factor;
	return (0);
}

/* The largest unit that leaves a whole number; zero takes the last. */
static const char *
print(int64_t number, const struct unit *u, char *buf, size_t size)
{
	while (u->factor != 1 && (number == 0 || number % u->factor != 0))
		u++;
	snprintf(buf, size, "%lld%s", (long long)(number / u->factor),
	    number == 0 ? "" : u->word);
	return (buf);
}

const char *
value_print_span(int64_t ms, char *buf, size_t size)
{
	return (print(ms, spans, buf, size));
}

int
value_size(const char *s, int64_t *bytes_r, const char **why_r)
{
	const char	*end;
	int64_t		 number;
	size_t		 i;

	if (digits(s, &number, &end, why_r) == -1)
		return (-1);
	for (i = 0; i < NITEMS(sizes); i++)
		if (strcasecmp(end, sizes[i].word) == 0)
			break;
	if (i == NITEMS(sizes))
		return (refuse(why_r,
		    "a size is a whole number and perhaps k, M or G"));
	if (__builtin_mul_overflow(number, sizes[i].factor, bytes_r))
		return (refuse(why_r, "the size is too large"));
	return (0);
}

const char *
value_print_size(int64_t bytes, char *buf, size_t size)
{
	return (print(bytes, sizes, buf, size));
}

static bool
two_digits(const char *s, int *r)
{
	if (strspn(s, DIGITS) < 2)
		return (false);
	*r = (s[0] - '0') * 10 + s[1] - '0';
	return (true);
}

int
value_time_of_day(const char *s, int *minutes_r, const char **why_r)
{
	int	hour, minute;

	if (strlen(s) != 5 || s[2] != ':' || !two_digits(s, &hour) ||
	    !two_digits(s + 3, &minute) || hour > 23 || minute > 59)
		return (refuse(why_r,
		    "is not a time of day, 00:00 to 23:59"));
	*minutes_r = hour * 60 + minute;
	return (0);
}

static const char *const weekdays[] = {
	"sun", "mon", "tue", "wed", "thu", "fri", "sat"
};
#define DAILY	0x7fU

/* The weekday at *s, which is moved past it; -1 if there is none. */
static int
weekday(const char **s)
{
	int	i;

	for (i = 0; i < (int)NITEMS(weekdays); i++) {
		if (strncasecmp(*s, weekdays[i], 3) == 0) {
			*s += 3;
			return (i);
		}
	}
	return (-1);
}

int
value_days(const char *s, unsigned *days_r, const char **why_r)
{
	unsigned	days = 0;
	int		first, last;

	if (strcasecmp(s, "daily") == 0) {
		*days_r = DAILY;
		return (0);
	}
	do {
		if ((first = last = weekday(&s)) == -1)
			break;
		if (*s == '-' && (s++, last = weekday(&s)) == -1)
			break;
		for (days |= 1U << first; first != last; days |= 1U << first)
			first = (first + 1) % (int)NITEMS(weekdays);
		if (*s == '\0') {
			*days_r = days;
			return (0);
		}
	} while (*s++ == ',');
	return (refuse(why_r,
	    "days are written mon, mon-fri, \"sat,sun\" or daily"));
}

const char *
value_print_days(unsigned days, char *buf, size_t size)
{
	size_t	i;

	buf[0] = '\0';
	if ((days & DAILY) == DAILY)
		text_copy(buf, size, "daily");
	else for (i = 0; i < NITEMS(weekdays); i++)
		if (days & 1U << i)
			text_appendf(buf, size, "%s%s",
			    buf[0] != '\0' ? "," : "", weekdays[i]);
	return (buf);
}

int
value_ip(const char *s, bool *v6_r, const char **why_r)
{
	unsigned char	bytes[16];
	bool		v6 = strchr(s, ':') != NULL;

	if (inet_pton(v6 ? AF_INET6 : AF_INET, s, bytes) != 1)
		return (refuse(why_r, "is not an IP address"));
	if (v6_r != NULL)
		*v6_r = v6;
	return (0);
}

/*
 * A name of dot-separated labels (RFC 1035 2.3.1, RFC 1123 2.1).  `extra` is
 * what a label may hold besides letters, digits and inner hyphens.
 */
static int
domain_name(const char *s, const char *extra, const char **why_r)
{
	size_t	n, ok;

	if (strlen(s) > DOMAIN_MAX)
		return (refuse(why_r, "the name is longer than 255"));
	for (;; s += n + 1) {
		n = strcspn(s, ".");
		if (n == 0)
			return (refuse(why_r, "the name has an empty part"));
		if (n > LABEL_MAX)
			return (refuse(why_r,
			    "a part of the name is longer than 63"));
		for (ok = 0; ok < n; ok++)
			if (strchr(LETTERS DIGITS "-", s[ok]) == NULL &&
			    strchr(extra, s[ok]) == NULL)
				break;
		if (ok < n && (unsigned char)s[ok] >= 0x80)
			return (refuse(why_r, "the name is not ASCII: "
			    "write its xn-- form"));
		if (ok < n)
			return (refuse(why_r,
			    "the name has a character that none may have"));
		if (*s == '-' || s[n - 1] == '-')
			return (refuse(why_r,
			    "a part of the name begins or ends with a hyphen"));
		if (s[n] == '\0')
			break;
	}
	/* No top-level domain is a number: this was meant as an address. */
	if (strspn(s, DIGITS) == n)
		return (refuse(why_r, "is not an IP address"));
	return (0);
}

int
value_host(const char *s, const char **why_r)
{
	const char	*ignored;

	if (*s == '\0')
		return (refuse(why_r, "is empty"));
	if (*s == '[')
		return (refuse(why_r,
		    "an address is written without brackets here"));
	if (strchr(s, ':') != NULL)
		return (value_ip(s, NULL, &ignored) == 0 ? 0 : refuse(why_r,
		    "is neither a host name nor an IP address"));
	if (value_ip(s, NULL, &ignored) == 0)
		return (0);
	/* Names with an underscore exist and resolve. */
	return (domain_name(s, "_", why_r));
}

int
value_host_port(const char *s, char *host_r, uint16_t *port_r,
    const char **why_r)
{
	const char	*colon = strrchr(s, ':'), *host = s;
	int64_t		 port;
	size_t		 n;
	bool		 v6 = *s == '[';

	if (colon == NULL)
		return (refuse(why_r, "is not host:port"));
	n = (size_t)(colon - s);
	if (v6) {
		if (n < 2 || s[n - 1] != ']')
			return (refuse(why_r, "is not [address]:port"));
		host++;
		n -= 2;
	} else if (memchr(s, ':', n) != NULL)
		return (refuse(why_r,
		    "an IPv6 address needs brackets before the port"));
	if (n > DOMAIN_MAX)
		return (refuse(why_r, "the name is longer than 255"));
	memcpy(host_r, host, n);
	host_r[n] = '\0';
	if (v6 && (value_ip(host_r, &v6, why_r) == -1 || !v6))
		return (refuse(why_r, "is not [address]:port"));
	if (value_host(host_r, why_r) == -1)
		return (-1);
	if (value_number(colon + 1, &port, why_r) == -1)
		return (-1);
	if (port < 1 || port > UINT16_MAX)
		return (refuse(why_r, "the port is not within 1 and 65535"));
	*port_r = (uint16_t)port;
	return (0);
}

/* Quoted-string of RFC 5321 4.1.2; n counts both quotes. */
static bool
quoted_local(const char *s, size_t n)
{
	size_t	i;

	if (n < 2 || s[n - 1] != '"')
		return (false);
	for (i = 1; i < n - 1; i++) {
		if (s[i] == '"' || (s[i] == '\\' && ++i == n - 1))
			return (false);
	}
	return (true);
}

/* Dot-string of RFC 5321 4.1.2. */
static bool
dotted_local(const char *s, size_t n)
{
	size_t	part, at;

	for (at = 0; at < n; at += part + 1) {
		part = strspn(s + at, ATEXT);
		if (part == 0 || (at + part < n && s[at + part] != '.') ||
		    at + part + 1 == n)
			return (false);
	}
	return (n > 0);
}

/* "[192.0.2.1]" or "[IPv6:2001:db8::1]" (RFC 5321 4.1.3). */
static int
address_literal(const char *s, const char **why_r)
{
	char	buf[64];
	size_t	n = strlen(s);
	bool	v6 = strncasecmp(s, "[IPv6:", 6) == 0, found;
	size_t	skip = v6 ? 6 : 1;

	if (n < skip + 2 || n - skip > sizeof buf || s[n - 1] != ']')
		return (refuse(why_r, "is not an address literal"));
	memcpy(buf, s + skip, n - skip - 1);
	buf[n - skip - 1] = '\0';
	if (value_ip(buf, &found, why_r) == -1 || found != v6)
		return (refuse(why_r, "is not an address literal"));
	return (0);
}

/* The @ that ends the local part: the last, for a quoted part may hold one. */
static const char *
at_sign(const char *s)
{
	return (strrchr(s, '@'));
}

const char *
value_address_domain(const char *s)
{
	const char	*at = at_sign(s);

	return (at != NULL ? at + 1 : "");
}

static bool
beyond_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return (true);
	return (false);
}

int
value_address(const char *s, const char **why_r)
{
	const char	*at = at_sign(s);
	size_t		 n;

	if (*s == '\0')
		return (refuse(why_r, "is empty"));
	if (text_has_controls(s))
		return (refuse(why_r, "has a control character"));
	if (at == NULL)
		return (refuse(why_r, "is not an address: it has no @"));
	n = (size_t)(at - s);
	if (beyond_ascii(s, n))
		return (refuse(why_r, "has letters beyond ASCII before the @: "
		    "that needs SMTPUTF8, which mailflowd does not have"));
	if (n > LOCAL_MAX)
		return (refuse(why_r,
		    "the part before the @ is longer than 64"));
	if (!(*s == '"' ? quoted_local(s, n) : dotted_local(s, n)))
		return (refuse(why_r,
		    "the part before the @ is not as mail allows it"));
	if (at[1] == '[')
		return (address_literal(at + 1, why_r));
	return (domain_name(at + 1, "", why_r));
}

static int
made_of(const char *s, const char *set, size_t max, const char *why,
    const char **why_r)
{
	size_t	n = strlen(s);

	if (n == 0 || n > max || strspn(s, set) != n)
		return (refuse(why_r, why));
	return (0);
}

int
value_name(const char *s, const char **why_r)
{
	return (made_of(s, LETTERS DIGITS "-_.", 64, "a name is 1 to 64 "
	    "letters, digits, hyphens, underscores and dots", why_r));
}

int
value_instance(const char *s, const char **why_r)
{
	return (made_of(s, LOWER DIGITS "-", 32, "an instance is 1 to 32 "
	    "small letters, digits and hyphens", why_r));
}
