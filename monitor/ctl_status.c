#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitor/ctl.h"
#include "monitor/ctl_finding.h"
#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/ctl_show.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static void
show_head(const json_t *status, int64_t now_ms)
{
	int64_t	since_ms = member_wall_ms(status, "started_at");
	int64_t	expired = member_number(status, "notices_expired", 0);
	char	span[SAY_SPAN], when[SAY_TIME];

	printf("mailflowd %s, instance %s, pid %" PRId64 ", up %s (since %s)\n",
	    member_text(status, "version"), member_text(status, "instance"),
	    member_number(status, "pid", 0),
	    say_wait(now_ms > since_ms ? now_ms - since_ms : 0, span),
	    say_time(since_ms, now_ms, when));
	printf("senders %" PRId64 ", watchers %" PRId64 ", sessions waiting %"
	    PRId64 ", notices waiting %" PRId64,
	    member_number(status, "senders", 0),
	    member_number(status, "watchers", 0),
	    member_number(status, "jobs_waiting", 0),
	    member_number(status, "notices_waiting", 0));
	if (expired > 0)
		printf(", given up in 7 days %" PRId64, expired);
	putchar('\n');
	if (member_text(status, "csv_trouble")[0] != '\0')
		printf("CSV files cannot be written: %s; %" PRId64
		    " rows wait\n", member_text(status, "csv_trouble"),
		    member_number(status, "csv_rows_waiting", 0));
}

/* "delivered 0.84 s" */
static void
say_last(const json_t *last, char *buf, size_t size)
{
	int64_t	total_ms = member_number(last, "total_ms", -1);
	char	span[SAY_SPAN];

	text_copy(buf, size, member_text(last, "outcome"));
	if (total_ms >= 0)
		text_appendf(buf, size, " %s", say_span(total_ms, span));
}

/* What the route will do next. */
static void
say_next(const json_t *route, const struct finding *f, int64_t now_ms,
    char *buf, size_t size)
{
	const json_t	*current = member_object(route, "current");
	const char	*state = member_text(current, "state");
	char		 when[SHOW_WHEN];

	if (member_flag(route, "paused"))
		text_copy(buf, size, "-");
	else if (current == NULL)
		text_copy(buf, size, show_when(member_wall_ms(route,
		    "due_at"), now_ms, when));
	else if (strcmp(state, "waiting") != 0)
		text_copy(buf, size, "being sent");
	else if (strcmp(f->word, "held") == 0)
		text_copy(buf, size, "after the sentinel");
	else if (member_wall_ms(current, "next_try_at") <= now_ms)
		text_copy(buf, size, "waits for its turn");
	else
		snprintf(buf, size, "retry %s", show_when(member_wall_ms(
		    current, "next_try_at"), now_ms, when));
}

static void
add_route(struct table *t, const struct finding_scene *scene,
    const json_t *route)
{
	const json_t	*last = member_object(route, "last");
	struct finding	 f;
	char		 outcome[64], ended[SHOW_WHEN], next[64], pending[24];
	char		 name[FINDING_NAME];

	finding_route(scene, route, &f);
	say_last(last, outcome, sizeof outcome);
	say_next(route, &f, scene->now_ms, next, sizeof next);
	snprintf(pending, sizeof pending, "%" PRId64,
	    member_number(route, "pending", 0));
	table_row(t, (const char *const[]){ finding_name(route, name), f.word,
	    outcome, show_when(member_wall_ms(last, "finished_at"),
	    scene->now_ms, ended), pending, next });
	table_paint(t, 1, f.level);
	if (f.level != LEVEL_OK)
		table_remark(t, f.text);
}

static void
show_routes(const json_t *status, const struct finding_scene *scene)
{
	static const char *const	heads[] = { "ROUTE", "STATE", "LAST",
					    "WHEN", "UNSEEN", "NEXT", NULL };
	struct table			*t = table_new(heads);
	json_t				*r;
	size_t				 i;

	json_array_foreach(json_object_get(status, "routes"), i, r)
		add_route(t, scene, r);
	show_table(&t, "No routes are configured.");
}

static enum level
level_of_mailbox(const char *state)
{
	return (strcmp(state, "good") == 0 ? LEVEL_OK :
	    strcmp(state, "blind") == 0 ? LEVEL_UNKNOWN : LEVEL_WARNING);
}

static void
add_mailbox(struct table *t, const json_t *m, int64_t now_ms)
{
	const char	*state = member_text(m, "state");
	int64_t		 ignored = member_number(m, "ignored", 0);
	char		 looked[SHOW_WHEN], since[SHOW_WHEN], next[SHOW_WHEN];
	char		 foreign[80];

	table_row(t, (const char *const[]){ member_text(m, "mailbox"), state,
	    show_when(member_wall_ms(m, "since"), now_ms, since),
	    show_when(member_wall_ms(m, "last_look_at"), now_ms, looked),
	    show_when(member_wall_ms(m, "retry_at"), now_ms, next),
	    member_text(m, "host") });
	table_paint(t, 1, level_of_mailbox(state));
	table_remark(t, member_text(m, "reason"));
	if (ignored == 0)
		return;
	snprintf(foreign, sizeof foreign, "%" PRId64 " forged or foreign "
	    "token%s ignored", ignored, ignored == 1 ? "" : "s");
	table_remark(t, foreign);
}

