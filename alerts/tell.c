#include "alerts/tell.h"

#include <string.h>
#include <strings.h>

#include "alerts/cap.h"
#include "alerts/notice.h"
#include "alerts/outbox.h"
#include "alerts/words.h"
#include "alerts/zone.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* What a bit owes; in the order in which people hear it. */
static const struct {
	unsigned		bit;
	enum notice_kind	kind;
} owing[] = {
	{ EPISODE_OWES_FAILING,		NOTICE_FAILING },
	{ EPISODE_OWES_REMINDER,	NOTICE_REMINDER },
	{ EPISODE_OWES_ACCEPTING,	NOTICE_ACCEPTING },
	{ EPISODE_OWES_DELIVERED,	NOTICE_DELIVERED },
	{ EPISODE_OWES_UNWATCHED,	NOTICE_UNWATCHED },
};

static bool
is_recipient(char *const *to, const char *address)
{
	for (; *to != NULL; to++)
		if (strcasecmp(*to, address) == 0)
			return (true);
	return (false);
}

/* Is told already, as one of a section named before this one. */
static bool
hears_already(const struct telling *t, const struct alerts *section,
    const char *address)
{
	const char		*at = t->e->alerts;
	const struct alerts	*a;
	char			 name[PROBE_NAME];

	while (words_next(&at, name, sizeof name) &&
	    strcmp(name, section->name) != 0)
		if ((a = config_alerts(t->config, name)) != NULL &&
		    is_recipient(a->to, address))
			return (true);
	return (false);
}

/* A list, the caller's, of people and, where there is one, the command. */
char **
tell_channels(const struct alerts *a)
{
	char *const	*people = a->to;
	static char	command[] = OUTBOX_COMMAND;
	char		**to;
	size_t		  count = 0;

	while (people[count] != NULL)
		count++;
	to = mem_alloc((count + 2) * sizeof *to);
	memcpy(to, people, count * sizeof *to);
	if (a->command[0] != '\0')
		to[count] = command;
	return (to);
}

/* Those of section who do not hear it otherwise; the list is the caller's. */
static char **
recipients(const struct telling *t, const struct alerts *section)
{
	char	**to = tell_channels(section);
	size_t	  n = 0;

	for (size_t i = 0; to[i] != NULL; i++)
		if (strcmp(to[i], OUTBOX_COMMAND) == 0 ||
		    !hears_already(t, section, to[i]))
			to[n++] = to[i];
	to[n] = NULL;
	return (to);
}

/* The arrival that proves the delivery, as the store has it. */
static void
proof(const struct telling *t, struct probe *p, struct notice_facts *facts)
{
	if (t->e->closed_by[0] == '\0' ||
	    store_probe_get(t->store, t->e->closed_by, p) != 1)
		return;
	facts->proof_folder = p->folder;
	facts->proof_latency_ms = stamp_span_ms(&p->accepted, &p->arrived,
	    NULL);
}

/* What the server of the episode's routes calls the system of its host; NULL
 * if nothing else, or if it was another server that spoke. */
static const char *
system_set_apart(const struct telling *t)
{
	const char		*at = t->e->routes;
	char			 name[PROBE_NAME];
	const struct route	*r;
	const struct server	*s;

	if (t->e->origin == EPISODE_BY_BOUNCE)
		return (NULL);
	while (words_next(&at, name, sizeof name)) {
		if ((r = config_route(t->config, name)) == NULL)
			continue;
		s = r->server;
		return (s->system[0] != '\0' &&
		    strcasecmp(s->system, s->host) != 0 ? s->system : NULL);
	}
	return (NULL);
}

/* In a storm it is only kept, without recipients, for the summary. */
static int
owe_or_keep(const struct telling *t, struct notice *n, char *const *to)
{
	static char *const	nobody[] = { NULL };
	int			rc = cap_take(t->store, n->alerts, t->now_ms);

	if (rc == -1 || store_notice_owe(t->store, n, rc == 1 ? to :
	    nobody) == -1)
		return (-1);
	log_info("episode=%lld notice=%s number=%u alerts=%s %s",
	    (long long)t->e->id, notice_kind_name(n->kind), n->number,
	    n->alerts, rc == 1 ? "owed" : "kept for a summary");
	return (1);
}

