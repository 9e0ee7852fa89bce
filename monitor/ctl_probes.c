#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitor/clock.h"
#include "monitor/ctl.h"
#include "monitor/ctl_finding.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/ctl_show.h"
#include "monitor/outcome.h"
#include "monitor/text.h"
#include "monitor/token.h"

struct options {
	bool		 json;
	const char	*transcript;	/* borrowed: a route; NULL: none */
};

/* -1: wrong usage. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option	longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "transcript", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	int				c;

	*o = (struct options){ .transcript = NULL };
	optind = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'j')
			o->json = true;
		else if (c == 't')
			o->transcript = optarg;
		else
			return (-1);
	}
	return (optind == argc ? 0 : -1);
}

static void
add_probe(struct table *t, const json_t *p, int64_t now_ms)
{
	const char	*token = member_text(p, "probe");
	char		 id[TOKEN_SHORT] = "", attempts[24], next[SHOW_WHEN];
	char		 begun[SHOW_WHEN], said[OUTCOME_REPLY];

	if (strlen(token) == TOKEN_LEN)
		token_short(token, id);
	snprintf(attempts, sizeof attempts, "%" PRId64,
	    member_number(p, "attempts", 0));
	table_row(t, (const char *const[]){ id, member_text(p, "route"),
	    member_text(p, "state"), attempts,
	    show_when(member_wall_ms(p, "scheduled_at"), now_ms, begun),
	    show_when(member_wall_ms(p, "next_try_at"), now_ms, next),
	    member_text(p, "class") });
	finding_quote(p, "reply", said, sizeof said);
	table_remark(t, said);
}

static void
show_probes(const json_t *list, int64_t now_ms)
{
	static const char *const	heads[] = { "PROBE", "ROUTE", "STATE",
					    "TRIES", "BEGUN", "NEXT TRY",
					    "CLASS", NULL };
	struct table			*t = table_new(heads);
	json_t				*p;
	size_t				 i;

	json_array_foreach(list, i, p)
		add_probe(t, p, now_ms);
	show_table(&t, "No probe is under way.");
}

/* Line by line: only their ends may pass. */
static void
show_transcript(const json_t *answer, const char *route, int64_t now_ms)
{
	const char	*s = member_text(answer, "transcript");
	char		 when[SAY_TIME], clean[OUTCOME_TRANSCRIPT];
	size_t		 n;

	printf("The last failed session of route %s, %s:\n\n", route,
	    say_time(member_wall_ms(answer, "at"), now_ms, when));
	while (*s != '\0') {
		n = strcspn(s, "\n");
		text_clean(clean, sizeof clean, s, n);
		puts(clean);
		s += n + (s[n] == '\n');
	}
}

int
ctl_probes(const struct ctl *ctl, int argc, char **argv)
{
	struct options	 o;
	json_t		*request, *answer;
	int64_t		 now_ms = clock_now().wall_ms;
	int		 rc;

	if (read_options(argc, argv, &o) == -1)
		return (ctl_usage("probes [--transcript ROUTE] [--json]"));
	request = ctl_request(o.transcript != NULL ? "transcript" : "probes");
	if (o.transcript != NULL)
		json_object_set_new(request, "route",
		    json_string(o.transcript));
	if ((answer = ctl_ask(ctl, request, &rc)) == NULL)
		return (rc);
	if (o.json)
		ctl_print_json(answer);
	else if (o.transcript != NULL)
		show_transcript(answer, o.transcript, now_ms);
	else
		show_probes(json_object_get(answer, "probes"), now_ms);
	json_decref(answer);
	return (0);
}
