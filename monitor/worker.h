#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "monitor/frame.h"

/*
 * One child process of the monitor, and the socket to it.  The child may
 * hang, lie or die; the monitor outlives it and says which.  A frame that
 * does not decode ends the child.  What it writes to stderr is logged, with
 * its name before it.
 */

struct worker;

struct worker_events {
	/* A frame came.  body lives until the function returns. */
	void	(*frame)(void *arg, struct worker *, enum frame_type,
		    const union frame_body *body);
	/* It is gone, and w is about to be freed: forget it. */
	void	(*gone)(void *arg, struct worker *, const char *why);
};

/*
 * Starts directory/program.  name is for the log.  slots_fd is given to it
 * as WORKER_SLOTS_FD; -1: nothing is.  NULL if it could not be started
 * (logged).
 */
struct worker	*worker_start(uv_loop_t *, const char *directory,
		    const char *program, const char *name, int slots_fd,
		    const struct worker_events *, void *arg);

/*
 * Sends a frame now, or as soon as the socket takes it.  The buffers that
 * held it are wiped.  A worker that does not read is ended.
 */
void		 worker_send(struct worker *, enum frame_type,
		    const void *body);

/* Ends it at once; gone() is called later, with why. */
void		 worker_kill(struct worker *, const char *why);
/* Closes the socket: a sound worker exits by itself, soon; else it is
 * killed.  gone() is called then. */
void		 worker_retire(struct worker *);

int		 worker_pid(const struct worker *);
const char	*worker_name(const struct worker *);

#endif
