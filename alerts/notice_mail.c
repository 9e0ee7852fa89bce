#include "alerts/notice_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "monitor/text.h"

/*
 * A notice as a mail (RFC 5322, 2045).
 */

/* RFC 5322 3.3; not by strftime(), whose names follow the locale. */
static void
mail_date(int64_t wall_ms, char *buf, size_t size)
{
	static const char	days[] = "SunMonTueWedThuFriSat";
	static const char	months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t			t = (time_t)(wall_ms / 1000);
	struct tm		tm;

	buf[0] = '\0';
	if (wall_ms > 0 && gmtime_r(&t, &tm) != NULL)
		snprintf(buf, size, "%.3s, %02d %.3s %d %02d:%02d:%02d +0000",
		    days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
		    tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

struct out {
	char	*buf;
	size_t	 size;
	size_t	 len;
	bool	 full;
};

static void
emit(struct out *o, const char *s, size_t n)
{
	if (o->full || n >= o->size - o->len) {
		o->full = true;
		return;
	}
	memcpy(o->buf + o->len, s, n);
	o->len += n;
	o->buf[o->len] = '\0';
}

static void
emits(struct out *o, const char *s)
{
	emit(o, s, strlen(s));
}

/*
 * One header field, folded at spaces (RFC 5322 2.2.3).  Controls cannot be
 * in value by now; whatever is one all the same becomes a space.
 */
static void
header(struct out *o, const char *name, const char *value)
{
	size_t	column = strlen(name) + 2;

	emits(o, name);
	emits(o, ": ");
	while (*value != '\0') {
		size_t	space = *value == ' ' ? 1 : 0;
		size_t	n = space + strcspn(value + space, " ");

		if (space && column + n > NOTICE_COLUMNS) {
			emits(o, "\r\n");
			column = 0;
		}
		for (size_t i = 0; i < n; i++)
			emit(o, (unsigned char)value[i] < 0x20 ? " " :
			    value + i, 1);
		column += n;
		value += n;
	}
	emits(o, "\r\n");
}

static bool
is_plain(const char *body)
{
	size_t	column = 0;

	for (; *body != '\0'; body++) {
		if (*body == '\n') {
			column = 0;
			continue;
		}
		if ((unsigned char)*body < 0x20 ||
		    (unsigned char)*body > 0x7e || ++column > NOTICE_COLUMNS)
			return (false);
	}
	return (true);
}

static void
plain_line(struct out *o, const char *line, size_t n)
{
	emit(o, line, n);
	emits(o, "\r\n");
}

/* Quoted-printable (RFC 2045 6.7). */
static void
quoted_line(struct out *o, const char *line, size_t n)
{
	size_t	column = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char	c = (unsigned char)line[i];
		bool		last = i + 1 == n;
		bool		raw = (c > 0x20 && c < 0x7f && c != '=') ||
				    (c == ' ' && !last);
		char		hex[4];

		if (column + (raw ? 1 : 3) > NOTICE_COLUMNS - 1) {
			emits(o, "=\r\n");
			column = 0;
		}
		snprintf(hex, sizeof hex, "=%02X", (unsigned)c);
		emit(o, raw ? line + i : hex, raw ? 1 : 3);
		column += raw ? 1 : 3;
	}
	emits(o, "\r\n");
}

#define CUT_MARK	"\r\n[The rest of this notice did not fit.]\r\n"

/* Line by line; a body that is too long ends at a whole line. */
static void
body(struct out *o, const char *text, bool plain)
{
	size_t	room = o->size;
	size_t	n, good;

	if (room <= o->len + sizeof CUT_MARK) {
		o->full = true;
		return;
	}
	o->size -= sizeof CUT_MARK;
	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		good = o->len;
		(plain ? plain_line : quoted_line)(o, text, n);
		if (!o->full)
			continue;
		*o = (struct out){ .buf = o->buf, .size = room, .len = good };
		emits(o, CUT_MARK);
		return;
	}
	o->size = room;
}

size_t
notice_message(const struct notice *n, const char *from, const char *to,
    int64_t now_ms, char *buf, size_t size)
{
	struct out	o = { .buf = buf, .size = size };
	char		date[64];
	bool		plain = is_plain(n->body);

	if (size == 0 || text_has_controls(from) || text_has_controls(to))
		return (0);
	mail_date(now_ms, date, sizeof date);
	header(&o, "Date", date);
	header(&o, "From", from);
	header(&o, "To", to);
	header(&o, "Subject", n->subject);
	header(&o, "Message-ID", n->message_id);
	if (strcmp(n->message_id, n->thread_id) != 0) {
		header(&o, "In-Reply-To", n->thread_id);
		header(&o, "References", n->thread_id);
	}
	header(&o, "Auto-Submitted", "auto-generated");
	header(&o, "X-Auto-Response-Suppress", "OOF, AutoReply");
	header(&o, "X-Mailflow-Notice", notice_kind_name(n->kind));
	header(&o, "MIME-Version", "1.0");
	header(&o, "Content-Type", plain ? "text/plain; charset=us-ascii" :
	    "text/plain; charset=utf-8");
	header(&o, "Content-Transfer-Encoding", plain ? "7bit" :
	    "quoted-printable");
	emits(&o, "\r\n");
	body(&o, n->body, plain);
	return (o.full ? 0 : o.len);
}
