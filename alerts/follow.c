#include "alerts/follow.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "alerts/judge.h"
#include "alerts/reach.h"
#include "alerts/tell.h"
#include "alerts/words.h"
#include "monitor/csv.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* Doubts that came to nothing, kept so that the next one uses their row. */
#define SPARE_MAX	512

/* Wait before asking again for a confirming probe that nobody made. */
#define ASK_AGAIN_MS	10000

struct followed {
	struct episode		 e;
	int64_t			 confirm_ms;	/* nobody may try before */
	int64_t			 ask_ms;	/* ask for a probe then */
	char			 last_route[PROBE_NAME];	/* that was accepted */
	TAILQ_ENTRY(followed)	 entry;
};

/* When follow_tick() has something to do; kept until something changes. */
struct next {
	bool	 stale;
	int64_t	 at_ms;
};

struct follow {
	const struct config	*config;	/* borrowed, as are: */
	struct store		*store;
	struct csv		*csv;
	follow_owed		 owed;
	void			*arg;
	int64_t			 started_ms;	/* first time told; 0: none yet */
	struct next		*next;		/* owned */
	struct followed		*monitor;	/* of the episodes: its own */
	struct reach		 reach;
	TAILQ_HEAD(followeds, followed)	 episodes;	/* oldest first */
};

/* What a step happened with. */
struct step {
	enum episode_event	 event;
	const char		*token;		/* the probe, or "" */
	const char		*said;		/* the server's words, or "" */
	const char		*transcript;	/* or "" */
	bool			 quiet;		/* no row unless something moved */
};

/* Loading. */

static struct followed *
add(struct follow *f, const struct episode *e)
{
	struct followed	*fe = mem_alloc(sizeof *fe);

	fe->e = *e;
	TAILQ_INSERT_TAIL(&f->episodes, fe, entry);
	if (strcmp(e->scope, "monitor") == 0)
		f->monitor = fe;
	f->next->stale = true;
	return (fe);
}

static void
drop(struct follow *f, struct followed *fe)
{
	TAILQ_REMOVE(&f->episodes, fe, entry);
	if (f->monitor == fe)
		f->monitor = NULL;
	f->next->stale = true;
	mem_free(fe);
}

static const struct alerts *
section_of(const struct follow *f, const struct episode *e)
{
	const char	*at = e->alerts;
	char		 name[PROBE_NAME];
	struct alerts	*a;

	while (words_next(&at, name, sizeof name))
		if ((a = config_alerts(f->config, name)) != NULL)
			return (a);
	return (NULL);
}

static int64_t
confirm_span(const struct follow *f, const struct episode *e)
{
	const struct alerts	*a = section_of(f, e);

	return (a != NULL ? a->confirm_ms : 0);
}

static void
load(void *arg, const struct episode *e)
{
	struct follow	*f = arg;
	struct followed	*fe;

	if (e->state == EPISODE_QUIET && (e->csv_done || e->opened_ms == 0))
		return;
	fe = add(f, e);
	if (e->run_ms != 0)
		fe->confirm_ms = fe->ask_ms = e->run_ms + confirm_span(f, e);
}

struct follow *
follow_open(const struct config *config, struct store *store,
    struct csv *csv, follow_owed owed, void *arg)
{
	struct follow	*f = mem_alloc(sizeof *f);

	f->config = config;
	f->store = store;
	f->csv = csv;
	f->owed = owed;
	f->arg = arg;
	f->next = mem_alloc(sizeof *f->next);
	TAILQ_INIT(&f->episodes);
	if (store_episode_each(store, 0, load, f) == -1)
		follow_close(&f);
	return (f);
}

void
follow_close(struct follow **fp)
{
	struct follow	*f = *fp;

	if (f == NULL)
		return;
	while (!TAILQ_EMPTY(&f->episodes))
		drop(f, TAILQ_FIRST(&f->episodes));
	mem_free(f->next);
	mem_free(f);
	*fp = NULL;
}

/* Hosts found by MX are in no configuration; they grow stale by themselves. */
static bool
is_mailbox_host(const void *arg, const char *host)
{
	const struct config	*config = arg;

	for (size_t i = 0; config->mailboxes[i] != NULL; i++)
		if (strcasecmp(config->mailboxes[i]->host, host) == 0)
			return (true);
	return (false);
}

