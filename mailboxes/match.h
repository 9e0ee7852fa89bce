#ifndef MATCH_H
#define MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/frame.h"
#include "monitor/token.h"

/*
 * Whether a mail carries a token of ours, and whether it is the probe itself
 * or only quotes it.  What is no probe is read and never removed.  Pure.
 */

struct match_rules {
	const struct token_key	*key;		/* borrowed, as are all */
	const char		*instance;
	const char		*mailbox;
	const char		*froms;		/* addresses, one a line */
};

enum match_carrier {
	MATCH_NOWHERE,
	MATCH_HEADER,
	MATCH_BODY
};

struct match {
	enum match_carrier	 carrier;	/* where the token was found */
	char			 token[TOKEN_SIZE];	/* "" if none of ours */
	/*
	 * The probe or a duplicate of it: our token for this mailbox, from
	 * one of our senders, no reply, no forward, no report, no automatic
	 * answer.
	 */
	bool			 is_probe;
	enum echo_sign		 sign;		/* when it is none */
	bool			 stranger;	/* a forged or foreign token */
	bool			 ours_perhaps;	/* no token, but one of our
						 * senders: look at its body */
};

/* The header fields that match_mail() looks at: fetch these. */
extern const char *const	match_fields[];
extern const size_t		match_field_count;

/*
 * head: header fields; body: the beginning of the body as it is on the wire,
 * "" if it was not fetched.
 */
void	 match_mail(const struct match_rules *, const char *head,
	    size_t head_len, const char *body, size_t body_len, struct match *);

#endif
