/*
 * mailflow-watcher: watches many mailboxes and tells the monitor what it
 * finds.  One loop waits on all that idle; a small pool of threads makes the
 * blocking steps, one at a time for each mailbox.
 */

#include "build.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "mailboxes/imap.h"
#include "mailboxes/step.h"
#include "monitor/clock.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/worker_child.h"

#define PROGRAM		"mailflow-watcher"
#define MEMORY		((size_t)1 << 30)
#define FILES		4096
#define THREADS		4
#define SLOTS_FD	4	/* a shared memfd: who is in whose hands */
#define CLEANS_MAX	256
#define CLEAN_TRIES	3
#define FRAMES_A_TURN	64

/*
 * Steps at once on one server: opening a session on a server that does not
 * answer must leave threads for the others.
 */
#define OPENING_MAX	2
#define STEPS_MAX	3

/* Mailboxes on the same server. */
struct host {
	char		*name;		/* owned */
	unsigned	 steps;		/* running */
	unsigned	 opening;	/* of them */
	SLIST_ENTRY(host) next;
};

struct watcher;

struct attended {
	struct watcher		*watcher;	/* borrowed */
	uint32_t		 id;
	struct mailbox_box	 box;
	struct watch		 watch;
	struct host		*host;		/* borrowed */
	const struct mailbox_driver *driver;	/* borrowed */
	struct mailbox_folder	*marks;		/* owned; told, folder not yet
						 * known */
	size_t			 mark_count;
	struct mailbox_clean	*cleans;	/* owned; to be done */
	size_t			 clean_count;
	char			*authserv_id;	/* owned */
	char			*secret;	/* owned; for the next open */
	char			*warning;	/* owned; the last one told */
	bool			 warn;		/* it is to be told */
	unsigned		 ignored;	/* since the last LOOK */
	bool			 began;		/* WATCH came */
	bool			 forgotten;	/* freed when its steps end */
	bool			 leaving;	/* the last one is under way */
	bool			 running;
	struct step		 step;
	uv_timer_t		 timer;
	uv_work_t		 work;
	uv_poll_t		*poll;		/* owned; while it waits */
	TAILQ_ENTRY(attended)	 queue;		/* waits for a thread */
	LIST_ENTRY(attended)	 all;
};

struct watcher {
	uv_loop_t			*loop;
	struct frame_key		 key_frame;
	struct token_key		 key;
	bool				 has_key;
	unsigned			 running;
	LIST_HEAD(, attended)		 all;
	TAILQ_HEAD(, attended)		 ready;
	SLIST_HEAD(, host)		 hosts;
	_Atomic uint32_t		*slots;	/* mapped; NULL: none */
	atomic_uint			 next_slot;
};

static void	 consider(struct attended *);

/* Who is in whose hands. */

static void
map_slots(struct watcher *w)
{
	struct stat	 st;
	void		*p;
	size_t		 size = THREADS * sizeof *w->slots;

	if (fstat(SLOTS_FD, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (size_t)st.st_size < size)
		return;
	(void)fcntl(SLOTS_FD, F_SETFD, FD_CLOEXEC);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, SLOTS_FD, 0);
	if (p != MAP_FAILED)
		w->slots = p;
}

/* The slot of this thread; each takes one at its first step. */
static void
hold(struct watcher *w, uint32_t id)
{
	static _Thread_local unsigned	slot = UINT_MAX;

	if (w->slots == NULL)
		return;
	if (slot == UINT_MAX)
		slot = atomic_fetch_add(&w->next_slot, 1) % THREADS;
	atomic_store(&w->slots[slot], id);
}

/* Telling the monitor. */

static void
send_look(struct attended *a, const struct watch_tell *tell,
    const char *reason)
{
	struct frame_look	f = { .id = a->id };

	f.state = tell->good ? LOOK_GOOD : LOOK_BLIND;
	f.at = tell->good ? a->box.folders[0].looked : clock_now();
	if (!tell->good) {
		f.class = tell->class;
		f.retry_ms = tell->retry_ms;
		text_clean(f.reason, sizeof f.reason, reason, strlen(reason));
	}
	if (a->warn)
		text_copy(f.warning, sizeof f.warning, a->warning);
	f.ignored = a->ignored;
	a->warn = false;
	a->ignored = 0;
	worker_child_send(FRAME_LOOK, &f);
}

