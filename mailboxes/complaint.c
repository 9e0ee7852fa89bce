#include "mailboxes/complaint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mailboxes/header.h"
#include "monitor/mem.h"
#include "monitor/phrase.h"
#include "monitor/text.h"

#define PARAGRAPH	2048	/* bytes of each that are read */
#define WEIGHED		400	/* of which as many are weighed at a time */
#define SEARCHED	3000	/* bytes weighed of each kind of paragraph */
#define SEARCHED_OURS	1500	/* more, about our recipient */

/* Lines. */

static bool
blank(char c)
{
	return (c == ' ' || c == '\t' || c == '\n');
}

/* A basic code that refuses, at the start of a line. */
static int
refusal(const char *s)
{
	if ((*s != '4' && *s != '5') || !text_is_digit(s[1]) ||
	    !text_is_digit(s[2]) || (s[3] != '\0' && strchr(" -:;,)\t\n#", s[3]) == NULL))
		return (0);
	return ((s[0] - '0') * 100 + (s[1] - '0') * 10 + s[2] - '0');
}

/* "5.4.1 ..." without a basic code. */
static bool
is_status(const char *s)
{
	return ((*s == '4' || *s == '5') && s[1] == '.' &&
	    text_is_digit(s[2]) && s[3] == '.' && text_is_digit(s[4]));
}

/* What a transcript puts before a line; a command of the sender is dropped
 * whole. */
static const char *
unmarked(const char *line, size_t *len)
{
	const char	*p = line, *end = line + *len;

	while (p < end && blank(*p))
		p++;
	if (end - p > 3 && strncmp(p, ">>>", 3) == 0 &&
	    memchr(p, '@', (size_t)(end - p)) != NULL &&
	    memchr(p, ':', (size_t)(end - p)) != NULL) {
		*len = 0;
		return (p);
	}
	while (p < end && (blank(*p) || (strchr("<>#\"'-*", *p) != NULL &&
	    end - p > 3 && (p[1] == *p || blank(p[1]) || (text_is_digit(p[1]) &&
	    text_is_digit(p[2]) && text_is_digit(p[3]))))))
		p++;
	*len = (size_t)(end - p);
	return (p);
}

/* Adds a line to a paragraph; "smtp;550" gets its blank. */
static void
add_line(char out[PARAGRAPH], const char *line, size_t len)
{
	size_t	n = strlen(out), i;

	line = unmarked(line, &len);
	if (n > 0 && n + 1 < PARAGRAPH)
		out[n++] = '\n';
	for (i = 0; i < len && line[i] != '\n' && n + 3 < PARAGRAPH; i++) {
		out[n++] = line[i];
		if ((line[i] == ';' || line[i] == ':') && i + 3 < len &&
		    text_is_digit(line[i + 1]) && text_is_digit(line[i + 2]) &&
		    text_is_digit(line[i + 3]))
			out[n++] = ' ';
	}
	out[n] = '\0';
}

/* "user@example.org: 550 ...", or "<user@example.org>" alone: one in a list of
 * recipients. */
static bool
names_recipient(const char *line, size_t len)
{
	size_t	n = 0;

	while (n < len && !blank(line[n]))
		n++;
	return (memchr(line, '@', n) != NULL && (n < len ?
	    line[n - 1] == ':' : line[0] == '<' && line[n - 1] == '>'));
}

/* The next paragraph of text[*at..len); false at the end. */
static bool
next_paragraph(const char *text, size_t len, size_t *at, char out[PARAGRAPH])
{
	size_t	end, stop;

	out[0] = '\0';
	for (; *at < len; *at = end) {
		end = text_line_end(text, len, *at);
		for (stop = end; stop > *at && blank(text[stop - 1]);)
			stop--;
		if (out[0] != '\0' && (stop == *at ||
		    names_recipient(text + *at, stop - *at)))
			break;
		if (stop > *at)
			add_line(out, text + *at, stop - *at);
	}
	return (out[0] != '\0');
}

/* Weighing. */

enum weight {
	WEIGHT_NONE,
	WEIGHT_WORDS,		/* clear words somewhere */
	WEIGHT_CODE,		/* a code that says nothing */
	WEIGHT_NEAR,		/* clear words beside an address */
	WEIGHT_OURS,		/* the same beside our recipient's */
	WEIGHT_STATUS,		/* an enhanced code, marked as one */
	WEIGHT_REPLY		/* a reply that says what it is about */
};

/* More, for a code beside our recipient: it beats every other's. */
#define MENTION		WEIGHT_REPLY

struct candidate {
	struct reply	reply;
	struct meaning	meaning;
	int		weight;
	char		words[PARAGRAPH];
};

