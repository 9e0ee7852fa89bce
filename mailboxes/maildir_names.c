#include "mailboxes/maildir_names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"

/*
 * A directory's time is as coarse as the kernel's tick: a change that soon
 * after a scan may bear the same time as one before it.
 */
#define COARSE_S	2

uint64_t
maildir_hash(const char *name)
{
	uint64_t	h = UINT64_C(14695981039346656037);

	for (; *name != '\0' && *name != ':'; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
	/* Spread: the low half serves as a number of its own, never 0. */
	h = (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
	h ^= h >> 29;
	return (h | (UINT64_C(1) << 32) | 1);
}

int
maildir_names_open(struct maildir_names *n, int at_fd, const char *name)
{
	*n = (struct maildir_names){ .fd = openat(at_fd, name, O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC) };
	return (n->fd >= 0 ? 0 : -1);
}

void
maildir_names_close(struct maildir_names *n)
{
	if (n->fd >= 0)
		close(n->fd);
	mem_free(n->known);
	*n = (struct maildir_names){ .fd = -1 };
}

static size_t
place_of(const struct maildir_names *n, uint64_t hash)
{
	size_t	i = (size_t)(hash >> 33) & (n->room - 1);

	while (n->known[i] != 0 && n->known[i] != hash)
		i = (i + 1) & (n->room - 1);
	return (i);
}

bool
maildir_names_known(const struct maildir_names *n, uint64_t hash)
{
	return (n->room > 0 && n->known[place_of(n, hash)] != 0);
}

static void
grow(struct maildir_names *n)
{
	struct maildir_names	old = *n;

	n->room = old.room == 0 ? 64 : 2 * old.room;
	n->known = mem_alloc(n->room * sizeof *n->known);
	for (size_t i = 0; i < old.room; i++)
		if (old.known[i] != 0)
			n->known[place_of(n, old.known[i])] = old.known[i];
	mem_free(old.known);
}

void
maildir_names_learn(struct maildir_names *n, uint64_t hash)
{
	size_t	i;

	if (4 * (n->count + 1) > 3 * n->room)
		grow(n);
	i = place_of(n, hash);
	n->count += n->known[i] == 0;
	n->known[i] = hash;
}

static bool
same(const struct timespec *a, const struct timespec *b)
{
	return (a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec);
}

/* Not changed since the last scan, for sure. */
static bool
at_rest(const struct maildir_names *n, const struct stat *st)
{
	return (n->scanned.tv_sec != 0 && same(&st->st_mtim, &n->changed) &&
	    n->scanned.tv_sec - n->changed.tv_sec > COARSE_S);
}

static DIR *
open_again(const struct maildir_names *n)
{
	int	 fd = openat(n->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR	*dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir == NULL && fd >= 0)
		close(fd);
	return (dir);
}

int
maildir_names_scan(struct maildir_names *n,
    void (*fresh)(void *arg, const char *name), void *arg)
{
	struct maildir_names	 now = { .fd = n->fd };
	struct dirent		*d;
	struct stat		 st;
	uint64_t		 hash;
	DIR			*dir;

	if (fstat(n->fd, &st) != 0)
		return (-1);
	if (at_rest(n, &st))
		return (0);
	if ((dir = open_again(n)) == NULL)
		return (-1);
	now.changed = st.st_mtim;
	clock_gettime(CLOCK_REALTIME_COARSE, &now.scanned);
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		hash = maildir_hash(d->d_name);
		maildir_names_learn(&now, hash);
		if (!maildir_names_known(n, hash))
			fresh(arg, d->d_name);
	}
	closedir(dir);
	mem_free(n->known);
	*n = now;
	return (0);
}
