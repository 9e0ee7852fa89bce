#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "mailboxes/report.h"
#include "monitor/mem.h"

static const struct token_key	key = { { 7 } };
static const struct match_rules	rules = { &key, "probe1", "return", "" };

/* Of a probe that was sent to another mailbox than the one reports come to. */
static const char *
token(const char *instance)
{
	static const unsigned char	random[TOKEN_RANDOM] = { 1, 2, 3 };
	static char			t[TOKEN_SIZE];

	token_make(t, &key, instance, "canary", random);
	return (t);
}

static const struct {
	const char	*what, *head;
	bool		 may;
} heads[] = {
	{ "from a mail system", "From: MAILER-DAEMON@mx.example.net\r\n", true },
	{ "from nobody", "Subject: x\r\n", true },
	{ "without a return path",
	    "Return-Path: <>\r\nFrom: x@example.net\r\n", true },
	{ "a report by its form", "From: x@example.net\r\nContent-Type: "
	    "Multipart/Report; report-type=delivery-status\r\n", true },
	{ "Exim's field", "From: x@example.net\r\n"
	    "X-Failed-Recipients: y@example.org\r\n", true },
	{ "a person's mail", "From: Some One <x@example.net>\r\n"
	    "Subject: Undelivered Mail Returned to Sender\r\n", false },
	{ "a probe", "From: probe@example.org\r\nReturn-Path: <>\r\n"
	    "X-Mailflow-Probe: x\r\n", false },
};

static void
only_what_looks_like_a_report_is_read_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(heads); i++) {
		print_message("%s\n", heads[i].what);
		assert_int_equal(report_may_be(heads[i].head,
		    strlen(heads[i].head)), heads[i].may);
	}
}

/* A report about a mail with these header fields. */
static enum report_kind
read_report(const char *returned, const char *id, struct frame_report *f)
{
	char	mail[4096];

	snprintf(mail, sizeof mail,
	    "Return-Path: <>\r\nFrom: MAILER-DAEMON@mx.example.net\r\n"
	    "Subject: Undelivered Mail Returned to Sender\r\n"
	    "Content-Type: multipart/report; report-type=delivery-status;"
	    " boundary=b\r\n\r\n"
	    "--b\r\n\r\nIt could not be delivered.\r\n"
	    "--b\r\nContent-Type: message/delivery-status\r\n\r\n"
	    "Reporting-MTA: dns; relay.example.net\r\n\r\n"
	    "Final-Recipient: rfc822; canary@example.com\r\n"
	    "Action: failed\r\nStatus: 4.3.1\r\n"
	    "Remote-MTA: dns; mx.example.com\r\n"
	    "Diagnostic-Code: smtp; 452 4.3.1 Insufficient storage\r\n\r\n"
	    "--b\r\nContent-Type: text/rfc822-headers\r\n\r\n"
	    "Message-ID: <%s@example.org>\r\n%s\r\n--b--\r\n", id, returned);
	return (report_read(&rules, mail, strlen(mail), f));
}

static void
a_report_tells_what_became_of_which_probe_and_by_whom(void **state)
{
	struct frame_report	f;

	(void)state;
	assert_int_equal(read_report("To: canary@example.com\r\n",
	    token("probe1"), &f), REPORT_OURS);
	assert_string_equal(f.token, token("probe1"));
	assert_int_equal(f.news, REPORT_LOST);
	assert_int_equal(f.class, CLASS_SYSTEM_FULL);
	assert_int_equal(f.code, 452);
	assert_string_equal(f.enhanced, "4.3.1");
	assert_string_equal(f.action, "failed");
	assert_string_equal(f.remote_mta, "mx.example.com");
	assert_string_equal(f.reporting_mta, "relay.example.net");
	assert_non_null(strstr(f.reply, "Insufficient storage"));
}

static void
a_report_about_anything_else_is_none_of_ours(void **state)
{
	struct frame_report	f;

	(void)state;
	assert_int_equal(read_report("", "x", &f), REPORT_OTHERS);
	assert_int_equal(read_report("", token("probe2"), &f), REPORT_OTHERS);
	assert_string_equal(f.token, "");
}

/* What an alert mail quotes of a session has the token of a probe in it. */
static void
a_notice_that_bounces_says_nothing_about_a_probe(void **state)
{
	struct frame_report	f;

	(void)state;
	assert_int_equal(read_report("X-Mailflow-Notice: failing\r\n",
	    token("probe1"), &f), REPORT_OTHERS);
}

static void
a_mail_of_a_person_is_no_report(void **state)
{
	static const char	mail[] = "From: Some One <x@example.net>\r\n"
				    "Subject: hello\r\n\r\nworld\r\n";
	struct frame_report	f;

	(void)state;
	assert_int_equal(report_read(&rules, mail, sizeof mail - 1, &f),
	    REPORT_NONE);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(only_what_looks_like_a_report_is_read_whole),
		cmocka_unit_test(
		    a_report_tells_what_became_of_which_probe_and_by_whom),
		cmocka_unit_test(a_report_about_anything_else_is_none_of_ours),
		cmocka_unit_test(
		    a_notice_that_bounces_says_nothing_about_a_probe),
		cmocka_unit_test(a_mail_of_a_person_is_no_report),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
