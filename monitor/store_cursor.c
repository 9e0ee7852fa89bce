#include "monitor/store_internal.h"

#include <string.h>

#include "alerts/episode.h"
#include "alerts/notice.h"
#include "monitor/mem.h"
#include "monitor/store_episode.h"
#include "monitor/text.h"

/*
 * Prepared statements, rows and words: the only place that turns members of
 * a struct into columns and back.
 */

static const char *
word_of(enum vocabulary words, unsigned i)
{
	switch (words) {
	case WORDS_STAGE:
		return (stage_name((enum stage)i));
	case WORDS_CLASS:
		return (class_name((enum outcome_class)i));
	case WORDS_VERDICT:
		return (verdict_name((enum verdict)i));
	case WORDS_PROBE_STATE:
		return (probe_state_name((enum probe_state)i));
	case WORDS_PROBE_END:
		return (probe_end_name((enum probe_end)i));
	case WORDS_EPISODE_STATE:
		return (episode_state_name((enum episode_state)i));
	case WORDS_EPISODE_ORIGIN:
		return (episode_origin_name((enum episode_origin)i));
	case WORDS_NOTICE_KIND:
		return (notice_kind_name((enum notice_kind)i));
	case WORDS_DELIVERY_STATE:
		return (store_delivery_name(i));
	case WORDS_REPORT:
		return (frame_report_name((enum report_news)i));
	}
	panic("store: vocabulary %d", (int)words);
}

static const unsigned word_counts[] = {
	[WORDS_STAGE]		= STAGES,
	[WORDS_CLASS]		= CLASSES,
	[WORDS_VERDICT]		= VERDICTS,
	[WORDS_PROBE_STATE]	= PROBE_STATES,
	[WORDS_PROBE_END]	= PROBE_ENDS,
	[WORDS_EPISODE_STATE]	= EPISODE_STATES,
	[WORDS_EPISODE_ORIGIN]	= EPISODE_ORIGINS,
	[WORDS_NOTICE_KIND]	= NOTICE_KINDS,
	[WORDS_DELIVERY_STATE]	= DELIVERY_STATES,
	[WORDS_REPORT]		= REPORT_NEWS,
};

/*
 * The index of a word, -1 for one we do not know: a state read as some other
 * state could send a message twice, so it is never guessed.
 */
static int
index_of(enum vocabulary words, const char *word)
{
	for (unsigned i = 0; i < word_counts[words]; i++)
		if (strcmp(word_of(words, i), word) == 0)
			return ((int)i);
	return (-1);
}

/* SQL text */

struct sql {
	char	*text;		/* owned */
	size_t	 len;
	size_t	 size;
};

static void
sql_put(struct sql *s, const char *text)
{
	size_t	n = strlen(text);

	if (s->len + n >= s->size) {
		s->size = 2 * (s->len + n + 1);
		s->text = mem_grow(s->text, s->size, 1);
	}
	memcpy(s->text + s->len, text, n + 1);
	s->len += n;
}

static void
sql_mark(struct sql *s, const struct record *r, char mark)
{
	size_t	first = mark == '$' ? 1 : 0;

	for (size_t i = first; i < r->count; i++) {
		if (i > first)
			sql_put(s, ",");
		if (mark == '#') {
			sql_put(s, "?");
			continue;
		}
		sql_put(s, r->columns[i].name);
		if (mark == '$') {
			sql_put(s, "=excluded.");
			sql_put(s, r->columns[i].name);
		}
	}
}

/* The query's SQL with its marks filled; caller frees. */
static char *
sql_of(const struct query *q)
{
	struct sql	 s = { 0 };
	char		 one[2] = "";

	for (const char *p = q->sql; *p != '\0'; p++) {
		if (q->record != NULL && strchr("@#$", *p) != NULL) {
			sql_mark(&s, q->record, *p);
			continue;
		}
		one[0] = *p;
		sql_put(&s, one);
	}
	return (s.text);
}

