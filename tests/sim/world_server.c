#include <search.h>
#include <string.h>

#include "monitor/classify.h"
#include "monitor/mem.h"
#include "monitor/reply.h"
#include "monitor/text.h"
#include "tests/sim/world_internal.h"

/* Senders and the servers they speak to. */

#define SESSION_MS	20		/* to 354, or to a refusal */
#define BODY_MS		10		/* from go to the reply to the dot */
#define KILL_MS		(600 * 1000)	/* a hanging sender's deadline */

struct server_state *
world_server_of(struct world *w, const char *name)
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

static struct domain_state *
domain_of(struct world *w, const char *name)
{
	struct domain_state	*d;

	for (d = w->domains; d != NULL; d = d->next)
		if (strcmp(d->name, name) == 0)
			return (d);
	d = mem_alloc(sizeof *d);
	text_copy(d->name, sizeof d->name, name);
	d->next = w->domains;
	w->domains = d;
	return (d);
}

void
world_hosts(struct world *w, const char *domain, const char *hosts)
{
	struct domain_state	*d = domain_of(w, domain);

	text_copy(d->hosts, sizeof d->hosts, hosts);
	for (char *c = d->hosts; *c != '\0'; c++)
		if (*c == ' ')
			*c = '\n';
}

/* The sender has looked them up. */
void
world_hosts_found(struct world *w, struct event *e)
{
	const struct domain_state	*d = domain_of(w, e->job.domain);
	struct frame_hosts		 f = { .job = e->job.id };

	f.found = d->hosts[0] != '\0';
	text_copy(f.hosts, sizeof f.hosts, d->hosts);
	if (!f.found)
		text_copy(f.reason, sizeof f.reason, "the domain has no MX");
	if (w->up && e->boot == w->boot)
		engine_hosts(w->engine, &f, world_told_ms(w));
	world_event_free(e);
}

void
world_server(struct world *w, const char *server, enum behaviour behaviour,
    const char *stage, const char *reply)
{
	struct server_state	*s = world_server_of(w, server);

	s->behaviour = behaviour;
	s->stage = stage_of(stage);
	if (behaviour == SERVER_ANSWERS && s->stage == STAGE_NONE)
		panic("no such stage: %s", stage);
	text_copy(s->reply, sizeof s->reply, reply);
}

void
world_lucky(struct world *w, const char *server)
{
	world_server_of(w, server)->lucky++;
}

static struct recipient_state *
recipient_of(struct world *w, const char *address)
{
	struct recipient_state	*r;

	for (r = w->recipients; r != NULL; r = r->next)
		if (strcmp(r->address, address) == 0)
			return (r);
	return (NULL);
}

void
world_recipient(struct world *w, const char *address, const char *stage,
    const char *reply)
{
	struct recipient_state	*r = recipient_of(w, address);

	if (r == NULL) {
		r = mem_alloc(sizeof *r);
		text_copy(r->address, sizeof r->address, address);
		r->next = w->recipients;
		w->recipients = r;
	}
	r->stage = stage_of(stage);
	text_copy(r->reply, sizeof r->reply, reply);
}

/* What this session meets; false: nothing that is said before the body. */
static bool
refusal(struct world *w, const struct event *e, enum stage *stage_r,
    const char **reply_r)
{
	const struct recipient_state	*r = recipient_of(w, e->job.to);
	const struct server_state	*s = e->server;

	if (s->lucky > 0)
		return (false);
	if (e->job.is_check && s->stage > STAGE_EHLO)
		return (false);
	if (s->behaviour == SERVER_ANSWERS && s->stage < STAGE_RCPT) {
		*stage_r = s->stage;
		*reply_r = s->reply;
		return (true);
	}
	if (r != NULL && r->reply[0] != '\0') {
		*stage_r = r->stage;
		*reply_r = r->reply;
		return (true);
	}
	*stage_r = s->stage;
	*reply_r = s->reply;
	return (s->behaviour == SERVER_ANSWERS);
}

/* Bodies: none goes out twice unless it was refused after the dot. */

static int
by_token(const void *a, const void *b)
{
	const struct body	*x = a, *y = b;

	return (strcmp(x->token, y->token));
}

