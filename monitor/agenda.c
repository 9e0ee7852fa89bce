#include "monitor/agenda.h"

#include "monitor/mem.h"

/* heap[0] is place 1. */
static void
put(struct agenda *a, size_t place, struct agenda_item *item)
{
	a->heap[place - 1] = item;
	item->place = place;
}

static struct agenda_item *
at(const struct agenda *a, size_t place)
{
	return (a->heap[place - 1]);
}

static void
rise(struct agenda *a, struct agenda_item *item)
{
	size_t	p = item->place;

	for (; p > 1 && at(a, p / 2)->due_ms > item->due_ms; p /= 2)
		put(a, p, at(a, p / 2));
	put(a, p, item);
}

static void
sink(struct agenda *a, struct agenda_item *item)
{
	size_t	p = item->place, child;

	for (; (child = 2 * p) <= a->count; p = child) {
		if (child < a->count &&
		    at(a, child + 1)->due_ms < at(a, child)->due_ms)
			child++;
		if (at(a, child)->due_ms >= item->due_ms)
			break;
		put(a, p, at(a, child));
	}
	put(a, p, item);
}

void
agenda_set(struct agenda *a, struct agenda_item *item, int64_t due_ms)
{
	item->due_ms = due_ms;
	if (item->place == 0) {
		if (a->count == a->room) {
			a->room = a->room == 0 ? 64 : 2 * a->room;
			a->heap = mem_grow(a->heap, a->room, sizeof *a->heap);
		}
		put(a, ++a->count, item);
	}
	rise(a, item);
	sink(a, item);
}

void
agenda_clear(struct agenda *a, struct agenda_item *item)
{
	struct agenda_item	*last;
	size_t			 place = item->place;

	if (place == 0)
		return;
	last = at(a, a->count--);
	item->place = 0;
	if (last == item)
		return;
	put(a, place, last);
	rise(a, last);
	sink(a, last);
}

struct agenda_item *
agenda_take(struct agenda *a, int64_t now_ms)
{
	struct agenda_item	*first;

	if (a->count == 0 || (first = at(a, 1))->due_ms > now_ms)
		return (NULL);
	agenda_clear(a, first);
	return (first);
}

int64_t
agenda_next_ms(const struct agenda *a)
{
	return (a->count > 0 ? at(a, 1)->due_ms : INT64_MAX);
}

void
agenda_free(struct agenda *a)
{
	mem_free(a->heap);
	*a = (struct agenda){ 0 };
}
