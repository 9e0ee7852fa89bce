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

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/value.h"
#include "tests/sim/playground.h"
#include "tests/sim/rows.h"
#include "tests/sim/world.h"

#define START_MS	INT64_C(1767571200000)	/* 2026-01-05 00:00 UTC */
#define WORDS		8

struct line {
	char		*text;		/* owned */
	int		 number;
};

struct story {
	const char	*file;
	char		*title;		/* owned */
	char		*config;	/* owned */
	char		*config2;	/* owned: for reload */
	struct line	*lines;		/* owned */
	size_t		 count;
	bool		 sweep;
};

static unsigned		 passed, failed;
static const char	*scratch;

static void __attribute__((noreturn))
wrong(const struct story *s, const struct line *l, const char *why)
{
	fprintf(stderr, "%s:%d: %s: %s\n", s->file, l->number, why, l->text);
	exit(2);
}

/* Splits a line into words; a quoted one is one word. */
static size_t
split(char *text, char *words[static WORDS])
{
	size_t	n = 0;
	char	*p = text;

	while (n < WORDS) {
		p += strspn(p, " \t");
		if (*p == '\0')
			break;
		if (*p == '"') {
			words[n++] = ++p;
			p += strcspn(p, "\"");
		} else {
			words[n++] = p;
			p += strcspn(p, " \t");
		}
		if (*p != '\0')
			*p++ = '\0';
	}
	return (n);
}

/* Reading a story. */

static char *
read_block(FILE *f, int *number)
{
	char	line[1024], *text = mem_strdup("");

	while (fgets(line, sizeof line, f) != NULL) {
		char	*more;

		++*number;
		if (strcmp(line, "end\n") == 0)
			break;
		more = mem_printf("%s%s", text, line);
		mem_free(text);
		text = more;
	}
	return (text);
}

static void
add_line(struct story *s, const char *text, int number)
{
	s->lines = mem_grow(s->lines, s->count + 1, sizeof *s->lines);
	s->lines[s->count].text = mem_strdup(text);
	s->lines[s->count++].number = number;
}

static void
read_story(struct story *s, const char *file)
{
	FILE	*f = fopen(file, "r");
	char	 line[1024];
	int	 number = 0;

	*s = (struct story){ .file = file };
	if (f == NULL)
		panic("cannot read %s", file);
	while (fgets(line, sizeof line, f) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (strncmp(line, "title ", 6) == 0)
			s->title = mem_strdup(line + 6);
		else if (strcmp(line, "config") == 0)
			s->config = read_block(f, &number);
		else if (strcmp(line, "config2") == 0)
			s->config2 = read_block(f, &number);
		else if (strcmp(line, "sweep") == 0)
			s->sweep = true;
		else
			add_line(s, line, number);
	}
	fclose(f);
	if (s->config == NULL || s->title == NULL)
		panic("%s: a story needs a title and a config", file);
}

static void
free_story(struct story *s)
{
	for (size_t i = 0; i < s->count; i++)
		mem_free(s->lines[i].text);
	mem_free(s->lines);
	mem_free(s->title);
	mem_free(s->config);
	mem_free(s->config2);
}

/* Looking at what came of it. */

static void
count_open(void *arg, const struct episode *e)
{
	(void)e;
	++*(unsigned *)arg;
}

static void
count_duplicates(void *arg, const struct probe *p)
{
	*(unsigned *)arg += p->duplicates;
}

struct figure {
	const char	*name;
	unsigned	 (*of)(struct world *, const char *what);
};

static unsigned
of_attempts(struct world *w, const char *what)
{
	return (what[0] == '\0' ? (unsigned)world_attempts(w) :
	    rows_count(scratch, ROWS_ATTEMPTS, ATTEMPTS_CLASS, what, 0));
}

static unsigned
of_sessions(struct world *w, const char *server)
{
	return ((unsigned)world_attempts_on(w, server));
}

static unsigned
of_episodes(struct world *w, const char *class)
{
	(void)w;
	return (rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class, 0));
}

static unsigned
of_unaccepted(struct world *w, const char *class)
{
	(void)w;
	return (rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class, 0) -
	    rows_count(scratch, ROWS_EPISODES, EPISODES_CLASS, class,
	    EPISODES_ACCEPTING));
}

static unsigned
of_open(struct world *w, const char *what)
{
	unsigned	n = 0;

	(void)what;
	follow_each(engine_follow(world_engine(w)), count_open, &n);
	return (n);
}

static unsigned
of_duplicates(struct world *w, const char *route)
{
	unsigned	n = 0;

	(void)store_probe_history(world_store(w), route, 0, 10000,
	    count_duplicates, &n);
	return (n);
}

