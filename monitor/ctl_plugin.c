#include "monitor/ctl_plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitor/ctl_json.h"
#include "monitor/ctl_say.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* More routes in trouble are only counted: a line has an end. */
#define NAMED_MAX	8

#define UNIT		40	/* of a figure, printed */

/* A line in the making. */
struct line {
	FILE	*f;
	char	*text;		/* owned until line_end() hands it out */
	size_t	 len;
	bool	 has_figures;
};

static void
line_begin(struct line *l)
{
	*l = (struct line){ .text = NULL };
	if ((l->f = open_memstream(&l->text, &l->len)) == NULL)
		panic("out of memory");
}

static char *
line_end(struct line *l)
{
	if (fclose(l->f) != 0)
		panic("out of memory");
	return (l->text);
}

static void
put_words(struct line *l, const char *s)
{
	char	clean[FINDING_TEXT];

	text_clean(clean, sizeof clean, s, strlen(s));
	for (char *p = clean; *p != '\0'; p++)
		if (*p == '|')
			*p = '/';
	fputs(clean, l->f);
}

/* "OK - " or "OK - out: " */
static void
put_level(struct line *l, enum level level, const char *route)
{
	fprintf(l->f, "%s - ", level_name(level));
	if (route == NULL)
		return;
	put_words(l, route);
	fputs(": ", l->f);
}

/* Figures. */

/* Milliseconds as seconds without needless digits, "60", "0.5"; "" < 0. */
static const char *
seconds(int64_t ms, char buf[static UNIT])
{
	int	n;

	buf[0] = '\0';
	if (ms < 0)
		return (buf);
	n = snprintf(buf, UNIT, "%" PRId64 ".%03d", ms / 1000,
	    (int)(ms % 1000));
	while (buf[n - 1] == '0')
		buf[--n] = '\0';
	if (buf[n - 1] == '.')
		buf[--n] = '\0';
	return (buf);
}

/*
 * " total" or " 'out total'": a label with a space is quoted.  Names of
 * sections hold neither a quote nor an equals sign.
 */
static void
put_label(struct line *l, const char *route, const char *name)
{
	fputs(l->has_figures ? " " : " | ", l->f);
	l->has_figures = true;
	if (route == NULL) {
		fprintf(l->f, "%s=", name);
		return;
	}
	putc('\'', l->f);
	put_words(l, route);
	fprintf(l->f, " %s'=", name);
}

/* One figure in seconds with its limits (-1: none). */
static void
put_span(struct line *l, const char *route, const char *name, int64_t ms,
    int64_t warn_ms, int64_t late_ms)
{
	char	warn[UNIT], late[UNIT];

	if (ms < 0)
		return;
	put_label(l, route, name);
	fprintf(l->f, "%" PRId64 ".%03ds", ms / 1000, (int)(ms % 1000));
	if (warn_ms >= 0 || late_ms >= 0)
		fprintf(l->f, ";%s;%s;0", seconds(warn_ms, warn),
		    seconds(late_ms, late));
}

/* label: the route's name in the labels, or NULL. */
static void
put_latency(struct line *l, const char *label, const json_t *probe,
    const json_t *route)
{
	put_span(l, label, "total", member_number(probe, "total_ms", -1),
	    member_number(route, "warn_after_ms", -1),
	    member_number(route, "late_after_ms", -1));
	put_span(l, label, "accept", member_number(probe, "accept_ms", -1),
	    -1, -1);
}

static void
put_figures(struct line *l, const char *label, const json_t *route)
{
	put_latency(l, label, member_object(route, "last"), route);
	put_label(l, label, "pending");
	fprintf(l->f, "%" PRId64 ";;;0", member_number(route, "pending", 0));
}

/* Lines. */

/* Of a route with several mail hosts the one in the worst state. */
static const json_t *
find_route(const json_t *status, const char *name)
{
	const json_t		*list = json_object_get(status, "routes");
	const json_t		*worst = NULL;
	enum level		 level = LEVEL_OK;
	struct finding_scene	 scene;
	struct finding		 f;
	json_t			*r;
	size_t			 i;

	finding_begin(&scene, status);
	json_array_foreach(list, i, r) {
		if (strcmp(member_text(r, "route"), name) != 0)
			continue;
		finding_route(&scene, r, &f);
		if (worst != NULL && !level_is_worse(f.level, level))
			continue;
		worst = r;
		level = f.level;
	}
	finding_end(&scene);
	return (worst);
}

char *
plugin_unknown(const char *route, const char *why, enum level *level)
{
	struct line	l;

	*level = LEVEL_UNKNOWN;
	line_begin(&l);
	put_level(&l, *level, route);
	put_words(&l, why);
	return (line_end(&l));
}

char *
plugin_route(const json_t *status, const char *name, enum level *level)
{
	const json_t		*route = find_route(status, name);
	struct finding_scene	 scene;
	struct finding		 f;
	struct line		 l;
	char			 label[FINDING_NAME];

	if (route == NULL)
		return (plugin_unknown(name, "no such route", level));
	finding_begin(&scene, status);
	finding_route(&scene, route, &f);
	finding_end(&scene);
	*level = f.level;
	line_begin(&l);
	put_level(&l, f.level, finding_name(route, label));
	fputs(f.text, l.f);
	put_figures(&l, NULL, route);
	return (line_end(&l));
}

