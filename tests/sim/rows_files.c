#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/rows.h"

/* Rows as they lie in the files of the real writer. */

static const char *const	patterns[] = {
	[ROWS_LATENCY] = "latency-*.csv", [ROWS_ATTEMPTS] = "attempts-*.csv",
	[ROWS_EPISODES] = "episodes.csv",
};

static void
read_file(const char *path, void (*each)(void *arg, const char *row),
    void *arg)
{
	FILE	*f = fopen(path, "r");
	char	*line = NULL;
	size_t	 size = 0;
	bool	 first = true;

	while (f != NULL && getline(&line, &size, f) > 0) {
		if (!first)
			each(arg, line);
		first = false;
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

void
rows_each(const char *directory, enum rows_file file,
    void (*each)(void *arg, const char *row), void *arg)
{
	char	path[1024];
	glob_t	g;

	snprintf(path, sizeof path, "%s/csv/%s", directory, patterns[file]);
	if (glob(path, 0, NULL, &g) != 0)
		return;
	for (size_t i = 0; i < g.gl_pathc; i++)
		read_file(g.gl_pathv[i], each, arg);
	globfree(&g);
}
