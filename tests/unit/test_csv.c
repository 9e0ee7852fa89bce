#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/csv.h"
#include "monitor/csv_row.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "tests/unit/fault.h"
#include "tests/unit/scratch.h"

#define NOON	1767268800000	/* 2026-01-01T12:00:00Z */
#define DAY	86400000
#define FIRST	"csv/latency-2026-01-01.csv"
#define WHY	512

/* A monitor's store and CSV writer in the test's directory. */
struct world {
	struct store	*store;
	struct csv	*csv;
};

static struct world
open_world(void **state)
{
	char		why[WHY] = "";
	struct world	w;

	w.store = store_open(*state, why, sizeof why);
	if (w.store == NULL)
		fail_msg("store_open: %s", why);
	w.csv = csv_open(scratch_path(state, "csv"), w.store, why, sizeof why);
	if (w.csv == NULL)
		fail_msg("csv_open: %s", why);
	return (w);
}

static void
close_world(struct world *w)
{
	csv_close(&w->csv);
	store_close(&w->store);
}

static void
fill(struct probe *p, const char *token, int64_t finished_ms)
{
	probe_init(p);
	text_copy(p->token, sizeof p->token, token);
	text_copy(p->route, sizeof p->route, "office");
	p->state = PROBE_DONE;
	p->end = PROBE_END_DELIVERED;
	p->finished_ms = finished_ms;
}

static void
tell(struct world *w, const char *token, int64_t finished_ms)
{
	struct probe	p;

	fill(&p, token, finished_ms);
	csv_latency(w->csv, &p);
}

static void
flushed(struct world *w)
{
	assert_int_equal(csv_flush(w->csv), 0);
	if (store_commit(w->store) == -1)
		fail_msg("store_commit: %s", store_error(w->store));
}

static unsigned
occurrences(const char *text, const char *part)
{
	unsigned	n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return (n);
}

static void
file_has(void **state, const char *name, const char *part, unsigned times)
{
	char	*text = scratch_read(scratch_path(state, name));

	if (occurrences(text, part) != times)
		fail_msg("%s: not %u times \"%s\" in: %s", name, times, part,
		    text);
	mem_free(text);
}

