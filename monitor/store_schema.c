#include "monitor/store_internal.h"

#include <stdio.h>

#include "build.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * The format of the database, as the steps that make it.  A step that has
 * been released is never changed: a new format is a new step.
 *
 * Times are wall milliseconds; a stamp is three columns.  Ended probes are
 * found by when they ended, open ones by a partial index that holds nothing
 * else, so that years of history cost a probe nothing.  `ended` says again
 * what state says, so that a change of state touches no index but at the end.
 */

static const char	step_1[] =
"CREATE TABLE format ("
"	version INTEGER PRIMARY KEY,"
"	program TEXT NOT NULL);"

"CREATE TABLE probe ("
"	id INTEGER PRIMARY KEY,"
"	token TEXT NOT NULL UNIQUE,"
"	route TEXT NOT NULL,"
"	server TEXT NOT NULL,"
"	mailbox TEXT NOT NULL,"
"	sender TEXT NOT NULL,"
"	recipient TEXT NOT NULL,"
"	state TEXT NOT NULL,"
"	ended INTEGER NOT NULL,"
"	outcome TEXT NOT NULL,"
"	scheduled_ms INTEGER NOT NULL,"
"	next_try_ms INTEGER NOT NULL,"
"	first_attempt_ms INTEGER NOT NULL,"
"	first_attempt_boot_ms INTEGER NOT NULL,"
"	first_attempt_boot INTEGER NOT NULL,"
"	accepted_ms INTEGER NOT NULL,"
"	accepted_boot_ms INTEGER NOT NULL,"
"	accepted_boot INTEGER NOT NULL,"
"	arrived_ms INTEGER NOT NULL,"
"	arrived_boot_ms INTEGER NOT NULL,"
"	arrived_boot INTEGER NOT NULL,"
"	finished_ms INTEGER NOT NULL,"
"	attempts INTEGER NOT NULL,"
"	deferrals INTEGER NOT NULL,"
"	duplicates INTEGER NOT NULL,"
"	host TEXT NOT NULL,"
"	class TEXT NOT NULL,"
"	code INTEGER NOT NULL,"
"	enhanced TEXT NOT NULL,"
"	reply TEXT NOT NULL,"
"	queue_id TEXT NOT NULL,"
"	size INTEGER NOT NULL,"
"	folder TEXT NOT NULL,"
"	hops INTEGER,"
"	slowest_hop TEXT NOT NULL,"
"	slowest_hop_ms INTEGER,"
"	skew_ms INTEGER,"
"	looked_ms INTEGER NOT NULL,"
"	late_told INTEGER NOT NULL,"
"	note TEXT NOT NULL);"
"CREATE INDEX probe_open ON probe(ended) WHERE ended = 0;"
"CREATE INDEX probe_ended ON probe(finished_ms) WHERE ended = 1;"
"CREATE INDEX probe_route ON probe(route, finished_ms) WHERE ended = 1;"

"CREATE TABLE attempt ("
"	id INTEGER PRIMARY KEY,"
"	probe TEXT NOT NULL,"
"	route TEXT NOT NULL,"
"	server TEXT NOT NULL,"
"	try INTEGER NOT NULL,"
"	stage TEXT NOT NULL,"
"	class TEXT NOT NULL,"
"	verdict TEXT NOT NULL,"
"	code INTEGER NOT NULL,"
"	enhanced TEXT NOT NULL,"
"	reply TEXT NOT NULL,"
"	blind INTEGER NOT NULL,"
"	contradiction INTEGER NOT NULL,"
"	host TEXT NOT NULL,"
"	address TEXT NOT NULL,"
"	tls TEXT NOT NULL,"
"	queue_id TEXT NOT NULL,"
"	started_ms INTEGER NOT NULL,"
"	finished_ms INTEGER NOT NULL,"
"	lookup_ms INTEGER,"
"	connect_ms INTEGER,"
"	greeting_ms INTEGER,"
"	ehlo_ms INTEGER,"
"	starttls_ms INTEGER,"
"	ehlo2_ms INTEGER,"
"	auth_ms INTEGER,"
"	mail_ms INTEGER,"
"	rcpt_ms INTEGER,"
"	data_ms INTEGER,"
"	dot_ms INTEGER,"
"	quit_ms INTEGER);"

