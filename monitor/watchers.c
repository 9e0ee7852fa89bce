#include "monitor/watchers.h"

#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/secret_fetch.h"
#include "monitor/text.h"
#include "monitor/worker.h"

#define PAUSE_FIRST_MS	1000
#define PAUSE_MAX_MS	60000
#define HEALTHY_MS	60000		/* lived that long: the pause is short again */

/* One watcher process, now running or about to. */
struct slice {
	struct watchers	*all;		/* borrowed; NULL: orphaned */
	struct worker	*worker;	/* NULL: pausing before a start */
	uv_timer_t	 timer;
	uint64_t	 pause_ms;
	uint64_t	 born_ms;
	char		 name[64];
	char		 server[OUTCOME_HOST + 8];	/* host:port or maildir */
	size_t		 count;
	uint32_t	 ids[WATCHERS_SLICE];
	SLIST_ENTRY(slice) next;
};

struct watchers {
	uv_loop_t			*loop;
	char				*directory;	/* owned */
	const struct config		*config;
	struct engine			*engine;
	const struct watchers_events	*events;
	void				*arg;
	unsigned			 count;
	SLIST_HEAD(, slice)		 slices;
	LIST_HEAD(, errand)		 errands;
};

/* A secret on its way to the watcher that asked for it. */
struct errand {
	struct watchers		*all;	/* borrowed; NULL: orphaned */
	uint32_t		 id;
	LIST_ENTRY(errand)	 next;
};

static struct slice *
slice_of(struct watchers *w, uint32_t id)
{
	struct slice	*s;

	SLIST_FOREACH(s, &w->slices, next)
		for (size_t i = 0; i < s->count; i++)
			if (s->ids[i] == id)
				return (s);
	return (NULL);
}

static void
tell(struct watchers *w, uint32_t id, enum frame_type type, const void *body)
{
	struct slice	*s = slice_of(w, id);

	if (s != NULL && s->worker != NULL)
		worker_send(s->worker, type, body);
}

/* What a watcher is told at its start. */

static void
tell_mark(void *arg, const struct frame_mark *f)
{
	worker_send(arg, FRAME_MARK, f);
}

static void
tell_expect(void *arg, const struct frame_expect *f)
{
	worker_send(arg, FRAME_EXPECT, f);
}

static void
introduce(struct slice *s, uint32_t id)
{
	static struct frame_mailbox	f;
	struct engine			*e = s->all->engine;
	struct frame_watch		 begin = { id };

	if (!engine_mailbox_fill(e, id, &f))
		return;
	worker_send(s->worker, FRAME_MAILBOX, &f);
	engine_mailbox_marks(e, id, tell_mark, s->worker);
	worker_send(s->worker, FRAME_WATCH, &begin);
	engine_mailbox_expected(e, id, tell_expect, s->worker);
	engine_mailbox_cleans(e, id);
}

/* Secrets. */

/* The section behind an id, found by the name the watcher was given. */
static const struct mailbox *
mailbox_of(struct watchers *w, uint32_t id)
{
	static struct frame_mailbox	f;

	return (engine_mailbox_fill(w->engine, id, &f) ?
	    config_mailbox(w->config, f.name) : NULL);
}

static void
on_secret(void *arg, bool ok, const char *secret, const char *why)
{
	struct errand		*errand = arg;
	struct frame_secret	 f = { .id = errand->id, .ok = ok };

	if (errand->all == NULL) {
		mem_free(errand);
		return;
	}
	LIST_REMOVE(errand, next);
	text_copy(f.why, sizeof f.why, why);
	if (ok && !text_copy(f.secret, sizeof f.secret, secret)) {
		f.ok = false;
		text_copy(f.why, sizeof f.why,
		    "the secret is longer than 4095 bytes");
	}
	tell(errand->all, f.id, FRAME_SECRET, &f);
	mem_wipe(&f, sizeof f);
	mem_free(errand);
}

static void
fetch(struct watchers *w, uint32_t id)
{
	const struct mailbox	*m = mailbox_of(w, id);
	struct errand		*errand;

	if (m == NULL)
		return;
	errand = mem_alloc(sizeof *errand);
	errand->all = w;
	errand->id = id;
	LIST_INSERT_HEAD(&w->errands, errand, next);
	secret_fetch(w->loop, m->name, &m->secret, on_secret, errand);
}

/* Does this watcher speak about a mailbox of its own? */
static bool
is_its_own(const struct slice *s, uint32_t id)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->ids[i] == id)
			return (true);
	return (false);
}

static uint32_t
id_of(enum frame_type type, const union frame_body *b)
{
	switch (type) {
	case FRAME_MARK:
		return (b->mark.id);
	case FRAME_SECRET_ASK:
		return (b->secret_ask.id);
	case FRAME_ARRIVAL:
		return (b->arrival.id);
	case FRAME_LOOK:
		return (b->look.id);
	case FRAME_REPORT:
		return (b->report.id);
	case FRAME_CLEANED:
		return (b->cleaned.id);
	default:
		return (0);		/* no watcher says that */
	}
}