static void
append_text(void **state, const char *name, const char *text)
{
	FILE	*f = fopen(scratch_path(state, name), "ae");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/*
 * Splits one record as RFC 4180 says; the fields in order, without quotes.
 * Returns how many, and fails the test on anything the RFC does not have.
 */
static unsigned
split(const char *line, char fields[][2048])
{
	unsigned	n = 0;
	size_t		len;

	for (;;) {
		bool	quoted = *line == '"';

		line += quoted;
		for (len = 0;; line++) {
			if (quoted && line[0] == '"' && line[1] == '"')
				line++;
			else if (quoted ? *line == '"' :
			    *line == ',' || *line == '\r')
				break;
			assert_true(quoted || *line != '"');
			assert_true(*line != '\0' && *line != '\n' &&
			    *line != '\r');
			fields[n][len++] = *line;
			assert_in_range(len, 0, 2047);
		}
		fields[n++][len] = '\0';
		line += quoted;
		if (*line == '\r') {
			assert_string_equal(line, "\r\n");
			return (n);
		}
		assert_int_equal(*line++, ',');
	}
}

/* columns */

static void
the_columns_are_those_of_the_manual(void **state)
{
	(void)state;
	assert_string_equal(csv_header(CSV_LATENCY),
	    "probe,route,server,host,from,to,mailbox,scheduled_at,"
	    "first_attempt_at,accepted_at,arrived_at,finished_at,outcome,"
	    "class,attempts,deferrals,code,enhanced,reply,queue_id,size,"
	    "total_ms,accept_ms,transit_ms,folder,hops,slowest_hop,"
	    "slowest_hop_ms,skew_ms,duplicates,note\r\n");
	assert_string_equal(csv_header(CSV_ATTEMPTS),
	    "probe,route,server,host,address,try,started_at,stage,class,"
	    "temporary,code,enhanced,reply,tls,connect_ms,greeting_ms,"
	    "ehlo_ms,tls_ms,auth_ms,mail_ms,rcpt_ms,data_ms,dot_ms,"
	    "total_ms,earlier\r\n");
	assert_string_equal(csv_header(CSV_EPISODES),
	    "episode,scope,class,opened_at,failing_notice_at,accepting_at,"
	    "delivered_at,closed_by,reopened,refusals,first_reply,"
	    "last_reply,routes,max_delay_ms\r\n");
}

static void
a_latency_row_tells_the_whole_probe(void **state)
{
	struct probe	 p;
	char		*row;

	(void)state;
	fill(&p, "mf1abc", NOON + 5000);
	text_copy(p.server, sizeof p.server, "outbound");
	text_copy(p.host, sizeof p.host, "mx.example.com");
	text_copy(p.from, sizeof p.from, "probe@example.org");
	text_copy(p.to, sizeof p.to, "canary@example.com");
	text_copy(p.mailbox, sizeof p.mailbox, "gmail");
	p.scheduled_ms = NOON;
	p.first_attempt = (struct stamp){ NOON + 7, 1007, 9 };
	p.accepted = (struct stamp){ NOON + 4100, 5100, 9 };
	p.arrived = (struct stamp){ NOON + 4090, 5090, 9 };
	p.class = CLASS_ACCEPTED;
	p.attempts = 3;
	p.deferrals = 2;
	p.code = 250;
	text_copy(p.enhanced, sizeof p.enhanced, "2.0.0");
	text_copy(p.reply, sizeof p.reply, "250 2.0.0 Ok: queued as 4Q0ABC");
	text_copy(p.queue_id, sizeof p.queue_id, "4Q0ABC");
	p.size = 1500;
	text_copy(p.folder, sizeof p.folder, "INBOX");
	p.hops = 0;
	text_copy(p.slowest_hop, sizeof p.slowest_hop, "relay");
	p.slowest_hop_ms = 0;
	p.skew_ms = -120;
	p.duplicates = 1;
	text_copy(p.note, sizeof p.note, "was-lost");
	row = csv_row_latency(&p);
	assert_string_equal(row, "mf1abc,office,outbound,mx.example.com,"
	    "probe@example.org,canary@example.com,gmail,"
	    "2026-01-01T12:00:00.000Z,2026-01-01T12:00:00.007Z,"
	    "2026-01-01T12:00:04.100Z,2026-01-01T12:00:04.090Z,"
	    "2026-01-01T12:00:05.000Z,delivered,accepted,3,2,250,2.0.0,"
	    "250 2.0.0 Ok: queued as 4Q0ABC,4Q0ABC,1500,4083,4093,-10,INBOX,"
	    "0,relay,0,-120,1,was-lost arrived-before-250\r\n");
	mem_free(row);
}

static void
what_is_not_known_is_empty(void **state)
{
	struct probe	 p;
	struct outcome	 o;
	struct episode	 e = { 0 };
	char		*row;

	(void)state;
	probe_init(&p);
	row = csv_row_latency(&p);
	assert_string_equal(row, ",,,,,,,,,,,,,,0,0,,,,,,,,,,,,,,0,\r\n");
	mem_free(row);
	outcome_init(&o);
	row = csv_row_attempt(&p, &o, "");
	assert_string_equal(row, ",,,,,0,,,,,,,,,,,,,,,,,,,\r\n");
	mem_free(row);
	row = csv_row_episode(&e);
	assert_string_equal(row, "0,,,,,,,,0,0,,,,0\r\n");
	mem_free(row);
}

static void
an_attempt_row_tells_the_session_stage_by_stage(void **state)
{
	struct outcome	 o;
	struct probe	 p;
	char		*row;

	(void)state;
	fill(&p, "mf1abc", NOON);
	p.attempts = 2;
	outcome_init(&o);
	text_copy(o.host, sizeof o.host, "mx.example.com");
	text_copy(o.address, sizeof o.address, "2001:db8::1");
	text_copy(o.earlier, sizeof o.earlier,
	    "192.0.2.1: connection refused");
	text_copy(o.tls, sizeof o.tls, "TLSv1.3 verified");
	o.started = (struct stamp){ NOON, 1000, 9 };
	o.finished = (struct stamp){ NOON + 80, 1080, 9 };
	o.stage = STAGE_MAIL;
	o.class = CLASS_SYSTEM_FULL;
	o.verdict = VERDICT_TEMPORARY;
	o.code = 452;
	text_copy(o.enhanced, sizeof o.enhanced, "4.3.1");
	text_copy(o.reply, sizeof o.reply,
	    "452 4.3.1 Insufficient system storage");
	for (int i = 0; i < STAGES; i++)
		o.stage_ms[i] = i <= STAGE_MAIL ? i : -1;
	row = csv_row_attempt(&p, &o, "outbound");
	assert_string_equal(row, "mf1abc,office,outbound,mx.example.com,"
	    "2001:db8::1,2,2026-01-01T12:00:00.000Z,mail,system-full,"
	    "temporary,452,4.3.1,452 4.3.1 Insufficient system storage,"
	    "TLSv1.3 verified,2,3,10,5,7,8,,,,80,"
	    "192.0.2.1: connection refused\r\n");
	mem_free(row);
	/* Without TLS there is one EHLO. */
	o.stage_ms[STAGE_STARTTLS] = o.stage_ms[STAGE_EHLO2] = -1;
	o.earlier[0] = '\0';
	row = csv_row_attempt(&p, &o, "outbound");
	assert_non_null(strstr(row, ",2,3,4,,7,8,,,,80,\r\n"));
	mem_free(row);
}

static void
an_episode_row_tells_its_whole_story(void **state)
{
	struct episode	 e = {
		.id = 12,
		.scope = "system mx.example.com",
		.class = CLASS_SYSTEM_FULL,
		.opened_ms = NOON,
		.failing_notice_ms = NOON + 1,
		.accepting_ms = NOON + 2,
		.delivered_ms = NOON + 3,
		.closed_by = "mf1abc",
		.swings = 3,
		.refusals = 14,
		.first_reply = "452 4.3.1 Mail system full",
		.last_reply = "452 4.3.1 Mail system full, still",
		.routes = "a =b c",
		.max_delay_ms = 900000,
	};
	char		*row = csv_row_episode(&e);

	(void)state;
	assert_string_equal(row, "12,system mx.example.com,system-full,"
	    "2026-01-01T12:00:00.000Z,2026-01-01T12:00:00.001Z,"
	    "2026-01-01T12:00:00.002Z,2026-01-01T12:00:00.003Z,mf1abc,2,14,"
	    "452 4.3.1 Mail system full,\"452 4.3.1 Mail system full, still\","
	    "a '=b c,900000\r\n");
	mem_free(row);
}

static void
text_of_others_is_harmless_in_a_spreadsheet(void **state)
{
	static const struct {
		const char	*reply, *field;
	} rows[] = {
		{ "=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\"" },
		{ "+1", "'+1" },
		{ "-1", "'-1" },
		{ "@SUM(A1)", "'@SUM(A1)" },
		{ "\t=1", "' =1" },
		{ "\r\n=1", "'  =1" },
		{ " +1", "' +1" },
		{ "\xef\xbc\x9d" "1", "'\xef\xbc\x9d" "1" },
		{ "550 a=b -c @d", "550 a=b -c @d" },
		{ "a,b", "\"a,b\"" },
		{ "say \"no\"", "\"say \"\"no\"\"\"" },
		{ "a\r\nb\tc", "a  b c" },
		{ "a\x1b[31mred", "a [31mred" },
		{ "d\xc3\xa9j\xc3\xa0", "d\xc3\xa9j\xc3\xa0" },
		{ "bad \xff\xc3", "bad ??" },
		{ "ends ", "\"ends \"" },
		{ "'quoted", "'quoted" },
	};
	char	fields[40][2048], want[2048];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		struct probe	 p;
		char		*row;

		fill(&p, "t", NOON);
		text_copy(p.reply, sizeof p.reply, rows[i].reply);
		row = csv_row_latency(&p);
		snprintf(want, sizeof want, ",%s,", rows[i].field);
		if (strstr(row, want) == NULL)
			fail_msg("%s: %s", rows[i].reply, row);
		assert_int_equal(split(row, fields), 31);
		mem_free(row);
	}
}

