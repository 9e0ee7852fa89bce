#include "monitor/config_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/value.h"

/*
 * From settings to the structs of route.h: each value into its field, each
 * name to the section it leads to, defaults into what is left.
 */

/* A name that leads nowhere is news only if nothing hides where it led. */
static bool
is_excused(const struct document *doc, enum kind kind, const char *name)
{
	size_t	i;

	if (doc->lost || config_find(doc, kind, "") != NULL)
		return (true);
	for (i = 0; i < doc->orphan_count; i++)
		if (strcmp(doc->orphans[i], name) == 0)
			return (true);
	return (false);
}

/* The struct of the section that is named; NULL if the setting is bad. */
static void *
resolve(struct build *c, struct setting *set, const struct option *o,
    const char *name)
{
	enum kind	 kind = (enum kind)config_type_names(o->type);
	struct section	*s = config_find(c->doc, kind, name);

	if (s != NULL)
		return (s->built);
	if (!is_excused(c->doc, kind, name))
		config_mistake(c->doc, set->place, o->name,
		    "there is no %s \"%.64s\"", config_kinds[kind].name, name);
	set->bad = true;
	return (NULL);
}

static void
resolve_setting(struct build *c, struct setting *set, const struct option *o,
    void *field)
{
	struct server	**list;
	size_t		  i;

	if (!config_type_is_list(o->type)) {
		if (set->values[0][0] != '\0')
			*(void **)field = resolve(c, set, o, set->values[0]);
		return;
	}
	list = mem_alloc((set->count + 1) * sizeof *list);
	*(struct server ***)field = list;
	for (i = 0; i < set->count; i++)
		if ((list[i] = resolve(c, set, o, set->values[i])) == NULL)
			return;
}

/* A field that nobody set, or that was set to nonsense. */
static void
fill(const struct option *o, void *field)
{
	config_free_value(o, field);
	if (config_type_names(o->type) != -1 && config_type_is_list(o->type))
		*(void **)field = mem_alloc(sizeof(void *));
	else if (config_type_names(o->type) == -1)
		config_parse_standard(o, field);
}

/* One option's field; what is wrong with its value is reported. */
static void
build_option(struct build *c, struct section *s, const struct option *o,
    struct setting *set)
{
	void	*field = config_field(o, s->built);
	char	 why[256];

	if (set->place.line == 0 || set->bad) {
		fill(o, field);
		return;
	}
	if (config_parse_value(o, c->doc->files[set->place.file].folder,
	    set->values, set->count, field, why, sizeof why) == -1) {
		config_mistake(c->doc, set->place, o->name, "%s", why);
		set->bad = true;
		fill(o, field);
		return;
	}
	if (config_later_value(s->kind, o, set->values, set->count)) {
		config_mistake(c->doc, set->place, o->name,
		    "not available yet");
		set->bad = true;
	}
	if (config_type_names(o->type) == -1)
		return;
	if (set->bad)
		fill(o, field);
	else
		resolve_setting(c, set, o, field);
}

static void
build(struct build *c, struct section *s)
{
	const struct section_kind	*k = &config_kinds[s->kind];
	size_t				 i;

	for (i = 0; i < k->count; i++)
		if (k->options[i].offset != NO_OFFSET)
			build_option(c, s, &k->options[i], &s->settings[i]);
}

/* Takes over what a section does not set itself. */
static void
inherit(struct section *s, const struct section *from)
{
	size_t	i;

	for (i = 0; i < config_kinds[s->kind].count; i++) {
		if (s->settings[i].place.line != 0)
			continue;
		s->settings[i] = from->settings[i];
		s->settings[i].inherited = true;
	}
}

/*
 * The top levels of all files are one.
 */
static void
merge_tops(struct build *c)
{
	const struct section_kind	*k = &config_kinds[KIND_GLOBAL];
	size_t				 f, i;

	for (f = 0; f < c->doc->file_count; f++) {
		struct section	*g = c->doc->files[f].global;

		for (i = 0; i < k->count; i++) {
			struct place	first = c->top->settings[i].place;

			if (k->options[i].offset == NO_OFFSET ||
			    g->settings[i].place.line == 0 ||
			    g->settings[i].guessed || first.line == 0)
				continue;
			config_mistake(c->doc, g->settings[i].place,
			    k->options[i].name, "given twice; first in %s, "
			    "line %d", c->doc->files[first.file].name,
			    first.line);
			c->top->settings[i].bad = true;
		}
		inherit(c->top, g);
	}
}

