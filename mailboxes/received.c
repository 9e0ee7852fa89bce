#include "mailboxes/received.h"

#include <string.h>
#include <strings.h>

#include "mailboxes/date.h"
#include "mailboxes/header.h"
#include "monitor/stamp.h"
#include "monitor/text.h"

#define VALUE_MAX	2048

/* The date stands behind the last semicolon. */
static int64_t
received_ms(const char *value)
{
	const char	*semicolon = strrchr(value, ';');

	return (semicolon != NULL ?
	    date_mail_ms(semicolon + 1, strlen(semicolon + 1)) : 0);
}

/* The name behind "by". */
static void
received_by(const char *value, char *buf, size_t size)
{
	const char	*p;
	size_t		 n;

	buf[0] = '\0';
	for (p = value; (p = strcasestr(p, "by ")) != NULL; p += 3)
		if (p == value || p[-1] == ' ' || p[-1] == ')')
			break;
	if (p == NULL)
		return;
	p += 3;
	p += strspn(p, " ");
	n = strcspn(p, " ;(\t");
	text_clean(buf, size, p, n);
}

/* Fields stand newest first: `later` is the one above this one. */
static void
hop(struct received *out, int64_t ms, int64_t later_ms, const char *later_by)
{
	int64_t	span = later_ms - ms;

	if (out->slowest_hop_ms == STAMP_NO_SPAN)
		out->skew_ms = 0;
	if (span > out->slowest_hop_ms) {
		out->slowest_hop_ms = span > 0 ? span : 0;
		text_copy(out->slowest_hop, sizeof out->slowest_hop, later_by);
	}
	if (-span > out->skew_ms)
		out->skew_ms = -span;
}

void
received_read(const char *head, size_t len, struct received *out)
{
	char		value[VALUE_MAX], by[OUTCOME_HOST] = "";
	struct header	h;
	size_t		at = 0;
	int64_t		ms, later_ms = 0;

	*out = (struct received){ .hops = -1, .slowest_hop_ms = STAMP_NO_SPAN,
	    .skew_ms = STAMP_NO_SPAN };
	while (header_next(head, len, &at, &h)) {
		if (!header_is(&h, "Received"))
			continue;
		out->hops = out->hops < 0 ? 1 : out->hops + 1;
		header_decode(&h, value, sizeof value);
		if ((ms = received_ms(value)) == 0)
			continue;
		if (later_ms != 0)
			hop(out, ms, later_ms, by);
		later_ms = ms;
		received_by(value, by, sizeof by);
	}
}

void
received_auth_results(const char *head, size_t len, const char *authserv_id,
    char *buf, size_t size)
{
	char		value[VALUE_MAX];
	struct header	h;
	size_t		at = 0, n = strlen(authserv_id), i;

	buf[0] = '\0';
	if (n == 0)
		return;
	while (header_next(head, len, &at, &h)) {
		if (!header_is(&h, "Authentication-Results"))
			continue;
		header_decode(&h, value, sizeof value);
		if (strncasecmp(value, authserv_id, n) != 0 ||
		    strchr(" ;\t", value[n]) == NULL)
			continue;
		i = n + strcspn(value + n, ";");
		i += strspn(value + i, "; ");
		text_clean(buf, size, value + i, strlen(value + i));
		return;
	}
}
