#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/schedule.h"

#define SECOND	INT64_C(1000)
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)
#define DAY	(24 * HOUR)
#define NOON	INT64_C(1767614400000)

static const struct route	route = {
	.every_ms = 5 * MINUTE,
	.retry = { 4, { MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE } },
	.rate_retry = { 2, { 15 * MINUTE, 30 * MINUTE } },
	.reject_backoff = { 3, { 15 * MINUTE, HOUR, 4 * HOUR } },
	.resend_after_ms = 4 * HOUR,
	.give_up_ms = 5 * DAY,
};

/* The monitor's line. */

static int64_t
step(struct steady *s, int64_t wall_ms, int64_t boot_ms)
{
	struct stamp	at = { wall_ms, boot_ms, 1 };

	return (steady_step(s, &at));
}

static void
the_line_follows_a_right_clock(void **state)
{
	struct steady	s = { 0 };

	(void)state;
	assert_true(step(&s, NOON, 100) == NOON);
	assert_true(step(&s, NOON + 7, 107) == NOON + 7);
	assert_true(step(&s, NOON + HOUR, 100 + HOUR) == NOON + HOUR);
}

static void
the_line_follows_a_clock_set_forward_at_once(void **state)
{
	struct steady	s = { 0 };

	(void)state;
	step(&s, NOON, 0);
	assert_true(step(&s, NOON + DAY + 1, 1) == NOON + DAY + 1);
	assert_true(step(&s, NOON + DAY + 2, 2) == NOON + DAY + 2);
}

static void
the_line_walks_at_half_speed_after_a_clock_set_back(void **state)
{
	struct steady	s = { 0 };
	int64_t		last, at;

	(void)state;
	step(&s, NOON, 0);
	last = step(&s, NOON - HOUR + 10, 10);
	assert_in_range(last - NOON, 1, 10);
	for (int64_t t = SECOND; t < HOUR; t += SECOND) {
		at = step(&s, NOON - HOUR + t, t);
		assert_in_range(at - last, 1, SECOND / 2 + 5);
		last = at;
	}
	/* They meet after two hours, and go on together. */
	for (int64_t t = HOUR; t < 3 * HOUR; t += SECOND)
		last = step(&s, NOON - HOUR + t, t);
	assert_in_range(last - (NOON - HOUR + 3 * HOUR - SECOND), 0, SECOND);
}

/* A busy monitor asks for the time every millisecond. */
static void
small_steps_walk_at_half_speed_too(void **state)
{
	struct steady	s = { 0 };
	int64_t		last = 0;

	(void)state;
	step(&s, NOON, 0);
	for (int64_t t = 1; t <= MINUTE; t++)
		last = step(&s, NOON - HOUR + t, t);
	assert_in_range(last - NOON, MINUTE / 2 - 1, MINUTE / 2 + 1);
}

static void
the_line_never_goes_back(void **state)
{
	struct steady	s = { 0 };
	int64_t		last = 0, at;
	uint64_t	random = 1;

	(void)state;
	for (int64_t boot = 0, wall = NOON; boot < HOUR; boot += 13) {
		random = random * 6364136223846793005U + 1442695040888963407U;
		if (random >> 58 == 0)
			wall += (int64_t)(random >> 33) % DAY - DAY / 2;
		wall += 13;
		at = step(&s, wall, boot);
		assert_true(at >= last);
		last = at;
	}
}

static void
a_stamp_of_the_same_moment_moves_nothing(void **state)
{
	struct steady	s = { 0 };

	(void)state;
	step(&s, NOON, 50);
	assert_true(step(&s, NOON, 50) == NOON);
	assert_true(step(&s, NOON - HOUR, 50) == NOON);
}

/* When routes start. */

static void
routes_start_spread_and_always_alike(void **state)
{
	int64_t	early = INT64_MAX, late = 0;
	char	name[16];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		int64_t	at;

		snprintf(name, sizeof name, "r%u", i);
		at = schedule_first_ms(name, 5 * MINUTE, 0, 1000, NOON) - NOON;
		assert_in_range(at, 0, 100 * SECOND);
		assert_true(at == schedule_first_ms(name, 5 * MINUTE, 0, 1000,
		    NOON) - NOON);
		early = at < early ? at : early;
		late = at > late ? at : late;
	}
	assert_true(early < 5 * SECOND);
	assert_true(late > 95 * SECOND);
}

