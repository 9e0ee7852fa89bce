#ifndef FOLDER_NAME_H
#define FOLDER_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* What folders are for, by what servers and mail readers call them.  Pure. */

/*
 * "\\Junk" or "\\Trash" (RFC 6154) by the last part of a folder's name, in
 * modified UTF-7, delimiter between its parts ('\0': none); or NULL.
 */
const char	*folder_role(const char *name, size_t len, char delimiter);

/* It lies at the top, or directly below INBOX. */
bool		 folder_is_near(const char *name, size_t len, char delimiter);

#endif