static void
hostile_text_in_every_column_stays_in_its_column(void **state)
{
	static const char	evil[] = "=\"a\",\r\n\"b\",\x01\xf0\x28\x8c";
	char			fields[40][2048];
	struct probe		p;
	struct outcome		o;
	struct episode		e = { 0 };
	char			*row;

	(void)state;
	probe_init(&p);
	outcome_init(&o);
	text_copy(p.token, sizeof p.token, evil);
	text_copy(p.route, sizeof p.route, evil);
	text_copy(p.server, sizeof p.server, evil);
	text_copy(p.host, sizeof p.host, evil);
	text_copy(p.from, sizeof p.from, evil);
	text_copy(p.to, sizeof p.to, evil);
	text_copy(p.mailbox, sizeof p.mailbox, evil);
	text_copy(p.enhanced, sizeof p.enhanced, evil);
	text_copy(p.reply, sizeof p.reply, evil);
	text_copy(p.queue_id, sizeof p.queue_id, evil);
	text_copy(p.folder, sizeof p.folder, evil);
	text_copy(p.slowest_hop, sizeof p.slowest_hop, evil);
	text_copy(p.note, sizeof p.note, evil);
	row = csv_row_latency(&p);
	assert_int_equal(split(row, fields), 31);
	assert_string_equal(fields[18], "'=\"a\",  \"b\", ?(?");
	mem_free(row);
	text_copy(o.host, sizeof o.host, evil);
	text_copy(o.address, sizeof o.address, evil);
	text_copy(o.earlier, sizeof o.earlier, evil);
	text_copy(o.enhanced, sizeof o.enhanced, evil);
	text_copy(o.reply, sizeof o.reply, evil);
	text_copy(o.tls, sizeof o.tls, evil);
	row = csv_row_attempt(&p, &o, evil);
	assert_int_equal(split(row, fields), 25);
	mem_free(row);
	text_copy(e.scope, sizeof e.scope, evil);
	text_copy(e.closed_by, sizeof e.closed_by, evil);
	text_copy(e.first_reply, sizeof e.first_reply, evil);
	text_copy(e.last_reply, sizeof e.last_reply, evil);
	text_copy(e.routes, sizeof e.routes, evil);
	row = csv_row_episode(&e);
	assert_int_equal(split(row, fields), 14);
	mem_free(row);
}

