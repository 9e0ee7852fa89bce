#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/outcome.h"
#include "monitor/token.h"

/*
 * What the monitor and its workers say to each other: one frame is one record
 * of a SOCK_SEQPACKET socket, at most FRAME_MAX bytes, with a version.  Each
 * type has one struct of numbers and bounded strings; a table describes its
 * members, and one encoder and one decoder serve them all.  Pure.
 *
 * The decoder checks everything: version, type, length to the byte, every
 * string's bound and that no NUL is inside, booleans and enums in range.
 * What does not pass ends the worker that sent it, never the reader.
 */

#define FRAME_VERSION	1
#define FRAME_MAX	32768

#define FRAME_NAME	65
#define FRAME_PATH	1024
#define FRAME_SECRET_SIZE 4096
#define FRAME_LOCAL	512	/* addresses, folders */
#define FRAME_MESSAGE	14336
#define FRAME_FOLDERS	1024	/* names, separated by newline */
#define FRAME_HOSTS_SIZE 4200	/* 16 of them, as long as a name can be */

enum frame_type {
	FRAME_HELLO = 1,	/* worker: I am ready */
	FRAME_JOB,		/* monitor -> sender */
	FRAME_ASK,		/* sender: the server said 354; may I? */
	FRAME_GO,		/* monitor -> sender: yes or no */
	FRAME_OUTCOME,		/* sender: how it ended */
	FRAME_KEY,		/* monitor -> watcher, first */
	FRAME_MAILBOX,		/* monitor -> watcher: watch this */
	FRAME_MARK,		/* both ways: how far a folder has been read */
	FRAME_WATCH,		/* monitor -> watcher: all marks told, begin */
	FRAME_FORGET,		/* monitor -> watcher */
	FRAME_EXPECT,		/* monitor -> watcher: a probe is under way */
	FRAME_CLEAN,		/* monitor -> watcher: remove this one mail */
	FRAME_SECRET_ASK,	/* watcher: a login needs its secret */
	FRAME_SECRET,		/* monitor -> watcher */
	FRAME_ARRIVAL,		/* watcher */
	FRAME_LOOK,		/* watcher: looked, or could not */
	FRAME_CLEANED,		/* watcher: what became of a CLEAN */
	FRAME_HOSTS,		/* sender: the answer to JOB_LOOKUP */
	FRAME_OVER,		/* sender: that job's connection is closed */
	FRAME_REPORT,		/* watcher: what a bounce says of a probe */
	FRAME_TYPES
};

struct frame_hello {
	int64_t		 pid;
	char		 program[FRAME_NAME];
	char		 version[FRAME_NAME];
};

/* A check ends before MAIL; a look-up of domain's mail hosts is no session. */
enum job_kind { JOB_PROBE, JOB_ALERT, JOB_CHECK, JOB_LOOKUP, JOB_KINDS };

/* One SMTP session to make.  The message is CRLF text, complete. */
struct frame_job {
	uint64_t	 job;			/* echoed in every answer */
	uint32_t	 kind;			/* enum job_kind */
	char		 host[OUTCOME_HOST];	/* name or address literal */
	uint32_t	 port;
	uint32_t	 tls;			/* enum tls_mode */
	char		 ca_file[FRAME_PATH];	/* "": the system's */
	bool		 insecure_auth;
	char		 user[FRAME_LOCAL];	/* "": no AUTH */
	char		 secret[FRAME_SECRET_SIZE];
	bool		 oauth;			/* secret is an access token */
	char		 helo[OUTCOME_HOST];
	char		 source_address[OUTCOME_ADDRESS];
	uint32_t	 family;		/* enum address_family */
	uint32_t	 mx;			/* enum mx_mode */
	char		 domain[OUTCOME_HOST];	/* for mx */
	char		 resolver[FRAME_LOCAL];	/* host:port, "": the system's */
	char		 from[FRAME_LOCAL];
	char		 to[FRAME_LOCAL];
	char		 envid[FRAME_NAME];	/* "": none */
	bool		 notify_never;		/* else FAILURE,DELAY */
	char		 message[FRAME_MESSAGE];
	int64_t		 size;			/* pad the body to this; 0: no */
	bool		 gate;			/* ask before the body */
	int64_t		 connect_timeout_ms;
	int64_t		 timeout_ms;		/* per reply */
	int64_t		 dot_timeout_ms;
	int64_t		 deadline_ms;		/* for the whole session */
};

