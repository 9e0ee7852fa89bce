#include "tests/sim/playground.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "monitor/mem.h"

static char	path[64];

const char *
playground_make(void)
{
	snprintf(path, sizeof path, "%s/mailflow-sim-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(path) == NULL)
		panic("mkdtemp");
	return (path);
}

static int
remove_one(const char *name, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	return (f->level == 0 ? 0 : remove(name));
}

void
playground_clear(void)
{
	if (nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		panic("cannot clear %s", path);
}

void
playground_remove(void)
{
	playground_clear();
	(void)rmdir(path);
}
