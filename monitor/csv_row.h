#ifndef CSV_ROW_H
#define CSV_ROW_H

#include "alerts/episode.h"
#include "monitor/outcome.h"
#include "monitor/probe.h"

/*
 * One line of a CSV file (RFC 4180, with its CRLF): the columns of each kind
 * of file and how they are filled.  No I/O.
 *
 * "Not known" is an empty field.  Text is made printable UTF-8, cut at
 * CSV_TEXT bytes, and begins with an apostrophe if a spreadsheet would take
 * it for a formula; numbers are ours and stay numbers.
 */

#define CSV_TEXT	500

enum csv_kind {
	CSV_LATENCY,		/* one row per ended probe */
	CSV_ATTEMPTS,		/* one row per SMTP session */
	CSV_EPISODES,		/* one row per closed episode */
	CSV_KINDS
};

/* The first line; static. */
const char	*csv_header(enum csv_kind);

/* Each line is the caller's to mem_free(). */
char		*csv_row_latency(const struct probe *);
char		*csv_row_attempt(const struct probe *, const struct outcome *,
		    const char *server);
char		*csv_row_episode(const struct episode *);

#endif
