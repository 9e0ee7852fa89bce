#include "alerts/judge.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "monitor/mem.h"
#include "monitor/text.h"

static const char *const kinds[SCOPES] = {
	[SCOPE_MONITOR]		= "monitor",
	[SCOPE_RESOLVER]	= "resolver",
	[SCOPE_SYSTEM]		= "system",
	[SCOPE_RECIPIENT]	= "recipient",
	[SCOPE_ROUTE]		= "route",
	[SCOPE_MAILBOX]		= "mailbox",
};

enum whose { OF_SYSTEM, OF_LISTENER, OF_RECIPIENT, OF_ROUTE };

/* Whose trouble a class is, once the session came as far as MAIL. */
static const enum whose whose_of[CLASSES] = {
	[CLASS_NONE]		= OF_ROUTE,
	[CLASS_ACCEPTED]	= OF_SYSTEM,
	[CLASS_SYSTEM_FULL]	= OF_SYSTEM,
	[CLASS_MAILBOX_FULL]	= OF_RECIPIENT,
	[CLASS_CONGESTION]	= OF_SYSTEM,
	[CLASS_GREYLISTING]	= OF_ROUTE,
	[CLASS_RATE_LIMIT]	= OF_SYSTEM,
	[CLASS_SIZE]		= OF_ROUTE,
	[CLASS_POLICY]		= OF_ROUTE,
	[CLASS_NO_SUCH_USER]	= OF_RECIPIENT,
	[CLASS_AUTH]		= OF_LISTENER,
	[CLASS_TLS]		= OF_LISTENER,
	[CLASS_DNS]		= OF_SYSTEM,
	[CLASS_NETWORK]		= OF_LISTENER,
	[CLASS_UNCERTAIN]	= OF_ROUTE,
	[CLASS_UNDELIVERED]	= OF_ROUTE,
	[CLASS_OTHER]		= OF_ROUTE,
	[CLASS_BLIND]		= OF_LISTENER,
};

/* Where a route names no alerts section; as the manual gives them. */
static const struct alerts defaults = {
	.full_after = 1,
	.fail_after = 2,
	.fail_for_ms = 5 * 60 * 1000,
	.greylist_grace_ms = 60 * 60 * 1000,
	.blind_after_ms = 10 * 60 * 1000,
	.accept_after = 2,
	.settle_ms = 30 * 60 * 1000,
};

static const struct alerts *
or_defaults(const struct alerts *a)
{
	return (a != NULL ? a : &defaults);
}

/* Names of hosts and addresses differ neither by case nor by a last dot. */
static void
plain(char *s)
{
	size_t	n = strlen(s);

	if (n > 1 && s[n - 1] == '.')
		s[n - 1] = '\0';
	for (; *s != '\0'; s++)
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
}

static void
scope_set(struct judgement *j, enum scope_kind kind, const char *name)
{
	char	clean[EPISODE_SCOPE];

	text_clean(clean, sizeof clean, name, strlen(name));
	if (kind == SCOPE_SYSTEM || kind == SCOPE_RECIPIENT)
		plain(clean);
	text_copy(j->scope, sizeof j->scope, kinds[kind]);
	if (kind == SCOPE_MONITOR || kind == SCOPE_RESOLVER)
		return;
	text_append(j->scope, sizeof j->scope, " ");
	text_append(j->scope, sizeof j->scope, clean);
}

/* The common case without copies: what it says is what scope_set() says. */
static bool
same_scope(const char *scope, enum scope_kind kind, const char *name)
{
	struct judgement	j;
	const char		*have;
	size_t			 n = strlen(name);

	if (judge_scope(scope, &have) != kind)
		return (false);
	if (kind == SCOPE_MONITOR || kind == SCOPE_RESOLVER)
		return (true);
	if (n == 0)
		return (false);
	if (kind == SCOPE_ROUTE || kind == SCOPE_MAILBOX)
		return (strcmp(have, name) == 0);
	if (strcasecmp(have, name) == 0)
		return (true);
	if (name[n - 1] != '.' && n < OUTCOME_HOST && text_is_ascii(name))
		return (false);
	scope_set(&j, kind, name);
	return (strcmp(j.scope, scope) == 0);
}

