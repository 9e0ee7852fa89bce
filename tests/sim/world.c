#include "tests/sim/world.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"
#include "tests/sim/world_internal.h"

/* Time, the monitor's turns, and its ends. */

#define BLINK_MS	30000	/* until a restarted monitor is up */
#define BOOTED_MS	INT64_C(1000000000)
#define HOUR_MS		INT64_C(3600000)
#define TICKS_MAX	20000	/* an hour; more is spinning */

/* Stamps of this world: one machine, one boot. */
struct stamp
world_stamp(const struct world *w)
{
	struct stamp	s = {
		.wall_ms = w->now_ms + w->clock_ms,
		.boot_ms = w->now_ms - BOOTED_MS,
		.boot_id = 7,
	};

	return (s);
}

int64_t
world_told_ms(struct world *w)
{
	struct stamp	now = world_stamp(w);

	return (steady_step(&w->steady, &now));
}

/* Keeps the first. */
void
world_blame(struct world *w, const char *what, const char *about)
{
	if (w->fault[0] == '\0')
		(void)text_appendf(w->fault, sizeof w->fault, "%s: %s", what,
		    about);
}

struct event *
world_event(struct world *w, enum happening what, int64_t in_ms)
{
	struct event	*e = mem_alloc(sizeof *e);

	e->what = what;
	e->boot = w->boot;
	agenda_set(&w->agenda, &e->item, w->now_ms + in_ms);
	return (e);
}

void
world_event_free(struct event *e)
{
	mem_free(e->job.message);
	mem_free(e);
}

static void
op_expect(void *arg, const struct frame_expect *f)
{
	(void)arg;
	(void)f;
}

static int64_t
op_running_ms(void *arg)
{
	struct world	*w = arg;

	return (w->now_ms);
}

static void
op_random(void *arg, unsigned char *bytes, size_t size)
{
	struct world	*w = arg;

	for (size_t i = 0; i < size; i++) {
		w->random = w->random * 6364136223846793005U +
		    1442695040888963407U;
		bytes[i] = (unsigned char)(w->random >> 56);
	}
}

static const struct engine_ops	ops = {
	.job = world_op_job,
	.go = world_op_go,
	.expect = op_expect,
	.clean = world_op_clean,
	.random = op_random,
	.running_ms = op_running_ms,
	.hook = world_op_hook,
};

/* Starting and stopping. */

static void
quiet(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, ": warning: ") == NULL)
		fprintf(stderr, "%s\n", line);
}

/* The configuration stays: mail finds its way without the monitor. */
static void
power_off(struct world *w)
{
	struct event	*e;

	w->up = false;
	w->boot++;
	while ((e = TAILQ_FIRST(&w->in_hand)) != NULL) {
		TAILQ_REMOVE(&w->in_hand, e, in_hand);
		world_event_free(e);
	}
	engine_close(&w->engine);
	csv_close(&w->csv);
	store_close(&w->store);
}

static void
power_on(struct world *w)
{
	char	why[512] = "", path[1024];

	config_free(&w->config);
	w->config = config_load(w->file, quiet, NULL);
	if (w->config == NULL)
		panic("the story's configuration is wrong");
	snprintf(path, sizeof path, "%s/state", w->directory);
	if ((w->store = store_open(path, why, sizeof why)) == NULL)
		panic("store: %s", why);
	snprintf(path, sizeof path, "%s/csv", w->directory);
	if ((w->csv = csv_open(path, w->store, why, sizeof why)) == NULL)
		panic("csv: %s", why);
	w->steady = (struct steady){ 0 };
	w->engine = engine_open(w->config, w->store, w->csv, &ops, w,
	    world_told_ms(w));
	if (w->engine == NULL)
		panic("engine: %s", store_error(w->store));
	w->up = true;
	w->drop_orders = false;
	world_look_everywhere(w);
}

static void
commit_all(struct world *w)
{
	do {
		if (engine_commit(w->engine) != 0)
			panic("commit: %s", store_error(w->store));
	} while (engine_unfinished(w->engine));
}

static void
crash(struct world *w)
{
	w->crash_at = 0;
	w->drop_orders = w->crash == CRASH_BEFORE_ORDERS;
	if (w->crash != CRASH_BEFORE_COMMIT && engine_commit(w->engine) != 0)
		panic("commit: %s", store_error(w->store));
	w->commits++;
	power_off(w);
	world_event(w, MONITOR_UP, BLINK_MS);
}

/* The end of a turn; false if the power went. */
bool
world_commit(struct world *w)
{
	uint64_t	before = store_commits(w->store);

	if (w->crash_at != 0 && w->commits + 1 >= w->crash_at &&
	    store_dirty(w->store)) {
		crash(w);
		return (false);
	}
	commit_all(w);
	w->commits += store_commits(w->store) - before;
	return (true);
}

/* Time passes. */

static void
happen(struct world *w, struct event *e)
{
	switch (e->what) {
	case SESSION_ENDS:
	case BODY_ANSWERED:
		if (e->boot != w->boot || !w->up)
			world_session_stale(w, e);
		else if (e->what == SESSION_ENDS)
			world_session_ends(w, e);
		else
			world_body_answered(w, e);
		break;
	case HOSTS_FOUND:
		world_hosts_found(w, e);
		break;
	case MAIL_ARRIVES:
		world_mail_arrives(w, e);
		break;
	case MAILBOX_LOOK:
		world_mailbox_look(w, e);
		break;
	case HOOK_ENDS:
		world_hook_ends(w, e);
		break;
	case MONITOR_UP:
		world_event_free(e);
		if (!w->up)
			power_on(w);
		break;
	}
}

