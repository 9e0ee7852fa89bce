#include "monitor/ctl_table.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/ctl_say.h"
#include "monitor/mem.h"

static const char *const	heads[] = { "NAME", "STATE", "NEXT", NULL };

/* Prints and frees the table. */
static void
is_printed(struct table *t, bool colours, const char *expected)
{
	char	*text;
	size_t	 len;
	FILE	*f = open_memstream(&text, &len);

	table_print(t, f, colours);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
	table_free(&t);
	assert_null(t);
}

static void
columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct table	*t = table_new(heads);

	(void)state;
	assert_true(table_is_empty(t));
	table_row(t, (const char *const[]){ "a", "ok", "now" });
	table_row(t, (const char *const[]){ "office-to-gmail", "", "in 1s" });
	assert_false(table_is_empty(t));
	is_printed(t, false,
	    "NAME             STATE  NEXT\n"
	    "a                ok     now\n"
	    "office-to-gmail  -      in 1s\n");
}

static void
umlauts_count_as_one(void **state)
{
	struct table	*t = table_new(heads);

	(void)state;
	table_row(t, (const char *const[]){ "M\xc3\xbcllers", "ok", "x" });
	table_row(t, (const char *const[]){ "Meiers.", "ok", "y" });
	is_printed(t, false,
	    "NAME     STATE  NEXT\n"
	    "M\xc3\xbcllers  ok     x\n"
	    "Meiers.  ok     y\n");
}

static void
remarks_follow_their_row_and_are_filled(void **state)
{
	struct table	*t = table_new(heads);

	(void)state;
	table_row(t, (const char *const[]){ "a", "bad", "x" });
	table_remark(t, "");
	table_remark(t, "550 5.1.1 a reply that is so long that it does not "
	    "fit into one line of a hundred columns however hard you try");
	table_remark(t, "routes: a");
	table_row(t, (const char *const[]){ "b", "ok", "y" });
	is_printed(t, false,
	    "NAME  STATE  NEXT\n"
	    "a     bad    x\n"
	    "    550 5.1.1 a reply that is so long that it does not fit into "
	    "one line of a hundred columns\n"
	    "    however hard you try\n"
	    "    routes: a\n"
	    "b     ok     y\n");
}

static void
nothing_in_a_table_steers_the_terminal(void **state)
{
	struct table	*t = table_new(heads);

	(void)state;
	table_row(t, (const char *const[]){ "\033[2Ja", "b\nc", "\xff" });
	table_remark(t, "\033]0;title\007\nnext");
	is_printed(t, false,
	    "NAME   STATE  NEXT\n"
	    " [2Ja  b c    ?\n"
	    "     ]0;title  next\n");
}

static void
colours_come_only_where_they_are_wanted(void **state)
{
	struct table	*t = table_new(heads);

	(void)state;
	table_row(t, (const char *const[]){ "a", "failing", "x" });
	table_paint(t, 1, LEVEL_CRITICAL);
	table_row(t, (const char *const[]){ "b", "ok", "y" });
	is_printed(t, true,
	    "NAME  STATE    NEXT\n"
	    "a     \033[1;31mfailing\033[0m  x\n"
	    "b     ok       y\n");
	t = table_new(heads);
	table_row(t, (const char *const[]){ "a", "failing", "x" });
	table_paint(t, 1, LEVEL_CRITICAL);
	is_printed(t, false, "NAME  STATE    NEXT\na     failing  x\n");
}

static void
spans_are_said_in_their_two_largest_units(void **state)
{
	static const struct {
		int64_t		 ms;
		const char	*column, *sentence, *wait;
	} rows[] = {
		{ 0, "0ms", "0 s", "0 s" },
		{ 7, "7ms", "0.01 s", "1 s" },
		{ 840, "840ms", "0.84 s", "1 s" },
		{ 1000, "1s", "1 s", "1 s" },
		{ 1990, "1s", "1.99 s", "2 s" },
		{ 12300, "12s", "12.3 s", "13 s" },
		{ 59999, "59s", "60.0 s", "1 min" },
		{ 60000, "1m", "1 min", "1 min" },
		{ 288000, "4m48s", "4 min 48 s", "4 min 48 s" },
		{ 3600000, "1h", "1 h", "1 h" },
		{ 11520000, "3h12m", "3 h 12 min", "3 h 12 min" },
		{ 187200000, "2d4h", "2 d 4 h", "2 d 4 h" },
		{ INT64_C(36500) * 86400000, "36500d", "36500 d", "36500 d" },
	};
	char	column[SAY_SHORT], span[SAY_SPAN];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		assert_string_equal(say_short(rows[i].ms, column),
		    rows[i].column);
		assert_string_equal(say_span(rows[i].ms, span),
		    rows[i].sentence);
		assert_string_equal(say_wait(rows[i].ms, span), rows[i].wait);
	}
	assert_string_equal(say_short(-5000, column), "-5s");
}

static void
a_moment_has_its_date_unless_it_is_today(void **state)
{
	const int64_t	now_ms = INT64_C(1769860800000);	/* 12:00 */
	char		when[SAY_TIME];

	(void)state;
	assert_string_equal(say_time(now_ms - 1, now_ms, when),
	    "11:59:59 UTC");
	assert_string_equal(say_time(now_ms - 43200000, now_ms, when),
	    "00:00:00 UTC");
	assert_string_equal(say_time(now_ms - 43200001, now_ms, when),
	    "2026-01-30 23:59:59 UTC");
	assert_string_equal(say_time(0, now_ms, when), "-");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(umlauts_count_as_one),
		cmocka_unit_test(remarks_follow_their_row_and_are_filled),
		cmocka_unit_test(nothing_in_a_table_steers_the_terminal),
		cmocka_unit_test(colours_come_only_where_they_are_wanted),
		cmocka_unit_test(spans_are_said_in_their_two_largest_units),
		cmocka_unit_test(a_moment_has_its_date_unless_it_is_today),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
