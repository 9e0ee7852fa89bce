#include "mailboxes/bounce_mail.h"

#include <string.h>
#include <strings.h>

#include "mailboxes/charset.h"
#include "mailboxes/html.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static bool
begins(const char *s, const char *with)
{
	return (strncasecmp(s, with, strlen(with)) == 0);
}

const char *
bounce_mail_field(const struct bounce_mail *m, const char *name,
    char value[BOUNCE_VALUE])
{
	struct header	h;

	value[0] = '\0';
	if (header_find(m->parts[0].head, m->parts[0].head_len, name, &h))
		mime_value(&h, value, BOUNCE_VALUE);
	return (value);
}

/* By the beginning of the type; the first match counts. */
static const struct role_row {
	const char		*type;
	enum bounce_role	 role;
} roles[] = {
	{ "message/delivery-status",		ROLE_STATUS },
	{ "message/global-delivery-status",	ROLE_STATUS },
	{ "message/disposition-notification",	ROLE_RECEIPT },
	{ "message/global-disposition",		ROLE_RECEIPT },
	{ "message/feedback-report",		ROLE_FEEDBACK },
	{ "message/rfc822",			ROLE_RETURNED },
	{ "message/global",			ROLE_RETURNED },
	{ "message/partial",			ROLE_RETURNED },
	{ "text/rfc822",			ROLE_RETURNED },
	{ "message/",				ROLE_NONE },
	{ "text/html",				ROLE_HTML },
	{ "text",				ROLE_WORDS },
};

enum bounce_role
bounce_mail_role(const struct mime_part *p)
{
	if (p->multipart)
		return (ROLE_NONE);
	for (size_t i = 0; i < NITEMS(roles); i++)
		if (begins(p->type, roles[i].type))
			return (roles[i].role);
	return (p->depth == 0 || p->type[0] == '\0' ? ROLE_WORDS : ROLE_NONE);
}

static bool
is_empty(const struct mime_part *p)
{
	for (size_t i = 0; i < p->body_len; i++)
		if ((unsigned char)p->body[i] > ' ')
			return (false);
	return (true);
}

/* The first part of each role; what comes after the report is the mail that
 * was returned, not ours to read. */
static void
assign_roles(struct bounce_mail *m)
{
	const struct mime_part	*html = NULL, *p;

	for (p = m->parts; p < m->parts + m->count; p++)
		switch (bounce_mail_role(p)) {
		case ROLE_STATUS:
			if (m->status == NULL)
				m->status = p;
			break;
		case ROLE_RETURNED:
			if (m->returned == NULL)
				m->returned = p;
			break;
		case ROLE_RECEIPT:
			m->receipt = true;
			break;
		case ROLE_FEEDBACK:
			m->feedback = true;
			break;
		case ROLE_WORDS:
			if (m->words == NULL && !is_empty(p))
				m->words = p;
			break;
		case ROLE_HTML:
			if (html == NULL)
				html = p;
			break;
		case ROLE_NONE:
			break;
		}
	if (m->words == NULL)
		m->words = html;
}

/*
 * The fields in a part of another type, as an attachment mostly: where none
 * has the right one, the first part that is nothing but fields.  It stands
 * before the returned message, which may be a report itself.
 */
static void
find_status(struct bounce_mail *m)
{
	struct mime_part	*p;
	const struct mime_part	*end = m->returned != NULL ? m->returned :
				    m->parts + m->count;

	if (m->status != NULL || m->receipt || m->feedback)
		return;
	for (p = m->parts + 1; p < end; p++) {
		if (p->multipart || bounce_mail_role(p) == ROLE_HTML ||
		    !dsn_is_whole(m->decoded,
		    mime_body(p, m->decoded, m->len + 1)))
			continue;
		text_copy(p->type, sizeof p->type, "message/delivery-status");
		m->status = p;
		if (m->words == p)
			m->words = NULL;
		return;
	}
}

static bool
is_message(const char *text, size_t len)
{
	struct header	h;
	size_t		at = 0;

	if (len > MIME_HEADER)
		len = MIME_HEADER;
	return (header_next(text, len, &at, &h) && h.name == text &&
	    header_find(text, len, "To", &h) &&
	    header_find(text, len, "From", &h));
}

/* Likewise the message itself, behind the fields. */
static void
find_returned(struct bounce_mail *m)
{
	const struct mime_part	*p;

	if (m->returned != NULL || m->status == NULL)
		return;
	for (p = m->status + 1; p < m->parts + m->count; p++) {
		if (p->multipart || p == m->words ||
		    bounce_mail_role(p) == ROLE_STATUS)
			continue;
		if (is_message(m->decoded,
		    mime_body(p, m->decoded, m->len + 1))) {
			m->returned = p;
			return;
		}
	}
}

