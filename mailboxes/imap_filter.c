#include "mailboxes/imap_filter.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mailboxes/imap_data.h"
#include "mailboxes/imap_lex.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static const struct {
	const char	*name;
	unsigned	 bit;
} capabilities[] = {
	{ "IDLE", IMAP_CAP_IDLE },
	{ "UIDPLUS", IMAP_CAP_UIDPLUS },
	{ "MOVE", IMAP_CAP_MOVE },
	{ "STARTTLS", IMAP_CAP_STARTTLS },
	{ "LOGINDISABLED", IMAP_CAP_LOGINDISABLED },
	{ "AUTH=PLAIN", IMAP_CAP_PLAIN },
	{ "AUTH=XOAUTH2", IMAP_CAP_XOAUTH2 },
	{ "AUTH=OAUTHBEARER", IMAP_CAP_OAUTHBEARER },
	{ "ID", IMAP_CAP_ID },
	{ "SASL-IR", IMAP_CAP_SASL_IR },
	{ "X-GM-EXT-1", IMAP_CAP_GMAIL },
	{ "SPECIAL-USE", IMAP_CAP_SPECIAL_USE },
};

/* Buffers. */

static void
bytes_add(struct imap_bytes *b, const char *data, size_t len)
{
	size_t	cap = b->cap > 0 ? b->cap : 256;

	if (b->at > 0 && b->at == b->len)
		b->at = b->len = 0;
	while (cap < b->len + len)
		cap *= 2;
	if (cap != b->cap) {
		b->data = mem_grow(b->data, cap, 1);
		b->cap = cap;
	}
	if (len > 0)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void
bytes_free(struct imap_bytes *b)
{
	mem_free(b->data);
	*b = (struct imap_bytes){ .data = NULL };
}

void
imap_emit(struct imap_filter *f, const char *text)
{
	bytes_add(&f->out, text, strlen(text));
}

/* A string as a literal: the one form that needs no quoting. */
void
imap_emit_literal(struct imap_filter *f, const char *data, size_t len)
{
	char	head[32];
	size_t	i, at;

	snprintf(head, sizeof head, "{%zu}\r\n", len);
	imap_emit(f, head);
	bytes_add(&f->out, data, len);
	at = f->out.len - len;
	for (i = at; i < f->out.len; i++)
		if (f->out.data[i] == '\0')
			f->out.data[i] = '?';
}

int
imap_broken(struct imap_filter *f, const char *why)
{
	if (f->end == IMAP_FILTER_OPEN) {
		f->end = IMAP_FILTER_BROKEN;
		f->why = why;
	}
	return (-1);
}

/* Status responses (RFC 3501 7.1). */

static void
read_capabilities(struct imap_filter *f, struct imap_lex c)
{
	char	w[IMAP_CODE];
	size_t	i;

	f->capability = IMAP_CAP_KNOWN;
	for (;;) {
		imap_lex_spaces(&c);
		if (c.p == c.end)
			return;
		if (imap_lex_word(&c, w, sizeof w) == 0)
			c.p += c.p < c.end;
		for (i = 0; i < NITEMS(capabilities); i++)
			if (strcmp(w, capabilities[i].name) == 0)
				f->capability |= capabilities[i].bit;
	}
}

/* What stands inside the brackets of a status response. */
static void
read_code(struct imap_filter *f, struct imap_lex c, char name[IMAP_CODE])
{
	uint32_t	n;

	if (imap_lex_word(&c, name, IMAP_CODE) == 0)
		return;
	if (strcmp(name, "CAPABILITY") == 0)
		read_capabilities(f, c);
	else if (strcmp(name, "UIDVALIDITY") == 0 && imap_lex_number(&c, &n))
		f->uidvalidity = n;
	else if (strcmp(name, "UIDNEXT") == 0 && imap_lex_number(&c, &n))
		f->uidnext = n;
	else if (strcmp(name, "READ-ONLY") == 0)
		f->read_only = true;
	else if (strcmp(name, "READ-WRITE") == 0)
		f->read_only = false;
}

/* Code and text after OK, NO, BAD, BYE, PREAUTH; the text alone in *c. */
static void
read_status(struct imap_filter *f, struct imap_lex *c, char name[IMAP_CODE])
{
	const char	*close;

	name[0] = '\0';
	imap_lex_spaces(c);
	if (c->p < c->end && *c->p == '[' &&
	    (close = memchr(c->p, ']', (size_t)(c->end - c->p))) != NULL) {
		read_code(f, (struct imap_lex){ c->p + 1, close }, name);
		c->p = close + 1;
	}
	imap_lex_spaces(c);
	if (strcmp(name, "ALERT") == 0)
		text_clean(f->alert, sizeof f->alert, c->p,
		    (size_t)(c->end - c->p));
}

/* Keeps a refusal for the driver. */
static void
keep_status(struct imap_filter *f, const struct imap_lex *c, const char *name)
{
	text_copy(f->code, sizeof f->code, name);
	text_clean(f->text, sizeof f->text, c->p, (size_t)(c->end - c->p));
}

static int
goodbye(struct imap_filter *f, struct imap_lex c)
{
	char	name[IMAP_CODE];

	read_status(f, &c, name);
	/* A refusal before it says more about the why. */
	if (f->tagged != IMAP_NO && f->tagged != IMAP_BAD)
		keep_status(f, &c, name);
	f->end = IMAP_FILTER_BYE;
	return (-1);
}

static int
greeting(struct imap_filter *f, struct imap_lex c)
{
	char	w[16], name[IMAP_CODE];

	if (!imap_lex_accept(&c, '*'))
		return (imap_broken(f, "a greeting that is not IMAP"));
	imap_lex_word(&c, w, sizeof w);
	if (strcmp(w, "BYE") == 0 || strcmp(w, "NO") == 0 ||
	    strcmp(w, "BAD") == 0)
		return (goodbye(f, c));
	if (strcmp(w, "OK") == 0)
		f->greeting = IMAP_GREETING_OK;
	else if (strcmp(w, "PREAUTH") == 0)
		f->greeting = IMAP_GREETING_PREAUTH;
	else
		return (imap_broken(f, "a greeting that is not IMAP"));
	read_status(f, &c, name);
	imap_emit(f, f->greeting == IMAP_GREETING_OK ? "* OK ready\r\n" :
	    "* PREAUTH ready\r\n");
	return (0);
}

/* "* n EXISTS" and its like. */
static int
numbered(struct imap_filter *f, struct imap_lex c)
{
	char		w[16];
	uint32_t	n;

	if (!imap_lex_number(&c, &n))
		return (0);
	imap_lex_word(&c, w, sizeof w);
	if (strcmp(w, "FETCH") == 0)
		return (imap_data_fetch(f, c, n));
	if (strcmp(w, "EXISTS") == 0) {
		f->grown += n > f->exists;
		f->exists = n;
	} else if (strcmp(w, "EXPUNGE") == 0) {
		f->exists -= f->exists > 0;
	} else if (strcmp(w, "RECENT") == 0 && n > 0)
		f->stirred++;
	return (0);
}

static int
untagged(struct imap_filter *f, struct imap_lex c)
{
	char		w[IMAP_CODE], name[IMAP_CODE];

	imap_lex_spaces(&c);
	if (c.p < c.end && *c.p >= '0' && *c.p <= '9')
		return (numbered(f, c));
	imap_lex_word(&c, w, sizeof w);
	if (strcmp(w, "BYE") == 0)
		return (goodbye(f, c));
	if (strcmp(w, "OK") == 0 || strcmp(w, "NO") == 0 ||
	    strcmp(w, "BAD") == 0) {
		read_status(f, &c, name);
		/* It may be all that is said before a session ends. */
		if (w[0] != 'O' && f->tagged == IMAP_PENDING)
			keep_status(f, &c, name);
		return (0);
	}
	if (strcmp(w, "CAPABILITY") == 0)
		read_capabilities(f, c);
	else if (strcmp(w, "LIST") == 0)
		return (imap_data_list(f, c));
	else if (strcmp(w, "STATUS") == 0)
		return (imap_data_status(f, c));
	return (0);
}

static int
continuation(struct imap_filter *f, struct imap_lex c)
{
	imap_lex_accept(&c, '+');
	imap_lex_spaces(&c);
	text_clean(f->challenge, sizeof f->challenge, c.p,
	    (size_t)(c.end - c.p));
	if (++f->pluses > IMAP_PLUS_MAX)
		return (imap_broken(f, "endless continuation requests"));
	if ((f->want & IMAP_WANT_IDLE) != 0 && f->tagged == IMAP_PENDING) {
		if (f->idling)
			return (0);
		f->idling = true;
	}
	if ((f->want & IMAP_WANT_PLUS) != 0)
		imap_emit(f, "+ go\r\n");
	return (0);
}

static int
tagged(struct imap_filter *f, struct imap_lex c)
{
	static const struct {
		const char		*word;
		enum imap_condition	 condition;
	}	conditions[] = {
		{ "OK", IMAP_OK }, { "NO", IMAP_NO }, { "BAD", IMAP_BAD }
	};
	char	tag[IMAP_CODE], w[16], name[IMAP_CODE];
	size_t	i;

	if (imap_lex_word(&c, tag, sizeof tag) == 0 || strlen(tag) > 10)
		return (imap_broken(f, "a line that is not IMAP"));
	imap_lex_word(&c, w, sizeof w);
	for (i = 0; i < NITEMS(conditions); i++)
		if (strcmp(w, conditions[i].word) == 0)
			break;
	if (i == NITEMS(conditions))
		return (imap_broken(f, "a line that is not IMAP"));
	/* Our tags are numbers: this one answers a DONE that came too late. */
	if (strcmp(tag, "DONE") == 0)
		return (0);
	if (f->tagged != IMAP_PENDING)
		return (imap_broken(f, "two answers to one command"));
	read_status(f, &c, name);
	keep_status(f, &c, name);
	f->tagged = conditions[i].condition;
	f->after_tagged = 0;
	if (f->idling) {
		f->idling = false;
		if ((f->want & IMAP_WANT_IDLE) != 0)
			return (0);
	}
	imap_emit(f, tag);
	imap_emit(f, " ");
	imap_emit(f, w);
	imap_emit(f, " done\r\n");
	return (0);
}

/* One whole response, without its final CRLF. */
static int
response(struct imap_filter *f, struct imap_lex c)
{
	struct imap_lex	rest = c;

	imap_lex_spaces(&rest);
	if (rest.p == rest.end)
		return (0);
	if (f->greeting == IMAP_NO_GREETING)
		return (greeting(f, c));
	if (*c.p == '+')
		return (continuation(f, c));
	if (imap_lex_accept(&c, '*'))
		return (untagged(f, c));
	return (tagged(f, c));
}

/* Collecting. */

/*
 * Whether the response in `in`, whose last line just ended at len (CRLF not
 * counted), goes on with a literal.  Status text may end in braces without
 * meaning one.  1: yes, 0: no, -1: broken.
 */
static int
expects_literal(struct imap_filter *f, size_t len)
{
	struct imap_lex	c = { f->in.data, f->in.data + len };
	char		w[16];
	uint64_t	n = 0;
	size_t		i = len, from;

	if (len == 0 || f->in.data[len - 1] != '}' ||
	    f->greeting == IMAP_NO_GREETING || !imap_lex_accept(&c, '*'))
		return (0);
	imap_lex_word(&c, w, sizeof w);
	if (strcmp(w, "OK") == 0 || strcmp(w, "NO") == 0 ||
	    strcmp(w, "BAD") == 0 || strcmp(w, "BYE") == 0)
		return (0);
	while (i > f->line && f->in.data[i - 1] != '{')
		i--;
	if (i == f->line)
		return (0);
	from = i;
	for (; i < len - 1 && f->in.data[i] >= '0' && f->in.data[i] <= '9' &&
	    n <= IMAP_LITERAL_MAX; i++)
		n = n * 10 + (uint64_t)(f->in.data[i] - '0');
	if (i != len - 1 || i == from || n > IMAP_LITERAL_MAX)
		return (imap_broken(f, "a literal out of bounds"));
	f->literal = (size_t)n;
	return (1);
}

/* A line has ended: its LF is the last byte of `in`. */
static int
end_line(struct imap_filter *f)
{
	struct imap_bytes	*in = &f->in;
	size_t			 len = in->len - 1;
	int			 r;

	if (len > f->line && in->data[len - 1] == '\r')
		len--;
	in->len = len;
	if ((r = expects_literal(f, len)) < 0)
		return (-1);
	bytes_add(in, r ? "\r\n" : "", r ? 2 : 1);
	f->line = in->len;
	if (r)
		return (0);
	r = response(f, (struct imap_lex){ in->data, in->data + len });
	in->len = in->at = f->line = 0;
	return (r);
}

static int
collect(struct imap_filter *f, const char *data, size_t len)
{
	if (f->in.len + len > IMAP_RESPONSE_MAX)
		return (imap_broken(f, "a response without end"));
	bytes_add(&f->in, data, len);
	return (0);
}

int
imap_filter_feed(struct imap_filter *f, const char *data, size_t len)
{
	const char	*lf;
	size_t		 n;

	f->after_tagged += len;
	while (len > 0 && f->end == IMAP_FILTER_OPEN) {
		if (f->literal > 0) {
			n = len < f->literal ? len : f->literal;
			f->literal -= n;
			if (collect(f, data, n) < 0)
				return (-1);
			f->line = f->in.len;
		} else {
			lf = memchr(data, '\n', len);
			n = lf != NULL ? (size_t)(lf - data) + 1 : len;
			if (f->in.len - f->line + n > IMAP_LINE_MAX)
				return (imap_broken(f, "a line without end"));
			if (memchr(data, '\0', n) != NULL)
				return (imap_broken(f, "a NUL in a line"));
			if (collect(f, data, n) < 0)
				return (-1);
			/* What follows a tagged line counts from its end. */
			if (lf != NULL) {
				if (end_line(f) < 0)
					return (-1);
				if (f->after_tagged == 0)
					f->after_tagged = len - n;
			}
		}
		data += n;
		len -= n;
	}
	return (f->end == IMAP_FILTER_OPEN ? 0 : -1);
}

size_t
imap_filter_take(struct imap_filter *f, char *buf, size_t n)
{
	size_t	have = f->out.len - f->out.at;

	if (n > have)
		n = have;
	if (n == 0)
		return (0);
	memcpy(buf, f->out.data + f->out.at, n);
	f->out.at += n;
	return (n);
}

void
imap_filter_init(struct imap_filter *f)
{
	*f = (struct imap_filter){ .why = "" };
}

void
imap_filter_free(struct imap_filter *f)
{
	bytes_free(&f->in);
	bytes_free(&f->out);
}

void
imap_filter_command(struct imap_filter *f, unsigned want)
{
	f->want = want;
	f->tagged = IMAP_PENDING;
	f->pluses = 0;
	f->code[0] = f->text[0] = f->challenge[0] = '\0';
}

void
imap_filter_deselect(struct imap_filter *f)
{
	f->exists = f->uidnext = f->uidvalidity = 0;
	f->grown = f->stirred = 0;
	f->read_only = false;
}

void
imap_filter_secured(struct imap_filter *f)
{
	f->capability = 0;
	f->alert[0] = '\0';
}

bool
imap_filter_empty(const struct imap_filter *f)
{
	return (f->in.len == 0 && f->literal == 0 && f->out.len == f->out.at);
}

void
imap_filter_rest(struct imap_filter *f)
{
	if (!imap_filter_empty(f))
		return;
	bytes_free(&f->in);
	bytes_free(&f->out);
}
