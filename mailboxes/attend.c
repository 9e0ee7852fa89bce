#include "mailboxes/attend.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "monitor/clock.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/worker_child.h"

#define CLEAN_TRIES	3

/*
 * Steps at once on one server: opening a session on a server that does not
 * answer must leave threads for the others.
 */
#define OPENING_MAX	2
#define STEPS_MAX	3

/* A warning that lasts as long as what it is about. */
#define NO_TRASH	"the server names no trash folder: probes are left"

/* Who is in whose hands. */

void
attend_map_slots(struct watcher *w)
{
	struct stat	 st;
	void		*p;
	size_t		 size = WORKER_SLOTS * sizeof *w->slots;

	if (fstat(WORKER_SLOTS_FD, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (size_t)st.st_size < size)
		return;
	(void)fcntl(WORKER_SLOTS_FD, F_SETFD, FD_CLOEXEC);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    WORKER_SLOTS_FD, 0);
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
		slot = atomic_fetch_add(&w->next_slot, 1) % ATTEND_THREADS;
	atomic_store(&w->slots[slot], id);
}

static void
hold_in_loop(struct watcher *w, uint32_t id)
{
	if (w->slots != NULL)
		atomic_store(&w->slots[ATTEND_THREADS], id);
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
	else if (tell->good && a->box.lacks_trash)
		text_copy(f.warning, sizeof f.warning, NO_TRASH);
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

void
attend_tell(struct attended *a, const struct watch_tell *t, const char *reason)
{
	static const struct watch_tell	good = { .tell = true, .good = true };

	if (t->tell)
		send_look(a, t, reason);
	else if (a->warn && a->watch.told && a->watch.good)
		send_look(a, &good, "");
}

/* Spreads tries, no more: xorshift, from a seed of the system's. */
uint32_t
attend_random(void)
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
	t = watch_lost(&a->watch, trouble, clock_boot_ms(), attend_random());
	log_info("mailbox=%s session=ended reason=\"%s\"", a->box.name,
	    trouble->reason);
	attend_tell(a, &t, trouble->reason);
}

/* Something may have come; true if it is still waiting. */
static bool
look_up(struct attended *a)
{
	struct mailbox_trouble	trouble = { .retry = MAILBOX_BACK_OFF };
	enum mailbox_wake	what;

	hold_in_loop(a->watcher, a->id);
	what = a->driver->wake(&a->box, &trouble);
	hold_in_loop(a->watcher, 0);
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
		attend_consider(a);
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
	mem_free(a->box.maildir);
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
void
attend_apply_marks(struct attended *a)
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
		    a->clean_count >= ATTEND_CLEANS) {
			step_cleaned(a->id, &s->cleans[i], CLEAN_LEFT);
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
	    attend_random());
	for (i = 0; i < s->arrived_count; i++)
		watch_arrived(&a->watch, s->arrived[i].token,
		    s->arrived[i].first, now);
	if (s->result != WATCH_LOST)
		attend_apply_marks(a);
	if (s->elsewhere)
		a->watch.news = a->watch.open;
	if (s->result == WATCH_LOST)
		log_info("mailbox=%s session=ended reason=\"%s\"",
		    a->box.name, s->trouble.reason);
	attend_tell(a, &t, s->trouble.reason);
	if (a->watch.waiting)
		start_polling(a);
	attend_consider(a);
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

	for (a = TAILQ_FIRST(&w->ready);
	    a != NULL && w->running < ATTEND_THREADS; a = next) {
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
	attend_consider(timer->data);
}

/* What to do next with this mailbox. */
void
attend_consider(struct attended *a)
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

void
attend_forget(struct attended *a)
{
	struct watcher	*w = a->watcher;
	struct attended	*queued;

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
