#include "monitor/senders.h"

#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/secret_fetch.h"
#include "monitor/text.h"
#include "monitor/worker.h"

#define GRACE_MS	5000		/* beyond the sender's own deadline */
#define IDLE_MS		60000		/* then an idle sender is let go */
#define YOUNG_MS	5000		/* dying sooner than that is a fault */
#define PAUSE_FIRST_MS	1000
#define PAUSE_MAX_MS	60000

/* A job from its order to its answer. */
struct job {
	struct senders		*pool;		/* borrowed */
	struct frame_job	 frame;		/* wiped when sent */
	struct sender		*sender;	/* borrowed; NULL: waits */
	TAILQ_ENTRY(job)	 next;
};
TAILQ_HEAD(job_list, job);

struct sender {
	struct senders		*pool;		/* borrowed; NULL: orphaned */
	struct worker		*worker;
	struct job		*job;		/* owned; NULL: idle, or closing */
	uint64_t		 closing;	/* a job that had its outcome */
	bool			 alert;		/* that job is or was one */
	uv_timer_t		 timer;		/* deadline, or idleness */
	uint64_t		 born_ms;	/* loop time */
	bool			 spoke;		/* said hello */
	LIST_ENTRY(sender)	 next;
};

struct senders {
	uv_loop_t			*loop;
	char				*directory;	/* owned */
	unsigned			 most;
	unsigned			 count;
	unsigned			 number;	/* for names */
	uint64_t			 pause_ms;	/* before the next start */
	bool				 pausing;
	uv_timer_t			 timer;		/* the pause */
	const struct senders_events	*events;
	void				*arg;
	LIST_HEAD(, sender)		 senders;
	struct job_list			 fetching;	/* await their secret */
	struct job_list			 waiting;	/* await a sender */
	unsigned			 waiting_count;
};

static void	serve(struct senders *);

static void
job_free(struct job *j)
{
	mem_wipe(&j->frame, sizeof j->frame);
	mem_free(j);
}

static void
lose(struct senders *p, struct job *j, const char *why)
{
	uint64_t	id = j->frame.job;

	job_free(j);
	p->events->lost(p->arg, id, why);
}

static void
on_sender_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

static void
on_deadline(uv_timer_t *timer)
{
	struct sender	*s = timer->data;

	if (s->job != NULL || s->closing != 0)
		worker_kill(s->worker,
		    "the sender did not end by its deadline and was killed");
	else
		worker_retire(s->worker);
}

static void
set_idle(struct sender *s)
{
	s->job = NULL;
	s->closing = 0;
	(void)uv_timer_start(&s->timer, on_deadline, IDLE_MS, 0);
}

/* The outcome is told, QUIT is being said: no new job yet. */
static void
set_closing(struct sender *s, uint64_t job)
{
	s->job = NULL;
	s->closing = job;
	(void)uv_timer_start(&s->timer, on_deadline, GRACE_MS, 0);
}

static void
assign(struct sender *s, struct job *j)
{
	s->job = j;
	s->alert = j->frame.kind == JOB_ALERT;
	j->sender = s;
	(void)uv_timer_start(&s->timer, on_deadline,
	    (uint64_t)(j->frame.deadline_ms + GRACE_MS), 0);
	worker_send(s->worker, FRAME_JOB, &j->frame);
	mem_wipe(j->frame.secret, sizeof j->frame.secret);
}

