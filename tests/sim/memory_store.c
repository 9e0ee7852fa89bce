#include "tests/sim/memory_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "monitor/csv.h"
#include "monitor/csv_row.h"
#include "monitor/mem.h"
#include "monitor/store_episode.h"
#include "monitor/text.h"
#include "tests/sim/rows.h"

/*
 * Everything is a thing with a key in one hash table; a put keeps the thing
 * as it was in the turn's undo list.  Things of a kind are chained in the
 * order of their first put.
 */

#define BUCKETS	65536

enum kind { FACT, PROBE, ARRIVAL, CLEAN, EPISODE, NOTICE, DELIVERY, KINDS };

struct fact {
	int64_t	value;
	char	text[OUTCOME_REPLY];
};

struct arrival {
	int64_t	seen_ms;
};

/* Of an arrival; dropped with the commit once its time is 0. */
struct clean {
	char			mailbox[FRAME_NAME];
	struct frame_clean	f;
	int64_t			at_ms;
};

static const size_t	sizes[KINDS] = {
	[FACT] = sizeof(struct fact), [PROBE] = sizeof(struct probe),
	[ARRIVAL] = sizeof(struct arrival), [CLEAN] = sizeof(struct clean),
	[EPISODE] = sizeof(struct episode), [NOTICE] = sizeof(struct notice),
	[DELIVERY] = sizeof(struct delivery),
};

struct thing {
	LIST_ENTRY(thing)	 in_bucket;
	TAILQ_ENTRY(thing)	 in_order;
	TAILQ_ENTRY(thing)	 in_ended;	/* probes */
	uint64_t		 key;
	enum kind		 kind;
	bool			 ended;
	void			*value;		/* owned */
};
LIST_HEAD(bucket, thing);
TAILQ_HEAD(things, thing);

/* Before is NULL where there was nothing. */
struct undo {
	struct thing	*thing;
	void		*before;		/* owned */
};

#define ROW_FILES	3

struct rows {
	char		**text;			/* owned */
	size_t		  count, safe, room;
};

struct store {
	struct bucket	 buckets[BUCKETS];
	struct things	 order[KINDS];
	struct things	 ended;			/* probes, oldest first */
	struct undo	*undo;			/* owned */
	size_t		 undo_count, undo_room;
	struct rows	 rows[ROW_FILES];
	uint64_t	 ends[PROBE_ENDS], safe_ends[PROBE_ENDS];
	bool		 ends_moved;
	int64_t		 last_id[KINDS], safe_id[KINDS];
	uint64_t	 commits;
	bool		 dirty;
	bool		 cleaned;
};

static struct store	*disk;
static bool		 rows_kept = true;

/* Values that nobody uses, by kind: a year makes and drops many millions. */
union spare {
	union spare	*next;
	int64_t		 value;
};
static union spare	*spares[KINDS];

/* Keys. */

static uint64_t
hash(uint64_t h, const char *text)
{
	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211U;
	return ((h ^ 0xffU) * 1099511628211U);
}

static uint64_t
hash_number(uint64_t h, uint64_t n)
{
	h ^= n + 0x9e3779b97f4a7c15U;
	h *= 0xff51afd7ed558ccdU;
	return (h ^ h >> 32);
}

static uint64_t
key_of(enum kind kind, const char *a, const char *b, uint64_t n)
{
	uint64_t	h = hash_number(14695981039346656037U, kind);

	return (hash_number(hash(hash(h, a), b), n));
}

static struct bucket *
bucket_of(struct store *s, uint64_t key)
{
	return (&s->buckets[(key ^ key >> 20) % BUCKETS]);
}

static struct thing *
find(const struct store *s, enum kind kind, uint64_t key)
{
	struct thing	*t;

	LIST_FOREACH(t, &s->buckets[(key ^ key >> 20) % BUCKETS], in_bucket)
		if (t->key == key && t->kind == kind)
			return (t);
	return (NULL);
}

/* Putting and taking back. */

static void
value_free(enum kind kind, void *value)
{
	union spare	*s = value;

	if (s == NULL)
		return;
	s->next = spares[kind];
	spares[kind] = s;
}

