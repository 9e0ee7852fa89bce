#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/outcome.h"
#include "monitor/token.h"

/*
 * One test message from its first attempt to its row in the CSV.  The store
 * has it on disk before its first byte is sent.  Pure.
 */

enum probe_state {
	PROBE_WAITING,		/* not yet tried, or deferred: next_try_ms */
	PROBE_SENDING,		/* with a sender, body not yet allowed */
	PROBE_COMMITTED,	/* body allowed: from here never sent again
				 * unless the server refuses it */
	PROBE_ACCEPTED,		/* 250 to the dot; looked for */
	PROBE_UNCERTAIN,	/* the dot was sent, no reply; looked for */
	PROBE_DONE,
	PROBE_STATES
};

/* How it ended: the outcome column of the latency CSV. */
enum probe_end {
	PROBE_END_NONE,
	PROBE_END_DELIVERED,
	PROBE_END_LATE,
	PROBE_END_JUNK,
	PROBE_END_REJECTED,
	PROBE_END_BOUNCED,
	PROBE_END_EXPIRED,
	PROBE_END_LOST,
	PROBE_END_BLIND,
	PROBE_ENDS
};

#define PROBE_NAME	65
#define PROBE_ADDRESS	320
#define PROBE_NOTE	128
#define PROBE_FOLDER	256

struct probe {
	char			 token[TOKEN_SIZE];
	char			 route[PROBE_NAME];
	char			 server[PROBE_NAME];
	char			 mailbox[PROBE_NAME];
	char			 from[PROBE_ADDRESS];
	char			 to[PROBE_ADDRESS];
	enum probe_state	 state;
	enum probe_end		 end;
	int64_t			 scheduled_ms;	/* wall */
	int64_t			 next_try_ms;	/* wall; WAITING */
	struct stamp		 first_attempt;
	struct stamp		 accepted;	/* 250, or the dot if uncertain */
	struct stamp		 arrived;	/* as the CSV tells it */
	int64_t			 finished_ms;	/* wall; DONE */
	unsigned		 attempts;
	unsigned		 deferrals;	/* attempts answered 4yz or by none */
	unsigned		 duplicates;
	/* of the last attempt: */
	char			 host[OUTCOME_HOST];
	enum outcome_class	 class;
	int			 code;
	char			 enhanced[OUTCOME_ENHANCED];
	char			 reply[OUTCOME_REPLY];
	char			 queue_id[OUTCOME_QUEUE_ID];
	int64_t			 size;		/* bytes sent */
	/* of the arrival: */
	char			 folder[PROBE_FOLDER];
	int32_t			 hops;		/* -1: unknown */
	char			 slowest_hop[OUTCOME_HOST];
	int64_t			 slowest_hop_ms;	/* STAMP_NO_SPAN: unknown */
	int64_t			 skew_ms;		/* STAMP_NO_SPAN: unknown */
	/* Time since accepted in which the mailbox was looked at: only this
	 * counts towards lost_after. */
	int64_t			 looked_ms;
	bool			 late_told;	/* its age has been judged */
	bool			 blind;		/* the last failure was our own;
						 * not kept over a restart */
	char			 note[PROBE_NOTE];
};

/* All zero, and "unknown" where that is not zero. */
void		 probe_init(struct probe *);

/* The words above in lower case; "" for PROBE_END_NONE. */
const char	*probe_state_name(enum probe_state);
const char	*probe_end_name(enum probe_end);

/* The members of those words.  An unknown word is PROBE_STATES, never some
 * state that would send the mail again, and PROBE_END_NONE. */
enum probe_state probe_state_of(const char *);
enum probe_end	 probe_end_of(const char *);

#endif
