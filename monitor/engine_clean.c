#include "monitor/engine_internal.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * Clean-up of mailboxes: when a probe's mail goes, and until when we remember
 * that it has to.  The time stands in the arrival's row before the order is
 * given; it is taken out once the watcher has confirmed.  A confirmation that
 * is lost means that the mail is looked for once more, no worse: so it is
 * worth no commit of its own and waits for the next.
 */

#define OUT_MOST	200	/* ordered and not confirmed, per mailbox */
#define DONE_MOST	256	/* confirmed, not yet written */
#define AGAIN_MS	(24 * 60 * 60 * INT64_C(1000))	/* after a refusal */
#define MOVE_MS		(10 * 60 * INT64_C(1000))	/* for both ends of it */

static void
order(struct engine *e, struct mailbox_run *m, const struct frame_clean *f)
{
	struct frame_clean	now = *f;

	if (m->cleans_out >= OUT_MOST) {
		m->cleans_wait = true;
		return;
	}
	m->cleans_out++;
	now.id = m->id;
	engine_order_clean(e, &now);
}

/* Until the next one comes of age. */
static void
remind(struct engine *e, struct mailbox_run *m, int64_t at_ms)
{
	if (m->item.agenda.place == 0 || at_ms < m->item.agenda.due_ms)
		agenda_set(&e->agenda, &m->item.agenda, at_ms);
}

static void
keep_until(struct engine *e, struct mailbox_run *m,
    const struct frame_clean *f, int64_t at_ms)
{
	(void)store_clean_put(e->store, m->mailbox->name, f, at_ms);
	remind(e, m, at_ms);
}

int64_t
engine_keep_ms(const struct mailbox_run *m, const struct frame_arrival *a,
    bool late)
{
	return (a->junk || late ? m->mailbox->keep_bad_ms :
	    m->mailbox->keep_ms);
}

void
engine_clean(struct engine *e, struct mailbox_run *m,
    const struct frame_arrival *a, int64_t keep_ms)
{
	struct frame_clean	f = { .id = m->id,
				    .uidvalidity = a->uidvalidity,
				    .uid = a->uid };
	int64_t			at_ms = 0;

	if (!a->is_probe)	/* others' mail: read, never touched */
		return;
	text_copy(f.folder, sizeof f.folder, a->folder);
	text_copy(f.token, sizeof f.token, a->token);
	/* Told of again, by a watcher that began anew: it has its time. */
	if (store_clean_get(e->store, m->mailbox->name, &f, &at_ms) == 1 &&
	    at_ms > e->now_ms)
		return;
	if (at_ms == 0 && keep_ms > 0) {
		keep_until(e, m, &f, e->now_ms + keep_ms);
		return;
	}
	if (at_ms == 0)
		(void)store_clean_put(e->store, m->mailbox->name, &f,
		    e->now_ms);
	order(e, m, &f);
}

/* What was confirmed is written with the next commit. */

void
engine_write_cleaned(struct engine *e)
{
	for (size_t i = 0; i < e->done_count; i++)
		(void)store_clean_put(e->store, e->done[i].mailbox,
		    &e->done[i].clean, 0);
	e->done_count = 0;
}

static void
confirm(struct engine *e, const struct mailbox_run *m,
    const struct frame_clean *f)
{
	struct cleaned	*d;

	if (e->done_count == DONE_MOST)
		engine_write_cleaned(e);
	if (e->done == NULL)
		e->done = mem_alloc(DONE_MOST * sizeof *e->done);
	d = &e->done[e->done_count++];
	text_copy(d->mailbox, sizeof d->mailbox, m->mailbox->name);
	d->clean = *f;
}

/*
 * A mail that was seen and is gone without our doing has been moved: if it is
 * seen elsewhere, before or after, that is no copy.
 */

static void
moved_away(struct engine *e, const char *token)
{
	struct probe	*p = mem_alloc(sizeof *p);

	if (store_probe_get(e->store, token, p) == 1 &&
	    p->state == PROBE_DONE && e->now_ms - p->finished_ms < MOVE_MS) {
		if (p->duplicates > 0) {
			p->duplicates--;
			(void)store_probe_put(e->store, p);
		} else
			text_copy(e->moved[e->moved_next++ % NITEMS(e->moved)],
			    TOKEN_SIZE, token);
	}
	mem_free(p);
}

bool
engine_was_moved(struct engine *e, const char *token)
{
	for (size_t i = 0; i < NITEMS(e->moved); i++)
		if (strcmp(e->moved[i], token) == 0) {
			e->moved[i][0] = '\0';
			return (true);
		}
	return (false);
}

/* Those that have come of age, as many as may be out at once. */

struct due {
	struct engine		*e;
	struct mailbox_run	*m;
};

static void
order_due(void *arg, const struct frame_clean *f)
{
	struct due	*d = arg;

	order(d->e, d->m, f);
}

void
mailbox_run_due(struct engine *e, struct mailbox_run *m)
{
	struct due	d = { e, m };
	int64_t		next_ms;

	if (m->cleans_out > 0)
		m->cleans_wait = true;	/* the last answer comes back here */
	else {
		engine_write_cleaned(e);
		m->cleans_wait = false;
		(void)store_clean_each(e->store, m->mailbox->name, e->now_ms,
		    OUT_MOST, order_due, &d);
		m->cleans_wait = m->cleans_out >= OUT_MOST;
	}
	if (store_clean_next(e->store, m->mailbox->name, e->now_ms,
	    &next_ms) == 1)
		remind(e, m, next_ms);
}

void
engine_mailbox_cleans(struct engine *e, uint32_t id)
{
	struct mailbox_run	*m = mailbox_run_find(e, id);

	if (m == NULL)
		return;
	m->cleans_out = 0;
	mailbox_run_due(e, m);
}

void
engine_cleaned(struct engine *e, const struct frame_cleaned *f, int64_t now_ms)
{
	struct mailbox_run	*m = mailbox_run_find(e, f->id);
	struct frame_clean	 c = { .uidvalidity = f->uidvalidity,
				    .uid = f->uid };

	e->now_ms = now_ms;
	if (m == NULL || token_check(f->token, &e->key, e->config->instance,
	    m->mailbox->name) != TOKEN_OURS)
		return;
	text_copy(c.folder, sizeof c.folder, f->folder);
	text_copy(c.token, sizeof c.token, f->token);
	if (m->cleans_out > 0)
		m->cleans_out--;
	switch ((enum clean_state)f->state) {
	case CLEAN_LEFT:
		keep_until(e, m, &c, now_ms + AGAIN_MS);
		break;
	case CLEAN_GONE:
		moved_away(e, f->token);
		confirm(e, m, &c);
		break;
	case CLEAN_REMOVED:
		confirm(e, m, &c);
		break;
	case CLEAN_STATES:
		break;
	}
	if (m->cleans_out == 0 && m->cleans_wait)
		mailbox_run_due(e, m);
}