static bool
is_host(const void *arg, const char *host)
{
	const struct config	*config = arg;
	bool			 mx = false;

	for (size_t i = 0; config->servers[i] != NULL; i++) {
		if (strcasecmp(config->servers[i]->host, host) == 0)
			return (true);
		mx = mx || config->servers[i]->mx != MX_NONE;
	}
	return (mx || is_mailbox_host(config, host));
}

void
follow_config(struct follow *f, const struct config *config)
{
	f->config = config;
	f->next->stale = true;
	reach_keep(&f->reach, is_host, config);
}

static void
begin(struct follow *f, int64_t now_ms)
{
	if (f->started_ms != 0)
		return;
	f->started_ms = now_ms;
	f->next->stale = true;
}

/* Moving. */

static void
limits(const struct follow *f, const struct episode *e,
    struct episode_limits *lim)
{
	judge_limits(section_of(f, e), e, lim);
}

static void
store_failed(const struct follow *f, const struct episode *e)
{
	log_error("episode=%lld scope=\"%s\" not stored: %s",
	    (long long)e->id, e->scope, store_error(f->store));
}

static void
put(struct follow *f, struct episode *e)
{
	f->next->stale = true;
	if (store_episode_put(f->store, e) == -1)
		store_failed(f, e);
}

static bool
blind_mailbox(const struct follow *f, const struct route *r)
{
	const struct followed	*fe;
	const char		*name;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.class == CLASS_BLIND &&
		    fe->e.state != EPISODE_QUIET &&
		    judge_scope(fe->e.scope, &name) == SCOPE_MAILBOX &&
		    strcmp(name, r->mailbox->name) == 0)
			return (true);
	return (false);
}

/* Is there any way to see arrivals on the routes of this episode? */
static bool
all_blind(const struct follow *f, const struct episode *e)
{
	const char	*at = e->routes;
	char		 name[PROBE_NAME];
	struct route	*r;
	bool		 blind = false;

	while (words_next(&at, name, sizeof name)) {
		if ((r = config_route(f->config, name)) == NULL)
			continue;
		if (!blind_mailbox(f, r))
			return (false);
		blind = true;
	}
	return (blind);
}

static void
tell(struct follow *f, const struct episode *e, unsigned owes,
    const char *section, const char *transcript, int64_t now_ms)
{
	struct telling	t = {
		.config = f->config, .store = f->store, .e = e,
		.transcript = transcript, .now_ms = now_ms,
	};
	int		rc;

	if (owes == 0)
		return;
	t.mailbox_blind = e->class != CLASS_BLIND && all_blind(f, e);
	rc = section != NULL ? tell_section(&t, owes, section) :
	    tell_all(&t, owes);
	if (rc == -1)
		store_failed(f, e);
	else if (rc > 0 && f->owed != NULL)
		f->owed(f->arg);
}

/* Why people hear of this step, or why they do not. */
static void
explain(const struct episode *e, enum episode_state before, unsigned owes,
    const struct episode_limits *lim, char *buf, size_t size)
{
	snprintf(buf, size, "%s->%s", episode_state_name(before),
	    episode_state_name(e->state));
	if (owes != 0 && e->alerts[0] == '\0')
		text_append(buf, size, "; no alerts section: nobody is told");
	else if (owes != 0)
		text_appendf(buf, size, "; told:%s%s%s%s",
		    owes & EPISODE_OWES_FAILING ? " failing" : "",
		    owes & EPISODE_OWES_REMINDER ? " still failing" : "",
		    owes & EPISODE_OWES_ACCEPTING ? " accepting again" : "",
		    owes & EPISODE_OWES_DELIVERED ? " delivered again" : "");
	else if (e->owed != 0)
		text_append(buf, size, "; recovery held back until it has "
		    "lasted: it failed before");
	else if (e->state == EPISODE_SUSPECT)
		text_appendf(buf, size, "; not told: %u of %u misses",
		    e->misses, lim->misses_to_fail);
	else if (e->state == EPISODE_FAILING && before != EPISODE_FAILING)
		text_append(buf, size, "; not told: its recovery had not been "
		    "told either");
	else if (e->state == EPISODE_FAILING && e->accepts > 0)
		text_appendf(buf, size, "; not told: %u of %u accepts in a "
		    "row", e->accepts, lim->accepts_to_mend);
	else if (before == EPISODE_SUSPECT && e->state == EPISODE_QUIET)
		text_append(buf, size, "; not told: it came to nothing");
}

