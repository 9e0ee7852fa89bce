#include "mailboxes/step.h"

#include <string.h>

#include "mailboxes/header.h"
#include "mailboxes/received.h"
#include "mailboxes/report.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/worker_child.h"

#define BODY_LOOK	8192	/* as much of it as is looked into */

static void
remember(struct step *s, const char *token, bool first)
{
	if (s->arrived_count == STEP_ARRIVED)
		return;
	s->arrived[s->arrived_count].first = first;
	text_copy(s->arrived[s->arrived_count++].token, TOKEN_SIZE, token);
}

static void
send_arrival(struct step *s, const struct mailbox_mail *mail,
    const struct match *m)
{
	struct frame_arrival	f = {
		.id = s->id,
		.is_probe = m->is_probe,
		.sign = m->sign,
		.junk = mail->folder->junk,
		.uidvalidity = mail->uidvalidity,
		.uid = mail->uid,
		.seen = mail->seen,
		.last_look = mail->last_look,
		.internal_ms = mail->internal_ms,
	};
	struct received		 path;

	text_copy(f.token, sizeof f.token, m->token);
	text_copy(f.folder, sizeof f.folder, mail->folder->name);
	received_read(mail->head, mail->head_len, &path);
	f.hops = path.hops;
	text_copy(f.slowest_hop, sizeof f.slowest_hop, path.slowest_hop);
	f.slowest_hop_ms = path.slowest_hop_ms;
	f.skew_ms = path.skew_ms;
	received_auth_results(mail->head, mail->head_len, s->authserv_id,
	    f.auth_results, sizeof f.auth_results);
	worker_child_send(FRAME_ARRIVAL, &f);
}

/* Sends it on if it is a report about a probe; false if it is no report. */
static bool
take_report(struct step *s, const struct mailbox_mail *mail)
{
	struct frame_report	f;
	enum report_kind	kind;

	kind = report_read(&s->rules, mail->whole, mail->whole_len, &f);
	if (kind != REPORT_OURS)
		return (kind != REPORT_NONE);
	f.id = s->id;
	text_copy(f.folder, sizeof f.folder, mail->folder->name);
	f.uidvalidity = mail->uidvalidity;
	f.uid = mail->uid;
	f.seen = mail->seen;
	f.internal_ms = mail->internal_ms;
	worker_child_send(FRAME_REPORT, &f);
	return (true);
}

/*
 * Where reports are awaited, all that may be one is read; elsewhere what
 * quotes a token of ours.
 */
static bool
may_report(const struct step *s, const struct mailbox_mail *mail,
    const struct match *m)
{
	return (mail->whole == NULL && mail->body == NULL && !m->is_probe &&
	    (s->box->bounces || m->carrier != MATCH_NOWHERE) &&
	    report_may_be(mail->head, mail->head_len));
}

/* The beginning of a body that came with its header. */
static const char *
body_of(const struct mailbox_mail *mail, size_t *len_r)
{
	static const char *const	ends[] = { "\r\n\r\n", "\n\n" };
	const char			*at;

	for (size_t i = 0; mail->whole != NULL && i < NITEMS(ends); i++) {
		at = memmem(mail->whole, mail->whole_len, ends[i],
		    strlen(ends[i]));
		if (at == NULL)
			continue;
		*len_r = mail->whole_len - (size_t)(at - mail->whole);
		if (*len_r > BODY_LOOK)
			*len_r = BODY_LOOK;
		return (at);
	}
	*len_r = mail->body_len;
	return (mail->body != NULL ? mail->body : "");
}

static enum mailbox_want
on_mail(void *arg, const struct mailbox_mail *mail)
{
	struct step	*s = arg;
	struct match	 m;
	const char	*body;
	size_t		 len;

	if (mail->whole != NULL && take_report(s, mail))
		return (MAILBOX_ENOUGH);
	body = body_of(mail, &len);
	match_mail(&s->rules, mail->head, mail->head_len, body, len, &m);
	if (may_report(s, mail, &m))
		return (MAILBOX_WHOLE);
	if (m.carrier != MATCH_NOWHERE) {
		send_arrival(s, mail, &m);
		remember(s, m.token, mail->folder == &s->box->folders[0]);
		return (MAILBOX_ENOUGH);
	}
	if (m.stranger) {
		s->ignored++;
		return (MAILBOX_ENOUGH);
	}
	if (mail->body != NULL || mail->whole != NULL ||
	    (!m.ours_perhaps && !s->expecting))
		return (MAILBOX_ENOUGH);
	/* A bounce in words must not be taken for an answer. */
	return (report_may_be(mail->head, mail->head_len) ? MAILBOX_WHOLE :
	    MAILBOX_BODY);
}

