#include "monitor/ctl_finding.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/ctl_plugin.h"
#include "monitor/mem.h"

/*
 * The daemon's objects as the rows below change them.  For the eye, JSON is
 * written with ' for ".
 */

static const char	good_route[] =
    "{'route': 'out', 'server': 'mx', 'mailbox': 'box', 'every_ms': 300000,"
    " 'warn_after_ms': 60000, 'late_after_ms': 600000, 'paused': false,"
    " 'due_at': '2026-01-31T12:04:00.000Z', 'current': null, 'pending': 0,"
    " 'oldest_pending': null, 'episode': null, 'blind': false,"
    " 'last': {'probe': 'x', 'outcome': 'delivered', 'class': 'accepted',"
    "  'code': 250, 'enhanced': '2.0.0', 'reply': 'Ok: queued',"
    "  'deferrals': 0, 'total_ms': 842, 'accept_ms': 120,"
    "  'arrived_at': '2026-01-31T11:59:03.500Z',"
    "  'finished_at': '2026-01-31T11:59:03.600Z'}}";

static const char	good_mailbox[] =
    "{'mailbox': 'box', 'host': 'imap.example', 'state': 'good',"
    " 'since': '2026-01-31T09:00:00.000Z', 'reason': ''}";

static json_t *
load(const char *text)
{
	char		*json = mem_strdup(text);
	json_error_t	 error;
	json_t		*j;

	for (char *p = json; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	j = json_loads(json, 0, &error);
	if (j == NULL)
		fail_msg("%s in %s", error.text, json);
	mem_free(json);
	return (j);
}

/* A good one with some members changed. */
static json_t *
changed(const char *good, const char *change)
{
	json_t	*j = load(good), *with = load(change);

	assert_int_equal(json_object_update(j, with), 0);
	json_decref(with);
	return (j);
}

/* Takes both; mailbox may be NULL. */
static json_t *
status_of(json_t *route, json_t *mailbox)
{
	json_t	*s = load("{'now': '2026-01-31T12:00:00.000Z', 'routes': [],"
		    " 'mailboxes': []}");

	json_array_append_new(json_object_get(s, "routes"), route);
	if (mailbox != NULL)
		json_array_append_new(json_object_get(s, "mailboxes"),
		    mailbox);
	return (s);
}

struct row {
	const char	*route;		/* what is not as in a good one */
	const char	*mailbox;
	enum level	 level;
	const char	*word;
	const char	*text;
};

static void
check(const struct row *rows, size_t n)
{
	struct finding_scene	 scene;
	struct finding		 f;
	json_t			*s;

	for (size_t i = 0; i < n; i++) {
		s = status_of(changed(good_route, rows[i].route),
		    changed(good_mailbox, rows[i].mailbox));
		finding_begin(&scene, s);
		finding_route(&scene, json_array_get(json_object_get(s,
		    "routes"), 0), &f);
		if (f.level != rows[i].level ||
		    strcmp(f.word, rows[i].word) != 0 ||
		    strcmp(f.text, rows[i].text) != 0)
			fail_msg("row %zu: %s %s \"%s\"", i,
			    level_name(f.level), f.word, f.text);
		finding_end(&scene);
		json_decref(s);
	}
}

#define EPISODE(state, class, more)					\
	"{'episode': {'episode': 7, 'state': '" state "',"		\
	" 'class': '" class "', 'origin': 'attempt',"			\
	" 'opened_at': '2026-01-31T11:40:00.000Z',"			\
	" 'accepting_at': '2026-01-31T11:58:00.000Z',"			\
	" 'sentinel': 'sss', 'code': 452, 'enhanced': '4.3.1',"		\
	" 'last_reply': 'Insufficient system storage'" more "}"

#define CURRENT(state, deferrals)					\
	" 'current': {'probe': 'ppp', 'state': '" state "',"		\
	" 'class': 'tls', 'deferrals': " deferrals ","			\
	" 'first_attempt_at': '2026-01-31T11:55:00.000Z',"		\
	" 'next_try_at': '2026-01-31T12:01:00.000Z', 'code': 0,"	\
	" 'enhanced': '', 'reply': 'certificate is for wrong.example,"	\
	" not for mail.example'}"

#define PENDING(accepted)						\
	"{'pending': 1, 'oldest_pending': {'probe': 'q', 'mailbox':"	\
	" 'box', 'host': 'mx.example', 'state': 'accepted',"		\
	" 'accepted_at': '2026-01-31T" accepted ".000Z'}}"

static void
a_route_that_delivers_is_ok(void **state)
{
	static const struct row	rows[] = {
		{ "{}", "{}", LEVEL_OK, "ok",
		    "delivered in 0.84 s (11:59:03 UTC)" },
		{ "{'last': {'outcome': 'delivered', 'total_ms': 42000,"
		    " 'deferrals': 1, 'arrived_at': '2026-01-30T23:00:00.000Z',"
		    " 'finished_at': '2026-01-31T11:59:03.600Z'}}", "{}",
		    LEVEL_OK, "ok", "delivered in 42 s after 1 deferral "
		    "(2026-01-30 23:00:00 UTC)" },
		/* Its first try is still under way. */
		{ "{" CURRENT("sending", "0") "}", "{}", LEVEL_OK, "ok",
		    "delivered in 0.84 s (11:59:03 UTC)" },
		{ PENDING("11:59:30"), "{}", LEVEL_OK, "ok",
		    "delivered in 0.84 s (11:59:03 UTC)" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
a_paused_route_is_ok_and_says_so(void **state)
{
	static const struct row	rows[] = {
		{ "{'paused': true}", "{}", LEVEL_OK, "paused",
		    "paused, no probes are sent" },
		{ "{'paused': true, 'last': null}", "{'state': 'blind'}",
		    LEVEL_OK, "paused", "paused, no probes are sent" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
an_episode_that_fails_is_critical_with_the_server_s_words(void **state)
{
	static const struct row	rows[] = {
		{ EPISODE("failing", "system-full", "") "}", "{}",
		    LEVEL_CRITICAL, "failing", "failing since 11:40:00 UTC: "
		    "452 4.3.1 Insufficient system storage (system-full)" },
		/* The kept probe is not the one that tries for all. */
		{ EPISODE("failing", "system-full", "") ","
		    CURRENT("waiting", "2") "}", "{}",
		    LEVEL_CRITICAL, "held", "failing since 11:40:00 UTC: "
		    "452 4.3.1 Insufficient system storage (system-full)" },
		{ EPISODE("failing", "system-full", ", 'sentinel': 'ppp'") ","
		    CURRENT("waiting", "2") "}", "{}",
		    LEVEL_CRITICAL, "failing", "failing since 11:40:00 UTC: "
		    "452 4.3.1 Insufficient system storage (system-full)" },
		/* Seen by the mailbox that stays empty: a 250 explains nothing. */
		{ EPISODE("failing", "undelivered", ", 'origin': 'age'") "}",
		    "{}", LEVEL_CRITICAL, "failing", "failing since 11:40:00 "
		    "UTC: accepted, but not delivered (undelivered)" },
		/* Known trouble, whether or not the mailbox can be seen. */
		{ EPISODE("failing", "system-full", "") "}",
		    "{'state': 'blind'}",
		    LEVEL_CRITICAL, "failing", "failing since 11:40:00 UTC: "
		    "452 4.3.1 Insufficient system storage (system-full)" },
		/* A reply that has its code in it already. */
		{ EPISODE("failing", "system-full", ", 'last_reply': '452 4.3.1"
		    " full'") "}", "{}", LEVEL_CRITICAL, "failing",
		    "failing since 11:40:00 UTC: 452 4.3.1 full "
		    "(system-full)" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
of_two_episodes_the_one_that_fails_counts(void **state)
{
	struct finding_scene	 scene;
	struct finding		 f;
	json_t			*s = status_of(changed(good_route,
				    EPISODE("accepting", "network", "") "}"),
				    load(good_mailbox));
	json_t			*route = json_array_get(json_object_get(s,
				    "routes"), 0);

	(void)state;
	json_object_set_new(s, "episodes", load("[{'state': 'failing', 'class':"
	    " 'policy', 'routes': 'in out', 'code': 550, 'last_reply': 'no'},"
	    " {'state': 'failing', 'class': 'blind', 'routes': 'out'},"
	    " {'state': 'suspect', 'class': 'other', 'routes': 'out'}]"));
	finding_begin(&scene, s);
	finding_route(&scene, route, &f);
	assert_int_equal(f.level, LEVEL_CRITICAL);
	assert_string_equal(f.text, "failing: 550 no (policy)");
	finding_end(&scene);
	json_decref(s);
}

static void
a_monitor_that_cannot_look_is_unknown_never_critical(void **state)
{
	static const struct row	rows[] = {
		{ "{}", "{'state': 'blind', 'reason': 'login: NO',"
		    " 'retry_at': '2026-01-31T12:00:29.100Z'}", LEVEL_UNKNOWN,
		    "blind", "mailbox box cannot be looked at: login: NO, "
		    "next try in 30 s" },
		/* A mail that nobody can see is not late. */
		{ PENDING("11:00:00"), "{'state': 'blind', 'reason': ''}",
		    LEVEL_UNKNOWN, "blind",
		    "mailbox box cannot be looked at: no reason is known" },
		/* The mailbox for bounces, perhaps. */
		{ EPISODE("failing", "blind", ", 'code': 0, 'last_reply':"
		    " 'login: NO', 'scope': 'mailbox return'") "}", "{}",
		    LEVEL_UNKNOWN, "blind", "mailbox return: cannot look since "
		    "11:40:00 UTC: login: NO (blind)" },
		/* Our login is refused: the server is not to blame. */
		{ EPISODE("failing", "blind", ", 'code': 535, 'enhanced':"
		    " '5.7.8', 'last_reply': 'no', 'scope': 'system mx'") ","
		    CURRENT("waiting", "2") "}", "{}", LEVEL_UNKNOWN, "blind",
		    "system mx: cannot look since 11:40:00 UTC: 535 5.7.8 no "
		    "(blind)" },
		/* What the server says is known, whoever sees the mailbox. */
		{ EPISODE("failing", "blind", ", 'scope': 'mailbox box'") ","
		    CURRENT("sending", "1") "}", "{'state': 'blind'}",
		    LEVEL_WARNING, "deferred", "deferred since 11:55:00 UTC, "
		    "1 try: certificate is for wrong.example, not for "
		    "mail.example (tls)" },
		{ "{'last': {'outcome': 'blind', 'code': 535, 'reply': 'bad',"
		    " 'class': 'auth', 'finished_at':"
		    " '2026-01-31T11:59:00.000Z'}}", "{}", LEVEL_UNKNOWN,
		    "blind", "the last probe could not be sent (11:59:00 UTC)"
		    ": 535 bad (auth)" },
		{ "{'last': {'outcome': 'blind', 'accepted_at':"
		    " '2026-01-31T11:29:00.000Z', 'finished_at':"
		    " '2026-01-31T11:59:00.000Z'}}", "{}", LEVEL_UNKNOWN,
		    "blind", "the last probe could not be looked for "
		    "(11:59:00 UTC)" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
a_probe_that_ended_badly_is_critical_before_there_is_an_episode(void **state)
{
	static const struct row	rows[] = {
		{ "{'last': {'outcome': 'rejected', 'code': 550, 'enhanced':"
		    " '5.1.1', 'reply': 'User unknown', 'class':"
		    " 'no-such-user', 'finished_at':"
		    " '2026-01-31T11:59:00.000Z'}}", "{}", LEVEL_CRITICAL,
		    "rejected", "rejected (11:59:00 UTC): 550 5.1.1 User "
		    "unknown (no-such-user)" },
		{ "{'last': {'outcome': 'lost'}}", "{}", LEVEL_CRITICAL,
		    "lost", "lost" },
		{ "{'last': {'outcome': 'bounced', 'class': 'undelivered'}}",
		    "{}", LEVEL_CRITICAL, "bounced", "bounced (undelivered)" },
		{ "{'last': {'outcome': 'expired'}}", "{}", LEVEL_CRITICAL,
		    "expired", "expired" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
a_deferred_probe_warns_and_tells_when_it_is_tried_again(void **state)
{
	static const struct row	rows[] = {
		{ "{" CURRENT("waiting", "3") "}", "{}", LEVEL_WARNING,
		    "deferred", "deferred since 11:55:00 UTC, 3 tries, next "
		    "try in 1 min: certificate is for wrong.example, not for "
		    "mail.example (tls)" },
		{ "{" CURRENT("sending", "1") "}", "{}", LEVEL_WARNING,
		    "deferred", "deferred since 11:55:00 UTC, 1 try: "
		    "certificate is for wrong.example, not for mail.example "
		    "(tls)" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
accepting_again_warns_until_delivery_is_seen(void **state)
{
	static const struct row	rows[] = {
		{ EPISODE("accepting", "system-full", "") "}", "{}",
		    LEVEL_WARNING, "accepting", "accepting again since "
		    "11:58:00 UTC, delivery is not confirmed yet "
		    "(system-full)" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
a_mail_that_does_not_come_warns_and_then_is_critical(void **state)
{
	static const struct row	rows[] = {
		{ PENDING("11:59:00"), "{}", LEVEL_OK, "ok",
		    "delivered in 0.84 s (11:59:03 UTC)" },
		{ PENDING("11:58:59"), "{}", LEVEL_WARNING, "waiting",
		    "accepted by mx.example at 11:58:59 UTC, not seen in box "
		    "for 1 min 1 s" },
		{ PENDING("11:49:59"), "{}", LEVEL_CRITICAL, "late",
		    "accepted by mx.example at 11:49:59 UTC, not seen in box "
		    "for 10 min 1 s" },
		/* Only since then can anybody have seen it. */
		{ PENDING("11:00:00"), "{'since': '2026-01-31T11:59:30.000Z'}",
		    LEVEL_OK, "ok", "delivered in 0.84 s (11:59:03 UTC)" },
		{ PENDING("11:00:00"), "{'state': 'starting', 'since': null}",
		    LEVEL_OK, "ok", "delivered in 0.84 s (11:59:03 UTC)" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
late_junk_and_slow_mail_warns(void **state)
{
	static const struct row	rows[] = {
		{ "{'last': {'outcome': 'late', 'total_ms': 723000,"
		    " 'arrived_at': '2026-01-31T11:59:00.000Z'}}", "{}",
		    LEVEL_WARNING, "late", "late: delivered in 12 min 3 s "
		    "(11:59:00 UTC)" },
		{ "{'last': {'outcome': 'junk', 'total_ms': 800, 'folder':"
		    " 'Spam', 'arrived_at': '2026-01-31T11:59:00.000Z'}}",
		    "{}", LEVEL_WARNING, "junk", "junk: delivered in 0.80 s, "
		    "to Spam (11:59:00 UTC)" },
		{ "{'last': {'outcome': 'delivered', 'total_ms': 95000,"
		    " 'arrived_at': '2026-01-31T11:59:00.000Z',"
		    " 'finished_at': '2026-01-31T11:59:00.000Z'}}", "{}",
		    LEVEL_WARNING, "slow", "slow: delivered in 1 min 35 s "
		    "(11:59:00 UTC), more than 1 min" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
what_is_not_known_is_unknown(void **state)
{
	static const struct row	rows[] = {
		{ "{'last': null}", "{}", LEVEL_UNKNOWN, "waiting",
		    "no probe has ended yet" },
		/* 3 x 5 min + 10 min is the limit. */
		{ "{'last': {'outcome': 'delivered', 'total_ms': 800,"
		    " 'finished_at': '2026-01-31T11:35:00.000Z'}}", "{}",
		    LEVEL_OK, "ok", "delivered in 0.80 s" },
		{ "{'last': {'outcome': 'delivered', 'total_ms': 800,"
		    " 'finished_at': '2026-01-31T11:34:59.000Z'}}", "{}",
		    LEVEL_UNKNOWN, "stale", "the last result is 25 min 1 s old "
		    "and no probe is under way" },
		{ "{'last': {'outcome': 'delivered', 'total_ms': 800,"
		    " 'finished_at': '2026-01-31T11:00:00.000Z'},"
		    CURRENT("sending", "0") "}", "{}", LEVEL_OK, "ok",
		    "delivered in 0.80 s" },
	};

	(void)state;
	check(rows, NITEMS(rows));
}

static void
an_object_without_members_is_judged_without_harm(void **state)
{
	struct finding_scene	 scene;
	struct finding		 f;
	json_t			*empty = load("{}"), *odd = load(
				    "{'route': 7, 'episode': 'x', 'last': [],"
				    " 'current': 3, 'mailbox': null}");

	(void)state;
	finding_begin(&scene, empty);
	finding_route(&scene, empty, &f);
	assert_int_equal(f.level, LEVEL_UNKNOWN);
	finding_route(&scene, odd, &f);
	finding_probe(empty, 0, &f);
	assert_int_equal(f.level, LEVEL_UNKNOWN);
	finding_end(&scene);
	json_decref(odd);
	json_decref(empty);
}

static void
known_trouble_is_worse_than_not_knowing(void **state)
{
	(void)state;
	assert_true(level_is_worse(LEVEL_CRITICAL, LEVEL_WARNING));
	assert_true(level_is_worse(LEVEL_WARNING, LEVEL_UNKNOWN));
	assert_true(level_is_worse(LEVEL_UNKNOWN, LEVEL_OK));
	assert_false(level_is_worse(LEVEL_OK, LEVEL_OK));
	assert_false(level_is_worse(LEVEL_UNKNOWN, LEVEL_CRITICAL));
}

/* Lines. */

static void
is_line(char *line, enum level level, enum level expected, const char *text)
{
	assert_int_equal(level, expected);
	assert_string_equal(line, text);
	mem_free(line);
}

static void
check_is_one_line_with_figures(void **state)
{
	json_t		*s = status_of(load(good_route), load(good_mailbox));
	enum level	 level;
	char		*line = plugin_route(s, "out", &level);

	(void)state;
	is_line(line, level, LEVEL_OK, "OK - out: delivered in 0.84 s "
	    "(11:59:03 UTC) | total=0.842s;60;600;0 accept=0.120s "
	    "pending=0;;;0");
	line = plugin_route(s, "elsewhere", &level);
	is_line(line, level, LEVEL_UNKNOWN,
	    "UNKNOWN - elsewhere: no such route");
	json_decref(s);
}

static void
a_route_without_a_result_has_no_latency_figures(void **state)
{
	json_t		*s = status_of(changed(good_route, "{'last': null,"
			    " 'warn_after_ms': 500}"), NULL);
	enum level	 level;
	char		*line = plugin_route(s, "out", &level);

	(void)state;
	is_line(line, level, LEVEL_UNKNOWN, "UNKNOWN - out: no probe has "
	    "ended yet | pending=0;;;0");
	json_decref(s);
}

static void
limits_below_a_second_keep_their_digits(void **state)
{
	json_t		*s = status_of(changed(good_route,
			    "{'warn_after_ms': 1500, 'late_after_ms': 20}"),
			    NULL);
	enum level	 level;
	char		*line = plugin_route(s, "out", &level);

	(void)state;
	is_line(line, level, LEVEL_OK, "OK - out: delivered in 0.84 s "
	    "(11:59:03 UTC) | total=0.842s;1.5;0.02;0 accept=0.120s "
	    "pending=0;;;0");
	json_decref(s);
}

static void
nothing_a_server_says_breaks_the_line(void **state)
{
	json_t		*s = status_of(changed(good_route, EPISODE("failing",
			    "other", ", 'last_reply': 'a|b\\r\\nOK - c\\u001b[2J"
			    " | x=1'") "}"), NULL);
	enum level	 level;
	char		*line = plugin_route(s, "out", &level);

	(void)state;
	is_line(line, level, LEVEL_CRITICAL, "CRITICAL - out: failing since "
	    "11:40:00 UTC: 452 4.3.1 a/b  OK - c [2J / x=1 (other) | "
	    "total=0.842s;60;600;0 accept=0.120s pending=0;;;0");
	json_decref(s);
}

static void
a_very_long_reply_is_cut(void **state)
{
	char		 reply[3000], episode[4000];
	json_t		*s;
	enum level	 level;
	char		*line;

	(void)state;
	memset(reply, 'x', sizeof reply - 1);
	reply[sizeof reply - 1] = '\0';
	snprintf(episode, sizeof episode, "{'episode': {'state': 'failing',"
	    " 'class': 'other', 'last_reply': '%s'}}", reply);
	s = status_of(changed(good_route, episode), NULL);
	line = plugin_route(s, "out", &level);
	assert_true(strlen(line) < 600);
	assert_non_null(strstr(line, "xxx (other) | total="));
	mem_free(line);
	json_decref(s);
}

static void
check_of_all_names_the_bad_ones_and_takes_the_worst(void **state)
{
	json_t		*s = status_of(load(good_route), load(good_mailbox));
	json_t		*routes = json_object_get(s, "routes");
	enum level	 level;
	char		*line = plugin_all(s, &level);

	(void)state;
	is_line(line, level, LEVEL_OK, "OK - 1 route well, slowest out: "
	    "0.84 s | 'out total'=0.842s;60;600;0 'out accept'=0.120s "
	    "'out pending'=0;;;0");
	json_array_append_new(routes, changed(good_route,
	    "{'route': 'new', 'last': null}"));
	line = plugin_all(s, &level);
	assert_int_equal(level, LEVEL_UNKNOWN);
	mem_free(line);
	json_array_append_new(routes, changed(good_route, EPISODE("failing",
	    "system-full", "") ", 'route': 'in', 'last': null}"));
	line = plugin_all(s, &level);
	is_line(line, level, LEVEL_CRITICAL, "CRITICAL - 2 of 3 routes not "
	    "well, in: failing since 11:40:00 UTC: 452 4.3.1 Insufficient "
	    "system storage (system-full); new: no probe has ended yet | "
	    "'out total'=0.842s;60;600;0 'out accept'=0.120s "
	    "'out pending'=0;;;0 'new pending'=0;;;0 'in pending'=0;;;0");
	json_decref(s);
}

static void
check_of_all_says_how_many_are_paused(void **state)
{
	json_t		*s = status_of(changed(good_route, "{'paused': true}"),
			    load(good_mailbox));
	json_t		*routes = json_object_get(s, "routes");
	enum level	 level;
	char		*line = plugin_all(s, &level);

	(void)state;
	assert_int_equal(level, LEVEL_OK);
	assert_non_null(strstr(line, "OK - 1 route paused, no probes are "
	    "sent |"));
	mem_free(line);
	json_array_append_new(routes, changed(good_route, "{'route': 'in'}"));
	line = plugin_all(s, &level);
	assert_non_null(strstr(line, "OK - 1 route well, 1 paused, no probes "
	    "are sent, slowest in: "));
	mem_free(line);
	json_decref(s);
}

static void
many_bad_routes_are_counted_not_listed(void **state)
{
	json_t		*s = status_of(load(good_route), NULL);
	enum level	 level;
	char		*line, name[64];

	(void)state;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "{'route': 'r%d', 'last': null}",
		    i);
		json_array_append_new(json_object_get(s, "routes"),
		    changed(good_route, name));
	}
	line = plugin_all(s, &level);
	assert_non_null(strstr(line, "20 of 21 routes not well, r0: "));
	assert_non_null(strstr(line, "r7: no probe has ended yet; and 12 more "
	    "| "));
	assert_non_null(strstr(line, "'r19 pending'=0;;;0"));
	mem_free(line);
	json_decref(s);
}

static void
a_monitor_without_routes_is_unknown(void **state)
{
	json_t		*s = load("{'routes': []}");
	enum level	 level;
	char		*line = plugin_all(s, &level);

	(void)state;
	is_line(line, level, LEVEL_UNKNOWN,
	    "UNKNOWN - no routes are configured");
	json_decref(s);
}

static void
a_probe_s_result_is_told_as_it_ended(void **state)
{
	static const struct {
		const char	*probe;
		enum level	 level;
		const char	*line;
	} rows[] = {
		{ "{'state': 'done', 'outcome': 'delivered', 'total_ms': 842,"
		    " 'accept_ms': 120, 'arrived_at':"
		    " '2026-01-31T12:00:03.000Z'}", LEVEL_OK,
		    "OK - out: delivered in 0.84 s (12:00:03 UTC) | "
		    "total=0.842s;60;600;0 accept=0.120s" },
		{ "{'state': 'done', 'outcome': 'junk', 'total_ms': 842,"
		    " 'folder': 'Junk', 'arrived_at':"
		    " '2026-01-31T12:00:03.000Z'}", LEVEL_WARNING,
		    "WARNING - out: junk: delivered in 0.84 s, to Junk "
		    "(12:00:03 UTC) | total=0.842s;60;600;0" },
		{ "{'state': 'waiting', 'outcome': '', 'deferrals': 1, 'code':"
		    " 452, 'enhanced': '4.3.1', 'reply': 'Insufficient system"
		    " storage', 'class': 'system-full'}", LEVEL_CRITICAL,
		    "CRITICAL - out: deferred, 452 4.3.1 Insufficient system "
		    "storage (system-full)" },
		{ "{'state': 'waiting', 'outcome': '', 'class': 'blind',"
		    " 'reply': 'the resolver does not answer'}", LEVEL_UNKNOWN,
		    "UNKNOWN - out: deferred, the resolver does not answer "
		    "(blind)" },
		{ "{'state': 'waiting', 'outcome': '', 'class': 'auth', 'code':"
		    " 535, 'reply': 'bad', 'blind': true}", LEVEL_UNKNOWN,
		    "UNKNOWN - out: deferred, 535 bad (auth)" },
		{ "{'state': 'done', 'outcome': 'rejected', 'code': 550,"
		    " 'reply': 'no', 'class': 'policy'}", LEVEL_CRITICAL,
		    "CRITICAL - out: rejected, 550 no (policy)" },
		{ "{'state': 'done', 'outcome': 'lost', 'class': 'accepted'}",
		    LEVEL_CRITICAL, "CRITICAL - out: lost" },
		{ "{'state': 'done', 'outcome': 'blind'}", LEVEL_UNKNOWN,
		    "UNKNOWN - out: blind" },
		{ "{'state': 'accepted', 'outcome': '', 'mailbox': 'box',"
		    " 'accepted_at': '2026-01-31T11:50:10.000Z', 'accept_ms':"
		    " 7}", LEVEL_WARNING, "WARNING - out: late: accepted 10 "
		    "min ago, not seen in box yet | accept=0.007s" },
		{ "{}", LEVEL_UNKNOWN, "UNKNOWN - out: the answer of mailflowd "
		    "makes no sense" },
	};
	json_t		*s = status_of(load(good_route), NULL), *p;
	const int64_t	 now_ms = INT64_C(1769861410000);	/* 12:10:10 */
	enum level	 level;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		char	*line;

		p = load(rows[i].probe);
		line = plugin_probe("out", p, s, now_ms - 10 * 60 * 1000,
		    &level);
		is_line(line, level, rows[i].level, rows[i].line);
		json_decref(p);
	}
	json_decref(s);
}

static void
a_probe_without_an_answer_tells_where_it_is(void **state)
{
	static const struct row	rows[] = {
		{ "{" CURRENT("waiting", "0") "}", "{}", 0, "",
		    "UNKNOWN - out: no result within 1 min: the probe waits, "
		    "next try in 1 min" },
		{ "{" CURRENT("sending", "0") "}", "{}", 0, "",
		    "UNKNOWN - out: no result within 1 min: the probe is being "
		    "sent" },
		{ PENDING("11:59:01"), "{}", 0, "",
		    "UNKNOWN - out: no result within 1 min: accepted by "
		    "mx.example, not seen in box yet" },
		{ PENDING("11:59:01"), "{'state': 'blind', 'reason': 'login:"
		    " NO'}", 0, "", "UNKNOWN - out: no result within 1 min: "
		    "mailbox box cannot be looked at: login: NO" },
	};
	enum level	 level;
	json_t		*s;
	char		*line;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		s = status_of(changed(good_route, rows[i].route),
		    changed(good_mailbox, rows[i].mailbox));
		line = plugin_no_result("out", s, 60000, &level);
		is_line(line, level, LEVEL_UNKNOWN, rows[i].text);
		json_decref(s);
	}
	line = plugin_no_result("out", NULL, 60000, &level);
	is_line(line, level, LEVEL_UNKNOWN,
	    "UNKNOWN - out: no result within 1 min");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_route_that_delivers_is_ok),
		cmocka_unit_test(a_paused_route_is_ok_and_says_so),
		cmocka_unit_test(an_episode_that_fails_is_critical_with_the_server_s_words),
		cmocka_unit_test(of_two_episodes_the_one_that_fails_counts),
		cmocka_unit_test(a_monitor_that_cannot_look_is_unknown_never_critical),
		cmocka_unit_test(a_probe_that_ended_badly_is_critical_before_there_is_an_episode),
		cmocka_unit_test(a_deferred_probe_warns_and_tells_when_it_is_tried_again),
		cmocka_unit_test(accepting_again_warns_until_delivery_is_seen),
		cmocka_unit_test(a_mail_that_does_not_come_warns_and_then_is_critical),
		cmocka_unit_test(late_junk_and_slow_mail_warns),
		cmocka_unit_test(what_is_not_known_is_unknown),
		cmocka_unit_test(an_object_without_members_is_judged_without_harm),
		cmocka_unit_test(known_trouble_is_worse_than_not_knowing),
		cmocka_unit_test(check_is_one_line_with_figures),
		cmocka_unit_test(a_route_without_a_result_has_no_latency_figures),
		cmocka_unit_test(limits_below_a_second_keep_their_digits),
		cmocka_unit_test(nothing_a_server_says_breaks_the_line),
		cmocka_unit_test(a_very_long_reply_is_cut),
		cmocka_unit_test(check_of_all_names_the_bad_ones_and_takes_the_worst),
		cmocka_unit_test(check_of_all_says_how_many_are_paused),
		cmocka_unit_test(many_bad_routes_are_counted_not_listed),
		cmocka_unit_test(a_monitor_without_routes_is_unknown),
		cmocka_unit_test(a_probe_s_result_is_told_as_it_ended),
		cmocka_unit_test(a_probe_without_an_answer_tells_where_it_is),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
