#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/smtp_filter.h"
#include "monitor/sasl.h"

/* Replies from the wire */

static void
feed(struct smtp_gather *g, const char *bytes)
{
	memcpy(g->bytes + g->len, bytes, strlen(bytes));
	g->len += strlen(bytes);
}

/* What arrives, and how much of it is the first reply; 0: not whole yet. */
static const struct {
	const char	*bytes;
	size_t		 first;
} arrivals[] = {
	{ "",						0 },
	{ "220",					0 },
	{ "220 mx ESMTP\r",				0 },
	{ "220 mx ESMTP\r\n",				14 },
	{ "220\r\n",					5 },
	{ "220 mx\n",					7 },
	{ "220-one\r\n",				0 },
	{ "220-one\r\n220-two\r\n220\r\n",		23 },
	{ "220-one\r\ntext without code\r\n220 x\r\n",	35 },
	{ "220-one\r\n\r\n220 x\r\n",			18 },
	{ "250 a\r\n250 b\r\n",				7 },
	{ "HTTP/1.1 400 Bad Request\r\n\r\n",		26 },
	{ "\r\n554 no\r\n",				10 },
	{ "25\r\n250 x\r\n",				4 },
	{ "452-4.3.1 a\r\n421 bye\r\n",			22 },
};

static void
a_reply_is_cut_off_where_it_ends(void **state)
{
	struct smtp_gather	*g = mem_alloc(sizeof *g);
	size_t			 len;

	(void)state;
	for (size_t i = 0; i < NITEMS(arrivals); i++) {
		smtp_gather_drop(g, g->len);
		feed(g, arrivals[i].bytes);
		len = 0;
		assert_int_equal(smtp_gather(g, &len),
		    arrivals[i].first == 0 ? SMTP_MORE : SMTP_WHOLE);
		assert_int_equal(len, arrivals[i].first);
	}
	mem_free(g);
}

static void
a_reply_may_come_byte_by_byte(void **state)
{
	static const char	 bytes[] = "250-one\r\n250 two\r\n";
	struct smtp_gather	*g = mem_alloc(sizeof *g);
	size_t			 len = 0;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof bytes - 1; i++) {
		g->bytes[g->len++] = bytes[i];
		assert_int_equal(smtp_gather(g, &len), SMTP_MORE);
	}
	g->bytes[g->len++] = '\n';
	assert_int_equal(smtp_gather(g, &len), SMTP_WHOLE);
	assert_int_equal(len, sizeof bytes - 1);
	mem_free(g);
}

static void
what_follows_a_reply_is_kept_for_the_next(void **state)
{
	struct smtp_gather	*g = mem_alloc(sizeof *g);
	size_t			 len;

	(void)state;
	feed(g, "250-a\r\n250 b\r\n421 bye\r\n");
	assert_int_equal(smtp_gather(g, &len), SMTP_WHOLE);
	smtp_gather_drop(g, len);
	assert_int_equal(smtp_gather(g, &len), SMTP_WHOLE);
	assert_int_equal(len, 9);
	assert_memory_equal(g->bytes, "421 bye\r\n", 9);
	mem_free(g);
}

static void
a_reply_without_end_is_refused(void **state)
{
	struct smtp_gather	*g = mem_alloc(sizeof *g);
	size_t			 len;

	(void)state;
	memset(g->bytes, 'A', sizeof g->bytes);
	g->len = sizeof g->bytes;
	assert_int_equal(smtp_gather(g, &len), SMTP_TOO_LONG);
	mem_free(g);
}

/* What the server offers */

static void
the_features_are_read_whatever_their_case_and_form(void **state)
{
	static const char	reply[] =
	    "250-size.example\r\n250-Size 52428800\r\n250-AUTH=LOGIN PLAIN\r\n"
	    "250-auth xoauth2 OAUTHBEARER ../../evil\r\n250-dsn\n"
	    "250-8bitmime\r\n250 STARTTLS\r\n";
	struct smtp_features	f;

	(void)state;
	smtp_features_read(&f, reply, sizeof reply - 1);
	assert_true(f.size && f.dsn && f.eightbit && f.starttls);
	assert_int_equal(f.size_limit, 52428800);
	assert_int_equal(f.auth, SASL_LOGIN | SASL_PLAIN |
	    SASL_XOAUTH2 | SASL_OAUTHBEARER);
	assert_string_equal(f.auth_names,
	    "LOGIN PLAIN xoauth2 OAUTHBEARER ../../evil");
}

static void
the_name_of_a_server_is_no_feature(void **state)
{
	static const char	reply[] = "250 STARTTLS DSN\r\n";
	struct smtp_features	f;

	(void)state;
	smtp_features_read(&f, reply, sizeof reply - 1);
	assert_false(f.starttls || f.dsn || f.size || f.eightbit);
	assert_int_equal(f.auth, 0);
}

