#ifndef IMAP_SESSION_H
#define IMAP_SESSION_H

#include "mailboxes/imap_error.h"
#include "mailboxes/imap_stream.h"
#include "mailboxes/mailbox.h"

/* What the parts of the IMAP driver share; nobody else includes this. */

#define IMAP_BUDGET		(256U << 10)	/* bytes per command */
#define IMAP_FETCH_BUDGET	(1U << 20)
#define IMAP_LIST_BUDGET	(4U << 20)
#define IMAP_BATCH		32U		/* mails per FETCH */
#define IMAP_HEAD_MAX		16384U
#define IMAP_BODY_MAX		8192U

struct mailbox_session {
	mailimap		*imap;		/* owned */
	struct imap_stream	*stream;	/* owned */
	int64_t			 step_deadline;	/* CLOCK_BOOTTIME ms */
	struct mailbox_folder	*selected;	/* borrowed: box; NULL: none */
	uint32_t		 exists;	/* as of the last look at it */
	size_t			 round;		/* the last other folder that a
						 * look at all has come to */
	unsigned		 polls;		/* since the folders were listed */
	bool			 unread;	/* selected, not yet looked at */
	bool			 waiting;	/* IDLE was sent, not yet ended */
	bool			 no_header_fields;	/* HEADER.FIELDS is empty
						 * here: takes whole headers */
	bool			 suspicious;	/* EXISTS rose, nothing came */
};

/* The bounds of one whole step. */
void	 imap_begin_step(struct mailbox_box *, int64_t span_ms);

/*
 * Bounds and filter for the command that follows.  imap_failed() then makes
 * of the library's result a verdict: 0, IMAP_NO or IMAP_BAD when the server
 * refused and the session goes on, or -1: closed, *trouble filled in.
 */
void	 imap_arm(struct mailbox_box *, unsigned want, size_t budget);
int	 imap_result(struct mailbox_box *, int r, enum imap_doing,
	    struct mailbox_trouble *);

/* Gives up: closes and fills in; -1. */
int	 imap_lost(struct mailbox_box *, enum imap_doing,
	    struct mailbox_trouble *);

/* The same when it is we who will not go on: CLASS and the sentence. */
int	 imap_ours(struct mailbox_box *, enum imap_doing, enum outcome_class,
	    const char *sentence, struct mailbox_trouble *);

/* imap_open.c */
int	 imap_open(struct mailbox_box *, const char *secret,
	    const struct mailbox_sink *, struct mailbox_trouble *);

/* Asks for the capabilities unless the server has told them by itself. */
int	 imap_learn(struct mailbox_box *, struct mailbox_trouble *);

/*
 * imap_login.c: logs in, and learns what the server offers from then on.
 * 0 or -1: closed.  secret: a password or an access token.
 */
int	 imap_login(struct mailbox_box *, const char *secret,
	    struct mailbox_trouble *);

/*
 * imap_folders.c: asks for the folders for junk and trash, where they are to
 * be searched for.  0, 1 if there is one more to look at, -1.
 */
int	 imap_find_folders(struct mailbox_box *, const struct mailbox_sink *,
	    struct mailbox_trouble *);

/*
 * After a look at all folders: asks again now and then for what is not known,
 * since servers make a junk folder when the first mail goes there.
 */
int	 imap_find_more(struct mailbox_box *, const struct mailbox_sink *,
	    struct mailbox_trouble *);

/* imap_look.c */
int	 imap_look(struct mailbox_box *, bool all,
	    const struct mailbox_sink *, struct mailbox_trouble *);
/* SELECT; 0, 1 when refused (folder->missing set), -1. */
int	 imap_select(struct mailbox_box *, struct mailbox_folder *,
	    struct mailbox_trouble *);
/* imap_fetch.c */
/* Fetches header fields and dates, or bodies, by UID; frees the set. */
int	 imap_fetch(struct mailbox_box *, struct mailimap_set *, bool body,
	    clist **, struct mailbox_trouble *);
/*
 * One mail with its header, in the memory of the caller (NULL if it is not
 * there any more), at most MAILBOX_WHOLE_MAX bytes.  0 or -1.
 */
int	 imap_fetch_whole(struct mailbox_box *, uint32_t uid, char **text_r,
	    size_t *len_r, struct mailbox_trouble *);
/* One entry of that list. */
struct imap_fetched {
	uint32_t	 uid;
	int64_t		 internal_ms;
	const char	*data;		/* borrowed from the list */
	size_t		 len;
	bool		 has_section;	/* with data or NIL */
};
void	 imap_fetched(const struct mailimap_msg_att *, struct imap_fetched *);

/*
 * The highest UID from `from` on (by_uid), or of the mail with that number;
 * 0 if there is none.  As imap_result().
 */
int	 imap_fetch_top(struct mailbox_box *, uint32_t from, bool by_uid,
	    uint32_t *top_r, struct mailbox_trouble *);

/* imap_clean.c */
int	 imap_clean(struct mailbox_box *, struct mailbox_clean *,
	    size_t count, const struct match_rules *,
	    const struct mailbox_sink *, struct mailbox_trouble *);

/* Ends IDLE; nothing to end is fine. */
int	 imap_done(struct mailbox_box *, struct mailbox_trouble *);

#endif
