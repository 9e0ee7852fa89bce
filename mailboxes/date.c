#include "mailboxes/date.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "monitor/mem.h"

#define YEAR_MIN	1980
#define YEAR_MAX	2199


struct parts {
	int	year, month, day;	/* month: 1-12 */
	int	hour, minute, second;
	int	zone;			/* hhmm, east is positive */
};

struct reader {
	const char	*p, *end;
};

static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
	"Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

/* RFC 5322 4.3. */
static const struct {
	const char	*name;
	int		 zone;
} zones[] = {
	{ "UT", 0 }, { "GMT", 0 }, { "UTC", 0 }, { "Z", 0 },
	{ "EST", -500 }, { "EDT", -400 }, { "CST", -600 }, { "CDT", -500 },
	{ "MST", -700 }, { "MDT", -600 }, { "PST", -800 }, { "PDT", -700 },
};

/* Days from 1970-01-01 in the Gregorian calendar; years count from March. */
static int64_t
days(int year, int month, int day)
{
	int64_t	y = year - (month <= 2);
	int64_t	m = month + (month <= 2 ? 9 : -3);

	return (365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 +
	    day - 1 - 719468);
}

static int64_t
to_ms(const struct parts *d)
{
	int	offset = d->zone / 100 * 60 + d->zone % 100;

	if (d->day < 1 || d->day > 31 || d->year < YEAR_MIN ||
	    d->year > YEAR_MAX || d->hour > 23 || d->minute > 59 ||
	    d->second > 60 || offset > 15 * 60 || offset < -15 * 60)
		return (0);
	return (((days(d->year, d->month, d->day) * 24 + d->hour) * 60 +
	    d->minute - offset) * 60000 + (int64_t)d->second * 1000);
}

/* From least to most digits; how many, 0 if there are not that few. */
static int
digits(struct reader *r, int least, int most, int *out)
{
	const char	*p = r->p;
	int		 n = 0, v = 0;

	for (; p < r->end && *p >= '0' && *p <= '9'; p++, n++) {
		if (n == most)
			return (0);
		v = v * 10 + (*p - '0');
	}
	if (n < least)
		return (0);
	r->p = p;
	*out = v;
	return (n);
}

static bool
accept(struct reader *r, char c)
{
	if (r->p >= r->end || *r->p != c)
		return (false);
	r->p++;
	return (true);
}

static bool
month(struct reader *r, int *out)
{
	size_t	i;

	if (r->end - r->p < 3)
		return (false);
	for (i = 0; i < NITEMS(months); i++)
		if (strncasecmp(r->p, months[i], 3) == 0) {
			r->p += 3;
			*out = (int)i + 1;
			return (true);
		}
	return (false);
}

/* Blanks and comments (RFC 5322 CFWS); comments nest. */
static void
skip(struct reader *r)
{
	int	depth = 0;

	for (; r->p < r->end; r->p++) {
		if (*r->p == '(')
			depth++;
		else if (*r->p == ')' && depth > 0)
			depth--;
		else if (*r->p == '\\' && depth > 0 && r->p + 1 < r->end)
			r->p++;
		else if (depth == 0 && strchr(" \t\r\n", *r->p) == NULL)
			return;
	}
}

static size_t
letters(const struct reader *r)
{
	const char	*p;

	for (p = r->p; p < r->end && ((*p >= 'A' && *p <= 'Z') ||
	    (*p >= 'a' && *p <= 'z')); p++)
		;
	return ((size_t)(p - r->p));
}

/* A zone by number or name; one that makes no sense is +0000. */
static int
zone(struct reader *r)
{
	size_t	i, n;
	int	sign, v;

	sign = accept(r, '-') ? -1 : accept(r, '+') ? 1 : 0;
	if (sign != 0)
		return (digits(r, 4, 4, &v) && v % 100 < 60 ? sign * v : 0);
	n = letters(r);
	/* "EST5EDT" is the name of a rule, not of an offset. */
	if (r->p + n < r->end && r->p[n] >= '0' && r->p[n] <= '9')
		return (0);
	for (i = 0; i < NITEMS(zones); i++)
		if (n == strlen(zones[i].name) &&
		    strncasecmp(r->p, zones[i].name, n) == 0)
			return (zones[i].zone);
	return (0);
}

static bool
read_time(struct reader *r, struct parts *d)
{
	if (!digits(r, 1, 2, &d->hour))
		return (false);
	skip(r);
	if (!accept(r, ':'))
		return (false);
	skip(r);
	if (!digits(r, 2, 2, &d->minute))
		return (false);
	skip(r);
	if (!accept(r, ':'))
		return (true);
	skip(r);
	return (digits(r, 2, 2, &d->second) > 0);
}

int64_t
date_mail_ms(const char *s, size_t len)
{
	struct reader	r = { s, s + len };
	struct parts	d = { .second = 0 };
	int		n;

	skip(&r);
	if ((n = (int)letters(&r)) > 0) {
		r.p += n;
		skip(&r);
		(void)accept(&r, ',');
		skip(&r);
	}
	if (!digits(&r, 1, 2, &d.day))
		return (0);
	skip(&r);
	if (!month(&r, &d.month))
		return (0);
	r.p += letters(&r);		/* a month written in full */
	skip(&r);
	if ((n = digits(&r, 2, 4, &d.year)) == 0)
		return (0);
	if (n == 2)
		d.year += d.year < 50 ? 2000 : 1900;
	else if (n == 3)
		d.year += 1900;
	skip(&r);
	if (!read_time(&r, &d))
		return (0);
	skip(&r);
	d.zone = zone(&r);
	return (to_ms(&d));
}

int64_t
date_imap_ms(const char *s, size_t len)
{
	struct reader	r = { s, s + len };
	struct parts	d = { .second = 0 };
	int		sign;

	(void)accept(&r, ' ');
	if (!digits(&r, 1, 2, &d.day) || !accept(&r, '-') ||
	    !month(&r, &d.month) || !accept(&r, '-') ||
	    !digits(&r, 4, 4, &d.year) || !accept(&r, ' ') ||
	    !digits(&r, 2, 2, &d.hour) || !accept(&r, ':') ||
	    !digits(&r, 2, 2, &d.minute) || !accept(&r, ':') ||
	    !digits(&r, 2, 2, &d.second) || !accept(&r, ' '))
		return (0);
	sign = accept(&r, '-') ? -1 : accept(&r, '+') ? 1 : 0;
	if (sign == 0 || !digits(&r, 4, 4, &d.zone) || d.zone % 100 > 59 ||
	    r.p != r.end)
		return (0);
	d.zone *= sign;
	return (to_ms(&d));
}

const char *
date_imap_print(int64_t ms, char buf[static DATE_IMAP])
{
	int64_t	day = ms / 86400000, second = ms / 1000 % 86400;
	int	year = 1970, m;

	buf[0] = '\0';
	if (ms <= 0)
		return (buf);
	while (year <= YEAR_MAX && days(year + 1, 1, 1) <= day)
		year++;
	for (m = 12; m > 1 && days(year, m, 1) > day; m--)
		;
	snprintf(buf, DATE_IMAP, "%02u-%s-%04u %02u:%02u:%02u +0000",
	    (unsigned)(day - days(year, m, 1) + 1) % 100U, months[m - 1],
	    (unsigned)year % 10000U, (unsigned)(second / 3600) % 100U,
	    (unsigned)(second / 60 % 60), (unsigned)(second % 60));
	return (buf);
}
