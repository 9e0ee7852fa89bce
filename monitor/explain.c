#include "monitor/explain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "monitor/classify.h"
#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/reply.h"
#include "monitor/text.h"

#define COLUMNS		80
#define REPLY_SHOWN	400	/* bytes of a reply's text on the screen */
#define PAD		"        "

/* The escapes of the TSV form; any other backslash stands for itself. */
static size_t
unescape(char *out, const char *in, size_t len)
{
	static const char	from[] = "nrt\\", to[] = "\n\r\t\\";
	const char		*at;
	size_t			 i, n = 0;

	for (i = 0; i < len; i++) {
		at = in[i] == '\\' && i + 1 < len && in[i + 1] != '\0' ?
		    strchr(from, in[i + 1]) : NULL;
		out[n++] = at != NULL ? to[at - from] : in[i];
		i += at != NULL;
	}
	return (n);
}

static void
read_reply(struct reply *r, const char *in, size_t len)
{
	char	*bytes;

	if (len > EXPLAIN_INPUT)
		len = EXPLAIN_INPUT;
	bytes = mem_alloc(len + 1);
	reply_parse(r, bytes, unescape(bytes, in, len));
	mem_free(bytes);
}

static enum stage
read_stage(const char *in, size_t len)
{
	char	word[16];

	if (len >= sizeof word || memchr(in, '\0', len) != NULL)
		return (STAGE_NONE);
	for (size_t i = 0; i < len; i++)
		word[i] = (char)(in[i] >= 'A' && in[i] <= 'Z' ?
		    in[i] - 'A' + 'a' : in[i]);
	word[len] = '\0';
	return (stage_of(word));
}

/*
 * The table has three words for what happens to the message.  An uncertain
 * one may still arrive and is nobody's refusal: temporary.
 */
static const char *
verdict_word(enum verdict v)
{
	return (verdict_name(v == VERDICT_UNCERTAIN ? VERDICT_TEMPORARY : v));
}

static size_t
print_line(enum stage stage, const struct reply *r, char *out, size_t size)
{
	struct meaning	m = classify(stage, r);
	char		code[8] = "-";

	if (r->code != 0)
		snprintf(code, sizeof code, "%d", r->code);
	out[0] = '\0';
	text_appendf(out, size, "%s\t%s\t%s\t%s\t%s", class_name(m.class),
	    verdict_word(m.verdict), code,
	    r->enhanced[0] != '\0' ? r->enhanced : "-",
	    reason_advice(m.class, m.verdict));
	return (strlen(out));
}

size_t
explain_tsv_line(const char *in, size_t len, char *out, size_t size)
{
	const char	*tab = len > 0 ? memchr(in, '\t', len) : NULL;
	enum stage	 stage = STAGE_NONE;
	struct reply	 r;

	if (size == 0)
		return (0);
	if (tab != NULL) {
		stage = read_stage(in, (size_t)(tab - in));
		len -= (size_t)(tab - in) + 1;
		in = tab + 1;
	}
	read_reply(&r, in, len);
	return (print_line(stage, &r, out, size));
}

/* A paragraph under its label; nothing for an empty text. */
static bool
paragraph(char *buf, size_t size, const char *label, const char *text)
{
	char	first[sizeof PAD + 16];

	snprintf(first, sizeof first, "%-8s", label);
	return (reason_wrap(buf, size, text, COLUMNS, first, PAD));
}

/* Points under their label, one bullet each. */
static bool
points(char *buf, size_t size, const char *label, const char *text)
{
	char	first[sizeof PAD + 16], *at;
	size_t	have = strlen(buf);
	bool	fits;

	fits = reason_wrap(buf, size, text, COLUMNS, PAD "- ", PAD "  ");
	if (buf[have] != '\0') {
		snprintf(first, sizeof first, "%-8s", label);
		at = buf + have;
		memcpy(at, first, sizeof PAD - 1);
	}
	return (fits);
}

static bool
print_reply(char *buf, size_t size, const struct reply *r)
{
	char	text[sizeof r->text + 24], cut[REPLY_SHOWN];

	reply_print(r, text, sizeof text);
	if (!text_copy(cut, sizeof cut - 4, text))
		text_append(cut, sizeof cut, " ...");
	return (paragraph(buf, size, "Reply",
	    cut[0] != '\0' ? cut : "(nothing)"));
}

