#include <search.h>
#include <string.h>
#include <strings.h>

#include "monitor/engine_internal.h"
#include "monitor/mem.h"
#include "monitor/schedule.h"
#include "monitor/text.h"

#define HOST_HISTORY	32	/* probes in which to find a host's last */

/* Routes and mailboxes, by name across configurations. */

struct route_run *
engine_find_route(struct engine *e, const char *name)
{
	for (struct route_run **r = e->routes; r != NULL && *r != NULL; r++)
		if (strcmp((*r)->route->name, name) == 0)
			return (*r);
	return (NULL);
}

struct route_run *
engine_find_run(struct engine *e, const char *name, const char *host)
{
	for (struct route_run **r = e->routes; r != NULL && *r != NULL; r++)
		if (strcmp((*r)->route->name, name) == 0 &&
		    strcasecmp((*r)->host, host) == 0)
			return (*r);
	return (NULL);
}

static unsigned
count(void *const *list)
{
	unsigned	n = 0;

	while (list[n] != NULL)
		n++;
	return (n);
}

static bool
is_watched(const struct config *c, const struct mailbox *m)
{
	for (struct route **r = c->routes; *r != NULL; r++)
		if ((*r)->mailbox == m || (*r)->bounces == m)
			return (true);
	return (false);
}

static struct mailbox_run *
mailbox_run_new(void)
{
	struct mailbox_run	*m = mem_alloc(sizeof *m);

	m->item.kind = ITEM_MAILBOX;
	m->silence.kind = ITEM_SILENCE;
	TAILQ_INIT(&m->pending);
	return (m);
}

/*
 * The runs of the new configuration's mailboxes; those of the same name go
 * on.  Numbers are new each time, so that no frame of an old watcher is
 * taken for a new mailbox.
 */
void
engine_take_mailboxes(struct engine *e, const struct config *c)
{
	struct mailbox_run	**list, *m;
	uint32_t		  n = 0;

	list = mem_alloc((count((void *const *)c->mailboxes) + 1) *
	    sizeof *list);
	for (struct mailbox **b = c->mailboxes; *b != NULL; b++) {
		if (!is_watched(c, *b))
			continue;
		m = e->mailboxes != NULL ? mailbox_run_named(e, (*b)->name) :
		    NULL;
		list[n++] = m != NULL ? m : mailbox_run_new();
	}
	e->first_mailbox += e->mailbox_count + 1;
	for (uint32_t i = 0, k = 0; c->mailboxes[k] != NULL; k++)
		if (is_watched(c, c->mailboxes[k])) {
			list[i]->mailbox = c->mailboxes[k];
			list[i]->id = e->first_mailbox + i;
			mailbox_run_await(e, list[i], 0);
			i++;
		}
	mem_free(e->mailboxes);
	e->mailboxes = list;
	e->mailbox_count = n;
}

const char *
route_run_key(const struct route_run *run, char buf[static RUN_KEY])
{
	text_copy(buf, RUN_KEY, run->route->name);
	if (run->host[0] != '\0')
		text_appendf(buf, RUN_KEY, " %s", run->host);
	return (buf);
}

/* A due time further off than this is another clock's. */
static int64_t
longest_hold_ms(const struct route *r)
{
	int64_t	ms = r->resend_after_ms;

	for (size_t i = 0; i < r->reject_backoff.count; i++)
		if (r->reject_backoff.wait_ms[i] > ms)
			ms = r->reject_backoff.wait_ms[i];
	return (ms);
}

void
route_run_schedule(struct engine *e, struct route_run *run)
{
	const struct route	*r = run->route;
	char			 key[RUN_KEY];
	int64_t			 stored_ms = 0;

	(void)store_fact_get(e->store, "due", route_run_key(run, key),
	    &stored_ms, NULL, 0);
	run->due_ms = schedule_first_ms(key, r->every_ms, stored_ms,
	    count((void *const *)e->config->routes), e->now_ms);
	/* A hold after a permanent refusal may lie further off; nothing else
	 * may, or the clock is not what it was. */
	if (run->rejects > 0 && stored_ms > run->due_ms && stored_ms - e->now_ms <=
	    longest_hold_ms(r))
		run->due_ms = stored_ms;
	agenda_set(&e->agenda, &run->item.agenda, run->due_ms);
}

void
route_run_move(struct engine *e, struct route_run *r, int64_t due_ms)
{
	char	key[RUN_KEY];

	r->due_ms = due_ms;
	if (!r->vanished)
		agenda_set(&e->agenda, &r->item.agenda, due_ms);
	(void)store_fact_put(e->store, "due", route_run_key(r, key), due_ms,
	    "");
}

