#include "alerts/follow_internal.h"

#include <stdio.h>
#include <string.h>

#include "alerts/judge.h"
#include "alerts/words.h"
#include "monitor/log.h"
#include "monitor/text.h"

/*
 * What happened: attempts, arrivals, ages, mailboxes; and which episodes it
 * moves.
 */

/* Opened by our own attempts, whose accepts can be seen. */
bool
followed_by_attempts(const struct episode *e)
{
	return (e->origin == EPISODE_BY_ATTEMPT && e->class != CLASS_BLIND);
}

bool
followed_speaks(const struct follow *f, const struct episode *e,
    const struct route *r, const char *host)
{
	return (judge_speaks(e->scope, r, host) &&
	    followed_refused_by(f, e, r, host));
}

/* Nothing can be reached. */

/* The episode that says so, or NULL. */
static struct followed *
offline(const struct follow *f)
{
	return (f->monitor != NULL && f->monitor->e.state != EPISODE_QUIET ?
	    f->monitor : NULL);
}

/*
 * What looked like the trouble of others was our own silence: the doubts it
 * raised come to nothing.  What people have been told of goes on.
 */
static void
dismiss_doubts(struct follow *f, int64_t now_ms)
{
	struct step	 s = { .token = "", .said = "the monitor itself has no "
			    "network", .transcript = "" };
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (fe->e.state != EPISODE_SUSPECT || fe == f->monitor ||
		    (fe->e.class != CLASS_NETWORK && fe->e.class != CLASS_DNS &&
		    fe->e.class != CLASS_BLIND))
			continue;
		s.event = followed_by_attempts(&fe->e) ? EPISODE_EV_ACCEPT :
		    EPISODE_EV_DELIVERED;
		followed_move(f, fe, &s, now_ms);
	}
}

static void
go_offline(struct follow *f, size_t hosts, int64_t now_ms)
{
	struct step		 s = { .event = EPISODE_EV_MISS, .token = "",
				    .transcript = "", .quiet = true };
	struct judgement	 j;
	struct followed		*fe;
	char			 reason[128];

	judge_offline(&j);
	fe = followed_find(f, &j, NULL, "", now_ms);
	if (fe->e.state == EPISODE_QUIET) {
		dismiss_doubts(f, now_ms);
		for (size_t i = 0; f->config->routes[i] != NULL; i++)
			followed_join(&fe->e, f->config->routes[i]);
	}
	snprintf(reason, sizeof reason, "none of %zu hosts can be reached: it "
	    "seems that the monitor has no network", hosts);
	s.said = reason;
	followed_record(&fe->e, STAGE_NONE, 0, "", reason, "");
	followed_move(f, fe, &s, now_ms);
}

static void
go_online(struct follow *f, int64_t now_ms)
{
	struct step	 s = { .event = EPISODE_EV_DELIVERED, .token = "",
			    .said = "", .transcript = "" };
	struct followed	*fe = offline(f);

	if (fe != NULL)
		followed_move(f, fe, &s, now_ms);
}

/* Takes note of whether host answered; reached as judge_reached() has it. */
static void
note_reach(struct follow *f, const char *host, int reached, bool lasting,
    int64_t now_ms)
{
	size_t	none;

	if (reached == 0)
		return;
	reach_note(&f->reach, host, reached > 0, lasting, now_ms);
	if (reached > 0)
		go_online(f, now_ms);
	else if ((none = reach_none(&f->reach, now_ms)) > 0)
		go_offline(f, none, now_ms);
}

/* Attempts. */

/* Whether the run of accepts came over this port, as far as is known. */
static bool
ran_over(const struct follow *f, const struct followed *fe, uint16_t port)
{
	const char		*at = fe->e.routes;
	char			 name[PROBE_NAME];
	const struct route	*r = config_route(f->config, fe->last_route);

	if (r != NULL)
		return (r->server->port == port);
	while (words_next(&at, name, sizeof name))
		if ((r = config_route(f->config, name)) != NULL &&
		    r->server->port == port)
			return (true);
	return (false);
}

