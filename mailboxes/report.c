#include "mailboxes/report.h"

#include <string.h>
#include <strings.h>

#include "mailboxes/bounce.h"
#include "mailboxes/bounce_text.h"
#include "mailboxes/header.h"
#include "mailboxes/mime.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define VALUE_MAX	1024

/* Each bears probes' tokens in what it quotes: a session, a list. */
static const char	notice_field[] = "X-Mailflow-Notice:";

static const char *
value_of(const char *head, size_t len, const char *name,
    char value[VALUE_MAX])
{
	struct header	h;

	value[0] = '\0';
	if (header_find(head, len, name, &h))
		mime_value(&h, value, VALUE_MAX);
	return (value);
}

bool
report_may_be(const char *head, size_t len)
{
	char			from[VALUE_MAX], failed[VALUE_MAX];
	char			value[VALUE_MAX];
	struct bounce_words	w = { .from = from, .failed = failed,
				    .subject = "", .text = "" };
	struct header		h;

	/* What is returned has it inside. */
	if (header_find(head, len, "X-Mailflow-Probe", &h))
		return (false);
	value_of(head, len, "From", from);
	value_of(head, len, "X-Failed-Recipients", failed);
	w.no_sender = strncmp(value_of(head, len, "Return-Path", value),
	    "<>", 2) == 0;
	value_of(head, len, "Auto-Submitted", value);
	w.automatic = value[0] != '\0' && strncasecmp(value, "no", 2) != 0;
	w.is_report = strncasecmp(value_of(head, len, "Content-Type", value),
	    "multipart/report", 16) == 0;
	return (bounce_has_signs(&w));
}

/* The first token that this instance made, by its tag; "" if there is none. */
static const char *
our_token(const struct match_rules *rules, const struct bounce *b)
{
	for (size_t i = 0; i < b->token_count; i++)
		switch (token_check(b->tokens[i], rules->key, rules->instance,
		    rules->mailbox)) {
		case TOKEN_OURS:
		case TOKEN_FORGED:	/* or of another mailbox of ours */
			return (b->tokens[i]);
		case TOKEN_FOREIGN:
		case TOKEN_MALFORMED:
			break;
		}
	return ("");
}

static enum report_news
news_of(enum bounce_outcome outcome)
{
	switch (outcome) {
	case BOUNCE_LOST:
		return (REPORT_LOST);
	case BOUNCE_DELAYED:
		return (REPORT_DELAYED);
	case BOUNCE_DELIVERED:
	case BOUNCE_IGNORE:
	case BOUNCE_OUTCOMES:
		break;
	}
	return (REPORT_NOTED);
}

static void
fill(struct frame_report *f, const struct bounce *b)
{
	f->news = news_of(b->outcome);
	text_copy(f->action, sizeof f->action, b->action);
	f->class = b->class;
	f->code = (uint32_t)b->reply.code;
	text_copy(f->enhanced, sizeof f->enhanced,
	    b->reply.enhanced[0] != '\0' ? b->reply.enhanced : b->status);
	text_copy(f->reply, sizeof f->reply, b->reply.text);
	text_copy(f->remote_mta, sizeof f->remote_mta, b->remote_mta);
	text_copy(f->reporting_mta, sizeof f->reporting_mta,
	    b->reporting_mta);
}

enum report_kind
report_read(const struct match_rules *rules, const char *bytes, size_t len,
    struct frame_report *out)
{
	struct bounce	*b = mem_alloc(sizeof *b);
	const char	*token;

	*out = (struct frame_report){ .news = REPORT_NOTED };
	bounce_read(bytes, len, "", b);
	if (b->kind != BOUNCE_DSN && b->kind != BOUNCE_TEXT) {
		mem_free(b);
		return (REPORT_NONE);
	}
	token = our_token(rules, b);
	/* A notice that could not be delivered says nothing of the probes. */
	if (memmem(bytes, len, notice_field, sizeof notice_field - 1) != NULL)
		token = "";
	if (token[0] != '\0') {
		fill(out, b);
		text_copy(out->token, sizeof out->token, token);
	}
	mem_free(b);
	return (out->token[0] != '\0' ? REPORT_OURS : REPORT_OTHERS);
}
