#include "monitor/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "build.h"
#include "monitor/clock.h"
#include "monitor/control_json.h"
#include "monitor/csv.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/tally.h"
#include "monitor/text.h"

#define REQUEST_MAX	4096
#define IDLE_MS		30000		/* to say what one wants */

struct client {
	struct control		*control;	/* borrowed; NULL: orphaned */
	uv_pipe_t		 pipe;
	uv_timer_t		 timer;
	uv_write_t		 write;
	unsigned		 open_handles;
	char			*answer;	/* owned */
	char			 request[REQUEST_MAX];
	size_t			 len;
	char			 waits_for[TOKEN_SIZE];	/* a probe, or "" */
	int64_t			*tests;		/* owned: ids of notices */
	size_t			 test_count;
	int64_t			 tests_end_ms;	/* CLOCK_BOOTTIME */
	LIST_ENTRY(client)	 next;
};

struct control {
	uv_loop_t			*loop;
	uv_pipe_t			 listener;
	char				*path;		/* owned */
	char				*instance;	/* owned */
	struct engine			*engine;
	struct store			*store;
	const struct control_events	*events;
	void				*arg;
	unsigned			 count;
	int64_t				 started_ms;
	LIST_HEAD(, client)		 clients;
};

/* Clients come and go. */

static void
on_client_closed(uv_handle_t *handle)
{
	struct client	*c = handle->data;

	if (--c->open_handles > 0)
		return;
	mem_free(c->answer);
	mem_free(c->tests);
	mem_free(c);
}

static void
client_close(struct client *c)
{
	if (c->control != NULL) {
		LIST_REMOVE(c, next);
		c->control->count--;
		c->control = NULL;
	}
	if (!uv_is_closing((uv_handle_t *)&c->pipe)) {
		uv_close((uv_handle_t *)&c->pipe, on_client_closed);
		uv_close((uv_handle_t *)&c->timer, on_client_closed);
	}
}

static void
on_written(uv_write_t *write, int status)
{
	(void)status;
	client_close(write->data);
}

/* Takes the reference. */
static void
answer(struct client *c, json_t *j)
{
	char		*text = json_dumps(j, JSON_COMPACT);
	uv_buf_t	 buf;

	json_decref(j);
	if (text == NULL)
		panic("out of memory for JSON");
	c->waits_for[0] = '\0';
	c->answer = mem_printf("%s\n", text);
	mem_free(text);
	buf = uv_buf_init(c->answer, (unsigned)strlen(c->answer));
	c->write.data = c;
	if (uv_write(&c->write, (uv_stream_t *)&c->pipe, &buf, 1,
	    on_written) != 0)
		client_close(c);
}

static json_t *
success(void)
{
	return (json_pack("{sb}", "ok", 1));
}

static void
refuse(struct client *c, const char *why)
{
	answer(c, json_pack("{sb so}", "ok", 0, "error",
	    control_json_text(why)));
}

static void	on_alloc(uv_handle_t *, size_t, uv_buf_t *);
static void	on_read(uv_stream_t *, ssize_t, const uv_buf_t *);

/* Requests. */

static const char *
argument(const json_t *request, const char *name)
{
	const char	*s = json_string_value(json_object_get(request, name));

	return (s != NULL ? s : "");
}

struct listing {
	json_t		*array;
	int64_t		 now_ms;
	const char	*only;	/* borrowed: one name; NULL: all */
	const char	*mailbox;	/* borrowed; of the last route */
};

static void
list_route(void *arg, const struct route_view *v)
{
	struct listing	*l = arg;

	l->mailbox = v->route->mailbox->name;
	json_array_append_new(l->array, control_json_route(v));
}

static void
list_mailbox(void *arg, const struct mailbox_view *v)
{
	struct listing	*l = arg;

	if (l->only == NULL || strcmp(l->only, v->mailbox->name) == 0)
		json_array_append_new(l->array,
		    control_json_mailbox(v, l->now_ms));
}