static void
note(struct follow *f, const struct episode *e, const struct step *s,
    enum episode_state before, unsigned owes,
    const struct episode_limits *lim, int64_t now_ms)
{
	char	why[256 + OUTCOME_REPLY];

	explain(e, before, owes, lim, why, sizeof why);
	if (before != e->state)
		log_info("episode=%lld scope=\"%s\" class=%s state=%s misses=%u "
		    "accepts=%u", (long long)e->id, e->scope,
		    class_name(e->class), why, e->misses, e->accepts);
	if (s->said[0] != '\0')
		text_appendf(why, sizeof why, "; %s", s->said);
	if (store_episode_event(f->store, e->id, now_ms,
	    episode_event_name(s->event), s->token, why) == -1)
		store_failed(f, e);
}

/* Reminders come at growing gaps while it fails and nobody said "I know". */
static void
set_reminder(const struct follow *f, struct episode *e, unsigned owes,
    int64_t now_ms)
{
	const struct alerts	*a = section_of(f, e);

	if (e->state != EPISODE_FAILING || e->acked || a == NULL)
		e->remind_ms = 0;
	else if (e->remind_ms == 0 || owes != 0)
		e->remind_ms = now_ms + backoff_wait_ms(&a->remind,
		    e->reminders);
}

/* One step of the table: its row, its reason and its notices in one turn. */
static unsigned
move(struct follow *f, struct followed *fe, const struct step *s,
    int64_t now_ms)
{
	struct episode		*e = &fe->e;
	struct episode_limits	 lim;
	enum episode_state	 before = e->state;
	bool			 held = e->owed != 0;
	unsigned		 owes;

	limits(f, e, &lim);
	owes = episode_step(e, s->event, &lim, now_ms);
	set_reminder(f, e, owes, now_ms);
	put(f, e);
	if (!s->quiet || before != e->state || owes != 0 ||
	    held != (e->owed != 0))
		note(f, e, s, before, owes, &lim, now_ms);
	tell(f, e, owes, NULL, s->transcript, now_ms);
	return (owes);
}

/* Finding. */

static bool
over(const struct follow *f, const struct episode *e, int64_t now_ms)
{
	struct episode_limits	lim;

	limits(f, e, &lim);
	return (e->state == EPISODE_QUIET && e->opened_ms != 0 &&
	    e->owed == 0 && now_ms - e->delivered_ms > lim.settle_ms);
}

/* The episode of this scope and class, begun anew if the last one is over. */
static struct followed *
find(struct follow *f, const struct judgement *j, int64_t now_ms)
{
	struct episode	 e = { .class = j->class, .origin = j->origin };
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.class == j->class &&
		    strcmp(fe->e.scope, j->scope) == 0 &&
		    !over(f, &fe->e, now_ms))
			return (fe);
	text_copy(e.scope, sizeof e.scope, j->scope);
	return (add(f, &e));
}

/* True if another alerts section has joined those that hear. */
static bool
join(struct episode *e, const struct route *r)
{
	words_add(e->routes, sizeof e->routes, r->name);
	if (r->alerts == NULL)
		return (false);
	return (words_add(e->alerts, sizeof e->alerts, r->alerts->name));
}

/*
 * A miss of this route.  A section that joins while others have been told
 * hears of it now, or its people would hear of a recovery from nothing.
 */
static void
miss(struct follow *f, struct followed *fe, const struct route *r,
    const struct step *s, int64_t now_ms)
{
	bool		joined = join(&fe->e, r);
	unsigned	owes = move(f, fe, s, now_ms);

	if (joined && fe->e.state == EPISODE_FAILING &&
	    (owes & EPISODE_OWES_FAILING) == 0)
		tell(f, &fe->e, EPISODE_OWES_FAILING, r->alerts->name,
		    s->transcript, now_ms);
}

static void
record(struct episode *e, enum stage stage, int code, const char *enhanced,
    const char *reply, const char *host)
{
	e->stage = stage;
	e->code = code;
	text_copy(e->enhanced, sizeof e->enhanced, enhanced);
	text_copy(e->last_reply, sizeof e->last_reply, reply);
	if (e->first_reply[0] == '\0')
		text_copy(e->first_reply, sizeof e->first_reply, reply);
	if (host[0] != '\0')
		text_copy(e->host, sizeof e->host, host);
}

