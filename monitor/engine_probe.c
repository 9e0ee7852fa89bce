#include "monitor/engine_internal.h"

#include <search.h>
#include <string.h>
#include <strings.h>

#include "alerts/judge.h"
#include "monitor/clock.h"
#include "monitor/compose.h"
#include "monitor/latency.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/schedule.h"
#include "monitor/text.h"

/*
 * The life of a probe: made when its route is due, queued for its system,
 * tried, kept and retried, looked for, ended.
 */

#define RELEASE_GAP_MS		200	/* between probes let go after trouble */
#define AGE_GRAIN_MS		1000
#define PENDING_PAUSE_MS	(60 * 60 * INT64_C(1000))
#define GRACE_MS		5000	/* start, hand-over, QUIT of a session */

/* The tree of probes by token. */

static int
by_token(const void *a, const void *b)
{
	const struct probe_run	*x = a, *y = b;

	return (strcmp(x->p.token, y->p.token));
}

struct probe_run *
probe_run_find(struct engine *e, const char *token)
{
	struct probe_run	 key;
	void			*found;

	if (!text_copy(key.p.token, sizeof key.p.token, token))
		return (NULL);
	found = tfind(&key, &e->by_token, by_token);
	return (found != NULL ? *(struct probe_run **)found : NULL);
}

struct probe_run *
probe_run_new(struct engine *e, struct route_run *r, const struct probe *p)
{
	struct probe_run	*pr = mem_alloc(sizeof *pr);

	pr->item.kind = ITEM_PROBE;
	pr->p = *p;
	pr->route = r;
	pr->mailbox = mailbox_run_named(e, p->mailbox);
	if (pr->mailbox == NULL)
		panic("probe of mailbox %s, which is not there", p->mailbox);
	if (tsearch(pr, &e->by_token, by_token) == NULL)
		panic("out of memory");
	return (pr);
}

static bool
is_out(const struct probe *p)
{
	return (p->state == PROBE_ACCEPTED || p->state == PROBE_UNCERTAIN);
}

static struct job_bucket *
bucket(struct engine *e, uint64_t job)
{
	return (&e->jobs[job % JOB_BUCKETS]);
}

static void
leave_queue(struct probe_run *pr)
{
	if (pr->queued)
		TAILQ_REMOVE(&pr->system->queue, pr, in_queue);
	pr->queued = false;
}

static void
leave_held(struct engine *e, struct probe_run *pr)
{
	if (pr->held)
		TAILQ_REMOVE(&e->held, pr, in_held);
	pr->held = false;
}

/* Takes it out of every list; the job's answer, if any, will find nobody. */
void
probe_run_free(struct engine *e, struct probe_run *pr)
{
	agenda_clear(&e->agenda, &pr->item.agenda);
	leave_queue(pr);
	leave_held(e, pr);
	if (pr->job != 0) {
		LIST_REMOVE(pr, in_job);
		pr->system->in_flight--;
		e->in_flight--;
	}
	if (is_out(&pr->p)) {
		TAILQ_REMOVE(&pr->mailbox->pending, pr, in_pending);
		pr->route->pending--;
	}
	if (pr->route->current == pr)
		pr->route->current = NULL;
	tdelete(pr, &e->by_token, by_token);
	mem_free(pr->report);
	mem_free(pr);
}

void
engine_save(struct engine *e, const struct probe_run *pr)
{
	(void)store_probe_put(e->store, &pr->p);	/* commit reports it */
}

/* Systems: where sessions go.  MX hosts are known only afterwards: there it
 * is their domain. */

static const char *
system_name(const struct route_run *run)
{
	const char	*name = judge_system(run->route->server, run->host);

	return (name[0] != '\0' ? name : judge_domain(run->route));
}

static struct system_run *
system_of(struct engine *e, const struct route_run *run)
{
	const char		*name = system_name(run);
	struct system_run	*s;

	for (s = e->systems; s != NULL; s = s->next)
		if (strcasecmp(s->name, name) == 0)
			break;
	if (s == NULL) {
		s = mem_alloc(sizeof *s);
		s->name = mem_strdup(name);
		TAILQ_INIT(&s->queue);
		s->next = e->systems;
		e->systems = s;
	}
	s->limit = run->route->server->concurrency;
	return (s);
}

