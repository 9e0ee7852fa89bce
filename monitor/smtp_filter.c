#include "monitor/smtp_filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "monitor/mem.h"
#include "monitor/sasl.h"
#include "monitor/text.h"

/* Replies from the wire */

/* Does the line, without its LF, go on with another one? */
static bool
continues(const struct smtp_gather *g, const char *line, size_t len)
{
	bool	coded = len >= 3 && text_is_digit(line[0]) &&
		    text_is_digit(line[1]) && text_is_digit(line[2]);
	bool	empty = len == 0 || (len == 1 && line[0] == '\r');

	if (coded)
		return (len > 3 && line[3] == '-');
	return (g->open || empty);
}

enum smtp_gathered
smtp_gather(struct smtp_gather *g, size_t *len_r)
{
	const char	*line, *lf;

	while (g->line < g->len) {
		line = g->bytes + g->line;
		if ((lf = memchr(line, '\n', g->len - g->line)) == NULL)
			break;
		g->line = (size_t)(lf + 1 - g->bytes);
		if (!continues(g, line, (size_t)(lf - line))) {
			*len_r = g->line;
			return (SMTP_WHOLE);
		}
		g->open = g->open || text_is_digit(line[0]);
	}
	return (g->len == sizeof g->bytes ? SMTP_TOO_LONG : SMTP_MORE);
}

void
smtp_gather_drop(struct smtp_gather *g, size_t len)
{
	memmove(g->bytes, g->bytes + len, g->len - len);
	g->len -= len;
	g->line = 0;
	g->open = false;
}

/* What the server offers */

static const struct {
	const char	*name;
	enum sasl_mechanism	 bit;
} mechanisms[] = {
	{ "PLAIN",		SASL_PLAIN },
	{ "LOGIN",		SASL_LOGIN },
	{ "XOAUTH2",		SASL_XOAUTH2 },
	{ "OAUTHBEARER",	SASL_OAUTHBEARER },
};

static bool
word_is(const char *word, size_t len, const char *name)
{
	return (strlen(name) == len && strncasecmp(word, name, len) == 0);
}

/* The next word of *p, of which *len_r bytes; *p moves behind it. */
static const char *
next_word(const char **p, const char *end, size_t *len_r)
{
	const char	*word;

	while (*p < end && (**p == ' ' || **p == '\t' || **p == '='))
		(*p)++;
	word = *p;
	while (*p < end && **p != ' ' && **p != '\t' && **p != '=' &&
	    **p != '\r')
		(*p)++;
	*len_r = (size_t)(*p - word);
	return (word);
}

/* A word more in a list of them; one that has no room is left out whole. */
static void
add_word(char *list, size_t size, const char *word, size_t len)
{
	char	clean[64];
	size_t	have = strlen(list);

	text_clean(clean, sizeof clean, word, len);
	if (len == 0 || have + 1 + strlen(clean) >= size)
		return;
	if (have > 0)
		text_append(list, size, " ");
	text_append(list, size, clean);
}

static void
read_auth(struct smtp_features *f, const char *p, const char *end)
{
	const char	*word;
	size_t		 len;

	while (word = next_word(&p, end, &len), len > 0) {
		for (size_t i = 0; i < NITEMS(mechanisms); i++)
			if (word_is(word, len, mechanisms[i].name))
				f->auth |= mechanisms[i].bit;
		add_word(f->auth_names, sizeof f->auth_names, word, len);
	}
}

static void
read_size(struct smtp_features *f, const char *p, const char *end)
{
	const char	*word;
	char		 digits[20] = "";
	size_t		 len;

	f->size = true;
	word = next_word(&p, end, &len);
	if (len == 0 || len >= sizeof digits)
		return;
	memcpy(digits, word, len);
	if (strspn(digits, "0123456789") == len)
		f->size_limit = strtoll(digits, NULL, 10);
}

/* One line without its code: "SIZE 1000", "AUTH=LOGIN PLAIN". */
static void
read_keyword(struct smtp_features *f, const char *p, const char *end)
{
	const char	*word;
	size_t		 len;

	word = next_word(&p, end, &len);
	add_word(f->extensions, sizeof f->extensions, word, len);
	if (word_is(word, len, "STARTTLS"))
		f->starttls = true;
	else if (word_is(word, len, "DSN"))
		f->dsn = true;
	else if (word_is(word, len, "8BITMIME"))
		f->eightbit = true;
	else if (word_is(word, len, "SIZE"))
		read_size(f, p, end);
	else if (word_is(word, len, "AUTH"))
		read_auth(f, p, end);
}

void
smtp_features_read(struct smtp_features *f, const char *bytes, size_t len)
{
	const char	*end = bytes + len, *p, *lf;
	bool		 first = true;

	*f = (struct smtp_features){ 0 };
	for (p = bytes; p < end; p = lf + 1) {
		if ((lf = memchr(p, '\n', (size_t)(end - p))) == NULL)
			lf = end;
		if (lf - p > 4 && strncmp(p, "250", 3) == 0) {
			if (!first)	/* the first names the server */
				read_keyword(f, p + 4, lf);
			first = false;
		}
		if (lf == end)
			break;
	}
}

