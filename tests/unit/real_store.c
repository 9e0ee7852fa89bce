#include "fake_store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/csv.h"
#include "monitor/mem.h"

/* The real store and the real CSV, in a directory of their own. */

static char		 directory[64];
static struct csv	*csv;
static struct episode	 shown;

static struct store *
open_both(void)
{
	char		 why[256];
	struct store	*s = store_open(directory, why, sizeof why);

	if (s == NULL)
		panic("%s: %s", directory, why);
	if ((csv = csv_open(directory, s, why, sizeof why)) == NULL)
		panic("%s: %s", directory, why);
	return (s);
}

struct store *
fake_store_new(void)
{
	snprintf(directory, sizeof directory, "/tmp/alerts-store.XXXXXX");
	if (mkdtemp(directory) == NULL)
		panic("mkdtemp");
	return (open_both());
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return (remove(path));
}

void
fake_store_free(struct store **sp)
{
	csv_close(&csv);
	store_close(sp);
	nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void
fake_store_crash(struct store **sp)
{
	csv_close(&csv);
	store_close(sp);
	*sp = open_both();
}

bool
fake_store_break(struct store *s, bool broken)
{
	(void)s;
	(void)broken;
	return (false);
}

void
fake_store_flush(struct store *s)
{
	(void)s;
	if (csv_flush(csv) == -1)
		panic("csv_flush");
}

struct csv *
fake_store_csv(struct store *s)
{
	(void)s;
	return (csv);
}

/* Every episode there is, by its number. */
size_t
fake_store_episodes(const struct store *s)
{
	union { const struct store *is; struct store *asked; } u = { s };
	size_t	n = 0;

	while (store_episode_get(u.asked, (int64_t)n + 1, &shown) == 1)
		n++;
	return (n);
}

/* The rows in the file itself, its header apart. */
size_t
fake_store_rows(const struct store *s)
{
	char	 path[96];
	FILE	*f;
	size_t	 rows = 0;
	int	 c;

	(void)s;
	snprintf(path, sizeof path, "%s/episodes.csv", directory);
	if ((f = fopen(path, "re")) == NULL)
		return (0);
	while ((c = fgetc(f)) != EOF)
		rows += c == '\n';
	fclose(f);
	return (rows > 0 ? rows - 1 : 0);
}

const struct episode *
fake_store_row(const struct store *s, size_t row)
{
	union { const struct store *is; struct store *asked; } u = { s };

	for (int64_t id = 1;
	    store_episode_get(u.asked, id, &shown) == 1; id++)
		if (shown.csv_done && row-- == 0)
			return (&shown);
	return (NULL);
}
