#include <string.h>

#include "monitor/classify.h"
#include "monitor/mem.h"
#include "monitor/reply.h"
#include "monitor/text.h"
#include "tests/sim/world_internal.h"

/* Mail after its 250, and the watcher that looks for it. */

struct mailbox_state *
world_mailbox_of(struct world *w, const char *name)
{
	struct mailbox_state	*m;

	for (m = w->mailboxes; m != NULL; m = m->next)
		if (strcmp(m->name, name) == 0)
			return (m);
	m = mem_alloc(sizeof *m);
	text_copy(m->name, sizeof m->name, name);
	m->delay_ms = 15;
	m->next_uid = 1;
	m->next = w->mailboxes;
	w->mailboxes = m;
	return (m);
}

/* On the way. */

/* Where mail to this address ends, even while the monitor is down. */
static const char *
mailbox_for(const struct world *w, const char *to)
{
	for (struct route **r = w->config->routes; *r != NULL; r++)
		if (strcmp((*r)->to, to) == 0)
			return ((*r)->mailbox->name);
	return (NULL);
}

/* Where reports about mail for this mailbox go. */
static struct mailbox_state *
return_path(struct world *w, const char *mailbox)
{
	for (struct route **r = w->config->routes; *r != NULL; r++)
		if (strcmp((*r)->mailbox->name, mailbox) == 0 &&
		    (*r)->bounces != NULL)
			return (world_mailbox_of(w, (*r)->bounces->name));
	return (NULL);
}

static struct mail *
report_on(const char *token, enum report_news news, const char *text,
    const char *by)
{
	static const char *const	actions[REPORT_NEWS] = {
		[REPORT_NOTED] = "relayed", [REPORT_DELAYED] = "delayed",
		[REPORT_LOST] = "failed",
	};
	struct mail	*x = mem_alloc(sizeof *x);
	struct reply	 r;

	reply_parse(&r, text, strlen(text));
	x->report = mem_alloc(sizeof *x->report);
	x->report->news = news;
	x->report->class = classify(STAGE_DOT, &r).class;
	x->report->code = (uint32_t)r.code;
	text_copy(x->token, sizeof x->token, token);
	text_copy(x->report->token, sizeof x->report->token, token);
	text_copy(x->report->action, sizeof x->report->action, actions[news]);
	text_copy(x->report->enhanced, sizeof x->report->enhanced,
	    r.enhanced);
	text_copy(x->report->reply, sizeof x->report->reply, r.text);
	text_copy(x->report->remote_mta, sizeof x->report->remote_mta, by);
	return (x);
}

static void
arrives_in(struct world *w, struct mailbox_state *m, const char *token,
    int64_t in_ms)
{
	struct event	*a = world_event(w, MAIL_ARRIVES, in_ms);

	a->mailbox = m;
	a->junk = m->fate == FATE_JUNK;
	text_copy(a->token, sizeof a->token, token);
}

static void
bounces_in(struct world *w, struct mailbox_state *m, const char *token,
    int64_t in_ms)
{
	struct mailbox_state	*to = return_path(w, m->name);
	struct event		*a;

	if (to == NULL)
		return;
	a = world_event(w, MAIL_ARRIVES, in_ms);
	a->mailbox = to;
	a->bounce = true;
	text_copy(a->token, sizeof a->token, token);
}

static void
hold(struct mailbox_state *m, const char *token)
{
	struct mail	*x = mem_alloc(sizeof *x);

	text_copy(x->token, sizeof x->token, token);
	x->next = m->held;
	m->held = x;
}

void
world_send_on(struct world *w, const char *token, const char *to, bool early)
{
	const char		*name = mailbox_for(w, to);
	struct mailbox_state	*m;

	if (name == NULL)		/* its route is gone */
		return;
	m = world_mailbox_of(w, name);
	switch (m->fate) {
	case FATE_LOST:
		break;
	case FATE_BOUNCED:
		bounces_in(w, m, token, early ? 0 : m->delay_ms);
		break;
	case FATE_HELD:
		hold(m, token);
		break;
	case FATE_TWICE:
		arrives_in(w, m, token, m->delay_ms + 40);
		arrives_in(w, m, token, early ? 0 : m->delay_ms);
		break;
	case FATE_ARRIVES:
	case FATE_JUNK:
		arrives_in(w, m, token, early ? 0 : m->delay_ms);
		break;
	}
}