static void *
value_copy(enum kind kind, const void *value)
{
	union spare	*s = spares[kind];

	if (s != NULL)
		spares[kind] = s->next;
	else
		s = mem_alloc(sizes[kind]);
	memcpy(s, value, sizes[kind]);
	return (s);
}

static void
free_spares(void)
{
	union spare	*s;

	for (size_t k = 0; k < KINDS; k++)
		while ((s = spares[k]) != NULL) {
			spares[k] = s->next;
			mem_free(s);
		}
}

static void
forget(struct store *s, struct thing *t)
{
	LIST_REMOVE(t, in_bucket);
	TAILQ_REMOVE(&s->order[t->kind], t, in_order);
	if (t->ended)
		TAILQ_REMOVE(&s->ended, t, in_ended);
	value_free(t->kind, t->value);
	mem_free(t);
}

static void
remember(struct store *s, struct thing *t, void *before)
{
	if (s->undo_count == s->undo_room) {
		s->undo_room = s->undo_room == 0 ? 64 : 2 * s->undo_room;
		s->undo = mem_grow(s->undo, s->undo_room, sizeof *s->undo);
	}
	s->undo[s->undo_count++] = (struct undo){ t, before };
	s->dirty = true;
}

static struct thing *
put(struct store *s, enum kind kind, uint64_t key, const void *value)
{
	struct thing	*t = find(s, kind, key);

	if (t != NULL) {
		remember(s, t, t->value);
		t->value = value_copy(kind, value);
		return (t);
	}
	t = mem_alloc(sizeof *t);
	t->key = key;
	t->kind = kind;
	t->value = value_copy(kind, value);
	LIST_INSERT_HEAD(bucket_of(s, key), t, in_bucket);
	TAILQ_INSERT_TAIL(&s->order[kind], t, in_order);
	remember(s, t, NULL);
	return (t);
}

static void
sort_ended(struct store *s, struct thing *t)
{
	const struct probe	*p = t->value;

	if (t->kind != PROBE || t->ended == (p->state == PROBE_DONE))
		return;
	t->ended = !t->ended;
	if (t->ended)
		TAILQ_INSERT_TAIL(&s->ended, t, in_ended);
	else
		TAILQ_REMOVE(&s->ended, t, in_ended);
}

static void
roll_back(struct store *s)
{
	while (s->undo_count > 0) {
		struct undo	*u = &s->undo[--s->undo_count];

		if (u->before == NULL) {
			forget(s, u->thing);
			continue;
		}
		value_free(u->thing->kind, u->thing->value);
		u->thing->value = u->before;
		sort_ended(s, u->thing);
	}
	for (size_t i = 0; i < ROW_FILES; i++)
		while (s->rows[i].count > s->rows[i].safe)
			mem_free(s->rows[i].text[--s->rows[i].count]);
	memcpy(s->ends, s->safe_ends, sizeof s->ends);
	memcpy(s->last_id, s->safe_id, sizeof s->last_id);
	s->dirty = false;
}

static void
drop_cleaned(struct store *s)
{
	struct thing	*t, *after;

	for (t = TAILQ_FIRST(&s->order[CLEAN]); s->cleaned && t != NULL;
	    t = after) {
		after = TAILQ_NEXT(t, in_order);
		if (((const struct clean *)t->value)->at_ms == 0)
			forget(s, t);
	}
	s->cleaned = false;
}

int
store_commit(struct store *s)
{
	if (!s->dirty)
		return (0);
	for (size_t i = 0; i < s->undo_count; i++)
		value_free(s->undo[i].thing->kind, s->undo[i].before);
	s->undo_count = 0;
	for (size_t i = 0; i < ROW_FILES; i++)
		s->rows[i].safe = s->rows[i].count;
	if (s->ends_moved)
		memcpy(s->safe_ends, s->ends, sizeof s->ends);
	s->ends_moved = false;
	memcpy(s->safe_id, s->last_id, sizeof s->last_id);
	drop_cleaned(s);
	s->commits++;
	s->dirty = false;
	return (0);
}

bool
store_dirty(const struct store *s)
{
	return (s->dirty);
}

