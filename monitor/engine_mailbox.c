#include "monitor/engine_internal.h"

#include <string.h>

#include "monitor/latency.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define SILENCE_SLACK_MS	10000

/*
 * What watchers tell: mails that carry our tokens, and whether they can look
 * at all.
 */

struct mailbox_run *
mailbox_run_find(struct engine *e, uint32_t id)
{
	uint32_t	n = id - e->first_mailbox;

	return (n < e->mailbox_count ? e->mailboxes[n] : NULL);
}

struct mailbox_run *
mailbox_run_named(struct engine *e, const char *name)
{
	for (struct mailbox_run **m = e->mailboxes; *m != NULL; m++)
		if (strcmp((*m)->mailbox->name, name) == 0)
			return (*m);
	return (NULL);
}

/*
 * For how long the mailbox has been looked at, in all: up to the last look
 * that was completed.  What has not been looked for since is not missing.
 */
int64_t
mailbox_run_looked_ms(const struct engine *e, const struct mailbox_run *m)
{
	(void)e;
	return (m->looked_ms + (m->good ? m->heard_ms - m->since_ms : 0));
}

/*
 * A watcher speaks at least once a poll.  One that has hung or was stopped
 * does not: then its mailboxes are blind, and it is ended.  Only time in
 * which both of us could run counts: a step of the clock or a sleep of the
 * machine is nobody's silence.
 */
void
mailbox_run_await(struct engine *e, struct mailbox_run *m, int64_t retry_ms)
{
	const struct mailbox	*b = m->mailbox;
	int64_t			 span_ms = retry_ms + 2 * b->poll_ms +
				    b->connect_timeout_ms + b->timeout_ms +
				    SILENCE_SLACK_MS;

	m->silent_ms = e->ops->running_ms(e->arg) + span_ms;
	agenda_set(&e->agenda, &m->silence.agenda, e->now_ms + span_ms);
}

/* Can it be looked at?  A change sets the clocks of what is awaited there. */
static void
set_state(struct engine *e, struct mailbox_run *m, bool good,
    enum outcome_class class, const char *reason)
{
	struct probe_run	*pr;
	bool			 edge = !m->known || m->good != good;

	if (edge) {
		m->looked_ms = mailbox_run_looked_ms(e, m);
		m->since_ms = e->now_ms;
		m->heard_ms = e->now_ms;
		m->good = good;
		m->known = true;
		if (good)
			log_info("mailbox=%s state=good", m->mailbox->name);
		else
			log_warn("mailbox=%s state=blind reason=%s",
			    m->mailbox->name, reason);
	}
	text_copy(m->reason, sizeof m->reason, reason);
	if (edge || !good)
		follow_mailbox(e->follow, m->mailbox, !good, class, reason,
		    e->now_ms);
	/* Only a look that found nothing says that something is missing. */
	TAILQ_FOREACH(pr, &m->pending, in_pending)
		if (edge)
			probe_run_watch_age(e, pr);
		else if (good)
			probe_run_not_found(e, pr);
}

void
mailbox_run_silent(struct engine *e, struct item *item)
{
	struct mailbox_run	*m = (struct mailbox_run *)((char *)item -
				    offsetof(struct mailbox_run, silence));
	int64_t			 left_ms;

	left_ms = m->silent_ms - e->ops->running_ms(e->arg);
	if (left_ms > 0) {
		agenda_set(&e->agenda, &item->agenda, e->now_ms + left_ms);
		return;
	}
	log_warn("mailbox=%s its watcher has not spoken since it should have",
	    m->mailbox->name);
	mailbox_run_await(e, m, 0);
	set_state(e, m, false, CLASS_BLIND,
	    "the watcher process does not answer");
	if (e->ops->silent != NULL)
		e->ops->silent(e->arg, m->id);
}

/*
 * Refused logins: after the second one the watcher pauses, and so does its
 * successor, in this process or the next.
 */

static const char	pause_fact[] = "auth-pause-mailbox";

static uint64_t
login_of(const struct mailbox *m)
{
	return (engine_login_mark(m->host, m->user, &m->secret));
}

