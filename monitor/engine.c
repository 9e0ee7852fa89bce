#include "monitor/engine.h"

#include <string.h>

#include "monitor/engine_internal.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/schedule.h"
#include "monitor/text.h"

#define PRUNE_EVERY_MS	(60 * 60 * INT64_C(1000))
#define BREATH_MS	500	/* least pause before an overdue errand is
				 * looked at again */

/* Orders: deeds that wait for the commit. */

static struct order *
order(struct engine *e, enum order_kind kind)
{
	struct order	*o = mem_alloc(sizeof *o);

	o->kind = kind;
	STAILQ_INSERT_TAIL(&e->orders, o, next);
	return (o);
}

void
engine_order_job(struct engine *e, const struct server *s,
    struct frame_job *frame)
{
	struct order	*o = order(e, ORDER_JOB);

	o->u.job.server = s;
	o->u.job.frame = frame;
}

void
engine_order_go(struct engine *e, uint64_t job, bool allowed)
{
	order(e, ORDER_GO)->u.go = (struct frame_go){ job, allowed };
}

void
engine_order_clean(struct engine *e, const struct frame_clean *f)
{
	order(e, ORDER_CLEAN)->u.clean = *f;
}

void
engine_order_hook(struct engine *e, struct hook_order *h)
{
	order(e, ORDER_HOOK)->u.hook = h;
}

static void
give(struct engine *e, const struct order *o)
{
	switch (o->kind) {
	case ORDER_JOB:
		e->ops->job(e->arg, o->u.job.server, o->u.job.frame);
		break;
	case ORDER_GO:
		e->ops->go(e->arg, o->u.go.job, o->u.go.allowed);
		break;
	case ORDER_CLEAN:
		e->ops->clean(e->arg, &o->u.clean);
		break;
	case ORDER_HOOK:
		e->ops->hook(e->arg, o->u.hook->handle, o->u.hook->name,
		    o->u.hook->command, o->u.hook->input);
		break;
	}
}

static void
order_free(struct order *o)
{
	if (o->kind == ORDER_JOB)
		mem_free(o->u.job.frame);
	if (o->kind == ORDER_HOOK)
		engine_hook_free(o->u.hook);
	mem_free(o);
}

int
engine_commit(struct engine *e)
{
	struct order_list	 due = STAILQ_HEAD_INITIALIZER(due);
	struct order		*o;

	if (e->broken)
		return (-1);
	(void)csv_flush(e->csv);	/* it says so, and keeps its rows */
	if (store_dirty(e->store))
		engine_write_cleaned(e);
	if (store_dirty(e->store) && store_commit(e->store) != 0) {
		log_error("store: %s", store_error(e->store));
		e->broken = true;	/* its rows are gone: so are its deeds */
		return (-1);
	}
	/* Giving one may bring the next (a job that is lost at once): that
	 * one has its own commit to wait for. */
	STAILQ_CONCAT(&due, &e->orders);
	while ((o = STAILQ_FIRST(&due)) != NULL) {
		STAILQ_REMOVE_HEAD(&due, next);
		give(e, o);
		order_free(o);
	}
	return (0);
}

bool
engine_unfinished(const struct engine *e)
{
	return (store_dirty(e->store) || !STAILQ_EMPTY(&e->orders));
}

bool
engine_busy(const struct engine *e)
{
	const struct probe_run	*pr;

	for (size_t i = 0; i < JOB_BUCKETS; i++)
		LIST_FOREACH(pr, &e->jobs[i], in_job)
			if (pr->p.state == PROBE_COMMITTED)
				return (true);
	return (!LIST_EMPTY(&e->alerts) || e->hooks_in_flight > 0);
}

void
engine_news(struct engine *e, const struct probe *p)
{
	if (e->ops->news != NULL)
		e->ops->news(e->arg, p);
}

/* Opening. */

