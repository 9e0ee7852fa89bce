#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "monitor/ctl_finding.h"

/*
 * A table for a terminal: columns as wide as their cells, remarks below the
 * row that they are about, filled to 100 columns.  What others wrote is made
 * harmless.  Pure but for the stream it prints on.
 */

#define TABLE_COLUMNS	8	/* at most */
#define TABLE_WIDTH	100	/* of remarks */

struct table;

/* heads end with NULL; borrowed. */
struct table	*table_new(const char *const *heads);
void		 table_free(struct table **);

/* A row of as many cells as there are heads; copied. */
void		 table_row(struct table *, const char *const *cells);
/* Below the last row; "" is none. */
void		 table_remark(struct table *, const char *text);
/* Paints one cell of the last row, where colours are wanted. */
void		 table_paint(struct table *, size_t column, enum level);

bool		 table_is_empty(const struct table *);
void		 table_print(const struct table *, FILE *, bool colours);

#endif
