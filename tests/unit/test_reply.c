#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/reply.h"

struct wanted {
	const char	*bytes;
	int		 code;
	const char	*enhanced;
	const char	*text;
	bool		 contradiction;
	bool		 malformed;
};

static void
check(const struct wanted *w)
{
	struct reply	r;

	reply_parse(&r, w->bytes, strlen(w->bytes));
	if (r.code != w->code || strcmp(r.enhanced, w->enhanced) != 0 ||
	    strcmp(r.text, w->text) != 0 ||
	    r.contradiction != w->contradiction ||
	    r.malformed != w->malformed)
		fail_msg("%s: %d '%s' '%s'%s%s", w->bytes, r.code, r.enhanced,
		    r.text, r.contradiction ? " contradiction" : "",
		    r.malformed ? " malformed" : "");
}

static void
check_all(const struct wanted *w, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&w[i]);
}

static void
a_plain_reply_is_read(void **state)
{
	static const struct wanted	w[] = {
		{ "452 4.3.1 Insufficient system storage\r\n", 452, "4.3.1",
		    "Insufficient system storage", false, false },
		{ "452 4.3.1 Insufficient system storage", 452, "4.3.1",
		    "Insufficient system storage", false, false },
		{ "250 OK\n", 250, "", "OK", false, false },
		{ "452 4.3.1\r\n", 452, "4.3.1", "", false, false },
		{ "452\r\n", 452, "", "", false, false },
		{ "452  4.3.1  two  spaces", 452, "4.3.1", "two  spaces",
		    false, false },
		{ "571 No PTR", 571, "", "No PTR", false, false },
		{ "599 x", 599, "", "x", false, false },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
the_lines_of_one_reply_are_joined(void **state)
{
	static const struct wanted	w[] = {
		{ "452-4.3.1 Insufficient\r\n452-4.3.1 system storage\r\n"
		    "452 4.3.1 try later\r\n", 452, "4.3.1",
		    "Insufficient / system storage / try later", false, false },
		{ "452-4.3.1 full\r\n452 see https://status.example.org/\r\n",
		    452, "4.3.1", "full / see https://status.example.org/",
		    false, false },
		{ "452-Requested\r\n452 4.3.1 full\r\n", 452, "4.3.1",
		    "Requested / full", false, false },
		{ "250-mx\n250-SIZE 10\n250 DSN\n", 250, "",
		    "mx / SIZE 10 / DSN", false, false },
		{ "452-\r\n452 4.3.1 full", 452, "4.3.1", "full", false,
		    false },
		{ "550-5.1.1 a 550-5.1.1 b 550 5.1.1 c", 550, "5.1.1",
		    "a b c", false, true },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
the_last_code_of_a_mixed_reply_counts(void **state)
{
	static const struct wanted	w[] = {
		{ "220-mx.example.org\r\n421 4.2.1 refused\r\n", 421, "4.2.1",
		    "mx.example.org / refused", true, true },
		{ "220-5.7.1 odd\r\n521 closed\r\n", 521, "", "odd / closed",
		    true, true },
		{ "550-5.1.1 a\r\n550 5.7.1 b\r\n", 550, "5.7.1", "a / b",
		    true, false },
		{ "550-5.7.1 a\r\n550 5.0.0 b\r\n", 550, "5.7.1", "a / b",
		    true, false },
		{ "552 4.3.1 mirror", 552, "4.3.1", "mirror", true, false },
		{ "451 5.7.3 STARTTLS is required", 451, "5.7.3",
		    "STARTTLS is required", true, false },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
a_code_at_the_end_or_in_brackets_is_found(void **state)
{
	static const struct wanted	w[] = {
		{ "451 qq write error or disk full (#4.3.0)", 451, "4.3.0",
		    "qq write error or disk full (#4.3.0)", false, false },
		{ "550 #5.7.1 Your access", 550, "5.7.1", "Your access",
		    false, false },
		{ "452 (4.3.1) full", 452, "4.3.1", "full", false, false },
		{ "452 full [4.3.1]", 452, "4.3.1", "full [4.3.1]", false,
		    false },
		{ "554 nobody here. (#5.2.1) <a@example.org>", 554, "5.2.1",
		    "nobody here. (#5.2.1) <a@example.org>", false, false },
		{ "452: 4.3.1 full", 452, "4.3.1", "full", false,
		    false },
		{ "452 full (5.3.1)", 452, "", "full (5.3.1)", false, false },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
what_only_looks_like_a_code_is_text(void **state)
{
	static const struct wanted	w[] = {
		{ "550 host 4.3.1.7 is not permitted", 550, "",
		    "host 4.3.1.7 is not permitted", false, false },
		{ "550 4.3.1.7 is not permitted", 550, "",
		    "4.3.1.7 is not permitted", false, false },
		{ "450 4.7.1 no [5.3.1.2]", 450, "4.7.1", "no [5.3.1.2]",
		    false, false },
		{ "450 no [4.3.1.2]", 450, "", "no [4.3.1.2]", false, false },
		{ "451 4.999.9999 x", 451, "", "4.999.9999 x", false, false },
		{ "451 4.999.999 x", 451, "4.999.999", "x", false, false },
		{ "452 4.3.10 x", 452, "4.3.10", "x", false, false },
		{ "452 4.03.1 x", 452, "", "4.03.1 x", false, false },
		{ "452 4.3.01 x", 452, "", "4.3.01 x", false, false },
		{ "452 4.3.1x", 452, "", "4.3.1x", false, false },
		{ "452 4.3 x", 452, "", "4.3 x", false, false },
		{ "452 3.3.1 x", 452, "", "3.3.1 x", false, false },
		{ "552 1 mailbox not found", 552, "", "1 mailbox not found",
		    false, false },
		{ "550 5.7.1 rejected, reference 4.3.1-2024", 550, "5.7.1",
		    "rejected, reference 4.3.1-2024", false, false },
		{ "421 4.7.0 deferred - 4.16.55.1; see", 421, "4.7.0",
		    "deferred - 4.16.55.1; see", false, false },
		{ "550-192.0.2.222 blocked\n550 abuse", 550, "",
		    "192.0.2.222 blocked / abuse", false, false },
		{ "4521 x", 0, "", "4521 x", false, true },
		{ "450.1 x", 0, "", "450.1 x", false, true },
		{ "199 x", 0, "", "199 x", false, true },
		{ "600 x", 0, "", "600 x", false, true },
		{ "HTTP/1.1 400 Bad Request", 0, "",
		    "HTTP/1.1 400 Bad Request", false, true },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
a_code_written_twice_is_taken_once(void **state)
{
	static const struct wanted	w[] = {
		{ "450 450 4.2.2 full", 450, "4.2.2", "full", false, false },
		{ "554 554 5.7.1 no", 554, "5.7.1", "no", false, false },
		{ "550 5.1.1 5.1.1 nobody", 550, "5.1.1", "nobody", false,
		    false },
		{ "550 450 things", 550, "", "450 things", false, false },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
a_reply_inside_a_report_is_found(void **state)
{
	static const struct wanted	w[] = {
		{ "4.3.1 Insufficient system storage.", 0, "4.3.1",
		    "Insufficient system storage.", false, true },
		{ "5.1.0 - Unknown address error 550-'5.2.2 <a@b>... Full'",
		    550, "5.2.2",
		    "- Unknown address error 550-'5.2.2 <a@b>... Full'",
		    false, true },
		{ "5.3.0 - Other problem 550-'Unknown user a@b'", 550,
		    "5.3.0", "- Other problem 550-'Unknown user a@b'", false,
		    true },
		{ "host mx said: 452 4.3.1 full", 452, "4.3.1",
		    "host mx said: 452 4.3.1 full", false, true },
		{ "host mx said: 452 Space shortage", 452, "",
		    "host mx said: 452 Space shortage", false, true },
		{ "unable to deliver in 450 minutes", 0, "",
		    "unable to deliver in 450 minutes", false, true },
		{ "554 4.4.7 expired<421 4.4.2 timed out>", 554, "4.4.7",
		    "expired<421 4.4.2 timed out>", true, false },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
broken_lines_are_read_all_the_same(void **state)
{
	static const struct wanted	w[] = {
		{ "", 0, "", "", false, false },
		{ "\r\n", 0, "", "", false, true },
		{ "\r\n550 5.1.1 no such user", 550, "5.1.1", "no such user",
		    false, true },
		{ "550-unterminated", 550, "", "unterminated", false, true },
		{ " 550 5.1.1 x", 550, "5.1.1", "x", false, true },
		{ "452 4.3.1 a\rb", 452, "4.3.1", "a / b", false, true },
		{ "452-4.3.1 a\nb\n452 4.3.1 c\n", 452, "4.3.1", "a / b / c",
		    false, true },
		{ "452\t4.3.1\tfull", 452, "4.3.1", "full", false, true },
		{ "452 4.3.1 a\tb\x01" "c\x7f" "d", 452, "4.3.1", "a b c d",
		    false, true },
		{ "452 4.3.1 \xe9t\xe9", 452, "4.3.1", "?t?", false, false },
		{ "452 4.3.1 \xc3\xa9t\xc3\xa9", 452, "4.3.1",
		    "\xc3\xa9t\xc3\xa9", false, false },
	};

	(void)state;
	check_all(w, NITEMS(w));
}

static void
nul_bytes_do_not_end_a_reply(void **state)
{
	static const char	bytes[] = "452 4.3.1 a\0b\r\n\0\r\n";
	struct reply		r;

	(void)state;
	reply_parse(&r, bytes, sizeof bytes - 1);
	assert_int_equal(r.code, 452);
	assert_string_equal(r.enhanced, "4.3.1");
	assert_string_equal(r.text, "a b /  ");
	assert_true(r.malformed);
}

static void
an_endless_line_is_cut_and_its_code_kept(void **state)
{
	enum { LENGTH = 65536 };
	char		*bytes = mem_alloc(LENGTH);
	struct reply	 r;

	(void)state;
	memset(bytes, 'a', LENGTH);
	memcpy(bytes, "451 ", 4);
	memcpy(bytes + LENGTH - 8, "(#4.3.0)", 8);
	reply_parse(&r, bytes, LENGTH);
	assert_int_equal(r.code, 451);
	assert_string_equal(r.enhanced, "4.3.0");
	assert_int_equal(strlen(r.text), REPLY_TEXT - 1);
	assert_true(r.malformed);
	mem_free(bytes);
}

static void
a_cut_never_splits_a_letter(void **state)
{
	char		bytes[4 + 2 * REPLY_TEXT];
	struct reply	r;

	(void)state;
	memcpy(bytes, "550 ", 4);
	for (size_t i = 4; i < sizeof bytes; i += 2)
		memcpy(bytes + i, "\xc3\xa9", 2);
	reply_parse(&r, bytes, sizeof bytes);
	assert_int_equal(strlen(r.text), REPLY_TEXT - 2);
	assert_int_equal((unsigned char)r.text[REPLY_TEXT - 3], 0xa9);
}

static void
ten_thousand_lines_are_one_bounded_text(void **state)
{
	enum { LINES = 10000 };
	static const char	line[] = "452-4.3.1 x\r\n";
	const size_t		each = sizeof line - 1;
	char			*bytes = mem_alloc(LINES * each);
	struct reply		 r;

	(void)state;
	for (size_t i = 0; i < LINES; i++)
		memcpy(bytes + i * each, line, each);
	reply_parse(&r, bytes, LINES * each);
	assert_int_equal(r.code, 452);
	assert_true(strlen(r.text) < REPLY_TEXT);
	assert_memory_equal(r.text, "x / x / x", 9);
	mem_free(bytes);
}

static void
a_reply_is_quoted_as_people_do(void **state)
{
	struct reply	r;
	char		buf[64], small[10];
	const char	whole[] = "452 4.3.1 full / try later";

	(void)state;
	reply_parse(&r, "452-4.3.1 full\r\n452 try later", 29);
	assert_int_equal(reply_print(&r, buf, sizeof buf), strlen(whole));
	assert_string_equal(buf, whole);
	assert_int_equal(reply_print(&r, small, sizeof small), 9);
	assert_string_equal(small, "452 4.3.1");
	assert_int_equal(reply_print(&r, small, 0), 0);
	reply_parse(&r, "hello", 5);
	reply_print(&r, buf, sizeof buf);
	assert_string_equal(buf, "hello");
	reply_parse(&r, "", 0);
	assert_int_equal(reply_print(&r, buf, sizeof buf), 0);
	assert_string_equal(buf, "");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_plain_reply_is_read),
		cmocka_unit_test(the_lines_of_one_reply_are_joined),
		cmocka_unit_test(the_last_code_of_a_mixed_reply_counts),
		cmocka_unit_test(a_code_at_the_end_or_in_brackets_is_found),
		cmocka_unit_test(what_only_looks_like_a_code_is_text),
		cmocka_unit_test(a_code_written_twice_is_taken_once),
		cmocka_unit_test(a_reply_inside_a_report_is_found),
		cmocka_unit_test(broken_lines_are_read_all_the_same),
		cmocka_unit_test(nul_bytes_do_not_end_a_reply),
		cmocka_unit_test(an_endless_line_is_cut_and_its_code_kept),
		cmocka_unit_test(a_cut_never_splits_a_letter),
		cmocka_unit_test(ten_thousand_lines_are_one_bounded_text),
		cmocka_unit_test(a_reply_is_quoted_as_people_do),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
