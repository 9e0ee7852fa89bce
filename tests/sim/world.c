#include "tests/sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "monitor/agenda.h"
#include "monitor/classify.h"
#include "monitor/mem.h"
#include "monitor/reply.h"
#include "monitor/text.h"

#define SESSION_MS	20	/* to 354, or to a refusal */
#define BODY_MS		10	/* from go to the reply to the dot */
#define BLINK_MS	30000	/* until a restarted monitor is up */
#define FAULT		256
#define SEEN_MAX	4096

enum happening { SESSION_ENDS, BODY_ANSWERED, MAIL_ARRIVES, MONITOR_UP };

struct event {
	struct agenda_item	 item;		/* first */
	enum happening		 what;
	uint64_t		 boot;		/* of the monitor it belongs to */
	struct frame_job	*job;		/* owned; sessions */
	char			 server[PROBE_NAME];
	char			 token[TOKEN_SIZE];
	char			 mailbox[PROBE_NAME];
	bool			 junk;
	TAILQ_ENTRY(event)	 in_hand;	/* awaiting go */
};

struct server_state {
	char			 name[PROBE_NAME];
	enum behaviour		 behaviour;
	enum stage		 stage;
	char			 reply[256];
	unsigned		 attempts;
	struct server_state	*next;
};

/* A mail in a mailbox, seen by the monitor or not. */
struct mail {
	char		 token[TOKEN_SIZE];
	uint32_t	 uid;
	int64_t		 at_ms;
	bool		 junk;
	bool		 gone;		/* cleaned */
	struct mail	*next;
};

struct mailbox_state {
	char			 name[PROBE_NAME];
	bool			 blind;
	char			 reason[256];
	int64_t			 delay_ms;
	enum fate		 fate;
	uint32_t		 next_uid;
	int64_t			 look_ms;
	struct mail		*mails;		/* owned */
	struct mailbox_state	*next;
};

struct world {
	char			*directory;	/* owned */
	char			*file;		/* owned: the configuration */
	struct config		*config;
	struct store		*store;
	struct csv		*csv;
	struct engine		*engine;
	int64_t			 now_ms;	/* true time */
	int64_t			 clock_ms;	/* what the wall clock is off by */
	int64_t			 steady_ms;	/* what the engine was told */
	uint64_t		 boot;		/* how often the monitor began */
	bool			 up;
	bool			 early;
	struct agenda		 agenda;
	TAILQ_HEAD(, event)	 in_hand;
	struct server_state	*servers;
	struct mailbox_state	*mailboxes;
	uint64_t		 random;
	uint64_t		 commits;
	uint64_t		 crash_at;
	enum crash		 crash;
	bool			 crashed;
	bool			 drop_orders;
	unsigned		 attempts;
	unsigned		 cleaned;
	char			 notices[4096];
	char			 seen[SEEN_MAX][NOTICE_ID];
	size_t			 seen_count;
	unsigned		 repeats;
	char			 fault[FAULT];
	struct {
		char		 token[TOKEN_SIZE];
		unsigned	 bodies;
	}			*bodies;	/* owned */
	size_t			 bodies_count;
};

/* Stamps of this world: one machine, one boot. */
static struct stamp
stamp(const struct world *w)
{
	struct stamp	s = {
		.wall_ms = w->now_ms + w->clock_ms,
		.boot_ms = w->now_ms - 1000000000,
		.boot_id = 7,
	};

	return (s);
}

static void
fault(struct world *w, const char *what, const char *about)
{
	if (w->fault[0] == '\0')
		(void)text_appendf(w->fault, sizeof w->fault, "%s: %s", what,
		    about);
}

static struct server_state *
server_of(struct world *w, const char *name)
{
	struct server_state	*s;

	for (s = w->servers; s != NULL; s = s->next)
		if (strcmp(s->name, name) == 0)
			return (s);
	s = mem_alloc(sizeof *s);
	text_copy(s->name, sizeof s->name, name);
	s->next = w->servers;
	w->servers = s;
	return (s);
}

