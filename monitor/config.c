#include "monitor/config.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/config_internal.h"
#include "monitor/mem.h"

/*
 * Reads the files, one after the other; what includes what is decided here
 * and not by libconfuse, whose own include does not survive its errors.
 */

#define DEPTH_MAX	8
#define FILES_MAX	1000
#define BYTES_MAX	(16 << 20)

/* What a file is instead of text; NULL. */
static const char *
file_kind(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return ("is a directory");
	return (S_ISREG(st->st_mode) ? NULL : "is not a regular file");
}

/*
 * The whole of a regular file as a string; NULL with errno set, or with
 * *why_r when the file itself is wrong.  Fills in what tells it from others.
 */
static char *
read_text(const char *path, struct source *source, const char **why_r)
{
	struct stat	 st;
	char		*text = NULL;
	FILE		*f;
	size_t		 n;
	int		 fd;

	*why_r = NULL;
	/* A device must not even be opened, a FIFO must not hold us up. */
	if (stat(path, &st) == 0 && (*why_r = file_kind(&st)) != NULL)
		return (NULL);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1)
		return (NULL);
	if (fstat(fd, &st) == -1 || (f = fdopen(fd, "r")) == NULL) {
		close(fd);
		return (NULL);
	}
	source->dev = st.st_dev;
	source->ino = st.st_ino;
	*why_r = file_kind(&st);
	if (*why_r == NULL && st.st_size > BYTES_MAX)
		*why_r = "is larger than 16 MiB";
	if (*why_r == NULL) {
		text = mem_alloc((size_t)st.st_size + 1);
		n = fread(text, 1, (size_t)st.st_size, f);
		if (memchr(text, '\0', n) != NULL) {
			*why_r = "has a NUL byte: it is not text";
			mem_free(text);
			text = NULL;
		}
	}
	fclose(f);
	return (text);
}

/* The length of a path's folder with its slash; 0 if it has none. */
static size_t
folder_length(const char *path)
{
	const char	*slash = strrchr(path, '/');

	return (slash != NULL ? (size_t)(slash - path) + 1 : 0);
}

/* The absolute folder of a path that was just opened; owned. */
static char *
folder_of(const char *path)
{
	size_t	 n = folder_length(path);
	char	*part, *folder;

	part = n == 0 ? mem_strdup(".") : mem_printf("%.*s", (int)n, path);
	folder = realpath(part, NULL);
	if (folder == NULL)
		return (part);
	mem_free(part);
	return (folder);
}

static bool
is_read(const struct document *doc, const struct source *source)
{
	size_t	i;

	for (i = 0; i < doc->file_count; i++)
		if (doc->files[i].dev == source->dev &&
		    doc->files[i].ino == source->ino)
			return (true);
	return (false);
}

static void	include(struct document *, int file);

/*
 * Reads path, shown as name, and what it includes.  0, or -1 with *why_r.
 */
static int
read_source(struct document *doc, const char *path, const char *name,
    int depth, const char **why_r)
{
	struct source	 source = { .depth = depth };
	int		 file = (int)doc->file_count;
	char		*text;

	if ((text = read_text(path, &source, why_r)) == NULL) {
		if (*why_r == NULL)
			*why_r = strerror(errno);
		return (-1);
	}
	if (is_read(doc, &source))
		*why_r = "is read already";
	else if (file == FILES_MAX)
		*why_r = "is one file too many";
	else if (depth > DEPTH_MAX)
		*why_r = "is included by too many files, one inside the other";
	if (*why_r != NULL) {
		mem_free(text);
		return (-1);
	}
	source.name = mem_strdup(name);
	source.folder = folder_of(path);
	source.global = config_section_new(KIND_GLOBAL,
	    (struct place){ .file = file, .line = 1 });
	doc->files = mem_grow(doc->files, doc->file_count + 1,
	    sizeof *doc->files);
	doc->files[doc->file_count++] = source;
	config_scan(doc, file, text);
	mem_free(text);
	include(doc, file);
	return (0);
}

/* A pattern below a folder whose own name is no pattern; owned. */
static char *
absolute_pattern(const char *folder, const char *pattern)
{
	char	*whole, *p;

	if (*pattern == '/')
		return (mem_strdup(pattern));
	p = whole = mem_alloc(2 * strlen(folder) + strlen(pattern) + 2);
	for (; *folder != '\0'; folder++) {
		if (strchr("*?[\\", *folder) != NULL)
			*p++ = '\\';
		*p++ = *folder;
	}
	*p++ = '/';
	strcpy(p, pattern);
	return (whole);
}

/* How a file found by a pattern of files[file] is shown; owned. */
static char *
shown_name(const struct source *by, const char *pattern, const char *path)
{
	if (*pattern == '/')
		return (mem_strdup(path));
	return (mem_printf("%.*s%s", (int)folder_length(by->name), by->name,
	    path + strlen(by->folder) + 1));
}

static void
include_failed(struct document *doc, struct place place, const char *what,
    const char *why)
{
	config_mistake(doc, place, "include", "\"%.200s\": %s", what, why);
	doc->lost = true;
}

