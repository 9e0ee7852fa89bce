#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/smtp_send.h"
#include "monitor/text.h"

/*
 * What the session promises to the monitor; the misbehaving servers are in
 * tests/peers/test_hostile_smtp.py.
 */

/* A server of a few words: one session, its replies from the script */

struct peer {
	/* the script; "" keeps silent, NULL is the usual reply */
	const char	*greeting, *ehlo, *auth, *mail, *rcpt, *data, *dot, *quit;
	/* what came */
	char		 commands[16384];
	char		*message;		/* owned; as on the wire */
	_Atomic size_t	 message_len;
	bool		 in_data;		/* 354 was said */
	bool		 ended;			/* the client closed */
	int		 listener;
	uint16_t	 port;
	pthread_t	 thread;
};

static void
say(int fd, const char *reply, const char *usual)
{
	if (reply == NULL)
		reply = usual;
	(void)!send(fd, reply, strlen(reply), MSG_NOSIGNAL);
}

static void
take_message(struct peer *s, FILE *in)
{
	char	*line = NULL;
	size_t	 size = 0;
	ssize_t	 n;

	while ((n = getline(&line, &size, in)) > 0) {
		if (strcmp(line, ".\r\n") == 0)
			break;
		s->message = mem_grow(s->message, s->message_len + (size_t)n +
		    1, 1);
		memcpy(s->message + s->message_len, line, (size_t)n + 1);
		s->message_len += (size_t)n;
	}
	free(line);
}

static void
converse(struct peer *s, FILE *in, int fd)
{
	char	line[8192];

	say(fd, s->greeting, "220 mx.test ESMTP\r\n");
	while (fgets(line, sizeof line, in) != NULL) {
		text_append(s->commands, sizeof s->commands, line);
		if (strncmp(line, "EHLO", 4) == 0)
			say(fd, s->ehlo, "250-mx.test\r\n250-DSN\r\n"
			    "250-SIZE\r\n250-PIPELINING\r\n250 8BITMIME\r\n");
		else if (strncmp(line, "AUTH", 4) == 0)
			say(fd, s->auth, "235 2.7.0 ok\r\n");
		else if (strncmp(line, "MAIL", 4) == 0)
			say(fd, s->mail, "250 2.1.0 ok\r\n");
		else if (strncmp(line, "RCPT", 4) == 0)
			say(fd, s->rcpt, "250 2.1.5 ok\r\n");
		else if (strncmp(line, "DATA", 4) == 0) {
			say(fd, s->data, "354 go\r\n");
			if (s->data != NULL && strncmp(s->data, "354", 3) != 0)
				continue;
			s->in_data = true;
			take_message(s, in);
			say(fd, s->dot, "250 2.0.0 Ok: queued as 4ABC\r\n");
		} else if (strncmp(line, "QUIT", 4) == 0)
			say(fd, s->quit, "221 bye\r\n");
		else
			say(fd, NULL, "500 what\r\n");
	}
	s->ended = true;
}

static void *
serve(void *arg)
{
	struct peer	*s = arg;
	int		 fd = accept(s->listener, NULL, NULL);
	FILE		*in;

	if (fd == -1)
		return (NULL);
	in = fdopen(fd, "r");
	converse(s, in, fd);
	fclose(in);
	return (NULL);
}

