/*
 * Any bytes as the way of a mail: a whole head, one Received field in a head
 * that is otherwise good, and a date on its own.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes/date.h"
#include "mailboxes/received.h"
#include "monitor/stamp.h"

#define CHECK(what)	do { if (!(what)) abort(); } while (0)

#define FIRST	"Received: from a by b with ESMTP; "	\
		"Sat, 31 Jan 2026 12:00:07 +0100\r\n"
#define LAST	"\r\nReceived: from z by a; 31 Jan 2026 11:00:01 GMT\r\n" \
		"Authentication-Results: mx; spf=pass\r\n\r\n"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_way(const char *head, size_t len, int least)
{
	struct received	r;
	char		results[64];

	received_read(head, len, &r);
	CHECK(r.hops == -1 || r.hops > 0);
	CHECK(r.hops >= least);
	CHECK(r.slowest_hop_ms == STAMP_NO_SPAN || r.slowest_hop_ms >= 0);
	CHECK(r.skew_ms == STAMP_NO_SPAN || r.skew_ms >= 0);
	CHECK(r.slowest_hop_ms != STAMP_NO_SPAN || r.slowest_hop[0] == '\0');
	CHECK(strnlen(r.slowest_hop, sizeof r.slowest_hop) <
	    sizeof r.slowest_hop);
	for (const char *p = r.slowest_hop; *p != '\0'; p++)
		CHECK((unsigned char)*p >= ' ' && *p != 127);
	received_auth_results(head, len, "mx", results, sizeof results);
	CHECK(strnlen(results, sizeof results) < sizeof results);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t	 first = strlen(FIRST), last = strlen(LAST);
	char	*whole = malloc(first + size + last);
	char	*alone = malloc(size + 1);

	CHECK(whole != NULL && alone != NULL);
	memcpy(alone, data, size);
	(void)date_mail_ms(alone, size);
	check_way(alone, size, -1);
	memcpy(whole, FIRST, first);
	memcpy(whole + first, data, size);
	memcpy(whole + first + size, LAST, last);
	check_way(whole, first + size + last, 1);
	free(whole);
	free(alone);
	return (0);
}
