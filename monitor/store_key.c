#include "monitor/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"

/*
 * The key that signs tokens: a file of its own, so that a copy of the
 * database gives nobody the power to forge an arrival.
 */

#define KEY_TEXT	(2 * TOKEN_KEY + 1)	/* hex digits and a newline */

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	return (-1);
}

static int
parse(const char *text, struct token_key *key)
{
	int	high, low;

	for (size_t i = 0; i < TOKEN_KEY; i++) {
		high = digit(text[2 * i]);
		low = digit(text[2 * i + 1]);
		if (high == -1 || low == -1)
			return (-1);
		key->bytes[i] = (unsigned char)(high << 4 | low);
	}
	return (text[KEY_TEXT - 1] == '\n' ? 0 : -1);
}

static void
format(char text[static KEY_TEXT], const struct token_key *key)
{
	static const char	hex[] = "0123456789abcdef";

	for (size_t i = 0; i < TOKEN_KEY; i++) {
		text[2 * i] = hex[key->bytes[i] >> 4];
		text[2 * i + 1] = hex[key->bytes[i] & 15];
	}
	text[KEY_TEXT - 1] = '\n';
}

/* 0, or -1 with the store's error set and its turn spoiled. */
static int
read_key(struct store *s, int fd, const char *path, struct token_key *key)
{
	struct stat	st;
	char		text[KEY_TEXT + 1];
	ssize_t		n;
	int		rc = -1;

	if (fstat(fd, &st) == -1 || (n = read(fd, text, sizeof text)) == -1)
		return (store_refuse(s, "%s: %s", path, strerror(errno)));
	if (!S_ISREG(st.st_mode))
		store_refuse(s, "%s: not a regular file", path);
	else if ((st.st_mode & 077) != 0)
		store_refuse(s, "%s: others than its owner may read it "
		    "(mode %03o): chmod 600, and think who has seen it", path,
		    (unsigned)(st.st_mode & 0777));
	else if (n != KEY_TEXT || parse(text, key) == -1)
		store_refuse(s, "%s: not %d hexadecimal digits and a newline",
		    path, 2 * TOKEN_KEY);
	else
		rc = 0;
	mem_wipe(text, sizeof text);
	return (rc);
}

/* The whole key under its name, or nothing: a torn key would forge all. */
static int
make_key(struct store *s, int dir)
{
	static const char	tmp[] = STORE_KEY ".new";
	struct token_key	key;
	char			text[KEY_TEXT];
	int			fd = -1, rc = -1;

	if (unlinkat(dir, tmp, 0) == -1 && errno != ENOENT)
		goto out;
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1)
		goto out;
	if (getrandom(key.bytes, sizeof key.bytes, 0) !=
	    (ssize_t)sizeof key.bytes)
		goto out;
	format(text, &key);
	if (write(fd, text, sizeof text) != (ssize_t)sizeof text ||
	    fsync(fd) == -1 ||
	    renameat(dir, tmp, dir, STORE_KEY) == -1 || fsync(dir) == -1)
		goto out;
	rc = 0;
out:
	if (rc == -1)
		store_refuse(s, "%s/%s: %s", s->directory, tmp,
		    strerror(errno));
	if (fd != -1)
		close(fd);
	mem_wipe(&key, sizeof key);
	mem_wipe(text, sizeof text);
	return (rc);
}

int
store_key(struct store *s, struct token_key *key)
{
	char	*path = mem_printf("%s/%s", s->directory, STORE_KEY);
	int	 flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int	 dir, fd = -1, rc = -1;

	dir = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir != -1)
		fd = openat(dir, STORE_KEY, flags);
	if (fd == -1 && dir != -1 && errno == ENOENT && s->lock_fd != -1) {
		if (make_key(s, dir) == -1)
			goto out;
		fd = openat(dir, STORE_KEY, flags);
	}
	if (fd == -1)
		store_refuse(s, "%s: %s", path, strerror(errno));
	else
		rc = read_key(s, fd, path, key);
out:
	if (fd != -1)
		close(fd);
	if (dir != -1)
		close(dir);
	mem_free(path);
	return (rc);
}
