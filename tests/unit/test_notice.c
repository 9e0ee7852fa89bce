#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alerts/notice.h"
#include "alerts/zone.h"
#include "mailboxes/match.h"
#include "monitor/mem.h"
#include "monitor/stamp.h"
#include "monitor/text.h"

#define BEGAN	INT64_C(1767225600000)	/* 2026-01-01T00:00:00Z */
#define SECOND	INT64_C(1000)
#define MINUTE	(60 * SECOND)

static struct notice	n;
static char		message[14336];

static void
local(const char *zone, int64_t wall_ms, char *buf, size_t size)
{
	snprintf(buf, size, "%s+%lld", zone,
	    (long long)((wall_ms - BEGAN) / 1000));
}

static struct notice_facts
facts(void)
{
	return ((struct notice_facts){
		.instance = "probe1", .alerts = "default",
		.timezone = "Europe/Berlin", .local = local,
		.proof_folder = "INBOX", .proof_latency_ms = 412,
		.transcript = "",
	});
}

static struct episode
full(void)
{
	return ((struct episode){
		.id = 17, .scope = "system mx.example.org",
		.class = CLASS_SYSTEM_FULL, .state = EPISODE_FAILING,
		.misses = 3, .refusals = 3, .swings = 1,
		.first_miss_ms = BEGAN, .opened_ms = BEGAN,
		.failing_notice_ms = BEGAN,
		.last_miss_ms = BEGAN + 10 * MINUTE,
		.stage = STAGE_MAIL, .code = 452, .enhanced = "4.3.1",
		.first_reply = "Insufficient system storage",
		.last_reply = "Insufficient system storage",
		.host = "mx.example.org", .routes = "office-to-gmail",
	});
}

static void
write_it(enum notice_kind kind, const struct episode *e)
{
	struct notice_facts	f = facts();

	notice_write(&n, kind, e, &f, BEGAN + 43 * MINUTE + 20 * SECOND);
	assert_true(notice_message(&n, "mailflowd@example.org",
	    "admin@example.org", BEGAN + 43 * MINUTE, message,
	    sizeof message) > 0);
}

static void
says(const char *what)
{
	if (strstr(message, what) == NULL)
		fail_msg("does not say \"%s\":\n%s", what, message);
}

static void
says_not(const char *what)
{
	if (strstr(message, what) != NULL)
		fail_msg("says \"%s\":\n%s", what, message);
}

static void
failing_says_who_what_where_and_since_when(void **state)
{
	struct episode	e = full();

	(void)state;
	write_it(NOTICE_FAILING, &e);
	assert_string_equal(n.subject, "FAILING: mx.example.org answers 452 "
	    "4.3.1 (mail system full), route office-to-gmail");
	says("Date: Thu, 01 Jan 2026 00:43:00 +0000\r\n");
	says("From: mailflowd@example.org\r\nTo: admin@example.org\r\n");
	says("Message-ID: <failing.1.17.");
	says("@probe1.mailflowd>\r\n");
	says_not("References");
	says("Auto-Submitted: auto-generated\r\n");
	says("X-Auto-Response-Suppress: OOF, AutoReply\r\n");
	says("X-Mailflow-Notice: failing\r\n");
	says("to MAIL FROM:\r\n");
	says("\r\n    452 4.3.1 Insufficient system storage\r\n");
	says("2026-01-01 00:00:00 UTC (Europe/Berlin+0)");
	says("Refusals       3\r\n");
	says("mailflowctl ack 17");
	says("df -i");
	says_not("never stored");
	says_not("disk is full");
}

static void
recovery_says_how_long_and_how_much(void **state)
{
	struct episode	e = full();

	(void)state;
	e.state = EPISODE_ACCEPTING;
	e.accepts = 2;
	e.accepting_ms = BEGAN + 43 * MINUTE + 20 * SECOND;
	e.max_delay_ms = 41 * MINUTE;
	write_it(NOTICE_ACCEPTING, &e);
	assert_string_equal(n.subject, "ACCEPTING AGAIN: mx.example.org after "
	    "43 min 20 s (mail system full), route office-to-gmail");
	says("accepts mail again");
	says("It lasted      43 min 20 s\r\n");
	says("Longest delay  41 min\r\n");
	says("Refusals       3\r\n");
	says("up to an hour");
	says("Arrival has not been seen yet");
	e.state = EPISODE_QUIET;
	e.delivered_ms = BEGAN + 44 * MINUTE;
	text_copy(e.closed_by, sizeof e.closed_by, "mf1proof");
	write_it(NOTICE_DELIVERED, &e);
	assert_string_equal(n.subject, "DELIVERED AGAIN: mx.example.org after "
	    "44 min (mail system full), route office-to-gmail");
	says("mf1proof");
	says("INBOX");
	says("412 ms");
	says("References: <failing.1.17.");
	says("In-Reply-To: <failing.1.17.");
}

