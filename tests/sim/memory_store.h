#ifndef MEMORY_STORE_H
#define MEMORY_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/probe.h"

/*
 * The doors of the store and of the CSV writer on memory, for years and for
 * thousands of worlds.  What a turn has not committed is gone when the store
 * is closed, as with a disk.  There is one such disk; it is empty whenever
 * store_open() finds its directory missing.
 */

/* Whether rows of the CSV files are kept for rows_each(), or only counted. */
void	 memory_keep_rows(bool keep);
/* Committed rows of the latency CSV that end so. */
uint64_t memory_ends(enum probe_end);
void	 memory_store_free(void);

#endif