static void
on_frame(void *arg, struct worker *w, enum frame_type type,
    const union frame_body *body)
{
	struct sender	*s = arg;
	struct senders	*p = s->pool;
	struct job	*j = s->job;

	if (p == NULL)
		return;
	if (type == FRAME_HELLO && !s->spoke) {
		s->spoke = true;
		p->pause_ms = 0;
	} else if (type == FRAME_ASK && j != NULL &&
	    body->ask.job == j->frame.job) {
		p->events->ask(p->arg, body->ask.job);
	} else if (type == FRAME_OUTCOME && j != NULL &&
	    body->outcome.job == j->frame.job) {
		job_free(j);
		set_closing(s, body->outcome.job);
		p->events->outcome(p->arg, body->outcome.job,
		    &body->outcome.outcome);
	} else if (type == FRAME_OVER && s->closing != 0 &&
	    body->over.job == s->closing) {
		set_idle(s);
		p->events->over(p->arg, body->over.job);
		serve(p);
	} else if (type == FRAME_HOSTS && j != NULL &&
	    body->hosts.job == j->frame.job) {
		job_free(j);
		set_idle(s);
		p->events->hosts(p->arg, &body->hosts);
		serve(p);
	} else
		worker_kill(w, "the sender said something out of turn");
}

static void
on_pause_over(uv_timer_t *timer)
{
	struct senders	*p = timer->data;

	p->pausing = false;
	serve(p);
}

/* Senders that die young are not started again and again at once. */
static void
pause_starts(struct senders *p)
{
	p->pause_ms = p->pause_ms == 0 ? PAUSE_FIRST_MS : p->pause_ms * 2;
	if (p->pause_ms > PAUSE_MAX_MS)
		p->pause_ms = PAUSE_MAX_MS;
	p->pausing = true;
	(void)uv_timer_start(&p->timer, on_pause_over, p->pause_ms, 0);
}

static void
on_gone(void *arg, struct worker *w, const char *why)
{
	struct sender	*s = arg;
	struct senders	*p = s->pool;
	struct job	*j = s->job;
	bool		 retired = strcmp(why, "retired") == 0;

	uv_close((uv_handle_t *)&s->timer, on_sender_closed);
	if (p == NULL) {
		if (j != NULL)
			job_free(j);
		return;
	}
	LIST_REMOVE(s, next);
	p->count--;
	if (!retired)
		log_warn("worker=%s pid=%d ended: %s", worker_name(w),
		    worker_pid(w), why);
	if (!retired && !s->spoke && uv_now(p->loop) - s->born_ms < YOUNG_MS)
		pause_starts(p);
	if (s->closing != 0)
		p->events->over(p->arg, s->closing);
	if (j != NULL)
		lose(p, j, why);
	serve(p);
}

static const struct worker_events	events = { on_frame, on_gone };

static struct sender *
start(struct senders *p)
{
	struct sender	*s = mem_alloc(sizeof *s);
	char		 name[32];

	snprintf(name, sizeof name, "sender-%u", ++p->number);
	s->pool = p;
	s->born_ms = uv_now(p->loop);
	s->worker = worker_start(p->loop, p->directory, "mailflow-sender",
	    name, -1, &events, s);
	if (s->worker == NULL) {
		mem_free(s);
		pause_starts(p);
		return (NULL);
	}
	(void)uv_timer_init(p->loop, &s->timer);
	s->timer.data = s;
	LIST_INSERT_HEAD(&p->senders, s, next);
	p->count++;
	return (s);
}

/* Sessions that are not with an alert. */
static unsigned
probing(const struct senders *p)
{
	const struct sender	*s;
	unsigned		 n = 0;

	LIST_FOREACH(s, &p->senders, next)
		n += (s->job != NULL || s->closing != 0) && !s->alert;
	return (n);
}

/*
 * Probes never keep an alert waiting, nor do alerts by a relay that hangs
 * keep probes waiting, or alerts by another one.
 */
static struct sender *
idle_one(struct senders *p, const struct job *j)
{
	struct sender	*s;

	if (j->frame.kind != JOB_ALERT && probing(p) >= p->most)
		return (NULL);
	LIST_FOREACH(s, &p->senders, next)
		if (s->job == NULL && s->closing == 0)
			return (s);
	return (p->pausing ? NULL : start(p));
}