static void
one_thread_per_episode_and_each_notice_its_own_id(void **state)
{
	struct episode	e = full(), other = full();
	char		ids[5][NOTICE_ID], thread[NOTICE_ID];

	(void)state;
	write_it(NOTICE_FAILING, &e);
	text_copy(ids[0], NOTICE_ID, n.message_id);
	text_copy(thread, NOTICE_ID, n.thread_id);
	assert_string_equal(ids[0], thread);
	e.reminders = 1;
	write_it(NOTICE_REMINDER, &e);
	text_copy(ids[1], NOTICE_ID, n.message_id);
	assert_string_equal(n.thread_id, thread);
	e.reminders = 2;
	write_it(NOTICE_REMINDER, &e);
	text_copy(ids[2], NOTICE_ID, n.message_id);
	e.swings = 2;
	write_it(NOTICE_FAILING, &e);
	text_copy(ids[3], NOTICE_ID, n.message_id);
	assert_string_equal(n.thread_id, thread);
	/* The same number in a store begun anew. */
	other.opened_ms += 1;
	write_it(NOTICE_FAILING, &other);
	text_copy(ids[4], NOTICE_ID, n.message_id);
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(ids[i], ids[k]);
	/* Written again, it is the same. */
	e = full();
	write_it(NOTICE_FAILING, &e);
	assert_string_equal(n.message_id, ids[0]);
}

static void
write_for(const char *section, bool test, char id[static NOTICE_ID])
{
	struct notice_facts	f = facts();
	struct episode		e = full();

	f.alerts = section;
	f.test = test;
	e.id = 0;
	if (test)
		notice_write(&n, NOTICE_FAILING, &e, &f, BEGAN);
	else
		notice_begin(&n, NOTICE_DIGEST, &f, "The day", 1, BEGAN);
	text_copy(id, NOTICE_ID, n.message_id);
}

static void
what_two_sections_owe_at_one_moment_are_two_messages(void **state)
{
	char	a[NOTICE_ID], b[NOTICE_ID], again[NOTICE_ID];

	(void)state;
	for (int test = 0; test < 2; test++) {
		write_for("night", test, a);
		write_for("day shift", test, b);
		assert_string_not_equal(a, b);
		assert_null(strchr(b, ' '));
		assert_int_equal(b[strlen(b) - 1], '>');
		/* Written again, it is the same. */
		write_for("night", test, again);
		assert_string_equal(a, again);
		assert_string_equal(n.thread_id, again);
	}
}

static void
an_episode_s_notice_is_one_message_whatever_the_section(void **state)
{
	struct notice_facts	f = facts();
	struct episode		e = full();
	char			id[NOTICE_ID];

	(void)state;
	write_it(NOTICE_FAILING, &e);
	text_copy(id, NOTICE_ID, n.message_id);
	f.alerts = "other";
	notice_write(&n, NOTICE_FAILING, &e, &f, BEGAN);
	assert_string_equal(n.message_id, id);
}

static void
a_final_refusal_says_that_nothing_was_stored(void **state)
{
	struct episode	e = full();

	(void)state;
	e.code = 552;
	text_copy(e.enhanced, sizeof e.enhanced, "5.3.1");
	write_it(NOTICE_FAILING, &e);
	assert_non_null(strstr(n.subject, "answers 552 5.3.1"));
	says("never stored");
	says("another way");
	says("new test");
	says_not("keeps its test message");
}

