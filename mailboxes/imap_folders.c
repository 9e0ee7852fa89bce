#include "mailboxes/imap_session.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* The folders for junk and trash, as LIST names them (RFC 6154). */

/* Looks at all folders between two lists in one session. */
#define POLLS			10
#define POLLS_AWAITING		2	/* while a probe is missed */

/* How well a folder fits: the server's word beats a name that looks right. */
enum fit { FIT_NONE, FIT_NAME, FIT_NEAR, FIT_SPECIAL };

struct found_folder {
	const char	*role;
	char		 name[IMAP_TEXT];
	enum fit	 fit;
};

static bool
flagged(const struct mailimap_mailbox_list *mb, const char *flag)
{
	clistiter	*i;

	if (mb->mb_flag == NULL || mb->mb_flag->mbf_oflags == NULL)
		return (false);
	for (i = clist_begin(mb->mb_flag->mbf_oflags); i != NULL;
	    i = clist_next(i)) {
		struct mailimap_mbx_list_oflag	*o = clist_content(i);

		if (o->of_type == MAILIMAP_MBX_LIST_OFLAG_FLAG_EXT &&
		    o->of_flag_ext != NULL &&
		    strcmp(o->of_flag_ext + (o->of_flag_ext[0] == '\\'),
		    flag) == 0)
			return (true);
	}
	return (false);
}

/* Of those that fit as well the first stays. */
static void
consider(struct found_folder *f, const struct mailimap_mailbox_list *mb)
{
	enum fit	fit = flagged(mb, "Special") ? FIT_SPECIAL :
			    flagged(mb, "Near") ? FIT_NEAR : FIT_NAME;

	if (mb->mb_name == NULL || !flagged(mb, f->role) || fit <= f->fit)
		return;
	text_copy(f->name, sizeof f->name, mb->mb_name);
	f->fit = fit;
}

/* Knows it, but not yet what is in it. */
static void
name_folder(struct mailbox_folder *f, const char *name)
{
	mem_free(f->name);
	*f = (struct mailbox_folder){ .name = mem_strdup(name), .junk = true,
	    .found = true };
}

/* Room for one more; what is selected stays so. */
static struct mailbox_folder *
one_more(struct mailbox_box *box)
{
	struct mailbox_folder	*selected = box->session->selected;
	size_t			 at = selected != NULL ?
				    (size_t)(selected - box->folders) : 0;

	box->folders = mem_grow(box->folders, box->folder_count + 1,
	    sizeof *box->folders);
	if (selected != NULL)
		box->session->selected = &box->folders[at];
	box->folders[box->folder_count] = (struct mailbox_folder){
		.name = NULL };
	return (&box->folders[box->folder_count++]);
}

/*
 * The one that was found before gives way to another, so that there is never
 * more than one.  1 if it is to be looked at for the first time, else 0.
 */
static int
take_junk(struct mailbox_box *box, const char *name)
{
	struct mailbox_folder	*f, *old = NULL;

	for (f = box->folders; f < box->folders + box->folder_count; f++) {
		if (strcmp(f->name, name) == 0) {
			f->junk = true;
			return (0);
		}
		if (f->found)
			old = f;
	}
	if (old != NULL && box->session->selected == old)
		box->session->selected = NULL;
	name_folder(old != NULL ? old : one_more(box), name);
	return (1);
}

/* Reads the list; 0, 1 when the server refuses it, -1. */
static int
list_folders(struct mailbox_box *box, struct found_folder *junk,
    struct found_folder *trash, struct mailbox_trouble *trouble)
{
	clist		*found = NULL;
	clistiter	*i;
	int		 r;

	imap_arm(box, IMAP_WANT_LIST, IMAP_LIST_BUDGET);
	r = mailimap_list(box->session->imap, "", "*", &found);
	if ((r = imap_result(box, r, IMAP_LISTING, trouble)) < 0)
		return (-1);
	if (r == 0 && found != NULL)
		for (i = clist_begin(found); i != NULL; i = clist_next(i)) {
			consider(junk, clist_content(i));
			consider(trash, clist_content(i));
		}
	if (found != NULL)
		mailimap_list_result_free(found);
	return (r > 0);
}

static bool
needs_trash(const struct mailbox_box *box)
{
	return (box->expunge == EXPUNGE_TRASH || (box->expunge ==
	    EXPUNGE_AUTO && (box->session->stream->filter.capability &
	    IMAP_CAP_GMAIL) != 0));
}

static int
find_folders(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct found_folder	junk = { .role = "Junk" };
	struct found_folder	trash = { .role = "Trash" };
	int			r;

	box->session->polls = 0;
	if ((r = list_folders(box, &junk, &trash, trouble)) < 0)
		return (-1);
	if (r == 0) {
		mem_free(box->trash);
		box->trash = mem_strdup(trash.name);
	}
	box->lacks_trash = box->trash[0] == '\0' && needs_trash(box);
	if (junk.name[0] == '\0' || strcmp(box->junk, "auto") != 0)
		return (0);
	return (take_junk(box, junk.name));
}

/*
 * A LIST too long to be read, or that takes too long, must not keep us from
 * the mail; once it may just have been a bad moment.
 */
int
imap_find_folders(struct mailbox_box *box, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	int	r;

	if (box->searched)
		return (0);
	if ((r = find_folders(box, trouble)) >= 0) {
		box->unlisted = 0;
		return (r);
	}
	if (trouble->class == CLASS_OTHER ||
	    (trouble->retry == MAILBOX_BACK_OFF && ++box->unlisted == 2)) {
		box->searched = true;
		sink->warn(sink->arg, "the list of folders cannot be read: "
		    "name the junk folder in the configuration");
	}
	return (-1);
}

static bool
knows_junk(const struct mailbox_box *box)
{
	for (size_t i = 0; i < box->folder_count; i++)
		if (box->folders[i].junk)
			return (true);
	return (strcmp(box->junk, "auto") != 0);
}

int
imap_find_more(struct mailbox_box *box, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	unsigned	every = box->awaiting ? POLLS_AWAITING : POLLS;

	if (box->searched || ++box->session->polls < every ||
	    (knows_junk(box) && !box->lacks_trash))
		return (0);
	imap_begin_step(box, box->timeout_ms);
	return (imap_find_folders(box, sink, trouble));
}
