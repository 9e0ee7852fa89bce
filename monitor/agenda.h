#ifndef AGENDA_H
#define AGENDA_H

#include <stddef.h>
#include <stdint.h>

/*
 * What is to happen when: a binary heap of items that sit inside the things
 * they remind of.  Pure.  An item is in at most one agenda; zeroed, it is in
 * none.
 */

struct agenda_item {
	int64_t	due_ms;
	size_t	place;			/* 1-based; 0: in no agenda */
};

struct agenda {
	struct agenda_item	**heap;	/* owned; the items are not */
	size_t			  count;
	size_t			  room;
};

/* Puts the item in, or moves it, to come up at due_ms. */
void	 agenda_set(struct agenda *, struct agenda_item *, int64_t due_ms);
/* Takes it out; fine if it is not in. */
void	 agenda_clear(struct agenda *, struct agenda_item *);
/* Takes out and returns an item due at now_ms, or NULL. */
struct agenda_item *agenda_take(struct agenda *, int64_t now_ms);
/* When the next is due; INT64_MAX if none. */
int64_t	 agenda_next_ms(const struct agenda *);
void	 agenda_free(struct agenda *);

#endif