struct search {
	const char	 *ours;		/* borrowed; or "" */
	struct candidate *best;		/* borrowed */
	struct candidate *now;		/* borrowed: the one in hand */
	bool		  near;		/* it has an address */
	bool		  mention;	/* it has ours */
};

/* What mail systems say of themselves, which is no reply to anybody. */
static const struct own_words {
	const char		*words;
	enum outcome_class	 class;
} own_words[] = {
	{ "not reachable|not responding|network error|unable to connect|"
	    "operation timed out|connection & is broken|"
	    "hosts have been failing|could not reach",
	    CLASS_NETWORK },
	{ "could not find a gateway|no smtp service|unknown host|"
	    "host unknown",			CLASS_DNS },
	{ "invalid final delivery userid|invalid user address",
						CLASS_NO_SUCH_USER },
};

static enum outcome_class
class_of_own_words(const char *text)
{
	struct phrase_text	t;

	phrase_prepare(&t, text);
	for (size_t i = 0; i < NITEMS(own_words); i++)
		if (phrase_match(&t, own_words[i].words))
			return (own_words[i].class);
	return (CLASS_OTHER);
}

/*
 * A refusal that a reply quotes: "554 4.4.7 Message expired: unable to
 * deliver in 840 minutes.<452 4.3.1 Mail system full>", "{LED=452 4.3.1
 * ...}", "220 mx.example.net 421 4.2.1 Service refused".  It is the cause.
 */
static const char *
quoted_refusal(const char *text)
{
	const char	*p;

	for (p = text; (p = strpbrk(p, "45")) != NULL; p++)
		if (p > text && strchr(" <={[(\"'", p[-1]) != NULL &&
		    text_is_digit(p[1]) && text_is_digit(p[2]) &&
		    (p[3] == ' ' || p[3] == '-') &&
		    (p[4] == '4' || p[4] == '5') && p[5] == '.' &&
		    text_is_digit(p[6]))
			return (p);
	return (NULL);
}

/*
 * The words that the classifier knows are those of replies.  A mail system
 * that speaks for itself ("X-Postfix; TLS is required, but was not offered")
 * gives no basic code, so that of the status stands in; that nobody replied
 * is told by the lack of one.
 */
static struct meaning
classify_uncoded(struct reply *r)
{
	struct meaning	silent = classify(STAGE_NONE, r), spoken;

	if (r->code != 0 || silent.class == CLASS_NETWORK ||
	    (r->enhanced[0] != '4' && r->enhanced[0] != '5'))
		return (silent);
	r->code = (r->enhanced[0] - '0') * 100;
	spoken = classify(STAGE_NONE, r);
	r->code = 0;
	return (spoken.class != CLASS_OTHER ? spoken : silent);
}

/*
 * "Expired" says how long, not why (X.4.7), and so do words that mean
 * nothing: what is quoted behind them counts.  A code that refuses nothing
 * (a greeting, the exit code of a program) is none.
 */
struct meaning
complaint_meaning(struct reply *r)
{
	struct meaning	 meaning = classify_uncoded(r), inner;
	bool		 expired = r->enhanced[0] != '\0' &&
			    strcmp(r->enhanced + 1, ".4.7") == 0;
	const char	*quoted;
	struct reply	*q;

	if (r->code != 0 && r->code < 400)
		r->code = 0;
	else if (meaning.class != CLASS_OTHER && !expired)
		return (meaning);
	if ((quoted = quoted_refusal(r->text)) != NULL) {
		q = mem_alloc(sizeof *q);
		reply_parse(q, quoted, strcspn(quoted, ">}"));
		inner = classify(STAGE_NONE, q);
		if (inner.class != CLASS_OTHER)
			*r = *q;
		mem_free(q);
	}
	return (classify_uncoded(r));
}

static void
weigh(struct search *s, const char *bytes, size_t len)
{
	struct candidate	*c = s->now;
	bool			 coded, clear;

	reply_parse(&c->reply, bytes, len < WEIGHED ? len : WEIGHED);
	c->meaning = complaint_meaning(&c->reply);
	coded = c->reply.code != 0 || c->reply.enhanced[0] != '\0';
	if (!coded && c->meaning.class == CLASS_OTHER)
		c->meaning.class = class_of_own_words(c->reply.text);
	clear = c->meaning.class != CLASS_OTHER;
	if (coded)
		c->weight = !clear ? WEIGHT_CODE : c->reply.code != 0 ?
		    WEIGHT_REPLY : WEIGHT_STATUS;
	else if (clear)
		c->weight = s->mention ? WEIGHT_OURS : s->near ? WEIGHT_NEAR :
		    WEIGHT_WORDS;
	if (coded && s->mention)
		c->weight += MENTION;
}

