#ifndef NOTICE_H
#define NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alerts/episode.h"

/*
 * One message to the admins, from the episode it tells about.  Pure.
 */

enum notice_kind {
	NOTICE_FAILING,
	NOTICE_REMINDER,
	NOTICE_ACCEPTING,
	NOTICE_DELIVERED,
	NOTICE_UNWATCHED,	/* the last: nothing will show its end */
	NOTICE_SUMMARY,		/* of what was held back */
	NOTICE_HEARTBEAT,
	NOTICE_DIGEST,
	NOTICE_KINDS
};

#define NOTICE_SUBJECT	200
#define NOTICE_BODY	8192
#define NOTICE_ID	128

struct notice {
	int64_t			 id;		/* 0: not stored yet */
	int64_t			 episode;
	enum notice_kind	 kind;
	unsigned		 number;	/* nth of its kind in the episode */
	char			 alerts[65];	/* section it goes out by */
	char			 message_id[NOTICE_ID];	/* with < >; stable */
	char			 thread_id[NOTICE_ID];	/* first of the episode */
	char			 subject[NOTICE_SUBJECT];	/* ASCII */
	char			 body[NOTICE_BODY];	/* LF lines, UTF-8 */
	int64_t			 owed_ms;	/* wall */
};

/*
 * The local time of a moment (wall) in a zone of the TZ database, into
 * buf[size]; "" if the zone is not known.  alerts/zone.h has the real one.
 */
typedef void	(*notice_local)(const char *zone, int64_t wall_ms,
		    char *buf, size_t size);

/* What a notice wants to say beyond the episode itself. */
struct notice_facts {
	const char	*instance;
	const char	*alerts;		/* the section it goes out by */
	const char	*timezone;		/* for local times */
	notice_local	 local;			/* NULL: UTC only */
	const char	*proof_folder;		/* delivered: or "" */
	int64_t		 proof_latency_ms;	/* STAMP_NO_SPAN: unknown */
	const char	*transcript;		/* failing: or "" */
	const char	*system;		/* of the host, if its server
						 * sets it apart; or NULL */
	bool		 mailbox_blind;		/* delivery cannot be confirmed */
	bool		 test;			/* nothing has happened */
	unsigned	 number_more;		/* beyond its own number, for what is
						 * told again, to others */
};

/*
 * Writes everything but id for a notice of kind about e.  number follows
 * from the episode's swings and reminders, so that the same notice always
 * has the same number and Message-ID.  Foreign text is made harmless: no
 * byte of it can begin a header or a line of ours.  No probe's token stands
 * in it whole, lest a copy of the notice in a watched mailbox be taken for
 * the probe.
 *
 * A test is about an episode that is made up, without id, and says so.
 */
void	 notice_write(struct notice *, enum notice_kind,
	    const struct episode *e, const struct notice_facts *,
	    int64_t now_ms);

/* The same for what is about no episode: the caller writes the body. */
void	 notice_begin(struct notice *, enum notice_kind,
	    const struct notice_facts *, const char *subject, unsigned number,
	    int64_t now_ms);

/* Its kind is one of an episode's, but it is about none. */
bool	 notice_is_test(const struct notice *);

/* A sentence in front of the body, as a paragraph of its own. */
void	 notice_prefix(struct notice *, const char *sentence);

/* "43 min 20 s": the two largest units; "less than 1 s". */
#define NOTICE_SPAN	48
const char	*notice_span(int64_t span_ms, char buf[static NOTICE_SPAN]);

/* "2026-01-31 12:00:00 UTC"; "" for 0. */
#define NOTICE_TIME	32
const char	*notice_utc(int64_t wall_ms, char buf[static NOTICE_TIME]);

/*
 * The whole message to one recipient, CRLF, ready for a job (RFC 5322, 2045,
 * 3834): Date, From, To, Subject, Message-ID, In-Reply-To and References to
 * the episode's first notice, Auto-Submitted; the body as it is, or
 * quoted-printable if it is not ASCII or has a line over 76 columns.  A body
 * that does not fit into buf[size] is cut and says so.  Bytes written,
 * without the NUL; 0 if not even the header fits or an address holds
 * controls.
 */
size_t	 notice_message(const struct notice *, const char *from,
	    const char *to, int64_t now_ms, char *buf, size_t size);

const char	*notice_kind_name(enum notice_kind);
enum notice_kind notice_kind_of(const char *);

#endif