static void
list_check(void *arg, const struct check_view *v)
{
	struct listing	*l = arg;

	json_array_append_new(l->array, control_json_check(v));
}

static void
list_episode(void *arg, const struct episode *e)
{
	struct listing	*l = arg;

	json_array_append_new(l->array, control_json_episode(e));
}

static void
list_probe(void *arg, const struct probe *p)
{
	struct listing	*l = arg;

	json_array_append_new(l->array, control_json_probe(p));
}

/* All routes and mailboxes; or one route, if it is there, and its mailbox. */
static void
list_routes(struct engine *e, const char *name, struct listing *routes,
    struct listing *mailboxes)
{
	if (name[0] == '\0') {
		engine_routes(e, list_route, routes);
		engine_mailbox_views(e, list_mailbox, mailboxes);
	} else if (engine_route(e, name, list_route, routes)) {
		mailboxes->only = routes->mailbox;
		engine_mailbox_views(e, list_mailbox, mailboxes);
	}
}

/* Whether people hear of it: what is on its way, and what was given up. */

#define EXPIRED_MS	INT64_C(604800000)	/* 7 days */

static void
add_notices(struct control *k, json_t *j, int64_t now_ms)
{
	const struct outbox	*o = engine_outbox(k->engine);
	struct outbox_view	 v;
	unsigned		 expired = 0;

	(void)store_delivery_expired(k->store, now_ms - EXPIRED_MS, &expired);
	json_object_set_new(j, "notices_waiting",
	    json_integer(outbox_waiting(o)));
	json_object_set_new(j, "oldest_notice", outbox_oldest(o, &v) ?
	    control_json_waiting(&v) : json_null());
	json_object_set_new(j, "notices_expired", json_integer(expired));
}

static void
add_csv(struct control *k, json_t *j)
{
	size_t		 waiting;
	const char	*trouble = csv_trouble(engine_csv(k->engine),
			    &waiting);

	json_object_set_new(j, "csv_trouble", control_json_text(trouble));
	json_object_set_new(j, "csv_rows_waiting",
	    json_integer((json_int_t)waiting));
}

static void
do_status(struct client *c, const json_t *request)
{
	struct control	*k = c->control;
	struct listing	 routes = { .array = json_array() };
	struct listing	 mailboxes = { .array = json_array(),
			    .now_ms = clock_now().wall_ms };
	struct listing	 episodes = { .array = json_array() };
	struct listing	 checks = { .array = json_array() };
	unsigned	 senders, waiting, watchers;
	json_t		*j = success();

	list_routes(k->engine, argument(request, "route"), &routes,
	    &mailboxes);
	follow_each(engine_follow(k->engine), list_episode, &episodes);
	engine_checks(k->engine, list_check, &checks);
	k->events->counts(k->arg, &senders, &waiting, &watchers);
	json_object_set_new(j, "version", json_string(PACKAGE_VERSION));
	json_object_set_new(j, "instance", control_json_text(k->instance));
	json_object_set_new(j, "pid", json_integer(getpid()));
	json_object_set_new(j, "started_at", control_json_time(k->started_ms));
	json_object_set_new(j, "now", control_json_time(mailboxes.now_ms));
	json_object_set_new(j, "routes", routes.array);
	json_object_set_new(j, "mailboxes", mailboxes.array);
	json_object_set_new(j, "episodes", episodes.array);
	json_object_set_new(j, "checks", checks.array);
	json_object_set_new(j, "senders", json_integer(senders));
	json_object_set_new(j, "jobs_waiting", json_integer(waiting));
	json_object_set_new(j, "watchers", json_integer(watchers));
	add_notices(k, j, mailboxes.now_ms);
	add_csv(k, j);
	json_object_set_new(j, "commits",
	    json_integer((json_int_t)store_commits(k->store)));
	answer(c, j);
}