void
world_fate(struct world *w, const char *mailbox, enum fate fate)
{
	struct mailbox_state	*m = world_mailbox_of(w, mailbox);
	struct mail		*x;

	m->fate = fate;
	while (fate != FATE_HELD && (x = m->held) != NULL) {
		m->held = x->next;
		if (fate != FATE_LOST)
			arrives_in(w, m, x->token, m->delay_ms);
		mem_free(x);
	}
}

void
world_delay(struct world *w, const char *mailbox, int64_t delay_ms)
{
	world_mailbox_of(w, mailbox)->delay_ms = delay_ms;
}

/* Seen. */

struct find {
	const char	*name;
	uint32_t	 id;
};

static void
find_id(void *arg, uint32_t id, const struct mailbox *m)
{
	struct find	*f = arg;

	if (strcmp(m->name, f->name) == 0)
		f->id = id;
}

/* 0: the monitor does not watch it. */
static uint32_t
id_of(struct world *w, const struct mailbox_state *m)
{
	struct find	f = { m->name, 0 };

	if (w->up)
		engine_mailboxes(w->engine, find_id, &f);
	return (f.id);
}

static void
tell_report(struct world *w, uint32_t id, const struct mail *x)
{
	struct frame_report	f = *x->report;

	f.id = id;
	f.uidvalidity = 1;
	f.uid = x->uid;
	f.seen = world_stamp(w);
	f.internal_ms = x->at_ms;
	text_copy(f.folder, sizeof f.folder, "INBOX");
	engine_report(w->engine, &f, world_told_ms(w));
}

static void
tell_mail(struct world *w, uint32_t id, const struct mailbox_state *m,
    const struct mail *x)
{
	struct frame_arrival	f = { .id = id,
				    .is_probe = true, .junk = x->junk,
				    .uidvalidity = 1, .uid = x->uid,
				    .seen = world_stamp(w),
				    .internal_ms = x->at_ms,
				    .hops = 2, .slowest_hop_ms = STAMP_NO_SPAN,
				    .skew_ms = STAMP_NO_SPAN };

	if (x->report != NULL) {
		tell_report(w, id, x);
		return;
	}
	f.last_look = f.seen;
	f.last_look.wall_ms -= w->now_ms - m->look_ms;
	f.last_look.boot_ms -= w->now_ms - m->look_ms;
	text_copy(f.token, sizeof f.token, x->token);
	text_copy(f.folder, sizeof f.folder, x->junk ? "Junk" : "INBOX");
	engine_arrival(w->engine, &f, world_told_ms(w));
}

/* The watcher looks: everything that lies there is told. */
static void
look(struct world *w, struct mailbox_state *m)
{
	struct frame_look	f = { .id = id_of(w, m),
				    .at = world_stamp(w) };

	if (f.id == 0)
		return;
	if (m->blind) {
		f.state = LOOK_BLIND;
		f.class = CLASS_BLIND;
		f.retry_ms = 60000;
		text_copy(f.reason, sizeof f.reason, m->reason);
		engine_look(w->engine, &f, world_told_ms(w));
		return;
	}
	for (struct mail *x = m->mails; x != NULL; x = x->next)
		tell_mail(w, f.id, m, x);
	m->look_ms = w->now_ms;
	engine_look(w->engine, &f, world_told_ms(w));
}

void
world_look_everywhere(struct world *w)
{
	struct mailbox_state	*m;

	for (struct mailbox **b = w->config->mailboxes; *b != NULL; b++) {
		m = world_mailbox_of(w, (*b)->name);
		if (!m->polled)
			world_event(w, MAILBOX_LOOK, (*b)->poll_ms)->mailbox =
			    m;
		m->polled = true;
		look(w, m);
		if (id_of(w, m) != 0)
			engine_mailbox_cleans(w->engine, id_of(w, m));
	}
}

