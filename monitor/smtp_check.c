#include "monitor/smtp_check.h"

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

void
smtp_check(const struct frame_job *job, const char *host,
    const struct sockaddr_storage *address, struct outcome *out)
{
	struct smtp_session	*s = smtp_begin(job, out);

	text_copy(s->host, sizeof s->host, host);
	text_copy(out->host, sizeof out->host, host);
	if (smtp_reach(s, address, smtp_step_deadline(s,
	    job->connect_timeout_ms)) == 0 &&
	    smtp_shake_hands(s, address) == 0)
		smtp_end_check(s);
	smtp_stage(s, STAGE_NONE);
	out->finished = clock_now();
	smtp_say_quit(s);
	smtp_await_goodbye(s);
	mem_free(s);
}