/* Each goes on to the host that it was meant for. */
static struct route_run *
run_of(struct engine *e, const struct probe *p)
{
	struct route_run	*r = engine_find_route(e, p->route), *own;

	if (r == NULL || r->route->server->mx != MX_EACH ||
	    p->host[0] == '\0')
		return (r);
	own = engine_find_run(e, p->route, p->host);
	return (own != NULL ? own : engine_add_run(e, r->route, p->host));
}

static void
load_probe(void *arg, const struct probe *p)
{
	struct engine		*e = arg;
	struct route_run	*r = run_of(e, p);

	if (r == NULL || mailbox_run_named(e, p->mailbox) == NULL)
		engine_end_orphan(e, p);
	else
		probe_run_resume(e, probe_run_new(e, r, p));
}

static void
owed(void *arg)
{
	struct engine	*e = arg;

	e->notices_owed = true;
}

static void
engine_init(struct engine *e)
{
	TAILQ_INIT(&e->held);
	TAILQ_INIT(&e->starved);
	STAILQ_INIT(&e->orders);
	for (size_t i = 0; i < JOB_BUCKETS; i++)
		LIST_INIT(&e->jobs[i]);
	LIST_INIT(&e->closing);
}

/*
 * Has the key that signs tokens been lost or replaced?  Probes under way are
 * then not known again when they arrive.
 */
static void
note_key(struct engine *e)
{
	static const unsigned char	none[TOKEN_RANDOM];
	char				mark[TOKEN_SIZE], before[TOKEN_SIZE];
	int64_t				value;

	/* A token that no probe ever has: it tells keys apart, not the key. */
	token_make(mark, &e->key, "", "", none);
	if (store_fact_get(e->store, "key", "", &value, before,
	    sizeof before) == 1) {
		if (strcmp(before, mark) == 0)
			return;
		log_warn("token.key is not the one that was used before: "
		    "probes under way will not be known again");
	}
	(void)store_fact_put(e->store, "key", "", 1, mark);
}

struct engine *
engine_open(const struct config *config, struct store *store, struct csv *csv,
    const struct engine_ops *ops, void *arg, int64_t now_ms)
{
	struct engine	*e = mem_alloc(sizeof *e);

	engine_init(e);
	e->config = config;
	e->store = store;
	e->csv = csv;
	e->ops = ops;
	e->arg = arg;
	e->now_ms = now_ms;
	e->prune_ms = now_ms + PRUNE_EVERY_MS;
	if (store_key(store, &e->key) != 0)
		goto fail;
	note_key(e);
	if ((e->follow = follow_open(config, store, csv, owed, e)) == NULL)
		goto fail;
	if ((e->outbox = outbox_open(config, store, now_ms)) == NULL)
		goto fail;
	e->regular = regular_open(config, store, e->follow, owed, e);
	engine_take_mailboxes(e, config);
	engine_take_routes(e, config);
	if (store_probe_each(store, load_probe, e) != 0)
		goto fail;
	mx_take_config(e);
	follow_config(e->follow, config, now_ms);
	engine_drop_sentinels(e);
	engine_resume_pauses(e);
	return (e);
fail:
	engine_close(&e);
	return (NULL);
}

static void
free_lists(struct engine *e)
{
	struct closing		*c;
	struct system_run	*s;
	struct domain_run	*d;
	struct order		*o;

	while ((c = LIST_FIRST(&e->closing)) != NULL) {
		LIST_REMOVE(c, next);
		mem_free(c);
	}
	while ((s = e->systems) != NULL) {
		e->systems = s->next;
		mem_free(s->name);
		mem_free(s);
	}
	while ((d = e->domains) != NULL) {
		e->domains = d->next;
		mem_free(d->name);
		mem_free(d);
	}
	engine_login_free(e);
	engine_alerts_free(e);
	while ((o = STAILQ_FIRST(&e->orders)) != NULL) {
		STAILQ_REMOVE_HEAD(&e->orders, next);
		order_free(o);
	}
}

