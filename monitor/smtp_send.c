#include "monitor/smtp_send.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/route.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

/* Before the session */

/*
 * libESMTP puts these into its commands as they are, and truncates a command
 * at 1 KiB.  What the configuration let pass is still refused here.
 */
static const char *
bad_address(const char *address)
{
	switch (smtp_address_check(address)) {
	case SMTP_ADDRESS_UTF8:
		return ("has letters beyond ASCII, which needs SMTPUTF8; "
		    "mailflowd cannot send it");
	case SMTP_ADDRESS_BAD:
		return ("cannot stand in an SMTP command");
	case SMTP_ADDRESS_GOOD:
		break;
	}
	return (NULL);
}

static int
check_addresses(struct smtp_session *s)
{
	const char	*const addresses[] = { s->job->from, s->job->to };
	const char	*why;

	if (s->job->kind == JOB_CHECK)
		return (0);
	for (size_t i = 0; i < NITEMS(addresses); i++)
		if ((why = bad_address(addresses[i])) != NULL)
			return (smtp_end(s, CLASS_OTHER, VERDICT_PERMANENT,
			    false, "the address %s %s", addresses[i], why));
	if (s->job->to[0] == '\0')
		return (smtp_end(s, CLASS_OTHER, VERDICT_PERMANENT, false,
		    "there is no recipient"));
	return (0);
}

/* A job whose words would break the protocol is not begun. */
static int
check_job(struct smtp_session *s)
{
	if (s->job->helo[0] == '\0' || !text_is_ascii(s->job->helo) ||
	    strchr(s->job->helo, ' ') != NULL ||
	    !text_is_ascii(s->job->envid))
		return (smtp_end(s, CLASS_OTHER, VERDICT_PERMANENT, true,
		    "the name for EHLO or the envelope id is not ASCII"));
	if (text_has_controls(s->job->user) ||
	    text_has_controls(s->job->secret))
		return (smtp_end(s, CLASS_AUTH, VERDICT_TEMPORARY, true,
		    "user or password has control characters"));
	return (check_addresses(s));
}

/* The session */

struct smtp_session *
smtp_send(const struct frame_job *job, smtp_gate gate, void *arg,
    struct outcome *out)
{
	struct smtp_session	*s = smtp_begin(job, out);

	s->gate = gate;
	s->gate_arg = arg;
	if (check_job(s) == 0 && smtp_open(s) == 0) {
		if (job->kind == JOB_CHECK)
			smtp_end_check(s);
		else
			smtp_pump(s);
	}
	smtp_stage(s, STAGE_NONE);
	out->finished = clock_now();
	return (s);
}

/* The farewell */

/*
 * The library is told what became of its last command and, in advance, that
 * QUIT is fine, so that it ends by itself.
 */
static void
dismiss_library(struct smtp_session *s)
{
	const char	*say = s->out->verdict == VERDICT_ACCEPTED ?
			    "250 ok\r\n221 bye\r\n" :
			    "450 no\r\n221 bye\r\n";

	if (s->library != NULL)
		(void)!send(smtp_library_fd(s->library), say, strlen(say),
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool
smtp_close(struct smtp_session **sp)
{
	struct smtp_session	*s = *sp;
	bool			 ended;

	*sp = NULL;
	if (s == NULL)
		return (true);
	smtp_say_quit(s);
	dismiss_library(s);
	ended = smtp_library_end(&s->library);
	smtp_await_goodbye(s);
	mem_free(s);
	return (ended);
}

/* The self-test */

bool
smtp_send_self_test(void)
{
	static const char	go_away[] = "421 self-test\r\n";
	struct frame_job	*job = mem_alloc(sizeof *job);
	struct smtp_features	 none = { 0 };
	struct smtp_library	*lib;
	struct pollfd		 p = { .events = POLLIN };
	char			 line[64];
	ssize_t			 n = 0;

	text_copy(job->to, sizeof job->to, "self-test@localhost");
	text_copy(job->message, sizeof job->message, "\r\n");
	job->deadline_ms = 5000;
	lib = smtp_library_begin(job, &none);
	p.fd = smtp_library_fd(lib);
	(void)!send(p.fd, go_away, sizeof go_away - 1, MSG_NOSIGNAL);
	if (poll(&p, 1, 5000) > 0)
		n = recv(p.fd, line, sizeof line, MSG_DONTWAIT);
	if (!smtp_library_end(&lib))
		return (false);		/* the job is still the thread's */
	mem_free(job);
	return (n >= 4 && strncmp(line, "QUIT", 4) == 0);
}
