#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/config.h"
#include "monitor/engine.h"

/*
 * A world for the engine to live in: mail servers, mailboxes, a clock and
 * crashes, all simulated.  The schedule, the probes, the judging, the
 * episodes, the outbox, the store and the CSV files are the real ones.
 */

struct world;

/* What a server does with a session; stays until set anew. */
enum behaviour {
	SERVER_ACCEPTS,
	SERVER_ANSWERS,		/* with a reply at a stage */
	SERVER_SILENT,		/* takes the body, never answers the dot */
	SERVER_REFUSES,		/* connection refused */
	SERVER_KILLS		/* the sender process dies, the body not sent */
};

/* What happens to a mail that was accepted. */
enum fate {
	FATE_ARRIVES,		/* after the mailbox's delay */
	FATE_LOST,
	FATE_TWICE,
	FATE_JUNK
};

/* When the power goes, seen from the commit of a turn. */
enum crash {
	CRASH_BEFORE_COMMIT,
	CRASH_BEFORE_ORDERS,	/* committed, nothing was told to workers */
	CRASH_AFTER
};

/* directory must exist; it takes the state and the CSV files. */
struct world	*world_new(const char *directory, const char *config_text,
		    int64_t start_ms);
void		 world_free(struct world **);

int64_t		 world_now_ms(const struct world *);
struct engine	*world_engine(struct world *);
struct store	*world_store(struct world *);

/* server names a section of the configuration. */
void	 world_server(struct world *, const char *server, enum behaviour,
	    const char *stage, const char *reply);
void	 world_mailbox(struct world *, const char *mailbox, bool blind,
	    const char *reason);
void	 world_delay(struct world *, const char *mailbox, int64_t delay_ms);
void	 world_fate(struct world *, const char *mailbox, enum fate);
/* Arrivals are told to the engine before the outcome of their attempt. */
void	 world_early(struct world *, bool early);
void	 world_reload(struct world *, const char *config_text);
/* Stops it for a while: nothing runs, mail goes on. */
void	 world_down(struct world *, int64_t for_ms);
/* Sets the wall clock by so much (both signs). */
void	 world_set_clock(struct world *, int64_t by_ms);

/* Lets time pass.  False: the engine could not be opened again. */
void	 world_run(struct world *, int64_t until_ms);
/* The power goes at the nth commit from now (1: the next). */
void	 world_crash_at(struct world *, uint64_t nth, enum crash);
bool	 world_crashed(const struct world *);

/* Counters. */
uint64_t world_commits(const struct world *);
unsigned world_attempts(const struct world *);	/* sessions of probes */
unsigned world_attempts_on(const struct world *, const char *server);
unsigned world_bodies(const struct world *, const char *token);
unsigned world_cleaned(const struct world *);

/* Notices that reached an admin, repeats (same Message-ID) counted once:
 * their kinds in order, "failing accepting delivered". */
const char *world_notices(const struct world *);
unsigned world_repeats(const struct world *);
/* A mail whose envelope or order broke a rule: what, or "". */
const char *world_fault(const struct world *);

#endif