/* "system NAME:PORT", in brackets a name that holds a colon itself. */
static void
scope_listener(struct judgement *j, const char *system, uint16_t port)
{
	struct judgement	 bare;
	const char		*name;
	bool			 colon;

	scope_set(&bare, SCOPE_SYSTEM, system);
	(void)judge_scope(bare.scope, &name);
	colon = strchr(name, ':') != NULL;
	snprintf(j->scope, sizeof j->scope, "%s %s%s%s:%u",
	    kinds[SCOPE_SYSTEM], colon ? "[" : "", name, colon ? "]" : "",
	    port);
}

static bool
same_listener(const char *scope, const char *system, uint16_t port)
{
	struct judgement	j;

	if (!judge_is_listener(scope) || system[0] == '\0')
		return (false);
	scope_listener(&j, system, port);
	return (strcmp(j.scope, scope) == 0);
}

/* What a session with system over the route's port speaks about. */
static bool
same_system(const char *scope, const struct route *r, const char *system)
{
	return (same_scope(scope, SCOPE_SYSTEM, system) ||
	    same_listener(scope, system, r->server->port));
}

const char *
judge_system(const struct server *s, const char *host)
{
	if (s->system[0] != '\0' && strcasecmp(s->system, s->host) != 0)
		return (s->system);
	return (host[0] != '\0' ? host : s->host);
}

const char *
judge_domain(const struct route *r)
{
	const char	*at;

	if (r->server->domain[0] != '\0')
		return (r->server->domain);
	at = strrchr(r->to, '@');
	return (at != NULL ? at + 1 : r->to);
}

/* Looking up the domain's MX is the domain's trouble, whatever host serves it. */
static bool
looks_up(const char *scope, const struct route *r)
{
	return (r->server->mx != MX_NONE &&
	    same_scope(scope, SCOPE_SYSTEM, judge_domain(r)));
}

static void
scope_system(struct judgement *j, const struct route *r, const char *host)
{
	const char	*system = judge_system(r->server, host);

	/* No host was found: the trouble is the domain's. */
	scope_set(j, SCOPE_SYSTEM,
	    system[0] != '\0' ? system : judge_domain(r));
}

/* Where no host was found no listener failed. */
static void
scope_port(struct judgement *j, const struct route *r, const char *host)
{
	const char	*system = judge_system(r->server, host);

	if (system[0] == '\0')
		scope_system(j, r, host);
	else
		scope_listener(j, system, r->server->port);
}

/*
 * Where each MX host is probed for itself, even what one of them says about a
 * person or a message is that host's word alone: "canary@far.example via
 * mx1.far.example".
 */
static const char *
via(const struct route *r, const char *name, const char *host,
    char buf[static EPISODE_SCOPE])
{
	char	clean[OUTCOME_HOST];

	if (r->server->mx != MX_EACH || host[0] == '\0')
		return (name);
	text_copy(clean, sizeof clean, host);
	plain(clean);
	snprintf(buf, EPISODE_SCOPE, "%s via %s", name, clean);
	return (buf);
}

static bool
in_grace(const struct route *r, const struct probe *p, int64_t now_ms)
{
	int64_t	first = p->first_attempt.wall_ms;

	return (first == 0 ||
	    now_ms - first < or_defaults(r->alerts)->greylist_grace_ms);
}

/*
 * Before MAIL nothing was said about a message or a person: it is the trouble
 * of the listener, unless it speaks of the whole system.
 */
static enum whose
whose(enum stage stage, enum outcome_class class)
{
	if (stage < STAGE_MAIL && whose_of[class] != OF_SYSTEM)
		return (OF_LISTENER);
	return (whose_of[class]);
}

static void
scope_for(struct judgement *j, enum whose w, const struct route *r,
    const char *host)
{
	char	name[EPISODE_SCOPE];

	switch (w) {
	case OF_RECIPIENT:
		scope_set(j, SCOPE_RECIPIENT, via(r, r->to, host, name));
		break;
	case OF_ROUTE:
		scope_set(j, SCOPE_ROUTE, via(r, r->name, host, name));
		break;
	case OF_LISTENER:
		scope_port(j, r, host);
		break;
	case OF_SYSTEM:
		scope_system(j, r, host);
		break;
	}
}

static void
judge_miss(const struct route *r, const struct outcome *o,
    struct judgement *j)
{
	j->event = EPISODE_EV_MISS;
	j->class = o->class == CLASS_NONE || o->class == CLASS_ACCEPTED ||
	    o->class == CLASS_BLIND ? CLASS_OTHER : o->class;
	scope_for(j, whose(o->stage, j->class), r, o->host);
}

