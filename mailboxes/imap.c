#include "mailboxes/imap.h"

#include "mailboxes/imap_session.h"
#include "monitor/clock.h"
#include "monitor/mem.h"

/* What a server may send while it idles, until the next command. */
#define IDLE_BUDGET	(64U << 10)

void
imap_begin_step(struct mailbox_box *box, int64_t span_ms)
{
	box->session->step_deadline = clock_boot_ms() + span_ms;
}

void
imap_arm(struct mailbox_box *box, unsigned want, size_t budget)
{
	struct mailbox_session	*s = box->session;
	int64_t			 deadline = clock_boot_ms() + box->timeout_ms;

	if (deadline > s->step_deadline)
		deadline = s->step_deadline;
	transport_arm(s->stream->transport, deadline, budget);
	imap_filter_command(&s->stream->filter, want);
}

static void
close_session(struct mailbox_box *box)
{
	struct mailbox_session	*s = box->session;

	if (s == NULL)
		return;
	box->session = NULL;
	/* With a stream, the library would say LOGOUT and wait. */
	s->imap->imap_stream = NULL;
	mailimap_free(s->imap);
	imap_stream_close(&s->stream);
	mem_free(s);
}

int
imap_lost(struct mailbox_box *box, enum imap_doing doing,
    struct mailbox_trouble *trouble)
{
	imap_error(trouble, box->session->stream, doing);
	close_session(box);
	return (-1);
}

int
imap_ours(struct mailbox_box *box, enum imap_doing doing,
    enum outcome_class class, const char *sentence,
    struct mailbox_trouble *trouble)
{
	imap_lost(box, doing, trouble);
	imap_error_ours(trouble, class, sentence);
	return (-1);
}

int
imap_result(struct mailbox_box *box, int r, enum imap_doing doing,
    struct mailbox_trouble *trouble)
{
	struct imap_filter	*f = &box->session->stream->filter;

	if (f->end != IMAP_FILTER_OPEN && f->tagged == IMAP_PENDING)
		return (imap_lost(box, doing, trouble));
	if (f->tagged == IMAP_NO || f->tagged == IMAP_BAD)
		return ((int)f->tagged);
	if (r == MAILIMAP_NO_ERROR && f->tagged == IMAP_OK)
		return (0);
	return (imap_lost(box, doing, trouble));
}

/* Waiting (RFC 2177). */

static int
begin_wait(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	struct imap_filter	*f = &s->stream->filter;
	int			 r;

	if ((f->capability & IMAP_CAP_IDLE) == 0)
		return (1);
	imap_begin_step(box, box->timeout_ms);
	imap_arm(box, IMAP_WANT_IDLE | IMAP_WANT_PLUS, IMAP_BUDGET);
	r = mailimap_idle(s->imap);
	if (r == MAILIMAP_NO_ERROR && f->end == IMAP_FILTER_OPEN) {
		s->waiting = true;
		transport_arm(s->stream->transport, INT64_MAX, IDLE_BUDGET);
		imap_filter_rest(f);
		return (0);
	}
	if (f->end == IMAP_FILTER_OPEN &&
	    (f->tagged == IMAP_NO || f->tagged == IMAP_BAD))
		return (1);
	return (imap_lost(box, IMAP_IDLING, trouble));
}

static enum mailbox_wake
wake(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;

	if (imap_stream_drain(s->stream) < 0 &&
	    !imap_stream_news(s->stream)) {
		imap_error(trouble, s->stream, IMAP_IDLING);
		return (MAILBOX_LOST);
	}
	if (imap_stream_news(s->stream))
		return (MAILBOX_NEWS);
	return (s->stream->filter.idling ? MAILBOX_ASLEEP : MAILBOX_AWAKE);
}

int
imap_done(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	struct imap_filter	*f = &s->stream->filter;
	int			 r;

	if (!s->waiting)
		return (0);
	s->waiting = false;
	/* A server that ended IDLE by itself would not know a DONE. */
	if (imap_stream_drain(s->stream) < 0)
		return (imap_lost(box, IMAP_IDLING, trouble));
	if (!f->idling)
		return (0);
	imap_arm(box, 0, IMAP_BUDGET);
	r = mailimap_idle_done(s->imap);
	return (imap_result(box, r, IMAP_IDLING, trouble) < 0 ? -1 : 0);
}

static int
wait_fd(const struct mailbox_box *box)
{
	return (transport_fd(box->session->stream->transport));
}

const struct mailbox_driver imap_driver = {
	.name = "imap",
	.open = imap_open,
	.look = imap_look,
	.wait = begin_wait,
	.fd = wait_fd,
	.wake = wake,
	.clean = imap_clean,
	.close = close_session,
};
