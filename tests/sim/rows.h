#ifndef ROWS_H
#define ROWS_H

#include <stddef.h>

/*
 * Reads back what the monitor wrote for people: the rows of its CSV files,
 * without their headers, in the order of writing.
 */

enum rows_file { ROWS_LATENCY, ROWS_ATTEMPTS, ROWS_EPISODES };

/* Columns that tests look at. */
enum {
	LATENCY_PROBE = 0, LATENCY_ROUTE = 1, LATENCY_OUTCOME = 12,
	LATENCY_NOTE = 30,
	ATTEMPTS_PROBE = 0, ATTEMPTS_TRY = 5, ATTEMPTS_CLASS = 8,
	EPISODES_CLASS = 2, EPISODES_FAILING_NOTICE = 4, EPISODES_ACCEPTING = 5
};

/* directory is the world's. */
void	 rows_each(const char *directory, enum rows_file,
	    void (*)(void *arg, const char *row), void *arg);
/* The nth field of a row (0-based), unquoted. */
void	 rows_field(const char *row, unsigned n, char *buf, size_t size);
/* Rows whose column is value ("": all) and whose other column, unless it is
 * 0, is not empty. */
unsigned rows_count(const char *directory, enum rows_file, unsigned column,
	    const char *value, unsigned other);

#endif