static void
a_long_reply_is_cut_and_never_inside_a_letter(void **state)
{
	char		 fields[40][2048];
	struct probe	 p;
	char		*row;

	(void)state;
	fill(&p, "t", NOON);
	memset(p.reply, 'a', CSV_TEXT - 1);
	text_copy(p.reply + CSV_TEXT - 1, 10, "\xc3\xa9\xc3\xa9");
	row = csv_row_latency(&p);
	assert_int_equal(split(row, fields), 31);
	assert_int_equal(strlen(fields[18]), CSV_TEXT - 1);
	mem_free(row);
	memset(p.reply, '=', sizeof p.reply - 1);
	p.reply[sizeof p.reply - 1] = '\0';
	row = csv_row_latency(&p);
	assert_int_equal(split(row, fields), 31);
	assert_int_equal(strlen(fields[18]), CSV_TEXT + 1);
	mem_free(row);
}

/* files */

static void
a_row_lies_in_the_file_of_the_day_it_ended(void **state)
{
	struct world	w = open_world(state);
	struct outcome	o;
	struct probe	p;
	struct episode	e = { .id = 1, .delivered_ms = NOON };

	tell(&w, "before-midnight", NOON + DAY / 2 - 1);
	tell(&w, "at-midnight", NOON + DAY / 2);
	fill(&p, "tried", NOON);
	outcome_init(&o);
	o.started.wall_ms = NOON + DAY / 2 - 5;
	o.finished.wall_ms = NOON + DAY / 2 + 5;
	csv_attempt(w.csv, &p, &o, "outbound");
	csv_episode(w.csv, &e);
	flushed(&w);
	file_has(state, FIRST, "before-midnight", 1);
	file_has(state, FIRST, "at-midnight", 0);
	file_has(state, "csv/latency-2026-01-02.csv", "at-midnight", 1);
	file_has(state, "csv/attempts-2026-01-02.csv", "tried", 1);
	file_has(state, "csv/episodes.csv", "2026-01-01T12:00:00.000Z", 1);
	close_world(&w);
}

static void
the_header_comes_once_and_rows_go_on_after_a_restart(void **state)
{
	struct world	w = open_world(state);
	char		*text;

	tell(&w, "t1", NOON);
	flushed(&w);
	tell(&w, "t2", NOON);
	tell(&w, "t3", NOON);
	flushed(&w);
	close_world(&w);
	w = open_world(state);
	tell(&w, "t4", NOON);
	flushed(&w);
	flushed(&w);
	text = scratch_read(scratch_path(state, FIRST));
	assert_memory_equal(text, csv_header(CSV_LATENCY),
	    strlen(csv_header(CSV_LATENCY)));
	assert_int_equal(occurrences(text, "probe,route"), 1);
	assert_int_equal(occurrences(text, "\r\n"), 5);
	assert_true(strstr(text, "t1,") < strstr(text, "t2,") &&
	    strstr(text, "t2,") < strstr(text, "t3,") &&
	    strstr(text, "t3,") < strstr(text, "t4,"));
	mem_free(text);
	close_world(&w);
}

static void
an_idle_turn_commits_nothing(void **state)
{
	struct world	w = open_world(state);
	uint64_t	commits;

	tell(&w, "t1", NOON);
	flushed(&w);
	commits = store_commits(w.store);
	flushed(&w);
	flushed(&w);
	assert_int_equal(store_commits(w.store), commits);
	tell(&w, "t2", NOON);
	flushed(&w);
	assert_int_equal(store_commits(w.store), commits + 1);
	close_world(&w);
}

static void
a_tail_that_was_never_committed_is_cut_at_the_next_start(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	/* The turn that writes t2 dies before its commit. */
	tell(&w, "t2", NOON);
	assert_int_equal(csv_flush(w.csv), 0);
	close_world(&w);
	file_has(state, FIRST, "t2,", 1);
	append_text(state, FIRST, "torn,off");
	w = open_world(state);
	scratch_logged("bytes that were never committed");
	file_has(state, FIRST, "t2,", 0);
	file_has(state, FIRST, "torn", 0);
	tell(&w, "t2", NOON);
	flushed(&w);
	file_has(state, FIRST, "t1,", 1);
	file_has(state, FIRST, "t2,", 1);
	close_world(&w);
}

static int64_t
known_length(struct world *w, const char *file)
{
	int64_t	length = -1;

	assert_int_not_equal(store_csv_get(w->store, file, &length), -1);
	return (length);
}

