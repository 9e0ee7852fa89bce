#include "monitor/watchers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/secret_fetch.h"
#include "monitor/text.h"
#include "monitor/worker.h"
#include "monitor/worker_child.h"

#define PAUSE_FIRST_MS	1000
#define PAUSE_MAX_MS	60000
#define HEALTHY_MS	60000		/* lived that long: the pause is short again */

/* Of mailboxes that may have crashed their watcher. */
#define ALONE_MOST	16		/* watchers with one of them each */
#define ALONE_FIRST_MS	10000		/* after it was proven */
#define ALONE_MAX_MS	3600000
#define ALONE_MS	600000		/* lived that long: no longer suspected */

/* One watcher process, now running, about to, or pausing. */
struct slice {
	struct watchers	*all;		/* borrowed; NULL: orphaned */
	struct worker	*worker;	/* NULL: pausing before a start */
	uv_timer_t	 timer;
	uint64_t	 pause_ms;
	uint64_t	 born_ms;
	unsigned	 crashes;	/* of one that is alone: its mailbox's */
	bool		 alone;		/* with a mailbox that is suspected */
	bool		 leaving;	/* its mailbox goes back to the others */
	int		 slots_fd;	/* who is in whose hands; -1: none */
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
	unsigned			 named;
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
static void	acquit(struct slice *);

/* With a worker, the timer tells that it has lived long enough. */
static void
on_timer(uv_timer_t *timer)
{
	struct slice	*s = timer->data;

	if (s->worker == NULL)
		start(s);
	else
		acquit(s);
}

static void
pause_start(struct slice *s)
{
	if (uv_now(s->all->loop) - s->born_ms >= HEALTHY_MS)
		s->pause_ms = 0;
	s->pause_ms = s->pause_ms == 0 ? PAUSE_FIRST_MS : 2 * s->pause_ms;
	if (s->pause_ms > PAUSE_MAX_MS)
		s->pause_ms = PAUSE_MAX_MS;
	(void)uv_timer_start(&s->timer, on_timer, s->pause_ms, 0);
}

/* Slices. */

static struct slice *
slice_new(struct watchers *w, const char *server)
{
	struct slice	*s = mem_alloc(sizeof *s);

	s->all = w;
	s->slots_fd = -1;
	text_copy(s->server, sizeof s->server, server);
	snprintf(s->name, sizeof s->name, "watcher-%u", ++w->named);
	(void)uv_timer_init(w->loop, &s->timer);
	s->timer.data = s;
	SLIST_INSERT_HEAD(&w->slices, s, next);
	return (s);
}

static void
on_slice_closed(uv_handle_t *handle)
{
	struct slice	*s = handle->data;

	if (s->slots_fd >= 0)
		close(s->slots_fd);
	mem_free(s);
}

/* One with room among those of a server, for mailboxes without blame. */
static struct slice *
slice_with_room(struct watchers *w, const char *server)
{
	struct slice	*s;

	SLIST_FOREACH(s, &w->slices, next)
		if (!s->alone && s->count < WATCHERS_SLICE &&
		    strcmp(s->server, server) == 0)
			return (s);
	return (NULL);
}

static void
take_out(struct slice *s, uint32_t id)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->ids[i] == id)
			s->ids[i] = s->ids[--s->count];
}

/*
 * Who crashed a watcher?  Each mailbox that it had in hand is tried again in
 * a watcher of its own, and the others go on.  One whose own watcher crashes
 * too is named, and waits longer each time; one whose watcher lives goes back.
 */

/* The file is the worker's to write, even to shorten: it is only read. */
static size_t
read_slots(const struct slice *s, uint32_t held[WORKER_SLOTS])
{
	ssize_t	n;

	if (s->slots_fd < 0)
		return (0);
	n = pread(s->slots_fd, held, WORKER_SLOTS * sizeof *held, 0);
	return (n > 0 ? (size_t)n / sizeof *held : 0);
}

static unsigned
count_alone(const struct watchers *w)
{
	const struct slice	*s;
	unsigned		 n = 0;

	SLIST_FOREACH(s, &w->slices, next)
		n += s->alone;
	return (n);
}

static const char *
mailbox_name(struct watchers *w, uint32_t id)
{
	const struct mailbox	*m = mailbox_of(w, id);

	return (m != NULL ? m->name : "");
}

