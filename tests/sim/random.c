/*
 * Random worlds: random [-n WORLDS] [-s SEED]
 *
 * Each world has its own servers, mailboxes, routes and limits, a day or two
 * of random trouble (refusals, crashes, blindness, clock steps, reloads that
 * leave out or rename, pauses, alert relays that fail), and then a long calm.
 * At every moment no two episodes are open for the same thing; after the calm
 * all that was begun must be over, and everybody must have been told, once and
 * in order.
 * A world that breaks a promise prints its seed, and -s SEED -n 1 plays it
 * again (SIM_LOG=1 shows the monitor's log, SIM_DEEDS=1 what is done to it).
 */
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alerts/cap.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "tests/sim/playground.h"
#include "tests/sim/rows.h"
#include "tests/sim/world.h"

#define START_MS	INT64_C(1767571200000)	/* 2026-01-05 00:00 UTC */
#define MINUTE_MS	INT64_C(60000)
#define HOUR_MS		(60 * MINUTE_MS)
#define ROUTES_MAX	6
#define SERVERS_MAX	3
#define MAILBOXES_MAX	3
#define RELAYS_MAX	2
#define WHY		512

struct play {
	uint64_t	 seed, random;
	const char	*directory;
	struct world	*w;
	unsigned	 servers, mailboxes, relays, routes;
	unsigned	 by_mx;			/* bits: servers found by MX */
	unsigned	 routes_now;		/* bits: since the last reload */
	unsigned	 routes_renamed;	/* bits: have their other name */
	unsigned	 servers_moved;		/* bits: have their other host */
	bool		 alerts_renamed;
	bool		 other_on_duty;		/* in place of oncall */
	bool		 duty_changed;		/* ever */
	unsigned	 without;		/* bits: deeds that it never does */
	int64_t		 gap_ms;		/* between deeds, at most */
	bool		 peaceful;		/* nothing that people must hear of */
	int64_t		 clock_ms;		/* the sum of the steps */
	int64_t		 every_ms;		/* the longest */
	char		*shared;		/* owned: the config but for routes */
	char		*route[ROUTES_MAX];	/* owned */
	bool		 deeds;			/* print them */
	char		 why[WHY];		/* the first broken promise */
};

/* Chance. */

static uint64_t
dice(struct play *p)
{
	uint64_t	x = (p->random += 0x9e3779b97f4a7c15U);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
	x = (x ^ x >> 27) * 0x94d049bb133111ebU;
	return (x ^ x >> 31);
}

static unsigned
below(struct play *p, unsigned n)
{
	return ((unsigned)(dice(p) % n));
}

static int64_t
between(struct play *p, int64_t low, int64_t high)
{
	return (low + (int64_t)(dice(p) % (uint64_t)(high - low + 1)));
}

#define PICK(p, list)	((list)[below((p), NITEMS(list))])

