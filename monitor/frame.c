#include "monitor/frame.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/route.h"

#define MAGIC		0x4d46	/* "MF" */
#define HEADER		4	/* magic, version, type */

enum kind {
	KIND_U32,
	KIND_U64,
	KIND_BOOL,
	KIND_TEXT,		/* 16 bits of length, then bytes without NUL */
	KIND_STAMP,
	KIND_I32S		/* an array of a fixed count */
};

/* One member of a frame's struct. */
struct field {
	enum kind	kind;
	size_t		offset;
	size_t		bound;	/* text: its array's size; I32S: how many;
				 * U32: first value that is too large, 0: none */
};

#define U32(t, m)	{ KIND_U32, offsetof(struct t, m), 0 }
#define ENUM(t, m, n)	{ KIND_U32, offsetof(struct t, m), (n) }
#define U64(t, m)	{ KIND_U64, offsetof(struct t, m), 0 }
#define BOOL(t, m)	{ KIND_BOOL, offsetof(struct t, m), 0 }
#define TEXT(t, m)	{ KIND_TEXT, offsetof(struct t, m), \
			    sizeof ((struct t *)0)->m }
#define STAMP(t, m)	{ KIND_STAMP, offsetof(struct t, m), 0 }
#define I32S(t, m)	{ KIND_I32S, offsetof(struct t, m), \
			    NITEMS(((struct t *)0)->m) }

static const struct field hello[] = {
	U64(frame_hello, pid),
	TEXT(frame_hello, program),
	TEXT(frame_hello, version),
};

static const struct field job[] = {
	U64(frame_job, job),
	ENUM(frame_job, kind, JOB_KINDS),
	TEXT(frame_job, host),
	ENUM(frame_job, port, 65536),
	ENUM(frame_job, tls, TLS_IMPLICIT + 1),
	TEXT(frame_job, ca_file),
	BOOL(frame_job, insecure_auth),
	TEXT(frame_job, user),
	TEXT(frame_job, secret),
	BOOL(frame_job, oauth),
	TEXT(frame_job, helo),
	TEXT(frame_job, source_address),
	ENUM(frame_job, family, FAMILY_IPV6 + 1),
	ENUM(frame_job, mx, MX_EACH + 1),
	TEXT(frame_job, domain),
	TEXT(frame_job, resolver),
	TEXT(frame_job, from),
	TEXT(frame_job, to),
	TEXT(frame_job, envid),
	BOOL(frame_job, notify_never),
	TEXT(frame_job, message),
	U64(frame_job, size),
	BOOL(frame_job, gate),
	U64(frame_job, connect_timeout_ms),
	U64(frame_job, timeout_ms),
	U64(frame_job, dot_timeout_ms),
	U64(frame_job, deadline_ms),
};

static const struct field ask[] = {
	U64(frame_ask, job),
};

static const struct field over[] = {
	U64(frame_over, job),
};

static const struct field go[] = {
	U64(frame_go, job),
	BOOL(frame_go, allowed),
};

static const struct field outcome[] = {
	U64(frame_outcome, job),
	ENUM(frame_outcome, outcome.stage, STAGES),
	ENUM(frame_outcome, outcome.class, CLASSES),
	ENUM(frame_outcome, outcome.verdict, VERDICTS),
	ENUM(frame_outcome, outcome.code, 600),
	TEXT(frame_outcome, outcome.enhanced),
	TEXT(frame_outcome, outcome.reply),
	BOOL(frame_outcome, outcome.blind),
	BOOL(frame_outcome, outcome.contradiction),
	TEXT(frame_outcome, outcome.host),
	TEXT(frame_outcome, outcome.address),
	TEXT(frame_outcome, outcome.earlier),
	TEXT(frame_outcome, outcome.tls),
	TEXT(frame_outcome, outcome.queue_id),
	TEXT(frame_outcome, outcome.greeting),
	TEXT(frame_outcome, outcome.extensions),
	U64(frame_outcome, outcome.size_limit),
	U32(frame_outcome, outcome.certificate_days),
	STAMP(frame_outcome, outcome.started),
	STAMP(frame_outcome, outcome.accepted),
	STAMP(frame_outcome, outcome.finished),
	I32S(frame_outcome, outcome.stage_ms),
	TEXT(frame_outcome, outcome.transcript),
};

