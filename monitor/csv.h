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
 * appended.  A row is written, synced, and counted as part of the turn's
 * commit; what a crash left beyond the committed length is cut off at the
 * next start, so no row is lost or doubled.
 */

struct csv;

/*
 * Opens the writer on directory (made if missing, 0755) and cuts torn tails
 * of files this monitor wrote.  NULL with why_r filled.
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
 * ...and go out here, before each store_commit(): append, one fsync a file,
 * tell the store each file's new length.  When that commit fails, the next
 * flush cuts the files back and writes the rows again.  0, or -1: a file
 * cannot be written (logged once) or the store failed; the rows stay queued,
 * kept in the store meanwhile, and go out with a later flush.  The caller
 * rolls back nothing.
 */
int		 csv_flush(struct csv *);

/* Removes dated files older than before_ms (by their name); the store forgets
 * them with the turn's commit. */
void		 csv_prune(struct csv *, int64_t before_ms);

#endif
