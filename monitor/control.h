#ifndef CONTROL_H
#define CONTROL_H

#include <stdint.h>
#include <uv.h>

#include "monitor/config.h"
#include "monitor/engine.h"

/*
 * The control socket: mailflowctl(1) connects, writes one JSON object on a
 * line, {"command": "status"}, and reads one JSON object on a line,
 * {"ok": true, ...} or {"ok": false, "error": "..."}.
 *
 *	status [route]		everything below "What status shows"
 *				in engine.h; with route no other one, and
 *				only its mailbox
 *	probes			the probes under way
 *	transcript route	the last failed attempt's dialogue
 *	episodes [all]		open ones, or with those of the past
 *	why episode		what moved it
 *	report since_ms		how the routes did since then (wall), and the
 *				episodes
 *	probe route [wait]	a probe now, or the kept one retried now;
 *				with wait the answer comes with its result
 *	pause, resume route
 *	ack episode
 *	test-alert [alerts] [wait_ms]	test notices to one section, or to
 *				all; the answer comes when each is sent or
 *				given up, or after so long, at most
 *				CONTROL_TEST_MS
 *	reload
 *
 * At most CONTROL_CLIENTS at once, a request of at most 4 KiB.
 */

#define CONTROL_CLIENTS	32
#define CONTROL_TEST_MS	60000

struct control;

struct control_events {
	int64_t	(*now_ms)(void *arg);	/* steady */
	/* Loads the configuration anew; NULL or what was wrong (owned). */
	char	*(*reload)(void *arg);
	/* For status. */
	void	(*counts)(void *arg, unsigned *senders_r, unsigned *waiting_r,
		    unsigned *watchers_r);
};

/*
 * Listens on path (mode 0660; a stale socket is replaced, one in use is
 * not).  NULL with why_r filled.
 */
struct control	*control_open(uv_loop_t *, const char *path,
		    struct engine *, struct store *, const char *instance,
		    const struct control_events *, void *arg,
		    char *why_r, size_t whysize);
void		 control_close(struct control **);

/* Something happened to a probe: answers those who wait for it. */
void		 control_news(struct control *, const struct probe *);

#endif
