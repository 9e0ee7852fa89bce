#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitor/latency.h"
#include "monitor/mem.h"

/* The day the wall clock is at, far from BOOTTIME's small numbers. */
#define DAY	1700000000000

static struct stamp
at(int64_t wall_ms, int64_t boot_ms, uint64_t boot_id)
{
	return ((struct stamp){ DAY + wall_ms, boot_ms, boot_id });
}

static void
latency_is(const struct probe *p, int64_t total, int64_t accept,
    int64_t transit, const char *note)
{
	struct latency	l;
	char		buf[64] = "";

	latency_of(p, &l);
	latency_notes(&l, buf, sizeof buf);
	assert_true(l.total_ms == total);
	assert_true(l.accept_ms == accept);
	assert_true(l.transit_ms == transit);
	assert_string_equal(buf, note);
}

static void
latencies_are_told_by_the_clock_that_never_jumps(void **state)
{
	struct probe	p;

	(void)state;
	probe_init(&p);
	p.first_attempt = at(0, 1000, 7);
	p.accepted = at(-3600000, 1250, 7);	/* the wall clock was set back */
	p.arrived = at(-3590000, 1900, 7);
	latency_is(&p, 900, 250, 650, "");
}

static void
over_a_reboot_the_wall_clock_is_used_and_named(void **state)
{
	struct probe	p;

	(void)state;
	probe_init(&p);
	p.first_attempt = at(0, 900000, 7);
	p.accepted = at(250, 900250, 7);
	p.arrived = at(60000, 12, 8);
	latency_is(&p, 60000, 250, 59750, "wall-clock");
}

static void
mail_seen_before_its_250_is_negative_and_marked(void **state)
{
	struct probe	p;

	(void)state;
	probe_init(&p);
	p.first_attempt = at(0, 1000, 7);
	p.accepted = at(30, 1030, 7);
	p.arrived = at(25, 1025, 7);
	latency_is(&p, 25, 30, -5, "arrived-before-250");
	p.arrived.boot_id = 0;
	latency_is(&p, 25, 30, -5, "wall-clock arrived-before-250");
}

static void
what_did_not_happen_has_no_latency(void **state)
{
	struct probe	p;

	(void)state;
	probe_init(&p);
	latency_is(&p, STAMP_NO_SPAN, STAMP_NO_SPAN, STAMP_NO_SPAN, "");
	p.first_attempt = at(0, 1000, 7);
	latency_is(&p, STAMP_NO_SPAN, STAMP_NO_SPAN, STAMP_NO_SPAN, "");
	p.accepted = at(9, 1009, 7);
	latency_is(&p, STAMP_NO_SPAN, 9, STAMP_NO_SPAN, "");
}

/* Its stamp is that of the dot; no 250 was ever seen. */
static void
an_uncertain_probe_has_no_250_to_measure_from(void **state)
{
	struct probe	p;

	(void)state;
	probe_init(&p);
	p.class = CLASS_UNCERTAIN;
	p.first_attempt = at(0, 1000, 7);
	p.accepted = at(9, 1009, 7);
	p.arrived = at(500, 1500, 7);
	latency_is(&p, 500, STAMP_NO_SPAN, STAMP_NO_SPAN, "");
	assert_int_equal(latency_accepted(&p).wall_ms, 0);
	p.class = CLASS_ACCEPTED;
	assert_int_equal(latency_accepted(&p).boot_ms, 1009);
}

static void
a_note_is_not_said_twice(void **state)
{
	char	note[40] = "wall-clockwork was-lost";

	(void)state;
	latency_note(note, sizeof note, "wall-clock");
	latency_note(note, sizeof note, "wall-clock");
	latency_note(note, sizeof note, "was-lost");
	latency_note(note, sizeof note, "");
	assert_string_equal(note, "wall-clockwork was-lost wall-clock");
	note[0] = '\0';
	latency_note(note, sizeof note, "late");
	assert_string_equal(note, "late");
}