static void
no_connection_has_no_code(void **state)
{
	struct episode	e = full();

	(void)state;
	e.class = CLASS_NETWORK;
	e.code = 0;
	e.enhanced[0] = '\0';
	e.stage = STAGE_CONNECT;
	text_copy(e.last_reply, sizeof e.last_reply, "connection refused");
	write_it(NOTICE_FAILING, &e);
	assert_string_equal(n.subject, "FAILING: mx.example.org (no "
	    "connection), route office-to-gmail");
	says("\r\n    connection refused\r\n");
}

static void
blindness_is_not_called_failing(void **state)
{
	struct episode	e = full();

	(void)state;
	e.class = CLASS_BLIND;
	e.code = 0;
	e.host[0] = '\0';
	text_copy(e.scope, sizeof e.scope, "mailbox gmail");
	text_copy(e.last_reply, sizeof e.last_reply, "login refused");
	write_it(NOTICE_FAILING, &e);
	assert_string_equal(n.subject,
	    "CANNOT LOOK: mailbox gmail, route office-to-gmail");
	says("login refused");
	e.delivered_ms = BEGAN + 20 * MINUTE;
	write_it(NOTICE_DELIVERED, &e);
	assert_string_equal(n.subject, "CAN LOOK AGAIN: mailbox gmail after "
	    "20 min, route office-to-gmail");
	says_not("up to an hour");
}

/* Silence after the dot is not tried again, and no notice may say so. */
static void
an_uncertain_mail_is_looked_for_and_not_sent_again(void **state)
{
	struct episode	e = full();

	(void)state;
	e.class = CLASS_UNCERTAIN;
	e.code = 0;
	e.enhanced[0] = '\0';
	e.stage = STAGE_DOT;
	text_copy(e.scope, sizeof e.scope, "route office-to-gmail");
	text_copy(e.last_reply, sizeof e.last_reply, "no reply");
	write_it(NOTICE_FAILING, &e);
	says("never sent again");
	says_not("keeps its test message");
}

static void
a_system_with_a_name_of_its_own_is_named_with_the_host(void **state)
{
	struct episode		e = full();
	struct notice_facts	f = facts();

	(void)state;
	e.class = CLASS_POLICY;
	text_copy(e.scope, sizeof e.scope, "route office-to-gmail");
	text_copy(e.host, sizeof e.host, "127.0.0.1");
	f.system = "garb2";
	notice_write(&n, NOTICE_FAILING, &e, &f, BEGAN + MINUTE);
	assert_non_null(strstr(n.subject, "FAILING: garb2 (127.0.0.1) "
	    "answers"));
	f.system = NULL;
	notice_write(&n, NOTICE_FAILING, &e, &f, BEGAN + MINUTE);
	assert_non_null(strstr(n.subject, "FAILING: 127.0.0.1 answers"));
}

static void
a_refused_recipient_s_notice_says_who_refused(void **state)
{
	struct episode	e = full();

	(void)state;
	e.class = CLASS_NO_SUCH_USER;
	text_copy(e.scope, sizeof e.scope, "recipient a@example.org");
	write_it(NOTICE_FAILING, &e);
	says("Refused by     mx.example.org");
}

static void
late_mail_is_accepted_and_not_seen(void **state)
{
	struct episode	e = full();

	(void)state;
	e.class = CLASS_UNDELIVERED;
	e.origin = EPISODE_BY_AGE;
	e.code = 250;
	e.enhanced[0] = '\0';
	text_copy(e.scope, sizeof e.scope, "route office-to-gmail");
	text_copy(e.last_reply, sizeof e.last_reply, "Ok: queued as 4XYZ");
	write_it(NOTICE_FAILING, &e);
	assert_string_equal(n.subject, "FAILING: mx.example.org accepts, but "
	    "nothing arrives (accepted, but not delivered), route "
	    "office-to-gmail");
	says("250 Ok: queued as 4XYZ");
	says("Late mails");
}

static void
head_has_only_our_fields(void)
{
	static const char *const	ours[] = { "Date:", "From:", "To:",
					    "Subject:", "Message-ID:",
					    "In-Reply-To:", "References:",
					    "Auto-Submitted:",
					    "X-Auto-Response-Suppress:",
					    "X-Mailflow-Notice:",
					    "MIME-Version:", "Content-Type:",
					    "Content-Transfer-Encoding:", " " };
	const char			*line = message;
	size_t				 i;

	for (; strncmp(line, "\r\n", 2) != 0; line = strchr(line, '\n') + 1) {
		for (i = 0; i < NITEMS(ours); i++)
			if (strncmp(line, ours[i], strlen(ours[i])) == 0)
				break;
		if (i == NITEMS(ours))
			fail_msg("a header of theirs: %.40s", line);
	}
}