static void __attribute__((format(printf, 2, 3)))
broken(struct play *p, const char *fmt, ...)
{
	va_list	ap;

	if (p->why[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(p->why, sizeof p->why, fmt, ap);
	va_end(ap);
}

/* The configuration. */

static void
append(char **text, char *more)
{
	char	*longer = mem_printf("%s%s", *text, more);

	mem_free(*text);
	mem_free(more);
	*text = longer;
}

static char *
make_alerts(struct play *p)
{
	static const char *const	fail_fors[] = { "0", "1m", "5m" };
	static const char *const	confirms[] = { "10s", "30s", "5m" };
	static const char *const	settles[] = { "5m", "30m", "1h" };
	static const char *const	blinds[] = { "5m", "10m", "30m" };

	return (mem_printf("alerts \"default\" { from = \"m@alert.example\" "
	    "to = {\"admin@alert.example\"%s} servers = {\"relay0\"%s} "
	    "full_after = %u fail_after = %u fail_for = %s accept_after = %u "
	    "confirm = %s settle = %s blind_after = %s }\n",
	    below(p, 2) ? ", \"oncall@alert.example\"" : "",
	    p->relays > 1 ? ", \"relay1\"" : "", 1 + below(p, 2),
	    1 + below(p, 3), PICK(p, fail_fors), 1 + below(p, 3),
	    PICK(p, confirms), PICK(p, settles), PICK(p, blinds)));
}

static char *
make_server(struct play *p, unsigned n)
{
	if (below(p, 4) == 0) {
		p->by_mx |= 1U << n;
		return (mem_printf("server \"s%u\" { mx = \"each\" domain = "
		    "\"d%u.example\" tls = \"none\" port = 25 }\n", n, n));
	}
	return (mem_printf("server \"s%u\" { host = \"mx%u.example\" "
	    "tls = \"none\" port = 25 concurrency = %u %s%s}\n", n, n,
	    1 + below(p, 3), below(p, 4) ? "" : "connect_every = 2m ",
	    below(p, 3) ? "" : "user = \"u\" password_command = \"true\" "
	    "insecure_auth = true "));
}

static char *
make_route(struct play *p, unsigned n)
{
	static const struct {
		const char	*word;
		int64_t		 ms;
	} everies[] = {
		{ "5m", 5 * MINUTE_MS }, { "5m", 5 * MINUTE_MS },
		{ "2m", 2 * MINUTE_MS }, { "15m", 15 * MINUTE_MS },
		{ "1h", HOUR_MS },
	};
	static const char *const	retries[] = { "{1m, 5m, 10m, 15m}",
					    "{1m}", "{10s, 20m}", "{15m}" };
	static const char *const	give_ups[] = { "5d", "1h", "10m" };
	unsigned			every = below(p, NITEMS(everies));
	char				bounces[32] = "";

	if (below(p, 2))
		snprintf(bounces, sizeof bounces, "bounces = \"b%u\" ",
		    below(p, p->mailboxes));
	if (everies[every].ms > p->every_ms)
		p->every_ms = everies[every].ms;
	return (mem_printf("route \"r%u\" { server = \"s%u\" from = "
	    "\"probe@org%u.example\" to = \"canary%u@net%u.example\" "
	    "mailbox = \"b%u\" every = %s retry = %s give_up = %s "
	    "resend_after = %s pending_max = %u late_after = %s "
	    "lost_after = 6h %s}\n", n, below(p, p->servers), n, n, below(p, 2),
	    below(p, p->mailboxes), everies[every].word, PICK(p, retries),
	    PICK(p, give_ups), below(p, 2) ? "4h" : "1h", 1 + below(p, 6),
	    below(p, 2) ? "10m" : "30m", bounces));
}

/* Half the worlds are worked on now and then. */
static char *
make_window(struct play *p)
{
	static const char *const	zones[] = { "UTC", "Europe/Berlin",
					    "Australia/Lord_Howe" };
	unsigned			from = below(p, 24);

	if (below(p, 2))
		return (mem_strdup(""));
	return (mem_printf("window \"w\" { routes = {\"%s\"} from = "
	    "\"%02u:30\" to = \"%02u:15\" timezone = \"%s\" }\n",
	    below(p, 2) ? "*" : "r[0-2]", from, (from + 1 + below(p, 6)) % 24,
	    PICK(p, zones)));
}

static void
make_config(struct play *p)
{
	p->servers = 1 + below(p, SERVERS_MAX);
	p->mailboxes = 1 + below(p, MAILBOXES_MAX);
	p->relays = 1 + below(p, RELAYS_MAX);
	p->routes = 1 + below(p, ROUTES_MAX);
	p->routes_now = (1U << p->routes) - 1;
	p->shared = mem_printf("instance = \"sim\"\nspacing = %s\n"
	    "senders = %u\n", below(p, 2) ? "0" : "5s", 1 + below(p, 16));
	for (unsigned i = 0; i < p->servers; i++)
		append(&p->shared, make_server(p, i));
	for (unsigned i = 0; i < p->relays; i++)
		append(&p->shared, mem_printf("server \"relay%u\" { host = "
		    "\"192.0.2.%u\" tls = \"none\" port = 25 }\n", i, i + 1));
	for (unsigned i = 0; i < p->mailboxes; i++)
		append(&p->shared, mem_printf("mailbox \"b%u\" { host = "
		    "\"imap%u.example\" user = \"canary\" password_command = "
		    "\"true\" poll = %s }\n", i, i, below(p, 2) ? "1m" : "5m"));
	append(&p->shared, make_alerts(p));
	append(&p->shared, make_window(p));
	for (unsigned i = 0; i < p->routes; i++)
		p->route[i] = make_route(p, i);
}

/* One letter of what is there once. */
static void
rename_to(char *text, const char *what, size_t at, char letter)
{
	char	*found = strstr(text, what);

	if (found != NULL)
		found[at] = letter;
}

/* All routes, or those of the bits, by the names that things have now. */
static char *
config_text(const struct play *p, unsigned bits)
{
	char	*text = mem_strdup(p->shared), what[32];

	for (unsigned i = 0; i < p->routes; i++)
		if ((bits & 1U << i) != 0)
			append(&text, mem_strdup(p->route[i]));
	for (unsigned i = 0; i < p->routes; i++) {
		snprintf(what, sizeof what, "route \"r%u\"", i);
		if ((p->routes_renamed & 1U << i) != 0)
			rename_to(text, what, 7, 'q');
	}
	for (unsigned i = 0; i < p->servers; i++) {
		snprintf(what, sizeof what, "host = \"mx%u.example", i);
		if ((p->servers_moved & 1U << i) != 0)
			rename_to(text, what, 8, 'n');
	}
	if (p->other_on_duty)
		rename_to(text, "\"oncall@", 1, 'i');
	if (p->alerts_renamed)
		rename_to(text, "alerts \"default\"", 8, 'D');
	return (text);
}

static void
reload(struct play *p, unsigned bits)
{
	char	*text = config_text(p, bits);

	p->routes_now = bits;
	world_reload(p->w, text);
	mem_free(text);
}

/* Trouble. */

static const struct {
	const char	*stage, *reply;
} refusals[] = {
	{ "mail", "452 4.3.1 Insufficient system storage" },
	{ "mail", "452 4.3.1 Insufficient system storage" },
	{ "mail", "452 4.3.1 Insufficient system storage" },
	{ "dot", "452 4.3.1 Mail system full, try again later." },
	{ "dot", "451 4.3.0 Error: queue file write error" },
	{ "mail", "554 5.3.1 Mail system full" },
	{ "rcpt", "452 4.2.2 Mailbox full" },
	{ "rcpt", "550 5.1.1 User unknown" },
	{ "rcpt", "450 4.2.0 Recipient address rejected: Greylisted" },
	{ "rcpt", "450 4.7.1 Too many messages, slow down" },
	{ "mail", "421 4.3.2 Service currently unavailable" },
	{ "greeting", "421 4.3.2 Too many connections" },
	{ "auth", "535 5.7.8 Authentication failed" },
	{ "dot", "550 5.7.1 Message rejected by policy" },
};

/* The name the world knows the server by: its section, or an MX host. */
static void
server_name(const struct play *p, unsigned n, unsigned host, char name[16])
{
	if ((p->by_mx & 1U << n) != 0)
		snprintf(name, 16, "h%u%c.example", n % 10, host ? 'b' : 'a');
	else
		snprintf(name, 16, "s%u", n);
}

static void
set_hosts(struct play *p, unsigned n, bool both)
{
	char	domain[32], hosts[64];

	snprintf(domain, sizeof domain, "d%u.example", n);
	snprintf(hosts, sizeof hosts, "h%ua.example%s", n, !both ? "" :
	    n == 0 ? " h0b.example" : n == 1 ? " h1b.example" :
	    " h2b.example");
	world_hosts(p->w, domain, hosts);
}

static void
some_hosts(struct play *p)
{
	set_hosts(p, below(p, p->servers), below(p, 2) != 0);
}

static void
some_server(struct play *p)
{
	static const enum behaviour	others[] = {
		SERVER_SILENT, SERVER_SWALLOWS, SERVER_REFUSES, SERVER_HANGS,
		SERVER_KILLS, SERVER_KILLS_LATE, SERVER_UNRESOLVED,
	};
	char				name[16];
	unsigned			n = below(p, NITEMS(refusals));

	server_name(p, below(p, p->servers), below(p, 2), name);
	switch (below(p, 5)) {
	case 0:
	case 1:
		world_server(p->w, name, SERVER_ANSWERS, refusals[n].stage,
		    refusals[n].reply);
		break;
	case 2:
		world_server(p->w, name, PICK(p, others), "", "");
		break;
	case 3:
		world_lucky(p->w, name);
		break;
	default:
		world_server(p->w, name, SERVER_ACCEPTS, "", "");
	}
}

static void
some_relay(struct play *p)
{
	static const enum behaviour	all[] = {
		SERVER_ACCEPTS, SERVER_ACCEPTS, SERVER_SILENT, SERVER_SWALLOWS,
		SERVER_REFUSES, SERVER_KILLS, SERVER_KILLS_LATE, SERVER_HANGS,
	};
	char				name[16];

	snprintf(name, sizeof name, "relay%u", below(p, p->relays));
	if (below(p, 4) == 0)
		world_server(p->w, name, SERVER_ANSWERS, "rcpt",
		    "550 5.7.1 Relaying denied");
	else
		world_server(p->w, name, PICK(p, all), "", "");
}

static void
some_mailbox(struct play *p)
{
	static const enum fate	fates[] = { FATE_ARRIVES, FATE_LOST,
				    FATE_TWICE, FATE_JUNK, FATE_HELD,
				    FATE_BOUNCED };
	char			name[16];

	snprintf(name, sizeof name, "b%u", below(p, p->mailboxes));
	switch (below(p, 4)) {
	case 0:
		world_fate(p->w, name, PICK(p, fates));
		break;
	case 1:
		world_mailbox(p->w, name, below(p, 2) != 0, "login refused");
		break;
	case 2:
		world_delay(p->w, name, between(p, 0, 20 * MINUTE_MS));
		break;
	default:
		world_fate(p->w, name, FATE_ARRIVES);
		world_mailbox(p->w, name, false, "");
	}
}

/* A relay that hides trouble, and tells of what it has so far. */
static void
some_report(struct play *p)
{
	static const char *const	said[] = {
		"452 4.3.1 Insufficient system storage", "552 5.2.2 Full",
		"450 4.2.0 Greylisted", "550 5.1.1 User unknown", "",
	};
	char				name[16];

	snprintf(name, sizeof name, "b%u", below(p, p->mailboxes));
	world_report(p->w, name, (enum report_news)below(p, REPORT_NEWS),
	    PICK(p, said), below(p, 2) ? "next.example" : "mx0.example");
	world_fate(p->w, name, FATE_HELD);
}

static void
some_recipient(struct play *p)
{
	char	address[64];

	for (unsigned n = 0; n < 2; n++) {
		snprintf(address, sizeof address, "canary%u@net%u.example",
		    below(p, p->routes), n);
		world_recipient(p->w, address, "rcpt", below(p, 2) ? "" :
		    "452 4.2.2 Mailbox full");
	}
}

static void
some_crash(struct play *p)
{
	world_crash_at(p->w, 1 + below(p, 30), (enum crash)below(p, 3));
}

static void
some_down(struct play *p)
{
	world_down(p->w, between(p, 1000, below(p, 4) == 0 ? 6 * HOUR_MS :
	    10 * MINUTE_MS));
}

static void
some_reload(struct play *p)
{
	unsigned	all = (1U << p->routes) - 1, bits = below(p, all + 1);

	if (below(p, 4) == 0)
		p->routes_renamed ^= 1U << below(p, p->routes);
	if (below(p, 4) == 0)
		p->servers_moved ^= 1U << below(p, p->servers);
	if (below(p, 4) == 0)
		p->alerts_renamed = !p->alerts_renamed;
	if (below(p, 4) == 0) {
		p->other_on_duty = !p->other_on_duty;
		p->duty_changed = true;
	}
	reload(p, p->peaceful || bits == 0 ? all : bits);
}

static void
some_pause(struct play *p)
{
	char	name[32];

	snprintf(name, sizeof name, "r%u", below(p, p->routes));
	world_pause(p->w, name, below(p, 2) != 0);
}

static void
some_clock(struct play *p)
{
	int64_t	by_ms = between(p, -HOUR_MS, HOUR_MS);

	if (p->clock_ms + by_ms > 2 * HOUR_MS ||
	    p->clock_ms + by_ms < -2 * HOUR_MS)
		by_ms = -p->clock_ms;
	p->clock_ms += by_ms;
	world_set_clock(p->w, by_ms);
}

static void
some_order(struct play *p)
{
	char	name[32];

	snprintf(name, sizeof name, "r%u", below(p, p->routes));
	if (below(p, 4) == 0)
		world_ack(p->w, 1 + below(p, 4));
	else
		world_probe(p->w, name);
}

static void
some_early(struct play *p)
{
	world_early(p->w, below(p, 2) != 0);
}

/* Deeds that people need not hear of come first. */
static const struct {
	const char	*name;
	void		(*deed)(struct play *);
} deeds[] = {
	{ "crash",	some_crash },
	{ "crash",	some_crash },
	{ "crash",	some_crash },
	{ "reload",	some_reload },
	{ "pause",	some_pause },
	{ "order",	some_order },
	{ "early",	some_early },
	{ "clock",	some_clock },
	{ "relay",	some_relay },
	{ "down",	some_down },
	{ "hosts",	some_hosts },
#define PEACEFUL	11
#define MENDING		0x20fU	/* crash, reload, down */
	{ "server",	some_server },
	{ "server",	some_server },
	{ "server",	some_server },
	{ "server",	some_server },
	{ "server",	some_server },
	{ "mailbox",	some_mailbox },
	{ "mailbox",	some_mailbox },
	{ "recipient",	some_recipient },
	{ "report",	some_report },
	{ "report",	some_report },
	{ "report",	some_report },
};

/* Promises that hold at every moment. */

struct open_episodes {
	struct play		*play;
	const struct episode	*seen[64];
	size_t			 count;
};

struct pause {
	const char	*route;
	bool		 paused;
};

static void
note_pause(void *arg, const struct route_view *v)
{
	struct pause	*x = arg;

	if (strcmp(v->route->name, x->route) == 0)
		x->paused = v->paused;
}

struct sought {
	const char	*token;
	bool		 found;
	struct probe	 p;
};

static void
seek(void *arg, const struct probe *p)
{
	struct sought	*s = arg;

	if (strcmp(p->token, s->token) != 0)
		return;
	s->found = true;
	s->p = *p;
}

/* Who holds all others back must be about to try.  One that waits in line
 * for its first session has no row yet. */
static void
check_sentinel(struct play *p, const struct episode *e)
{
	struct sought	s = { .token = e->sentinel };
	struct pause	x = { s.p.route, false };

	if (e->state != EPISODE_FAILING || e->sentinel[0] == '\0')
		return;
	engine_probes(world_engine(p->w), seek, &s);
	if (!s.found) {
		broken(p, "%s waits for a probe that is not there", e->scope);
		return;
	}
	engine_routes(world_engine(p->w), note_pause, &x);
	if (x.paused || (s.p.state != PROBE_WAITING &&
	    s.p.state != PROBE_SENDING && s.p.state != PROBE_COMMITTED))
		broken(p, "%s waits for a probe that is %s", e->scope,
		    x.paused ? "paused" : probe_state_name(s.p.state));
}

static void
check_open(void *arg, const struct episode *e)
{
	struct open_episodes	*o = arg;

	check_sentinel(o->play, e);
	for (size_t i = 0; i < o->count; i++)
		if (o->seen[i]->class == e->class &&
		    strcmp(o->seen[i]->scope, e->scope) == 0)
			broken(o->play, "two episodes %lld and %lld of %s",
			    (long long)o->seen[i]->id, (long long)e->id,
			    e->scope);
	if (o->count < NITEMS(o->seen))
		o->seen[o->count++] = e;
}

static void
check_now(struct play *p)
{
	struct open_episodes	o = { .play = p };

	if (world_fault(p->w)[0] != '\0')
		broken(p, "%s", world_fault(p->w));
	if (world_engine(p->w) != NULL)
		follow_each(engine_follow(world_engine(p->w)), check_open, &o);
}

static void
pass(struct play *p, int64_t span_ms)
{
	int64_t	end_ms = world_now_ms(p->w) + span_ms, next_ms;

	while (world_now_ms(p->w) < end_ms && p->why[0] == '\0') {
		next_ms = world_now_ms(p->w) + 10 * MINUTE_MS;
		world_run(p->w, next_ms < end_ms ? next_ms : end_ms);
		check_now(p);
	}
}

/* Promises that hold after the calm. */

/* In a storm a part of what is told is in a summary. */

struct kept {
	int64_t	episode;
	bool	found;
};

static void
note_kept(void *arg, const struct notice *n)
{
	struct kept	*k = arg;

	k->found = k->found || n->episode == k->episode;
}

static bool
is_summarised(struct play *p, int64_t episode)
{
	struct kept	k = { .episode = episode };

	(void)store_notice_kept(world_store(p->w), "default", 0, note_kept,
	    &k);
	(void)store_notice_kept(world_store(p->w), "Default", 0, note_kept,
	    &k);
	return (k.found);
}

/* What one recipient heard of one episode. */
static void
check_thread(struct play *p, const struct told *first)
{
	struct episode	 e = { .class = CLASS_NONE };
	long long	 id = 0;
	char		 last = ' ', heard[256] = "";

	(void)sscanf(first->thread, "<%*[a-z].%*u.%lld.", &id);
	if (store_episode_get(world_store(p->w), id, &e) != 1)
		broken(p, "a notice %s of no episode", first->thread);
	if (is_summarised(p, id))
		return;
	for (const struct told *t = first; t != NULL; t = t->next) {
		bool	ok = true;

		if (strcmp(t->thread, first->thread) != 0 ||
		    strcmp(t->to, first->to) != 0)
			continue;
		if (p->duty_changed && strcmp(t->kind, "failing") == 0 &&
		    strstr(t->to, "ncall@") != NULL)
			ok = true;	/* perhaps back on duty */
		else if (strcmp(t->kind, "failing") == 0)
			ok = last == ' ' || last == 'd' || last == 'a' ||
			    last == 'u';
		else if (strcmp(t->kind, "reminder") == 0)
			ok = last == 'f' || last == 'r';
		else if (strcmp(t->kind, "accepting") == 0)
			ok = e.class != CLASS_BLIND && (last == 'f' ||
			    last == 'r');
		else if (strcmp(t->kind, "unwatched") == 0)
			ok = last == 'f' || last == 'r' || last == 'a';
		else
			ok = last == 'a' || (e.class == CLASS_BLIND &&
			    (last == 'f' || last == 'r'));
		last = t->kind[0];
		(void)text_appendf(heard, sizeof heard, "%c", last);
		if (!ok)
			broken(p, "episode %lld %s %s: %s heard \"%s\"", id,
			    e.scope, class_name(e.class), t->to, heard);
	}
	/* Who is no longer on duty is told no more. */
	if (p->duty_changed && strstr(first->to, "ncall@") != NULL)
		return;
	if (last != 'd' && last != 'u')
		broken(p, "episode %lld %s %s: %s heard only \"%s\"", id,
		    e.scope, class_name(e.class), first->to, heard);
}

static bool
begins_thread(const struct play *p, const struct told *t)
{
	const struct told	*x = world_told(p->w);

	while (x != t && (strcmp(x->thread, t->thread) != 0 ||
	    strcmp(x->to, t->to) != 0))
		x = x->next;
	return (x == t);
}

static void
check_notices(struct play *p)
{
	int64_t	since_ms;

	if (p->peaceful && world_notices(p->w)[0] != '\0')
		broken(p, "notices without a cause: %s", world_notices(p->w));
	for (const struct told *t = world_told(p->w); t != NULL; t = t->next)
		if (strcmp(t->kind, "summary") != 0 && begins_thread(p, t))
			check_thread(p, t);
	if (cap_due_ms(world_store(p->w), p->alerts_renamed ? "Default" :
	    "default", &since_ms) != 0)
		broken(p, "%s", "notices were kept and never told");
	if (outbox_waiting(engine_outbox(world_engine(p->w))) != 0)
		broken(p, "%u notices still wait",
		    outbox_waiting(engine_outbox(world_engine(p->w))));
}

static void
say_open(void *arg, const struct episode *e)
{
	struct play	*p = arg;

	broken(p, "episode %lld %s %s is still %s", (long long)e->id, e->scope,
	    class_name(e->class), episode_state_name(e->state));
}

static void
check_route(void *arg, const struct route_view *v)
{
	struct play	*p = arg;
	int64_t		 now_ms = world_now_ms(p->w) + p->clock_ms;

	if (now_ms - v->last_delivered_ms > 3 * v->route->every_ms +
	    5 * MINUTE_MS)
		broken(p, "route %s: nothing delivered for %lld min",
		    v->route->name,
		    (long long)((now_ms - v->last_delivered_ms) / MINUTE_MS));
	if (v->current != NULL && now_ms - v->current->scheduled_ms >
	    10 * MINUTE_MS)
		broken(p, "route %s: a probe is stuck in %s", v->route->name,
		    probe_state_name(v->current->state));
	if (v->pending > 1)
		broken(p, "route %s: %u probes are still awaited",
		    v->route->name, v->pending);
}

/* Rows: one a probe, and one more if it was lost and came after all. */

struct tally {
	char		 key[TOKEN_SIZE + 16];
	unsigned	 rows;
	unsigned	 after_all;
};

struct tallies {
	struct play	*play;
	void		*tree;		/* tsearch(3) */
};

static int
by_key(const void *a, const void *b)
{
	const struct tally	*x = a, *y = b;

	return (strcmp(x->key, y->key));
}

static struct tally *
tally_of(struct tallies *all, const char *key, bool make)
{
	struct tally	 like, **found, *t;

	text_copy(like.key, sizeof like.key, key);
	if ((found = tfind(&like, &all->tree, by_key)) != NULL)
		return (*found);
	if (!make)
		return (NULL);
	t = mem_alloc(sizeof *t);
	text_copy(t->key, sizeof t->key, key);
	(void)tsearch(t, &all->tree, by_key);
	return (t);
}

static void
count_latency(void *arg, const char *row)
{
	struct tallies	*all = arg;
	char		 token[TOKEN_SIZE], note[PROBE_NOTE];
	struct tally	*t;

	rows_field(row, LATENCY_PROBE, token, sizeof token);
	rows_field(row, LATENCY_NOTE, note, sizeof note);
	t = tally_of(all, token, true);
	if (strstr(note, "was-lost") != NULL)
		t->after_all++;
	else
		t->rows++;
	if (t->rows > 1 || t->after_all > 1 || t->rows == 0)
		broken(all->play, "probe %s has %u rows and %u after all",
		    token, t->rows, t->after_all);
}

static void
count_attempt(void *arg, const char *row)
{
	struct tallies	*all = arg;
	char		 token[TOKEN_SIZE], try[12], key[TOKEN_SIZE + 16];
	struct tally	*t;

	rows_field(row, ATTEMPTS_PROBE, token, sizeof token);
	rows_field(row, ATTEMPTS_TRY, try, sizeof try);
	snprintf(key, sizeof key, "%s %s", token, try);
	t = tally_of(all, key, true);
	if (++t->rows > 1)
		broken(all->play, "two rows of attempt %s", key);
}

static void
check_body(void *arg, const char *token)
{
	struct tallies	*all = arg;
	struct probe	 p;

	if (tally_of(all, token, false) != NULL)
		return;
	/* The last ones may still be under way. */
	if (store_probe_get(world_store(all->play->w), token, &p) != 1)
		broken(all->play, "no trace of %s, whose body went out", token);
	else if (p.state == PROBE_DONE)
		broken(all->play, "no row of %s, which has ended", token);
}

static void
check_rows(struct play *p)
{
	struct tallies	probes = { p, NULL }, attempts = { p, NULL };

	rows_each(p->directory, ROWS_LATENCY, count_latency, &probes);
	rows_each(p->directory, ROWS_ATTEMPTS, count_attempt, &attempts);
	world_each_body(p->w, check_body, &probes);
	tdestroy(probes.tree, mem_free);
	tdestroy(attempts.tree, mem_free);
}

static void
check_end(struct play *p)
{
	check_now(p);
	if (world_engine(p->w) == NULL) {
		broken(p, "the monitor is down");
		return;
	}
	follow_each(engine_follow(world_engine(p->w)), say_open, p);
	engine_routes(world_engine(p->w), check_route, p);
	check_notices(p);
	check_rows(p);
}

/* A world. */

static void
trouble(struct play *p)
{
	unsigned	n = 10 + below(p, 60), which;

	for (; n > 0 && p->why[0] == '\0'; n--) {
		which = below(p, p->peaceful ? PEACEFUL : NITEMS(deeds));
		if ((p->without & 1U << which) != 0)
			continue;
		if (p->deeds)
			printf("%7.1f min %s\n", (double)(world_now_ms(p->w) -
			    START_MS) / MINUTE_MS, deeds[which].name);
		deeds[which].deed(p);
		pass(p, between(p, 0, p->gap_ms));
	}
}

/* Everything is well again, and stays so. */
static void
calm(struct play *p)
{
	char	name[32];

	if (p->deeds)
		printf("%7.1f min calm\n", (double)(world_now_ms(p->w) -
		    START_MS) / MINUTE_MS);
	for (unsigned i = 0; i < 2 * p->servers; i++) {
		server_name(p, i / 2, i % 2, name);
		world_server(p->w, name, SERVER_ACCEPTS, "", "");
		set_hosts(p, i / 2, true);
	}
	for (unsigned i = 0; i < p->relays; i++) {
		snprintf(name, sizeof name, "relay%u", i);
		world_server(p->w, name, SERVER_ACCEPTS, "", "");
	}
	for (unsigned i = 0; i < p->mailboxes; i++) {
		snprintf(name, sizeof name, "b%u", i);
		world_delay(p->w, name, 15);
		world_fate(p->w, name, FATE_ARRIVES);
		world_mailbox(p->w, name, false, "");
	}
	for (unsigned i = 0; i < 2 * p->routes; i++) {
		snprintf(name, sizeof name, "canary%u@net%u.example", i / 2,
		    i % 2);
		world_recipient(p->w, name, "rcpt", "");
	}
	world_crash_at(p->w, UINT64_MAX / 2, CRASH_AFTER);
	if (world_engine(p->w) == NULL)
		world_run(p->w, world_now_ms(p->w) + 7 * HOUR_MS);
	/* Only if it must: a reload would mend what is stuck. */
	if (p->routes_now != (1U << p->routes) - 1)
		reload(p, (1U << p->routes) - 1);
	for (unsigned i = 0; i < p->routes; i++) {
		snprintf(name, sizeof name, "r%u", i);
		world_pause(p->w, name, false);
		name[0] = 'q';
		world_pause(p->w, name, false);
	}
}

static bool
play(uint64_t seed, const char *directory, char why[static WHY])
{
	struct play	p = { .seed = seed, .random = seed,
			    .directory = directory };
	char		*text;

	playground_clear();
	p.deeds = getenv("SIM_DEEDS") != NULL;
	p.peaceful = below(&p, 8) == 0;
	p.gap_ms = below(&p, 3) == 0 ? 5 * MINUTE_MS : HOUR_MS;
	/* What mends by starting anew is left out of some. */
	for (unsigned i = 0; i < NITEMS(deeds); i++)
		if (below(&p, 2) == 0 && strcmp(deeds[i].name, "server") != 0)
			p.without |= 1U << i;
	if (below(&p, 3) == 0)
		p.without |= MENDING;
	make_config(&p);
	text = config_text(&p, (1U << p.routes) - 1);
	if (p.deeds)
		printf("%s", text);
	p.w = world_new(directory, text, START_MS);
	mem_free(text);
	for (unsigned i = 0; i < p.servers; i++)
		set_hosts(&p, i, true);
	trouble(&p);
	calm(&p);
	/* The slowest things: a hold of four hours and another look at what
	 * is lost after six, a clock that catches up at half speed. */
	pass(&p, 20 * HOUR_MS);
	check_end(&p);
	world_free(&p.w);
	mem_free(p.shared);
	for (unsigned i = 0; i < p.routes; i++)
		mem_free(p.route[i]);
	text_copy(why, WHY, p.why);
	return (why[0] == '\0');
}

int
main(int argc, char **argv)
{
	uint64_t	seed = 1, worlds = 300, failed = 0;
	const char	*directory;
	char		 why[WHY];
	int		 c;

	while ((c = getopt(argc, argv, "n:s:")) != -1)
		if (c == 'n')
			worlds = strtoull(optarg, NULL, 10);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 10);
		else
			return (64);
	if (getenv("SIM_LOG") == NULL && freopen("/dev/null", "w",
	    stderr) == NULL)
		return (2);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	directory = playground_make();
	for (uint64_t i = 0; i < worlds; i++)
		if (!play(seed + i, directory, why)) {
			printf("FAIL world %" PRIu64 ": %s\n", seed + i, why);
			failed++;
		}
	playground_remove();
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", worlds - failed,
	    failed);
	return (failed > 0 || worlds == 0);
}
