#include "monitor/config_internal.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/value.h"

/*
 * Every option there is.  mailflowd.conf(5) and the sample are compared with
 * this file by tests/check-options.sh: one row, one line, the name first.
 */

/* A span that may be nothing, and one that may not. */
#define ANY_SPAN	.max = VALUE_SPAN_MAX
#define SOME_SPAN	.min = 1, .max = VALUE_SPAN_MAX

/* In the order of the enums in route.h. */
static const char *const server_tls[] = {
	"none", "opportunistic", "starttls", "implicit", NULL
};
/* "" holds the place of opportunistic, which a mailbox must not be. */
static const char *const mailbox_tls[] = {
	"none", "", "starttls", "implicit", NULL
};
static const char *const families[] = { "any", "ipv4", "ipv6", NULL };
static const char *const mx_modes[] = { "none", "first", "each", NULL };
static const char *const expunges[] = { "auto", "uid", "trash", "all", NULL };
static const char *const echoes[] = { "none", "forward", "autoreply", NULL };
static const char *const logs[] = { "stderr", "syslog", "journal", NULL };

#define AT(s, field)	offsetof(struct s, field)

static const struct option global[] = {
	{ "instance", TYPE_INSTANCE, AT(config, instance), .standard = NULL },
	{ "state_directory", TYPE_PATH, AT(config, state_directory), .standard = "/var/lib/mailflowd" },
	{ "csv_directory", TYPE_PATH, AT(config, csv_directory), .standard = NULL },
	{ "csv_keep", TYPE_SPAN, AT(config, csv_keep_ms), .standard = "400d", SOME_SPAN },
	{ "keep_days", TYPE_WHOLE_DAYS, AT(config, keep_ms), .standard = "400", .min = 1, .max = 36500 },
	{ "log", TYPE_WORD, AT(config, log), .standard = "stderr", .words = logs },
	{ "senders", TYPE_COUNT, AT(config, senders), .standard = "16", .min = 1, .max = 256 },
	{ "spacing", TYPE_SPAN, AT(config, spacing_ms), .standard = "5s", ANY_SPAN },
	{ "resolver", TYPE_HOST_PORT, AT(config, resolver), .standard = "" },
	{ "http", TYPE_HOST_PORT, AT(config, http), .standard = "127.0.0.1:9725" },
	{ "control", TYPE_PATH, AT(config, control), .standard = "/run/mailflowd/control" },
	{ "include", TYPE_STRINGS, NO_OFFSET, .standard = "", .max = 100 },
};

static const struct option server[] = {
	{ "host", TYPE_HOST, AT(server, host), .standard = "" },
	{ "port", TYPE_PORT, AT(server, port), .standard = NULL },
	{ "system", TYPE_STRING, AT(server, system), .standard = "" },
	{ "tls", TYPE_ENUM, AT(server, tls), .standard = NULL, .words = server_tls },
	{ "ca_file", TYPE_PATH, AT(server, ca_file), .standard = "" },
	{ "insecure_auth", TYPE_BOOL, AT(server, insecure_auth), .standard = "false" },
	{ "user", TYPE_STRING, AT(server, user), .standard = "" },
	{ "password_file", TYPE_PATH, AT(server, secret.password_file), .standard = "" },
	{ "password_command", TYPE_STRING, AT(server, secret.password_command), .standard = "" },
	{ "token_command", TYPE_STRING, AT(server, secret.token_command), .standard = "" },
	{ "credential", TYPE_CREDENTIAL, AT(server, secret.credential), .standard = "" },
	{ "helo", TYPE_HOST, AT(server, helo), .standard = NULL },
	{ "source_address", TYPE_IP, AT(server, source_address), .standard = "" },
	{ "family", TYPE_ENUM, AT(server, family), .standard = "any", .words = families },
	{ "concurrency", TYPE_COUNT, AT(server, concurrency), .standard = "2", .min = 1, .max = 256 },
	{ "connect_timeout", TYPE_SPAN, AT(server, connect_timeout_ms), .standard = "30s", SOME_SPAN },
	{ "timeout", TYPE_SPAN, AT(server, timeout_ms), .standard = "5m", SOME_SPAN },
	{ "dot_timeout", TYPE_SPAN, AT(server, dot_timeout_ms), .standard = "10m", SOME_SPAN },
	{ "auth_pause", TYPE_SPAN, AT(server, auth_pause_ms), .standard = "1h", ANY_SPAN },
	{ "connect_every", TYPE_SPAN, AT(server, connect_every_ms), .standard = "0", ANY_SPAN },
	{ "mx", TYPE_ENUM, AT(server, mx), .standard = "none", .words = mx_modes },
	{ "domain", TYPE_HOST, AT(server, domain), .standard = "" },
};