struct frame_ask {
	uint64_t	 job;
};

struct frame_go {
	uint64_t	 job;
	bool		 allowed;
};

struct frame_over {
	uint64_t	 job;
};

struct frame_outcome {
	uint64_t	 job;
	struct outcome	 outcome;
};

struct frame_hosts {
	uint64_t	 job;
	bool		 found;
	bool		 blind;		/* not found: our resolver's trouble */
	char		 reason[OUTCOME_HOST];	/* not found: a sentence */
	char		 hosts[FRAME_HOSTS_SIZE];	/* names in the order of
						 * their preference, by newline */
};

struct frame_key {
	char		 instance[FRAME_NAME];
	char		 key_hex[2 * TOKEN_KEY + 1];
	char		 resolver[FRAME_LOCAL];
};

/* ids are the monitor's, unique over its life. */
struct frame_mailbox {
	uint32_t	 id;
	char		 name[FRAME_NAME];	/* what tokens are bound to */
	char		 host[OUTCOME_HOST];
	uint32_t	 port;
	uint32_t	 tls;			/* enum tls_mode */
	char		 ca_file[FRAME_PATH];
	bool		 insecure_auth;
	char		 user[FRAME_LOCAL];
	bool		 oauth;
	char		 source_address[OUTCOME_ADDRESS];
	uint32_t	 family;		/* enum address_family */
	int64_t		 connect_timeout_ms;
	int64_t		 timeout_ms;
	int64_t		 auth_pause_ms;
	int64_t		 pause_ms;		/* no login before; 0: now */
	char		 folders[FRAME_FOLDERS];
	char		 junk[FRAME_LOCAL];
	char		 froms[FRAME_FOLDERS];	/* the routes' senders */
	bool		 bounces;		/* reports about probes come here */
	int64_t		 poll_ms;
	bool		 idle;
	int64_t		 burst_ms;
	uint32_t	 expunge;		/* enum expunge_mode */
	char		 authserv_id[FRAME_LOCAL];
	char		 maildir[FRAME_PATH];
};

struct frame_mark {
	uint32_t	 id;
	char		 folder[FRAME_LOCAL];
	uint32_t	 uidvalidity;
	uint32_t	 uid;			/* highest seen; 0: none yet */
};

struct frame_watch {
	uint32_t	 id;
};

struct frame_forget {
	uint32_t	 id;
};

struct frame_expect {
	uint32_t	 id;
	char		 token[TOKEN_SIZE];
	struct stamp	 accepted;		/* when the 250 came */
};

struct frame_clean {
	uint32_t	 id;
	char		 folder[FRAME_LOCAL];
	uint32_t	 uidvalidity;
	uint32_t	 uid;
	char		 token[TOKEN_SIZE];
};

enum clean_state {
	CLEAN_REMOVED,		/* or at least marked so */
	CLEAN_GONE,		/* no longer there, or it never was that mail */
	CLEAN_LEFT,		/* could not be removed */
	CLEAN_STATES
};

/* Every CLEAN is answered once, unless its watcher ends. */
struct frame_cleaned {
	uint32_t	 id;
	uint32_t	 state;			/* enum clean_state */
	char		 folder[FRAME_LOCAL];
	uint32_t	 uidvalidity;
	uint32_t	 uid;
	char		 token[TOKEN_SIZE];
};

struct frame_secret_ask {
	uint32_t	 id;
};

struct frame_secret {
	uint32_t	 id;
	bool		 ok;
	char		 secret[FRAME_SECRET_SIZE];
	char		 why[OUTCOME_HOST];	/* when not ok */
};

/* How a mail that is no probe speaks of one: what an echo may look like. */
enum echo_sign {
	SIGN_NONE,		/* the probe itself, or a report */
	SIGN_COPY,		/* has its Message-ID or its own field: passed on */
	SIGN_ANSWER,		/* names it in In-Reply-To, References, Subject
				 * or body */
	SIGNS
};