/* Every byte of the message is ours or harmless. */
static void
nothing_a_server_says_begins_a_header_or_a_line(void **state)
{
	static const char	evil[] = "full\r\nBcc: victim@example.net\r\n"
				    "\r\n.\r\nMAIL FROM:<x>\nX: \033[31m\x7f";
	struct notice_facts	f = facts();

	(void)state;
	for (int kind = NOTICE_FAILING; kind <= NOTICE_UNWATCHED; kind++) {
		struct episode	e = full();
		size_t		len;

		text_copy(e.last_reply, sizeof e.last_reply, evil);
		text_copy(e.first_reply, sizeof e.first_reply, evil + 1);
		text_copy(e.host, sizeof e.host, evil);
		text_copy(e.scope, sizeof e.scope, "system mx\r\nBcc: v@x");
		text_copy(e.routes, sizeof e.routes, "a\r\nBcc:v");
		text_copy(e.enhanced, sizeof e.enhanced, "4\r\n.3.1");
		f.transcript = evil;
		f.proof_folder = evil;
		f.instance = "pro\r\nbe>1";
		notice_write(&n, (enum notice_kind)kind, &e, &f,
		    BEGAN + MINUTE);
		len = notice_message(&n, "m@example.org", "a@example.org",
		    BEGAN, message, sizeof message);
		assert_int_equal(len, strlen(message));
		assert_true(len > 0);
		head_has_only_our_fields();
		for (size_t i = 0; i < len; i++) {
			unsigned char	c = (unsigned char)message[i];

			if (c == '\r')
				assert_int_equal(message[i + 1], '\n');
			else if (c == '\n')
				assert_int_equal(message[i - 1], '\r');
			else
				assert_in_range(c, 0x20, 0x7e);
		}
		assert_true(text_is_ascii(n.subject));
	}
}

static void
controls_in_an_address_stop_the_mail(void **state)
{
	struct episode	e = full();

	(void)state;
	write_it(NOTICE_FAILING, &e);
	assert_int_equal(notice_message(&n, "m@example.org",
	    "a@example.org\r\nBcc: x", BEGAN, message, sizeof message), 0);
	assert_int_equal(notice_message(&n, "m\n", "a@example.org", BEGAN,
	    message, sizeof message), 0);
}

static void
no_line_is_longer_than_mail_likes(void **state)
{
	size_t	column = 0;

	(void)state;
	for (int kind = NOTICE_FAILING; kind <= NOTICE_UNWATCHED; kind++) {
		struct episode	e = full();

		memset(e.last_reply, 'w', sizeof e.last_reply - 1);
		memset(e.host, 'h', sizeof e.host - 1);
		memset(e.routes, 'r', sizeof e.routes - 1);
		memcpy(e.scope, "system ", 7);
		memset(e.scope + 7, 's', sizeof e.scope - 8);
		write_it((enum notice_kind)kind, &e);
		for (const char *s = message; *s != '\0'; s++) {
			column = *s == '\n' ? 0 : column + (*s != '\r');
			/* The subject's one long word cannot be folded. */
			if (column > 76 && strstr(s, "\r\n\r\n") == NULL)
				fail_msg("kind %d: a line of %zu", kind,
				    column);
			assert_true(column < 200);
		}
	}
}

static int
hex(char c)
{
	return (c <= '9' ? c - '0' : c - 'A' + 10);
}

static void
other_scripts_travel_as_quoted_printable(void **state)
{
	static char	plain[sizeof message];
	struct episode	e = full();
	const char	*s;
	size_t		i = 0;

	(void)state;
	text_copy(e.last_reply, sizeof e.last_reply,
	    "Postfach \xc3\xbc" "berf\xc3\xbcllt = voll \xe6\xbb\xa1");
	write_it(NOTICE_FAILING, &e);
	says("charset=utf-8\r\n");
	says("Content-Transfer-Encoding: quoted-printable\r\n");
	assert_true(text_is_ascii(n.subject));
	s = strstr(message, "\r\n\r\n") + 4;
	for (; *s != '\0'; s++) {
		if (strncmp(s, "=\r\n", 3) == 0)
			s += 2;
		else if (*s == '=') {
			plain[i++] = (char)(hex(s[1]) * 16 + hex(s[2]));
			s += 2;
		} else if (*s != '\r')
			plain[i++] = *s;
	}
	assert_string_equal(plain, n.body);
}

