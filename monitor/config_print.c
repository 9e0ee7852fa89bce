#include "monitor/config_internal.h"

/*
 * The effective configuration in the file's own syntax: every option with
 * its value, whether it was written, a default or worked out.  Read again,
 * it is the same configuration.
 */

static void
print_options(enum kind kind, void *built, const char *indent, FILE *f)
{
	const struct section_kind	*k = &config_kinds[kind];
	size_t				 i;

	for (i = 0; i < k->count; i++) {
		const struct option	*o = &k->options[i];

		if (o->offset == NO_OFFSET)
			continue;
		fprintf(f, "%s%s = ", indent, o->name);
		config_print_value(o, config_field(o, built), f);
		fputc('\n', f);
	}
}

/* A kind of sections; each struct begins with its name. */
static void
print_sections(enum kind kind, void *const *list, FILE *f)
{
	for (; *list != NULL; list++) {
		fprintf(f, "\n%s \"%s\" {\n", config_kinds[kind].name,
		    *(char *const *)*list);
		print_options(kind, *list, "\t", f);
		fputs("}\n", f);
	}
}

void
config_print(const struct config *c, FILE *f)
{
	/* Only looked at; config_field() serves those who fill it, too. */
	union {
		const struct config	*in;
		void			*out;
	}	top = { .in = c };

	print_options(KIND_GLOBAL, top.out, "", f);
	print_sections(KIND_SERVER, (void *const *)c->servers, f);
	print_sections(KIND_MAILBOX, (void *const *)c->mailboxes, f);
	print_sections(KIND_ALERTS, (void *const *)c->alerts, f);
	print_sections(KIND_ROUTE, (void *const *)c->routes, f);
	print_sections(KIND_WINDOW, (void *const *)c->windows, f);
}
