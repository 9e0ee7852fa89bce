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
 * episodes and the outbox are the real ones, and so are the store and the
 * CSV files unless the program is linked with a store in memory.
 *
 * Times are true time in milliseconds since 1970; the wall clock that the
 * monitor sees may be set wrong.
 */

struct world;

/* What a server does with a session; stays until set anew. */
enum behaviour {
	SERVER_ACCEPTS,
	SERVER_ANSWERS,		/* with a reply at a stage */
	SERVER_SILENT,		/* takes the body, never answers the dot */
	SERVER_SWALLOWS,	/* the same, and the body is nowhere */
	SERVER_REFUSES,		/* connection refused */
	SERVER_UNRESOLVED,	/* our resolver does not find its address */
	SERVER_HANGS,		/* until the sender is killed at its deadline */
	SERVER_KILLS,		/* the sender process dies, the body not sent */
	SERVER_KILLS_LATE	/* it dies when the body is out */
};

/* What happens to a mail that was accepted. */
enum fate {
	FATE_ARRIVES,		/* after the mailbox's delay */
	FATE_LOST,
	FATE_TWICE,
	FATE_JUNK,
	FATE_BOUNCED,		/* never arrives; a report says so at once */
	FATE_HELD		/* until the fate changes */
};

/* When the power goes, seen from the commit of a turn. */
enum crash {
	CRASH_BEFORE_COMMIT,
	CRASH_BEFORE_ORDERS,	/* committed, nothing was told to workers */
	CRASH_AFTER
};

/* A notice that an admin got, repeats (same Message-ID) left out. */
struct told {
	char		 to[FRAME_LOCAL];
	char		 kind[32];
	char		 id[NOTICE_ID];
	char		 thread[NOTICE_ID];	/* id of the episode's first */
	int64_t		 at_ms;
	struct told	*next;
};

/* directory must exist; it takes the state and the CSV files. */
struct world	*world_new(const char *directory, const char *config_text,
		    int64_t start_ms);
void		 world_free(struct world **);

int64_t		 world_now_ms(const struct world *);
/* These are NULL while the monitor is down. */
struct engine	*world_engine(struct world *);
struct store	*world_store(struct world *);
const struct config *world_config(const struct world *);

/* server names a section of the configuration, or an MX host of one with
 * mx = "each". */
void	 world_server(struct world *, const char *server, enum behaviour,
	    const char *stage, const char *reply);
/* The MX hosts of a domain, by space; "" has none. */
void	 world_hosts(struct world *, const char *domain, const char *hosts);
/* It takes one probe all the same. */
void	 world_lucky(struct world *, const char *server);
/* One recipient is answered so, whatever the server does; "": no more. */
void	 world_recipient(struct world *, const char *address,
	    const char *stage, const char *reply);
void	 world_mailbox(struct world *, const char *mailbox, bool blind,
	    const char *reason);
void	 world_delay(struct world *, const char *mailbox, int64_t delay_ms);
void	 world_fate(struct world *, const char *mailbox, enum fate);
/*
 * The relay that holds mail for this mailbox tells the senders so, by a report
 * about each to where its route awaits them.  What it has given up it holds no
 * longer.  by: the system that refuses it.
 */
void	 world_report(struct world *, const char *mailbox, enum report_news,
	    const char *reply, const char *by);
/* Forgets bodies whose mail has been removed, for very long lives. */
void	 world_forgetful(struct world *);
/* Arrivals are told to the engine before the outcome of their attempt. */
void	 world_early(struct world *, bool early);
void	 world_reload(struct world *, const char *config_text);
/* Stops it for a while: nothing runs, mail goes on. */
void	 world_down(struct world *, int64_t for_ms);
/* Sets the wall clock by so much (both signs). */
void	 world_set_clock(struct world *, int64_t by_ms);

/* What people ask for; nothing happens while the monitor is down. */
void	 world_pause(struct world *, const char *route, bool paused);
void	 world_probe(struct world *, const char *route);
void	 world_ack(struct world *, int64_t episode);

/* Lets time pass. */
void	 world_run(struct world *, int64_t until_ms);
/* The power goes at the nth commit from now (1: the next). */
void	 world_crash_at(struct world *, uint64_t nth, enum crash);

/* Counters. */
uint64_t world_commits(const struct world *);
uint64_t world_attempts(const struct world *);	/* sessions of probes */
uint64_t world_attempts_on(const struct world *, const char *server);
/* Bodies that went out for one token, at most; "": for any. */
unsigned world_bodies(const struct world *, const char *token);
void	 world_each_body(const struct world *,
	    void (*)(void *arg, const char *token), void *arg);
uint64_t world_cleaned(const struct world *);

/* The notices' kinds in order, "failing accepting delivered". */
const char *world_notices(const struct world *);
const struct told *world_told(const struct world *);
unsigned world_repeats(const struct world *);
/* How many of them hold these words. */
unsigned world_said(const struct world *, const char *words);
/* The first promise that was broken: what, or "". */
const char *world_fault(const struct world *);

#endif