static void
keep_heavier(struct search *s)
{
	if (s->now->weight > s->best->weight)
		*s->best = *s->now;
}

/* The end of the lines that begin with this code, from `at` on. */
static size_t
reply_end(const char *words, size_t at, int code)
{
	size_t	len = strlen(words);

	do
		at = text_line_end(words, len, at);
	while (words[at] != '\0' && refusal(words + at) == code);
	return (at);
}

static void
unfold(char *words)
{
	for (; *words != '\0'; words++)
		if (*words == '\n')
			*words = ' ';
}

/*
 * A reply whose code stands inside a line is read from that code on, unless
 * that loses what stood before it: "<mx.example.net #5.2.2 smtp;552 full>".
 */
static void
weigh_sentence(struct search *s)
{
	char		 digits[8];
	const char	*words = s->now->words, *at;
	int		 whole;

	unfold(s->now->words);
	weigh(s, words, strlen(words));
	if (s->now->reply.code < 400)
		return;
	whole = s->now->weight;
	snprintf(digits, sizeof digits, "%u",
	    (unsigned)s->now->reply.code % 1000U);
	at = strstr(words, digits);
	if (at == NULL || at == words || text_is_digit(at[-1]) ||
	    text_is_digit(at[3]))
		return;
	weigh(s, at, strlen(at));
	if (s->now->weight < whole)
		weigh(s, words, strlen(words));
}

/*
 * What Sendmail says of a program's exit code; the cause is what the program
 * itself said, in the lines before.
 */
static bool
is_vague(const struct reply *r)
{
	struct phrase_text	t;

	if (r->enhanced[0] != '\0' && strcmp(r->enhanced + 1, ".0.0") != 0 &&
	    strcmp(r->enhanced + 1, ".3.0") != 0)
		return (false);
	phrase_prepare(&t, r->text);
	return (phrase_match(&t, " service unavailable |insufficient permission|"
	    "can t create output|unknown mailer error|system error|i o error"));
}

/* What a program that delivers can tell of. */
static bool
names_cause(enum outcome_class c)
{
	return (c == CLASS_MAILBOX_FULL || c == CLASS_SYSTEM_FULL ||
	    c == CLASS_NO_SUCH_USER);
}

/* The reply whose first line begins there, alone or with what follows. */
static void
weigh_reply(struct search *s, size_t at)
{
	struct candidate	*c = s->now;
	size_t			 len = strlen(c->words);
	size_t			 end = reply_end(c->words, at,
				    refusal(c->words + at));

	weigh(s, c->words + at, end - at);
	if (end < len && c->meaning.class == CLASS_OTHER) {
		unfold(c->words);
		weigh(s, c->words + at, len - at);
	}
	if (at == 0 || !is_vague(&c->reply))
		return;
	unfold(c->words);
	weigh(s, c->words, len);
	if (!names_cause(c->meaning.class))
		weigh(s, c->words + at, len - at);
}

/*
 * One paragraph: its lines that begin with a code, as a reply, else those
 * that begin with a status, else the whole as one sentence.
 */
static void
weigh_paragraph(struct search *s)
{
	struct candidate	*c = s->now;
	size_t			 at = 0, len = strlen(c->words);

	while (at < len && refusal(c->words + at) == 0 &&
	    !is_status(c->words + at))
		at = text_line_end(c->words, len, at);
	if (at == len) {
		weigh_sentence(s);
	} else if (refusal(c->words + at) != 0) {
		weigh_reply(s, at);
	} else {
		unfold(c->words);
		weigh(s, c->words + at, len - at);
	}
	keep_heavier(s);
}

/* Whether anything in it could be a code: "550", "5.1.1". */
static bool
may_have_code(const char *words)
{
	const char	*p;

	for (p = words; (p = strpbrk(p, "45")) != NULL; p++)
		if ((p == words || !text_is_digit(p[-1])) && (refusal(p) != 0 ||
		    (p[1] == '.' && text_is_digit(p[2]) && (p[3] == '.' ||
		    p[4] == '.' || p[5] == '.'))))
			return (true);
	return (false);
}

/*
 * Goes through the paragraphs, those with a code or those without.  To weigh
 * one is dear, so that only some are; ours have some more.
 */