void
route_run_end_hold(struct engine *e, struct route_run *r, int64_t due_ms)
{
	char	key[RUN_KEY];

	r->rejects = 0;
	(void)store_fact_delete(e->store, "rejects", route_run_key(r, key));
	if (r->due_ms > due_ms)
		route_run_move(e, r, due_ms);
}

/* The newest comes first. */
static void
note_last(void *arg, const struct probe *p)
{
	struct route_run	*r = arg;

	if (r->has_last || (r->host[0] != '\0' &&
	    strcasecmp(r->host, p->host) != 0))
		return;
	r->last = *p;
	r->has_last = true;
}

static struct route_run *
route_run_new(struct engine *e, const struct route *r, const char *host)
{
	struct route_run	*run = mem_alloc(sizeof *run);
	int64_t			 paused = 0, rejects = 0;
	char			 key[RUN_KEY];

	run->item.kind = ITEM_ROUTE;
	run->route = r;
	text_copy(run->host, sizeof run->host, host);
	run->mailbox = mailbox_run_named(e, r->mailbox->name);
	(void)store_fact_get(e->store, "paused", r->name, &paused, NULL, 0);
	(void)store_fact_get(e->store, "rejects", route_run_key(run, key),
	    &rejects, NULL, 0);
	run->paused = paused != 0;
	run->rejects = (unsigned)rejects;
	(void)store_probe_history(e->store, r->name, 0,
	    host[0] == '\0' ? 1 : HOST_HISTORY, note_last, run);
	return (run);
}

/* Behind the other runs of its route. */
struct route_run *
engine_add_run(struct engine *e, const struct route *r, const char *host)
{
	struct route_run	*run = route_run_new(e, r, host);
	unsigned		 n = count((void *const *)e->routes), at;

	e->routes = mem_grow(e->routes, n + 2, sizeof *e->routes);
	for (at = n; at > 0 && e->routes[at - 1]->route != r; at--)
		continue;
	if (at == 0)
		at = n;
	memmove(&e->routes[at + 1], &e->routes[at],
	    (n - at + 1) * sizeof *e->routes);
	e->routes[at] = run;
	run->vanished = true;		/* until its domain says otherwise */
	return (run);
}

static bool
same_waits(const struct backoff *a, const struct backoff *b)
{
	return (a->count == b->count && memcmp(a->wait_ms, b->wait_ms,
	    a->count * sizeof *a->wait_ms) == 0);
}

/* Whether a server's refusal of the one speaks of the other, too. */
static bool
same_errand(const struct route *a, const struct route *b)
{
	return (strcmp(a->to, b->to) == 0 && strcmp(a->from, b->from) == 0 &&
	    strcmp(a->server->name, b->server->name) == 0 &&
	    strcmp(a->server->host, b->server->host) == 0 &&
	    a->server->port == b->server->port &&
	    a->resend_after_ms == b->resend_after_ms &&
	    same_waits(&a->reject_backoff, &b->reject_backoff));
}

/*
 * A route that is to be probed more often does not wait out its old gap, and
 * one that was refused for good and has been changed not that hold.
 */
static void
change_route(struct engine *e, struct route_run *r, const struct route *is,
    unsigned routes)
{
	bool	sooner = is->every_ms < r->route->every_ms && r->rejects == 0;
	bool	mended = r->rejects > 0 && !same_errand(r->route, is);

	r->route = is;
	if (mended)
		route_run_end_hold(e, r, schedule_first_ms(is->name,
		    is->every_ms, 0, routes, e->now_ms));
	if (!sooner || r->vanished || r->due_ms - e->now_ms <= is->every_ms)
		return;
	r->due_ms = schedule_first_ms(is->name, is->every_ms, 0, routes,
	    e->now_ms);
	agenda_set(&e->agenda, &r->item.agenda, r->due_ms);
}

/* The runs of its hosts that there were, behind its first. */
static unsigned
take_host_runs(struct engine *e, const struct route *r,
    struct route_run **list)
{
	unsigned	n = 0;

	for (struct route_run **x = e->routes; x != NULL && *x != NULL; x++)
		if ((*x)->host[0] != '\0' &&
		    strcmp((*x)->route->name, r->name) == 0)
			list[n++] = *x;
	return (n);
}

void
engine_take_routes(struct engine *e, const struct config *c)
{
	unsigned		  n = count((void *const *)c->routes), k = 0;
	unsigned		  had = e->routes != NULL ?
				    count((void *const *)e->routes) : 0;
	struct route_run	**list = mem_alloc((n + had + 1) *
				    sizeof *list);

	for (unsigned i = 0; i < n; i++) {
		list[k] = engine_find_run(e, c->routes[i]->name, "");
		if (list[k] == NULL) {
			list[k] = route_run_new(e, c->routes[i], "");
			route_run_schedule(e, list[k]);
		}
		k++;
		k += take_host_runs(e, c->routes[i], &list[k]);
	}
	for (unsigned i = 0; i < k; i++)
		change_route(e, list[i], config_route(c,
		    list[i]->route->name), n);
	for (unsigned i = 0; i < k; i++)
		list[i]->mailbox = mailbox_run_named(e,
		    list[i]->route->mailbox->name);
	mem_free(e->routes);
	e->routes = list;
}

