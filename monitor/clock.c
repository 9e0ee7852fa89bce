#include "monitor/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "monitor/mem.h"

static int64_t
read_ms(clockid_t id)
{
	struct timespec	ts;

	if (clock_gettime(id, &ts) != 0)
		panic("clock_gettime(%d)", (int)id);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

static pthread_once_t	once = PTHREAD_ONCE_INIT;
static uint64_t		boot;

/* The kernel's random name of this boot, folded to 64 bits (FNV-1a). */
static void
read_boot_id(void)
{
	FILE		*f;
	int		 c;

	boot = 1;		/* where there is no /proc: one boot for all */
	if ((f = fopen("/proc/sys/kernel/random/boot_id", "re")) == NULL)
		return;
	boot = 14695981039346656037U;
	while ((c = fgetc(f)) != EOF && c != '\n')
		boot = (boot ^ (uint64_t)(unsigned char)c) * 1099511628211U;
	fclose(f);
}

static uint64_t
boot_id(void)
{
	(void)pthread_once(&once, read_boot_id);
	return (boot);
}

int64_t
clock_boot_ms(void)
{
	return (read_ms(CLOCK_BOOTTIME));
}

struct stamp
clock_now(void)
{
	struct stamp	s = {
		.wall_ms = read_ms(CLOCK_REALTIME),
		.boot_ms = read_ms(CLOCK_BOOTTIME),
		.boot_id = boot_id(),
	};

	return (s);
}

/* Broken down to UTC; false for "not known" and for years beyond four digits. */
static bool
utc(int64_t wall_ms, struct tm *tm)
{
	time_t	t = (time_t)(wall_ms / 1000);

	return (wall_ms > 0 && gmtime_r(&t, tm) != NULL &&
	    tm->tm_year + 1900 <= 9999);
}

const char *
clock_rfc3339(int64_t wall_ms, char buf[static CLOCK_RFC3339])
{
	struct tm	tm;

	buf[0] = '\0';
	if (utc(wall_ms, &tm))
		snprintf(buf, CLOCK_RFC3339,
		    "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
		    (unsigned)(tm.tm_year + 1900) % 10000U,
		    (unsigned)(tm.tm_mon + 1) % 100U, (unsigned)tm.tm_mday % 100U,
		    (unsigned)tm.tm_hour % 100U, (unsigned)tm.tm_min % 100U,
		    (unsigned)tm.tm_sec % 100U, (unsigned)(wall_ms % 1000));
	return (buf);
}

const char *
clock_rfc5322(int64_t wall_ms, char buf[static CLOCK_RFC5322])
{
	static const char	*days[] = { "Sun", "Mon", "Tue", "Wed", "Thu",
				    "Fri", "Sat" };
	static const char	*months[] = { "Jan", "Feb", "Mar", "Apr", "May",
				    "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
				    "Dec" };
	struct tm		 tm;

	buf[0] = '\0';
	if (utc(wall_ms, &tm))
		snprintf(buf, CLOCK_RFC5322,
		    "%s, %02d %s %d %02d:%02d:%02d +0000", days[tm.tm_wday],
		    tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900,
		    tm.tm_hour, tm.tm_min, tm.tm_sec);
	return (buf);
}

const char *
clock_day(int64_t wall_ms, char buf[static CLOCK_DAY])
{
	struct tm	tm;

	buf[0] = '\0';
	if (utc(wall_ms, &tm))
		snprintf(buf, CLOCK_DAY, "%04u-%02u-%02u",
		    (unsigned)(tm.tm_year + 1900) % 10000U,
		    (unsigned)(tm.tm_mon + 1) % 100U,
		    (unsigned)tm.tm_mday % 100U);
	return (buf);
}