/* Nothing can be reached. */

static struct followed *
offline(const struct follow *f)
{
	return (f->monitor != NULL && f->monitor->e.state != EPISODE_QUIET ?
	    f->monitor : NULL);
}

/* What a monitor without network takes for the trouble of others. */
static bool
is_silence(const struct episode *e)
{
	return ((e->class == CLASS_NETWORK || e->class == CLASS_DNS ||
	    e->class == CLASS_BLIND) && strcmp(e->scope, "monitor") != 0);
}

static void
go_offline(struct follow *f, size_t hosts, int64_t now_ms)
{
	struct step		 s = { .event = EPISODE_EV_MISS, .token = "",
				    .transcript = "", .quiet = true };
	struct judgement	 j;
	struct followed		*fe;
	char			 reason[128];

	judge_offline(&j);
	fe = find(f, &j, now_ms);
	for (size_t i = 0; f->config->routes[i] != NULL; i++)
		join(&fe->e, f->config->routes[i]);
	snprintf(reason, sizeof reason, "none of %zu hosts can be reached: it "
	    "seems that the monitor has no network", hosts);
	s.said = reason;
	record(&fe->e, STAGE_NONE, 0, "", reason, "");
	move(f, fe, &s, now_ms);
}

static void
go_online(struct follow *f, int64_t now_ms)
{
	struct step	 s = { .event = EPISODE_EV_DELIVERED, .token = "",
			    .said = "", .transcript = "" };
	struct followed	*fe = offline(f);

	if (fe != NULL)
		move(f, fe, &s, now_ms);
}

/* Takes note of whether host answered; reached as judge_reached() has it. */
static void
note_reach(struct follow *f, const char *host, int reached, bool lasting,
    int64_t now_ms)
{
	size_t	none;

	if (reached == 0)
		return;
	reach_note(&f->reach, host, reached > 0, lasting, now_ms);
	if (reached > 0)
		go_online(f, now_ms);
	else if ((none = reach_none(&f->reach, now_ms)) > 0)
		go_offline(f, none, now_ms);
}

/* Attempts. */

static bool
by_attempts(const struct episode *e)
{
	return (e->origin == EPISODE_BY_ATTEMPT && e->class != CLASS_BLIND);
}

/* Another class of trouble on the same scope ends the runs of the others. */
static void
break_runs(struct follow *f, const struct followed *but)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (fe == but || fe->e.accepts == 0 ||
		    fe->e.state != EPISODE_FAILING ||
		    strcmp(fe->e.scope, but->e.scope) != 0)
			continue;
		episode_break_run(&fe->e);
		put(f, &fe->e);
	}
}

/* A session came about: whoever could not log in or look up now can. */
static void
sighted(struct follow *f, const struct route *r, const struct outcome *o,
    const struct step *s, int64_t now_ms)
{
	struct step	 see = { .event = EPISODE_EV_DELIVERED,
			    .token = s->token, .said = s->said,
			    .transcript = "" };
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.class == CLASS_BLIND &&
		    fe->e.state != EPISODE_QUIET &&
		    judge_speaks(fe->e.scope, r, o->host))
			move(f, fe, &see, now_ms);
}

/* True if it is the longest so far. */
static bool
note_delay(struct episode *e, int64_t delay_ms)
{
	if (delay_ms == STAMP_NO_SPAN || delay_ms <= e->max_delay_ms)
		return (false);
	e->max_delay_ms = delay_ms;
	return (true);
}

static void
accepted(struct follow *f, const struct route *r, const struct probe *p,
    const struct outcome *o, const struct step *s, int64_t now_ms)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (fe->e.state == EPISODE_QUIET || !by_attempts(&fe->e) ||
		    !judge_speaks(fe->e.scope, r, o->host))
			continue;
		if (p->deferrals > 0)
			note_delay(&fe->e, stamp_span_ms(&p->first_attempt,
			    &p->accepted, NULL));
		text_copy(fe->last_route, sizeof fe->last_route, r->name);
		move(f, fe, s, now_ms);
		if (fe->e.accepts > 0)
			fe->confirm_ms = fe->ask_ms = now_ms +
			    confirm_span(f, &fe->e);
		/* Arrivals are compared with the sender's own stamps. */
		if (fe->e.accepts == 1 && p->accepted.wall_ms != 0) {
			fe->e.run_ms = p->accepted.wall_ms;
			put(f, &fe->e);
		}
	}
}

