#include "mailboxes/imap_session.h"

#include <string.h>

#include "mailboxes/imap_name.h"
#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * How far back a folder is read: one never seen before, one whose UIDs have
 * become void, one that got much mail while nobody looked.
 */
#define FIRST_LOOK	200U
#define RESCAN		1000U
#define CATCH_UP	20000U
/*
 * A watcher that died may have left probes behind that it was to remove:
 * the next one reports again what is left of the last few.
 */
#define LOOK_AGAIN	IMAP_BATCH
/* FETCHes in one step; then the thread serves somebody else. */
#define FETCHES_A_STEP	8

struct look {
	struct mailbox_box		*box;
	struct mailbox_folder		*folder;
	const struct mailbox_sink	*sink;
	struct mailbox_trouble		*trouble;
	struct stamp			 began;
	struct stamp			 seen;
	int				 fetches;	/* left in this step */
};

/* As it is sent: what the server has listed goes back as it came. */
static char *
sent_name(const struct mailbox_folder *folder)
{
	return (folder->found ? mem_strdup(folder->name) :
	    imap_name_encode(folder->name));
}

int
imap_select(struct mailbox_box *box, struct mailbox_folder *folder,
    struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	char			*name = sent_name(folder);
	int			 r;

	s->selected = NULL;
	imap_arm(box, 0, IMAP_BUDGET);
	imap_filter_deselect(&s->stream->filter);
	r = mailimap_select(s->imap, name);
	mem_free(name);
	r = imap_result(box, r, IMAP_SELECTING, trouble);
	if (r < 0)
		return (-1);
	folder->missing = r > 0;
	if (r > 0)
		return (1);
	if (s->stream->filter.uidvalidity == 0)
		s->stream->filter.uidvalidity = 1;	/* it has none to tell */
	s->selected = folder;
	s->exists = s->stream->filter.exists;
	s->unread = true;
	imap_stream_reset_news(s->stream);
	return (0);
}

/* Handing up. */

static void
describe(const struct look *l, const struct imap_fetched *f,
    struct mailbox_mail *m)
{
	*m = (struct mailbox_mail){
		.folder = l->folder,
		.uidvalidity = l->folder->uidvalidity,
		.uid = f->uid,
		.seen = l->seen,
		.last_look = l->folder->looked,
		.internal_ms = f->internal_ms,
		.head = f->data != NULL ? f->data : "",
		.head_len = f->data != NULL ? f->len : 0,
	};
}

/* The same mail again, with its body's beginning.  0 or -1. */
static int
hand_up_body(struct look *l, struct mailbox_mail *m)
{
	struct imap_fetched	 f;
	clist			*list;
	clistiter		*i;

	if (imap_fetch(l->box, mailimap_set_new_single(m->uid), true, &list,
	    l->trouble) < 0)
		return (-1);
	if (list == NULL)
		return (0);
	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &f);
		if (f.uid != m->uid || f.data == NULL)
			continue;
		m->body = f.data;
		m->body_len = f.len;
		(void)l->sink->mail(l->sink->arg, m);
		break;
	}
	mailimap_fetch_list_free(list);
	return (0);
}

/* The same mail again, all of it.  0 or -1. */
static int
hand_up_whole(struct look *l, struct mailbox_mail *m)
{
	char	*text;
	int	 r;

	r = imap_fetch_whole(l->box, m->uid, &text, &m->whole_len, l->trouble);
	m->whole = text;
	if (r == 0 && text != NULL)
		(void)l->sink->mail(l->sink->arg, m);
	mem_free(text);
	return (r);
}

/* One mail, and again with what the sink wants of it.  0 or -1. */
static int
hand_up_one(struct look *l, struct mailbox_mail *m)
{
	switch (l->sink->mail(l->sink->arg, m)) {
	case MAILBOX_ENOUGH:
		break;
	case MAILBOX_BODY:
		return (hand_up_body(l, m));
	case MAILBOX_WHOLE:
		return (hand_up_whole(l, m));
	}
	return (0);
}

