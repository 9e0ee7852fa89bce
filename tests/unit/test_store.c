#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "build.h"
#include "monitor/mem.h"
#include "monitor/store_episode.h"
#include "monitor/store_internal.h"
#include "monitor/text.h"
#include "tests/unit/fault.h"
#include "tests/unit/scratch.h"

#define WHY	512

static struct store *
open_store(void **state)
{
	char		 why[WHY] = "";
	struct store	*s = store_open(*state, why, sizeof why);

	if (s == NULL)
		fail_msg("store_open: %s", why);
	return (s);
}

static struct store *
open_reader(void **state)
{
	char		 why[WHY] = "";
	struct store	*s = store_open_reader(*state, why, sizeof why);

	if (s == NULL)
		fail_msg("store_open_reader: %s", why);
	return (s);
}

static void
refused(struct store *s, const char *why, const char *part)
{
	if (s != NULL)
		store_close(&s);
	if (strstr(why, part) == NULL)
		fail_msg("said \"%s\", not \"%s\"", why, part);
}

static void
committed(struct store *s)
{
	if (store_commit(s) == -1)
		fail_msg("store_commit: %s", store_error(s));
}

/* Runs SQL on the file beside the store; the first column of the first row. */
static const char *
sql(void **state, const char *text)
{
	static char	 value[4096];
	sqlite3		*db;
	sqlite3_stmt	*stmt;

	value[0] = '\0';
	assert_int_equal(sqlite3_open(scratch_path(state, STORE_DATABASE), &db),
	    SQLITE_OK);
	while (text != NULL && *text != '\0') {
		assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt,
		    &text), SQLITE_OK);
		if (sqlite3_step(stmt) == SQLITE_ROW &&
		    sqlite3_column_text(stmt, 0) != NULL)
			text_copy(value, sizeof value,
			    (const char *)sqlite3_column_text(stmt, 0));
		sqlite3_finalize(stmt);
	}
	sqlite3_close(db);
	return (value);
}

/* Every member differs from its default. */
static void
fill_probe(struct probe *p, const char *token)
{
	probe_init(p);
	text_copy(p->token, sizeof p->token, token);
	text_copy(p->route, sizeof p->route, "office-to-gmail");
	text_copy(p->server, sizeof p->server, "outbound");
	text_copy(p->mailbox, sizeof p->mailbox, "gmail");
	text_copy(p->from, sizeof p->from, "probe@example.org");
	text_copy(p->to, sizeof p->to, "canary@example.com");
	p->state = PROBE_ACCEPTED;
	p->end = PROBE_END_LATE;
	p->scheduled_ms = 1700000000001;
	p->next_try_ms = 1700000000002;
	p->first_attempt = (struct stamp){ 1700000000003, 4, 5 };
	p->accepted = (struct stamp){ 1700000000006, 7, 8 };
	p->arrived = (struct stamp){ 1700000000009, 10, UINT64_MAX - 11 };
	p->finished_ms = 1700000000012;
	p->attempts = 13;
	p->deferrals = 14;
	p->duplicates = UINT32_MAX;
	text_copy(p->host, sizeof p->host, "mx.example.com");
	p->class = CLASS_SYSTEM_FULL;
	p->code = 452;
	text_copy(p->enhanced, sizeof p->enhanced, "4.3.1");
	text_copy(p->reply, sizeof p->reply,
	    "452 4.3.1 d\xc3\xa9j\xc3\xa0 plein; 'quoted' -- \"twice\"");
	text_copy(p->queue_id, sizeof p->queue_id, "4Q0ABC");
	p->size = 2048;
	text_copy(p->folder, sizeof p->folder, "INBOX/Sub folder");
	p->hops = 3;
	text_copy(p->slowest_hop, sizeof p->slowest_hop, "relay.example.net");
	p->slowest_hop_ms = -15;
	p->skew_ms = 16;
	p->looked_ms = 17;
	p->late_told = true;
	text_copy(p->note, sizeof p->note, "internaldate");
}

struct seen {
	unsigned	count;
	char		tokens[1024];
	struct store	*store;
};

static void
see_probe(void *arg, const struct probe *p)
{
	struct seen	*seen = arg;

	seen->count++;
	text_appendf(seen->tokens, sizeof seen->tokens, "%s ", p->token);
}

static void
put_probe(struct store *s, const char *token, const char *route,
    enum probe_state state, int64_t ms)
{
	struct probe	p;

	fill_probe(&p, token);
	text_copy(p.route, sizeof p.route, route);
	p.state = state;
	p.scheduled_ms = ms;
	p.finished_ms = state == PROBE_DONE ? ms : 0;
	assert_int_equal(store_probe_put(s, &p), 0);
}

static void
a_probe_comes_back_as_it_was_put(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 put, got;

	fill_probe(&put, "token1");
	assert_int_equal(store_probe_put(s, &put), 0);
	committed(s);
	store_close(&s);
	s = open_store(state);
	assert_int_equal(store_probe_get(s, "token1", &got), 1);
	assert_memory_equal(&put, &got, sizeof put);
	assert_int_equal(store_probe_get(s, "token2", &got), 0);

	/* What is not known stays not known. */
	probe_init(&put);
	text_copy(put.token, sizeof put.token, "token2");
	assert_int_equal(store_probe_put(s, &put), 0);
	assert_int_equal(store_probe_get(s, "token2", &got), 1);
	assert_memory_equal(&put, &got, sizeof put);
	committed(s);
	store_close(&s);
}

static void
putting_a_probe_again_changes_its_row(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 p, got;

	fill_probe(&p, "token1");
	assert_int_equal(store_probe_put(s, &p), 0);
	committed(s);
	p.state = PROBE_DONE;
	p.hops = -1;
	memset(p.note, 0, sizeof p.note);
	assert_int_equal(store_probe_put(s, &p), 0);
	committed(s);
	assert_int_equal(store_probe_get(s, "token1", &got), 1);
	assert_memory_equal(&p, &got, sizeof p);
	assert_string_equal(sql(state, "SELECT count(*) FROM probe"), "1");
	store_close(&s);
}

static void
a_probe_that_ended_may_be_opened_again(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 open = { 0 }, ended = { 0 };

	put_probe(s, "t", "r", PROBE_DONE, 1);
	committed(s);
	put_probe(s, "t", "r", PROBE_ACCEPTED, 1);
	committed(s);
	assert_int_equal(store_probe_each(s, see_probe, &open), 0);
	assert_string_equal(open.tokens, "t ");
	assert_int_equal(store_probe_history(s, "", 0, 9, see_probe, &ended),
	    0);
	assert_string_equal(ended.tokens, "");
	store_close(&s);
}

static void
after_a_restart_the_open_probes_come_oldest_first(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };

	put_probe(s, "done", "r", PROBE_DONE, 1);
	put_probe(s, "third", "r", PROBE_WAITING, 30);
	put_probe(s, "first", "r", PROBE_COMMITTED, 10);
	put_probe(s, "second", "r", PROBE_UNCERTAIN, 20);
	committed(s);
	store_close(&s);
	s = open_store(state);
	assert_int_equal(store_probe_each(s, see_probe, &seen), 0);
	assert_string_equal(seen.tokens, "first second third ");
	store_close(&s);
}