static const struct option mailbox[] = {
	{ "host", TYPE_HOST, AT(mailbox, host), .standard = "" },
	{ "port", TYPE_PORT, AT(mailbox, port), .standard = NULL },
	{ "tls", TYPE_ENUM, AT(mailbox, tls), .standard = "implicit", .words = mailbox_tls },
	{ "ca_file", TYPE_PATH, AT(mailbox, ca_file), .standard = "" },
	{ "insecure_auth", TYPE_BOOL, AT(mailbox, insecure_auth), .standard = "false" },
	{ "user", TYPE_STRING, AT(mailbox, user), .standard = "" },
	{ "password_file", TYPE_PATH, AT(mailbox, secret.password_file), .standard = "" },
	{ "password_command", TYPE_STRING, AT(mailbox, secret.password_command), .standard = "" },
	{ "token_command", TYPE_STRING, AT(mailbox, secret.token_command), .standard = "" },
	{ "credential", TYPE_CREDENTIAL, AT(mailbox, secret.credential), .standard = "" },
	{ "source_address", TYPE_IP, AT(mailbox, source_address), .standard = "" },
	{ "family", TYPE_ENUM, AT(mailbox, family), .standard = "any", .words = families },
	{ "connect_timeout", TYPE_SPAN, AT(mailbox, connect_timeout_ms), .standard = "30s", SOME_SPAN },
	{ "timeout", TYPE_SPAN, AT(mailbox, timeout_ms), .standard = "1m", SOME_SPAN },
	{ "auth_pause", TYPE_SPAN, AT(mailbox, auth_pause_ms), .standard = "1h", ANY_SPAN },
	{ "folders", TYPE_STRINGS, AT(mailbox, folders), .standard = "INBOX", .min = 1, .max = 32 },
	{ "junk", TYPE_STRING, AT(mailbox, junk), .standard = "auto" },
	{ "poll", TYPE_SPAN, AT(mailbox, poll_ms), .standard = "60s", SOME_SPAN },
	{ "idle", TYPE_BOOL, AT(mailbox, idle), .standard = "true" },
	{ "burst", TYPE_SPAN, AT(mailbox, burst_ms), .standard = "2s", ANY_SPAN },
	{ "expunge", TYPE_ENUM, AT(mailbox, expunge), .standard = "auto", .words = expunges },
	{ "keep", TYPE_SPAN, AT(mailbox, keep_ms), .standard = "0", ANY_SPAN },
	{ "keep_bad", TYPE_SPAN, AT(mailbox, keep_bad_ms), .standard = "7d", ANY_SPAN },
	{ "authserv_id", TYPE_STRING, AT(mailbox, authserv_id), .standard = "" },
	{ "maildir", TYPE_PATH, AT(mailbox, maildir), .standard = "" },
};

