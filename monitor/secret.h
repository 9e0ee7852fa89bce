#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>

#include "monitor/route.h"

/*
 * Secrets that lie in files: password_file and credential.  Commands are
 * run by the monitor itself.  Nothing here keeps or prints a secret; the
 * caller wipes its buffer with mem_wipe() after use, whatever was returned.
 */

/* The largest secret file, and so the buffer that always suffices. */
#define SECRET_MAX	(16 * 1024)

/*
 * The first line of a secret file, without its newline, terminated.  The
 * file (a symbolic link may lead to it) must be regular, not empty, at most
 * SECRET_MAX bytes, and closed to group and others: one that leaks is
 * refused before it is used.  0, or -1 with a sentence for the admin in why.
 */
int	 secret_read_file(const char *path, char *buf, size_t size,
	    char *why, size_t whysize);

/*
 * The file that holds the secret: password_file, or credential in
 * $CREDENTIALS_DIRECTORY (systemd.exec(5)).  0, or -1 with why when the
 * secret does not come from a file or the directory is not known.
 */
int	 secret_path(const struct secret_source *, char *path, size_t size,
	    char *why, size_t whysize);

/*
 * Reads the secret of a source that is a file.  As secret_read_file(), but
 * the modes of a credential are left to the service manager, which opens
 * its files to the service by access lists that look like group bits.
 */
int	 secret_read(const struct secret_source *, char *buf, size_t size,
	    char *why, size_t whysize);

#endif
