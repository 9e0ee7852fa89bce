#ifndef IMAP_NAME_H
#define IMAP_NAME_H

/*
 * Names of folders as IMAP writes them: modified UTF-7 (RFC 3501 5.1.3).
 * Pure.
 */

/*
 * The encoded form of a name in UTF-8; owned by the caller.  A name that is
 * ASCII alone is taken as encoded already, as servers list it.
 */
char	*imap_name_encode(const char *name);

#endif
