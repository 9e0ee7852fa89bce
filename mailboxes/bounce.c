#include "mailboxes/bounce.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mailboxes/bounce_text.h"
#include "mailboxes/header.h"
#include "mailboxes/mime.h"
#include "monitor/classify.h"
#include "monitor/mem.h"
#include "monitor/phrase.h"
#include "monitor/text.h"

#define VALUE_MAX	1024

/* The mail taken apart. */
struct mail {
	char			*text;		/* owned: line ends LF */
	size_t			 len;
	char			*decoded;	/* owned: the part in hand */
	struct mime_part	 parts[MIME_PARTS];
	size_t			 count;
	const struct mime_part	*status;	/* delivery-status, or NULL */
	const struct mime_part	*returned;	/* the message or its header */
	const struct mime_part	*words;		/* text to read, or NULL */
	char			*plain;		/* owned: those, decoded */
	size_t			 plain_len;
	char			 from[VALUE_MAX];
	char			 subject[VALUE_MAX];
	char			 failed[VALUE_MAX];
	bool			 receipt, feedback;
	bool			 inside;	/* plain has the fields */
	char			 ours[DSN_ADDRESS];
};

static bool
begins(const char *s, const char *with)
{
	return (strncasecmp(s, with, strlen(with)) == 0);
}

/* Taking apart. */

/* A field of the mail's header, decoded; "" if there is none. */
static const char *
value_of(const struct mail *m, const char *name, char value[VALUE_MAX])
{
	struct header	h;

	value[0] = '\0';
	if (header_find(m->parts[0].head, m->parts[0].head_len, name, &h))
		mime_value(&h, value, VALUE_MAX);
	return (value);
}

enum role { ROLE_NONE, ROLE_STATUS, ROLE_RETURNED, ROLE_RECEIPT,
	ROLE_FEEDBACK, ROLE_WORDS, ROLE_HTML };