static sqlite3_stmt *
prepare(struct store *s, const struct query *q)
{
	sqlite3_stmt	*stmt = NULL;
	char		*sql = sql_of(q);

	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
	    &stmt, NULL) != SQLITE_OK)
		store_fail(s, sql);
	mem_free(sql);
	return (stmt);
}

static struct statement *
statement_of(struct store *s, const struct query *q)
{
	struct statement	*st;

	for (size_t i = 0; i < s->statement_count; i++)
		if (s->statements[i].query == q)
			return (&s->statements[i]);
	s->statements = mem_grow(s->statements, s->statement_count + 1,
	    sizeof *s->statements);
	st = &s->statements[s->statement_count++];
	*st = (struct statement){ .query = q };
	return (st);
}

void
cursor_forget(struct store *s)
{
	for (size_t i = 0; i < s->statement_count; i++)
		sqlite3_finalize(s->statements[i].stmt);
	mem_free(s->statements);
	s->statements = NULL;
	s->statement_count = 0;
}

/*
 * A statement is kept prepared for its next use.  One that is still being
 * walked (a callback that asks the same question again) is prepared anew.
 */
void
cursor_open(struct cursor *c, struct store *s, const struct query *q)
{
	struct statement	*st = statement_of(s, q);

	*c = (struct cursor){ .store = s, .query = q, .rc = SQLITE_OK };
	if (st->stmt == NULL)
		st->stmt = prepare(s, q);
	c->stmt = st->stmt;
	if (c->stmt != NULL && sqlite3_stmt_busy(c->stmt)) {
		c->own = true;
		c->stmt = prepare(s, q);
	}
}

void
cursor_close(struct cursor *c)
{
	if (c->stmt == NULL)
		return;
	if (c->own)
		sqlite3_finalize(c->stmt);
	else {
		sqlite3_reset(c->stmt);
		sqlite3_clear_bindings(c->stmt);
	}
	c->stmt = NULL;
}

static int
spoil(struct cursor *c)
{
	store_fail(c->store, c->query->record != NULL ?
	    c->query->record->table : c->query->sql);
	cursor_close(c);
	return (-1);
}

/* parameters */

static void
bound(struct cursor *c, int rc)
{
	if (c->rc == SQLITE_OK)
		c->rc = rc;
}

void
cursor_text(struct cursor *c, const char *text)
{
	c->bound++;
	if (c->stmt != NULL)
		bound(c, sqlite3_bind_text(c->stmt, c->bound, text, -1,
		    SQLITE_STATIC));
}

void
cursor_int(struct cursor *c, int64_t value)
{
	c->bound++;
	if (c->stmt != NULL)
		bound(c, sqlite3_bind_int64(c->stmt, c->bound, value));
}

void
cursor_null(struct cursor *c)
{
	c->bound++;
	if (c->stmt != NULL)
		bound(c, sqlite3_bind_null(c->stmt, c->bound));
}

static void
cursor_int_unless(struct cursor *c, int64_t value, int64_t unknown)
{
	if (value == unknown)
		cursor_null(c);
	else
		cursor_int(c, value);
}

static int64_t
int64_at(const void *p)
{
	int64_t	v;

	memcpy(&v, p, sizeof v);
	return (v);
}

static int
int_at(const void *p)
{
	int	v;

	memcpy(&v, p, sizeof v);
	return (v);
}

static unsigned
uint_at(const void *p)
{
	unsigned	v;

	memcpy(&v, p, sizeof v);
	return (v);
}

static void
bind_column(struct cursor *c, const struct column *col, const char *p)
{
	switch (col->type) {
	case COLUMN_TEXT:
		cursor_text(c, p);
		break;
	case COLUMN_INT:
		cursor_int(c, int_at(p));
		break;
	case COLUMN_UINT:
		cursor_int(c, uint_at(p));
		break;
	case COLUMN_BOOL:
		cursor_int(c, *(const bool *)p);
		break;
	case COLUMN_INT64:
	case COLUMN_ID64:
		cursor_int(c, int64_at(p));
		break;
	case COLUMN_COUNT:
		cursor_int_unless(c, int_at(p), -1);
		break;
	case COLUMN_SPAN:
		cursor_int_unless(c, int64_at(p), STAMP_NO_SPAN);
		break;
	case COLUMN_REFERENCE:
		cursor_int_unless(c, int64_at(p), 0);
		break;
	case COLUMN_WORD:
		cursor_text(c, word_of(col->words, uint_at(p)));
		break;
	}
}

