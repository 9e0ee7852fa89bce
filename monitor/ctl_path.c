#include "monitor/ctl_path.h"

#include "monitor/config.h"
#include "monitor/mem.h"

#define STANDARD	"/run/mailflowd/control"

char *
ctl_path(const char *file)
{
	char	*path = config_control(file);

	return (path != NULL ? path : mem_strdup(STANDARD));
}