/* Ends a probe whose route or mailbox the new configuration lacks. */
void
engine_end_orphan(struct engine *e, const struct probe *stored)
{
	struct probe	p = *stored;

	p.state = PROBE_DONE;
	p.end = PROBE_END_BLIND;
	p.finished_ms = e->now_ms;
	text_copy(p.note, sizeof p.note, "route-removed");
	(void)store_probe_put(e->store, &p);
	csv_latency(e->csv, &p);
	follow_gone(e->follow, p.token, e->now_ms);
}

static struct probe_run	**found;	/* twalk(3) takes no argument */
static size_t		 found_count;

static void
gather(const void *node, VISIT visit, int depth)
{
	(void)depth;
	if (visit != postorder && visit != leaf)
		return;
	found = mem_grow(found, found_count + 1, sizeof *found);
	found[found_count++] = *(struct probe_run *const *)node;
}

size_t
engine_all_probes(struct engine *e, struct probe_run ***list_r)
{
	found = NULL;
	found_count = 0;
	twalk(e->by_token, gather);
	*list_r = found;
	return (found_count);
}

/* A mail host's own run has no place where hosts have none. */
static bool
run_survives(const struct config *c, const struct route_run *run)
{
	const struct route	*r = config_route(c, run->route->name);

	return (r != NULL &&
	    (run->host[0] == '\0' || r->server->mx == MX_EACH));
}

static bool
survives(const struct config *c, const struct probe_run *pr)
{
	const struct mailbox	*m = config_mailbox(c, pr->p.mailbox);

	return (run_survives(c, pr->route) && m != NULL && is_watched(c, m));
}

static void
drop_orphans(struct engine *e, const struct config *c)
{
	struct probe_run	**list;
	size_t			  n = engine_all_probes(e, &list);

	for (size_t i = 0; i < n; i++)
		if (!survives(c, list[i])) {
			engine_end_orphan(e, &list[i]->p);
			probe_run_free(e, list[i]);
		}
	mem_free(list);
}

/* Runs of the old list that the new configuration has no name for. */
static void
drop_routes(struct engine *e, const struct config *c)
{
	for (struct route_run **r = e->routes; *r != NULL; r++)
		if (!run_survives(c, *r)) {
			agenda_clear(&e->agenda, &(*r)->item.agenda);
			mem_free(*r);
			*r = e->routes[count((void *const *)e->routes) - 1];
			e->routes[count((void *const *)e->routes) - 1] = NULL;
			r--;
		}
}

static void
drop_mailboxes(struct engine *e, const struct config *c)
{
	uint32_t	kept = 0;

	for (uint32_t i = 0; i < e->mailbox_count; i++) {
		struct mailbox_run	*m = e->mailboxes[i];
		const struct mailbox	*b = config_mailbox(c,
					    m->mailbox->name);

		if (b != NULL && is_watched(c, b))
			e->mailboxes[kept++] = m;
		else {
			agenda_clear(&e->agenda, &m->item.agenda);
			agenda_clear(&e->agenda, &m->silence.agenda);
			mem_free(m);
		}
	}
	e->mailboxes[kept] = NULL;
}

static void
drop_sentinel(void *arg, const struct episode *ep)
{
	struct engine		*e = arg;
	struct probe_run	*pr;
	char			 token[TOKEN_SIZE];

	text_copy(token, sizeof token, ep->sentinel);
	pr = probe_run_find(e, token);
	if (token[0] != '\0' && (pr == NULL || pr->route->current != pr ||
	    pr->route->paused))
		follow_gone(e->follow, token, e->now_ms);
}

void
engine_drop_sentinels(struct engine *e)
{
	follow_each(e->follow, drop_sentinel, e);
}

void
engine_config(struct engine *e, const struct config *c, int64_t now_ms)
{
	/* What waits for its commit points into the old configuration. */
	do {
		if (engine_commit(e) != 0)
			break;
	} while (engine_unfinished(e));
	e->now_ms = now_ms;
	drop_orphans(e, c);
	drop_routes(e, c);
	drop_mailboxes(e, c);
	engine_take_mailboxes(e, c);
	e->config = c;
	engine_take_routes(e, c);
	mx_take_config(e);
	follow_config(e->follow, c, now_ms);
	regular_config(e->regular, c, now_ms);
	outbox_config(e->outbox, c);
	engine_drop_sentinels(e);
	engine_resume_pauses(e);
	engine_release_held(e);
	engine_dispatch_all(e);
}