/* By the beginning of the type; the first match counts. */
static const struct role_row {
	const char	*type;
	enum role	 role;
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

static enum role
role_of(const struct mime_part *p)
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
assign_roles(struct mail *m)
{
	const struct mime_part	*html = NULL, *p;

	for (p = m->parts; p < m->parts + m->count; p++)
		switch (role_of(p)) {
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

static void
read_words(struct mail *m)
{
	m->plain = mem_alloc(m->len + 1);
	if (m->words == NULL)
		return;
	m->plain_len = mime_body(m->words, m->plain, m->len + 1);
	if (begins(m->words->type, "text/html"))
		m->plain_len = bounce_html(m->plain, m->plain, m->plain_len);
}

static void
open_mail(struct mail *m, const char *bytes, size_t len)
{
	memset(m, 0, sizeof *m);
	if (len > BOUNCE_INPUT)
		len = BOUNCE_INPUT;
	m->text = mem_alloc(len + 1);
	m->decoded = mem_alloc(len + 1);
	m->len = mime_lines(m->text, bytes, len);
	m->count = mime_split(m->text, m->len, m->parts);
	assign_roles(m);
	read_words(m);
	value_of(m, "From", m->from);
	value_of(m, "Subject", m->subject);
	value_of(m, "X-Failed-Recipients", m->failed);
}

static void
close_mail(struct mail *m)
{
	mem_free(m->text);
	mem_free(m->decoded);
	mem_free(m->plain);
}

/* Tokens, and whom the returned message was for. */

static void
add_tokens(struct bounce *b, const char *text, size_t len)
{
	char	token[TOKEN_SIZE];
	size_t	at = 0, i;

	while (b->token_count < BOUNCE_TOKENS &&
	    token_find(text, len, &at, token)) {
		for (i = 0; i < b->token_count; i++)
			if (strcmp(b->tokens[i], token) == 0)
				break;
		if (i == b->token_count)
			memcpy(b->tokens[b->token_count++], token,
			    sizeof token);
	}
}

/* In header fields a token may be in an encoded word. */
static void
add_header_tokens(struct bounce *b, const char *head, size_t len)
{
	struct header	h;
	char		value[VALUE_MAX];
	size_t		at = 0;

	while (header_next(head, len, &at, &h))
		add_tokens(b, value, mime_value(&h, value, sizeof value));
}

static void
find_tokens(struct bounce *b, struct mail *m)
{
	const struct mime_part	*p;

	add_tokens(b, b->envid, strlen(b->envid));
	if (m->returned != NULL) {
		size_t	n = mime_body(m->returned, m->decoded, m->len + 1);

		add_header_tokens(b, m->decoded,
		    n < MIME_HEADER ? n : MIME_HEADER);
		add_tokens(b, m->decoded, n);
	}
	add_tokens(b, m->plain, m->plain_len);
	for (p = m->parts; p < m->parts + m->count; p++) {
		add_header_tokens(b, p->head, p->head_len);
		if (p->multipart || p == m->returned || p == m->words)
			continue;
		add_tokens(b, m->decoded,
		    mime_body(p, m->decoded, m->len + 1));
	}
}

/* The only address of a To field; untouched if there are none or several. */
static void
only_address(const struct header *h, char address[DSN_ADDRESS])
{
	char	value[VALUE_MAX], only[DSN_ADDRESS], more[DSN_ADDRESS];
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
find_ours(struct mail *m, const char *ours)
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

/* Reports with fields. */

static const struct action_row {
	const char		*word;		/* its beginning */
	const char		*action;
	enum bounce_outcome	 outcome;
} actions[] = {
	{ "fail",	"failed",	BOUNCE_LOST },
	{ "expired",	"failed",	BOUNCE_LOST },
	{ "dela",	"delayed",	BOUNCE_DELAYED },
	{ "deliverable", "deliverable",	BOUNCE_IGNORE },
	{ "deliver",	"delivered",	BOUNCE_DELIVERED },
	{ "relay",	"relayed",	BOUNCE_IGNORE },
	{ "expand",	"expanded",	BOUNCE_IGNORE },
	{ "undeliverable", "undeliverable", BOUNCE_IGNORE },
};

/* The recipient that is asked about, else the first. */
struct choice {
	const char		*ours;		/* borrowed */
	struct dsn_recipient	*best;		/* owned */
	struct dsn_recipient	*next;		/* owned: the one in hand */
	bool			 found;		/* best is ours */
};

/* Chooses among the recipients in a text; takes its per-message fields. */
static void
choose(struct choice *c, struct bounce *b, const char *text, size_t len)
{
	struct dsn	d;
	bool		same;

	dsn_open(&d, text, len);
	while (dsn_next(&d, c->next)) {
		same = dsn_same_address(c->ours, c->next->original) ||
		    dsn_same_address(c->ours, c->next->final);
		if (b->recipients++ == 0 || (same && !c->found))
			*c->best = *c->next;
		c->found = c->found || same;
	}
	if (b->envid[0] == '\0')
		text_copy(b->envid, sizeof b->envid, d.message.envid);
	if (b->reporting_mta[0] == '\0')
		text_copy(b->reporting_mta, sizeof b->reporting_mta,
		    d.message.reporting_mta);
}

static bool
is_general(const char *status)
{
	return (status[0] == '\0' || strcmp(status + 1, ".0.0") == 0);
}

/* A status that does not tell the cause: general, or "expired". */
static bool
says_nothing(const char *status)
{
	return (is_general(status) || strcmp(status + 1, ".4.7") == 0 ||
	    strcmp(status + 1, ".3.0") == 0 || strcmp(status + 1, ".5.0") == 0);
}

/*
 * Diagnostic-Code is what the refusing server said, Status is what the
 * reporter made of it, and helps out where the former has no enhanced code
 * or a general one.
 */
static void
combine(struct reply *r, const struct dsn_recipient *d)
{
	bool	same_class;

	reply_parse(r, d->diagnostic, strlen(d->diagnostic));
	if (is_general(d->status)) {
		if (r->code == 0 && r->enhanced[0] == '\0')
			text_copy(r->enhanced, sizeof r->enhanced, d->status);
		return;
	}
	same_class = r->code == 0 ? r->enhanced[0] == '\0' ||
	    r->enhanced[0] == d->status[0] :
	    d->status[0] - '0' == r->code / 100;
	if (same_class && is_general(r->enhanced))
		text_copy(r->enhanced, sizeof r->enhanced, d->status);
}

static void
as_words(const struct mail *m, struct bounce_words *w)
{
	char	value[VALUE_MAX];

	*w = (struct bounce_words){ .from = m->from, .subject = m->subject,
	    .failed = m->failed, .text = m->plain, .len = m->plain_len };
	w->no_sender = strncmp(value_of(m, "Return-Path", value), "<>", 2) ==
	    0;
	value_of(m, "Auto-Submitted", value);
	w->automatic = value[0] != '\0' && !begins(value, "no");
	w->is_report = strcmp(m->parts[0].type, "multipart/report") == 0;
}

/* Without a word for the action, the words of the mail tell. */
static enum bounce_outcome
outcome_without_action(const struct mail *m, const char *status)
{
	struct bounce_words	w;

	as_words(m, &w);
	if (status[0] == '2')
		return (BOUNCE_IGNORE);
	return (bounce_is_delay(&w) ? BOUNCE_DELAYED : BOUNCE_LOST);
}

static void
take_action(struct bounce *b, const struct mail *m, const char *word)
{
	for (size_t i = 0; i < NITEMS(actions); i++)
		if (begins(word, actions[i].word)) {
			text_copy(b->action, sizeof b->action,
			    actions[i].action);
			b->outcome = actions[i].outcome;
			return;
		}
	text_copy(b->action, sizeof b->action, word);
	b->outcome = outcome_without_action(m, b->status);
}

/* Where the fields do not say what it was, the words beside them may. */
static void
ask_words(struct bounce *b, const struct mail *m)
{
	struct bounce_words	w;
	struct bounce_text	t;

	as_words(m, &w);
	bounce_text_read(&w, m->ours, &t);
	if (!t.spoken)
		return;
	b->reply = t.reply;
	b->class = t.meaning.class;
	b->verdict = t.meaning.verdict;
}

static void
take_recipient(struct bounce *b, const struct mail *m,
    const struct dsn_recipient *r)
{
	struct meaning	meaning;

	text_copy(b->status, sizeof b->status, r->status);
	text_copy(b->remote_mta, sizeof b->remote_mta, r->remote_mta);
	text_copy(b->final_recipient, sizeof b->final_recipient, r->final);
	text_copy(b->original_recipient, sizeof b->original_recipient,
	    r->original);
	take_action(b, m, r->action);
	combine(&b->reply, r);
	b->class = CLASS_OTHER;
	if (b->outcome == BOUNCE_LOST || b->outcome == BOUNCE_DELAYED) {
		meaning = bounce_meaning(&b->reply);
		b->class = meaning.class;
		b->verdict = meaning.verdict;
		if (b->class == CLASS_OTHER && says_nothing(b->status))
			ask_words(b, m);
	} else {
		b->verdict = VERDICT_ACCEPTED;
	}
}

/*
 * The fields of one delivery-status; the part's header is read too, as the
 * empty line behind it may be missing.
 */
static void
choose_in_part(struct choice *c, struct bounce *b, struct mail *m,
    const struct mime_part *p)
{
	if (p->encoding == MIME_AS_IS)
		choose(c, b, p->head,
		    (size_t)(p->body - p->head) + p->body_len);
	else
		choose(c, b, m->decoded,
		    mime_body(p, m->decoded, m->len + 1));
}

/* Some write one delivery-status for each recipient, some into the text. */
static bool
read_fields(struct bounce *b, struct mail *m)
{
	struct choice		 c = { .ours = m->ours };
	const struct mime_part	*p;

	c.best = mem_alloc(sizeof *c.best);
	c.next = mem_alloc(sizeof *c.next);
	for (p = m->parts; p < m->parts + m->count; p++)
		if (role_of(p) == ROLE_STATUS)
			choose_in_part(&c, b, m, p);
	if (m->status == NULL)
		choose(&c, b, m->plain, bounce_returned(m->plain,
		    m->plain_len));
	if (b->recipients > 0)
		take_recipient(b, m, c.best);
	mem_free(c.best);
	mem_free(c.next);
	return (b->recipients > 0);
}

/* Bounces in words. */

/* The domain of the mail system that wrote. */
static void
domain_of(const char *from, char host[OUTCOME_HOST])
{
	char	address[DSN_ADDRESS], *at;
	size_t	i = 0;

	if (header_address(from, &i, address, sizeof address) &&
	    (at = strrchr(address, '@')) != NULL)
		text_clean(host, OUTCOME_HOST, at + 1, strlen(at + 1));
}

static void
read_text(struct bounce *b, const struct mail *m, const struct bounce_words *w)
{
	struct bounce_text	t;
	bool			delay = bounce_is_delay(w);

	b->kind = BOUNCE_TEXT;
	if (bounce_is_success(w))
		return;
	bounce_text_read(w, m->ours, &t);
	b->outcome = delay ? BOUNCE_DELAYED : BOUNCE_LOST;
	text_copy(b->action, sizeof b->action, delay ? "delayed" : "failed");
	b->reply = t.reply;
	b->class = t.meaning.class;
	b->verdict = t.meaning.verdict;
	b->recipients = t.recipient[0] != '\0';
	text_copy(b->final_recipient, sizeof b->final_recipient, t.recipient);
	text_copy(b->remote_mta, sizeof b->remote_mta, t.host);
	domain_of(m->from, b->reporting_mta);
}

/* What it is. */

static const char	away_subjects[] =
    "out of office|out of the office|auto reply|autoreply|autoresponse|"
    "auto response|automatic reply|automatic response|autosvar|vacation|"
    "on holiday|abwesen|automatische antwort|absence|absent|"
    "reponse automatique|respuesta automatica|fuera de|"
    "risposta automatica|assente|resposta automatica|afwezig|automatsvar";

/* "Re: ", "Fwd: ", "AW: ", "WG: ": a person's answer. */
static bool
is_answer(const char *subject)
{
	static const char *const	marks[] = { "re:", "fwd:", "fw:",
		"aw:", "wg:", "antw:", "sv:", "tr:", "rv:", "rif:", "res:",
		"enc:", "vs:", "vb:", "doorst:", "i:", "r:" };

	for (size_t i = 0; i < NITEMS(marks); i++)
		if (begins(subject, marks[i]))
			return (true);
	return (false);
}

/* Away, and not a bounce that only quotes such a subject. */
static bool
is_away(const char *words)
{
	struct phrase_text	subject;

	phrase_prepare(&subject, words);
	return (phrase_match(&subject, away_subjects) &&
	    !phrase_match(&subject, "deliver|fail|return|bounce"));
}

static bool
is_auto_reply(const struct mail *m)
{
	static const char *const	fields[] = { "X-Autoreply",
		"X-Autorespond", "X-Autoresponder", "X-Mail-Autoreply",
		"X-Vacation" };
	struct header			h;
	char				value[VALUE_MAX];
	size_t				i;

	if (is_away(m->subject))
		return (true);
	for (i = 0; i < NITEMS(fields); i++)
		if (header_find(m->parts[0].head, m->parts[0].head_len,
		    fields[i], &h))
			return (true);
	if (begins(value_of(m, "Precedence", value), "auto"))
		return (true);
	return (begins(value_of(m, "Auto-Submitted", value), "auto-replied"));
}

/*
 * A report by its form is one whoever sent it; words count only where a mail
 * system speaks, and no person answers or passes them on.
 */
static void
decide(struct bounce *b, struct mail *m)
{
	struct bounce_words	w;
	bool			from_system = bounce_from_system(m->from);

	as_words(m, &w);
	if (m->receipt || m->feedback) {
		b->kind = m->receipt ? BOUNCE_RECEIPT : BOUNCE_FEEDBACK;
	} else if (m->status != NULL && (w.is_report || from_system ||
	    (bounce_has_signs(&w) && !is_answer(m->subject))) &&
	    read_fields(b, m)) {
		b->kind = BOUNCE_DSN;
	} else if (!from_system && is_answer(m->subject)) {
		b->kind = BOUNCE_NONE;
	} else if (!is_away(m->subject) && bounce_is_text(&w)) {
		if (dsn_sniff(m->plain, bounce_returned(m->plain,
		    m->plain_len)) && read_fields(b, m))
			b->kind = BOUNCE_DSN;
		else
			read_text(b, m, &w);
	} else if (is_auto_reply(m)) {
		b->kind = BOUNCE_AUTO_REPLY;
	}
}

void
bounce_read(const char *bytes, size_t len, const char *ours,
    struct bounce *out)
{
	struct mail	*m = mem_alloc(sizeof *m);

	*out = (struct bounce){ .kind = BOUNCE_NONE, .class = CLASS_OTHER };
	open_mail(m, bytes, len);
	find_ours(m, ours);
	decide(out, m);
	find_tokens(out, m);
	close_mail(m);
	mem_free(m);
}

const char *
bounce_system(const struct bounce *b)
{
	return (b->remote_mta[0] != '\0' ? b->remote_mta : b->reporting_mta);
}

const char *
bounce_outcome_name(enum bounce_outcome o)
{
	static const char *const	names[BOUNCE_OUTCOMES] = {
		[BOUNCE_IGNORE] = "ignore",
		[BOUNCE_LOST] = "lost",
		[BOUNCE_DELAYED] = "delayed",
		[BOUNCE_DELIVERED] = "delivered",
	};

	return (o < BOUNCE_OUTCOMES ? names[o] : "");
}

const char *
bounce_kind_name(enum bounce_kind k)
{
	static const char *const	names[BOUNCE_KINDS] = {
		[BOUNCE_NONE] = "none",
		[BOUNCE_DSN] = "report",
		[BOUNCE_TEXT] = "text",
		[BOUNCE_AUTO_REPLY] = "auto-reply",
		[BOUNCE_RECEIPT] = "receipt",
		[BOUNCE_FEEDBACK] = "feedback",
	};

	return (k < BOUNCE_KINDS ? names[k] : "");
}
