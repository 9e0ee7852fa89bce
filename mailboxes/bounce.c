#include "mailboxes/bounce.h"

#include <string.h>
#include <strings.h>

#include "mailboxes/bounce_mail.h"
#include "mailboxes/complaint.h"
#include "monitor/classify.h"
#include "monitor/mem.h"
#include "monitor/phrase.h"
#include "monitor/text.h"

static bool
begins(const char *s, const char *with)
{
	return (strncasecmp(s, with, strlen(with)) == 0);
}

/* Tokens. */

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
	char		value[BOUNCE_VALUE];
	size_t		at = 0;

	while (header_next(head, len, &at, &h))
		add_tokens(b, value, mime_value(&h, value, sizeof value));
}

static void
find_tokens(struct bounce *b, struct bounce_mail *m)
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
	static const char *const	vague[] = { ".2.0", ".3.0", ".3.5",
		".4.7", ".5.0" };

	for (size_t i = 0; i < NITEMS(vague); i++)
		if (status[0] != '\0' && strcmp(status + 1, vague[i]) == 0)
			return (true);
	return (is_general(status));
}

/*
 * Diagnostic-Code is what the refusing server said, Status is what the
 * reporter made of it, and helps out where the former has no enhanced code
 * or a general one.
 */
static void
combine(struct reply *r, const struct dsn_recipient *d)
{
	const char	*said = d->diagnostic[0] != '\0' ? d->diagnostic :
			    d->supplement;
	bool		 same_class;

	reply_parse(r, said, strlen(said));
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

/* Without a word for the action, the words of the mail tell. */
static enum bounce_outcome
outcome_without_action(const struct bounce_mail *m, const char *status)
{
	struct bounce_words	w;

	bounce_mail_words(m, &w);
	if (status[0] == '2')
		return (BOUNCE_IGNORE);
	return (bounce_is_delay(&w) ? BOUNCE_DELAYED : BOUNCE_LOST);
}

static void
take_action(struct bounce *b, const struct bounce_mail *m, const char *word)
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
ask_words(struct bounce *b, const struct bounce_mail *m)
{
	struct bounce_words	w;
	struct complaint	t;

	bounce_mail_words(m, &w);
	complaint_read(&w, m->ours, &t);
	if (!t.spoken)
		return;
	b->reply = t.reply;
	b->class = t.meaning.class;
	b->verdict = t.meaning.verdict;
}

static void
take_recipient(struct bounce *b, const struct bounce_mail *m,
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
		meaning = complaint_meaning(&b->reply);
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
choose_in_part(struct choice *c, struct bounce *b, struct bounce_mail *m,
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
read_fields(struct bounce *b, struct bounce_mail *m)
{
	struct choice		 c = { .ours = m->ours };
	const struct mime_part	*p;

	c.best = mem_alloc(sizeof *c.best);
	c.next = mem_alloc(sizeof *c.next);
	for (p = m->parts; p < m->parts + m->count; p++)
		if (bounce_mail_role(p) == ROLE_STATUS)
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
read_text(struct bounce *b, const struct bounce_mail *m,
    const struct bounce_words *w)
{
	struct complaint	t;
	bool			delay = bounce_is_delay(w);

	b->kind = BOUNCE_TEXT;
	if (bounce_is_success(w))
		return;
	complaint_read(w, m->ours, &t);
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

/* Away, and not a bounce that only quotes such a subject; "Automatic reply: "
 * stands before the subject that is answered, whatever that speaks of. */
static bool
is_away(const char *words)
{
	static const char *const	marks[] = { "automatic reply:",
		"automatische antwort:", "out of office:", "autoreply:",
		"auto:" };
	struct phrase_text		subject;

	for (size_t i = 0; i < NITEMS(marks); i++)
		if (begins(words, marks[i]))
			return (true);
	phrase_prepare(&subject, words);
	return (phrase_match(&subject, away_subjects) &&
	    !phrase_match(&subject, "deliver|fail|return|bounce"));
}

static bool
is_auto_reply(const struct bounce_mail *m)
{
	static const char *const	fields[] = { "X-Autoreply",
		"X-Autorespond", "X-Autoresponder", "X-Mail-Autoreply",
		"X-Vacation" };
	struct header			h;
	char				value[BOUNCE_VALUE];
	size_t				i;

	if (is_away(m->subject))
		return (true);
	for (i = 0; i < NITEMS(fields); i++)
		if (header_find(m->parts[0].head, m->parts[0].head_len,
		    fields[i], &h))
			return (true);
	if (begins(bounce_mail_field(m, "Precedence", value), "auto"))
		return (true);
	return (begins(bounce_mail_field(m, "Auto-Submitted", value), "auto-replied"));
}

/*
 * A report by its form is one whoever sent it; words count only where a mail
 * system speaks, and no person answers or passes them on.
 */
static void
decide(struct bounce *b, struct bounce_mail *m)
{
	struct bounce_words	w;
	bool			from_system = bounce_from_system(m->from);

	bounce_mail_words(m, &w);
	if (m->receipt || m->feedback) {
		b->kind = m->receipt ? BOUNCE_RECEIPT : BOUNCE_FEEDBACK;
	} else if (header_is_answer(m->subject) && !bounce_from_program(&w)) {
		b->kind = BOUNCE_NONE;
	} else if (m->status != NULL && (w.is_report || from_system ||
	    (bounce_has_signs(&w) && !header_is_answer(m->subject))) &&
	    read_fields(b, m)) {
		b->kind = BOUNCE_DSN;
	} else if (!from_system && header_is_answer(m->subject)) {
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

/*
 * A gateway that packs a report into a mail of its own words: the report
 * inside says more about our mail than they do.
 */
static void
read_enclosed(struct bounce *b, struct bounce_mail *m, const char *ours)
{
	struct bounce_mail	*inner;
	struct bounce		 report = { .kind = BOUNCE_NONE,
				    .class = CLASS_OTHER };

	if (b->kind != BOUNCE_TEXT || m->returned == NULL)
		return;
	inner = mem_alloc(sizeof *inner);
	bounce_mail_open(inner, m->decoded, mime_body(m->returned, m->decoded,
	    m->len + 1), ours);
	decide(&report, inner);
	if (report.kind == BOUNCE_DSN)
		*b = report;
	bounce_mail_close(inner);
	mem_free(inner);
}

void
bounce_read(const char *bytes, size_t len, const char *ours,
    struct bounce *out)
{
	struct bounce_mail	*m = mem_alloc(sizeof *m);

	*out = (struct bounce){ .kind = BOUNCE_NONE, .class = CLASS_OTHER };
	bounce_mail_open(m, bytes, len < BOUNCE_INPUT ? len : BOUNCE_INPUT,
	    ours);
	decide(out, m);
	read_enclosed(out, m, ours);
	find_tokens(out, m);
	bounce_mail_close(m);
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
