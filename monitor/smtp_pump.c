#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

/*
 * Command and reply take turns, as SMTP without PIPELINING does, so each
 * wait is for one side.  Only while the message passes both are watched.
 */

/* The library is in this process: it answers at once or never. */
#define LIBRARY_MS	10000
#define LOGIN_ROUNDS	4
#define BODY_CHUNK	16384

static int
poll_ms(int64_t left_ms)
{
	return (left_ms < 0 ? 0 : left_ms > 60000 ? 60000 : (int)left_ms);
}

/* The library's side */

/* Does not wait: what the socketpair cannot hold the library does not read. */
static void
tell_library(struct smtp_session *s, const char *reply)
{
	(void)!send(smtp_library_fd(s->library), reply, strlen(reply),
	    MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int
library_failed(struct smtp_session *s, const char *what)
{
	return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, true,
	    "the mail library %s", what));
}

/* The session's time may be over because the monitor took it. */
static int
library_silent(struct smtp_session *s)
{
	if (clock_boot_ms() >= s->deadline_boot_ms)
		return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, true,
		    "the time for the session is over"));
	return (library_failed(s, "fell silent"));
}

static bool
wait_library(struct smtp_session *s, int64_t deadline_boot_ms)
{
	struct pollfd	p = { .fd = smtp_library_fd(s->library),
			    .events = POLLIN };
	int		n;

	do
		n = poll(&p, 1, poll_ms(deadline_boot_ms - clock_boot_ms()));
	while (n < 0 && errno == EINTR);
	return (n > 0);
}

/* Its next command, with CRLF, in s->line.  0, or -1: over. */
static int
library_line(struct smtp_session *s)
{
	int64_t	until = smtp_step_deadline(s, LIBRARY_MS);
	size_t	len = 0;
	ssize_t	n;

	while (len == 0 || s->line[len - 1] != '\n') {
		if (len == sizeof s->line - 1)
			return (library_failed(s, "sent a line without end"));
		if (!wait_library(s, until))
			return (library_silent(s));
		n = recv(smtp_library_fd(s->library), s->line + len,
		    sizeof s->line - 1 - len, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return (library_failed(s, "gave up"));
		if (n > 0)
			len += (size_t)n;
	}
	s->line[len] = '\0';
	return (0);
}

/* Its commands */

static int
on_ehlo(struct smtp_session *s)
{
	unsigned	auth = 0;
	char		text[SMTP_GREETING_MAX];

	if (s->job->user[0] != '\0' && !s->logged_in)
		auth = smtp_library_mechanism(s->job, &s->features);
	smtp_features_print(&s->features, auth, text);
	tell_library(s, text);
	return (0);
}

/* The reply to one line of the login; 1: the server asks for more. */
static int
login_round(struct smtp_session *s, const char *shown)
{
	struct reply	r;

	if (smtp_say(s, s->line, shown) != 0 ||
	    smtp_hear(s, s->job->timeout_ms, &r, NULL, NULL) != 0)
		return (-1);
	if (r.code == 334)
		return (1);
	return (smtp_login_taken(s, &r));
}

/*
 * The library does not look at a challenge of PLAIN or LOGIN, so it never
 * gets the server's.
 */
static int
on_auth(struct smtp_session *s)
{
	char	shown[32];
	int	more;

	text_copy(shown, sizeof shown, s->line);	/* "AUTH LOGIN" */
	if (strcspn(shown + 5, " \r\n") + 5 < sizeof shown - 4)
		text_copy(shown + 5 + strcspn(shown + 5, " \r\n"), 5, " ***");
	smtp_stage(s, STAGE_AUTH);
	more = login_round(s, shown);
	for (int i = 0; more == 1 && i < LOGIN_ROUNDS; i++) {
		tell_library(s, "334 R28gb24=\r\n");
		if (library_line(s) != 0)
			return (-1);
		more = login_round(s, "***");
	}
	mem_wipe(s->line, sizeof s->line);
	if (more == 1)
		return (smtp_end(s, CLASS_AUTH, VERDICT_TEMPORARY, true,
		    "the server's login asks without end"));
	if (more != 0)
		return (-1);
	tell_library(s, "235 ok\r\n");
	return (0);
}

static int
on_envelope(struct smtp_session *s, enum stage stage)
{
	struct reply	r;

	smtp_stage(s, stage);
	if (smtp_say(s, s->line, NULL) != 0 ||
	    smtp_hear(s, s->job->timeout_ms, &r, NULL, NULL) != 0 ||
	    smtp_expect(s, &r, 2) != 0)
		return (-1);
	tell_library(s, "250 ok\r\n");
	return (0);
}

/*
 * After a login that failed the library goes on without one, as if nothing
 * was: here is where that ends.
 */
static int
on_mail(struct smtp_session *s)
{
	if (s->job->user[0] != '\0' && !s->logged_in)
		return (smtp_end(s, CLASS_AUTH, VERDICT_TEMPORARY, true,
		    "the mail library did not log in; are its plugins there?"));
	return (on_envelope(s, STAGE_MAIL));
}

static int
on_rcpt(struct smtp_session *s)
{
	return (on_envelope(s, STAGE_RCPT));
}

/* The message */

struct body {
	struct smtp_dot	dot;
	bool		ended;		/* the library has given all of it */
	size_t		at, len;	/* bytes[at..len) wait for the server */
	int64_t		total;
	int64_t		until_boot_ms;	/* the server must take some by then */
	char		bytes[BODY_CHUNK];
};

/* A reply while the message is still on its way ends the session. */
static int
judge_early(struct smtp_session *s)
{
	struct reply	r;
	char		quoted[OUTCOME_REPLY];

	if (!smtp_take_reply(s, &r, NULL, NULL))
		return (0);
	if (r.code >= 400)
		return (smtp_end_reply(s, &r));
	reply_print(&r, quoted, sizeof quoted);
	return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, false,
	    "a reply came before the message's end: %s", quoted));
}