bool
engine_system_busy(const struct engine *e, const char *name)
{
	const struct system_run	*s;

	for (s = e->systems; s != NULL; s = s->next)
		if (strcasecmp(s->name, name) == 0)
			return (s->in_flight > 0);
	return (false);
}

/* The moment this domain may be sent to, and the next one's, further on. */
static int64_t
domain_slot(struct engine *e, const char *address)
{
	const char		*at = strrchr(address, '@');
	const char		*name = at != NULL ? at + 1 : address;
	struct domain_run	*d;
	int64_t			 slot;

	for (d = e->domains; d != NULL; d = d->next)
		if (strcasecmp(d->name, name) == 0)
			break;
	if (d == NULL) {
		d = mem_alloc(sizeof *d);
		d->name = mem_strdup(name);
		d->next = e->domains;
		e->domains = d;
	}
	slot = d->free_ms > e->now_ms ? d->free_ms : e->now_ms;
	d->free_ms = slot + e->config->spacing_ms;
	return (slot);
}

/* Trying. */

void
engine_fill_server(struct engine *e, const struct server *s,
    struct frame_job *f)
{
	text_copy(f->host, sizeof f->host, s->host);
	f->port = s->port;
	f->tls = (uint32_t)s->tls;
	text_copy(f->ca_file, sizeof f->ca_file, s->ca_file);
	f->insecure_auth = s->insecure_auth;
	text_copy(f->user, sizeof f->user, s->user);
	f->oauth = s->secret.token_command[0] != '\0';
	text_copy(f->helo, sizeof f->helo, s->helo);
	text_copy(f->source_address, sizeof f->source_address,
	    s->source_address);
	f->family = (uint32_t)s->family;
	f->mx = (uint32_t)s->mx;
	text_copy(f->domain, sizeof f->domain, s->domain);
	text_copy(f->resolver, sizeof f->resolver, e->config->resolver);
	f->connect_timeout_ms = s->connect_timeout_ms;
	f->timeout_ms = s->timeout_ms;
	f->dot_timeout_ms = s->dot_timeout_ms;
	/* The sender keeps the bounds of each step; this one is for all. */
	f->deadline_ms = s->connect_timeout_ms + 8 * s->timeout_ms +
	    s->dot_timeout_ms + GRACE_MS;
}

static const char *
contact_of(const struct route *r)
{
	return (r->alerts != NULL && r->alerts->to[0] != NULL ?
	    r->alerts->to[0] : r->from);
}

static void
order_attempt(struct engine *e, struct probe_run *pr)
{
	const struct route	*r = pr->route->route;
	struct frame_job	*f = mem_alloc(sizeof *f);
	char			 date[CLOCK_RFC5322];
	struct compose		 c = {
		.token = pr->p.token,
		.instance = e->config->instance,
		.route = r->name,
		.from = pr->p.from,
		.to = pr->p.to,
		.contact = contact_of(r),
		.date = clock_rfc5322(e->now_ms, date),
		.autoreply = r->echo == ECHO_AUTOREPLY,
	};

	f->job = pr->job;
	f->kind = JOB_PROBE;
	text_copy(f->from, sizeof f->from, pr->p.from);
	text_copy(f->to, sizeof f->to, pr->p.to);
	text_copy(f->envid, sizeof f->envid, pr->p.token);
	f->gate = true;
	f->size = r->size;
	engine_fill_server(e, r->server, f);
	if (pr->route->host[0] != '\0') {
		f->mx = MX_NONE;
		text_copy(f->host, sizeof f->host, pr->route->host);
	}
	if (compose_probe(&c, f->message, sizeof f->message) == 0)
		panic("route %s: message too long", r->name);
	pr->p.size = r->size > (int64_t)strlen(f->message) ? r->size :
	    (int64_t)strlen(f->message);
	engine_order_job(e, r->server, f);
}