static void
what_does_not_fit_is_cut_and_said(void **state)
{
	struct notice_facts	 f = facts();
	struct episode		 e = full();
	char			*transcript = mem_alloc(OUTCOME_TRANSCRIPT);
	size_t			 len;

	(void)state;
	memset(transcript, '=', OUTCOME_TRANSCRIPT - 1);
	for (size_t i = 70; i < OUTCOME_TRANSCRIPT - 1; i += 71)
		transcript[i] = '\n';
	memcpy(transcript, "\xc3\xbc", 2);
	f.transcript = transcript;
	notice_write(&n, NOTICE_FAILING, &e, &f, BEGAN);
	len = notice_message(&n, "m@example.org", "a@example.org", BEGAN,
	    message, 6000);
	assert_in_range(len, 5000, 5999);
	assert_int_equal(len, strlen(message));
	assert_string_equal(message + len - 40,
	    "[The rest of this notice did not fit.]\r\n");
	assert_int_equal(notice_message(&n, "m@example.org", "a@example.org",
	    BEGAN, message, 100), 0);
	assert_int_equal(notice_message(&n, "m@example.org", "a@example.org",
	    BEGAN, message, 0), 0);
	mem_free(transcript);
}

static void
the_transcript_comes_last_line_by_line(void **state)
{
	struct notice_facts	f = facts();
	struct episode		e = full();

	(void)state;
	f.transcript = "> MAIL FROM:<p@example.org>\n< 452 4.3.1 full\n";
	notice_write(&n, NOTICE_FAILING, &e, &f, BEGAN);
	assert_non_null(strstr(n.body, "\nThe session\n"
	    "  | > MAIL FROM:<p@example.org>\n  | < 452 4.3.1 full\n"));
}

static void
a_blind_mailbox_is_named_in_the_accepting_notice(void **state)
{
	struct notice_facts	f = facts();
	struct episode		e = full();

	(void)state;
	e.state = EPISODE_ACCEPTING;
	e.accepting_ms = BEGAN + MINUTE;
	f.mailbox_blind = true;
	notice_write(&n, NOTICE_ACCEPTING, &e, &f, BEGAN + MINUTE);
	assert_non_null(strstr(n.body, "cannot be confirmed"));
	assert_null(strstr(n.body, "has not been seen yet"));
}

static void
a_relapse_says_when_it_began_and_that_it_came_again(void **state)
{
	struct episode	e = full();

	(void)state;
	e.swings = 2;
	e.first_miss_ms = BEGAN + 30 * MINUTE;
	write_it(NOTICE_FAILING, &e);
	says("Since          2026-01-01 00:00:00 UTC");
	says("Again since    2026-01-01 00:30:00 UTC");
	e.delivered_ms = BEGAN + 40 * MINUTE;
	write_it(NOTICE_DELIVERED, &e);
	says("had come back before");
}

static void
late_mail_says_when_it_was_handed_over(void **state)
{
	struct episode	e = full();

	(void)state;
	e.origin = EPISODE_BY_AGE;
	e.class = CLASS_UNDELIVERED;
	e.misses = 1;
	e.opened_ms = e.last_miss_ms = BEGAN + 43 * MINUTE + 20 * SECOND;
	write_it(NOTICE_FAILING, &e);
	says("handed over at 2026-01-01");
	says("43 min 20 s.");
	says("Since          2026-01-01 00:00:00 UTC");
	says("Lasting        43 min 20 s");
	e.misses = 2;
	write_it(NOTICE_REMINDER, &e);
	says("the first of them");
	says_not("under way for");
}

static void
what_is_no_longer_watched_says_since_when_and_that_nobody_knows(void **state)
{
	struct episode	e = full();

	(void)state;
	e.state = EPISODE_QUIET;
	e.delivered_ms = BEGAN + 5 * MINUTE;
	text_copy(e.closed_by, sizeof e.closed_by, EPISODE_UNWATCHED);
	write_it(NOTICE_UNWATCHED, &e);
	assert_memory_equal(n.subject, "NO LONGER WATCHED: mx.example.org, "
	    "open for ", 44);
	says("Open since     2026-01-01 00:00:00 UTC");
	says("It is not known whether the trouble is over.");
	assert_null(strstr(n.body, "delivered"));
	assert_null(strstr(n.body, "ack"));
}

