#include "monitor/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/csv_file.h"
#include "monitor/csv_row.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * The writer.  Syncing a file costs as much as a commit, so it is not done
 * for every row.  A row goes its way like this:
 *
 *	QUEUED		in memory only.
 *	WRITTEN		in its file, not synced; the turn's commit keeps it
 *			in the store.
 *	SYNCED		its file is synced; the turn's commit takes the
 *			file's length and lets go of the kept row.
 *
 * and leaves when that commit has held.  What lies beyond a file's committed
 * length is therefore kept in the store: a start cuts it off and writes it
 * anew.  A row that its file will not take stays QUEUED and is kept as well.
 */

#define CSV_ROWS	10000	/* that may wait; then the oldest goes */
#define KEPT		"csv-row"	/* kind of fact: name FILE/NUMBER */
#define KEPT_NAME	(CSV_FILE + 24)

enum row_state { ROW_QUEUED, ROW_WRITTEN, ROW_SYNCED };

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

/* A file that has WRITTEN rows, or a torn one that must go. */
struct tail {
	char	file[CSV_FILE];
	int64_t	end;		/* how long we left it; torn: should have */
	bool	torn;
};

struct csv {
	char		*directory;	/* owned */
	struct store	*store;		/* borrowed */
	struct rows	 rows;		/* owned, oldest first */
	size_t		 count;
	unsigned	 sync_rows;	/* so many WRITTEN ones are synced */
	int64_t		 next_number;
	struct tail	*tails;		/* owned */
	size_t		 tail_count;
	uint64_t	 mark;		/* store_commits() at the last sync */
	/* Why files cannot be written, said once; "" while they can. */
	char		 trouble[PATH_MAX + 256];
	size_t		 dropped;	/* since it began to fail */
};

/* rows */

static bool
is_in(const struct row *r, enum row_state state, const char *file)
{
	return (r->state == state && strcmp(r->file, file) == 0);
}

static size_t
count_rows(const struct csv *c, enum row_state state)
{
	const struct row	*r;
	size_t			 n = 0;

	TAILQ_FOREACH(r, &c->rows, entry)
		n += r->state == state;
	return (n);
}

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
	snprintf(name, KEPT_NAME, "%s/%016" PRId64, r->file, r->number);
	return (name);
}

/* Is it in the store for good? */
static bool
is_kept(const struct csv *c, const struct row *r)
{
	return (r->kept && r->kept_at != store_commits(c->store));
}

/* So that a restart finds it; the store's failure is the turn's. */
static void
keep_row(struct csv *c, struct row *r)
{
	char	name[KEPT_NAME];

	if (r->state == ROW_SYNCED || is_kept(c, r))
		return;
	if (store_fact_put(c->store, KEPT, kept_name(r, name), r->number,
	    r->text) == 0) {
		r->kept = true;
		r->kept_at = store_commits(c->store);
	}
}

static void
keep_rows(struct csv *c)
{
	struct row	*r;

	TAILQ_FOREACH(r, &c->rows, entry)
		keep_row(c, r);
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

	csv_file_name(file, CSV_LATENCY, p->finished_ms);
	add_row(c, file, csv_row_latency(p));
}

void
csv_attempt(struct csv *c, const struct probe *p, const struct outcome *o,
    const char *server)
{
	char	file[CSV_FILE];

	csv_file_name(file, CSV_ATTEMPTS, o->finished.wall_ms != 0 ?
	    o->finished.wall_ms : o->started.wall_ms);
	add_row(c, file, csv_row_attempt(p, o, server));
}

void
csv_episode(struct csv *c, const struct episode *e)
{
	char	file[CSV_FILE];

	csv_file_name(file, CSV_EPISODES, 0);
	add_row(c, file, csv_row_episode(e));
}

/* trouble, told once */

