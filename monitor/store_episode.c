#include "monitor/store_episode.h"

#include "monitor/mem.h"
#include "monitor/store_internal.h"
#include "monitor/text.h"

/*
 * Episodes, what moved them, and the notices they owe.
 */

static const char *const	delivery_states[DELIVERY_STATES] = {
	[DELIVERY_DUE]		= "due",
	[DELIVERY_SENDING]	= "sending",
	[DELIVERY_SENT]		= "sent",
	[DELIVERY_EXPIRED]	= "expired",
};

static const struct column	episode_columns[] = {
	VALUE("id", episode, id, COLUMN_REFERENCE),
	TEXT("scope", episode, scope),
	WORD("class", episode, class, WORDS_CLASS),
	WORD("origin", episode, origin, WORDS_EPISODE_ORIGIN),
	WORD("state", episode, state, WORDS_EPISODE_STATE),
	VALUE("misses", episode, misses, COLUMN_UINT),
	VALUE("accepts", episode, accepts, COLUMN_UINT),
	VALUE("refusals", episode, refusals, COLUMN_UINT),
	VALUE("swings", episode, swings, COLUMN_UINT),
	VALUE("reminders", episode, reminders, COLUMN_UINT),
	VALUE("acked", episode, acked, COLUMN_BOOL),
	VALUE("first_miss_ms", episode, first_miss_ms, COLUMN_INT64),
	VALUE("opened_ms", episode, opened_ms, COLUMN_INT64),
	VALUE("failing_notice_ms", episode, failing_notice_ms, COLUMN_INT64),
	VALUE("run_ms", episode, run_ms, COLUMN_INT64),
	VALUE("accepting_ms", episode, accepting_ms, COLUMN_INT64),
	VALUE("delivered_ms", episode, delivered_ms, COLUMN_INT64),
	VALUE("last_miss_ms", episode, last_miss_ms, COLUMN_INT64),
	VALUE("remind_ms", episode, remind_ms, COLUMN_INT64),
	VALUE("tell_ms", episode, tell_ms, COLUMN_INT64),
	VALUE("owed", episode, owed, COLUMN_UINT),
	VALUE("held", episode, held, COLUMN_BOOL),
	WORD("told", episode, told, WORDS_EPISODE_STATE),
	VALUE("max_delay_ms", episode, max_delay_ms, COLUMN_INT64),
	TEXT("closed_by", episode, closed_by),
	TEXT("sentinel", episode, sentinel),
	TEXT("alerts", episode, alerts),
	TEXT("routes", episode, routes),
	WORD("stage", episode, stage, WORDS_STAGE),
	VALUE("code", episode, code, COLUMN_INT),
	TEXT("enhanced", episode, enhanced),
	TEXT("first_reply", episode, first_reply),
	TEXT("last_reply", episode, last_reply),
	TEXT("host", episode, host),
	VALUE("csv_done", episode, csv_done, COLUMN_BOOL),
};

static const struct record	episode_record = {
	"episode", episode_columns, NITEMS(episode_columns)
};

static const struct column	notice_columns[] = {
	VALUE("episode", notice, episode, COLUMN_REFERENCE),
	WORD("kind", notice, kind, WORDS_NOTICE_KIND),
	VALUE("number", notice, number, COLUMN_UINT),
	TEXT("alerts", notice, alerts),
	TEXT("message_id", notice, message_id),
	TEXT("thread_id", notice, thread_id),
	TEXT("subject", notice, subject),
	TEXT("body", notice, body),
	VALUE("owed_ms", notice, owed_ms, COLUMN_INT64),
};

static const struct record	notice_record = {
	"notice", notice_columns, NITEMS(notice_columns)
};

static const struct column	delivery_columns[] = {
	VALUE("notice", delivery, notice, COLUMN_INT64),
	TEXT("recipient", delivery, to),
	WORD("state", delivery, state, WORDS_DELIVERY_STATE),
	VALUE("attempts", delivery, attempts, COLUMN_UINT),
	VALUE("server", delivery, server, COLUMN_UINT),
	VALUE("next_ms", delivery, next_ms, COLUMN_INT64),
	VALUE("sent_ms", delivery, sent_ms, COLUMN_INT64),
	VALUE("repeat", delivery, repeat, COLUMN_BOOL),
	VALUE("expired_ms", delivery, expired_ms, COLUMN_INT64),
	TEXT("last_reply", delivery, last_reply),
};

static const struct record	delivery_record = {
	"delivery", delivery_columns, NITEMS(delivery_columns)
};

const char *
store_delivery_name(unsigned state)
{
	return (state < DELIVERY_STATES ? delivery_states[state] : "");
}

const char *
store_delivery_word(enum delivery_state state)
{
	return (store_delivery_name(state));
}

/* episodes */