static void
serve(struct senders *p)
{
	struct sender	*s;
	struct job	*j, *next;

	for (j = TAILQ_FIRST(&p->waiting); j != NULL; j = next) {
		next = TAILQ_NEXT(j, next);
		if ((s = idle_one(p, j)) == NULL) {
			if (j->frame.kind == JOB_ALERT)
				return;
			continue;
		}
		TAILQ_REMOVE(&p->waiting, j, next);
		p->waiting_count--;
		assign(s, j);
	}
}

static void
enqueue(struct senders *p, struct job *j)
{
	if (j->frame.kind == JOB_ALERT)
		TAILQ_INSERT_HEAD(&p->waiting, j, next);
	else
		TAILQ_INSERT_TAIL(&p->waiting, j, next);
	p->waiting_count++;
	serve(p);
}

static void
on_secret(void *arg, bool ok, const char *secret, const char *why)
{
	struct job	*j = arg;
	struct senders	*p = j->pool;

	if (p == NULL) {		/* the pool was closed meanwhile */
		job_free(j);
		return;
	}
	TAILQ_REMOVE(&p->fetching, j, next);
	if (!ok)
		lose(p, j, why);
	else if (!text_copy(j->frame.secret, sizeof j->frame.secret, secret))
		lose(p, j, "the secret is longer than 4095 bytes");
	else
		enqueue(p, j);
}

void
senders_submit(struct senders *p, const struct server *server,
    const struct frame_job *frame)
{
	struct job	*j = mem_alloc(sizeof *j);

	j->pool = p;
	j->frame = *frame;
	if (frame->user[0] == '\0') {
		enqueue(p, j);
		return;
	}
	TAILQ_INSERT_TAIL(&p->fetching, j, next);
	secret_fetch(p->loop, server->name, &server->secret, on_secret, j);
}

void
senders_go(struct senders *p, uint64_t job, bool allowed)
{
	struct frame_go	 f = { job, allowed };
	struct sender	*s;

	LIST_FOREACH(s, &p->senders, next)
		if (s->job != NULL && s->job->frame.job == job)
			worker_send(s->worker, FRAME_GO, &f);
}

void
senders_count(const struct senders *p, unsigned *processes_r,
    unsigned *waiting_r)
{
	*processes_r = p->count;
	*waiting_r = p->waiting_count;
}

void
senders_most(struct senders *p, unsigned most)
{
	p->most = most;
	serve(p);
}

struct senders *
senders_open(uv_loop_t *loop, const char *worker_directory, unsigned most,
    const struct senders_events *ev, void *arg)
{
	struct senders	*p = mem_alloc(sizeof *p);

	p->loop = loop;
	p->directory = mem_strdup(worker_directory);
	p->most = most;
	p->events = ev;
	p->arg = arg;
	LIST_INIT(&p->senders);
	TAILQ_INIT(&p->fetching);
	TAILQ_INIT(&p->waiting);
	(void)uv_timer_init(loop, &p->timer);
	p->timer.data = p;
	return (p);
}

static void
on_pool_closed(uv_handle_t *handle)
{
	struct senders	*p = handle->data;

	mem_free(p->directory);
	mem_free(p);
}

void
senders_close(struct senders **pp)
{
	struct senders	*p = *pp;
	struct sender	*s;
	struct job	*j;

	if (p == NULL)
		return;
	*pp = NULL;
	while ((s = LIST_FIRST(&p->senders)) != NULL) {
		LIST_REMOVE(s, next);
		s->pool = NULL;
		worker_kill(s->worker, "the monitor ends");
	}
	while ((j = TAILQ_FIRST(&p->waiting)) != NULL) {
		TAILQ_REMOVE(&p->waiting, j, next);
		job_free(j);
	}
	while ((j = TAILQ_FIRST(&p->fetching)) != NULL) {
		TAILQ_REMOVE(&p->fetching, j, next);
		j->pool = NULL;		/* on_secret() frees it */
	}
	uv_close((uv_handle_t *)&p->timer, on_pool_closed);
}
