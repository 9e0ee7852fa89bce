#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "alerts/follow.h"
#include "alerts/outbox.h"
#include "monitor/csv.h"
#include "monitor/frame.h"
#include "monitor/probe.h"
#include "monitor/route.h"
#include "monitor/store.h"

/*
 * The monitor without its loop: it decides what to send and when, and what
 * every outcome, arrival and look means for probes, episodes and notices.
 * It knows no clock, no socket and no process: the time is an argument, what
 * workers said comes in as the bodies of frames, and what they are to do
 * goes out through struct engine_ops.  The daemon drives it from libuv; the
 * simulation drives it through years.
 *
 * All times are wall milliseconds of the steady line (schedule.h).
 */

struct engine;

struct engine_ops {
	/* Have this job done (kind, host ... filled but for the secret);
	 * server is where it goes.  Called only after the commit.  The
	 * answer comes by engine_ask() and engine_outcome(). */
	void	(*job)(void *arg, const struct server *,
		    const struct frame_job *);
	/* The answer to engine_ask().  Called only after the commit. */
	void	(*go)(void *arg, uint64_t job, bool allowed);
	/* A probe is under way to this mailbox. */
	void	(*expect)(void *arg, const struct frame_expect *);
	/* Remove this mail.  Called only after the commit. */
	void	(*clean)(void *arg, const struct frame_clean *);
	/* How long the monitor has been running, in milliseconds from any
	 * moment: nobody sets it, and it stands while the machine sleeps. */
	int64_t	(*running_ms)(void *arg);
	/* The watcher of this mailbox does not speak any more: end it.
	 * May be NULL. */
	void	(*silent)(void *arg, uint32_t mailbox);
	/* 9 random bytes for a token. */
	void	(*random)(void *arg, unsigned char *, size_t);
	/* Run this command with input on its standard input; name is for the
	 * log.  Called only after the commit; the answer comes by
	 * engine_hooked(), never before this returns. */
	void	(*hook)(void *arg, uint64_t handle, const char *name,
		    const char *command, const char *input);
	/* Something happened to a probe that somebody may be waiting for. */
	void	(*news)(void *arg, const struct probe *);
};

/*
 * Loads what was going on and prepares the routes.  Everything is borrowed
 * and must outlive the engine.  NULL if the store failed.
 */
struct engine	*engine_open(const struct config *, struct store *,
		    struct csv *, const struct engine_ops *, void *arg,
		    int64_t now_ms);
void		 engine_close(struct engine **);
/* A new configuration, whole: routes, probes, episodes go on by name.  The
 * old one may be freed afterwards. */
void		 engine_config(struct engine *, const struct config *,
		    int64_t now_ms);

/* Does all that is due. */
void		 engine_tick(struct engine *, int64_t now_ms);
/* When to tick again; INT64_MAX: when something happens. */
int64_t		 engine_next_ms(struct engine *);

/*
 * Ends a turn: writes the CSV rows, commits, and then gives out the orders
 * that waited for it.  -1: the store failed; no order was given, and the
 * only safe way on is to close and load anew.
 */
int		 engine_commit(struct engine *);
/* Something was left for the next turn, which should come at once. */
bool		 engine_unfinished(const struct engine *);
/*
 * A body is on its way, of a probe or of an alert: to stop now would leave
 * the one in doubt and send the other twice.
 */
bool		 engine_busy(const struct engine *);

/* From senders. */
void		 engine_ask(struct engine *, uint64_t job, int64_t now_ms);
void		 engine_outcome(struct engine *, uint64_t job,
		    const struct outcome *, int64_t now_ms);
/* The answer to a JOB_LOOKUP. */
void		 engine_hosts(struct engine *, const struct frame_hosts *,
		    int64_t now_ms);
/* The connection of a job that had its outcome is closed (or its sender is
 * gone): the system has room for another session. */
void		 engine_over(struct engine *, uint64_t job, int64_t now_ms);
/* The sender died, was killed at its deadline, or could not be given the
 * job: why is a sentence, at the moment it was learnt. */
void		 engine_job_lost(struct engine *, uint64_t job,
		    const char *why, const struct stamp *at, int64_t now_ms);

/* How an alert's command ended: accepted, or temporary with its reason. */
void		 engine_hooked(struct engine *, uint64_t handle,
		    const struct outcome *, int64_t now_ms);

/* From watchers; the frames' ids are those of engine_mailbox_begin(). */
void		 engine_arrival(struct engine *, const struct frame_arrival *,
		    int64_t now_ms);
void		 engine_look(struct engine *, const struct frame_look *,
		    int64_t now_ms);
void		 engine_report(struct engine *, const struct frame_report *,
		    int64_t now_ms);
