#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/mem.h"

static int	log_fd = -1, real_stderr = -1;

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return (remove(path));
}

int
scratch_setup(void **state)
{
	const char	*tmp = getenv("TMPDIR");
	char		*path;

	/* In memory a sync is free, and a test makes thousands. */
	if (tmp == NULL)
		tmp = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" :
		    "/tmp";
	path = mem_printf("%s/mailflow-test.XXXXXX", tmp);

	if (mkdtemp(path) == NULL)
		return (-1);
	*state = path;
	log_fd = open(path, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	if (log_fd == -1)
		log_fd = fileno(tmpfile());
	fflush(stderr);
	real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(log_fd, STDERR_FILENO);
	return (0);
}

/* What a test did not expect to be logged fails it here. */
int
scratch_teardown(void **state)
{
	char	buf[2048];
	ssize_t	n;

	fflush(stderr);
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	n = pread(log_fd, buf, sizeof buf - 1, 0);
	close(log_fd);
	nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	mem_free(*state);
	if (n > 0)
		fprintf(stderr, "unexpected: %.*s", (int)n, buf);
	return (n > 0 ? -1 : 0);
}

const char *
scratch_path(void **state, const char *name)
{
	static char	ring[5][SCRATCH_PATH];
	static unsigned	at;
	char		*buf = ring[at++ % 5];

	snprintf(buf, SCRATCH_PATH, "%s/%s", (const char *)*state, name);
	return (buf);
}

char *
scratch_read(const char *path)
{
	FILE	*f = fopen(path, "re");
	char	*text = mem_alloc(1);
	size_t	 len = 0, n = 1;

	while (f != NULL && n > 0) {
		text = mem_grow(text, len + 4097, 1);
		n = fread(text + len, 1, 4096, f);
		len += n;
	}
	text[len] = '\0';
	if (f != NULL)
		fclose(f);
	return (text);
}

void
scratch_write(const char *path, const char *text)
{
	FILE	*f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

void
scratch_logged(const char *part)
{
	char	buf[8192];
	ssize_t	n;

	fflush(stderr);
	n = pread(log_fd, buf, sizeof buf - 1, 0);
	assert_true(n >= 0);
	buf[n] = '\0';
	if (*part == '\0')
		assert_string_equal(buf, "");
	else if (strstr(buf, part) == NULL)
		fail_msg("not logged: %s; but: %s", part, buf);
	assert_int_equal(ftruncate(log_fd, 0), 0);
}

void
scratch_forget_log(void)
{
	fflush(stderr);
	assert_int_equal(ftruncate(log_fd, 0), 0);
}