static bool
print_class(char *buf, size_t size, enum stage stage, struct meaning m)
{
	char	text[128] = "";

	text_appendf(text, sizeof text, "%s (%s), %s%s%s",
	    class_name(m.class),
	    m.class == CLASS_OTHER && m.verdict == VERDICT_ACCEPTED ?
	    "no trouble" : reason_title(m.class), verdict_name(m.verdict),
	    stage != STAGE_NONE ? ", at " : "", stage_name(stage));
	return (paragraph(buf, size, "Class", text));
}

static const char *
note(const struct reply *r)
{
	if (r->code == 0 && r->enhanced[0] == '\0')
		return ("No reply code: only its words were left to go by.");
	if (r->contradiction && r->code != 0)
		return ("Its codes disagree: the basic code decides about the "
		    "message, the other one says what is wrong.");
	return ("");
}

static bool
print_all(char *buf, size_t size, enum stage stage, const struct reply *r)
{
	struct meaning	m = classify(stage, r);
	bool		fits;

	buf[0] = '\0';
	fits = print_reply(buf, size, r);
	fits = print_class(buf, size, stage, m) && fits;
	fits = paragraph(buf, size, r->enhanced, reason_code(r->enhanced)) &&
	    fits;
	fits = paragraph(buf, size, "Note", note(r)) && fits;
	fits = paragraph(buf, size, "Means",
	    reason_meaning(m.class, m.verdict, r->enhanced)) && fits;
	fits = paragraph(buf, size, "Then", reason_fate(m.class, m.verdict)) &&
	    fits;
	fits = paragraph(buf, size, "Do", reason_do(m.class, m.verdict)) &&
	    fits;
	fits = points(buf, size, "Check", reason_check(m.class, m.verdict)) &&
	    fits;
	return (points(buf, size, "Apart", m.verdict == VERDICT_ACCEPTED ?
	    "" : reason_apart(m.class)) && fits);
}

bool
explain_text(enum stage stage, const char *reply, char *buf, size_t size)
{
	struct reply	r;

	if (size == 0)
		return (false);
	read_reply(&r, reply, strlen(reply));
	return (print_all(buf, size, stage, &r));
}

void
explain_print(enum stage stage, const char *reply, FILE *f)
{
	char	text[EXPLAIN_TEXT];

	explain_text(stage, reply, text, sizeof text);
	fputs(text, f);
}

/* What the lines of a message tell, bounded. */
struct report {
	char	diagnostic[REPLY_TEXT];
	char	status[OUTCOME_ENHANCED];
	char	action[EXPLAIN_ACTION];
	char	loose[REPLY_TEXT];	/* a reply in the text */
};

/* The value of a field at the start of line, or NULL. */
static const char *
field(const char *line, const char *name)
{
	size_t	n = strlen(name);

	if (strncasecmp(line, name, n) != 0 || line[n] != ':')
		return (NULL);
	line += n + 1;
	return (line + strspn(line, " \t"));
}

/* Copies the first word of value. */
static void
first_word(char *dst, size_t size, const char *value)
{
	size_t	n = strcspn(value, " \t;(");

	if (n >= size)
		n = size - 1;
	memcpy(dst, value, n);
	dst[n] = '\0';
}

/* Where the basic code stands in line; its start if nowhere. */
static const char *
at_code(const char *line, int code)
{
	char		digits[8];
	const char	*at;

	snprintf(digits, sizeof digits, "%d", code);
	at = strstr(line, digits);
	return (at != NULL ? at : line);
}

/*
 * The reply a line of text quotes: a refusal whose meaning is known, or a
 * marked enhanced code ("#4.3.1").  NULL: none.
 */
static const char *
loose_reply(const char *line)
{
	struct reply	r;

	line += strspn(line, " <>");
	reply_parse(&r, line, strlen(line));
	if (r.code >= 400 && (r.enhanced[0] != '\0' ||
	    classify(STAGE_NONE, &r).class != CLASS_OTHER))
		return (at_code(line, r.code));
	if (r.code == 0 && (r.enhanced[0] == '4' || r.enhanced[0] == '5') &&
	    strchr(line, '#') != NULL)
		return (line);
	return (NULL);
}

