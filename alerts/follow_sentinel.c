#include "alerts/follow_internal.h"

#include <string.h>
#include <strings.h>

#include "alerts/judge.h"
#include "alerts/words.h"
#include "monitor/text.h"

/*
 * Who may try while a scope is in trouble.
 */

/* Wait before asking again for a confirming probe that nobody made. */
#define ASK_AGAIN_MS	10000

static bool
same_mx(const struct follow *f, const struct episode *e,
    const struct route *r)
{
	const char		*at = e->routes;
	char			 name[PROBE_NAME];
	const struct route	*other;

	while (words_next(&at, name, sizeof name))
		if ((other = config_route(f->config, name)) != NULL &&
		    other->server == r->server &&
		    strcasecmp(judge_domain(other), judge_domain(r)) == 0)
			return (true);
	return (false);
}

/*
 * Where a probe goes to one MX host by its name, what speaks of that host
 * counts.  Else which it will meet is not known before: the last one's do.
 */
bool
followed_covers(const struct follow *f, const struct episode *e,
    const struct route *r, const char *host)
{
	const char	*name;

	if (judge_scope(e->scope, &name) == SCOPE_RESOLVER)
		return (words_has(e->routes, r->name));
	if (!followed_refused_by(f, e, r, host))
		return (false);
	if (judge_covers(e->scope, r))
		return (true);
	if (host[0] != '\0')
		return (judge_speaks(e->scope, r, host));
	return (r->server->mx != MX_NONE &&
	    judge_scope(e->scope, &name) == SCOPE_SYSTEM && same_mx(f, e, r));
}

/*
 * A listener in trouble of its own can tell nothing of its system: while it
 * is, its routes are its own episode's, and the system's sentinel is another.
 */
static int
rank(const struct episode *e)
{
	const char	*name;
	int		 kind = (int)judge_scope(e->scope, &name);

	return (2 * kind - (judge_is_listener(e->scope) ? 1 : 0));
}

bool
followed_outranks(const struct episode *a, const struct episode *b)
{
	int	ra = rank(a), rb = rank(b);

	return (ra < rb || (ra == rb && a->id < b->id));
}

/* The episode that says who may try on this route, or NULL. */
static struct followed *
holder(const struct follow *f, const struct route *r, const char *host)
{
	struct followed	*fe, *best = NULL;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.state == EPISODE_FAILING &&
		    followed_by_attempts(&fe->e) &&
		    (best == NULL || followed_outranks(&fe->e, &best->e)) &&
		    followed_covers(f, &fe->e, r, host))
			best = fe;
	return (best);
}

/* The span, not a moment: `confirm` of the section. */
int64_t
followed_confirm_ms(const struct follow *f, const struct episode *e)
{
	const struct alerts	*a = followed_section(f, e);

	return (a != NULL ? a->confirm_ms : 0);
}

bool
followed_wants_probe(const struct follow *f, const struct followed *fe)
{
	const struct episode	*e = &fe->e;
	struct episode_limits	 lim;

	if (fe->came)
		return (e->state == EPISODE_FAILING);
	followed_limits(f, e, &lim);
	return (e->state == EPISODE_FAILING && followed_by_attempts(e) &&
	    e->accepts > 0 && e->accepts < lim.accepts_to_mend &&
	    e->sentinel[0] == '\0');
}

bool
follow_holds(const struct follow *f, int64_t episode, const struct route *r,
    const char *host)
{
	const struct followed	*fe = holder(f, r, host);

	return (fe != NULL && fe->e.id == episode);
}

/*
 * A system does not wait for a probe that waits for its listener's sentinel,
 * as one that was the system's before the listener failed.
 */
static void
give_back(struct follow *f, const struct followed *holder, const char *token)
{
	struct followed	*fe;

	if (!judge_is_listener(holder->e.scope))
		return;
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (fe == holder || strcmp(fe->e.sentinel, token) != 0)
			continue;
		fe->e.sentinel[0] = '\0';
		followed_put(f, &fe->e);
	}
}

bool
follow_may_try(struct follow *f, const struct route *r, const char *host,
    const char *token, int64_t now_ms)
{
	struct followed	*fe = holder(f, r, host);

	follow_begin(f, now_ms);
	if (fe == NULL)
		return (true);
	give_back(f, fe, token);
	if (fe->e.sentinel[0] != '\0')
		return (strcmp(fe->e.sentinel, token) == 0);
	if (fe->e.accepts > 0 && now_ms < fe->confirm_ms)
		return (false);
	text_copy(fe->e.sentinel, sizeof fe->e.sentinel, token);
	followed_put(f, &fe->e);
	return (true);
}

void
follow_confirms(struct follow *f, int64_t now_ms, follow_want want, void *arg)
{
	struct followed	*fe;
	const char	*at;
	char		 route[PROBE_NAME];

	follow_begin(f, now_ms);
	if (follow_next_ms(f) == 0 || follow_next_ms(f) > now_ms)
		return;
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (!followed_wants_probe(f, fe) || now_ms < fe->ask_ms)
			continue;
		fe->ask_ms = now_ms + ASK_AGAIN_MS;
		fe->came = false;
		f->next->stale = true;
		at = fe->e.routes;
		text_copy(route, sizeof route, fe->last_route);
		if (route[0] == '\0')
			words_next(&at, route, sizeof route);
		want(arg, &fe->e, route);
	}
}

void
follow_confirming(struct follow *f, int64_t episode, const char *token,
    int64_t now_ms)
{
	struct followed	*fe = followed_by_id(f, episode);

	follow_begin(f, now_ms);
	if (fe == NULL || fe->e.state != EPISODE_FAILING ||
	    !followed_by_attempts(&fe->e))
		return;
	text_copy(fe->e.sentinel, sizeof fe->e.sentinel, token);
	followed_put(f, &fe->e);
}
