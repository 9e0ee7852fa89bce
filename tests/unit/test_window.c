#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "alerts/window.h"
#include "alerts/zone.h"
#include "monitor/mem.h"

#define DAILY	0x7fU
#define SUN	0x01U
#define FRI	0x20U
#define SAT	0x40U
#define AT(h, m)	((h) * 60 + (m))

/* "2026-03-29T01:00" in UTC. */
static int64_t
utc(const char *text)
{
	struct tm	tm = { 0 };

	assert_non_null(strptime(text, "%Y-%m-%dT%H:%M", &tm));
	return ((int64_t)timegm(&tm) * 1000);
}

static void
written(int64_t wall_ms, char buf[static 32])
{
	time_t		t = (time_t)(wall_ms / 1000);
	struct tm	tm;

	assert_int_equal(wall_ms % 1000, 0);
	assert_non_null(gmtime_r(&t, &tm));
	strftime(buf, 32, "%Y-%m-%dT%H:%M", &tm);
}

/*
 * Berlin: +1, +2 from 2026-03-29 02:00 (01:00 UTC) to 2026-10-25 03:00
 * (01:00 UTC).  St. John's: -3:30, -2:30 from 2026-03-08 02:00 (05:30 UTC)
 * to 2026-11-01 02:00 (04:30 UTC).  Lord Howe: +10:30, +11 from 2026-10-04
 * 02:00 (15:30 UTC the day before) to 2026-04-05 02:00 (15:00 UTC the day
 * before): half an hour.
 */
static const struct row {
	const char	*name;
	const char	*zone;
	unsigned	 days;
	int		 from, to;
	const char	*at, *start, *end;	/* UTC */
} rows[] = {
	{ "an evening in UTC", "UTC", DAILY, AT(20, 0), AT(22, 0),
	    "2026-01-05T12:00", "2026-01-05T20:00", "2026-01-05T22:00" },
	{ "under way", "UTC", DAILY, AT(20, 0), AT(22, 0),
	    "2026-01-05T21:59", "2026-01-05T20:00", "2026-01-05T22:00" },
	{ "its end is outside", "UTC", DAILY, AT(20, 0), AT(22, 0),
	    "2026-01-05T22:00", "2026-01-06T20:00", "2026-01-06T22:00" },
	{ "across midnight, the morning after", "UTC", SAT, AT(22, 0),
	    AT(2, 0), "2026-01-11T01:30", "2026-01-10T22:00",
	    "2026-01-11T02:00" },
	{ "the day is that of its beginning", "UTC", SAT, AT(22, 0),
	    AT(2, 0), "2026-01-11T03:00", "2026-01-17T22:00",
	    "2026-01-18T02:00" },
	{ "equal times are a whole day", "UTC", SUN, AT(6, 0), AT(6, 0),
	    "2026-01-12T05:59", "2026-01-11T06:00", "2026-01-12T06:00" },
	{ "the weekday is the zone's", "Pacific/Kiritimati", SAT, AT(1, 0),
	    AT(2, 0), "2026-01-05T00:00", "2026-01-09T11:00",
	    "2026-01-09T12:00" },
	{ "the weekday is the zone's in the west", "Pacific/Pago_Pago", FRI,
	    AT(22, 0), AT(23, 0), "2026-01-05T00:00", "2026-01-10T09:00",
	    "2026-01-10T10:00" },

	{ "Berlin in winter", "Europe/Berlin", SAT, AT(22, 0), AT(2, 0),
	    "2026-01-05T00:00", "2026-01-10T21:00", "2026-01-11T01:00" },
	{ "Berlin over the night in spring", "Europe/Berlin", SAT, AT(22, 0),
	    AT(4, 0), "2026-03-28T00:00", "2026-03-28T21:00",
	    "2026-03-29T02:00" },
	{ "Berlin: a start in the hour left out", "Europe/Berlin", SUN,
	    AT(2, 30), AT(5, 0), "2026-03-28T12:00", "2026-03-29T01:00",
	    "2026-03-29T03:00" },
	{ "Berlin: an end in the hour left out", "Europe/Berlin", SUN,
	    AT(1, 0), AT(2, 30), "2026-03-28T12:00", "2026-03-29T00:00",
	    "2026-03-29T01:00" },
	{ "Berlin: wholly left out, so the next", "Europe/Berlin", SUN,
	    AT(2, 10), AT(2, 50), "2026-03-28T12:00", "2026-04-05T00:10",
	    "2026-04-05T00:50" },
	{ "Berlin: a start that comes twice is the first", "Europe/Berlin",
	    SUN, AT(2, 30), AT(4, 0), "2026-10-24T12:00", "2026-10-25T00:30",
	    "2026-10-25T03:00" },
	{ "Berlin: an end that comes twice is the last", "Europe/Berlin", SUN,
	    AT(1, 0), AT(2, 30), "2026-10-24T12:00", "2026-10-24T23:00",
	    "2026-10-25T01:30" },
	{ "Berlin: both come twice", "Europe/Berlin", SUN, AT(2, 15),
	    AT(2, 45), "2026-10-24T12:00", "2026-10-25T00:15",
	    "2026-10-25T01:45" },

	{ "St. John's: a start in the hour left out", "America/St_Johns", SUN,
	    AT(2, 15), AT(4, 0), "2026-03-07T12:00", "2026-03-08T05:30",
	    "2026-03-08T06:30" },
	{ "St. John's: a start that comes twice", "America/St_Johns", SUN,
	    AT(1, 15), AT(3, 0), "2026-10-31T12:00", "2026-11-01T03:45",
	    "2026-11-01T06:30" },
	{ "St. John's: an end that comes twice", "America/St_Johns", SUN,
	    AT(0, 30), AT(1, 15), "2026-10-31T12:00", "2026-11-01T03:00",
	    "2026-11-01T04:45" },

	{ "Lord Howe: a start in the half hour left out",
	    "Australia/Lord_Howe", SUN, AT(2, 10), AT(3, 0),
	    "2026-10-03T00:00", "2026-10-03T15:30", "2026-10-03T16:00" },
	{ "Lord Howe: the half hour left out has an end",
	    "Australia/Lord_Howe", SUN, AT(2, 10), AT(2, 40),
	    "2026-10-03T00:00", "2026-10-03T15:30", "2026-10-03T15:40" },
	{ "Lord Howe: a start that comes twice", "Australia/Lord_Howe", SUN,
	    AT(1, 45), AT(3, 0), "2026-04-04T00:00", "2026-04-04T14:45",
	    "2026-04-04T16:30" },
	{ "Lord Howe: an end that comes twice", "Australia/Lord_Howe", SUN,
	    AT(1, 0), AT(1, 45), "2026-04-04T00:00", "2026-04-04T14:00",
	    "2026-04-04T15:15" },
};

