#include "monitor/csv_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitor/clock.h"
#include "monitor/latency.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* The names, once; the order below must follow them.  Only ever appended. */
static const char *const headers[CSV_KINDS] = {
	[CSV_LATENCY] =
	    "probe,route,server,host,from,to,mailbox,scheduled_at,"
	    "first_attempt_at,accepted_at,arrived_at,finished_at,outcome,class,"
	    "attempts,deferrals,code,enhanced,reply,queue_id,size,total_ms,"
	    "accept_ms,transit_ms,folder,hops,slowest_hop,slowest_hop_ms,"
	    "skew_ms,duplicates,note\r\n",
	[CSV_ATTEMPTS] =
	    "probe,route,server,host,address,try,started_at,stage,class,"
	    "temporary,code,enhanced,reply,tls,connect_ms,greeting_ms,ehlo_ms,"
	    "tls_ms,auth_ms,mail_ms,rcpt_ms,data_ms,dot_ms,total_ms,"
	    "earlier\r\n",
	[CSV_EPISODES] =
	    "episode,scope,class,opened_at,failing_notice_at,accepting_at,"
	    "delivered_at,closed_by,reopened,refusals,first_reply,last_reply,"
	    "routes,max_delay_ms\r\n",
};

/* A line in the making: fields are added one after the other. */
struct line {
	char	*text;		/* owned until line_end() hands it out */
	size_t	 len;
	size_t	 size;
	unsigned fields;
};

static void
put(struct line *l, const char *bytes, size_t n)
{
	if (l->len + n >= l->size) {
		l->size = 2 * (l->len + n + 1);
		l->text = mem_grow(l->text, l->size, 1);
	}
	memcpy(l->text + l->len, bytes, n);
	l->len += n;
	l->text[l->len] = '\0';
}

static void
next_field(struct line *l)
{
	if (l->fields++ > 0)
		put(l, ",", 1);
}

static char *
line_end(struct line *l)
{
	put(l, "\r\n", 2);
	return (l->text);
}

/*
 * Would a spreadsheet compute this?  Leading spaces do not protect (TAB and
 * CR have become spaces by now), and some take the full-width forms too.
 */
static bool
is_formula(const char *s)
{
	static const char *const	wide[] = {
		"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0",
	};

	s += strspn(s, " ");
	for (size_t i = 0; i < NITEMS(wide); i++)
		if (strncmp(s, wide[i], strlen(wide[i])) == 0)
			return (true);
	return (*s != '\0' && strchr("=+-@", *s) != NULL);
}

/* Quoted where it must be (RFC 4180, 2.5 to 2.7), and where a space at an
 * end would get lost. */
