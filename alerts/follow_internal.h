#ifndef FOLLOW_INTERNAL_H
#define FOLLOW_INTERNAL_H

#include <sys/queue.h>

#include "alerts/follow.h"
#include "alerts/judge.h"
#include "alerts/reach.h"

/* What follow*.c share; nobody else includes this. */

struct followed {
	struct episode		 e;
	int64_t			 confirm_ms;	/* nobody may try before */
	int64_t			 ask_ms;	/* ask for a probe then */
	bool			 came;		/* one that proves nothing has
						 * arrived: ask once */
	int64_t			 hold_ms;	/* held: look again then; 0: not
						 * for the window's sake */
	char			 last_route[PROBE_NAME];	/* that was accepted */
	TAILQ_ENTRY(followed)	 entry;
};

/* When follow_tick() has something to do; kept until something changes. */
struct next {
	bool	 stale;
	int64_t	 at_ms;
};

struct follow {
	const struct config	*config;	/* borrowed, as are: */
	struct store		*store;
	struct csv		*csv;
	follow_owed		 owed;
	void			*arg;
	int64_t			 started_ms;	/* first time told; 0: none yet */
	struct next		*next;		/* owned */
	struct followed		*monitor;	/* of the episodes: its own */
	struct reach		 reach;
	TAILQ_HEAD(followeds, followed)	 episodes;	/* oldest first */
};

/* What a step happened with. */
struct step {
	enum episode_event	 event;
	const char		*token;		/* the probe, or "" */
	const char		*said;		/* the server's words, or "" */
	const char		*transcript;	/* or "" */
	bool			 quiet;		/* no row unless something moved */
	int64_t			 since_ms;	/* when what is missed now began;
						 * 0: with this */
};

/* follow.c */
struct followed	*followed_add(struct follow *, const struct episode *);
void		 followed_drop(struct follow *, struct followed *);
struct followed	*followed_by_id(const struct follow *, int64_t episode);
/* Takes note of when the first thing happened. */
void		 follow_begin(struct follow *, int64_t now_ms);

/* follow_step.c */
/* The section whose thresholds count: the first that still exists, or NULL. */
const struct alerts *followed_section(const struct follow *,
	    const struct episode *);
void		 followed_limits(const struct follow *, const struct episode *,
		    struct episode_limits *);
/*
 * The episode of this scope and class that is not over, or NULL.  What two
 * systems say of one recipient are two episodes: r and host say whose word
 * it is.
 */
struct followed	*followed_known(const struct follow *,
		    const struct judgement *, const struct route *,
		    const char *host, int64_t now_ms);
/* The same, begun anew if there is none. */
struct followed	*followed_find(struct follow *, const struct judgement *,
		    const struct route *, const char *host, int64_t now_ms);
/* Whether it was this system that refused the episode's recipient; true for
 * all other scopes, and for r NULL. */
bool		 followed_refused_by(const struct follow *,
		    const struct episode *, const struct route *,
		    const char *host);
void		 followed_put(struct follow *, struct episode *);
void		 followed_unsaved(const struct follow *,
		    const struct episode *);
/* What was said, where. */
void		 followed_record(struct episode *, enum stage, int code,
		    const char *enhanced, const char *reply, const char *host);
/* True if another alerts section has joined those that hear. */
bool		 followed_join(struct episode *, const struct route *);
/* One step of the table, whole; what it owes. */
unsigned	 followed_move(struct follow *, struct followed *,
		    const struct step *, int64_t now_ms);
/* A miss of this route. */
void		 followed_miss(struct follow *, struct followed *,
		    const struct route *, const struct step *, int64_t now_ms);
/* Keeps back what the episode's windows do; what to tell now. */
unsigned	 followed_withhold(const struct follow *, struct followed *,
		    enum episode_state believed, unsigned owes,
		    int64_t now_ms);
/* section NULL: to all.  How many notices are owed by that. */
int		 followed_tell(struct follow *, const struct episode *,
		    unsigned owes, const char *section, const char *transcript,
		    int64_t now_ms);
/* Those of its sections who have not heard of it, after a reload. */
void		 followed_tell_newcomers(struct follow *, struct episode *,
		    int64_t now_ms);
void		 followed_note(struct follow *, const struct episode *,
		    const struct step *, enum episode_state before,
		    unsigned owes, int told, const struct episode_limits *,
		    int64_t now_ms);

/* follow_news.c */
/* Opened by our own attempts, whose accepts can be seen. */
bool		 followed_by_attempts(const struct episode *);
/*
 * Whether a session of this route with host speaks about the episode:
 * judge_speaks(), and for a recipient it was this system that refused it.
 */
bool		 followed_speaks(const struct follow *, const struct episode *,
		    const struct route *, const char *host);

/* follow_config.c */
/* It is over: since when no listed host showed it does not matter. */
void		 followed_forget(const struct follow *,
		    const struct episode *);

/* follow_sentinel.c */
bool		 followed_covers(const struct follow *, const struct episode *,
		    const struct route *, const char *host);
/* A listener's own trouble, then the wider, then the older has the say. */
bool		 followed_outranks(const struct episode *,
		    const struct episode *);
int64_t		 followed_confirm_ms(const struct follow *,
		    const struct episode *);
bool		 followed_wants_probe(const struct follow *,
		    const struct followed *);

#endif
