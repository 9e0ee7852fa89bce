/*
 * A year of one-minute probes on ten routes, with a full system every ten
 * days: year [-d DAYS] [-r ROUTES]
 *
 * The schedule, the probes, the judging, the episodes and the outbox are the
 * real ones; the store is in memory and forgets after a day.  Prints how
 * long it took and what came of it, and fails if a probe was lost, a notice
 * too many or too few, or an episode is still open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "tests/sim/memory_store.h"
#include "tests/sim/playground.h"
#include "tests/sim/world.h"

#define START_MS	INT64_C(1767571200000)	/* 2026-01-05 00:00 UTC */
#define MINUTE_MS	INT64_C(60000)
#define DAY_MS		(24 * 60 * MINUTE_MS)
#define TROUBLE_EVERY	10			/* days */

static char *
make_config(unsigned routes)
{
	char	*text = mem_strdup("instance = \"year\"\nspacing = 0\n"
		    "keep_days = 1\n"
		    "server \"mx\" { host = \"mx.example.org\" tls = \"none\" "
		    "port = 25 concurrency = 4 }\n"
		    "server \"alert\" { host = \"192.0.2.9\" tls = \"none\" "
		    "port = 25 }\n"
		    "mailbox \"box\" { host = \"imap.example.org\" user = "
		    "\"canary\" password_command = \"true\" poll = 1h }\n"
		    "alerts \"default\" { from = \"m@example.net\" to = "
		    "{\"admin@example.net\"} servers = {\"alert\"} }\n"), *more;

	for (unsigned i = 0; i < routes; i++) {
		more = mem_printf("%sroute \"r%u\" { server = \"mx\" from = "
		    "\"probe@example.org\" to = \"canary%u@example.com\" "
		    "mailbox = \"box\" every = 1m }\n", text, i, i);
		mem_free(text);
		text = more;
	}
	return (text);
}

static double
seconds(clockid_t clock)
{
	struct timespec	t;

	clock_gettime(clock, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec / 1e9);
}

/* Forty minutes of a full system at noon of every tenth day. */
static unsigned
live(struct world *w, unsigned days)
{
	unsigned	troubles = 0;

	for (unsigned day = 0; day < days; day++) {
		int64_t	noon_ms = START_MS + day * DAY_MS + DAY_MS / 2;

		if (day % TROUBLE_EVERY == 4) {
			world_run(w, noon_ms);
			world_server(w, "mx", SERVER_ANSWERS, "mail",
			    "452 4.3.1 Insufficient system storage");
			world_run(w, noon_ms + 40 * MINUTE_MS);
			world_server(w, "mx", SERVER_ACCEPTS, "", "");
			troubles++;
		}
		world_run(w, START_MS + (day + 1) * DAY_MS);
	}
	return (troubles);
}

static void
count_open(void *arg, const struct episode *e)
{
	(void)e;
	++*(unsigned *)arg;
}

/* What is wrong, or NULL. */
static const char *
judge(struct world *w, unsigned troubles, uint64_t expected)
{
	uint64_t	delivered = memory_ends(PROBE_END_DELIVERED), other = 0;
	unsigned	open = 0, told = 0;

	for (int end = 0; end < PROBE_ENDS; end++)
		if (end != PROBE_END_DELIVERED)
			other += memory_ends((enum probe_end)end);
	follow_each(engine_follow(world_engine(w)), count_open, &open);
	for (const struct told *t = world_told(w); t != NULL; t = t->next)
		told++;
	if (world_fault(w)[0] != '\0')
		return (world_fault(w));
	if (other != 0)
		return ("a probe was not delivered");
	if (delivered < expected - expected / 50 || delivered > expected + 50)
		return ("the number of probes is not what the schedule says");
	if (open != 0)
		return ("an episode is still open");
	if (told != 3 * troubles)
		return ("an episode is not three notices");
	return (NULL);
}

int
main(int argc, char **argv)
{
	unsigned	 days = 365, routes = 10, troubles;
	const char	*directory, *wrong;
	struct world	*w;
	char		*text;
	double		 began;
	int		 c;

	while ((c = getopt(argc, argv, "d:r:")) != -1)
		if (c == 'd')
			days = (unsigned)atoi(optarg);
		else if (c == 'r')
			routes = (unsigned)atoi(optarg);
		else
			return (64);
	if (getenv("SIM_LOG") == NULL && freopen("/dev/null", "w",
	    stderr) == NULL)
		return (2);
	memory_keep_rows(false);
	directory = playground_make();
	text = make_config(routes);
	began = seconds(CLOCK_MONOTONIC);
	w = world_new(directory, text, START_MS);
	world_forgetful(w);
	troubles = live(w, days);
	wrong = judge(w, troubles, (uint64_t)days * routes * 1440);
	printf("%u days of %u routes: %" PRIu64 " probes, %u episodes in "
	    "%.1f s, %.1f s of the processor%s%s\n", days, routes, memory_ends(PROBE_END_DELIVERED),
	    troubles, seconds(CLOCK_MONOTONIC) - began,
	    seconds(CLOCK_PROCESS_CPUTIME_ID), wrong != NULL ? ": " : "",
	    wrong != NULL ? wrong : "");
	world_free(&w);
	mem_free(text);
	memory_store_free();
	playground_remove();
	printf("%d passed, %d failed\n", wrong == NULL, wrong != NULL);
	return (wrong != NULL);
}