static void
attempt(struct engine *e, struct probe_run *pr)
{
	char	key[RUN_KEY];

	if (pr->p.attempts == 0)
		(void)store_fact_put(e->store, "due", route_run_key(pr->route,
		    key), pr->route->due_ms, "");
	pr->asked = false;
	pr->p.state = PROBE_SENDING;
	pr->p.attempts++;
	pr->job = ++e->next_job;
	LIST_INSERT_HEAD(bucket(e, pr->job), pr, in_job);
	pr->system->in_flight++;
	e->in_flight++;
	order_attempt(e, pr);
	engine_save(e, pr);
}

/*
 * One at a time while the system cannot be reached, and until a login has
 * been taken: a wrong password would be refused as often as there are
 * sessions.
 */
static unsigned
limit_of(struct engine *e, const struct system_run *s,
    const struct probe_run *next)
{
	const struct server	*server = next->route->route->server;

	if (s->unreachable || !engine_login_proven(e, server))
		return (1);
	return (s->limit);
}

static void
dispatch(struct engine *e, struct system_run *s)
{
	struct probe_run	*pr;
	int64_t			 until_ms;

	while ((pr = TAILQ_FIRST(&s->queue)) != NULL &&
	    s->in_flight < limit_of(e, s, pr)) {
		if (e->in_flight >= e->config->senders) {
			if (!s->starved)
				TAILQ_INSERT_TAIL(&e->starved, s, in_starved);
			s->starved = true;
			return;
		}
		leave_queue(pr);
		if (pr->route->paused && !pr->asked)
			continue;	/* engine_pause() brings it back */
		/* A person who asks may have mended the password. */
		until_ms = pr->asked ? 0 :
		    engine_login_paused_ms(e, pr->route->route->server);
		pr->login_paused = until_ms != 0;
		if (until_ms != 0) {
			pr->p.next_try_ms = until_ms;
			agenda_set(&e->agenda, &pr->item.agenda, until_ms);
			/* Another login may be tried meanwhile. */
			follow_gone(e->follow, pr->p.token, e->now_ms);
			continue;
		}
		if (!pr->asked && !follow_may_try(e->follow, pr->route->route,
		    pr->route->host, pr->p.token, e->now_ms)) {
			TAILQ_INSERT_TAIL(&e->held, pr, in_held);
			pr->held = true;
			continue;
		}
		attempt(e, pr);
	}
}

void
engine_dispatch_starved(struct engine *e)
{
	struct system_run	*s;

	while (e->in_flight < e->config->senders &&
	    (s = TAILQ_FIRST(&e->starved)) != NULL) {
		TAILQ_REMOVE(&e->starved, s, in_starved);
		s->starved = false;
		dispatch(e, s);
	}
}

/* Places may have come free that nobody's end of a session speaks of. */
void
engine_dispatch_all(struct engine *e)
{
	struct system_run	*s;

	for (s = e->systems; s != NULL; s = s->next)
		dispatch(e, s);
	engine_dispatch_starved(e);
}

static void
enqueue(struct engine *e, struct probe_run *pr)
{
	int64_t	slot_ms;

	if (!pr->spaced) {
		pr->spaced = true;
		slot_ms = domain_slot(e, pr->p.to);
		if (slot_ms > e->now_ms) {
			agenda_set(&e->agenda, &pr->item.agenda, slot_ms);
			return;
		}
	}
	pr->spaced = false;
	pr->system = system_of(e, pr->route);
	TAILQ_INSERT_TAIL(&pr->system->queue, pr, in_queue);
	pr->queued = true;
	dispatch(e, pr->system);
}

void
probe_run_retry_now(struct engine *e, struct probe_run *pr)
{
	if (pr->p.state != PROBE_WAITING || pr->queued)
		return;
	leave_held(e, pr);
	agenda_clear(&e->agenda, &pr->item.agenda);
	pr->asked = pr->spaced = true;
	enqueue(e, pr);
}

