#ifndef SENDERS_H
#define SENDERS_H

#include <stdint.h>
#include <uv.h>

#include "monitor/frame.h"
#include "monitor/route.h"
#include "monitor/stamp.h"

/*
 * The pool of mailflow-sender processes.  They live long and do one job at a
 * time; the pool grows when all are busy and shrinks when they idle.  A
 * sender past its deadline is killed and its job is lost; a new one is
 * started with a growing pause if they die young.
 */

struct senders;

struct senders_events {
	void	(*ask)(void *arg, uint64_t job);
	void	(*outcome)(void *arg, uint64_t job, const struct outcome *);
	void	(*hosts)(void *arg, const struct frame_hosts *);
	/* After outcome: its connection is closed. */
	void	(*over)(void *arg, uint64_t job);
	void	(*lost)(void *arg, uint64_t job, const char *why);
};

/* most: how many processes at once for probes.  Each alert gets one beside
 * them; how many go at a time is the outbox's to say. */
struct senders	*senders_open(uv_loop_t *, const char *worker_directory,
		    unsigned most, const struct senders_events *, void *arg);
/* Kills them all; calls no event any more.  The loop must run on until the
 * handles are closed. */
void		 senders_close(struct senders **);
void		 senders_most(struct senders *, unsigned most);

/*
 * Has the job done: fetches the server's secret, waits for a free sender.
 * Both are copied.
 */
void		 senders_submit(struct senders *, const struct server *,
		    const struct frame_job *);
void		 senders_go(struct senders *, uint64_t job, bool allowed);

/* For status: processes, and jobs that wait for one. */
void		 senders_count(const struct senders *, unsigned *processes_r,
		    unsigned *waiting_r);

#endif
