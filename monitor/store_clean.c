#include "monitor/store_internal.h"

#include "monitor/mem.h"

/*
 * Clean-up of mailboxes: the mails that arrived and are to be removed.
 */

static const struct column	clean_columns[] = {
	TEXT("folder", frame_clean, folder),
	VALUE("uidvalidity", frame_clean, uidvalidity, COLUMN_UINT),
	VALUE("uid", frame_clean, uid, COLUMN_UINT),
	TEXT("token", frame_clean, token),
};

static const struct record	clean_record = {
	"arrival", clean_columns, NITEMS(clean_columns)
};

#define THIS_MAIL \
	"WHERE mailbox = ?1 AND folder = ?2 AND uidvalidity = ?3 AND uid = ?4"

static const struct query	clean_put = {
	"UPDATE arrival SET clean_ms = ?5 " THIS_MAIL, NULL
};
static const struct query	clean_get = {
	"SELECT clean_ms FROM arrival " THIS_MAIL, NULL
};
static const struct query	clean_each = {
	"SELECT @ FROM arrival WHERE mailbox = ?1 AND clean_ms <> 0"
	" AND clean_ms <= ?2 ORDER BY clean_ms LIMIT ?3",
	&clean_record
};
static const struct query	clean_next = {
	"SELECT min(clean_ms) FROM arrival WHERE mailbox = ?1"
	" AND clean_ms <> 0 AND clean_ms > ?2",
	NULL
};

static void
bind_mail(struct cursor *c, const char *mailbox, const struct frame_clean *f)
{
	cursor_text(c, mailbox);
	cursor_text(c, f->folder);
	cursor_int(c, f->uidvalidity);
	cursor_int(c, f->uid);
}

int
store_clean_put(struct store *s, const char *mailbox,
    const struct frame_clean *f, int64_t at_ms)
{
	struct cursor	c;

	cursor_open(&c, s, &clean_put);
	bind_mail(&c, mailbox, f);
	cursor_int(&c, at_ms);
	return (cursor_run(&c));
}

/* The one number that c asks for, 0 for none. */
static int
one_number(struct cursor *c, int64_t *n_r)
{
	int	rc;

	*n_r = 0;
	if ((rc = cursor_next(c)) != 1)
		return (rc);
	*n_r = cursor_number(c, 0);
	cursor_close(c);
	return (1);
}

int
store_clean_get(struct store *s, const char *mailbox,
    const struct frame_clean *f, int64_t *at_ms_r)
{
	struct cursor	c;

	cursor_open(&c, s, &clean_get);
	bind_mail(&c, mailbox, f);
	return (one_number(&c, at_ms_r));
}

int
store_clean_each(struct store *s, const char *mailbox, int64_t until_ms,
    unsigned limit, void (*call)(void *arg, const struct frame_clean *),
    void *arg)
{
	struct frame_clean	f;
	struct cursor		c;
	int			rc;

	cursor_open(&c, s, &clean_each);
	cursor_text(&c, mailbox);
	cursor_int(&c, until_ms);
	cursor_int(&c, limit);
	while ((rc = cursor_next(&c)) == 1) {
		f = (struct frame_clean){ .id = 0 };
		if (cursor_read(&c, &f) == -1)
			return (-1);
		call(arg, &f);
	}
	return (rc);
}

int
store_clean_next(struct store *s, const char *mailbox, int64_t after_ms,
    int64_t *at_ms_r)
{
	struct cursor	c;
	int		rc;

	cursor_open(&c, s, &clean_next);
	cursor_text(&c, mailbox);
	cursor_int(&c, after_ms);
	rc = one_number(&c, at_ms_r);
	return (rc == 1 && *at_ms_r == 0 ? 0 : rc);
}
