#include "alerts/zone.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monitor/mem.h"

#define DAY_S	INT64_C(86400)
#define REACH_S	(15 * INT64_C(3600))	/* zones lie from -12 h to +14 h */

static void
set_zone(const char *value)
{
	if (value == NULL)
		unsetenv("TZ");
	else if (setenv("TZ", value, 1) != 0)
		panic("setenv: out of memory");
	tzset();
}

/* For a name it does not know the C library says UTC, under the beginning of
 * that name or none. */
static bool
unknown(const struct tm *tm, const char *zone)
{
	return (tm->tm_gmtoff == 0 &&
	    strncmp(zone, tm->tm_zone, strlen(tm->tm_zone)) == 0 &&
	    strcmp(zone, "UTC") != 0 && strcmp(zone, "GMT") != 0);
}

/* The environment's own zone, to be put back. */
static char *
enter(const char *zone)
{
	const char	*now = getenv("TZ");
	char		*before = now != NULL ? mem_strdup(now) : NULL;

	set_zone(zone);
	return (before);
}

static void
leave(char *before)
{
	set_zone(before);
	mem_free(before);
}

void
zone_local(const char *zone, int64_t wall_ms, char *buf, size_t size)
{
	char		*before = enter(zone);
	time_t		 t = (time_t)(wall_ms / 1000);
	struct tm	 tm;

	buf[0] = '\0';
	if (wall_ms > 0 && localtime_r(&t, &tm) != NULL &&
	    !unknown(&tm, zone) &&
	    strftime(buf, size, "%Y-%m-%d %H:%M:%S %Z", &tm) == 0)
		buf[0] = '\0';
	leave(before);
}

/* Seconds since 1970-01-01 00:00 as the clocks here show them. */
static int64_t
shown(int64_t s)
{
	time_t		t = (time_t)s;
	struct tm	tm;

	if (localtime_r(&t, &tm) == NULL)
		return (s);
	return (s + tm.tm_gmtoff);
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return (a / b - (a % b < 0));
}

int64_t
zone_day(const char *zone, int64_t wall_ms)
{
	char	*before = enter(zone);
	int64_t	 day = floor_div(shown(floor_div(wall_ms, 1000)), DAY_S);

	leave(before);
	return (day);
}

int
zone_weekday(int64_t day)
{
	return ((int)(((day + 4) % 7 + 7) % 7));	/* it was a Thursday */
}

/*
 * The second at which the clocks here show want.  They are never further off
 * than REACH_S, and are set at most once within it.  Where nothing shows it,
 * clocks were set forward over it, and only there; so what is shown grows,
 * and the first that is not before it can be found by halves.
 */
static int64_t
find(int64_t want, enum zone_pick pick)
{
	int64_t	low = want - REACH_S, high = want + REACH_S, mid;
	int64_t	a = want - (shown(low) - low), b = want - (shown(high) - high);
	bool	good_a = shown(a) == want, good_b = shown(b) == want;

	if (good_a && good_b)
		return ((pick == ZONE_FIRST) == (a < b) ? a : b);
	if (good_a || good_b)
		return (good_a ? a : b);
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (shown(mid) < want)
			low = mid;
		else
			high = mid;
	}
	return (high);
}

int64_t
zone_minute(const char *zone, int64_t day, int minute, enum zone_pick pick)
{
	char	*before = enter(zone);
	int64_t	 s = find(day * DAY_S + minute * 60, pick);

	leave(before);
	return (s * 1000);
}
