#include "fake_store.h"

#include <string.h>

#include "monitor/csv.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* A list of equal things that grows. */
struct list {
	void	*items;		/* owned */
	size_t	 count, size;
};

struct event {
	int64_t	 episode, at_ms;
	char	 event[32], probe[TOKEN_SIZE], text[2048];
};

struct fact {
	char	 kind[16], name[80], text[64];
	int64_t	 value;
};

enum { EPISODES, EVENTS, NOTICES, DELIVERIES, PROBES, ROWS, FACTS, LISTS };

static const size_t sizes[LISTS] = {
	[EPISODES] = sizeof(struct episode), [EVENTS] = sizeof(struct event),
	[NOTICES] = sizeof(struct notice),
	[DELIVERIES] = sizeof(struct delivery),
	[PROBES] = sizeof(struct probe), [ROWS] = sizeof(struct episode),
	[FACTS] = sizeof(struct fact),
};

struct store {
	struct list	 now[LISTS];
	struct list	 safe[LISTS];		/* as of the last commit */
	uint64_t	 commits;
	bool		 broken, dirty;
};

static void
copy(struct list *to, const struct list *from, size_t size)
{
	to->items = mem_grow(to->items, from->count + 1, size);
	if (from->count > 0)
		memcpy(to->items, from->items, from->count * size);
	to->count = to->size = from->count;
}

static void *
at(const struct store *s, int list, size_t i)
{
	return ((char *)s->now[list].items + i * sizes[list]);
}

static void *
append(struct store *s, int list, const void *item)
{
	struct list	*l = &s->now[list];

	l->items = mem_grow(l->items, l->count + 1, sizes[list]);
	memcpy((char *)l->items + l->count * sizes[list], item, sizes[list]);
	s->dirty = true;
	return (at(s, list, l->count++));
}

struct store *
fake_store_new(void)
{
	return (mem_alloc(sizeof(struct store)));
}

void
fake_store_free(struct store **sp)
{
	if (*sp == NULL)
		return;
	for (int i = 0; i < LISTS; i++) {
		mem_free((*sp)->now[i].items);
		mem_free((*sp)->safe[i].items);
	}
	mem_free(*sp);
	*sp = NULL;
}

static void
roll_back(struct store *s)
{
	for (int i = 0; i < LISTS; i++)
		copy(&s->now[i], &s->safe[i], sizes[i]);
	s->dirty = false;
}

void
fake_store_crash(struct store **sp)
{
	roll_back(*sp);
}

bool
fake_store_break(struct store *s, bool broken)
{
	s->broken = broken;
	return (true);
}

void
fake_store_flush(struct store *s)
{
	(void)s;
}

size_t
fake_store_notices(const struct store *s)
{
	return (s->now[NOTICES].count);
}

const struct notice *
fake_store_notice(const struct store *s, size_t i)
{
	return (at(s, NOTICES, i));
}

size_t
fake_store_deliveries(const struct store *s)
{
	return (s->now[DELIVERIES].count);
}

const struct delivery *
fake_store_delivery(const struct store *s, size_t i)
{
	return (at(s, DELIVERIES, i));
}

size_t
fake_store_episodes(const struct store *s)
{
	return (s->now[EPISODES].count);
}

const struct episode *
fake_store_episode(const struct store *s, size_t i)
{
	return (at(s, EPISODES, i));
}

struct csv *
fake_store_csv(struct store *s)
{
	return ((struct csv *)s);	/* nobody looks inside but us */
}

size_t
fake_store_rows(const struct store *s)
{
	return (s->now[ROWS].count);
}

const struct episode *
fake_store_row(const struct store *s, size_t i)
{
	return (at(s, ROWS, i));
}

/* The doors. */

int
store_commit(struct store *s)
{
	if (s->broken) {
		roll_back(s);
		return (-1);
	}
	for (int i = 0; i < LISTS; i++)
		copy(&s->safe[i], &s->now[i], sizes[i]);
	s->commits += s->dirty;
	s->dirty = false;
	return (0);
}

const char *
store_error(const struct store *s)
{
	return (s->broken ? "the disk is broken" : "");
}

int
store_probe_put(struct store *s, const struct probe *p)
{
	for (size_t i = 0; i < s->now[PROBES].count; i++) {
		struct probe	*have = at(s, PROBES, i);

		if (strcmp(have->token, p->token) == 0) {
			*have = *p;
			return (0);
		}
	}
	append(s, PROBES, p);
	return (0);
}

int
store_probe_get(struct store *s, const char *token, struct probe *p)
{
	for (size_t i = 0; i < s->now[PROBES].count; i++) {
		const struct probe	*have = at(s, PROBES, i);

		if (strcmp(have->token, token) == 0) {
			*p = *have;
			return (1);
		}
	}
	return (0);
}

static struct fact *
fact(const struct store *s, const char *kind, const char *name)
{
	for (size_t i = 0; i < s->now[FACTS].count; i++) {
		struct fact	*f = at(s, FACTS, i);

		if (strcmp(f->kind, kind) == 0 && strcmp(f->name, name) == 0)
			return (f);
	}
	return (NULL);
}

int
store_fact_put(struct store *s, const char *kind, const char *name,
    int64_t value, const char *text)
{
	struct fact	f = { .value = value }, *have;

	text_copy(f.kind, sizeof f.kind, kind);
	text_copy(f.name, sizeof f.name, name);
	text_copy(f.text, sizeof f.text, text);
	s->dirty = true;
	if ((have = fact(s, kind, name)) != NULL)
		*have = f;
	else
		append(s, FACTS, &f);
	return (s->broken ? -1 : 0);
}

