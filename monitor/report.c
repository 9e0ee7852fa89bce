#include "monitor/report.h"

#include <inttypes.h>
#include <string.h>

#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/mem.h"

/* What both have, in this order. */
static const struct {
	const char	*key, *title;
	bool		 span;
} columns[] = {
	{ "delivered", "Delivered", false }, { "late", "Late", false },
	{ "junk", "Junk", false }, { "rejected", "Rejected", false },
	{ "bounced", "Bounced", false }, { "expired", "Expired", false },
	{ "lost", "Lost", false }, { "blind", "Not known", false },
	{ "deferrals", "Deferrals", false }, { "p50_ms", "p50", true },
	{ "p95_ms", "p95", true }, { "max_ms", "Max", true },
};

/* A leading = + - @ is defused for spreadsheets. */
static void
csv_text(FILE *f, const char *s)
{
	putc('"', f);
	if (*s != '\0' && strchr("=+-@", *s) != NULL)
		putc('\'', f);
	for (; *s != '\0'; s++)
		if (*s == '"')
			fputs("\"\"", f);
		else
			putc(*s, f);
	putc('"', f);
}

static bool
is_known(const json_t *line, const char *key)
{
	return (json_is_integer(json_object_get(line, key)));
}

void
report_csv(const json_t *report, FILE *f)
{
	json_t	*line;
	size_t	 n;

	fputs("route", f);
	for (size_t i = 0; i < NITEMS(columns); i++)
		fprintf(f, ",%s", columns[i].key);
	fputs("\r\n", f);
	json_array_foreach(json_object_get(report, "routes"), n, line) {
		csv_text(f, member_text(line, "route"));
		for (size_t i = 0; i < NITEMS(columns); i++)
			if (is_known(line, columns[i].key))
				fprintf(f, ",%" PRId64, member_number(line,
				    columns[i].key, 0));
			else
				putc(',', f);
		fputs("\r\n", f);
	}
}

/* HTML. */

static void
html_text(FILE *f, const char *s)
{
	for (; *s != '\0'; s++)
		switch (*s) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			putc(*s, f);
		}
}

static void
html_cell(FILE *f, const char *s)
{
	fputs("<td>", f);
	html_text(f, s);
	fputs("</td>", f);
}

static const char	head[] =
"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
"<meta http-equiv=\"Content-Security-Policy\""
" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
"<title>Mail flow report</title>\n<style>\n"
"body { font: 15px/1.4 sans-serif; margin: 2em; max-width: 80em }\n"
"table { border-collapse: collapse; margin: 1em 0 }\n"
"th, td { padding: .25em .7em; border-bottom: 1px solid #ddd;"
" text-align: left }\n"
".n { text-align: right; font-variant-numeric: tabular-nums }\n"
".bad { color: #b00020; font-weight: bold }\n"
"</style></head><body>\n<h1>Mail flow report</h1>\n";

static void
html_route(FILE *f, const json_t *line)
{
	char	span[SAY_SHORT];
	int64_t	v;

	fputs("<tr>", f);
	html_cell(f, member_text(line, "route"));
	for (size_t i = 0; i < NITEMS(columns); i++) {
		v = member_number(line, columns[i].key, 0);
		/* What must not happen; a mail that is not known may be well. */
		fprintf(f, "<td class=\"n%s\">", v > 0 && i >= 1 && i <= 6 ?
		    " bad" : "");
		if (!is_known(line, columns[i].key))
			fputs("-", f);
		else if (columns[i].span)
			fputs(say_short(v, span), f);
		else
			fprintf(f, "%" PRId64, v);
		fputs("</td>", f);
	}
	fputs("</tr>\n", f);
}

static void
html_routes(FILE *f, const json_t *list)
{
	const json_t	*line;
	size_t		 n;

	fputs("<h2>Routes</h2>\n<table>\n<tr><th>Route</th>", f);
	for (size_t i = 0; i < NITEMS(columns); i++)
		fprintf(f, "<th class=\"n\">%s</th>", columns[i].title);
	fputs("</tr>\n", f);
	json_array_foreach(list, n, line)
		html_route(f, line);
	fputs("</table>\n", f);
}

static void
html_episodes(FILE *f, const json_t *list)
{
	static const struct {
		const char	*key, *title;
	} cells[] = {
		{ "state", "State" }, { "class", "Class" },
		{ "scope", "Scope" }, { "opened_at", "Failing since" },
		{ "accepting_at", "Accepting again" },
		{ "delivered_at", "Delivered again" }, { "routes", "Routes" },
		{ "last_reply", "Last reply" },
	};
	const json_t	*e;
	size_t		 n;

	if (json_array_size(list) == 0) {
		fputs("<p>There was no trouble.</p>\n", f);
		return;
	}
	fputs("<h2>Episodes</h2>\n<table>\n<tr><th>Episode</th>", f);
	for (size_t i = 0; i < NITEMS(cells); i++)
		fprintf(f, "<th>%s</th>", cells[i].title);
	fputs("</tr>\n", f);
	json_array_foreach(list, n, e) {
		fprintf(f, "<tr><td>%" PRId64 "</td>",
		    member_number(e, "episode", 0));
		for (size_t i = 0; i < NITEMS(cells); i++)
			html_cell(f, member_text(e, cells[i].key));
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

void
report_html(const json_t *report, FILE *f)
{
	fputs(head, f);
	fputs("<p>Monitor ", f);
	html_text(f, member_text(report, "instance"));
	fputs(", ", f);
	html_text(f, member_text(report, "since"));
	fputs(" to ", f);
	html_text(f, member_text(report, "until"));
	fputs(".", f);
	if (member_flag(report, "partial"))
		fputs(" Only the newest probes are counted.", f);
	fputs("</p>\n", f);
	html_routes(f, json_object_get(report, "routes"));
	html_episodes(f, json_object_get(report, "episodes"));
	fputs("</body></html>\n", f);
}
