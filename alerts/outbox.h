#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdint.h>

#include "monitor/frame.h"
#include "monitor/outcome.h"
#include "monitor/route.h"
#include "monitor/store_episode.h"

/*
 * Notices on their way to each recipient: durable rows, tried with growing
 * gaps through the alerts section's servers in turn, at least once.  What
 * hangs holds up nobody else (lane.h).  Knows no clock and no worker: it
 * fills jobs and is told their outcomes.
 */

struct outbox;

/* A command is tried so often, then it has missed this notice. */
#define OUTBOX_HOOK_TRIES	5

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
	OUTBOX_BUSY,		/* not now, by this server */
	OUTBOX_NOT_BY_THIS,	/* nor by this server for a while: the next */
	OUTBOX_NEVER		/* it cannot be sent at all */
};
typedef enum outbox_sent (*outbox_send)(void *arg, const struct server *,
		    const struct frame_job *mail);
/*
 * The other channel: runs the section's command with input, a notice as JSON
 * (hook.h), on its standard input.  The answer is an outcome too: accepted,
 * or why not.
 */
typedef bool	(*outbox_hook)(void *arg, uint64_t handle, const char *alerts,
		    const char *command, const char *input);
void		 outbox_run(struct outbox *, int64_t now_ms, outbox_send,
		    outbox_hook, void *arg);

/* The recipient of a delivery that goes to the section's command. */
#define OUTBOX_COMMAND	"command:"

/* How a delivery went; handle is mail->job. */
void		 outbox_result(struct outbox *, uint64_t handle,
		    const struct outcome *, int64_t now_ms);

int64_t		 outbox_next_ms(const struct outbox *);	/* 0: nothing due */
/* Deliveries not yet sent. */
unsigned	 outbox_waiting(const struct outbox *);

/* The oldest of them; false if there is none.  Pointers live until the next
 * call. */
struct outbox_view {
	const struct delivery	*delivery;
	const char		*alerts;
	enum notice_kind	 kind;
	int64_t			 owed_ms;
};
bool		 outbox_oldest(const struct outbox *, struct outbox_view *);

#endif
