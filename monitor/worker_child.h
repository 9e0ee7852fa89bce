#ifndef WORKER_CHILD_H
#define WORKER_CHILD_H

#include "monitor/frame.h"

/*
 * The worker's side of the socket to the monitor (descriptor 3), and how a
 * worker makes itself harmless.  Not thread-safe except where said.
 */

#define WORKER_FD	3

/*
 * On the next one a watcher has a shared memory file of WORKER_SLOTS numbers
 * of 32 bits, one a thread: the mailbox that it has in hand, 0 for none.  The
 * monitor reads there whom a watcher that died was working for.
 */
#define WORKER_SLOTS_FD	4
#define WORKER_SLOTS	5

/*
 * To be called first: not dumpable, no core files, no new privileges, dies
 * with its parent, SIGPIPE ignored, limits on memory (off under sanitizers)
 * and files; umask 077; then says HELLO.  Exits with a message on stderr if
 * descriptor 3 is no socket of ours.
 */
void	 worker_child_begin(const char *program, size_t memory_bytes,
	    unsigned files);

/*
 * Sends one frame; thread-safe.  The monitor's death ends the process.
 */
void	 worker_child_send(enum frame_type, const void *body);

/*
 * Waits up to timeout_ms (-1: for ever) for a frame.  Its type; 0 when the
 * time is over.  End of file or a bad frame ends the process.
 */
enum frame_type	 worker_child_receive(union frame_body *, int timeout_ms);

#endif