/*
 * A miss contradicts a run that its own session could have gone on with: of
 * the same scope, or of the system by the listener that the run came over.
 * The trouble of another listener contradicts nothing.
 */
static bool
contradicts(const struct follow *f, const struct followed *miss,
    const struct followed *fe, const struct route *r, const char *host)
{
	const char	*name;

	if (!followed_speaks(f, &fe->e, r, host))
		return (false);
	if (strcmp(fe->e.scope, miss->e.scope) == 0)
		return (true);
	return (judge_scope(fe->e.scope, &name) == SCOPE_SYSTEM &&
	    judge_scope(miss->e.scope, &name) == SCOPE_SYSTEM &&
	    ran_over(f, fe, r->server->port));
}

/* Another class of trouble ends the runs of the others. */
static void
break_runs(struct follow *f, const struct followed *but,
    const struct route *r, const char *host)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (fe == but || fe->e.accepts == 0 ||
		    fe->e.state != EPISODE_FAILING ||
		    !contradicts(f, but, fe, r, host))
			continue;
		episode_break_run(&fe->e);
		followed_put(f, &fe->e);
	}
}

/*
 * Only a route whose own look-ups failed shows that they work again: the names
 * of others may be known from elsewhere, or their zones well while one is not.
 * That a name does not exist is an answer, too.
 */
static bool
resolves(const struct episode *e, const struct route *r,
    const struct outcome *o)
{
	return ((o->stage > STAGE_LOOKUP ||
	    (o->stage == STAGE_LOOKUP && !o->blind)) &&
	    words_has(e->routes, r->name));
}

/*
 * A session came further than where we were blind: login, or look-up.  Blind
 * at the dot is a sender that died: any session shows that another lives.
 */
static bool
sees(const struct episode *e, const struct route *r, const struct outcome *o)
{
	const char	*name;

	if (e->class != CLASS_BLIND || e->state == EPISODE_QUIET)
		return (false);
	if (judge_scope(e->scope, &name) == SCOPE_RESOLVER)
		return (resolves(e, r, o));
	return (!o->blind &&
	    (o->stage > e->stage || e->stage == STAGE_DOT) &&
	    judge_speaks(e->scope, r, o->host));
}

static void
sighted(struct follow *f, const struct route *r, const struct outcome *o,
    const struct step *s, int64_t now_ms)
{
	struct step	 see = { .event = EPISODE_EV_DELIVERED,
			    .token = s->token, .said = s->said,
			    .transcript = "" };
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (sees(&fe->e, r, o))
			followed_move(f, fe, &see, now_ms);
}

/* True if it is the longest so far. */
static bool
note_delay(struct episode *e, int64_t delay_ms)
{
	if (delay_ms == STAMP_NO_SPAN || delay_ms <= e->max_delay_ms)
		return (false);
	e->max_delay_ms = delay_ms;
	return (true);
}

static void
accepted(struct follow *f, const struct route *r, const struct probe *p,
    const struct outcome *o, const struct step *s, int64_t now_ms)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (fe->e.state == EPISODE_QUIET ||
		    !followed_by_attempts(&fe->e) ||
		    !followed_speaks(f, &fe->e, r, o->host))
			continue;
		if (p->deferrals > 0)
			note_delay(&fe->e, stamp_span_ms(&p->first_attempt,
			    &p->accepted, NULL));
		text_copy(fe->last_route, sizeof fe->last_route, r->name);
		followed_move(f, fe, s, now_ms);
		if (fe->e.accepts > 0)
			fe->confirm_ms = fe->ask_ms = now_ms +
			    followed_confirm_ms(f, &fe->e);
		/* Arrivals are compared with the sender's own stamps. */
		if (fe->e.accepts == 1 && p->accepted.wall_ms != 0) {
			fe->e.run_ms = p->accepted.wall_ms;
			followed_put(f, &fe->e);
		}
	}
}