/* Every mail of the list beyond the folder's mark; the highest in *top_r. */
static int
hand_up(struct look *l, clist *list, uint32_t *top_r, bool *hollow_r)
{
	struct imap_fetched	 f;
	struct mailbox_mail	 m;
	clistiter		*i;

	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &f);
		if (f.uid <= l->folder->uid)
			continue;
		if (f.len <= 2)
			*hollow_r = true;
		describe(l, &f, &m);
		if (f.uid > *top_r)
			*top_r = f.uid;
		if (hand_up_one(l, &m) < 0)
			return (-1);
	}
	return (0);
}

/*
 * Fetches from the mark on, up to `to` (0: all).  0, 1 if something that
 * should be there was not, -1.
 */
static int
read_on(struct look *l, uint32_t to, uint32_t *top_r)
{
	struct mailbox_session	*s = l->box->session;
	struct mailbox_folder	*f = l->folder;
	clist			*list;
	bool			 hollow = false;
	int			 r;

	*top_r = 0;
	r = imap_fetch(l->box, mailimap_set_new_interval(f->uid + 1, to), false,
	    &list, l->trouble);
	l->fetches--;
	if (r < 0 && l->trouble->class == CLASS_OTHER)
		f->stuck++;
	if (r != 0)
		return (r < 0 ? -1 : imap_lost(l->box, IMAP_FETCHING,
		    l->trouble));
	if (l->seen.wall_ms == 0)
		l->seen = clock_now();
	if (list == NULL)
		return (0);
	r = hand_up(l, list, top_r, &hollow);
	mailimap_fetch_list_free(list);
	if (r < 0)
		return (-1);
	/* Some servers cannot pick fields: then the whole header, once more. */
	if (hollow && !s->no_header_fields) {
		s->no_header_fields = true;
		return (read_on(l, to, top_r));
	}
	return (0);
}

/* The folder is read up to uid: after the arrivals, the mark. */
static void
mark(struct look *l, uint32_t uid)
{
	if (uid <= l->folder->uid)
		return;
	l->folder->uid = uid;
	l->sink->mark(l->sink->arg, l->folder);
}

/* One folder. */

static uint32_t
back_from(uint32_t next, uint32_t span)
{
	return (next > span + 1 ? next - 1 - span : 0);
}

/*
 * After SELECT: makes the mark fit to what the server says.  next: its
 * UIDNEXT.  A mark that has become void is told at once.
 */
static void
fit_mark(struct look *l, uint32_t next)
{
	struct mailbox_folder	*f = l->folder;
	uint32_t		 validity;
	uint32_t		 least;

	validity = l->box->session->stream->filter.uidvalidity;
	if (f->uidvalidity == validity && f->uid < next) {
		if (f->told)
			f->uid -= f->uid < LOOK_AGAIN ? f->uid : LOOK_AGAIN;
		f->told = false;
		least = back_from(next, CATCH_UP);
		if (f->uid < least)
			f->uid = least;
		return;
	}
	f->uid = back_from(next, f->uidvalidity == 0 ? FIRST_LOOK : RESCAN);
	f->uidvalidity = validity;
	l->sink->mark(l->sink->arg, f);
}

/*
 * An answer that makes no sense, always at the same place: then it is one
 * mail that this server or we cannot handle.  From the second time on the
 * mails are fetched one by one, and one that still fails is left out.
 */
static bool
one_by_one(struct look *l)
{
	struct mailbox_folder	*f = l->folder;
	char			 sentence[OUTCOME_HOST] = "";

	if (f->stuck > 2) {
		text_appendf(sentence, sizeof sentence, "the mail with UID %u "
		    "in \"%s\" cannot be read and is left out", f->uid + 1,
		    f->name);
		l->sink->warn(l->sink->arg, sentence);
		mark(l, f->uid + 1);
		f->stuck = 2;
	}
	return (f->stuck == 2);
}

/* UIDNEXT of the selected folder, if need be from its last mail. */
static int
next_uid(struct look *l, uint32_t *next_r)
{
	struct imap_filter	*f = &l->box->session->stream->filter;
	uint32_t		 top;
	int			 r;

	*next_r = f->uidnext;
	if (f->uidnext != 0)
		return (0);
	*next_r = 1;
	if (f->exists == 0)
		return (0);
	r = imap_fetch_top(l->box, f->exists, false, &top, l->trouble);
	if (r == 0)
		*next_r = top + 1;
	return (r < 0 ? -1 : 0);
}

