#include "monitor/config_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* More than these nobody reads; garbage has them without end. */
#define MISTAKES_MAX	1000

struct section *
config_section_new(enum kind kind, struct place place)
{
	struct section	*s = mem_alloc(sizeof *s);

	s->kind = kind;
	s->place = place;
	s->title = mem_strdup("");
	s->settings = mem_alloc(config_kinds[kind].count *
	    sizeof *s->settings);
	return (s);
}

static void
free_setting(struct setting *set)
{
	size_t	i;

	if (set->inherited || set->values == NULL)
		return;
	for (i = 0; i < set->count; i++)
		mem_free(set->values[i]);
	mem_free(set->values);
}

/* All structs of route.h begin with an owned string: their name, or file. */
void
config_built_free(enum kind kind, void *built)
{
	const struct section_kind	*k = &config_kinds[kind];
	size_t				 i;

	if (built == NULL)
		return;
	for (i = 0; i < k->count; i++)
		if (k->options[i].offset != NO_OFFSET)
			config_free_value(&k->options[i],
			    config_field(&k->options[i], built));
	mem_free(*(char **)built);
	mem_free(built);
}

void
config_section_free(struct section *s)
{
	size_t	i;

	if (s == NULL)
		return;
	for (i = 0; i < config_kinds[s->kind].count; i++)
		free_setting(&s->settings[i]);
	config_built_free(s->kind, s->built);
	mem_free(s->settings);
	mem_free(s->title);
	mem_free(s);
}

static void	add_mistake(struct document *, struct place, bool warning,
		    const char *option, const char *, va_list)
		    __attribute__((format(printf, 5, 0)));

static void
add_mistake(struct document *doc, struct place place, bool warning,
    const char *option, const char *fmt, va_list ap)
{
	char	problem[512], clean[512];
	size_t	n = doc->mistake_count;

	if (n == MISTAKES_MAX)
		return;
	vsnprintf(problem, sizeof problem, fmt, ap);
	text_clean(clean, sizeof clean, problem, strlen(problem));
	if ((n & (n - 1)) == 0)
		doc->mistakes = mem_grow(doc->mistakes, n == 0 ? 1 : n * 2,
		    sizeof *doc->mistakes);
	doc->mistakes[doc->mistake_count++] = (struct mistake){
		.place = place,
		.warning = warning,
		.text = mem_printf("%s: %s%s", option,
		    warning ? "warning: " : "", clean),
	};
}

void
config_mistake(struct document *doc, struct place place, const char *option,
    const char *fmt, ...)
{
	va_list	ap;

	doc->failed = true;
	va_start(ap, fmt);
	add_mistake(doc, place, false, option, fmt, ap);
	va_end(ap);
}

void
config_warning(struct document *doc, struct place place, const char *option,
    const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	add_mistake(doc, place, true, option, fmt, ap);
	va_end(ap);
}

static int
compare_numbers(size_t a, size_t b)
{
	return (a < b ? -1 : a > b);
}

static int
compare_sections(const void *a, const void *b)
{
	const struct section	*x = *(struct section *const *)a;
	const struct section	*y = *(struct section *const *)b;
	int			 order;

	if (x->kind != y->kind)
		return (x->kind < y->kind ? -1 : 1);
	if ((order = strcmp(x->title, y->title)) != 0)
		return (order);
	return (compare_numbers(x->number, y->number));
}

void
config_index(struct document *doc)
{
	size_t	i, n = doc->section_count;

	doc->index = mem_alloc(n * sizeof *doc->index);
	for (i = 0; i < n; i++) {
		doc->sections[i]->number = i;
		doc->index[i] = doc->sections[i];
	}
	if (n > 0)
		qsort(doc->index, n, sizeof *doc->index, compare_sections);
}

struct section *
config_find(const struct document *doc, enum kind kind, const char *title)
{
	size_t	low = 0, high = doc->section_count, mid;

	while (low < high) {
		const struct section	*s = doc->index[mid = (low + high) / 2];

		if (s->kind < kind ||
		    (s->kind == kind && strcmp(s->title, title) < 0))
			low = mid + 1;
		else
			high = mid;
	}
	if (low == doc->section_count || doc->index[low]->kind != kind ||
	    strcmp(doc->index[low]->title, title) != 0)
		return (NULL);
	return (doc->index[low]);
}

static int
compare_mistakes(const void *a, const void *b)
{
	const struct mistake	*x = *(struct mistake *const *)a;
	const struct mistake	*y = *(struct mistake *const *)b;

	if (x->place.file != y->place.file)
		return (x->place.file < y->place.file ? -1 : 1);
	if (x->place.line != y->place.line)
		return (x->place.line < y->place.line ? -1 : 1);
	return (x < y ? -1 : x > y);
}

static bool
repeats(const struct mistake *a, const struct mistake *b)
{
	return (a->place.file == b->place.file &&
	    a->place.line == b->place.line && strcmp(a->text, b->text) == 0);
}

/*
 * In file order.  What several routes inherit from one line is told once.
 * Warnings wait until there is nothing worse.
 */
void
config_tell(const struct document *doc, config_report report, void *arg)
{
	struct mistake	**order, *last = NULL;
	size_t		  i, n = doc->mistake_count;
	char		 *line;

	order = mem_alloc(n * sizeof *order);
	for (i = 0; i < n; i++)
		order[i] = &doc->mistakes[i];
	if (n > 0)
		qsort(order, n, sizeof *order, compare_mistakes);
	for (i = 0; i < n; i++) {
		if ((doc->failed && order[i]->warning) ||
		    (last != NULL && repeats(last, order[i])))
			continue;
		last = order[i];
		line = mem_printf("%s:%d: %s",
		    doc->files[last->place.file].name, last->place.line,
		    last->text);
		report(arg, line);
		mem_free(line);
	}
	mem_free(order);
	if (n == MISTAKES_MAX) {
		line = mem_printf("%s:1: file: there may be more mistakes",
		    doc->files[0].name);
		report(arg, line);
		mem_free(line);
	}
}

void
config_document_free(struct document *doc)
{
	size_t	i;

	for (i = 0; i < doc->file_count; i++) {
		config_section_free(doc->files[i].global);
		mem_free(doc->files[i].name);
		mem_free(doc->files[i].folder);
	}
	for (i = 0; i < doc->section_count; i++)
		config_section_free(doc->sections[i]);
	for (i = 0; i < doc->orphan_count; i++)
		mem_free(doc->orphans[i]);
	for (i = 0; i < doc->mistake_count; i++)
		mem_free(doc->mistakes[i].text);
	mem_free(doc->files);
	mem_free(doc->sections);
	mem_free(doc->index);
	mem_free(doc->orphans);
	mem_free(doc->mistakes);
}
