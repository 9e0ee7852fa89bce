/*
 * Plays stories: sim STORY...
 *
 * A story is a text file.  A configuration, then what happens when, then what
 * must have come of it:
 *
 *	title A full system is one episode
 *	config
 *	server "mx" { ... }
 *	end
 *	10m server mx answers mail "452 4.3.1 Insufficient system storage"
 *	50m server mx accepts
 *	until 2h
 *	expect notices "failing accepting delivered"
 *	expect delivered 10..20
 *	sweep
 *
 * With "sweep" the story is played again and again, the power going at its
 * first commit, its second, and so on, before it, between it and its orders,
 * and after them; what is expected must come all the same.  SIM_AT=within:25
 * plays that one crash only ("before", "within", "after"), SIM_EVERY=7 every
 * seventh, SIM_EVERY=0 none; SIM_LOG=1 shows the monitor's log.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/value.h"
#include "tests/sim/playground.h"
#include "tests/sim/story.h"

#define START_MS	INT64_C(1767571200000)	/* 2026-01-05 00:00 UTC */

static unsigned		 passed, failed;
static const char	*scratch;

/* Plays it once; false with why filled if an expectation does not hold. */
static bool
play(const struct story *s, uint64_t crash_at, enum crash crash,
    uint64_t *commits_r, char *why, size_t size)
{
	struct world	*w;
	char		*words[STORY_WORDS], text[1024];
	const char	*bad;
	int64_t		 ms;
	size_t		 n;
	bool		 ok = true;

	playground_clear();
	w = world_new(scratch, s->config, START_MS);
	if (crash_at != 0)
		world_crash_at(w, crash_at, crash);
	for (size_t i = 0; i < s->count && ok; i++) {
		const struct line	*l = &s->lines[i];

		text_copy(text, sizeof text, l->text);
		if ((n = story_split(text, words)) < 2)
			story_wrong(s, l, "not understood");
		if (strcmp(words[0], "expect") == 0) {
			if (world_engine(w) == NULL)	/* it comes back */
				world_run(w, world_now_ms(w) + 60000);
			ok = expect_holds(w, scratch, n - 1, words + 1, why,
			    size);
			continue;
		}
		if (strcmp(words[0], "until") == 0) {
			if (value_span(words[1], &ms, &bad) != 0)
				story_wrong(s, l, bad);
			world_run(w, START_MS + ms);
			continue;
		}
		if (value_span(words[0], &ms, &bad) != 0)
			story_wrong(s, l, bad);
		world_run(w, START_MS + ms);
		deed_do(w, s, l, n - 1, words + 1);
	}
	if (ok && world_fault(w)[0] != '\0') {
		ok = false;
		text_copy(why, size, world_fault(w));
	}
	*commits_r = world_commits(w);
	world_free(&w);
	return (ok);
}

static void
tell(const struct story *s, bool ok, const char *detail)
{
	printf("%-4s %s%s%s\n", ok ? "ok" : "FAIL", s->title,
	    detail[0] != '\0' ? ": " : "", detail);
	if (ok)
		passed++;
	else
		failed++;
}

static const char *const	when[] = {
	[CRASH_BEFORE_COMMIT] = "before", [CRASH_BEFORE_ORDERS] = "within",
	[CRASH_AFTER] = "after",
};

static void
sweep(const struct story *s, uint64_t commits)
{
	char		why[4096], detail[4352] = "";
	const char	*sparse = getenv("SIM_EVERY");
	uint64_t	every, n, at, runs = 0, ignored;

	every = sparse != NULL ? strtoull(sparse, NULL, 10) : 1;
	if (every == 0)
		return;
	/* The three kinds of crash between each other's. */
	for (n = 0; n < 3; n++)
		for (at = 1 + n * every / 3; at <= commits;
		    at += every, runs++)
			if (!play(s, at, (enum crash)n, &ignored, why,
			    sizeof why)) {
				snprintf(detail, sizeof detail,
				    "power gone %s commit %" PRIu64 ": %s",
				    when[n], at, why);
				tell(s, false, detail);
				return;
			}
	snprintf(detail, sizeof detail, "survives %" PRIu64 " crashes", runs);
	tell(s, true, detail);
}

/* One crash alone: "within:25". */
static void
play_one_crash(const struct story *s, const char *at)
{
	char		why[4096] = "", detail[4352];
	uint64_t	ignored;
	size_t		n, len = strcspn(at, ":");
	bool		ok;

	for (n = 0; n < NITEMS(when); n++)
		if (strlen(when[n]) == len && strncmp(when[n], at, len) == 0)
			break;
	if (n == NITEMS(when) || at[len] != ':')
		panic("SIM_AT is not a moment: %s", at);
	ok = play(s, strtoull(at + len + 1, NULL, 10), (enum crash)n, &ignored,
	    why, sizeof why);
	snprintf(detail, sizeof detail, "power gone at %s: %s", at, why);
	tell(s, ok, detail);
}

static void
play_all(const struct story *s)
{
	char		why[4096] = "";
	const char	*at = getenv("SIM_AT");
	uint64_t	commits;
	bool		ok;

	if (at != NULL) {
		play_one_crash(s, at);
		return;
	}
	ok = play(s, 0, CRASH_AFTER, &commits, why, sizeof why);
	tell(s, ok, ok ? "" : why);
	if (ok && s->sweep)
		sweep(s, commits);
}

int
main(int argc, char **argv)
{
	struct story	 s;

	if (getenv("SIM_LOG") == NULL && freopen("/dev/null", "w",
	    stderr) == NULL)
		return (2);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	scratch = playground_make();
	for (int i = 1; i < argc; i++) {
		story_read(&s, argv[i]);
		play_all(&s);
		story_free(&s);
	}
	playground_remove();
	printf("%u passed, %u failed\n", passed, failed);
	return (failed > 0 || passed == 0);
}