static void
read_words(struct bounce_mail *m)
{
	size_t	n;

	m->plain = mem_alloc(CHARSET_GROWS * m->len + 1);
	if (m->words == NULL)
		return;
	n = mime_body(m->words, m->decoded, m->len + 1);
	m->plain_len = charset_utf8(m->words->charset, m->decoded, n,
	    m->plain);
	if (begins(m->words->type, "text/html"))
		m->plain_len = html_text(m->plain, m->plain, m->plain_len);
}

/* The character set of the first encoded word (RFC 2047), or "". */
static void
first_set(const struct header *h, char set[MIME_WORD])
{
	const char	*p = memmem(h->value, h->value_len, "=?", 2);
	const char	*end = h->value + h->value_len;
	size_t		 n = 0;

	if (p != NULL)
		for (p += 2; p < end && *p != '?' && *p != '*' &&
		    n + 1 < MIME_WORD; p++)
			set[n++] = *p;
	set[n] = '\0';
}

/* The subject; its first encoded word names the character set of all. */
static void
read_subject(struct bounce_mail *m)
{
	struct header	h;
	char		value[BOUNCE_VALUE], set[MIME_WORD];
	char		whole[CHARSET_GROWS * BOUNCE_VALUE + 1];
	size_t		n;

	if (!header_find(m->parts[0].head, m->parts[0].head_len, "Subject",
	    &h))
		return;
	n = mime_value(&h, value, sizeof value);
	first_set(&h, set);
	charset_utf8(set, value, n, whole);
	text_copy(m->subject, sizeof m->subject, whole);
}

/* The only address of a To field; untouched if there are none or several. */
static void
only_address(const struct header *h, char address[DSN_ADDRESS])
{
	char	value[BOUNCE_VALUE], only[DSN_ADDRESS], more[DSN_ADDRESS];
	size_t	at = 0;

	mime_value(h, value, sizeof value);
	if (!header_address(value, &at, only, sizeof only) ||
	    header_address(value, &at, more, sizeof more) ||
	    strchr(only, '@') == NULL)
		return;
	text_clean(address, DSN_ADDRESS, only, strlen(only));
}

/* The To field of the message returned in the text. */
static bool
find_to_in_text(const char *text, size_t len, struct header *h)
{
	size_t		at = bounce_returned(text, len);
	const char	*lf;

	while (at < len) {
		if (header_next(text, len, &at, h)) {
			if (header_is(h, "To"))
				return (true);
			continue;
		}
		lf = at < len ? memchr(text + at, '\n', len - at) : NULL;
		at = lf != NULL ? (size_t)(lf - text) + 1 : len;
	}
	return (false);
}

static void
find_ours(struct bounce_mail *m, const char *ours)
{
	struct header	h;
	size_t		n;

	if (ours[0] != '\0') {
		text_copy(m->ours, sizeof m->ours, ours);
		return;
	}
	if (m->returned != NULL) {
		n = mime_body(m->returned, m->decoded, m->len + 1);
		if (n > MIME_HEADER)
			n = MIME_HEADER;
		if (!header_find(m->decoded, n, "To", &h))
			return;
	} else if (!find_to_in_text(m->plain, m->plain_len, &h)) {
		return;
	}
	only_address(&h, m->ours);
}

void
bounce_mail_open(struct bounce_mail *m, const char *bytes, size_t len,
    const char *ours)
{
	memset(m, 0, sizeof *m);
	m->text = mem_alloc(len + 1);
	m->decoded = mem_alloc(len + 1);
	m->len = mime_lines(m->text, bytes, len);
	m->count = mime_split(m->text, m->len, m->parts);
	assign_roles(m);
	find_status(m);
	find_returned(m);
	read_words(m);
	bounce_mail_field(m, "From", m->from);
	read_subject(m);
	bounce_mail_field(m, "X-Failed-Recipients", m->failed);
	find_ours(m, ours);
}

void
bounce_mail_close(struct bounce_mail *m)
{
	mem_free(m->text);
	mem_free(m->decoded);
	mem_free(m->plain);
}

void
bounce_mail_words(const struct bounce_mail *m, struct bounce_words *w)
{
	char	value[BOUNCE_VALUE];

	*w = (struct bounce_words){ .from = m->from, .subject = m->subject,
	    .failed = m->failed, .text = m->plain, .len = m->plain_len };
	bounce_mail_field(m, "Return-Path", value);
	w->no_sender = strncmp(value, "<>", 2) == 0;
	w->has_sender = strchr(value, '@') != NULL;
	bounce_mail_field(m, "Auto-Submitted", value);
	w->automatic = value[0] != '\0' && !begins(value, "no");
	w->returns = m->returned != NULL;
	w->is_report = strcmp(m->parts[0].type, "multipart/report") == 0;
}