static void
a_test_says_so_in_subject_and_body(void **state)
{
	static const enum notice_kind	kinds[] = { NOTICE_FAILING,
					    NOTICE_ACCEPTING,
					    NOTICE_DELIVERED };
	struct notice_facts		f = facts();

	(void)state;
	f.test = true;
	for (size_t i = 0; i < NITEMS(kinds); i++) {
		struct episode	e = full();

		e.id = 0;
		notice_write(&n, kinds[i], &e, &f, BEGAN + MINUTE);
		assert_memory_equal(n.subject, "TEST: ", 6);
		assert_memory_equal(n.body, "THIS IS A TEST", 14);
		assert_null(strstr(n.body, "Episode"));
		assert_non_null(strstr(n.message_id, "<test-"));
		assert_non_null(strstr(n.thread_id, "<test-failing."));
		assert_true(notice_is_test(&n));
		assert_true(notice_message(&n, "m@example.org",
		    "a@example.org", BEGAN, message, sizeof message) > 0);
	}
}

/*
 * A notice that lands in a watched mailbox, itself, as a copy or in a bounce,
 * must never look like the probe that it speaks of; not even where alerts and
 * probes have one sender.
 */
static void
no_notice_can_be_taken_for_a_probe(void **state)
{
	static const unsigned char	random[TOKEN_RANDOM] = { 1, 2, 3 };
	struct token_key		key = { { 7 } };
	struct match_rules		rules = {
		.key = &key, .instance = "probe1", .mailbox = "box",
		.froms = "mailflowd@example.org",
	};
	struct match			m;
	char				token[TOKEN_SIZE], id[TOKEN_SHORT];
	char				dialogue[512];
	const char			*body;

	(void)state;
	token_make(token, &key, "probe1", "box", random);
	snprintf(dialogue, sizeof dialogue, "C: MAIL FROM:<p@q> ENVID=%s\n"
	    "C: Message-ID: <%s@probe1.mailflowd>\nS: 452 %s\n", token,
	    token, token);
	for (int kind = NOTICE_FAILING; kind <= NOTICE_UNWATCHED; kind++) {
		struct notice_facts	f = facts();
		struct episode		e = full();
		size_t			at = 0;

		f.transcript = dialogue;
		snprintf(e.last_reply, sizeof e.last_reply, "no room for %s",
		    token);
		text_copy(e.first_reply, sizeof e.first_reply, token);
		text_copy(e.closed_by, sizeof e.closed_by, token);
		notice_write(&n, (enum notice_kind)kind, &e, &f,
		    BEGAN + MINUTE);
		assert_true(notice_message(&n, "mailflowd@example.org",
		    "canary@example.com", BEGAN, message, sizeof message) > 0);
		if (kind != NOTICE_ACCEPTING)
			says(token_short(token, id));
		assert_false(token_find(message, strlen(message), &at, token));
		body = strstr(message, "\r\n\r\n");
		assert_non_null(body);
		match_mail(&rules, message, (size_t)(body + 2 - message),
		    body + 4, strlen(body + 4), &m);
		assert_false(m.is_probe);
		assert_string_equal(m.token, "");
		assert_int_equal(m.carrier, MATCH_NOWHERE);
	}
}

static void
a_sentence_can_be_put_in_front(void **state)
{
	struct episode	e = full();

	(void)state;
	write_it(NOTICE_FAILING, &e);
	notice_prefix(&n, "This is late.");
	assert_memory_equal(n.body, "This is late.\n\nmx.example.org", 29);
}

struct span {
	int64_t		 ms;
	const char	*words;
};

