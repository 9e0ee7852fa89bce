#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitor/agenda.h"
#include "monitor/mem.h"

#define ITEMS	300

static uint64_t	state;

static unsigned
below(unsigned n)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return ((unsigned)(state >> 33) % n);
}

static void
an_empty_agenda_has_nothing_due(void **unused)
{
	struct agenda	a = { 0 };

	(void)unused;
	assert_true(agenda_next_ms(&a) == INT64_MAX);
	assert_null(agenda_take(&a, INT64_MAX));
	agenda_free(&a);
}

static void
what_is_due_first_comes_first(void **unused)
{
	struct agenda		a = { 0 };
	struct agenda_item	late = { 0 }, soon = { 0 };

	(void)unused;
	agenda_set(&a, &late, 20);
	agenda_set(&a, &soon, 10);
	assert_true(agenda_next_ms(&a) == 10);
	assert_null(agenda_take(&a, 9));
	assert_ptr_equal(agenda_take(&a, 10), &soon);
	assert_int_equal(soon.place, 0);
	assert_null(agenda_take(&a, 10));
	assert_ptr_equal(agenda_take(&a, 30), &late);
	agenda_free(&a);
}

static void
setting_again_moves_both_ways(void **unused)
{
	struct agenda		a = { 0 };
	struct agenda_item	x = { 0 }, y = { 0 };

	(void)unused;
	agenda_set(&a, &x, 10);
	agenda_set(&a, &y, 20);
	agenda_set(&a, &x, 30);
	assert_true(agenda_next_ms(&a) == 20);
	agenda_set(&a, &x, 5);
	assert_true(agenda_next_ms(&a) == 5);
	assert_int_equal(a.count, 2);
	agenda_free(&a);
}

static void
clearing_what_is_not_in_is_fine(void **unused)
{
	struct agenda		a = { 0 };
	struct agenda_item	x = { 0 }, y = { 0 };

	(void)unused;
	agenda_clear(&a, &x);
	agenda_set(&a, &x, 1);
	agenda_set(&a, &y, 2);
	agenda_clear(&a, &x);
	agenda_clear(&a, &x);
	assert_int_equal(a.count, 1);
	assert_true(agenda_next_ms(&a) == 2);
	agenda_free(&a);
}

/* The least due time among those that are in; INT64_MAX if none is. */
static int64_t
naive_next(const struct agenda_item *items)
{
	int64_t	best = INT64_MAX;

	for (size_t i = 0; i < ITEMS; i++)
		if (items[i].place != 0 && items[i].due_ms < best)
			best = items[i].due_ms;
	return (best);
}

static size_t
naive_count(const struct agenda_item *items)
{
	size_t	n = 0;

	for (size_t i = 0; i < ITEMS; i++)
		n += items[i].place != 0;
	return (n);
}

static void
it_agrees_with_a_list_searched_from_end_to_end(void **unused)
{
	static struct agenda_item	 items[ITEMS];
	struct agenda			 a = { 0 };
	struct agenda_item		*taken;
	int64_t				 next;

	(void)unused;
	state = 1;
	for (unsigned step = 0; step < 20000; step++) {
		struct agenda_item	*x = &items[below(ITEMS)];

		switch (below(4)) {
		case 0:
		case 1:
			agenda_set(&a, x, below(1000));
			break;
		case 2:
			agenda_clear(&a, x);
			assert_int_equal(x->place, 0);
			break;
		default:
			next = naive_next(items);
			taken = agenda_take(&a, 500);
			if (next > 500)
				assert_null(taken);
			else
				assert_true(taken->due_ms == next);
		}
		assert_true(agenda_next_ms(&a) == naive_next(items));
		assert_int_equal(a.count, naive_count(items));
	}
	agenda_free(&a);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(an_empty_agenda_has_nothing_due),
		cmocka_unit_test(what_is_due_first_comes_first),
		cmocka_unit_test(setting_again_moves_both_ways),
		cmocka_unit_test(clearing_what_is_not_in_is_fine),
		cmocka_unit_test(
		    it_agrees_with_a_list_searched_from_end_to_end),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
