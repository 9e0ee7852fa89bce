#include "monitor/config.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/config_internal.h"
#include "monitor/mem.h"

/*
 * The one value that mailflowctl needs, for people who may read the
 * configuration but not the secrets it names.
 */

#define BYTES_MAX	(16 << 20)

/* The file as a string; NULL if it cannot be read or is too long. */
static char *
read_file(const char *file)
{
	FILE	*f = fopen(file, "re");
	char	*text = NULL;
	size_t	 len = 0, size = 0, n;

	if (f == NULL)
		return (NULL);
	do {
		size = size == 0 ? 65536 : 2 * size;
		text = mem_grow(text, size, 1);
		n = fread(text + len, 1, size - len - 1, f);
		len += n;
	} while (n > 0 && len == size - 1 && size < BYTES_MAX);
	text[len] = '\0';
	n = ferror(f) || !feof(f);
	fclose(f);
	if (n == 0)
		return (text);
	mem_free(text);
	return (NULL);
}

/* The absolute folder of a file that was just read; owned. */
static char *
folder_of(const char *file)
{
	char	*path = realpath(file, NULL), *slash;

	if (path == NULL)
		return (mem_strdup("/"));
	if ((slash = strrchr(path, '/')) != NULL)
		slash[slash == path] = '\0';
	return (path);
}

static char *
value_of(const struct section *global, const char *folder)
{
	int			 n = config_option_of(KIND_GLOBAL, "control",
				    strlen("control"));
	const struct option	*o = &config_kinds[KIND_GLOBAL].options[n];
	const struct setting	*set = &global->settings[n];
	char			*value = NULL, why[160];

	if (set->place.line == 0 || set->bad || set->count == 0 ||
	    config_parse_value(o, folder, set->values, set->count, &value,
	    why, sizeof why) == -1)
		return (NULL);
	return (value);
}

char *
config_control(const char *file)
{
	struct document	 doc = { .file_count = 0 };
	char		*text = read_file(file), *value;

	if (text == NULL)
		return (NULL);
	doc.files = mem_alloc(sizeof *doc.files);
	doc.files[doc.file_count++] = (struct source){
		.name = mem_strdup(file),
		.folder = folder_of(file),
		.global = config_section_new(KIND_GLOBAL,
		    (struct place){ .file = 0, .line = 1 }),
	};
	config_scan(&doc, 0, text);
	value = value_of(doc.files[0].global, doc.files[0].folder);
	config_document_free(&doc);
	mem_free(text);
	return (value);
}
