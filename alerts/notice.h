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
	NOTICE_TEST,
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

/* What a notice wants to say beyond the episode itself. */
struct notice_facts {
	const char	*instance;
	const char	*timezone;		/* for local times */
	const char	*proof_token;		/* delivered: the probe, or "" */
	const char	*proof_folder;
	int64_t		 proof_latency_ms;	/* STAMP_NO_SPAN: unknown */
	const char	*transcript;		/* failing: or "" */
	bool		 mailbox_blind;		/* delivery cannot be confirmed */
};

/* Writes subject, body and ids for a notice of kind about e. */
void	 notice_write(struct notice *, enum notice_kind,
	    const struct episode *e, const struct notice_facts *,
	    int64_t now_ms);

/*
 * The whole message to one recipient, CRLF, ready for a job: Date, From, To,
 * Subject, Message-ID, In-Reply-To/References, Auto-Submitted, body in
 * 8bit UTF-8 or quoted-printable when the server lacks 8BITMIME: always
 * quoted-printable if not ASCII.  Bytes written, 0 if it does not fit.
 */
size_t	 notice_message(const struct notice *, const char *from,
	    const char *to, int64_t now_ms, char *buf, size_t size);

const char	*notice_kind_name(enum notice_kind);
enum notice_kind notice_kind_of(const char *);

#endif