static void
do_probes(struct client *c, const json_t *request)
{
	struct listing	 l = { .array = json_array() };
	json_t		*j = success();

	(void)request;
	engine_probes(c->control->engine, list_probe, &l);
	json_object_set_new(j, "probes", l.array);
	answer(c, j);
}

static void
do_transcript(struct client *c, const json_t *request)
{
	char	*text = mem_alloc(OUTCOME_TRANSCRIPT);
	int64_t	 at_ms = 0;
	json_t	*j;

	if (store_transcript_get(c->control->store,
	    argument(request, "route"), &at_ms, text, OUTCOME_TRANSCRIPT) == 1) {
		j = success();
		json_object_set_new(j, "at", control_json_time(at_ms));
		json_object_set_new(j, "transcript", control_json_text(text));
		answer(c, j);
	} else
		refuse(c, "no failed attempt of that route is on record");
	mem_free(text);
}

static void
do_episodes(struct client *c, const json_t *request)
{
	struct listing	 l = { .array = json_array() };
	json_t		*j = success();

	if (json_is_true(json_object_get(request, "all")))
		(void)store_episode_each(c->control->store, 0, list_episode,
		    &l);
	else
		follow_each(engine_follow(c->control->engine), list_episode,
		    &l);
	json_object_set_new(j, "episodes", l.array);
	answer(c, j);
}

static void
list_event(void *arg, int64_t at_ms, const char *event, const char *probe,
    const char *text)
{
	struct listing	*l = arg;

	json_array_append_new(l->array, json_pack("{so so so so}",
	    "at", control_json_time(at_ms), "event", control_json_text(event),
	    "probe", control_json_text(probe),
	    "text", control_json_text(text)));
}

/* Probes counted; of more the newest. */
#define REPORT_PROBES	250000

static void
count_probe(void *arg, const char *route, enum probe_end end,
    unsigned deferrals, int64_t total_ms)
{
	tally_add(arg, route, end, deferrals, total_ms);
}

static void
list_configured(void *arg, const struct route_view *v)
{
	tally_route(arg, v->route->name);
}

static void
list_past(void *arg, const struct episode *e)
{
	if (e->opened_ms != 0)
		list_episode(arg, e);
}