/* Those that waited for the sentinel, one after the other. */
void
engine_release_held(struct engine *e)
{
	struct probe_run	*pr, *after;
	int64_t			 n = 1;

	for (pr = TAILQ_FIRST(&e->held); pr != NULL; pr = after) {
		after = TAILQ_NEXT(pr, in_held);
		if (pr->route->paused || !follow_may_try(e->follow,
		    pr->route->route, pr->route->host, pr->p.token,
		    e->now_ms))
			continue;
		leave_held(e, pr);
		agenda_set(&e->agenda, &pr->item.agenda, e->now_ms +
		    schedule_jitter_ms(pr->p.token, 0, n * RELEASE_GAP_MS));
		n++;
	}
}

/* Starting. */

static void
new_token(struct engine *e, const struct route_run *r,
    char token[static TOKEN_SIZE])
{
	unsigned char	random[TOKEN_RANDOM];

	e->ops->random(e->arg, random, sizeof random);
	token_make(token, &e->key, e->config->instance,
	    r->route->mailbox->name, random);
}

/* More that has been accepted and not seen would only fill a relay up. */
static bool
too_many_pending(const struct engine *e, const struct route_run *r)
{
	return (r->pending >= r->route->pending_max &&
	    e->now_ms - r->started_ms < PENDING_PAUSE_MS);
}

void
route_run_start(struct engine *e, struct route_run *r, bool asked,
    int64_t episode)
{
	struct probe	p;

	if (r->current != NULL) {
		if (asked)
			probe_run_retry_now(e, r->current);
		return;
	}
	if (!asked && episode == 0 && (r->paused || too_many_pending(e, r)))
		return;
	probe_init(&p);
	new_token(e, r, p.token);
	if (episode != 0)
		follow_confirming(e->follow, episode, p.token, e->now_ms);
	if (!asked && !follow_may_try(e->follow, r->route, r->host,
	    p.token, e->now_ms)) {
		/* An episode must not wait for a probe that never was. */
		follow_gone(e->follow, p.token, e->now_ms);
		return;
	}
	text_copy(p.route, sizeof p.route, r->route->name);
	text_copy(p.server, sizeof p.server, r->route->server->name);
	text_copy(p.mailbox, sizeof p.mailbox, r->route->mailbox->name);
	text_copy(p.from, sizeof p.from, r->route->from);
	text_copy(p.to, sizeof p.to, r->route->to);
	text_copy(p.host, sizeof p.host, r->host);
	p.state = PROBE_WAITING;
	p.scheduled_ms = e->now_ms;
	p.next_try_ms = e->now_ms;
	r->started_ms = e->now_ms;
	r->count++;
	r->current = probe_run_new(e, r, &p);
	r->current->asked = asked;
	r->current->spaced = asked || episode != 0;
	enqueue(e, r->current);
}

/* Looking for it. */

/* How much longer it may be looked for before its age matters. */
static int64_t
time_left_ms(const struct engine *e, const struct probe_run *pr)
{
	const struct route	*r = pr->route->route;

	return ((pr->p.late_told ? r->lost_after_ms : r->late_after_ms) -
	    pr->p.looked_ms - mailbox_run_looked_ms(e, pr->mailbox) +
	    pr->looked_base_ms);
}

/* A look was completed that did not find it. */
void
probe_run_not_found(struct engine *e, struct probe_run *pr)
{
	if (time_left_ms(e, pr) <= 0)
		agenda_set(&e->agenda, &pr->item.agenda, e->now_ms);
}

/* When its age, counting only looked-at time, may next matter. */
void
probe_run_watch_age(struct engine *e, struct probe_run *pr)
{
	struct mailbox_run	*m = pr->mailbox;
	int64_t			 next_ms;

	if (!is_out(&pr->p))
		return;
	if (!m->good) {		/* the clock stands; an hour is often enough */
		agenda_set(&e->agenda, &pr->item.agenda,
		    e->now_ms + PENDING_PAUSE_MS);
		return;
	}
	/*
	 * What is left shrinks with each look that was completed, not by the
	 * millisecond; the one that makes it nothing says so by itself.
	 */
	next_ms = time_left_ms(e, pr);
	if (next_ms > PENDING_PAUSE_MS)	/* what was looked at is saved then */
		next_ms = PENDING_PAUSE_MS;
	else if (next_ms > 0 && next_ms < AGE_GRAIN_MS)
		next_ms = AGE_GRAIN_MS;
	agenda_set(&e->agenda, &pr->item.agenda,
	    e->now_ms + (next_ms > 0 ? next_ms : 0));
}

