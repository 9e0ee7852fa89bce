#include "mailboxes/imap_session.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* Some mails of one folder, one UIDVALIDITY. */
struct removal {
	struct mailbox_box		*box;
	struct mailbox_clean		*list;
	size_t				 count;
	const struct match_rules	*rules;
	const struct mailbox_sink	*sink;
	struct mailbox_trouble		*trouble;
	uint32_t			 uids[IMAP_BATCH];	/* seen to be */
	size_t				 uid_count;
};

static void
warn(const struct removal *r, const char *what)
{
	char	sentence[OUTCOME_HOST] = "";

	text_appendf(sentence, sizeof sentence,
	    "probes are left in \"%s\": %s", r->list[0].folder, what);
	r->sink->warn(r->sink->arg, sentence);
}

/* A refusal is told, and is no failure. */
static int
tell(const struct removal *r, int result)
{
	char	why[OUTCOME_HOST] = "";

	if (result <= 0)
		return (result);
	text_appendf(why, sizeof why, "the server says %s",
	    r->box->session->stream->filter.text);
	warn(r, why);
	return (1);
}

/* The same for all. */
static void
say(const struct removal *r, enum clean_state state)
{
	size_t	i;

	for (i = 0; i < r->count; i++)
		r->list[i].state = state;
}

static struct mailimap_set *
set_of(const uint32_t *uids, size_t count)
{
	struct mailimap_set	*set = mailimap_set_new_empty();
	size_t			 i;

	for (i = 0; set != NULL && i < count; i++)
		if (mailimap_set_add_single(set, uids[i]) != 0)
			panic("out of memory");
	if (set == NULL)
		panic("out of memory");
	return (set);
}

static struct mailbox_clean *
wanted(const struct removal *r, uint32_t uid)
{
	size_t	i;

	for (i = 0; i < r->count; i++)
		if (r->list[i].uid == uid)
			return (&r->list[i]);
	return (NULL);
}

/* A token that only the body carries.  0, or -1. */
static int
match_body(const struct removal *r, const struct imap_fetched *head,
    struct match *m)
{
	struct imap_fetched	 body;
	clist			*list;
	clistiter		*i;
	int			 result;

	result = imap_fetch(r->box, set_of(&head->uid, 1), true, &list,
	    r->trouble);
	if (result != 0 || list == NULL)
		return (result < 0 ? -1 : 0);
	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &body);
		if (body.uid == head->uid && body.data != NULL)
			match_mail(r->rules, head->data, head->len, body.data,
			    body.len, m);
	}
	mailimap_fetch_list_free(list);
	return (0);
}

/* Whether this mail is the probe of the very token that we were told. */
static int
verify_one(struct removal *r, const struct imap_fetched *f)
{
	struct mailbox_clean	*what = wanted(r, f->uid);
	struct match			 m;

	if (what == NULL || f->data == NULL || r->uid_count == IMAP_BATCH)
		return (0);
	match_mail(r->rules, f->data, f->len, "", 0, &m);
	if (m.carrier == MATCH_NOWHERE && m.ours_perhaps &&
	    match_body(r, f, &m) < 0)
		return (-1);
	if (!m.is_probe || strcmp(m.token, what->token) != 0)
		return (0);
	what->state = CLEAN_LEFT;	/* until it is removed */
	r->uids[r->uid_count++] = f->uid;
	return (0);
}

/* Looks at them once more, in this very SELECT.  0, 1 if refused, -1. */
static int
verify(struct removal *r)
{
	struct imap_fetched	 f;
	clist			*list;
	clistiter		*i;
	uint32_t		 uids[IMAP_BATCH];
	size_t			 n;
	int			 result;

	for (n = 0; n < r->count; n++)
		uids[n] = r->list[n].uid;
	result = imap_fetch(r->box, set_of(uids, n), false, &list, r->trouble);
	if (result != 0)
		return (result);
	say(r, CLEAN_GONE);
	if (list == NULL)
		return (0);
	for (i = clist_begin(list); i != NULL && result == 0;
	    i = clist_next(i)) {
		imap_fetched(clist_content(i), &f);
		result = verify_one(r, &f);
	}
	mailimap_fetch_list_free(list);
	return (result);
}

/* \Deleted (RFC 3501 6.4.6). */
static int
flag_deleted(const struct removal *r)
{
	struct mailbox_session			*s = r->box->session;
	struct mailimap_set			*set;
	struct mailimap_flag_list		*flags;
	struct mailimap_store_att_flags		*store;
	int					 result;

	set = set_of(r->uids, r->uid_count);
	flags = mailimap_flag_list_new_empty();
	if (flags == NULL ||
	    mailimap_flag_list_add(flags, mailimap_flag_new_deleted()) != 0 ||
	    (store = mailimap_store_att_flags_new_add_flags_silent(flags)) ==
	    NULL)
		panic("out of memory");
	imap_arm(r->box, 0, IMAP_BUDGET);
	result = mailimap_uid_store(s->imap, set, store);
	mailimap_store_att_flags_free(store);
	mailimap_set_free(set);
	return (tell(r, imap_result(r->box, result, IMAP_REMOVING,
	    r->trouble)));
}