/* last look, seen, INTERNALDATE by wall; what comes out.  poll is 60 s. */
static void
after_a_gap_the_servers_date_tells_within_what_we_saw(void **state)
{
	static const struct {
		const char	*story;
		int64_t		 last, seen, internal;	/* 0: unknown */
		uint64_t	 last_boot;
		int64_t		 wall, boot;		/* arrived */
		uint64_t	 boot_id;
		const char	*note;
	} rows[] = {
		{ "looked just before", 1000, 61000, 30000, 7,
		    61000, 61000, 7, "" },
		{ "two polls are no gap", 1000, 121000, 30000, 7,
		    121000, 121000, 7, "" },
		{ "a gap", 1000, 121001, 30000, 7,
		    30000, 30000, 7, "internaldate" },
		{ "the server's clock is behind", 5000, 200000, 100, 7,
		    5000, 5000, 7, "internaldate" },
		{ "the server's clock is ahead", 1000, 200000, 900000, 7,
		    200000, 200000, 7, "internaldate" },
		{ "no INTERNALDATE", 1000, 200000, 0, 7,
		    200000, 200000, 7, "seen-after-gap" },
		{ "we rebooted meanwhile", 1000, 200000, 30000, 6,
		    30000, 0, 0, "internaldate" },
		{ "never looked before", 0, 200000, 30000, 0,
		    30000, 0, 0, "internaldate" },
		{ "never looked, no INTERNALDATE", 0, 200000, 0, 0,
		    200000, 200000, 7, "seen-after-gap" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		struct frame_arrival	a = { .seen = at(rows[i].seen,
					    rows[i].seen, 7) };
		struct stamp		got;
		const char		*note;

		if (rows[i].last != 0)
			a.last_look = at(rows[i].last, rows[i].last,
			    rows[i].last_boot);
		if (rows[i].internal != 0)
			a.internal_ms = DAY + rows[i].internal;
		note = latency_arrived(&a, 60000, &got);
		if (got.wall_ms != DAY + rows[i].wall ||
		    got.boot_ms != rows[i].boot ||
		    got.boot_id != rows[i].boot_id)
			fail_msg("%s: %lld %lld", rows[i].story,
			    (long long)(got.wall_ms - DAY),
			    (long long)got.boot_ms);
		assert_string_equal(note, rows[i].note);
	}
}

/* The wall clock was set forward by an hour between the two looks. */
static void
an_arrival_is_never_put_before_the_look_that_missed_it(void **state)
{
	struct frame_arrival	 a = {
		.last_look = at(0, 1000, 7),
		.seen = at(3800000, 201000, 7),
		.internal_ms = DAY + 100000,
	};
	struct stamp		 got;

	(void)state;
	assert_string_equal(latency_arrived(&a, 60000, &got), "internaldate");
	assert_true(got.wall_ms == DAY + 100000);
	assert_int_equal(got.boot_ms, 1000);
}

static void
percentiles_are_values_that_were_measured(void **state)
{
	static const struct {
		int64_t	values[21];
		size_t	count;
		int64_t	p50, p95, max;
	} rows[] = {
		{ { 5 }, 1, 5, 5, 5 },
		{ { 9, 1 }, 2, 1, 9, 9 },
		{ { 3, -1, 2 }, 3, 2, 3, 3 },
		{ { 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5,
		    4, 3, 2, 1 }, 20, 10, 19, 20 },
		{ { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
		    18, 19, 20, 21 }, 21, 11, 20, 21 },
	};
	struct latency_summary	s;
	int64_t			ms[21];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		for (size_t k = 0; k < rows[i].count; k++)
			ms[k] = rows[i].values[k];
		latency_summarise(ms, rows[i].count, &s);
		assert_int_equal(s.count, rows[i].count);
		assert_int_equal(s.p50_ms, rows[i].p50);
		assert_int_equal(s.p95_ms, rows[i].p95);
		assert_int_equal(s.max_ms, rows[i].max);
	}
	latency_summarise(ms, 0, &s);
	assert_int_equal(s.count, 0);
	assert_true(s.p50_ms == STAMP_NO_SPAN && s.p95_ms == STAMP_NO_SPAN &&
	    s.max_ms == STAMP_NO_SPAN);
}

static void
what_the_receiver_says_of_the_sender_goes_into_the_note(void **state)
{
	static const struct {
		const char	*results, *note;
	} rows[] = {
		{ "", "" },
		{ "none", "" },
		{ "spf=pass smtp.mailfrom=a@b; dkim=fail (bad key) header.d=b;"
		    " dmarc=none", "spf=pass dkim=fail dmarc=none" },
		{ "dkim=pass header.i=@x; dkim=fail header.i=@y; SPF=softfail",
		    "spf=softfail dkim=pass" },
		{ "xspf=pass; policy.dkim=fail; dmarc= none; spf=", "" },
		{ "spf=passpasspasspasspass", "" },
	};
	char	note[PROBE_NOTE];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		note[0] = '\0';
		latency_authentication(note, sizeof note, rows[i].results);
		assert_string_equal(note, rows[i].note);
	}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(latencies_are_told_by_the_clock_that_never_jumps),
		cmocka_unit_test(over_a_reboot_the_wall_clock_is_used_and_named),
		cmocka_unit_test(mail_seen_before_its_250_is_negative_and_marked),
		cmocka_unit_test(what_did_not_happen_has_no_latency),
		cmocka_unit_test(an_uncertain_probe_has_no_250_to_measure_from),
		cmocka_unit_test(a_note_is_not_said_twice),
		cmocka_unit_test(after_a_gap_the_servers_date_tells_within_what_we_saw),
		cmocka_unit_test(an_arrival_is_never_put_before_the_look_that_missed_it),
		cmocka_unit_test(what_the_receiver_says_of_the_sender_goes_into_the_note),
		cmocka_unit_test(percentiles_are_values_that_were_measured),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