/* The selected folder for the first time.  0, 1: more, -1. */
static int
read_selected(struct look *l)
{
	struct mailbox_session	*s = l->box->session;
	struct mailbox_folder	*f = l->folder;
	uint32_t		 next, to, top;
	bool			 few = s->stream->filter.exists <= IMAP_BATCH;

	if (next_uid(l, &next) < 0)
		return (-1);
	fit_mark(l, next);
	while (f->uid + 1 < next) {
		if (l->fetches <= 0)
			return (1);
		if (one_by_one(l))
			to = f->uid + 1;
		else if (few || next - 1 - f->uid <= IMAP_BATCH)
			to = 0;
		else
			to = f->uid + IMAP_BATCH;
		if (read_on(l, to, &top) < 0)
			return (-1);
		if (to == 0 && top < next - 1)
			top = next - 1;
		mark(l, to != 0 ? to : top);
		if (to == 0)
			break;
	}
	s->unread = false;
	f->stuck = 0;
	return (0);
}

/* Selects the folder anew, for its UIDNEXT and UIDVALIDITY, and reads on. */
static int
select_and_read(struct look *l)
{
	int	r = imap_select(l->box, l->folder, l->trouble);

	if (r != 0)
		return (r < 0 ? -1 : imap_lost(l->box, IMAP_SELECTING,
		    l->trouble));
	return (read_selected(l));
}

/*
 * Servers that never tell: whether a mail lies beyond the mark.  1, 0, -1.
 */
static int
search_beyond(struct look *l)
{
	uint32_t	top;

	if (l->box->session->stream->filter.exists == 0)
		return (0);
	if (imap_fetch_top(l->box, l->folder->uid + 1, true, &top,
	    l->trouble) < 0)
		return (-1);
	l->seen = clock_now();
	return (top > l->folder->uid);
}

/* The selected folder again: what the server has told of since. */
static int
read_news(struct look *l, bool thorough)
{
	struct mailbox_session	*s = l->box->session;
	struct imap_filter	*f = &s->stream->filter;
	bool			 news = imap_stream_news(s->stream);
	bool			 rose = f->grown != s->stream->grown;
	uint32_t		 before = s->exists, top;
	int			 r;

	l->seen = s->stream->news_at;
	imap_stream_reset_news(s->stream);
	s->exists = f->exists;
	if (!news) {
		if (!thorough || (r = search_beyond(l)) == 0)
			return (0);
		if (r < 0)
			return (-1);
	}
	/* Many at once are read in parts, which takes a UIDNEXT. */
	if (f->exists > before + IMAP_BATCH)
		return (select_and_read(l));
	if (read_on(l, 0, &top) < 0)
		return (-1);
	mark(l, top);
	/* One more was told, and there is none: are the UIDs still valid? */
	if (!rose || top != 0 || s->suspicious) {
		s->suspicious = false;
		return (0);
	}
	r = select_and_read(l);
	if (r >= 0)
		s->suspicious = true;
	return (r);
}

/* The first folder, which stays selected between looks. */
static int
look_first(struct look *l, bool thorough)
{
	struct mailbox_session	*s = l->box->session;
	struct mailbox_folder	*first = &l->box->folders[0];
	int			 r;

	l->folder = first;
	l->began = clock_now();
	l->seen = (struct stamp){ .wall_ms = 0 };
	if (s->selected != first)
		r = select_and_read(l);
	else if (s->unread)
		r = read_selected(l);
	else {
		if (!imap_stream_news(s->stream)) {
			imap_arm(l->box, 0, IMAP_BUDGET);
			if (imap_result(l->box, mailimap_noop(s->imap),
			    IMAP_POLLING, l->trouble) < 0)
				return (-1);
		}
		r = read_news(l, thorough);
	}
	if (r == 0)
		first->looked = l->began;
	return (r);
}

