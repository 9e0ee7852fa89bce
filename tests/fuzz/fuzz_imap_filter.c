/*
 * Any bytes as an IMAP server: through the filter into libetpan, which makes
 * the same commands on them as our driver does.  Whatever the server says,
 * each command must end.
 */
#include <libetpan/libetpan.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes/date.h"
#include "mailboxes/imap_filter.h"

#define CHECK(what)	do { if (!(what)) abort(); } while (0)
#define PIECE		61

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct server {
	const char		*data;
	size_t			 len, at;
	struct imap_filter	 filter;
};

static ssize_t
server_read(mailstream_low *low, void *buf, size_t size)
{
	struct server	*s = low->data;
	size_t		 n;

	for (;;) {
		if ((n = imap_filter_take(&s->filter, buf, size)) > 0) {
			CHECK(memchr(buf, '\0', n) == NULL);
			return ((ssize_t)n);
		}
		if (s->filter.end != IMAP_FILTER_OPEN || s->at == s->len)
			return (-1);
		n = s->len - s->at < PIECE ? s->len - s->at : PIECE;
		(void)imap_filter_feed(&s->filter, s->data + s->at, n);
		s->at += n;
	}
}

static ssize_t
server_write(mailstream_low *low, const void *buf, size_t size)
{
	(void)low;
	(void)buf;
	return ((ssize_t)size);
}

static int
server_close(mailstream_low *low)
{
	(void)low;
	return (0);
}

static int
server_fd(mailstream_low *low)
{
	(void)low;
	return (-1);
}

static void
server_free(mailstream_low *low)
{
	free(low);
}

static mailstream_low_driver	driver = {
	.mailstream_read = server_read,
	.mailstream_write = server_write,
	.mailstream_close = server_close,
	.mailstream_get_fd = server_fd,
	.mailstream_free = server_free,
};

static void
command(struct server *s, unsigned want)
{
	imap_filter_command(&s->filter, want);
}

static void
fetch(mailimap *imap, struct server *s)
{
	struct mailimap_fetch_type	*type;
	struct mailimap_set		*set;
	clist				*list = NULL;

	type = mailimap_fetch_type_new_fetch_att(mailimap_fetch_att_new_uid());
	set = mailimap_set_new_interval(1, 0);
	command(s, IMAP_WANT_FETCH);
	if (mailimap_uid_fetch(imap, set, type, &list) == MAILIMAP_NO_ERROR &&
	    list != NULL)
		mailimap_fetch_list_free(list);
	mailimap_set_free(set);
	mailimap_fetch_type_free(type);
}

static void
status(mailimap *imap, struct server *s)
{
	struct mailimap_status_att_list		*atts;
	struct mailimap_mailbox_data_status	*result = NULL;

	atts = mailimap_status_att_list_new_empty();
	mailimap_status_att_list_add(atts, MAILIMAP_STATUS_ATT_UIDNEXT);
	command(s, IMAP_WANT_STATUS);
	(void)mailimap_status(imap, "INBOX", atts, &result);
	if (result != NULL)
		mailimap_mailbox_data_status_free(result);
	mailimap_status_att_list_free(atts);
}

static void
list(mailimap *imap, struct server *s)
{
	clist	*found = NULL;

	command(s, IMAP_WANT_LIST);
	(void)mailimap_list(imap, "", "*", &found);
	if (found != NULL)
		mailimap_list_result_free(found);
}

/* The driver's commands, as it makes them. */
static void
session(mailimap *imap, struct server *s)
{
	int	r = mailimap_connect(imap, mailstream_new(
		    mailstream_low_new(s, &driver), 1024));

	if (r != MAILIMAP_NO_ERROR_AUTHENTICATED &&
	    r != MAILIMAP_NO_ERROR_NON_AUTHENTICATED)
		return;
	command(s, 0);
	(void)mailimap_custom_command(imap, "CAPABILITY");
	command(s, IMAP_WANT_PLUS);
	imap->imap_state = MAILIMAP_STATE_NON_AUTHENTICATED;
	(void)mailimap_oauth2_authenticate(imap, "user", "token");
	imap->imap_state = MAILIMAP_STATE_AUTHENTICATED;
	list(imap, s);
	command(s, 0);
	imap_filter_deselect(&s->filter);
	if (mailimap_select(imap, "INBOX") != MAILIMAP_NO_ERROR)
		return;
	while (s->filter.end == IMAP_FILTER_OPEN && s->at < s->len) {
		command(s, 0);
		(void)mailimap_noop(imap);
		fetch(imap, s);
		status(imap, s);
		command(s, IMAP_WANT_IDLE | IMAP_WANT_PLUS);
		if (imap->imap_selection_info == NULL ||
		    mailimap_idle(imap) != MAILIMAP_NO_ERROR)
			continue;
		command(s, 0);
		(void)mailimap_idle_done(imap);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct server	 s = { .data = (const char *)data, .len = size };
	mailimap	*imap = mailimap_new(0, NULL);
	mailstream	*stream;
	char		 date[DATE_IMAP];
	int64_t		 ms;

	imap_filter_init(&s.filter);
	session(imap, &s);
	CHECK(strnlen(s.filter.text, IMAP_TEXT) < IMAP_TEXT);
	CHECK(s.filter.end != IMAP_FILTER_BROKEN || s.filter.why[0] != '\0');
	stream = imap->imap_stream;
	imap->imap_stream = NULL;
	mailimap_free(imap);
	if (stream != NULL)
		mailstream_close(stream);
	imap_filter_free(&s.filter);
	if ((ms = date_imap_ms((const char *)data, size)) != 0)
		CHECK(*date_imap_print(ms, date) != '\0');
	return (0);
}
