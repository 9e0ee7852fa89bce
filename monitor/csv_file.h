#ifndef CSV_FILE_H
#define CSV_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitor/clock.h"
#include "monitor/csv_row.h"

/*
 * The CSV files on disk: their names, and appending and cutting that either
 * happens wholly or leaves the file as it was.  Knows no store and no queue.
 * Functions that return -1 say why in errno.
 */

#define CSV_FILE	32	/* "attempts-2026-01-31.csv" */

/* The file a row of kind belongs to that ended at wall_ms (UTC). */
void	 csv_file_name(char file[static CSV_FILE], enum csv_kind,
	    int64_t wall_ms);

struct csv_file {
	char		 name[CSV_FILE];
	enum csv_kind	 kind;
	char		 day[CLOCK_DAY];	/* "" for the episodes */
};

/* Is name one of ours?  Fills *file. */
bool	 csv_file_read_name(const char *name, struct csv_file *);

/* A descriptor of the directory, which is made (0755) if missing. */
int	 csv_file_directory(const char *directory);

/* Walks the files of ours in it; closedir(3) ends it.  NULL as -1. */
DIR	*csv_file_walk(const char *directory);
bool	 csv_file_next(DIR *, struct csv_file *);

/* Its length; 0 if it is not there. */
int64_t	 csv_file_length(int dir, const char *file);

/*
 * Appends text (whole lines) to the file in dir, with a header if it is new
 * or empty and an end of line first if its last one is torn.  Does not sync.
 * The length after it comes back.  On failure the file is cut back; if that
 * fails too *end_r is the length it must be cut to, else -1.
 */
int	 csv_file_append(int dir, const char *file, const char *text,
	    size_t len, int64_t *end_r);

/* Makes the file durable as it is; its length, 0 if it is not there. */
int64_t	 csv_file_sync(int dir, const char *file);

/* Cuts the file to length; one that is not there is fine. */
int	 csv_file_cut(int dir, const char *file, int64_t length);

/*
 * Cuts what lies beyond length, the last that was committed; returns the
 * bytes cut or -1.  A file without an end of line there was edited by
 * someone: it is left alone.  length 0 leaves an empty file.
 */
int64_t	 csv_file_mend(int dir, const char *file, int64_t length);

#endif
