#include "mailboxes/imap_read.h"

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

bool
imap_time_spent(const struct imap_look *l)
{
	return (clock_boot_ms() > l->box->session->step_deadline -
	    l->box->timeout_ms / 2);
}

static void
describe(const struct imap_look *l, const struct imap_fetched *f,
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
hand_up_body(struct imap_look *l, struct mailbox_mail *m)
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
hand_up_whole(struct imap_look *l, struct mailbox_mail *m)
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
hand_up_one(struct imap_look *l, struct mailbox_mail *m)
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

/* What a FETCH has brought, while it is handed up. */
struct reading {
	uint32_t	 top;		/* the highest that was handed up */
	bool		 hollow;	/* a header was asked for and is empty */
	bool		 bare;		/* a mail was named, with no header */
	bool		 more;		/* time was spent before the end */
	uint32_t	 dated;		/* the mail that was named last, */
	int64_t		 internal_ms;	/* and its date */
};

/*
 * A mail may be named without its header: its flags were changed, or its date
 * comes in a response of its own.
 */
static bool
has_header(struct imap_fetched *f, struct reading *r)
{
	if (f->has_section) {
		if (f->internal_ms == 0 && f->uid == r->dated)
			f->internal_ms = r->internal_ms;
		return (true);
	}
	r->bare = true;
	r->dated = f->uid;
	r->internal_ms = f->internal_ms;
	return (false);
}

/* Then what was read is all below the mail in hand. */
static bool
in_order(clist *list)
{
	struct imap_fetched	 f;
	uint32_t		 before = 0;
	clistiter		*i;

	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &f);
		if (f.uid < before)
			return (false);
		before = f.uid;
	}
	return (true);
}

/* Every mail of the list beyond the folder's mark.  0 or -1. */
static int
hand_up(struct imap_look *l, clist *list, struct reading *r)
{
	struct imap_fetched	 f;
	struct mailbox_mail	 m;
	clistiter		*i;
	bool			 may_stop = in_order(list);

	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &f);
		if (f.uid <= l->folder->uid || !has_header(&f, r))
			continue;
		if (may_stop && r->top != 0 && imap_time_spent(l)) {
			r->more = true;
			return (0);
		}
		r->hollow = r->hollow || f.len <= 2;
		describe(l, &f, &m);
		if (f.uid > r->top)
			r->top = f.uid;
		if (hand_up_one(l, &m) < 0)
			return (-1);
	}
	return (0);
}

void
imap_mark(struct imap_look *l, uint32_t uid)
{
	if (uid <= l->folder->uid)
		return;
	l->folder->uid = uid;
	l->sink->mark(l->sink->arg, l->folder);
}

void
imap_leave_out(struct imap_look *l)
{
	struct mailbox_folder	*f = l->folder;
	char			 sentence[OUTCOME_HOST] = "";

	text_appendf(sentence, sizeof sentence, "the mail with UID %u in "
	    "\"%s\" cannot be read and is left out", f->uid + 1, f->name);
	l->sink->warn(l->sink->arg, sentence);
	imap_mark(l, f->uid + 1);
	f->stuck = 2;
}

/* Whether the header of another mail comes: the last, or the one before. */
static bool
another_comes(struct imap_look *l)
{
	uint32_t	 suspect = l->folder->uid + 1, uid;
	uint32_t	 n = l->box->session->stream->filter.exists;
	clist		*list = NULL;

	if (imap_fetch_top(l->box, n, false, &uid, l->trouble) != 0)
		return (false);
	if (uid == suspect && (n < 2 ||
	    imap_fetch_top(l->box, n - 1, false, &uid, l->trouble) != 0))
		return (false);
	if (uid == 0 || imap_fetch(l->box, mailimap_set_new_single(uid), false,
	    &list, l->trouble) != 0 || list == NULL)
		return (false);
	mailimap_fetch_list_free(list);
	return (true);
}

/* Whether the folder has no mail beyond the mark, by its last mail. */
static bool
ends_here(struct imap_look *l)
{
	uint32_t	exists = l->box->session->stream->filter.exists, top;

	if (exists == 0)
		return (true);
	return (imap_fetch_top(l->box, exists, false, &top, l->trouble) == 0 &&
	    top != 0 && top <= l->folder->uid);
}

/*
 * Fetches from the mark on, up to `to` (0: all).  0 or -1.  Some servers
 * refuse a range in which there is no mail, or a mail that they cannot read.
 */
static int
fetch_on(struct imap_look *l, uint32_t to, clist **list)
{
	struct mailbox_folder	*f = l->folder;
	int			 r;

	r = imap_fetch(l->box, mailimap_set_new_interval(f->uid + 1, to), false,
	    list, l->trouble);
	l->fetches--;
	if (r > 0 && ends_here(l))
		return (0);
	if (r > 0 && f->stuck == 2 && another_comes(l)) {
		imap_leave_out(l);
		return (0);
	}
	if (r < 0 ? l->trouble->class == CLASS_OTHER : r > 0 && f->stuck < 2)
		f->stuck++;
	if (r > 0 && l->box->session != NULL)
		return (imap_lost(l->box, IMAP_FETCHING, l->trouble));
	return (r != 0 ? -1 : 0);
}

int
imap_read_on(struct imap_look *l, uint32_t to, uint32_t *top_r)
{
	struct mailbox_session	*s = l->box->session;
	struct reading		 r;
	clist			*list;
	bool			 again = false;
	int			 rc;

	for (;; again = true) {
		r = (struct reading){ .top = 0 };
		if (fetch_on(l, to, &list) < 0)
			return (-1);
		if (l->seen.wall_ms == 0)
			l->seen = clock_now();
		rc = list != NULL ? hand_up(l, list, &r) : 0;
		if (list != NULL)
			mailimap_fetch_list_free(list);
		*top_r = r.top;
		if (rc < 0)
			return (-1);
		/* The header may come if it is asked for once more. */
		if (r.bare && r.top == 0 && !again)
			continue;
		/* Some servers cannot pick fields: then the whole header. */
		if ((!r.hollow && (!r.bare || r.top != 0)) ||
		    s->no_header_fields)
			return (r.more);
		s->no_header_fields = true;
	}
}
