#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdint.h>

#include "monitor/frame.h"
#include "monitor/outcome.h"
#include "monitor/route.h"
#include "monitor/store_episode.h"

/*
 * Notices on their way to each recipient: durable rows, tried with growing
 * gaps through the alerts section's servers in turn, at least once.  Knows
 * no clock and no worker: it fills jobs and is told their outcomes.
 */

struct outbox;

/*
 * Loads what is due; what was being sent when the monitor stopped is due
 * again.  config and store are borrowed.  NULL if the store fails.
 */
struct outbox	*outbox_open(const struct config *, struct store *,
		    int64_t now_ms);
void		 outbox_close(struct outbox **);
void		 outbox_config(struct outbox *, const struct config *);

/* New notices may have been owed since the last call. */
void		 outbox_wake(struct outbox *);

/*
 * Hands out each delivery that is due: fills the mail of a job (from, to,
 * message, notify_never, kind; not the server's part) and marks it SENDING.
 * job is the outbox's handle for the answer.
 */
enum outbox_sent {
	OUTBOX_SENT,		/* under way: outbox_result() will tell */
	OUTBOX_BUSY,		/* no more can be taken now */
	OUTBOX_NOT_BY_THIS	/* nor by this server for a while: the next */
};
typedef enum outbox_sent (*outbox_send)(void *arg, const struct server *,
		    const struct frame_job *mail);
void		 outbox_run(struct outbox *, int64_t now_ms, outbox_send, void *);

/* How a delivery went; handle is mail->job. */
void		 outbox_result(struct outbox *, uint64_t handle,
		    const struct outcome *, int64_t now_ms);

int64_t		 outbox_next_ms(const struct outbox *);	/* 0: nothing due */
/* Deliveries not yet sent. */
unsigned	 outbox_waiting(const struct outbox *);

#endif
