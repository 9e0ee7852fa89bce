#include "monitor/csv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/csv_row.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * The writer.  A row is QUEUED, then WRITTEN (in its file, synced, the new
 * length told to the store), and leaves when the turn's commit has held.  If
 * the commit failed the file is cut back and the row is QUEUED again, so
 * that file and store never part.  A row that its file will not take is kept
 * in the store meanwhile: a restart does not lose it.
 */

#define CSV_ROWS	10000	/* that may wait; then the oldest goes */
#define CSV_FILE	32	/* "attempts-2026-01-31.csv" */
#define KEPT		"csv-row"	/* kind of fact: name FILE/NUMBER */
#define KEPT_NAME	(CSV_FILE + 24)

enum row_state { ROW_QUEUED, ROW_WRITTEN };

struct row {
	TAILQ_ENTRY(row)	 entry;
	char			 file[CSV_FILE];
	char			*text;		/* owned */
	int64_t			 number;
	enum row_state		 state;
	bool			 tried;		/* in this flush */
	bool			 kept;		/* a fact holds it, if the
						 * commit after kept_at held */
	uint64_t		 kept_at;	/* store_commits() */
};

TAILQ_HEAD(rows, row);

/* What this turn's commit has to hold. */
struct tail {
	char	file[CSV_FILE];
	int64_t	start;
	int64_t	end;
};

struct csv {
	char		*directory;	/* owned */
	struct store	*store;		/* borrowed */
	struct rows	 rows;		/* owned, oldest first */
	size_t		 count;
	int64_t		 next_number;
	struct tail	*tails;		/* owned */
	size_t		 tail_count;
	uint64_t	 mark;		/* store_commits() before the tails' */
	bool		 failing;	/* files cannot be written: said once */
	size_t		 dropped;	/* since it began to fail */
};

/* names */

static const char *const prefixes[CSV_KINDS] = {
	[CSV_LATENCY]	= "latency-",
	[CSV_ATTEMPTS]	= "attempts-",
	[CSV_EPISODES]	= "episodes",
};

/* A row without a time, which should not be, goes to the first day. */
static void
name_file(char file[static CSV_FILE], enum csv_kind kind, int64_t wall_ms)
{
	char	day[CLOCK_DAY] = "";

	if (kind != CSV_EPISODES)
		clock_day(wall_ms > 0 ? wall_ms : 1, day);
	snprintf(file, CSV_FILE, "%s%s.csv", prefixes[kind], day);
}

/*
 * Is this the name of a file of ours, and of which day?  day_r is "" for the
 * episodes' file.
 */
static bool
read_name(const char *file, enum csv_kind *kind_r, char day_r[static CLOCK_DAY])
{
	static const char	form[] = "0000-00-00.csv";
	const char		*p;

	for (int k = 0; k < CSV_KINDS; k++) {
		*kind_r = (enum csv_kind)k;
		if (strncmp(file, prefixes[k], strlen(prefixes[k])) != 0)
			continue;
		p = file + strlen(prefixes[k]);
		*day_r = '\0';
		if (k == CSV_EPISODES)
			return (strcmp(p, ".csv") == 0);
		if (strlen(p) != sizeof form - 1)
			return (false);
		for (size_t i = 0; i < sizeof form - 1; i++)
			if (form[i] == '0' ? p[i] < '0' || p[i] > '9' :
			    p[i] != form[i])
				return (false);
		memcpy(day_r, p, CLOCK_DAY - 1);
		day_r[CLOCK_DAY - 1] = '\0';
		return (true);
	}
	return (false);
}

/* the directory and its files */

/* Opened anew each time: it may have been moved, emptied or mounted over. */
static int
open_directory(const char *directory)
{
	int	flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int	fd = open(directory, flags);

	if (fd == -1 && errno == ENOENT && mkdir(directory, 0755) == 0)
		fd = open(directory, flags);
	return (fd);
}

/* A new file's name is made durable with it. */
static int
open_file(int dir, const char *file)
{
	int	flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int	fd = openat(dir, file, flags);

	if (fd != -1 || errno != ENOENT)
		return (fd);
	fd = openat(dir, file, flags | O_CREAT | O_EXCL, 0644);
	if (fd != -1 && fsync(dir) == -1) {
		close(fd);
		return (-1);
	}
	return (fd);
}

static int
cut_back(int fd, int64_t length)
{
	return (ftruncate(fd, (off_t)length) == 0 && fsync(fd) == 0 ? 0 : -1);
}

static int
write_all(int fd, const char *bytes, size_t len)
{
	ssize_t	n;

	for (size_t done = 0; done < len; done += (size_t)n)
		if ((n = write(fd, bytes + done, len - done)) == -1) {
			if (errno != EINTR)
				return (-1);
			n = 0;
		}
	return (0);
}

