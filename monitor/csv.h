#ifndef CSV_H
#define CSV_H

#include <stdint.h>

#include "alerts/episode.h"
#include "monitor/outcome.h"
#include "monitor/probe.h"
#include "monitor/store.h"

/*
 * The files people open in a spreadsheet: RFC 4180, one header per file, UTC
 * RFC 3339 with milliseconds, empty for "not known", columns only ever
 * appended.  A row is written at once and kept in the store by the turn's
 * commit until its file has been synced and the file's length committed;
 * what a crash left beyond that length is cut off at the next start and
 * written anew, so no row is lost or doubled.
 */

struct csv;

/*
 * Opens the writer on directory (made if missing, 0755) and cuts torn tails
 * of files this monitor wrote.  NULL with why_r filled.  The store is
 * borrowed and must be open until csv_close(), which syncs the files and
 * commits their lengths unless a turn is open.
 */
struct csv	*csv_open(const char *directory, struct store *, char *why_r,
		    size_t whysize);
void		 csv_close(struct csv **);

/*
 * Rows are queued in memory, and are the writer's from here on: a row is
 * told once, whatever becomes of the commit.  At most 10,000 wait; then the
 * oldest is dropped, which is logged...
 */
void		 csv_latency(struct csv *, const struct probe *);
void		 csv_attempt(struct csv *, const struct probe *,
		    const struct outcome *, const char *server);
void		 csv_episode(struct csv *, const struct episode *);

/*
 * ...and go out here, before each store_commit(): to the end of their files,
 * and into the store until, every CSV_SYNC_ROWS, the files are synced.  0, or -1:
 * a file cannot be written (logged once) or the store failed; the rows stay
 * queued, kept in the store meanwhile, and go out with a later flush.  The
 * caller rolls back nothing and logs nothing.
 */
int		 csv_flush(struct csv *);

/*
 * Why rows cannot be written, and how many wait for it; "" while they can.
 * Borrowed, until the next flush.
 */
const char	*csv_trouble(const struct csv *, size_t *waiting_r);

/* How many rows make a sync due; 1: each is synced at once. */
#define CSV_SYNC_ROWS	64
void		 csv_sync_every(struct csv *, unsigned rows);

/* Removes dated files older than before_ms (by their name) that have no row
 * under way; the store forgets them with the turn's commit. */
void		 csv_prune(struct csv *, int64_t before_ms);

#endif