void
world_mailbox_look(struct world *w, struct event *e)
{
	const struct mailbox	*b = config_mailbox(w->config,
				    e->mailbox->name);

	look(w, e->mailbox);
	agenda_set(&w->agenda, &e->item, w->now_ms +
	    (b != NULL ? b->poll_ms : 3600 * 1000));
}

void
world_mailbox(struct world *w, const char *mailbox, bool blind,
    const char *reason)
{
	struct mailbox_state	*m = world_mailbox_of(w, mailbox);

	m->blind = blind;
	text_copy(m->reason, sizeof m->reason, reason);
	look(w, m);
	if (w->up)
		(void)world_commit(w);
}

/* It lies there now, and is told if anybody looks. */
static void
lay_down(struct world *w, struct mailbox_state *m, struct mail *x)
{
	uint32_t	id = id_of(w, m);

	x->uid = m->next_uid++;
	x->at_ms = w->now_ms + w->clock_ms;
	x->next = m->mails;
	m->mails = x;
	if (id != 0 && !m->blind) {
		tell_mail(w, id, m, x);
		m->look_ms = w->now_ms;
	}
}

void
world_mail_arrives(struct world *w, struct event *e)
{
	struct mail	*x;

	if (e->bounce)
		x = report_on(e->token, REPORT_LOST, "550 5.7.1 Not wanted",
		    "next.example");
	else
		x = mem_alloc(sizeof *x);
	text_copy(x->token, sizeof x->token, e->token);
	x->junk = e->junk;
	lay_down(w, e->mailbox, x);
	world_event_free(e);
}

void
world_report(struct world *w, const char *mailbox, enum report_news news,
    const char *reply, const char *by)
{
	struct mailbox_state	*from = world_mailbox_of(w, mailbox);
	struct mailbox_state	*to = return_path(w, mailbox);
	struct mail		*held;

	for (held = from->held; to != NULL && held != NULL; held = held->next)
		lay_down(w, to, report_on(held->token, news, reply, by));
	while (news == REPORT_LOST && (held = from->held) != NULL) {
		from->held = held->next;
		mem_free(held);
	}
	if (w->up)
		(void)world_commit(w);
}

static void
tell_cleaned(struct world *w, const struct frame_clean *f,
    enum clean_state state)
{
	struct frame_cleaned	c = { .id = f->id, .state = state,
				    .uidvalidity = f->uidvalidity,
				    .uid = f->uid };

	text_copy(c.folder, sizeof c.folder, f->folder);
	text_copy(c.token, sizeof c.token, f->token);
	engine_cleaned(w->engine, &c, world_told_ms(w));
}

void
world_op_clean(void *arg, const struct frame_clean *f)
{
	struct world	*w = arg;

	if (w->drop_orders)
		return;
	for (struct mailbox_state *m = w->mailboxes; m != NULL; m = m->next)
		for (struct mail **x = &m->mails; *x != NULL; x = &(*x)->next) {
			struct mail	*gone = *x;

			if (gone->report != NULL || gone->uid != f->uid ||
			    strcmp(gone->token, f->token) != 0)
				continue;
			*x = gone->next;
			world_body_forget(w, gone->token);
			mem_free(gone);
			w->cleaned++;
			tell_cleaned(w, f, CLEAN_REMOVED);
			return;
		}
	tell_cleaned(w, f, CLEAN_GONE);
}

static void
free_mails(struct mail *list)
{
	struct mail	*x;

	while ((x = list) != NULL) {
		list = x->next;
		mem_free(x->report);
		mem_free(x);
	}
}

void
world_mailboxes_free(struct world *w)
{
	struct mailbox_state	*m;

	while ((m = w->mailboxes) != NULL) {
		w->mailboxes = m->next;
		free_mails(m->mails);
		free_mails(m->held);
		mem_free(m);
	}
}