const char *
store_error(const struct store *s)
{
	(void)s;
	return ("");
}

uint64_t
store_commits(const struct store *s)
{
	return (s->commits);
}

/* Opening. */

void
memory_store_free(void)
{
	struct thing	*t;

	if (disk == NULL)
		return;
	for (size_t k = 0; k < KINDS; k++)
		while ((t = TAILQ_FIRST(&disk->order[k])) != NULL)
			forget(disk, t);
	for (size_t i = 0; i < ROW_FILES; i++) {
		while (disk->rows[i].count > 0)
			mem_free(disk->rows[i].text[--disk->rows[i].count]);
		mem_free(disk->rows[i].text);
	}
	free_spares();
	mem_free(disk->undo);
	mem_free(disk);
	disk = NULL;
}

struct store *
store_open(const char *directory, char *why, size_t size)
{
	(void)why;
	(void)size;
	if (mkdir(directory, 0700) == 0)
		memory_store_free();
	if (disk != NULL)
		return (disk);
	disk = mem_alloc(sizeof *disk);
	for (size_t i = 0; i < BUCKETS; i++)
		LIST_INIT(&disk->buckets[i]);
	for (size_t k = 0; k < KINDS; k++)
		TAILQ_INIT(&disk->order[k]);
	TAILQ_INIT(&disk->ended);
	return (disk);
}

void
store_close(struct store **sp)
{
	if (*sp != NULL)
		roll_back(*sp);
	*sp = NULL;
}

int
store_key(struct store *s, struct token_key *key)
{
	(void)s;
	memset(key, 7, sizeof *key);
	return (0);
}

/* Probes. */

int
store_probe_put(struct store *s, const struct probe *p)
{
	sort_ended(s, put(s, PROBE, key_of(PROBE, p->token, "", 0), p));
	return (0);
}

int
store_probe_get(struct store *s, const char *token, struct probe *p)
{
	struct thing	*t = find(s, PROBE, key_of(PROBE, token, "", 0));

	if (t != NULL)
		*p = *(const struct probe *)t->value;
	return (t != NULL);
}

int
store_probe_each(struct store *s,
    void (*call)(void *arg, const struct probe *), void *arg)
{
	struct thing	*t, *after;

	for (t = TAILQ_FIRST(&s->order[PROBE]); t != NULL; t = after) {
		after = TAILQ_NEXT(t, in_order);
		if (!t->ended) {
			struct probe	p = *(const struct probe *)t->value;

			call(arg, &p);
		}
	}
	return (0);
}

int
store_probe_history(struct store *s, const char *route, int64_t since_ms,
    unsigned limit, void (*call)(void *arg, const struct probe *), void *arg)
{
	struct thing	*t;

	TAILQ_FOREACH_REVERSE(t, &s->ended, things, in_ended) {
		const struct probe	*p = t->value;

		if (limit == 0 || p->finished_ms < since_ms)
			break;
		if (route[0] != '\0' && strcmp(route, p->route) != 0)
			continue;
		call(arg, p);
		limit--;
	}
	return (0);
}

int
store_probe_totals(struct store *s, int64_t since_ms, unsigned limit,
    void (*call)(void *arg, const char *route, enum probe_end,
    unsigned deferrals, int64_t total_ms), void *arg)
{
	struct thing	*t;

	TAILQ_FOREACH_REVERSE(t, &s->ended, things, in_ended) {
		const struct probe	*p = t->value;

		if (limit-- == 0 || p->finished_ms < since_ms)
			break;
		call(arg, p->route, p->end, p->deferrals,
		    stamp_span_ms(&p->first_attempt, &p->arrived, NULL));
	}
	return (0);
}

int
store_attempt_put(struct store *s, const struct probe *p,
    const struct outcome *o)
{
	(void)p;
	(void)o;
	s->dirty = true;
	return (0);
}

int
store_transcript_put(struct store *s, const char *route, int64_t at_ms,
    const char *text)
{
	(void)route;
	(void)at_ms;
	(void)text;
	s->dirty = true;
	return (0);
}

