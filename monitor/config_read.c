#include "monitor/config_internal.h"

#include <confuse.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * The door to libconfuse.  Every value is a string to it: what numbers,
 * spans and words mean is decided where all of their mistakes can be told
 * at once.  Its defaults stay empty, for ours depend on each other.
 */

#define OPTIONS_MAX	32

/* libconfuse's last complaint; its error function has no argument. */
static char	complaint[256];

static void	keep_complaint(cfg_t *, const char *, va_list)
		    __attribute__((format(printf, 2, 0)));

static void
keep_complaint(cfg_t *cfg, const char *fmt, va_list ap)
{
	(void)cfg;
	vsnprintf(complaint, sizeof complaint, fmt, ap);
}

/* The kind's options in libconfuse's terms. */
static void
list_options(const struct section_kind *k, cfg_opt_t *opts)
{
	size_t	i;

	if (k->count > OPTIONS_MAX)
		panic("%s: too many options", k->name);
	for (i = 0; i < k->count; i++) {
		const struct option	*o = &k->options[i];
		cfg_opt_t		 one = CFG_STR(o->name, NULL,
					    CFGF_NODEFAULT);
		cfg_opt_t		 many = CFG_STR_LIST(o->name, NULL,
					    CFGF_NODEFAULT);

		opts[i] = config_type_is_list(o->type) ? many : one;
	}
	opts[i] = (cfg_opt_t)CFG_END();
}

static void
copy_values(struct setting *set, cfg_opt_t *opt)
{
	unsigned	i;

	set->count = cfg_opt_size(opt);
	set->values = mem_alloc((set->count + 1) * sizeof *set->values);
	for (i = 0; i < set->count; i++)
		set->values[i] = mem_strdup(cfg_opt_getnstr(opt, i));
}

static void
copy_section(struct section *section, cfg_t *cfg)
{
	const struct section_kind	*k = &config_kinds[section->kind];
	size_t				 i;

	if (k->titled && cfg_title(cfg) != NULL) {
		mem_free(section->title);
		section->title = mem_strdup(cfg_title(cfg));
	}
	for (i = 0; i < k->count; i++)
		if (section->settings[i].place.line != 0 &&
		    !section->settings[i].bad)
			copy_values(&section->settings[i],
			    cfg_getopt(cfg, k->options[i].name));
}

/* What it refuses is not looked at any further. */
static void
give_up(struct document *doc, struct section *section)
{
	const struct section_kind	*k = &config_kinds[section->kind];
	size_t				 i;

	config_mistake(doc, section->place, k->name[0] != '\0' ? k->name :
	    "file", "cannot be read: %s", complaint);
	section->bad = true;
	for (i = 0; i < k->count; i++)
		section->settings[i].bad = true;
}

void
config_read(struct document *doc, struct section *section, const char *text)
{
	const struct section_kind	*k = &config_kinds[section->kind];
	cfg_opt_t			 inner[OPTIONS_MAX + 1];
	cfg_opt_t			 outer[] = {
		CFG_SEC(k->name, inner, CFGF_MULTI | CFGF_NO_TITLE_DUPES |
		    (k->titled ? CFGF_TITLE : 0)),
		CFG_END()
	};
	cfg_t				*cfg, *found;

	list_options(k, inner);
	complaint[0] = '\0';
	cfg = cfg_init(section->kind == KIND_GLOBAL ? inner : outer, 0);
	if (cfg == NULL)
		panic("out of memory");
	cfg_set_error_function(cfg, keep_complaint);
	found = cfg;
	if (cfg_parse_buf(cfg, text) != CFG_SUCCESS)
		give_up(doc, section);
	else if (section->kind != KIND_GLOBAL && (found = cfg_getnsec(cfg,
	    k->name, 0)) == NULL)
		give_up(doc, section);
	else
		copy_section(section, found);
	cfg_free(cfg);
}