void
judge_attempt(const struct route *r, const struct probe *p,
    const struct outcome *o, int64_t now_ms, struct judgement *j)
{
	memset(j, 0, sizeof *j);
	if (o->verdict == VERDICT_ACCEPTED) {
		j->event = EPISODE_EV_ACCEPT;
		scope_system(j, r, o->host);
	} else if (o->blind) {
		j->event = EPISODE_EV_BLIND;
		j->class = CLASS_BLIND;
		/* A login is a listener's; who resolves names is ours, and one
		 * for all. */
		if (o->class == CLASS_DNS)
			scope_set(j, SCOPE_RESOLVER, "");
		else
			scope_for(j, OF_LISTENER, r, o->host);
	} else if (o->class != CLASS_GREYLISTING || !in_grace(r, p, now_ms)) {
		judge_miss(r, o, j);
	}
}

void
judge_age(const struct route *r, const char *host, struct judgement *j)
{
	char	name[EPISODE_SCOPE];

	memset(j, 0, sizeof *j);
	j->event = EPISODE_EV_MISS;
	j->class = CLASS_UNDELIVERED;
	j->origin = EPISODE_BY_AGE;
	scope_set(j, SCOPE_ROUTE, via(r, r->name, host, name));
}

enum outcome_class
judge_reported(enum outcome_class class)
{
	switch (class) {
	case CLASS_NONE:
	case CLASS_ACCEPTED:
	case CLASS_UNCERTAIN:
	case CLASS_OTHER:
	case CLASS_BLIND:
	case CLASSES:
		return (CLASS_UNDELIVERED);
	case CLASS_SYSTEM_FULL:
	case CLASS_MAILBOX_FULL:
	case CLASS_CONGESTION:
	case CLASS_GREYLISTING:
	case CLASS_RATE_LIMIT:
	case CLASS_SIZE:
	case CLASS_POLICY:
	case CLASS_NO_SUCH_USER:
	case CLASS_AUTH:
	case CLASS_TLS:
	case CLASS_DNS:
	case CLASS_NETWORK:
	case CLASS_UNDELIVERED:
		break;
	}
	return (class);
}

/*
 * What lies behind the server we speak to is a system of its own; the server
 * itself is known by the name that the configuration gives it.
 */
void
judge_report(const struct route *r, enum outcome_class class,
    const char *system, const char *host, struct judgement *j)
{
	char	name[EPISODE_SCOPE];

	memset(j, 0, sizeof *j);
	j->event = EPISODE_EV_MISS;
	j->class = judge_reported(class);
	j->origin = EPISODE_BY_BOUNCE;
	if (whose_of[j->class] == OF_RECIPIENT)
		scope_set(j, SCOPE_RECIPIENT, r->to);
	else if (system[0] == '\0')
		scope_set(j, SCOPE_ROUTE, via(r, r->name, host, name));
	else if (strcasecmp(system, r->server->host) == 0 ||
	    strcasecmp(system, host) == 0)
		scope_system(j, r, system);
	else
		scope_set(j, SCOPE_SYSTEM, system);
}

void
judge_offline(struct judgement *j)
{
	memset(j, 0, sizeof *j);
	j->event = EPISODE_EV_BLIND;
	j->class = CLASS_BLIND;
	scope_set(j, SCOPE_MONITOR, "");
}

int
judge_reached(const struct outcome *o)
{
	if (o->stage == STAGE_NONE)
		return (0);
	if (o->stage > STAGE_CONNECT || o->code != 0)
		return (1);
	/* "There is no such name" is an answer too. */
	return (o->verdict == VERDICT_TEMPORARY ? -1 : 1);
}

void
judge_mailbox(const char *mailbox, struct judgement *j)
{
	memset(j, 0, sizeof *j);
	j->event = EPISODE_EV_BLIND;
	j->class = CLASS_BLIND;
	scope_set(j, SCOPE_MAILBOX, mailbox);
}

enum scope_kind
judge_scope(const char *scope, const char **name_r)
{
	const char	*space = strchr(scope, ' ');
	size_t		 n = space != NULL ? (size_t)(space - scope) :
			    strlen(scope);

	*name_r = space != NULL ? space + 1 : "";
	for (size_t i = 0; i < SCOPES; i++)
		if (strlen(kinds[i]) == n && strncmp(kinds[i], scope, n) == 0)
			return ((enum scope_kind)i);
	return (SCOPES);
}