static void
do_report(struct client *c, const json_t *request)
{
	struct control	*k = c->control;
	struct tally	*t = tally_new();
	struct listing	 episodes = { .array = json_array() };
	int64_t		 since_ms = json_integer_value(json_object_get(
			    request, "since_ms"));
	json_t		*j = success(), *routes = json_array();
	const struct tally_line *const	*lines;
	size_t		 count;

	tally_any(t);
	engine_routes(k->engine, list_configured, t);
	(void)store_probe_totals(k->store, since_ms, REPORT_PROBES,
	    count_probe, t);
	(void)store_episode_each(k->store, since_ms, list_past, &episodes);
	lines = tally_lines(t, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(routes, control_json_tally(lines[i]));
	json_object_set_new(j, "instance", control_json_text(k->instance));
	json_object_set_new(j, "since", control_json_time(since_ms));
	json_object_set_new(j, "until",
	    control_json_time(clock_now().wall_ms));
	json_object_set_new(j, "partial", json_boolean(tally_probes(t) >=
	    REPORT_PROBES));
	json_object_set_new(j, "routes", routes);
	json_object_set_new(j, "episodes", episodes.array);
	tally_free(&t);
	answer(c, j);
}

static int64_t
episode_argument(const json_t *request)
{
	return (json_integer_value(json_object_get(request, "episode")));
}

static void
do_why(struct client *c, const json_t *request)
{
	struct episode	*e = mem_alloc(sizeof *e);
	struct listing	 l = { .array = json_array() };
	json_t		*j;

	if (store_episode_get(c->control->store, episode_argument(request),
	    e) == 1) {
		(void)store_episode_events(c->control->store, e->id,
		    list_event, &l);
		j = success();
		json_object_set_new(j, "episode", control_json_episode(e));
		json_object_set(j, "events", l.array);
		answer(c, j);
	} else
		refuse(c, "no such episode");
	json_decref(l.array);
	mem_free(e);
}

/* What is said to be done is on the disk.  Takes the reference. */
static void
answer_done(struct client *c, json_t *j)
{
	if (engine_commit(c->control->engine) == 0) {
		answer(c, j);
	} else {
		json_decref(j);
		refuse(c, "the store cannot be written");
	}
}

static void
do_probe(struct client *c, const json_t *request)
{
	struct control	*k = c->control;
	const char	*why = "";
	char		 token[TOKEN_SIZE];
	json_t		*j;

	if (engine_probe_now(k->engine, argument(request, "route"), token,
	    &why, k->events->now_ms(k->arg)) != 0) {
		refuse(c, why);
		return;
	}
	if (json_is_true(json_object_get(request, "wait"))) {
		text_copy(c->waits_for, sizeof c->waits_for, token);
		(void)uv_read_start((uv_stream_t *)&c->pipe, on_alloc,
		    on_read);	/* to learn when it goes away */
		return;
	}
	j = success();
	json_object_set_new(j, "probe", control_json_text(token));
	answer_done(c, j);
}

static void
set_paused(struct client *c, const json_t *request, bool paused)
{
	struct control	*k = c->control;

	if (engine_pause(k->engine, argument(request, "route"), paused,
	    k->events->now_ms(k->arg)) == 0)
		answer_done(c, success());
	else
		refuse(c, "no such route");
}

static void
do_pause(struct client *c, const json_t *request)
{
	set_paused(c, request, true);
}

static void
do_resume(struct client *c, const json_t *request)
{
	set_paused(c, request, false);
}

static void
do_ack(struct client *c, const json_t *request)
{
	struct control	*k = c->control;

	if (engine_ack(k->engine, episode_argument(request),
	    k->events->now_ms(k->arg)) == 0)
		answer_done(c, success());
	else
		refuse(c, "no such open episode");
}

/* Tests of the alerts: asked of the store until none is under way. */

#define TEST_LOOK_MS	200

struct testing {
	struct store	*store;
	json_t		*array;
	struct notice	*notice;	/* the one whose deliveries come */
	bool		 waits;
};

static void
list_delivery(void *arg, const struct delivery *d)
{
	struct testing	*t = arg;

	t->waits = t->waits || d->state == DELIVERY_DUE ||
	    d->state == DELIVERY_SENDING;
	json_array_append_new(t->array, json_pack("{so so so so si so}",
	    "alerts", control_json_text(t->notice->alerts),
	    "kind", control_json_text(notice_kind_name(t->notice->kind)),
	    "to", control_json_text(d->to),
	    "state", control_json_text(store_delivery_word(d->state)),
	    "attempts", (int)d->attempts,
	    "reply", control_json_text(d->last_reply)));
}

static void
on_test_timer(uv_timer_t *timer)
{
	struct client	*c = timer->data;
	struct testing	 t = { .store = c->control->store,
			    .array = json_array(),
			    .notice = mem_alloc(sizeof *t.notice) };
	json_t		*j;

	for (size_t i = 0; i < c->test_count; i++)
		if (store_notice_get(t.store, c->tests[i], t.notice) == 1)
			(void)store_delivery_of(t.store, c->tests[i],
			    list_delivery, &t);
	if (!t.waits || clock_boot_ms() >= c->tests_end_ms) {
		uv_timer_stop(timer);
		j = success();
		json_object_set(j, "deliveries", t.array);
		answer(c, j);
	}
	json_decref(t.array);
	mem_free(t.notice);
}

static void
test_one(void *arg, const char *name)
{
	struct client	*c = arg;
	struct control	*k = c->control;
	int64_t		*ids;

	c->tests = mem_grow(c->tests, c->test_count + FOLLOW_TESTS,
	    sizeof *c->tests);
	ids = c->tests + c->test_count;
	if (engine_test(k->engine, name, ids, k->events->now_ms(k->arg)) == 0)
		c->test_count += FOLLOW_TESTS;
}

static void
do_test_alert(struct client *c, const json_t *request)
{
	const char	*name = argument(request, "alerts");
	json_int_t	 wait_ms = json_integer_value(json_object_get(request,
			    "wait_ms"));

	if (wait_ms <= 0 || wait_ms > CONTROL_TEST_MS)
		wait_ms = CONTROL_TEST_MS;
	if (name[0] != '\0')
		test_one(c, name);
	else
		engine_alerts(c->control->engine, test_one, c);
	if (c->test_count == 0) {
		refuse(c, name[0] != '\0' ? "no such alerts section" :
		    "there is no alerts section");
		return;
	}
	c->tests_end_ms = clock_boot_ms() + wait_ms;
	(void)uv_timer_start(&c->timer, on_test_timer, TEST_LOOK_MS,
	    TEST_LOOK_MS);
	(void)uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
}

static void
do_reload(struct client *c, const json_t *request)
{
	char	*wrong = c->control->events->reload(c->control->arg);

	(void)request;
	if (wrong == NULL)
		answer(c, success());
	else
		refuse(c, wrong);
	mem_free(wrong);
}

static const struct request {
	const char	*command;
	void		(*run)(struct client *, const json_t *);
} requests[] = {
	{ "status", do_status },
	{ "probes", do_probes },
	{ "transcript", do_transcript },
	{ "episodes", do_episodes },
	{ "why", do_why },
	{ "report", do_report },
	{ "probe", do_probe },
	{ "pause", do_pause },
	{ "resume", do_resume },
	{ "ack", do_ack },
	{ "test-alert", do_test_alert },
	{ "reload", do_reload },
};

static void
serve(struct client *c)
{
	json_t		*request;
	const char	*command;

	uv_read_stop((uv_stream_t *)&c->pipe);
	uv_timer_stop(&c->timer);
	request = json_loadb(c->request, c->len, JSON_REJECT_DUPLICATES, NULL);
	command = argument(request, "command");
	for (size_t i = 0; i < NITEMS(requests); i++)
		if (strcmp(requests[i].command, command) == 0) {
			requests[i].run(c, request);
			json_decref(request);
			return;
		}
	refuse(c, request != NULL ? "unknown command" : "not JSON");
	json_decref(request);
}

void
control_news(struct control *k, const struct probe *p)
{
	struct client	*c, *next;
	json_t		*j;

	if (k == NULL)
		return;
	for (c = LIST_FIRST(&k->clients); c != NULL; c = next) {
		next = LIST_NEXT(c, next);
		if (strcmp(c->waits_for, p->token) != 0)
			continue;
		if (p->state != PROBE_DONE && p->state != PROBE_WAITING &&
		    !p->late_told)
			continue;
		j = success();
		json_object_set_new(j, "result", control_json_probe(p));
		answer(c, j);
	}
}

static void
on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
	struct client	*c = handle->data;

	(void)hint;
	*buf = uv_buf_init(c->request + c->len,
	    (unsigned)(sizeof c->request - c->len));
}

