#include "monitor/store_internal.h"

#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * Probes, their attempts, the mails that arrived and the reports.
 */

static const struct column	probe_columns[] = {
	TEXT("token", probe, token),
	TEXT("route", probe, route),
	TEXT("server", probe, server),
	TEXT("mailbox", probe, mailbox),
	TEXT("sender", probe, from),
	TEXT("recipient", probe, to),
	WORD("state", probe, state, WORDS_PROBE_STATE),
	WORD("outcome", probe, end, WORDS_PROBE_END),
	VALUE("scheduled_ms", probe, scheduled_ms, COLUMN_INT64),
	VALUE("next_try_ms", probe, next_try_ms, COLUMN_INT64),
	STAMP("first_attempt", probe, first_attempt),
	STAMP("accepted", probe, accepted),
	STAMP("arrived", probe, arrived),
	VALUE("finished_ms", probe, finished_ms, COLUMN_INT64),
	VALUE("attempts", probe, attempts, COLUMN_UINT),
	VALUE("deferrals", probe, deferrals, COLUMN_UINT),
	VALUE("duplicates", probe, duplicates, COLUMN_UINT),
	TEXT("host", probe, host),
	WORD("class", probe, class, WORDS_CLASS),
	VALUE("code", probe, code, COLUMN_INT),
	TEXT("enhanced", probe, enhanced),
	TEXT("reply", probe, reply),
	TEXT("queue_id", probe, queue_id),
	VALUE("size", probe, size, COLUMN_INT64),
	TEXT("folder", probe, folder),
	VALUE("hops", probe, hops, COLUMN_COUNT),
	TEXT("slowest_hop", probe, slowest_hop),
	VALUE("slowest_hop_ms", probe, slowest_hop_ms, COLUMN_SPAN),
	VALUE("skew_ms", probe, skew_ms, COLUMN_SPAN),
	VALUE("looked_ms", probe, looked_ms, COLUMN_INT64),
	VALUE("late_told", probe, late_told, COLUMN_BOOL),
	TEXT("note", probe, note),
};

static const struct record	probe_record = {
	"probe", probe_columns, NITEMS(probe_columns)
};

#define STAGE_COLUMN(name, stage) \
	VALUE(name, outcome, stage_ms[stage], COLUMN_COUNT)

static const struct column	attempt_columns[] = {
	WORD("stage", outcome, stage, WORDS_STAGE),
	WORD("class", outcome, class, WORDS_CLASS),
	WORD("verdict", outcome, verdict, WORDS_VERDICT),
	VALUE("code", outcome, code, COLUMN_INT),
	TEXT("enhanced", outcome, enhanced),
	TEXT("reply", outcome, reply),
	VALUE("blind", outcome, blind, COLUMN_BOOL),
	VALUE("contradiction", outcome, contradiction, COLUMN_BOOL),
	TEXT("host", outcome, host),
	TEXT("address", outcome, address),
	TEXT("tls", outcome, tls),
	TEXT("queue_id", outcome, queue_id),
	VALUE("started_ms", outcome, started.wall_ms, COLUMN_INT64),
	VALUE("finished_ms", outcome, finished.wall_ms, COLUMN_INT64),
	STAGE_COLUMN("lookup_ms", STAGE_LOOKUP),
	STAGE_COLUMN("connect_ms", STAGE_CONNECT),
	STAGE_COLUMN("greeting_ms", STAGE_GREETING),
	STAGE_COLUMN("ehlo_ms", STAGE_EHLO),
	STAGE_COLUMN("starttls_ms", STAGE_STARTTLS),
	STAGE_COLUMN("ehlo2_ms", STAGE_EHLO2),
	STAGE_COLUMN("auth_ms", STAGE_AUTH),
	STAGE_COLUMN("mail_ms", STAGE_MAIL),
	STAGE_COLUMN("rcpt_ms", STAGE_RCPT),
	STAGE_COLUMN("data_ms", STAGE_DATA),
	STAGE_COLUMN("dot_ms", STAGE_DOT),
	STAGE_COLUMN("quit_ms", STAGE_QUIT),
};

static const struct record	attempt_record = {
	"attempt", attempt_columns, NITEMS(attempt_columns)
};

