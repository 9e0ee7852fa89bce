#include "monitor/config_internal.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"

/*
 * What mailflowd.conf(5) describes and the program does not do yet.  Setting
 * one of these to anything but its default, or but the other value named
 * here, is a mistake: nobody shall rely on what is not there.  When a
 * feature lands, its row goes.
 */
static const struct later {
	enum kind	 kind;
	const char	*option;
	const char	*also;		/* one more value that is fine */
} later[] = {
	{ KIND_GLOBAL,	"http",			"" },
};

/* A route's options are those of defaults, too. */
static bool
is(const struct later *l, enum kind kind, const char *option)
{
	if (kind == KIND_DEFAULTS)
		kind = KIND_ROUTE;
	return (l->kind == kind && strcmp(l->option, option) == 0);
}

/*
 * The one way to write a value that was found good, so that "0" and "0ms",
 * or "no" and "false", compare equal; owned by the caller.
 */
static char *
canonical(const struct option *o, char *const *values, size_t count)
{
	union {
		char		*string;
		int64_t		 number;
		struct backoff	 list;
	}	 field = { .list = { .count = 0 } };
	char	*text = NULL, why[128];
	size_t	 size;
	FILE	*f;

	if (config_type_names(o->type) != -1)
		return (mem_strdup(count > 0 ? values[0] : ""));
	if ((f = open_memstream(&text, &size)) == NULL)
		panic("open_memstream");
	if (values == NULL)
		config_parse_standard(o, &field);
	else if (config_parse_value(o, "", values, count, &field, why,
	    sizeof why) == -1)
		panic("%s: %s", o->name, why);
	config_print_value(o, &field, f);
	config_free_value(o, &field);
	fclose(f);
	return (text);
}

bool
config_later_value(enum kind kind, const struct option *o,
    char *const *values, size_t count)
{
	char	*have, *want;
	size_t	 i;
	bool	 fine = true;

	for (i = 0; i < NITEMS(later); i++)
		if (is(&later[i], kind, o->name))
			break;
	if (i == NITEMS(later) || (count == 1 && later[i].also != NULL &&
	    strcmp(values[0], later[i].also) == 0))
		return (false);
	have = canonical(o, values, count);
	want = canonical(o, NULL, 0);
	fine = strcmp(have, want) == 0;
	mem_free(have);
	mem_free(want);
	return (!fine);
}