static void
failed(struct follow *f, const struct route *r, const struct outcome *o,
    const struct judgement *j, const struct step *s, int64_t now_ms)
{
	struct followed	*fe = followed_find(f, j, r, o->host, now_ms);

	/* Silence of all is no news of one, unless it was in trouble before. */
	if (judge_reached(o) < 0 && offline(f) != NULL &&
	    !episode_is_open(&fe->e))
		return;
	followed_record(&fe->e, o->stage, o->code, o->enhanced, o->reply,
	    o->host[0] != '\0' ? o->host : judge_system(r->server, ""));
	followed_miss(f, fe, r, s, now_ms);
	if (j->event == EPISODE_EV_MISS)
		break_runs(f, fe, r, o->host);
}

/* Whether others of the system go by another port than this one. */
static bool
goes_elsewhere(const struct follow *f, const struct episode *e, uint16_t port)
{
	struct route *const	*r;

	for (r = f->config->routes; *r != NULL; r++)
		if ((*r)->server->port != port &&
		    followed_covers(f, e, *r, ""))
			return (true);
	return (false);
}

/*
 * Whether the sentinel of e goes on, after it met j.  The trouble of its own
 * listener says nothing of the system: another listener's probe can tell more,
 * if there is one.
 */
static bool
stays(const struct follow *f, const struct episode *e, const struct route *r,
    const struct outcome *o, const struct judgement *j)
{
	if (o->verdict != VERDICT_TEMPORARY)
		return (false);
	if (strcmp(e->scope, j->scope) == 0)
		return (true);
	return (judge_is_listener(j->scope) &&
	    judge_speaks(e->scope, r, o->host) &&
	    !goes_elsewhere(f, e, r->server->port));
}

/*
 * The sentinel hands over when it will not be tried again, or when what it
 * meets now is another scope's trouble.
 */
static void
hand_over(struct follow *f, const struct route *r, const char *token,
    const struct outcome *o, const struct judgement *j)
{
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (strcmp(fe->e.sentinel, token) != 0 ||
		    stays(f, &fe->e, r, o, j))
			continue;
		fe->e.sentinel[0] = '\0';
		followed_put(f, &fe->e);
	}
}

void
follow_attempt(struct follow *f, const struct route *r,
    const struct probe *p, const struct outcome *o, int64_t now_ms)
{
	struct judgement	j;
	struct step		s = {
		.event = EPISODE_EV_MISS, .token = p->token,
		.said = o->reply, .transcript = o->transcript,
	};

	follow_begin(f, now_ms);
	judge_attempt(r, p, o, now_ms, &j);
	note_reach(f, o->host[0] != '\0' ? o->host :
	    judge_system(r->server, ""), judge_reached(o), false, now_ms);
	sighted(f, r, o, &s, now_ms);
	if (j.scope[0] != '\0' && j.event == EPISODE_EV_ACCEPT) {
		s.event = EPISODE_EV_ACCEPT;
		accepted(f, r, p, o, &s, now_ms);
	} else if (j.scope[0] != '\0') {
		failed(f, r, o, &j, &s, now_ms);
	}
	hand_over(f, r, p->token, o, &j);
}

/* Arrivals, ages, mailboxes. */

/* Does the arrival of a probe of r speak about e? */
static bool
concerns(const struct follow *f, const struct episode *e,
    const struct route *r, const struct probe *p)
{
	if (e->class == CLASS_BLIND)
		return (false);
	/* What a bounce named lies behind the system we speak to. */
	if (e->origin != EPISODE_BY_ATTEMPT &&
	    (e->origin != EPISODE_BY_AGE || r->server->mx != MX_EACH))
		return (words_has(e->routes, r->name));
	return (followed_speaks(f, e, r, p->host));
}

static bool
proves(const struct episode *e, const struct probe *p)
{
	if (e->origin != EPISODE_BY_ATTEMPT)
		return (p->accepted.wall_ms > e->last_miss_ms);
	return (e->accepts > 0 && p->accepted.wall_ms >= e->run_ms);
}

/* What was late has come: whether mail passes again is worth a look, even if
 * the next regular probe is hours away. */
static void
ask_after(struct follow *f, struct followed *fe, const char *route,
    int64_t now_ms)
{
	text_copy(fe->last_route, sizeof fe->last_route, route);
	fe->came = true;
	fe->ask_ms = now_ms + followed_confirm_ms(f, &fe->e);
	f->next->stale = true;
}

