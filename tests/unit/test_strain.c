#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitor/strain.h"

static struct strain
usually(int32_t greeting_ms, unsigned times)
{
	struct strain	s = { .count = 0 };

	while (times-- > 0)
		strain_note(&s, greeting_ms);
	return (s);
}

static void
a_stranger_has_no_custom(void **state)
{
	struct strain	s = usually(20, STRAIN_FEWEST - 1);

	(void)state;
	assert_int_equal(strain_usual_ms(&s), -1);
	assert_false(strain_is_slow(&s, 60000));
	strain_note(&s, 20);
	assert_int_equal(strain_usual_ms(&s), 20);
	assert_true(strain_is_slow(&s, 60000));
}

static void
a_fast_server_may_be_a_little_slow(void **state)
{
	struct strain	s = usually(20, 20);

	(void)state;
	assert_false(strain_is_slow(&s, 2020));
	assert_true(strain_is_slow(&s, 2021));
}

static void
a_server_that_lets_all_wait_is_slow_only_beyond_that(void **state)
{
	struct strain	s = usually(6000, 20);

	(void)state;
	assert_false(strain_is_slow(&s, 30000));
	assert_true(strain_is_slow(&s, 30001));
}

static void
one_slow_greeting_does_not_change_the_custom(void **state)
{
	struct strain	s = usually(20, 19);

	(void)state;
	strain_note(&s, 9000);
	assert_int_equal(strain_usual_ms(&s), 20);
	for (int i = 0; i < 11; i++)
		strain_note(&s, 9000);
	assert_int_equal(strain_usual_ms(&s), 9000);
}

static void
what_was_not_measured_is_no_sample(void **state)
{
	struct strain	s = usually(-1, 20);

	(void)state;
	assert_int_equal(strain_usual_ms(&s), -1);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_stranger_has_no_custom),
		cmocka_unit_test(a_fast_server_may_be_a_little_slow),
		cmocka_unit_test(
		    a_server_that_lets_all_wait_is_slow_only_beyond_that),
		cmocka_unit_test(one_slow_greeting_does_not_change_the_custom),
		cmocka_unit_test(what_was_not_measured_is_no_sample),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
