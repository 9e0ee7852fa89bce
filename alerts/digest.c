#include "alerts/digest.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerts/words.h"
#include "monitor/latency.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* Routes that are listed, the worst first; the others are counted. */
#define ROUTES_SHOWN	40

/* Open episodes that are listed. */
#define EPISODES_SHOWN	20

struct line {
	const char		*route;		/* borrowed: config */
	unsigned		 delivered;	/* in time, late or junk */
	unsigned		 late, junk, failed, blind;
	unsigned		 deferrals;
	int64_t			*ms;		/* owned: of what arrived */
	size_t			 count, room;
	struct latency_summary	 latency;
};

struct digest {
	const struct config	*config;
	const struct alerts	*alerts;
	struct line		*lines;		/* owned */
	size_t			 count;
	void			*by_route;	/* tsearch(3) tree */
	struct line		*last;		/* found last */
	unsigned		 probes;
	char			*body;
	size_t			 size;
	int64_t			 now_ms;
	unsigned		 episodes;
};

static int
by_route(const void *a, const void *b)
{
	return (strcmp(((const struct line *)a)->route,
	    ((const struct line *)b)->route));
}

static void
nothing(void *node)
{
	(void)node;
}

static void
begin(struct digest *d)
{
	struct route	**r = d->config->routes;

	for (size_t i = 0; r[i] != NULL; i++)
		d->count += r[i]->alerts == d->alerts;
	d->lines = mem_alloc((d->count + 1) * sizeof *d->lines);
	d->count = 0;
	for (size_t i = 0; r[i] != NULL; i++) {
		if (r[i]->alerts != d->alerts)
			continue;
		d->lines[d->count].route = r[i]->name;
		if (tsearch(&d->lines[d->count++], &d->by_route,
		    by_route) == NULL)
			panic("out of memory");
	}
}

static void
end(struct digest *d)
{
	tdestroy(d->by_route, nothing);
	for (size_t i = 0; i < d->count; i++)
		mem_free(d->lines[i].ms);
	mem_free(d->lines);
}

static void
count_end(struct line *l, enum probe_end end_)
{
	switch (end_) {
	case PROBE_END_DELIVERED:
		l->delivered++;
		break;
	case PROBE_END_LATE:
		l->delivered++;
		l->late++;
		break;
	case PROBE_END_JUNK:
		l->delivered++;
		l->junk++;
		break;
	case PROBE_END_REJECTED:
	case PROBE_END_BOUNCED:
	case PROBE_END_EXPIRED:
	case PROBE_END_LOST:
		l->failed++;
		break;
	case PROBE_END_BLIND:
		l->blind++;
		break;
	case PROBE_END_NONE:
	case PROBE_ENDS:
		break;
	}
}

static void
add(void *arg, const char *route, enum probe_end end_, unsigned deferrals,
    int64_t total_ms)
{
	struct digest	*d = arg;
	struct line	 key = { .route = route }, *l, **found;

	d->probes++;
	l = d->last;
	if (l == NULL || strcmp(l->route, route) != 0) {
		found = tfind(&key, &d->by_route, by_route);
		if (found == NULL)
			return;
		d->last = l = *found;
	}
	count_end(l, end_);
	l->deferrals += deferrals;
	if (total_ms == STAMP_NO_SPAN)
		return;
	if (l->count == l->room) {
		l->room = l->room == 0 ? 64 : 2 * l->room;
		l->ms = mem_grow(l->ms, l->room, sizeof *l->ms);
	}
	l->ms[l->count++] = total_ms;
}

/* The worst first: what failed, what was late, what was slow. */
static int
by_trouble(const void *a, const void *b)
{
	const struct line	*x = a, *y = b;

	if (x->failed != y->failed)
		return (x->failed > y->failed ? -1 : 1);
	if (x->late + x->junk != y->late + y->junk)
		return (x->late + x->junk > y->late + y->junk ? -1 : 1);
	if (x->latency.p95_ms != y->latency.p95_ms)
		return (x->latency.p95_ms > y->latency.p95_ms ? -1 : 1);
	return (strcmp(x->route, y->route));
}

