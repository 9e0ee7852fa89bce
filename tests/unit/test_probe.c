#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitor/probe.h"

static void
a_fresh_probe_knows_nothing(void **state)
{
	struct probe	p;

	(void)state;
	probe_init(&p);
	assert_int_equal(p.state, PROBE_WAITING);
	assert_int_equal(p.end, PROBE_END_NONE);
	assert_int_equal(p.hops, -1);
	assert_true(p.slowest_hop_ms == STAMP_NO_SPAN);
	assert_true(p.skew_ms == STAMP_NO_SPAN);
	assert_int_equal(p.accepted.wall_ms, 0);
	assert_string_equal(p.note, "");
}

static void
every_state_is_found_by_its_word(void **state)
{
	(void)state;
	for (int i = 0; i < PROBE_STATES; i++)
		assert_int_equal(probe_state_of(probe_state_name(
		    (enum probe_state)i)), i);
	assert_string_equal(probe_state_name(PROBE_COMMITTED), "committed");
}

/* Taken for "waiting" it would be sent again. */
static void
a_word_that_is_no_state_is_none_of_them(void **state)
{
	(void)state;
	assert_int_equal(probe_state_of(""), PROBE_STATES);
	assert_int_equal(probe_state_of("Waiting"), PROBE_STATES);
	assert_int_equal(probe_state_of("done "), PROBE_STATES);
}

static void
every_end_is_the_word_of_the_csv(void **state)
{
	static const char *const	words[PROBE_ENDS] = { "", "delivered",
		"late", "junk", "rejected", "bounced", "expired", "lost",
		"blind" };

	(void)state;
	for (int i = 0; i < PROBE_ENDS; i++) {
		assert_string_equal(probe_end_name((enum probe_end)i),
		    words[i]);
		assert_int_equal(probe_end_of(words[i]), i);
	}
	assert_int_equal(probe_end_of("eaten"), PROBE_END_NONE);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_fresh_probe_knows_nothing),
		cmocka_unit_test(every_state_is_found_by_its_word),
		cmocka_unit_test(a_word_that_is_no_state_is_none_of_them),
		cmocka_unit_test(every_end_is_the_word_of_the_csv),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
