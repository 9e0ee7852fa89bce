#include "monitor/reply.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "monitor/text.h"

/*
 * A reply is read line by line.  Each line may bring a basic code, an
 * enhanced code and text; none of them must.  The basic code of the last
 * line that has one counts: a greeting "220-..." that ends in "421 ..." is a
 * refusal.  An enhanced code is believed by the place it stands in, because
 * texts are full of things that look like one (addresses, versions, dates).
 */

/* RFC 5321 4.5.3.1.5: a reply line is at most 512 octets with its CRLF. */
#define LINE_MAX_RFC	510

#define JOINT		" / "

struct span {
	const char	*s;	/* borrowed: the input */
	size_t		 len;
};

struct status {
	int	class;		/* 2, 4, 5; 0: none */
	int	subject;
	int	detail;
};

/* How far an enhanced code is believed, by where it was found. */
enum place {
	PLACE_NONE,
	PLACE_BRACKETS,		/* "(5.1.1)" or "[5.1.1]" in the text */
	PLACE_HASH,		/* "(#5.1.1)", "#5.1.1": qmail and its kin */
	PLACE_MISMATCH,		/* in its own place, class unlike the code's */
	PLACE_GENERAL,		/* in its own place, detail 0 */
	PLACE_OWN		/* in its own place */
};

struct found {
	struct status	status;
	enum place	place;
};

static bool
is_alnum(char c)
{
	return (text_is_digit(c) || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80);
}

static void
skip(struct span *p, size_t n)
{
	p->s += n;
	p->len -= n;
}

static void
skip_any(struct span *p, const char *set)
{
	while (p->len > 0 && *p->s != '\0' && strchr(set, *p->s) != NULL)
		skip(p, 1);
}

/* Cuts the next line off *rest; false at the end.  *broken_r: a stray CR. */
static bool
next_line(struct span *rest, struct span *line, bool *broken_r)
{
	size_t	n = 0;

	if (rest->len == 0)
		return (false);
	while (n < rest->len && rest->s[n] != '\n' && rest->s[n] != '\r')
		n++;
	*line = (struct span){ rest->s, n };
	if (n < rest->len && rest->s[n] == '\r') {
		n++;
		if (n == rest->len || rest->s[n] != '\n')
			*broken_r = true;
	}
	if (n < rest->len && rest->s[n] == '\n')
		n++;
	skip(rest, n);
	return (true);
}

/*
 * The basic code at the start of p: 200-599, and nothing after it that would
 * make it part of a longer word, number or address.  0: none.
 */
static int
basic_code(struct span p)
{
	if (p.len < 3 || p.s[0] < '2' || p.s[0] > '5' ||
	    !text_is_digit(p.s[1]) || !text_is_digit(p.s[2]))
		return (0);
	if (p.len > 3 && is_alnum(p.s[3]))
		return (0);
	if (p.len > 4 && p.s[3] == '.' && text_is_digit(p.s[4]))
		return (0);
	return ((p.s[0] - '0') * 100 + (p.s[1] - '0') * 10 + p.s[2] - '0');
}

/* One number of a status: 1-3 digits, no leading zero; -1 if it is not. */
static int
status_number(struct span *p)
{
	int	value = 0;
	size_t	n = 0;

	while (n < p->len && n < 4 && text_is_digit(p->s[n]))
		value = value * 10 + p->s[n++] - '0';
	if (n == 0 || n > 3 || (n > 1 && p->s[0] == '0'))
		return (-1);
	skip(p, n);
	return (value);
}

/*
 * Reads a status (RFC 3463 2: class "." subject "." detail) off the start of
 * p; false, p untouched, if there is none.  A fourth part makes it an
 * address, a letter after it a name.
 */
static bool
take_status(struct span *p, struct status *st)
{
	struct span	t = *p;

	if (t.len < 5 || (t.s[0] != '2' && t.s[0] != '4' && t.s[0] != '5') ||
	    t.s[1] != '.')
		return (false);
	st->class = t.s[0] - '0';
	skip(&t, 2);
	if ((st->subject = status_number(&t)) == -1 || t.len == 0 ||
	    *t.s != '.')
		return (false);
	skip(&t, 1);
	if ((st->detail = status_number(&t)) == -1)
		return (false);
	if (t.len > 0 && is_alnum(*t.s))
		return (false);
	if (t.len > 1 && *t.s == '.' && text_is_digit(t.s[1]))
		return (false);
	*p = t;
	return (true);
}

