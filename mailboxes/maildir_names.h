#ifndef MAILDIR_NAMES_H
#define MAILDIR_NAMES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * One directory of mails, and which of them have been looked at: by names,
 * so that looking for new ones opens no file, and not at all while the
 * directory has not changed.
 */

/* A mail's unique name, up to the flags that follow a colon, hashed. */
uint64_t maildir_hash(const char *name);

struct maildir_names {
	int		 fd;		/* of the directory; owned; -1: none */
	uint64_t	*known;		/* owned; hashes, open addressing; 0: free */
	size_t		 room;		/* a power of two, or 0 */
	size_t		 count;
	struct timespec	 changed;	/* the directory's, at the last scan */
	struct timespec	 scanned;	/* when, by the same clock; 0: never */
};

/* Opens name in the directory at_fd.  0, or -1 with errno. */
int	 maildir_names_open(struct maildir_names *, int at_fd,
	    const char *name);
void	 maildir_names_close(struct maildir_names *);

bool	 maildir_names_known(const struct maildir_names *, uint64_t hash);
void	 maildir_names_learn(struct maildir_names *, uint64_t hash);

/*
 * Calls fresh for the name of every mail there that is not known, which
 * makes it so; those that are gone are forgotten.  0, or -1 with errno.
 */
int	 maildir_names_scan(struct maildir_names *,
	    void (*fresh)(void *arg, const char *name), void *arg);

#endif