static void
write_while_seen(void *arg, const struct probe *p)
{
	struct seen	*seen = arg;
	struct seen	 inner = { 0 };
	struct probe	 copy = *p;

	copy.state = PROBE_DONE;
	copy.scheduled_ms += 1000;
	assert_int_equal(store_probe_put(seen->store, &copy), 0);
	assert_int_equal(store_probe_each(seen->store, see_probe, &inner), 0);
	seen->count++;
	assert_int_equal(inner.count, 3 - seen->count);
}

static void
a_callback_may_write_and_ask_again(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { .store = s };

	put_probe(s, "a", "r", PROBE_WAITING, 1);
	put_probe(s, "b", "r", PROBE_WAITING, 2);
	put_probe(s, "c", "r", PROBE_WAITING, 3);
	assert_int_equal(store_probe_each(s, write_while_seen, &seen), 0);
	assert_int_equal(seen.count, 3);
	committed(s);
	store_close(&s);
}

static void
history_is_newest_first_and_no_longer_than_asked(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 one = { 0 }, all = { 0 }, since = { 0 };

	put_probe(s, "a1", "a", PROBE_DONE, 100);
	put_probe(s, "a2", "a", PROBE_DONE, 200);
	put_probe(s, "a3", "a", PROBE_DONE, 300);
	put_probe(s, "b1", "b", PROBE_DONE, 250);
	put_probe(s, "a4", "a", PROBE_ACCEPTED, 400);
	committed(s);
	assert_int_equal(store_probe_history(s, "a", 0, 2, see_probe, &one), 0);
	assert_string_equal(one.tokens, "a3 a2 ");
	assert_int_equal(store_probe_history(s, "", 0, 99, see_probe, &all), 0);
	assert_string_equal(all.tokens, "a3 b1 a2 a1 ");
	assert_int_equal(store_probe_history(s, "a", 200, 99, see_probe,
	    &since), 0);
	assert_string_equal(since.tokens, "a3 a2 ");
	store_close(&s);
}

static void
a_person_can_read_the_words_with_sqlite3(void **state)
{
	struct store	*s = open_store(state);

	put_probe(s, "t", "r", PROBE_COMMITTED, 1);
	committed(s);
	assert_string_equal(sql(state, "SELECT state || ' ' || outcome || ' ' "
	    "|| class FROM probe"), "committed late system-full");
	store_close(&s);
}

/* Reading it as "waiting" would send the mail again. */
static void
a_state_it_does_not_know_is_an_error_and_not_a_guess(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };
	struct probe	 p;

	put_probe(s, "t", "r", PROBE_WAITING, 1);
	committed(s);
	sql(state, "UPDATE probe SET state = 'teleported'");
	assert_int_equal(store_probe_get(s, "t", &p), -1);
	assert_string_equal(store_error(s),
	    "probe: unknown state \"teleported\"");
	assert_int_equal(store_commit(s), -1);
	assert_int_equal(store_probe_each(s, see_probe, &seen), -1);
	assert_int_equal(seen.count, 0);
	assert_int_equal(store_commit(s), -1);
	store_close(&s);
}

static void
a_text_too_long_for_us_is_cut_not_overrun(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 p;

	put_probe(s, "t", "r", PROBE_WAITING, 1);
	committed(s);
	sql(state, "UPDATE probe SET enhanced = '4.999.9999999999',"
	    " attempts = -5, code = 99999999999, hops = 'many'");
	assert_int_equal(store_probe_get(s, "t", &p), 1);
	assert_string_equal(p.enhanced, "4.999.99999");
	assert_int_equal(p.attempts, 0);
	assert_int_equal(p.code, INT32_MAX);
	store_close(&s);
}

static void
an_attempt_is_kept_with_its_stages(void **state)
{
	struct store	*s = open_store(state);
	struct outcome	 o;
	struct probe	 p;

	outcome_init(&o);
	fill_probe(&p, "t");
	o.stage = STAGE_MAIL;
	o.verdict = VERDICT_TEMPORARY;
	o.stage_ms[STAGE_CONNECT] = 0;
	o.stage_ms[STAGE_MAIL] = 12;
	assert_int_equal(store_attempt_put(s, &p, &o), 0);
	committed(s);
	assert_string_equal(sql(state, "SELECT probe || ' ' || try || ' ' ||"
	    " stage || ' ' || verdict || ' ' || connect_ms || ' ' || mail_ms ||"
	    " ' ' || ifnull(dot_ms, 'none') FROM attempt"),
	    "t 13 mail temporary 0 12 none");
	store_close(&s);
}

static void
a_transcript_replaces_the_one_before(void **state)
{
	struct store	*s = open_store(state);
	char		 buf[64];
	int64_t		 at;

	assert_int_equal(store_transcript_get(s, "r", &at, buf, sizeof buf), 0);
	assert_int_equal(store_transcript_put(s, "r", 1, "S: 452 no"), 0);
	assert_int_equal(store_transcript_put(s, "r", 2, "S: 250 yes"), 0);
	assert_int_equal(store_transcript_get(s, "r", &at, buf, sizeof buf), 1);
	assert_int_equal(at, 2);
	assert_string_equal(buf, "S: 250 yes");
	committed(s);
	store_close(&s);
}

struct cleans {
	unsigned	count;
	uint32_t	uids[8];
};

static void
note_clean(void *arg, const struct frame_clean *f)
{
	struct cleans	*c = arg;

	assert_string_equal(f->folder, "INBOX");
	assert_string_equal(f->token, "t");
	assert_int_equal(f->uidvalidity, 1);
	if (c->count < NITEMS(c->uids))
		c->uids[c->count++] = f->uid;
}

static void
what_is_to_be_removed_is_known_until_it_is_done(void **state)
{
	struct frame_arrival	 a = { .uidvalidity = 1, .token = "t",
				    .folder = "INBOX" };
	struct frame_clean	 f = { .uidvalidity = 1, .token = "t",
				    .folder = "INBOX" };
	struct cleans		 c = { .count = 0 };
	struct store		*s = open_store(state);
	int64_t			 at_ms = -1;

	assert_int_equal(store_clean_get(s, "gmail", &f, &at_ms), 0);
	for (uint32_t uid = 1; uid <= 4; uid++) {
		a.uid = f.uid = uid;
		assert_int_equal(store_arrival_put(s, "gmail", &a), 1);
		assert_int_equal(store_arrival_put(s, "other", &a), 1);
		assert_int_equal(store_clean_get(s, "gmail", &f, &at_ms), 1);
		assert_int_equal(at_ms, 0);
		/* The first that came stays longest. */
		assert_int_equal(store_clean_put(s, "gmail", &f,
		    1000 - 100 * uid), 0);
	}
	committed(s);
	store_close(&s);
	s = open_store(state);
	assert_int_equal(store_clean_each(s, "gmail", 800, 10, note_clean,
	    &c), 0);
	assert_int_equal(c.count, 3);
	assert_int_equal(c.uids[0], 4);
	assert_int_equal(c.uids[2], 2);
	c.count = 0;
	assert_int_equal(store_clean_each(s, "gmail", 800, 1, note_clean,
	    &c), 0);
	assert_int_equal(c.count, 1);
	assert_int_equal(store_clean_next(s, "gmail", 800, &at_ms), 1);
	assert_int_equal(at_ms, 900);
	assert_int_equal(store_clean_next(s, "gmail", 900, &at_ms), 0);
	assert_int_equal(store_clean_next(s, "other", 0, &at_ms), 0);
	f.uid = 3;
	assert_int_equal(store_clean_put(s, "gmail", &f, 0), 0);
	committed(s);
	c.count = 0;
	assert_int_equal(store_clean_each(s, "gmail", 800, 10, note_clean,
	    &c), 0);
	assert_int_equal(c.count, 2);
	store_close(&s);
}