static struct mailbox_state *
mailbox_of(struct world *w, const char *name)
{
	struct mailbox_state	*m;

	for (m = w->mailboxes; m != NULL; m = m->next)
		if (strcmp(m->name, name) == 0)
			return (m);
	m = mem_alloc(sizeof *m);
	text_copy(m->name, sizeof m->name, name);
	m->delay_ms = 15;
	m->next_uid = 1;
	m->next = w->mailboxes;
	w->mailboxes = m;
	return (m);
}

static struct event *
schedule(struct world *w, enum happening what, int64_t in_ms)
{
	struct event	*e = mem_alloc(sizeof *e);

	e->what = what;
	e->boot = w->boot;
	agenda_set(&w->agenda, &e->item, w->now_ms + in_ms);
	return (e);
}

static void
event_free(struct event *e)
{
	mem_free(e->job);
	mem_free(e);
}

/* The engine's hands. */

static void
op_job(void *arg, const struct server *server, const struct frame_job *f)
{
	struct world	*w = arg;
	struct event	*e;

	if (w->drop_orders)
		return;
	e = schedule(w, SESSION_ENDS, SESSION_MS);
	e->job = mem_alloc(sizeof *e->job);
	*e->job = *f;
	text_copy(e->server, sizeof e->server, server->name);
}

static void
count_body(struct world *w, const char *token)
{
	for (size_t i = 0; i < w->bodies_count; i++)
		if (strcmp(w->bodies[i].token, token) == 0) {
			w->bodies[i].bodies++;
			return;
		}
	w->bodies = mem_grow(w->bodies, w->bodies_count + 1,
	    sizeof *w->bodies);
	text_copy(w->bodies[w->bodies_count].token, TOKEN_SIZE, token);
	w->bodies[w->bodies_count++].bodies = 1;
}

static void
op_go(void *arg, uint64_t job, bool allowed)
{
	struct world	*w = arg;
	struct event	*e;

	if (w->drop_orders)
		return;
	TAILQ_FOREACH(e, &w->in_hand, in_hand)
		if (e->job->job == job)
			break;
	if (e == NULL)
		return;
	TAILQ_REMOVE(&w->in_hand, e, in_hand);
	if (!allowed) {
		event_free(e);
		return;
	}
	count_body(w, e->job->envid);
	e->what = BODY_ANSWERED;
	agenda_set(&w->agenda, &e->item, w->now_ms + BODY_MS);
}

static void
op_expect(void *arg, const struct frame_expect *f)
{
	(void)arg;
	(void)f;
}

static void
op_clean(void *arg, const struct frame_clean *f)
{
	struct world	*w = arg;

	if (w->drop_orders)
		return;
	for (struct mailbox_state *m = w->mailboxes; m != NULL; m = m->next)
		for (struct mail *x = m->mails; x != NULL; x = x->next)
			if (x->uid == f->uid && !x->gone &&
			    strcmp(x->token, f->token) == 0) {
				x->gone = true;
				w->cleaned++;
			}
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
	op_job, op_go, op_expect, op_clean, op_random, NULL
};

/* The monitor's clock: steady, as schedule.h has it. */
static int64_t
told(struct world *w)
{
	if (w->now_ms + w->clock_ms > w->steady_ms)
		w->steady_ms = w->now_ms + w->clock_ms;
	return (w->steady_ms);
}

struct find {
	const char	*name;
	uint32_t	 id;
};

static void
find_id(void *arg, uint32_t id, const struct mailbox *m)
{
	struct find	*f = arg;

	if (strcmp(m->name, f->name) == 0)
		f->id = id;
}

static uint32_t
id_of(struct world *w, const char *mailbox)
{
	struct find	f = { mailbox, 0 };

	engine_mailboxes(w->engine, find_id, &f);
	return (f.id);
}

static void
tell_arrival(struct world *w, struct mailbox_state *m, const struct mail *x)
{
	struct frame_arrival	f = { .id = id_of(w, m->name),
				    .is_probe = true, .junk = x->junk,
				    .uidvalidity = 1, .uid = x->uid,
				    .seen = stamp(w), .internal_ms = x->at_ms,
				    .hops = 2, .slowest_hop_ms = STAMP_NO_SPAN,
				    .skew_ms = STAMP_NO_SPAN };

	f.last_look = f.seen;
	f.last_look.wall_ms -= w->now_ms - m->look_ms;
	f.last_look.boot_ms -= w->now_ms - m->look_ms;
	text_copy(f.token, sizeof f.token, x->token);
	text_copy(f.folder, sizeof f.folder, x->junk ? "Junk" : "INBOX");
	engine_arrival(w->engine, &f, told(w));
}