/* "0.84s", "12.3s", "4m48s", "3h12m"; eight columns at most. */
static const char *
brief(int64_t ms, char buf[static 24])
{
	int64_t	s = ms / 1000;

	if (ms == STAMP_NO_SPAN)
		text_copy(buf, 24, "-");
	else if (ms < 10000)
		snprintf(buf, 24, "%" PRId64 ".%02ds", s,
		    (int)(ms < 0 ? 0 : ms % 1000 / 10));
	else if (ms < 60000)
		snprintf(buf, 24, "%" PRId64 ".%ds", s, (int)(ms % 1000 / 100));
	else if (s < 3600)
		snprintf(buf, 24, "%" PRId64 "m%02ds", s / 60, (int)(s % 60));
	else
		snprintf(buf, 24, "%" PRId64 "h%02dm", s / 3600,
		    (int)(s / 60 % 60));
	return (buf);
}

static void
show_line(struct digest *d, const struct line *l)
{
	char	p50[24], p95[24], most[24];

	text_appendf(d->body, d->size, "%-22.22s %6u %5u %6u %6u %8s %8s %8s\n",
	    l->route, l->delivered, l->late + l->junk, l->failed,
	    l->deferrals, brief(l->latency.p50_ms, p50),
	    brief(l->latency.p95_ms, p95), brief(l->latency.max_ms, most));
}

static void
show_routes(struct digest *d)
{
	unsigned	blind = 0;

	if (d->probes >= DIGEST_PROBES)
		text_appendf(d->body, d->size, "Only the newest %u probes are "
		    "counted.\n\n", DIGEST_PROBES);
	text_appendf(d->body, d->size, "%-22s %6s %5s %6s %6s %8s %8s %8s\n",
	    "Route", "Deliv.", "Late", "Failed", "Defer.", "p50", "p95", "max");
	for (size_t i = 0; i < d->count; i++) {
		blind += d->lines[i].blind;
		if (i < ROUTES_SHOWN)
			show_line(d, &d->lines[i]);
	}
	if (d->count > ROUTES_SHOWN)
		text_appendf(d->body, d->size, "and %zu more that did better\n",
		    d->count - ROUTES_SHOWN);
	text_append(d->body, d->size, "\nDeliv. are all that arrived, Late "
	    "those of them that came late or as junk;\nthe times are from the "
	    "first attempt to the arrival.\n");
	if (blind > 0)
		text_appendf(d->body, d->size, "Of %u nothing is known: the "
		    "monitor could not look.\n", blind);
}

static void
show_episode(void *arg, const struct episode *e)
{
	struct digest	*d = arg;
	char		 since[NOTICE_TIME], clean[EPISODE_SCOPE];

	if (!episode_is_open(e) || !words_has(e->alerts, d->alerts->name))
		return;
	if (d->episodes++ == 0)
		text_append(d->body, d->size, "\nNot over:\n");
	if (d->episodes > EPISODES_SHOWN)
		return;
	text_clean(clean, sizeof clean, e->scope, strlen(e->scope));
	text_appendf(d->body, d->size, "  %" PRId64 " %s, %.60s\n    %s since "
	    "%s\n", e->id, class_name(e->class), clean,
	    episode_state_name(e->state),
	    notice_utc(episode_since_ms(e), since));
}

static void
show_episodes(struct digest *d, const struct follow *f)
{
	follow_each(f, show_episode, d);
	if (d->episodes > EPISODES_SHOWN)
		text_appendf(d->body, d->size, "  and %u more\n",
		    d->episodes - EPISODES_SHOWN);
	if (d->episodes == 0)
		text_append(d->body, d->size, "\nNo trouble lasts.\n");
}

int
digest_write(const struct config *config, struct store *store,
    const struct follow *follow, const struct alerts *alerts,
    int64_t since_ms, int64_t now_ms, char *body, size_t size)
{
	struct digest	d = { .config = config, .alerts = alerts,
			    .body = body, .size = size, .now_ms = now_ms };
	int		rc;

	begin(&d);
	rc = store_probe_totals(store, since_ms, DIGEST_PROBES, add, &d);
	if (rc == 0) {
		for (size_t i = 0; i < d.count; i++)
			latency_summarise(d.lines[i].ms, d.lines[i].count,
			    &d.lines[i].latency);
		/* The tree points into the lines: it is done with. */
		qsort(d.lines, d.count, sizeof *d.lines, by_trouble);
		show_routes(&d);
		show_episodes(&d, follow);
	}
	end(&d);
	return (rc);
}