static void
count_kept(void *arg, const char *name, int64_t value, const char *text)
{
	(void)name;
	(void)value;
	(void)text;
	(*(unsigned *)arg)++;
}

static unsigned
kept_rows(struct world *w)
{
	unsigned	n = 0;

	assert_int_equal(store_fact_each(w->store, "csv-row", count_kept, &n),
	    0);
	return (n);
}

static int64_t
size_of(void **state, const char *name)
{
	struct stat	st;

	assert_int_equal(stat(scratch_path(state, name), &st), 0);
	return (st.st_size);
}

static void
rows_are_kept_until_their_file_is_synced(void **state)
{
	struct world	w = open_world(state);
	char		token[TOKEN_SIZE];

	for (int i = 0; i < CSV_SYNC_ROWS - 1; i++) {
		snprintf(token, sizeof token, "t%d", i);
		tell(&w, token, NOON);
		flushed(&w);
	}
	assert_int_equal(kept_rows(&w), CSV_SYNC_ROWS - 1);
	assert_int_equal(known_length(&w, "latency-2026-01-01.csv"), 0);
	tell(&w, "last", NOON);
	flushed(&w);
	assert_int_equal(kept_rows(&w), 0);
	assert_int_equal(known_length(&w, "latency-2026-01-01.csv"),
	    size_of(state, FIRST));
	flushed(&w);
	file_has(state, FIRST, "\r\n", 1 + CSV_SYNC_ROWS);
	close_world(&w);
}

static void
an_orderly_stop_leaves_nothing_to_mend(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	close_world(&w);
	w = open_world(state);
	assert_int_equal(kept_rows(&w), 0);
	assert_int_equal(known_length(&w, "latency-2026-01-01.csv"),
	    size_of(state, FIRST));
	close_world(&w);
}

