#include "mailboxes/imap_session.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* The folders for junk and trash, as LIST names them (RFC 6154). */

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

static void
add_folder(struct mailbox_box *box, const char *name, bool junk)
{
	size_t	i;

	for (i = 0; i < box->folder_count; i++)
		if (strcmp(box->folders[i].name, name) == 0) {
			box->folders[i].junk |= junk;
			return;
		}
	box->folders = mem_grow(box->folders, box->folder_count + 1,
	    sizeof *box->folders);
	box->folders[box->folder_count++] = (struct mailbox_folder){
		.name = mem_strdup(name), .junk = junk, .found = true };
}

/* Looks once in the life of a box for the folders with a role. */
static int
find_folders(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct found_folder	 junk = { .role = "Junk" };
	struct found_folder	 trash = { .role = "Trash" };
	clist			*found = NULL;
	clistiter		*i;
	int			 r;

	if (box->searched)
		return (0);
	imap_arm(box, IMAP_WANT_LIST, IMAP_LIST_BUDGET);
	r = mailimap_list(box->session->imap, "", "*", &found);
	if ((r = imap_result(box, r, IMAP_LISTING, trouble)) < 0)
		return (-1);
	if (r == 0 && found != NULL)
		for (i = clist_begin(found); i != NULL; i = clist_next(i)) {
			consider(&junk, clist_content(i));
			consider(&trash, clist_content(i));
		}
	if (found != NULL)
		mailimap_list_result_free(found);
	box->searched = true;
	if (junk.name[0] != '\0' && strcmp(box->junk, "auto") == 0)
		add_folder(box, junk.name, true);
	mem_free(box->trash);
	box->trash = mem_strdup(trash.name);
	return (0);
}

/* A LIST too long to be read must not keep us from the mail. */
int
imap_find_folders(struct mailbox_box *box, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	if (find_folders(box, trouble) == 0)
		return (0);
	if (trouble->class == CLASS_OTHER) {
		box->searched = true;
		sink->warn(sink->arg, "the list of folders cannot be read: "
		    "name the junk folder in the configuration");
	}
	return (-1);
}
