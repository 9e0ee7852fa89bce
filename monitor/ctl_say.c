#include "monitor/ctl_say.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "monitor/text.h"

static const struct unit {
	int64_t		 s;
	const char	*column, *sentence;
} units[] = {
	{ 86400, "d", " d" },
	{ 3600, "h", " h" },
	{ 60, "m", " min" },
	{ 1, "s", " s" },
};

#define LAST	(sizeof units / sizeof *units - 1)

static size_t
largest_unit(int64_t s)
{
	size_t	i = 0;

	while (i < LAST && s < units[i].s)
		i++;
	return (i);
}

const char *
say_short(int64_t ms, char buf[static SAY_SHORT])
{
	int64_t	s, rest;
	size_t	i;

	if (ms < 1000 && ms > -1000) {
		snprintf(buf, SAY_SHORT, "%" PRId64 "ms", ms);
		return (buf);
	}
	s = (ms < 0 ? -ms : ms) / 1000;
	i = largest_unit(s);
	snprintf(buf, SAY_SHORT, "%s%" PRId64 "%s", ms < 0 ? "-" : "",
	    s / units[i].s, units[i].column);
	if (i < LAST && (rest = s % units[i].s / units[i + 1].s) != 0)
		text_appendf(buf, SAY_SHORT, "%" PRId64 "%s", rest,
		    units[i + 1].column);
	return (buf);
}

const char *
say_span(int64_t ms, char buf[static SAY_SPAN])
{
	int64_t	s, rest;
	size_t	i;

	s = ms / 1000;
	if (ms < 60000 && ms % 1000 != 0) {
		snprintf(buf, SAY_SPAN, ms < 10000 ? "%.2f s" : "%.1f s",
		    (double)ms / 1000);
		return (buf);
	}
	i = largest_unit(s);
	snprintf(buf, SAY_SPAN, "%" PRId64 "%s", s / units[i].s,
	    units[i].sentence);
	if (i < LAST && (rest = s % units[i].s / units[i + 1].s) != 0)
		text_appendf(buf, SAY_SPAN, " %" PRId64 "%s", rest,
		    units[i + 1].sentence);
	return (buf);
}

const char *
say_wait(int64_t ms, char buf[static SAY_SPAN])
{
	return (say_span((ms + 999) / 1000 * 1000, buf));
}

const char *
say_time(int64_t wall_ms, int64_t now_ms, char buf[static SAY_TIME])
{
	time_t		at = (time_t)(wall_ms / 1000);
	struct tm	tm;

	if (wall_ms <= 0 || gmtime_r(&at, &tm) == NULL)
		return (text_copy(buf, SAY_TIME, "-"), buf);
	strftime(buf, SAY_TIME, wall_ms / 86400000 == now_ms / 86400000 ?
	    "%H:%M:%S UTC" : "%Y-%m-%d %H:%M:%S UTC", &tm);
	return (buf);
}