static const struct column	arrival_columns[] = {
	TEXT("folder", frame_arrival, folder),
	VALUE("uidvalidity", frame_arrival, uidvalidity, COLUMN_UINT),
	VALUE("uid", frame_arrival, uid, COLUMN_UINT),
	TEXT("token", frame_arrival, token),
	VALUE("is_probe", frame_arrival, is_probe, COLUMN_BOOL),
	VALUE("junk", frame_arrival, junk, COLUMN_BOOL),
	STAMP("seen", frame_arrival, seen),
	STAMP("last_look", frame_arrival, last_look),
	VALUE("internal_ms", frame_arrival, internal_ms, COLUMN_INT64),
	VALUE("hops", frame_arrival, hops, COLUMN_COUNT),
	TEXT("slowest_hop", frame_arrival, slowest_hop),
	VALUE("slowest_hop_ms", frame_arrival, slowest_hop_ms, COLUMN_SPAN),
	VALUE("skew_ms", frame_arrival, skew_ms, COLUMN_SPAN),
	TEXT("auth_results", frame_arrival, auth_results),
};

static const struct record	arrival_record = {
	"arrival", arrival_columns, NITEMS(arrival_columns)
};

static const struct column	report_columns[] = {
	TEXT("folder", frame_report, folder),
	VALUE("uidvalidity", frame_report, uidvalidity, COLUMN_UINT),
	VALUE("uid", frame_report, uid, COLUMN_UINT),
	TEXT("token", frame_report, token),
	WORD("news", frame_report, news, WORDS_REPORT),
	TEXT("action", frame_report, action),
	WORD("class", frame_report, class, WORDS_CLASS),
	VALUE("code", frame_report, code, COLUMN_UINT),
	TEXT("enhanced", frame_report, enhanced),
	TEXT("reply", frame_report, reply),
	TEXT("remote_mta", frame_report, remote_mta),
	TEXT("reporting_mta", frame_report, reporting_mta),
	STAMP("seen", frame_report, seen),
	VALUE("internal_ms", frame_report, internal_ms, COLUMN_INT64),
};

static const struct record	report_record = {
	"report", report_columns, NITEMS(report_columns)
};

/* probes */

/* All but the key; and the same for a probe that was and stays open, which
 * leaves every index alone: most of a probe's writes are such. */
static const struct query	probe_put = {
	"INSERT INTO probe(@,ended) VALUES (#,?)"
	" ON CONFLICT(token) DO UPDATE SET $, ended=excluded.ended",
	&probe_record
};
static const struct query	probe_put_open = {
	"INSERT INTO probe(@,ended) VALUES (#,0)"
	" ON CONFLICT(token) DO UPDATE SET $ WHERE ended = 0",
	&probe_record
};
static const struct query	probe_get = {
	"SELECT @ FROM probe WHERE token = ?1", &probe_record
};
/* The '+' makes SQLite sort the rows before it gives the first: a callback
 * may then write what it reads. */
static const struct query	probe_each = {
	"SELECT @ FROM probe WHERE ended = 0 ORDER BY +scheduled_ms, +id",
	&probe_record
};
static const struct query	history_of = {
	"SELECT @ FROM probe WHERE ended = 1 AND route = ?1"
	" AND finished_ms >= ?2 ORDER BY finished_ms DESC LIMIT ?3",
	&probe_record
};
static const struct query	history_all = {
	"SELECT @ FROM probe WHERE ended = 1"
	" AND finished_ms >= ?1 ORDER BY finished_ms DESC LIMIT ?2",
	&probe_record
};

static const struct query	totals = {
	"SELECT route, outcome, deferrals, CASE"
	" WHEN arrived_ms = 0 OR first_attempt_ms = 0 THEN NULL"
	" WHEN arrived_boot <> 0 AND arrived_boot = first_attempt_boot"
	" THEN arrived_boot_ms - first_attempt_boot_ms"
	" ELSE arrived_ms - first_attempt_ms END"
	" FROM probe WHERE ended = 1 AND finished_ms >= ?1"
	" ORDER BY finished_ms DESC LIMIT ?2",
	NULL
};

int
store_probe_put(struct store *s, const struct probe *p)
{
	struct cursor	c;

	if (p->state != PROBE_DONE) {
		cursor_open(&c, s, &probe_put_open);
		cursor_row(&c, p);
		if (cursor_run(&c) == -1)
			return (-1);
		if (sqlite3_changes(s->db) > 0)
			return (0);
	}
	cursor_open(&c, s, &probe_put);
	cursor_row(&c, p);
	cursor_int(&c, p->state == PROBE_DONE);
	return (cursor_run(&c));
}

/* The next probe of c: 1, 0 at the end, -1. */
static int
next_probe(struct cursor *c, struct probe *p)
{
	int	rc;

	if ((rc = cursor_next(c)) != 1)
		return (rc);
	probe_init(p);
	return (cursor_read(c, p) == -1 ? -1 : 1);
}