static void
search(struct search *s, const char *text, size_t len, bool coded)
{
	char	*words = s->now->words;
	size_t	 at = 0, n, spent = 0, spent_ours = 0;

	while (next_paragraph(text, len, &at, words)) {
		s->near = strchr(words, '@') != NULL;
		s->mention = s->ours[0] != '\0' &&
		    strcasestr(words, s->ours) != NULL;
		if (may_have_code(words) != coded)
			continue;
		n = strlen(words);
		n = (n < WEIGHED ? n : WEIGHED) + 1;
		if (spent + n <= SEARCHED)
			spent += n;
		else if (s->mention && spent_ours + n <= SEARCHED_OURS)
			spent_ours += n;
		else
			continue;
		weigh_paragraph(s);
	}
}

/* Names. */

static bool
in_host(char c)
{
	return ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    text_is_digit(c) || c == '.' || c == '-' || c == '_');
}

/* The host name that ends at `end` or begins at `from`, with a dot in it. */
static bool
take_name(const char *from, const char *end, char host[OUTCOME_HOST])
{
	size_t	n = (size_t)(end - from), i;

	while (n > 0 && from[n - 1] == '.')
		n--;
	if (n < 3 || n >= OUTCOME_HOST || memchr(from, '.', n) == NULL)
		return (false);
	for (i = 0; i < n; i++)
		host[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ?
		    from[i] - 'A' + 'a' : from[i]);
	host[n] = '\0';
	return (true);
}

/*
 * Who refused: "host mx.example.net[192.0.2.1] said", "while talking to
 * mx.example.net.:", "<mx.example.net #5.1.1>".
 */
static void
find_host(const char *words, char host[OUTCOME_HOST])
{
	static const char *const	before[] = { "host ", "talking to ",
		"connect to ", "remote server ", "generating server: " };
	const char			*at, *end;
	size_t				 i;

	for (i = 0; i < NITEMS(before); i++) {
		if ((at = strcasestr(words, before[i])) == NULL)
			continue;
		at += strlen(before[i]);
		at += strspn(at, " \"'<");
		for (end = at; in_host(*end); end++)
			continue;
		if (take_name(at, end, host))
			return;
	}
	if ((at = strstr(words, " #")) == NULL || !text_is_digit(at[2]))
		return;
	for (end = at; at > words && in_host(at[-1]); at--)
		continue;
	take_name(at, end, host);
}

static void
find_recipient(const char *words, char recipient[DSN_ADDRESS])
{
	const char	*at = strchr(words, '@'), *from, *end;
	size_t		 n = 0;

	recipient[0] = '\0';
	if (at == NULL)
		return;
	for (from = at; from > words && (in_host(from[-1]) ||
	    strchr("+=/!#$%&*~^", from[-1]) != NULL); from--)
		continue;
	for (end = at + 1; in_host(*end); end++)
		continue;
	while (end > at && end[-1] == '.')
		end--;
	for (; from < end && n + 1 < DSN_ADDRESS; from++)
		recipient[n++] = (char)(*from >= 'A' && *from <= 'Z' ?
		    *from - 'A' + 'a' : *from);
	recipient[n] = '\0';
}

/* Who it was and for whom. */
static void
find_names(const struct bounce_words *w, size_t len, const char *ours,
    const struct candidate *best, struct complaint *out)
{
	char	*whole, failed[DSN_ADDRESS];
	size_t	 at = 0;

	find_host(best->words, out->host);
	if (out->host[0] == '\0') {
		whole = mem_alloc(PARAGRAPH * 2);
		text_clean(whole, PARAGRAPH * 2, w->text, len);
		find_host(whole, out->host);
		mem_free(whole);
	}
	if (ours[0] != '\0' && (strcasestr(w->failed, ours) != NULL ||
	    strcasestr(best->words, ours) != NULL))
		text_copy(out->recipient, sizeof out->recipient, ours);
	else if (header_address(w->failed, &at, failed, sizeof failed))
		text_clean(out->recipient, sizeof out->recipient, failed,
		    strlen(failed));
	else
		find_recipient(best->words, out->recipient);
}

void
complaint_read(const struct bounce_words *w, const char *ours,
    struct complaint *out)
{
	struct candidate	*two = mem_alloc(2 * sizeof *two);
	struct search		 s = { .ours = ours, .best = &two[0],
				    .now = &two[1] };
	size_t			 len = bounce_returned(w->text, w->len);

	*out = (struct complaint){ .host = "" };
	search(&s, w->text, len, true);
	if (s.best->weight < WEIGHT_STATUS)
		search(&s, w->text, len, false);
	out->spoken = s.best->weight > WEIGHT_CODE ||
	    s.best->weight == WEIGHT_WORDS;
	out->reply = s.best->reply;
	out->meaning = s.best->meaning;
	if (s.best->weight == WEIGHT_NONE)
		out->meaning = (struct meaning){ CLASS_OTHER,
		    VERDICT_PERMANENT };
	find_names(w, len, ours, s.best, out);
	mem_free(two);
}
