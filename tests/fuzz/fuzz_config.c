#include "monitor/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor/mem.h"

/*
 * Any bytes as a configuration.  Beyond not crashing and not leaking:
 *
 * - What the scanner lets through, libconfuse takes.
 * - A refusal has at least one line.
 * - What is good prints as something good that prints the same.
 */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct hearing {
	unsigned	lines;
	bool		warnings_only;
};

/*
 * Whether the problem in "file:line: option: problem" begins so; a value
 * that is shown may hold such words, too.
 */
static bool
tells(const char *line, const char *problem)
{
	const char	*option = strchr(strchr(line, ':'), ' ') + 1;
	size_t		 n = strspn(option, "abcdefghijklmnopqrstuvwxyz_#");

	return (strncmp(option + n, problem, strlen(problem)) == 0);
}

static void
hear(void *arg, const char *line)
{
	struct hearing	*h = arg;

	if (tells(line, ": cannot be read: "))
		panic("libconfuse disagrees: %s", line);
	if (strpbrk(line, "\r\n") != NULL)
		panic("more than one line: %s", line);
	h->lines++;
	if (!tells(line, ": warning: "))
		h->warnings_only = false;
}

static struct config *
load(const void *data, size_t size)
{
	struct hearing	 h = { .warnings_only = true };
	struct config	*c;
	char		 path[64];
	int		 fd = memfd_create("config", MFD_CLOEXEC);

	if (fd == -1 || write(fd, data, size) != (ssize_t)size)
		panic("memfd");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	c = config_load(path, hear, &h);
	close(fd);
	if (c == NULL && (h.lines == 0 || h.warnings_only))
		panic("refused without a mistake");
	if (c != NULL && !h.warnings_only)
		panic("accepted with a mistake");
	return (c);
}

/* The configuration as text; it is freed. */
static char *
print(struct config *c, size_t *size_r)
{
	char	*text = NULL;
	FILE	*f = open_memstream(&text, size_r);

	config_print(c, f);
	fclose(f);
	config_free(&c);
	return (text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config	*c;
	char		*first, *second;
	size_t		 first_size, second_size;

	/* Other files are not the subject, and may be anything. */
	if (memmem(data, size, "include", 7) != NULL)
		return (0);
	if ((c = load(data, size)) == NULL)
		return (0);
	first = print(c, &first_size);
	if ((c = load(first, first_size)) == NULL)
		panic("does not read again: %s", first);
	second = print(c, &second_size);
	if (strcmp(first, second) != 0)
		panic("reads as something else:\n%s\n%s", first, second);
	free(first);
	free(second);
	return (0);
}