static void
show_mailboxes(const json_t *status, int64_t now_ms)
{
	static const char *const	heads[] = { "MAILBOX", "STATE",
					    "SINCE", "LOOKED AT", "NEXT TRY",
					    "HOST", NULL };
	struct table			*t = table_new(heads);
	json_t				*m;
	size_t				 i;

	json_array_foreach(json_object_get(status, "mailboxes"), i, m)
		add_mailbox(t, m, now_ms);
	show_table(&t, "No mailboxes are watched.");
}

static enum level
level_of_check(const char *state)
{
	return (strcmp(state, "good") == 0 ? LEVEL_OK :
	    strcmp(state, "unknown") == 0 ? LEVEL_UNKNOWN : LEVEL_WARNING);
}

/* "12ms", or "-". */
static const char *
say_member(const json_t *o, const char *key, char buf[static SAY_SHORT])
{
	int64_t	ms = member_number(o, key, -1);

	buf[0] = '\0';
	return (ms >= 0 ? say_short(ms, buf) : buf);
}

static void
add_check(struct table *t, const json_t *c, int64_t now_ms)
{
	const char	*state = member_text(c, "state");
	char		 checked[SHOW_WHEN], now[SAY_SHORT], usual[SAY_SHORT];

	table_row(t, (const char *const[]){ member_text(c, "server"), state,
	    show_when(member_wall_ms(c, "checked_at"), now_ms, checked),
	    say_member(c, "greeting_ms", now),
	    say_member(c, "usual_greeting_ms", usual),
	    member_text(c, "host") });
	table_paint(t, 1, level_of_check(state));
	table_remark(t, member_text(c, "hint"));
}

static void
show_checks(const json_t *status, int64_t now_ms)
{
	static const char *const	 heads[] = { "SERVER", "STATE",
					    "CHECKED", "GREETING", "USUAL",
					    "HOST", NULL };
	const json_t			*list = json_object_get(status,
					    "checks");
	struct table			*t = table_new(heads);
	json_t				*c;
	size_t				 i;

	json_array_foreach(list, i, c)
		add_check(t, c, now_ms);
	if (json_array_size(list) > 0) {
		show_table(&t, "");
		putchar('\n');
	}
	table_free(&t);
}

/* The notice that has waited longest, and why. */
static void
show_oldest(const json_t *notice, int64_t now_ms)
{
	static const char *const	 heads[] = { "OLDEST NOTICE", "ALERTS",
					    "TO", "SINCE", "TRIES",
					    "NEXT TRY", NULL };
	struct table			*t;
	char				 since[SHOW_WHEN], next[SHOW_WHEN];
	char				 tries[24];

	if (notice == NULL)
		return;
	t = table_new(heads);
	snprintf(tries, sizeof tries, "%" PRId64,
	    member_number(notice, "attempts", 0));
	table_row(t, (const char *const[]){ member_text(notice, "kind"),
	    member_text(notice, "alerts"), member_text(notice, "to"),
	    show_when(member_wall_ms(notice, "owed_at"), now_ms, since), tries,
	    show_when(member_wall_ms(notice, "next_try_at"), now_ms, next) });
	table_paint(t, 0, LEVEL_WARNING);
	table_remark(t, member_text(notice, "reply"));
	show_table(&t, "");
	putchar('\n');
}

static void
show_status(const json_t *status)
{
	struct finding_scene	scene;

	finding_begin(&scene, status);
	show_head(status, scene.now_ms);
	putchar('\n');
	show_routes(status, &scene);
	putchar('\n');
	show_mailboxes(status, scene.now_ms);
	putchar('\n');
	show_checks(status, scene.now_ms);
	show_oldest(member_object(status, "oldest_notice"), scene.now_ms);
	show_episodes(json_object_get(status, "episodes"), scene.now_ms,
	    "No episodes.");
	finding_end(&scene);
}

int
ctl_status(const struct ctl *ctl, int argc, char **argv)
{
	bool	 json = argc == 2 && strcmp(argv[1], "--json") == 0;
	json_t	*status;
	int	 rc;

	if (argc > 1 && !json)
		return (ctl_usage("status [--json]"));
	if ((status = ctl_ask(ctl, ctl_request("status"), &rc)) == NULL)
		return (rc);
	if (json)
		ctl_print_json(status);
	else
		show_status(status);
	json_decref(status);
	return (0);
}