/* To these, number_more beyond the number that the notice has by itself. */
static int
owe_to(const struct telling *t, enum notice_kind kind, const struct alerts *a,
    char *const *to, unsigned number_more)
{
	struct notice_facts	 facts = {
		.instance = t->config->instance,
		.alerts = a->name,
		.timezone = a->timezone,
		.local = zone_local,
		.proof_folder = "",
		.proof_latency_ms = STAMP_NO_SPAN,
		.transcript = t->transcript,
		.system = system_set_apart(t),
		.mailbox_blind = t->mailbox_blind,
		.number_more = number_more,
	};
	struct probe		 p;
	struct notice		*n;
	int			 rc;

	if (to[0] == NULL)
		return (0);
	n = mem_alloc(sizeof *n);
	if (kind == NOTICE_DELIVERED)
		proof(t, &p, &facts);
	notice_write(n, kind, t->e, &facts, t->now_ms);
	rc = owe_or_keep(t, n, to);
	mem_free(n);
	return (rc);
}

/* Who has heard what. */

struct heard {
	char			to[PROBE_ADDRESS];	/* "": all of alerts */
	char			alerts[PROBE_NAME];
	enum notice_kind	kind;
};

struct hearing {
	struct heard	*list;		/* owned */
	size_t		 count;
};

static void
note_heard(void *arg, const char *to, const char *alerts,
    enum notice_kind kind)
{
	struct hearing	*h = arg;
	struct heard	*last;

	h->list = mem_grow(h->list, h->count + 1, sizeof *h->list);
	last = &h->list[h->count++];
	text_copy(last->to, sizeof last->to, to);
	text_copy(last->alerts, sizeof last->alerts, alerts);
	last->kind = kind;
}

/* People are who they are in any section; a command is its section's, also
 * if that has another name now. */
static bool
is_of(const struct telling *t, const struct heard *x, const char *to,
    const struct alerts *section)
{
	bool	here = strcmp(x->alerts, section->name) == 0;

	if (x->to[0] == '\0')
		return (here);
	if (strcasecmp(x->to, to) != 0)
		return (false);
	return (strcmp(to, OUTBOX_COMMAND) != 0 || here ||
	    config_alerts(t->config, x->alerts) == NULL);
}

/* What one of them believes, by what was told last. */
static enum episode_state
believes(const struct telling *t, const struct hearing *h, const char *to,
    const struct alerts *section)
{
	enum episode_state	state = EPISODE_QUIET;

	for (size_t i = 0; i < h->count; i++) {
		if (!is_of(t, &h->list[i], to, section))
			continue;
		switch (h->list[i].kind) {
		case NOTICE_FAILING:
		case NOTICE_REMINDER:
			state = EPISODE_FAILING;
			break;
		case NOTICE_ACCEPTING:
			state = EPISODE_ACCEPTING;
			break;
		case NOTICE_DELIVERED:
		case NOTICE_UNWATCHED:
		case NOTICE_SUMMARY:
		case NOTICE_HEARTBEAT:
		case NOTICE_DIGEST:
		case NOTICE_KINDS:
			state = EPISODE_QUIET;
			break;
		}
	}
	return (state);
}

/* Whether one who believes this lacks a notice of that kind to believe what
 * all do; of UNWATCHED: knows what it is about. */
static bool
lacks(enum notice_kind kind, enum episode_state belief,
    enum episode_state believed)
{
	if (kind == NOTICE_UNWATCHED)
		return (belief != EPISODE_QUIET);
	if (kind == NOTICE_ACCEPTING)
		return (believed == EPISODE_ACCEPTING && belief != believed);
	return (belief == EPISODE_QUIET || (believed == EPISODE_FAILING &&
	    belief == EPISODE_ACCEPTING));
}

/* A notice that is owed again to others needs a number of its own. */
#define MORE	1000000U

static int
owe_who_lack(const struct telling *t, const struct hearing *h,
    enum notice_kind kind, const struct alerts *section,
    enum episode_state believed)
{
	char		**to = recipients(t, section);
	size_t		  n = 0;
	int		  rc;

	for (size_t i = 0; to[i] != NULL; i++)
		if (lacks(kind, believes(t, h, to[i], section), believed))
			to[n++] = to[i];
	to[n] = NULL;
	rc = owe_to(t, kind, section, to, kind == NOTICE_UNWATCHED ? 0 :
	    MORE * (unsigned)h->count);
	mem_free(to);
	return (rc);
}

/* That nobody knows its end is no news to who never heard of it. */
static int
owe_unwatched(const struct telling *t, const struct alerts *a)
{
	struct hearing	h = { 0 };
	int		rc = store_told_each(t->store, t->e->id, note_heard,
			    &h);

	if (rc != -1)
		rc = owe_who_lack(t, &h, NOTICE_UNWATCHED, a, EPISODE_QUIET);
	mem_free(h.list);
	return (rc);
}