/* A warning is told once, until another takes its place. */
static void
take_warning(struct attended *a, const char *warning)
{
	if (warning[0] == '\0' ||
	    (a->warning != NULL && strcmp(a->warning, warning) == 0))
		return;
	mem_free(a->warning);
	a->warning = mem_strdup(warning);
	a->warn = true;
}

static void
tell(struct attended *a, const struct watch_tell *t, const char *reason)
{
	static const struct watch_tell	good = { .tell = true, .good = true };

	if (t->tell)
		send_look(a, t, reason);
	else if (a->warn && a->watch.told && a->watch.good)
		send_look(a, &good, "");
}

/* Spreads tries, no more: xorshift, from a seed of the system's. */
static uint32_t
random32(void)
{
	static uint32_t	r;

	if (r == 0 && (uv_random(NULL, NULL, &r, sizeof r, 0, NULL) != 0 ||
	    r == 0))
		r = (uint32_t)clock_boot_ms() | 1;
	r ^= r << 13;
	r ^= r >> 17;
	r ^= r << 5;
	return (r);
}

/* Waiting. */

static void
free_handle(uv_handle_t *h)
{
	mem_free(h);
}

/* Must come before the descriptor is closed, by whomever. */
static void
stop_polling(struct attended *a)
{
	if (a->poll == NULL)
		return;
	uv_close((uv_handle_t *)a->poll, free_handle);
	a->poll = NULL;
}

static void
lost_while_waiting(struct attended *a, const struct mailbox_trouble *trouble)
{
	struct watch_tell	t;

	stop_polling(a);
	a->driver->close(&a->box);
	t = watch_lost(&a->watch, trouble, clock_boot_ms(), random32());
	log_info("mailbox=%s session=ended reason=\"%s\"", a->box.name,
	    trouble->reason);
	tell(a, &t, trouble->reason);
}

/* Something may have come; true if it is still waiting. */
static bool
look_up(struct attended *a)
{
	struct mailbox_trouble	trouble = { .retry = MAILBOX_BACK_OFF };
	enum mailbox_wake	what = a->driver->wake(&a->box, &trouble);

	switch (what) {
	case MAILBOX_ASLEEP:
		return (true);
	case MAILBOX_NEWS:
	case MAILBOX_AWAKE:
		stop_polling(a);
		watch_woken(&a->watch, what, clock_boot_ms());
		return (false);
	case MAILBOX_LOST:
		lost_while_waiting(a, &trouble);
		return (false);
	}
	return (false);
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	struct attended	*a = poll->data;

	(void)status;
	(void)events;
	if (!look_up(a))
		consider(a);
}

/* Polls the descriptor, unless something has come already. */
static void
start_polling(struct attended *a)
{
	uv_poll_t	*poll;

	if (!look_up(a))
		return;
	poll = mem_alloc(sizeof *poll);
	if (uv_poll_init(a->watcher->loop, poll, a->driver->fd(&a->box)) != 0)
		panic("uv_poll_init");
	poll->data = a;
	a->poll = poll;
	uv_poll_start(poll, UV_READABLE | UV_DISCONNECT, on_readable);
}

/* Steps on the pool. */

static void
run(uv_work_t *work)
{
	struct attended	*a = work->data;

	hold(a->watcher, a->id);
	step_run(&a->step);
	hold(a->watcher, 0);
}

static void
free_attended(uv_handle_t *timer)
{
	mem_free(timer->data);
}

