#include "mailboxes/match.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mailboxes/header.h"
#include "mailboxes/mime.h"
#include "monitor/mem.h"

#define VALUE_MAX	2048
#define ADDRESS_MAX	512
#define BODY_MAX	16384

/*
 * Where a probe carries its token; Exchange and Gmail keep a Message-ID that
 * they have changed.
 */
static const char *const carriers[] = { "X-Mailflow-Probe", "Message-ID",
	"X-Microsoft-Original-Message-ID", "X-Google-Original-Message-ID",
	"Subject" };

#define OWN_CARRIERS	4	/* the first of them, that only copies have */

/* Where others quote it: a reply, a forward. */
static const char *const quoters[] = { "In-Reply-To", "References" };

const char *const match_fields[] = { "X-Mailflow-Probe", "Message-ID",
	"X-Microsoft-Original-Message-ID", "X-Google-Original-Message-ID",
	"Subject", "In-Reply-To", "References", "From", "To", "Date",
	"Content-Type", "Content-Transfer-Encoding", "Auto-Submitted",
	"Received", "Authentication-Results", "Return-Path",
	"X-Failed-Recipients" };
const size_t match_field_count = NITEMS(match_fields);

struct mail {
	const struct match_rules	*rules;
	const char			*head;
	size_t				 len;
	struct match			*out;
};

/* Looks for tokens of ours in a text; true once one is found. */
static bool
look(const struct mail *m, const char *text, size_t len,
    enum match_carrier carrier)
{
	char	token[TOKEN_SIZE];
	size_t	at = 0;

	while (token_find(text, len, &at, token))
		switch (token_check(token, m->rules->key, m->rules->instance,
		    m->rules->mailbox)) {
		case TOKEN_OURS:
			memcpy(m->out->token, token, sizeof token);
			m->out->carrier = carrier;
			return (true);
		case TOKEN_FOREIGN:
		case TOKEN_FORGED:
			m->out->stranger = true;
			break;
		case TOKEN_MALFORMED:
			break;
		}
	return (false);
}

/* Looks in every field of those names. */
static bool
look_in(const struct mail *m, const char *const *names, size_t count)
{
	char		value[VALUE_MAX];
	struct header	h;
	size_t		i, at, n;

	for (i = 0; i < count; i++)
		for (at = 0; header_next(m->head, m->len, &at, &h);) {
			if (!header_is(&h, names[i]))
				continue;
			n = header_decode(&h, value, sizeof value);
			if (look(m, value, n, MATCH_HEADER))
				return (true);
		}
	return (false);
}

/* The value of the first field of that name; "" if there is none. */
static const char *
value_of(const struct mail *m, const char *name, char value[VALUE_MAX])
{
	struct header	h;

	value[0] = '\0';
	if (header_find(m->head, m->len, name, &h))
		header_decode(&h, value, VALUE_MAX);
	return (value);
}

static bool
begins(const char *s, const char *with)
{
	return (strncasecmp(s, with, strlen(with)) == 0);
}

static bool
listed(const char *list, const char *address)
{
	size_t	n;

	for (; *list != '\0'; list += n + (list[n] == '\n')) {
		n = strcspn(list, "\n");
		if (n == strlen(address) && strncasecmp(list, address, n) == 0)
			return (true);
	}
	return (false);
}

/* From names one address, and it is one of our senders'. */
static bool
from_us(const struct mail *m)
{
	char	value[VALUE_MAX], address[ADDRESS_MAX], more[ADDRESS_MAX];
	size_t	at = 0;

	value_of(m, "From", value);
	return (header_address(value, &at, address, sizeof address) &&
	    listed(m->rules->froms, address) &&
	    !header_address(value, &at, more, sizeof more));
}

/* Behind the marks in brackets that gateways put in front. */
static const char *
unmarked(const char *s)
{
	size_t	n;

	while (*s == '[' && (n = strcspn(s, "]")) > 0 && s[n] == ']') {
		s += n + 1;
		s += strspn(s, " ");
	}
	return (s);
}