static bool
ends_a_line(int fd, int64_t length)
{
	char	c;

	return (pread(fd, &c, 1, (off_t)length - 1) == 1 && c == '\n');
}

/* rows */

static void
remove_row(struct csv *c, struct row *r)
{
	TAILQ_REMOVE(&c->rows, r, entry);
	c->count--;
	mem_free(r->text);
	mem_free(r);
}

static const char *
kept_name(const struct row *r, char name[static KEPT_NAME])
{
	snprintf(name, KEPT_NAME, "%s/%016lld", r->file, (long long)r->number);
	return (name);
}

/* So that a restart finds it; the store's failure is the turn's. */
static void
keep_row(struct csv *c, struct row *r)
{
	char	name[KEPT_NAME];

	if (r->kept && r->kept_at != store_commits(c->store))
		return;
	if (store_fact_put(c->store, KEPT, kept_name(r, name), r->number,
	    r->text) == 0) {
		r->kept = true;
		r->kept_at = store_commits(c->store);
	}
}

static int
unkeep_row(struct csv *c, const struct row *r)
{
	char	name[KEPT_NAME];

	if (!r->kept)
		return (0);
	return (store_fact_delete(c->store, KEPT, kept_name(r, name)));
}

static struct row *
oldest_waiting(const struct csv *c)
{
	struct row	*r;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_QUEUED)
			return (r);
	return (NULL);
}

static void
make_room(struct csv *c)
{
	struct row	*r = oldest_waiting(c);

	if (c->count < CSV_ROWS || r == NULL)
		return;
	if (c->dropped++ == 0)
		log_error("csv: %d rows wait for %s: the oldest are dropped "
		    "from now on", CSV_ROWS, c->directory);
	unkeep_row(c, r);
	remove_row(c, r);
}

/* Takes text. */
static struct row *
add_row(struct csv *c, const char *file, char *text)
{
	struct row	*r;

	make_room(c);
	r = mem_alloc(sizeof *r);
	text_copy(r->file, sizeof r->file, file);
	r->text = text;
	r->number = c->next_number++;
	r->state = ROW_QUEUED;
	TAILQ_INSERT_TAIL(&c->rows, r, entry);
	c->count++;
	return (r);
}

void
csv_latency(struct csv *c, const struct probe *p)
{
	char	file[CSV_FILE];

	name_file(file, CSV_LATENCY, p->finished_ms);
	add_row(c, file, csv_row_latency(p));
}

void
csv_attempt(struct csv *c, const struct probe *p, const struct outcome *o,
    const char *server)
{
	char	file[CSV_FILE];

	name_file(file, CSV_ATTEMPTS, o->finished.wall_ms != 0 ?
	    o->finished.wall_ms : o->started.wall_ms);
	add_row(c, file, csv_row_attempt(p, o, server));
}

void
csv_episode(struct csv *c, const struct episode *e)
{
	char	file[CSV_FILE];

	name_file(file, CSV_EPISODES, 0);
	add_row(c, file, csv_row_episode(e));
}

/* trouble, told once */

static void
began_to_fail(struct csv *c, const char *file, const char *why)
{
	if (!c->failing)
		log_error("csv: %s/%s: %s; rows wait until it can be written",
		    c->directory, file, why);
	c->failing = true;
}

static void
wrote_again(struct csv *c)
{
	if (c->failing && c->dropped > 0)
		log_warn("csv: %s can be written again; %zu rows were dropped",
		    c->directory, c->dropped);
	else if (c->failing)
		log_info("csv: %s can be written again", c->directory);
	c->failing = false;
	c->dropped = 0;
}

/* flushing */

static void
add_tail(struct csv *c, const char *file, int64_t start, int64_t end)
{
	c->tails = mem_grow(c->tails, c->tail_count + 1, sizeof *c->tails);
	c->tails[c->tail_count] = (struct tail){ .start = start, .end = end };
	text_copy(c->tails[c->tail_count++].file, CSV_FILE, file);
}

/* Has the commit after the last flush taken every length with it? */
static bool
tails_held(struct csv *c)
{
	int64_t	length;

	if (store_commits(c->store) == c->mark)
		return (false);
	for (size_t i = 0; i < c->tail_count; i++)
		if (store_csv_get(c->store, c->tails[i].file, &length) != 1 ||
		    length != c->tails[i].end)
			return (false);
	return (true);
}