static void
put_field(struct line *l, const char *s)
{
	size_t	n = strlen(s);

	next_field(l);
	if (n == 0 || (strpbrk(s, "\",") == NULL && s[0] != ' ' &&
	    s[n - 1] != ' ')) {
		put(l, s, n);
		return;
	}
	put(l, "\"", 1);
	for (; *s != '\0'; s++)
		put(l, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	put(l, "\"", 1);
}

/* Text, whoever wrote it. */
static void
text(struct line *l, const char *s)
{
	char	field[1 + CSV_TEXT + 1] = "'";

	text_clean(field + 1, sizeof field - 1, s, strlen(s));
	put_field(l, is_formula(field + 1) ? field : field + 1);
}

/* Several names by space: each may land in a cell of its own. */
static void
names(struct line *l, const char *s)
{
	char	clean[CSV_TEXT + 1], field[2 * sizeof clean] = "";
	char	*rest = clean, *word;

	text_clean(clean, sizeof clean, s, strlen(s));
	while ((word = strsep(&rest, " ")) != NULL) {
		if (*word == '\0')
			continue;
		if (*field != '\0')
			text_append(field, sizeof field, " ");
		if (is_formula(word))
			text_append(field, sizeof field, "'");
		text_append(field, sizeof field, word);
	}
	put_field(l, field);
}

static void
number(struct line *l, int64_t value)
{
	char	buf[24];
	int	n = snprintf(buf, sizeof buf, "%" PRId64, value);

	next_field(l);
	put(l, buf, (size_t)n);
}

static void
number_unless(struct line *l, int64_t value, int64_t unknown)
{
	if (value == unknown)
		next_field(l);
	else
		number(l, value);
}

static void
span(struct line *l, int64_t ms)
{
	number_unless(l, ms, STAMP_NO_SPAN);
}

static void
moment(struct line *l, int64_t wall_ms)
{
	char	buf[CLOCK_RFC3339];

	put_field(l, clock_rfc3339(wall_ms, buf));
}

const char *
csv_header(enum csv_kind kind)
{
	return (headers[kind]);
}

char *
csv_row_latency(const struct probe *p)
{
	struct line	l = { 0 };
	struct latency	lat;
	char		note[2 * PROBE_NOTE];

	latency_of(p, &lat);
	text_copy(note, sizeof note, p->note);
	latency_notes(&lat, note, sizeof note);

	text(&l, p->token);
	text(&l, p->route);
	text(&l, p->server);
	text(&l, p->host);
	text(&l, p->from);
	text(&l, p->to);
	text(&l, p->mailbox);
	moment(&l, p->scheduled_ms);
	moment(&l, p->first_attempt.wall_ms);
	moment(&l, latency_accepted(p).wall_ms);
	moment(&l, p->arrived.wall_ms);
	moment(&l, p->finished_ms);
	text(&l, probe_end_name(p->end));
	text(&l, class_name(p->class));
	number(&l, p->attempts);
	number(&l, p->deferrals);
	number_unless(&l, p->code, 0);
	text(&l, p->enhanced);
	text(&l, p->reply);
	text(&l, p->queue_id);
	number_unless(&l, p->size, 0);
	span(&l, lat.total_ms);
	span(&l, lat.accept_ms);
	span(&l, lat.transit_ms);
	text(&l, p->folder);
	number_unless(&l, p->hops, -1);
	text(&l, p->slowest_hop);
	span(&l, p->slowest_hop_ms);
	span(&l, p->skew_ms);
	number(&l, p->duplicates);
	text(&l, note);
	return (line_end(&l));
}

/* Two stages that a reader takes for one; -1 only if neither was reached. */
static int64_t
both(int32_t a, int32_t b)
{
	if (a == -1 || b == -1)
		return (a == -1 ? b : a);
	return ((int64_t)a + b);
}

/*
 * EHLO inside TLS counts as EHLO: tls_ms is STARTTLS and its handshake alone.
 * The look-up has no column; like QUIT it is in total_ms only.
 */
char *
csv_row_attempt(const struct probe *p, const struct outcome *o,
    const char *server)
{
	const int32_t	*ms = o->stage_ms;
	struct line	 l = { 0 };

	text(&l, p->token);
	text(&l, p->route);
	text(&l, server);
	text(&l, o->host);
	text(&l, o->address);
	number(&l, p->attempts);
	moment(&l, o->started.wall_ms);
	text(&l, stage_name(o->stage));
	text(&l, class_name(o->class));
	text(&l, verdict_name(o->verdict));
	number_unless(&l, o->code, 0);
	text(&l, o->enhanced);
	text(&l, o->reply);
	text(&l, o->tls);
	number_unless(&l, ms[STAGE_CONNECT], -1);
	number_unless(&l, ms[STAGE_GREETING], -1);
	number_unless(&l, both(ms[STAGE_EHLO], ms[STAGE_EHLO2]), -1);
	number_unless(&l, ms[STAGE_STARTTLS], -1);
	number_unless(&l, ms[STAGE_AUTH], -1);
	number_unless(&l, ms[STAGE_MAIL], -1);
	number_unless(&l, ms[STAGE_RCPT], -1);
	number_unless(&l, ms[STAGE_DATA], -1);
	number_unless(&l, ms[STAGE_DOT], -1);
	span(&l, stamp_span_ms(&o->started, &o->finished, NULL));
	text(&l, o->earlier);
	return (line_end(&l));
}

char *
csv_row_episode(const struct episode *e)
{
	struct line	l = { 0 };

	number(&l, e->id);
	text(&l, e->scope);
	text(&l, class_name(e->class));
	moment(&l, e->opened_ms);
	moment(&l, e->failing_notice_ms);
	moment(&l, e->accepting_ms);
	moment(&l, episode_is_unwatched(e) ? 0 : e->delivered_ms);
	text(&l, e->closed_by);
	number(&l, e->swings > 0 ? e->swings - 1 : 0);
	number(&l, e->refusals);
	text(&l, e->first_reply);
	text(&l, e->last_reply);
	names(&l, e->routes);
	number(&l, e->max_delay_ms);
	return (line_end(&l));
}
