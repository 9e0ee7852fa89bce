#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/store.h"

/*
 * What the files behind store.h share.  A record describes how the members
 * of one struct lie in the columns of one table, so that writing and reading
 * a row are two loops and not two long lists; a query is SQL with the
 * record's columns left open; a cursor is one use of a query, with its
 * errors gathered until the end.
 */

#define STORE_DATABASE	"mailflow.db"
#define STORE_LOCK	"lock"
#define STORE_KEY	"token.key"

/* ASCII "mflw" in the file's header: tells our files from others'. */
#define STORE_APPLICATION_ID	0x6d666c77

#define STORE_ERROR	512

/* Enums are stored as their words, so that a person can read the file. */
enum vocabulary {
	WORDS_STAGE,
	WORDS_CLASS,
	WORDS_VERDICT,
	WORDS_PROBE_STATE,
	WORDS_PROBE_END,
	WORDS_EPISODE_STATE,
	WORDS_EPISODE_ORIGIN,
	WORDS_NOTICE_KIND,
	WORDS_DELIVERY_STATE,
	WORDS_REPORT,
};

enum column_type {
	COLUMN_TEXT,		/* char [size] */
	COLUMN_INT,		/* int */
	COLUMN_UINT,		/* unsigned, uint32_t */
	COLUMN_BOOL,		/* bool, as 0 or 1 */
	COLUMN_INT64,		/* int64_t */
	COLUMN_ID64,		/* uint64_t, its bits as a signed number */
	COLUMN_COUNT,		/* int32_t; NULL for -1, not known */
	COLUMN_SPAN,		/* int64_t; NULL for STAMP_NO_SPAN */
	COLUMN_REFERENCE,	/* int64_t; NULL for 0, none */
	COLUMN_WORD,		/* an enum of vocabulary words */
};

struct column {
	const char	*name;
	enum column_type type;
	size_t		 offset;
	size_t		 size;		/* of TEXT */
	enum vocabulary	 words;		/* of WORD */
};

/* A member m of struct s as a column; a stamp is three. */
#define TEXT(name, s, m) \
	{ name, COLUMN_TEXT, offsetof(struct s, m), sizeof ((struct s *)0)->m, 0 }
#define VALUE(name, s, m, type) \
	{ name, type, offsetof(struct s, m), 0, 0 }
#define WORD(name, s, m, words) \
	{ name, COLUMN_WORD, offsetof(struct s, m), 0, words }
#define STAMP(name, s, m) \
	VALUE(name "_ms", s, m.wall_ms, COLUMN_INT64), \
	VALUE(name "_boot_ms", s, m.boot_ms, COLUMN_INT64), \
	VALUE(name "_boot", s, m.boot_id, COLUMN_ID64)

struct record {
	const char		*table;
	const struct column	*columns;
	size_t			 count;
};

/*
 * In sql, '@' stands for the record's column names, '#' for as many numbered
 * parameters, '$' for "name=excluded.name" of each but the first, which is
 * the key.  Parameters after '#' are written '?'.
 */
struct query {
	const char		*sql;
	const struct record	*record;	/* NULL: none of the marks */
};

struct statement {
	const struct query	*query;		/* borrowed, static: the key */
	sqlite3_stmt		*stmt;		/* owned */
};

struct store {
	sqlite3			*db;		/* owned */
	char			*directory;	/* owned */
	int			 lock_fd;	/* -1: a reader */
	bool			 open;		/* in a transaction */
	bool			 failed;	/* this turn: nothing more is written */
	uint64_t		 commits;
	char			 error[STORE_ERROR];
	struct statement	*statements;	/* owned, kept prepared */
	size_t			 statement_count;
};

/* store.c */

/* Opens the turn's transaction if it is not open.  0 or -1. */
int	 store_begin(struct store *);
/* Takes SQLite's complaint about what, rolls back, spoils the turn; -1. */
int	 store_fail(struct store *, const char *what);
/* The same with words of our own. */
int	 store_refuse(struct store *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));

/* store_schema.c */

/* The format this program writes, and what makes it from the one before. */
extern const char *const store_steps[];
extern const int	 store_format;

/*
 * The format of db into *format_r, 0 for an empty one.  -1 with why_r filled
 * if it is damaged, not ours, or newer than newest.  Changes nothing.
 */
int	 store_read_format(sqlite3 *db, int newest, int *format_r, char *why_r,
	    size_t whysize);
/*
 * Brings db to `format` by steps[its own format .. format - 1], each with
 * its new number in one transaction.  0, or -1 as store_read_format().
 */
int	 store_migrate(sqlite3 *db, const char *const *steps, int format,
	    char *why_r, size_t whysize);

/* store_cursor.c */

struct cursor {
	struct store		*store;
	const struct query	*query;
	sqlite3_stmt		*stmt;		/* NULL: it failed already */
	bool			 own;		/* stmt is not a kept one */
	int			 bound;		/* parameters so far */
	int			 rc;		/* first error of a bind */
};

void	 cursor_open(struct cursor *, struct store *, const struct query *);
/* Each binds the next parameter.  Text is borrowed until the cursor ends. */
void	 cursor_text(struct cursor *, const char *);
void	 cursor_int(struct cursor *, int64_t);
void	 cursor_null(struct cursor *);
void	 cursor_row(struct cursor *, const void *row);

/* Runs a writing query to its end and ends the cursor.  0 or -1. */
int	 cursor_run(struct cursor *);
/* The next row: 1, 0 at the end, -1; the cursor ends with 0 and -1. */
int	 cursor_next(struct cursor *);
/* Ends it early; fine if it has ended. */
void	 cursor_close(struct cursor *);

/*
 * The record's columns, which begin at column 0, into row.  -1 if what is
 * there cannot be ours (the store is failed, the cursor ended).
 */
int	 cursor_read(struct cursor *, void *row);
int64_t	 cursor_number(struct cursor *, int column);
/* Never NULL; valid until the cursor moves. */
const char *cursor_string(struct cursor *, int column);

/* Drops the prepared statements. */
void	 cursor_forget(struct store *);

/* "" for DELIVERY_STATES and above; store_episode.c */
const char *store_delivery_name(unsigned state);

#endif
