#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "mailboxes/match.h"
#include "monitor/mem.h"
#include "monitor/sasl.h"

static const struct token_key	key = { { 7 } };
static const struct match_rules	rules = { &key, "probe1", "canary",
				    "probe@example.org\nother@example.org" };
static const struct match_rules	elsewhere = { &key, "probe1", "work",
				    "probe@example.org" };

static const char *
token(void)
{
	static const unsigned char	random[TOKEN_RANDOM] = { 1, 2, 3 };
	static char			t[TOKEN_SIZE];

	token_make(t, &key, "probe1", "canary", random);
	return (t);
}

/* A mail with the token in place of each "%s". */
static struct match
matched(const struct match_rules *r, const char *head, const char *body)
{
	char		h[2048], b[2048];
	const char	*t = token();
	struct match	m;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(h, sizeof h, head, t, t, t, t);
	snprintf(b, sizeof b, body, t, t, t, t);
#pragma GCC diagnostic pop
	match_mail(r, h, strlen(h), b, strlen(b), &m);
	return (m);
}

#define FROM	"From: Probe <probe@example.org>\r\n"

static const struct {
	const char	*what, *head, *body;
	bool		 found, is_probe;
} rows[] = {
	{ "the probe as it was sent", FROM "Subject: Mail flow test %s\r\n"
	    "Message-ID: <%s@example.org>\r\nX-Mailflow-Probe: %s\r\n"
	    "Auto-Submitted: auto-generated\r\n", "", true, true },
	{ "only the subject is left, with a mark in front",
	    FROM "Subject: [EXTERNAL] Mail flow test %s\r\n", "", true, true },
	{ "the subject was folded", FROM "Subject: Mail flow test\r\n %s\r\n",
	    "", true, true },
	{ "the subject was encoded",
	    FROM "Subject: =?utf-8?Q?Mail_flow?= =?utf-8?Q?_test_%s?=\r\n", "",
	    true, true },
	{ "upper case", FROM "SUBJECT: %s\r\n", "", true, true },
	{ "Exchange keeps our Message-ID in a field of its own", FROM
	    "Message-ID: <x@y>\r\n"
	    "X-Microsoft-Original-Message-ID: <%s@example.org>\r\n", "", true,
	    true },
	{ "Gmail keeps it in another", FROM "Message-ID: <x@y>\r\n"
	    "X-Google-Original-Message-ID: <%s@example.org>\r\n", "", true,
	    true },
	{ "only the body is left", FROM, "This is a test, %s.\r\n", true, true },
	{ "the body was quoted-printable",
	    FROM "Content-Transfer-Encoding: quoted-printable\r\n",
	    "a=3D=\r\n%s\r\n", true, true },
	{ "another of our senders", "From: OTHER@example.org\r\n"
	    "X-Mailflow-Probe: %s\r\n", "", true, true },
	{ "a stranger sent it", "From: human@example.net\r\n"
	    "X-Mailflow-Probe: %s\r\n", "", true, false },
	{ "it has no sender", "X-Mailflow-Probe: %s\r\n", "", true, false },
	{ "two senders", "From: probe@example.org, human@example.net\r\n"
	    "X-Mailflow-Probe: %s\r\n", "", true, false },
	{ "the name only looks like ours",
	    "From: \"probe@example.org\" <human@example.net>\r\n"
	    "X-Mailflow-Probe: %s\r\n", "", true, false },
	{ "a reply", FROM "X-Mailflow-Probe: %s\r\nIn-Reply-To: <x@y>\r\n", "",
	    true, false },
	{ "a reply that only refers to it", FROM
	    "References: <%s@example.org>\r\n", "", true, false },
	{ "a gateway's word before the subject",
	    FROM "X-Mailflow-Probe: %s\r\nSubject: EXT: Mail flow test\r\n", "",
	    true, true },
	{ "another one", FROM "Message-ID: <%s@example.org>\r\n"
	    "Subject: [x] WARNING: Mail flow test\r\n", "", true, true },
	{ "an answer that kept the field", FROM "X-Mailflow-Probe: %s\r\n"
	    "Subject: Re[2]: Mail flow test\r\n", "", true, false },
	{ "a word in a language that nobody knows",
	    FROM "Subject: Xyz: Mail flow test %s\r\n", "", true, false },
	{ "a reply by its subject", FROM "Subject: Re: Mail flow test %s\r\n",
	    "", true, false },
	{ "a reply behind a mark", FROM "Subject: [list] AW: %s\r\n", "", true,
	    false },
	{ "a forward", FROM "Subject: Fwd: Mail flow test %s\r\n", "", true,
	    false },
	{ "an automatic answer", FROM "X-Mailflow-Probe: %s\r\n"
	    "Auto-Submitted: auto-replied\r\n", "", true, false },
	{ "a bounce", FROM "X-Mailflow-Probe: %s\r\n"
	    "Content-Type: multipart/report; report-type=delivery-status\r\n",
	    "", true, false },
	{ "something else", FROM "Subject: hello\r\n", "world", false, false },
	{ "a token that letters touch", FROM "Subject: x%sx\r\n", "", false,
	    false },
};