static void
look_for(struct engine *e, struct probe_run *pr)
{
	struct route_run	*r = pr->route;

	pr->looked_base_ms = mailbox_run_looked_ms(e, pr->mailbox);
	TAILQ_INSERT_TAIL(&pr->mailbox->pending, pr, in_pending);
	r->pending++;
	if (r->current == pr)
		r->current = NULL;
	probe_run_watch_age(e, pr);
	engine_expect(e, pr);
}

/*
 * Its body was allowed, and then the monitor or its sender died: whether it
 * ever went out is not known.  That is our own trouble: its age raises no
 * alarm, and it is never called lost.
 */
static const char	monitor_restarted[] = "monitor-restarted";
static const char	sender_lost[] = "sender-lost";

static bool
is_unproven(const struct probe *p)
{
	return (p->state == PROBE_UNCERTAIN &&
	    (strstr(p->note, monitor_restarted) != NULL ||
	    strstr(p->note, sender_lost) != NULL));
}

static void
make_unproven(struct probe *p, const char *why)
{
	latency_note(p->note, sizeof p->note, why);
	p->late_told = true;
}

static void
age_due(struct engine *e, struct probe_run *pr)
{
	const struct route	*r = pr->route->route;
	struct mailbox_run	*m = pr->mailbox;
	int64_t			 total_ms = mailbox_run_looked_ms(e, m);

	pr->p.looked_ms += total_ms - pr->looked_base_ms;
	pr->looked_base_ms = total_ms;
	if (!pr->p.late_told && pr->p.looked_ms >= r->late_after_ms) {
		pr->p.late_told = true;
		follow_late(e->follow, r, &pr->p, e->now_ms);
		engine_news(e, &pr->p);
	}
	if (pr->p.looked_ms >= r->lost_after_ms) {
		probe_run_finish(e, pr, is_unproven(&pr->p) ? PROBE_END_BLIND :
		    PROBE_END_LOST, "");
		return;
	}
	if (!m->good && e->now_ms - pr->p.accepted.wall_ms >=
	    2 * r->lost_after_ms) {
		probe_run_finish(e, pr, PROBE_END_BLIND, "mailbox-not-seen");
		return;
	}
	engine_save(e, pr);
	probe_run_watch_age(e, pr);
}

void
probe_run_due(struct engine *e, struct probe_run *pr)
{
	if (is_out(&pr->p))
		age_due(e, pr);
	else if (pr->p.state == PROBE_WAITING && !pr->queued &&
	    !pr->route->paused)
		enqueue(e, pr);
}

/* After a start of the monitor: goes on from the row. */
void
probe_run_resume(struct engine *e, struct probe_run *pr)
{
	struct route_run	*r = pr->route;

	switch (pr->p.state) {
	case PROBE_SENDING:	/* no body went out: as if never tried */
		pr->p.state = PROBE_WAITING;
		pr->p.next_try_ms = e->now_ms;
		engine_save(e, pr);
		break;
	case PROBE_COMMITTED:	/* it may have gone out: never again */
		pr->p.state = PROBE_UNCERTAIN;
		pr->p.class = CLASS_UNCERTAIN;
		if (pr->p.accepted.wall_ms == 0)
			pr->p.accepted.wall_ms = e->now_ms;
		make_unproven(&pr->p, monitor_restarted);
		follow_gone(e->follow, pr->p.token, e->now_ms);
		engine_save(e, pr);
		break;
	case PROBE_WAITING:
	case PROBE_ACCEPTED:
	case PROBE_UNCERTAIN:
	case PROBE_DONE:
	case PROBE_STATES:
		break;
	}
	if (pr->p.scheduled_ms > r->started_ms)
		r->started_ms = pr->p.scheduled_ms;
	if (is_out(&pr->p)) {
		look_for(e, pr);
		return;
	}
	r->current = pr;
	agenda_set(&e->agenda, &pr->item.agenda,
	    pr->p.next_try_ms > e->now_ms ? pr->p.next_try_ms :
	    e->now_ms + schedule_jitter_ms(pr->p.token, 0, 2000));
}