static void
on_mark(void *arg, const struct mailbox_folder *folder)
{
	struct step		*s = arg;
	struct frame_mark	 f = {
		.id = s->id,
		.uidvalidity = folder->uidvalidity,
		.uid = folder->uid,
	};

	text_copy(f.folder, sizeof f.folder, folder->name);
	worker_child_send(FRAME_MARK, &f);
}

static void
on_warn(void *arg, const char *sentence)
{
	struct step	*s = arg;

	text_copy(s->warning, sizeof s->warning, sentence);
}

static enum watch_result
verdict(int r)
{
	return (r < 0 ? WATCH_LOST : r > 0 ? WATCH_MORE : WATCH_DONE);
}

void
step_cleaned(uint32_t id, const struct mailbox_clean *c,
    enum clean_state state)
{
	struct frame_cleaned	f = { .id = id, .state = state,
				    .uidvalidity = c->uidvalidity,
				    .uid = c->uid };

	text_copy(f.folder, sizeof f.folder, c->folder);
	text_copy(f.token, sizeof f.token, c->token);
	worker_child_send(FRAME_CLEANED, &f);
}

static enum watch_result
run_cleans(struct step *s, const struct mailbox_sink *sink)
{
	size_t	i;
	int	n = 0;

	for (i = 0; i < s->clean_count; i++)
		s->elsewhere |= strcmp(s->cleans[i].folder,
		    s->box->folders[0].name) != 0;
	while (s->clean_count > 0) {
		n = s->driver->clean(s->box, s->cleans, s->clean_count,
		    &s->rules, sink, &s->trouble);
		if (n < 0)
			return (WATCH_LOST);
		for (i = 0; i < (size_t)n; i++) {
			step_cleaned(s->id, &s->cleans[i], s->cleans[i].state);
			mem_free(s->cleans[i].folder);
		}
		s->clean_count -= (size_t)n;
		memmove(s->cleans, s->cleans + n,
		    s->clean_count * sizeof *s->cleans);
	}
	return (WATCH_DONE);
}

static void
wipe_secret(struct step *s)
{
	if (s->secret != NULL)
		mem_wipe(s->secret, strlen(s->secret));
	mem_free(s->secret);
	s->secret = NULL;
}

void
step_run(struct step *s)
{
	struct mailbox_sink	sink = { on_mail, on_mark, on_warn, s };

	s->trouble = (struct mailbox_trouble){ .retry = MAILBOX_BACK_OFF };
	s->arrived_count = 0;
	s->ignored = 0;
	s->warning[0] = '\0';
	s->elsewhere = false;
	s->result = WATCH_DONE;
	s->box->awaiting = s->expecting;
	switch (s->what) {
	case WATCH_OPEN:
		s->result = verdict(s->driver->open(s->box,
		    s->secret != NULL ? s->secret : "", &sink, &s->trouble));
		break;
	case WATCH_LOOK:
	case WATCH_LOOK_ALL:
		s->result = verdict(s->driver->look(s->box,
		    s->what == WATCH_LOOK_ALL, &sink, &s->trouble));
		break;
	case WATCH_WAIT:
		s->result = verdict(s->driver->wait(s->box, &s->trouble));
		break;
	case WATCH_CLEAN:
		s->result = run_cleans(s, &sink);
		break;
	case WATCH_REST:
	case WATCH_ASK_SECRET:
		break;
	}
	wipe_secret(s);
}

void
step_clear(struct step *s)
{
	size_t	i;

	wipe_secret(s);
	for (i = 0; i < s->clean_count; i++)
		mem_free(s->cleans[i].folder);
	mem_free(s->cleans);
	s->cleans = NULL;
	s->clean_count = 0;
}