static bool
same_status(const struct status *a, const struct status *b)
{
	return (a->class == b->class && a->subject == b->subject &&
	    a->detail == b->detail);
}

/*
 * Takes the status in its own place, right after the basic code: "5.1.1",
 * "#5.1.1", "(5.1.1)", "'5.1.1".  Written twice, it is taken twice.
 */
static bool
take_own_status(struct span *p, struct status *st)
{
	struct span	t = *p;
	struct status	again;

	skip_any(&t, " \t#([\"':");
	if (!take_status(&t, st))
		return (false);
	do {
		skip_any(&t, ")]:;,");
		*p = t;
		skip_any(&t, " \t#(");
	} while (take_status(&t, &again) && same_status(st, &again));
	return (true);
}

/* Takes the basic code and its separator, also where it is written twice. */
static int
take_code(struct span *p)
{
	struct span	t = *p;
	int		code;

	skip_any(&t, " \t");
	code = basic_code(t);
	if (code == 0)
		return (0);
	do {
		skip(&t, 3);
		if (t.len > 0 && *t.s == '-')
			skip(&t, 1);
		*p = t;
		skip_any(&t, " \t");
	} while (basic_code(t) == code);
	return (code);
}

/* The first status of the form "#5.1.1", "(5.1.1)" or "[5.1.1]" in p. */
static struct found
find_marked_status(struct span p, int code)
{
	struct found	 f = { .place = PLACE_NONE };
	struct status	 st;
	char		 mark;

	while (p.len > 0) {
		mark = *p.s;
		skip(&p, 1);
		if (mark != '#' && mark != '(' && mark != '[')
			continue;
		struct span t = p;
		if (!take_status(&t, &st) || st.subject > 7)
			continue;
		if (mark == '#')
			return ((struct found){ st, PLACE_HASH });
		if (f.place == PLACE_NONE && t.len > 0 &&
		    (*t.s == ')' || *t.s == ']') &&
		    (code == 0 || st.class == code / 100))
			f = (struct found){ st, PLACE_BRACKETS };
	}
	return (f);
}

static struct found
own_status(const struct status *st, int code)
{
	if (code != 0 && st->class != code / 100)
		return ((struct found){ *st, PLACE_MISMATCH });
	return ((struct found){ *st,
	    st->detail == 0 ? PLACE_GENERAL : PLACE_OWN });
}

/*
 * Keeps the better of two: the place decides, then the later line, as with
 * the basic code.
 */
static void
prefer(struct reply *r, struct found *best, const struct found *f)
{
	if (f->place == PLACE_NONE)
		return;
	if (best->place >= PLACE_MISMATCH && f->place >= PLACE_MISMATCH &&
	    !same_status(&best->status, &f->status))
		r->contradiction = true;
	if (f->place >= best->place)
		*best = *f;
}

/* Appends one line's text, cleaned, trimmed, with the joint before it. */
static void
add_text(struct reply *r, struct span p)
{
	size_t	have;

	skip_any(&p, " \t");
	while (p.len > 0 && (p.s[p.len - 1] == ' ' || p.s[p.len - 1] == '\t'))
		p.len--;
	if (p.len == 0)
		return;
	have = strlen(r->text);
	if (have > 0 && have + sizeof JOINT < sizeof r->text)
		text_append(r->text, sizeof r->text, JOINT);
	else if (have > 0)
		return;
	have = strlen(r->text);
	text_clean(r->text + have, sizeof r->text - have, p.s, p.len);
}

static bool
has_controls(struct span p)
{
	for (; p.len > 0; skip(&p, 1))
		if ((unsigned char)*p.s < 0x20 || *p.s == 0x7f)
			return (true);
	return (false);
}

/* Reads one line that is not empty; returns true if it ends in "NNN-". */
static bool
read_line(struct reply *r, struct found *best, struct span line)
{
	struct span	 p = line;
	struct status	 st;
	struct found	 f;
	int		 code;
	bool		 more;

	code = take_code(&p);
	more = code != 0 && line.len > 3 && line.s[3] == '-';
	if (code == 0 || line.len > LINE_MAX_RFC || *line.s == ' ' ||
	    has_controls(line))
		r->malformed = true;
	if (code != 0 && code != r->code) {
		if (r->code != 0) {
			r->contradiction = r->malformed = true;
			*best = (struct found){ .place = PLACE_NONE };
		}
		r->code = code;
	}
	if (take_own_status(&p, &st))
		f = own_status(&st, code);
	else
		f = find_marked_status(p, code);
	prefer(r, best, &f);
	add_text(r, p);
	return (more);
}