/* As a gateway makes of a mail that it puts a warning in front of. */
static void
a_token_is_found_in_an_encoded_part(void **state)
{
	static const char	head[] = FROM "Content-Type: multipart/mixed;\r\n"
	    " boundary=\"q q\"\r\n\r\n";
	static const char	*const frames[] = {
		"--q q\r\nContent-Type: text/html\r\n"
		    "Content-Transfer-Encoding: BASE64\r\n\r\n%s\r\n--q q--\r\n",
		"\r\n--q q\r\nContent-Type: multipart/alternative;"
		    " boundary=w\r\n\r\n--w\r\nContent-Transfer-Encoding: "
		    "base64\r\n\r\n%s\r\n--w--\r\n--q q--\r\n",
		/* cut where no more of it was fetched */
		"--q q\r\nContent-Transfer-Encoding: base64\r\n\r\n%sAAA",
	};
	char		plain[128], coded[256], body[1024];
	struct match	m;

	(void)state;
	snprintf(plain, sizeof plain, "EXTERNAL MAIL. a test, %s.\r\n", token());
	assert_true(sasl_base64(coded, sizeof coded, plain,
	    strlen(plain)) > 0);
	memmove(coded + 42, coded + 40, strlen(coded) - 39);
	memcpy(coded + 40, "\r\n", 2);
	for (size_t i = 0; i < NITEMS(frames); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(body, sizeof body, frames[i], coded);
#pragma GCC diagnostic pop
		match_mail(&rules, head, strlen(head), body, strlen(body), &m);
		assert_int_equal(m.carrier, MATCH_BODY);
		assert_true(m.is_probe);
		/* Not by another boundary than the mail's own. */
		match_mail(&rules, FROM "\r\n", strlen(FROM "\r\n"), body,
		    strlen(body), &m);
		assert_int_equal(m.carrier, MATCH_NOWHERE);
	}
}

static void
each_mail_is_what_it_is(void **state)
{
	struct match	m;
	size_t		i;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++) {
		print_message("%s\n", rows[i].what);
		m = matched(&rules, rows[i].head, rows[i].body);
		assert_int_equal(m.carrier != MATCH_NOWHERE, rows[i].found);
		assert_int_equal(m.is_probe, rows[i].is_probe);
		assert_string_equal(m.token, rows[i].found ? token() : "");
		assert_false(m.stranger);
	}
}

#define HIM	"From: Responder <canary@example.net>\r\n"

static const struct {
	const char	*what, *head, *body;
	enum echo_sign	 sign;
} echoes[] = {
	{ "the probe is no echo of itself",
	    FROM "X-Mailflow-Probe: %s\r\n", "", SIGN_NONE },
	{ "passed on under another name", HIM "Message-ID: <%s@x>\r\n", "",
	    SIGN_COPY },
	{ "passed on with our own field", HIM "Subject: Fwd: test\r\n"
	    "X-Mailflow-Probe: %s\r\nIn-Reply-To: <x@y>\r\n", "", SIGN_COPY },
	{ "an answer that refers to it", HIM "In-Reply-To: <%s@x>\r\n", "",
	    SIGN_ANSWER },
	{ "one that only repeats the subject",
	    HIM "Subject: Automatic reply: Mail flow test %s\r\n", "",
	    SIGN_ANSWER },
	{ "one that quotes the text", HIM "Subject: thank you\r\n",
	    "> This is a test, %s.\r\n", SIGN_ANSWER },
	{ "a bounce", HIM "Subject: Undelivered %s\r\nContent-Type: "
	    "multipart/report; report-type=delivery-status\r\n", "",
	    SIGN_NONE },
	{ "anything else", HIM "Subject: hello\r\n", "", SIGN_NONE },
};

static void
an_echo_is_told_by_what_it_keeps_or_quotes(void **state)
{
	struct match	m;

	(void)state;
	for (size_t i = 0; i < NITEMS(echoes); i++) {
		print_message("%s\n", echoes[i].what);
		m = matched(&rules, echoes[i].head, echoes[i].body);
		assert_int_equal(m.sign, echoes[i].sign);
	}
}

static void
the_same_mail_in_another_mailbox_is_a_stranger(void **state)
{
	struct match	m;

	(void)state;
	m = matched(&elsewhere, FROM "X-Mailflow-Probe: %s\r\n", "");
	assert_int_equal(m.carrier, MATCH_NOWHERE);
	assert_false(m.is_probe);
	assert_true(m.stranger);
}

static void
a_forged_token_does_not_hide_a_true_one(void **state)
{
	char		head[512], forged[TOKEN_SIZE];
	struct match	m;

	(void)state;
	memcpy(forged, token(), sizeof forged);
	forged[TOKEN_LEN - 1] = forged[TOKEN_LEN - 1] == 'a' ? 'b' : 'a';
	snprintf(head, sizeof head, FROM "X-Mailflow-Probe: %s\r\n"
	    "Subject: %s\r\n", forged, token());
	match_mail(&rules, head, strlen(head), "", 0, &m);
	assert_string_equal(m.token, token());
	assert_true(m.is_probe);
	assert_true(m.stranger);
}

static void
a_mail_of_ours_without_token_is_worth_a_look_inside(void **state)
{
	(void)state;
	assert_true(matched(&rules, FROM, "").ours_perhaps);
	assert_false(matched(&rules, "From: human@example.net\r\n",
	    "").ours_perhaps);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(each_mail_is_what_it_is),
		cmocka_unit_test(a_token_is_found_in_an_encoded_part),
		cmocka_unit_test(an_echo_is_told_by_what_it_keeps_or_quotes),
		cmocka_unit_test(the_same_mail_in_another_mailbox_is_a_stranger),
		cmocka_unit_test(a_forged_token_does_not_hide_a_true_one),
		cmocka_unit_test(
		    a_mail_of_ours_without_token_is_worth_a_look_inside),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
