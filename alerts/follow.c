#include "alerts/follow_internal.h"

#include <string.h>

#include "alerts/tell.h"
#include "alerts/words.h"
#include "monitor/mem.h"

struct followed *
followed_add(struct follow *f, const struct episode *e)
{
	struct followed	*fe = mem_alloc(sizeof *fe);

	fe->e = *e;
	TAILQ_INSERT_TAIL(&f->episodes, fe, entry);
	if (strcmp(e->scope, "monitor") == 0)
		f->monitor = fe;
	f->next->stale = true;
	return (fe);
}

void
followed_drop(struct follow *f, struct followed *fe)
{
	TAILQ_REMOVE(&f->episodes, fe, entry);
	if (f->monitor == fe)
		f->monitor = NULL;
	f->next->stale = true;
	mem_free(fe);
}

static void
load(void *arg, const struct episode *e)
{
	struct follow	*f = arg;
	struct followed	*fe;

	if (e->state == EPISODE_QUIET && !e->held &&
	    (e->csv_done || e->opened_ms == 0))
		return;
	fe = followed_add(f, e);
	fe->hold_ms = e->held;		/* look at once */
	fe->came = e->origin == EPISODE_BY_AGE;	/* perhaps just before */
	if (e->run_ms != 0 || fe->came)
		fe->confirm_ms = fe->ask_ms = followed_confirm_ms(f, e) +
		    (fe->came ? e->last_miss_ms : e->run_ms);
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
		followed_drop(f, TAILQ_FIRST(&f->episodes));
	mem_free(f->next);
	mem_free(f);
	*fp = NULL;
}

struct followed *
followed_by_id(const struct follow *f, int64_t episode)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.id == episode)
			return (fe);
	return (NULL);
}

void
follow_begin(struct follow *f, int64_t now_ms)
{
	if (f->started_ms != 0)
		return;
	f->started_ms = now_ms;
	f->next->stale = true;
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
follow_covering(const struct follow *f, const struct route *r,
    const char *host)
{
	const struct followed	*fe;
	const struct episode	*best = NULL;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (episode_is_open(&fe->e) &&
		    (best == NULL || followed_outranks(&fe->e, best)) &&
		    (followed_covers(f, &fe->e, r, host) ||
		    (host[0] == '\0' && words_has(fe->e.routes, r->name))))
			best = &fe->e;
	return (best);
}

int
follow_ack(struct follow *f, int64_t episode, int64_t now_ms)
{
	struct followed	*fe = followed_by_id(f, episode);

	follow_begin(f, now_ms);
	if (fe == NULL || !episode_is_open(&fe->e))
		return (-1);
	fe->e.acked = true;
	fe->e.remind_ms = 0;
	followed_put(f, &fe->e);
	if (store_episode_event(f->store, episode, now_ms, "ack", "",
	    "reminders stopped") == -1)
		followed_unsaved(f, &fe->e);
	return (0);
}

int
follow_test(struct follow *f, const char *alerts,
    int64_t ids_r[static FOLLOW_TESTS], int64_t now_ms)
{
	int	rc = tell_test(f->config, f->store, alerts, ids_r, now_ms);

	if (rc > 0 && f->owed != NULL)
		f->owed(f->arg);
	return (rc > 0 ? 0 : -1);
}