static int
owe(const struct telling *t, enum notice_kind kind, const struct alerts *a)
{
	char	**to;
	int	  rc;

	if (kind == NOTICE_UNWATCHED)
		return (owe_unwatched(t, a));
	to = recipients(t, a);
	rc = owe_to(t, kind, a, to, 0);
	mem_free(to);
	return (rc);
}

int
tell_section(const struct telling *t, unsigned owes, const char *section)
{
	const struct alerts	*a = config_alerts(t->config, section);
	int			 told = 0, rc;

	if (a == NULL) {
		log_warn("episode=%lld alerts=%s: no such section any more, "
		    "nobody is told", (long long)t->e->id, section);
		return (0);
	}
	for (size_t i = 0; i < NITEMS(owing); i++) {
		if ((owes & owing[i].bit) == 0)
			continue;
		if ((rc = owe(t, owing[i].kind, a)) == -1)
			return (-1);
		told += rc;
	}
	return (told);
}

int
tell_all(const struct telling *t, unsigned owes)
{
	const char	*at = t->e->alerts;
	char		 name[PROBE_NAME];
	int		 told = 0, rc;

	while (owes != 0 && words_next(&at, name, sizeof name)) {
		if ((rc = tell_section(t, owes, name)) == -1)
			return (-1);
		told += rc;
	}
	return (told);
}

int
tell_newcomers(const struct telling *t, enum episode_state believed)
{
	static const enum notice_kind	kinds[] = { NOTICE_FAILING,
					    NOTICE_ACCEPTING };
	struct hearing			h = { 0 };
	const char			*at = t->e->alerts;
	const struct alerts		*a;
	char				 name[PROBE_NAME];
	int				 told = 0, rc;

	rc = store_told_each(t->store, t->e->id, note_heard, &h);
	while (rc != -1 && words_next(&at, name, sizeof name)) {
		if ((a = config_alerts(t->config, name)) == NULL)
			continue;
		for (size_t i = 0; i < NITEMS(kinds) && rc != -1; i++) {
			rc = owe_who_lack(t, &h, kinds[i], a, believed);
			told += rc;
		}
	}
	mem_free(h.list);
	return (rc == -1 ? -1 : told);
}

/* An episode like any, of a system that cannot exist (RFC 2606). */
static struct episode
made_up(enum notice_kind kind, int64_t now_ms)
{
	int64_t	began_ms = now_ms - 43 * INT64_C(60000);

	return ((struct episode){
		.scope = "system mx.test.invalid",
		.class = CLASS_SYSTEM_FULL,
		.state = kind == NOTICE_DELIVERED ? EPISODE_QUIET :
		    kind == NOTICE_ACCEPTING ? EPISODE_ACCEPTING :
		    EPISODE_FAILING,
		.misses = 5, .refusals = 5, .accepts = 2, .swings = 1,
		.first_miss_ms = began_ms, .opened_ms = began_ms,
		.failing_notice_ms = began_ms,
		.last_miss_ms = now_ms - 60000,
		.accepting_ms = kind == NOTICE_FAILING ? 0 : now_ms,
		.delivered_ms = kind == NOTICE_DELIVERED ? now_ms : 0,
		.stage = STAGE_MAIL, .code = 452, .enhanced = "4.3.1",
		.first_reply = "Insufficient system storage",
		.last_reply = "Insufficient system storage",
		.host = "mx.test.invalid", .routes = "example",
	});
}

int
tell_test(const struct config *config, struct store *store,
    const char *section, int64_t ids_r[static TELL_TESTS], int64_t now_ms)
{
	static const enum notice_kind	kinds[TELL_TESTS] = {
		NOTICE_FAILING, NOTICE_ACCEPTING, NOTICE_DELIVERED,
	};
	const struct alerts	*a = config_alerts(config, section);
	struct notice_facts	 facts = {
		.instance = config->instance,
		.alerts = section,
		.timezone = a != NULL ? a->timezone : "",
		.local = zone_local,
		.proof_folder = "INBOX",
		.proof_latency_ms = 412,
		.transcript = "",
		.test = true,
	};
	struct episode		 e;
	struct notice		*n;
	char			**to;
	int			 rc = 1;

	if (a == NULL)
		return (0);
	n = mem_alloc(sizeof *n);
	to = tell_channels(a);
	for (size_t i = 0; i < TELL_TESTS && rc == 1; i++) {
		e = made_up(kinds[i], now_ms);
		notice_write(n, kinds[i], &e, &facts, now_ms);
		rc = store_notice_owe(store, n, to) == -1 ? -1 : 1;
		ids_r[i] = n->id;
	}
	mem_free(to);
	mem_free(n);
	return (rc);
}