int
store_transcript_get(struct store *s, const char *route, int64_t *at_ms_r,
    char *buf, size_t size)
{
	(void)s;
	(void)route;
	(void)at_ms_r;
	(void)buf;
	(void)size;
	return (0);
}

int
store_arrival_put(struct store *s, const char *mailbox,
    const struct frame_arrival *f)
{
	uint64_t	key = key_of(ARRIVAL, mailbox, f->folder,
			    (uint64_t)f->uidvalidity << 32 | f->uid);
	struct arrival	a = { f->seen.wall_ms };

	if (find(s, ARRIVAL, key) != NULL)
		return (0);
	put(s, ARRIVAL, key, &a);
	return (1);
}

/* Among the arrivals, by its token: no mailbox has such a name. */
int
store_report_put(struct store *s, const char *mailbox,
    const struct frame_report *f)
{
	uint64_t	key = key_of(ARRIVAL, f->token, f->folder,
			    (uint64_t)f->uidvalidity << 32 | f->uid);
	struct arrival	a = { f->seen.wall_ms };

	(void)mailbox;
	if (find(s, ARRIVAL, key) != NULL)
		return (0);
	put(s, ARRIVAL, key, &a);
	return (1);
}

static uint64_t
key_of_mail(enum kind kind, const char *mailbox, const struct frame_clean *f)
{
	return (key_of(kind, mailbox, f->folder,
	    (uint64_t)f->uidvalidity << 32 | f->uid));
}

int
store_clean_put(struct store *s, const char *mailbox,
    const struct frame_clean *f, int64_t at_ms)
{
	struct clean	c = { .f = *f, .at_ms = at_ms };

	if (find(s, ARRIVAL, key_of_mail(ARRIVAL, mailbox, f)) == NULL)
		return (0);
	text_copy(c.mailbox, sizeof c.mailbox, mailbox);
	put(s, CLEAN, key_of_mail(CLEAN, mailbox, f), &c);
	s->cleaned = s->cleaned || at_ms == 0;
	return (0);
}

int
store_clean_get(struct store *s, const char *mailbox,
    const struct frame_clean *f, int64_t *at_ms_r)
{
	struct thing	*t = find(s, CLEAN, key_of_mail(CLEAN, mailbox, f));

	*at_ms_r = t != NULL ? ((const struct clean *)t->value)->at_ms : 0;
	return (find(s, ARRIVAL, key_of_mail(ARRIVAL, mailbox, f)) != NULL);
}

/* In the order of their first put, which is that of their times for each
 * span of keeping. */
int
store_clean_each(struct store *s, const char *mailbox, int64_t until_ms,
    unsigned limit, void (*call)(void *arg, const struct frame_clean *),
    void *arg)
{
	struct thing	*t;

	TAILQ_FOREACH(t, &s->order[CLEAN], in_order) {
		const struct clean	*c = t->value;

		if (limit == 0)
			break;
		if (c->at_ms == 0 || c->at_ms > until_ms ||
		    strcmp(c->mailbox, mailbox) != 0)
			continue;
		call(arg, &c->f);
		limit--;
	}
	return (0);
}

int
store_clean_next(struct store *s, const char *mailbox, int64_t after_ms,
    int64_t *at_ms_r)
{
	struct thing	*t;

	*at_ms_r = 0;
	TAILQ_FOREACH(t, &s->order[CLEAN], in_order) {
		const struct clean	*c = t->value;

		if (c->at_ms > after_ms && strcmp(c->mailbox, mailbox) == 0 &&
		    (*at_ms_r == 0 || c->at_ms < *at_ms_r))
			*at_ms_r = c->at_ms;
	}
	return (*at_ms_r != 0);
}

int
store_mark_put(struct store *s, const char *mailbox,
    const struct frame_mark *f)
{
	(void)s;
	(void)mailbox;
	(void)f;
	return (0);
}

int
store_mark_each(struct store *s, const char *mailbox,
    void (*call)(void *arg, const struct frame_mark *), void *arg)
{
	(void)s;
	(void)mailbox;
	(void)call;
	(void)arg;
	return (0);
}

/* Facts. */

