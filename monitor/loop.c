#include "monitor/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include "build.h"
#include "monitor/clock.h"
#include "monitor/command.h"
#include "monitor/control.h"
#include "monitor/csv.h"
#include "monitor/engine.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/schedule.h"
#include "monitor/senders.h"
#include "monitor/store.h"
#include "monitor/text.h"
#include "monitor/watchers.h"

#define HOOK_DEADLINE_MS	30000	/* for an alert's command */
#define STOP_WAIT_MS	3000	/* for bodies on their way, at the end */

enum { SIGNALS = 3 };

struct daemon {
	uv_loop_t		 loop;
	struct config		*config;	/* owned */
	const char		*worker_directory;
	struct store		*store;		/* owned, as are: */
	struct csv		*csv;
	struct engine		*engine;
	struct senders		*senders;
	struct watchers		*watchers;
	struct control		*control;
	struct steady		 steady;
	uv_prepare_t		 turn;		/* before the loop waits */
	uv_idle_t		 again;		/* a turn without waiting */
	uv_poll_t		 alarm;		/* timerfd, CLOCK_BOOTTIME */
	int			 alarm_fd;
	int64_t			 alarm_boot_ms;	/* what it is set to */
	uv_timer_t		 stop_timer;
	uv_signal_t		 signals[SIGNALS];
	bool			 stopping;
	bool			 closing;
	int			 status;
};

static int64_t
now_ms(struct daemon *d)
{
	struct stamp	now = clock_now();

	return (steady_step(&d->steady, &now));
}

/* The engine's orders. */

static void
do_job(void *arg, const struct server *server, const struct frame_job *f)
{
	struct daemon	*d = arg;

	senders_submit(d->senders, server, f);
}

static void
do_go(void *arg, uint64_t job, bool allowed)
{
	struct daemon	*d = arg;

	senders_go(d->senders, job, allowed);
}

static void
do_expect(void *arg, const struct frame_expect *f)
{
	struct daemon	*d = arg;

	if (d->watchers != NULL)	/* it is told all when it starts */
		watchers_expect(d->watchers, f);
}

static void
do_clean(void *arg, const struct frame_clean *f)
{
	struct daemon	*d = arg;

	if (d->watchers != NULL)
		watchers_clean(d->watchers, f);
}

/* CLOCK_MONOTONIC, as of this turn. */
static int64_t
do_running_ms(void *arg)
{
	struct daemon	*d = arg;

	return ((int64_t)uv_now(&d->loop));
}

static void
do_silent(void *arg, uint32_t mailbox)
{
	struct daemon	*d = arg;

	if (d->watchers != NULL)
		watchers_kill(d->watchers, mailbox,
		    "the watcher does not answer");
}

static void
do_random(void *arg, unsigned char *bytes, size_t size)
{
	(void)arg;
	if (getrandom(bytes, size, 0) != (ssize_t)size)
		panic("no random bytes: %s", strerror(errno));
}

/* An alert's command on its way. */
struct hook {
	struct daemon	*daemon;	/* borrowed */
	uint64_t	 handle;
	char		*name;		/* owned */
};

static void
on_hook(void *arg, bool ok, const char *output, const char *why)
{
	struct hook	*h = arg;
	struct outcome	*o = mem_alloc(sizeof *o);
	char		 said[256];

	text_clean(said, sizeof said, output, strlen(output));
	if (said[0] != '\0')
		log_info("alerts=%s command says: %s", h->name, said);
	outcome_init(o);
	o->finished = clock_now();
	o->class = ok ? CLASS_ACCEPTED : CLASS_OTHER;
	o->verdict = ok ? VERDICT_ACCEPTED : VERDICT_TEMPORARY;
	text_copy(o->reply, sizeof o->reply, ok ? said : why);
	if (h->daemon->engine != NULL)
		engine_hooked(h->daemon->engine, h->handle, o, now_ms(h->daemon));
	mem_free(o);
	mem_free(h->name);
	mem_free(h);
}