"CREATE TABLE transcript ("
"	route TEXT PRIMARY KEY,"
"	at_ms INTEGER NOT NULL,"
"	text TEXT NOT NULL);"

"CREATE TABLE arrival ("
"	id INTEGER PRIMARY KEY,"
"	mailbox TEXT NOT NULL,"
"	folder TEXT NOT NULL,"
"	uidvalidity INTEGER NOT NULL,"
"	uid INTEGER NOT NULL,"
"	token TEXT NOT NULL,"
"	is_probe INTEGER NOT NULL,"
"	junk INTEGER NOT NULL,"
"	seen_ms INTEGER NOT NULL,"
"	seen_boot_ms INTEGER NOT NULL,"
"	seen_boot INTEGER NOT NULL,"
"	last_look_ms INTEGER NOT NULL,"
"	last_look_boot_ms INTEGER NOT NULL,"
"	last_look_boot INTEGER NOT NULL,"
"	internal_ms INTEGER NOT NULL,"
"	hops INTEGER,"
"	slowest_hop TEXT NOT NULL,"
"	slowest_hop_ms INTEGER,"
"	skew_ms INTEGER,"
"	auth_results TEXT NOT NULL,"
"	UNIQUE (mailbox, folder, uidvalidity, uid));"

"CREATE TABLE mark ("
"	mailbox TEXT NOT NULL,"
"	folder TEXT NOT NULL,"
"	uidvalidity INTEGER NOT NULL,"
"	uid INTEGER NOT NULL,"
"	PRIMARY KEY (mailbox, folder)) WITHOUT ROWID;"

"CREATE TABLE fact ("
"	kind TEXT NOT NULL,"
"	name TEXT NOT NULL,"
"	value INTEGER NOT NULL,"
"	text TEXT NOT NULL,"
"	PRIMARY KEY (kind, name)) WITHOUT ROWID;"

"CREATE TABLE csv_file ("
"	name TEXT PRIMARY KEY,"
"	length INTEGER NOT NULL);"

"CREATE TABLE episode ("
"	id INTEGER PRIMARY KEY AUTOINCREMENT,"
"	scope TEXT NOT NULL,"
"	class TEXT NOT NULL,"
"	origin TEXT NOT NULL,"
"	state TEXT NOT NULL,"
"	misses INTEGER NOT NULL,"
"	accepts INTEGER NOT NULL,"
"	refusals INTEGER NOT NULL,"
"	swings INTEGER NOT NULL,"
"	reminders INTEGER NOT NULL,"
"	acked INTEGER NOT NULL,"
"	first_miss_ms INTEGER NOT NULL,"
"	opened_ms INTEGER NOT NULL,"
"	failing_notice_ms INTEGER NOT NULL,"
"	run_ms INTEGER NOT NULL,"
"	accepting_ms INTEGER NOT NULL,"
"	delivered_ms INTEGER NOT NULL,"
"	last_miss_ms INTEGER NOT NULL,"
"	remind_ms INTEGER NOT NULL,"
"	tell_ms INTEGER NOT NULL,"
"	owed INTEGER NOT NULL,"
"	max_delay_ms INTEGER NOT NULL,"
"	closed_by TEXT NOT NULL,"
"	sentinel TEXT NOT NULL,"
"	alerts TEXT NOT NULL,"
"	routes TEXT NOT NULL,"
"	stage TEXT NOT NULL,"
"	code INTEGER NOT NULL,"
"	enhanced TEXT NOT NULL,"
"	first_reply TEXT NOT NULL,"
"	last_reply TEXT NOT NULL,"
"	host TEXT NOT NULL,"
"	csv_done INTEGER NOT NULL);"
/* Over, but with a recovery still to be told, is not over. */
"CREATE INDEX episode_open ON episode(id) WHERE state <> 'quiet' OR owed <> 0;"
"CREATE INDEX episode_closed ON episode(delivered_ms)"
"	WHERE state = 'quiet' AND owed = 0;"