static void
arrived(struct follow *f, struct followed *fe, const struct probe *p,
    int64_t now_ms)
{
	struct episode	*e = &fe->e;
	struct step	 s = { .event = EPISODE_EV_DELIVERED,
			    .token = p->token, .said = "", .transcript = "" };
	bool		 longest = false;

	if (p->deferrals > 0 || e->origin != EPISODE_BY_ATTEMPT)
		longest = note_delay(e, stamp_span_ms(&p->first_attempt,
		    &p->arrived, NULL));
	if (e->state == EPISODE_FAILING && e->origin != EPISODE_BY_ATTEMPT &&
	    !proves(e, p))
		ask_after(f, fe, p->route, now_ms);
	if (e->state == EPISODE_QUIET || !proves(e, p)) {
		if (longest)
			followed_put(f, e);
		return;
	}
	if (e->closed_by[0] == '\0')
		text_copy(e->closed_by, sizeof e->closed_by, p->token);
	if (e->origin != EPISODE_BY_ATTEMPT)
		e->run_ms = p->accepted.wall_ms;
	followed_move(f, fe, &s, now_ms);
}

/* Handed over before what has proved that it is over: no relapse. */
static bool
is_old_sign(const struct episode *e, const struct probe *p)
{
	return (e->state == EPISODE_QUIET && e->opened_ms != 0 &&
	    p->accepted.wall_ms <= e->run_ms);
}

void
follow_delivered(struct follow *f, const struct route *r,
    const struct probe *p, int64_t now_ms)
{
	struct followed	*fe;

	follow_begin(f, now_ms);
	TAILQ_FOREACH(fe, &f->episodes, entry)
		if ((fe->e.state != EPISODE_QUIET || fe->e.opened_ms != 0) &&
		    concerns(f, &fe->e, r, p))
			arrived(f, fe, p, now_ms);
}

/* Whether a report has told already why mail of this route does not come. */
static bool
is_reported(const struct follow *f, const struct route *r)
{
	const struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.origin == EPISODE_BY_BOUNCE &&
		    episode_is_open(&fe->e) &&
		    words_has(fe->e.routes, r->name))
			return (true);
	return (false);
}

/*
 * A probe that nobody has answered 250 for, while its route is known not to be
 * answered: that it does not arrive is no other trouble.
 */
static bool
is_uncertain(const struct follow *f, const struct route *r,
    const struct probe *p)
{
	const struct followed	*fe;

	if (p->class != CLASS_UNCERTAIN)
		return (false);
	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.class == CLASS_UNCERTAIN &&
		    episode_is_open(&fe->e) &&
		    followed_speaks(f, &fe->e, r, p->host))
			return (true);
	return (false);
}

void
follow_late(struct follow *f, const struct route *r, const struct probe *p,
    int64_t now_ms)
{
	struct step		 s = { .event = EPISODE_EV_MISS,
				    .token = p->token, .said = "late",
				    .transcript = "",
				    .since_ms = p->accepted.wall_ms };
	struct judgement	 j;
	struct followed		*fe;

	follow_begin(f, now_ms);
	if (is_reported(f, r) || is_uncertain(f, r, p))
		return;
	judge_age(r, p->host, &j);
	fe = followed_find(f, &j, r, p->host, now_ms);
	if (is_old_sign(&fe->e, p))
		return;
	followed_record(&fe->e, STAGE_DOT, p->code, p->enhanced, p->reply,
	    p->host[0] != '\0' ? p->host : judge_system(r->server, ""));
	followed_miss(f, fe, r, &s, now_ms);
}

/* Reports. */

/*
 * What age has opened is known better now: the same episode, of another name
 * and class.
 */
static void
refine(struct follow *f, struct followed *fe, const struct judgement *j)
{
	log_info("episode=%lld scope=\"%s\" class=%s is now scope=\"%s\" "
	    "class=%s", (long long)fe->e.id, fe->e.scope,
	    class_name(fe->e.class), j->scope, class_name(j->class));
	text_copy(fe->e.scope, sizeof fe->e.scope, j->scope);
	fe->e.class = j->class;
	fe->e.origin = j->origin;
	f->next->stale = true;
}