static void
began_to_fail(struct csv *c, const char *file, const char *why)
{
	bool	known = c->trouble[0] != '\0';

	snprintf(c->trouble, sizeof c->trouble, "%s/%s: %s", c->directory,
	    file, why);
	if (!known)
		log_error("csv: %s; rows wait until it can be written",
		    c->trouble);
}

const char *
csv_trouble(const struct csv *c, size_t *waiting_r)
{
	const struct row	*r;

	*waiting_r = 0;
	TAILQ_FOREACH(r, &c->rows, entry)
		*waiting_r += r->state == ROW_QUEUED;
	return (c->trouble);
}

static void
wrote_again(struct csv *c)
{
	if (c->trouble[0] != '\0' && c->dropped > 0)
		log_warn("csv: %s can be written again; %zu rows were dropped",
		    c->directory, c->dropped);
	else if (c->trouble[0] != '\0')
		log_info("csv: %s can be written again", c->directory);
	c->trouble[0] = '\0';
	c->dropped = 0;
}

/* tails */

static struct tail *
find_tail(const struct csv *c, const char *file)
{
	for (size_t i = 0; i < c->tail_count; i++)
		if (strcmp(c->tails[i].file, file) == 0)
			return (&c->tails[i]);
	return (NULL);
}

static void
set_tail(struct csv *c, const char *file, int64_t end, bool torn)
{
	struct tail	*t = find_tail(c, file);

	if (t == NULL) {
		c->tails = mem_grow(c->tails, c->tail_count + 1,
		    sizeof *c->tails);
		t = &c->tails[c->tail_count++];
		text_copy(t->file, sizeof t->file, file);
	}
	t->end = end;
	t->torn = torn;
}

static void
drop_tail(struct csv *c, const char *file)
{
	struct tail	*t = find_tail(c, file);

	if (t != NULL)
		*t = c->tails[--c->tail_count];
}

/* Nothing is appended to a file before a torn row is cut off it. */
static int
heal(struct csv *c, int dir)
{
	struct tail	*t;

	for (size_t i = 0; i < c->tail_count; i++) {
		t = &c->tails[i];
		if (t->torn && csv_file_cut(dir, t->file, t->end) == -1) {
			began_to_fail(c, t->file, strerror(errno));
			return (-1);
		}
		t->torn = false;
	}
	return (0);
}

/* syncing */

/* The rows synced before are gone if their commit held, else just written. */
static void
settle(struct csv *c)
{
	bool		 held = store_commits(c->store) != c->mark;
	struct row	*r, *next;

	for (r = TAILQ_FIRST(&c->rows); r != NULL; r = next) {
		next = TAILQ_NEXT(r, entry);
		if (r->state != ROW_SYNCED)
			continue;
		if (held)
			remove_row(c, r);
		else
			r->state = ROW_WRITTEN;
	}
}

/* Nobody knows what is left on disk of them: they are written once more. */
static void
unwrite(struct csv *c, int dir, const char *file)
{
	struct row	*r;
	int64_t		 start;

	if (store_csv_get(c->store, file, &start) != 1)
		return;
	set_tail(c, file, start, csv_file_cut(dir, file, start) == -1);
	TAILQ_FOREACH(r, &c->rows, entry)
		if (is_in(r, ROW_WRITTEN, file))
			r->state = ROW_QUEUED;
}

/* Syncs the file and tells the store how long it is.  0 or -1. */
static int
sync_file(struct csv *c, int dir, const char *file)
{
	struct row	*r;
	int64_t		 length = csv_file_sync(dir, file);

	if (length == -1) {
		began_to_fail(c, file, strerror(errno));
		unwrite(c, dir, file);
		return (-1);
	}
	if (store_csv_put(c->store, file, length) == -1)
		return (-1);
	drop_tail(c, file);
	c->mark = store_commits(c->store);
	TAILQ_FOREACH(r, &c->rows, entry) {
		if (!is_in(r, ROW_WRITTEN, file))
			continue;
		if (unkeep_row(c, r) == -1)
			return (-1);
		r->state = ROW_SYNCED;
	}
	return (0);
}

