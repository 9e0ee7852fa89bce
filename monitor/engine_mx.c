#include "monitor/engine_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "alerts/judge.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * mx = "each": the mail hosts of a domain, looked up at start and every hour,
 * and a run of each route for each of them.
 *
 * Such a route also has a run for no host in particular, which probes the
 * domain as mx = "first" does, but only while no host is known: so the
 * trouble of finding any is an attempt's outcome like all others.
 */

#define REFRESH_MS	(60 * 60 * INT64_C(1000))
#define AGAIN_MS	(60 * INT64_C(1000))	/* after a failure */
#define LOOKUP_MS	30000

struct mx_list {
	struct item	 item;			/* first */
	char		*domain;		/* owned */
	uint64_t	 job;			/* 0: none under way */
	bool		 answered;
	bool		 wanted;		/* by a route */
	char		*hosts;			/* owned: names, by newline */
	struct mx_list	*next;
};

static bool
is_each(const struct route *r)
{
	return (r->server->mx == MX_EACH);
}

static struct mx_list *
list_of(struct engine *e, const struct route *r)
{
	const char	*domain = judge_domain(r);
	struct mx_list	*l;

	for (l = e->mx_lists; l != NULL; l = l->next)
		if (strcasecmp(l->domain, domain) == 0)
			break;
	return (l);
}

/* The next name of a list, in buf; false at its end. */
static bool
next_host(const char **p, char buf[static OUTCOME_HOST])
{
	size_t	n = strcspn(*p, "\n");

	if (n == 0 || n >= OUTCOME_HOST)
		return (false);
	memcpy(buf, *p, n);
	buf[n] = '\0';
	*p += n + ((*p)[n] == '\n');
	return (true);
}

static bool
has_host(const struct mx_list *l, const char *name)
{
	const char	*p = l->hosts;
	char		 host[OUTCOME_HOST];

	while (next_host(&p, host))
		if (strcasecmp(host, name) == 0)
			return (true);
	return (false);
}

/* Runs follow the list. */

bool
mx_is_gone(const struct route_run *run, const struct outcome *o)
{
	return (run->vanished && run->host[0] != '\0' &&
	    o->stage == STAGE_LOOKUP && !o->blind &&
	    o->verdict != VERDICT_ACCEPTED);
}

void
mx_run_ended(struct engine *e, const struct route_run *run)
{
	if (run->vanished && run->host[0] != '\0' && run->current == NULL &&
	    run->pending == 0)
		follow_host_gone(e->follow, run->host, e->now_ms);
}

static void
set_vanished(struct engine *e, struct route_run *run, bool vanished)
{
	if (run->vanished == vanished)
		return;
	run->vanished = vanished;
	if (run->host[0] != '\0')
		log_info("route=%s host=%s %s", run->route->name, run->host,
		    vanished ? "is no longer a mail host of its domain" :
		    "is a mail host of its domain");
	if (vanished)
		agenda_clear(&e->agenda, &run->item.agenda);
	else
		route_run_schedule(e, run);
	mx_run_ended(e, run);
}

/* The hosts that are there have a run; those that are not start no probe. */
static void
apply_to_route(struct engine *e, const struct route *r,
    const struct mx_list *l)
{
	const char	*p = l->hosts;
	char		 host[OUTCOME_HOST];

	while (next_host(&p, host))
		if (engine_find_run(e, r->name, host) == NULL)
			engine_add_run(e, r, host);
	for (struct route_run **run = e->routes; *run != NULL; run++)
		if ((*run)->route == r)
			set_vanished(e, *run, (*run)->host[0] == '\0' ?
			    l->hosts[0] != '\0' : !has_host(l, (*run)->host));
}

static void
apply(struct engine *e, const struct mx_list *l)
{
	for (struct route **r = e->config->routes; *r != NULL; r++)
		if (is_each(*r) && list_of(e, *r) == l)
			apply_to_route(e, *r, l);
}

/* Looking up. */

static const struct server *
any_server(struct engine *e, const struct mx_list *l)
{
	for (struct route **r = e->config->routes; *r != NULL; r++)
		if (is_each(*r) && list_of(e, *r) == l)
			return ((*r)->server);
	return (NULL);
}

