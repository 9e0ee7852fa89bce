#include "monitor/engine_internal.h"

#include <string.h>

#include "monitor/mem.h"

/*
 * Alert mails on their way to a sender: handed out by the outbox, which is
 * told what became of each.  Their logins are under the same rule as those
 * of probes: an account that is locked could tell nobody.
 */

struct alert_run {
	uint64_t		 job;
	char			*server;	/* owned: its section's name */
	LIST_ENTRY(alert_run)	 next;
};

static bool
is_under_way(const struct engine *e, const struct server *s)
{
	const struct alert_run	*a;

	LIST_FOREACH(a, &e->alerts, next)
		if (strcmp(a->server, s->name) == 0)
			return (true);
	return (false);
}

static void
remember(struct engine *e, uint64_t job, const struct server *s)
{
	struct alert_run	*a = mem_alloc(sizeof *a);

	a->job = job;
	a->server = mem_strdup(s->name);
	LIST_INSERT_HEAD(&e->alerts, a, next);
}

static void
forget(struct alert_run *a)
{
	LIST_REMOVE(a, next);
	mem_free(a->server);
	mem_free(a);
}

enum outbox_sent
engine_alert_send(void *arg, const struct server *server,
    const struct frame_job *mail)
{
	struct engine		*e = arg;
	struct frame_job	*f;

	if (engine_login_paused_ms(e, server) != 0)
		return (OUTBOX_NOT_BY_THIS);
	if (!engine_login_proven(e, server) && is_under_way(e, server))
		return (OUTBOX_BUSY);
	f = mem_alloc(sizeof *f);
	*f = *mail;
	f->job |= JOB_OF_OUTBOX;
	remember(e, f->job, server);
	engine_fill_server(e, server, f);
	engine_order_job(e, server, f);
	return (OUTBOX_SENT);
}

void
engine_alert_outcome(struct engine *e, uint64_t job, const struct outcome *o)
{
	struct alert_run	*a;
	struct server		*s;

	LIST_FOREACH(a, &e->alerts, next)
		if (a->job == job)
			break;
	if (a != NULL) {
		/* A reload may have taken its section. */
		if ((s = config_server(e->config, a->server)) != NULL)
			engine_login_note(e, s, o);
		forget(a);
	}
	outbox_result(e->outbox, job & ~JOB_OF_OUTBOX, o, e->now_ms);
}

void
engine_alerts_free(struct engine *e)
{
	while (!LIST_EMPTY(&e->alerts))
		forget(LIST_FIRST(&e->alerts));
}