static void
failed(struct follow *f, const struct route *r, const struct outcome *o,
    const struct judgement *j, const struct step *s, int64_t now_ms)
{
	struct followed	*fe = find(f, j, now_ms);

	/* Silence of all is no news of one, unless it was in trouble before. */
	if (judge_reached(o) < 0 && offline(f) != NULL &&
	    !episode_is_open(&fe->e))
		return;
	record(&fe->e, o->stage, o->code, o->enhanced, o->reply,
	    o->host[0] != '\0' ? o->host : judge_system(r->server, ""));
	miss(f, fe, r, s, now_ms);
	if (j->event == EPISODE_EV_MISS)
		break_runs(f, fe);
}

/*
 * The sentinel hands over when it will not be tried again, or when what it
 * meets now is another scope's trouble.
 */
static void
hand_over(struct follow *f, const char *token, const struct outcome *o,
    const struct judgement *j)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (strcmp(fe->e.sentinel, token) != 0 ||
		    (o->verdict == VERDICT_TEMPORARY &&
		    strcmp(fe->e.scope, j->scope) == 0))
			continue;
		fe->e.sentinel[0] = '\0';
		put(f, &fe->e);
	}
}

void
follow_attempt(struct follow *f, const struct route *r,
    const struct probe *p, const struct outcome *o, int64_t now_ms)
{
	struct judgement	j;
	struct step		s = {
		.event = EPISODE_EV_MISS, .token = p->token,
		.said = o->reply, .transcript = o->transcript,
	};

	begin(f, now_ms);
	judge_attempt(r, p, o, now_ms, &j);
	note_reach(f, o->host[0] != '\0' ? o->host :
	    judge_system(r->server, ""), judge_reached(o), false, now_ms);
	if (!o->blind)
		sighted(f, r, o, &s, now_ms);
	if (j.scope[0] != '\0' && j.event == EPISODE_EV_ACCEPT) {
		s.event = EPISODE_EV_ACCEPT;
		accepted(f, r, p, o, &s, now_ms);
	} else if (j.scope[0] != '\0') {
		failed(f, r, o, &j, &s, now_ms);
	}
	hand_over(f, p->token, o, &j);
}

/* Arrivals, ages, mailboxes. */

/* Does the arrival of a probe of r speak about e? */
static bool
concerns(const struct episode *e, const struct route *r,
    const struct probe *p)
{
	if (e->class == CLASS_BLIND)
		return (false);
	/* What a bounce named lies behind the system we speak to. */
	if (e->origin != EPISODE_BY_ATTEMPT)
		return (words_has(e->routes, r->name));
	return (judge_speaks(e->scope, r, p->host));
}

static bool
proves(const struct episode *e, const struct probe *p)
{
	if (e->origin != EPISODE_BY_ATTEMPT)
		return (p->accepted.wall_ms > e->last_miss_ms);
	return (e->accepts > 0 && p->accepted.wall_ms >= e->run_ms);
}

static void
arrived(struct follow *f, struct followed *fe, const struct probe *p,
    int64_t now_ms)
{
	struct episode	*e = &fe->e;
	struct step	 s = { .event = EPISODE_EV_DELIVERED,
			    .token = p->token, .said = "", .transcript = "" };

	bool		 longest = false;

	if (p->deferrals > 0 || e->origin != EPISODE_BY_ATTEMPT)
		longest = note_delay(e, stamp_span_ms(&p->first_attempt,
		    &p->arrived, NULL));
	if (e->state == EPISODE_QUIET || !proves(e, p)) {
		if (longest)
			put(f, e);
		return;
	}
	if (e->closed_by[0] == '\0')
		text_copy(e->closed_by, sizeof e->closed_by, p->token);
	move(f, fe, &s, now_ms);
}

void
follow_delivered(struct follow *f, const struct route *r,
    const struct probe *p, int64_t now_ms)
{
	struct followed	*fe;

	begin(f, now_ms);
	TAILQ_FOREACH(fe, &f->episodes, entry)
		if ((fe->e.state != EPISODE_QUIET || fe->e.opened_ms != 0) &&
		    concerns(&fe->e, r, p))
			arrived(f, fe, p, now_ms);
}

