#include "monitor/ctl_path.h"

#include "monitor/config.h"
#include "monitor/mem.h"

#define STANDARD	"/run/mailflowd/control"

static void
say_nothing(void *arg, const char *line)
{
	(void)arg;
	(void)line;
}

/* The whole, with its includes; good only for who may read its secrets. */
static char *
from_whole(const char *file)
{
	struct config	*c = config_load(file, say_nothing, NULL);
	char		*path;

	if (c == NULL)
		return (NULL);
	path = mem_strdup(c->control);
	config_free(&c);
	return (path);
}

char *
ctl_path(const char *file)
{
	char	*path = config_control(file);

	if (path == NULL)
		path = from_whole(file);
	return (path != NULL ? path : mem_strdup(STANDARD));
}