static int
cut_tail(int dir, const struct tail *t)
{
	int	fd = openat(dir, t->file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int	rc, saved;

	if (fd == -1)
		return (errno == ENOENT ? 0 : -1);
	rc = cut_back(fd, t->start);
	saved = errno;
	close(fd);
	errno = saved;
	return (rc);
}

/* Nothing is appended before every tail that did not hold is cut. */
static int
cut_tails(struct csv *c, int dir)
{
	for (; c->tail_count > 0; c->tail_count--)
		if (cut_tail(dir, &c->tails[c->tail_count - 1]) == -1) {
			began_to_fail(c, c->tails[c->tail_count - 1].file,
			    strerror(errno));
			return (-1);
		}
	return (0);
}

/* What became of the rows written before: gone, or queued once more. */
static int
settle(struct csv *c, int dir)
{
	struct row	*r, *next;
	bool		 held;

	if (c->tail_count == 0)
		return (0);
	held = tails_held(c);
	for (r = TAILQ_FIRST(&c->rows); r != NULL; r = next) {
		next = TAILQ_NEXT(r, entry);
		if (r->state == ROW_WRITTEN && held)
			remove_row(c, r);
		else
			r->state = ROW_QUEUED;
	}
	if (!held)
		return (cut_tails(c, dir));
	c->tail_count = 0;
	return (0);
}

/* What must stand between a file's end and the next row. */
static const char *
lead(int fd, const char *file, int64_t length)
{
	enum csv_kind	kind;
	char		day[CLOCK_DAY];

	if (length > 0)
		return (ends_a_line(fd, length) ? "" : "\r\n");
	return (read_name(file, &kind, day) ? csv_header(kind) : "");
}

/* The waiting rows of one file as one piece; caller frees. */
static char *
gather(struct csv *c, const char *file, const char *first, size_t *len_r)
{
	struct row	*r;
	size_t		 len = strlen(first), at = len;
	char		*text;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_QUEUED && strcmp(r->file, file) == 0)
			len += strlen(r->text);
	text = mem_alloc(len + 1);
	memcpy(text, first, at);
	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_QUEUED && strcmp(r->file, file) == 0) {
			memcpy(text + at, r->text, strlen(r->text));
			at += strlen(r->text);
		}
	*len_r = len;
	return (text);
}

/* Appends and syncs, or leaves the file as it was.  0 or -1 with errno. */
static int
append(struct csv *c, int fd, const char *file)
{
	struct stat	 st;
	int64_t		 known;
	size_t		 len;
	char		*text;
	int		 rc, saved;

	if (fstat(fd, &st) == -1)
		return (-1);
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return (-1);
	}
	text = gather(c, file, lead(fd, file, st.st_size), &len);
	rc = write_all(fd, text, len) == 0 && fsync(fd) == 0 ? 0 : -1;
	saved = errno;
	mem_free(text);
	if (rc == 0) {
		if (store_csv_get(c->store, file, &known) == 1 &&
		    st.st_size < known)
			log_warn("csv: %s/%s: another program has shortened "
			    "it; rows go on at its end", c->directory, file);
		add_tail(c, file, st.st_size, st.st_size + (int64_t)len);
	} else if (cut_back(fd, st.st_size) == -1)
		log_error("csv: %s/%s: a torn row stays: %s", c->directory,
		    file, strerror(errno));
	errno = saved;
	return (rc);
}

static int
append_to(struct csv *c, int dir, const char *file)
{
	int	fd, rc, saved;

	if ((fd = open_file(dir, file)) == -1)
		return (-1);
	rc = append(c, fd, file);
	saved = errno;
	close(fd);
	errno = saved;
	return (rc);
}

/* The waiting rows of one file. */
static int
flush_file(struct csv *c, int dir, const char *file)
{
	struct row	*r;
	bool		 written = append_to(c, dir, file) == 0;
	int		 rc = -1;

	if (written)
		rc = store_csv_put(c->store, file,
		    c->tails[c->tail_count - 1].end);
	else
		began_to_fail(c, file, strerror(errno));
	TAILQ_FOREACH(r, &c->rows, entry) {
		if (r->state != ROW_QUEUED || strcmp(r->file, file) != 0)
			continue;
		r->tried = true;
		if (written)
			r->state = ROW_WRITTEN;
		if (written && unkeep_row(c, r) == -1)
			rc = -1;
	}
	return (rc);
}

static int
flush_rows(struct csv *c, int dir)
{
	struct row	*r;
	int		 rc = 0;

	c->mark = store_commits(c->store);
	TAILQ_FOREACH(r, &c->rows, entry)
		r->tried = false;
	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_QUEUED && !r->tried &&
		    flush_file(c, dir, r->file) == -1)
			rc = -1;
	return (rc);
}

