#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "mailboxes/date.h"
#include "mailboxes/header.h"
#include "mailboxes/received.h"
#include "monitor/mem.h"
#include "monitor/stamp.h"

static const char *
decoded(const char *value)
{
	static char	buf[256];
	struct header	h = { "X", 1, value, strlen(value) };
	size_t		n = header_decode(&h, buf, sizeof buf);

	assert_int_equal(n, strlen(buf));
	return (buf);
}

static void
values_are_unfolded_and_decoded(void **state)
{
	static const struct {
		const char	*raw, *plain;
	}	rows[] = {
		{ " plain\r\n", "plain" },
		{ " two\r\n words\r\n", "two words" },
		{ "\ttabs\r\n\t and more \r\n", "tabs and more" },
		{ "", "" },
		{ " =?UTF-8?Q?Mail_flow=20test?= abc\r\n",
		    "Mail flow test abc" },
		{ " =?utf-8?B?TWFpbA==?=\r\n =?utf-8?b?Zmxvdw==?= x",
		    "Mailflow x" },
		/* One character in two words (RFC 2047 forbids, some do). */
		{ "=?UTF-8?B?w4Q=?= =?UTF-8?Q?=C3?=\r\n =?UTF-8?Q?=84x?= mf1",
		    "\xc3\x84\xc3\x84x mf1" },
		{ "=?iso-8859-1?Q?caf=E9?= mf1", "caf\xe9 mf1" },
		/* What only looks like one. */
		{ "=?x?=", "=?x?=" },
		{ "=?utf-8?Q?open", "=?utf-8?Q?open" },
		{ "=?utf-8?X?a?=", "=?utf-8?X?a?=" },
		{ "a =?utf-8?Q?b?= c =?utf-8?Q?d?=", "a b c d" },
		{ "=?utf-8?Q?a=4?= =zz", "a=4 =zz" },
	};
	size_t	i;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++)
		assert_string_equal(decoded(rows[i].raw), rows[i].plain);
}

static void
a_value_too_long_is_cut_not_overrun(void **state)
{
	char		buf[5];
	struct header	h = { "X", 1, "abcdefgh", 8 };

	(void)state;
	assert_int_equal(header_decode(&h, buf, sizeof buf), 4);
	assert_string_equal(buf, "abcd");
}

static void
fields_are_found_among_odd_lines(void **state)
{
	static const char	text[] =
	    "From x Sat Jan 31\nno field at all\n continued\n"
	    "SUBJECT: one\r\n two\r\nX Y: blank in the name\r\n"
	    "Reply-To \t: two\r\nX : y z\r\n"
	    "To:\r\n\r\nCc: in the body\r\n";
	struct header		h;
	char			buf[64];

	(void)state;
	assert_true(header_find(text, sizeof text - 1, "subject", &h));
	header_decode(&h, buf, sizeof buf);
	assert_string_equal(buf, "one two");
	assert_true(header_find(text, sizeof text - 1, "To", &h));
	assert_int_equal(header_decode(&h, buf, sizeof buf), 0);
	assert_true(header_find(text, sizeof text - 1, "reply-to", &h));
	header_decode(&h, buf, sizeof buf);
	assert_string_equal(buf, "two");
	assert_true(header_find(text, sizeof text - 1, "X", &h));
	assert_false(header_find(text, sizeof text - 1, "Cc", &h));
	assert_false(header_find(text, sizeof text - 1, "X Y", &h));
}

static void
addresses_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char	*list;
		const char	*addresses[3];
	}	rows[] = {
		{ "a@b.c", { "a@b.c" } },
		{ "Probe <Probe@Example.ORG>", { "probe@example.org" } },
		{ "\"evil <x@y>\" <a@b>", { "a@b" } },
		{ "a@b (comment <c@d>, more)", { "a@b" } },
		{ "a@b, Somebody <c@d>", { "a@b", "c@d" } },
		{ "Group: a@b, c@d;", { "a@b", "c@d" } },
		{ "<@relay,@other:a@b>", { "a@b" } },
		{ "=?utf-8?Q?x?= <a@b>", { "a@b" } },
		{ "a@b <c@d>", { "c@d" } },
		{ "", { NULL } }, { ",;,", { NULL } }, { "<>", { NULL } },
		{ "<a@b", { "a@b" } }, { "\"open", { NULL } },
	};
	char	buf[64];
	size_t	i, j, at;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++) {
		at = 0;
		for (j = 0; rows[i].addresses[j] != NULL; j++) {
			assert_true(header_address(rows[i].list, &at, buf,
			    sizeof buf));
			assert_string_equal(buf, rows[i].addresses[j]);
		}
		assert_false(header_address(rows[i].list, &at, buf,
		    sizeof buf));
	}
}

static void
bodies_are_decoded(void **state)
{
	char	buf[64];

	(void)state;
	header_quoted_printable("mf1ab=\r\ncd=3D= \r\ne=zz", 22, buf,
	    sizeof buf);
	assert_string_equal(buf, "mf1abcd=e=zz");
	header_base64("bWYx\r\nYWJj", 10, buf, sizeof buf);
	assert_string_equal(buf, "mf1abc");
}

