#ifndef IMAP_REFUSAL_H
#define IMAP_REFUSAL_H

#include <stdbool.h>

/*
 * Whether a login failed for its user and password, which are then not tried
 * over and over, or for some trouble that may pass.  Pure.
 */

/*
 * By what a NO said: its code in upper case where that decides (RFC 5530,
 * RFC 3206), else its text, else it is the login.
 */
bool	 imap_refusal(const char *code, const char *text);

#endif
