/*
 * mailflow-watcher: watches many mailboxes and tells the monitor what it
 * finds.  One loop waits on all that idle; a small pool of threads makes the
 * blocking steps, one at a time for each mailbox.  Here: what the monitor
 * says.
 */

#include "build.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes/attend.h"
#include "mailboxes/imap.h"
#include "mailboxes/maildir.h"
#include "monitor/clock.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/worker_child.h"

#define PROGRAM		"mailflow-watcher"
#define MEMORY		((size_t)1 << 30)
#define FILES		4096
#define FRAMES_A_TURN	64

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
		.maildir = mem_strdup(f->maildir),
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
		.bounces = f->bounces,
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
	a->driver = f->maildir[0] != '\0' ? &maildir_driver : &imap_driver;
	a->host = host_of(w, f->host);
	a->authserv_id = mem_strdup(f->authserv_id);
	fill_box(&a->box, f);
	a->box.resolver = w->key_frame.resolver;
	watch_init(&a->watch, clock_boot_ms());
	watch_pause(&a->watch, f->pause_ms, clock_boot_ms());
	a->watch.poll_ms = f->poll_ms;
	a->watch.burst_ms = f->burst_ms;
	a->watch.auth_pause_ms = f->auth_pause_ms;
	a->watch.may_idle = f->idle;
	a->watch.needs_secret = f->user[0] != '\0' && f->maildir[0] == '\0';
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
	attend_apply_marks(a);
	attend_consider(a);
}

static void
on_forget(struct watcher *w, const union frame_body *body)
{
	struct attended	*a = find(w, body->forget.id);

	if (a != NULL)
		attend_forget(a);
}

static void
on_expect(struct watcher *w, const union frame_body *body)
{
	struct attended	*a = find(w, body->expect.id);

	if (a == NULL)
		return;
	watch_expect(&a->watch, body->expect.token, clock_boot_ms());
	attend_consider(a);
}

static void
on_clean(struct watcher *w, const union frame_body *body)
{
	const struct frame_clean	*f = &body->clean;
	struct attended			*a = find(w, f->id);
	struct mailbox_clean		*c;

	if (a == NULL)
		return;
	a->cleans = mem_grow(a->cleans, a->clean_count + 1, sizeof *a->cleans);
	c = &a->cleans[a->clean_count];
	*c = (struct mailbox_clean){
		.folder = mem_strdup(f->folder),
		.uidvalidity = f->uidvalidity,
		.uid = f->uid,
	};
	text_copy(c->token, sizeof c->token, f->token);
	if (a->clean_count >= ATTEND_CLEANS) {
		step_cleaned(a->id, c, CLEAN_LEFT);
		mem_free(c->folder);
		return;
	}
	a->clean_count++;
	watch_clean(&a->watch, (unsigned)a->clean_count, clock_boot_ms());
	attend_consider(a);
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
	t = watch_secret(&a->watch, f->ok, clock_boot_ms(), attend_random());
	attend_tell(a, &t, f->why);
	if (f->ok && !a->watch.has_secret) {
		mem_wipe(a->secret, strlen(a->secret));
		mem_free(a->secret);
		a->secret = NULL;
	}
	attend_consider(a);
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
	attend_map_slots(&w);
	LIST_INIT(&w.all);
	TAILQ_INIT(&w.ready);
	SLIST_INIT(&w.hosts);
	w.loop = uv_default_loop();
	uv_poll_init(w.loop, &monitor, WORKER_FD);
	monitor.data = &w;
	uv_poll_start(&monitor, UV_READABLE, on_monitor);
	return (uv_run(w.loop, UV_RUN_DEFAULT));
}
