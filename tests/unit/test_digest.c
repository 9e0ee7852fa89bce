#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alerts/digest.h"
#include "monitor/config.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define SINCE	INT64_C(1767225600000)	/* 2026-01-01 */

/* What the store and the episodes answer. */

static struct total {
	const char	*route;
	enum probe_end	 end;
	unsigned	 deferrals;
	int64_t		 total_ms;
} totals[400];
static size_t		 total_count;
static struct episode	 open_episode;
static char		 body[NOTICE_BODY];
static struct config	*config;

int
store_probe_totals(struct store *s, int64_t since_ms, unsigned limit,
    void (*call)(void *arg, const char *route, enum probe_end,
    unsigned deferrals, int64_t total_ms), void *arg)
{
	(void)s;
	assert_true(since_ms == SINCE);
	assert_int_equal(limit, DIGEST_PROBES);
	for (size_t i = 0; i < total_count; i++)
		call(arg, totals[i].route, totals[i].end,
		    totals[i].deferrals, totals[i].total_ms);
	return (0);
}

void
follow_each(const struct follow *f,
    void (*call)(void *arg, const struct episode *), void *arg)
{
	(void)f;
	if (open_episode.id != 0)
		call(arg, &open_episode);
}

static void
report(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, "warning") == NULL)
		print_error("%s\n", line);
}

static void
with_routes(unsigned n)
{
	char	 path[] = "/tmp/test-digest.XXXXXX";
	FILE	*f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	fputs("server \"s\" { host = \"mx.example\" tls = \"none\" port = 25 }\n"
	    "server \"a\" { host = \"out.example\" tls = \"none\" port = 25 }\n"
	    "mailbox \"b\" { host = \"imap.example\" user = \"u\" "
	    "password_command = \"true\" }\n"
	    "alerts \"default\" { from = \"m@example.org\" to = "
	    "{\"x@example.net\"} servers = {\"a\"} }\n"
	    "alerts \"other\" { command = \"true\" }\n", f);
	for (unsigned i = 0; i <= n; i++)
		fprintf(f, "route \"%s%u\" { server = \"s\" from = "
		    "\"p@example.org\" to = \"c@example.com\" mailbox = \"b\" "
		    "alerts = \"%s\" }\n", i == n ? "other" : "r", i,
		    i == n ? "other" : "default");
	fclose(f);
	config_free(&config);
	config = config_load(path, report, NULL);
	unlink(path);
	assert_non_null(config);
	total_count = 0;
	open_episode = (struct episode){ .id = 0 };
}

static void
ended(const char *route, enum probe_end end, unsigned deferrals,
    int64_t total_ms)
{
	totals[total_count++] = (struct total){ route, end, deferrals,
	    total_ms };
}

static void
write_it(void)
{
	body[0] = '\0';
	assert_int_equal(digest_write(config, NULL, NULL,
	    config_alerts(config, "default"), SINCE, body, sizeof body), 0);
	for (const char *s = body; *s != '\0'; s += strcspn(s, "\n") + 1)
		assert_true(strcspn(s, "\n") <= 76);
	assert_true(text_is_ascii(body) || strchr(body, '\n') != NULL);
}

static void
says(const char *what)
{
	if (strstr(body, what) == NULL)
		fail_msg("does not say \"%s\":\n%s", what, body);
}

static void
each_route_has_its_figures_and_the_worst_comes_first(void **state)
{
	(void)state;
	with_routes(2);
	for (int i = 1; i <= 100; i++)
		ended("r0", PROBE_END_DELIVERED, i == 7 ? 3 : 0, i * 10);
	ended("r1", PROBE_END_DELIVERED, 0, 12300);
	ended("r1", PROBE_END_LATE, 2, 4 * 60000 + 48000);
	ended("r1", PROBE_END_LOST, 0, STAMP_NO_SPAN);
	ended("r1", PROBE_END_BLIND, 0, STAMP_NO_SPAN);
	ended("other2", PROBE_END_LOST, 0, STAMP_NO_SPAN);
	ended("gone", PROBE_END_LOST, 0, STAMP_NO_SPAN);
	write_it();
	says("r1                          2     1      1      2    12.3s    "
	    "4m48s    4m48s\n"
	    "r0                        100     0      0      3    0.50s    "
	    "0.95s    1.00s\n");
	says("Of 1 nothing is known");
	says("No trouble lasts.");
	assert_null(strstr(body, "other2"));
}

static void
a_quiet_route_is_listed_without_times(void **state)
{
	(void)state;
	with_routes(1);
	write_it();
	says("r0                          0     0      0      0        -        "
	    "-        -\n");
}

static void
trouble_that_lasts_is_named(void **state)
{
	(void)state;
	with_routes(1);
	open_episode = (struct episode){ .id = 17, .state = EPISODE_FAILING,
	    .class = CLASS_SYSTEM_FULL, .scope = "system mx.example",
	    .alerts = "default", .first_miss_ms = SINCE };
	write_it();
	says("Not over:\n  17 system-full, system mx.example\n"
	    "    failing since 2026-01-01 00:00:00 UTC\n");
	text_copy(open_episode.alerts, sizeof open_episode.alerts, "other");
	write_it();
	says("No trouble lasts.");
}

static void
many_routes_fit_and_the_rest_is_counted(void **state)
{
	char	names[300][16];

	(void)state;
	with_routes(300);
	for (size_t i = 0; i < NITEMS(names); i++) {
		snprintf(names[i], sizeof names[i], "r%zu", i);
		ended(names[i], PROBE_END_DELIVERED, 0, (int64_t)i);
	}
	ended("r5", PROBE_END_REJECTED, 0, STAMP_NO_SPAN);
	write_it();
	assert_true(strlen(body) < sizeof body - 1024);
	assert_true(strstr(body, "\nr5 ") < strstr(body, "\nr299 "));
	says("and 260 more that did better\n");
}

static int
end(void **state)
{
	(void)state;
	config_free(&config);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(
		    each_route_has_its_figures_and_the_worst_comes_first),
		cmocka_unit_test(a_quiet_route_is_listed_without_times),
		cmocka_unit_test(trouble_that_lasts_is_named),
		cmocka_unit_test(many_routes_fit_and_the_rest_is_counted),
	};

	return (cmocka_run_group_tests_name("digest", tests, NULL, end));
}