static int
sync_files(struct csv *c, int dir)
{
	struct row	*r;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_WRITTEN &&
		    sync_file(c, dir, r->file) == -1)
			return (-1);
	return (0);
}

/* writing */

/* Is the file as long as we left it?  1, 0 (the store has it now), -1. */
static int
compare_length(struct csv *c, int dir, const char *file)
{
	const struct tail	*t = find_tail(c, file);
	int64_t			 known = 0, length;
	int			 rc;

	length = csv_file_length(dir, file);
	rc = t != NULL ? 1 : store_csv_get(c->store, file, &known);
	if (t != NULL)
		known = t->end;
	if (length == -1 || rc == -1 || (rc == 1 && length == known))
		return (rc == -1 ? -1 : 1);
	if (rc == 1 && length < known)
		log_warn("csv: %s/%s: another program has shortened it; rows "
		    "go on at its end", c->directory, file);
	return (sync_file(c, dir, file));
}

/*
 * Before a file is first written (each day, or after somebody else had it in
 * hand) its length must be on disk, or a crash would leave a row that
 * nothing knows to cut.  This is a commit of its own; the rows are kept in
 * it, so that the turn may be parted here.
 */
static int
announce(struct csv *c, int dir)
{
	const char	*last = "";
	struct row	*r;
	bool		 fresh = false;

	TAILQ_FOREACH(r, &c->rows, entry) {
		if (r->state != ROW_QUEUED || strcmp(r->file, last) == 0)
			continue;
		last = r->file;
		switch (compare_length(c, dir, last)) {
		case -1:
			return (-1);
		case 0:
			fresh = true;
		}
	}
	if (!fresh)
		return (0);
	keep_rows(c);
	return (store_commit_part(c->store));
}

/* The waiting rows of one file as one piece; caller frees. */
static char *
gather(const struct csv *c, const char *file, size_t *len_r)
{
	const struct row	*r;
	size_t			 len = 0, n;
	char			*text;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (is_in(r, ROW_QUEUED, file))
			len += strlen(r->text);
	text = mem_alloc(len);
	*len_r = len;
	len = 0;
	TAILQ_FOREACH(r, &c->rows, entry)
		if (is_in(r, ROW_QUEUED, file)) {
			n = strlen(r->text);
			memcpy(text + len, r->text, n);
			len += n;
		}
	return (text);
}

static int
write_file(struct csv *c, int dir, const char *file)
{
	struct row	*r;
	int64_t		 end;
	size_t		 len;
	char		*text = gather(c, file, &len);
	int		 rc = csv_file_append(dir, file, text, len, &end);

	if (rc == -1)
		began_to_fail(c, file, strerror(errno));
	if (end != -1)
		set_tail(c, file, end, rc == -1);
	TAILQ_FOREACH(r, &c->rows, entry)
		if (is_in(r, ROW_QUEUED, file)) {
			r->tried = true;
			if (rc == 0)
				r->state = ROW_WRITTEN;
		}
	mem_free(text);
	return (rc);
}

static int
write_files(struct csv *c, int dir)
{
	struct row	*r;
	int		 rc = 0;

	TAILQ_FOREACH(r, &c->rows, entry)
		r->tried = false;
	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_QUEUED && !r->tried &&
		    write_file(c, dir, r->file) == -1)
			rc = -1;
	return (rc);
}

static int
flush(struct csv *c)
{
	int	dir = csv_file_directory(c->directory), rc = -1;

	if (dir == -1) {
		began_to_fail(c, "", strerror(errno));
		return (-1);
	}
	if (heal(c, dir) == 0 && announce(c, dir) == 0)
		rc = write_files(c, dir);
	if (count_rows(c, ROW_WRITTEN) >= c->sync_rows &&
	    sync_files(c, dir) == -1)
		rc = -1;
	close(dir);
	return (rc);
}