int
csv_flush(struct csv *c)
{
	struct row	*r;
	int		 dir, rc;

	if (c->count == 0)
		return (0);
	if ((dir = open_directory(c->directory)) == -1)
		began_to_fail(c, "", strerror(errno));
	rc = settle(c, dir);
	if (rc == 0 && c->count > 0)
		rc = dir == -1 ? -1 : flush_rows(c, dir);
	if (dir != -1)
		close(dir);
	if (rc == 0)
		wrote_again(c);
	else
		TAILQ_FOREACH(r, &c->rows, entry)
			if (r->state == ROW_QUEUED)
				keep_row(c, r);
	return (rc);
}

/* opening, closing, forgetting */

/*
 * Cuts what a crash left beyond the committed length.  A file that has no
 * end of line there has been edited by someone: it is theirs now, and rows
 * go on at its end.
 */
static int
mend_file(struct csv *c, int dir, const char *file, int64_t length)
{
	struct stat	st;
	int		fd, rc = -1;

	fd = openat(dir, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1 || fstat(fd, &st) == -1)
		goto out;
	rc = 0;
	if (st.st_size <= length ||
	    (length > 0 && !ends_a_line(fd, length)))
		goto out;
	if ((rc = cut_back(fd, length)) == 0)
		log_info("csv: %s/%s: cut %lld bytes that were never "
		    "committed", c->directory, file,
		    (long long)(st.st_size - length));
out:
	if (fd != -1)
		close(fd);
	return (rc);
}

struct visit {
	const struct dirent	*entry;
	enum csv_kind		 kind;
	char			 day[CLOCK_DAY];
};

/* The next file of ours in the directory; false at the end. */
static bool
next_file(DIR *d, struct visit *v)
{
	while ((v->entry = readdir(d)) != NULL)
		if (read_name(v->entry->d_name, &v->kind, v->day))
			return (true);
	return (false);
}

static DIR *
walk_directory(const char *directory)
{
	int	 fd = open_directory(directory);
	DIR	*d = fd != -1 ? fdopendir(fd) : NULL;

	if (d == NULL && fd != -1)
		close(fd);
	return (d);
}

static int
mend_files(struct csv *c, char *why_r, size_t whysize)
{
	struct visit	 v;
	int64_t		 length;
	DIR		*d = walk_directory(c->directory);
	int		 known, rc = 0;

	if (d == NULL) {
		snprintf(why_r, whysize, "%s: %s", c->directory,
		    strerror(errno));
		return (-1);
	}
	while (rc == 0 && next_file(d, &v)) {
		known = store_csv_get(c->store, v.entry->d_name, &length);
		if (known == -1)
			snprintf(why_r, whysize, "%s", store_error(c->store));
		else if (known == 1 &&
		    mend_file(c, dirfd(d), v.entry->d_name, length) == -1) {
			snprintf(why_r, whysize, "%s/%s: %s", c->directory,
			    v.entry->d_name, strerror(errno));
			known = -1;
		}
		rc = known == -1 ? -1 : 0;
	}
	closedir(d);
	return (rc);
}

/* A row that was kept when the monitor stopped. */
static void
take_kept(void *arg, const char *name, int64_t value, const char *text)
{
	struct csv	*c = arg;
	struct row	*r;
	char		 file[CSV_FILE] = "";
	size_t		 n = strcspn(name, "/");

	if (n >= sizeof file)
		return;
	memcpy(file, name, n);
	c->next_number = value;
	r = add_row(c, file, mem_strdup(text));
	r->kept = true;
	r->kept_at = UINT64_MAX;
}

struct csv *
csv_open(const char *directory, struct store *s, char *why_r, size_t whysize)
{
	struct csv	*c = mem_alloc(sizeof *c);

	c->directory = mem_strdup(directory);
	c->store = s;
	TAILQ_INIT(&c->rows);
	if (mend_files(c, why_r, whysize) == -1) {
		csv_close(&c);
		return (NULL);
	}
	if (store_fact_each(s, KEPT, take_kept, c) == -1) {
		snprintf(why_r, whysize, "%s", store_error(s));
		csv_close(&c);
	}
	return (c);
}

void
csv_close(struct csv **cp)
{
	struct csv	*c = *cp;
	struct row	*r;

	if (c == NULL)
		return;
	while ((r = TAILQ_FIRST(&c->rows)) != NULL)
		remove_row(c, r);
	mem_free(c->tails);
	mem_free(c->directory);
	mem_free(c);
	*cp = NULL;
}

void
csv_prune(struct csv *c, int64_t before_ms)
{
	struct visit	 v;
	char		 first[CLOCK_DAY];
	DIR		*d;

	clock_day(before_ms, first);
	if (*first == '\0' || (d = walk_directory(c->directory)) == NULL)
		return;
	while (next_file(d, &v))
		if (v.kind != CSV_EPISODES && strcmp(v.day, first) < 0 &&
		    unlinkat(dirfd(d), v.entry->d_name, 0) == 0)
			store_csv_put(c->store, v.entry->d_name, -1);
	closedir(d);
}