int
store_fact_get(struct store *s, const char *kind, const char *name,
    int64_t *value_r, char *text_r, size_t size)
{
	const struct fact	*f = fact(s, kind, name);

	if (f == NULL)
		return (s->broken ? -1 : 0);
	*value_r = f->value;
	if (text_r != NULL)
		text_copy(text_r, size, f->text);
	return (1);
}

/* An empty kind is nobody's. */
int
store_fact_delete(struct store *s, const char *kind, const char *name)
{
	struct fact	*have = fact(s, kind, name);

	if (have != NULL)
		have->kind[0] = '\0';
	s->dirty = true;
	return (s->broken ? -1 : 0);
}

int
store_episode_put(struct store *s, struct episode *e)
{
	if (s->broken)
		return (-1);
	s->dirty = true;
	if (e->id == 0) {
		e->id = (int64_t)s->now[EPISODES].count + 1;
		append(s, EPISODES, e);
	}
	*(struct episode *)at(s, EPISODES, (size_t)e->id - 1) = *e;
	return (0);
}

int
store_episode_each(struct store *s, int64_t since_ms,
    void (*call)(void *arg, const struct episode *), void *arg)
{
	for (size_t i = 0; i < s->now[EPISODES].count; i++) {
		const struct episode	*e = at(s, EPISODES, i);

		if (e->state != EPISODE_QUIET || e->owed != 0 ||
		    (e->delivered_ms > 0 && e->delivered_ms >= since_ms))
			call(arg, e);
	}
	return (0);
}

int
store_episode_get(struct store *s, int64_t id, struct episode *e)
{
	if (id < 1 || (size_t)id > s->now[EPISODES].count)
		return (0);
	*e = *(struct episode *)at(s, EPISODES, (size_t)id - 1);
	return (1);
}

int
store_episode_event(struct store *s, int64_t episode, int64_t at_ms,
    const char *event, const char *probe, const char *text)
{
	struct event	ev = { .episode = episode, .at_ms = at_ms };

	if (s->broken)
		return (-1);
	text_copy(ev.event, sizeof ev.event, event);
	text_copy(ev.probe, sizeof ev.probe, probe);
	text_copy(ev.text, sizeof ev.text, text);
	append(s, EVENTS, &ev);
	return (0);
}

int
store_episode_events(struct store *s, int64_t episode,
    void (*call)(void *arg, int64_t at_ms, const char *event,
    const char *probe, const char *text), void *arg)
{
	for (size_t i = 0; i < s->now[EVENTS].count; i++) {
		const struct event	*ev = at(s, EVENTS, i);

		if (ev->episode == episode)
			call(arg, ev->at_ms, ev->event, ev->probe, ev->text);
	}
	return (0);
}

static bool
is_owed(const struct store *s, const struct notice *n)
{
	for (size_t i = 0; i < s->now[NOTICES].count; i++) {
		const struct notice	*have = at(s, NOTICES, i);

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
	struct delivery	d = { .state = DELIVERY_DUE };

	if (s->broken)
		return (-1);
	if (is_owed(s, n))
		return (0);
	n->id = (int64_t)s->now[NOTICES].count + 1;
	append(s, NOTICES, n);
	d.notice = n->id;
	d.next_ms = n->owed_ms;
	for (; *to != NULL; to++) {
		text_copy(d.to, sizeof d.to, *to);
		append(s, DELIVERIES, &d);
	}
	return (0);
}

int
store_notice_get(struct store *s, int64_t id, struct notice *n)
{
	if (s->broken)
		return (-1);
	if (id < 1 || (size_t)id > s->now[NOTICES].count)
		return (0);
	*n = *(struct notice *)at(s, NOTICES, (size_t)id - 1);
	return (1);
}

static bool
told_one(const struct store *s, const struct notice *n,
    void (*call)(void *arg, const char *to, const char *alerts,
    enum notice_kind), void *arg)
{
	bool	told = false;

	for (size_t i = 0; i < s->now[DELIVERIES].count; i++) {
		const struct delivery	*d = at(s, DELIVERIES, i);

		if (d->notice != n->id)
			continue;
		call(arg, d->to, n->alerts, n->kind);
		told = true;
	}
	return (told);
}

int
store_told_each(struct store *s, int64_t episode,
    void (*call)(void *arg, const char *to, const char *alerts,
    enum notice_kind), void *arg)
{
	for (size_t i = 0; i < s->now[NOTICES].count; i++) {
		const struct notice	*n = at(s, NOTICES, i);

		if (n->episode == episode && !told_one(s, n, call, arg))
			call(arg, "", n->alerts, n->kind);
	}
	return (s->broken ? -1 : 0);
}

int
store_delivery_put(struct store *s, const struct delivery *d)
{
	if (s->broken)
		return (-1);
	for (size_t i = 0; i < s->now[DELIVERIES].count; i++) {
		struct delivery	*have = at(s, DELIVERIES, i);

		if (have->notice == d->notice &&
		    strcmp(have->to, d->to) == 0) {
			*have = *d;
			s->dirty = true;
			return (0);
		}
	}
	append(s, DELIVERIES, d);
	return (0);
}

int
store_delivery_each(struct store *s,
    void (*call)(void *arg, const struct delivery *), void *arg)
{
	for (size_t i = 0; i < s->now[DELIVERIES].count; i++) {
		const struct delivery	*d = at(s, DELIVERIES, i);

		if (d->state == DELIVERY_DUE || d->state == DELIVERY_SENDING)
			call(arg, d);
	}
	return (s->broken ? -1 : 0);
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

void
csv_episode(struct csv *csv, const struct episode *e)
{
	append((struct store *)csv, ROWS, e);
}
