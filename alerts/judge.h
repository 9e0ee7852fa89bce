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
 * Scopes are words: "system HOST", "recipient ADDRESS", "route NAME",
 * "mailbox NAME", "monitor".
 */
struct judgement {
	char			 scope[EPISODE_SCOPE];	/* "" : nothing to move */
	enum outcome_class	 class;
	enum episode_event	 event;
};

/*
 * One attempt.  A failed one gives MISS (or BLIND) for its scope and class;
 * an accepted one gives ACCEPT with class NONE and the system's scope: the
 * caller applies it to every open episode that the accept speaks about
 * (judge_covers()).
 */
void	 judge_attempt(const struct route *, const struct outcome *,
	    struct judgement *);

/* A probe older than late_after since its 250: MISS for `undelivered`. */
void	 judge_age(const struct route *, struct judgement *);

/* A mailbox that cannot be looked at. */
void	 judge_mailbox(const char *mailbox, struct judgement *);

/*
 * The system an outcome speaks about: the server's system name if set apart
 * from its host, else the host spoken to, else the server's host.
 */
const char *judge_system(const struct server *, const char *host);

/* Does a probe of this route go through the trouble of scope? */
bool	 judge_covers(const char *scope, const struct route *);

#endif