int
csv_flush(struct csv *c)
{
	int	rc = 0;

	settle(c);
	if (count_rows(c, ROW_QUEUED) > 0) {
		rc = flush(c);
		if (rc == 0)
			wrote_again(c);
	}
	keep_rows(c);
	return (rc);
}

void
csv_sync_every(struct csv *c, unsigned rows)
{
	c->sync_rows = rows;
}

/* opening, closing, forgetting */

/* Cuts what a crash left beyond the committed length of a file. */
static int
mend_file(struct csv *c, int dir, const char *file, char *why_r,
    size_t whysize)
{
	int64_t	length, cut;

	switch (store_csv_get(c->store, file, &length)) {
	case 0:
		return (0);
	case -1:
		snprintf(why_r, whysize, "%s", store_error(c->store));
		return (-1);
	}
	if ((cut = csv_file_mend(dir, file, length)) == -1) {
		snprintf(why_r, whysize, "%s/%s: %s", c->directory, file,
		    strerror(errno));
		return (-1);
	}
	if (cut > 0)
		log_info("csv: %s/%s: cut %" PRId64 " bytes that were never "
		    "committed", c->directory, file, cut);
	return (0);
}

static int
mend_files(struct csv *c, char *why_r, size_t whysize)
{
	struct csv_file	 f;
	DIR		*d = csv_file_walk(c->directory);
	int		 rc = 0;

	if (d == NULL) {
		snprintf(why_r, whysize, "%s: %s", c->directory,
		    strerror(errno));
		return (-1);
	}
	while (rc == 0 && csv_file_next(d, &f))
		rc = mend_file(c, dirfd(d), f.name, why_r, whysize);
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
	r = add_row(c, file, mem_strdup(text));
	r->number = value;
	if (c->next_number <= value)
		c->next_number = value + 1;
	r->kept = true;
	r->kept_at = UINT64_MAX;
}

struct csv *
csv_open(const char *directory, struct store *s, char *why_r, size_t whysize)
{
	struct csv	*c = mem_alloc(sizeof *c);

	c->directory = mem_strdup(directory);
	c->store = s;
	c->sync_rows = CSV_SYNC_ROWS;
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

/*
 * An orderly stop leaves nothing for the next start to mend.  A row that no
 * commit has taken yet belongs to a turn that never was: then all stays as a
 * crash would leave it.
 */
static void
sync_at_last(struct csv *c)
{
	struct row	*r;
	int		 dir;

	if (store_dirty(c->store))
		return;
	settle(c);
	TAILQ_FOREACH(r, &c->rows, entry)
		if (!is_kept(c, r))
			return;
	if ((dir = csv_file_directory(c->directory)) == -1)
		return;
	if (heal(c, dir) == 0)
		sync_files(c, dir);
	close(dir);
	if (store_commit(c->store) == -1)
		log_warn("csv: %s", store_error(c->store));
}

void
csv_close(struct csv **cp)
{
	struct csv	*c = *cp;
	struct row	*r;

	if (c == NULL)
		return;
	sync_at_last(c);
	while ((r = TAILQ_FIRST(&c->rows)) != NULL)
		remove_row(c, r);
	mem_free(c->tails);
	mem_free(c->directory);
	mem_free(c);
	*cp = NULL;
}

static bool
is_wanted(const struct csv *c, const char *file)
{
	const struct row	*r;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (strcmp(r->file, file) == 0)
			return (true);
	return (false);
}

void
csv_prune(struct csv *c, int64_t before_ms)
{
	struct csv_file	 f;
	char		 first[CLOCK_DAY];
	DIR		*d;

	clock_day(before_ms, first);
	if (*first == '\0' || (d = csv_file_walk(c->directory)) == NULL)
		return;
	while (csv_file_next(d, &f))
		if (f.kind != CSV_EPISODES && strcmp(f.day, first) < 0 &&
		    !is_wanted(c, f.name) &&
		    unlinkat(dirfd(d), f.name, 0) == 0)
			store_csv_put(c->store, f.name, -1);
	closedir(d);
}
