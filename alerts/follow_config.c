#include "alerts/follow_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "alerts/judge.h"
#include "alerts/words.h"
#include "monitor/log.h"
#include "monitor/text.h"

/*
 * What another configuration, or another list of mail hosts, makes of the
 * episodes: who hears of them, and whether anything can show their end.
 */

/* A host that is missing in the DNS for less may well come back. */
#define HOST_GONE_MS	(24 * 3600 * INT64_C(1000))

/* Since when no mail host that is listed shows the episode of this number. */
static const char	unlisted_fact[] = "unlisted";

static bool
is_mailbox_host(const void *arg, const char *host)
{
	const struct config	*config = arg;

	for (size_t i = 0; config->mailboxes[i] != NULL; i++)
		if (strcasecmp(config->mailboxes[i]->host, host) == 0)
			return (true);
	return (false);
}

/* Hosts found by MX are in no configuration; they grow stale by themselves. */
static bool
is_host(const void *arg, const char *host)
{
	const struct config	*config = arg;
	bool			 mx = false;

	for (size_t i = 0; config->servers[i] != NULL; i++) {
		if (strcasecmp(config->servers[i]->host, host) == 0)
			return (true);
		mx = mx || config->servers[i]->mx != MX_NONE;
	}
	return (mx || is_mailbox_host(config, host));
}

/* Sections that hear. */

static bool
has_lost_section(const struct follow *f, const struct episode *e)
{
	const char	*at = e->alerts;
	char		 name[PROBE_NAME];

	while (words_next(&at, name, sizeof name))
		if (config_alerts(f->config, name) == NULL)
			return (true);
	return (false);
}

/* Where a route names none: "default", or the only one; NULL: neither. */
static const struct alerts *
usual_section(const struct config *config)
{
	const struct alerts	*usual = config_alerts(config, "default");

	if (usual != NULL || config->alerts[0] == NULL ||
	    config->alerts[1] != NULL)
		return (usual);
	return (config->alerts[0]);
}

/* Those of e that there still are, and those that its routes have now. */
static void
sections_now(const struct follow *f, const struct episode *e,
    char list[static EPISODE_ROUTES])
{
	const char		*at = e->alerts;
	char			 name[PROBE_NAME];
	const struct route	*r;
	const struct alerts	*usual = usual_section(f->config);

	list[0] = '\0';
	while (words_next(&at, name, sizeof name))
		if (config_alerts(f->config, name) != NULL)
			words_add(list, EPISODE_ROUTES, name);
	for (at = e->routes; words_next(&at, name, sizeof name);)
		if ((r = config_route(f->config, name)) != NULL &&
		    r->alerts != NULL)
			words_add(list, EPISODE_ROUTES, r->alerts->name);
	if (list[0] == '\0' && usual != NULL)
		words_add(list, EPISODE_ROUTES, usual->name);
}

/*
 * Whoever was told of an episode by a section of another name now is owed
 * its end.  Where there is no section at all the names stay: the next
 * configuration may have one.
 */
static void
replace_sections(struct follow *f, struct episode *e, int64_t now_ms)
{
	char	list[EPISODE_ROUTES], text[2 * EPISODE_ROUTES + 64];

	if (!has_lost_section(f, e))
		return;
	sections_now(f, e, list);
	if (list[0] == '\0')
		return;
	snprintf(text, sizeof text, "alerts sections now: %s; before: %s",
	    list, e->alerts);
	log_info("episode=%" PRId64 " %s", e->id, text);
	text_copy(e->alerts, sizeof e->alerts, list);
	followed_put(f, e);
	if (store_episode_event(f->store, e->id, now_ms, "config", "",
	    text) == -1)
		followed_unsaved(f, e);
}

/* Who can show how it goes on. */

/* The one mail host whose word it is; NULL: it names none. */
static const char *
via_of(const struct episode *e)
{
	const char	*name, *via;

	(void)judge_scope(e->scope, &name);
	via = strstr(name, " via ");
	return (via != NULL ? via + 5 : NULL);
}

