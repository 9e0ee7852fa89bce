#include "mailboxes/step.h"

#include <string.h>

#include "mailboxes/header.h"
#include "mailboxes/received.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/worker_child.h"

static void
remember(struct step *s, const char *token)
{
	if (s->arrived_count < STEP_ARRIVED)
		text_copy(s->arrived[s->arrived_count++], TOKEN_SIZE, token);
}

static void
send_arrival(struct step *s, const struct mailbox_mail *mail,
    const struct match *m)
{
	struct frame_arrival	f = {
		.id = s->id,
		.is_probe = m->is_probe,
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

static bool
on_mail(void *arg, const struct mailbox_mail *mail)
{
	struct step	*s = arg;
	struct match	 m;

	match_mail(&s->rules, mail->head, mail->head_len,
	    mail->body != NULL ? mail->body : "", mail->body_len, &m);
	if (m.carrier != MATCH_NOWHERE) {
		send_arrival(s, mail, &m);
		remember(s, m.token);
		return (false);
	}
	if (m.stranger) {
		s->ignored++;
		return (false);
	}
	return (mail->body == NULL && (m.ours_perhaps || s->expecting));
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
		for (i = 0; i < (size_t)n; i++)
			mem_free(s->cleans[i].folder);
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