/*
 * Where a basic code may begin inside a sentence: after a separator that
 * introduces what another server said, or right before a status.
 */
static bool
is_quoted_code(const char *text, size_t at, struct span *after)
{
	struct span	 t = { text + at, strlen(text + at) };
	struct status	 st;
	int		 code = basic_code(t);

	if (code < 400 || (at > 0 && is_alnum(text[at - 1])))
		return (false);
	skip(&t, 3);
	if (t.len > 4 && memcmp(t.s, ", b'", 4) == 0)
		skip(&t, 4);	/* as Python prints it */
	*after = t;
	skip_any(&t, " -");
	if (take_own_status(&t, &st))
		return (true);
	if (after->len == 0 || (*after->s != ' ' && *after->s != '-'))
		return (false);
	if (*after->s == '-' && after->len > 1 &&
	    strchr("'\"", after->s[1]) != NULL)
		return (true);
	if (at == 0 || text[at - 1] != ' ')
		return (at > 0 && strchr("<>\"'(", text[at - 1]) != NULL);
	while (at > 0 && text[at - 1] == ' ')
		at--;
	return (at > 0 && strchr(":;>-", text[at - 1]) != NULL);
}

/*
 * A report that quotes the reply of another server ("5.1.0 - Unknown address
 * error 550-'5.2.2 ...'", "host mx said: 552 ...") is read for that reply.
 */
static void
read_quoted(struct reply *r, struct found *best)
{
	struct span	after;
	struct status	st;
	size_t		i;

	for (i = 0; r->text[i] != '\0'; i++) {
		if (!is_quoted_code(r->text, i, &after))
			continue;
		r->code = basic_code((struct span){ r->text + i, 4 });
		skip_any(&after, " -");
		if (take_own_status(&after, &st)) {
			*best = own_status(&st, r->code);
		} else if (best->place == PLACE_NONE) {
			*best = find_marked_status(after, r->code);
		}
		return;
	}
}

/* Takes every repetition of the codes out of the text ("550-5.1.1 "). */
static void
drop_repeats(struct reply *r)
{
	char	 code[24], *at;

	if (r->code == 0 || r->enhanced[0] == '\0')
		return;
	for (size_t i = 0; i < 2; i++) {
		snprintf(code, sizeof code, " %d%c%s ", r->code, " -"[i],
		    r->enhanced);
		while ((at = strstr(r->text, code)) != NULL)
			memmove(at + 1, at + strlen(code),
			    strlen(at + strlen(code)) + 1);
	}
}

void
reply_parse(struct reply *r, const char *bytes, size_t len)
{
	struct span	rest = { bytes, len }, line;
	struct found	best = { .place = PLACE_NONE };
	bool		more = false, quoted;

	memset(r, 0, sizeof *r);
	while (next_line(&rest, &line, &r->malformed)) {
		if (line.len == 0) {
			r->malformed = true;
			continue;
		}
		more = read_line(r, &best, line);
	}
	if (more)
		r->malformed = true;
	quoted = r->code == 0;
	if (quoted)
		read_quoted(r, &best);
	if (best.place != PLACE_NONE) {
		snprintf(r->enhanced, sizeof r->enhanced, "%u.%u.%u",
		    (unsigned)best.status.class % 10U,
		    (unsigned)best.status.subject % 1000U,
		    (unsigned)best.status.detail % 1000U);
		if (r->code != 0 && best.status.class != r->code / 100)
			r->contradiction = true;
	}
	if (!quoted)
		drop_repeats(r);
}

size_t
reply_print(const struct reply *r, char *buf, size_t size)
{
	if (size == 0)
		return (0);
	buf[0] = '\0';
	if (r->code != 0)
		text_appendf(buf, size, "%d", r->code);
	if (r->enhanced[0] != '\0')
		text_appendf(buf, size, "%s%s", buf[0] != '\0' ? " " : "",
		    r->enhanced);
	if (r->text[0] != '\0') {
		if (buf[0] != '\0')
			text_append(buf, size, " ");
		text_append(buf, size, r->text);
	}
	return (strlen(buf));
}
