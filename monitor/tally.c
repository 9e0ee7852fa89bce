#include "monitor/tally.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"

struct counted {
	struct tally_line	 line;		/* first */
	int64_t			*ms;		/* owned: of what arrived */
	size_t			 count, room;
};

struct tally {
	struct counted	**routes;	/* owned list of owned */
	size_t		  count, room;
	void		 *by_route;	/* tsearch(3) tree */
	struct counted	 *last;		/* found last */
	unsigned	  probes;
	bool		  any;
};

struct tally *
tally_new(void)
{
	return (mem_alloc(sizeof(struct tally)));
}

static void
nothing(void *node)
{
	(void)node;
}

void
tally_free(struct tally **tp)
{
	struct tally	*t = *tp;

	if (t == NULL)
		return;
	*tp = NULL;
	tdestroy(t->by_route, nothing);
	for (size_t i = 0; i < t->count; i++) {
		mem_free(t->routes[i]->line.route);
		mem_free(t->routes[i]->ms);
		mem_free(t->routes[i]);
	}
	mem_free(t->routes);
	mem_free(t);
}

static int
by_route(const void *a, const void *b)
{
	return (strcmp(((const struct counted *)a)->line.route,
	    ((const struct counted *)b)->line.route));
}

static struct counted *
find(struct tally *t, const char *route)
{
	char		*name = mem_strdup(route);
	struct counted	 key = { .line = { .route = name } }, **found;

	if (t->last == NULL || strcmp(t->last->line.route, route) != 0) {
		found = tfind(&key, &t->by_route, by_route);
		t->last = found != NULL ? *found : NULL;
	}
	mem_free(name);
	return (t->last);
}

void
tally_route(struct tally *t, const char *route)
{
	struct counted	*c;

	if (find(t, route) != NULL)
		return;
	c = mem_alloc(sizeof *c);
	c->line.route = mem_strdup(route);
	if (t->count == t->room) {
		t->room = t->room == 0 ? 64 : 2 * t->room;
		t->routes = mem_grow(t->routes, t->room, sizeof *t->routes);
	}
	t->routes[t->count++] = c;
	if (tsearch(c, &t->by_route, by_route) == NULL)
		panic("out of memory");
	t->last = c;
}

void
tally_any(struct tally *t)
{
	t->any = true;
}

static void
count_end(struct tally_line *l, enum probe_end end)
{
	l->ends[end]++;
	switch (end) {
	case PROBE_END_DELIVERED:
	case PROBE_END_LATE:
	case PROBE_END_JUNK:
		l->arrived++;
		break;
	case PROBE_END_REJECTED:
	case PROBE_END_BOUNCED:
	case PROBE_END_EXPIRED:
	case PROBE_END_LOST:
		l->failed++;
		break;
	case PROBE_END_BLIND:
	case PROBE_END_NONE:
	case PROBE_ENDS:
		break;
	}
}

void
tally_add(struct tally *t, const char *route, enum probe_end end,
    unsigned deferrals, int64_t total_ms)
{
	struct counted	*c;

	t->probes++;
	if (t->any)
		tally_route(t, route);
	if (end >= PROBE_ENDS || (c = find(t, route)) == NULL)
		return;
	count_end(&c->line, end);
	c->line.deferrals += deferrals;
	if (total_ms == STAMP_NO_SPAN)
		return;
	if (c->count == c->room) {
		c->room = c->room == 0 ? 64 : 2 * c->room;
		c->ms = mem_grow(c->ms, c->room, sizeof *c->ms);
	}
	c->ms[c->count++] = total_ms;
}

unsigned
tally_probes(const struct tally *t)
{
	return (t->probes);
}

static unsigned
bad(const struct tally_line *l)
{
	return (l->ends[PROBE_END_LATE] + l->ends[PROBE_END_JUNK]);
}

static int
by_trouble(const void *a, const void *b)
{
	const struct tally_line	*x = &(*(struct counted *const *)a)->line;
	const struct tally_line	*y = &(*(struct counted *const *)b)->line;

	if (x->failed != y->failed)
		return (x->failed > y->failed ? -1 : 1);
	if (bad(x) != bad(y))
		return (bad(x) > bad(y) ? -1 : 1);
	if (x->latency.p95_ms != y->latency.p95_ms)
		return (x->latency.p95_ms > y->latency.p95_ms ? -1 : 1);
	return (strcmp(x->route, y->route));
}

const struct tally_line *const *
tally_lines(struct tally *t, size_t *count_r)
{
	for (size_t i = 0; i < t->count; i++)
		latency_summarise(t->routes[i]->ms, t->routes[i]->count,
		    &t->routes[i]->line.latency);
	if (t->count > 0)
		qsort(t->routes, t->count, sizeof *t->routes, by_trouble);
	*count_r = t->count;
	/* A counted begins with its line. */
	return ((const struct tally_line *const *)(void *)t->routes);
}
