#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/value.h"
#include "tests/sim/story.h"

/* What a story does to its world. */

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
		{ "unresolved", SERVER_UNRESOLVED, 3 },
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
	story_wrong(s, l, "not a server's behaviour");
}

static void
do_report(struct world *w, const struct story *s, const struct line *l,
    char *words[])
{
	static const struct {
		const char		*word;
		enum report_news	 news;
	} rows[] = {
		{ "relayed", REPORT_NOTED }, { "delayed", REPORT_DELAYED },
		{ "failed", REPORT_LOST },
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		if (strcmp(words[2], rows[i].word) == 0) {
			world_report(w, words[1], rows[i].news, words[3],
			    words[4]);
			return;
		}
	story_wrong(s, l, "not what a report says");
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
		{ "holds", FATE_HELD }, { "bounces", FATE_BOUNCED },
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
		story_wrong(s, l, "not a mailbox's behaviour");
}

/* "clock +1h", "clock -1h" */
static void
do_clock(struct world *w, const struct story *s, const struct line *l,
    const char *by)
{
	const char	*why;
	int64_t		 ms;

	if (value_span(by + 1, &ms, &why) != 0)
		story_wrong(s, l, why);
	world_set_clock(w, by[0] == '-' ? -ms : ms);
}

static void
do_down(struct world *w, const struct story *s, const struct line *l,
    const char *span)
{
	const char	*why;
	int64_t		 ms;

	if (value_span(span, &ms, &why) != 0)
		story_wrong(s, l, why);
	world_down(w, ms);
}

void
deed_do(struct world *w, const struct story *s, const struct line *l,
    size_t n, char *words[])
{
	const char	*verb = words[0];

	if (strcmp(verb, "server") == 0)
		do_server(w, s, l, n, words);
	else if (strcmp(verb, "mailbox") == 0)
		do_mailbox(w, s, l, n, words);
	else if (strcmp(verb, "report") == 0 && n == 5)
		do_report(w, s, l, words);
	else if (strcmp(verb, "recipient") == 0 && n == 5)
		world_recipient(w, words[1], words[3], words[4]);
	else if (strcmp(verb, "recipient") == 0 && n == 3)
		world_recipient(w, words[1], "rcpt", "");
	else if (strcmp(verb, "domain") == 0 && n == 4)
		world_hosts(w, words[1], words[3]);
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
		story_wrong(s, l, "not understood");
}