static void
on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client	*c = stream->data;

	(void)buf;
	if (n < 0) {
		client_close(c);
		return;
	}
	if (c->waits_for[0] != '\0' || c->test_count > 0)
		return;		/* it has asked already */
	c->len += (size_t)n;
	if (memchr(c->request, '\n', c->len) != NULL)
		serve(c);
	else if (c->len == sizeof c->request)
		client_close(c);
}

static void
on_timer(uv_timer_t *timer)
{
	client_close(timer->data);
}

static void
on_connection(uv_stream_t *listener, int status)
{
	struct control	*k = listener->data;
	struct client	*c;

	if (status < 0)
		return;
	c = mem_alloc(sizeof *c);
	(void)uv_pipe_init(k->loop, &c->pipe, 0);
	(void)uv_timer_init(k->loop, &c->timer);
	c->pipe.data = c->timer.data = c;
	c->open_handles = 2;
	c->control = k;
	LIST_INSERT_HEAD(&k->clients, c, next);
	k->count++;
	if (uv_accept(listener, (uv_stream_t *)&c->pipe) != 0 ||
	    k->count > CONTROL_CLIENTS) {
		client_close(c);
		return;
	}
	(void)uv_timer_start(&c->timer, on_timer, IDLE_MS, 0);
	(void)uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
}