/* Of a route, and of defaults. */
static const struct option route[] = {
	{ "server", TYPE_SERVER, AT(route, server), .standard = NULL },
	{ "from", TYPE_ADDRESS, AT(route, from), .standard = NULL },
	{ "to", TYPE_ADDRESS, AT(route, to), .standard = NULL },
	{ "mailbox", TYPE_MAILBOX, AT(route, mailbox), .standard = NULL },
	{ "bounces", TYPE_MAILBOX, AT(route, bounces), .standard = "" },
	{ "every", TYPE_SPAN, AT(route, every_ms), .standard = "5m", SOME_SPAN },
	{ "warn_after", TYPE_SPAN, AT(route, warn_after_ms), .standard = "1m", SOME_SPAN },
	{ "late_after", TYPE_SPAN, AT(route, late_after_ms), .standard = "10m", SOME_SPAN },
	{ "lost_after", TYPE_SPAN, AT(route, lost_after_ms), .standard = "24h", SOME_SPAN },
	{ "give_up", TYPE_SPAN, AT(route, give_up_ms), .standard = "5d", SOME_SPAN },
	{ "retry", TYPE_BACKOFF, AT(route, retry), .standard = "1m 5m 10m 15m", SOME_SPAN },
	{ "rate_retry", TYPE_BACKOFF, AT(route, rate_retry), .standard = "15m 30m 1h", SOME_SPAN },
	{ "resend_after", TYPE_SPAN, AT(route, resend_after_ms), .standard = "4h", ANY_SPAN },
	{ "reject_backoff", TYPE_BACKOFF, AT(route, reject_backoff), .standard = "15m 1h 4h", SOME_SPAN },
	{ "pending_max", TYPE_COUNT, AT(route, pending_max), .standard = "6", .min = 1, .max = 1000 },
	{ "size", TYPE_SIZE, AT(route, size), .standard = "0", .max = 100 << 20 },
	{ "echo", TYPE_ENUM, AT(route, echo), .standard = "none", .words = echoes },
	{ "alerts", TYPE_ALERTS, AT(route, alerts), .standard = NULL },
};

static const struct option alerts[] = {
	{ "from", TYPE_ADDRESS, AT(alerts, from), .standard = "" },
	{ "to", TYPE_ADDRESSES, AT(alerts, to), .standard = "", .max = 100 },
	{ "servers", TYPE_SERVERS, AT(alerts, servers), .standard = "", .max = 16 },
	{ "allow_probed", TYPE_BOOL, AT(alerts, allow_probed), .standard = "false" },
	{ "full_after", TYPE_COUNT, AT(alerts, full_after), .standard = "1", .min = 1, .max = 1000 },
	{ "fail_after", TYPE_COUNT, AT(alerts, fail_after), .standard = "2", .min = 1, .max = 1000 },
	{ "fail_for", TYPE_SPAN, AT(alerts, fail_for_ms), .standard = "5m", ANY_SPAN },
	{ "greylist_grace", TYPE_SPAN, AT(alerts, greylist_grace_ms), .standard = "1h", ANY_SPAN },
	{ "blind_after", TYPE_SPAN, AT(alerts, blind_after_ms), .standard = "10m", ANY_SPAN },
	{ "accept_after", TYPE_COUNT, AT(alerts, accept_after), .standard = "2", .min = 1, .max = 1000 },
	{ "confirm", TYPE_SPAN, AT(alerts, confirm_ms), .standard = "30s", ANY_SPAN },
	{ "settle", TYPE_SPAN, AT(alerts, settle_ms), .standard = "30m", ANY_SPAN },
	{ "remind", TYPE_BACKOFF, AT(alerts, remind), .standard = "1h 2h 4h 8h 24h", SOME_SPAN },
	{ "command", TYPE_STRING, AT(alerts, command), .standard = "" },
	{ "heartbeat", TYPE_SPAN, AT(alerts, heartbeat_ms), .standard = "0", ANY_SPAN },
	{ "digest", TYPE_TIME_OR_NONE, AT(alerts, digest), .standard = "" },
	{ "timezone", TYPE_TIMEZONE, AT(alerts, timezone), .standard = "UTC" },
};

