#include "mailboxes/mime.h"

#include <string.h>
#include <strings.h>

#include "monitor/mem.h"
#include "monitor/text.h"

#define VALUE_MAX	1024

/* A multipart that is open, while the lines go by. */
struct level {
	char	boundary[MIME_BOUNDARY];
	size_t	len;
};

struct walk {
	const char		*text;
	size_t			 len;
	struct mime_part	*parts;
	size_t			 count;
	struct level		 open[MIME_DEPTH];
	unsigned		 depth;		/* levels open */
	size_t			 leaf;		/* the part being read, or
						 * MIME_PARTS */
};

size_t
mime_lines(char *dst, const char *src, size_t len)
{
	/* Without any LF each CR ends a line, and two leave one empty. */
	bool	alone = len == 0 || memchr(src, '\n', len) == NULL;
	size_t	i, n = 0;

	for (i = 0; i < len; i++) {
		if (src[i] != '\r') {
			dst[n++] = (char)(src[i] == '\0' ? ' ' : src[i]);
			continue;
		}
		while (!alone && i + 1 < len && src[i + 1] == '\r')
			i++;
		if (i + 1 < len && src[i + 1] == '\n')
			i++;
		dst[n++] = '\n';
	}
	return (n);
}

static bool
blank(char c)
{
	return (c == ' ' || c == '\t');
}

/* The end of the line without the blanks that stand there. */
static size_t
trimmed(const char *text, size_t at, size_t end)
{
	while (end > at && (blank(text[end - 1]) || text[end - 1] == '\n'))
		end--;
	return (end);
}

static bool
is_field(const char *text, size_t at, size_t end)
{
	size_t	colon;

	return (header_name(text, at, end, &colon) > 0);
}

/*
 * Where the header that begins at `at` ends; *body_r: where the body begins,
 * behind the empty line.  If that is missing, a line that begins like a
 * boundary is already body; in the header of a part, which is short, so is
 * any line that is no field.
 */
static size_t
header_end(const char *text, size_t len, size_t at, bool part, size_t *body_r)
{
	size_t	start = at, end;

	for (; at < len; at = end) {
		end = text_line_end(text, len, at);
		*body_r = end;
		if (trimmed(text, at, end) == at)
			return (at);
		if ((at != start && blank(text[at])) ||
		    is_field(text, at, end))
			continue;
		*body_r = at;
		if (part || strncmp(text + at, "--", 2) == 0)
			return (at);
	}
	*body_r = len;
	return (len);
}

size_t
mime_value(const struct header *h, char *buf, size_t size)
{
	struct header	bounded = *h;

	if (bounded.value_len > size)
		bounded.value_len = size;
	return (header_decode(&bounded, buf, size));
}

/* Parameters. */

/* Moves past a comment, which may hold others; p is at its "(". */
static const char *
skip_comment(const char *p)
{
	int	depth = 0;

	for (; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (*p == '(')
			depth++;
		else if (*p == ')' && --depth == 0)
			return (p + 1);
	}
	return (p);
}

static const char *
skip_aside(const char *p)
{
	while (blank(*p) || *p == '(')
		p = *p == '(' ? skip_comment(p) : p + 1;
	return (p);
}

/* The value at p, quoted or not, into buf; returns what follows it. */
static const char *
take_value(const char *p, char *buf, size_t size)
{
	bool	quoted = *p == '"';
	size_t	n = 0;

	for (p += quoted; *p != '\0'; p++) {
		if (quoted ? *p == '"' : *p == ';' || blank(*p) || *p == '(')
			break;
		if (quoted && *p == '\\' && p[1] != '\0')
			p++;
		if (n + 1 < size)
			buf[n++] = *p;
	}
	buf[n] = '\0';
	return (quoted && *p == '"' ? p + 1 : p);
}

/* Whether the attribute at p has that name; RFC 2231's marks are let be. */
static bool
has_name(const char *p, size_t len, const char *name)
{
	const char	*star = memchr(p, '*', len);

	if (star != NULL)
		len = (size_t)(star - p);
	return (len == strlen(name) && strncasecmp(p, name, len) == 0);
}