static void
do_hook(void *arg, uint64_t handle, const char *name, const char *command,
    const char *input)
{
	struct daemon	*d = arg;
	struct hook	*h = mem_alloc(sizeof *h);

	h->daemon = d;
	h->handle = handle;
	h->name = mem_strdup(name);
	command_run(&d->loop, COMMAND_FOR_STATUS, name, command, input,
	    HOOK_DEADLINE_MS, on_hook, h);
}

static void
do_news(void *arg, const struct probe *p)
{
	struct daemon	*d = arg;

	control_news(d->control, p);
}

static const struct engine_ops	engine_ops = {
	.job = do_job,
	.go = do_go,
	.expect = do_expect,
	.clean = do_clean,
	.random = do_random,
	.running_ms = do_running_ms,
	.silent = do_silent,
	.hook = do_hook,
	.news = do_news,
};

/* What senders say. */

static void
on_ask(void *arg, uint64_t job)
{
	struct daemon	*d = arg;

	engine_ask(d->engine, job, now_ms(d));
}

static void
on_outcome(void *arg, uint64_t job, const struct outcome *o)
{
	struct daemon	*d = arg;

	engine_outcome(d->engine, job, o, now_ms(d));
}

static void
on_hosts(void *arg, const struct frame_hosts *f)
{
	struct daemon	*d = arg;

	engine_hosts(d->engine, f, now_ms(d));
}

static void
on_lost(void *arg, uint64_t job, const char *why)
{
	struct daemon	*d = arg;
	struct stamp	 at = clock_now();

	engine_job_lost(d->engine, job, why, &at, now_ms(d));
}

static void
on_over(void *arg, uint64_t job)
{
	struct daemon	*d = arg;

	engine_over(d->engine, job, now_ms(d));
}

static const struct senders_events	senders_events = {
	on_ask, on_outcome, on_hosts, on_over, on_lost
};

/* For watchers and control. */

static int64_t
ask_now_ms(void *arg)
{
	return (now_ms(arg));
}

static const struct watchers_events	watchers_events = { ask_now_ms };

/* Ending. */

