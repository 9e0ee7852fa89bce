#include "alerts/window.h"

#include <fnmatch.h>

#include "alerts/words.h"
#include "alerts/zone.h"
#include "monitor/probe.h"

/* A window that began the day before yesterday, at the other end of the
 * world, may still last; one day of the week comes again within a week, and
 * may be swallowed by a change of the clocks. */
#define DAYS_BACK	2
#define DAYS_AHEAD	28

static bool
occurrence(const struct window *w, int64_t day, struct window_span *s)
{
	int64_t	last = w->to_min <= w->from_min ? day + 1 : day;

	if ((w->days & 1U << zone_weekday(day)) == 0)
		return (false);
	s->start_ms = zone_minute(w->timezone, day, w->from_min, ZONE_FIRST);
	s->end_ms = zone_minute(w->timezone, last, w->to_min, ZONE_LAST);
	return (s->end_ms > s->start_ms);
}

bool
window_next(const struct window *w, int64_t at_ms, struct window_span *s)
{
	int64_t	today = zone_day(w->timezone, at_ms);

	for (int64_t day = today - DAYS_BACK; day <= today + DAYS_AHEAD; day++)
		if (occurrence(w, day, s) && s->end_ms > at_ms)
			return (true);
	return (false);
}

static bool
is_meant(const struct window *w, const char *route)
{
	for (char **pattern = w->routes; *pattern != NULL; pattern++)
		if (fnmatch(*pattern, route, 0) == 0)
			return (true);
	return (false);
}

/* The latest end of the windows that this route is in now; 0: in none. */
static int64_t
covered_until(const struct config *c, const char *route, int64_t now_ms)
{
	struct window_span	s;
	int64_t			until = 0;

	for (struct window **w = c->windows; *w != NULL; w++)
		if (is_meant(*w, route) && window_next(*w, now_ms, &s) &&
		    s.start_ms <= now_ms && s.end_ms > until)
			until = s.end_ms;
	return (until);
}

int64_t
window_covers(const struct config *c, const char *routes, int64_t now_ms)
{
	const char	*at = routes;
	char		 name[PROBE_NAME];
	int64_t		 until = 0, end_ms;

	if (c->windows[0] == NULL)
		return (0);
	while (words_next(&at, name, sizeof name)) {
		if (config_route(c, name) == NULL)
			continue;
		if ((end_ms = covered_until(c, name, now_ms)) == 0)
			return (0);
		if (until == 0 || end_ms < until)
			until = end_ms;
	}
	return (until);
}