static const struct option window[] = {
	{ "routes", TYPE_STRINGS, AT(window, routes), .standard = "*", .min = 1, .max = 1000 },
	{ "days", TYPE_WEEKDAYS, AT(window, days), .standard = "daily" },
	{ "from", TYPE_TIME, AT(window, from_min), .standard = NULL },
	{ "to", TYPE_TIME, AT(window, to_min), .standard = NULL },
	{ "timezone", TYPE_TIMEZONE, AT(window, timezone), .standard = "UTC" },
};

const struct section_kind	config_kinds[KINDS] = {
	[KIND_GLOBAL]	= { "", false, sizeof(struct config), global, NITEMS(global) },
	[KIND_SERVER]	= { "server", true, sizeof(struct server), server, NITEMS(server) },
	[KIND_MAILBOX]	= { "mailbox", true, sizeof(struct mailbox), mailbox, NITEMS(mailbox) },
	[KIND_DEFAULTS]	= { "defaults", false, sizeof(struct route), route, NITEMS(route) },
	[KIND_ROUTE]	= { "route", true, sizeof(struct route), route, NITEMS(route) },
	[KIND_ALERTS]	= { "alerts", true, sizeof(struct alerts), alerts, NITEMS(alerts) },
	[KIND_WINDOW]	= { "window", true, sizeof(struct window), window, NITEMS(window) },
};

static bool
same(const char *word, const char *name, size_t len)
{
	return (strlen(word) == len && memcmp(word, name, len) == 0);
}

int
config_kind_of(const char *name, size_t len)
{
	int	i;

	for (i = KIND_GLOBAL + 1; i < KINDS; i++)
		if (same(config_kinds[i].name, name, len))
			return (i);
	return (-1);
}

int
config_option_of(enum kind kind, const char *name, size_t len)
{
	const struct section_kind	*k = &config_kinds[kind];
	size_t				 i;

	for (i = 0; i < k->count; i++)
		if (same(k->options[i].name, name, len))
			return ((int)i);
	return (-1);
}

int
config_include(void)
{
	return (config_option_of(KIND_GLOBAL, "include", 7));
}

#define WORD_MAX	24	/* longer than any word here */

static size_t
least(size_t a, size_t b)
{
	return (a < b ? a : b);
}

/*
 * How many slips part two words: letters left out, put in, mistaken for
 * another or swapped with their neighbour (optimal string alignment).
 */
static size_t
slips(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t	d[WORD_MAX + 1][WORD_MAX + 1], i, j;

	if (alen > WORD_MAX || blen > WORD_MAX)
		return (WORD_MAX);
	for (i = 0; i <= alen; i++)
		d[i][0] = i;
	for (j = 0; j <= blen; j++)
		d[0][j] = j;
	for (i = 1; i <= alen; i++)
		for (j = 1; j <= blen; j++) {
			d[i][j] = least(d[i - 1][j - 1] +
			    (a[i - 1] != b[j - 1]),
			    least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return (d[alen][blen]);
}

/* Near enough to be meant: one slip in a short word, two in a longer. */
static bool
near(const char *word, const char *name, size_t len, size_t *best)
{
	size_t	n = slips(word, strlen(word), name, len);

	if (n > (strlen(word) < 5 ? 1U : 2U) || n >= *best)
		return (false);
	*best = n;
	return (true);
}

int
config_kind_like(const char *name, size_t len)
{
	size_t	best = WORD_MAX;
	int	i, found = -1;

	for (i = KIND_GLOBAL + 1; i < KINDS; i++)
		if (near(config_kinds[i].name, name, len, &best))
			found = i;
	return (found);
}

int
config_option_like(enum kind kind, const char *name, size_t len)
{
	const struct section_kind	*k = &config_kinds[kind];
	size_t				 best = WORD_MAX, i;
	int				 found = -1;

	for (i = 0; i < k->count; i++)
		if (near(k->options[i].name, name, len, &best))
			found = (int)i;
	return (found);
}
