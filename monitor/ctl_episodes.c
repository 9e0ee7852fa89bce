#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitor/clock.h"
#include "monitor/ctl.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/ctl_show.h"
#include "monitor/mem.h"
#include "monitor/token.h"

struct options {
	bool		all;
	bool		json;
	json_int_t	why;		/* an episode; 0: none */
};

/* -1: wrong usage. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option	longs[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ "why", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	int				c;

	*o = (struct options){ .why = 0 };
	optind = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'a')
			o->all = true;
		else if (c == 'j')
			o->json = true;
		else if (c != 'w' || !ctl_read_number(optarg, &o->why))
			return (-1);
	}
	return (optind == argc && !(o->all && o->why != 0) ? 0 : -1);
}

static json_t *
request_for(const struct options *o)
{
	json_t	*request = ctl_request(o->why != 0 ? "why" : "episodes");

	if (o->why != 0)
		json_object_set_new(request, "episode", json_integer(o->why));
	else
		json_object_set_new(request, "all", json_boolean(o->all));
	return (request);
}

static void
show_times(const json_t *e, int64_t now_ms)
{
	static const struct {
		const char	*key, *label;
	} times[] = {
		{ "first_miss_at", "first miss" },
		{ "opened_at", "failing since" },
		{ "last_miss_at", "last miss" },
		{ "accepting_at", "accepting again" },
		{ "delivered_at", "delivered again" },
	};
	const char	*sentinel = member_text(e, "sentinel");
	char		 when[SAY_TIME], id[TOKEN_SHORT];

	for (size_t i = 0; i < NITEMS(times); i++)
		if (member_wall_ms(e, times[i].key) != 0)
			printf("  %-16s%s\n", times[i].label,
			    say_time(member_wall_ms(e, times[i].key), now_ms,
			    when));
	printf("  %-16s%s\n", "opened by", member_text(e, "origin"));
	if (strlen(sentinel) == TOKEN_LEN)
		printf("  %-16s%s\n", "tried by probe",
		    token_short(sentinel, id));
	if (member_number(e, "swings", 0) > 1)
		printf("  %-16s%" PRId64 "\n", "reopened",
		    member_number(e, "swings", 0) - 1);
}

static void
add_event(struct table *t, const json_t *event, int64_t now_ms)
{
	const char	*token = member_text(event, "probe");
	char		 when[SAY_TIME], id[TOKEN_SHORT] = "";

	if (strlen(token) == TOKEN_LEN)
		token_short(token, id);
	table_row(t, (const char *const[]){
	    say_time(member_wall_ms(event, "at"), now_ms, when),
	    member_text(event, "event"), id });
	table_remark(t, member_text(event, "text"));
}

static void
show_why(const json_t *answer, int64_t now_ms)
{
	static const char *const	heads[] = { "AT", "EVENT", "PROBE",
					    NULL };
	const json_t			*e = member_object(answer, "episode");
	json_t				*list = json_pack("[O]", e), *event;
	struct table			*t = table_new(heads);
	size_t				 i;

	show_episodes(list, now_ms, "It came to nothing.");
	json_decref(list);
	show_times(e, now_ms);
	putchar('\n');
	json_array_foreach(json_object_get(answer, "events"), i, event)
		add_event(t, event, now_ms);
	show_table(&t, "No events are on record any more.");
}

int
ctl_episodes(const struct ctl *ctl, int argc, char **argv)
{
	struct options	 o;
	json_t		*answer;
	int64_t		 now_ms = clock_now().wall_ms;
	int		 rc;

	if (read_options(argc, argv, &o) == -1)
		return (ctl_usage("episodes [--all | --why EPISODE] "
		    "[--json]"));
	if ((answer = ctl_ask(ctl, request_for(&o), &rc)) == NULL)
		return (rc);
	if (o.json)
		ctl_print_json(answer);
	else if (o.why != 0)
		show_why(answer, now_ms);
	else
		show_episodes(json_object_get(answer, "episodes"), now_ms,
		    o.all ? "There has been no episode." :
		    "No episodes.");
	json_decref(answer);
	return (0);
}
