#ifndef BOUNCE_H
#define BOUNCE_H

#include <stdbool.h>
#include <stddef.h>

#include "mailboxes/dsn.h"
#include "monitor/outcome.h"
#include "monitor/reply.h"
#include "monitor/token.h"

/*
 * What a mail reports about another one: delivery reports (RFC 3464, in
 * whatever shape they come) and bounces written in words.  Linear in the
 * length, bounded, total: any bytes give an answer.  Pure.
 *
 * Whether it speaks of a probe is for the caller to check by the tokens: a
 * report without a valid one must change nothing.
 */

#define BOUNCE_INPUT	(256 * 1024)	/* bytes that are read */
#define BOUNCE_TOKENS	8

enum bounce_kind {
	BOUNCE_NONE,		/* no report: any other mail */
	BOUNCE_DSN,		/* by its fields */
	BOUNCE_TEXT,		/* by its words */
	BOUNCE_AUTO_REPLY,	/* out of office and the like */
	BOUNCE_RECEIPT,		/* RFC 8098: it was read, or not */
	BOUNCE_FEEDBACK,	/* RFC 5965: it was called spam */
	BOUNCE_KINDS
};

/* What became of the message, for a probe. */
enum bounce_outcome {
	BOUNCE_IGNORE,		/* says nothing that counts */
	BOUNCE_LOST,		/* given up, whatever the code's class */
	BOUNCE_DELAYED,		/* still being tried */
	BOUNCE_DELIVERED,
	BOUNCE_OUTCOMES
};

struct bounce {
	enum bounce_kind	 kind;
	enum bounce_outcome	 outcome;
	/*
	 * "failed", "delayed", "delivered", "relayed", "expanded" (RFC 3464
	 * 2.3.3), another word the report has there, or "" if it has none.  A
	 * bounce in words is "failed" or "delayed".
	 */
	char			 action[DSN_WORD];
	char			 status[OUTCOME_ENHANCED];	/* the field, or "" */
	/*
	 * What the refusing server said, completed by the Status field where
	 * it was silent or general; what it means.
	 */
	struct reply		 reply;
	enum outcome_class	 class;		/* CLASS_OTHER: nothing better */
	enum verdict		 verdict;	/* by the reply's first digit */
	char			 remote_mta[OUTCOME_HOST];	/* lower case, */
	char			 reporting_mta[OUTCOME_HOST];	/* or "" */
	char			 final_recipient[DSN_ADDRESS];
	char			 original_recipient[DSN_ADDRESS];
	unsigned		 recipients;	/* in the report */
	char			 envid[DSN_ENVID];
	/* What has a token's form, best place first: the envelope id, the
	 * returned message, the rest. */
	char			 tokens[BOUNCE_TOKENS][TOKEN_SIZE];
	size_t			 token_count;
};

/*
 * Reads at most BOUNCE_INPUT bytes.  ours: the recipient that is asked about;
 * "": the one that the returned message was sent to, if it was only one.
 * Where the report has no group for it, the first counts.
 */
void		 bounce_read(const char *bytes, size_t len, const char *ours,
		    struct bounce *out);

/* The host that the trouble is about: remote_mta, else reporting_mta. */
const char	*bounce_system(const struct bounce *);

/* "lost", "delayed", "delivered", "ignore". */
const char	*bounce_outcome_name(enum bounce_outcome);
/* "none", "report", "text", "auto-reply", "receipt", "feedback". */
const char	*bounce_kind_name(enum bounce_kind);

#endif