/* Ending. */

void
probe_run_finish(struct engine *e, struct probe_run *pr, enum probe_end end,
    const char *note)
{
	struct route_run	*r = pr->route;
	char			 id[TOKEN_SHORT];

	if (is_out(&pr->p)) {	/* before the state changes */
		TAILQ_REMOVE(&pr->mailbox->pending, pr, in_pending);
		r->pending--;
	}
	pr->p.state = PROBE_DONE;
	pr->p.end = end;
	pr->p.finished_ms = e->now_ms;
	latency_note(pr->p.note, sizeof pr->p.note, note);
	engine_save(e, pr);
	csv_latency(e->csv, &pr->p);
	if (end != PROBE_END_DELIVERED)
		log_info("route=%s probe=%s ended=%s class=%s", r->route->name,
		    token_short(pr->p.token, id), probe_end_name(end),
		    class_name(pr->p.class));
	r->last = pr->p;
	r->has_last = true;
	if (end == PROBE_END_DELIVERED || end == PROBE_END_LATE ||
	    end == PROBE_END_JUNK)
		r->delivered_ms = pr->p.arrived.wall_ms;
	engine_news(e, &pr->p);
	follow_gone(e->follow, pr->p.token, e->now_ms);
	probe_run_free(e, pr);
	mx_run_ended(e, r);
}

static enum probe_end
end_of_arrival(const struct probe_run *pr, const struct frame_arrival *a)
{
	int64_t	transit_ms = stamp_span_ms(&pr->p.accepted, &pr->p.arrived,
		    NULL);

	if (a->junk)
		return (PROBE_END_JUNK);
	return (transit_ms != STAMP_NO_SPAN &&
	    transit_ms > pr->route->route->late_after_ms ? PROBE_END_LATE :
	    PROBE_END_DELIVERED);
}

/*
 * INTERNALDATE has whole seconds, so a mail may seem to have come just
 * before it was sent; if it seems to by more, the clock is wrong that made
 * it, and only when it was seen is known.
 */
static const char *
bound_arrival(struct probe *p, const struct frame_arrival *a,
    const char *note)
{
	const struct stamp	*sent = p->accepted.wall_ms != 0 ?
				    &p->accepted : &p->first_attempt;

	if (strcmp(note, "internaldate") != 0 ||
	    p->arrived.wall_ms >= sent->wall_ms)
		return (note);
	if (sent->wall_ms - p->arrived.wall_ms < 1000)
		p->arrived = *sent;
	if (p->arrived.wall_ms >= p->first_attempt.wall_ms)
		return (note);
	p->arrived = a->seen;
	return ("seen-after-gap");
}

/* What the watcher saw goes into the probe. */
void
probe_take_arrival(struct probe *p, const struct frame_arrival *a,
    int64_t poll_ms)
{
	const char	*note = latency_arrived(a, poll_ms, &p->arrived);

	latency_note(p->note, sizeof p->note, bound_arrival(p, a, note));
	text_copy(p->folder, sizeof p->folder, a->folder);
	p->hops = a->hops;
	text_copy(p->slowest_hop, sizeof p->slowest_hop, a->slowest_hop);
	p->slowest_hop_ms = a->slowest_hop_ms;
	p->skew_ms = a->skew_ms;
	latency_authentication(p->note, sizeof p->note, a->auth_results);
}

/*
 * Its mail is there.  Judged now only if the fate of its attempt is known;
 * else the arrival waits in the probe's run.
 */