static struct body *
body_of(struct world *w, const char *token)
{
	struct body	 key, **found;

	text_copy(key.token, sizeof key.token, token);
	found = tfind(&key, &w->bodies, by_token);
	return (found != NULL ? *found : NULL);
}

static void
count_body(struct world *w, const char *token)
{
	struct body	*b = body_of(w, token);

	if (b == NULL) {
		b = mem_alloc(sizeof *b);
		text_copy(b->token, sizeof b->token, token);
		if (tsearch(b, &w->bodies, by_token) == NULL)
			panic("out of memory");
	}
	if (b->sent > b->refused)
		world_blame(w, "a body went out twice", token);
	if (++b->sent > w->most_bodies)
		w->most_bodies = b->sent;
}

void
world_body_forget(struct world *w, const char *token)
{
	struct body	*b = body_of(w, token);

	if (!w->forgetful || b == NULL)
		return;
	(void)tdelete(b, &w->bodies, by_token);
	mem_free(b);
}

void
world_forgetful(struct world *w)
{
	w->forgetful = true;
}

unsigned
world_bodies(const struct world *w, const char *token)
{
	struct body	 key, **found;

	if (token[0] == '\0')
		return (w->most_bodies);
	text_copy(key.token, sizeof key.token, token);
	found = tfind(&key, &w->bodies, by_token);
	return (found != NULL ? (*found)->sent : 0);
}

/* twalk(3) takes no argument. */
static struct {
	void	(*each)(void *arg, const char *token);
	void	*arg;
} walk;

static void
walk_body(const void *node, VISIT visit, int depth)
{
	const struct body	*const *b = node;

	(void)depth;
	if (visit == postorder || visit == leaf)
		walk.each(walk.arg, (*b)->token);
}

void
world_each_body(const struct world *w,
    void (*each)(void *arg, const char *token), void *arg)
{
	walk.each = each;
	walk.arg = arg;
	twalk(w->bodies, walk_body);
}

/* Orders. */

/* What an order stands for is on disk before it is given. */
static void
check_row(struct world *w, const char *token, enum probe_state state)
{
	struct probe	p;

	if (store_dirty(w->store))
		world_blame(w, "an order came before its commit", token);
	else if (store_probe_get(w->store, token, &p) != 1)
		world_blame(w, "an order for a probe without a row", token);
	else if (p.state != state)
		world_blame(w, "an order for a probe whose row says",
		    probe_state_name(p.state));
}

void
world_op_job(void *arg, const struct server *server,
    const struct frame_job *f)
{
	struct world	*w = arg;
	struct event	*e;

	if (w->drop_orders)
		return;
	e = world_event(w, f->kind == JOB_LOOKUP ? HOSTS_FOUND : SESSION_ENDS,
	    SESSION_MS);
	e->job.id = f->job;
	e->job.is_check = f->kind == JOB_CHECK;
	text_copy(e->job.host, sizeof e->job.host, f->host);
	text_copy(e->job.domain, sizeof e->job.domain, f->domain);
	if (f->kind == JOB_LOOKUP)
		return;
	e->job.is_probe = f->kind == JOB_PROBE;
	e->job.gate = f->gate;
	text_copy(e->job.token, sizeof e->job.token, f->envid);
	text_copy(e->job.to, sizeof e->job.to, f->to);
	if (e->job.is_probe)
		check_row(w, f->envid, PROBE_SENDING);
	else
		e->job.message = mem_strdup(f->message);
	e->server = world_server_of(w, server->mx == MX_EACH ? f->host :
	    server->name);
	if (e->server->behaviour == SERVER_HANGS)
		agenda_set(&w->agenda, &e->item, w->now_ms + KILL_MS);
}

void
world_op_go(void *arg, uint64_t job, bool allowed)
{
	struct world	*w = arg;
	struct event	*e;

	if (w->drop_orders)
		return;
	TAILQ_FOREACH(e, &w->in_hand, in_hand)
		if (e->job.id == job)
			break;
	if (e == NULL)
		return;
	TAILQ_REMOVE(&w->in_hand, e, in_hand);
	if (!allowed) {
		world_event_free(e);
		return;
	}
	check_row(w, e->job.token, PROBE_COMMITTED);
	count_body(w, e->job.token);
	e->what = BODY_ANSWERED;
	agenda_set(&w->agenda, &e->item, w->now_ms + BODY_MS);
}