static const struct query	episode_put = {
	"INSERT INTO episode(@) VALUES (#) ON CONFLICT(id) DO UPDATE SET $",
	&episode_record
};
static const struct query	episode_get = {
	"SELECT @ FROM episode WHERE id = ?1", &episode_record
};
/* Open, or over and still owing its recovery; then those over since.  The
 * conditions are those of the partial indexes. */
static const struct query	episode_open = {
	"SELECT @ FROM episode WHERE state <> 'quiet' OR owed <> 0"
	" ORDER BY +id",
	&episode_record
};
static const struct query	episode_closed = {
	"SELECT @ FROM episode WHERE state = 'quiet' AND owed = 0"
	" AND delivered_ms > 0 AND delivered_ms >= ?1 ORDER BY +id",
	&episode_record
};

int
store_episode_put(struct store *s, struct episode *e)
{
	struct cursor	c;

	cursor_open(&c, s, &episode_put);
	cursor_row(&c, e);
	if (cursor_run(&c) == -1)
		return (-1);
	if (e->id == 0)
		e->id = sqlite3_last_insert_rowid(s->db);
	return (0);
}

static int
each_episode(struct cursor *c,
    void (*call)(void *arg, const struct episode *), void *arg)
{
	int	rc;

	while ((rc = cursor_next(c)) == 1) {
		struct episode	e = { 0 };

		if (cursor_read(c, &e) == -1)
			return (-1);
		call(arg, &e);
	}
	return (rc);
}

int
store_episode_each(struct store *s, int64_t since_ms,
    void (*call)(void *arg, const struct episode *), void *arg)
{
	struct cursor	c;

	cursor_open(&c, s, &episode_open);
	if (each_episode(&c, call, arg) == -1)
		return (-1);
	cursor_open(&c, s, &episode_closed);
	cursor_int(&c, since_ms);
	return (each_episode(&c, call, arg));
}

int
store_episode_get(struct store *s, int64_t id, struct episode *e)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &episode_get);
	cursor_int(&c, id);
	if ((rc = cursor_next(&c)) != 1)
		return (rc);
	*e = (struct episode){ 0 };
	rc = cursor_read(&c, e) == -1 ? -1 : 1;
	cursor_close(&c);
	return (rc);
}

static const struct query	event_put = {
	"INSERT INTO episode_event(episode,at_ms,event,probe,text)"
	" VALUES (?1,?2,?3,?4,?5)",
	NULL
};
static const struct query	event_each = {
	"SELECT at_ms,event,probe,text FROM episode_event WHERE episode = ?1"
	" ORDER BY id",
	NULL
};

int
store_episode_event(struct store *s, int64_t episode, int64_t at_ms,
    const char *event, const char *probe, const char *text)
{
	struct cursor	c;

	cursor_open(&c, s, &event_put);
	cursor_int(&c, episode);
	cursor_int(&c, at_ms);
	cursor_text(&c, event);
	cursor_text(&c, probe);
	cursor_text(&c, text);
	return (cursor_run(&c));
}

int
store_episode_events(struct store *s, int64_t episode,
    void (*call)(void *arg, int64_t at_ms, const char *event,
    const char *probe, const char *text), void *arg)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &event_each);
	cursor_int(&c, episode);
	while ((rc = cursor_next(&c)) == 1)
		call(arg, cursor_number(&c, 0), cursor_string(&c, 1),
		    cursor_string(&c, 2), cursor_string(&c, 3));
	return (rc);
}

/* notices */

static const struct query	notice_put = {
	"INSERT INTO notice(@) VALUES (#)"
	" ON CONFLICT(episode,kind,number,alerts) DO NOTHING",
	&notice_record
};
static const struct query	notice_find = {
	"SELECT id FROM notice WHERE episode = ?1 AND kind = ?2"
	" AND number = ?3 AND alerts = ?4",
	NULL
};
static const struct query	notice_get = {
	"SELECT @,id FROM notice WHERE id = ?1", &notice_record
};
static const struct query	notice_kept = {
	"SELECT @,id FROM notice WHERE owed_ms >= ?1 AND alerts = ?2"
	" AND NOT EXISTS (SELECT 1 FROM delivery WHERE notice = notice.id)"
	" ORDER BY id",
	&notice_record
};
static const struct query	told_each = {
	"SELECT ifnull(recipient,''),alerts,kind FROM notice"
	" LEFT JOIN delivery ON notice = notice.id WHERE episode = ?1"
	" ORDER BY notice.id, recipient",
	NULL
};
static const struct query	delivery_put = {
	"INSERT INTO delivery(@) VALUES (#)"
	" ON CONFLICT(notice,recipient) DO UPDATE SET $",
	&delivery_record
};
static const struct query	delivery_of = {
	"SELECT @ FROM delivery WHERE notice = ?1 ORDER BY recipient",
	&delivery_record
};
static const struct query	delivery_each = {
	"SELECT @ FROM delivery WHERE state IN ('due', 'sending')"
	" ORDER BY +notice, +recipient",
	&delivery_record
};
/* The second condition is that of the partial index. */
static const struct query	delivery_expired = {
	"SELECT count(*) FROM delivery WHERE expired_ms >= ?1"
	" AND expired_ms <> 0",
	NULL
};

