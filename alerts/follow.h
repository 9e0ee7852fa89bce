#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "alerts/episode.h"
#include "monitor/frame.h"
#include "monitor/outcome.h"
#include "monitor/probe.h"
#include "monitor/route.h"
#include "monitor/store_episode.h"

/*
 * Follows the episodes: takes what happened, has judge() name it and the
 * table move, writes the episode's row and owes its notices in the turn's
 * transaction, and says which probe may try while a system is in trouble.
 * Knows no clock, no socket and no worker: time is an argument, and the same
 * code runs a simulated year.  Times are wall milliseconds.
 */

struct follow;
struct csv;

/* A notice has been owed: the outbox should look. */
typedef void	(*follow_owed)(void *arg);

/*
 * Loads what is open.  config, store and csv are borrowed and must outlive
 * it.  NULL if the store fails.
 */
struct follow	*follow_open(const struct config *, struct store *,
		    struct csv *, follow_owed, void *arg);
void		 follow_close(struct follow **);
/*
 * A new configuration, by name: episodes survive.  Sections that are gone are
 * replaced by those that the episode's routes have now.  What nothing that is
 * configured can show any more is closed, and those who hear of it are told
 * so.  Also to be called once at the start: it may be another one.
 */
void		 follow_config(struct follow *, const struct config *,
		    int64_t now_ms);

/*
 * Functions that write and fail leave the reason in store_error(): the turn's
 * commit fails too, and what is in memory here is no longer what is on disk.
 * The caller closes and loads anew.
 */

/* An attempt ended; called after the probe has been updated by it. */
void	 follow_attempt(struct follow *, const struct route *,
	    const struct probe *, const struct outcome *, int64_t now_ms);
/* A probe has arrived for the first time; p has accepted and arrived. */
void	 follow_delivered(struct follow *, const struct route *,
	    const struct probe *, int64_t now_ms);
/* A probe has been under way longer than late_after. */
void	 follow_late(struct follow *, const struct route *,
	    const struct probe *, int64_t now_ms);
/*
 * A delivery report says that a probe is delayed or lost.  Opens the episode
 * of the system it names, whatever our own session with the first hop came
 * to; where the age of the route's probes has opened one already, that one
 * is now known better.
 */
void	 follow_report(struct follow *, const struct route *,
	    const struct probe *, const struct frame_report *, int64_t now_ms);
/* A mailbox became blind (with its reason), or was looked at again. */
void	 follow_mailbox(struct follow *, const struct mailbox *, bool blind,
	    enum outcome_class, const char *reason, int64_t now_ms);
/* A probe will not be tried any more (done, uncertain, paused, removed). */
void	 follow_gone(struct follow *, const char *token, int64_t now_ms);

/* This host is no longer a mail host of its domain, and no probe is left that
 * could show how its trouble ends: no more reminders of that. */
void	 follow_host_gone(struct follow *, const char *host, int64_t now_ms);

/* Can a probe of this route to this host ("": any that it may meet), or a look
 * into its mailboxes, show how the episode goes on? */
bool	 follow_shows(const struct follow *, const struct episode *,
	    const struct route *, const char *host);
/* Whether any mail host that is listed now shows an episode, as the list of a
 * domain has just said: one that none has shown for a day is closed. */
void	 follow_listed(struct follow *, int64_t episode, bool listed,
	    int64_t now_ms);

/* Damped recoveries, reminders, fail_for; and when to come again (0: never). */
void	 follow_tick(struct follow *, int64_t now_ms);
int64_t	 follow_next_ms(const struct follow *);

/*
 * May this probe be tried now?  While an open episode covers its route only
 * the sentinel may; asking when there is none makes it the sentinel.  host is
 * the MX host that it is meant for, or "".
 */
bool	 follow_may_try(struct follow *, const struct route *,
	    const char *host, const char *token, int64_t now_ms);

/*
 * Only FAILING holds probes back, and only where our own attempts opened it;
 * a doubt does not, and on *accepting again* all may go.  Where several
 * episodes cover a route one of them has the say, so that two sentinels
 * cannot wait for each other: that of its listener, whose routes would tell
 * nothing of their system; else the widest, then the oldest.
 *
 * Calls want for each open episode that needs a confirming probe by now:
 * accepts seen, not yet enough, `confirm` over; until then nobody is let
 * through.  The caller lets the oldest
 * other deferred probe of that scope try, else makes a fresh one on route
 * (the last sentinel's), and says which by follow_confirming().
 *
 * Of an episode that our attempts did not open, once: `confirm` after a probe
 * of route has arrived that was handed over before the last bad sign, and after
 * a start if age opened it.  If none is left under way the caller makes a fresh
 * one there.
 */
typedef void	(*follow_want)(void *arg, const struct episode *,
		    const char *route);
void	 follow_confirms(struct follow *, int64_t now_ms, follow_want, void *);
void	 follow_confirming(struct follow *, int64_t episode,
	    const char *token, int64_t now_ms);
/* Whether it is this episode that has the say over the route to this host. */
bool	 follow_holds(const struct follow *, int64_t episode,
	    const struct route *, const char *host);

/* Every episode that is not quiet, oldest first. */
void	 follow_each(const struct follow *,
	    void (*)(void *arg, const struct episode *), void *arg);
/* The open episode covering this route to this host, as above, or NULL; for
 * status. */
const struct episode *follow_covering(const struct follow *,
	    const struct route *, const char *host);
/* Stops reminders.  0, or -1 if there is no such open episode. */
int	 follow_ack(struct follow *, int64_t episode, int64_t now_ms);
/* Owes test notices, one of each kind, to an alerts section.  0 with their
 * ids, or -1 if there is no such section. */
#define FOLLOW_TESTS	3
int	 follow_test(struct follow *, const char *alerts,
	    int64_t ids_r[static FOLLOW_TESTS], int64_t now_ms);

#endif