struct pending {
	const char	*route;
	unsigned	 n;
};

static void
add_pending(void *arg, const struct route_view *v)
{
	struct pending	*p = arg;

	if (strcmp(v->route->name, p->route) == 0)
		p->n += v->pending;
}

static unsigned
of_pending(struct world *w, const char *route)
{
	struct pending	p = { route, 0 };

	engine_routes(world_engine(w), add_pending, &p);
	return (p.n);
}

static unsigned
of_cleaned(struct world *w, const char *what)
{
	(void)what;
	return ((unsigned)world_cleaned(w));
}

static unsigned
of_bodies(struct world *w, const char *what)
{
	(void)what;
	return (world_bodies(w, ""));
}

static unsigned
of_repeats(struct world *w, const char *what)
{
	(void)what;
	return (world_repeats(w));
}

static unsigned
of_said(struct world *w, const char *words)
{
	return (world_said(w, words));
}

static unsigned
of_noted(struct world *w, const char *note)
{
	(void)w;
	return (rows_count(scratch, ROWS_LATENCY, LATENCY_NOTE, note, 0));
}

static unsigned
of_rows(struct world *w, const char *route)
{
	(void)w;
	return (rows_count(scratch, ROWS_LATENCY, LATENCY_ROUTE, route, 0));
}

/* What "expect" knows beside the outcomes of the latency CSV. */
static const struct figure	figures[] = {
	{ "attempts",	of_attempts },	/* [class]: sessions of probes */
	{ "sessions",	of_sessions },	/* server */
	{ "episodes",	of_episodes },	/* [class]: closed ones */
	{ "unaccepted",	of_unaccepted },	/* class: of those, no accept seen */
	{ "open",	of_open },	/* not quiet */
	{ "duplicates",	of_duplicates },
	{ "pending",	of_pending },	/* route */
	{ "cleaned",	of_cleaned },
	{ "bodies",	of_bodies },	/* of one token, at most */
	{ "repeats",	of_repeats },	/* notices that came twice */
	{ "said",	of_said },	/* words: notices that hold them */
	{ "noted",	of_noted },	/* note: rows of the latency CSV */
	{ "rows",	of_rows },	/* [route] of the latency CSV */
};

static unsigned
figure(struct world *w, const char *what, const char *of)
{
	for (size_t i = 0; i < NITEMS(figures); i++)
		if (strcmp(what, figures[i].name) == 0)
			return (figures[i].of(w, of));
	return (rows_count(scratch, ROWS_LATENCY, LATENCY_OUTCOME, what, 0));
}

/* "5", "5..9", "5.." against a figure. */
static bool
within(unsigned n, const char *range)
{
	unsigned	low, high;
	const char	*dots = strstr(range, "..");

	low = (unsigned)strtoul(range, NULL, 10);
	high = dots == NULL ? low : dots[2] == '\0' ? UINT32_MAX :
	    (unsigned)strtoul(dots + 2, NULL, 10);
	return (n >= low && n <= high);
}

/* One expectation; false with why filled. */
static bool
holds(struct world *w, size_t n, char *words[], char *why, size_t size)
{
	unsigned	have;

	if (strcmp(words[0], "notices") == 0) {
		snprintf(why, size, "notices \"%s\", expected \"%s\"",
		    world_notices(w), words[1]);
		return (strcmp(world_notices(w), words[1]) == 0);
	}
	have = figure(w, words[0], n > 2 ? words[1] : "");
	snprintf(why, size, "%s %s is %u, expected %s", words[0],
	    n > 2 ? words[1] : "", have, words[n - 1]);
	return (within(have, words[n - 1]));
}

/* Playing. */

static void
do_server(struct world *w, const struct story *s, const struct line *l,
    size_t n, char *words[])
{
	static const struct {
		const char	*word;
		enum behaviour	 behaviour;
		size_t		 words;
	} rows[] = {
		{ "accepts", SERVER_ACCEPTS, 3 },
		{ "answers", SERVER_ANSWERS, 5 },
		{ "silent", SERVER_SILENT, 3 },
		{ "swallows", SERVER_SWALLOWS, 3 },
		{ "refuses", SERVER_REFUSES, 3 },
		{ "hangs", SERVER_HANGS, 3 },
		{ "kills", SERVER_KILLS, 3 },
		{ "kills-late", SERVER_KILLS_LATE, 3 },
	};

	if (n == 3 && strcmp(words[2], "lucky") == 0) {
		world_lucky(w, words[1]);
		return;
	}
	for (size_t i = 0; n >= 3 && i < NITEMS(rows); i++)
		if (strcmp(words[2], rows[i].word) == 0 && n == rows[i].words) {
			world_server(w, words[1], rows[i].behaviour,
			    n > 3 ? words[3] : "", n > 4 ? words[4] : "");
			return;
		}
	wrong(s, l, "not a server's behaviour");
}

