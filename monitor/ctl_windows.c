#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "alerts/window.h"
#include "alerts/zone.h"
#include "monitor/clock.h"
#include "monitor/config.h"
#include "monitor/ctl.h"
#include "monitor/ctl_show.h"

/*
 * The maintenance windows to come, from the configuration; needs no daemon.
 */

#define COMING	3		/* of each */

static void
complain(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, ": warning: ") == NULL)
		fprintf(stderr, "%s\n", line);
}

static void
add_window(struct table *t, const struct window *w, int64_t now_ms)
{
	struct window_span	s;
	int64_t			at_ms = now_ms;
	char			start[ZONE_TIME], end[ZONE_TIME];

	for (int n = 0; n < COMING && window_next(w, at_ms, &s); n++) {
		zone_local(w->timezone, s.start_ms, start, sizeof start);
		zone_local(w->timezone, s.end_ms, end, sizeof end);
		table_row(t, (const char *const[]){ w->name,
		    s.start_ms <= now_ms ? "now" : "", start, end });
		at_ms = s.end_ms;
	}
}

int
ctl_windows(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const	heads[] = { "WINDOW", "STATE", "FROM",
					    "TO", NULL };
	int64_t				now_ms = clock_now().wall_ms;
	struct config			*c;
	struct table			*t;

	(void)argv;
	if (argc != 1)
		return (ctl_usage("windows"));
	if ((c = config_load(ctl->config, complain, NULL)) == NULL)
		return (EX_CONFIG);
	t = table_new(heads);
	for (struct window **w = c->windows; *w != NULL; w++)
		add_window(t, *w, now_ms);
	show_table(&t, "No maintenance windows are configured.");
	config_free(&c);
	return (0);
}
