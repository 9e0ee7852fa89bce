#ifndef STORE_EPISODE_H
#define STORE_EPISODE_H

#include "alerts/episode.h"
#include "alerts/notice.h"
#include "monitor/store.h"

/*
 * Episodes and notices in the store; contract as in store.h.  An episode's
 * change and the notices it owes are written in the same turn, so they are
 * one transaction.
 */

/* Inserts (id 0: sets it) or updates. */
int	 store_episode_put(struct store *, struct episode *);
/* Episodes that are not QUIET, and QUIET ones closed at or after since_ms. */
int	 store_episode_each(struct store *, int64_t since_ms,
	    void (*)(void *arg, const struct episode *), void *arg);
/* 1 found, 0 not, -1. */
int	 store_episode_get(struct store *, int64_t id, struct episode *);

/* What moved the table, for --why. */
int	 store_episode_event(struct store *, int64_t episode, int64_t at_ms,
	    const char *event, const char *probe, const char *text);
int	 store_episode_events(struct store *, int64_t episode,
	    void (*)(void *arg, int64_t at_ms, const char *event,
	    const char *probe, const char *text), void *arg);

enum delivery_state { DELIVERY_DUE, DELIVERY_SENDING, DELIVERY_SENT,
	DELIVERY_EXPIRED, DELIVERY_STATES };

/* "due", "sending", "sent", "expired". */
const char	*store_delivery_word(enum delivery_state);

/* One recipient of one notice. */
struct delivery {
	int64_t			 notice;
	char			 to[PROBE_ADDRESS];
	enum delivery_state	 state;
	unsigned		 attempts;
	unsigned		 server;	/* index in the alerts' servers */
	int64_t			 next_ms;	/* wall; DUE */
	int64_t			 sent_ms;
	bool			 repeat;	/* an earlier try may have arrived */
	int64_t			 expired_ms;	/* EXPIRED; 0: not known */
	char			 last_reply[OUTCOME_REPLY];
};

/* Inserts a notice (sets its id) with a DUE delivery per recipient.  Owing
 * the same (episode, kind, number, alerts) again changes nothing and returns
 * 0: each alerts section is told once.  episode 0 is none: a test. */
int	 store_notice_owe(struct store *, struct notice *, char *const *to);
int	 store_notice_get(struct store *, int64_t id, struct notice *);
/* Those of a section that have no recipient, owed at or after since_ms, by
 * id. */
int	 store_notice_kept(struct store *, const char *alerts,
	    int64_t since_ms,
	    void (*)(void *arg, const struct notice *), void *arg);
/* All that people were told of an episode, oldest first: whom, by which
 * section, what; to is "" for what has no recipient. */
int	 store_told_each(struct store *, int64_t episode,
	    void (*)(void *arg, const char *to, const char *alerts,
	    enum notice_kind), void *arg);
int	 store_delivery_put(struct store *, const struct delivery *);
/* Those of one notice, whatever their state, by recipient. */
int	 store_delivery_of(struct store *, int64_t notice,
	    void (*)(void *arg, const struct delivery *), void *arg);
/* How many have EXPIRED at or after since_ms. */
int	 store_delivery_expired(struct store *, int64_t since_ms,
	    unsigned *count_r);
/* Deliveries DUE or SENDING, by notice then recipient. */
int	 store_delivery_each(struct store *,
	    void (*)(void *arg, const struct delivery *), void *arg);

#endif