void		 engine_mark(struct engine *, const struct frame_mark *);
void		 engine_cleaned(struct engine *, const struct frame_cleaned *,
		    int64_t now_ms);

/*
 * For a watcher that starts or restarts: every mailbox to watch; the frame
 * that describes one (false: no such mailbox); how far its folders have been
 * read; the probes under way to it.
 */
void		 engine_mailboxes(struct engine *,
		    void (*)(void *arg, uint32_t id, const struct mailbox *),
		    void *arg);
bool		 engine_mailbox_fill(struct engine *, uint32_t id,
		    struct frame_mailbox *);
void		 engine_mailbox_marks(struct engine *, uint32_t id,
		    void (*)(void *arg, const struct frame_mark *), void *arg);
void		 engine_mailbox_expected(struct engine *, uint32_t id,
		    void (*)(void *arg, const struct frame_expect *),
		    void *arg);
/* Orders again what its last watcher did not confirm; after the rest. */
void		 engine_mailbox_cleans(struct engine *, uint32_t id);
/* The key that watchers check tokens with; wipe it after use. */
void		 engine_key(const struct engine *, struct frame_key *);
/* The watcher of this mailbox is gone: blind until it looks again. */
void		 engine_mailbox_lost(struct engine *, uint32_t id,
		    const char *why, int64_t now_ms);

/* What people ask for. */

/*
 * A probe now, or the kept one retried now.  0 with its token once there is
 * one; -1 with *why_r (static) when not.
 */
int		 engine_probe_now(struct engine *, const char *route,
		    char token_r[static TOKEN_SIZE], const char **why_r,
		    int64_t now_ms);
/* 0, or -1: no such route. */
int		 engine_pause(struct engine *, const char *route, bool paused,
		    int64_t now_ms);
int		 engine_ack(struct engine *, int64_t episode, int64_t now_ms);
/* Owes test notices, as follow_test(). */
int		 engine_test(struct engine *, const char *alerts,
		    int64_t ids_r[static FOLLOW_TESTS], int64_t now_ms);
/* The names of the alerts sections. */
void		 engine_alerts(const struct engine *,
		    void (*)(void *arg, const char *name), void *arg);

/* What status shows.  Pointers live until the next call. */

struct route_view {
	const struct route	*route;
	const char		*host;		/* mx = "each": the one; or "" */
	bool			 paused;
	int64_t			 due_ms;
	const struct probe	*current;	/* being tried or kept; or NULL */
	unsigned		 pending;	/* accepted, not yet seen */
	const struct probe	*oldest_pending;	/* or NULL */
	const struct probe	*last;		/* last ended; or NULL */
	int64_t			 last_delivered_ms;	/* 0: never */
	const struct episode	*episode;	/* open and covering it; or NULL */
	bool			 blind;		/* its mailbox */
};

struct mailbox_view {
	const struct mailbox	*mailbox;
	bool			 good;
	bool			 known;		/* looked at since start */
	int64_t			 last_look_ms;	/* wall; 0: never */
	int64_t			 since_ms;	/* of this state */
	int64_t			 retry_ms;	/* blind: next try, wall */
	const char		*reason;	/* blind, or a warning */
	uint32_t		 ignored;	/* tokens not ours */
};

/* What connect checks say of a server. */
enum check_state { CHECK_UNKNOWN, CHECK_GOOD, CHECK_SUSPECT, CHECK_FAILED };

#define CHECK_HINT	512

struct check_view {
	const struct server	*server;
	const char		*host;		/* spoken to; or the domain */
	enum check_state	 state;
	int64_t			 at_ms;		/* of the last; 0: none yet */
	int64_t			 due_ms;	/* 0: now */
	int32_t			 usual_ms;	/* to the greeting; -1: unknown */
	const char		*hint;		/* "", or why to look at it */
	const struct outcome	*seen;		/* the last check */
};

const char	*check_state_name(enum check_state);
void	 engine_checks(struct engine *,
	    void (*)(void *arg, const struct check_view *), void *arg);
void	 engine_routes(struct engine *,
	    void (*)(void *arg, const struct route_view *), void *arg);
/* Those of one route (mx = "each" has several).  False: no such route. */
bool	 engine_route(struct engine *, const char *name,
	    void (*)(void *arg, const struct route_view *), void *arg);
void	 engine_mailbox_views(struct engine *,
	    void (*)(void *arg, const struct mailbox_view *), void *arg);
void	 engine_probes(struct engine *,
	    void (*)(void *arg, const struct probe *), void *arg);
struct follow	*engine_follow(struct engine *);
const struct csv *engine_csv(const struct engine *);
struct outbox	*engine_outbox(struct engine *);

#endif