/* UID EXPUNGE of these mails (RFC 4315 2.1), or of all that are flagged. */
static int
expunge(const struct removal *r, bool all)
{
	struct mailbox_session	*s = r->box->session;
	struct mailimap_set	*set;
	int			 result;

	if (!all && (s->stream->filter.capability & IMAP_CAP_UIDPLUS) == 0)
		return (0);
	imap_arm(r->box, 0, IMAP_BUDGET);
	if (all)
		result = mailimap_expunge(s->imap);
	else {
		set = set_of(r->uids, r->uid_count);
		result = mailimap_uid_expunge(s->imap, set);
		mailimap_set_free(set);
	}
	return (tell(r, imap_result(r->box, result, IMAP_REMOVING,
	    r->trouble)));
}

static int
remove_by_flag(const struct removal *r, bool all)
{
	int	result = flag_deleted(r);

	return (result != 0 ? result : expunge(r, all));
}

/* MOVE (RFC 6851) where offered, else COPY and removal. */
static int
move_to_trash(const struct removal *r)
{
	struct mailbox_session	*s = r->box->session;
	struct mailimap_set	*set;
	bool			 move;
	int			 result;

	if (r->box->trash[0] == '\0') {
		warn(r, "the server names no trash folder");
		return (1);
	}
	move = (s->stream->filter.capability & IMAP_CAP_MOVE) != 0;
	set = set_of(r->uids, r->uid_count);
	imap_arm(r->box, 0, IMAP_BUDGET);
	result = move ? mailimap_uid_move(s->imap, set, r->box->trash) :
	    mailimap_uid_copy(s->imap, set, r->box->trash);
	mailimap_set_free(set);
	result = tell(r, imap_result(r->box, result, IMAP_REMOVING,
	    r->trouble));
	return (result != 0 || move ? result : remove_by_flag(r, false));
}

static int
remove_them(const struct removal *r)
{
	unsigned	capability = r->box->session->stream->filter.capability;

	switch (r->box->expunge) {
	case EXPUNGE_AUTO:
		/* There EXPUNGE only archives. */
		return ((capability & IMAP_CAP_GMAIL) != 0 ?
		    move_to_trash(r) : remove_by_flag(r, false));
	case EXPUNGE_UID:
		return (remove_by_flag(r, false));
	case EXPUNGE_TRASH:
		return (move_to_trash(r));
	case EXPUNGE_ALL:
		return (remove_by_flag(r, true));
	}
	return (1);
}

static struct mailbox_folder *
folder_of(struct mailbox_box *box, const char *name)
{
	size_t	i;

	for (i = 0; i < box->folder_count; i++)
		if (strcmp(box->folders[i].name, name) == 0)
			return (&box->folders[i]);
	return (NULL);
}

/* How many at the head of the list lie in the same folder. */
static size_t
alike(const struct mailbox_clean *list, size_t count)
{
	size_t	n;

	for (n = 1; n < count && n < IMAP_BATCH; n++)
		if (strcmp(list[n].folder, list[0].folder) != 0 ||
		    list[n].uidvalidity != list[0].uidvalidity)
			break;
	return (n);
}

/* Opens the folder; 0 if the UIDs still mean what they did, 1 if not, -1. */
static int
open_for_removal(const struct removal *r)
{
	struct mailbox_folder	*folder = folder_of(r->box, r->list[0].folder);
	struct imap_filter	*f = &r->box->session->stream->filter;
	int			 result;

	if (folder == NULL || r->list[0].uidvalidity == 0)
		return (1);
	if (imap_done(r->box, r->trouble) < 0)
		return (-1);
	if (r->box->session->selected != folder) {
		result = imap_select(r->box, folder, r->trouble);
		if (result != 0)
			return (result);
	}
	if (f->uidvalidity != r->list[0].uidvalidity) {
		say(r, CLEAN_GONE);
		return (1);
	}
	if (f->read_only) {
		warn(r, "the folder is read-only");
		return (1);
	}
	return (0);
}

int
imap_clean(struct mailbox_box *box, struct mailbox_clean *list,
    size_t count, const struct match_rules *rules,
    const struct mailbox_sink *sink, struct mailbox_trouble *trouble)
{
	struct removal	r = { .box = box, .list = list, .rules = rules,
			    .count = alike(list, count), .sink = sink,
			    .trouble = trouble };
	size_t		i;
	int		result;

	imap_begin_step(box, box->timeout_ms);
	say(&r, CLEAN_LEFT);
	result = open_for_removal(&r);
	if (result == 0)
		result = verify(&r);
	if (result == 0 && r.uid_count > 0)
		result = remove_them(&r);
	for (i = 0; i < r.uid_count && result == 0; i++)
		wanted(&r, r.uids[i])->state = CLEAN_REMOVED;
	return (result < 0 ? -1 : (int)r.count);
}