static void
forget(struct attended *a)
{
	size_t	i;

	stop_polling(a);
	a->driver->close(&a->box);
	step_clear(&a->step);
	for (i = 0; i < a->box.folder_count; i++)
		mem_free(a->box.folders[i].name);
	for (i = 0; i < a->mark_count; i++)
		mem_free(a->marks[i].name);
	for (i = 0; i < a->clean_count; i++)
		mem_free(a->cleans[i].folder);
	mem_free(a->box.folders);
	mem_free(a->marks);
	mem_free(a->cleans);
	mem_free(a->box.name);
	mem_free(a->box.host);
	mem_free(a->box.ca_file);
	mem_free(a->box.user);
	mem_free(a->box.source_address);
	mem_free(a->box.junk);
	mem_free(a->box.froms);
	mem_free(a->box.trash);
	mem_free(a->authserv_id);
	mem_free(a->warning);
	if (a->secret != NULL)
		mem_wipe(a->secret, strlen(a->secret));
	mem_free(a->secret);
	LIST_REMOVE(a, all);
	/* The timer is part of it, and the loop lets go of it later. */
	uv_close((uv_handle_t *)&a->timer, free_attended);
}

/* Marks of folders that the session has found by itself. */
static void
apply_marks(struct attended *a)
{
	struct mailbox_folder	*f;
	size_t			 i, j;

	for (i = 0; i < a->box.folder_count; i++) {
		f = &a->box.folders[i];
		for (j = 0; f->uidvalidity == 0 && j < a->mark_count; j++) {
			if (strcmp(a->marks[j].name, f->name) != 0)
				continue;
			f->uidvalidity = a->marks[j].uidvalidity;
			f->uid = a->marks[j].uid;
			f->told = true;
		}
	}
	a->watch.other_folders = a->box.folder_count > 1;
}

/* What a lost session left of the removals is tried again, not for ever. */
static void
keep_cleans(struct attended *a)
{
	struct step	*s = &a->step;
	size_t		 i;

	for (i = 0; i < s->clean_count; i++) {
		if (++s->cleans[i].tries >= CLEAN_TRIES ||
		    a->clean_count >= CLEANS_MAX) {
			mem_free(s->cleans[i].folder);
			continue;
		}
		a->cleans = mem_grow(a->cleans, a->clean_count + 1,
		    sizeof *a->cleans);
		a->cleans[a->clean_count++] = s->cleans[i];
	}
	s->clean_count = 0;
	step_clear(s);
	watch_clean(&a->watch, (unsigned)a->clean_count, clock_boot_ms());
}

static void	 dispatch(struct watcher *);
static void	 prepare(struct attended *, enum watch_step);

/* Forgets it, after the removals that it was told of. */
static void
leave(struct attended *a)
{
	if (a->leaving || a->box.session == NULL || a->clean_count == 0) {
		forget(a);
		return;
	}
	a->leaving = true;
	stop_polling(a);
	uv_timer_stop(&a->timer);
	prepare(a, WATCH_CLEAN);
	TAILQ_INSERT_TAIL(&a->watcher->ready, a, queue);
	dispatch(a->watcher);
}

/* Takes in what the step found, and thinks about the next. */
static void
after(uv_work_t *work, int status)
{
	struct attended		*a = work->data;
	struct watcher		*w = a->watcher;
	struct step		*s = &a->step;
	struct watch_tell	 t;
	int64_t			 now = clock_boot_ms();
	size_t			 i;

	(void)status;
	w->running--;
	a->host->steps--;
	a->host->opening -= s->what == WATCH_OPEN;
	a->running = false;
	dispatch(w);
	keep_cleans(a);
	if (a->forgotten) {
		leave(a);
		return;
	}
	a->ignored += s->ignored;
	take_warning(a, s->warning);
	t = watch_finished(&a->watch, s->what, s->result, &s->trouble, now,
	    random32());
	for (i = 0; i < s->arrived_count; i++)
		watch_arrived(&a->watch, s->arrived[i], now);
	if (s->what == WATCH_OPEN && s->result != WATCH_LOST)
		apply_marks(a);
	if (s->elsewhere)
		a->watch.news = a->watch.open;
	if (s->result == WATCH_LOST)
		log_info("mailbox=%s session=ended reason=\"%s\"",
		    a->box.name, s->trouble.reason);
	tell(a, &t, s->trouble.reason);
	if (a->watch.waiting)
		start_polling(a);
	consider(a);
}

