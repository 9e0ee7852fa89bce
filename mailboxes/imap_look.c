#include "mailboxes/imap_read.h"

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
/* Until what was announced and cannot be fetched is taken for gone. */
#define DOUBT_MS	60000

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
fit_mark(struct imap_look *l, uint32_t next)
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
 * An answer that makes no sense, or a refusal, always at the same place: then
 * it is one mail that this server or we cannot handle.  From the second time
 * on the mails are fetched one by one; one that still ends the session is
 * left out.
 */
static bool
one_by_one(struct imap_look *l)
{
	if (l->folder->stuck > 2)
		imap_leave_out(l);
	return (l->folder->stuck == 2);
}

/* UIDNEXT of the selected folder, if need be from its last mail. */
static int
next_uid(struct imap_look *l, uint32_t *next_r)
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
	*next_r = (r == 0 ? top : l->folder->uid) + 1;
	return (r < 0 ? -1 : 0);
}

/*
 * A mail may be announced a moment before it can be fetched: that there is
 * none between the last one and UIDNEXT is believed once it has been so for a
 * while.  How far the folder is read.
 */
static uint32_t
read_up_to(struct mailbox_folder *f, uint32_t next, uint32_t top)
{
	if (top >= next - 1)
		return (top);
	if (f->doubted != next) {
		f->doubted = next;
		f->doubted_ms = clock_boot_ms();
	}
	return (clock_boot_ms() - f->doubted_ms < DOUBT_MS ? top : next - 1);
}

/* One FETCH of the selected folder.  1: there is more, 0, -1. */
static int
read_part(struct imap_look *l, uint32_t next)
{
	struct mailbox_folder	*f = l->folder;
	bool			 few = l->box->session->stream->filter.exists <=
				    IMAP_BATCH;
	uint32_t		 to = 0, top;
	int			 r;

	if (one_by_one(l))
		to = f->uid + 1;
	else if (!few && next - 1 - f->uid > IMAP_BATCH)
		to = f->uid + IMAP_BATCH;
	if ((r = imap_read_on(l, to, &top)) < 0)
		return (-1);
	if (r > 0)
		imap_mark(l, top);
	else
		imap_mark(l, to != 0 ? to : read_up_to(f, next, top));
	return (r > 0 || to != 0);
}

/* The selected folder for the first time.  0, 1: more, -1. */
static int
read_selected(struct imap_look *l)
{
	struct mailbox_folder	*f = l->folder;
	uint32_t		 next;
	int			 r = 1;

	if (next_uid(l, &next) < 0)
		return (-1);
	fit_mark(l, next);
	while (r > 0 && f->uid + 1 < next) {
		if (l->fetches <= 0 || imap_time_spent(l))
			return (1);
		r = read_part(l, next);
	}
	if (r < 0)
		return (-1);
	l->box->session->unread = false;
	f->stuck = 0;
	return (0);
}

/* Selects the folder anew, for its UIDNEXT and UIDVALIDITY, and reads on. */
static int
select_and_read(struct imap_look *l)
{
	int	r = imap_select(l->box, l->folder, l->trouble);

	if (r != 0)
		return (r < 0 ? -1 : imap_lost(l->box, IMAP_SELECTING,
		    l->trouble));
	return (read_selected(l));
}

/*
 * Servers that never tell: whether a mail lies beyond the mark.  0, -1, or
 * what imap_result() makes of a refusal.
 */
static int
search_beyond(struct imap_look *l, bool *found_r)
{
	uint32_t	top = 0;
	int		r = 0;

	if (l->box->session->stream->filter.exists > 0)
		r = imap_fetch_top(l->box, l->folder->uid + 1, true, &top,
		    l->trouble);
	if (r == 0 && top > l->folder->uid)
		l->seen = clock_now();
	*found_r = top > l->folder->uid;
	return (r);
}

/* A mail was announced in this session and could not be fetched yet. */
static bool
in_doubt(const struct imap_look *l)
{
	const struct mailbox_folder	*f = l->folder;

	return (l->box->session->suspicious && f->doubted > f->uid + 1 &&
	    clock_boot_ms() - f->doubted_ms < DOUBT_MS);
}

/*
 * Nothing was told.  What is missing may still be there: a session that went
 * dead refuses SELECT, and some views of a folder are made anew only by it.
 */
static int
read_unasked(struct imap_look *l, bool thorough)
{
	uint32_t	top;
	bool		found;
	int		r;

	if (thorough && l->box->awaiting)
		return (select_and_read(l));
	if (!thorough && !in_doubt(l))
		return (0);
	if ((r = search_beyond(l, &found)) != 0)
		return (r < 0 ? -1 : select_and_read(l));
	if (!found)
		return (0);
	l->box->session->suspicious = false;
	if ((r = imap_read_on(l, 0, &top)) < 0)
		return (-1);
	imap_mark(l, top);
	return (r);
}

/* The selected folder again: what the server has told of since. */
static int
read_news(struct imap_look *l, bool thorough)
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
	if (!news)
		return (read_unasked(l, thorough));
	/* Many at once are read in parts, which takes a UIDNEXT. */
	if (f->exists > before + IMAP_BATCH)
		return (select_and_read(l));
	if ((r = imap_read_on(l, 0, &top)) < 0)
		return (-1);
	imap_mark(l, top);
	/* One more was told, and there is none: are the UIDs still valid? */
	if (r > 0 || !rose || top != 0 || s->suspicious) {
		s->suspicious = false;
		return (r);
	}
	r = select_and_read(l);
	if (r >= 0)
		s->suspicious = true;
	return (r);
}

/* NOOP (RFC 3501 6.1.2), which always succeeds where a session is alive. */
static int
poll_server(struct imap_look *l)
{
	struct mailbox_session	*s = l->box->session;
	int			 r;

	imap_arm(l->box, 0, IMAP_BUDGET);
	r = imap_result(l->box, mailimap_noop(s->imap), IMAP_POLLING,
	    l->trouble);
	return (r > 0 ? imap_lost(l->box, IMAP_POLLING, l->trouble) : r);
}

/* The first folder, which stays selected between looks. */
static int
look_first(struct imap_look *l, bool thorough)
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
	else if (imap_stream_news(s->stream) || (r = poll_server(l)) == 0)
		r = read_news(l, thorough);
	if (r == 0)
		first->looked = l->began;
	/* With the old UIDNEXT it could not be read to its end. */
	if (r > 0 && !s->unread)
		s->selected = NULL;
	return (r);
}

/*
 * UIDNEXT and UIDVALIDITY of another folder (RFC 3501 6.3.10); both 0 if the
 * server does not say.  0, 1 if there is no such folder, -1.
 */
static int
ask_status(struct imap_look *l, uint32_t *next_r, uint32_t *validity_r)
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
warn_missing(struct imap_look *l)
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
look_other(struct imap_look *l)
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
	struct imap_look	l = { .box = box, .sink = sink, .trouble = trouble,
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
	for (i = box->session->round + 1; i < box->folder_count; i++) {
		if (imap_time_spent(&l))
			return (1);
		l.folder = &box->folders[i];
		if ((r = look_other(&l)) != 0)
			return (r);
		box->session->round = i;
	}
	box->session->round = 0;
	if (box->session->selected != &box->folders[0] &&
	    (r = look_first(&l, false)) != 0)
		return (r);
	return (imap_find_more(box, sink, trouble));
}
