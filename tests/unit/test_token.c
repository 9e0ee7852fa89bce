#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "monitor/token.h"

static const struct token_key	key = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } };
static const unsigned char	random_[TOKEN_RANDOM] = { 0xde, 0xad, 0xbe, 0xef,
				    1, 2, 3, 4, 5 };

static void
our_own_token_is_known_again(void **state)
{
	char	t[TOKEN_SIZE];

	(void)state;
	token_make(t, &key, "probe1", "gmail", random_);
	assert_int_equal(strlen(t), TOKEN_LEN);
	assert_int_equal(token_check(t, &key, "probe1", "gmail"), TOKEN_OURS);
	for (char *p = t; *p != '\0'; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	assert_int_equal(token_check(t, &key, "probe1", "gmail"), TOKEN_OURS);
}

static void
a_copy_in_another_mailbox_is_not_valid_there(void **state)
{
	char	t[TOKEN_SIZE];

	(void)state;
	token_make(t, &key, "probe1", "gmail", random_);
	assert_int_equal(token_check(t, &key, "probe1", "work"), TOKEN_FORGED);
}

static void
another_instance_and_another_key_are_told_apart(void **state)
{
	struct token_key	other = { { 9 } };
	char			t[TOKEN_SIZE];

	(void)state;
	token_make(t, &key, "probe2", "gmail", random_);
	assert_int_equal(token_check(t, &key, "probe1", "gmail"),
	    TOKEN_FOREIGN);
	token_make(t, &other, "probe1", "gmail", random_);
	assert_int_equal(token_check(t, &key, "probe1", "gmail"),
	    TOKEN_FORGED);
}

static void
every_changed_letter_breaks_it(void **state)
{
	char	t[TOKEN_SIZE];

	(void)state;
	token_make(t, &key, "probe1", "gmail", random_);
	for (size_t i = 0; i < TOKEN_LEN; i++) {
		char	keep = t[i];

		t[i] = keep == 'a' ? 'b' : 'a';
		assert_int_not_equal(token_check(t, &key, "probe1", "gmail"),
		    TOKEN_OURS);
		t[i] = keep;
	}
	assert_int_equal(token_check("", &key, "probe1", "gmail"),
	    TOKEN_MALFORMED);
	assert_int_equal(token_check("mf1", &key, "probe1", "gmail"),
	    TOKEN_MALFORMED);
}

static void
random_bits_all_matter(void **state)
{
	unsigned char	r[TOKEN_RANDOM];
	char		a[TOKEN_SIZE], b[TOKEN_SIZE];

	(void)state;
	token_make(a, &key, "i", "m", random_);
	for (size_t bit = 0; bit < 65; bit++) {
		memcpy(r, random_, sizeof r);
		r[bit / 8] = (unsigned char)(r[bit / 8] ^ (0x80 >> bit % 8));
		token_make(b, &key, "i", "m", r);
		assert_string_not_equal(a, b);
	}
}

static void
tokens_are_found_only_where_they_stand_alone(void **state)
{
	static const struct {
		const char	*format;
		int		 found;
	} rows[] = {
		{ "%s", 1 },
		{ "Subject: Mail flow test %s", 1 },
		{ "<%s@example.org>", 1 },
		{ "[%s]", 1 },
		{ "x%s", 0 },
		{ "%s8", 0 },
		{ "%sa", 0 },
		{ "%s %s", 2 },
		{ "%s,%s", 2 },
		{ "mf1 %s", 1 },
		{ "mf1mf1 %s", 1 },
	};
	char	t[TOKEN_SIZE], text[256], got[TOKEN_SIZE];

	(void)state;
	token_make(t, &key, "probe1", "gmail", random_);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char	*f = rows[i].format;
		size_t		 at = 0, n = 0;
		int		 found = 0;

		for (; *f != '\0'; f++)
			if (f[0] == '%' && f[1] == 's') {
				memcpy(text + n, t, TOKEN_LEN);
				n += TOKEN_LEN;
				f++;
			} else
				text[n++] = *f;
		while (token_find(text, n, &at, got)) {
			assert_string_equal(got, t);
			found++;
		}
		if (found != rows[i].found)
			fail_msg("%s: found %d", rows[i].format, found);
	}
}

static void
a_token_cut_off_at_the_end_is_none(void **state)
{
	char	t[TOKEN_SIZE], got[TOKEN_SIZE];
	size_t	at;

	(void)state;
	token_make(t, &key, "probe1", "gmail", random_);
	for (size_t len = 0; len < TOKEN_LEN; len++) {
		at = 0;
		assert_false(token_find(t, len, &at, got));
	}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(our_own_token_is_known_again),
		cmocka_unit_test(a_copy_in_another_mailbox_is_not_valid_there),
		cmocka_unit_test(another_instance_and_another_key_are_told_apart),
		cmocka_unit_test(every_changed_letter_breaks_it),
		cmocka_unit_test(random_bits_all_matter),
		cmocka_unit_test(tokens_are_found_only_where_they_stand_alone),
		cmocka_unit_test(a_token_cut_off_at_the_end_is_none),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