void
follow_late(struct follow *f, const struct route *r, const struct probe *p,
    int64_t now_ms)
{
	struct step		 s = { .event = EPISODE_EV_MISS,
				    .token = p->token, .said = "late",
				    .transcript = "" };
	struct judgement	 j;
	struct followed		*fe;

	begin(f, now_ms);
	judge_age(r, &j);
	fe = find(f, &j, now_ms);
	record(&fe->e, STAGE_DOT, p->code, p->enhanced, p->reply,
	    p->host[0] != '\0' ? p->host : judge_system(r->server, ""));
	miss(f, fe, r, &s, now_ms);
}

static void
cannot_look(struct follow *f, const struct judgement *j,
    const char *mailbox, bool silent, const char *reason, int64_t now_ms)
{
	struct step	 s = { .event = EPISODE_EV_MISS, .token = "",
			    .said = reason, .transcript = "", .quiet = true };
	struct followed	*fe = find(f, j, now_ms);

	if (silent && offline(f) != NULL && !episode_is_open(&fe->e))
		return;
	for (size_t i = 0; f->config->routes[i] != NULL; i++)
		if (judge_watches(mailbox, f->config->routes[i]))
			join(&fe->e, f->config->routes[i]);
	record(&fe->e, STAGE_NONE, 0, "", reason, "");
	move(f, fe, &s, now_ms);
}

static void
can_look(struct follow *f, const struct judgement *j, int64_t now_ms)
{
	struct step	 s = { .event = EPISODE_EV_DELIVERED, .token = "",
			    .said = "", .transcript = "" };
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.state != EPISODE_QUIET &&
		    fe->e.class == CLASS_BLIND &&
		    strcmp(fe->e.scope, j->scope) == 0)
			move(f, fe, &s, now_ms);
}

void
follow_mailbox(struct follow *f, const struct mailbox *m, bool blind,
    enum outcome_class class, const char *reason, int64_t now_ms)
{
	bool			silent = blind && (class == CLASS_NETWORK ||
				    class == CLASS_DNS);
	struct judgement	j;

	begin(f, now_ms);
	note_reach(f, m->host, silent ? -1 : 1, !blind, now_ms);
	judge_mailbox(m->name, &j);
	if (blind)
		cannot_look(f, &j, m->name, silent, reason, now_ms);
	else
		can_look(f, &j, now_ms);
}

void
follow_gone(struct follow *f, const char *token, int64_t now_ms)
{
	struct followed	*fe;

	begin(f, now_ms);
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (token[0] == '\0' || strcmp(fe->e.sentinel, token) != 0)
			continue;
		fe->e.sentinel[0] = '\0';
		put(f, &fe->e);
	}
}

/* Time. */

/* Whether any route that is still configured can show how it goes on. */
static bool
is_covered(const struct follow *f, const struct episode *e)
{
	for (size_t i = 0; f->config->routes[i] != NULL; i++)
		if (judge_covers(e->scope, f->config->routes[i]) ||
		    words_has(e->routes, f->config->routes[i]->name))
			return (true);
	return (false);
}

static bool
wants_confirming(const struct follow *f, const struct episode *e)
{
	struct episode_limits	lim;

	limits(f, e, &lim);
	return (e->state == EPISODE_FAILING && by_attempts(e) &&
	    e->accepts > 0 && e->accepts < lim.accepts_to_mend &&
	    e->sentinel[0] == '\0');
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return (a == 0 || (b != 0 && b < a) ? b : a);
}

/*
 * When this episode needs follow_tick(); 0: never by itself.  A doubt opens
 * by time only upon what was seen since the start: what a monitor that was
 * down remembers is no news.
 */
static int64_t
tick_at(const struct follow *f, const struct followed *fe)
{
	const struct episode	*e = &fe->e;
	struct episode_limits	 lim;
	int64_t			 at = e->owed != 0 ? e->tell_ms : 0;

	limits(f, e, &lim);
	switch (e->state) {
	case EPISODE_SUSPECT:
		if (e->misses >= lim.misses_to_fail &&
		    (!is_silence(e) || offline(f) == NULL) &&
		    f->started_ms != 0 && e->last_miss_ms >= f->started_ms)
			at = sooner(at, e->first_miss_ms + lim.fail_for_ms);
		break;
	case EPISODE_FAILING:
		at = sooner(at, e->remind_ms);
		break;
	case EPISODE_QUIET:
		if (e->opened_ms != 0 && e->owed == 0 && !e->csv_done)
			at = e->delivered_ms + lim.settle_ms + 1;
		break;
	case EPISODE_ACCEPTING:
	case EPISODE_STATES:
		break;
	}
	return (at);
}