static void
a_window_takes_place_when_the_clocks_of_its_zone_say_so(void **state)
{
	char			start[32], end[32];
	struct window_span	s;
	unsigned		bad = 0;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		const struct row	*r = &rows[i];
		char			 zone[64];
		struct window		 w = { .days = r->days,
					    .from_min = r->from,
					    .to_min = r->to,
					    .timezone = zone };

		snprintf(zone, sizeof zone, "%s", r->zone);
		assert_true(window_next(&w, utc(r->at), &s));
		written(s.start_ms, start);
		written(s.end_ms, end);
		if (strcmp(start, r->start) == 0 && strcmp(end, r->end) == 0)
			continue;
		print_error("%s: %s to %s, expected %s to %s\n", r->name,
		    start, end, r->start, r->end);
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* Every quarter of an hour of two years, in every zone above. */
static void
the_next_one_never_lies_before_the_last(void **state)
{
	static const char *const	zones[] = { "Europe/Berlin",
					    "America/St_Johns",
					    "Australia/Lord_Howe", "UTC" };

	(void)state;
	for (size_t i = 0; i < NITEMS(zones); i++) {
		char			zone[64];
		struct window		w = { .days = DAILY,
					    .from_min = AT(1, 30),
					    .to_min = AT(2, 30),
					    .timezone = zone };
		struct window_span	s, last = { 0, 0 };

		snprintf(zone, sizeof zone, "%s", zones[i]);
		for (int64_t at = utc("2026-01-01T00:00");
		    at < utc("2027-01-01T00:00"); at += 4 * 15 * 60 * 1000) {
			assert_true(window_next(&w, at, &s));
			assert_true(s.end_ms > at);
			assert_true(s.start_ms >= last.start_ms);
			assert_true(s.start_ms == last.start_ms ||
			    s.start_ms >= last.end_ms);
			last = s;
		}
	}
}

static void
asking_leaves_the_zone_of_the_process_alone(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "Asia/Tokyo", 1), 0);
	(void)zone_minute("Europe/Berlin", 20000, 0, ZONE_FIRST);
	assert_string_equal(getenv("TZ"), "Asia/Tokyo");
	assert_int_equal(unsetenv("TZ"), 0);
	(void)zone_day("Europe/Berlin", 0);
	assert_null(getenv("TZ"));
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(
		    a_window_takes_place_when_the_clocks_of_its_zone_say_so),
		cmocka_unit_test(the_next_one_never_lies_before_the_last),
		cmocka_unit_test(asking_leaves_the_zone_of_the_process_alone),
	};

	return (cmocka_run_group_tests_name("window", tests, NULL, NULL));
}
