#include "alerts/regular.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alerts/cap.h"
#include "alerts/digest.h"
#include "alerts/notice.h"
#include "alerts/tell.h"
#include "alerts/zone.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/text.h"

#define DAY_MS		INT64_C(86400000)

/* A digest after a longer stretch of downtime tells of so much. */
#define DIGEST_MAX_MS	(7 * DAY_MS)

/* A notice that is in a summary takes no more than this of its body. */
#define ENTRY_MAX	400

/* Names of facts: when it was told last, by section. */
#define HEARTBEAT	"heartbeat"
#define DIGEST		"digest"

struct regular {
	const struct config	*config;	/* borrowed, as are: */
	struct store		*store;
	struct follow		*follow;
	follow_owed		 owed;
	void			*arg;
	bool			 stale;
	int64_t			 next_ms;	/* 0: never */
};

/* Owing. */

static struct notice_facts
facts_of(const struct regular *r, const struct alerts *a)
{
	return ((struct notice_facts){
		.instance = r->config->instance, .alerts = a->name,
		.timezone = a->timezone, .local = zone_local,
		.proof_folder = "", .transcript = "",
	});
}

static int
owe(struct regular *r, const struct alerts *a, struct notice *n)
{
	char	**to = tell_channels(a);
	int	  rc = store_notice_owe(r->store, n, to);

	if (rc == -1)
		log_error("alerts=%s %s not stored: %s", a->name,
		    notice_kind_name(n->kind), store_error(r->store));
	else
		r->owed(r->arg);
	mem_free(to);
	return (rc);
}

static void
paragraph(struct notice *n, const char *text)
{
	reason_wrap(n->body, sizeof n->body, text, 76, "", "");
	text_append(n->body, sizeof n->body, "\n");
}

/* Facts. */

/* When it was told last; 0: never, or the store failed. */
static int64_t
last_ms(const struct regular *r, const char *what, const struct alerts *a)
{
	int64_t	at_ms = 0;

	(void)store_fact_get(r->store, what, a->name, &at_ms, NULL, 0);
	return (at_ms);
}

static void
told(struct regular *r, const char *what, const struct alerts *a,
    int64_t now_ms)
{
	if (store_fact_put(r->store, what, a->name, now_ms, "") == -1)
		log_error("alerts=%s %s not stored: %s", a->name, what,
		    store_error(r->store));
}

/* The heartbeat. */

static void
count_open(void *arg, const struct episode *e)
{
	*(unsigned *)arg += episode_is_open(e);
}

static int64_t
heartbeat_due_ms(const struct regular *r, const struct alerts *a)
{
	if (a->heartbeat_ms == 0)
		return (0);
	return (last_ms(r, HEARTBEAT, a) + a->heartbeat_ms);
}

static void
beat(struct regular *r, const struct alerts *a, int64_t now_ms)
{
	struct notice_facts	 facts = facts_of(r, a);
	struct notice		*n = mem_alloc(sizeof *n);
	char			 subject[NOTICE_SUBJECT], text[512];
	char			 span[NOTICE_SPAN];
	unsigned		 open = 0, routes = 0;

	follow_each(r->follow, count_open, &open);
	while (r->config->routes[routes] != NULL)
		routes++;
	snprintf(subject, sizeof subject, "ALIVE: mailflowd on %.64s, %u "
	    "route%s, %u episode%s open", r->config->instance, routes,
	    routes == 1 ? "" : "s", open, open == 1 ? "" : "s");
	notice_begin(n, NOTICE_HEARTBEAT, &facts, subject,
	    (unsigned)(now_ms / 1000), now_ms);
	snprintf(text, sizeof text, "Monitor %s is alive. The next sign of "
	    "life comes in %s. If it does not, the monitor, its network or its "
	    "way out is in trouble, and nobody will be told of anything else.",
	    r->config->instance, notice_span(a->heartbeat_ms, span));
	paragraph(n, text);
	if (owe(r, a, n) != -1)
		told(r, HEARTBEAT, a, now_ms);
	mem_free(n);
}

/* The digest. */

/* "HH:MM", as the configuration has checked. */
static int
minute_of(const struct alerts *a)
{
	int	h = 0, m = 0;

	(void)sscanf(a->digest, "%d:%d", &h, &m);
	return (60 * h + m);
}

/* The first time of day that comes after at_ms. */
static int64_t
digest_after_ms(const struct alerts *a, int64_t at_ms)
{
	int64_t	day = zone_day(a->timezone, at_ms) - 1, t;

	do
		t = zone_minute(a->timezone, day++, minute_of(a), ZONE_FIRST);
	while (t <= at_ms);
	return (t);
}

static int64_t
digest_due_ms(const struct regular *r, const struct alerts *a)
{
	int64_t	at_ms;

	if (a->digest[0] == '\0' || (at_ms = last_ms(r, DIGEST, a)) == 0)
		return (0);
	return (digest_after_ms(a, at_ms));
}

static void
tell_digest(struct regular *r, const struct alerts *a, int64_t now_ms)
{
	struct notice_facts	 facts = facts_of(r, a);
	struct notice		*n = mem_alloc(sizeof *n);
	int64_t			 since_ms = last_ms(r, DIGEST, a);
	char			 from[NOTICE_TIME], to[NOTICE_TIME], text[256];
	char			 day[ZONE_TIME];

	if (now_ms - since_ms > DIGEST_MAX_MS)
		since_ms = now_ms - DIGEST_MAX_MS;
	zone_local(a->timezone, now_ms, day, sizeof day);
	snprintf(text, sizeof text, "DIGEST: mailflowd on %.64s, %.10s",
	    r->config->instance, day);
	notice_begin(n, NOTICE_DIGEST, &facts, text, (unsigned)(now_ms / 1000),
	    now_ms);
	snprintf(text, sizeof text, "What monitor %s saw from %s to %s.",
	    r->config->instance, notice_utc(since_ms, from),
	    notice_utc(now_ms, to));
	paragraph(n, text);
	if (digest_write(r->config, r->store, r->follow, a, since_ms,
	    n->body, sizeof n->body) != -1 && owe(r, a, n) != -1)
		told(r, DIGEST, a, now_ms);
	mem_free(n);
}