"CREATE TABLE episode_event ("
"	id INTEGER PRIMARY KEY,"
"	episode INTEGER NOT NULL REFERENCES episode ON DELETE CASCADE,"
"	at_ms INTEGER NOT NULL,"
"	event TEXT NOT NULL,"
"	probe TEXT NOT NULL,"
"	text TEXT NOT NULL);"
"CREATE INDEX episode_event_of ON episode_event(episode);"

"CREATE TABLE notice ("
"	id INTEGER PRIMARY KEY AUTOINCREMENT,"
"	episode INTEGER REFERENCES episode ON DELETE CASCADE,"
"	kind TEXT NOT NULL,"
"	number INTEGER NOT NULL,"
"	alerts TEXT NOT NULL,"
"	message_id TEXT NOT NULL,"
"	thread_id TEXT NOT NULL,"
"	subject TEXT NOT NULL,"
"	body TEXT NOT NULL,"
"	owed_ms INTEGER NOT NULL,"
"	UNIQUE (episode, kind, number, alerts));"
"CREATE INDEX notice_owed ON notice(owed_ms);"

"CREATE TABLE delivery ("
"	notice INTEGER NOT NULL REFERENCES notice ON DELETE CASCADE,"
"	recipient TEXT NOT NULL,"
"	state TEXT NOT NULL,"
"	attempts INTEGER NOT NULL,"
"	server INTEGER NOT NULL,"
"	next_ms INTEGER NOT NULL,"
"	sent_ms INTEGER NOT NULL,"
"	last_reply TEXT NOT NULL,"
"	PRIMARY KEY (notice, recipient)) WITHOUT ROWID;"
"CREATE INDEX delivery_due ON delivery(notice, recipient)"
"	WHERE state IN ('due', 'sending');";

static const char	step_2[] =
"CREATE TABLE report ("
"	id INTEGER PRIMARY KEY,"
"	mailbox TEXT NOT NULL,"
"	folder TEXT NOT NULL,"
"	uidvalidity INTEGER NOT NULL,"
"	uid INTEGER NOT NULL,"
"	token TEXT NOT NULL,"
"	news TEXT NOT NULL,"
"	action TEXT NOT NULL,"
"	class TEXT NOT NULL,"
"	code INTEGER NOT NULL,"
"	enhanced TEXT NOT NULL,"
"	reply TEXT NOT NULL,"
"	remote_mta TEXT NOT NULL,"
"	reporting_mta TEXT NOT NULL,"
"	seen_ms INTEGER NOT NULL,"
"	seen_boot_ms INTEGER NOT NULL,"
"	seen_boot INTEGER NOT NULL,"
"	internal_ms INTEGER NOT NULL,"
"	UNIQUE (mailbox, folder, uidvalidity, uid));";

/* What is to be removed from the mailboxes, and when; 0: nothing. */
static const char	step_3[] =
"ALTER TABLE arrival ADD COLUMN clean_ms INTEGER NOT NULL DEFAULT 0;"
"CREATE INDEX arrival_clean ON arrival(mailbox, clean_ms)"
"	WHERE clean_ms <> 0;";

/* What a maintenance window keeps back, and what people believe meanwhile. */
static const char	step_4[] =
"ALTER TABLE episode ADD COLUMN held INTEGER NOT NULL DEFAULT 0;"
"ALTER TABLE episode ADD COLUMN told TEXT NOT NULL DEFAULT 'quiet';";

/* An earlier try to deliver it may have arrived, whoever started since. */
static const char	step_5[] =
"ALTER TABLE delivery ADD COLUMN repeat INTEGER NOT NULL DEFAULT 0;";

