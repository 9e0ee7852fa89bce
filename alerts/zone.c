#include "alerts/zone.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monitor/mem.h"

static void
set_zone(const char *value)
{
	if (value == NULL)
		unsetenv("TZ");
	else if (setenv("TZ", value, 1) != 0)
		panic("setenv: out of memory");
	tzset();
}

/* For a name it does not know the C library says UTC, under the beginning of
 * that name or none. */
static bool
unknown(const struct tm *tm, const char *zone)
{
	return (tm->tm_gmtoff == 0 &&
	    strncmp(zone, tm->tm_zone, strlen(tm->tm_zone)) == 0 &&
	    strcmp(zone, "UTC") != 0 && strcmp(zone, "GMT") != 0);
}

void
zone_local(const char *zone, int64_t wall_ms, char *buf, size_t size)
{
	const char	*now = getenv("TZ");
	char		*before = now != NULL ? mem_strdup(now) : NULL;
	time_t		 t = (time_t)(wall_ms / 1000);
	struct tm	 tm;

	buf[0] = '\0';
	set_zone(zone);
	if (wall_ms > 0 && localtime_r(&t, &tm) != NULL &&
	    !unknown(&tm, zone) &&
	    strftime(buf, size, "%Y-%m-%d %H:%M:%S %Z", &tm) == 0)
		buf[0] = '\0';
	set_zone(before);
	mem_free(before);
}