/* The file's end was in memory only. */
static void
what_a_power_cut_took_is_written_anew(void **state)
{
	struct world	 w;
	char		*before, *after;
	int		 status;
	pid_t		 pid;

	assert_int_not_equal(pid = fork(), -1);
	if (pid == 0) {
		w = open_world(state);
		tell(&w, "t1", NOON);
		flushed(&w);
		tell(&w, "t2", NOON);
		flushed(&w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	before = scratch_read(scratch_path(state, FIRST));
	assert_int_equal(truncate(scratch_path(state, FIRST), 100), 0);
	w = open_world(state);
	scratch_logged("bytes that were never committed");
	flushed(&w);
	after = scratch_read(scratch_path(state, FIRST));
	assert_string_equal(before, after);
	mem_free(before);
	mem_free(after);
	close_world(&w);
}

static void
a_file_of_another_program_is_never_cut(void **state)
{
	struct world	w;

	mkdir(scratch_path(state, "csv"), 0755);
	scratch_write(scratch_path(state, FIRST), "kept from an old monitor");
	scratch_write(scratch_path(state, "csv/notes.csv"), "mine");
	scratch_write(scratch_path(state, "csv/latency-2026-1-1.csv"), "mine");
	w = open_world(state);
	tell(&w, "t1", NOON);
	flushed(&w);
	close_world(&w);
	w = open_world(state);
	file_has(state, FIRST, "kept from an old monitor\r\nt1,", 1);
	file_has(state, FIRST, "probe,route", 0);
	file_has(state, "csv/notes.csv", "mine", 1);
	close_world(&w);
}

static void
a_file_edited_by_hand_is_left_alone_and_continued(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	close_world(&w);
	/* Longer, and no line ends where ours did. */
	scratch_write(scratch_path(state, FIRST),
	    "probe;route;and a good many other columns that somebody thought "
	    "of, all of them with long names, so that this is longer than "
	    "what was there before, by a good deal, and then some more words "
	    "until it is really longer than any header and one row of ours "
	    "can be, which takes a while to reach, and a while longer than "
	    "one thinks, for the header has thirty-one names in it\n"
	    "t1;edited\n");
	w = open_world(state);
	tell(&w, "t2", NOON);
	flushed(&w);
	file_has(state, FIRST, "t1;edited\nt2,", 1);
	close_world(&w);
}

static void
a_file_that_was_removed_begins_anew_with_its_header(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	unlink(scratch_path(state, FIRST));
	tell(&w, "t2", NOON);
	flushed(&w);
	scratch_logged("another program has shortened it");
	tell(&w, "t3", NOON);
	flushed(&w);
	file_has(state, FIRST, "probe,route", 1);
	file_has(state, FIRST, "t2,", 1);
	file_has(state, FIRST, "t3,", 1);
	close_world(&w);
	w = open_world(state);
	close_world(&w);
}

static void
a_file_that_was_shortened_goes_on_at_its_end(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	close_world(&w);
	assert_int_equal(truncate(scratch_path(state, FIRST), 10), 0);
	w = open_world(state);
	tell(&w, "t2", NOON);
	flushed(&w);
	scratch_logged("another program has shortened it");
	file_has(state, FIRST, "probe,rout\r\nt2,", 1);
	close_world(&w);
	w = open_world(state);
	file_has(state, FIRST, "t2,", 1);
	close_world(&w);
}

static void
a_directory_that_was_removed_is_made_again(void **state)
{
	struct world	w = open_world(state);

	assert_int_equal(rmdir(scratch_path(state, "csv")), 0);
	tell(&w, "t1", NOON);
	flushed(&w);
	file_has(state, FIRST, "t1,", 1);
	close_world(&w);
}

static void
a_directory_that_cannot_be_made_is_refused_at_start(void **state)
{
	struct world	w;
	char		why[WHY] = "";

	w.store = store_open(*state, why, sizeof why);
	assert_non_null(w.store);
	w.csv = csv_open("/proc/mailflowd/csv", w.store, why, sizeof why);
	assert_null(w.csv);
	assert_non_null(strstr(why, "/proc/mailflowd/csv: No such file"));
	close_world(&w);
}

static void
a_symbolic_link_is_not_followed(void **state)
{
	struct world	w = open_world(state);
	size_t		 waiting;

	scratch_write(scratch_path(state, "precious"), "precious\n");
	assert_int_equal(symlink(scratch_path(state, "precious"),
	    scratch_path(state, FIRST)), 0);
	tell(&w, "t1", NOON);
	assert_string_equal(csv_trouble(w.csv, &waiting), "");
	assert_int_equal(csv_flush(w.csv), -1);
	assert_int_equal(store_commit(w.store), 0);
	scratch_logged("symbolic links");
	assert_non_null(strstr(csv_trouble(w.csv, &waiting), "symbolic links"));
	assert_int_equal(waiting, 1);
	file_has(state, "precious", "t1", 0);
	unlink(scratch_path(state, FIRST));
	flushed(&w);
	assert_string_equal(csv_trouble(w.csv, &waiting), "");
	assert_int_equal(waiting, 0);
	scratch_logged("can be written again");
	file_has(state, FIRST, "t1,", 1);
	close_world(&w);
}

static void
old_days_are_removed_by_their_name(void **state)
{
	struct world	w = open_world(state);
	struct episode	e = { .id = 1 };
	int64_t		length;

	csv_episode(w.csv, &e);
	tell(&w, "t1", NOON);
	tell(&w, "t2", NOON + DAY);
	flushed(&w);
	flushed(&w);
	scratch_write(scratch_path(state, "csv/latency-2025-12-31.csv"), "");
	scratch_write(scratch_path(state, "csv/latency-2025-12-31.csv.gz"), "");
	/* A row that is not synced yet is still wanted. */
	csv_prune(w.csv, NOON + DAY);
	flushed(&w);
	assert_int_equal(access(scratch_path(state, FIRST), F_OK), 0);
	close_world(&w);
	w = open_world(state);
	csv_prune(w.csv, NOON + DAY);
	flushed(&w);
	assert_int_equal(access(scratch_path(state, FIRST), F_OK), -1);
	assert_int_equal(access(scratch_path(state,
	    "csv/latency-2025-12-31.csv"), F_OK), -1);
	assert_int_equal(access(scratch_path(state,
	    "csv/latency-2025-12-31.csv.gz"), F_OK), 0);
	file_has(state, "csv/latency-2026-01-02.csv", "t2,", 1);
	file_has(state, "csv/episodes.csv", "\r\n1,", 1);
	assert_int_equal(store_csv_get(w.store, "latency-2026-01-01.csv",
	    &length), 0);
	assert_int_equal(store_csv_get(w.store, "latency-2026-01-02.csv",
	    &length), 1);
	close_world(&w);
}

/* trouble */

static void
while_the_disk_is_full_rows_wait_and_it_is_said_once(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	fault_arm(FAULT_LASTING, 1);
	tell(&w, "t2", NOON);
	assert_int_equal(csv_flush(w.csv), -1);
	fault_disarm();
	assert_int_equal(store_commit(w.store), 0);
	scratch_logged("No space left on device; rows wait");
	fault_arm(FAULT_LASTING, 1);
	tell(&w, "t3", NOON);
	assert_int_equal(csv_flush(w.csv), -1);
	fault_disarm();
	assert_int_equal(store_commit(w.store), 0);
	scratch_logged("");
	flushed(&w);
	scratch_logged("can be written again");
	file_has(state, FIRST, "t1,", 1);
	file_has(state, FIRST, "\r\nt2,", 1);
	file_has(state, FIRST, "\r\nt3,", 1);
	close_world(&w);
}

static void
rows_that_wait_survive_a_restart(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "first", NOON);
	flushed(&w);
	for (int i = 0; i < 12; i++) {
		char	token[8];

		snprintf(token, sizeof token, "t%d", i);
		fault_arm(FAULT_LASTING, 1);
		tell(&w, token, NOON);
		assert_int_equal(csv_flush(w.csv), -1);
		fault_disarm();
		assert_int_equal(store_commit(w.store), 0);
	}
	scratch_logged("rows wait");
	close_world(&w);
	w = open_world(state);
	tell(&w, "last", NOON);
	flushed(&w);
	file_has(state, FIRST, "\r\nt9,", 1);
	file_has(state, FIRST, "\r\nt10,", 1);
	file_has(state, FIRST, "\r\nlast,", 1);
	close_world(&w);
	/* And do not come twice. */
	w = open_world(state);
	flushed(&w);
	file_has(state, FIRST, "\r\n", 15);
	close_world(&w);
}

static void
a_failed_commit_doubles_no_row(void **state)
{
	struct world	w = open_world(state);

	tell(&w, "t1", NOON);
	flushed(&w);
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			tell(&w, "t2", NOON);
		assert_int_equal(csv_flush(w.csv), 0);
		/* No such episode: spoils the turn. */
		assert_int_equal(store_fact_put(w.store, "k", "n", 1, ""), 0);
		fault_arm(FAULT_LASTING, 1);
		assert_int_equal(store_commit(w.store), -1);
		fault_disarm();
	}
	tell(&w, "t3", NOON);
	flushed(&w);
	file_has(state, FIRST, "t1,", 1);
	file_has(state, FIRST, "t2,", 1);
	file_has(state, FIRST, "t3,", 1);
	close_world(&w);
	w = open_world(state);
	file_has(state, FIRST, "t3,", 1);
	close_world(&w);
}