/* It has crashed its own watcher: there is no doubt. */
static void
convict(struct slice *s, const char *why)
{
	struct watchers	*w = s->all;
	char		 reason[OUTCOME_HOST];
	unsigned	 shift = s->crashes < 16 ? s->crashes : 16;

	s->crashes++;
	s->pause_ms = shift == 0 ? PAUSE_FIRST_MS :
	    (uint64_t)ALONE_FIRST_MS << (shift - 1);
	if (s->pause_ms > ALONE_MAX_MS)
		s->pause_ms = ALONE_MAX_MS;
	(void)uv_timer_start(&s->timer, on_timer, s->pause_ms, 0);
	snprintf(reason, sizeof reason, "it crashes its watcher, %u times now "
	    "(%s); tried again after %llu s", s->crashes, why,
	    (unsigned long long)s->pause_ms / 1000);
	log_error("mailbox=%s %s", mailbox_name(w, s->ids[0]), reason);
	engine_mailbox_lost(w->engine, s->ids[0], reason,
	    w->events->now_ms(w->arg));
}

static void
isolate(struct slice *s, uint32_t id)
{
	struct watchers	*w = s->all;
	struct slice	*alone = s;

	if (count_alone(w) >= ALONE_MOST)
		return;
	if (s->count > 1) {
		take_out(s, id);
		alone = slice_new(w, s->server);
		alone->ids[alone->count++] = id;
		pause_start(alone);
	}
	alone->alone = true;
	alone->crashes = 1;
	log_warn("mailbox=%s was in the hands of %s when that ended; it is "
	    "tried in %s alone", mailbox_name(w, id), s->name, alone->name);
}

static void
suspect(struct slice *s)
{
	uint32_t	held[WORKER_SLOTS];
	size_t		n = read_slots(s, held);

	for (size_t i = 0; i < n && !s->alone; i++)
		if (held[i] != 0 && is_its_own(s, held[i]))
			isolate(s, held[i]);
}

/* It has lived: back to the others, if there is room. */
static void
acquit(struct slice *s)
{
	if (!s->alone)
		return;
	s->crashes = 0;
	if (slice_with_room(s->all, s->server) == NULL) {
		s->alone = false;
		return;
	}
	s->leaving = true;
	worker_kill(s->worker, "its mailbox goes back to the others");
}

static void
go_back(struct slice *s)
{
	struct watchers	*w = s->all;
	struct slice	*to = slice_with_room(w, s->server);

	if (to == NULL) {		/* filled up meanwhile */
		s->leaving = s->alone = false;
		pause_start(s);
		return;
	}
	to->ids[to->count++] = s->ids[0];
	if (to->worker != NULL)
		introduce(to, s->ids[0]);
	SLIST_REMOVE(&w->slices, s, slice, next);
	uv_close((uv_handle_t *)&s->timer, on_slice_closed);
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
	s->worker = NULL;
	uv_timer_stop(&s->timer);
	if (s->leaving) {
		go_back(s);
		return;
	}
	log_warn("worker=%s pid=%d ended: %s", worker_name(worker),
	    worker_pid(worker), why);
	for (size_t i = 0; i < s->count; i++)
		engine_mailbox_lost(w->engine, s->ids[i], why,
		    w->events->now_ms(w->arg));
	if (s->alone) {
		convict(s, why);
		return;
	}
	suspect(s);
	pause_start(s);
}

static const struct worker_events	events = { on_frame, on_gone };

/* All zero, and long enough.  Without it nobody is blamed. */
static void
clear_slots(struct slice *s)
{
	if (s->slots_fd < 0)
		s->slots_fd = memfd_create("slots", MFD_CLOEXEC);
	if (s->slots_fd < 0 || ftruncate(s->slots_fd, 0) != 0 ||
	    ftruncate(s->slots_fd, WORKER_SLOTS * sizeof(uint32_t)) != 0)
		log_warn("worker=%s slots: %s", s->name, strerror(errno));
}

static void
start(struct slice *s)
{
	struct watchers		*w = s->all;
	struct frame_key	 key;

	s->born_ms = uv_now(w->loop);
	clear_slots(s);
	s->worker = worker_start(w->loop, w->directory, "mailflow-watcher",
	    s->name, s->slots_fd, &events, s);
	if (s->worker == NULL) {
		pause_start(s);
		return;
	}
	if (s->alone)
		(void)uv_timer_start(&s->timer, on_timer, ALONE_MS, 0);
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
	if ((s = slice_with_room(w, server)) == NULL)
		s = slice_new(w, server);
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

void
watchers_kill(struct watchers *w, uint32_t id, const char *why)
{
	struct slice	*s = slice_of(w, id);

	if (s != NULL && s->worker != NULL)
		worker_kill(s->worker, why);
}

unsigned
watchers_count(const struct watchers *w)
{
	const struct slice	*s;
	unsigned		 n = 0;

	SLIST_FOREACH(s, &w->slices, next)
		n++;
	return (n);
}
