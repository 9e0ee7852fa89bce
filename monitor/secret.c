#include "monitor/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"

static int
refuse(char *why, size_t whysize, const char *reason)
{
	snprintf(why, whysize, "%s", reason);
	return (-1);
}

/* What the opened file itself says, so that nobody swaps it in between. */
static int
check(int fd, bool private, char *why, size_t whysize)
{
	struct stat	st;

	if (fstat(fd, &st) == -1)
		return (refuse(why, whysize, strerror(errno)));
	if (!S_ISREG(st.st_mode))
		return (refuse(why, whysize, "not a regular file"));
	if (private && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
		snprintf(why, whysize, "open to group or others (mode %04o): "
		    "make it 0600 or 0400", (unsigned)(st.st_mode & 07777));
		return (-1);
	}
	if (st.st_size == 0)
		return (refuse(why, whysize, "empty"));
	if (st.st_size > SECRET_MAX)
		return (refuse(why, whysize, "larger than 16 KiB"));
	return (0);
}

/* Bytes read into buf, at most size; -1 on error. */
static ssize_t
read_all(int fd, char *buf, size_t size)
{
	size_t	have = 0;
	ssize_t	n;

	while (have < size) {
		n = read(fd, buf + have, size - have);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return (-1);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return ((ssize_t)have);
}

/* Cuts buf[0..have) to its first line, terminated. */
static int
first_line(char *buf, size_t have, size_t size, char *why, size_t whysize)
{
	char	*end = memchr(buf, '\n', have);
	size_t	 len = end != NULL ? (size_t)(end - buf) : have;

	if (memchr(buf, '\0', have) != NULL)
		return (refuse(why, whysize, "holds a NUL byte"));
	if (len == size)
		return (refuse(why, whysize, "its first line is too long"));
	if (len > 0 && buf[len - 1] == '\r')
		len--;
	if (len == 0)
		return (refuse(why, whysize, "its first line is empty"));
	buf[len] = '\0';
	return (0);
}

static int
read_secret(const char *path, bool private, char *buf, size_t size, char *why,
    size_t whysize)
{
	struct stat	st;
	ssize_t		have;
	int		fd, status = -1;

	/* A device must not even be opened, a FIFO must not hold us up. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return (refuse(why, whysize, "not a regular file"));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1)
		return (refuse(why, whysize, strerror(errno)));
	if (check(fd, private, why, whysize) == -1)
		goto out;
	if ((have = read_all(fd, buf, size)) == -1)
		refuse(why, whysize, strerror(errno));
	else
		status = first_line(buf, (size_t)have, size, why, whysize);
	if (status == -1)
		mem_wipe(buf, size);
out:
	close(fd);
	return (status);
}

int
secret_read_file(const char *path, char *buf, size_t size, char *why,
    size_t whysize)
{
	return (read_secret(path, true, buf, size, why, whysize));
}

int
secret_path(const struct secret_source *s, char *path, size_t size, char *why,
    size_t whysize)
{
	const char	*directory = getenv("CREDENTIALS_DIRECTORY");
	int		 n;

	if (s->password_file[0] != '\0')
		n = snprintf(path, size, "%s", s->password_file);
	else if (s->credential[0] == '\0')
		return (refuse(why, whysize, "the secret is not in a file"));
	else if (directory == NULL || *directory == '\0')
		return (refuse(why, whysize,
		    "CREDENTIALS_DIRECTORY is not set"));
	else
		n = snprintf(path, size, "%s/%s", directory, s->credential);
	if (n < 0 || (size_t)n >= size)
		return (refuse(why, whysize, "the path is too long"));
	return (0);
}

int
secret_read(const struct secret_source *s, char *buf, size_t size, char *why,
    size_t whysize)
{
	char	path[4096];

	if (secret_path(s, path, sizeof path, why, whysize) == -1)
		return (-1);
	return (read_secret(path, s->password_file[0] != '\0', buf, size, why,
	    whysize));
}