static void
when_too_many_rows_wait_the_oldest_go_and_it_is_said(void **state)
{
	struct world	w = open_world(state);
	char		token[16];

	for (int i = 0; i < 10003; i++) {
		snprintf(token, sizeof token, "t%d", i);
		tell(&w, token, NOON);
	}
	scratch_logged("the oldest are dropped from now on");
	flushed(&w);
	file_has(state, FIRST, "\r\nt2,", 0);
	file_has(state, FIRST, "\r\nt3,", 1);
	file_has(state, FIRST, "\r\nt10002,", 1);
	close_world(&w);
}

/* Every step of a day's turns, failing or fatal. */

#define PROBES	6
#define SYNC	3	/* of 12 rows: in the midst of things, on both days */

static void
name_probe(char token[static TOKEN_SIZE], int i)
{
	snprintf(token, TOKEN_SIZE, "probe%d", i);
}

/* The last three end on the next day. */
static int64_t
end_of(int i)
{
	return (NOON + i + (i >= PROBES / 2 ? DAY : 0));
}

static bool
is_done(struct store *s, int i)
{
	char		token[TOKEN_SIZE];
	struct probe	p;

	name_probe(token, i);
	return (store_probe_get(s, token, &p) == 1);
}

/*
 * One turn, as the monitor does it: the probe's row, then the files, then the
 * commit.  A row is told once in the life of a process.
 */
static int
turn(struct world *w, int i, bool told)
{
	char		token[TOKEN_SIZE];
	struct outcome	o;
	struct probe	p;

	name_probe(token, i);
	fill(&p, token, end_of(i));
	store_probe_put(w->store, &p);
	if (!told) {
		outcome_init(&o);
		o.finished.wall_ms = end_of(i);
		csv_latency(w->csv, &p);
		csv_attempt(w->csv, &p, &o, "outbound");
	}
	csv_flush(w->csv);
	return (store_commit(w->store));
}

static void
every_row_is_there_once(void **state)
{
	static const char *const	names[] = { FIRST,
		"csv/attempts-2026-01-01.csv", "csv/latency-2026-01-02.csv",
		"csv/attempts-2026-01-02.csv" };
	char				part[64], token[TOKEN_SIZE];

	for (size_t f = 0; f < NITEMS(names); f++) {
		for (int i = 0; i < PROBES; i++) {
			name_probe(token, i);
			snprintf(part, sizeof part, "\r\n%s,office,", token);
			file_has(state, names[f], part,
			    (f < 2) == (i < PROBES / 2) ? 1 : 0);
		}
		file_has(state, names[f], "probe,route", 1);
		file_has(state, names[f], "\r\n", 1 + PROBES / 2);
	}
}

/* What is not done in the store is done again, rows and all. */
static void
catch_up(struct world *w)
{
	for (int i = 0; i < PROBES; i++)
		if (!is_done(w->store, i))
			assert_int_equal(turn(w, i, false), 0);
	flushed(w);
	flushed(w);
}