static const struct field key[] = {
	TEXT(frame_key, instance),
	TEXT(frame_key, key_hex),
	TEXT(frame_key, resolver),
};

static const struct field mailbox[] = {
	U32(frame_mailbox, id),
	TEXT(frame_mailbox, name),
	TEXT(frame_mailbox, host),
	ENUM(frame_mailbox, port, 65536),
	ENUM(frame_mailbox, tls, TLS_IMPLICIT + 1),
	TEXT(frame_mailbox, ca_file),
	BOOL(frame_mailbox, insecure_auth),
	TEXT(frame_mailbox, user),
	BOOL(frame_mailbox, oauth),
	TEXT(frame_mailbox, source_address),
	ENUM(frame_mailbox, family, FAMILY_IPV6 + 1),
	U64(frame_mailbox, connect_timeout_ms),
	U64(frame_mailbox, timeout_ms),
	U64(frame_mailbox, auth_pause_ms),
	U64(frame_mailbox, pause_ms),
	TEXT(frame_mailbox, folders),
	TEXT(frame_mailbox, junk),
	TEXT(frame_mailbox, froms),
	BOOL(frame_mailbox, bounces),
	U64(frame_mailbox, poll_ms),
	BOOL(frame_mailbox, idle),
	U64(frame_mailbox, burst_ms),
	ENUM(frame_mailbox, expunge, EXPUNGE_ALL + 1),
	TEXT(frame_mailbox, authserv_id),
	TEXT(frame_mailbox, maildir),
};

static const struct field mark[] = {
	U32(frame_mark, id),
	TEXT(frame_mark, folder),
	U32(frame_mark, uidvalidity),
	U32(frame_mark, uid),
};

static const struct field watch[] = {
	U32(frame_watch, id),
};

static const struct field forget[] = {
	U32(frame_forget, id),
};

static const struct field expect[] = {
	U32(frame_expect, id),
	TEXT(frame_expect, token),
	STAMP(frame_expect, accepted),
};

static const struct field clean[] = {
	U32(frame_clean, id),
	TEXT(frame_clean, folder),
	U32(frame_clean, uidvalidity),
	U32(frame_clean, uid),
	TEXT(frame_clean, token),
};

static const struct field cleaned[] = {
	U32(frame_cleaned, id),
	ENUM(frame_cleaned, state, CLEAN_STATES),
	TEXT(frame_cleaned, folder),
	U32(frame_cleaned, uidvalidity),
	U32(frame_cleaned, uid),
	TEXT(frame_cleaned, token),
};

static const struct field secret_ask[] = {
	U32(frame_secret_ask, id),
};

static const struct field secret[] = {
	U32(frame_secret, id),
	BOOL(frame_secret, ok),
	TEXT(frame_secret, secret),
	TEXT(frame_secret, why),
};

static const struct field arrival[] = {
	U32(frame_arrival, id),
	TEXT(frame_arrival, token),
	BOOL(frame_arrival, is_probe),
	ENUM(frame_arrival, sign, SIGNS),
	TEXT(frame_arrival, folder),
	BOOL(frame_arrival, junk),
	U32(frame_arrival, uidvalidity),
	U32(frame_arrival, uid),
	STAMP(frame_arrival, seen),
	STAMP(frame_arrival, last_look),
	U64(frame_arrival, internal_ms),
	U32(frame_arrival, hops),
	TEXT(frame_arrival, slowest_hop),
	U64(frame_arrival, slowest_hop_ms),
	U64(frame_arrival, skew_ms),
	TEXT(frame_arrival, auth_results),
};

static const struct field look[] = {
	U32(frame_look, id),
	ENUM(frame_look, state, LOOK_STATES),
	ENUM(frame_look, class, CLASSES),
	STAMP(frame_look, at),
	U64(frame_look, retry_ms),
	TEXT(frame_look, reason),
	TEXT(frame_look, warning),
	U32(frame_look, ignored),
};

static const struct field hosts[] = {
	U64(frame_hosts, job),
	BOOL(frame_hosts, found),
	BOOL(frame_hosts, blind),
	TEXT(frame_hosts, reason),
	TEXT(frame_hosts, hosts),
};