/* Answers. */

static struct outcome *
outcome_at(struct world *w, const struct event *e, enum stage stage)
{
	struct outcome		*o = mem_alloc(sizeof *o);

	outcome_init(o);
	o->stage = stage;
	o->started = world_stamp(w);
	o->started.wall_ms -= SESSION_MS;
	o->started.boot_ms -= SESSION_MS;
	o->finished = world_stamp(w);
	text_copy(o->host, sizeof o->host, e->job.host);
	for (size_t i = STAGE_CONNECT; i <= stage; i++)
		o->stage_ms[i] = 2;
	return (o);
}

/* A server says the same for hours: what it means is worked out once. */
static void
understand(enum stage stage, const char *text, struct reply *r_r,
    struct meaning *m_r)
{
	static struct reply	r;
	static struct meaning	m;
	static enum stage	last_stage = STAGE_NONE;
	static char		last_text[256];

	if (stage != last_stage || strcmp(text, last_text) != 0) {
		reply_parse(&r, text, strlen(text));
		m = classify(stage, &r);
		last_stage = stage;
		text_copy(last_text, sizeof last_text, text);
	}
	*r_r = r;
	*m_r = m;
}

static void
fill_reply(struct outcome *o, enum stage stage, const char *text)
{
	struct reply	r;
	struct meaning	m;

	understand(stage, text, &r, &m);
	o->code = r.code;
	text_copy(o->enhanced, sizeof o->enhanced, r.enhanced);
	text_copy(o->reply, sizeof o->reply, r.text);
	o->class = m.class;
	o->verdict = m.verdict;
	/* A login that is refused is our own trouble, and may mend. */
	if (stage == STAGE_AUTH) {
		o->blind = true;
		o->class = CLASS_AUTH;
		o->verdict = VERDICT_TEMPORARY;
	}
	if (m.verdict == VERDICT_ACCEPTED && stage == STAGE_DOT)
		o->class = CLASS_ACCEPTED;
}

/* The session is over. */
static void
answer(struct world *w, struct event *e, struct outcome *o)
{
	engine_outcome(w->engine, e->job.id, o, world_told_ms(w));
	engine_over(w->engine, e->job.id, world_told_ms(w));
	mem_free(o);
	world_event_free(e);
}

static void
lose(struct world *w, struct event *e, const char *why)
{
	struct stamp	at = world_stamp(w);

	engine_job_lost(w->engine, e->job.id, why, &at, world_told_ms(w));
	world_event_free(e);
}

static void
refuse_connection(struct world *w, struct event *e)
{
	struct outcome	*o = outcome_at(w, e, STAGE_CONNECT);

	o->class = CLASS_NETWORK;
	o->verdict = VERDICT_TEMPORARY;
	text_copy(o->reply, sizeof o->reply, "connection refused");
	answer(w, e, o);
}

static void
not_resolve(struct world *w, struct event *e)
{
	struct outcome	*o = outcome_at(w, e, STAGE_LOOKUP);

	o->class = CLASS_DNS;
	o->verdict = VERDICT_TEMPORARY;
	o->blind = true;
	text_copy(o->reply, sizeof o->reply, "the resolver does not answer");
	answer(w, e, o);
}

/* The server says 354: the body may go, if the monitor lets it. */
static void
ask(struct world *w, struct event *e)
{
	if (e->job.gate) {
		TAILQ_INSERT_TAIL(&w->in_hand, e, in_hand);
		engine_ask(w->engine, e->job.id, world_told_ms(w));
	} else {
		e->what = BODY_ANSWERED;
		agenda_set(&w->agenda, &e->item, w->now_ms + BODY_MS);
	}
}