/* What age or a report opened ends by an arrival on one of its routes. */
static bool
may_arrive(const struct follow *f, const struct episode *e,
    const struct route *r, const char *host)
{
	if (!words_has(e->routes, r->name))
		return (false);
	return (e->origin != EPISODE_BY_AGE || host[0] == '\0' ||
	    r->server->mx != MX_EACH || followed_speaks(f, e, r, host));
}

bool
follow_shows(const struct follow *f, const struct episode *e,
    const struct route *r, const char *host)
{
	const char	*name, *via = via_of(e);
	enum scope_kind	 kind = judge_scope(e->scope, &name);

	if (kind == SCOPE_MONITOR)
		return (true);
	if (kind == SCOPE_MAILBOX)
		return (judge_watches(name, r));
	if (e->origin != EPISODE_BY_ATTEMPT)
		return (may_arrive(f, e, r, host));
	if (followed_covers(f, e, r, host))
		return (true);
	return (via != NULL && host[0] == '\0' &&
	    r->server->mx == MX_EACH && followed_speaks(f, e, r, via));
}

static bool
is_watched(const struct follow *f, const struct episode *e)
{
	for (size_t i = 0; f->config->routes[i] != NULL; i++)
		if (follow_shows(f, e, f->config->routes[i], ""))
			return (true);
	return (false);
}

static void
close_unwatched(struct follow *f, struct followed *fe, const char *why,
    int64_t now_ms)
{
	struct step	s = { .event = EPISODE_EV_UNWATCHED, .token = "",
			    .said = why, .transcript = "" };

	if (fe->e.state != EPISODE_QUIET)
		followed_move(f, fe, &s, now_ms);
}

void
follow_config(struct follow *f, const struct config *config, int64_t now_ms)
{
	struct followed	*fe;

	follow_begin(f, now_ms);
	f->config = config;
	f->next->stale = true;
	reach_keep(&f->reach, is_host, config);
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		fe->hold_ms = fe->e.held;	/* windows may have changed */
		replace_sections(f, &fe->e, now_ms);
		if (is_watched(f, &fe->e))
			followed_tell_newcomers(f, &fe->e, now_ms);
		else
			close_unwatched(f, fe, "nothing that is configured "
			    "shows it any more", now_ms);
	}
}

/* Mail hosts that come and go. */

void
followed_forget(const struct follow *f, const struct episode *e)
{
	char	name[24];

	snprintf(name, sizeof name, "%" PRId64, e->id);
	(void)store_fact_delete(f->store, unlisted_fact, name);
}

void
follow_listed(struct follow *f, int64_t episode, bool listed, int64_t now_ms)
{
	struct followed	*fe = followed_by_id(f, episode);
	char		 name[24];
	int64_t		 since_ms = 0;

	follow_begin(f, now_ms);
	if (fe == NULL || fe->e.state == EPISODE_QUIET)
		return;
	snprintf(name, sizeof name, "%" PRId64, episode);
	(void)store_fact_get(f->store, unlisted_fact, name, &since_ms, NULL,
	    0);
	if (!listed && since_ms == 0) {
		(void)store_fact_put(f->store, unlisted_fact, name, now_ms,
		    "");
		return;
	}
	if (since_ms == 0 || (!listed && now_ms - since_ms < HOST_GONE_MS))
		return;
	followed_forget(f, &fe->e);
	if (!listed)
		close_unwatched(f, fe, "its host has not been a mail host of "
		    "its domain for a day", now_ms);
}

/* "system HOST", "system HOST:PORT", "route NAME via HOST". */
static bool
is_of_host(const struct episode *e, const char *host)
{
	const char	*via = via_of(e);

	if (via != NULL)
		return (strcasecmp(via, host) == 0);
	return (judge_is_of_system(e->scope, host));
}

void
follow_host_gone(struct follow *f, const char *host, int64_t now_ms)
{
	struct followed	*fe;

	follow_begin(f, now_ms);
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (!episode_is_open(&fe->e) || fe->e.remind_ms == 0 ||
		    !is_of_host(&fe->e, host))
			continue;
		fe->e.remind_ms = 0;
		followed_put(f, &fe->e);
		if (store_episode_event(f->store, fe->e.id, now_ms, "gone",
		    "", "no mail host of its domain any more; reminders "
		    "stopped") == -1)
			followed_unsaved(f, &fe->e);
	}
}
