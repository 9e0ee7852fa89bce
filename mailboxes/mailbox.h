#ifndef MAILBOX_H
#define MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mailboxes/match.h"
#include "monitor/frame.h"
#include "monitor/outcome.h"
#include "monitor/route.h"
#include "monitor/stamp.h"

/*
 * What the watcher asks of a way to look into a mailbox: the driver's
 * interface.  IMAP is one; anything that can say "this came after that" and
 * name a mail by numbers can be another.
 */

/* A folder and how far it has been read.  Outlives sessions. */
struct mailbox_folder {
	char		*name;		/* owned; as configured or as found */
	bool		 junk;
	bool		 found;		/* the name is the server's own */
	bool		 missing;	/* the server knows no such folder */
	uint32_t	 uidvalidity;	/* 0: never looked at */
	uint32_t	 uid;		/* the highest that was looked at */
	struct stamp	 looked;	/* start of the last good look at it */
	unsigned	 stuck;		/* answers behind uid that made no
					 * sense, in a row */
	bool		 told;		/* uid is from before this process: what
					 * was to be removed may still be there */
	uint32_t	 doubted;	/* UIDNEXT below which mails were missing */
	int64_t		 doubted_ms;	/* since when (CLOCK_BOOTTIME) */
};

struct mailbox_session;			/* the driver's own */

/* One mailbox.  Strings are owned and never NULL. */
struct mailbox_box {
	char			*name;
	char			*maildir;	/* instead of a host; or "" */
	char			*host;
	uint16_t		 port;
	enum tls_mode		 tls;
	char			*ca_file;
	bool			 insecure_auth;
	char			*user;
	bool			 oauth;
	char			*source_address;
	enum address_family	 family;
	const char		*resolver;	/* borrowed */
	int64_t			 connect_timeout_ms;
	int64_t			 timeout_ms;
	char			*junk;		/* "auto", "none", a name */
	char			*froms;		/* one a line */
	bool			 bounces;	/* reports come here */
	enum expunge_mode	 expunge;

	struct mailbox_folder	*folders;	/* owned; [0] is waited on */
	size_t			 folder_count;
	char			*trash;		/* owned; "" if not known */
	bool			 lacks_trash;	/* it is needed and not known */
	bool			 searched;	/* for junk and trash folders: not
						 * to be done (again) */
	unsigned		 unlisted;	/* searches that timed out, in a row */
	bool			 awaiting;	/* a probe: junk is of interest */
	struct mailbox_session	*session;	/* owned; NULL: closed */
};

/* A mail as a driver hands it up.  Borrowed for the call. */
struct mailbox_mail {
	const struct mailbox_folder	*folder;
	uint32_t	 uidvalidity;
	uint32_t	 uid;
	struct stamp	 seen;		/* when we learnt of it */
	struct stamp	 last_look;	/* the good look before */
	int64_t		 internal_ms;	/* when the server got it; 0: unknown */
	const char	*head;		/* its fields in match_fields[] */
	size_t		 head_len;
	const char	*body;		/* its beginning; NULL: not fetched */
	size_t		 body_len;
	const char	*whole;		/* header and body, MAILBOX_WHOLE_MAX
					 * bytes at most; NULL: not fetched */
	size_t		 whole_len;
};

#define MAILBOX_WHOLE_MAX	(256 * 1024)

/* What the same mail is to be handed up again with. */
enum mailbox_want {
	MAILBOX_ENOUGH,		/* not again */
	MAILBOX_BODY,		/* its body's beginning */
	MAILBOX_WHOLE		/* all of it */
};

struct mailbox_sink {
	/* Asked again with what it wanted, it wants no more. */
	enum mailbox_want (*mail)(void *arg, const struct mailbox_mail *);
	/* The folder has been read up to its uid; the mails were told before. */
	void	 (*mark)(void *arg, const struct mailbox_folder *);
	/* Not fatal, for an admin. */
	void	 (*warn)(void *arg, const char *sentence);
	void	 *arg;
};

/* What a failure means for trying again. */
enum mailbox_retry {
	MAILBOX_AT_ONCE,	/* a session ended that might have: once more */
	MAILBOX_BACK_OFF,	/* trouble: with growing waits */
	MAILBOX_REFUSED		/* the login itself: breaker */
};

struct mailbox_trouble {
	enum mailbox_retry	 retry;
	enum outcome_class	 class;
	bool			 idle;	/* waiting, or about to */
	char			 reason[OUTCOME_REPLY];	/* for an admin */
};

enum mailbox_wake {
	MAILBOX_ASLEEP,		/* nothing of interest */
	MAILBOX_NEWS,		/* look */
	MAILBOX_AWAKE,		/* the server ended the wait: look, wait anew */
	MAILBOX_LOST
};

/* One mail to remove, if it still is what it was. */
struct mailbox_clean {
	char		*folder;	/* owned */
	uint32_t	 uidvalidity;
	uint32_t	 uid;
	char		 token[TOKEN_SIZE];
	unsigned	 tries;		/* sessions that were lost over it */
	enum clean_state state;		/* once it is dealt with */
};

/*
 * All but fd and wake may block, within the box's timeouts, and are called
 * on any thread, for one box never on two at once.  -1 means that the
 * session is lost and has been closed, with *trouble filled in.
 */
struct mailbox_driver {
	const char	*name;

	/*
	 * Makes a session: connected, logged in, the first folder open.
	 * Looks at nothing yet.  secret is not kept.  0 or -1.
	 */
	int	 (*open)(struct mailbox_box *, const char *secret,
		    const struct mailbox_sink *, struct mailbox_trouble *);

	/*
	 * Ends a wait if there is one, then hands up every mail that came
	 * since the last look: in the first folder, or in all.  0: seen all;
	 * 1: there is more, call again; -1.  A folder never looked at starts
	 * a bounded number of mails back; one whose numbers have become void
	 * is looked at again, bounded too.
	 */
	int	 (*look)(struct mailbox_box *, bool all,
		    const struct mailbox_sink *, struct mailbox_trouble *);

	/*
	 * Begins to wait for news on the first folder.  0: waiting; 1: this
	 * server cannot; -1.
	 */
	int	 (*wait)(struct mailbox_box *, struct mailbox_trouble *);

	/* While waiting: what to poll for reading; -1 if there is nothing. */
	int	 (*fd)(const struct mailbox_box *);

	/*
	 * While waiting, when fd is readable: never blocks.  When it says
	 * MAILBOX_LOST, *trouble is filled in and close is left to the
	 * caller, who may have to forget the descriptor first.
	 */
	enum mailbox_wake (*wake)(struct mailbox_box *,
		    struct mailbox_trouble *);

	/*
	 * Removes some of the mails at the head of the list (count >= 1),
	 * each after having seen again that it is the probe of that very
	 * token (match_mail() by rules).  How many of the list are dealt
	 * with, removed or not as their state then says, >= 1; or -1.
	 */
	int	 (*clean)(struct mailbox_box *, struct mailbox_clean *,
		    size_t count, const struct match_rules *,
		    const struct mailbox_sink *, struct mailbox_trouble *);

	/* Without ceremony; no session is fine. */
	void	 (*close)(struct mailbox_box *);
};

#endif
