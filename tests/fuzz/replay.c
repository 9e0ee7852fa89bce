/*
 * Plays a fuzzer's corpus: every file of tests/fuzz/corpus/NAME, for the
 * program replay_NAME, and each of them cut short at some places.
 */
#include <dirent.h>
#include <err.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS	16

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
play(const char *path)
{
	FILE	*f;
	uint8_t	*data, *copy;
	size_t	 size, n;
	long	 end;

	if ((f = fopen(path, "rb")) == NULL || fseek(f, 0, SEEK_END) != 0 ||
	    (end = ftell(f)) < 0)
		err(1, "%s", path);
	rewind(f);
	size = (size_t)end;
	if ((data = malloc(size + 1)) == NULL ||
	    fread(data, 1, size, f) != size)
		err(1, "%s", path);
	fclose(f);
	for (size_t i = 0; i <= CUTS; i++) {
		n = size * i / CUTS;
		if ((copy = malloc(n + (n == 0))) == NULL)
			err(1, "%s", path);
		memcpy(copy, data, n);
		if (LLVMFuzzerTestOneInput(copy, n) != 0)
			errx(1, "%s: refused", path);
		free(copy);
	}
	free(data);
}

int
main(int argc, char *argv[])
{
	const char	*source = getenv("srcdir");
	const char	*name = strstr(argv[0], "replay_");
	struct dirent	*entry;
	char		 folder[PATH_MAX / 2], path[PATH_MAX];
	DIR		*dir;
	int		 played = 0;

	if (argc != 1 || name == NULL)
		errx(64, "usage: replay_NAME");
	snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s",
	    source != NULL ? source : ".", name + strlen("replay_"));
	if ((dir = opendir(folder)) == NULL)
		err(1, "%s", folder);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		play(path);
		played++;
	}
	closedir(dir);
	printf("%d played from %s\n", played, folder);
	return (played > 0 ? 0 : 1);
}
