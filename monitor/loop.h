#ifndef LOOP_H
#define LOOP_H

#include "monitor/config.h"

/*
 * The running daemon: one libuv loop that carries news from workers, timers,
 * signals and the control socket to the engine, and the engine's orders to
 * workers.  All that one turn of the loop learnt is one commit, made before
 * the loop waits again; orders go out after it.
 */

/* Exit codes, as in sysexits(3). */
#define LOOP_OK		0
#define LOOP_UNAVAILABLE 69	/* cannot listen, another monitor runs */
#define LOOP_TEMPORARY	75	/* the store failed: start again, from disk */

/*
 * Runs until SIGTERM or SIGINT.  Takes the configuration (SIGHUP replaces it
 * from config->file).  worker_directory holds mailflow-sender and
 * mailflow-watcher.
 */
int	 loop_run(struct config *config, const char *worker_directory);

#endif
