#ifndef FAKE_STORE_H
#define FAKE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/store_episode.h"

/*
 * A store for the tests of alerts/.  fake_store.c is one in memory, for
 * speed, a crash at any moment, or a disk that fails; real_store.c gives the
 * real one the same handles, so that the same stories run on both.  What has
 * not been committed is lost by fake_store_crash(), rows of the CSV included.
 */

struct store	*fake_store_new(void);
void		 fake_store_free(struct store **);

/* The power goes: back to the last commit.  The store may be another one. */
void		 fake_store_crash(struct store **);
/* Every write fails until told otherwise; false if it cannot be broken. */
bool		 fake_store_break(struct store *, bool broken);
/* Writes what the CSV has queued; before the commit. */
void		 fake_store_flush(struct store *);

/* What is there, committed or not. */
size_t			 fake_store_notices(const struct store *);
const struct notice	*fake_store_notice(const struct store *, size_t);
size_t			 fake_store_deliveries(const struct store *);
const struct delivery	*fake_store_delivery(const struct store *, size_t);
size_t			 fake_store_episodes(const struct store *);
const struct episode	*fake_store_episode(const struct store *, size_t);
/* Rows of episodes.csv; a struct csv * to hand on. */
struct csv		*fake_store_csv(struct store *);
size_t			 fake_store_rows(const struct store *);
const struct episode	*fake_store_row(const struct store *, size_t);

#endif