int
store_fact_put(struct store *s, const char *kind, const char *name,
    int64_t value, const char *text)
{
	struct fact	f = { .value = value };

	text_copy(f.text, sizeof f.text, text);
	put(s, FACT, key_of(FACT, kind, name, 0), &f);
	return (0);
}

int
store_fact_get(struct store *s, const char *kind, const char *name,
    int64_t *value_r, char *text_r, size_t size)
{
	struct thing		*t = find(s, FACT, key_of(FACT, kind, name, 0));
	const struct fact	*f;

	if (t == NULL)
		return (0);
	f = t->value;
	*value_r = f->value;
	if (text_r != NULL)
		text_copy(text_r, size, f->text);
	return (1);
}

int
store_fact_delete(struct store *s, const char *kind, const char *name)
{
	/* Nobody asks for one whose value is nothing. */
	if (find(s, FACT, key_of(FACT, kind, name, 0)) == NULL)
		return (0);
	return (store_fact_put(s, kind, name, 0, ""));
}

/* Episodes and notices. */

int
store_episode_put(struct store *s, struct episode *e)
{
	if (e->id == 0)
		e->id = ++s->last_id[EPISODE];
	put(s, EPISODE, key_of(EPISODE, "", "", (uint64_t)e->id), e);
	return (0);
}

int
store_episode_each(struct store *s, int64_t since_ms,
    void (*call)(void *arg, const struct episode *), void *arg)
{
	struct thing	*t;

	TAILQ_FOREACH(t, &s->order[EPISODE], in_order) {
		const struct episode	*e = t->value;

		if (e->state != EPISODE_QUIET || e->delivered_ms >= since_ms)
			call(arg, e);
	}
	return (0);
}

int
store_episode_get(struct store *s, int64_t id, struct episode *e)
{
	struct thing	*t = find(s, EPISODE, key_of(EPISODE, "", "",
			    (uint64_t)id));

	if (t != NULL)
		*e = *(const struct episode *)t->value;
	return (t != NULL);
}

int
store_episode_event(struct store *s, int64_t episode, int64_t at_ms,
    const char *event, const char *probe, const char *text)
{
	(void)episode;
	(void)at_ms;
	(void)event;
	(void)probe;
	(void)text;
	s->dirty = true;
	return (0);
}

static bool
is_owed(const struct store *s, const struct notice *n)
{
	struct thing	*t;

	TAILQ_FOREACH(t, &s->order[NOTICE], in_order) {
		const struct notice	*have = t->value;

		if (n->episode != 0 && have->episode == n->episode &&
		    have->kind == n->kind && have->number == n->number &&
		    strcmp(have->alerts, n->alerts) == 0)
			return (true);
	}
	return (false);
}

int
store_notice_owe(struct store *s, struct notice *n, char *const *to)
{
	struct delivery	d = { .state = DELIVERY_DUE, .next_ms = n->owed_ms };

	if (is_owed(s, n))
		return (0);
	n->id = d.notice = ++s->last_id[NOTICE];
	put(s, NOTICE, key_of(NOTICE, "", "", (uint64_t)n->id), n);
	for (; *to != NULL; to++) {
		text_copy(d.to, sizeof d.to, *to);
		(void)store_delivery_put(s, &d);
	}
	return (0);
}

int
store_notice_get(struct store *s, int64_t id, struct notice *n)
{
	struct thing	*t = find(s, NOTICE, key_of(NOTICE, "", "",
			    (uint64_t)id));

	if (t != NULL)
		*n = *(const struct notice *)t->value;
	return (t != NULL);
}

static bool
has_delivery(const struct store *s, int64_t notice)
{
	struct thing	*t;

	TAILQ_FOREACH(t, &s->order[DELIVERY], in_order)
		if (((const struct delivery *)t->value)->notice == notice)
			return (true);
	return (false);
}

int
store_notice_kept(struct store *s, const char *alerts, int64_t since_ms,
    void (*call)(void *arg, const struct notice *), void *arg)
{
	struct thing	*t;

	TAILQ_FOREACH(t, &s->order[NOTICE], in_order) {
		const struct notice	*n = t->value;

		if (n->owed_ms >= since_ms && strcmp(n->alerts, alerts) == 0 &&
		    !has_delivery(s, n->id))
			call(arg, n);
	}
	return (0);
}

