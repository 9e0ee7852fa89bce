#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "monitor/control.h"
#include "monitor/ctl.h"
#include "monitor/ctl_client.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_show.h"
#include "monitor/value.h"

/*
 * Test notices, and whether each has reached its server or command.
 */

/* The daemon answers in time, unless its disk holds it up. */
#define SLACK_MS	15000

#define NOT_ALL_SENT	2

/* What became of one; true if it was sent. */
static bool
add_delivery(struct table *t, const json_t *d)
{
	const char	*state = member_text(d, "state");
	bool		 sent = strcmp(state, "sent") == 0;

	table_row(t, (const char *const[]){ member_text(d, "alerts"),
	    member_text(d, "kind"), member_text(d, "to"),
	    sent ? "sent" : strcmp(state, "expired") == 0 ? "given up" :
	    "not yet" });
	table_paint(t, 3, sent ? LEVEL_OK : LEVEL_CRITICAL);
	if (!sent)
		table_remark(t, member_text(d, "reply"));
	return (sent);
}

static int
show_deliveries(const json_t *list)
{
	static const char *const	heads[] = { "ALERTS", "NOTICE", "TO",
					    "RESULT", NULL };
	struct table			*t = table_new(heads);
	const json_t			*d;
	size_t				 i;
	int				 rc = 0;

	json_array_foreach(list, i, d)
		if (!add_delivery(t, d))
			rc = NOT_ALL_SENT;
	show_table(&t, "There is nobody to tell.");
	return (json_array_size(list) > 0 ? rc : NOT_ALL_SENT);
}

struct options {
	const char	*section;	/* borrowed; NULL: all */
	int64_t		 wait_ms;
};

/* -1: wrong usage. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option	longs[] = {
		{ "timeout", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	const char			*why = "";
	int				 c;

	*o = (struct options){ .wait_ms = CONTROL_TEST_MS };
	optind = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 't')
			return (-1);
		if (value_span(optarg, &o->wait_ms, &why) != 0 ||
		    o->wait_ms <= 0 || o->wait_ms > CONTROL_TEST_MS) {
			fprintf(stderr, "mailflowctl: --timeout %s: %s\n",
			    optarg, why[0] != '\0' ? why :
			    "must be at most a minute");
			return (-1);
		}
	}
	o->section = optind < argc ? argv[optind] : NULL;
	return (argc - optind <= 1 ? 0 : -1);
}

int
ctl_test_alert(const struct ctl *ctl, int argc, char **argv)
{
	struct client_answer	 a;
	struct options		 o;
	json_t			*request;
	int			 rc;

	if (read_options(argc, argv, &o) == -1)
		return (ctl_usage("test-alert [--timeout SPAN] [SECTION]"));
	request = ctl_request("test-alert");
	json_object_set_new(request, "wait_ms", json_integer(o.wait_ms));
	if (o.section != NULL)
		json_object_set_new(request, "alerts",
		    json_string(o.section));
	client_ask(ctl->socket, request, o.wait_ms + SLACK_MS, &a);
	json_decref(request);
	if (a.object != NULL) {
		rc = show_deliveries(member_object(a.object, "deliveries"));
	} else {
		fprintf(stderr, "mailflowctl: %s\n", a.why);
		rc = a.result == CLIENT_REFUSED ? CTL_REFUSED :
		    EX_UNAVAILABLE;
	}
	client_answer_free(&a);
	return (rc);
}