/* The open episode of this route's late probes, or NULL. */
static struct followed *
opened_by_age(const struct follow *f, const struct route *r,
    const struct probe *p, int64_t now_ms)
{
	struct judgement	 j;
	struct followed		*fe;

	judge_age(r, p->host, &j);
	fe = followed_known(f, &j, r, p->host, now_ms);
	return (fe != NULL && episode_is_open(&fe->e) &&
	    fe->e.origin == EPISODE_BY_AGE ? fe : NULL);
}

void
follow_report(struct follow *f, const struct route *r, const struct probe *p,
    const struct frame_report *report, int64_t now_ms)
{
	const char		*system = report->remote_mta[0] != '\0' ?
				    report->remote_mta : report->reporting_mta;
	struct step		 s = { .event = EPISODE_EV_MISS,
				    .token = p->token, .said = report->reply,
				    .transcript = "" };
	struct judgement	 j;
	struct followed		*fe, *known;

	follow_begin(f, now_ms);
	judge_report(r, (enum outcome_class)report->class, system, p->host,
	    &j);
	known = opened_by_age(f, r, p, now_ms);
	if (followed_known(f, &j, r, p->host, now_ms) != NULL)
		known = NULL;
	if (known != NULL)
		refine(f, known, &j);
	fe = followed_find(f, &j, r, p->host, now_ms);
	if (is_old_sign(&fe->e, p))
		return;
	followed_record(&fe->e, STAGE_NONE, (int)report->code,
	    report->enhanced, report->reply, system);
	followed_miss(f, fe, r, &s, now_ms);
	/* Those who were told that mail is late hear why. */
	if (known != NULL) {
		s.event = EPISODE_EV_REMIND;
		followed_move(f, fe, &s, now_ms);
	}
}

/* Mailboxes. */

static void
cannot_look(struct follow *f, const struct judgement *j,
    const char *mailbox, bool silent, const char *reason, int64_t now_ms)
{
	struct step	 s = { .event = EPISODE_EV_MISS, .token = "",
			    .said = reason, .transcript = "", .quiet = true };
	struct followed	*fe = followed_find(f, j, NULL, "", now_ms);

	if (silent && offline(f) != NULL && !episode_is_open(&fe->e))
		return;
	for (size_t i = 0; f->config->routes[i] != NULL; i++)
		if (judge_watches(mailbox, f->config->routes[i]))
			followed_join(&fe->e, f->config->routes[i]);
	followed_record(&fe->e, STAGE_NONE, 0, "", reason, "");
	followed_move(f, fe, &s, now_ms);
}

static void
can_look(struct follow *f, const struct judgement *j, int64_t now_ms)
{
	struct step	 s = { .event = EPISODE_EV_DELIVERED, .token = "",
			    .said = "", .transcript = "" };
	struct followed	*fe;

	TAILQ_FOREACH(fe, &f->episodes, entry)
		if (fe->e.state != EPISODE_QUIET &&
		    fe->e.class == CLASS_BLIND &&
		    strcmp(fe->e.scope, j->scope) == 0)
			followed_move(f, fe, &s, now_ms);
}

void
follow_mailbox(struct follow *f, const struct mailbox *m, bool blind,
    enum outcome_class class, const char *reason, int64_t now_ms)
{
	bool			silent = blind && (class == CLASS_NETWORK ||
				    class == CLASS_DNS);
	struct judgement	j;

	follow_begin(f, now_ms);
	note_reach(f, m->host, silent ? -1 : 1, !blind, now_ms);
	judge_mailbox(m->name, &j);
	if (blind)
		cannot_look(f, &j, m->name, silent, reason, now_ms);
	else
		can_look(f, &j, now_ms);
}

void
follow_gone(struct follow *f, const char *token, int64_t now_ms)
{
	struct followed	*fe;

	follow_begin(f, now_ms);
	TAILQ_FOREACH(fe, &f->episodes, entry) {
		if (token[0] == '\0' || strcmp(fe->e.sentinel, token) != 0)
			continue;
		fe->e.sentinel[0] = '\0';
		followed_put(f, &fe->e);
	}
}