static void
a_size_that_is_no_number_is_no_limit(void **state)
{
	static const char	*replies[] = {
		"250-x\r\n250 SIZE\r\n", "250-x\r\n250 SIZE -5\r\n",
		"250-x\r\n250 SIZE 99999999999999999999999\r\n",
	};
	struct smtp_features	f;

	(void)state;
	for (size_t i = 0; i < NITEMS(replies); i++) {
		smtp_features_read(&f, replies[i], strlen(replies[i]));
		assert_true(f.size);
		assert_int_equal(f.size_limit, 0);
	}
}

static void
the_library_is_offered_only_what_it_can_take(void **state)
{
	static const char	reply[] =
	    "250-mx\r\n250-PIPELINING\r\n250-CHUNKING\r\n250-STARTTLS\r\n"
	    "250-ENHANCEDSTATUSCODES\r\n250-XUSR\r\n250-ETRN\r\n250-DSN\r\n"
	    "250-SIZE 10\r\n250-AUTH PLAIN LOGIN CRAM-MD5\r\n250 8BITMIME\r\n";
	struct smtp_features	f;
	char			text[SMTP_GREETING_MAX];

	(void)state;
	smtp_features_read(&f, reply, sizeof reply - 1);
	smtp_features_print(&f, SASL_PLAIN, text);
	assert_string_equal(text, "250-mailflowd\r\n250-SIZE\r\n"
	    "250-8BITMIME\r\n250-DSN\r\n250-AUTH PLAIN\r\n250 NOOP\r\n");
	smtp_features_print(&f, 0, text);
	assert_null(strstr(text, "AUTH"));
}

/* Commands and the message */

static void
commands_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(smtp_verb_of("EHLO mailflowd\r\n"), VERB_EHLO);
	assert_int_equal(smtp_verb_of("mail FROM:<a@b>\r\n"), VERB_MAIL);
	assert_int_equal(smtp_verb_of("DATA\r\n"), VERB_DATA);
	assert_int_equal(smtp_verb_of("QUIT"), VERB_QUIT);
	assert_int_equal(smtp_verb_of("MAILBOX x\r\n"), VERB_OTHER);
	assert_int_equal(smtp_verb_of(""), VERB_OTHER);
	assert_int_equal(smtp_verb_of("STARTTLS\r\n"), VERB_OTHER);
}

static const struct {
	const char	*bytes;
	size_t		 used;
	bool		 end;
} messages[] = {
	{ ".\r\n",			3,	true },
	{ "a\r\n.\r\n",			6,	true },
	{ "a\r\n.\r\nQUIT\r\n",		6,	true },
	{ "a\r\n..\r\n",		7,	false },
	{ "a.\r\n",			4,	false },
	{ "a\r\n.\n",			5,	false },
	{ "a\r\r\n.\r\n",		7,	true },
	{ "a\r\n.\r.\r\n",		8,	false },
	{ "a\r\n\r\n.\r\n",		8,	true },
};

static void
the_end_of_a_message_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(messages); i++) {
		struct smtp_dot	d = { 0 };
		bool		end;

		assert_int_equal(smtp_dot_scan(&d, messages[i].bytes,
		    strlen(messages[i].bytes), &end), messages[i].used);
		assert_int_equal(end, messages[i].end);
	}
}

static void
the_end_of_a_message_is_found_across_chunks(void **state)
{
	struct smtp_dot	d = { 0 };
	bool		end;

	(void)state;
	smtp_dot_scan(&d, "a\r", 2, &end);
	smtp_dot_scan(&d, "\n", 1, &end);
	smtp_dot_scan(&d, ".", 1, &end);
	assert_false(end);
	assert_int_equal(smtp_dot_scan(&d, "\r\nQUIT", 6, &end), 2);
	assert_true(end);
}

/* Texts */

static void
an_address_that_would_break_a_command_is_refused(void **state)
{
	(void)state;
	assert_int_equal(smtp_address_check("a@b.example"), SMTP_ADDRESS_GOOD);
	assert_int_equal(smtp_address_check("\"a b\"@b.example"),
	    SMTP_ADDRESS_GOOD);
	assert_int_equal(smtp_address_check(""), SMTP_ADDRESS_GOOD);
	assert_int_equal(smtp_address_check("a@b>\r\nRCPT TO:<c@d"),
	    SMTP_ADDRESS_BAD);
	assert_int_equal(smtp_address_check("a@b> SIZE=1"), SMTP_ADDRESS_BAD);
	assert_int_equal(smtp_address_check("d\303\274r@b.example"),
	    SMTP_ADDRESS_UTF8);
	assert_int_equal(smtp_address_check("d\303\274r\n@b.example"),
	    SMTP_ADDRESS_BAD);
}