/* The watcher looks: everything that lies there is told. */
static void
look(struct world *w, struct mailbox_state *m)
{
	struct frame_look	f = { .id = id_of(w, m->name), .at = stamp(w) };

	if (!w->up || f.id == 0)
		return;
	if (m->blind) {
		f.state = LOOK_BLIND;
		f.class = CLASS_BLIND;
		f.retry_ms = 60000;
		text_copy(f.reason, sizeof f.reason, m->reason);
		engine_look(w->engine, &f, told(w));
		return;
	}
	for (struct mail *x = m->mails; x != NULL; x = x->next)
		if (!x->gone)
			tell_arrival(w, m, x);
	m->look_ms = w->now_ms;
	engine_look(w->engine, &f, told(w));
}

static void
look_everywhere(struct world *w)
{
	for (struct mailbox **b = w->config->mailboxes; *b != NULL; b++)
		look(w, mailbox_of(w, (*b)->name));
}

/* Starting and stopping. */

static void
quiet(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, ": warning: ") == NULL)
		fprintf(stderr, "%s\n", line);
}

static void
power_off(struct world *w)
{
	struct event	*e;

	w->up = false;
	w->boot++;
	while ((e = TAILQ_FIRST(&w->in_hand)) != NULL) {
		TAILQ_REMOVE(&w->in_hand, e, in_hand);
		event_free(e);
	}
	engine_close(&w->engine);
	csv_close(&w->csv);
	store_close(&w->store);
	config_free(&w->config);
}

static void
power_on(struct world *w)
{
	char	why[512] = "", path[1024];

	w->config = config_load(w->file, quiet, NULL);
	if (w->config == NULL)
		panic("the story's configuration is wrong");
	snprintf(path, sizeof path, "%s/state", w->directory);
	if ((w->store = store_open(path, why, sizeof why)) == NULL)
		panic("store: %s", why);
	snprintf(path, sizeof path, "%s/csv", w->directory);
	if ((w->csv = csv_open(path, w->store, why, sizeof why)) == NULL)
		panic("csv: %s", why);
	w->engine = engine_open(w->config, w->store, w->csv, &ops, w, told(w));
	if (w->engine == NULL)
		panic("engine: %s", store_error(w->store));
	w->up = true;
	w->drop_orders = false;
	look_everywhere(w);
}

/* The end of a turn; false if the power went. */
static bool
commit(struct world *w)
{
	uint64_t	before = store_commits(w->store);

	if (w->crash_at != 0 && w->commits + 1 == w->crash_at &&
	    store_dirty(w->store)) {
		w->crashed = true;
		w->crash_at = 0;
		w->drop_orders = w->crash == CRASH_BEFORE_ORDERS;
		if (w->crash != CRASH_BEFORE_COMMIT &&
		    engine_commit(w->engine) != 0)
			panic("commit: %s", store_error(w->store));
		w->commits++;
		power_off(w);
		schedule(w, MONITOR_UP, BLINK_MS);
		return (false);
	}
	do {
		if (engine_commit(w->engine) != 0)
			panic("commit: %s", store_error(w->store));
	} while (engine_unfinished(w->engine));
	w->commits += store_commits(w->store) - before;
	return (true);
}

/* Sessions. */

static void
note_notice(struct world *w, const struct frame_job *f)
{
	const char	*id = strstr(f->message, "\r\nMessage-ID: ");
	const char	*kind = strstr(f->message, "\r\nX-Mailflow-Notice: ");
	char		 key[NOTICE_ID] = "", word[32] = "";

	if (id == NULL || kind == NULL) {
		fault(w, "a notice without its headers", f->to);
		return;
	}
	(void)sscanf(id + 14, "%100[^\r]", key);
	(void)sscanf(kind + 21, "%31[^\r]", word);
	text_append(key, sizeof key, f->to);
	for (size_t i = 0; i < w->seen_count; i++)
		if (strcmp(w->seen[i], key) == 0) {
			w->repeats++;
			return;
		}
	if (w->seen_count < SEEN_MAX)
		text_copy(w->seen[w->seen_count++], NOTICE_ID, key);
	if (w->notices[0] != '\0')
		text_append(w->notices, sizeof w->notices, " ");
	text_append(w->notices, sizeof w->notices, word);
}