void
engine_close(struct engine **ep)
{
	struct engine		 *e = *ep;
	struct probe_run	**list;
	size_t			  n;

	if (e == NULL)
		return;
	*ep = NULL;
	checks_free(e);
	mx_free(e);		/* they have items among those of the others */
	n = engine_all_probes(e, &list);
	for (size_t i = 0; i < n; i++)
		probe_run_free(e, list[i]);
	mem_free(list);
	for (size_t i = 0; e->routes != NULL && e->routes[i] != NULL; i++)
		mem_free(e->routes[i]);
	mem_free(e->routes);
	for (uint32_t i = 0; i < e->mailbox_count; i++)
		mem_free(e->mailboxes[i]);
	mem_free(e->mailboxes);
	free_lists(e);
	mem_free(e->done);
	agenda_free(&e->agenda);
	regular_close(&e->regular);
	outbox_close(&e->outbox);
	follow_close(&e->follow);
	mem_wipe(&e->key, sizeof e->key);
	mem_free(e);
}

/* What is due. */

static void
route_due(struct engine *e, struct route_run *r)
{
	if (mx_is_asked(e, r)) {	/* it may well be none of its */
		agenda_set(&e->agenda, &r->item.agenda, e->now_ms + BREATH_MS);
		return;
	}
	r->due_ms = schedule_next_ms(r->due_ms, r->route->every_ms, e->now_ms);
	agenda_set(&e->agenda, &r->item.agenda, r->due_ms);
	route_run_start(e, r, false, 0);
}

static void
item_due(struct engine *e, struct item *item)
{
	switch (item->kind) {
	case ITEM_ROUTE:
		route_due(e, (struct route_run *)item);
		break;
	case ITEM_PROBE:
		probe_run_due(e, (struct probe_run *)item);
		break;
	case ITEM_SILENCE:
		mailbox_run_silent(e, item);
		break;
	case ITEM_MAILBOX:
		mailbox_run_due(e, (struct mailbox_run *)item);
		break;
	case ITEM_MX:
		mx_list_due(e, item);
		break;
	case ITEM_CHECK:
		check_due(e, item);
		break;
	}
}

/* The oldest kept probe that waits for the episode. */
static struct probe_run *
oldest_deferred(struct engine *e, int64_t episode)
{
	struct probe_run	*best = NULL;

	for (struct route_run **r = e->routes; *r != NULL; r++) {
		struct probe_run	*pr = (*r)->current;

		if (pr == NULL || pr->p.state != PROBE_WAITING ||
		    pr->p.attempts == 0 || (*r)->paused ||
		    !follow_holds(e->follow, episode, (*r)->route,
		    (*r)->host))
			continue;
		if (best == NULL || pr->p.scheduled_ms < best->p.scheduled_ms)
			best = pr;
	}
	return (best);
}

/* A route to make a fresh probe on: the sentinel's if it can, else any. */
static struct route_run *
free_route(struct engine *e, int64_t episode, const char *name)
{
	struct route_run	*other = NULL;

	for (struct route_run **r = e->routes; *r != NULL; r++) {
		if ((*r)->paused || (*r)->vanished || (*r)->current != NULL ||
		    !follow_holds(e->follow, episode, (*r)->route,
		    (*r)->host))
			continue;
		if (strcmp((*r)->route->name, name) == 0)
			return (*r);
		if (other == NULL)
			other = *r;
	}
	return (other);
}

/* Of one that is uncertain nobody knows whether it is. */
static bool
is_under_way(const struct route_run *r)
{
	const struct probe_run	*pr;

	if (r->current != NULL)
		return (true);
	TAILQ_FOREACH(pr, &r->mailbox->pending, in_pending)
		if (pr->route == r && pr->p.state == PROBE_ACCEPTED)
			return (true);
	return (false);
}