static void
peer_start(struct peer *s)
{
	struct sockaddr_in	in = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t		len = sizeof in;

	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&in, sizeof in),
	    0);
	assert_int_equal(listen(s->listener, 4), 0);
	assert_int_equal(getsockname(s->listener, (struct sockaddr *)&in,
	    &len), 0);
	s->port = ntohs(in.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void
peer_end(struct peer *s)
{
	pthread_join(s->thread, NULL);
	close(s->listener);
}

static void
peer_free(struct peer *s)
{
	mem_free(s->message);
	s->message = NULL;
}

/* Jobs */

static struct frame_job	job;
static struct outcome	out;

static const char	text[] =
    "From: <probe@example.org>\r\n"
    "To: <canary@example.com>\r\n"
    "Date: Sat, 31 Jan 2026 12:00:00 +0000\r\n"
    "Message-ID: <mf1@example.org>\r\n"
    "Subject: [probe mf1]\r\n"
    "X-Mailflow-Probe: mf1\r\n"
    "Auto-Submitted: auto-generated\r\n"
    "Mime-Version: 1.0\r\n"
    "Content-Type: text/plain; charset=us-ascii\r\n"
    "\r\n"
    "Hello.\r\n"
    ".hidden dot\r\n"
    "\r\n"
    "End.\r\n";

/* The same with the dot that SMTP puts before a dot (RFC 5321 4.5.2). */
static const char	text_on_wire[] =
    "From: <probe@example.org>\r\n"
    "To: <canary@example.com>\r\n"
    "Date: Sat, 31 Jan 2026 12:00:00 +0000\r\n"
    "Message-ID: <mf1@example.org>\r\n"
    "Subject: [probe mf1]\r\n"
    "X-Mailflow-Probe: mf1\r\n"
    "Auto-Submitted: auto-generated\r\n"
    "Mime-Version: 1.0\r\n"
    "Content-Type: text/plain; charset=us-ascii\r\n"
    "\r\n"
    "Hello.\r\n"
    "..hidden dot\r\n"
    "\r\n"
    "End.\r\n";

static void
job_for(const struct peer *s)
{
	memset(&job, 0, sizeof job);
	job.job = 4711;
	job.port = s->port;
	job.connect_timeout_ms = job.timeout_ms = job.dot_timeout_ms = 3000;
	job.deadline_ms = 8000;
	job.gate = true;
	text_copy(job.host, sizeof job.host, "127.0.0.1");
	text_copy(job.helo, sizeof job.helo, "probe1.example.org");
	text_copy(job.from, sizeof job.from, "probe@example.org");
	text_copy(job.to, sizeof job.to, "canary@example.com");
	text_copy(job.envid, sizeof job.envid, "mf1abc");
	text_copy(job.message, sizeof job.message, text);
}

struct gate {
	unsigned	asked;
	uint64_t	job;
	bool		answer;
	pthread_t	thread;
	struct peer	*server;
	size_t		seen;		/* bytes of the message by then */
};

static bool
gate(void *arg, uint64_t id)
{
	struct gate	*g = arg;

	g->asked++;
	g->job = id;
	g->thread = pthread_self();
	if (g->server != NULL)
		g->seen = g->server->message_len;
	return (g->answer);
}

static bool
never_asked(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
	fail_msg("the gate was asked");
	return (false);
}

/* The whole session with that server; the outcome is in `out`. */
static void
send_to(struct peer *s, struct gate *g)
{
	struct smtp_session	*session;

	session = smtp_send(&job, g != NULL ? gate : never_asked, g, &out);
	assert_true(smtp_close(&session));
	assert_null(session);
	peer_end(s);
}

/* The stories */

static void
libesmtp_lands_in_our_connect(void **state)
{
	(void)state;
	assert_true(smtp_send_self_test());
}

static void
other_connections_are_left_alone(void **state)
{
	struct sockaddr_in	discard = { .sin_family = AF_INET,
				    .sin_port = htons(9),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int			fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(connect(fd, (struct sockaddr *)&discard,
	    sizeof discard), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

static void
a_message_arrives_byte_for_byte(void **state)
{
	struct peer	s = { 0 };
	struct gate	g = { .answer = true };

	(void)state;
	peer_start(&s);
	job_for(&s);
	send_to(&s, &g);
	assert_string_equal(s.message, text_on_wire);
	assert_string_equal(s.commands,
	    "EHLO probe1.example.org\r\n"
	    "MAIL FROM:<probe@example.org> SIZE=294 RET=HDRS ENVID=mf1abc\r\n"
	    "RCPT TO:<canary@example.com> NOTIFY=FAILURE,DELAY\r\n"
	    "DATA\r\n"
	    "QUIT\r\n");
	peer_free(&s);
}

static void
an_accepted_message_is_told_with_all_that_is_known(void **state)
{
	static const enum stage	reached[] = { STAGE_LOOKUP, STAGE_CONNECT,
				    STAGE_GREETING, STAGE_EHLO, STAGE_MAIL,
				    STAGE_RCPT, STAGE_DATA, STAGE_DOT };
	struct peer		s = { 0 };
	struct gate		g = { .answer = true };

	(void)state;
	peer_start(&s);
	job_for(&s);
	send_to(&s, &g);
	assert_int_equal(out.verdict, VERDICT_ACCEPTED);
	assert_int_equal(out.class, CLASS_ACCEPTED);
	assert_int_equal(out.stage, STAGE_DOT);
	assert_int_equal(out.code, 250);
	assert_string_equal(out.enhanced, "2.0.0");
	assert_string_equal(out.queue_id, "4ABC");
	assert_string_equal(out.host, "127.0.0.1");
	assert_string_equal(out.address, "127.0.0.1");
	assert_string_equal(out.tls, "none");
	assert_false(out.blind);
	assert_true(out.started.wall_ms > 0);
	assert_true(out.started.boot_ms <= out.accepted.boot_ms);
	assert_true(out.accepted.boot_ms <= out.finished.boot_ms);
	for (size_t i = 0; i < NITEMS(reached); i++)
		assert_true(out.stage_ms[reached[i]] >= 0);
	assert_int_equal(out.stage_ms[STAGE_STARTTLS], -1);
	assert_int_equal(out.stage_ms[STAGE_AUTH], -1);
	peer_free(&s);
}

static void
without_dsn_and_size_no_parameter_is_sent(void **state)
{
	struct peer	s = { .ehlo = "250 mx.test\r\n" };
	struct gate	g = { .answer = true };

	(void)state;
	peer_start(&s);
	job_for(&s);
	send_to(&s, &g);
	assert_non_null(strstr(s.commands,
	    "MAIL FROM:<probe@example.org>\r\nRCPT TO:<canary@example.com>\r\n"));
	peer_free(&s);
}

static void
an_alert_asks_for_no_reports_and_passes_no_gate(void **state)
{
	struct peer	s = { 0 };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.kind = JOB_ALERT;
	job.gate = false;
	job.notify_never = true;
	job.envid[0] = '\0';
	send_to(&s, NULL);
	assert_int_equal(out.verdict, VERDICT_ACCEPTED);
	assert_non_null(strstr(s.commands, "NOTIFY=NEVER"));
	assert_null(strstr(s.commands, "ENVID"));
	peer_free(&s);
}

static void
text_beyond_ascii_is_announced(void **state)
{
	struct peer	s = { 0 };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.gate = false;
	text_append(job.message, sizeof job.message, "Gr\303\274\303\237e\r\n");
	send_to(&s, NULL);
	assert_non_null(strstr(s.commands, "BODY=8BITMIME"));
	assert_non_null(strstr(s.message, "Gr\303\274\303\237e\r\n"));
	peer_free(&s);
}

static void
the_body_waits_for_the_gate(void **state)
{
	struct peer	s = { 0 };
	struct gate	g = { .answer = true, .server = &s };

	(void)state;
	peer_start(&s);
	job_for(&s);
	send_to(&s, &g);
	assert_int_equal(g.asked, 1);
	assert_int_equal(g.job, 4711);
	assert_true(pthread_equal(g.thread, pthread_self()));
	assert_int_equal(g.seen, 0);
	peer_free(&s);
}

static void
a_closed_gate_lets_no_byte_of_the_body_out(void **state)
{
	struct peer	s = { 0 };
	struct gate	g = { .answer = false };

	(void)state;
	peer_start(&s);
	job_for(&s);
	send_to(&s, &g);
	assert_true(s.in_data);
	assert_int_equal(s.message_len, 0);
	assert_int_equal(out.verdict, VERDICT_TEMPORARY);
	assert_int_equal(out.stage, STAGE_DATA);
	assert_true(out.blind);
	assert_int_equal(out.accepted.wall_ms, 0);
	peer_free(&s);
}

static void
no_gate_is_asked_when_the_server_refuses_before(void **state)
{
	struct peer	s = { .mail = "452 4.3.1 Insufficient system storage\r\n" };

	(void)state;
	peer_start(&s);
	job_for(&s);
	send_to(&s, NULL);
	assert_int_equal(out.class, CLASS_SYSTEM_FULL);
	assert_int_equal(out.verdict, VERDICT_TEMPORARY);
	assert_int_equal(out.stage, STAGE_MAIL);
	assert_int_equal(out.code, 452);
	assert_string_equal(out.enhanced, "4.3.1");
	assert_string_equal(out.reply, "Insufficient system storage");
	assert_non_null(strstr(s.commands, "QUIT\r\n"));
	peer_free(&s);
}

/* QUIT is never answered, yet the outcome is there; then a second at most. */
static void
nobody_waits_for_quit(void **state)
{
	struct peer		 s = { .quit = "" };
	struct gate		 g = { .answer = true };
	struct smtp_session	*session;
	int64_t			 began;

	(void)state;
	peer_start(&s);
	job_for(&s);
	session = smtp_send(&job, gate, &g, &out);
	assert_int_equal(out.verdict, VERDICT_ACCEPTED);
	assert_null(strstr(s.commands, "QUIT"));
	began = clock_boot_ms();
	assert_true(smtp_close(&session));
	assert_in_range(clock_boot_ms() - began, 900, 2500);
	peer_end(&s);
	assert_true(s.ended);
	peer_free(&s);
}

static void
a_message_is_padded_to_the_byte(void **state)
{
	static const int64_t	sizes[] = { 295, 296, 297, 1000, 100000 };

	(void)state;
	for (size_t i = 0; i < NITEMS(sizes); i++) {
		struct peer	s = { 0 };
		char		want[32];

		peer_start(&s);
		job_for(&s);
		job.gate = false;
		job.size = sizes[i];
		send_to(&s, NULL);
		assert_int_equal(out.verdict, VERDICT_ACCEPTED);
		/* the message has 294; one more makes no line of its own */
		snprintf(want, sizeof want, " SIZE=%lld ",
		    (long long)(sizes[i] == 295 ? 294 : sizes[i]));
		assert_non_null(strstr(s.commands, want));
		assert_int_equal(s.message_len - 1, sizes[i] == 295 ? 294 :
		    sizes[i]);	/* - 1: the stuffed dot */
		peer_free(&s);
	}
}

static void
the_transcript_has_neither_secret_nor_body(void **state)
{
	struct peer	s = { .ehlo = "250-mx.test\r\n250 AUTH LOGIN PLAIN\r\n",
			    .auth = "235 2.7.0 welcome, hunter22\r\n" };
	struct gate	g = { .answer = true };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.insecure_auth = true;
	text_copy(job.user, sizeof job.user, "probe");
	text_copy(job.secret, sizeof job.secret, "hunter22");
	send_to(&s, &g);
	assert_int_equal(out.verdict, VERDICT_ACCEPTED);
	assert_non_null(strstr(s.commands,
	    "AUTH PLAIN AHByb2JlAGh1bnRlcjIy\r\n"));
	assert_non_null(strstr(out.transcript, "C: AUTH PLAIN ***\n"));
	assert_null(strstr(out.transcript, "hunter22"));
	assert_null(strstr(out.transcript, "AHByb2JlAGh1bnRlcjIy"));
	assert_null(strstr(out.transcript, "Hello."));
	assert_non_null(strstr(out.transcript, "C: [message, 298 bytes]"));
	assert_non_null(strstr(out.transcript, "S: 354 go\n"));
	peer_free(&s);
}

static void
a_password_does_not_travel_in_the_clear(void **state)
{
	struct peer	s = { .ehlo = "250-mx.test\r\n250 AUTH PLAIN\r\n" };

	(void)state;
	peer_start(&s);
	job_for(&s);
	text_copy(job.user, sizeof job.user, "probe");
	text_copy(job.secret, sizeof job.secret, "hunter22");
	send_to(&s, NULL);
	assert_int_equal(out.class, CLASS_AUTH);
	assert_int_equal(out.verdict, VERDICT_TEMPORARY);
	assert_true(out.blind);
	assert_string_equal(s.commands, "EHLO probe1.example.org\r\nQUIT\r\n");
	peer_free(&s);
}

static void
no_mail_is_sent_after_a_refused_login(void **state)
{
	struct peer	s = { .ehlo = "250-mx.test\r\n250 AUTH PLAIN LOGIN\r\n",
			    .auth = "535 5.7.8 bad\r\n" };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.insecure_auth = true;
	text_copy(job.user, sizeof job.user, "probe");
	text_copy(job.secret, sizeof job.secret, "wrong");
	send_to(&s, NULL);
	assert_int_equal(out.class, CLASS_AUTH);
	assert_int_equal(out.verdict, VERDICT_TEMPORARY);
	assert_int_equal(out.code, 535);
	assert_true(out.blind);
	assert_null(strstr(s.commands, "MAIL"));
	assert_null(strstr(s.commands, "AUTH LOGIN"));	/* one try only */
	peer_free(&s);
}

static void
a_token_is_sent_as_xoauth2(void **state)
{
	struct peer	s = { .ehlo = "250-mx.test\r\n250 AUTH PLAIN XOAUTH2\r\n" };
	struct gate	g = { .answer = true };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.insecure_auth = job.oauth = true;
	text_copy(job.user, sizeof job.user, "user@example.com");
	text_copy(job.secret, sizeof job.secret, "vF9dft4qmT");
	send_to(&s, &g);
	assert_int_equal(out.verdict, VERDICT_ACCEPTED);
	assert_true(out.stage_ms[STAGE_AUTH] >= 0);
	assert_non_null(strstr(s.commands, "AUTH XOAUTH2 dXNlcj11c2VyQGV4YW1wbG"
	    "UuY29tAWF1dGg9QmVhcmVyIHZGOWRmdDRxbVQBAQ==\r\n"));
	assert_null(strstr(out.transcript, "dXNlcj11"));
	peer_free(&s);
}

static void
silence_after_the_dot_is_uncertain(void **state)
{
	struct peer	s = { .dot = "" };
	struct gate	g = { .answer = true };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.dot_timeout_ms = 200;
	send_to(&s, &g);
	assert_int_equal(out.verdict, VERDICT_UNCERTAIN);
	assert_int_equal(out.class, CLASS_UNCERTAIN);
	assert_int_equal(out.stage, STAGE_DOT);
	assert_int_equal(out.accepted.wall_ms, 0);
	assert_in_range(out.stage_ms[STAGE_DOT], 190, 1500);
	peer_free(&s);
}

/* Each reply takes less than its own limit, all of them too long. */
static void
the_deadline_bounds_the_whole_session(void **state)
{
	struct peer	s = { .rcpt = "" };
	int64_t		began = clock_boot_ms();

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.timeout_ms = 60000;
	job.deadline_ms = 1500;
	send_to(&s, NULL);
	assert_int_equal(out.class, CLASS_NETWORK);
	assert_int_equal(out.stage, STAGE_RCPT);
	assert_in_range(clock_boot_ms() - began, 1490, 15000);
	peer_free(&s);
}

static void
a_check_only_looks_at_the_server(void **state)
{
	struct peer	s = { 0 };

	(void)state;
	peer_start(&s);
	job_for(&s);
	job.kind = JOB_CHECK;
	text_copy(job.user, sizeof job.user, "probe");
	send_to(&s, NULL);
	assert_int_equal(out.class, CLASS_ACCEPTED);
	assert_int_equal(out.stage, STAGE_EHLO);
	assert_int_equal(out.accepted.wall_ms, 0);
	assert_string_equal(s.commands, "EHLO probe1.example.org\r\nQUIT\r\n");
	peer_free(&s);
}

static void
what_would_break_a_command_is_not_sent(void **state)
{
	static const struct {
		const char	*from, *to, *helo, *secret;
	} rows[] = {
		{ "a@b", "c@d>\r\nDATA", "h", "" },
		{ "a@b\n", "c@d", "h", "" },
		{ "a@b", "d\303\274r@example.org", "h", "" },
		{ "a@b", "", "h", "" },
		{ "a@b", "c@d", "h\r\nMAIL", "" },
		{ "a@b", "c@d", "", "" },
		{ "a@b", "c@d", "h", "pass\r\nword" },
	};
	struct peer		 s = { 0 };
	struct smtp_session	*session;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		job_for(&s);
		text_copy(job.from, sizeof job.from, rows[i].from);
		text_copy(job.to, sizeof job.to, rows[i].to);
		text_copy(job.helo, sizeof job.helo, rows[i].helo);
		text_copy(job.secret, sizeof job.secret, rows[i].secret);
		session = smtp_send(&job, never_asked, NULL, &out);
		assert_true(out.verdict == VERDICT_PERMANENT || out.blind);
		assert_int_equal(out.stage, STAGE_NONE);
		assert_true(out.reply[0] != '\0');
		assert_true(smtp_close(&session));
	}
}

static int
set_up(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(libesmtp_lands_in_our_connect),
		cmocka_unit_test(other_connections_are_left_alone),
		cmocka_unit_test(a_message_arrives_byte_for_byte),
		cmocka_unit_test(
		    an_accepted_message_is_told_with_all_that_is_known),
		cmocka_unit_test(without_dsn_and_size_no_parameter_is_sent),
		cmocka_unit_test(an_alert_asks_for_no_reports_and_passes_no_gate),
		cmocka_unit_test(text_beyond_ascii_is_announced),
		cmocka_unit_test(the_body_waits_for_the_gate),
		cmocka_unit_test(a_closed_gate_lets_no_byte_of_the_body_out),
		cmocka_unit_test(no_gate_is_asked_when_the_server_refuses_before),
		cmocka_unit_test(nobody_waits_for_quit),
		cmocka_unit_test(a_message_is_padded_to_the_byte),
		cmocka_unit_test(the_transcript_has_neither_secret_nor_body),
		cmocka_unit_test(a_password_does_not_travel_in_the_clear),
		cmocka_unit_test(no_mail_is_sent_after_a_refused_login),
		cmocka_unit_test(a_token_is_sent_as_xoauth2),
		cmocka_unit_test(silence_after_the_dot_is_uncertain),
		cmocka_unit_test(the_deadline_bounds_the_whole_session),
		cmocka_unit_test(a_check_only_looks_at_the_server),
		cmocka_unit_test(what_would_break_a_command_is_not_sent),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
