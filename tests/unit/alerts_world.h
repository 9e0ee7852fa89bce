#ifndef ALERTS_WORLD_H
#define ALERTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "alerts/follow.h"
#include "alerts/outbox.h"
#include "monitor/config.h"
#include "monitor/probe.h"

/*
 * A small world for the tests of follow and outbox: a configuration, a store
 * in memory, a clock that the test moves, alert servers that take or refuse,
 * and a list of what people were told, one letter a notice:
 *
 *	F failing   S still failing   A accepting again   D delivered again
 *	U no longer watched
 */

#define SECOND	INT64_C(1000)
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)
#define DAY	(24 * HOUR)

#define WORLD_PROBES	16

struct world {
	struct config	*config;
	struct store	*store;
	struct follow	*follow;
	struct outbox	*outbox;
	int64_t		 now_ms;
	bool		 restarts;	/* the power goes after every turn */
	/* Alert mail. */
	struct outcome	 answer;	/* of every alert server */
	bool		 holding;	/* jobs get no answer yet */
	bool		 busy;		/* nobody takes a job */
	const char	*shut;		/* borrowed: not by this server */
	const char	*engaged;	/* borrowed: nor by this one now */
	const char	*hangs;		/* borrowed: its jobs get no answer */
	struct frame_job last;		/* the last job */
	const char	*last_server;	/* its server's name */
	uint64_t	 held[64];
	unsigned	 holds;
	uint64_t	 stuck[64];	/* with the one that hangs */
	unsigned	 stucks;
	unsigned	 jobs;
	unsigned	 asked;		/* jobs offered, taken or not */
	unsigned	 wakes;
	/* Commands: the last one. */
	unsigned	 hooks;
	char		 hook_alerts[65], hook_command[64];
	char		 hook_input[32768];
	char		 told[256];	/* to admin@example.org */
	char		 told_other[256];	/* to anyone else */
	/* Probes, one a route at a time. */
	struct probe	 probes[WORLD_PROBES];
	unsigned	 tokens;
	/* What follow_confirms() asked for. */
	int64_t		 want_episode;
	char		 want_scope[EPISODE_SCOPE];
	char		 want_route[PROBE_NAME];
};

/* more is appended to the configuration; "" for none. */
void	 world_open(struct world *, const char *alerts, const char *more);
void	 world_close(struct world *);
void	 world_configure(struct world *, const char *alerts, const char *more);

/* Ends the turn: commits, has alert mail sent, dies if it is to die. */
void	 world_turn(struct world *);
void	 world_restart(struct world *, bool crash);
/* Time goes by, with a tick whenever follow or outbox wants one. */
void	 world_pass(struct world *, int64_t span_ms);

const struct route	*world_route(const struct world *, const char *name);
/* The route's probe in hand; a new one if there is none. */
struct probe	*world_probe(struct world *, const char *route);

/*
 * An attempt of the route's probe, answered as "452 4.3.1 text" by host at
 * stage; "" is no answer (network), "250 ..." accepts.  The turn ends.
 */
void	 world_attempt(struct world *, const char *route, const char *host,
	    enum stage, enum outcome_class, const char *answer);
/* What "accepted" means to the monitor: the probe can arrive from now on. */
void	 world_accept(struct world *, const char *route, const char *host);
/* The refusal of a full system. */
void	 world_full(struct world *, const char *route);
/* The accepted probe arrives; the next attempt is a new probe's. */
void	 world_arrive(struct world *, const char *route);
bool	 world_may_try(struct world *, const char *route);

/* An outcome made by hand. */
void	 world_outcome(const struct world *, struct outcome *, const char *host,
	    enum stage, enum outcome_class, const char *answer);

#endif
