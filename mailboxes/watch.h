#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mailboxes/mailbox.h"
#include "monitor/token.h"

/*
 * What one mailbox's watch does next, and when: a decision that takes the
 * time and the last step's result and touches nothing.  Pure.
 *
 *	closed --secret--> open --> look at all --> wait, with a look at all
 *	   ^                |  every `poll`; a burst of looks after EXPECT;
 *	   +---- lost ------+  news and removals in between
 *
 * Times are CLOCK_BOOTTIME in milliseconds.
 */

#define WATCH_EXPECTED	16
#define WATCH_IDLE_MS	(5 * 60 * INT64_C(1000))	/* NATs forget */

enum watch_step {
	WATCH_REST,		/* nothing until *wait_ms_r is over */
	WATCH_ASK_SECRET,	/* send SECRET_ASK; answer by watch_secret() */
	WATCH_OPEN,
	WATCH_LOOK,		/* at the first folder */
	WATCH_LOOK_ALL,
	WATCH_WAIT,
	WATCH_CLEAN
};

enum watch_result {
	WATCH_DONE,
	WATCH_MORE,		/* look: call again; wait: the server cannot */
	WATCH_LOST
};

/* What is to be told to the monitor now. */
struct watch_tell {
	bool			 tell;
	bool			 good;
	enum outcome_class	 class;		/* when not good */
	int64_t			 retry_ms;	/* from now; when not good */
};

struct watch {
	/* From the configuration. */
	int64_t			 poll_ms;
	int64_t			 burst_ms;
	int64_t			 auth_pause_ms;
	bool			 may_idle;
	bool			 needs_secret;
	bool			 other_folders;	/* beside the first */

	/* The session. */
	bool			 busy;		/* a step is under way */
	bool			 open;
	bool			 waiting;
	bool			 has_secret;
	bool			 asked;		/* for the secret */
	int64_t			 asked_at;
	int64_t			 opened_at;
	int64_t			 open_at;	/* next try */
	int64_t			 poll_at;
	int64_t			 wait_at;	/* not to wait before */
	int64_t			 wait_began;
	bool			 news;		/* look at once */
	bool			 more;		/* the last look was not done */
	bool			 more_all;
	unsigned		 to_clean;	/* mails to be removed, */
	int64_t			 clean_at;	/* not before */

	/* The burst after EXPECT. */
	char			 expected[WATCH_EXPECTED][TOKEN_SIZE];
	int64_t			 expected_at[WATCH_EXPECTED];
	size_t			 expecting;
	int64_t			 usual_ms;	/* from there to the first
						 * folder; 0: not known */
	int64_t			 burst_began;	/* 0: none */
	int64_t			 burst_at;	/* its next look */
	unsigned		 burst_step;

	/* Trouble. */
	unsigned		 failures;	/* in a row, since a good look */
	unsigned		 short_lives;	/* sessions that ended early */
	unsigned		 refusals;	/* logins in a row */
	unsigned		 short_waits;	/* ended by news, in a row */
	unsigned		 idle_deaths;	/* sessions lost in early IDLE */
	int64_t			 no_idle_until;
	int64_t			 idle_ms;	/* then a wait is begun anew */
	bool			 quiet;		/* closed, and nobody was told */
	bool			 good;		/* as last told, with: */
	bool			 told;
	int64_t			 told_at;
};

void	 watch_init(struct watch *, int64_t now_ms);

/* Logins were refused before our time: none for so long, then one. */
void	 watch_pause(struct watch *, int64_t pause_ms, int64_t now_ms);

/*
 * The step to take now; then it is busy until watch_finished().  WATCH_REST
 * with the time to ask again in *wait_ms_r (from now; -1: only something
 * from outside matters).
 */
enum watch_step	 watch_next(struct watch *, int64_t now_ms,
		    int64_t *wait_ms_r);

/*
 * A step has ended.  trouble is looked at for WATCH_LOST only.  random is
 * any number: it spreads the tries of many mailboxes.
 */
struct watch_tell watch_finished(struct watch *, enum watch_step,
		    enum watch_result, const struct mailbox_trouble *,
		    int64_t now_ms, uint32_t random);

/* The session was lost while it waited. */
struct watch_tell watch_lost(struct watch *, const struct mailbox_trouble *,
		    int64_t now_ms, uint32_t random);

/* The monitor's answer; not ok counts as a failure to open. */
struct watch_tell watch_secret(struct watch *, bool ok, int64_t now_ms,
		    uint32_t random);

/* While waiting, something came (MAILBOX_NEWS, MAILBOX_AWAKE). */
void	 watch_woken(struct watch *, enum mailbox_wake, int64_t now_ms);

/* So many mails are to be removed. */
void	 watch_clean(struct watch *, unsigned waiting, int64_t now_ms);

/* A probe is under way: a burst begins, or begins anew. */
void	 watch_expect(struct watch *, const char *token, int64_t now_ms);

/*
 * A mail with that token is there: nobody needs to hurry for it.  first: in
 * the first folder; how long that took tells when to look for the next one.
 */
void	 watch_arrived(struct watch *, const char *token, bool first,
	    int64_t now_ms);

/* Whether any probe is awaited: then bodies are worth a look. */
bool	 watch_expecting(const struct watch *);

#endif