static const struct field report[] = {
	U32(frame_report, id),
	TEXT(frame_report, token),
	ENUM(frame_report, news, REPORT_NEWS),
	TEXT(frame_report, action),
	ENUM(frame_report, class, CLASSES),
	ENUM(frame_report, code, 600),
	TEXT(frame_report, enhanced),
	TEXT(frame_report, reply),
	TEXT(frame_report, remote_mta),
	TEXT(frame_report, reporting_mta),
	TEXT(frame_report, folder),
	U32(frame_report, uidvalidity),
	U32(frame_report, uid),
	STAMP(frame_report, seen),
	U64(frame_report, internal_ms),
};

static const struct type {
	const char		*name;
	const struct field	*fields;
	size_t			 count;
} types[FRAME_TYPES] = {
	[FRAME_HELLO]		= { "hello", hello, NITEMS(hello) },
	[FRAME_JOB]		= { "job", job, NITEMS(job) },
	[FRAME_ASK]		= { "ask", ask, NITEMS(ask) },
	[FRAME_GO]		= { "go", go, NITEMS(go) },
	[FRAME_OUTCOME]		= { "outcome", outcome, NITEMS(outcome) },
	[FRAME_KEY]		= { "key", key, NITEMS(key) },
	[FRAME_MAILBOX]		= { "mailbox", mailbox, NITEMS(mailbox) },
	[FRAME_MARK]		= { "mark", mark, NITEMS(mark) },
	[FRAME_WATCH]		= { "watch", watch, NITEMS(watch) },
	[FRAME_FORGET]		= { "forget", forget, NITEMS(forget) },
	[FRAME_EXPECT]		= { "expect", expect, NITEMS(expect) },
	[FRAME_CLEAN]		= { "clean", clean, NITEMS(clean) },
	[FRAME_SECRET_ASK]	= { "secret-ask", secret_ask, NITEMS(secret_ask) },
	[FRAME_SECRET]		= { "secret", secret, NITEMS(secret) },
	[FRAME_ARRIVAL]		= { "arrival", arrival, NITEMS(arrival) },
	[FRAME_LOOK]		= { "look", look, NITEMS(look) },
	[FRAME_CLEANED]		= { "cleaned", cleaned, NITEMS(cleaned) },
	[FRAME_OVER]		= { "over", over, NITEMS(over) },
	[FRAME_HOSTS]		= { "hosts", hosts, NITEMS(hosts) },
	[FRAME_REPORT]		= { "report", report, NITEMS(report) },
};

/* A window on bytes that are written or read once, front to back. */
struct cursor {
	unsigned char		*out;
	const unsigned char	*in;
	size_t			 at;
	size_t			 size;
	const char		*why;	/* NULL while all is well */
};