static void
close_any(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void
close_own_handles(struct daemon *d)
{
	close_any((uv_handle_t *)&d->turn, NULL);
	close_any((uv_handle_t *)&d->again, NULL);
	close_any((uv_handle_t *)&d->alarm, NULL);
	close_any((uv_handle_t *)&d->stop_timer, NULL);
	for (size_t i = 0; i < SIGNALS; i++)
		close_any((uv_handle_t *)&d->signals[i], NULL);
}

/* Lets go of everything that lives in the loop; it runs out by itself. */
static void
begin_close(struct daemon *d)
{
	if (d->closing)
		return;
	d->closing = true;
	/* What alerts' commands were to tell is due again at the next start. */
	command_kill_all();
	control_close(&d->control);
	senders_close(&d->senders);
	watchers_close(&d->watchers);
	close_own_handles(d);
}

static void
store_failed(struct daemon *d)
{
	log_error("the store cannot be written; ending, to start again from "
	    "what it holds");
	d->status = LOOP_TEMPORARY;
	begin_close(d);
}

/* Reads the configuration anew, as a whole or not at all. */

#define TOLD_MAX	8192		/* of what is wrong, to who asked */

static void
keep_lines(void *arg, const char *line)
{
	char	**wrong = arg, *more;

	if (strstr(line, ": warning: ") != NULL) {
		log_warn("%s", line);
		return;
	}
	log_error("%s", line);
	if (*wrong != NULL && strlen(*wrong) + strlen(line) > TOLD_MAX)
		return;
	more = mem_printf("%s%s%s", *wrong != NULL ? *wrong : "",
	    *wrong != NULL ? "\n" : "", line);
	mem_free(*wrong);
	*wrong = more;
}

/* What a running monitor cannot change under itself. */
static const char *
fixed_option(const struct config *was, const struct config *is)
{
	const struct {
		const char	*option, *was, *is;
	} fixed[] = {
		{ "instance", was->instance, is->instance },
		{ "state_directory", was->state_directory,
		    is->state_directory },
		{ "csv_directory", was->csv_directory, is->csv_directory },
		{ "control", was->control, is->control },
		{ "log", was->log, is->log },
	};

	for (size_t i = 0; i < NITEMS(fixed); i++)
		if (strcmp(fixed[i].was, fixed[i].is) != 0)
			return (fixed[i].option);
	return (NULL);
}

static char *
reload(void *arg)
{
	struct daemon	*d = arg;
	struct config	*c;
	const char	*option;
	char		*wrong = NULL;

	if ((c = config_load(d->config->file, keep_lines,
	    &wrong)) == NULL) {
		log_error("reload: the old configuration stays in force");
		return (wrong != NULL ? wrong :
		    mem_strdup("the configuration cannot be read"));
	}
	mem_free(wrong);
	if ((option = fixed_option(d->config, c)) != NULL) {
		wrong = mem_printf("%s: changing it needs a restart; the old "
		    "configuration stays in force", option);
		log_error("reload: %s", wrong);
		config_free(&c);
		return (wrong);
	}
	watchers_close(&d->watchers);
	engine_config(d->engine, c, now_ms(d));
	config_free(&d->config);
	d->config = c;
	senders_most(d->senders, c->senders);
	d->watchers = watchers_open(&d->loop, d->worker_directory, c,
	    d->engine, &watchers_events, d);
	log_info("reload: done");
	return (NULL);
}

static void
counts(void *arg, unsigned *senders_r, unsigned *waiting_r,
    unsigned *watchers_r)
{
	struct daemon	*d = arg;

	senders_count(d->senders, senders_r, waiting_r);
	*watchers_r = watchers_count(d->watchers);
}

static const struct control_events	control_events = {
	ask_now_ms, reload, counts
};

/* The turn. */

static void	on_again(uv_idle_t *);

/* Wakes the loop at a moment of the steady line. */
static void
set_alarm(struct daemon *d, int64_t next_ms, int64_t at_ms)
{
	struct itimerspec	t = { 0 };
	int64_t			boot_ms;

	if (next_ms == INT64_MAX)
		next_ms = at_ms + 3600 * 1000;
	boot_ms = d->steady.boot_ms + (next_ms > at_ms ? next_ms - at_ms : 0);
	if (boot_ms == d->alarm_boot_ms)
		return;
	d->alarm_boot_ms = boot_ms;
	t.it_value.tv_sec = boot_ms / 1000;
	t.it_value.tv_nsec = boot_ms % 1000 * 1000000;
	if (timerfd_settime(d->alarm_fd, TFD_TIMER_ABSTIME, &t, NULL) != 0)
		panic("timerfd_settime: %s", strerror(errno));
}

static void
on_turn(uv_prepare_t *handle)
{
	struct daemon	*d = handle->data;
	int64_t		 at_ms = now_ms(d);

	if (!d->stopping && engine_next_ms(d->engine) <= at_ms)
		engine_tick(d->engine, at_ms);
	if (engine_commit(d->engine) != 0) {
		store_failed(d);
		return;
	}
	if (d->stopping && !engine_busy(d->engine)) {
		begin_close(d);
		return;
	}
	if (engine_unfinished(d->engine))
		(void)uv_idle_start(&d->again, on_again);
	else if (!d->stopping)
		set_alarm(d, engine_next_ms(d->engine), at_ms);
}

static void
on_again(uv_idle_t *handle)
{
	uv_idle_stop(handle);
}

static void
on_alarm(uv_poll_t *poll, int status, int events)
{
	struct daemon	*d = poll->data;
	uint64_t	 times;

	(void)status;
	(void)events;
	d->alarm_boot_ms = 0;
	while (read(d->alarm_fd, &times, sizeof times) < 0 && errno == EINTR)
		continue;
}

static void
on_stop_timer(uv_timer_t *timer)
{
	begin_close(timer->data);
}

static void
stop(struct daemon *d, int signum)
{
	if (d->stopping) {
		begin_close(d);
		return;
	}
	log_info("ending on signal %d", signum);
	d->stopping = true;
	(void)uv_timer_start(&d->stop_timer, on_stop_timer, STOP_WAIT_MS, 0);
}

static int
open_control(struct daemon *d, char *why, size_t size)
{
	d->control = control_open(&d->loop, d->config->control, d->engine,
	    d->store, d->config->instance, &control_events, d, why, size);
	return (d->control != NULL ? 0 : -1);
}

/* Somebody may have removed the socket; it is put back. */
static void
keep_control(struct daemon *d)
{
	char	why[512] = "";

	if (d->closing || access(d->config->control, F_OK) == 0)
		return;
	log_warn("control: %s is gone and is made anew", d->config->control);
	control_close(&d->control);
	if (open_control(d, why, sizeof why) != 0)
		log_error("control: %s", why);
}

static void
on_signal(uv_signal_t *handle, int signum)
{
	struct daemon	*d = handle->data;

	if (signum == SIGHUP) {
		mem_free(reload(d));
		keep_control(d);
	} else
		stop(d, signum);
}

/* Opening. */

static void
init_handles(struct daemon *d)
{
	static const int	signums[SIGNALS] = { SIGHUP, SIGTERM, SIGINT };

	(void)uv_prepare_init(&d->loop, &d->turn);
	(void)uv_idle_init(&d->loop, &d->again);
	(void)uv_timer_init(&d->loop, &d->stop_timer);
	d->alarm_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK |
	    TFD_CLOEXEC);
	if (d->alarm_fd < 0)
		panic("timerfd_create: %s", strerror(errno));
	(void)uv_poll_init(&d->loop, &d->alarm, d->alarm_fd);
	d->turn.data = d->again.data = d->alarm.data = d->stop_timer.data = d;
	for (size_t i = 0; i < SIGNALS; i++) {
		(void)uv_signal_init(&d->loop, &d->signals[i]);
		d->signals[i].data = d;
		(void)uv_signal_start(&d->signals[i], on_signal, signums[i]);
	}
	(void)uv_poll_start(&d->alarm, UV_READABLE, on_alarm);
	(void)uv_prepare_start(&d->turn, on_turn);
}