static void
the_same_report_counts_only_once(void **state)
{
	struct frame_report	 r = { .uid = 7, .uidvalidity = 1,
				    .token = "t", .folder = "INBOX",
				    .news = REPORT_LOST, .code = 452,
				    .class = CLASS_SYSTEM_FULL };
	struct store		*s = open_store(state);

	assert_int_equal(store_report_put(s, "return", &r), 1);
	assert_int_equal(store_report_put(s, "return", &r), 0);
	committed(s);
	assert_int_equal(store_report_put(s, "return", &r), 0);
	assert_int_equal(store_report_put(s, "other", &r), 1);
	r.uid = 8;
	assert_int_equal(store_report_put(s, "return", &r), 1);
	committed(s);
	assert_string_equal(sql(state, "SELECT DISTINCT news || class || code"
	    " FROM report"), "lostsystem-full452");
	store_close(&s);
}

static void
the_same_mail_arrives_only_once(void **state)
{
	struct frame_arrival	 a = { .uid = 7, .uidvalidity = 1,
				    .token = "t", .folder = "INBOX" };
	struct store		*s = open_store(state);

	assert_int_equal(store_arrival_put(s, "gmail", &a), 1);
	assert_int_equal(store_arrival_put(s, "gmail", &a), 0);
	committed(s);
	assert_int_equal(store_arrival_put(s, "gmail", &a), 0);
	assert_int_equal(store_arrival_put(s, "other", &a), 1);
	a.uid = 8;
	assert_int_equal(store_arrival_put(s, "gmail", &a), 1);
	a.uidvalidity = 2;
	assert_int_equal(store_arrival_put(s, "gmail", &a), 1);
	text_copy(a.folder, sizeof a.folder, "Junk");
	assert_int_equal(store_arrival_put(s, "gmail", &a), 1);
	committed(s);
	store_close(&s);
}

static void
see_mark(void *arg, const struct frame_mark *m)
{
	struct seen	*seen = arg;

	seen->count++;
	text_appendf(seen->tokens, sizeof seen->tokens, "%s:%u:%u ", m->folder,
	    m->uidvalidity, m->uid);
}

static void
each_folder_has_one_mark(void **state)
{
	struct frame_mark	 m = { .folder = "INBOX", .uidvalidity = 1,
				    .uid = 5 };
	struct store		*s = open_store(state);
	struct seen		 seen = { 0 };

	assert_int_equal(store_mark_put(s, "gmail", &m), 0);
	m.uid = UINT32_MAX;
	assert_int_equal(store_mark_put(s, "gmail", &m), 0);
	assert_int_equal(store_mark_put(s, "other", &m), 0);
	text_copy(m.folder, sizeof m.folder, "Archive");
	m.uid = 0;
	assert_int_equal(store_mark_put(s, "gmail", &m), 0);
	committed(s);
	assert_int_equal(store_mark_each(s, "gmail", see_mark, &seen), 0);
	assert_string_equal(seen.tokens, "Archive:1:0 INBOX:1:4294967295 ");
	store_close(&s);
}

static void
see_fact(void *arg, const char *name, int64_t value, const char *text)
{
	struct seen	*seen = arg;

	seen->count++;
	text_appendf(seen->tokens, sizeof seen->tokens, "%s=%lld/%s ", name,
	    (long long)value, text);
}

static void
a_fact_is_found_by_its_kind_and_name(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };
	char		 text[4];
	int64_t		 value;

	assert_int_equal(store_fact_put(s, "pause", "b", 1, "night"), 0);
	assert_int_equal(store_fact_put(s, "pause", "a", -9, ""), 0);
	assert_int_equal(store_fact_put(s, "due", "a", 3, ""), 0);
	assert_int_equal(store_fact_put(s, "pause", "b", 2, "night"), 0);
	assert_int_equal(store_fact_get(s, "pause", "b", &value, text,
	    sizeof text), 1);
	assert_int_equal(value, 2);
	assert_string_equal(text, "nig");
	assert_int_equal(store_fact_get(s, "due", "a", &value, NULL, 0), 1);
	assert_int_equal(store_fact_each(s, "pause", see_fact, &seen), 0);
	assert_string_equal(seen.tokens, "a=-9/ b=2/night ");
	assert_int_equal(store_fact_delete(s, "pause", "b"), 0);
	assert_int_equal(store_fact_get(s, "pause", "b", &value, NULL, 0), 0);
	assert_int_equal(store_fact_delete(s, "pause", "b"), 0);
	committed(s);
	store_close(&s);
}

static void
a_csv_file_is_forgotten_by_a_negative_length(void **state)
{
	struct store	*s = open_store(state);
	int64_t		 length;

	assert_int_equal(store_csv_get(s, "f.csv", &length), 0);
	assert_int_equal(store_csv_put(s, "f.csv", 10), 0);
	assert_int_equal(store_csv_put(s, "f.csv", 20), 0);
	assert_int_equal(store_csv_get(s, "f.csv", &length), 1);
	assert_int_equal(length, 20);
	assert_int_equal(store_csv_put(s, "f.csv", -1), 0);
	assert_int_equal(store_csv_get(s, "f.csv", &length), 0);
	committed(s);
	store_close(&s);
}

/* episodes and notices */

static void
fill_episode(struct episode *e)
{
	memset(e, 0, sizeof *e);
	text_copy(e->scope, sizeof e->scope, "system mx.example.com");
	e->class = CLASS_SYSTEM_FULL;
	e->origin = EPISODE_BY_BOUNCE;
	e->state = EPISODE_ACCEPTING;
	e->misses = 1;
	e->accepts = 2;
	e->refusals = 3;
	e->swings = 4;
	e->reminders = 5;
	e->acked = true;
	e->first_miss_ms = 6;
	e->opened_ms = 7;
	e->failing_notice_ms = 8;
	e->run_ms = 9;
	e->accepting_ms = 10;
	e->delivered_ms = 11;
	e->last_miss_ms = 12;
	e->remind_ms = 13;
	e->tell_ms = 14;
	e->owed = EPISODE_OWES_ACCEPTING | EPISODE_OWES_DELIVERED;
	e->max_delay_ms = 15;
	text_copy(e->closed_by, sizeof e->closed_by, "token1");
	text_copy(e->sentinel, sizeof e->sentinel, "token2");
	text_copy(e->alerts, sizeof e->alerts, "default");
	text_copy(e->routes, sizeof e->routes, "a b c");
	e->stage = STAGE_MAIL;
	e->code = 452;
	text_copy(e->enhanced, sizeof e->enhanced, "4.3.1");
	text_copy(e->first_reply, sizeof e->first_reply, "452 4.3.1 first");
	text_copy(e->last_reply, sizeof e->last_reply, "452 4.3.1 last");
	text_copy(e->host, sizeof e->host, "mx.example.com");
	e->csv_done = true;
}