static void
start_over(void **state)
{
	char	cmd[SCRATCH_PATH + 16];

	snprintf(cmd, sizeof cmd, "rm -rf %s/*", (const char *)*state);
	assert_int_equal(system(cmd), 0);
}

static void
killed_at_any_step_no_row_is_lost_or_doubled(void **state)
{
	struct world	w;
	unsigned	step;
	int		status = 1;
	pid_t		pid;

	for (step = 1; status != 0; step++) {
		assert_int_not_equal(pid = fork(), -1);
		if (pid == 0) {
			w = open_world(state);
			csv_sync_every(w.csv, SYNC);
			fault_arm(FAULT_KILL, step);
			for (int i = 0; i < PROBES; i++)
				if (turn(&w, i, false) == -1)
					_exit(1);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(status == 0 || (WIFSIGNALED(status) &&
		    WTERMSIG(status) == SIGKILL));
		w = open_world(state);
		catch_up(&w);
		every_row_is_there_once(state);
		close_world(&w);
		scratch_forget_log();
		start_over(state);
	}
	assert_in_range(step, 50, 5000);
}

/* error: once or lasting for a while; then a restart or not. */
static unsigned
fail_at(void **state, enum fault_kind kind, unsigned step, bool restart)
{
	struct world	w = open_world(state);
	bool		told[PROBES] = { false };
	unsigned	steps;

	csv_sync_every(w.csv, SYNC);
	fault_arm(kind, step);
	for (int i = 0; i < PROBES; i++) {
		for (int k = 0; k < i; k++)
			if (!is_done(w.store, k))
				turn(&w, k, told[k]);
		turn(&w, i, told[i]);
		told[i] = true;
	}
	steps = fault_disarm();
	if (restart) {
		close_world(&w);
		w = open_world(state);
		catch_up(&w);
	}
	for (int i = 0; i < PROBES; i++)
		if (!is_done(w.store, i))
			assert_int_equal(turn(&w, i, true), 0);
	flushed(&w);
	every_row_is_there_once(state);
	close_world(&w);
	w = open_world(state);
	every_row_is_there_once(state);
	close_world(&w);
	scratch_forget_log();
	start_over(state);
	return (steps);
}

static void
a_disk_error_at_any_step_loses_and_doubles_no_row(void **state)
{
	unsigned	step;

	for (step = 1; fail_at(state, FAULT_ONCE, step, false) >= step; step++)
		fail_at(state, FAULT_ONCE, step, true);
	assert_in_range(step, 50, 5000);
}

static void
a_disk_that_fills_up_at_any_step_loses_and_doubles_no_row(void **state)
{
	unsigned	step;

	for (step = 1; fail_at(state, FAULT_LASTING, step, false) >= step;
	    step++)
		fail_at(state, FAULT_LASTING, step, true);
	assert_in_range(step, 50, 5000);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, scratch_setup, \
		    scratch_teardown)

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		T(the_columns_are_those_of_the_manual),
		T(a_latency_row_tells_the_whole_probe),
		T(what_is_not_known_is_empty),
		T(an_attempt_row_tells_the_session_stage_by_stage),
		T(an_episode_row_tells_its_whole_story),
		T(text_of_others_is_harmless_in_a_spreadsheet),
		T(hostile_text_in_every_column_stays_in_its_column),
		T(a_long_reply_is_cut_and_never_inside_a_letter),
		T(a_row_lies_in_the_file_of_the_day_it_ended),
		T(the_header_comes_once_and_rows_go_on_after_a_restart),
		T(an_idle_turn_commits_nothing),
		T(a_tail_that_was_never_committed_is_cut_at_the_next_start),
		T(rows_are_kept_until_their_file_is_synced),
		T(an_orderly_stop_leaves_nothing_to_mend),
		T(what_a_power_cut_took_is_written_anew),
		T(a_file_of_another_program_is_never_cut),
		T(a_file_edited_by_hand_is_left_alone_and_continued),
		T(a_file_that_was_removed_begins_anew_with_its_header),
		T(a_file_that_was_shortened_goes_on_at_its_end),
		T(a_directory_that_was_removed_is_made_again),
		T(a_directory_that_cannot_be_made_is_refused_at_start),
		T(a_symbolic_link_is_not_followed),
		T(old_days_are_removed_by_their_name),
		T(while_the_disk_is_full_rows_wait_and_it_is_said_once),
		T(rows_that_wait_survive_a_restart),
		T(a_failed_commit_doubles_no_row),
		T(when_too_many_rows_wait_the_oldest_go_and_it_is_said),
		T(killed_at_any_step_no_row_is_lost_or_doubled),
		T(a_disk_error_at_any_step_loses_and_doubles_no_row),
		T(a_disk_that_fills_up_at_any_step_loses_and_doubles_no_row),
	};

	fault_install();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