void
mx_list_due(struct engine *e, struct item *item)
{
	struct mx_list		*l = (struct mx_list *)item;
	const struct server	*s = any_server(e, l);
	struct frame_job	*f;

	if (s == NULL || l->job != 0)
		return;
	f = mem_alloc(sizeof *f);
	f->job = l->job = ++e->next_job | JOB_OF_MX;
	f->kind = JOB_LOOKUP;
	f->mx = MX_EACH;
	text_copy(f->domain, sizeof f->domain, l->domain);
	text_copy(f->resolver, sizeof f->resolver, e->config->resolver);
	f->deadline_ms = LOOKUP_MS;
	engine_order_job(e, s, f);
}

static void
again(struct engine *e, struct mx_list *l, int64_t after_ms)
{
	l->job = 0;
	l->answered = true;
	agenda_set(&e->agenda, &l->item.agenda, e->now_ms + after_ms);
	apply(e, l);
	check_take_config(e);
}

static struct mx_list *
find_job(struct engine *e, uint64_t job)
{
	struct mx_list	*l;

	for (l = e->mx_lists; l != NULL && l->job != job; l = l->next)
		continue;
	return (l);
}

/* What shows an episode: a run that starts probes, or still has some. */
static bool
is_shown(struct engine *e, const struct episode *ep)
{
	for (struct route_run **run = e->routes; *run != NULL; run++)
		if ((!(*run)->vanished || (*run)->current != NULL ||
		    (*run)->pending > 0) &&
		    follow_shows(e->follow, ep, (*run)->route, (*run)->host))
			return (true);
	return (false);
}

static void
note_listed(void *arg, const struct episode *ep)
{
	struct engine	*e = arg;

	follow_listed(e->follow, ep->id, is_shown(e, ep), e->now_ms);
}

/* A list that could not be had leaves the hosts as they were. */
void
engine_hosts(struct engine *e, const struct frame_hosts *f, int64_t now_ms)
{
	struct mx_list	*l = find_job(e, f->job);

	e->now_ms = now_ms;
	if (l == NULL)
		return;
	if (f->blind || !f->found)
		log_warn("domain=%s mail hosts not found: %s", l->domain,
		    f->reason);
	if (!f->blind) {
		mem_free(l->hosts);
		l->hosts = mem_strdup(f->found ? f->hosts : "");
	}
	again(e, l, f->found ? REFRESH_MS : AGAIN_MS);
	if (f->found)
		follow_each(e->follow, note_listed, e);
}

void
mx_job_lost(struct engine *e, uint64_t job)
{
	struct mx_list	*l = find_job(e, job);

	if (l != NULL)
		again(e, l, AGAIN_MS);
}

bool
mx_is_asked(struct engine *e, const struct route_run *run)
{
	const struct mx_list	*l;

	if (!is_each(run->route) || run->host[0] != '\0')
		return (false);
	l = list_of(e, run->route);
	return (l != NULL && !l->answered);
}

/* The lists that the configuration wants. */

static void
want(struct engine *e, const struct route *r)
{
	struct mx_list	*l = list_of(e, r);

	if (l == NULL) {
		l = mem_alloc(sizeof *l);
		l->item.kind = ITEM_MX;
		l->domain = mem_strdup(judge_domain(r));
		l->hosts = mem_strdup("");
		l->next = e->mx_lists;
		e->mx_lists = l;
		agenda_set(&e->agenda, &l->item.agenda, e->now_ms);
	}
	l->wanted = true;
}

static void
list_free(struct engine *e, struct mx_list *l)
{
	agenda_clear(&e->agenda, &l->item.agenda);
	mem_free(l->domain);
	mem_free(l->hosts);
	mem_free(l);
}

static void
drop_unwanted(struct engine *e)
{
	struct mx_list	**at = &e->mx_lists, *l;

	while ((l = *at) != NULL) {
		if (l->wanted) {
			l->wanted = false;
			at = &l->next;
		} else {
			*at = l->next;
			list_free(e, l);
		}
	}
}

void
mx_take_config(struct engine *e)
{
	for (struct route **r = e->config->routes; *r != NULL; r++)
		if (is_each(*r))
			want(e, *r);
	drop_unwanted(e);
	for (struct route_run **run = e->routes; *run != NULL; run++)
		if (!is_each((*run)->route))
			set_vanished(e, *run, false);
	for (struct mx_list *l = e->mx_lists; l != NULL; l = l->next)
		if (l->answered)
			apply(e, l);
	check_take_config(e);
}

void
mx_free(struct engine *e)
{
	drop_unwanted(e);
}
