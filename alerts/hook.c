#include "alerts/hook.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alerts/words.h"
#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/probe.h"
#include "monitor/text.h"

/* Ours: UTF-8, and newlines that count (RFC 8259 7). */
static void
text(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s != '\0'; s++)
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", f);
		else if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", (unsigned)*s);
		else
			putc(*s, f);
	putc('"', f);
}

static void
member(FILE *f, const char *name, const char *value)
{
	fprintf(f, ",\"%s\":", name);
	text(f, value);
}

/* What others wrote. */
static void
foreign(FILE *f, const char *name, const char *value)
{
	size_t	 len = strlen(value);
	char	*clean = mem_alloc(len + 1);

	text_clean(clean, len + 1, value, len);
	member(f, name, clean);
	mem_free(clean);
}

static void
moment(FILE *f, const char *name, int64_t wall_ms)
{
	char	at[CLOCK_RFC3339];

	if (wall_ms == 0)
		fprintf(f, ",\"%s\":null", name);
	else
		member(f, name, clock_rfc3339(wall_ms, at));
}

static void
list_routes(FILE *f, const char *routes)
{
	const char	*at = routes, *comma = "";
	char		 name[PROBE_NAME];

	fputs(",\"routes\":[", f);
	for (; words_next(&at, name, sizeof name); comma = ",") {
		fputs(comma, f);
		text(f, name);
	}
	putc(']', f);
}

static void
episode(FILE *f, const struct episode *e)
{
	if (e == NULL) {
		fputs("null", f);
		return;
	}
	fprintf(f, "{\"id\":%" PRId64, e->id);
	foreign(f, "scope", e->scope);
	member(f, "class", class_name(e->class));
	member(f, "state", episode_state_name(e->state));
	moment(f, "since", episode_since_ms(e));
	moment(f, "accepting_at", e->accepting_ms);
	moment(f, "delivered_at", e->delivered_ms);
	foreign(f, "host", e->host);
	fprintf(f, ",\"code\":%d", e->code);
	foreign(f, "enhanced", e->enhanced);
	foreign(f, "reply", e->last_reply);
	list_routes(f, e->routes);
	putc('}', f);
}

char *
hook_json(const struct notice *n, const struct episode *e,
    const char *instance)
{
	char	*json = NULL;
	size_t	 size;
	FILE	*f = open_memstream(&json, &size);

	if (f == NULL)
		panic("out of memory for JSON");
	fputs("{\"version\":1", f);
	member(f, "instance", instance);
	member(f, "alerts", n->alerts);
	member(f, "kind", notice_kind_name(n->kind));
	fprintf(f, ",\"test\":%s", notice_is_test(n) ? "true" : "false");
	member(f, "id", n->message_id);
	member(f, "thread", n->thread_id);
	moment(f, "at", n->owed_ms);
	member(f, "subject", n->subject);
	member(f, "body", n->body);
	fputs(",\"episode\":", f);
	episode(f, e);
	fputs("}\n", f);
	if (fclose(f) != 0)
		panic("out of memory for JSON");
	return (json);
}
