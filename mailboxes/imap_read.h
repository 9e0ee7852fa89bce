#ifndef IMAP_READ_H
#define IMAP_READ_H

#include "mailboxes/imap_session.h"

/* Reading the selected folder from its mark on: a part of imap_look. */

struct imap_look {
	struct mailbox_box		*box;
	struct mailbox_folder		*folder;
	const struct mailbox_sink	*sink;
	struct mailbox_trouble		*trouble;
	struct stamp			 began;
	struct stamp			 seen;
	int				 fetches;	/* left in this step */
};

/*
 * Half of the step's time is over: what is left to do waits for the next one,
 * so that a slow server gets on, if slowly.
 */
bool	 imap_time_spent(const struct imap_look *);

/* The folder is read up to uid: after the arrivals, the mark. */
void	 imap_mark(struct imap_look *, uint32_t uid);

/* The mail behind the mark cannot be read: the others are. */
void	 imap_leave_out(struct imap_look *);

/*
 * Hands up the mails from the mark on, up to `to` (0: all).  0, 1 if there is
 * more, -1; *top_r: the highest that was handed up, 0 if none was.
 */
int	 imap_read_on(struct imap_look *, uint32_t to, uint32_t *top_r);

#endif
