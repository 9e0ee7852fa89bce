#include "mailboxes/imap_session.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

struct removal {
	struct mailbox_box		*box;
	const struct mailbox_clean	*what;
	const struct match_rules	*rules;
	const struct mailbox_sink	*sink;
	struct mailbox_trouble		*trouble;
};

static void
warn(const struct removal *r, const char *what)
{
	char	sentence[OUTCOME_HOST] = "";

	text_appendf(sentence, sizeof sentence,
	    "probes are left in \"%s\": %s", r->what->folder, what);
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

/* The mail's own text for match_mail(), fetched now.  0: there, 1: not, -1. */
static int
fetch_one(const struct removal *r, bool body, char **data_r, size_t *len_r)
{
	struct imap_fetched	 f;
	clist			*list;
	clistiter		*i;
	int			 result;

	*data_r = NULL;
	*len_r = 0;
	result = imap_fetch(r->box, r->what->uid, r->what->uid, body, &list,
	    r->trouble);
	if (result != 0 || list == NULL)
		return (result < 0 ? -1 : 1);
	for (i = clist_begin(list); i != NULL; i = clist_next(i)) {
		imap_fetched(clist_content(i), &f);
		if (f.uid != r->what->uid || f.data == NULL)
			continue;
		*data_r = mem_alloc(f.len + 1);
		memcpy(*data_r, f.data, f.len);
		*len_r = f.len;
		break;
	}
	mailimap_fetch_list_free(list);
	return (*data_r != NULL ? 0 : 1);
}

static bool
is_it(const struct removal *r, const struct match *m)
{
	return (m->is_probe && strcmp(m->token, r->what->token) == 0);
}

/*
 * Whether this UID, in this very SELECT, is the probe of that token.
 * 0: it is; 1: it is not; -1.
 */
static int
verify(const struct removal *r)
{
	struct match	 m;
	char		*head, *body;
	size_t		 head_len, body_len;
	int		 result;

	result = fetch_one(r, false, &head, &head_len);
	if (result != 0)
		return (result);
	match_mail(r->rules, head, head_len, "", 0, &m);
	if (m.carrier == MATCH_NOWHERE && m.ours_perhaps &&
	    (result = fetch_one(r, true, &body, &body_len)) == 0) {
		match_mail(r->rules, head, head_len, body, body_len, &m);
		mem_free(body);
	}
	mem_free(head);
	return (result < 0 ? -1 : is_it(r, &m) ? 0 : 1);
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

	set = mailimap_set_new_single(r->what->uid);
	flags = mailimap_flag_list_new_empty();
	if (set == NULL || flags == NULL ||
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

/* UID EXPUNGE of this one mail (RFC 4315 2.1), or of all that are flagged. */
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
		set = mailimap_set_new_single(r->what->uid);
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
	set = mailimap_set_new_single(r->what->uid);
	imap_arm(r->box, 0, IMAP_BUDGET);
	result = move ? mailimap_uid_move(s->imap, set, r->box->trash) :
	    mailimap_uid_copy(s->imap, set, r->box->trash);
	mailimap_set_free(set);
	result = tell(r, imap_result(r->box, result, IMAP_REMOVING,
	    r->trouble));
	return (result != 0 || move ? result : remove_by_flag(r, false));
}

static int
remove_it(const struct removal *r)
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

int
imap_clean(struct mailbox_box *box, const struct mailbox_clean *what,
    const struct match_rules *rules, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	struct removal		 r = { box, what, rules, sink, trouble };
	struct mailbox_folder	*folder = folder_of(box, what->folder);
	struct imap_filter	*f;
	int			 result;

	if (folder == NULL || what->uid == 0 || what->uidvalidity == 0)
		return (0);
	imap_begin_step(box, box->timeout_ms);
	if (imap_done(box, trouble) < 0)
		return (-1);
	if (box->session->selected != folder) {
		result = imap_select(box, folder, trouble);
		if (result != 0)
			return (result < 0 ? -1 : 0);
	}
	f = &box->session->stream->filter;
	if (f->uidvalidity != what->uidvalidity)
		return (0);
	if (f->read_only) {
		warn(&r, "the folder is read-only");
		return (0);
	}
	result = verify(&r);
	if (result == 0)
		result = remove_it(&r);
	return (result < 0 ? -1 : 0);
}
