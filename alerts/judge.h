#ifndef JUDGE_H
#define JUDGE_H

#include "alerts/episode.h"
#include "monitor/outcome.h"
#include "monitor/probe.h"
#include "monitor/route.h"

/*
 * Whose trouble is it?  Turns what happened into a scope, a class and an
 * event of the episode table.  Pure.
 *
 * Scopes are words: "system NAME", "system NAME:PORT", "recipient ADDRESS",
 * "route NAME", "mailbox NAME", "resolver", "monitor".  Names of systems and
 * addresses are in lower case.  With a port it is the trouble of one listener
 * of that system, of which its others know nothing; "system [NAME]:PORT" if
 * the name holds a colon itself.  Where each MX host is probed for itself:
 * "recipient ADDRESS via HOST" and "route NAME via HOST".
 */
struct judgement {
	char			 scope[EPISODE_SCOPE];	/* "" : nothing to move */
	enum outcome_class	 class;
	enum episode_event	 event;
	enum episode_origin	 origin;
};

/* From the widest to the narrowest. */
enum scope_kind {
	SCOPE_MONITOR,
	SCOPE_RESOLVER,		/* ours; of the routes whose look-ups failed */
	SCOPE_SYSTEM,
	SCOPE_RECIPIENT,
	SCOPE_ROUTE,
	SCOPE_MAILBOX,
	SCOPES
};

/*
 * One attempt, ended at now_ms (wall).  A failed one gives MISS (or BLIND)
 * for its scope and class; an accepted one gives ACCEPT with class NONE and
 * the system's scope: the caller applies it to every open episode that the
 * accept speaks about (judge_speaks()).  Greylisting is no miss before the
 * alerts section's greylist_grace since the probe's first attempt.
 */
void	 judge_attempt(const struct route *, const struct probe *,
	    const struct outcome *, int64_t now_ms, struct judgement *);

/* A probe older than late_after since its 250, which came from host: MISS for
 * `undelivered`. */
void	 judge_age(const struct route *, const char *host,
	    struct judgement *);

/*
 * A delivery report or a bounce about a probe that host took.  system is who
 * it says the trouble is with, "" if it names nobody.  MISS, whatever our own
 * session came to.
 */
void	 judge_report(const struct route *, enum outcome_class,
	    const char *system, const char *host, struct judgement *);
/* The class of a probe that a report gave up: `undelivered` if the report
 * has no better one. */
enum outcome_class judge_reported(enum outcome_class);

/* Nothing can be reached at all. */
void	 judge_offline(struct judgement *);

/*
 * No connection came about, or not even a look-up: -1 if so, 1 if somebody
 * answered, 0 if the outcome does not tell.
 */
int	 judge_reached(const struct outcome *);

/* A mailbox that cannot be looked at. */
void	 judge_mailbox(const char *mailbox, struct judgement *);

/*
 * The system an outcome speaks about: the server's system name if set apart
 * from its host, else the host spoken to, else the server's host.  "" when
 * none of them is known: a server found by MX, before it was looked up.
 */
const char *judge_system(const struct server *, const char *host);

/*
 * Does a probe of this route go through the trouble of scope?  Who refused a
 * recipient does not stand in its scope: the caller compares the systems, here
 * and with judge_speaks().
 */
bool	 judge_covers(const char *scope, const struct route *);

/*
 * Does a 250 to the dot from host, on this route, say anything about scope?
 * Another system's 250 does not, nor another listener's about a listener.
 */
bool	 judge_speaks(const char *scope, const struct route *,
	    const char *host);

/* The domain that the MX hosts of a route are looked up for. */
const char *judge_domain(const struct route *);

/* Does what this mailbox holds, or cannot show, belong to the route? */
bool	 judge_watches(const char *mailbox, const struct route *);

/* The kind of a scope, and the name behind it ("" for the monitor and its
 * resolver). */
enum scope_kind	 judge_scope(const char *scope, const char **name_r);
/* A system's scope that is one listener's: "system NAME:PORT". */
bool	 judge_is_listener(const char *scope);
/* Is it the scope of the system of this name, or of a listener of it? */
bool	 judge_is_of_system(const char *scope, const char *system);

/* The thresholds of an episode: alerts NULL means the defaults. */
void	 judge_limits(const struct alerts *, const struct episode *,
	    struct episode_limits *);

#endif