static void
the_spread_is_never_longer_than_the_interval(void **state)
{
	(void)state;
	assert_in_range(schedule_first_ms("r", SECOND, 0, 100000, NOON), NOON,
	    NOON + SECOND - 1);
	assert_in_range(schedule_first_ms("r", DAY, 0, 100000, NOON), NOON,
	    NOON + 5 * MINUTE - 1);
}

static void
a_restart_keeps_the_time_that_was_due(void **state)
{
	(void)state;
	assert_true(schedule_first_ms("r", 5 * MINUTE, NOON + 3 * MINUTE, 1,
	    NOON) == NOON + 3 * MINUTE);
	/* Missed, or from another interval or clock: begins anew. */
	assert_true(schedule_first_ms("r", 5 * MINUTE, NOON - 1, 1, NOON) <
	    NOON + SECOND);
	assert_true(schedule_first_ms("r", 5 * MINUTE, NOON + DAY, 1, NOON) <
	    NOON + SECOND);
}

static void
the_next_time_lies_on_the_grid_and_ahead(void **state)
{
	(void)state;
	assert_true(schedule_next_ms(NOON, MINUTE, NOON) == NOON + MINUTE);
	assert_true(schedule_next_ms(NOON, MINUTE, NOON + 59 * SECOND) ==
	    NOON + MINUTE);
	/* What was missed is not made up for. */
	assert_true(schedule_next_ms(NOON, MINUTE, NOON + 10 * MINUTE) ==
	    NOON + 11 * MINUTE);
	assert_true(schedule_next_ms(NOON, MINUTE, NOON - HOUR) ==
	    NOON + MINUTE);
}

static void
jitter_stays_within_its_span(void **state)
{
	(void)state;
	assert_true(schedule_jitter_ms("r", 1, 0) == 0);
	assert_true(schedule_jitter_ms("r", 1, -5) == 0);
	for (uint64_t n = 0; n < 1000; n++)
		assert_in_range(schedule_jitter_ms("r", n, 10), 0, 9);
	assert_true(schedule_jitter_ms("r", 1, HOUR) !=
	    schedule_jitter_ms("r", 2, HOUR));
	assert_true(schedule_jitter_ms("r", 1, HOUR) !=
	    schedule_jitter_ms("q", 1, HOUR));
}

/* After an attempt. */

struct row {
	const char		*what;
	enum verdict		 verdict;
	enum outcome_class	 class;
	unsigned		 deferrals, rejects;
	int64_t			 age_ms;
	enum probe_state	 state;
	enum probe_end		 end;
	int64_t			 next_in_ms;	/* 0: none */
	int64_t			 hold_in_ms;	/* 0: none */
};