static void
dates_of_mails(void **state)
{
	static const struct {
		const char	*text;
		int64_t		 ms;
	}	rows[] = {
		{ "Thu, 14 Aug 2025 14:15:52 GMT", 1755180952000 },
		{ "Sun, 27 Oct 2002 23:57:07 EST", 1035781027000 },
		{ "Sun, 27 Oct 2002 23:57:07 EST5EDT", 1035763027000 },
		{ "Thu, 1 Oct 2015 14:40:57 +0200 (Mitteleurop\xe4ische "
		    "Sommerzeit)", 1443703257000 },
		{ "1 Oct 15 14:40 +0200", 1443703200000 },
		{ "  Thu,1 Oct 2015 (a (b) c) 14 : 40 : 57 -0000",
		    1443710457000 },
		{ "Thu, 29 Feb 2024 00:00:00 +0000", 1709164800000 },
		{ "Thu, 31 Dec 1979 23:59:59 +0000", 0 },
		{ "Thu, 1 Foo 2015 14:40:57 +0000", 0 },
		{ "Thu, 32 Jan 2015 14:40:57 +0000", 0 },
		{ "Thu, 1 Oct 99999 14:40:57 +0000", 0 },
		{ "Thu, 1 Oct 2015 99:40:57 +0000", 0 },
		{ "tomorrow", 0 }, { "", 0 },
	};
	size_t	i;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++)
		assert_int_equal(date_mail_ms(rows[i].text,
		    strlen(rows[i].text)), rows[i].ms);
}

static void
dates_of_imap_servers(void **state)
{
	static const struct {
		const char	*text;
		int64_t		 ms;
	}	rows[] = {
		{ "08-Mar-2026 12:16:47 +0800", 1772943407000 },
		{ " 8-Mar-2026 12:16:47 +0800", 1772943407000 },
		{ "8-Mar-2026 12:16:47 +0800", 1772943407000 },
		{ "01-Jan-2020 00:00:00 -0130", 1577842200000 },
		{ "00-Jan-0000 00:00:00 +0000", 0 },
		{ "99-Foo-9999 99:99:99 +9999", 0 },
		{ "01-Jan-2024 10:00:00 ", 0 }, { "01-Jan-2024", 0 },
		{ "Mon, 01 Jan 2024 10:00:00 +0000", 0 }, { "", 0 },
	};
	char	buf[DATE_IMAP];
	size_t	i;
	int64_t	ms;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++)
		assert_int_equal(date_imap_ms(rows[i].text,
		    strlen(rows[i].text)), rows[i].ms);
	assert_string_equal(date_imap_print(1772943407000, buf),
	    "08-Mar-2026 04:16:47 +0000");
	assert_string_equal(date_imap_print(0, buf), "");
	/* Back and forth, over 200 years in odd strides. */
	for (ms = 315532800000; ms < 7258118400000; ms += 86399000 * 7) {
		date_imap_print(ms, buf);
		assert_int_equal(date_imap_ms(buf, strlen(buf)), ms);
	}
}

static void
the_way_is_read_from_received(void **state)
{
	static const char	head[] =
	    "Received: from b.example by c.example (x) id 1;\r\n"
	    "\tSat, 31 Jan 2026 12:01:10 +0000\r\n"
	    "Received: from a.example by b.example; "
	    "Sat, 31 Jan 2026 12:00:05 +0000\r\n"
	    "Received: by a.example; Sat, 31 Jan 2026 12:00:08 +0000\r\n"
	    "Received: nonsense\r\n";
	struct received		r;

	(void)state;
	received_read(head, sizeof head - 1, &r);
	assert_int_equal(r.hops, 4);
	assert_int_equal(r.slowest_hop_ms, 65000);
	assert_string_equal(r.slowest_hop, "c.example");
	assert_int_equal(r.skew_ms, 3000);
	received_read("", 0, &r);
	assert_int_equal(r.hops, -1);
	assert_int_equal(r.slowest_hop_ms, STAMP_NO_SPAN);
	assert_string_equal(r.slowest_hop, "");
}

static void
authentication_results_of_others_do_not_count(void **state)
{
	static const char	head[] =
	    "Authentication-Results: evil.example; spf=pass\r\n"
	    "Authentication-Results: mx.example.com.evil; spf=pass\r\n"
	    "Authentication-Results: mx.example.com 1;\r\n spf=fail\r\n";
	char			buf[64];

	(void)state;
	received_auth_results(head, sizeof head - 1, "mx.example.com", buf,
	    sizeof buf);
	assert_string_equal(buf, "spf=fail");
	received_auth_results(head, sizeof head - 1, "", buf, sizeof buf);
	assert_string_equal(buf, "");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(values_are_unfolded_and_decoded),
		cmocka_unit_test(a_value_too_long_is_cut_not_overrun),
		cmocka_unit_test(fields_are_found_among_odd_lines),
		cmocka_unit_test(addresses_are_read_as_people_write_them),
		cmocka_unit_test(bodies_are_decoded),
		cmocka_unit_test(dates_of_mails),
		cmocka_unit_test(dates_of_imap_servers),
		cmocka_unit_test(the_way_is_read_from_received),
		cmocka_unit_test(authentication_results_of_others_do_not_count),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