static int
each_probe(struct cursor *c, void (*call)(void *arg, const struct probe *),
    void *arg)
{
	struct probe	p;
	int		rc;

	while ((rc = next_probe(c, &p)) == 1)
		call(arg, &p);
	return (rc);
}

int
store_probe_get(struct store *s, const char *token, struct probe *p)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &probe_get);
	cursor_text(&c, token);
	rc = next_probe(&c, p);
	cursor_close(&c);
	return (rc);
}

int
store_probe_each(struct store *s,
    void (*call)(void *arg, const struct probe *), void *arg)
{
	struct cursor	c;

	cursor_open(&c, s, &probe_each);
	return (each_probe(&c, call, arg));
}

int
store_probe_history(struct store *s, const char *route, int64_t since_ms,
    unsigned limit, void (*call)(void *arg, const struct probe *), void *arg)
{
	struct cursor	c;

	if (*route != '\0') {
		cursor_open(&c, s, &history_of);
		cursor_text(&c, route);
	} else
		cursor_open(&c, s, &history_all);
	cursor_int(&c, since_ms);
	cursor_int(&c, limit);
	return (each_probe(&c, call, arg));
}

int
store_probe_totals(struct store *s, int64_t since_ms, unsigned limit,
    void (*call)(void *arg, const char *route, enum probe_end,
    unsigned deferrals, int64_t total_ms), void *arg)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &totals);
	cursor_int(&c, since_ms);
	cursor_int(&c, limit);
	while ((rc = cursor_next(&c)) == 1)
		call(arg, cursor_string(&c, 0),
		    probe_end_of(cursor_string(&c, 1)),
		    (unsigned)cursor_number(&c, 2),
		    cursor_string(&c, 3)[0] == '\0' ? STAMP_NO_SPAN :
		    cursor_number(&c, 3));
	return (rc);
}

/* attempts */

static const struct query	attempt_put = {
	"INSERT INTO attempt(@,probe,route,server,try) VALUES (#,?,?,?,?)",
	&attempt_record
};
static const struct query	transcript_put = {
	"INSERT INTO transcript(route,at_ms,text) VALUES (?1,?2,?3)"
	" ON CONFLICT(route) DO UPDATE SET at_ms=excluded.at_ms,"
	" text=excluded.text",
	NULL
};
static const struct query	transcript_get = {
	"SELECT at_ms,text FROM transcript WHERE route = ?1", NULL
};

int
store_attempt_put(struct store *s, const struct probe *p,
    const struct outcome *o)
{
	struct cursor	c;

	cursor_open(&c, s, &attempt_put);
	cursor_row(&c, o);
	cursor_text(&c, p->token);
	cursor_text(&c, p->route);
	cursor_text(&c, p->server);
	cursor_int(&c, p->attempts);
	return (cursor_run(&c));
}

int
store_transcript_put(struct store *s, const char *route, int64_t at_ms,
    const char *text)
{
	struct cursor	c;

	cursor_open(&c, s, &transcript_put);
	cursor_text(&c, route);
	cursor_int(&c, at_ms);
	cursor_text(&c, text);
	return (cursor_run(&c));
}

int
store_transcript_get(struct store *s, const char *route, int64_t *at_ms_r,
    char *buf, size_t size)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &transcript_get);
	cursor_text(&c, route);
	if ((rc = cursor_next(&c)) != 1)
		return (rc);
	*at_ms_r = cursor_number(&c, 0);
	text_copy(buf, size, cursor_string(&c, 1));
	cursor_close(&c);
	return (1);
}

/* arrivals */

static const struct query	arrival_put = {
	"INSERT INTO arrival(@,mailbox) VALUES (#,?) ON CONFLICT DO NOTHING",
	&arrival_record
};

int
store_arrival_put(struct store *s, const char *mailbox,
    const struct frame_arrival *a)
{
	struct cursor	c;

	cursor_open(&c, s, &arrival_put);
	cursor_row(&c, a);
	cursor_text(&c, mailbox);
	if (cursor_run(&c) == -1)
		return (-1);
	return (sqlite3_changes(s->db) > 0 ? 1 : 0);
}

/* reports */

static const struct query	report_put = {
	"INSERT INTO report(@,mailbox) VALUES (#,?) ON CONFLICT DO NOTHING",
	&report_record
};

int
store_report_put(struct store *s, const char *mailbox,
    const struct frame_report *f)
{
	struct cursor	c;

	cursor_open(&c, s, &report_put);
	cursor_row(&c, f);
	cursor_text(&c, mailbox);
	if (cursor_run(&c) == -1)
		return (-1);
	return (sqlite3_changes(s->db) > 0 ? 1 : 0);
}