/* An engine that wants a turn all the time is as bad as one that sleeps. */
static void
count_tick(struct world *w)
{
	if (w->now_ms - w->hour_ms >= HOUR_MS) {
		w->hour_ms = w->now_ms;
		w->ticks = 0;
	}
	if (++w->ticks == TICKS_MAX)
		world_blame(w, "too many ticks in an hour", "spinning");
}

static void
tick(struct world *w)
{
	int64_t	now_ms = world_told_ms(w);

	count_tick(w);
	engine_tick(w->engine, now_ms);
	if (engine_next_ms(w->engine) < now_ms)
		world_blame(w, "the engine is never done", "after a tick");
}

/* The next moment at which something is to be done. */
static int64_t
next_moment(struct world *w)
{
	int64_t	next_ms = agenda_next_ms(&w->agenda), engine_ms;

	if (!w->up)
		return (next_ms);
	engine_ms = engine_next_ms(w->engine);
	if (engine_ms == INT64_MAX)
		return (next_ms);
	/* The monitor's line may walk slowly: then there is another look. */
	engine_ms -= world_told_ms(w) - w->now_ms;
	return (engine_ms < next_ms ? engine_ms : next_ms);
}

void
world_run(struct world *w, int64_t until_ms)
{
	struct agenda_item	*item;
	int64_t			 next_ms;

	while ((next_ms = next_moment(w)) <= until_ms) {
		if (next_ms > w->now_ms)
			w->now_ms = next_ms;
		if (w->up && engine_next_ms(w->engine) <= world_told_ms(w))
			tick(w);
		else if ((item = agenda_take(&w->agenda, w->now_ms)) != NULL)
			happen(w, (struct event *)item);
		if (w->up)
			(void)world_commit(w);
	}
	if (until_ms > w->now_ms)
		w->now_ms = until_ms;
}

/* What a story does to the monitor. */

static void
write_config(struct world *w, const char *text)
{
	FILE	*f = fopen(w->file, "w");

	if (f == NULL)
		panic("cannot write %s", w->file);
	fprintf(f, "state_directory = \"%s/state\"\n"
	    "csv_directory = \"%s/csv\"\n%s", w->directory, w->directory,
	    text);
	if (fclose(f) != 0)
		panic("cannot write %s", w->file);
}

void
world_reload(struct world *w, const char *config_text)
{
	struct config	*c;

	write_config(w, config_text);
	if (!w->up)
		return;
	if ((c = config_load(w->file, quiet, NULL)) == NULL)
		panic("the story's new configuration is wrong");
	engine_config(w->engine, c, world_told_ms(w));
	config_free(&w->config);
	w->config = c;
	world_look_everywhere(w);
	(void)world_commit(w);
}

void
world_down(struct world *w, int64_t for_ms)
{
	if (w->up)
		power_off(w);
	world_event(w, MONITOR_UP, for_ms);
}

void
world_set_clock(struct world *w, int64_t by_ms)
{
	w->clock_ms += by_ms;
}

void
world_pause(struct world *w, const char *route, bool paused)
{
	if (!w->up)
		return;
	(void)engine_pause(w->engine, route, paused, world_told_ms(w));
	(void)world_commit(w);
}

void
world_probe(struct world *w, const char *route)
{
	char		 token[TOKEN_SIZE];
	const char	*why;

	if (!w->up)
		return;
	(void)engine_probe_now(w->engine, route, token, &why,
	    world_told_ms(w));
	(void)world_commit(w);
}

void
world_ack(struct world *w, int64_t episode)
{
	if (!w->up)
		return;
	(void)engine_ack(w->engine, episode, world_told_ms(w));
	(void)world_commit(w);
}

void
world_early(struct world *w, bool early)
{
	w->early = early;
}

void
world_crash_at(struct world *w, uint64_t nth, enum crash kind)
{
	w->crash_at = w->commits + nth;
	w->crash = kind;
}

/* What a story looks at. */

int64_t
world_now_ms(const struct world *w)
{
	return (w->now_ms);
}

struct engine *
world_engine(struct world *w)
{
	return (w->engine);
}

struct store *
world_store(struct world *w)
{
	return (w->store);
}

const struct config *
world_config(const struct world *w)
{
	return (w->config);
}

uint64_t
world_commits(const struct world *w)
{
	return (w->commits);
}

uint64_t
world_cleaned(const struct world *w)
{
	return (w->cleaned);
}

const char *
world_fault(const struct world *w)
{
	return (w->fault);
}

/* Beginning and end. */

struct world *
world_new(const char *directory, const char *config_text, int64_t start_ms)
{
	struct world	*w = mem_alloc(sizeof *w);

	w->directory = mem_strdup(directory);
	w->file = mem_printf("%s/mailflowd.conf", directory);
	w->now_ms = start_ms;
	w->boot = 1;
	w->random = 1;
	w->notices = mem_strdup("");
	w->said = mem_strdup("");
	w->told_end = &w->told;
	TAILQ_INIT(&w->in_hand);
	write_config(w, config_text);
	power_on(w);
	(void)world_commit(w);
	return (w);
}

void
world_free(struct world **wp)
{
	struct world		*w = *wp;
	struct agenda_item	*item;

	if (w == NULL)
		return;
	*wp = NULL;
	if (w->up)
		power_off(w);
	config_free(&w->config);
	while ((item = agenda_take(&w->agenda, INT64_MAX)) != NULL)
		world_event_free((struct event *)item);
	agenda_free(&w->agenda);
	world_servers_free(w);
	world_mailboxes_free(w);
	world_told_free(w);
	tdestroy(w->bodies, mem_free);
	mem_free(w->file);
	mem_free(w->directory);
	mem_free(w);
}
