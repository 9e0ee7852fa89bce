#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/smtp_filter.h"
#include "monitor/sasl.h"

/*
 * What a server sends, in pieces cut at every place: the same replies must
 * come out however the bytes came in, and nothing but sane lines may reach
 * the library.  The first byte chooses the size of the pieces.
 */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(bool good)
{
	if (!good)
		abort();
}

/* The lengths of all replies in bytes, fed `piece` at a time, into out. */
static size_t
replies(const char *bytes, size_t len, size_t piece, size_t *out, size_t max)
{
	static struct smtp_gather	g;
	size_t				n = 0, room, got;
	enum smtp_gathered		r;

	g.len = g.line = 0;
	g.open = false;
	for (;;) {
		while ((r = smtp_gather(&g, &got)) == SMTP_WHOLE) {
			must(got > 0 && got <= g.len);
			must(g.bytes[got - 1] == '\n');
			if (n < max)
				out[n++] = got;
			smtp_gather_drop(&g, got);
		}
		if (r == SMTP_TOO_LONG) {
			must(g.len == sizeof g.bytes);
			return (n);
		}
		if (len == 0)
			return (n);
		room = sizeof g.bytes - g.len;
		must(room > 0);
		got = len < piece ? len : piece;
		got = got < room ? got : room;
		memcpy(g.bytes + g.len, bytes, got);
		g.len += got;
		bytes += got;
		len -= got;
	}
}

static void
try_gather(const char *bytes, size_t len, size_t piece)
{
	static size_t	once[4096], pieces[4096];
	size_t		n;

	n = replies(bytes, len, SMTP_REPLY_MAX, once, 4096);
	must(replies(bytes, len, piece, pieces, 4096) == n);
	must(memcmp(once, pieces, n * sizeof *once) == 0);
}

/* Each line that the library gets is "250-word..." or the last, "250 word". */
static void
try_features(const char *bytes, size_t len)
{
	struct smtp_features	 f;
	char			 text[SMTP_GREETING_MAX], *line, *end;
	size_t			 n;

	smtp_features_read(&f, bytes, len);
	must(f.size_limit >= 0);
	must(memchr(f.auth_names, '\0', sizeof f.auth_names) != NULL);
	n = smtp_features_print(&f, f.auth & (SASL_PLAIN), text);
	must(n == strlen(text) && n + 1 < sizeof text);
	for (line = text; *line != '\0'; line = end + 2) {
		must((end = strstr(line, "\r\n")) != NULL);
		must(strncmp(line, "250", 3) == 0);
		must(line[3] == (end[2] == '\0' ? ' ' : '-'));
	}
	must(strstr(text, "PIPELINING") == NULL);
	must(strstr(text, "CHUNKING") == NULL);
}

static void
try_dot(const char *bytes, size_t len, size_t piece)
{
	struct smtp_dot	 whole = { 0 }, parts = { 0 };
	bool		 end, end_in_parts = false;
	size_t		 used, sum = 0, n, got;
	const char	*at;

	used = smtp_dot_scan(&whole, bytes, len, &end);
	for (; sum < len && !end_in_parts; sum += got) {
		n = len - sum < piece ? len - sum : piece;
		got = smtp_dot_scan(&parts, bytes + sum, n, &end_in_parts);
	}
	must(sum == used && end == end_in_parts);
	at = memmem(bytes, len, "\r\n.\r\n", 5);
	if (len >= 3 && memcmp(bytes, ".\r\n", 3) == 0)
		must(end && used == 3);
	else if (at != NULL)
		must(end && used == (size_t)(at - bytes) + 5);
	else
		must(!end && used == len);
}

static void
try_texts(const char *text)
{
	char	id[64], copy[512], line[SMTP_PAD_LINE];
	int64_t	left = (int64_t)strlen(text) * 7;
	size_t	n;

	smtp_queue_id(text, id, sizeof id);
	must(strlen(id) < sizeof id);
	must(id[0] == '\0' || strstr(text, id) != NULL);
	(void)smtp_verb_of(text);
	(void)smtp_address_check(text);
	n = strlen(text) < sizeof copy ? strlen(text) : sizeof copy - 1;
	memcpy(copy, text, n);
	copy[n] = '\0';
	sasl_explained(copy, line, sizeof line);
	must(strlen(line) < sizeof line);
	sasl_scrub(copy, "secret");
	must(strlen(copy) == n && strstr(copy, "secret") == NULL);
	while ((n = smtp_pad_line(left, line)) > 0) {
		must(n <= sizeof line && memcmp(line + n - 2, "\r\n", 2) == 0);
		left -= (int64_t)n;
	}
	must(left == 0 || left == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t	 piece;
	char	*bytes;

	if (size < 1)
		return (0);
	piece = (size_t)data[0] % 61 + 1;
	size--;
	bytes = malloc(size + 1);
	if (bytes == NULL)
		return (0);
	memcpy(bytes, data + 1, size);
	bytes[size] = '\0';
	try_gather(bytes, size, piece);
	try_features(bytes, size);
	try_dot(bytes, size, piece);
	try_texts(bytes);
	free(bytes);
	return (0);
}