void
world_session_ends(struct world *w, struct event *e)
{
	const char	*reply;
	enum stage	 stage;
	struct outcome	*o;

	w->attempts += e->job.is_probe;
	e->server->attempts += e->job.is_probe;
	if (e->server->behaviour == SERVER_KILLS)
		lose(w, e, "the sender died");
	else if (e->server->behaviour == SERVER_HANGS)
		lose(w, e, "the sender was killed at its deadline");
	else if (e->server->behaviour == SERVER_UNRESOLVED)
		not_resolve(w, e);
	else if (e->server->behaviour == SERVER_REFUSES)
		refuse_connection(w, e);
	else if (refusal(w, e, &stage, &reply) && stage < STAGE_DOT) {
		o = outcome_at(w, e, stage);
		fill_reply(o, stage, reply);
		answer(w, e, o);
	} else if (e->job.is_check) {
		o = outcome_at(w, e, STAGE_EHLO);
		fill_reply(o, STAGE_EHLO, "250 hello");
		answer(w, e, o);
	} else
		ask(w, e);
}

static bool
is_silent(const struct server_state *s)
{
	return (s->behaviour == SERVER_SILENT ||
	    s->behaviour == SERVER_SWALLOWS);
}

/* The server has the whole message. */
static void
take(struct world *w, const struct event *e, bool early)
{
	if (e->server->behaviour == SERVER_SWALLOWS)
		return;
	if (e->job.is_probe)
		world_send_on(w, e->job.token, e->job.to, early);
	else
		world_notice(w, e->job.to, e->job.message);
}

static struct outcome *
dot_outcome(struct world *w, const struct event *e)
{
	struct outcome	*o = outcome_at(w, e, STAGE_DOT);
	const char	*reply;
	enum stage	 stage;

	o->accepted = world_stamp(w);
	if (is_silent(e->server)) {
		o->class = CLASS_UNCERTAIN;
		o->verdict = VERDICT_UNCERTAIN;
		text_copy(o->reply, sizeof o->reply, "no reply to the dot");
	} else if (refusal(w, e, &stage, &reply) && stage == STAGE_DOT)
		fill_reply(o, STAGE_DOT, reply);
	else
		fill_reply(o, STAGE_DOT, "250 2.0.0 Ok: queued");
	if (e->server->lucky > 0 && !e->overtaken)
		e->server->lucky--;
	return (o);
}

void
world_body_answered(struct world *w, struct event *e)
{
	struct outcome	*o;
	struct body	*b;

	if (e->server->behaviour == SERVER_KILLS_LATE) {
		take(w, e, false);
		lose(w, e, "the sender died");
		return;
	}
	o = dot_outcome(w, e);
	if (o->verdict == VERDICT_ACCEPTED || o->verdict ==
	    VERDICT_UNCERTAIN) {
		if (!e->overtaken)
			take(w, e, w->early);
		if (w->early && e->job.is_probe && !e->overtaken) {
			/* The watcher's frame overtakes the sender's. */
			e->overtaken = true;
			agenda_set(&w->agenda, &e->item, w->now_ms + 5);
			mem_free(o);
			return;
		}
	} else if ((b = body_of(w, e->job.token)) != NULL)
		b->refused++;
	answer(w, e, o);
}

/* A session whose monitor died: its body may be out all the same. */
void
world_session_stale(struct world *w, struct event *e)
{
	if (e->what == BODY_ANSWERED && !e->overtaken &&
	    e->server->behaviour != SERVER_ANSWERS)
		take(w, e, false);
	world_event_free(e);
}

void
world_servers_free(struct world *w)
{
	struct server_state	*s;
	struct recipient_state	*r;
	struct domain_state	*d;

	while ((s = w->servers) != NULL) {
		w->servers = s->next;
		mem_free(s);
	}
	while ((r = w->recipients) != NULL) {
		w->recipients = r->next;
		mem_free(r);
	}
	while ((d = w->domains) != NULL) {
		w->domains = d->next;
		mem_free(d);
	}
}

uint64_t
world_attempts(const struct world *w)
{
	return (w->attempts);
}

uint64_t
world_attempts_on(const struct world *w, const char *server)
{
	for (struct server_state *s = w->servers; s != NULL; s = s->next)
		if (strcmp(s->name, server) == 0)
			return (s->attempts);
	return (0);
}