static void
fill(struct world *w, const struct event *e, struct outcome *o,
    enum stage stage)
{
	const struct server	*s = config_server(w->config, e->server);

	outcome_init(o);
	o->stage = stage;
	o->started = stamp(w);
	o->started.wall_ms -= SESSION_MS;
	o->started.boot_ms -= SESSION_MS;
	o->finished = stamp(w);
	if (s != NULL)
		text_copy(o->host, sizeof o->host, s->host);
	for (size_t i = STAGE_CONNECT; i <= stage; i++)
		o->stage_ms[i] = 2;
}

static void
fill_reply(struct outcome *o, enum stage stage, const char *text)
{
	struct reply	r;
	struct meaning	m;

	reply_parse(&r, text, strlen(text));
	m = classify(stage, &r);
	o->code = r.code;
	text_copy(o->enhanced, sizeof o->enhanced, r.enhanced);
	text_copy(o->reply, sizeof o->reply, r.text);
	o->class = m.class;
	o->verdict = m.verdict;
	if (m.verdict == VERDICT_ACCEPTED && stage == STAGE_DOT)
		o->class = CLASS_ACCEPTED;
}

static void
answer(struct world *w, const struct event *e, const struct outcome *o)
{
	if (o->verdict == VERDICT_ACCEPTED && e->job->kind == JOB_ALERT)
		note_notice(w, e->job);
	engine_outcome(w->engine, e->job->job, o, told(w));
}

static void
session_ends(struct world *w, struct event *e)
{
	struct server_state	*s = server_of(w, e->server);
	struct outcome		*o = mem_alloc(sizeof *o);
	struct stamp		 at = stamp(w);

	if (e->job->kind == JOB_PROBE) {
		w->attempts++;
		s->attempts++;
	}
	if (s->behaviour == SERVER_KILLS) {
		engine_job_lost(w->engine, e->job->job, "the sender died", &at,
		    told(w));
	} else if (s->behaviour == SERVER_REFUSES) {
		fill(w, e, o, STAGE_CONNECT);
		o->class = CLASS_NETWORK;
		o->verdict = VERDICT_TEMPORARY;
		text_copy(o->reply, sizeof o->reply, "connection refused");
		answer(w, e, o);
	} else if (s->behaviour == SERVER_ANSWERS && s->stage < STAGE_DOT) {
		fill(w, e, o, s->stage);
		fill_reply(o, s->stage, s->reply);
		answer(w, e, o);
	} else if (e->job->gate) {
		TAILQ_INSERT_TAIL(&w->in_hand, e, in_hand);
		engine_ask(w->engine, e->job->job, told(w));
		mem_free(o);
		return;			/* the event goes on */
	} else {
		e->what = BODY_ANSWERED;
		agenda_set(&w->agenda, &e->item, w->now_ms + BODY_MS);
		mem_free(o);
		return;
	}
	mem_free(o);
	event_free(e);
}

static void
send_on(struct world *w, const char *token, const char *mailbox, int more)
{
	struct mailbox_state	*m = mailbox_of(w, mailbox);
	struct event		*a;

	if (m->fate == FATE_LOST)
		return;
	a = schedule(w, MAIL_ARRIVES, w->early && more == 0 ? 0 : m->delay_ms);
	text_copy(a->token, sizeof a->token, token);
	text_copy(a->mailbox, sizeof a->mailbox, mailbox);
	a->junk = m->fate == FATE_JUNK;
	if (m->fate == FATE_TWICE && more == 0)
		send_on(w, token, mailbox, 1);
}

/* Where the route of this job ends. */
static const char *
mailbox_for(const struct world *w, const struct frame_job *f)
{
	for (struct route **r = w->config->routes; *r != NULL; r++)
		if (strcmp((*r)->to, f->to) == 0)
			return ((*r)->mailbox->name);
	return ("");
}

