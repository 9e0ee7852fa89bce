#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/text.h"

#define COLUMNS	76

/* The verdicts a class can come with. */
static const enum verdict verdicts[] = {
	VERDICT_TEMPORARY, VERDICT_PERMANENT
};

static void
check_lines(const char *text, size_t columns)
{
	size_t	n;

	while (*text != '\0') {
		n = strcspn(text, "\n");
		if (n > columns)
			fail_msg("%zu columns: %.*s", n, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

/* A paragraph or points: printable ASCII that can be filled. */
static void
check_text(const char *text, bool points)
{
	char	buf[4096] = "";

	assert_non_null(text);
	for (const char *s = text; *s != '\0'; s++)
		if (!((*s >= ' ' && *s <= '~') || (points && *s == '\n')))
			fail_msg("odd byte %d in %s", *s, text);
	assert_null(strstr(text, "  "));
	if (*text != '\0')
		assert_true(text[strlen(text) - 1] != ' ' &&
		    text[strlen(text) - 1] != '\n');
	assert_true(reason_wrap(buf, sizeof buf, text, COLUMNS, "- ", "  "));
	check_lines(buf, COLUMNS);
}

static void
every_class_has_words_for_every_verdict(void **state)
{
	enum verdict	v;

	(void)state;
	for (int c = CLASS_ACCEPTED; c < CLASSES; c++) {
		enum outcome_class	class = (enum outcome_class)c;

		assert_true(*reason_title(class) != '\0');
		check_text(reason_title(class), false);
		check_text(reason_apart(class), true);
		for (size_t i = 0; i < NITEMS(verdicts); i++) {
			v = verdicts[i];
			assert_true(*reason_advice(class, v) != '\0');
			assert_true(strlen(reason_advice(class, v)) <=
			    COLUMNS);
			assert_true(*reason_meaning(class, v, "") != '\0');
			assert_true(*reason_do(class, v) != '\0');
			assert_true(*reason_fate(class, v) != '\0');
			check_text(reason_advice(class, v), false);
			check_text(reason_meaning(class, v, ""), false);
			check_text(reason_meaning(class, v, "4.4.5"), false);
			check_text(reason_meaning(class, v, "4.3.0"), false);
			check_text(reason_do(class, v), false);
			check_text(reason_fate(class, v), false);
			check_text(reason_check(class, v), true);
		}
	}
}

static void
a_trouble_of_the_server_has_points_to_check(void **state)
{
	(void)state;
	for (int c = CLASS_SYSTEM_FULL; c < CLASS_BLIND; c++)
		assert_true(strlen(reason_check((enum outcome_class)c,
		    VERDICT_TEMPORARY)) > 20);
	assert_string_equal(reason_check(CLASS_ACCEPTED, VERDICT_ACCEPTED),
	    "");
}

static void
nothing_claims_that_a_disk_is_full(void **state)
{
	const char	*text;

	(void)state;
	for (int c = 0; c < CLASSES; c++)
		for (size_t i = 0; i < NITEMS(verdicts); i++) {
			text = reason_meaning((enum outcome_class)c,
			    verdicts[i], "4.3.1");
			assert_null(strcasestr(text, "disk is full"));
			text = reason_advice((enum outcome_class)c,
			    verdicts[i]);
			assert_null(strcasestr(text, "disk is full"));
		}
}

static void
a_full_system_says_what_helps(void **state)
{
	const char	*check;

	(void)state;
	check = reason_check(CLASS_SYSTEM_FULL, VERDICT_TEMPORARY);
	assert_non_null(strstr(check, "1.5 x message_size_limit"));
	assert_non_null(strstr(check, "back pressure"));
	assert_non_null(strstr(check, "df -i"));
	assert_non_null(strstr(reason_do(CLASS_SYSTEM_FULL,
	    VERDICT_PERMANENT), "does not help"));
	assert_non_null(strstr(reason_fate(CLASS_SYSTEM_FULL,
	    VERDICT_TEMPORARY), "4 to 5 days"));
	assert_non_null(strstr(reason_meaning(CLASS_SYSTEM_FULL,
	    VERDICT_PERMANENT, "5.3.1"), "never stored"));
	assert_non_null(strstr(reason_meaning(CLASS_SYSTEM_FULL,
	    VERDICT_TEMPORARY, "4.4.5"), "Sendmail"));
	assert_non_null(strstr(reason_apart(CLASS_SYSTEM_FULL), "5.2.2"));
}

/* RFC 3463 3.1-3.8 and the IANA registry: details 0 to n of each subject. */
static void
the_table_holds_every_registered_code(void **state)
{
	static const int		 last[] = { 0, 10, 4, 6, 7, 6, 10, 30 };
	const struct reason_code	*codes;
	size_t				 count, i = 0, meanings = 0;

	(void)state;
	codes = reason_codes(&count);
	for (int subject = 0; subject < 8; subject++)
		for (int detail = 0; detail <= last[subject]; detail++, i++) {
			assert_true(i < count);
			assert_int_equal(codes[i].subject, subject);
			assert_int_equal(codes[i].detail, detail);
			meanings += codes[i].success != NULL;
			meanings += codes[i].temporary != NULL;
			meanings += codes[i].permanent != NULL;
		}
	assert_int_equal(i, count);
	assert_int_equal(count, 81);
	assert_int_equal(meanings, 172);
}

static void
every_code_is_found_and_fits_on_a_line(void **state)
{
	const struct reason_code	*codes;
	const char			*texts[6] = { NULL };
	char				 name[16];
	size_t				 count;

	(void)state;
	codes = reason_codes(&count);
	for (size_t i = 0; i < count; i++) {
		texts[2] = codes[i].success;
		texts[4] = codes[i].temporary;
		texts[5] = codes[i].permanent;
		assert_true(codes[i].source[0] != '\0');
		for (int class = 0; class <= 5; class++) {
			snprintf(name, sizeof name, "%d.%d.%d", class,
			    codes[i].subject, codes[i].detail);
			assert_string_equal(reason_code(name),
			    texts[class] != NULL ? texts[class] : "");
			assert_true(strlen(reason_code(name)) <= 72);
			check_text(reason_code(name), false);
		}
	}
}

static void
other_codes_have_no_meaning(void **state)
{
	static const char *const	names[] = {
		"", "4", "4.", "4.3", "4.3.", "4.3.1 ", "4.3.1.7", "4.3.99",
		"4.9.1", "9.3.1", "x.3.1", "4.3.-1", "4.3.1x", " 4.3.1",
		"4.99999999999999999999.1", "4.1.5", "5.3.6",
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(names); i++)
		assert_string_equal(reason_code(names[i]), "");
	assert_true(*reason_code("4.3.1") != '\0');
	assert_string_not_equal(reason_code("4.3.1"), reason_code("5.3.1"));
}

static void
text_is_filled_to_the_width(void **state)
{
	char	buf[256] = "";

	(void)state;
	assert_true(reason_wrap(buf, sizeof buf, "one two three four", 9,
	    "- ", "  "));
	assert_string_equal(buf, "- one two\n  three\n  four\n");
	buf[0] = '\0';
	assert_true(reason_wrap(buf, sizeof buf, "a\nb", 20, "- ", "  "));
	assert_string_equal(buf, "- a\n- b\n");
	buf[0] = '\0';
	assert_true(reason_wrap(buf, sizeof buf, "unbreakable b", 6, "", ""));
	assert_string_equal(buf, "unbreakable\nb\n");
	buf[0] = '\0';
	assert_true(reason_wrap(buf, sizeof buf, "", 20, "- ", "  "));
	assert_string_equal(buf, "");
	assert_true(reason_wrap(buf, sizeof buf, "  \n  x ", 20, "", ""));
	assert_string_equal(buf, "  \nx \n");
	buf[0] = '\0';
	assert_false(reason_wrap(buf, 8, "much too long for it", 20, "", ""));
	assert_true(strlen(buf) < 8);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(every_class_has_words_for_every_verdict),
		cmocka_unit_test(a_trouble_of_the_server_has_points_to_check),
		cmocka_unit_test(nothing_claims_that_a_disk_is_full),
		cmocka_unit_test(a_full_system_says_what_helps),
		cmocka_unit_test(the_table_holds_every_registered_code),
		cmocka_unit_test(every_code_is_found_and_fits_on_a_line),
		cmocka_unit_test(other_codes_have_no_meaning),
		cmocka_unit_test(text_is_filled_to_the_width),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
