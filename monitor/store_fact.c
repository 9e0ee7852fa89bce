#include "monitor/store_internal.h"

#include "monitor/text.h"

/*
 * The small tables: marks of mailboxes, facts by kind and name, lengths of
 * CSV files.
 */

/* marks */

static const struct query	mark_put = {
	"INSERT INTO mark(mailbox,folder,uidvalidity,uid) VALUES (?1,?2,?3,?4)"
	" ON CONFLICT(mailbox,folder) DO UPDATE SET"
	" uidvalidity=excluded.uidvalidity, uid=excluded.uid",
	NULL
};
static const struct query	mark_each = {
	"SELECT folder,uidvalidity,uid FROM mark WHERE mailbox = ?1"
	" ORDER BY +folder",
	NULL
};

int
store_mark_put(struct store *s, const char *mailbox,
    const struct frame_mark *m)
{
	struct cursor	c;

	cursor_open(&c, s, &mark_put);
	cursor_text(&c, mailbox);
	cursor_text(&c, m->folder);
	cursor_int(&c, m->uidvalidity);
	cursor_int(&c, m->uid);
	return (cursor_run(&c));
}

int
store_mark_each(struct store *s, const char *mailbox,
    void (*call)(void *arg, const struct frame_mark *), void *arg)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &mark_each);
	cursor_text(&c, mailbox);
	while ((rc = cursor_next(&c)) == 1) {
		struct frame_mark	m = {
			.uidvalidity = (uint32_t)cursor_number(&c, 1),
			.uid = (uint32_t)cursor_number(&c, 2),
		};

		text_copy(m.folder, sizeof m.folder, cursor_string(&c, 0));
		call(arg, &m);
	}
	return (rc);
}

/* facts */

static const struct query	fact_put = {
	"INSERT INTO fact(kind,name,value,text) VALUES (?1,?2,?3,?4)"
	" ON CONFLICT(kind,name) DO UPDATE SET value=excluded.value,"
	" text=excluded.text",
	NULL
};
static const struct query	fact_get = {
	"SELECT value,text FROM fact WHERE kind = ?1 AND name = ?2", NULL
};
static const struct query	fact_delete = {
	"DELETE FROM fact WHERE kind = ?1 AND name = ?2", NULL
};
static const struct query	fact_each = {
	"SELECT name,value,text FROM fact WHERE kind = ?1 ORDER BY +name", NULL
};

int
store_fact_put(struct store *s, const char *kind, const char *name,
    int64_t value, const char *text)
{
	struct cursor	c;

	cursor_open(&c, s, &fact_put);
	cursor_text(&c, kind);
	cursor_text(&c, name);
	cursor_int(&c, value);
	cursor_text(&c, text);
	return (cursor_run(&c));
}

int
store_fact_get(struct store *s, const char *kind, const char *name,
    int64_t *value_r, char *text_r, size_t size)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &fact_get);
	cursor_text(&c, kind);
	cursor_text(&c, name);
	if ((rc = cursor_next(&c)) != 1)
		return (rc);
	*value_r = cursor_number(&c, 0);
	if (text_r != NULL)
		text_copy(text_r, size, cursor_string(&c, 1));
	cursor_close(&c);
	return (1);
}

int
store_fact_delete(struct store *s, const char *kind, const char *name)
{
	struct cursor	c;

	cursor_open(&c, s, &fact_delete);
	cursor_text(&c, kind);
	cursor_text(&c, name);
	return (cursor_run(&c));
}

int
store_fact_each(struct store *s, const char *kind,
    void (*call)(void *arg, const char *name, int64_t value,
    const char *text), void *arg)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &fact_each);
	cursor_text(&c, kind);
	while ((rc = cursor_next(&c)) == 1)
		call(arg, cursor_string(&c, 0), cursor_number(&c, 1),
		    cursor_string(&c, 2));
	return (rc);
}

/* CSV files */

static const struct query	csv_put = {
	"INSERT INTO csv_file(name,length) VALUES (?1,?2)"
	" ON CONFLICT(name) DO UPDATE SET length=excluded.length",
	NULL
};
static const struct query	csv_forget = {
	"DELETE FROM csv_file WHERE name = ?1", NULL
};
static const struct query	csv_get = {
	"SELECT length FROM csv_file WHERE name = ?1", NULL
};

int
store_csv_put(struct store *s, const char *file, int64_t length)
{
	struct cursor	c;

	cursor_open(&c, s, length < 0 ? &csv_forget : &csv_put);
	cursor_text(&c, file);
	if (length >= 0)
		cursor_int(&c, length);
	return (cursor_run(&c));
}

int
store_csv_get(struct store *s, const char *file, int64_t *length_r)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &csv_get);
	cursor_text(&c, file);
	if ((rc = cursor_next(&c)) != 1)
		return (rc);
	*length_r = cursor_number(&c, 0);
	cursor_close(&c);
	return (1);
}
