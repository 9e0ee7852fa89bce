#ifndef ATTEND_H
#define ATTEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "mailboxes/step.h"
#include "monitor/frame.h"
#include "monitor/worker_child.h"

/*
 * Attends to many mailboxes: takes each one's next step when its time has
 * come, on a pool of a few threads, and waits on all that idle.  One loop,
 * one watcher in a process.
 */

#define ATTEND_THREADS	(WORKER_SLOTS - 1)	/* and the loop's own */
#define ATTEND_CLEANS	256	/* removals that may wait, per mailbox */

/* Mailboxes on the same server. */
struct host {
	char		*name;		/* owned */
	unsigned	 steps;		/* running */
	unsigned	 opening;	/* of them */
	SLIST_ENTRY(host) next;
};

struct watcher;

struct attended {
	struct watcher		*watcher;	/* borrowed */
	uint32_t		 id;
	struct mailbox_box	 box;
	struct watch		 watch;
	struct host		*host;		/* borrowed */
	const struct mailbox_driver *driver;	/* borrowed */
	struct mailbox_folder	*marks;		/* owned; told, folder not yet
						 * known */
	size_t			 mark_count;
	struct mailbox_clean	*cleans;	/* owned; to be done */
	size_t			 clean_count;
	char			*authserv_id;	/* owned */
	char			*secret;	/* owned; for the next open */
	char			*warning;	/* owned; the last one told */
	bool			 warn;		/* it is to be told */
	unsigned		 ignored;	/* since the last LOOK */
	bool			 began;		/* WATCH came */
	bool			 forgotten;	/* freed when its steps end */
	bool			 leaving;	/* the last one is under way */
	bool			 running;
	struct step		 step;
	uv_timer_t		 timer;
	uv_work_t		 work;
	uv_poll_t		*poll;		/* owned; while it waits */
	TAILQ_ENTRY(attended)	 queue;		/* waits for a thread */
	LIST_ENTRY(attended)	 all;
};

struct watcher {
	uv_loop_t			*loop;
	struct frame_key		 key_frame;
	struct token_key		 key;
	bool				 has_key;
	unsigned			 running;
	LIST_HEAD(, attended)		 all;
	TAILQ_HEAD(, attended)		 ready;
	SLIST_HEAD(, host)		 hosts;
	_Atomic uint32_t		*slots;	/* mapped; NULL: none */
	atomic_uint			 next_slot;
};

/* The shared memfd on descriptor 4, if there is one: who is in whose hands. */
void	 attend_map_slots(struct watcher *);

/* What to do next with this mailbox: does it, or waits until it is time. */
void	 attend_consider(struct attended *);

/* Gives folders that have not been looked at the marks that were told. */
void	 attend_apply_marks(struct attended *);

/* A LOOK, if there is something to tell. */
void	 attend_tell(struct attended *, const struct watch_tell *,
	    const char *reason);

/* Lets go of it, after the removals that wait; frees it then. */
void	 attend_forget(struct attended *);

/* Any number, to spread tries. */
uint32_t attend_random(void);

#endif
