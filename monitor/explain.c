#include "monitor/explain.h"

#include <stdlib.h>
#include <string.h>

#include "mailboxes/bounce.h"
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

const char *
explain_tsv_fault(const char *in, size_t len)
{
	const char	*tab = len > 0 ? memchr(in, '\t', len) : NULL;

	if (len == 0)
		return (NULL);
	if (tab == NULL)
		return ("no tab behind a stage: all of it is taken for the "
		    "reply");
	if (read_stage(in, (size_t)(tab - in)) == STAGE_NONE &&
	    (tab - in != 1 || *in != '-'))
		return ("there is no such stage: taken for \"-\"");
	return (NULL);
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

/* A temporary refusal that a report made final: the retries are over. */
static const char	over[] = "It was retried until its time was over, and "
    "will not be any more: this message does not arrive.";

static bool
print_all(char *buf, size_t size, enum stage stage, const struct reply *r,
    struct meaning m, bool given_up)
{
	enum verdict	fate = given_up ? VERDICT_PERMANENT : m.verdict;
	bool		fits;

	buf[0] = '\0';
	fits = print_reply(buf, size, r);
	fits = print_class(buf, size, stage, m) && fits;
	fits = paragraph(buf, size, r->enhanced, reason_code(r->enhanced)) &&
	    fits;
	fits = paragraph(buf, size, "Note", note(r)) && fits;
	fits = paragraph(buf, size, "Means",
	    reason_meaning(m.class, m.verdict, r->enhanced)) && fits;
	fits = paragraph(buf, size, "Then", fate != m.verdict ? over :
	    reason_fate(m.class, m.verdict)) && fits;
	fits = paragraph(buf, size, "Do", reason_do(m.class, fate)) && fits;
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
	return (print_all(buf, size, stage, &r, classify(stage, &r), false));
}

void
explain_print(enum stage stage, const char *reply, FILE *f)
{
	char	text[EXPLAIN_TEXT];

	explain_text(stage, reply, text, sizeof text);
	fputs(text, f);
}

/* Reports. */

static const char *
report_says(const struct bounce *b)
{
	static const char *const	kinds[BOUNCE_KINDS] = {
		[BOUNCE_NONE] = "This is no report of a mail system.",
		[BOUNCE_AUTO_REPLY] = "This is an automatic answer. It says "
		    "nothing about delivery.",
		[BOUNCE_RECEIPT] = "This tells that a message was read, or "
		    "was not. It is no report about delivery.",
		[BOUNCE_FEEDBACK] = "This tells that a message was taken for "
		    "spam or a forgery. It is no report about delivery.",
	};

	if (kinds[b->kind] != NULL)
		return (kinds[b->kind]);
	switch (b->outcome) {
	case BOUNCE_LOST:
		return ("The report is final: this message was given up.");
	case BOUNCE_DELAYED:
		return ("The report is a warning: the message is still being "
		    "tried; do not send it again.");
	case BOUNCE_DELIVERED:
		return ("The report says that the message was delivered.");
	case BOUNCE_IGNORE:
	case BOUNCE_OUTCOMES:
		break;
	}
	return ("The report says neither that the message was delivered nor "
	    "that it was lost.");
}

/* For whom it was, who refused it and what the report has in its fields. */
static void
print_report(char *buf, size_t size, const struct bounce *b)
{
	char	text[DSN_ADDRESS * 2 + 64] = "";

	paragraph(buf, size, "Report", report_says(b));
	text_append(text, sizeof text, b->original_recipient[0] != '\0' ?
	    b->original_recipient : b->final_recipient);
	if (b->recipients > 1)
		text_appendf(text, sizeof text, ", one of %u", b->recipients);
	paragraph(buf, size, "For", text);
	paragraph(buf, size, "System", bounce_system(b));
	text[0] = '\0';
	if (b->kind == BOUNCE_DSN)
		text_appendf(text, sizeof text, "action %s, status %s",
		    b->action[0] != '\0' ? b->action : "not given",
		    b->status[0] != '\0' ? b->status : "not given");
	paragraph(buf, size, "Fields", text);
}

/* What the refusal means: as of any reply, but the class is the report's. */
static void
print_cause(char *buf, size_t size, const struct bounce *b)
{
	if (b->outcome != BOUNCE_LOST && b->outcome != BOUNCE_DELAYED)
		return;
	print_all(buf + strlen(buf), size - strlen(buf), STAGE_NONE,
	    &b->reply, (struct meaning){ b->class, b->verdict },
	    b->outcome == BOUNCE_LOST);
}

void
explain_message(const char *message, size_t len, bool tsv, FILE *f)
{
	static const char	none[] = "(none)";
	struct bounce		b;
	char			text[EXPLAIN_TEXT] = "";

	bounce_read(message, len, "", &b);
	if (tsv) {
		fprintf(f, "%s\t%s\t%s\t%s\n",
		    b.action[0] != '\0' ? b.action : none,
		    b.status[0] != '\0' ? b.status : none,
		    class_name(b.class), bounce_outcome_name(b.outcome));
		return;
	}
	print_report(text, sizeof text, &b);
	print_cause(text, sizeof text, &b);
	fputs(text, f);
}