static void
spans_read_as_people_say_them(void **state)
{
	static const struct span	rows[] = {
		{ -5, "less than 1 s" }, { 0, "less than 1 s" },
		{ 999, "less than 1 s" }, { 1000, "1 s" }, { 59999, "59 s" },
		{ 60000, "1 min" }, { 61000, "1 min 1 s" },
		{ 2600000, "43 min 20 s" }, { 3600000, "1 h" },
		{ 3601000, "1 h" }, { 7500000, "2 h 5 min" },
		{ INT64_C(86400000), "1 d" }, { INT64_C(100800000), "1 d 4 h" },
		{ INT64_C(864000000), "10 d" },
	};
	char				buf[NOTICE_SPAN];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++)
		assert_string_equal(notice_span(rows[i].ms, buf),
		    rows[i].words);
}

static void
local_time_follows_the_zone_and_leaves_ours_alone(void **state)
{
	char	buf[64];

	(void)state;
	setenv("TZ", "Asia/Tokyo", 1);
	zone_local("Europe/Berlin", BEGAN, buf, sizeof buf);
	assert_string_equal(buf, "2026-01-01 01:00:00 CET");
	zone_local("Europe/Berlin", BEGAN + INT64_C(15897600000), buf,
	    sizeof buf);
	assert_string_equal(buf, "2026-07-04 02:00:00 CEST");
	assert_string_equal(getenv("TZ"), "Asia/Tokyo");
	zone_local("UTC", BEGAN, buf, sizeof buf);
	assert_string_equal(buf, "2026-01-01 00:00:00 UTC");
	zone_local("Europe/London", BEGAN, buf, sizeof buf);
	assert_string_equal(buf, "2026-01-01 00:00:00 GMT");
	zone_local("No/Such_Place", BEGAN, buf, sizeof buf);
	assert_string_equal(buf, "");
	zone_local("UTC", 0, buf, sizeof buf);
	assert_string_equal(buf, "");
	unsetenv("TZ");
	zone_local("Europe/Berlin", BEGAN, buf, sizeof buf);
	assert_null(getenv("TZ"));
}

static void
kinds_lead_back(void **state)
{
	(void)state;
	for (int k = 0; k < NOTICE_KINDS; k++)
		assert_int_equal(k, notice_kind_of(
		    notice_kind_name((enum notice_kind)k)));
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(failing_says_who_what_where_and_since_when),
		cmocka_unit_test(recovery_says_how_long_and_how_much),
		cmocka_unit_test(
		    one_thread_per_episode_and_each_notice_its_own_id),
		cmocka_unit_test(
		    what_two_sections_owe_at_one_moment_are_two_messages),
		cmocka_unit_test(
		    an_episode_s_notice_is_one_message_whatever_the_section),
		cmocka_unit_test(a_final_refusal_says_that_nothing_was_stored),
		cmocka_unit_test(no_connection_has_no_code),
		cmocka_unit_test(blindness_is_not_called_failing),
		cmocka_unit_test(
		    an_uncertain_mail_is_looked_for_and_not_sent_again),
		cmocka_unit_test(
		    a_system_with_a_name_of_its_own_is_named_with_the_host),
		cmocka_unit_test(a_refused_recipient_s_notice_says_who_refused),
		cmocka_unit_test(late_mail_is_accepted_and_not_seen),
		cmocka_unit_test(
		    nothing_a_server_says_begins_a_header_or_a_line),
		cmocka_unit_test(controls_in_an_address_stop_the_mail),
		cmocka_unit_test(no_line_is_longer_than_mail_likes),
		cmocka_unit_test(other_scripts_travel_as_quoted_printable),
		cmocka_unit_test(what_does_not_fit_is_cut_and_said),
		cmocka_unit_test(the_transcript_comes_last_line_by_line),
		cmocka_unit_test(
		    a_blind_mailbox_is_named_in_the_accepting_notice),
		cmocka_unit_test(
		    a_relapse_says_when_it_began_and_that_it_came_again),
		cmocka_unit_test(late_mail_says_when_it_was_handed_over),
		cmocka_unit_test(
		    what_is_no_longer_watched_says_since_when_and_that_nobody_knows),
		cmocka_unit_test(a_test_says_so_in_subject_and_body),
		cmocka_unit_test(no_notice_can_be_taken_for_a_probe),
		cmocka_unit_test(a_sentence_can_be_put_in_front),
		cmocka_unit_test(spans_read_as_people_say_them),
		cmocka_unit_test(
		    local_time_follows_the_zone_and_leaves_ours_alone),
		cmocka_unit_test(kinds_lead_back),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