/* What all routes together come to. */
struct summary {
	size_t		 count[LEVELS];
	size_t		 routes;
	size_t		 paused;	/* of those that are OK */
	enum level	 worst;
	const json_t	*slowest;	/* borrowed; NULL: none delivered */
	int64_t		 slowest_ms;
};

static void
sum_up(const struct finding_scene *scene, const json_t *list,
    struct summary *sum)
{
	struct finding	 f;
	int64_t		 ms;
	json_t		*r;
	size_t		 i;

	*sum = (struct summary){ .worst = LEVEL_OK, .slowest_ms = -1 };
	json_array_foreach(list, i, r) {
		finding_route(scene, r, &f);
		sum->routes++;
		sum->count[f.level]++;
		if (strcmp(f.word, "paused") == 0) {
			sum->paused++;
			continue;
		}
		if (level_is_worse(f.level, sum->worst))
			sum->worst = f.level;
		ms = member_number(json_object_get(r, "last"), "total_ms",
		    -1);
		if (ms > sum->slowest_ms) {
			sum->slowest_ms = ms;
			sum->slowest = r;
		}
	}
}

static void
put_good(struct line *l, const struct summary *sum)
{
	char	span[SAY_SPAN], name[FINDING_NAME];
	size_t	well = sum->routes - sum->paused;

	if (well > 0)
		fprintf(l->f, "%zu route%s well", well, well == 1 ? "" : "s");
	if (sum->paused > 0)
		fprintf(l->f, "%s%zu%s paused, no probes are sent",
		    well > 0 ? ", " : "", sum->paused, well > 0 ? "" :
		    sum->paused == 1 ? " route" : " routes");
	if (sum->slowest == NULL)
		return;
	fputs(", slowest ", l->f);
	put_words(l, finding_name(sum->slowest, name));
	fprintf(l->f, ": %s", say_span(sum->slowest_ms, span));
}

/* Those of one level; how many have been named so far. */
static size_t
put_bad(struct line *l, const struct finding_scene *scene,
    const json_t *list, enum level level, size_t named)
{
	struct finding	 f;
	json_t		*r;
	size_t		 i;
	char		 name[FINDING_NAME];

	json_array_foreach(list, i, r) {
		if (named == NAMED_MAX)
			break;
		finding_route(scene, r, &f);
		if (f.level != level)
			continue;
		fputs(named++ == 0 ? ", " : "; ", l->f);
		put_words(l, finding_name(r, name));
		fprintf(l->f, ": %s", f.text);
	}
	return (named);
}

/* "2 of 12 routes not well, out: failing since ...; in: late: ..." */
static void
put_trouble(struct line *l, const struct finding_scene *scene,
    const json_t *list, const struct summary *sum)
{
	static const enum level	order[] = {
		LEVEL_CRITICAL, LEVEL_WARNING, LEVEL_UNKNOWN,
	};
	size_t			bad = sum->routes - sum->count[LEVEL_OK];
	size_t			named = 0;

	fprintf(l->f, "%zu of %zu route%s not well", bad, sum->routes,
	    sum->routes == 1 ? "" : "s");
	for (size_t i = 0; i < NITEMS(order); i++)
		named = put_bad(l, scene, list, order[i], named);
	if (bad > named)
		fprintf(l->f, "; and %zu more", bad - named);
}

char *
plugin_all(const json_t *status, enum level *level)
{
	const json_t		*list = json_object_get(status, "routes");
	struct finding_scene	 scene;
	struct summary		 sum;
	struct line		 l;
	json_t			*r;
	size_t			 i;
	char			 name[FINDING_NAME];

	if (json_array_size(list) == 0)
		return (plugin_unknown(NULL, "no routes are configured",
		    level));
	line_begin(&l);
	finding_begin(&scene, status);
	sum_up(&scene, list, &sum);
	*level = sum.worst;
	put_level(&l, sum.worst, NULL);
	if (sum.worst == LEVEL_OK)
		put_good(&l, &sum);
	else
		put_trouble(&l, &scene, list, &sum);
	finding_end(&scene);
	json_array_foreach(list, i, r)
		put_figures(&l, finding_name(r, name), r);
	return (line_end(&l));
}

char *
plugin_probe(const char *route, const json_t *probe, const json_t *status,
    int64_t now_ms, enum level *level)
{
	struct finding	f;
	struct line	l;

	finding_probe(probe, now_ms, &f);
	*level = f.level;
	line_begin(&l);
	put_level(&l, f.level, route);
	fputs(f.text, l.f);
	put_latency(&l, NULL, probe, find_route(status, route));
	return (line_end(&l));
}

char *
plugin_no_result(const char *route, const json_t *status, int64_t waited_ms,
    enum level *level)
{
	struct finding_scene	scene;
	struct finding		f;
	struct line		l;

	finding_begin(&scene, status);
	finding_no_result(&scene, find_route(status, route), waited_ms, &f);
	finding_end(&scene);
	*level = f.level;
	line_begin(&l);
	put_level(&l, f.level, route);
	fputs(f.text, l.f);
	return (line_end(&l));
}
