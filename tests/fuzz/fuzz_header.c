/*
 * Any bytes as a mail: its fields, addresses, dates and way read, and matched
 * with a token of ours put in.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes/date.h"
#include "mailboxes/header.h"
#include "mailboxes/match.h"
#include "mailboxes/received.h"
#include "monitor/stamp.h"

#define CHECK(what)	do { if (!(what)) abort(); } while (0)

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const struct token_key	key = { { 3 } };
static const struct match_rules	rules = { &key, "fuzz", "box",
				    "probe@example.org" };

static void
check_fields(const char *text, size_t len)
{
	struct header	h;
	char		value[300], address[40];
	size_t		at = 0, from = 0, in, n;

	while (header_next(text, len, &at, &h)) {
		CHECK(at > from && at <= len);
		CHECK(h.name_len > 0 && h.name >= text);
		CHECK(h.value + h.value_len <= text + len);
		from = at;
		n = header_decode(&h, value, sizeof value);
		CHECK(n < sizeof value && value[n] == '\0');
		for (in = 0; header_address(value, &in, address,
		    sizeof address);)
			CHECK(strlen(address) < sizeof address);
		CHECK(in <= n);
		(void)date_mail_ms(h.value, h.value_len);
	}
}

static void
check_way(const char *text, size_t len)
{
	struct received	r;
	char		results[64];

	received_read(text, len, &r);
	CHECK(r.hops == -1 || r.hops > 0);
	CHECK(r.slowest_hop_ms == STAMP_NO_SPAN || r.slowest_hop_ms >= 0);
	CHECK(r.skew_ms == STAMP_NO_SPAN || r.skew_ms >= 0);
	received_auth_results(text, len, "mx", results, sizeof results);
	CHECK(strnlen(results, sizeof results) < sizeof results);
}

static void
check_bodies(const char *text, size_t len)
{
	char	buf[100];

	CHECK(header_base64(text, len, buf, sizeof buf) < sizeof buf);
	CHECK(header_quoted_printable(text, len, buf, sizeof buf) <
	    sizeof buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char	*text = (const char *)data;
	char		*copy = malloc(size + 1);
	struct match	 m;

	CHECK(copy != NULL);
	memcpy(copy, text, size);	/* an end that can be overrun */
	check_fields(copy, size);
	check_way(copy, size);
	check_bodies(copy, size);
	match_mail(&rules, copy, size, "", 0, &m);
	CHECK(!m.is_probe || m.carrier == MATCH_HEADER);
	match_mail(&rules, copy, size / 2, copy + size / 2, size - size / 2,
	    &m);
	CHECK(!m.is_probe || m.token[0] != '\0');
	CHECK((m.carrier == MATCH_NOWHERE) == (m.token[0] == '\0'));
	free(copy);
	return (0);
}