static void
start(struct attended *a)
{
	struct watcher	*w = a->watcher;

	w->running++;
	a->host->steps++;
	a->host->opening += a->step.what == WATCH_OPEN;
	a->running = true;
	a->work.data = a;
	if (uv_queue_work(w->loop, &a->work, run, after) != 0)
		panic("uv_queue_work");
}

static bool
host_has_room(const struct attended *a)
{
	return (a->host->steps < STEPS_MAX && (a->step.what != WATCH_OPEN ||
	    a->host->opening < OPENING_MAX));
}

/* Threads for those that are ready, in turn. */
static void
dispatch(struct watcher *w)
{
	struct attended	*a, *next;

	for (a = TAILQ_FIRST(&w->ready); a != NULL && w->running < THREADS;
	    a = next) {
		next = TAILQ_NEXT(a, queue);
		if (!host_has_room(a))
			continue;
		TAILQ_REMOVE(&w->ready, a, queue);
		start(a);
	}
}

static void
prepare(struct attended *a, enum watch_step what)
{
	struct step	*s = &a->step;

	s->what = what;
	s->expecting = watch_expecting(&a->watch);
	if (what == WATCH_OPEN) {
		s->secret = a->secret;
		a->secret = NULL;
	} else if (what == WATCH_CLEAN) {
		s->cleans = a->cleans;
		s->clean_count = a->clean_count;
		a->cleans = NULL;
		a->clean_count = a->watch.to_clean = 0;
	}
}

static void
on_timer(uv_timer_t *timer)
{
	consider(timer->data);
}

/* What to do next with this mailbox. */
static void
consider(struct attended *a)
{
	struct frame_secret_ask	ask = { .id = a->id };
	enum watch_step		what;
	int64_t			wait_ms;

	if (!a->began || a->forgotten)
		return;
	what = watch_next(&a->watch, clock_boot_ms(), &wait_ms);
	if (what == WATCH_ASK_SECRET) {
		worker_child_send(FRAME_SECRET_ASK, &ask);
		what = watch_next(&a->watch, clock_boot_ms(), &wait_ms);
	}
	if (what == WATCH_REST) {
		if (wait_ms >= 0)
			uv_timer_start(&a->timer, on_timer,
			    (uint64_t)wait_ms + (wait_ms > 0), 0);
		return;
	}
	stop_polling(a);
	uv_timer_stop(&a->timer);
	prepare(a, what);
	TAILQ_INSERT_TAIL(&a->watcher->ready, a, queue);
	dispatch(a->watcher);
}

/* Frames from the monitor. */

static struct attended *
find(struct watcher *w, uint32_t id)
{
	struct attended	*a;

	LIST_FOREACH(a, &w->all, all)
		if (a->id == id && !a->forgotten)
			return (a);
	return (NULL);
}

static struct host *
host_of(struct watcher *w, const char *name)
{
	struct host	*h;

	SLIST_FOREACH(h, &w->hosts, next)
		if (strcmp(h->name, name) == 0)
			return (h);
	h = mem_alloc(sizeof *h);
	h->name = mem_strdup(name);
	SLIST_INSERT_HEAD(&w->hosts, h, next);
	return (h);
}

static void
add_folder(struct mailbox_box *box, const char *name, size_t len, bool junk)
{
	struct mailbox_folder	*f;

	if (len == 0)
		return;
	box->folders = mem_grow(box->folders, box->folder_count + 1,
	    sizeof *box->folders);
	f = &box->folders[box->folder_count++];
	*f = (struct mailbox_folder){ .junk = junk };
	f->name = mem_printf("%.*s", (int)len, name);
}

static void
add_folders(struct mailbox_box *box, const char *list)
{
	size_t	n;

	for (; *list != '\0'; list += n + (list[n] == '\n')) {
		n = strcspn(list, "\n");
		add_folder(box, list, n, false);
	}
	if (box->folder_count == 0)
		add_folder(box, "INBOX", 5, false);
	if (strcmp(box->junk, "auto") != 0 && strcmp(box->junk, "none") != 0)
		add_folder(box, box->junk, strlen(box->junk), true);
}