/* Those that are under way prove it themselves, or are still late. */
static struct route_run *
empty_route(struct engine *e, const struct episode *ep, const char *name)
{
	for (struct route_run **r = e->routes; *r != NULL; r++)
		if (strcmp((*r)->route->name, name) == 0 && !(*r)->paused &&
		    !(*r)->vanished && !is_under_way(*r) &&
		    follow_shows(e->follow, ep, (*r)->route, (*r)->host))
			return (*r);
	return (NULL);
}

static void
want_confirming(void *arg, const struct episode *ep, const char *route)
{
	struct engine		*e = arg;
	struct probe_run	*pr = oldest_deferred(e, ep->id);
	struct route_run	*r;

	if (pr != NULL) {
		follow_confirming(e->follow, ep->id, pr->p.token, e->now_ms);
		probe_run_retry_now(e, pr);
		return;
	}
	r = ep->origin != EPISODE_BY_ATTEMPT ? empty_route(e, ep, route) :
	    free_route(e, ep->id, route);
	if (r != NULL)
		route_run_start(e, r, false, ep->id);
}

static void
prune(struct engine *e)
{
	int	more;

	more = store_prune(e->store, e->now_ms - e->config->keep_ms);
	csv_prune(e->csv, e->now_ms - e->config->csv_keep_ms);
	e->prune_ms = e->now_ms + (more == 1 ? BREATH_MS : PRUNE_EVERY_MS);
}

void
engine_tick(struct engine *e, int64_t now_ms)
{
	struct agenda_item	*item;

	e->now_ms = now_ms;
	while ((item = agenda_take(&e->agenda, now_ms)) != NULL)
		item_due(e, (struct item *)item);
	follow_tick(e->follow, now_ms);
	follow_confirms(e->follow, now_ms, want_confirming, e);
	engine_release_held(e);
	engine_dispatch_starved(e);
	if (e->notices_owed)
		regular_wake(e->regular);
	regular_tick(e->regular, now_ms);
	if (e->notices_owed)
		outbox_wake(e->outbox);
	e->notices_owed = false;
	outbox_run(e->outbox, now_ms, engine_alert_send, engine_hook_run, e);
	if (now_ms >= e->prune_ms)
		prune(e);
}

static int64_t
sooner(int64_t next_ms, int64_t at_ms, int64_t now_ms)
{
	if (at_ms == 0)
		return (next_ms);
	if (at_ms <= now_ms)		/* it had its turn: let it breathe */
		at_ms = now_ms + BREATH_MS;
	return (at_ms < next_ms ? at_ms : next_ms);
}

int64_t
engine_next_ms(struct engine *e)
{
	int64_t	next_ms = agenda_next_ms(&e->agenda);

	if (e->notices_owed)
		return (e->now_ms);
	next_ms = sooner(next_ms, follow_next_ms(e->follow), e->now_ms);
	next_ms = sooner(next_ms, outbox_next_ms(e->outbox), e->now_ms);
	next_ms = sooner(next_ms, regular_next_ms(e->regular), e->now_ms);
	return (sooner(next_ms, e->prune_ms, e->now_ms));
}

/* What people ask for. */

int
engine_probe_now(struct engine *e, const char *route,
    char token_r[static TOKEN_SIZE], const char **why_r, int64_t now_ms)
{
	struct route_run	*r = engine_find_route(e, route);

	e->now_ms = now_ms;
	if (r == NULL) {
		*why_r = "no such route";
		return (-1);
	}
	for (struct route_run **x = e->routes; *x != NULL; x++)
		if ((*x)->route == r->route && !(*x)->vanished) {
			route_run_start(e, *x, true, 0);
			if (r->current == NULL)
				r = *x;
		}
	if (r->current == NULL) {
		*why_r = "the probe could not be started";
		return (-1);
	}
	text_copy(token_r, TOKEN_SIZE, r->current->p.token);
	return (0);
}

