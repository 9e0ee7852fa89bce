#include "monitor/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/store_internal.h"
#include "monitor/text.h"

/*
 * The store as a whole: its directory, its lock, its transaction.
 */

/* The loop waits for these: a person's sqlite3 shell must not stop it long. */
#define WRITER_BUSY_MS	1000
#define READER_BUSY_MS	5000

static const struct query	begin = { "BEGIN IMMEDIATE", NULL };
static const struct query	commit = { "COMMIT", NULL };

static void __attribute__((format(printf, 2, 3)))
say(struct store *s, const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(s->error, sizeof s->error, fmt, ap);
	va_end(ap);
}

/* transactions */

static void
roll_back(struct store *s)
{
	if (s->db != NULL && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	s->open = false;
}

/* What follows from the first failure of a turn does not hide its reason. */
int
store_fail(struct store *s, const char *what)
{
	if (!s->failed)
		say(s, "%s: %s (%d)", what, sqlite3_errmsg(s->db),
		    sqlite3_extended_errcode(s->db));
	roll_back(s);
	s->failed = true;
	return (-1);
}

int
store_refuse(struct store *s, const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	if (!s->failed)
		vsnprintf(s->error, sizeof s->error, fmt, ap);
	va_end(ap);
	roll_back(s);
	s->failed = true;
	return (-1);
}

/* Takes a statement that returns nothing one step.  0 or -1. */
static int
perform(struct store *s, const struct query *q)
{
	struct cursor	c;

	cursor_open(&c, s, q);
	if (c.stmt == NULL)
		return (-1);
	if (sqlite3_step(c.stmt) != SQLITE_DONE) {
		store_fail(s, q->sql);
		cursor_close(&c);
		return (-1);
	}
	cursor_close(&c);
	return (0);
}

/*
 * After a failure the rest of the turn must not be written: it would be
 * committed without its beginning.
 */
int
store_begin(struct store *s)
{
	if (s->failed)
		return (-1);
	if (s->open)
		return (0);
	if (perform(s, &begin) == -1)
		return (-1);
	s->open = true;
	return (0);
}

int
store_commit_part(struct store *s)
{
	if (s->failed)
		return (-1);
	if (!s->open)
		return (0);
	if (perform(s, &commit) == -1)
		return (-1);
	s->open = false;
	s->commits++;
	return (0);
}

int
store_commit(struct store *s)
{
	int	rc = store_commit_part(s);

	s->failed = false;
	return (rc);
}

bool
store_dirty(const struct store *s)
{
	return (s->open || s->failed);
}

const char *
store_error(const struct store *s)
{
	return (s->error);
}

uint64_t
store_commits(const struct store *s)
{
	return (s->commits);
}

/* opening */

static int
make_directory(struct store *s)
{
	if (mkdir(s->directory, 0750) == 0 || errno == EEXIST)
		return (0);
	say(s, "%s: %s", s->directory, strerror(errno));
	return (-1);
}

/* Who holds the lock, as the file says; 0 if it does not (yet). */
static long
holder(int fd)
{
	char	buf[32] = "";

	if (pread(fd, buf, sizeof buf - 1, 0) <= 0)
		return (0);
	return (strtol(buf, NULL, 10));
}

static int
write_pid(int fd)
{
	char	buf[32];
	int	n = snprintf(buf, sizeof buf, "%ld\n", (long)getpid());

	return (ftruncate(fd, 0) == 0 && pwrite(fd, buf, (size_t)n, 0) == n ?
	    0 : -1);
}

/* flock(2): the kernel gives it back however the process ends. */
static int
take_lock(struct store *s)
{
	char	*path = mem_printf("%s/%s", s->directory, STORE_LOCK);
	long	 pid;
	int	 rc = -1;

	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
	    0640);
	if (s->lock_fd == -1) {
		say(s, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == -1) {
		pid = errno == EWOULDBLOCK ? holder(s->lock_fd) : 0;
		if (errno != EWOULDBLOCK)
			say(s, "%s: %s", path, strerror(errno));
		else if (pid > 0)
			say(s, "%s: already run by pid %ld", s->directory, pid);
		else
			say(s, "%s: already run by another process",
			    s->directory);
		goto out;
	}
	if ((rc = write_pid(s->lock_fd)) == -1)
		say(s, "%s: %s", path, strerror(errno));
out:
	mem_free(path);
	return (rc);
}

/* Makes the name durable: the rows in the file are worth no more than it. */
static int
sync_directory(const char *directory)
{
	int	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int	rc;

	if (fd == -1)
		return (-1);
	rc = fsync(fd);
	close(fd);
	return (rc);
}

/* SQLite would take the umask's mode; its -wal and -shm follow this one. */
static int
make_database(struct store *s, const char *path)
{
	int	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);

	if (fd == -1 || sync_directory(s->directory) == -1) {
		say(s, "%s: %s", path, strerror(errno));
		if (fd != -1)
			close(fd);
		return (-1);
	}
	close(fd);
	return (0);
}