/* Removes a socket that nobody listens on any more. */
static int
remove_stale(const char *path, char *why, size_t whysize)
{
	struct sockaddr_un	sa = { .sun_family = AF_UNIX };
	struct stat		st;
	int			fd, r;

	if (lstat(path, &st) != 0)
		return (0);
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(why, whysize, "%s is there and is no socket", path);
		return (-1);
	}
	if (!text_copy(sa.sun_path, sizeof sa.sun_path, path) ||
	    (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		return (0);
	r = connect(fd, (struct sockaddr *)&sa, sizeof sa);
	close(fd);
	if (r == 0) {
		snprintf(why, whysize, "%s is in use by another process", path);
		return (-1);
	}
	(void)unlink(path);
	return (0);
}

/* Makes the folder of the socket if it is missing, as under /run. */
static void
make_folder(const char *path)
{
	char	*folder = mem_strdup(path), *slash = strrchr(folder, '/');

	if (slash != NULL && slash != folder) {
		*slash = '\0';
		(void)mkdir(folder, 0755);
	}
	mem_free(folder);
}

static void
on_listener_closed(uv_handle_t *handle)
{
	struct control	*k = handle->data;

	mem_free(k->path);
	mem_free(k->instance);
	mem_free(k);
}

static int
listen_on(struct control *k, char *why, size_t whysize)
{
	mode_t	mask;
	int	r;

	if (strlen(k->path) >= sizeof ((struct sockaddr_un *)0)->sun_path) {
		snprintf(why, whysize, "%s: the path is too long for a socket",
		    k->path);
		return (-1);
	}
	make_folder(k->path);
	if (remove_stale(k->path, why, whysize) != 0)
		return (-1);
	mask = umask(0117);			/* rw-rw---- from birth */
	r = uv_pipe_bind(&k->listener, k->path);
	(void)umask(mask);
	if (r == 0)
		r = uv_listen((uv_stream_t *)&k->listener, 8, on_connection);
	if (r != 0)
		snprintf(why, whysize, "%s: %s", k->path, uv_strerror(r));
	return (r);
}

struct control *
control_open(uv_loop_t *loop, const char *path, struct engine *engine,
    struct store *store, const char *instance,
    const struct control_events *events, void *arg, char *why_r,
    size_t whysize)
{
	struct control	*k = mem_alloc(sizeof *k);

	k->loop = loop;
	k->path = mem_strdup(path);
	k->instance = mem_strdup(instance);
	k->engine = engine;
	k->store = store;
	k->events = events;
	k->arg = arg;
	k->started_ms = clock_now().wall_ms;
	LIST_INIT(&k->clients);
	(void)uv_pipe_init(loop, &k->listener, 0);
	k->listener.data = k;
	if (listen_on(k, why_r, whysize) != 0) {
		uv_close((uv_handle_t *)&k->listener, on_listener_closed);
		return (NULL);
	}
	return (k);
}

void
control_close(struct control **kp)
{
	struct control	*k = *kp;
	struct client	*c;

	if (k == NULL)
		return;
	*kp = NULL;
	while ((c = LIST_FIRST(&k->clients)) != NULL)
		client_close(c);
	uv_close((uv_handle_t *)&k->listener, on_listener_closed);
}