static void
pause_logins(struct engine *e, struct mailbox_run *m,
    const struct frame_look *f)
{
	char	text[OUTCOME_REPLY + 32] = "";

	if (f->class != CLASS_AUTH || f->retry_ms < m->mailbox->auth_pause_ms)
		return;
	m->paused_ms = m->retry_ms;
	(void)text_appendf(text, sizeof text, "%016llx %s",
	    (unsigned long long)login_of(m->mailbox), f->reason);
	(void)store_fact_put(e->store, pause_fact, m->mailbox->name,
	    m->paused_ms, text);
}

static void
end_pause(struct engine *e, struct mailbox_run *m)
{
	if (m->paused_ms != 0)
		(void)store_fact_delete(e->store, pause_fact,
		    m->mailbox->name);
	m->paused_ms = 0;
}

static void
resume_pause(struct engine *e, struct mailbox_run *m)
{
	char	text[OUTCOME_REPLY + 32], login[32] = "";
	size_t	n;

	if (store_fact_get(e->store, pause_fact, m->mailbox->name,
	    &m->paused_ms, text, sizeof text) != 1)
		return;
	(void)text_appendf(login, sizeof login, "%016llx ",
	    (unsigned long long)login_of(m->mailbox));
	n = strlen(login);
	if (strncmp(text, login, n) != 0) {
		end_pause(e, m);
		return;
	}
	if (m->paused_ms <= e->now_ms)
		return;
	m->retry_ms = m->paused_ms;
	set_state(e, m, false, CLASS_AUTH, text + n);
}

void
engine_resume_pauses(struct engine *e)
{
	for (struct mailbox_run **m = e->mailboxes; *m != NULL; m++)
		resume_pause(e, *m);
	engine_login_resume(e);
}

void
engine_look(struct engine *e, const struct frame_look *f, int64_t now_ms)
{
	struct mailbox_run	*m = mailbox_run_find(e, f->id);

	e->now_ms = now_ms;
	if (m == NULL)
		return;
	m->ignored += f->ignored;
	if (f->state == LOOK_GOOD) {
		m->last_look_ms = f->at.wall_ms;
		m->heard_ms = now_ms;
		m->retry_ms = 0;
		mailbox_run_await(e, m, 0);
		end_pause(e, m);
		if (f->warning[0] != '\0' &&
		    strcmp(f->warning, m->reason) != 0)
			log_warn("mailbox=%s %s", m->mailbox->name, f->warning);
		set_state(e, m, true, CLASS_NONE, f->warning);
	} else {
		m->retry_ms = now_ms + f->retry_ms;
		mailbox_run_await(e, m, f->retry_ms);
		pause_logins(e, m, f);
		set_state(e, m, false, (enum outcome_class)f->class, f->reason);
	}
}

void
engine_mailbox_lost(struct engine *e, uint32_t id, const char *why,
    int64_t now_ms)
{
	struct mailbox_run	*m = mailbox_run_find(e, id);

	e->now_ms = now_ms;
	/* One that pauses its logins could not look anyway. */
	if (m != NULL && m->paused_ms <= now_ms)
		set_state(e, m, false, CLASS_BLIND, why);
}

/*
 * Does it show that the probe made its way?  On a route that awaits an echo
 * what the recipient made of it does; an answering machine's route has not
 * got there by the probe itself.
 */
static bool
is_arrival(const struct route *r, const struct frame_arrival *a)
{
	switch (r != NULL ? r->echo : ECHO_NONE) {
	case ECHO_NONE:
		return (a->is_probe);
	case ECHO_FORWARD:
		return (a->is_probe || a->sign != SIGN_NONE);
	case ECHO_AUTOREPLY:
		return (!a->is_probe && a->sign == SIGN_ANSWER);
	}
	return (false);
}

/*
 * A mail of a probe that has ended: a copy, or one that was given up.  True
 * if that came too late.
 */