static int
open_database(struct store *s, const char *path, int flags, int busy_ms)
{
	if (sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX |
	    SQLITE_OPEN_PRIVATECACHE, NULL) != SQLITE_OK) {
		say(s, "%s: %s", path, s->db != NULL ?
		    sqlite3_errmsg(s->db) : "out of memory");
		return (-1);
	}
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, busy_ms);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	return (0);
}

static int
is_wal(void *arg, int count, char **values, char **names)
{
	bool	*wal_r = arg;

	(void)names;
	*wal_r = count == 1 && values[0] != NULL && strcmp(values[0], "wal") == 0;
	return (0);
}

/*
 * The -wal and -shm files stay when the monitor stops, so that a reader
 * without the right to create files can still look.
 */
static int
set_up_writer(struct store *s, const char *path)
{
	bool	wal = false;
	int	persist = 1;

	if (sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", is_wal, &wal,
	    NULL) != SQLITE_OK || sqlite3_exec(s->db,
	    "PRAGMA synchronous=FULL;"
	    "PRAGMA foreign_keys=ON;"
	    "PRAGMA trusted_schema=OFF;"
	    "PRAGMA cell_size_check=ON;"
	    "PRAGMA temp_store=MEMORY;"
	    "PRAGMA cache_size=-8192;"
	    "PRAGMA wal_autocheckpoint=1000;"
	    "PRAGMA journal_size_limit=16777216",
	    NULL, NULL, NULL) != SQLITE_OK) {
		say(s, "%s: %s", path, sqlite3_errmsg(s->db));
		return (-1);
	}
	if (!wal) {
		say(s, "%s: this file system cannot hold a write-ahead log",
		    path);
		return (-1);
	}
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	return (0);
}

static int
open_writer(struct store *s)
{
	char	*path = mem_printf("%s/%s", s->directory, STORE_DATABASE);
	char	 why[STORE_ERROR];
	int	 format, rc = -1;

	/* Before anything is changed: is this ours to write? */
	if (make_database(s, path) == -1 ||
	    open_database(s, path, SQLITE_OPEN_READWRITE, WRITER_BUSY_MS) == -1)
		goto out;
	if (store_read_format(s->db, store_format, &format, why,
	    sizeof why) == -1) {
		say(s, "%s %s", path, why);
		goto out;
	}
	if (set_up_writer(s, path) == -1)
		goto out;
	if ((rc = store_migrate(s->db, store_steps, store_format, why,
	    sizeof why)) == -1)
		say(s, "%s %s", path, why);
out:
	mem_free(path);
	return (rc);
}

static int
open_reader(struct store *s)
{
	char	*path = mem_printf("%s/%s", s->directory, STORE_DATABASE);
	char	 why[STORE_ERROR];
	int	 format, rc = -1;

	if (open_database(s, path, SQLITE_OPEN_READONLY, READER_BUSY_MS) == -1)
		goto out;
	if (store_read_format(s->db, store_format, &format, why,
	    sizeof why) == -1)
		say(s, "%s %s", path, why);
	else if (format < store_format)
		say(s, "%s has the older format %d: start this version of "
		    "mailflowd once, it brings it to %d", path, format,
		    store_format);
	else
		rc = 0;
out:
	mem_free(path);
	return (rc);
}

static struct store *
new_store(const char *directory)
{
	struct store	*s = mem_alloc(sizeof *s);

	s->directory = mem_strdup(directory);
	s->lock_fd = -1;
	return (s);
}

struct store *
store_open(const char *directory, char *why_r, size_t whysize)
{
	struct store	*s = new_store(directory);

	if (make_directory(s) == 0 && take_lock(s) == 0 &&
	    open_writer(s) == 0)
		return (s);
	text_copy(why_r, whysize, s->error);
	store_close(&s);
	return (NULL);
}

struct store *
store_open_reader(const char *directory, char *why_r, size_t whysize)
{
	struct store	*s = new_store(directory);

	if (open_reader(s) == 0)
		return (s);
	text_copy(why_r, whysize, s->error);
	store_close(&s);
	return (NULL);
}

void
store_close(struct store **sp)
{
	struct store	*s = *sp;

	if (s == NULL)
		return;
	roll_back(s);
	cursor_forget(s);
	sqlite3_close(s->db);
	if (s->lock_fd != -1)
		close(s->lock_fd);
	mem_free(s->directory);
	mem_free(s);
	*sp = NULL;
}
