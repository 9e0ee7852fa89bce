#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/frame.h"
#include "monitor/outcome.h"
#include "monitor/probe.h"

/*
 * The monitor's memory on disk, and its only writer.  Nothing outside
 * store*.c knows what is behind this door (today SQLite: WAL,
 * synchronous=FULL).
 *
 * All that one turn of the loop writes is one transaction: the first write
 * opens it, store_commit() ends it.  Deeds that the rows stand for (frames
 * to workers, notices handed on) wait until store_commit() has returned 0.
 *
 * Functions that write or read return 0, or -1 when the store failed: the
 * reason is then in store_error(), the transaction is rolled back, and
 * store_commit() fails as well; the next turn starts anew.  Callbacks of the
 * _each functions may write and may ask again, but for the history's, which
 * only read.
 */

struct store;

/*
 * Opens (creates, migrates) the store in directory, which is made if missing
 * (mode 0750), and takes its lock: a second monitor is refused.  NULL with
 * why_r[whysize] filled: no permission, locked by pid N, made by a newer
 * version, damaged.
 */
struct store	*store_open(const char *directory, char *why_r, size_t whysize);
/* Opens for reading only, without the lock; for tools and tests. */
struct store	*store_open_reader(const char *directory, char *why_r,
		    size_t whysize);
void		 store_close(struct store **);	/* rolls back what is open */

int		 store_commit(struct store *);
/* Commits what the turn has written so far and goes on.  A failure spoils
 * the whole turn, as that of a write does. */
int		 store_commit_part(struct store *);
/* Something to commit, or a failure that store_commit() must clear. */
bool		 store_dirty(const struct store *);
const char	*store_error(const struct store *);
/* Commits made since opening; for the bench and the tests. */
uint64_t	 store_commits(const struct store *);

/*
 * The key that signs tokens; made at first start, a file of mode 0600.  One
 * that others may read, or that is not whole, is refused: -1.  A
 * reader never makes one.
 */
int		 store_key(struct store *, struct token_key *);

/* probes */

int		 store_probe_put(struct store *, const struct probe *);
/* Every probe that is not DONE, oldest first. */
int		 store_probe_each(struct store *,
		    void (*)(void *arg, const struct probe *), void *arg);
/* 1 found, 0 not, -1. */
int		 store_probe_get(struct store *, const char *token,
		    struct probe *);
/* Ended probes of route ("": of all) finished at or after since_ms, newest
 * first, at most limit. */
int		 store_probe_history(struct store *, const char *route,
		    int64_t since_ms, unsigned limit,
		    void (*)(void *arg, const struct probe *), void *arg);

/*
 * The same for figures: of all routes, how each ended, how often it was
 * deferred, and the span from its first attempt to its arrival (STAMP_NO_SPAN
 * if it did not arrive).
 */
int		 store_probe_totals(struct store *, int64_t since_ms,
		    unsigned limit, void (*)(void *arg, const char *route,
		    enum probe_end, unsigned deferrals, int64_t total_ms),
		    void *arg);

int		 store_attempt_put(struct store *, const struct probe *,
		    const struct outcome *);

/* The last failed attempt's transcript of a route. */
int		 store_transcript_put(struct store *, const char *route,
		    int64_t at_ms, const char *text);
/* 1 found, 0 not, -1. */
int		 store_transcript_get(struct store *, const char *route,
		    int64_t *at_ms_r, char *buf, size_t size);

/* 1 it is new, 0 this mail (mailbox, folder, uidvalidity, uid) is known, -1. */
int		 store_arrival_put(struct store *, const char *mailbox,
		    const struct frame_arrival *);

/* The same of reports. */
int		 store_report_put(struct store *, const char *mailbox,
		    const struct frame_report *);

/*
 * What is to be removed from a mailbox, and when: a time in the arrival's
 * row, which must be there; 0: nothing, or no more.
 */
int		 store_clean_put(struct store *, const char *mailbox,
		    const struct frame_clean *, int64_t at_ms);
/* 1 found, 0 no such arrival, -1. */
int		 store_clean_get(struct store *, const char *mailbox,
		    const struct frame_clean *, int64_t *at_ms_r);
/* Those due at until_ms or before, oldest first, at most limit. */
int		 store_clean_each(struct store *, const char *mailbox,
		    int64_t until_ms, unsigned limit,
		    void (*)(void *arg, const struct frame_clean *),
		    void *arg);
/* When the first one after after_ms is due.  1 found, 0 not, -1. */
int		 store_clean_next(struct store *, const char *mailbox,
		    int64_t after_ms, int64_t *at_ms_r);

/* mailboxes */

int		 store_mark_put(struct store *, const char *mailbox,
		    const struct frame_mark *);
int		 store_mark_each(struct store *, const char *mailbox,
		    void (*)(void *arg, const struct frame_mark *), void *arg);

/* Small facts that must survive: next due times, pauses, breakers. */

int		 store_fact_put(struct store *, const char *kind,
		    const char *name, int64_t value, const char *text);
/* 1 found, 0 not, -1; text_r may be NULL. */
int		 store_fact_get(struct store *, const char *kind,
		    const char *name, int64_t *value_r, char *text_r,
		    size_t size);
int		 store_fact_delete(struct store *, const char *kind,
		    const char *name);
int		 store_fact_each(struct store *, const char *kind,
		    void (*)(void *arg, const char *name, int64_t value,
		    const char *text), void *arg);

/* Files of the CSV writer: how long each is, as of this commit; a negative
 * length forgets the file. */

int		 store_csv_put(struct store *, const char *file, int64_t length);
int		 store_csv_get(struct store *, const char *file,
		    int64_t *length_r);		/* 1 found, 0 not, -1 */

/* Forgets ended probes, attempts, arrivals, closed episodes, sent notices
 * older than before_ms; a bounded number a call: 1 if there is more. */
int		 store_prune(struct store *, int64_t before_ms);

#endif