static const struct {
	const char	*text;
	const char	*id;
} ids[] = {
	{ "2.0.0 Ok: queued as 4ABC",			"4ABC" },
	{ "2.0.0 Ok: queued as 4bXyZ01Kq2z9rQ",		"4bXyZ01Kq2z9rQ" },
	{ "OK id=1abCDe-0003aX-2K",			"1abCDe-0003aX-2K" },
	{ "2.0.0 45T1aBcD012345 Message accepted for delivery",
	    "45T1aBcD012345" },
	{ "2.0.0 1a2b3c4d Message accepted for delivery", "1a2b3c4d" },
	{ "2.6.0 <x@y.example> [InternalId=27762, Hostname=EX1] 1234 bytes in "
	    "0.1, 8 KB/sec Queued mail for delivery",	"27762" },
	{ "2.0.0 OK  1767225600 d2e1a72fcca58-7ff8abcd.12 - gsmtp",
	    "d2e1a72fcca58-7ff8abcd.12" },
	{ "ok 1767225600 qp 4711",			"4711" },
	{ "Ok 0100019b0000-1111-2222-3333",		"0100019b0000-1111-2222-3333" },
	{ "Message queued with id 27f3c1.",		"27f3c1" },
	{ "2.0.0 Ok: queued on mxback1.example as 1767225600-AbCd1",
	    "1767225600-AbCd1" },
	{ "Message Queued (8F2D3C1A-AB12-4711-9999-000000000001.1)",
	    "8F2D3C1A-AB12-4711-9999-000000000001.1" },
	{ "2.0.0 ok",					"" },
	{ "Message accepted",				"" },
	{ "",						"" },
	{ "queued as ",					"" },
};

static void
the_queue_id_is_found_in_what_servers_say(void **state)
{
	char	id[64];

	(void)state;
	for (size_t i = 0; i < NITEMS(ids); i++) {
		smtp_queue_id(ids[i].text, id, sizeof id);
		assert_string_equal(id, ids[i].id);
	}
}

static void
a_queue_id_that_does_not_fit_is_left_out(void **state)
{
	char	id[8];

	(void)state;
	smtp_queue_id("queued as 123456789", id, sizeof id);
	assert_string_equal(id, "");
}

static void
a_secret_that_a_server_repeats_is_starred_out(void **state)
{
	char	text[] = "no: hunter22, hunter22!";
	char	kept[] = "abc is too short to be told from words";
	char	cut[] = "no: hunter2";
	char	coded[] = "AUTH PLAIN AHUAaHVudG";	/* "\0u\0hunt" */

	(void)state;
	sasl_scrub(text, "hunter22");
	assert_string_equal(text, "no: ********, ********!");
	sasl_scrub(kept, "abc");
	assert_string_equal(kept, "abc is too short to be told from words");
	sasl_scrub(cut, "hunter22");
	assert_string_equal(cut, "no: *******");
	sasl_scrub(coded, "hunter22");
	assert_string_equal(coded, "AUTH PLAIN **********");
}

static void
padding_fills_to_the_byte_with_short_lines(void **state)
{
	char	line[SMTP_PAD_LINE];
	int64_t	left;
	size_t	n;

	(void)state;
	for (int64_t size = 2; size < 400; size++) {
		left = size;
		while ((n = smtp_pad_line(left, line)) > 0) {
			assert_in_range(n, 2, 78);
			assert_memory_equal(line + n - 2, "\r\n", 2);
			assert_null(memchr(line, '\n', n - 1));
			assert_true(line[0] != '.');
			left -= (int64_t)n;
		}
		assert_int_equal(left, 0);
	}
	assert_int_equal(smtp_pad_line(1, line), 0);
	assert_int_equal(smtp_pad_line(0, line), 0);
	assert_int_equal(smtp_pad_line(-5, line), 0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_reply_is_cut_off_where_it_ends),
		cmocka_unit_test(a_reply_may_come_byte_by_byte),
		cmocka_unit_test(what_follows_a_reply_is_kept_for_the_next),
		cmocka_unit_test(a_reply_without_end_is_refused),
		cmocka_unit_test(the_features_are_read_whatever_their_case_and_form),
		cmocka_unit_test(the_name_of_a_server_is_no_feature),
		cmocka_unit_test(a_size_that_is_no_number_is_no_limit),
		cmocka_unit_test(the_library_is_offered_only_what_it_can_take),
		cmocka_unit_test(commands_are_told_apart),
		cmocka_unit_test(the_end_of_a_message_is_found),
		cmocka_unit_test(the_end_of_a_message_is_found_across_chunks),
		cmocka_unit_test(an_address_that_would_break_a_command_is_refused),
		cmocka_unit_test(the_queue_id_is_found_in_what_servers_say),
		cmocka_unit_test(a_queue_id_that_does_not_fit_is_left_out),
		cmocka_unit_test(a_secret_that_a_server_repeats_is_starred_out),
		cmocka_unit_test(padding_fills_to_the_byte_with_short_lines),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
