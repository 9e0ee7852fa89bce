#include "monitor/csv.h"

#include <errno.h>
#include <inttypes.h>
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
 * The writer.  A row is QUEUED, then WRITTEN (in its file, synced, the new
 * length told to the store), and leaves when the turn's commit has held.  If
 * the commit failed the file is cut back and the row is QUEUED again, so
 * that file and store never part.  A row that its file will not take is kept
 * in the store meanwhile: a restart does not lose it.
 */

#define CSV_ROWS	10000	/* that may wait; then the oldest goes */
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

/* What the turn's commit has to hold; or a torn row, that none shall. */
struct tail {
	char	file[CSV_FILE];
	int64_t	start;
	int64_t	end;		/* -1: torn */
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
	snprintf(name, KEPT_NAME, "%s/%016" PRId64, r->file, r->number);
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
	const struct tail	*t;
	int64_t			 length;

	if (store_commits(c->store) == c->mark)
		return (false);
	for (size_t i = 0; i < c->tail_count; i++) {
		t = &c->tails[i];
		if (t->end != -1 &&
		    (store_csv_get(c->store, t->file, &length) != 1 ||
		    length != t->end))
			return (false);
	}
	return (true);
}

/* Nothing is appended before every tail that did not hold is cut. */
static int
cut_tails(struct csv *c, int dir, bool held)
{
	const struct tail	*t;

	for (; c->tail_count > 0; c->tail_count--) {
		t = &c->tails[c->tail_count - 1];
		if (held && t->end != -1)
			continue;
		if (csv_file_cut(dir, t->file, t->start) == -1) {
			began_to_fail(c, t->file, strerror(errno));
			return (-1);
		}
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
	return (cut_tails(c, dir, held));
}

static bool
waits_for(const struct row *r, const char *file)
{
	return (r->state == ROW_QUEUED && strcmp(r->file, file) == 0);
}

/* The waiting rows of one file as one piece; caller frees. */
static char *
gather(const struct csv *c, const char *file, size_t *len_r)
{
	const struct row	*r;
	size_t			 len = 0, n;
	char			*text;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (waits_for(r, file))
			len += strlen(r->text);
	text = mem_alloc(len);
	*len_r = len;
	len = 0;
	TAILQ_FOREACH(r, &c->rows, entry)
		if (waits_for(r, file)) {
			n = strlen(r->text);
			memcpy(text + len, r->text, n);
			len += n;
		}
	return (text);
}

/* Appends the waiting rows of file and tells the store.  0 or -1. */
static int
append(struct csv *c, int dir, const char *file, bool *written_r)
{
	int64_t	 start, end;
	size_t	 len;
	char	*text = gather(c, file, &len);

	*written_r = csv_file_append(dir, file, text, len, &start, &end) == 0;
	if (!*written_r)
		began_to_fail(c, file, strerror(errno));
	mem_free(text);
	if (*written_r || start != -1)
		add_tail(c, file, start, *written_r ? end : -1);
	return (*written_r ? store_csv_put(c->store, file, end) : -1);
}

static int
flush_file(struct csv *c, int dir, const char *file)
{
	struct row	*r;
	bool		 written;
	int		 rc = append(c, dir, file, &written);

	TAILQ_FOREACH(r, &c->rows, entry) {
		if (!waits_for(r, file))
			continue;
		r->tried = true;
		if (!written)
			continue;
		r->state = ROW_WRITTEN;
		if (unkeep_row(c, r) == -1)
			rc = -1;
	}
	return (rc);
}

static void
keep_rows(struct csv *c)
{
	struct row	*r;

	TAILQ_FOREACH(r, &c->rows, entry)
		if (r->state == ROW_QUEUED)
			keep_row(c, r);
}

/* Is the file as long as the store has it?  1, 0 (it has now), -1. */
static int
compare_length(struct csv *c, int dir, const char *file)
{
	int64_t	known = 0, length = csv_file_length(dir, file);
	int	rc = store_csv_get(c->store, file, &known);

	if (length == -1 || (rc == 1 && length == known))
		return (1);
	if (rc == 1 && length < known)
		log_warn("csv: %s/%s: another program has shortened it; rows "
		    "go on at its end", c->directory, file);
	return (rc == -1 ? -1 : store_csv_put(c->store, file, length));
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

static int
flush_rows(struct csv *c, int dir)
{
	struct row	*r;
	int		 rc = 0;

	if (announce(c, dir) == -1)
		return (-1);
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
	int	dir, rc;

	if (c->count == 0)
		return (0);
	if ((dir = csv_file_directory(c->directory)) == -1)
		began_to_fail(c, "", strerror(errno));
	rc = settle(c, dir);
	if (rc == 0 && c->count > 0)
		rc = dir == -1 ? -1 : flush_rows(c, dir);
	if (dir != -1)
		close(dir);
	if (rc == 0)
		wrote_again(c);
	else
		keep_rows(c);
	return (rc);
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
	struct csv_file	 f;
	char		 first[CLOCK_DAY];
	DIR		*d;

	clock_day(before_ms, first);
	if (*first == '\0' || (d = csv_file_walk(c->directory)) == NULL)
		return;
	/* The lengths that settling asks for are about to be forgotten. */
	while (settle(c, dirfd(d)) == 0 && csv_file_next(d, &f))
		if (f.kind != CSV_EPISODES && strcmp(f.day, first) < 0 &&
		    unlinkat(dirfd(d), f.name, 0) == 0)
			store_csv_put(c->store, f.name, -1);
	closedir(d);
}
