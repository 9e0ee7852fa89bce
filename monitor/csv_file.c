#include "monitor/csv_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/text.h"

/* A symbolic link or a FIFO in our place is somebody's trap or mistake. */
#define OPEN_FLAGS	(O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

static const char *const prefixes[CSV_KINDS] = {
	[CSV_LATENCY]	= "latency-",
	[CSV_ATTEMPTS]	= "attempts-",
	[CSV_EPISODES]	= "episodes",
};

/* A row without a time, which should not be, goes to the first day. */
void
csv_file_name(char file[static CSV_FILE], enum csv_kind kind, int64_t wall_ms)
{
	char	day[CLOCK_DAY] = "";

	if (kind != CSV_EPISODES)
		clock_day(wall_ms > 0 ? wall_ms : 1, day);
	snprintf(file, CSV_FILE, "%s%s.csv", prefixes[kind], day);
}

static bool
is_day(const char *s)
{
	static const char	form[] = "0000-00-00";

	for (size_t i = 0; i < sizeof form - 1; i++)
		if (form[i] == '0' ? s[i] < '0' || s[i] > '9' :
		    s[i] != form[i])
			return (false);
	return (true);
}

/* The name is ours if making it from its own parts gives it back. */
bool
csv_file_read_name(const char *name, struct csv_file *f)
{
	char	again[2 * CSV_FILE];

	if (!text_copy(f->name, sizeof f->name, name))
		return (false);
	for (int k = 0; k < CSV_KINDS; k++) {
		const char	*p = name + strlen(prefixes[k]);

		if (strncmp(name, prefixes[k], strlen(prefixes[k])) != 0)
			continue;
		f->kind = (enum csv_kind)k;
		f->day[0] = '\0';
		if (f->kind != CSV_EPISODES && is_day(p))
			text_copy(f->day, sizeof f->day, p);
		snprintf(again, sizeof again, "%s%s.csv", prefixes[k], f->day);
		return (strcmp(again, name) == 0 &&
		    (f->kind == CSV_EPISODES) == (f->day[0] == '\0'));
	}
	return (false);
}

/* Callers open it anew each time: it may have been moved, emptied or
 * mounted over. */
int
csv_file_directory(const char *directory)
{
	int	flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int	fd = open(directory, flags);

	if (fd == -1 && errno == ENOENT && mkdir(directory, 0755) == 0)
		fd = open(directory, flags);
	return (fd);
}

DIR *
csv_file_walk(const char *directory)
{
	int	 fd = csv_file_directory(directory);
	DIR	*d = fd != -1 ? fdopendir(fd) : NULL;

	if (d == NULL && fd != -1)
		close(fd);
	return (d);
}

bool
csv_file_next(DIR *d, struct csv_file *f)
{
	const struct dirent	*e;

	while ((e = readdir(d)) != NULL)
		if (csv_file_read_name(e->d_name, f))
			return (true);
	return (false);
}

/* close(2) that keeps errno for the caller. */
static void
done_with(int fd)
{
	int	saved = errno;

	if (fd != -1)
		close(fd);
	errno = saved;
}

static int
open_file(int dir, const char *file)
{
	int	fd = openat(dir, file, OPEN_FLAGS | O_APPEND);

	if (fd != -1 || errno != ENOENT)
		return (fd);
	return (openat(dir, file, OPEN_FLAGS | O_APPEND | O_CREAT | O_EXCL,
	    0644));
}

/* The length of a regular file, -1 for anything else. */
static int64_t
length_of(int fd)
{
	struct stat	st;

	if (fstat(fd, &st) == -1)
		return (-1);
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return (-1);
	}
	return (st.st_size);
}

static bool
ends_a_line(int fd, int64_t length)
{
	char	c;

	return (length == 0 || (pread(fd, &c, 1, (off_t)length - 1) == 1 &&
	    c == '\n'));
}

static int
set_length(int fd, int64_t length)
{
	return (ftruncate(fd, (off_t)length) == 0 && fsync(fd) == 0 ? 0 : -1);
}

/* What must stand between the file's end and the next row. */
static const char *
lead(int fd, const char *file, int64_t length)
{
	struct csv_file	f;

	if (length > 0)
		return (ends_a_line(fd, length) ? "" : "\r\n");
	return (csv_file_read_name(file, &f) ? csv_header(f.kind) : "");
}

static int
write_all(int fd, const char *bytes, size_t len)
{
	ssize_t	n;

	for (; len > 0; bytes += n, len -= (size_t)n)
		if ((n = write(fd, bytes, len)) == -1) {
			if (errno != EINTR)
				return (-1);
			n = 0;
		}
	return (0);
}

/*
 * A new file's name is made durable with its first rows, and after them: a
 * reader must not meet it empty for as long as a disk takes.
 */
static int
keep_name(int dir, int64_t start)
{
	return (start > 0 ? 0 : fsync(dir));
}

int64_t
csv_file_length(int dir, const char *file)
{
	struct stat	st;

	if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return (errno == ENOENT ? 0 : -1);
	return (st.st_size);
}

int
csv_file_append(int dir, const char *file, const char *text, size_t len,
    int64_t *end_r)
{
	const char	*first;
	int64_t		 start;
	int		 fd, saved, rc = -1;

	*end_r = -1;
	if ((fd = open_file(dir, file)) == -1 || (start = length_of(fd)) == -1)
		goto out;
	first = lead(fd, file, start);
	if (write_all(fd, first, strlen(first)) == 0 &&
	    write_all(fd, text, len) == 0 && keep_name(dir, start) == 0) {
		*end_r = start + (int64_t)(strlen(first) + len);
		rc = 0;
	} else {
		saved = errno;
		if (ftruncate(fd, (off_t)start) == -1)
			*end_r = start;
		errno = saved;
	}
out:
	done_with(fd);
	return (rc);
}

int64_t
csv_file_sync(int dir, const char *file)
{
	int	fd = openat(dir, file, OPEN_FLAGS);
	int64_t	length;

	if (fd == -1)
		return (errno == ENOENT ? 0 : -1);
	length = fdatasync(fd) == 0 ? length_of(fd) : -1;
	done_with(fd);
	return (length);
}

int
csv_file_cut(int dir, const char *file, int64_t length)
{
	int	fd = openat(dir, file, OPEN_FLAGS);
	int	rc;

	if (fd == -1)
		return (errno == ENOENT ? 0 : -1);
	rc = set_length(fd, length);
	done_with(fd);
	return (rc);
}

int64_t
csv_file_mend(int dir, const char *file, int64_t length)
{
	int	fd = openat(dir, file, OPEN_FLAGS);
	int64_t	have, cut = -1;

	if (fd == -1 || (have = length_of(fd)) == -1)
		goto out;
	cut = 0;
	if (have > length && ends_a_line(fd, length))
		cut = set_length(fd, length) == 0 ? have - length : -1;
out:
	done_with(fd);
	return (cut);
}
