#include "mailboxes/imap_data.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mailboxes/date.h"
#include "mailboxes/folder_name.h"
#include "monitor/mem.h"

/* FETCH (RFC 3501 7.4.2): only the items that we ever ask for. */

struct fetched {
	uint32_t	 uid;
	int64_t		 date_ms;
	struct imap_string	 head, text;
	bool		 has_head, has_text;
};

/* BODY[...]<...> value, the cursor at the bracket. */
static bool
read_section(struct imap_lex *c, struct fetched *out)
{
	struct imap_string	 value, skipped;
	const char	*from = c->p + 1;
	size_t		 len;

	for (c->p++; c->p < c->end && *c->p != ']';) {
		if (*c->p == '"' || *c->p == '{') {
			if (!imap_lex_string(c, &skipped))
				return (false);
		} else
			c->p++;
	}
	if (c->p >= c->end)
		return (false);
	len = (size_t)(c->p++ - from);
	if (c->p < c->end && *c->p == '<') {
		while (c->p < c->end && *c->p != '>')
			c->p++;
		c->p += c->p < c->end;
	}
	if (!imap_lex_string(c, &value))
		return (false);
	if (len >= 6 && strncasecmp(from, "HEADER", 6) == 0) {
		out->head = value;
		out->has_head = true;
	} else if (len == 4 && strncasecmp(from, "TEXT", 4) == 0) {
		out->text = value;
		out->has_text = true;
	}
	return (true);
}

static bool
read_item(struct imap_lex *c, struct fetched *out)
{
	struct imap_string	value;
	char		name[IMAP_CODE];

	if (imap_lex_word(c, name, sizeof name) == 0)
		return (false);
	if (strcmp(name, "BODY") == 0 && c->p < c->end && *c->p == '[')
		return (read_section(c, out));
	if (strcmp(name, "UID") == 0)
		return (imap_lex_number(c, &out->uid));
	if (strcmp(name, "INTERNALDATE") == 0) {
		if (!imap_lex_string(c, &value))
			return (false);
		if (value.data != NULL)
			out->date_ms = date_imap_ms(value.data, value.len);
		return (true);
	}
	return (imap_lex_skip(c));
}

static bool
read_fetch(struct imap_lex *c, struct fetched *out)
{
	if (!imap_lex_accept(c, '('))
		return (false);
	while (!imap_lex_accept(c, ')'))
		if (!read_item(c, out))
			return (false);
	imap_lex_spaces(c);
	return (c->p == c->end);
}

/* A section as a literal, without the backslashes of a quoted string. */
static void
emit_section(struct imap_filter *f, const char *label,
    const struct imap_string *s)
{
	char	*plain;
	size_t	 i, n = 0;

	imap_emit(f, label);
	if (s->data == NULL) {
		imap_emit(f, "NIL");
		return;
	}
	if (!s->quoted) {
		imap_emit_literal(f, s->data, s->len);
		return;
	}
	plain = mem_alloc(s->len);
	for (i = 0; i < s->len; i++) {
		i += s->data[i] == '\\';
		plain[n++] = s->data[i];
	}
	imap_emit_literal(f, plain, n);
	mem_free(plain);
}

int
imap_data_fetch(struct imap_filter *f, struct imap_lex c, uint32_t n)
{
	struct fetched	got = { .uid = 0 };
	char		head[64], date[DATE_IMAP];

	if (!read_fetch(&c, &got))
		return (imap_broken(f, "a malformed FETCH response"));
	if (got.uid == 0 || (f->want & IMAP_WANT_FETCH) == 0 || n == 0)
		return (0);
	snprintf(head, sizeof head, "* %u FETCH (UID %u", n, got.uid);
	imap_emit(f, head);
	if (got.date_ms != 0) {
		imap_emit(f, " INTERNALDATE \"");
		imap_emit(f, date_imap_print(got.date_ms, date));
		imap_emit(f, "\"");
	}
	if (got.has_head)
		emit_section(f, " BODY[HEADER] ", &got.head);
	if (got.has_text)
		emit_section(f, " BODY[TEXT] ", &got.text);
	imap_emit(f, ")\r\n");
	return (0);
}

/* LIST (RFC 3501 7.2.2, RFC 6154): junk and trash folders alone. */

/* The role among the flags, or NULL. */
static bool
read_flags(struct imap_lex *c, const char **role)
{
	static const char	*const roles[] = { "\\Junk", "\\Trash" };
	struct imap_string		 s;
	size_t			 i;

	if (!imap_lex_accept(c, '('))
		return (false);
	while (!imap_lex_accept(c, ')')) {
		if (!imap_lex_string(c, &s) || s.data == NULL)
			return (false);
		for (i = 0; i < NITEMS(roles); i++)
			if (s.len == strlen(roles[i]) &&
			    strncasecmp(s.data, roles[i], s.len) == 0)
				*role = roles[i];
		if (s.len == 5 && strncasecmp(s.data, "\\Spam", 5) == 0)
			*role = roles[0];
	}
	return (true);
}

/* A role from the server's own flags carries \Special, a guessed one not. */
int
imap_data_list(struct imap_filter *f, struct imap_lex c)
{
	struct imap_string	 delimiter, name;
	const char	*role = NULL;
	bool		 special;

	if (!read_flags(&c, &role) || !imap_lex_string(&c, &delimiter) ||
	    !imap_lex_string(&c, &name) || name.data == NULL)
		return (0);
	if ((f->want & IMAP_WANT_LIST) == 0 || name.len == 0 ||
	    name.len >= IMAP_TEXT || memchr(name.data, '\\', name.len) ||
	    memchr(name.data, '\0', name.len))
		return (0);
	special = role != NULL;
	if (!special)
		role = folder_role(name.data, name.len,
		    delimiter.data != NULL && delimiter.len == 1 ?
		    delimiter.data[0] : '\0');
	if (role == NULL)
		return (0);
	imap_emit(f, "* LIST (");
	imap_emit(f, role);
	imap_emit(f, special ? " \\Special) NIL " : ") NIL ");
	imap_emit_literal(f, name.data, name.len);
	imap_emit(f, "\r\n");
	return (0);
}

/* STATUS (RFC 3501 7.2.4): where the next UID will be. */
int
imap_data_status(struct imap_filter *f, struct imap_lex c)
{
	struct imap_string	name;
	char		item[IMAP_CODE], line[96];
	uint32_t	n, uidnext = 0, uidvalidity = 0;

	if ((f->want & IMAP_WANT_STATUS) == 0 || !imap_lex_string(&c, &name) ||
	    !imap_lex_accept(&c, '('))
		return (0);
	while (imap_lex_word(&c, item, sizeof item) > 0 &&
	    imap_lex_number(&c, &n)) {
		if (strcmp(item, "UIDNEXT") == 0)
			uidnext = n;
		else if (strcmp(item, "UIDVALIDITY") == 0)
			uidvalidity = n;
	}
	if (uidnext == 0 || uidvalidity == 0)
		return (0);
	snprintf(line, sizeof line,
	    "* STATUS x (UIDNEXT %u UIDVALIDITY %u)\r\n", uidnext, uidvalidity);
	imap_emit(f, line);
	return (0);
}
