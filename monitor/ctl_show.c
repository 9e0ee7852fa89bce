#include "monitor/ctl_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/ctl_finding.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/outcome.h"
#include "monitor/text.h"

/* A person at a terminal that can, and has not said no (no-color.org). */
static bool
colours_wanted(void)
{
	const char	*term = getenv("TERM"), *no = getenv("NO_COLOR");

	return (isatty(STDOUT_FILENO) && (no == NULL || no[0] == '\0') &&
	    term != NULL && strcmp(term, "dumb") != 0);
}

void
show_table(struct table **t, const char *if_empty)
{
	if (table_is_empty(*t))
		puts(if_empty);
	else
		table_print(*t, stdout, colours_wanted());
	table_free(t);
}

const char *
show_when(int64_t wall_ms, int64_t now_ms, char buf[static SHOW_WHEN])
{
	char	span[SAY_SHORT];

	if (wall_ms == 0)
		text_copy(buf, SHOW_WHEN, "-");
	else if (wall_ms - now_ms > -1000 && wall_ms - now_ms < 1000)
		text_copy(buf, SHOW_WHEN, "now");
	else if (wall_ms < now_ms)
		snprintf(buf, SHOW_WHEN, "%s ago",
		    say_short(now_ms - wall_ms, span));
	else
		snprintf(buf, SHOW_WHEN, "in %s",
		    say_short(wall_ms - now_ms, span));
	return (buf);
}

/* Over, or only ever a doubt. */
static bool
is_quiet(const json_t *e)
{
	return (strcmp(member_text(e, "state"), "quiet") == 0);
}

static enum level
level_of(const json_t *e)
{
	if (is_quiet(e))
		return (LEVEL_OK);
	if (strcmp(member_text(e, "state"), "failing") != 0)
		return (LEVEL_WARNING);
	return (strcmp(member_text(e, "class"), "blind") == 0 ?
	    LEVEL_UNKNOWN : LEVEL_CRITICAL);
}

static void
add_remarks(struct table *t, const json_t *e)
{
	char	said[OUTCOME_REPLY], routes[600];

	finding_quote(e, "last_reply", said, sizeof said);
	table_remark(t, said);
	if (member_flag(e, "held"))
		table_remark(t, "a maintenance window keeps its notices back");
	if (member_text(e, "routes")[0] == '\0' && !member_flag(e, "acked"))
		return;
	snprintf(routes, sizeof routes, "routes: %s%s",
	    member_text(e, "routes"),
	    member_flag(e, "acked") ? "; acknowledged, no reminders" : "");
	table_remark(t, routes);
}

static void
add_episode(struct table *t, const json_t *e, int64_t now_ms)
{
	int64_t	since_ms = member_wall_ms(e, "opened_at");
	int64_t	end_ms = is_quiet(e) ? member_wall_ms(e, "delivered_at") :
		    now_ms;
	char	id[24], refusals[24], since[SAY_TIME], span[SAY_SHORT] = "";

	if (since_ms == 0)
		since_ms = member_wall_ms(e, "first_miss_at");
	snprintf(id, sizeof id, "%" PRId64, member_number(e, "episode", 0));
	snprintf(refusals, sizeof refusals, "%" PRId64,
	    member_number(e, "refusals", 0));
	if (since_ms != 0 && end_ms >= since_ms)
		say_short(end_ms - since_ms, span);
	table_row(t, (const char *const[]){ id,
	    is_quiet(e) ? "over" : member_text(e, "state"),
	    member_text(e, "class"), member_text(e, "scope"),
	    say_time(since_ms, now_ms, since), span, refusals });
	table_paint(t, 1, level_of(e));
	add_remarks(t, e);
}

void
show_episodes(const json_t *list, int64_t now_ms, const char *if_empty)
{
	static const char *const	heads[] = { "EPISODE", "STATE",
					    "CLASS", "SCOPE", "SINCE", "FOR",
					    "REFUSALS", NULL };
	struct table			*t = table_new(heads);
	json_t				*e;
	size_t				 i;

	json_array_foreach(list, i, e)
		if (!is_quiet(e) || member_wall_ms(e, "opened_at") != 0)
			add_episode(t, e, now_ms);
	show_table(&t, if_empty);
}
