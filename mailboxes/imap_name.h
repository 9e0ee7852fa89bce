#ifndef IMAP_NAME_H
#define IMAP_NAME_H

#include <stddef.h>

/*
 * Names of folders as IMAP writes them: modified UTF-7 (RFC 3501 5.1.3).
 * Pure.
 */

/*
 * The encoded form of a name in UTF-8; owned by the caller.  A name that is
 * ASCII alone may be encoded already, as servers list it: only a '&' that
 * begins nothing of the kind is encoded.
 */
char	*imap_name_encode(const char *name);

/*
 * A listed name in UTF-8; owned by the caller.  What is not well-formed stays
 * as it is.
 */
char	*imap_name_decode(const char *name, size_t len);

#endif