static void
do_mailbox(struct world *w, const struct story *s, const struct line *l,
    size_t n, char *words[])
{
	static const struct {
		const char	*word;
		enum fate	 fate;
	} fates[] = {
		{ "delivers", FATE_ARRIVES }, { "loses", FATE_LOST },
		{ "doubles", FATE_TWICE }, { "junks", FATE_JUNK },
		{ "holds", FATE_HELD },
	};
	const char	*why;
	int64_t		 ms;

	for (size_t i = 0; n == 3 && i < NITEMS(fates); i++)
		if (strcmp(words[2], fates[i].word) == 0) {
			world_fate(w, words[1], fates[i].fate);
			return;
		}
	if (n == 4 && strcmp(words[2], "blind") == 0)
		world_mailbox(w, words[1], true, words[3]);
	else if (n == 3 && strcmp(words[2], "sees") == 0)
		world_mailbox(w, words[1], false, "");
	else if (n == 4 && strcmp(words[2], "delays") == 0 &&
	    value_span(words[3], &ms, &why) == 0)
		world_delay(w, words[1], ms);
	else
		wrong(s, l, "not a mailbox's behaviour");
}

/* "clock +1h", "clock -1h" */
static void
do_clock(struct world *w, const struct story *s, const struct line *l,
    const char *by)
{
	const char	*why;
	int64_t		 ms;

	if (value_span(by + 1, &ms, &why) != 0)
		wrong(s, l, why);
	world_set_clock(w, by[0] == '-' ? -ms : ms);
}

static void
do_down(struct world *w, const struct story *s, const struct line *l,
    const char *span)
{
	const char	*why;
	int64_t		 ms;

	if (value_span(span, &ms, &why) != 0)
		wrong(s, l, why);
	world_down(w, ms);
}

static void
do_deed(struct world *w, const struct story *s, const struct line *l,
    size_t n, char *words[])
{
	const char	*verb = words[0];

	if (strcmp(verb, "server") == 0)
		do_server(w, s, l, n, words);
	else if (strcmp(verb, "mailbox") == 0)
		do_mailbox(w, s, l, n, words);
	else if (strcmp(verb, "recipient") == 0 && n == 5)
		world_recipient(w, words[1], words[3], words[4]);
	else if (strcmp(verb, "recipient") == 0 && n == 3)
		world_recipient(w, words[1], "rcpt", "");
	else if (strcmp(verb, "restart") == 0)
		world_down(w, 1000);
	else if (strcmp(verb, "down") == 0 && n == 2)
		do_down(w, s, l, words[1]);
	else if (strcmp(verb, "early") == 0)
		world_early(w, true);
	else if (strcmp(verb, "reload") == 0 && s->config2 != NULL)
		world_reload(w, s->config2);
	else if (strcmp(verb, "clock") == 0 && n == 2)
		do_clock(w, s, l, words[1]);
	else if (strcmp(verb, "pause") == 0 && n == 2)
		world_pause(w, words[1], true);
	else if (strcmp(verb, "resume") == 0 && n == 2)
		world_pause(w, words[1], false);
	else if (strcmp(verb, "ack") == 0 && n == 2)
		world_ack(w, atoll(words[1]));
	else if (strcmp(verb, "probe") == 0 && n == 2)
		world_probe(w, words[1]);
	else
		wrong(s, l, "not understood");
}

/* Plays it once; false with why filled if an expectation does not hold. */
static bool
play(const struct story *s, uint64_t crash_at, enum crash crash,
    uint64_t *commits_r, char *why, size_t size)
{
	struct world	*w;
	char		*words[WORDS], text[1024];
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
		if ((n = split(text, words)) < 2)
			wrong(s, l, "not understood");
		if (strcmp(words[0], "expect") == 0) {
			if (world_engine(w) == NULL)	/* it comes back */
				world_run(w, world_now_ms(w) + 60000);
			ok = holds(w, n - 1, words + 1, why, size);
			continue;
		}
		if (strcmp(words[0], "until") == 0) {
			if (value_span(words[1], &ms, &bad) != 0)
				wrong(s, l, bad);
			world_run(w, START_MS + ms);
			continue;
		}
		if (value_span(words[0], &ms, &bad) != 0)
			wrong(s, l, bad);
		world_run(w, START_MS + ms);
		do_deed(w, s, l, n - 1, words + 1);
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
		read_story(&s, argv[i]);
		play_all(&s);
		free_story(&s);
	}
	playground_remove();
	printf("%u passed, %u failed\n", passed, failed);
	return (failed > 0 || passed == 0);
}
