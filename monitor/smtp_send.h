#ifndef SMTP_SEND_H
#define SMTP_SEND_H

#include "monitor/frame.h"

/*
 * One SMTP session, from look-up to QUIT, for the sender process.  libESMTP
 * speaks the protocol to one end of a socketpair, in a thread of its own;
 * the pump at the other end, in the caller's, owns the connection, TLS, the
 * filter, the clocks and the transcript.
 */

/*
 * May the body go?  Called at most once, after the server's 354, from the
 * thread that called smtp_send(); false withholds it and ends the session.
 */
typedef bool	(*smtp_gate)(void *arg, uint64_t job);

struct smtp_session;

/*
 * Does the job, up to the reply that decides; blocks for at most
 * job->deadline_ms.  Always fills *out, which is final: QUIT comes later, in
 * smtp_close(), so that nobody waits for it.  *job and *out must stay until
 * then.  Never NULL.
 *
 * An outcome that is blind is TEMPORARY whatever the code: the message was
 * never offered.  When the gate withheld the body it is TEMPORARY and blind
 * at STAGE_DATA.  A JOB_CHECK is accepted when the server greets, and TLS is
 * as the job wants it.
 */
struct smtp_session	*smtp_send(const struct frame_job *job, smtp_gate,
			    void *arg, struct outcome *out);

/*
 * Says QUIT, waits for its reply for at most a second, ends the library's
 * thread.  False if that thread hangs: then the process must end.
 */
bool	 smtp_close(struct smtp_session **);

/* True if libESMTP's connect() really lands in ours; to be asked at start. */
bool	 smtp_send_self_test(void);

#endif
