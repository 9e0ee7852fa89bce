#include "monitor/store_internal.h"

#include "monitor/mem.h"

/*
 * Forgetting.  Each query looks at a bounded number of the oldest rows and
 * takes those that are old enough and over; what is open stays whatever its
 * age.  Times in attempts and arrivals rise with their ids but for a step of
 * the clock, so they need no index: the oldest rows are the first.
 */

#define PRUNE_ROWS	500

/* ?1 is the time, ?2 the number of rows. */
static const struct query	prunes[] = {
	{ "DELETE FROM probe WHERE id IN (SELECT id FROM probe"
	    " WHERE ended = 1 AND finished_ms < ?1"
	    " ORDER BY finished_ms LIMIT ?2)", NULL },
	{ "DELETE FROM attempt WHERE id IN (SELECT id FROM"
	    " (SELECT id, finished_ms FROM attempt ORDER BY id LIMIT ?2)"
	    " WHERE finished_ms < ?1)", NULL },
	{ "DELETE FROM arrival WHERE id IN (SELECT id FROM"
	    " (SELECT id, seen_ms FROM arrival ORDER BY id LIMIT ?2)"
	    " WHERE seen_ms < ?1)", NULL },
	{ "DELETE FROM report WHERE id IN (SELECT id FROM"
	    " (SELECT id, seen_ms FROM report ORDER BY id LIMIT ?2)"
	    " WHERE seen_ms < ?1)", NULL },
	{ "DELETE FROM notice WHERE id IN (SELECT id FROM notice AS n"
	    " WHERE owed_ms < ?1 AND NOT EXISTS (SELECT 1 FROM delivery"
	    " WHERE notice = n.id AND state IN ('due', 'sending'))"
	    " AND NOT EXISTS (SELECT 1 FROM episode AS e"
	    " WHERE e.id = n.episode AND (e.state <> 'quiet' OR e.owed <> 0))"
	    " ORDER BY owed_ms LIMIT ?2)", NULL },
	{ "DELETE FROM episode WHERE id IN (SELECT id FROM episode AS e"
	    " WHERE state = 'quiet' AND owed = 0 AND delivered_ms < ?1"
	    " AND last_miss_ms < ?1 AND NOT EXISTS"
	    " (SELECT 1 FROM notice WHERE episode = e.id)"
	    " ORDER BY delivered_ms LIMIT ?2)", NULL },
	{ "DELETE FROM transcript WHERE route IN (SELECT route FROM transcript"
	    " WHERE at_ms < ?1 LIMIT ?2)", NULL },
};

int
store_prune(struct store *s, int64_t before_ms)
{
	struct cursor	c;
	int		more = 0;

	for (size_t i = 0; i < NITEMS(prunes); i++) {
		cursor_open(&c, s, &prunes[i]);
		cursor_int(&c, before_ms);
		cursor_int(&c, PRUNE_ROWS);
		if (cursor_run(&c) == -1)
			return (-1);
		if (sqlite3_changes(s->db) >= PRUNE_ROWS)
			more = 1;
	}
	return (more);
}
