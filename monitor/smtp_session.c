#include "monitor/smtp_session.h"

#include "monitor/clock.h"
#include "monitor/mem.h"

#define QUIT_MS		1000

struct smtp_session *
smtp_begin(const struct frame_job *job, struct outcome *out)
{
	struct smtp_session	*s = mem_alloc(sizeof *s);

	outcome_init(out);
	out->started = clock_now();
	s->job = job;
	s->out = out;
	s->started_boot_ms = s->stage_boot_ms = out->started.boot_ms;
	s->deadline_boot_ms = s->started_boot_ms + job->deadline_ms;
	return (s);
}

void
smtp_end_check(struct smtp_session *s)
{
	s->over = true;
	s->out->class = CLASS_ACCEPTED;
	s->out->verdict = VERDICT_ACCEPTED;
}

void
smtp_say_quit(struct smtp_session *s)
{
	static const char	quit[] = "QUIT\r\n";

	if (s->server == NULL || !s->greeted ||
	    (s->out->stage == STAGE_DATA && s->out->code == 0) ||
	    (s->out->stage == STAGE_DOT && !s->dot_sent))
		transport_close(&s->server);
	else if (transport_try_write(s->server, quit, sizeof quit - 1) !=
	    (ptrdiff_t)sizeof quit - 1)
		transport_close(&s->server);
}

/* A server that closes without its 221 has understood as well. */
void
smtp_await_goodbye(struct smtp_session *s)
{
	char	bytes[512];

	if (s->server == NULL)
		return;
	transport_arm(s->server, clock_boot_ms() + QUIT_MS, sizeof bytes);
	(void)transport_read(s->server, bytes, sizeof bytes);
	transport_close(&s->server);
}
