#ifndef IMAP_REFUSAL_H
#define IMAP_REFUSAL_H

#include <stdbool.h>

#include "mailboxes/imap_filter.h"

/*
 * Whether a login failed for its user and password, which are then not tried
 * over and over, or for some trouble that may pass.  Pure.
 */

/*
 * By the code, in upper case, where that decides (RFC 5530, RFC 3206), else
 * by the text.  A NO that gives no reason is about the login; BAD and BYE
 * (said: IMAP_PENDING) must say so.
 */
bool	 imap_refusal(enum imap_condition said, const char *code,
	    const char *text);

#endif