static void
fill_box(struct mailbox_box *b, const struct frame_mailbox *f)
{
	*b = (struct mailbox_box){
		.name = mem_strdup(f->name),
		.host = mem_strdup(f->host),
		.port = (uint16_t)f->port,
		.tls = (enum tls_mode)f->tls,
		.ca_file = mem_strdup(f->ca_file),
		.insecure_auth = f->insecure_auth,
		.user = mem_strdup(f->user),
		.oauth = f->oauth,
		.source_address = mem_strdup(f->source_address),
		.family = (enum address_family)f->family,
		.connect_timeout_ms = f->connect_timeout_ms,
		.timeout_ms = f->timeout_ms,
		.junk = mem_strdup(f->junk),
		.froms = mem_strdup(f->froms),
		.expunge = (enum expunge_mode)f->expunge,
		.trash = mem_strdup(""),
	};
	add_folders(b, f->folders);
	/* Nothing to search for: no LIST. */
	b->searched = strcmp(f->junk, "auto") != 0 &&
	    b->expunge != EXPUNGE_AUTO && b->expunge != EXPUNGE_TRASH;
}

static void
fill_step(struct attended *a)
{
	a->step = (struct step){
		.driver = a->driver,
		.box = &a->box,
		.id = a->id,
		.authserv_id = a->authserv_id,
		.rules = {
			.key = &a->watcher->key,
			.instance = a->watcher->key_frame.instance,
			.mailbox = a->box.name,
			.froms = a->box.froms,
		},
	};
}

static void
on_mailbox(struct watcher *w, const union frame_body *body)
{
	const struct frame_mailbox	*f = &body->mailbox;
	struct attended			*a;

	if (find(w, f->id) != NULL || !w->has_key) {
		log_warn("mailbox=%s frame=MAILBOX out of order", f->name);
		return;
	}
	a = mem_alloc(sizeof *a);
	a->watcher = w;
	a->id = f->id;
	a->driver = &imap_driver;
	a->host = host_of(w, f->host);
	a->authserv_id = mem_strdup(f->authserv_id);
	fill_box(&a->box, f);
	a->box.resolver = w->key_frame.resolver;
	watch_init(&a->watch, clock_boot_ms());
	a->watch.poll_ms = f->poll_ms;
	a->watch.burst_ms = f->burst_ms;
	a->watch.auth_pause_ms = f->auth_pause_ms;
	a->watch.may_idle = f->idle;
	a->watch.needs_secret = f->user[0] != '\0';
	fill_step(a);
	uv_timer_init(w->loop, &a->timer);
	a->timer.data = a;
	LIST_INSERT_HEAD(&w->all, a, all);
}

static void
on_key(struct watcher *w, const union frame_body *body)
{
	unsigned	byte;
	size_t		i;

	w->key_frame = body->key;
	for (i = 0; i < TOKEN_KEY; i++) {
		if (sscanf(body->key.key_hex + 2 * i, "%2x", &byte) != 1)
			panic("the key in the monitor's frame is no key");
		w->key.bytes[i] = (unsigned char)byte;
	}
	mem_wipe(w->key_frame.key_hex, sizeof w->key_frame.key_hex);
	w->has_key = true;
}

static void
on_mark(struct watcher *w, const union frame_body *body)
{
	const struct frame_mark	*f = &body->mark;
	struct attended		*a = find(w, f->id);
	struct mailbox_folder	*m;

	if (a == NULL || a->began || a->mark_count >= 64)
		return;
	a->marks = mem_grow(a->marks, a->mark_count + 1, sizeof *a->marks);
	m = &a->marks[a->mark_count++];
	*m = (struct mailbox_folder){
		.name = mem_strdup(f->folder),
		.uidvalidity = f->uidvalidity,
		.uid = f->uid,
	};
}

static void
on_watch(struct watcher *w, const union frame_body *body)
{
	struct attended	*a = find(w, body->watch.id);

	if (a == NULL)
		return;
	a->began = true;
	apply_marks(a);
	consider(a);
}