/* A mail that carries a token of ours. */
struct frame_arrival {
	uint32_t	 id;
	char		 token[TOKEN_SIZE];
	bool		 is_probe;	/* match(): the probe or its duplicate */
	uint32_t	 sign;		/* enum echo_sign, if not */
	char		 folder[FRAME_LOCAL];
	bool		 junk;
	uint32_t	 uidvalidity;
	uint32_t	 uid;
	struct stamp	 seen;		/* when the watcher learnt of it */
	struct stamp	 last_look;	/* the good look before that one */
	int64_t		 internal_ms;	/* INTERNALDATE, wall; 0: unknown */
	int32_t		 hops;		/* Received lines; -1: unknown */
	char		 slowest_hop[OUTCOME_HOST];
	int64_t		 slowest_hop_ms;	/* STAMP_NO_SPAN: unknown */
	int64_t		 skew_ms;		/* STAMP_NO_SPAN: unknown */
	char		 auth_results[OUTCOME_HOST];
};

/* What a report says has become of a probe. */
enum report_news {
	REPORT_NOTED,		/* delivered, relayed, expanded */
	REPORT_DELAYED,		/* still being tried */
	REPORT_LOST,		/* given up */
	REPORT_NEWS
};

/*
 * A delivery report or a bounce in words.  The token is of this instance;
 * whether its MAC holds is for the monitor to check, which alone knows the
 * mailbox that the probe was for.
 */
struct frame_report {
	uint32_t	 id;
	char		 token[TOKEN_SIZE];
	uint32_t	 news;			/* enum report_news */
	char		 action[FRAME_NAME];	/* its own word, or "" */
	uint32_t	 class;			/* enum outcome_class */
	uint32_t	 code;			/* 200-599, 0: none */
	char		 enhanced[OUTCOME_ENHANCED];
	char		 reply[OUTCOME_REPLY];	/* what the refusing server said */
	char		 remote_mta[OUTCOME_HOST];	/* who refused, or "" */
	char		 reporting_mta[OUTCOME_HOST];	/* who tells it, or "" */
	char		 folder[FRAME_LOCAL];
	uint32_t	 uidvalidity;
	uint32_t	 uid;
	struct stamp	 seen;		/* when the watcher learnt of it */
	int64_t		 internal_ms;	/* INTERNALDATE, wall; 0: unknown */
};

enum look_state {
	LOOK_GOOD,		/* every folder was looked at */
	LOOK_BLIND,		/* could not look, will try again by itself */
	LOOK_STATES
};

struct frame_look {
	uint32_t	 id;
	uint32_t	 state;			/* enum look_state */
	uint32_t	 class;			/* enum outcome_class when blind */
	struct stamp	 at;
	int64_t		 retry_ms;		/* blind: when it tries again */
	char		 reason[OUTCOME_REPLY];	/* blind: for an admin */
	char		 warning[OUTCOME_HOST];	/* good, but: "" or a sentence */
	uint32_t	 ignored;		/* forged or foreign tokens since
						 * the last frame */
};

/* Room for any of them. */
union frame_body {
	struct frame_hello	 hello;
	struct frame_job	 job;
	struct frame_ask	 ask;
	struct frame_go		 go;
	struct frame_outcome	 outcome;
	struct frame_over	 over;
	struct frame_key	 key;
	struct frame_mailbox	 mailbox;
	struct frame_mark	 mark;
	struct frame_watch	 watch;
	struct frame_forget	 forget;
	struct frame_expect	 expect;
	struct frame_clean	 clean;
	struct frame_secret_ask	 secret_ask;
	struct frame_secret	 secret;
	struct frame_arrival	 arrival;
	struct frame_look	 look;
	struct frame_cleaned	 cleaned;
	struct frame_hosts	 hosts;
	struct frame_report	 report;
};

/*
 * Bytes written to buf[FRAME_MAX]; 0 if it does not fit.
 * body points to the type's struct.
 */
size_t		 frame_encode(unsigned char *buf, enum frame_type,
		    const void *body);

/*
 * Type of the frame, its body in *out (zeroed first); 0 with *why_r set to a
 * static phrase if the bytes are not a frame.
 */
enum frame_type	 frame_decode(const unsigned char *buf, size_t len,
		    union frame_body *out, const char **why_r);

const char	*frame_name(enum frame_type);
/* "noted", "delayed", "lost". */
const char	*frame_report_name(enum report_news);

#endif