static void
body_answered(struct world *w, struct event *e)
{
	struct server_state	*s = server_of(w, e->server);
	struct outcome		*o = mem_alloc(sizeof *o);
	bool			 taken = true;

	fill(w, e, o, STAGE_DOT);
	o->accepted = stamp(w);
	if (s->behaviour == SERVER_ANSWERS) {
		fill_reply(o, STAGE_DOT, s->reply);
		taken = o->verdict == VERDICT_ACCEPTED;
	} else if (s->behaviour == SERVER_SILENT) {
		o->class = CLASS_UNCERTAIN;
		o->verdict = VERDICT_UNCERTAIN;
	} else
		fill_reply(o, STAGE_DOT, "250 2.0.0 Ok: queued");
	if (taken && e->job->kind == JOB_PROBE)
		send_on(w, e->job->envid, mailbox_for(w, e->job), 0);
	if (w->early && taken && e->job->kind == JOB_PROBE) {
		/* the watcher's frame overtakes the sender's */
		w->early = false;
		e->item.due_ms = 0;
		agenda_set(&w->agenda, &e->item, w->now_ms + 5);
		mem_free(o);
		return;
	}
	answer(w, e, o);
	mem_free(o);
	event_free(e);
}

static void
mail_arrives(struct world *w, struct event *e)
{
	struct mailbox_state	*m = mailbox_of(w, e->mailbox);
	struct mail		*x = mem_alloc(sizeof *x);

	text_copy(x->token, sizeof x->token, e->token);
	x->uid = m->next_uid++;
	x->at_ms = w->now_ms + w->clock_ms;
	x->junk = e->junk;
	x->next = m->mails;
	m->mails = x;
	if (w->up && !m->blind) {
		tell_arrival(w, m, x);
		m->look_ms = w->now_ms;
	}
	event_free(e);
}

static void
happen(struct world *w, struct event *e)
{
	switch (e->what) {
	case SESSION_ENDS:
		session_ends(w, e);
		break;
	case BODY_ANSWERED:
		body_answered(w, e);
		break;
	case MAIL_ARRIVES:
		mail_arrives(w, e);
		break;
	case MONITOR_UP:
		event_free(e);
		power_on(w);
		break;
	}
}

/* A session whose monitor died: its body may be out all the same. */
static bool
is_stale(const struct world *w, const struct event *e)
{
	return (e->job != NULL && (e->boot != w->boot || !w->up));
}

static void
drop_stale(struct world *w, struct event *e)
{
	struct server_state	*s = server_of(w, e->server);

	if (e->what == BODY_ANSWERED && e->job->kind == JOB_PROBE &&
	    w->config != NULL && (s->behaviour == SERVER_ACCEPTS ||
	    s->behaviour == SERVER_SILENT))
		send_on(w, e->job->envid, mailbox_for(w, e->job), 0);
	event_free(e);
}

void
world_run(struct world *w, int64_t until_ms)
{
	struct agenda_item	*item;
	int64_t			 next_ms, engine_ms;

	for (;;) {
		next_ms = agenda_next_ms(&w->agenda);
		if (w->up) {
			engine_ms = engine_next_ms(w->engine);
			if (engine_ms != INT64_MAX)
				engine_ms -= w->steady_ms - w->now_ms;
			if (engine_ms < next_ms)
				next_ms = engine_ms;
		}
		if (next_ms > until_ms)
			break;
		if (next_ms > w->now_ms)
			w->now_ms = next_ms;
		if (w->up && engine_next_ms(w->engine) <= told(w))
			engine_tick(w->engine, told(w));
		else if ((item = agenda_take(&w->agenda, w->now_ms)) != NULL) {
			struct event	*e = (struct event *)item;

			if (is_stale(w, e))
				drop_stale(w, e);
			else
				happen(w, e);
		}
		if (w->up)
			(void)commit(w);
	}
	w->now_ms = until_ms;
}

/* What a story does. */