static void
on_forget(struct watcher *w, const union frame_body *body)
{
	struct attended	*a = find(w, body->forget.id), *queued;

	if (a == NULL)
		return;
	a->forgotten = true;
	if (a->running)
		return;
	TAILQ_FOREACH(queued, &w->ready, queue)
		if (queued == a) {
			TAILQ_REMOVE(&w->ready, a, queue);
			keep_cleans(a);
			break;
		}
	leave(a);
}

static void
on_expect(struct watcher *w, const union frame_body *body)
{
	struct attended	*a = find(w, body->expect.id);

	if (a == NULL)
		return;
	watch_expect(&a->watch, body->expect.token, clock_boot_ms());
	consider(a);
}

static void
on_clean(struct watcher *w, const union frame_body *body)
{
	const struct frame_clean	*f = &body->clean;
	struct attended			*a = find(w, f->id);
	struct mailbox_clean		*c;

	if (a == NULL || a->clean_count >= CLEANS_MAX)
		return;
	a->cleans = mem_grow(a->cleans, a->clean_count + 1, sizeof *a->cleans);
	c = &a->cleans[a->clean_count++];
	*c = (struct mailbox_clean){
		.folder = mem_strdup(f->folder),
		.uidvalidity = f->uidvalidity,
		.uid = f->uid,
	};
	text_copy(c->token, sizeof c->token, f->token);
	watch_clean(&a->watch, (unsigned)a->clean_count, clock_boot_ms());
	consider(a);
}

static void
on_secret(struct watcher *w, const union frame_body *body)
{
	const struct frame_secret	*f = &body->secret;
	struct attended			*a = find(w, f->id);
	struct watch_tell		 t;

	if (a == NULL || a->secret != NULL)
		return;
	if (f->ok)
		a->secret = mem_strdup(f->secret);
	t = watch_secret(&a->watch, f->ok, clock_boot_ms(), random32());
	tell(a, &t, f->why);
	if (f->ok && !a->watch.has_secret) {
		mem_wipe(a->secret, strlen(a->secret));
		mem_free(a->secret);
		a->secret = NULL;
	}
	consider(a);
}

static void	(*const handlers[FRAME_TYPES])(struct watcher *,
		    const union frame_body *) = {
	[FRAME_KEY] = on_key,
	[FRAME_MAILBOX] = on_mailbox,
	[FRAME_MARK] = on_mark,
	[FRAME_WATCH] = on_watch,
	[FRAME_FORGET] = on_forget,
	[FRAME_EXPECT] = on_expect,
	[FRAME_CLEAN] = on_clean,
	[FRAME_SECRET] = on_secret,
};

static void
on_monitor(uv_poll_t *poll, int status, int events)
{
	static union frame_body	 body;
	struct watcher		*w = poll->data;
	enum frame_type		 type;
	int			 i;

	(void)status;
	(void)events;
	for (i = 0; i < FRAMES_A_TURN &&
	    (type = worker_child_receive(&body, 0)) != 0; i++) {
		if (handlers[type] != NULL)
			handlers[type](w, &body);
		if (type == FRAME_SECRET || type == FRAME_KEY)
			mem_wipe(&body, sizeof body);
	}
}

int
main(void)
{
	static struct watcher	w;
	uv_poll_t		monitor;

	/* Before anything uses the pool. */
	setenv("UV_THREADPOOL_SIZE", "4", 1);
	worker_child_begin(PROGRAM, MEMORY, FILES);
	log_open("stderr", PROGRAM);
	/* Sessions are made on one thread and freed on another. */
	(void)mallopt(M_ARENA_MAX, 2);
	(void)clock_now();		/* learns the boot's id, once */
	map_slots(&w);
	LIST_INIT(&w.all);
	TAILQ_INIT(&w.ready);
	SLIST_INIT(&w.hosts);
	w.loop = uv_default_loop();
	uv_poll_init(w.loop, &monitor, WORKER_FD);
	monitor.data = &w;
	uv_poll_start(&monitor, UV_READABLE, on_monitor);
	return (uv_run(w.loop, UV_RUN_DEFAULT));
}
