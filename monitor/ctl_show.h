#ifndef CTL_SHOW_H
#define CTL_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitor/ctl_table.h"

/*
 * What several commands show in the same way, on stdout.
 */

/* Prints the table and frees it; if it is empty, the sentence instead. */
void	 show_table(struct table **, const char *if_empty);

/* A list of episodes. */
void	 show_episodes(const json_t *list, int64_t now_ms,
	    const char *if_empty);

/* "4m48s ago", "in 12s", "now"; "-" for 0. */
#define SHOW_WHEN	48
const char	*show_when(int64_t wall_ms, int64_t now_ms,
		    char buf[static SHOW_WHEN]);

#endif