static void
an_episode_comes_back_as_it_was_put(void **state)
{
	struct store	*s = open_store(state);
	struct episode	 put, got;

	fill_episode(&put);
	assert_int_equal(store_episode_put(s, &put), 0);
	assert_int_not_equal(put.id, 0);
	committed(s);
	store_close(&s);
	s = open_store(state);
	assert_int_equal(store_episode_get(s, put.id, &got), 1);
	assert_memory_equal(&put, &got, sizeof put);
	put.state = EPISODE_QUIET;
	assert_int_equal(store_episode_put(s, &put), 0);
	assert_int_equal(store_episode_get(s, put.id, &got), 1);
	assert_memory_equal(&put, &got, sizeof put);
	assert_int_equal(store_episode_get(s, put.id + 1, &got), 0);
	committed(s);
	store_close(&s);
}

static void
see_episode(void *arg, const struct episode *e)
{
	struct seen	*seen = arg;

	seen->count++;
	text_appendf(seen->tokens, sizeof seen->tokens, "%s ", e->scope);
}

static void
put_episode(struct store *s, const char *scope, enum episode_state st,
    unsigned owed, int64_t delivered_ms)
{
	struct episode	e = { .class = CLASS_NETWORK, .state = st,
			    .owed = owed, .delivered_ms = delivered_ms };

	text_copy(e.scope, sizeof e.scope, scope);
	assert_int_equal(store_episode_put(s, &e), 0);
}

static void
an_episode_that_still_owes_its_recovery_is_not_forgotten(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };

	put_episode(s, "old", EPISODE_QUIET, 0, 100);
	put_episode(s, "recent", EPISODE_QUIET, 0, 1000);
	put_episode(s, "owing", EPISODE_QUIET, EPISODE_OWES_DELIVERED, 100);
	put_episode(s, "never-opened", EPISODE_QUIET, 0, 0);
	put_episode(s, "suspect", EPISODE_SUSPECT, 0, 0);
	put_episode(s, "failing", EPISODE_FAILING, 0, 0);
	committed(s);
	assert_int_equal(store_episode_each(s, 1000, see_episode, &seen), 0);
	assert_string_equal(seen.tokens, "owing suspect failing recent ");
	assert_int_equal(store_prune(s, 5000), 0);
	committed(s);
	seen = (struct seen){ 0 };
	assert_int_equal(store_episode_each(s, 0, see_episode, &seen), 0);
	assert_string_equal(seen.tokens, "owing suspect failing ");
	assert_string_equal(sql(state, "SELECT count(*) FROM episode"), "3");
	store_close(&s);
}

static void
see_event(void *arg, int64_t at_ms, const char *event, const char *probe,
    const char *text)
{
	struct seen	*seen = arg;

	text_appendf(seen->tokens, sizeof seen->tokens, "%lld %s %s %s;",
	    (long long)at_ms, event, probe, text);
}

static void
what_moved_an_episode_is_told_in_order(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };
	struct episode	 e;

	fill_episode(&e);
	assert_int_equal(store_episode_put(s, &e), 0);
	assert_int_equal(store_episode_event(s, e.id, 5, "miss", "t1",
	    "452"), 0);
	assert_int_equal(store_episode_event(s, e.id, 4, "accept", "t2", ""),
	    0);
	committed(s);
	assert_int_equal(store_episode_events(s, e.id, see_event, &seen), 0);
	assert_string_equal(seen.tokens, "5 miss t1 452;4 accept t2 ;");
	store_close(&s);
}

static void
see_delivery(void *arg, const struct delivery *d)
{
	struct seen	*seen = arg;

	seen->count++;
	text_appendf(seen->tokens, sizeof seen->tokens, "%lld:%s:%s%s ",
	    (long long)d->notice, d->to, store_delivery_name(d->state),
	    d->repeat ? ":repeat" : "");
}

static char	one[] = "oncall@example.net", two[] = "admin@example.org";
static char	*const both[] = { one, two, NULL };

static void
fill_notice(struct notice *n, int64_t episode, const char *alerts)
{
	memset(n, 0, sizeof *n);
	n->episode = episode;
	n->kind = NOTICE_ACCEPTING;
	n->number = 2;
	text_copy(n->alerts, sizeof n->alerts, alerts);
	text_copy(n->message_id, sizeof n->message_id, "<e1.a.2@probe1>");
	text_copy(n->thread_id, sizeof n->thread_id, "<e1.f.1@probe1>");
	text_copy(n->subject, sizeof n->subject, "mx accepts again");
	text_copy(n->body, sizeof n->body, "It accepts\nagain.\n");
	n->owed_ms = 77;
}

static void
a_notice_is_owed_once_to_each_alerts_section(void **state)
{
	struct store	*s = open_store(state);
	struct notice	 n, again, other, got;
	struct seen	 seen = { 0 };
	struct episode	 e;
	char		 want[256];

	fill_episode(&e);
	assert_int_equal(store_episode_put(s, &e), 0);
	fill_notice(&n, e.id, "default");
	again = n;
	fill_notice(&other, e.id, "night");
	assert_int_equal(store_notice_owe(s, &n, both), 0);
	assert_int_equal(store_notice_owe(s, &again, both), 0);
	assert_int_equal(again.id, n.id);
	assert_int_equal(store_notice_owe(s, &other, both + 1), 0);
	assert_int_not_equal(other.id, n.id);
	committed(s);
	assert_int_equal(store_notice_get(s, n.id, &got), 1);
	assert_memory_equal(&got, &n, sizeof n);
	assert_int_equal(store_notice_get(s, 99, &got), 0);
	assert_int_equal(store_delivery_each(s, see_delivery, &seen), 0);
	snprintf(want, sizeof want, "%lld:admin@example.org:due "
	    "%lld:oncall@example.net:due %lld:admin@example.org:due ",
	    (long long)n.id, (long long)n.id, (long long)other.id);
	assert_string_equal(seen.tokens, want);
	store_close(&s);
}

static void
every_notice_of_no_episode_goes_out(void **state)
{
	struct store	*s = open_store(state);
	struct notice	 n, again;

	fill_notice(&n, 0, "default");
	n.kind = NOTICE_DIGEST;
	again = n;
	assert_int_equal(store_notice_owe(s, &n, both), 0);
	assert_int_equal(store_notice_owe(s, &again, both), 0);
	assert_int_not_equal(n.id, again.id);
	assert_int_equal(store_notice_get(s, n.id, &again), 1);
	assert_int_equal(again.episode, 0);
	committed(s);
	store_close(&s);
}