static bool
arrived_after_all(struct engine *e, struct mailbox_run *m,
    const struct frame_arrival *a)
{
	struct probe	*p = mem_alloc(sizeof *p);
	char		 id[TOKEN_SHORT];
	bool		 late = false;

	if (store_probe_get(e->store, a->token, p) != 1 ||
	    p->state != PROBE_DONE ||
	    !is_arrival(config_route(e->config, p->route), a))
		goto out;
	late = p->end != PROBE_END_DELIVERED;
	if (p->end == PROBE_END_LOST || p->end == PROBE_END_BLIND ||
	    p->end == PROBE_END_BOUNCED) {
		probe_take_arrival(p, a, m->mailbox->poll_ms);
		p->end = a->junk ? PROBE_END_JUNK : PROBE_END_LATE;
		p->finished_ms = e->now_ms;
		latency_note(p->note, sizeof p->note, "was-lost");
		csv_latency(e->csv, p);
		log_info("route=%s probe=%s arrived after it was given up",
		    p->route, token_short(p->token, id));
	} else if (engine_was_moved(e, a->token))
		goto out;
	else
		p->duplicates++;
	(void)store_probe_put(e->store, p);
out:
	mem_free(p);
	return (late);
}

void
engine_arrival(struct engine *e, const struct frame_arrival *a, int64_t now_ms)
{
	struct mailbox_run	*m = mailbox_run_find(e, a->id);
	struct probe_run	*pr;
	bool			 late;
	int			 fresh;

	e->now_ms = now_ms;
	if (m == NULL || token_check(a->token, &e->key, e->config->instance,
	    m->mailbox->name) != TOKEN_OURS)
		return;
	fresh = store_arrival_put(e->store, m->mailbox->name, a);
	pr = probe_run_find(e, a->token);
	if (pr != NULL && pr->mailbox == m &&
	    is_arrival(pr->route->route, a)) {
		/* Not told of for the first time after a restart that came
		 * before its outcome: the probe's state knows better. */
		probe_run_arrived(e, pr, a);
		return;
	}
	late = pr == NULL && fresh == 1 && arrived_after_all(e, m, a);
	/* What lies there although it was removed goes at once. */
	engine_clean(e, m, a, fresh == 1 ? engine_keep_ms(m, a, late) : 0);
}

void
engine_mark(struct engine *e, const struct frame_mark *f)
{
	struct mailbox_run	*m = mailbox_run_find(e, f->id);

	if (m != NULL)
		(void)store_mark_put(e->store, m->mailbox->name, f);
}

void
engine_mailboxes(struct engine *e,
    void (*each)(void *arg, uint32_t id, const struct mailbox *), void *arg)
{
	for (struct mailbox_run **m = e->mailboxes; *m != NULL; m++)
		each(arg, (*m)->id, (*m)->mailbox);
}

/* A line of the list unless it is there already. */
static void
add_line(char *list, size_t size, const char *word)
{
	size_t		 n = strlen(word);
	const char	*p;

	for (p = list; (p = strstr(p, word)) != NULL; p += n)
		if ((p == list || p[-1] == '\n') &&
		    (p[n] == '\n' || p[n] == '\0'))
			return;
	if (list[0] != '\0')
		text_append(list, size, "\n");
	text_append(list, size, word);
}

static void
fill_mailbox(struct engine *e, const struct mailbox_run *m,
    struct frame_mailbox *f)
{
	const struct mailbox	*b = m->mailbox;