void
probe_run_arrived(struct engine *e, struct probe_run *pr,
    const struct frame_arrival *a)
{
	const struct route	*r = pr->route->route;
	struct mailbox_run	*m = pr->mailbox;
	enum probe_end		 end;

	if (pr->job != 0) {
		if (pr->has_arrival && (pr->arrival.uid != a->uid ||
		    strcmp(pr->arrival.folder, a->folder) != 0)) {
			pr->p.duplicates++;
			engine_clean(e, m, a, engine_keep_ms(m, a, false));
			return;
		}
		pr->arrival = *a;
		pr->has_arrival = true;
		return;
	}
	probe_take_arrival(&pr->p, a, m->mailbox->poll_ms);
	if (pr->p.state == PROBE_WAITING)
		latency_note(pr->p.note, sizeof pr->p.note,
		    "arrived-though-refused");
	end = end_of_arrival(pr, a);
	follow_delivered(e->follow, r, &pr->p, e->now_ms);
	probe_run_finish(e, pr, end, "");
	engine_clean(e, m, a, engine_keep_ms(m, a, end == PROBE_END_LATE));
}

/* Its fate is known now: what came before that is judged. */
static void
judge_early_arrival(struct engine *e, struct probe_run *pr)
{
	struct frame_arrival	a = pr->arrival;

	pr->has_arrival = false;
	probe_run_arrived(e, pr, &a);
}

/* What the attempt says goes into the probe. */
static void
take_outcome(struct probe_run *pr, const struct outcome *o)
{
	struct probe	*p = &pr->p;

	if (p->first_attempt.wall_ms == 0)
		p->first_attempt = o->started;
	p->class = o->class;
	p->blind = o->blind;
	p->code = o->code;
	if (o->host[0] != '\0' || pr->route->host[0] == '\0')
		text_copy(p->host, sizeof p->host, o->host);
	text_copy(p->enhanced, sizeof p->enhanced, o->enhanced);
	text_copy(p->reply, sizeof p->reply, o->reply);
	text_copy(p->queue_id, sizeof p->queue_id, o->queue_id);
	if (o->verdict == VERDICT_ACCEPTED || o->verdict == VERDICT_UNCERTAIN)
		p->accepted = o->accepted.wall_ms != 0 ? o->accepted :
		    o->finished;
	else
		p->deferrals++;
}

static void
record(struct engine *e, const struct probe_run *pr, const struct outcome *o)
{
	const char	*route = pr->route->route->name;

	(void)store_attempt_put(e->store, &pr->p, o);
	csv_attempt(e->csv, &pr->p, o, pr->p.server);
	if (o->verdict != VERDICT_ACCEPTED && o->transcript[0] != '\0')
		(void)store_transcript_put(e->store, route, e->now_ms,
		    o->transcript);
}

static struct probe_run *
find_job(struct engine *e, uint64_t job)
{
	struct probe_run	*pr;

	LIST_FOREACH(pr, bucket(e, job), in_job)
		if (pr->job == job)
			return (pr);
	return (NULL);
}

static void
end_job(struct engine *e, struct probe_run *pr, const struct outcome *o)
{
	struct system_run	*s = pr->system;
	struct closing		*c = mem_alloc(sizeof *c);

	c->job = pr->job;
	c->system = s;
	LIST_INSERT_HEAD(&e->closing, c, next);
	LIST_REMOVE(pr, in_job);
	pr->job = 0;
	s->unreachable = !o->blind && o->verdict == VERDICT_TEMPORARY &&
	    o->code == 0 && o->stage <= STAGE_GREETING;
}

static void
apply(struct engine *e, struct probe_run *pr, const struct schedule_after *after)
{
	struct route_run	*r = pr->route;

	if (after->hold_ms > r->due_ms)
		route_run_move(e, r, after->hold_ms);
	if (after->state == PROBE_DONE) {
		probe_run_finish(e, pr, after->end, "");
		return;
	}
	pr->p.state = after->state;
	if (pr->p.state == PROBE_WAITING) {
		pr->p.next_try_ms = after->next_try_ms;
		agenda_set(&e->agenda, &pr->item.agenda, after->next_try_ms);
	}
	engine_save(e, pr);
	if (is_out(&pr->p))
		look_for(e, pr);
	if (pr->p.state == PROBE_UNCERTAIN)
		follow_gone(e->follow, pr->p.token, e->now_ms);
	engine_news(e, &pr->p);
	if (pr->has_arrival)
		judge_early_arrival(e, pr);
	else
		probe_run_take_report(e, pr);
}