static void
put(struct cursor *c, uint64_t value, size_t bytes)
{
	if (c->why != NULL || c->size - c->at < bytes) {
		c->why = "too large";
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		c->out[c->at++] = (unsigned char)(value >> 8 * (bytes - 1 - i));
}

static uint64_t
take(struct cursor *c, size_t bytes)
{
	uint64_t	v = 0;

	if (c->why != NULL || c->size - c->at < bytes) {
		if (c->why == NULL)
			c->why = "too short";
		return (0);
	}
	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | c->in[c->at++];
	return (v);
}

static void
put_text(struct cursor *c, const char *s, size_t bound)
{
	size_t	n = strnlen(s, bound);

	if (n == bound)
		panic("frame text without end");
	put(c, n, 2);
	if (c->why != NULL || c->size - c->at < n) {
		c->why = "too large";
		return;
	}
	memcpy(c->out + c->at, s, n);
	c->at += n;
}

static void
take_text(struct cursor *c, char *s, size_t bound)
{
	size_t	n = (size_t)take(c, 2);

	if (c->why != NULL)
		return;
	if (n >= bound)
		c->why = "text too long";
	else if (c->size - c->at < n)
		c->why = "too short";
	else if (memchr(c->in + c->at, '\0', n) != NULL)
		c->why = "NUL in text";
	if (c->why != NULL)
		return;
	memcpy(s, c->in + c->at, n);
	s[n] = '\0';
	c->at += n;
}

static void
put_field(struct cursor *c, const struct field *f, const void *body)
{
	const unsigned char	*p = (const unsigned char *)body + f->offset;
	uint32_t		 u32;
	uint64_t		 u64;
	struct stamp		 s;

	switch (f->kind) {
	case KIND_U32:
		memcpy(&u32, p, sizeof u32);
		put(c, u32, 4);
		break;
	case KIND_U64:
		memcpy(&u64, p, sizeof u64);
		put(c, u64, 8);
		break;
	case KIND_BOOL:
		put(c, *(const bool *)p ? 1 : 0, 1);
		break;
	case KIND_TEXT:
		put_text(c, (const char *)p, f->bound);
		break;
	case KIND_STAMP:
		memcpy(&s, p, sizeof s);
		put(c, (uint64_t)s.wall_ms, 8);
		put(c, (uint64_t)s.boot_ms, 8);
		put(c, s.boot_id, 8);
		break;
	case KIND_I32S:
		for (size_t i = 0; i < f->bound; i++) {
			memcpy(&u32, p + i * sizeof u32, sizeof u32);
			put(c, u32, 4);
		}
		break;
	}
}

static void
take_field(struct cursor *c, const struct field *f, void *body)
{
	unsigned char	*p = (unsigned char *)body + f->offset;
	uint32_t	 u32;
	uint64_t	 u64;
	struct stamp	 s;

	switch (f->kind) {
	case KIND_U32:
		u32 = (uint32_t)take(c, 4);
		if (f->bound != 0 && u32 >= f->bound)
			c->why = "number out of range";
		else
			memcpy(p, &u32, sizeof u32);
		break;
	case KIND_U64:
		u64 = take(c, 8);
		memcpy(p, &u64, sizeof u64);
		break;
	case KIND_BOOL:
		u32 = (uint32_t)take(c, 1);
		if (u32 > 1)
			c->why = "neither true nor false";
		else
			*(bool *)p = u32 == 1;
		break;
	case KIND_TEXT:
		take_text(c, (char *)p, f->bound);
		break;
	case KIND_STAMP:
		s.wall_ms = (int64_t)take(c, 8);
		s.boot_ms = (int64_t)take(c, 8);
		s.boot_id = take(c, 8);
		memcpy(p, &s, sizeof s);
		break;
	case KIND_I32S:
		for (size_t i = 0; i < f->bound; i++) {
			u32 = (uint32_t)take(c, 4);
			memcpy(p + i * sizeof u32, &u32, sizeof u32);
		}
		break;
	}
}

size_t
frame_encode(unsigned char *buf, enum frame_type type, const void *body)
{
	const struct type	*t = &types[type];
	struct cursor		 c = { .out = buf, .size = FRAME_MAX };

	put(&c, MAGIC, 2);
	put(&c, FRAME_VERSION, 1);
	put(&c, type, 1);
	for (size_t i = 0; i < t->count; i++)
		put_field(&c, &t->fields[i], body);
	return (c.why == NULL ? c.at : 0);
}

static enum frame_type
refuse(const char **why_r, const char *why)
{
	*why_r = why;
	return (0);
}

enum frame_type
frame_decode(const unsigned char *buf, size_t len, union frame_body *out,
    const char **why_r)
{
	struct cursor		 c = { .in = buf, .size = len };
	enum frame_type		 type;
	const struct type	*t;

	if (len < HEADER || len > FRAME_MAX)
		return (refuse(why_r, "length out of bounds"));
	if (take(&c, 2) != MAGIC)
		return (refuse(why_r, "not a frame"));
	if (take(&c, 1) != FRAME_VERSION)
		return (refuse(why_r, "another version"));
	type = (enum frame_type)take(&c, 1);
	if (type < FRAME_HELLO || type >= FRAME_TYPES)
		return (refuse(why_r, "unknown type"));
	t = &types[type];
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < t->count && c.why == NULL; i++)
		take_field(&c, &t->fields[i], out);
	if (c.why == NULL && c.at != len)
		c.why = "bytes left over";
	if (c.why != NULL)
		return (refuse(why_r, c.why));
	return (type);
}

const char *
frame_name(enum frame_type type)
{
	return (type >= FRAME_HELLO && type < FRAME_TYPES ?
	    types[type].name : "unknown");
}

const char *
frame_report_name(enum report_news news)
{
	static const char *const	names[REPORT_NEWS] = {
		[REPORT_NOTED]		= "noted",
		[REPORT_DELAYED]	= "delayed",
		[REPORT_LOST]		= "lost",
	};

	return (news < REPORT_NEWS ? names[news] : "");
}
