#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/stamp.h"

/*
 * What one SMTP session came to, as a value: it is made in the sender,
 * crosses to the monitor in a frame, and everything that judges, stores or
 * tells works from it.  Pure.
 */

/* How far the session got: the furthest command whose reply was awaited. */
enum stage {
	STAGE_NONE,
	STAGE_LOOKUP,		/* DNS */
	STAGE_CONNECT,
	STAGE_GREETING,
	STAGE_EHLO,
	STAGE_STARTTLS,		/* the command and the TLS handshake */
	STAGE_EHLO2,		/* EHLO again, inside TLS */
	STAGE_AUTH,
	STAGE_MAIL,
	STAGE_RCPT,
	STAGE_DATA,
	STAGE_DOT,		/* the message and the reply to its final dot */
	STAGE_QUIT,
	STAGES
};

/* The word in CSV, metrics and alerts. */
enum outcome_class {
	CLASS_NONE,		/* nothing to say: no reply, or not judged */
	CLASS_ACCEPTED,
	CLASS_SYSTEM_FULL,	/* X.3.1 and storage replies without it */
	CLASS_MAILBOX_FULL,	/* X.2.2 */
	CLASS_CONGESTION,	/* X.4.5, load */
	CLASS_GREYLISTING,
	CLASS_RATE_LIMIT,
	CLASS_SIZE,
	CLASS_POLICY,
	CLASS_NO_SUCH_USER,
	CLASS_AUTH,
	CLASS_TLS,
	CLASS_DNS,
	CLASS_NETWORK,		/* refused, reset, timed out */
	CLASS_UNCERTAIN,	/* silence after the dot */
	CLASS_UNDELIVERED,	/* accepted, not seen: an age, or a bounce */
	CLASS_OTHER,
	CLASS_BLIND,		/* the monitor could not look */
	CLASSES
};

/* What happens to this message: the first digit decides (RFC 5321 4.2.1). */
enum verdict {
	VERDICT_NONE,
	VERDICT_ACCEPTED,	/* 2yz to the dot: the server has it */
	VERDICT_TEMPORARY,	/* 4yz, or no session came about: retry */
	VERDICT_PERMANENT,	/* 5yz: final for this message */
	VERDICT_UNCERTAIN,	/* the dot was sent, no reply came: never re-send */
	VERDICTS
};

#define OUTCOME_ENHANCED	12	/* "4.999.999" */
#define OUTCOME_REPLY		1024
#define OUTCOME_HOST		256
#define OUTCOME_ADDRESS		64
#define OUTCOME_TLS		128
#define OUTCOME_QUEUE_ID	64
#define OUTCOME_TRANSCRIPT	6144
#define OUTCOME_GREETING	256
#define OUTCOME_EXTENSIONS	256
#define OUTCOME_NO_CERTIFICATE	INT32_MIN

struct outcome {
	enum stage		 stage;
	enum outcome_class	 class;
	enum verdict		 verdict;
	int			 code;		/* 200-599, 0: no reply */
	char			 enhanced[OUTCOME_ENHANCED];	/* or "" */
	/* The server's words, lines joined by " / ", or our own sentence when
	 * there was no reply; printable UTF-8. */
	char			 reply[OUTCOME_REPLY];
	bool			 blind;		/* our own trouble, not the server's */
	bool			 contradiction;	/* the codes disagree */
	char			 host[OUTCOME_HOST];	/* the host spoken to */
	char			 address[OUTCOME_ADDRESS];	/* its address */
	/* Other addresses and mail hosts that failed before in this session,
	 * "192.0.2.1: connection refused; ..."; "" if none did. */
	char			 earlier[OUTCOME_REPLY];
	char			 tls[OUTCOME_TLS];	/* "TLSv1.3 verified", "none", ... */
	char			 queue_id[OUTCOME_QUEUE_ID];
	/* What the server says of itself; "" and 0 if it did not. */
	char			 greeting[OUTCOME_GREETING];	/* with its code */
	char			 extensions[OUTCOME_EXTENSIONS];	/* of EHLO, by space */
	int64_t			 size_limit;	/* RFC 1870, bytes; 0: none told */
	/* Whole days until its certificate ends, or OUTCOME_NO_CERTIFICATE. */
	int32_t			 certificate_days;
	struct stamp		 started;
	struct stamp		 accepted;	/* 2yz to the dot came */
	struct stamp		 finished;
	int32_t			 stage_ms[STAGES];	/* -1: not reached */
	char			 transcript[OUTCOME_TRANSCRIPT];	/* no secrets */
};

void		 outcome_init(struct outcome *);

/* The words above, as the CSV has them; "" for the NONE members. */
const char	*stage_name(enum stage);
const char	*class_name(enum outcome_class);
const char	*verdict_name(enum verdict);

/* The members of those names; the NONE member for an unknown word. */
enum stage		 stage_of(const char *);
enum outcome_class	 class_of(const char *);
enum verdict		 verdict_of(const char *);

#endif