static void
a_delivery_that_was_sent_is_due_no_more(void **state)
{
	struct delivery	 d = { .notice = 1, .attempts = 4, .server = 1,
			    .next_ms = 8, .sent_ms = 9, .last_reply = "250 ok" };
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };
	struct notice	 n;

	fill_notice(&n, 0, "default");
	assert_int_equal(store_notice_owe(s, &n, both), 0);
	text_copy(d.to, sizeof d.to, two);
	d.state = DELIVERY_SENT;
	assert_int_equal(store_delivery_put(s, &d), 0);
	text_copy(d.to, sizeof d.to, one);
	d.repeat = true;
	d.state = DELIVERY_SENDING;
	assert_int_equal(store_delivery_put(s, &d), 0);
	committed(s);
	assert_int_equal(store_delivery_each(s, see_delivery, &seen), 0);
	assert_string_equal(seen.tokens, "1:oncall@example.net:sending:repeat ");
	assert_string_equal(sql(state, "SELECT attempts || server || next_ms "
	    "|| sent_ms || last_reply FROM delivery WHERE state = 'sent'"),
	    "4189250 ok");
	store_close(&s);
}

static void
those_given_up_lately_are_counted(void **state)
{
	struct delivery	 d = { .state = DELIVERY_EXPIRED, .expired_ms = 1000 };
	struct store	*s = open_store(state);
	struct notice	 n;
	unsigned	 count = 9;

	fill_notice(&n, 0, "default");
	assert_int_equal(store_notice_owe(s, &n, both), 0);
	assert_int_equal(store_delivery_expired(s, -1000, &count), 0);
	assert_int_equal(count, 0);
	d.notice = n.id;
	text_copy(d.to, sizeof d.to, one);
	assert_int_equal(store_delivery_put(s, &d), 0);
	text_copy(d.to, sizeof d.to, two);
	d.expired_ms = 2000;
	assert_int_equal(store_delivery_put(s, &d), 0);
	committed(s);
	assert_int_equal(store_delivery_expired(s, 0, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(store_delivery_expired(s, 2000, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(store_delivery_expired(s, 2001, &count), 0);
	assert_int_equal(count, 0);
	store_close(&s);
}

/* turns */

static void
all_that_a_turn_writes_is_one_commit(void **state)
{
	struct store	*s = open_store(state);
	struct store	*reader = open_reader(state);
	struct probe	 p;

	assert_false(store_dirty(s));
	committed(s);
	assert_int_equal(store_commits(s), 0);
	put_probe(s, "a", "r", PROBE_WAITING, 1);
	put_probe(s, "b", "r", PROBE_WAITING, 2);
	assert_int_equal(store_fact_put(s, "k", "n", 1, ""), 0);
	assert_true(store_dirty(s));
	assert_int_equal(store_probe_get(reader, "a", &p), 0);
	committed(s);
	assert_int_equal(store_commits(s), 1);
	assert_false(store_dirty(s));
	assert_int_equal(store_probe_get(reader, "a", &p), 1);
	assert_int_equal(store_probe_get(reader, "b", &p), 1);
	store_close(&reader);
	store_close(&s);
}

/* synchronous=FULL: a commit that a power cut may undo is none. */
static void
every_commit_is_synced(void **state)
{
	struct store	*s = open_store(state);
	sqlite3_stmt	*stmt;

	assert_int_equal(sqlite3_prepare_v2(s->db, "PRAGMA synchronous", -1,
	    &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(stmt, 0), 2);
	sqlite3_finalize(stmt);
	assert_string_equal(sql(state, "PRAGMA journal_mode"), "wal");
	store_close(&s);
}

static void
a_turn_that_is_not_committed_leaves_nothing(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 p;

	put_probe(s, "a", "r", PROBE_WAITING, 1);
	store_close(&s);
	assert_null(s);
	store_close(&s);
	s = open_store(state);
	assert_int_equal(store_probe_get(s, "a", &p), 0);
	store_close(&s);
}

static void
after_a_failed_write_nothing_of_the_turn_is_kept(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 p;

	put_probe(s, "before", "r", PROBE_WAITING, 1);
	committed(s);
	put_probe(s, "first", "r", PROBE_WAITING, 2);
	/* No such episode: the constraint stands in for any failure. */
	assert_int_equal(store_episode_event(s, 99, 1, "miss", "", ""), -1);
	assert_non_null(strstr(store_error(s), "FOREIGN KEY"));
	assert_int_equal(store_fact_put(s, "k", "n", 1, ""), -1);
	fill_probe(&p, "last");
	assert_int_equal(store_probe_put(s, &p), -1);
	assert_non_null(strstr(store_error(s), "FOREIGN KEY"));
	assert_true(store_dirty(s));
	assert_int_equal(store_commit(s), -1);
	assert_false(store_dirty(s));

	assert_int_equal(store_probe_get(s, "first", &p), 0);
	assert_int_equal(store_probe_get(s, "last", &p), 0);
	assert_int_equal(store_probe_get(s, "before", &p), 1);
	put_probe(s, "next", "r", PROBE_WAITING, 3);
	committed(s);
	assert_int_equal(store_probe_get(s, "next", &p), 1);
	store_close(&s);
}

static void
a_turn_committed_in_parts_keeps_the_first(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 p;

	put_probe(s, "a", "r", PROBE_WAITING, 1);
	assert_int_equal(store_commit_part(s), 0);
	assert_int_equal(store_episode_event(s, 99, 1, "miss", "", ""), -1);
	assert_int_equal(store_commit_part(s), -1);
	assert_int_equal(store_commit(s), -1);
	assert_int_equal(store_probe_get(s, "a", &p), 1);
	store_close(&s);
}

static void
a_full_disk_costs_the_turn_and_not_the_monitor(void **state)
{
	struct store	*s = open_store(state);
	struct probe	 p;
	char		 token[TOKEN_SIZE];
	unsigned	 i;

	assert_int_equal(sqlite3_exec(s->db, "PRAGMA max_page_count = 40",
	    NULL, NULL, NULL), SQLITE_OK);
	for (i = 0; i < 10000; i++) {
		snprintf(token, sizeof token, "t%u", i);
		fill_probe(&p, token);
		if (store_probe_put(s, &p) == -1)
			break;
		if (i % 10 == 0)
			committed(s);
	}
	assert_in_range(i, 1, 9999);
	assert_non_null(strstr(store_error(s), "full"));
	assert_int_equal(store_commit(s), -1);
	assert_int_equal(store_probe_get(s, "t0", &p), 1);
	assert_int_equal(store_probe_get(s, token, &p), 0);
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA max_page_count = 4000",
	    NULL, NULL, NULL), SQLITE_OK);
	put_probe(s, token, "r", PROBE_WAITING, 1);
	committed(s);
	assert_int_equal(store_probe_get(s, token, &p), 1);
	store_close(&s);
}

/* Two rows of one turn; both or none. */
static int
write_pair(struct store *s, const char *token)
{
	struct probe	p;
	struct outcome	o;

	outcome_init(&o);
	fill_probe(&p, token);
	store_probe_put(s, &p);
	store_attempt_put(s, &p, &o);
	return (store_commit(s));
}

static bool
has_pair(struct store *s, const char *token)
{
	struct query	 q = { "SELECT count(*) FROM attempt WHERE probe = ?1",
			    NULL };
	struct cursor	 c;
	struct probe	 p;
	int64_t		 n;

	cursor_open(&c, s, &q);
	cursor_text(&c, token);
	assert_int_equal(cursor_next(&c), 1);
	n = cursor_number(&c, 0);
	cursor_close(&c);
	cursor_forget(s);
	assert_int_equal(store_probe_get(s, token, &p), n);
	return (n == 1);
}

/* For every write, sync and truncation that a turn makes. */
static void
a_disk_error_at_any_step_loses_the_turn_as_a_whole(void **state)
{
	struct store	*s;
	char		 token[TOKEN_SIZE];
	unsigned	 step;
	int		 rc = -1;

	fault_install();
	s = open_store(state);
	for (step = 1; rc == -1; step++) {
		snprintf(token, sizeof token, "t%u", step);
		fault_arm(FAULT_ONCE, step);
		rc = write_pair(s, token);
		if (fault_disarm() >= step)
			assert_int_equal(rc, -1);
		assert_int_equal(has_pair(s, token), rc == 0);
		assert_int_equal(write_pair(s, "next"), 0);
	}
	assert_in_range(step, 3, 1000);
	store_close(&s);
}

static void
killed_at_any_step_it_has_the_turn_wholly_or_not(void **state)
{
	unsigned	 step, before = 0;
	int		 status = 1;
	struct store	*s;
	pid_t		 pid;

	fault_install();
	for (step = 1; status != 0; step++) {
		assert_int_not_equal(pid = fork(), -1);
		if (pid == 0) {
			s = store_open(*state, (char[WHY]){ 0 }, WHY);
			fault_arm(FAULT_KILL, step);
			_exit(s == NULL || write_pair(s, "a") == -1 ||
			    write_pair(s, "b") == -1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(status == 0 || (WIFSIGNALED(status) &&
		    WTERMSIG(status) == SIGKILL));
		s = open_store(state);
		/* A later death never leaves less. */
		assert_true(!has_pair(s, "b") || has_pair(s, "a"));
		assert_true((has_pair(s, "a") ? 1U : 0U) +
		    (has_pair(s, "b") ? 1U : 0U) >= before);
		before = (has_pair(s, "a") ? 1U : 0U) +
		    (has_pair(s, "b") ? 1U : 0U);
		sqlite3_exec(s->db, "DELETE FROM probe; DELETE FROM attempt",
		    NULL, NULL, NULL);
		store_close(&s);
	}
	assert_int_equal(before, 2);
	assert_in_range(step, 5, 1000);
}

/* doors */

static void
a_second_monitor_is_refused_and_told_by_whom(void **state)
{
	struct store	*s = open_store(state);
	char		 why[WHY] = "", part[64];

	snprintf(part, sizeof part, "already run by pid %ld", (long)getpid());
	refused(store_open(*state, why, sizeof why), why, part);
	store_close(&s);
	s = open_store(state);
	store_close(&s);
}

static void
a_killed_monitor_leaves_no_lock(void **state)
{
	int		 ready[2], status;
	char		 why[WHY] = "", c;
	struct store	*s;
	pid_t		 pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_not_equal(pid = fork(), -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		s = store_open(*state, why, sizeof why);
		(void)!write(ready[1], s != NULL ? "y" : "n", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 'y');
	refused(store_open(*state, why, sizeof why), why, "already run by pid");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	s = open_store(state);
	store_close(&s);
	close(ready[0]);
	close(ready[1]);
}

static void
nobody_else_may_read_what_it_makes(void **state)
{
	static const char *const	names[] = { "", STORE_LOCK,
				    STORE_DATABASE, STORE_DATABASE "-wal",
				    STORE_DATABASE "-shm", STORE_KEY };
	char				inner[SCRATCH_PATH];
	char				why[WHY];
	struct token_key		key;
	struct store			*s;
	struct stat			st;
	mode_t				old = umask(0);

	text_copy(inner, sizeof inner, scratch_path(state, "new"));
	s = store_open(inner, why, sizeof why);
	umask(old);
	assert_non_null(s);
	assert_int_equal(store_key(s, &key), 0);
	put_probe(s, "t", "r", PROBE_WAITING, 1);
	committed(s);
	for (size_t i = 0; i < NITEMS(names); i++) {
		char	*path = mem_printf("%s/%s", inner, names[i]);

		if (stat(path, &st) == -1)
			fail_msg("%s is missing", path);
		assert_int_equal(st.st_mode & 07, 0);
		if (i == NITEMS(names) - 1)
			assert_int_equal(st.st_mode & 0777, 0600);
		mem_free(path);
	}
	store_close(&s);
}

static void
a_directory_that_cannot_be_made_is_named(void **state)
{
	char	why[WHY] = "";

	refused(store_open("/proc/mailflowd-state", why, sizeof why), why,
	    "/proc/mailflowd-state: ");
	scratch_write(scratch_path(state, "file"), "");
	refused(store_open(scratch_path(state, "file"), why, sizeof why), why,
	    "Not a directory");
}

static void
a_newer_file_is_refused_naming_both_versions(void **state)
{
	struct store	*s = open_store(state);
	char		 why[WHY] = "", *before, *after;

	store_close(&s);
	sql(state, "INSERT INTO format VALUES (99, '7.7.7');"
	    "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
	before = scratch_read(scratch_path(state, STORE_DATABASE));
	refused(store_open(*state, why, sizeof why), why,
	    "has format 99, made by mailflowd 7.7.7; this is mailflowd "
	    PACKAGE_VERSION ", which knows formats up to ");
	refused(store_open_reader(*state, why, sizeof why), why,
	    "has format 99, made by mailflowd 7.7.7");
	after = scratch_read(scratch_path(state, STORE_DATABASE));
	assert_string_equal(before, after);
	mem_free(before);
	mem_free(after);
}

static void
a_database_of_somebody_else_is_refused(void **state)
{
	char	why[WHY] = "";

	sql(state, "CREATE TABLE diary (day, text)");
	refused(store_open(*state, why, sizeof why), why,
	    "is not a database of mailflowd");
	assert_string_equal(sql(state, "SELECT count(*) FROM sqlite_master"),
	    "1");
}

static void
a_damaged_file_is_named_and_what_to_do(void **state)
{
	char	why[WHY] = "", junk[4096];

	memset(junk, 'x', sizeof junk);
	junk[sizeof junk - 1] = '\0';
	scratch_write(scratch_path(state, STORE_DATABASE), junk);
	refused(store_open(*state, why, sizeof why), why, "is damaged");
	assert_non_null(strstr(why, "restore it"));
	refused(store_open_reader(*state, why, sizeof why), why, "is damaged");
}

static void
damage_found_later_is_an_error_and_no_crash(void **state)
{
	struct store	*s = open_store(state);
	struct seen	 seen = { 0 };
	char		 token[TOKEN_SIZE], page[4096];
	long		 at;
	int		 fd;

	for (int i = 0; i < 500; i++) {
		snprintf(token, sizeof token, "t%d", i);
		put_probe(s, token, "r", PROBE_WAITING, i);
	}
	committed(s);
	store_close(&s);
	at = strtol(sql(state, "SELECT rootpage FROM sqlite_master"
	    " WHERE name = 'probe'"), NULL, 10);
	memset(page, 0xa5, sizeof page);
	fd = open(scratch_path(state, STORE_DATABASE), O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, page, sizeof page,
	    (at - 1) * (off_t)sizeof page), sizeof page);
	close(fd);
	s = open_store(state);
	assert_int_equal(store_probe_each(s, see_probe, &seen), -1);
	assert_non_null(strstr(store_error(s), "malformed"));
	assert_int_equal(store_commit(s), -1);
	store_close(&s);
}

static void
an_older_file_is_brought_forward_and_a_failing_step_leaves_it(void **state)
{
	static const char	good[] = "ALTER TABLE probe ADD COLUMN tag TEXT"
				    " NOT NULL DEFAULT 'none'";
	static const char	bad[] = "CREATE TABLE half (a); BOOM";
	const char		*steps[16];
	const int		 n = store_format;
	struct store		*s = open_store(state);
	char			 why[WHY] = "";

	memcpy(steps, store_steps, (size_t)n * sizeof *steps);
	steps[n] = good;
	steps[n + 1] = bad;
	put_probe(s, "old", "r", PROBE_WAITING, 1);
	committed(s);
	assert_int_equal(store_migrate(s->db, steps, n + 1, why, sizeof why), 0);
	assert_int_equal(atoi(sql(state, "PRAGMA user_version")), n + 1);
	assert_string_equal(sql(state, "SELECT token || tag FROM probe"),
	    "oldnone");
	assert_int_equal(store_migrate(s->db, steps, n + 2, why, sizeof why), -1);
	assert_non_null(strstr(why, "BOOM"));
	assert_int_equal(atoi(sql(state, "PRAGMA user_version")), n + 1);
	assert_string_equal(sql(state, "SELECT count(*) FROM sqlite_master"
	    " WHERE name = 'half'"), "0");
	store_close(&s);
}

/* As a monitor of format 4 left it. */
static void
deliveries_of_an_older_file_are_still_due(void **state)
{
	sqlite3		*db;
	struct store	*s;
	struct seen	 seen = { 0 };
	char		 why[WHY] = "";

	assert_int_equal(sqlite3_open(scratch_path(state, STORE_DATABASE),
	    &db), SQLITE_OK);
	assert_int_equal(store_migrate(db, store_steps, 4, why, sizeof why), 0);
	sqlite3_close(db);
	sql(state, "INSERT INTO notice VALUES (1, NULL, 'digest', 1, 'default',"
	    " '<a>', '<a>', 'The day', 'Nothing.', 5);"
	    "INSERT INTO delivery VALUES"
	    " (1, 'a@example.org', 'due', 2, 1, 6, 0, 'no'),"
	    " (1, 'b@example.org', 'sending', 2, 1, 6, 0, ''),"
	    " (1, 'c@example.org', 'sent', 2, 1, 6, 7, '250 ok')");
	s = open_store(state);
	assert_int_equal(store_delivery_each(s, see_delivery, &seen), 0);
	assert_string_equal(seen.tokens,
	    "1:a@example.org:due 1:b@example.org:sending ");
	store_close(&s);
}

static unsigned
entries(void **state)
{
	char		 cmd[SCRATCH_PATH + 32];
	FILE		*p;
	unsigned	 n = 0;

	snprintf(cmd, sizeof cmd, "ls -A %s", (const char *)*state);
	assert_non_null(p = popen(cmd, "r"));
	for (int c; (c = fgetc(p)) != EOF;)
		n += c == '\n';
	pclose(p);
	return (n);
}

static void
a_reader_makes_and_changes_nothing(void **state)
{
	struct store	*s;
	struct token_key key;
	struct probe	 p;
	char		 why[WHY] = "";
	unsigned	 before;

	refused(store_open_reader(*state, why, sizeof why), why,
	    "unable to open");
	assert_int_equal(entries(state), 0);
	s = open_store(state);
	put_probe(s, "t", "r", PROBE_WAITING, 1);
	committed(s);
	store_close(&s);
	before = entries(state);
	s = open_reader(state);
	assert_int_equal(store_probe_get(s, "t", &p), 1);
	assert_int_equal(store_probe_put(s, &p), -1);
	assert_int_equal(store_commit(s), -1);
	assert_int_equal(store_key(s, &key), -1);
	store_close(&s);
	assert_int_equal(entries(state), before);
}

static void
a_reader_asks_for_an_older_file_to_be_brought_forward(void **state)
{
	struct store	*s = open_store(state);
	char		 why[WHY] = "";

	store_close(&s);
	sql(state, "PRAGMA user_version = 0");
	refused(store_open_reader(*state, why, sizeof why), why,
	    "has the older format 0");
}

/* the key */

static void
the_key_is_made_once(void **state)
{
	struct token_key	 first, again, zero = { { 0 } };
	struct store		*s = open_store(state);
	char			*text;

	assert_int_equal(store_key(s, &first), 0);
	assert_int_equal(store_key(s, &again), 0);
	assert_memory_equal(&first, &again, sizeof first);
	assert_memory_not_equal(&first, &zero, sizeof first);
	store_close(&s);
	s = open_store(state);
	assert_int_equal(store_key(s, &again), 0);
	assert_memory_equal(&first, &again, sizeof first);
	text = scratch_read(scratch_path(state, STORE_KEY));
	assert_int_equal(strlen(text), 2 * TOKEN_KEY + 1);
	mem_free(text);
	store_close(&s);
}

static void
a_key_is_read_as_it_is_written(void **state)
{
	struct store	*s = open_store(state);
	struct token_key key;

	scratch_write(scratch_path(state, STORE_KEY), "00ff7f80"
	    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b\n");
	chmod(scratch_path(state, STORE_KEY), 0600);
	assert_int_equal(store_key(s, &key), 0);
	assert_memory_equal(key.bytes, "\x00\xff\x7f\x80\x00\x01\x02", 7);
	assert_int_equal(key.bytes[31], 0x1b);
	store_close(&s);
}

static void
a_key_that_others_saw_or_that_is_torn_is_refused(void **state)
{
	static const struct {
		const char	*text;
		mode_t		 mode;
		const char	*why;
	} rows[] = {
		{ "", 0600, "not 64 hexadecimal digits" },
		{ "00ff\n", 0600, "not 64 hexadecimal digits" },
		{ "0000000000000000000000000000000000000000000000000000"
		    "00000000000g\n", 0600, "not 64 hexadecimal digits" },
		{ "0000000000000000000000000000000000000000000000000000"
		    "000000000000\n\n", 0600, "not 64 hexadecimal digits" },
		{ "0000000000000000000000000000000000000000000000000000"
		    "000000000000\n", 0640, "others than its owner" },
		{ "0000000000000000000000000000000000000000000000000000"
		    "000000000000\n", 0604, "others than its owner" },
	};
	struct store	*s = open_store(state);
	struct token_key key;

	for (size_t i = 0; i < NITEMS(rows); i++) {
		scratch_write(scratch_path(state, STORE_KEY), rows[i].text);
		chmod(scratch_path(state, STORE_KEY), rows[i].mode);
		assert_int_equal(store_key(s, &key), -1);
		if (strstr(store_error(s), rows[i].why) == NULL)
			fail_msg("%zu: %s", i, store_error(s));
		assert_int_equal(store_commit(s), -1);
	}
	unlink(scratch_path(state, STORE_KEY));
	assert_int_equal(symlink("/etc/hostname",
	    scratch_path(state, STORE_KEY)), 0);
	assert_int_equal(store_key(s, &key), -1);
	store_close(&s);
}

static void
a_key_torn_at_any_step_is_never_used(void **state)
{
	struct token_key	 first, again;
	struct store		*s = open_store(state);
	unsigned		 step;
	int			 rc = -1;

	for (step = 1; rc == -1; step++) {
		fault_arm(FAULT_ONCE, step);
		rc = store_key(s, &first);
		fault_disarm();
		assert_int_equal(store_commit(s), rc);
		if (rc == 0)
			break;
		unlink(scratch_path(state, STORE_KEY));
	}
	assert_in_range(step, 2, 10);
	assert_int_equal(store_key(s, &again), 0);
	assert_memory_equal(&first, &again, sizeof first);
	store_close(&s);
}

/* forgetting */

static void
forgetting_takes_the_old_in_pieces_and_spares_the_open(void **state)
{
	struct frame_arrival	 a = { .folder = "INBOX" };
	struct store		*s = open_store(state);
	struct outcome		 o;
	struct probe		 p;
	struct notice		 n;
	char			 token[TOKEN_SIZE];
	int			 calls = 1;

	outcome_init(&o);
	for (int i = 0; i < 1200; i++) {
		snprintf(token, sizeof token, "t%d", i);
		put_probe(s, token, "r", i == 7 ? PROBE_ACCEPTED : PROBE_DONE,
		    i);
		fill_probe(&p, token);
		o.finished.wall_ms = i;
		assert_int_equal(store_attempt_put(s, &p, &o), 0);
		a.uid = (uint32_t)i;
		a.seen.wall_ms = i;
		assert_int_equal(store_arrival_put(s, "m", &a), 1);
	}
	assert_int_equal(store_transcript_put(s, "gone", 5, "x"), 0);
	assert_int_equal(store_transcript_put(s, "here", 1150, "x"), 0);
	fill_notice(&n, 0, "default");
	assert_int_equal(store_notice_owe(s, &n, both), 0);
	committed(s);

	while (store_prune(s, 1100) == 1) {
		committed(s);
		calls++;
	}
	committed(s);
	assert_int_equal(calls, 3);
	assert_string_equal(sql(state, "SELECT count(*) FROM probe"), "101");
	assert_int_equal(store_probe_get(s, "t7", &p), 1);
	assert_string_equal(sql(state, "SELECT count(*) || min(finished_ms)"
	    " FROM attempt"), "1001100");
	assert_string_equal(sql(state, "SELECT count(*) FROM arrival"), "100");
	assert_string_equal(sql(state, "SELECT group_concat(route)"
	    " FROM transcript"), "here");
	assert_string_equal(sql(state, "SELECT count(*) FROM notice"), "1");
	sql(state, "UPDATE delivery SET state = 'sent'");
	assert_int_equal(store_prune(s, 1100), 0);
	committed(s);
	assert_string_equal(sql(state, "SELECT count(*) FROM notice"), "0");
	assert_string_equal(sql(state, "SELECT count(*) FROM delivery"), "0");
	store_close(&s);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, scratch_setup, \
		    scratch_teardown)

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		T(a_probe_comes_back_as_it_was_put),
		T(putting_a_probe_again_changes_its_row),
		T(a_probe_that_ended_may_be_opened_again),
		T(after_a_restart_the_open_probes_come_oldest_first),
		T(a_callback_may_write_and_ask_again),
		T(history_is_newest_first_and_no_longer_than_asked),
		T(a_person_can_read_the_words_with_sqlite3),
		T(a_state_it_does_not_know_is_an_error_and_not_a_guess),
		T(a_text_too_long_for_us_is_cut_not_overrun),
		T(an_attempt_is_kept_with_its_stages),
		T(a_transcript_replaces_the_one_before),
		T(the_same_report_counts_only_once),
		T(the_same_mail_arrives_only_once),
		T(what_is_to_be_removed_is_known_until_it_is_done),
		T(each_folder_has_one_mark),
		T(a_fact_is_found_by_its_kind_and_name),
		T(a_csv_file_is_forgotten_by_a_negative_length),
		T(an_episode_comes_back_as_it_was_put),
		T(an_episode_that_still_owes_its_recovery_is_not_forgotten),
		T(what_moved_an_episode_is_told_in_order),
		T(a_notice_is_owed_once_to_each_alerts_section),
		T(every_notice_of_no_episode_goes_out),
		T(a_delivery_that_was_sent_is_due_no_more),
		T(those_given_up_lately_are_counted),
		T(all_that_a_turn_writes_is_one_commit),
		T(every_commit_is_synced),
		T(a_turn_that_is_not_committed_leaves_nothing),
		T(after_a_failed_write_nothing_of_the_turn_is_kept),
		T(a_turn_committed_in_parts_keeps_the_first),
		T(a_full_disk_costs_the_turn_and_not_the_monitor),
		T(a_disk_error_at_any_step_loses_the_turn_as_a_whole),
		T(killed_at_any_step_it_has_the_turn_wholly_or_not),
		T(a_second_monitor_is_refused_and_told_by_whom),
		T(a_killed_monitor_leaves_no_lock),
		T(nobody_else_may_read_what_it_makes),
		T(a_directory_that_cannot_be_made_is_named),
		T(a_newer_file_is_refused_naming_both_versions),
		T(a_database_of_somebody_else_is_refused),
		T(a_damaged_file_is_named_and_what_to_do),
		T(damage_found_later_is_an_error_and_no_crash),
		T(an_older_file_is_brought_forward_and_a_failing_step_leaves_it),
		T(deliveries_of_an_older_file_are_still_due),
		T(a_reader_makes_and_changes_nothing),
		T(a_reader_asks_for_an_older_file_to_be_brought_forward),
		T(the_key_is_made_once),
		T(a_key_is_read_as_it_is_written),
		T(a_key_that_others_saw_or_that_is_torn_is_refused),
		T(a_key_torn_at_any_step_is_never_used),
		T(forgetting_takes_the_old_in_pieces_and_spares_the_open),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