int
store_delivery_put(struct store *s, const struct delivery *d)
{
	struct cursor	c;

	cursor_open(&c, s, &delivery_put);
	cursor_row(&c, d);
	return (cursor_run(&c));
}

/* The id of the notice that was owed before n.  0 or -1. */
static int
find_notice(struct store *s, struct notice *n)
{
	struct cursor	c;

	cursor_open(&c, s, &notice_find);
	cursor_int(&c, n->episode);
	cursor_text(&c, notice_kind_name(n->kind));
	cursor_int(&c, n->number);
	cursor_text(&c, n->alerts);
	if (cursor_next(&c) != 1)
		return (-1);
	n->id = cursor_number(&c, 0);
	cursor_close(&c);
	return (0);
}

static int
owe_each(struct store *s, const struct notice *n, char *const *to)
{
	for (; *to != NULL; to++) {
		struct delivery	d = {
			.notice = n->id,
			.state = DELIVERY_DUE,
			.next_ms = n->owed_ms,
		};

		if (!text_copy(d.to, sizeof d.to, *to))
			return (store_refuse(s, "notice: recipient too long"));
		if (store_delivery_put(s, &d) == -1)
			return (-1);
	}
	return (0);
}

int
store_notice_owe(struct store *s, struct notice *n, char *const *to)
{
	struct cursor	c;

	cursor_open(&c, s, &notice_put);
	cursor_row(&c, n);
	if (cursor_run(&c) == -1)
		return (-1);
	if (sqlite3_changes(s->db) == 0)
		return (find_notice(s, n));
	n->id = sqlite3_last_insert_rowid(s->db);
	return (owe_each(s, n, to));
}

int
store_notice_get(struct store *s, int64_t id, struct notice *n)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &notice_get);
	cursor_int(&c, id);
	if ((rc = cursor_next(&c)) != 1)
		return (rc);
	*n = (struct notice){ 0 };
	rc = cursor_read(&c, n) == -1 ? -1 : 1;
	if (rc == 1)
		n->id = id;
	cursor_close(&c);
	return (rc);
}

int
store_notice_kept(struct store *s, const char *alerts, int64_t since_ms,
    void (*call)(void *arg, const struct notice *), void *arg)
{
	struct notice	*n = mem_alloc(sizeof *n);
	struct cursor	 c;
	int		 rc;

	cursor_open(&c, s, &notice_kept);
	cursor_int(&c, since_ms);
	cursor_text(&c, alerts);
	while ((rc = cursor_next(&c)) == 1) {
		*n = (struct notice){ 0 };
		if ((rc = cursor_read(&c, n)) == -1)
			break;
		call(arg, n);
	}
	mem_free(n);
	return (rc);
}

int
store_told_each(struct store *s, int64_t episode,
    void (*call)(void *arg, const char *to, const char *alerts,
    enum notice_kind), void *arg)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &told_each);
	cursor_int(&c, episode);
	while ((rc = cursor_next(&c)) == 1)
		call(arg, cursor_string(&c, 0), cursor_string(&c, 1),
		    notice_kind_of(cursor_string(&c, 2)));
	return (rc);
}

static int
each_delivery(struct cursor *c,
    void (*call)(void *arg, const struct delivery *), void *arg)
{
	int	rc;

	while ((rc = cursor_next(c)) == 1) {
		struct delivery	d = { 0 };

		if (cursor_read(c, &d) == -1)
			return (-1);
		call(arg, &d);
	}
	return (rc);
}

int
store_delivery_of(struct store *s, int64_t notice,
    void (*call)(void *arg, const struct delivery *), void *arg)
{
	struct cursor	c;

	cursor_open(&c, s, &delivery_of);
	cursor_int(&c, notice);
	return (each_delivery(&c, call, arg));
}

int
store_delivery_expired(struct store *s, int64_t since_ms, unsigned *count_r)
{
	struct cursor	c;

	cursor_open(&c, s, &delivery_expired);
	cursor_int(&c, since_ms);
	if (cursor_next(&c) != 1)
		return (-1);
	*count_r = (unsigned)cursor_number(&c, 0);
	cursor_close(&c);
	return (0);
}

int
store_delivery_each(struct store *s,
    void (*call)(void *arg, const struct delivery *), void *arg)
{
	struct cursor	c;

	cursor_open(&c, s, &delivery_each);
	return (each_delivery(&c, call, arg));
}
