#include "alerts/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alerts/words.h"
#include "monitor/tally.h"
#include "monitor/text.h"

/* Routes that are listed, the worst first; the others are counted. */
#define ROUTES_SHOWN	40

/* Open episodes that are listed. */
#define EPISODES_SHOWN	20

struct digest {
	const struct alerts	*alerts;
	struct tally		*tally;		/* owned */
	char			*body;
	size_t			 size;
	unsigned		 episodes;
};

static void
add(void *arg, const char *route, enum probe_end end, unsigned deferrals,
    int64_t total_ms)
{
	struct digest	*d = arg;

	tally_add(d->tally, route, end, deferrals, total_ms);
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
show_line(struct digest *d, const struct tally_line *l)
{
	char	p50[24], p95[24], most[24];

	text_appendf(d->body, d->size, "%-22.22s %6u %5u %6u %6u %8s %8s %8s\n",
	    l->route, l->arrived, l->ends[PROBE_END_LATE] +
	    l->ends[PROBE_END_JUNK], l->failed, l->deferrals,
	    brief(l->latency.p50_ms, p50), brief(l->latency.p95_ms, p95),
	    brief(l->latency.max_ms, most));
}

static void
show_routes(struct digest *d)
{
	const struct tally_line *const	*lines;
	size_t				 count;
	unsigned			 blind = 0;

	lines = tally_lines(d->tally, &count);
	if (tally_probes(d->tally) >= DIGEST_PROBES)
		text_appendf(d->body, d->size, "Only the newest %u probes are "
		    "counted.\n\n", DIGEST_PROBES);
	text_appendf(d->body, d->size, "%-22s %6s %5s %6s %6s %8s %8s %8s\n",
	    "Route", "Deliv.", "Late", "Failed", "Defer.", "p50", "p95", "max");
	for (size_t i = 0; i < count; i++) {
		blind += lines[i]->ends[PROBE_END_BLIND];
		if (i < ROUTES_SHOWN)
			show_line(d, lines[i]);
	}
	if (count > ROUTES_SHOWN)
		text_appendf(d->body, d->size, "and %zu more that did better\n",
		    count - ROUTES_SHOWN);
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
    int64_t since_ms, char *body, size_t size)
{
	struct digest	d = { .alerts = alerts, .tally = tally_new(),
			    .body = body, .size = size };
	int		rc;

	for (struct route **r = config->routes; *r != NULL; r++)
		if ((*r)->alerts == alerts)
			tally_route(d.tally, (*r)->name);
	rc = store_probe_totals(store, since_ms, DIGEST_PROBES, add, &d);
	if (rc == 0) {
		show_routes(&d);
		show_episodes(&d, follow);
	}
	tally_free(&d.tally);
	return (rc);
}