/* Where ":PORT" begins in the name of a system's scope; its end if it has
 * none.  An address of IPv6 has colons of its own, and then brackets. */
static size_t
port_at(const char *name)
{
	const char	*colon = strrchr(name, ':');
	size_t		 n = strlen(name);

	if (colon == NULL || colon == name || colon[1] == '\0' ||
	    colon[1 + strspn(colon + 1, "0123456789")] != '\0')
		return (n);
	if (colon[-1] != ']' &&
	    memchr(name, ':', (size_t)(colon - name)) != NULL)
		return (n);
	return ((size_t)(colon - name));
}

bool
judge_is_listener(const char *scope)
{
	const char	*name;

	return (judge_scope(scope, &name) == SCOPE_SYSTEM &&
	    name[port_at(name)] != '\0');
}

bool
judge_is_of_system(const char *scope, const char *system)
{
	const char	*name;
	size_t		 n;

	if (judge_scope(scope, &name) != SCOPE_SYSTEM)
		return (false);
	n = port_at(name);
	if (name[n] != '\0' && name[0] == '[') {
		name++;
		n -= 2;
	}
	return (strlen(system) == n && strncasecmp(name, system, n) == 0);
}

bool
judge_watches(const char *mailbox, const struct route *r)
{
	return (strcmp(r->mailbox->name, mailbox) == 0 ||
	    (r->bounces != NULL && strcmp(r->bounces->name, mailbox) == 0));
}

bool
judge_covers(const char *scope, const struct route *r)
{
	const char	*name;

	switch (judge_scope(scope, &name)) {
	case SCOPE_MONITOR:
		return (true);
	case SCOPE_SYSTEM:
		return (looks_up(scope, r) || same_system(scope, r,
		    judge_system(r->server, "")));
	case SCOPE_RECIPIENT:
		return (same_scope(scope, SCOPE_RECIPIENT, r->to));
	case SCOPE_ROUTE:
		return (same_scope(scope, SCOPE_ROUTE, r->name));
	case SCOPE_MAILBOX:
		return (judge_watches(name, r));
	case SCOPE_RESOLVER:
	case SCOPES:
		break;
	}
	return (false);
}

/* What was said before any mail host was known is the word of them all. */
static bool
same_word(const char *scope, enum scope_kind kind, const struct route *r,
    const char *name, const char *host)
{
	char	own[EPISODE_SCOPE];

	return (same_scope(scope, kind, name) ||
	    same_scope(scope, kind, via(r, name, host, own)));
}

bool
judge_speaks(const char *scope, const struct route *r, const char *host)
{
	const char	*name;

	switch (judge_scope(scope, &name)) {
	case SCOPE_SYSTEM:
		return (looks_up(scope, r) || same_system(scope, r,
		    judge_system(r->server, host)));
	case SCOPE_RECIPIENT:
		return (same_word(scope, SCOPE_RECIPIENT, r, r->to, host));
	case SCOPE_ROUTE:
		return (same_word(scope, SCOPE_ROUTE, r, r->name, host));
	case SCOPE_MONITOR:
	case SCOPE_RESOLVER:
	case SCOPE_MAILBOX:
	case SCOPES:
		break;
	}
	return (false);
}

/* One look is enough to see: blindness and age count time, not tries. */
void
judge_limits(const struct alerts *alerts, const struct episode *e,
    struct episode_limits *lim)
{
	const struct alerts	*a = or_defaults(alerts);

	*lim = (struct episode_limits){
		.misses_to_fail = a->fail_after,
		.fail_for_ms = a->fail_for_ms,
		.accepts_to_mend = a->accept_after,
		.settle_ms = a->settle_ms,
	};
	if (e->origin != EPISODE_BY_ATTEMPT) {
		lim->misses_to_fail = 1;
		lim->fail_for_ms = 0;
	} else if (e->class == CLASS_SYSTEM_FULL) {
		lim->misses_to_fail = a->full_after;
		lim->fail_for_ms = 0;
	} else if (e->class == CLASS_BLIND) {
		lim->misses_to_fail = 1;
		lim->fail_for_ms = a->blind_after_ms;
	}
}