static const struct row	rows[] = {
	{ "a 250 is accepted", VERDICT_ACCEPTED, CLASS_ACCEPTED, 3, 0, 0,
	    PROBE_ACCEPTED, PROBE_END_NONE, 0, 0 },
	{ "silence after the dot is uncertain", VERDICT_UNCERTAIN,
	    CLASS_UNCERTAIN, 0, 0, 0, PROBE_UNCERTAIN, PROBE_END_NONE, 0, 0 },
	{ "the first refusal waits a minute", VERDICT_TEMPORARY,
	    CLASS_SYSTEM_FULL, 1, 0, 0, PROBE_WAITING, PROBE_END_NONE,
	    MINUTE, 0 },
	{ "the third waits ten", VERDICT_TEMPORARY, CLASS_SYSTEM_FULL, 3, 0,
	    0, PROBE_WAITING, PROBE_END_NONE, 10 * MINUTE, 0 },
	{ "the last wait repeats", VERDICT_TEMPORARY, CLASS_NETWORK, 400, 0,
	    0, PROBE_WAITING, PROBE_END_NONE, 15 * MINUTE, 0 },
	{ "a rate limit has waits of its own", VERDICT_TEMPORARY,
	    CLASS_RATE_LIMIT, 1, 0, 0, PROBE_WAITING, PROBE_END_NONE,
	    15 * MINUTE, 0 },
	{ "no session is a refusal for now", VERDICT_NONE, CLASS_OTHER, 1, 0,
	    0, PROBE_WAITING, PROBE_END_NONE, MINUTE, 0 },
	{ "almost five days are tried on", VERDICT_TEMPORARY,
	    CLASS_SYSTEM_FULL, 9, 0, 5 * DAY - 1, PROBE_WAITING,
	    PROBE_END_NONE, 15 * MINUTE, 0 },
	{ "five days are given up", VERDICT_TEMPORARY, CLASS_SYSTEM_FULL, 9,
	    0, 5 * DAY, PROBE_DONE, PROBE_END_EXPIRED, 15 * MINUTE, 0 },
	{ "the first final refusal holds the route back", VERDICT_PERMANENT,
	    CLASS_NO_SUCH_USER, 1, 1, 0, PROBE_DONE, PROBE_END_REJECTED, 0,
	    15 * MINUTE },
	{ "the second for longer", VERDICT_PERMANENT, CLASS_POLICY, 1, 2, 0,
	    PROBE_DONE, PROBE_END_REJECTED, 0, HOUR },
	{ "the tenth for four hours", VERDICT_PERMANENT, CLASS_POLICY, 1, 10,
	    0, PROBE_DONE, PROBE_END_REJECTED, 0, 4 * HOUR },
	{ "a system full for good waits resend_after", VERDICT_PERMANENT,
	    CLASS_SYSTEM_FULL, 1, 1, 0, PROBE_DONE, PROBE_END_REJECTED, 0,
	    4 * HOUR },
};

static void
an_attempt_decides_what_becomes_of_the_probe(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		const struct row	*r = &rows[i];
		struct probe		 p = { .deferrals = r->deferrals,
					    .scheduled_ms = NOON - r->age_ms };
		struct outcome		 o = { .verdict = r->verdict,
					    .class = r->class };
		struct schedule_after	 a = schedule_after(&route, &p, &o,
					    r->rejects, NOON);

		if (a.state != r->state || a.end != r->end ||
		    a.next_try_ms != (r->next_in_ms == 0 ? 0 :
		    NOON + r->next_in_ms) ||
		    a.hold_ms != (r->hold_in_ms == 0 ? 0 :
		    NOON + r->hold_in_ms))
			fail_msg("%s: state %d end %d next %lld hold %lld",
			    r->what, (int)a.state, (int)a.end,
			    (long long)(a.next_try_ms - NOON),
			    (long long)(a.hold_ms - NOON));
	}
}

static void
our_own_blindness_does_not_make_a_probe_expire(void **state)
{
	struct probe		p = { .deferrals = 9,
				    .scheduled_ms = NOON - 5 * DAY };
	struct outcome		o = { .verdict = VERDICT_TEMPORARY,
				    .class = CLASS_AUTH, .blind = true };
	struct schedule_after	a = schedule_after(&route, &p, &o, 0, NOON);

	(void)state;
	assert_int_equal(a.state, PROBE_DONE);
	assert_int_equal(a.end, PROBE_END_BLIND);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(
		    our_own_blindness_does_not_make_a_probe_expire),
		cmocka_unit_test(the_line_follows_a_right_clock),
		cmocka_unit_test(the_line_follows_a_clock_set_forward_at_once),
		cmocka_unit_test(
		    the_line_walks_at_half_speed_after_a_clock_set_back),
		cmocka_unit_test(small_steps_walk_at_half_speed_too),
		cmocka_unit_test(the_line_never_goes_back),
		cmocka_unit_test(a_stamp_of_the_same_moment_moves_nothing),
		cmocka_unit_test(routes_start_spread_and_always_alike),
		cmocka_unit_test(the_spread_is_never_longer_than_the_interval),
		cmocka_unit_test(a_restart_keeps_the_time_that_was_due),
		cmocka_unit_test(the_next_time_lies_on_the_grid_and_ahead),
		cmocka_unit_test(jitter_stays_within_its_span),
		cmocka_unit_test(an_attempt_decides_what_becomes_of_the_probe),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