bool
mime_parameter(const char *value, const char *name, char *buf, size_t size)
{
	const char	*p = value, *attribute;
	char		 skipped[VALUE_MAX];
	size_t		 n;

	while (*p != '\0') {
		while (*p != '\0' && *p != ';')
			p = *p == '(' ? skip_comment(p) :
			    *p == '"' ? take_value(p, skipped, sizeof skipped) :
			    p + 1;
		while (*p == ';')
			p = skip_aside(p + 1);
		attribute = p;
		n = strcspn(p, "=; \t(");
		p = skip_aside(p + n);
		if (*p != '=')
			continue;
		p = skip_aside(p + 1);
		if (has_name(attribute, n, name)) {
			take_value(p, buf, size);
			return (buf[0] != '\0');
		}
		p = take_value(p, skipped, sizeof skipped);
	}
	buf[0] = '\0';
	return (false);
}

static void
lower(char *s)
{
	for (; *s != '\0'; s++)
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
}

/* The type at the start of a Content-Type. */
static void
take_type(const char *value, char type[MIME_WORD])
{
	size_t	n = 0;

	for (value = skip_aside(value); *value != '\0' && *value != ';' &&
	    *value != '(' && n + 1 < MIME_WORD; value++)
		if (!blank(*value) && *value != '"')
			type[n++] = *value;
	type[n] = '\0';
	lower(type);
}

static enum mime_encoding
encoding_of(const char *value)
{
	char	word[MIME_WORD];

	take_type(value, word);
	if (strcmp(word, "base64") == 0)
		return (MIME_BASE64);
	if (strcmp(word, "quoted-printable") == 0)
		return (MIME_QUOTED_PRINTABLE);
	return (MIME_AS_IS);
}

/* Reads what the part's header says of its body. */
static void
read_head(struct mime_part *part, struct level *level)
{
	struct header	h;
	char		value[VALUE_MAX];
	size_t		at = 0;

	while (header_next(part->head, part->head_len, &at, &h)) {
		if (header_is(&h, "Content-Type") && part->type[0] == '\0') {
			mime_value(&h, value, sizeof value);
			take_type(value, part->type);
			mime_parameter(value, "report-type", part->report,
			    sizeof part->report);
			lower(part->report);
			mime_parameter(value, "charset", part->charset,
			    sizeof part->charset);
			mime_parameter(value, "boundary", level->boundary,
			    sizeof level->boundary);
		} else if (header_is(&h, "Content-Transfer-Encoding")) {
			mime_value(&h, value, sizeof value);
			part->encoding = encoding_of(value);
		}
	}
	level->len = trimmed(level->boundary, 0, strlen(level->boundary));
}

/* The walk. */

/* Whether text[at..end) is "--" and the boundary; *closes_r: "--" behind. */
static bool
is_delimiter(const char *text, size_t at, size_t end,
    const struct level *level, bool *closes_r)
{
	size_t	n = trimmed(text, at, end) - at;

	*closes_r = n == level->len + 4 &&
	    strncmp(text + at + n - 2, "--", 2) == 0;
	return (level->len > 0 && (*closes_r || n == level->len + 2) &&
	    strncmp(text + at, "--", 2) == 0 &&
	    memcmp(text + at + 2, level->boundary, level->len) == 0);
}

/* Whether the delimiter of this level stands anywhere in the rest. */
static bool
is_used(const struct walk *w, size_t at, const struct level *level)
{
	bool	closes;
	size_t	end;

	for (; at < w->len; at = end) {
		end = text_line_end(w->text, w->len, at);
		if (w->text[at] == '-' &&
		    is_delimiter(w->text, at, end, level, &closes))
			return (true);
	}
	return (false);
}

/*
 * The boundary that was not named, or not as it is used: the first line that
 * begins with "--" and has a part's header behind it.  first: nothing else
 * may come before, or it is a mail that is quoted in a text.
 */
static bool
guess_boundary(const struct walk *w, size_t at, bool first,
    struct level *level)
{
	size_t	end, next, stop;