static void
pause_run(struct engine *e, struct route_run *r, bool paused)
{
	struct probe_run	*pr = r->current;

	r->paused = paused;
	if (pr == NULL)
		return;
	if (paused)
		follow_gone(e->follow, pr->p.token, e->now_ms);
	engine_release_held(e);
	if (!paused && pr->p.state == PROBE_WAITING && !pr->queued &&
	    !pr->held)
		agenda_set(&e->agenda, &pr->item.agenda,
		    pr->p.next_try_ms > e->now_ms ? pr->p.next_try_ms :
		    e->now_ms);
}

int
engine_pause(struct engine *e, const char *route, bool paused, int64_t now_ms)
{
	struct route_run	*r = engine_find_route(e, route);

	e->now_ms = now_ms;
	if (r == NULL)
		return (-1);
	if (r->paused == paused)
		return (0);
	(void)store_fact_put(e->store, "paused", r->route->name, paused, "");
	log_info("route=%s %s", r->route->name, paused ? "paused" : "resumed");
	for (struct route_run **x = e->routes; *x != NULL; x++)
		if ((*x)->route == r->route)
			pause_run(e, *x, paused);
	return (0);
}

int
engine_ack(struct engine *e, int64_t episode, int64_t now_ms)
{
	e->now_ms = now_ms;
	return (follow_ack(e->follow, episode, now_ms));
}

int
engine_test(struct engine *e, const char *alerts,
    int64_t ids_r[static FOLLOW_TESTS], int64_t now_ms)
{
	e->now_ms = now_ms;
	return (follow_test(e->follow, alerts, ids_r, now_ms));
}

void
engine_alerts(const struct engine *e,
    void (*each)(void *arg, const char *name), void *arg)
{
	for (struct alerts **a = e->config->alerts; *a != NULL; a++)
		each(arg, (*a)->name);
}

static void
view_route(struct engine *e, struct route_run *r, struct route_view *v)
{
	struct probe_run	*pr;

	*v = (struct route_view){
		.route = r->route,
		.host = r->host,
		.paused = r->paused,
		.due_ms = r->due_ms,
		.current = r->current != NULL ? &r->current->p : NULL,
		.pending = r->pending,
		.last = r->has_last ? &r->last : NULL,
		.last_delivered_ms = r->delivered_ms,
		.episode = follow_covering(e->follow, r->route, r->host),
		.blind = !r->mailbox->good,
	};
	TAILQ_FOREACH(pr, &r->mailbox->pending, in_pending)
		if (pr->route == r) {
			v->oldest_pending = &pr->p;
			break;
		}
}

/* What has vanished and left nothing behind is nothing to look at. */
static bool
is_shown(const struct route_run *r)
{
	return (!r->vanished || r->current != NULL || r->pending > 0);
}

bool
engine_route(struct engine *e, const char *name,
    void (*each)(void *arg, const struct route_view *), void *arg)
{
	struct route_view	v;

	for (struct route_run **r = e->routes; *r != NULL; r++)
		if (is_shown(*r) && strcmp((*r)->route->name, name) == 0) {
			view_route(e, *r, &v);
			each(arg, &v);
		}
	return (engine_find_route(e, name) != NULL);
}

void
engine_routes(struct engine *e,
    void (*each)(void *arg, const struct route_view *), void *arg)
{
	struct route_view	v;

	for (struct route_run **r = e->routes; *r != NULL; r++)
		if (is_shown(*r)) {
			view_route(e, *r, &v);
			each(arg, &v);
		}
}

void
engine_probes(struct engine *e,
    void (*each)(void *arg, const struct probe *), void *arg)
{
	struct probe_run	**list;
	size_t			  n = engine_all_probes(e, &list);

	for (size_t i = 0; i < n; i++)
		each(arg, &list[i]->p);
	mem_free(list);
}

const struct csv *
engine_csv(const struct engine *e)
{
	return (e->csv);
}

struct follow *
engine_follow(struct engine *e)
{
	return (e->follow);
}

struct outbox *
engine_outbox(struct engine *e)
{
	return (e->outbox);
}