static void
settle(struct follow *f, struct followed *fe, int64_t now_ms)
{
	struct episode		*e = &fe->e;
	struct episode_limits	 lim;
	struct step		 s = { .event = EPISODE_EV_REMIND,
				    .token = e->closed_by, .said = "",
				    .transcript = "" };
	unsigned		 owes;

	limits(f, e, &lim);
	if ((owes = episode_settled(e, &lim, now_ms)) == 0)
		return;
	put(f, e);
	note(f, e, &s, e->state, owes, &lim, now_ms);
	tell(f, e, owes, NULL, "", now_ms);
}

/* Over for good: one row in the CSV, and out of memory. */
static void
finish(struct follow *f, struct followed *fe)
{
	csv_episode(f->csv, &fe->e);
	fe->e.csv_done = true;
	put(f, &fe->e);
	log_info("episode=%lld scope=\"%s\" class=%s over swings=%u "
	    "refusals=%u", (long long)fe->e.id, fe->e.scope,
	    class_name(fe->e.class), fe->e.swings, fe->e.refusals);
	drop(f, fe);
}

static void
tick(struct follow *f, struct followed *fe, int64_t now_ms)
{
	struct step	s = { .event = EPISODE_EV_REMIND, .token = "",
			    .said = "", .transcript = "" };

	settle(f, fe, now_ms);
	if (tick_at(f, fe) == 0 || tick_at(f, fe) > now_ms)
		return;
	if (fe->e.state == EPISODE_QUIET) {
		finish(f, fe);
		return;
	}
	if (fe->e.state == EPISODE_FAILING && !is_covered(f, &fe->e)) {
		/* Its routes are gone: nothing new can be said of it. */
		fe->e.remind_ms = 0;
		put(f, &fe->e);
		return;
	}
	move(f, fe, &s, now_ms);
}

static bool
is_spare(const struct episode *e)
{
	return (e->state == EPISODE_QUIET && e->opened_ms == 0);
}

static void
bound_spares(struct follow *f)
{
	struct followed	*fe, *after;
	unsigned	 spares = 0;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		spares += is_spare(&fe->e);
	for (fe = TAILQ_FIRST(&f->episodes); fe != NULL && spares > SPARE_MAX;
	    fe = after) {
		after = TAILQ_NEXT(fe, entry);
		if (!is_spare(&fe->e))
			continue;
		drop(f, fe);
		spares--;
	}
}

static int64_t
next_ms(const struct follow *f)
{
	const struct followed	*fe;
	int64_t			 at = 0;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		at = sooner(at, tick_at(f, fe));
		if (wants_confirming(f, &fe->e))
			at = sooner(at, fe->ask_ms);
	}
	return (at);
}

int64_t
follow_next_ms(const struct follow *f)
{
	if (f->next->stale) {
		f->next->at_ms = next_ms(f);
		f->next->stale = false;
	}
	return (f->next->at_ms);
}

void
follow_tick(struct follow *f, int64_t now_ms)
{
	struct followed	*fe, *after;

	begin(f, now_ms);
	if (follow_next_ms(f) == 0 || follow_next_ms(f) > now_ms)
		return;
	for (fe = TAILQ_FIRST(&f->episodes); fe != NULL; fe = after) {
		after = TAILQ_NEXT(fe, entry);
		tick(f, fe, now_ms);
	}
	bound_spares(f);
}

/* Who may try. */

static bool
same_mx(const struct follow *f, const struct episode *e,
    const struct route *r)
{
	const char		*at = e->routes;
	char			 name[PROBE_NAME];
	const struct route	*other;

	while (words_next(&at, name, sizeof name))
		if ((other = config_route(f->config, name)) != NULL &&
		    other->server == r->server &&
		    strcasecmp(judge_domain(other), judge_domain(r)) == 0)
			return (true);
	return (false);
}