static int
listen_early(struct smtp_session *s)
{
	ptrdiff_t	n;

	if (s->in.len == sizeof s->in.bytes)
		return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, false,
		    "the server talks without end while the message is sent"));
	n = transport_try_read(s->server, s->in.bytes + s->in.len,
	    sizeof s->in.bytes - s->in.len);
	if (n < 0)
		return (smtp_end_transport(s, transport_error(s->server),
		    transport_reason(s->server)));
	s->in.len += (size_t)n;
	return (judge_early(s));
}

static int
take_from_library(struct smtp_session *s, struct body *b)
{
	ssize_t	n;

	n = recv(smtp_library_fd(s->library), b->bytes, sizeof b->bytes,
	    MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (n <= 0)
		return (library_failed(s, "gave up within the message"));
	b->at = 0;
	b->len = smtp_dot_scan(&b->dot, b->bytes, (size_t)n, &b->ended);
	b->total += (int64_t)b->len;
	b->until_boot_ms = smtp_step_deadline(s, s->job->timeout_ms);
	return (0);
}

static int
give_to_server(struct smtp_session *s, struct body *b)
{
	ptrdiff_t	n;

	n = transport_try_write(s->server, b->bytes + b->at, b->len - b->at);
	if (n < 0)
		return (smtp_end_transport(s, transport_error(s->server),
		    transport_reason(s->server)));
	if (n > 0)
		b->until_boot_ms = smtp_step_deadline(s, s->job->timeout_ms);
	b->at += (size_t)n;
	return (0);
}

/* Waits for either side; then does what can be done.  0, or -1: over. */
static int
body_turn(struct smtp_session *s, struct body *b)
{
	bool		full = b->at < b->len;
	int64_t		left = b->until_boot_ms - clock_boot_ms();
	struct pollfd	p[2] = {
		{ .fd = transport_fd(s->server),
		    .events = transport_events(s->server, full) },
		{ .fd = full ? -1 : smtp_library_fd(s->library),
		    .events = POLLIN },
	};
	int		n;

	if (left <= 0)
		return (full ? smtp_end_transport(s, TRANSPORT_TIMEOUT,
		    "timed out: the server does not read") :
		    library_silent(s));
	n = poll(p, 2, poll_ms(left));
	if (n == 0 || (n < 0 && errno == EINTR))
		return (0);
	if (n < 0)
		return (library_failed(s, "cannot be waited for"));
	if ((p[0].revents & ~POLLOUT) != 0 && listen_early(s) != 0)
		return (-1);
	if (p[1].revents != 0)
		return (take_from_library(s, b));
	return (full && p[0].revents != 0 ? give_to_server(s, b) : 0);
}

static int
send_body(struct smtp_session *s)
{
	struct body	*b = mem_alloc(sizeof *b);
	int		 sent = judge_early(s);

	b->until_boot_ms = smtp_step_deadline(s, s->job->timeout_ms);
	transport_arm(s->server, s->deadline_boot_ms, SMTP_REPLY_MAX);
	while (sent == 0 && !(b->ended && b->at == b->len))
		sent = body_turn(s, b);
	smtp_note(s, "C: [message, %lld bytes%s]", (long long)b->total,
	    sent == 0 ? "" : ", not all of them sent");
	s->dot_sent = sent == 0;
	mem_free(b);
	return (sent);
}

/*
 * The reply to the dot is what the whole session was for.  A reply that is
 * neither yes nor no leaves the message's fate open.
 */
static int
hear_verdict(struct smtp_session *s)
{
	struct reply	r;

	if (smtp_hear(s, s->job->dot_timeout_ms, &r, NULL, NULL) != 0 ||
	    (r.code < 400 && smtp_expect(s, &r, 2) != 0))
		return (-1);
	if (r.code / 100 == 2)
		s->out->accepted = clock_now();
	smtp_end_reply(s, &r);
	if (r.code / 100 != 2)
		return (-1);
	s->out->verdict = VERDICT_ACCEPTED;
	s->out->class = CLASS_ACCEPTED;
	smtp_queue_id(r.text, s->out->queue_id, sizeof s->out->queue_id);
	return (0);
}

/* The server said 354: may the body go? */
static int
pass_gate(struct smtp_session *s)
{
	bool	may;

	smtp_stage(s, STAGE_NONE);	/* our own waiting is nobody's time */
	may = !s->job->gate || s->gate(s->gate_arg, s->job->job);
	s->stage_boot_ms = clock_boot_ms();
	if (may)
		return (0);
	return (smtp_end(s, CLASS_OTHER, VERDICT_TEMPORARY, true,
	    "the monitor withheld the message"));
}

static int
on_data(struct smtp_session *s)
{
	struct reply	r;

	smtp_stage(s, STAGE_DATA);
	if (smtp_say(s, s->line, NULL) != 0 ||
	    smtp_hear(s, s->job->timeout_ms, &r, NULL, NULL) != 0 ||
	    smtp_expect(s, &r, 3) != 0 || pass_gate(s) != 0)
		return (-1);
	smtp_stage(s, STAGE_DOT);
	tell_library(s, "354 go\r\n");
	if (send_body(s) != 0)
		return (-1);
	return (hear_verdict(s));
}

static int
on_harmless(struct smtp_session *s)
{
	tell_library(s, "250 ok\r\n");
	return (0);
}

static int
on_quit(struct smtp_session *s)
{
	return (library_failed(s, "ended the session by itself"));
}

static int	(*const handlers[VERBS])(struct smtp_session *) = {
	[VERB_EHLO]	= on_ehlo,
	[VERB_HELO]	= on_ehlo,
	[VERB_AUTH]	= on_auth,
	[VERB_MAIL]	= on_mail,
	[VERB_RCPT]	= on_rcpt,
	[VERB_DATA]	= on_data,
	[VERB_RSET]	= on_harmless,
	[VERB_NOOP]	= on_harmless,
	[VERB_QUIT]	= on_quit,
	[VERB_OTHER]	= on_quit,
};

int
smtp_pump(struct smtp_session *s)
{
	s->library = smtp_library_begin(s->job, &s->features);
	tell_library(s, "220 mailflowd\r\n");
	while (!s->over)
		if (library_line(s) != 0 ||
		    handlers[smtp_verb_of(s->line)](s) != 0)
			return (-1);
	return (0);
}
