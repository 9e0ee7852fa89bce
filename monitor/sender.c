#include "build.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/log.h"
#include "monitor/lookup.h"
#include "monitor/mem.h"
#include "monitor/smtp_send.h"
#include "monitor/text.h"
#include "monitor/worker_child.h"

/*
 * mailflow-sender: takes a job from the monitor, makes the session, tells
 * the outcome; again and again.
 */

#define MEMORY		(512UL << 20)	/* address space, not use */
#define FILES		64
#define EXIT_SELF_TEST	70

/* Waits for the monitor's word, however long the job may last. */
static bool
ask(void *arg, uint64_t id)
{
	const struct frame_job	*job = arg;
	struct frame_ask	 q = { .job = id };
	union frame_body	*body = mem_alloc(sizeof *body);
	bool			 allowed;

	worker_child_send(FRAME_ASK, &q);
	allowed = worker_child_receive(body, (int)(job->deadline_ms >
	    INT32_MAX ? INT32_MAX : job->deadline_ms)) == FRAME_GO &&
	    body->go.job == id && body->go.allowed;
	mem_free(body);
	return (allowed);
}

/* False if the process cannot go on after it. */
static bool
make_session(struct frame_job *job)
{
	struct frame_outcome	*told = mem_alloc(sizeof *told);
	struct frame_over	 over = { .job = job->job };
	struct smtp_session	*session;
	bool			 good;

	told->job = job->job;
	session = smtp_send(job, ask, job, &told->outcome);
	worker_child_send(FRAME_OUTCOME, told);
	good = smtp_close(&session);	/* QUIT, which nobody waits for */
	worker_child_send(FRAME_OVER, &over);
	mem_free(told);
	mem_wipe(job->secret, sizeof job->secret);
	return (good);
}

/* The mail hosts of a domain, for the monitor that asks no DNS itself. */
static void
look_up(const struct frame_job *job)
{
	struct frame_hosts	*told = mem_alloc(sizeof *told);
	struct lookup_hosts	 hosts;

	told->job = job->job;
	told->found = lookup_mx(job->domain, job->resolver,
	    clock_boot_ms() + job->deadline_ms, &hosts) == 0;
	told->blind = hosts.error == TRANSPORT_RESOLVER;
	text_copy(told->reason, sizeof told->reason, hosts.reason);
	for (size_t i = 0; told->found && i < hosts.count; i++)
		text_appendf(told->hosts, sizeof told->hosts, "%s%s",
		    i > 0 ? "\n" : "", hosts.list[i].name);
	worker_child_send(FRAME_HOSTS, told);
	mem_free(told);
}

/* False if the process cannot go on after it. */
static bool
work(struct frame_job *job)
{
	if (job->kind == JOB_LOOKUP) {
		look_up(job);
		return (true);
	}
	return (make_session(job));
}

int
main(void)
{
	union frame_body	*body;

	/* libESMTP looks for files below it. */
	setenv("HOME", "/nonexistent", 1);
	unsetenv("HOSTALIASES");
	mallopt(M_ARENA_MAX, 1);
	worker_child_begin("mailflow-sender", MEMORY, FILES);
	log_open("stderr", "mailflow-sender");
	if (!smtp_send_self_test()) {
		log_error("self-test failed: libESMTP does not use our "
		    "connection");
		return (EXIT_SELF_TEST);
	}
	body = mem_alloc(sizeof *body);
	for (;;) {
		if (worker_child_receive(body, -1) != FRAME_JOB) {
			log_error("the monitor sent something that is no job");
			break;
		}
		if (!work(&body->job)) {
			log_error("libESMTP hangs: this worker ends");
			_exit(EXIT_FAILURE);
		}
	}
	mem_free(body);
	return (EXIT_FAILURE);
}
