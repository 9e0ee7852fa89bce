#ifndef WATCHERS_H
#define WATCHERS_H

#include <uv.h>

#include "monitor/engine.h"

/*
 * The mailflow-watcher processes: the mailboxes of one IMAP server go to one
 * of them, at most WATCHERS_SLICE each.  One that dies is started again with
 * a growing pause; its mailboxes are blind meanwhile.  Those that it had in
 * hand get a watcher of their own, until they have lived a while or are known
 * to be what kills it.
 */

#define WATCHERS_SLICE	250

struct watchers;

/* now_ms: the steady time of this moment, asked whenever the engine is told. */
struct watchers_events {
	int64_t	(*now_ms)(void *arg);
};

/* Starts watchers for every mailbox of the engine; both are borrowed. */
struct watchers	*watchers_open(uv_loop_t *, const char *worker_directory,
		    const struct config *, struct engine *,
		    const struct watchers_events *, void *arg);
/* Kills them; the loop must run on until the handles are closed. */
void		 watchers_close(struct watchers **);

void		 watchers_expect(struct watchers *, const struct frame_expect *);
void		 watchers_clean(struct watchers *, const struct frame_clean *);
/* Ends the watcher of this mailbox; it is started again. */
void		 watchers_kill(struct watchers *, uint32_t id, const char *why);
unsigned	 watchers_count(const struct watchers *);

#endif