static int
fail(const char *what, const char *why)
{
	log_error("%s: %s", what, why);
	return (-1);
}

static bool
can_work(struct daemon *d, const char *program)
{
	char	path[1024];

	snprintf(path, sizeof path, "%s/%s", d->worker_directory, program);
	if (access(path, X_OK) == 0)
		return (true);
	log_error("%s: %s (MAILFLOWD_WORKERS names another folder)", path,
	    strerror(errno));
	return (false);
}

static int
open_all(struct daemon *d)
{
	struct config	*c = d->config;
	char		 why[512] = "";

	if (!can_work(d, "mailflow-sender") || !can_work(d, "mailflow-watcher"))
		return (-1);
	d->store = store_open(c->state_directory, why, sizeof why);
	if (d->store == NULL)
		return (fail("store", why));
	d->csv = csv_open(c->csv_directory, d->store, why, sizeof why);
	if (d->csv == NULL)
		return (fail("csv", why));
	d->engine = engine_open(c, d->store, d->csv, &engine_ops, d,
	    now_ms(d));
	if (d->engine == NULL)
		return (fail("store", store_error(d->store)));
	if (open_control(d, why, sizeof why) != 0)
		return (fail("control", why));
	d->senders = senders_open(&d->loop, d->worker_directory, c->senders,
	    &senders_events, d);
	d->watchers = watchers_open(&d->loop, d->worker_directory, c,
	    d->engine, &watchers_events, d);
	return (0);
}

int
loop_run(struct config *config, const char *worker_directory)
{
	struct daemon	*d = mem_alloc(sizeof *d);
	int		 status;

	d->config = config;
	d->worker_directory = worker_directory;
	(void)uv_loop_init(&d->loop);
	init_handles(d);
	if (open_all(d) != 0) {
		d->status = LOOP_UNAVAILABLE;
		begin_close(d);
	} else
		log_info("instance=%s version=%s pid=%d began",
		    config->instance, PACKAGE_VERSION, (int)getpid());
	(void)uv_run(&d->loop, UV_RUN_DEFAULT);
	engine_close(&d->engine);
	csv_close(&d->csv);
	store_close(&d->store);
	config_free(&d->config);
	close(d->alarm_fd);
	if (uv_loop_close(&d->loop) != 0)
		panic("a handle was left open");
	if (d->status != LOOP_UNAVAILABLE)
		log_info("ended");
	status = d->status;
	mem_free(d);
	return (status);
}
