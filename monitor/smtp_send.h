#ifndef SMTP_SEND_H
#define SMTP_SEND_H

#include "monitor/frame.h"

/*
 * One SMTP session, from look-up to QUIT, for the sender process.  Blocks for
 * at most job->deadline_ms.  libESMTP speaks the protocol to one end of a
 * socketpair; the pump at the other end owns the connection, TLS, the
 * filter, the clocks and the transcript.
 */

/*
 * May the body go?  Called at most once, after the server's 354, from the
 * thread that called smtp_send(); false withholds it and ends the session.
 */
typedef bool	(*smtp_gate)(void *arg, uint64_t job);

/*
 * Does the job.  Always fills *out; wipes nothing of *job.  When the body was
 * withheld the verdict is TEMPORARY at STAGE_DATA.
 */
void	 smtp_send(const struct frame_job *job, smtp_gate, void *arg,
	    struct outcome *out);

/* True if libESMTP's connect() really lands in ours; to be asked at start. */
bool	 smtp_send_self_test(void);

#endif
