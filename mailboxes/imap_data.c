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

/* Without the backslashes of a quoted string; to has room for all of it. */
static size_t
unquote(const struct imap_string *s, char *to)
{
	size_t	n = 0;

	for (size_t i = 0; i < s->len; i++) {
		i += s->quoted && s->data[i] == '\\';
		to[n++] = s->data[i];
	}
	return (n);
}

/* A section as a literal. */
static void
emit_section(struct imap_filter *f, const char *label,
    const struct imap_string *s)
{
	char	*plain;

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
	imap_emit_literal(f, plain, unquote(s, plain));
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

static bool
is_flag(const struct imap_string *s, const char *flag)
{
	return (s->len == strlen(flag) &&
	    strncasecmp(s->data, flag, s->len) == 0);
}

/* The role among the flags, or NULL; false if it holds no mail. */
static bool
read_flags(struct imap_lex *c, const char **role)
{
	struct imap_string	s;
	bool			mail = true;

	if (!imap_lex_accept(c, '('))
		return (false);
	while (!imap_lex_accept(c, ')')) {
		if (!imap_lex_string(c, &s) || s.data == NULL)
			return (false);
		if (is_flag(&s, "\\Junk") || is_flag(&s, "\\Spam"))
			*role = "\\Junk";
		else if (is_flag(&s, "\\Trash"))
			*role = "\\Trash";
		else if (is_flag(&s, "\\Noselect") ||
		    is_flag(&s, "\\NonExistent"))
			mail = false;
	}
	return (mail);
}

/* Into plain; false if it is none that could be sent back. */
static bool
read_name(struct imap_lex *c, char plain[IMAP_TEXT], size_t *len_r)
{
	struct imap_string	s;

	if (!imap_lex_string(c, &s) || s.data == NULL || s.len == 0 ||
	    s.len >= IMAP_TEXT)
		return (false);
	*len_r = unquote(&s, plain);
	for (size_t i = 0; i < *len_r; i++)
		if ((unsigned char)plain[i] < 0x20 || plain[i] == 0x7f)
			return (false);
	return (true);
}

/* '\0': there is none. */
static bool
read_delimiter(struct imap_lex *c, char *delimiter)
{
	struct imap_string	s;
	char			plain[2];

	*delimiter = '\0';
	if (!imap_lex_string(c, &s))
		return (false);
	if (s.data != NULL && s.len <= sizeof plain &&
	    unquote(&s, plain) == 1)
		*delimiter = plain[0];
	return (true);
}

/*
 * A role from the server's own flags carries \Special; a guessed one not, but
 * \Near if the folder lies where such folders lie.
 */
int
imap_data_list(struct imap_filter *f, struct imap_lex c)
{
	char		 name[IMAP_TEXT], delimiter;
	const char	*role = NULL, *mark = "\\Special";
	size_t		 len;

	if ((f->want & IMAP_WANT_LIST) == 0 || !read_flags(&c, &role) ||
	    !read_delimiter(&c, &delimiter) || !read_name(&c, name, &len))
		return (0);
	if (role == NULL) {
		role = folder_role(name, len, delimiter);
		mark = folder_is_near(name, len, delimiter) ? "\\Near" : "";
	}
	if (role == NULL)
		return (0);
	imap_emit(f, "* LIST (");
	imap_emit(f, role);
	imap_emit(f, *mark != '\0' ? " " : "");
	imap_emit(f, mark);
	imap_emit(f, ") NIL ");
	imap_emit_literal(f, name, len);
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