/* Permanent refusals in a row; a restart must not make us rude again. */
static void
count_rejects(struct engine *e, struct route_run *r, const struct outcome *o)
{
	char	key[RUN_KEY];

	if (o->verdict == VERDICT_PERMANENT)
		(void)store_fact_put(e->store, "rejects", route_run_key(r, key),
		    ++r->rejects, "");
	else if (o->verdict == VERDICT_ACCEPTED && r->rejects > 0)
		route_run_end_hold(e, r, e->now_ms + r->route->every_ms);
}

static void
conclude(struct engine *e, struct probe_run *pr, const struct outcome *o)
{
	struct system_run	*s = pr->system;
	struct route_run	*r = pr->route;
	struct schedule_after	 after;

	end_job(e, pr, o);
	take_outcome(pr, o);
	count_rejects(e, r, o);
	after = schedule_after(r->route, &pr->p, o, r->rejects, e->now_ms);
	record(e, pr, o);
	check_learn(e, r, o);
	engine_login_note(e, r->route->server, o);
	if (mx_is_gone(r, o)) {
		probe_run_finish(e, pr, PROBE_END_BLIND, "mx-gone");
	} else {
		follow_attempt(e->follow, r->route, &pr->p, o, e->now_ms);
		apply(e, pr, &after);
	}
	engine_release_held(e);
	dispatch(e, s);
	engine_dispatch_starved(e);
}

void
engine_ask(struct engine *e, uint64_t job, int64_t now_ms)
{
	struct probe_run	*pr = find_job(e, job);

	e->now_ms = now_ms;
	if (pr != NULL) {
		pr->p.state = PROBE_COMMITTED;
		engine_save(e, pr);
	}
	engine_order_go(e, job, pr != NULL);
}

void
engine_outcome(struct engine *e, uint64_t job, const struct outcome *o,
    int64_t now_ms)
{
	struct probe_run	*pr;

	e->now_ms = now_ms;
	if ((job & JOB_OF_OUTBOX) != 0) {
		engine_alert_outcome(e, job, o);
	} else if ((job & JOB_OF_CHECK) != 0) {
		check_outcome(e, job, o);
	} else if ((pr = find_job(e, job)) != NULL)
		conclude(e, pr, o);
}

void
engine_over(struct engine *e, uint64_t job, int64_t now_ms)
{
	struct closing		*c;
	struct system_run	*s;

	e->now_ms = now_ms;
	LIST_FOREACH(c, &e->closing, next)
		if (c->job == job)
			break;
	if (c == NULL)
		return;
	s = c->system;
	LIST_REMOVE(c, next);
	mem_free(c);
	s->in_flight--;
	e->in_flight--;
	dispatch(e, s);
	engine_dispatch_starved(e);
}

void
engine_job_lost(struct engine *e, uint64_t job, const char *why,
    const struct stamp *at, int64_t now_ms)
{
	struct probe_run	*pr = find_job(e, job);
	struct outcome		*o;

	if ((job & JOB_OF_OUTBOX) == 0 && (job & JOB_OF_MX) != 0) {
		e->now_ms = now_ms;
		mx_job_lost(e, job);
		return;
	}
	o = mem_alloc(sizeof *o);
	outcome_init(o);
	o->started = *at;
	o->finished = *at;
	o->blind = true;
	o->class = CLASS_OTHER;
	o->verdict = VERDICT_TEMPORARY;
	if (pr != NULL && pr->p.state == PROBE_COMMITTED) {
		o->stage = STAGE_DOT;
		o->class = CLASS_UNCERTAIN;
		o->verdict = VERDICT_UNCERTAIN;
		make_unproven(&pr->p, sender_lost);
	}
	text_copy(o->reply, sizeof o->reply, why);
	engine_outcome(e, job, o, now_ms);
	engine_over(e, job, now_ms);
	mem_free(o);
}
