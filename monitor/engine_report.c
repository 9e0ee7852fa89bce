#include "monitor/engine_internal.h"

#include <string.h>

#include "alerts/judge.h"
#include "monitor/latency.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * What delivery reports and bounces say about probes.  A report moves
 * something only if its token is one that we made for that very probe, and
 * if it lies where the probe's route awaits reports.
 */

/* Words of the note, by the report's own (RFC 3464 2.3.3). */
static const struct {
	const char	*action;
	const char	*note;
} notes[] = {
	{ "delayed",	"reported-delayed" },
	{ "delivered",	"reported-delivered" },
	{ "relayed",	"reported-relayed" },
	{ "expanded",	"reported-expanded" },
};

static void
take_note(struct probe *p, const struct frame_report *f)
{
	for (size_t i = 0; i < NITEMS(notes); i++)
		if (strcmp(f->action, notes[i].action) == 0)
			latency_note(p->note, sizeof p->note, notes[i].note);
}

static bool
is_valid(const struct engine *e, const struct mailbox_run *m,
    const struct probe *p)
{
	const struct route	*r = config_route(e->config, p->route);

	return (token_check(p->token, &e->key, e->config->instance,
	    p->mailbox) == TOKEN_OURS &&
	    (r == NULL || judge_watches(m->mailbox->name, r)));
}

static void
log_report(const struct probe *p, const struct frame_report *f)
{
	char	id[TOKEN_SHORT];

	log_info("route=%s probe=%s report=%s class=%s by=\"%s\" reply=\"%s\"",
	    p->route, token_short(p->token, id),
	    frame_report_name((enum report_news)f->news),
	    class_name((enum outcome_class)f->class),
	    f->remote_mta[0] != '\0' ? f->remote_mta : f->reporting_mta,
	    f->reply);
}

/* It will not come: what the report says of it goes into its row. */
static void
bounced(struct engine *e, struct probe_run *pr, const struct frame_report *f)
{
	struct probe	*p = &pr->p;

	p->class = judge_reported((enum outcome_class)f->class);
	p->code = (int)f->code;
	text_copy(p->enhanced, sizeof p->enhanced, f->enhanced);
	text_copy(p->reply, sizeof p->reply, f->reply);
	probe_run_finish(e, pr, PROBE_END_BOUNCED, "");
}

/* About a probe that is looked for. */
static void
about_pending(struct engine *e, struct probe_run *pr,
    const struct frame_report *f)
{
	switch ((enum report_news)f->news) {
	case REPORT_NOTED:
		take_note(&pr->p, f);
		engine_save(e, pr);
		break;
	case REPORT_DELAYED:
		take_note(&pr->p, f);
		follow_report(e->follow, pr->route->route, &pr->p, f,
		    e->now_ms);
		engine_save(e, pr);
		engine_news(e, &pr->p);
		break;
	case REPORT_LOST:
		follow_report(e->follow, pr->route->route, &pr->p, f,
		    e->now_ms);
		bounced(e, pr, f);
		break;
	case REPORT_NEWS:
		break;
	}
}

/*
 * About one that has ended: its row stands.  Of one that was given up the
 * report still tells why.
 */
static void
about_ended(struct engine *e, const struct probe *p,
    const struct frame_report *f)
{
	const struct route	*r = config_route(e->config, p->route);

	if (r != NULL && f->news != REPORT_NOTED &&
	    (p->end == PROBE_END_LOST || p->end == PROBE_END_BLIND))
		follow_report(e->follow, r, p, f, e->now_ms);
}

/* Kept until the fate of its attempt is known; the graver one, of two. */
static void
keep(struct probe_run *pr, const struct frame_report *f)
{
	if (pr->report != NULL && pr->report->news >= f->news)
		return;
	if (pr->report == NULL)
		pr->report = mem_alloc(sizeof *pr->report);
	*pr->report = *f;
}

static void
about_live(struct engine *e, struct mailbox_run *m, struct probe_run *pr,
    const struct frame_report *f)
{
	if (pr->job != 0) {
		keep(pr, f);
		return;
	}
	if (store_report_put(e->store, m->mailbox->name, f) != 1)
		return;
	log_report(&pr->p, f);
	if (pr->p.state == PROBE_ACCEPTED || pr->p.state == PROBE_UNCERTAIN)
		about_pending(e, pr, f);
}

void
engine_report(struct engine *e, const struct frame_report *f, int64_t now_ms)
{
	struct mailbox_run	*m = mailbox_run_find(e, f->id);
	struct probe_run	*pr = probe_run_find(e, f->token);
	struct probe		*p;

	e->now_ms = now_ms;
	if (m == NULL)
		return;
	if (pr != NULL) {
		if (is_valid(e, m, &pr->p))
			about_live(e, m, pr, f);
		return;
	}
	p = mem_alloc(sizeof *p);
	if (store_probe_get(e->store, f->token, p) == 1 &&
	    p->state == PROBE_DONE && is_valid(e, m, p) &&
	    store_report_put(e->store, m->mailbox->name, f) == 1) {
		log_report(p, f);
		about_ended(e, p, f);
	}
	mem_free(p);
}

void
probe_run_take_report(struct engine *e, struct probe_run *pr)
{
	struct frame_report	*f = pr->report;
	struct mailbox_run	*m;

	if (f == NULL)
		return;
	pr->report = NULL;
	if ((m = mailbox_run_find(e, f->id)) != NULL)
		about_live(e, m, pr, f);
	mem_free(f);
}
