#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "tests/sim/rows.h"
#include "tests/sim/story.h"

/* Looking at what came of it. */

static const char	*scratch;	/* borrowed: the world's directory */

static void
count_open(void *arg, const struct episode *e)
{
	(void)e;
	++*(unsigned *)arg;
}

static void
count_duplicates(void *arg, const struct probe *p)
{
	*(unsigned *)arg += p->duplicates;
}

struct figure {
	const char	*name;
	unsigned	 (*of)(struct world *, const char *what);
};

static unsigned
of_attempts(struct world *w, const char *what)
{
	return (what[0] == '\0' ? (unsigned)world_attempts(w) :
	    rows_count(scratch, ROWS_ATTEMPTS, ATTEMPTS_CLASS, what, 0));
}

static unsigned
of_sessions(struct world *w, const char *server)
{
	return ((unsigned)world_attempts_on(w, server));
}

static unsigned
of_episodes(struct world *w, const char *class)
{
	(void)w;
	return (rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class, 0));
}

static unsigned
of_noticed(struct world *w, const char *class)
{
	(void)w;
	return (rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class,
	    EPISODES_FAILING_NOTICE));
}

static unsigned
of_unaccepted(struct world *w, const char *class)
{
	(void)w;
	return (rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class, 0) -
	    rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class,
	    EPISODES_ACCEPTING));
}

static unsigned
of_open(struct world *w, const char *what)
{
	unsigned	n = 0;

	(void)what;
	follow_each(engine_follow(world_engine(w)), count_open, &n);
	return (n);
}

static unsigned
of_duplicates(struct world *w, const char *route)
{
	unsigned	n = 0;

	(void)store_probe_history(world_store(w), route, 0, 10000,
	    count_duplicates, &n);
	return (n);
}

struct pending {
	const char	*route;
	unsigned	 n;
};

static void
add_pending(void *arg, const struct route_view *v)
{
	struct pending	*p = arg;

	if (strcmp(v->route->name, p->route) == 0)
		p->n += v->pending;
}

static unsigned
of_pending(struct world *w, const char *route)
{
	struct pending	p = { route, 0 };

	engine_routes(world_engine(w), add_pending, &p);
	return (p.n);
}

static unsigned
of_cleaned(struct world *w, const char *what)
{
	(void)what;
	return ((unsigned)world_cleaned(w));
}

static unsigned
of_bodies(struct world *w, const char *what)
{
	(void)what;
	return (world_bodies(w, ""));
}

static unsigned
of_repeats(struct world *w, const char *what)
{
	(void)what;
	return (world_repeats(w));
}

static unsigned
of_said(struct world *w, const char *words)
{
	return (world_said(w, words));
}

static unsigned
of_noted(struct world *w, const char *note)
{
	(void)w;
	return (rows_count(scratch, ROWS_LATENCY, LATENCY_NOTE, note, 0));
}

static unsigned
of_rows(struct world *w, const char *route)
{
	(void)w;
	return (rows_count(scratch, ROWS_LATENCY, LATENCY_ROUTE, route, 0));
}

/* What "expect" knows beside the outcomes of the latency CSV. */
static const struct figure	figures[] = {
	{ "attempts",	of_attempts },	/* [class]: sessions of probes */
	{ "sessions",	of_sessions },	/* server */
	{ "episodes",	of_episodes },	/* [class]: closed ones */
	{ "noticed",	of_noticed },	/* class: of those, failing was told */
	{ "unaccepted",	of_unaccepted },	/* class: of those, no accept seen */
	{ "open",	of_open },	/* not quiet */
	{ "duplicates",	of_duplicates },
	{ "pending",	of_pending },	/* route */
	{ "cleaned",	of_cleaned },
	{ "bodies",	of_bodies },	/* of one token, at most */
	{ "repeats",	of_repeats },	/* notices that came twice */
	{ "said",	of_said },	/* words: notices that hold them */
	{ "noted",	of_noted },	/* note: rows of the latency CSV */
	{ "rows",	of_rows },	/* [route] of the latency CSV */
};

static unsigned
figure(struct world *w, const char *what, const char *of)
{
	for (size_t i = 0; i < NITEMS(figures); i++)
		if (strcmp(what, figures[i].name) == 0)
			return (figures[i].of(w, of));
	return (rows_count(scratch, ROWS_LATENCY, LATENCY_OUTCOME, what, 0));
}

/* "5", "5..9", "5.." against a figure. */
static bool
within(unsigned n, const char *range)
{
	unsigned	low, high;
	const char	*dots = strstr(range, "..");

	low = (unsigned)strtoul(range, NULL, 10);
	high = dots == NULL ? low : dots[2] == '\0' ? UINT32_MAX :
	    (unsigned)strtoul(dots + 2, NULL, 10);
	return (n >= low && n <= high);
}

bool
expect_holds(struct world *w, const char *directory, size_t n,
    char *words[], char *why, size_t size)
{
	unsigned	have;

	scratch = directory;
	if (strcmp(words[0], "notices") == 0) {
		snprintf(why, size, "notices \"%s\", expected \"%s\"",
		    world_notices(w), words[1]);
		return (strcmp(world_notices(w), words[1]) == 0);
	}
	have = figure(w, words[0], n > 2 ? words[1] : "");
	snprintf(why, size, "%s %s is %u, expected %s", words[0],
	    n > 2 ? words[1] : "", have, words[n - 1]);
	return (within(have, words[n - 1]));
}