/* Which MX host a probe will meet is not known before: the last one's do. */
static bool
covers(const struct follow *f, const struct episode *e,
    const struct route *r)
{
	const char	*name;

	if (judge_covers(e->scope, r))
		return (true);
	return (r->server->mx == MX_FIRST &&
	    judge_scope(e->scope, &name) == SCOPE_SYSTEM && same_mx(f, e, r));
}

static bool
outranks(const struct episode *a, const struct episode *b)
{
	const char	*name;
	enum scope_kind	 ka = judge_scope(a->scope, &name);
	enum scope_kind	 kb = judge_scope(b->scope, &name);

	return (ka < kb || (ka == kb && a->id < b->id));
}

/* The episode that says who may try on this route, or NULL. */
static struct followed *
holder(const struct follow *f, const struct route *r)
{
	struct followed	*fe, *best = NULL;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.state == EPISODE_FAILING && by_attempts(&fe->e) &&
		    (best == NULL || outranks(&fe->e, &best->e)) &&
		    covers(f, &fe->e, r))
			best = fe;
	return (best);
}

bool
follow_may_try(struct follow *f, const struct route *r, const char *token,
    int64_t now_ms)
{
	struct followed	*fe = holder(f, r);

	begin(f, now_ms);
	if (fe == NULL)
		return (true);
	if (fe->e.sentinel[0] != '\0')
		return (strcmp(fe->e.sentinel, token) == 0);
	if (fe->e.accepts > 0 && now_ms < fe->confirm_ms)
		return (false);
	text_copy(fe->e.sentinel, sizeof fe->e.sentinel, token);
	put(f, &fe->e);
	return (true);
}

void
follow_confirms(struct follow *f, int64_t now_ms, follow_want want, void *arg)
{
	struct followed	*fe;
	const char	*at;
	char		 route[PROBE_NAME];

	begin(f, now_ms);
	if (follow_next_ms(f) == 0 || follow_next_ms(f) > now_ms)
		return;
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (!wants_confirming(f, &fe->e) || now_ms < fe->ask_ms)
			continue;
		fe->ask_ms = now_ms + ASK_AGAIN_MS;
		f->next->stale = true;
		at = fe->e.routes;
		text_copy(route, sizeof route, fe->last_route);
		if (route[0] == '\0')
			words_next(&at, route, sizeof route);
		want(arg, fe->e.id, fe->e.scope, route);
	}
}

static struct followed *
by_id(const struct follow *f, int64_t episode)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.id == episode)
			return (fe);
	return (NULL);
}

void
follow_confirming(struct follow *f, int64_t episode, const char *token,
    int64_t now_ms)
{
	struct followed	*fe = by_id(f, episode);

	begin(f, now_ms);
	if (fe == NULL || fe->e.state != EPISODE_FAILING)
		return;
	text_copy(fe->e.sentinel, sizeof fe->e.sentinel, token);
	put(f, &fe->e);
}

/* For people. */

void
follow_each(const struct follow *f,
    void (*call)(void *arg, const struct episode *), void *arg)
{
	const struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.state != EPISODE_QUIET)
			call(arg, &fe->e);
}

const struct episode *
follow_covering(const struct follow *f, const struct route *r)
{
	const struct followed	*fe;
	const struct episode	*best = NULL;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (episode_is_open(&fe->e) &&
		    (best == NULL || outranks(&fe->e, best)) &&
		    (covers(f, &fe->e, r) || words_has(fe->e.routes, r->name)))
			best = &fe->e;
	return (best);
}

int
follow_ack(struct follow *f, int64_t episode, int64_t now_ms)
{
	struct followed	*fe = by_id(f, episode);

	begin(f, now_ms);
	if (fe == NULL || !episode_is_open(&fe->e))
		return (-1);
	fe->e.acked = true;
	fe->e.remind_ms = 0;
	put(f, &fe->e);
	if (store_episode_event(f->store, episode, now_ms, "ack", "",
	    "reminders stopped") == -1)
		store_failed(f, &fe->e);
	return (0);
}

int
follow_test(struct follow *f, const char *alerts, int64_t now_ms)
{
	int	rc = tell_test(f->config, f->store, alerts, now_ms);

	if (rc > 0 && f->owed != NULL)
		f->owed(f->arg);
	return (rc > 0 ? 0 : -1);
}