static void
on_frame(void *arg, struct worker *worker, enum frame_type type,
    const union frame_body *b)
{
	struct slice	*s = arg;
	struct watchers	*w = s->all;
	int64_t		 now_ms;

	if (w == NULL || type == FRAME_HELLO)
		return;
	if (!is_its_own(s, id_of(type, b))) {
		worker_kill(worker, "the watcher said something out of turn");
		return;
	}
	now_ms = w->events->now_ms(w->arg);
	if (type == FRAME_ARRIVAL)
		engine_arrival(w->engine, &b->arrival, now_ms);
	else if (type == FRAME_LOOK)
		engine_look(w->engine, &b->look, now_ms);
	else if (type == FRAME_REPORT)
		engine_report(w->engine, &b->report, now_ms);
	else if (type == FRAME_CLEANED)
		engine_cleaned(w->engine, &b->cleaned, now_ms);
	else if (type == FRAME_MARK)
		engine_mark(w->engine, &b->mark);
	else
		fetch(w, b->secret_ask.id);
}

static void	start(struct slice *);

static void
on_pause_over(uv_timer_t *timer)
{
	start(timer->data);
}

static void
pause_start(struct slice *s)
{
	if (uv_now(s->all->loop) - s->born_ms >= HEALTHY_MS)
		s->pause_ms = 0;
	s->pause_ms = s->pause_ms == 0 ? PAUSE_FIRST_MS : 2 * s->pause_ms;
	if (s->pause_ms > PAUSE_MAX_MS)
		s->pause_ms = PAUSE_MAX_MS;
	(void)uv_timer_start(&s->timer, on_pause_over, s->pause_ms, 0);
}

static void
on_slice_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

static void
on_gone(void *arg, struct worker *worker, const char *why)
{
	struct slice	*s = arg;
	struct watchers	*w = s->all;

	if (w == NULL) {
		uv_close((uv_handle_t *)&s->timer, on_slice_closed);
		return;
	}
	log_warn("worker=%s pid=%d ended: %s", worker_name(worker),
	    worker_pid(worker), why);
	s->worker = NULL;
	for (size_t i = 0; i < s->count; i++)
		engine_mailbox_lost(w->engine, s->ids[i], why,
		    w->events->now_ms(w->arg));
	pause_start(s);
}

static const struct worker_events	events = { on_frame, on_gone };

static void
start(struct slice *s)
{
	struct watchers		*w = s->all;
	struct frame_key	 key;

	s->born_ms = uv_now(w->loop);
	s->worker = worker_start(w->loop, w->directory, "mailflow-watcher",
	    s->name, &events, s);
	if (s->worker == NULL) {
		pause_start(s);
		return;
	}
	engine_key(w->engine, &key);
	worker_send(s->worker, FRAME_KEY, &key);
	mem_wipe(&key, sizeof key);
	for (size_t i = 0; i < s->count; i++)
		introduce(s, s->ids[i]);
}

static void
add(void *arg, uint32_t id, const struct mailbox *m)
{
	struct watchers	*w = arg;
	struct slice	*s;
	char		 server[sizeof s->server];

	snprintf(server, sizeof server, "%s:%u", m->maildir[0] != '\0' ?
	    "maildir" : m->host, (unsigned)m->port);
	SLIST_FOREACH(s, &w->slices, next)
		if (s->count < WATCHERS_SLICE && strcmp(s->server, server) == 0)
			break;
	if (s == NULL) {
		s = mem_alloc(sizeof *s);
		s->all = w;
		text_copy(s->server, sizeof s->server, server);
		snprintf(s->name, sizeof s->name, "watcher-%u", ++w->count);
		(void)uv_timer_init(w->loop, &s->timer);
		s->timer.data = s;
		SLIST_INSERT_HEAD(&w->slices, s, next);
	}
	s->ids[s->count++] = id;
}

struct watchers *
watchers_open(uv_loop_t *loop, const char *worker_directory,
    const struct config *config, struct engine *engine,
    const struct watchers_events *ev, void *arg)
{
	struct watchers	*w = mem_alloc(sizeof *w);
	struct slice	*s;

	w->loop = loop;
	w->directory = mem_strdup(worker_directory);
	w->config = config;
	w->engine = engine;
	w->events = ev;
	w->arg = arg;
	SLIST_INIT(&w->slices);
	LIST_INIT(&w->errands);
	engine_mailboxes(engine, add, w);
	SLIST_FOREACH(s, &w->slices, next)
		start(s);
	return (w);
}

void
watchers_close(struct watchers **wp)
{
	struct watchers	*w = *wp;
	struct slice	*s;
	struct errand	*errand;

	if (w == NULL)
		return;
	*wp = NULL;
	while ((errand = LIST_FIRST(&w->errands)) != NULL) {
		LIST_REMOVE(errand, next);
		errand->all = NULL;	/* on_secret() frees it */
	}
	while ((s = SLIST_FIRST(&w->slices)) != NULL) {
		SLIST_REMOVE_HEAD(&w->slices, next);
		s->all = NULL;
		if (s->worker != NULL)
			worker_kill(s->worker, "the monitor ends");
		else
			uv_close((uv_handle_t *)&s->timer, on_slice_closed);
	}
	mem_free(w->directory);
	mem_free(w);
}

void
watchers_expect(struct watchers *w, const struct frame_expect *f)
{
	tell(w, f->id, FRAME_EXPECT, f);
}

void
watchers_clean(struct watchers *w, const struct frame_clean *f)
{
	tell(w, f->id, FRAME_CLEAN, f);
}

unsigned
watchers_count(const struct watchers *w)
{
	return (w->count);
}