/*
 * UIDNEXT and UIDVALIDITY of another folder (RFC 3501 6.3.10); both 0 if the
 * server does not say.  0, 1 if there is no such folder, -1.
 */
static int
ask_status(struct look *l, uint32_t *next_r, uint32_t *validity_r)
{
	struct mailimap_status_att_list		*atts;
	struct mailimap_mailbox_data_status	*status = NULL;
	clistiter				*i;
	char					*name;
	int					 r;

	*next_r = *validity_r = 0;
	atts = mailimap_status_att_list_new_empty();
	if (atts == NULL ||
	    mailimap_status_att_list_add(atts, MAILIMAP_STATUS_ATT_UIDNEXT) ||
	    mailimap_status_att_list_add(atts, MAILIMAP_STATUS_ATT_UIDVALIDITY))
		panic("out of memory");
	name = sent_name(l->folder);
	imap_arm(l->box, IMAP_WANT_STATUS, IMAP_BUDGET);
	r = mailimap_status(l->box->session->imap, name, atts, &status);
	mem_free(name);
	mailimap_status_att_list_free(atts);
	r = imap_result(l->box, r, IMAP_POLLING, l->trouble);
	if (status == NULL)
		return (r < 0 ? -1 : r > 0);
	for (i = clist_begin(status->st_info_list); i != NULL && r == 0;
	    i = clist_next(i)) {
		const struct mailimap_status_info	*info =
		    clist_content(i);

		if (info->st_att == MAILIMAP_STATUS_ATT_UIDNEXT)
			*next_r = info->st_value;
		else if (info->st_att == MAILIMAP_STATUS_ATT_UIDVALIDITY)
			*validity_r = info->st_value;
	}
	mailimap_mailbox_data_status_free(status);
	return (r < 0 ? -1 : r > 0);
}

static void
warn_missing(struct look *l)
{
	char	sentence[OUTCOME_HOST] = "";

	text_appendf(sentence, sizeof sentence, "the folder \"%s\" cannot be "
	    "opened: %s", l->folder->name,
	    l->box->session->stream->filter.text);
	if (!l->folder->missing)
		l->sink->warn(l->sink->arg, sentence);
	l->folder->missing = true;
}

/* Another folder: selected only if there is something to see. */
static int
look_other(struct look *l)
{
	struct mailbox_folder	*f = l->folder;
	uint32_t		 next, validity;
	int			 r;

	l->began = clock_now();
	l->seen = (struct stamp){ .wall_ms = 0 };
	if ((r = ask_status(l, &next, &validity)) < 0)
		return (-1);
	if (r > 0) {
		warn_missing(l);
		return (0);
	}
	if (next == 0 || validity != f->uidvalidity || next != f->uid + 1) {
		r = imap_select(l->box, f, l->trouble);
		if (r < 0)
			return (-1);
		if (r > 0) {
			warn_missing(l);
			return (0);
		}
		if ((r = read_selected(l)) != 0)
			return (r);
	}
	f->missing = false;
	f->looked = l->began;
	return (0);
}

int
imap_look(struct mailbox_box *box, bool all, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	struct look	l = { .box = box, .sink = sink, .trouble = trouble,
			    .fetches = FETCHES_A_STEP };
	size_t		i;
	int		r;

	imap_begin_step(box, box->timeout_ms);
	if (imap_done(box, trouble) < 0)
		return (-1);
	/* A long folder that was left in the middle goes on. */
	if (box->session->selected != NULL && box->session->unread &&
	    box->session->selected != &box->folders[0]) {
		l.folder = box->session->selected;
		l.began = clock_now();
		if ((r = read_selected(&l)) != 0)
			return (r);
		l.folder->looked = l.began;
	}
	if ((r = look_first(&l, all)) != 0 || !all)
		return (r);
	for (i = 1; i < box->folder_count; i++) {
		l.folder = &box->folders[i];
		if ((r = look_other(&l)) != 0)
			return (r);
	}
	if (box->session->selected != &box->folders[0] &&
	    (r = look_first(&l, false)) != 0)
		return (r);
	return (imap_find_more(box, sink, trouble));
}