	for (; at < w->len; at = end) {
		end = text_line_end(w->text, w->len, at);
		stop = trimmed(w->text, at, end);
		if (first && stop > at && w->text[at] != '-')
			return (false);
		next = text_line_end(w->text, w->len, end);
		if (stop - at < 3 || stop - at - 2 >= sizeof level->boundary ||
		    strncmp(w->text + at, "--", 2) != 0 ||
		    memchr(w->text + at, ' ', stop - at) != NULL)
			continue;
		if (next - end < 9 || strncasecmp(w->text + end, "Content-",
		    8) != 0)
			continue;
		level->len = stop - at - 2;
		memcpy(level->boundary, w->text + at + 2, level->len);
		level->boundary[level->len] = '\0';
		return (true);
	}
	return (false);
}

/*
 * Begins the part whose header is at `at`; returns where its body begins.
 * A multipart is opened if its boundary can be told.  Only the whole mail is
 * searched for it, so that the walk stays linear.
 */
static size_t
begin_part(struct walk *w, size_t at)
{
	struct mime_part	*part = &w->parts[w->count];
	struct level		 level = { "", 0 };
	size_t			 body, end;

	end = header_end(w->text, w->len, at, w->count > 0, &body);
	*part = (struct mime_part){ .head = w->text + at, .depth = w->depth,
	    .head_len = end - at < MIME_HEADER ? end - at : MIME_HEADER,
	    .body = w->text + body, .body_len = w->len - body };
	read_head(part, &level);
	part->multipart = strncmp(part->type, "multipart/", 10) == 0;
	if (w->count == 0 && (part->multipart || part->type[0] == '\0') &&
	    (level.len == 0 || !is_used(w, body, &level)))
		part->multipart = guess_boundary(w, body, !part->multipart,
		    &level);
	part->multipart = part->multipart && level.len > 0 &&
	    w->depth < MIME_DEPTH;
	w->leaf = w->count++;
	if (part->multipart) {
		w->open[w->depth++] = level;
		w->leaf = MIME_PARTS;
	}
	return (body);
}

/* Ends the part in hand before the line at `at`, whose LF is the delimiter's
 * (RFC 2046 5.1.1). */
static void
end_leaf(struct walk *w, size_t at)
{
	struct mime_part	*part;
	size_t			 from;

	if (w->leaf == MIME_PARTS)
		return;
	part = &w->parts[w->leaf];
	from = (size_t)(part->body - w->text);
	part->body_len = at > from ? at - from : 0;
	w->leaf = MIME_PARTS;
}

/*
 * Looks for the level that the line at `at` delimits, the innermost first; a
 * level whose end is missing ends with one around it.  False if it is none's.
 */
static bool
take_delimiter(struct walk *w, size_t at, size_t end, bool *closes_r)
{
	unsigned	i;

	for (i = w->depth; i > 0; i--)
		if (is_delimiter(w->text, at, end, &w->open[i - 1], closes_r))
			break;
	if (i == 0)
		return (false);
	end_leaf(w, at);
	w->depth = *closes_r ? i - 1 : i;
	return (true);
}

size_t
mime_split(const char *text, size_t len,
    struct mime_part parts[static MIME_PARTS])
{
	struct walk	w = { .text = text, .len = len, .parts = parts };
	size_t		at, end;
	bool		closes;

	for (at = 0; at < len && text[at] == '\n'; at++)
		continue;
	at = begin_part(&w, at);
	for (; at < len && w.depth > 0; at = end) {
		end = text_line_end(text, len, at);
		if (text[at] != '-' || !take_delimiter(&w, at, end, &closes) ||
		    closes)
			continue;
		if (w.count == MIME_PARTS)
			break;
		end = begin_part(&w, end);
	}
	return (w.count);
}

size_t
mime_body(const struct mime_part *part, char *buf, size_t size)
{
	size_t	n;

	switch (part->encoding) {
	case MIME_BASE64:
		n = header_base64(part->body, part->body_len, buf, size);
		break;
	case MIME_QUOTED_PRINTABLE:
		n = header_quoted_printable(part->body, part->body_len, buf,
		    size);
		break;
	case MIME_AS_IS:
	default:
		n = part->body_len < size ? part->body_len : size - 1;
		memcpy(buf, part->body, n);
		break;
	}
	n = mime_lines(buf, buf, n);
	buf[n] = '\0';
	return (n);
}