int
store_told_each(struct store *s, int64_t episode,
    void (*call)(void *arg, const char *to, const char *alerts,
    enum notice_kind), void *arg)
{
	struct thing	*t, *x;

	TAILQ_FOREACH(t, &s->order[NOTICE], in_order) {
		const struct notice	*n = t->value;

		if (n->episode != episode)
			continue;
		TAILQ_FOREACH(x, &s->order[DELIVERY], in_order) {
			const struct delivery	*d = x->value;

			if (d->notice == n->id)
				call(arg, d->to, n->alerts, n->kind);
		}
		if (!has_delivery(s, n->id))
			call(arg, "", n->alerts, n->kind);
	}
	return (0);
}

int
store_delivery_put(struct store *s, const struct delivery *d)
{
	put(s, DELIVERY, key_of(DELIVERY, d->to, "", (uint64_t)d->notice), d);
	return (0);
}

int
store_delivery_each(struct store *s,
    void (*call)(void *arg, const struct delivery *), void *arg)
{
	struct thing	*t;

	TAILQ_FOREACH(t, &s->order[DELIVERY], in_order) {
		const struct delivery	*d = t->value;

		if (d->state == DELIVERY_DUE || d->state == DELIVERY_SENDING)
			call(arg, d);
	}
	return (0);
}

/* What is old.  Never of the turn in hand: it is committed first. */
int
store_prune(struct store *s, int64_t before_ms)
{
	struct thing	*t;

	(void)store_commit(s);
	while ((t = TAILQ_FIRST(&s->ended)) != NULL &&
	    ((const struct probe *)t->value)->finished_ms < before_ms)
		forget(s, t);
	while ((t = TAILQ_FIRST(&s->order[ARRIVAL])) != NULL &&
	    ((const struct arrival *)t->value)->seen_ms < before_ms)
		forget(s, t);
	return (0);
}

/* The CSV writer. */

void
memory_keep_rows(bool keep)
{
	rows_kept = keep;
}

uint64_t
memory_ends(enum probe_end end)
{
	return (disk != NULL ? disk->safe_ends[end] : 0);
}

struct csv *
csv_open(const char *directory, struct store *s, char *why, size_t size)
{
	(void)directory;
	(void)why;
	(void)size;
	return ((struct csv *)s);	/* nobody looks inside but us */
}

void
csv_close(struct csv **csv)
{
	*csv = NULL;
}

int
csv_flush(struct csv *csv)
{
	(void)csv;
	return (0);
}

void
csv_prune(struct csv *csv, int64_t before_ms)
{
	(void)csv;
	(void)before_ms;
}

static void
add_row(struct store *s, enum rows_file file, char *text)
{
	struct rows	*r = &s->rows[file];

	if (r->count == r->room) {
		r->room = r->room == 0 ? 64 : 2 * r->room;
		r->text = mem_grow(r->text, r->room, sizeof *r->text);
	}
	r->text[r->count++] = text;
	s->dirty = true;
}

void
csv_latency(struct csv *csv, const struct probe *p)
{
	struct store	*s = (struct store *)csv;

	s->ends[p->end]++;
	s->ends_moved = s->dirty = true;
	if (rows_kept)
		add_row(s, ROWS_LATENCY, csv_row_latency(p));
}

void
csv_attempt(struct csv *csv, const struct probe *p, const struct outcome *o,
    const char *server)
{
	if (rows_kept)
		add_row((struct store *)csv, ROWS_ATTEMPTS,
		    csv_row_attempt(p, o, server));
}

void
csv_episode(struct csv *csv, const struct episode *e)
{
	add_row((struct store *)csv, ROWS_EPISODES, csv_row_episode(e));
}

void
rows_each(const char *directory, enum rows_file file,
    void (*each)(void *arg, const char *row), void *arg)
{
	(void)directory;
	for (size_t i = 0; disk != NULL && i < disk->rows[file].safe; i++)
		each(arg, disk->rows[file].text[i]);
}