/* Any few letters and a colon: "Re: " in a language that we may not know. */
static bool
looks_answered(const char *s)
{
	size_t	n;

	for (n = 0; (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' &&
	    s[n] <= 'Z') || (s[n] & 0x80); n++)
		;
	return (n >= 1 && n <= 9 && (s[n] == ':' ||
	    (s[n] == '[' && s[n + strcspn(s + n, "]")] == ']' &&
	    s[n + strcspn(s + n, "]") + 1] == ':')) &&
	    !begins(s, "external:") && !begins(s, "extern:") &&
	    !begins(s, "spam:"));
}

/*
 * Made by a person or a program in answer to the probe.  copy: it has a field
 * that only copies have, so that "EXT: " before the subject is a gateway's.
 */
static bool
answer(const struct mail *m, bool copy)
{
	struct header	h;
	char		value[VALUE_MAX];
	const char	*subject;
	size_t		i;

	for (i = 0; i < NITEMS(quoters); i++)
		if (header_find(m->head, m->len, quoters[i], &h))
			return (true);
	subject = unmarked(value_of(m, "Subject", value));
	if (header_is_answer(subject) || (!copy && looks_answered(subject)))
		return (true);
	value_of(m, "Auto-Submitted", value);
	return (value[0] != '\0' && !begins(value, "auto-generated") &&
	    !begins(value, "no"));
}

static bool
report(const struct mail *m)
{
	char	value[VALUE_MAX];

	value_of(m, "Content-Type", value);
	return (begins(value, "multipart/report") ||
	    begins(value, "message/"));
}

/* Gateways put what they got into a part of its own, and encode it. */
static bool
look_in_parts(const struct mail *m, const char *type, const char *body,
    size_t len)
{
	struct mime_part	*parts = mem_alloc(MIME_PARTS * sizeof *parts);
	size_t			 size = VALUE_MAX + len + 32, i, n, count;
	char			*text = mem_alloc(size), *plain;
	bool			 found = false;

	n = (size_t)snprintf(text, size, "Content-Type: %s\n\n", type);
	n += mime_lines(text + n, body, len);
	count = mime_split(text, n, parts);
	plain = mem_alloc(n + 1);
	for (i = 0; i < count && !found; i++)
		if (parts[i].encoding != MIME_AS_IS && !parts[i].multipart)
			found = look(m, plain, mime_body(&parts[i], plain,
			    n + 1), MATCH_BODY);
	mem_free(plain);
	mem_free(text);
	mem_free(parts);
	return (found);
}

static bool
look_in_body(const struct mail *m, const char *body, size_t len)
{
	char	value[VALUE_MAX], *plain;
	bool	found;
	size_t	n;

	if (look(m, body, len, MATCH_BODY))
		return (true);
	if (begins(value_of(m, "Content-Type", value), "multipart/") &&
	    look_in_parts(m, value, body, len))
		return (true);
	value_of(m, "Content-Transfer-Encoding", value);
	plain = mem_alloc(BODY_MAX);
	n = begins(value, "base64") ? header_base64(body, len, plain, BODY_MAX) :
	    header_quoted_printable(body, len, plain, BODY_MAX);
	found = look(m, plain, n, MATCH_BODY);
	mem_free(plain);
	return (found);
}

void
match_mail(const struct match_rules *rules, const char *head, size_t head_len,
    const char *body, size_t body_len, struct match *out)
{
	struct mail	m = { rules, head, head_len, out };
	bool		found, copy, quoted = false;

	*out = (struct match){ .carrier = MATCH_NOWHERE };
	found = copy = look_in(&m, carriers, OWN_CARRIERS);
	if (!found)
		found = look_in(&m, carriers + OWN_CARRIERS,
		    NITEMS(carriers) - OWN_CARRIERS);
	if (!found)
		found = quoted = look_in(&m, quoters, NITEMS(quoters));
	if (!found && body_len > 0)
		found = look_in_body(&m, body, body_len);
	if (!found) {
		out->ours_perhaps = from_us(&m);
		return;
	}
	out->is_probe = !quoted && from_us(&m) && !answer(&m, copy) &&
	    !report(&m);
	if (!out->is_probe && !report(&m))
		out->sign = copy ? SIGN_COPY : SIGN_ANSWER;
}