size_t
smtp_features_print(const struct smtp_features *f, unsigned auth,
    char buf[static SMTP_GREETING_MAX])
{
	buf[0] = '\0';
	text_append(buf, SMTP_GREETING_MAX, "250-mailflowd\r\n");
	if (f->size)
		text_append(buf, SMTP_GREETING_MAX, "250-SIZE\r\n");
	if (f->eightbit)
		text_append(buf, SMTP_GREETING_MAX, "250-8BITMIME\r\n");
	if (f->dsn)
		text_append(buf, SMTP_GREETING_MAX, "250-DSN\r\n");
	for (size_t i = 0; i < NITEMS(mechanisms); i++)
		if ((auth & mechanisms[i].bit) != 0)
			text_appendf(buf, SMTP_GREETING_MAX,
			    "250-AUTH %s\r\n", mechanisms[i].name);
	text_append(buf, SMTP_GREETING_MAX, "250 NOOP\r\n");
	return (strlen(buf));
}

/* Commands from the library */

static const char *const verbs[VERBS] = {
	[VERB_EHLO]	= "EHLO",
	[VERB_HELO]	= "HELO",
	[VERB_AUTH]	= "AUTH",
	[VERB_MAIL]	= "MAIL",
	[VERB_RCPT]	= "RCPT",
	[VERB_DATA]	= "DATA",
	[VERB_RSET]	= "RSET",
	[VERB_NOOP]	= "NOOP",
	[VERB_QUIT]	= "QUIT",
	[VERB_OTHER]	= "",
};

enum smtp_verb
smtp_verb_of(const char *line)
{
	size_t	len = strcspn(line, " \r\n");

	for (unsigned v = 0; v < VERB_OTHER; v++)
		if (word_is(line, len, verbs[v]))
			return ((enum smtp_verb)v);
	return (VERB_OTHER);
}

size_t
smtp_dot_scan(struct smtp_dot *d, const char *bytes, size_t len, bool *end_r)
{
	static const char	end[] = "\r\n.\r\n";

	if (!d->begun)		/* an empty message begins with its end */
		d->matched = 2;
	*end_r = false;
	for (size_t i = 0; i < len; i++) {
		d->begun = true;
		if (bytes[i] == end[d->matched])
			d->matched++;
		else	/* "\r" is the only byte that can begin it anew */
			d->matched = bytes[i] == '\r' ? 1 : 0;
		if (d->matched == sizeof end - 1) {
			*end_r = true;
			return (i + 1);
		}
	}
	return (len);
}

/* Texts */

enum smtp_address
smtp_address_check(const char *s)
{
	bool	utf8 = false;

	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f || *s == '<' ||
		    *s == '>')
			return (SMTP_ADDRESS_BAD);
		utf8 = utf8 || (unsigned char)*s >= 0x80;
	}
	return (utf8 ? SMTP_ADDRESS_UTF8 : SMTP_ADDRESS_GOOD);
}

/*
 * Where servers put the id: after these words, or before them.  The first
 * that is found wins, so the longer ones come first.
 */
static const struct {
	const char	*words;
	bool		 before;
	size_t		 least;		/* letters; a guess asks for more */
} id_places[] = {
	{ "queued as ",			false,	1 },	/* Postfix */
	{ "queued with id ",		false,	1 },	/* Stalwart */
	{ "internalid=",		false,	1 },	/* Exchange */
	{ "message accepted for delivery", true, 6 },	/* Sendmail, OpenSMTPD */
	{ "- gsmtp",			true,	6 },	/* Google */
	{ "queued (",			false,	6 },	/* Haraka */
	{ "id=",			false,	4 },	/* Exim */
	{ " id ",			false,	4 },
	{ " qp ",			false,	1 },	/* qmail */
	{ " as ",			false,	6 },	/* "queued on h as i" */
	{ "ok ",			false,	8 },	/* Amazon SES */
};

static bool
in_id(char c)
{
	return (text_is_digit(c) || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || (c != '\0' && strchr("-_.+@=", c) != NULL));
}

/* The word that ends before `at`; start is where the text begins. */
static const char *
word_before(const char *start, const char *at)
{
	while (at > start && !in_id(at[-1]))
		at--;
	while (at > start && in_id(at[-1]))
		at--;
	return (at);
}

/* An id has a digit in it and some length; a word of a language has not. */
static bool
take_id(const char *s, size_t least, char *buf, size_t size)
{
	size_t	len = 0;
	bool	digit = false;

	while (*s != '\0' && !in_id(*s) && *s != ' ')
		s++;			/* "<", "(", "[" */
	for (; in_id(s[len]); len++)
		digit = digit || text_is_digit(s[len]);
	while (len > 0 && (s[len - 1] == '.' || s[len - 1] == '-'))
		len--;
	if (!digit || len < least || len >= size)
		return (false);
	memcpy(buf, s, len);
	buf[len] = '\0';
	return (true);
}

void
smtp_queue_id(const char *text, char *buf, size_t size)
{
	const char	*at;

	buf[0] = '\0';
	for (size_t i = 0; i < NITEMS(id_places); i++) {
		if ((at = strcasestr(text, id_places[i].words)) == NULL)
			continue;
		if (take_id(id_places[i].before ? word_before(text, at) :
		    at + strlen(id_places[i].words), id_places[i].least, buf,
		    size))
			return;
	}
}

size_t
smtp_pad_line(int64_t left, char line[static SMTP_PAD_LINE])
{
	static const char	text[] =
	    "This line is here only to give the test message the size asked for. ";
	const size_t		whole = sizeof text - 1 + 2;
	size_t			len;

	if (left < 2)
		return (0);
	len = (size_t)left < whole ? (size_t)left : whole;
	if ((size_t)left == whole + 1)	/* one byte alone makes no line */
		len = whole + 1;
	memset(line, '.', len);
	memcpy(line, text, len - 2 < sizeof text - 1 ? len - 2 :
	    sizeof text - 1);
	memcpy(line + len - 2, "\r\n", 2);
	return (len);
}