void
cursor_row(struct cursor *c, const void *row)
{
	const struct record	*r = c->query->record;

	for (size_t i = 0; i < r->count; i++)
		bind_column(c, &r->columns[i],
		    (const char *)row + r->columns[i].offset);
}

/* rows */

int
cursor_run(struct cursor *c)
{
	if (c->stmt == NULL)
		return (-1);
	if (c->rc != SQLITE_OK)
		return (spoil(c));
	if (store_begin(c->store) == -1) {
		cursor_close(c);
		return (-1);
	}
	if (sqlite3_step(c->stmt) != SQLITE_DONE)
		return (spoil(c));
	cursor_close(c);
	return (0);
}

int
cursor_next(struct cursor *c)
{
	if (c->stmt == NULL)
		return (-1);
	if (c->rc != SQLITE_OK)
		return (spoil(c));
	switch (sqlite3_step(c->stmt)) {
	case SQLITE_ROW:
		return (1);
	case SQLITE_DONE:
		cursor_close(c);
		return (0);
	default:
		return (spoil(c));
	}
}

int64_t
cursor_number(struct cursor *c, int column)
{
	return (sqlite3_column_int64(c->stmt, column));
}

const char *
cursor_string(struct cursor *c, int column)
{
	const unsigned char	*s = sqlite3_column_text(c->stmt, column);

	return (s != NULL ? (const char *)s : "");
}

static int64_t
number_or(struct cursor *c, int column, int64_t unknown)
{
	return (sqlite3_column_type(c->stmt, column) == SQLITE_NULL ?
	    unknown : cursor_number(c, column));
}

static void
set_int64(void *p, int64_t v)
{
	memcpy(p, &v, sizeof v);
}

/* A number that does not fit was not written by us: the nearest that does. */
static void
set_int(void *p, int64_t v)
{
	int	i = v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX :
		    (int)v;

	memcpy(p, &i, sizeof i);
}

static void
set_uint(void *p, int64_t v)
{
	unsigned	u = v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX :
			    (unsigned)v;

	memcpy(p, &u, sizeof u);
}

static int
read_column(struct cursor *c, const struct column *col, int i, char *p)
{
	int	word;

	switch (col->type) {
	case COLUMN_TEXT:
		text_copy(p, col->size, cursor_string(c, i));
		break;
	case COLUMN_INT:
		set_int(p, cursor_number(c, i));
		break;
	case COLUMN_UINT:
		set_uint(p, cursor_number(c, i));
		break;
	case COLUMN_BOOL:
		*(bool *)p = cursor_number(c, i) != 0;
		break;
	case COLUMN_INT64:
	case COLUMN_ID64:
		set_int64(p, cursor_number(c, i));
		break;
	case COLUMN_COUNT:
		set_int(p, number_or(c, i, -1));
		break;
	case COLUMN_SPAN:
		set_int64(p, number_or(c, i, STAMP_NO_SPAN));
		break;
	case COLUMN_REFERENCE:
		set_int64(p, number_or(c, i, 0));
		break;
	case COLUMN_WORD:
		if ((word = index_of(col->words, cursor_string(c, i))) == -1)
			return (store_refuse(c->store, "%s: unknown %s \"%s\"",
			    c->query->record->table, col->name,
			    cursor_string(c, i)));
		set_uint(p, word);
		break;
	}
	return (0);
}

int
cursor_read(struct cursor *c, void *row)
{
	const struct record	*r = c->query->record;

	for (size_t i = 0; i < r->count; i++)
		if (read_column(c, &r->columns[i], (int)i,
		    (char *)row + r->columns[i].offset) == -1) {
			cursor_close(c);
			return (-1);
		}
	return (0);
}