/* A title's form, and that it is the only one of its kind. */
static void
check_titles(struct document *doc)
{
	size_t		 i;
	const char	*why;

	for (i = 0; i < doc->section_count; i++) {
		struct section	*s = doc->index[i], *first;

		first = config_find(doc, s->kind, s->title);
		if (s->bad)
			continue;
		if (config_kinds[s->kind].titled &&
		    value_name(s->title, &why) == -1)
			config_mistake(doc, s->place,
			    config_kinds[s->kind].name, "\"%.64s\": %s",
			    s->title, why);
		else if (first != s)
			config_mistake(doc, s->place,
			    config_kinds[s->kind].name, "there is one%s%s "
			    "already, in %s, line %d", s->title[0] != '\0' ?
			    " named " : "", s->title,
			    doc->files[first->place.file].name,
			    first->place.line);
	}
}

/* The structs themselves first, so that sections can lead to each other. */
static void
allocate(struct build *c)
{
	size_t	i;

	c->top->built = mem_alloc(sizeof(struct config));
	for (i = 0; i < c->doc->section_count; i++) {
		struct section	*s = c->doc->sections[i];

		s->built = mem_alloc(config_kinds[s->kind].size);
		*(char **)s->built = mem_strdup(s->title);
	}
}

static void
build_all(struct build *c)
{
	struct document	*doc = c->doc;
	size_t		 i;

	build(c, c->top);
	c->defaults = config_find(doc, KIND_DEFAULTS, "");
	if (c->defaults != NULL)
		build(c, c->defaults);
	for (i = 0; i < doc->section_count; i++) {
		struct section	*s = doc->sections[i];

		if (s == c->defaults)
			continue;
		if (s->kind == KIND_ROUTE && c->defaults != NULL)
			inherit(s, c->defaults);
		build(c, s);
	}
}

/* Moves the structs of one kind into a list, NULL-terminated; owned. */
static void **
collect(struct document *doc, enum kind kind, struct config *config)
{
	void	**list = mem_alloc((doc->section_count + 1) * sizeof *list);
	size_t	  i, n = 0;

	for (i = 0; i < doc->section_count; i++) {
		if (doc->sections[i]->kind != kind)
			continue;
		list[n++] = doc->sections[i]->built;
		doc->sections[i]->built = NULL;
	}
	config_sort(config, kind, list, n);
	return (mem_grow(list, n + 1, sizeof *list));
}

static struct config *
assemble(struct build *c, const char *file)
{
	struct config	*config = c->top->built;

	c->top->built = NULL;
	config->file = mem_strdup(file);
	config->servers = (struct server **)collect(c->doc, KIND_SERVER, config);
	config->mailboxes = (struct mailbox **)collect(c->doc, KIND_MAILBOX,
	    config);
	config->alerts = (struct alerts **)collect(c->doc, KIND_ALERTS, config);
	config->routes = (struct route **)collect(c->doc, KIND_ROUTE, config);
	config->windows = (struct window **)collect(c->doc, KIND_WINDOW, config);
	return (config);
}

struct config *
config_build(struct document *doc, const char *file)
{
	struct build	 c = { .doc = doc };
	struct config	*config = NULL;
	const char	*why;

	if (gethostname(c.host_name, sizeof c.host_name - 1) == -1 ||
	    value_host(c.host_name, &why) == -1)
		snprintf(c.host_name, sizeof c.host_name, "%s", "localhost");
	c.top = config_section_new(KIND_GLOBAL,
	    (struct place){ .file = 0, .line = 1 });
	merge_tops(&c);
	config_index(doc);
	check_titles(doc);
	allocate(&c);
	build_all(&c);
	config_check(&c);
	if (!doc->failed)
		config = assemble(&c, file);
	config_section_free(c.top);
	return (config);
}
