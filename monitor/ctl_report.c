#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitor/clock.h"
#include "monitor/ctl.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/ctl_show.h"
#include "monitor/report.h"
#include "monitor/value.h"

/*
 * How the routes did over a stretch of time.
 */

#define SINCE_MS	(7 * INT64_C(86400000))

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_HTML };

struct options {
	int64_t		since_ms;	/* a span: so long ago */
	enum format	format;
};

/* -1: wrong usage. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option	longs[] = {
		{ "since", required_argument, NULL, 's' },
		{ "csv", no_argument, NULL, FORMAT_CSV },
		{ "json", no_argument, NULL, FORMAT_JSON },
		{ "html", no_argument, NULL, FORMAT_HTML },
		{ NULL, 0, NULL, 0 },
	};
	const char			*why;
	int				 c;

	*o = (struct options){ .since_ms = SINCE_MS };
	optind = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == '?')
			return (-1);
		if (c != 's') {
			o->format = (enum format)c;
		} else if (value_span(optarg, &o->since_ms, &why) != 0) {
			fprintf(stderr, "mailflowctl: --since %s: %s\n",
			    optarg, why);
			return (-1);
		}
	}
	return (optind == argc ? 0 : -1);
}

static const char *
brief(const json_t *line, const char *key, char buf[static SAY_SHORT])
{
	int64_t	ms = member_number(line, key, -1);

	return (ms < 0 ? "-" : say_short(ms, buf));
}

static void
add_route(struct table *t, const json_t *line)
{
	char	n[4][24], p50[SAY_SHORT], p95[SAY_SHORT], most[SAY_SHORT];

	snprintf(n[0], sizeof n[0], "%" PRId64, member_number(line,
	    "arrived", 0));
	snprintf(n[1], sizeof n[1], "%" PRId64, member_number(line, "late",
	    0) + member_number(line, "junk", 0));
	snprintf(n[2], sizeof n[2], "%" PRId64, member_number(line, "failed",
	    0));
	snprintf(n[3], sizeof n[3], "%" PRId64, member_number(line,
	    "deferrals", 0));
	table_row(t, (const char *const[]){ member_text(line, "route"), n[0],
	    n[1], n[2], n[3], brief(line, "p50_ms", p50),
	    brief(line, "p95_ms", p95), brief(line, "max_ms", most) });
	if (member_number(line, "failed", 0) > 0)
		table_paint(t, 3, LEVEL_CRITICAL);
	if (n[1][0] != '0')
		table_paint(t, 2, LEVEL_WARNING);
}

static void
show_report(const json_t *report, int64_t now_ms)
{
	static const char *const	heads[] = { "ROUTE", "ARRIVED", "LATE",
					    "FAILED", "DEFERRALS", "P50", "P95",
					    "MAX", NULL };
	struct table			*t = table_new(heads);
	json_t				*line;
	size_t				 i;
	char				 when[SAY_TIME];

	printf("Since %s%s\n\n", say_time(member_wall_ms(report, "since"),
	    now_ms, when), member_flag(report, "partial") ?
	    ", of which only the newest probes are counted" : "");
	json_array_foreach(json_object_get(report, "routes"), i, line)
		add_route(t, line);
	show_table(&t, "No routes.");
	putchar('\n');
	show_episodes(json_object_get(report, "episodes"), now_ms,
	    "There was no trouble.");
}

int
ctl_report(const struct ctl *ctl, int argc, char **argv)
{
	int64_t		 now_ms = clock_now().wall_ms;
	struct options	 o;
	json_t		*request, *report;
	int		 rc;

	if (read_options(argc, argv, &o) == -1)
		return (ctl_usage("report [--since SPAN] [--csv | --json | "
		    "--html]"));
	request = ctl_request("report");
	json_object_set_new(request, "since_ms",
	    json_integer(now_ms - o.since_ms));
	if ((report = ctl_ask(ctl, request, &rc)) == NULL)
		return (rc);
	switch (o.format) {
	case FORMAT_TEXT:
		show_report(report, now_ms);
		break;
	case FORMAT_CSV:
		report_csv(report, stdout);
		break;
	case FORMAT_JSON:
		ctl_print_json(report);
		break;
	case FORMAT_HTML:
		report_html(report, stdout);
		break;
	}
	json_decref(report);
	return (0);
}