/* When it was given up, so that people can be told how many were lately. */
static const char	step_6[] =
"ALTER TABLE delivery ADD COLUMN expired_ms INTEGER NOT NULL DEFAULT 0;"
"CREATE INDEX delivery_expired ON delivery(expired_ms)"
"	WHERE expired_ms <> 0;";

const char *const	store_steps[] = { step_1, step_2, step_3, step_4,
	step_5, step_6 };
const int		store_format = (int)NITEMS(store_steps);

/* One number from db.  0 or -1. */
static int
ask(sqlite3 *db, const char *sql, int *value_r)
{
	sqlite3_stmt	*stmt;
	int		 rc = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return (-1);
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		*value_r = sqlite3_column_int(stmt, 0);
		rc = 0;
	}
	sqlite3_finalize(stmt);
	return (rc);
}

/* Which program made format `version` of db; "another version" if untold. */
static void
maker(sqlite3 *db, int version, char *buf, size_t size)
{
	sqlite3_stmt	*stmt;

	text_copy(buf, size, "another version");
	if (sqlite3_prepare_v2(db, "SELECT program FROM format "
	    "WHERE version = ?1", -1, &stmt, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_int(stmt, 1, version);
	if (sqlite3_step(stmt) == SQLITE_ROW &&
	    sqlite3_column_text(stmt, 0) != NULL)
		text_copy(buf, size,
		    (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
}

/* SQLite's word for why db cannot be read, and what to do about it. */
static int
unreadable(sqlite3 *db, char *why_r, size_t whysize)
{
	int	rc = sqlite3_errcode(db) & 0xff;

	if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
		snprintf(why_r, whysize, "is damaged (%s): move it away, or "
		    "restore it from a copy", sqlite3_errmsg(db));
	else
		snprintf(why_r, whysize, "cannot be used: %s",
		    sqlite3_errmsg(db));
	return (-1);
}

int
store_read_format(sqlite3 *db, int newest, int *format_r, char *why_r,
    size_t whysize)
{
	char	made_by[64];
	int	application, tables;

	if (ask(db, "PRAGMA user_version", format_r) == -1 ||
	    ask(db, "PRAGMA application_id", &application) == -1 ||
	    ask(db, "SELECT count(*) FROM sqlite_master", &tables) == -1)
		return (unreadable(db, why_r, whysize));
	if (application != STORE_APPLICATION_ID &&
	    (tables > 0 || *format_r != 0)) {
		snprintf(why_r, whysize, "is not a database of mailflowd");
		return (-1);
	}
	if (*format_r <= newest)
		return (0);
	maker(db, *format_r, made_by, sizeof made_by);
	snprintf(why_r, whysize, "has format %d, made by mailflowd %s; this "
	    "is mailflowd %s, which knows formats up to %d", *format_r,
	    made_by, PACKAGE_VERSION, newest);
	return (-1);
}

static int
take_step(sqlite3 *db, const char *step, int version)
{
	char	*mark = mem_printf("INSERT INTO format VALUES (%d, '%s');"
		    "PRAGMA application_id = %d;"
		    "PRAGMA user_version = %d;"
		    "COMMIT", version, PACKAGE_VERSION, STORE_APPLICATION_ID,
		    version);
	int	 rc = -1;

	if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) ==
	    SQLITE_OK &&
	    sqlite3_exec(db, step, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(db, mark, NULL, NULL, NULL) == SQLITE_OK)
		rc = 0;
	mem_free(mark);
	return (rc);
}

int
store_migrate(sqlite3 *db, const char *const *steps, int format, char *why_r,
    size_t whysize)
{
	int	at;

	if (store_read_format(db, format, &at, why_r, whysize) == -1)
		return (-1);
	for (; at < format; at++)
		if (take_step(db, steps[at], at + 1) == -1) {
			unreadable(db, why_r, whysize);
			if (!sqlite3_get_autocommit(db))
				sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
			return (-1);
		}
	return (0);
}