void
world_server(struct world *w, const char *server, enum behaviour behaviour,
    const char *stage, const char *reply)
{
	struct server_state	*s = server_of(w, server);

	s->behaviour = behaviour;
	s->stage = stage_of(stage);
	if (behaviour == SERVER_ANSWERS && s->stage == STAGE_NONE)
		panic("no such stage: %s", stage);
	text_copy(s->reply, sizeof s->reply, reply);
}

void
world_mailbox(struct world *w, const char *mailbox, bool blind,
    const char *reason)
{
	struct mailbox_state	*m = mailbox_of(w, mailbox);

	m->blind = blind;
	text_copy(m->reason, sizeof m->reason, reason);
	if (w->up) {
		look(w, m);
		(void)commit(w);
	}
}

void
world_delay(struct world *w, const char *mailbox, int64_t delay_ms)
{
	mailbox_of(w, mailbox)->delay_ms = delay_ms;
}

void
world_fate(struct world *w, const char *mailbox, enum fate fate)
{
	mailbox_of(w, mailbox)->fate = fate;
}

void
world_early(struct world *w, bool early)
{
	w->early = early;
}

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
	engine_config(w->engine, c, told(w));
	config_free(&w->config);
	w->config = c;
	look_everywhere(w);
	(void)commit(w);
}

void
world_down(struct world *w, int64_t for_ms)
{
	if (w->up)
		power_off(w);
	schedule(w, MONITOR_UP, for_ms);
}

void
world_set_clock(struct world *w, int64_t by_ms)
{
	w->clock_ms += by_ms;
}

void
world_crash_at(struct world *w, uint64_t nth, enum crash crash)
{
	w->crash_at = w->commits + nth;
	w->crash = crash;
	w->crashed = false;
}

bool
world_crashed(const struct world *w)
{
	return (w->crashed);
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

uint64_t
world_commits(const struct world *w)
{
	return (w->commits);
}

unsigned
world_attempts(const struct world *w)
{
	return (w->attempts);
}

unsigned
world_attempts_on(const struct world *w, const char *server)
{
	for (struct server_state *s = w->servers; s != NULL; s = s->next)
		if (strcmp(s->name, server) == 0)
			return (s->attempts);
	return (0);
}

unsigned
world_bodies(const struct world *w, const char *token)
{
	unsigned	most = 0;

	for (size_t i = 0; i < w->bodies_count; i++)
		if ((token[0] == '\0' ||
		    strcmp(w->bodies[i].token, token) == 0) &&
		    w->bodies[i].bodies > most)
			most = w->bodies[i].bodies;
	return (most);
}

unsigned
world_cleaned(const struct world *w)
{
	return (w->cleaned);
}

const char *
world_notices(const struct world *w)
{
	return (w->notices);
}

unsigned
world_repeats(const struct world *w)
{
	return (w->repeats);
}

const char *
world_fault(const struct world *w)
{
	return (w->fault);
}

struct world *
world_new(const char *directory, const char *config_text, int64_t start_ms)
{
	struct world	*w = mem_alloc(sizeof *w);

	w->directory = mem_strdup(directory);
	w->file = mem_printf("%s/mailflowd.conf", directory);
	w->now_ms = start_ms;
	w->boot = 1;
	w->random = 1;
	TAILQ_INIT(&w->in_hand);
	write_config(w, config_text);
	power_on(w);
	(void)commit(w);
	return (w);
}

void
world_free(struct world **wp)
{
	struct world		*w = *wp;
	struct server_state	*s;
	struct mailbox_state	*m;
	struct mail		*x;
	struct agenda_item	*item;

	if (w == NULL)
		return;
	*wp = NULL;
	if (w->up)
		power_off(w);
	while ((item = agenda_take(&w->agenda, INT64_MAX)) != NULL)
		event_free((struct event *)item);
	agenda_free(&w->agenda);
	while ((s = w->servers) != NULL) {
		w->servers = s->next;
		mem_free(s);
	}
	while ((m = w->mailboxes) != NULL) {
		w->mailboxes = m->next;
		while ((x = m->mails) != NULL) {
			m->mails = x->next;
			mem_free(x);
		}
		mem_free(m);
	}
	mem_free(w->bodies);
	mem_free(w->file);
	mem_free(w->directory);
	mem_free(w);
}