/* All files of one pattern, in the order of their names. */
static void
include_pattern(struct document *doc, int file, struct place place,
    const char *pattern)
{
	char		*whole, *name;
	const char	*why;
	glob_t		 found;
	size_t		 i;
	int		 status;
	bool		 literal = strpbrk(pattern, "*?[") == NULL;

	whole = absolute_pattern(doc->files[file].folder, pattern);
	status = glob(whole, GLOB_ERR, NULL, &found);
	mem_free(whole);
	/* No such file is a mistake; a folder without any is none. */
	if (status == GLOB_NOMATCH)
		errno = ENOENT;
	if (status != 0 && (literal || errno != ENOENT))
		include_failed(doc, place, pattern, strerror(errno));
	for (i = 0; status == 0 && i < found.gl_pathc; i++) {
		name = shown_name(&doc->files[file], pattern,
		    found.gl_pathv[i]);
		if (read_source(doc, found.gl_pathv[i], name,
		    doc->files[file].depth + 1, &why) == -1)
			include_failed(doc, place, name, why);
		mem_free(name);
	}
	if (status == 0)
		globfree(&found);
}

/* What files[file] includes. */
static void
include(struct document *doc, int file)
{
	const struct section_kind	*k = &config_kinds[KIND_GLOBAL];
	int				 o = config_include();
	struct setting			*set;
	char				**patterns = NULL, why[160];
	size_t				 i;

	set = &doc->files[file].global->settings[o];
	doc->lost = doc->lost || set->bad;
	if (set->place.line == 0 || set->bad)
		return;
	if (config_parse_value(&k->options[o], "", set->values, set->count,
	    &patterns, why, sizeof why) == -1) {
		config_mistake(doc, set->place, "include", "%s", why);
		doc->lost = true;
		return;
	}
	for (i = 0; i < set->count; i++)
		include_pattern(doc, file, set->place, patterns[i]);
	config_free_value(&k->options[o], &patterns);
}

struct config *
config_load(const char *file, config_report report, void *arg)
{
	struct document	 doc = { .file_count = 0 };
	struct config	*c = NULL;
	const char	*why;
	char		*line;

	if (read_source(&doc, file, file, 0, &why) == -1) {
		line = mem_printf("%s:1: file: %s", file, why);
		report(arg, line);
		mem_free(line);
	} else {
		c = config_build(&doc, file);
		config_tell(&doc, report, arg);
	}
	config_document_free(&doc);
	return (c);
}

/* What one file says of it; NULL: nothing that can be used.  Owned. */
static char *
control_of(const struct source *file)
{
	int			 n = config_option_of(KIND_GLOBAL, "control",
				    strlen("control"));
	const struct setting	*set = &file->global->settings[n];
	char			*value = NULL, why[160];

	if (set->place.line == 0 || set->bad || set->count == 0 ||
	    config_parse_value(&config_kinds[KIND_GLOBAL].options[n],
	    file->folder, set->values, set->count, &value, why,
	    sizeof why) == -1)
		return (NULL);
	if (*value != '\0')
		return (value);
	mem_free(value);
	return (NULL);
}

char *
config_control(const char *file)
{
	struct document	 doc = { .file_count = 0 };
	const char	*why;
	char		*value = NULL;

	if (read_source(&doc, file, file, 0, &why) == 0)
		for (size_t i = 0; i < doc.file_count && value == NULL; i++)
			value = control_of(&doc.files[i]);
	config_document_free(&doc);
	return (value);
}

/* Look-ups: by a sorted list per kind, for there may be thousands. */

struct config_index {
	size_t	 count[KINDS];
	void	**sorted[KINDS];	/* owned lists of borrowed */
};

static const char *
name_of(const void *built)
{
	return (*(char *const *)built);
}

static int
compare_names(const void *a, const void *b)
{
	return (strcmp(name_of(*(void *const *)a), name_of(*(void *const *)b)));
}

static int
compare_key(const void *key, const void *member)
{
	return (strcmp(key, name_of(*(void *const *)member)));
}

void
config_sort(struct config *c, enum kind kind, void *const *list, size_t count)
{
	if (c->index == NULL)
		c->index = mem_alloc(sizeof *c->index);
	c->index->sorted[kind] = mem_alloc(count * sizeof(void *));
	c->index->count[kind] = count;
	if (count == 0)
		return;
	memcpy(c->index->sorted[kind], list, count * sizeof(void *));
	qsort(c->index->sorted[kind], count, sizeof(void *), compare_names);
}

static void *
look_up(const struct config *c, enum kind kind, const char *name)
{
	void	**found = NULL;

	if (c->index->count[kind] > 0)
		found = bsearch(name, c->index->sorted[kind],
		    c->index->count[kind], sizeof(void *), compare_key);
	return (found != NULL ? *found : NULL);
}

struct server *
config_server(const struct config *c, const char *name)
{
	return (look_up(c, KIND_SERVER, name));
}

struct mailbox *
config_mailbox(const struct config *c, const char *name)
{
	return (look_up(c, KIND_MAILBOX, name));
}

struct alerts *
config_alerts(const struct config *c, const char *name)
{
	return (look_up(c, KIND_ALERTS, name));
}

struct route *
config_route(const struct config *c, const char *name)
{
	return (look_up(c, KIND_ROUTE, name));
}

static void
free_list(enum kind kind, void **list)
{
	size_t	i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		config_built_free(kind, list[i]);
	mem_free(list);
}

void
config_free(struct config **cp)
{
	struct config	*c = *cp;
	size_t		 i;

	if (c == NULL)
		return;
	*cp = NULL;
	free_list(KIND_SERVER, (void **)c->servers);
	free_list(KIND_MAILBOX, (void **)c->mailboxes);
	free_list(KIND_ALERTS, (void **)c->alerts);
	free_list(KIND_ROUTE, (void **)c->routes);
	free_list(KIND_WINDOW, (void **)c->windows);
	for (i = 0; c->index != NULL && i < KINDS; i++)
		mem_free(c->index->sorted[i]);
	mem_free(c->index);
	config_built_free(KIND_GLOBAL, c);
}