/* The summary of what was kept back. */

struct kept {
	char	**entries;	/* owned list of owned */
	size_t	  count;
};

static void
keep(void *arg, const struct notice *n)
{
	struct kept	*k = arg;
	char		 at[NOTICE_TIME];

	k->entries = mem_grow(k->entries, k->count + 1, sizeof *k->entries);
	k->entries[k->count++] = mem_printf("%s  %s",
	    notice_utc(n->owed_ms, at), n->subject);
}

static void
kept_free(struct kept *k)
{
	for (size_t i = 0; i < k->count; i++)
		mem_free(k->entries[i]);
	mem_free(k->entries);
}

static void
begin_summary(const struct regular *r, const struct alerts *a,
    struct notice *n, size_t all, unsigned part, int64_t now_ms)
{
	struct notice_facts	facts = facts_of(r, a);
	char			text[512], more[32] = "";

	if (part > 0)
		snprintf(more, sizeof more, " (part %u)", part + 1);
	snprintf(text, sizeof text, "%zu further notice%s held back%s", all,
	    all == 1 ? " was" : "s were", more);
	notice_begin(n, NOTICE_SUMMARY, &facts, text,
	    (unsigned)(now_ms / 1000) + part, now_ms);
	snprintf(text, sizeof text, "%zu further notice%s held back: more than "
	    "%d in an hour would only be in each other's way. What they said "
	    "is below, recoveries too; how things are now is shown by "
	    "mailflowctl episodes.", all, all == 1 ? " was" : "s were",
	    CAP_NOTICES);
	paragraph(n, text);
}

/* As many mails as it takes: nothing that was kept is dropped. */
static void
summarise(struct regular *r, const struct alerts *a, int64_t since_ms,
    int64_t now_ms)
{
	struct kept	 k = { 0 };
	struct notice	*n = mem_alloc(sizeof *n);
	unsigned	 part = 0;

	if (store_notice_kept(r->store, a->name, since_ms, keep, &k) == -1 ||
	    cap_reset(r->store, a->name, now_ms) == -1)
		goto out;
	for (size_t i = 0; i < k.count;) {
		begin_summary(r, a, n, k.count, part++, now_ms);
		for (; i < k.count && strlen(n->body) + ENTRY_MAX <
		    sizeof n->body; i++)
			reason_wrap(n->body, sizeof n->body, k.entries[i], 76,
			    "  ", "      ");
		if (owe(r, a, n) == -1)
			break;
	}
out:
	kept_free(&k);
	mem_free(n);
}

/* Time. */

static int64_t
sooner(int64_t a, int64_t b)
{
	return (a == 0 || (b != 0 && b < a) ? b : a);
}

static bool
is_due(int64_t due_ms, int64_t now_ms)
{
	return (due_ms != 0 && due_ms <= now_ms);
}

static void
tick(struct regular *r, const struct alerts *a, int64_t now_ms)
{
	int64_t	since_ms;

	if (is_due(cap_due_ms(r->store, a->name, &since_ms), now_ms))
		summarise(r, a, since_ms, now_ms);
	if (is_due(heartbeat_due_ms(r, a), now_ms))
		beat(r, a, now_ms);
	if (is_due(digest_due_ms(r, a), now_ms))
		tell_digest(r, a, now_ms);
	else if (a->digest[0] != '\0' && last_ms(r, DIGEST, a) == 0)
		told(r, DIGEST, a, now_ms);	/* from here on */
}

static int64_t
next_of(const struct regular *r, const struct alerts *a)
{
	int64_t	since_ms;
	int64_t	at = cap_due_ms(r->store, a->name, &since_ms);

	at = sooner(at, heartbeat_due_ms(r, a));
	return (sooner(at, digest_due_ms(r, a)));
}

void
regular_tick(struct regular *r, int64_t now_ms)
{
	if (!r->stale && (r->next_ms == 0 || r->next_ms > now_ms))
		return;
	for (struct alerts **a = r->config->alerts; *a != NULL; a++)
		tick(r, *a, now_ms);
	r->next_ms = 0;
	for (struct alerts **a = r->config->alerts; *a != NULL; a++)
		r->next_ms = sooner(r->next_ms, next_of(r, *a));
	r->stale = false;
}

int64_t
regular_next_ms(const struct regular *r)
{
	return (r->stale ? 1 : r->next_ms);
}

void
regular_wake(struct regular *r)
{
	r->stale = true;
}

/* Opening and changing. */

struct regular *
regular_open(const struct config *config, struct store *store,
    struct follow *follow, follow_owed owed, void *arg)
{
	struct regular	*r = mem_alloc(sizeof *r);

	r->config = config;
	r->store = store;
	r->follow = follow;
	r->owed = owed;
	r->arg = arg;
	r->stale = true;
	return (r);
}

void
regular_close(struct regular **rp)
{
	mem_free(*rp);
	*rp = NULL;
}

void
regular_config(struct regular *r, const struct config *config, int64_t now_ms)
{
	int64_t	since_ms;

	for (struct alerts **a = r->config->alerts; *a != NULL; a++)
		if (config_alerts(config, (*a)->name) == NULL &&
		    cap_due_ms(r->store, (*a)->name, &since_ms) != 0)
			summarise(r, *a, since_ms, now_ms);
	r->config = config;
	r->stale = true;
}
