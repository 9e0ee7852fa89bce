#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "monitor/clock.h"
#include "monitor/ctl.h"
#include "monitor/ctl_client.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_plugin.h"
#include "monitor/mem.h"
#include "monitor/value.h"

/*
 * The two commands that a monitoring system runs: one line on stdout and a
 * plugin's exit code, whatever happens.
 */

#define STATUS_MS	10000
#define WAIT_MS		60000	/* plugins are killed at about that age */

/* Prints and frees the line. */
static int
report(char *line, enum level level)
{
	puts(line);
	mem_free(line);
	return ((int)level);
}

/* route NULL: of all.  The caller frees it. */
static void
ask_status(const struct ctl *ctl, const char *route, struct client_answer *a)
{
	json_t	*request = ctl_request("status");

	if (route != NULL)
		json_object_set_new(request, "route", json_string(route));
	client_ask(ctl->socket, request, STATUS_MS, a);
	json_decref(request);
}

int
ctl_check(const struct ctl *ctl, int argc, char **argv)
{
	const char		*route = argc > 1 ? argv[1] : NULL;
	struct client_answer	 a;
	enum level		 level;
	char			*line;

	if (argc > 2 || (route != NULL && route[0] == '-'))
		return (ctl_usage("check [ROUTE]"));
	ask_status(ctl, route, &a);
	if (a.object == NULL)
		line = plugin_unknown(route, a.why, &level);
	else if (route != NULL)
		line = plugin_route(a.object, route, &level);
	else
		line = plugin_all(a.object, &level);
	client_answer_free(&a);
	return (report(line, level));
}

struct options {
	const char	*route;		/* borrowed */
	bool		 wait;
	int64_t		 timeout_ms;
};

/* -1: wrong usage. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option	longs[] = {
		{ "wait", no_argument, NULL, 'w' },
		{ "timeout", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	const char			*why;
	int				 c;

	*o = (struct options){ .timeout_ms = WAIT_MS };
	optind = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'w') {
			o->wait = true;
		} else if (c != 't') {
			return (-1);
		} else if (value_span(optarg, &o->timeout_ms, &why) != 0) {
			fprintf(stderr, "mailflowctl: --timeout %s: %s\n",
			    optarg, why);
			return (-1);
		}
	}
	if (optind + 1 != argc)
		return (-1);
	o->route = argv[optind];
	return (0);
}

/* The line for a probe whose result was waited for. */
static char *
say_result(const struct ctl *ctl, const struct options *o,
    const struct client_answer *a, enum level *level)
{
	struct client_answer	 status;
	char			*line;

	if (a->result == CLIENT_REFUSED || a->result == CLIENT_UNREACHABLE)
		return (plugin_unknown(o->route, a->why, level));
	ask_status(ctl, o->route, &status);
	if (a->result == CLIENT_TIMEOUT)
		line = plugin_no_result(o->route, status.object,
		    o->timeout_ms, level);
	else
		line = plugin_probe(o->route, member_object(a->object,
		    "result"), status.object, clock_now().wall_ms, level);
	client_answer_free(&status);
	return (line);
}

/* Without waiting there is nothing to say yet but its name. */
static int
say_started(const struct options *o, const struct client_answer *a)
{
	enum level	level;

	if (a->object == NULL)
		return (report(plugin_unknown(o->route, a->why, &level),
		    LEVEL_UNKNOWN));
	puts(member_text(a->object, "probe"));
	return (0);
}

int
ctl_probe(const struct ctl *ctl, int argc, char **argv)
{
	struct options		 o;
	struct client_answer	 a;
	enum level		 level;
	json_t			*request;
	char			*line;
	int			 rc;

	if (read_options(argc, argv, &o) == -1)
		return (ctl_usage("probe ROUTE [--wait] [--timeout SPAN]"));
	request = ctl_request("probe");
	json_object_set_new(request, "route", json_string(o.route));
	json_object_set_new(request, "wait", json_boolean(o.wait));
	client_ask(ctl->socket, request, o.timeout_ms, &a);
	json_decref(request);
	if (o.wait) {
		line = say_result(ctl, &o, &a, &level);
		rc = report(line, level);
	} else
		rc = say_started(&o, &a);
	client_answer_free(&a);
	return (rc);
}