	memset(f, 0, sizeof *f);
	f->id = m->id;
	text_copy(f->name, sizeof f->name, b->name);
	text_copy(f->host, sizeof f->host, b->host);
	f->port = b->port;
	f->tls = (uint32_t)b->tls;
	text_copy(f->ca_file, sizeof f->ca_file, b->ca_file);
	f->insecure_auth = b->insecure_auth;
	text_copy(f->user, sizeof f->user, b->user);
	f->oauth = b->secret.token_command[0] != '\0';
	text_copy(f->source_address, sizeof f->source_address,
	    b->source_address);
	f->family = (uint32_t)b->family;
	f->connect_timeout_ms = b->connect_timeout_ms;
	f->timeout_ms = b->timeout_ms;
	f->auth_pause_ms = b->auth_pause_ms;
	if (m->paused_ms > e->now_ms)
		f->pause_ms = m->paused_ms - e->now_ms;
	for (char **folder = b->folders; *folder != NULL; folder++)
		add_line(f->folders, sizeof f->folders, *folder);
	text_copy(f->junk, sizeof f->junk, b->junk);
	for (struct route_run **r = e->routes; *r != NULL; r++) {
		f->bounces = f->bounces || (*r)->route->bounces == b;
		if ((*r)->mailbox == m)
			add_line(f->froms, sizeof f->froms, (*r)->route->from);
	}
	f->poll_ms = b->poll_ms;
	f->idle = b->idle;
	f->burst_ms = b->burst_ms;
	f->expunge = (uint32_t)b->expunge;
	text_copy(f->authserv_id, sizeof f->authserv_id, b->authserv_id);
	text_copy(f->maildir, sizeof f->maildir, b->maildir);
}

struct mark_context {
	uint32_t	 id;
	void		(*mark)(void *arg, const struct frame_mark *);
	void		*arg;
};

static void
tell_mark(void *arg, const struct frame_mark *stored)
{
	struct mark_context	*c = arg;
	struct frame_mark	 f = *stored;

	f.id = c->id;
	c->mark(c->arg, &f);
}

bool
engine_mailbox_fill(struct engine *e, uint32_t id, struct frame_mailbox *f)
{
	struct mailbox_run	*m = mailbox_run_find(e, id);

	if (m == NULL)
		return (false);
	fill_mailbox(e, m, f);
	return (true);
}

void
engine_mailbox_marks(struct engine *e, uint32_t id,
    void (*mark)(void *arg, const struct frame_mark *), void *arg)
{
	struct mailbox_run	*m = mailbox_run_find(e, id);
	struct mark_context	 c = { id, mark, arg };

	if (m != NULL)
		(void)store_mark_each(e->store, m->mailbox->name, tell_mark,
		    &c);
}

static void
fill_expect(const struct probe_run *pr, struct frame_expect *f)
{
	*f = (struct frame_expect){ .id = pr->mailbox->id,
	    .accepted = pr->p.accepted };
	text_copy(f->token, sizeof f->token, pr->p.token);
}

void
engine_expect(struct engine *e, const struct probe_run *pr)
{
	struct frame_expect	f;

	fill_expect(pr, &f);
	e->ops->expect(e->arg, &f);
}

void
engine_mailbox_expected(struct engine *e, uint32_t id,
    void (*expect)(void *arg, const struct frame_expect *), void *arg)
{
	struct mailbox_run	*m = mailbox_run_find(e, id);
	struct probe_run	*pr;
	struct frame_expect	 f;

	if (m == NULL)
		return;
	TAILQ_FOREACH(pr, &m->pending, in_pending) {
		fill_expect(pr, &f);
		expect(arg, &f);
	}
}

void
engine_key(const struct engine *e, struct frame_key *f)
{
	memset(f, 0, sizeof *f);
	text_copy(f->instance, sizeof f->instance, e->config->instance);
	text_copy(f->resolver, sizeof f->resolver, e->config->resolver);
	for (size_t i = 0; i < TOKEN_KEY; i++)
		(void)text_appendf(f->key_hex, sizeof f->key_hex, "%02x",
		    e->key.bytes[i]);
}

void
engine_mailbox_views(struct engine *e,
    void (*each)(void *arg, const struct mailbox_view *), void *arg)
{
	for (struct mailbox_run **m = e->mailboxes; *m != NULL; m++) {
		struct mailbox_view	v = {
			.mailbox = (*m)->mailbox,
			.good = (*m)->good,
			.known = (*m)->known,
			.last_look_ms = (*m)->last_look_ms,
			.since_ms = (*m)->since_ms,
			.retry_ms = (*m)->retry_ms,
			.reason = (*m)->reason,
			.ignored = (*m)->ignored,
		};

		each(arg, &v);
	}
}