/* Takes one unfolded line; a delivered recipient's fields are forgotten. */
static void
take_line(struct report *rep, const char *line, bool in_body)
{
	const char	*v;

	if ((v = field(line, "Final-Recipient")) != NULL) {
		if (rep->status[0] == '2')
			rep->status[0] = rep->action[0] =
			    rep->diagnostic[0] = '\0';
	} else if ((v = field(line, "Action")) != NULL) {
		if (rep->action[0] == '\0')
			first_word(rep->action, sizeof rep->action, v);
	} else if ((v = field(line, "Status")) != NULL) {
		if (rep->status[0] == '\0')
			first_word(rep->status, sizeof rep->status, v);
	} else if ((v = field(line, "Diagnostic-Code")) != NULL) {
		v += strcspn(v, ";");
		if (rep->diagnostic[0] == '\0')
			text_copy(rep->diagnostic, sizeof rep->diagnostic,
			    *v == ';' ? v + 1 + strspn(v + 1, " \t") : "");
	} else if (in_body && rep->loose[0] == '\0') {
		if ((v = loose_reply(line)) != NULL)
			text_copy(rep->loose, sizeof rep->loose, v);
	}
}

/*
 * The next line of the message, with its continuation lines (RFC 5322
 * 2.2.3), cleaned and bounded.  False at the end.
 */
static bool
next_line(const char **at, const char *end, char *line, size_t size)
{
	const char	*stop;
	size_t		 have = 0;

	if (*at >= end)
		return (false);
	line[0] = '\0';
	do {
		while (have > 0 && *at < end && (**at == ' ' || **at == '\t'))
			(*at)++;
		if (have > 0 && text_append(line, size, " "))
			have++;
		stop = memchr(*at, '\n', (size_t)(end - *at));
		if (stop == NULL)
			stop = end;
		text_clean(line + have, size - have, *at,
		    (size_t)(stop - *at));
		have = strlen(line);
		while (have > 0 && line[have - 1] == ' ')
			line[--have] = '\0';
		*at = stop < end ? stop + 1 : end;
	} while (have > 0 && *at < end && (**at == ' ' || **at == '\t'));
	return (true);
}

/*
 * Diagnostic-Code is what the server said; Status is what the reporter made
 * of it and helps out where the server sent no code of that kind.
 */
static bool
combine(const struct report *rep, char *reply_r, size_t size)
{
	const char	*words = rep->diagnostic;
	struct reply	 r;

	reply_r[0] = '\0';
	if (words[0] == '\0' && rep->status[0] == '\0')
		words = rep->loose;
	reply_parse(&r, words, strlen(words));
	if (r.enhanced[0] == '\0' && rep->status[0] != '\0' &&
	    (r.code == 0 || (rep->status[0] - '0' == r.code / 100 &&
	    strcmp(rep->status + 1, ".0.0") != 0))) {
		if (r.code != 0)
			text_appendf(reply_r, size, "%d ", r.code);
		text_appendf(reply_r, size, "%s %s", rep->status, r.text);
	} else {
		text_copy(reply_r, size, words);
	}
	return (reply_r[0] != '\0');
}

bool
explain_find(const char *message, size_t len, char *reply_r, size_t size,
    char action_r[static EXPLAIN_ACTION])
{
	struct report	 rep = { .status = "" };
	const char	*at = message;
	char		 line[REPLY_TEXT * 2];
	bool		 in_body = false;

	if (len > EXPLAIN_MESSAGE)
		len = EXPLAIN_MESSAGE;
	while (next_line(&at, message + len, line, sizeof line)) {
		take_line(&rep, line, in_body);
		in_body = in_body || line[0] == '\0';
	}
	text_copy(action_r, EXPLAIN_ACTION, rep.action);
	return (combine(&rep, reply_r, size));
}

static const char *
report_says(const char *action)
{
	if (strcasecmp(action, "failed") == 0)
		return ("The report is final: this message was given up.");
	if (strcasecmp(action, "delayed") == 0)
		return ("The report is a warning: the message is still being "
		    "tried; do not send it again.");
	if (strcasecmp(action, "delivered") == 0 ||
	    strcasecmp(action, "relayed") == 0 ||
	    strcasecmp(action, "expanded") == 0)
		return ("The report says that the message was passed on.");
	return ("");
}

bool
explain_message(const char *message, size_t len, bool tsv, FILE *f)
{
	char		reply[REPLY_TEXT + 32], action[EXPLAIN_ACTION];
	char		text[EXPLAIN_TEXT] = "";
	struct reply	r;

	if (!explain_find(message, len, reply, sizeof reply, action))
		return (false);
	reply_parse(&r, reply, strlen(reply));
	if (tsv) {
		print_line(STAGE_NONE, &r, text, sizeof text);
		fprintf(f, "%s\n", text);
		return (true);
	}
	paragraph(text, sizeof text, "Report", report_says(action));
	fputs(text, f);
	print_all(text, sizeof text, STAGE_NONE, &r);
	fputs(text, f);
	return (true);
}
