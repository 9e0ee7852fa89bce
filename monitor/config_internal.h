#ifndef CONFIG_INTERNAL_H
#define CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "monitor/config.h"

/*
 * Between the files that make up config.h.  A configuration is read in five
 * steps, and a mistake in one does not keep the next from looking:
 *
 *   config_lex    text to tokens
 *   config_scan   tokens to sections and settings with their lines; every
 *                 unknown name and every slip of the syntax is found here
 *   config_read   the good statements to values, by libconfuse
 *   config_build  values to the structs of route.h
 *   config_check  what must hold between them
 */

/*
 * The words: config_table.c
 */

enum kind {
	KIND_GLOBAL,		/* outside of any section */
	KIND_SERVER,
	KIND_MAILBOX,
	KIND_DEFAULTS,
	KIND_ROUTE,
	KIND_ALERTS,
	KIND_WINDOW,
	KINDS
};

enum value_type {
	TYPE_STRING,		/* no controls */
	TYPE_PATH,		/* made absolute */
	TYPE_HOST,
	TYPE_IP,
	TYPE_HOST_PORT,
	TYPE_ADDRESS,
	TYPE_INSTANCE,
	TYPE_CREDENTIAL,	/* a file name without a folder */
	TYPE_TIMEZONE,
	TYPE_WORD,		/* one of words, kept as a string */
	TYPE_ENUM,		/* one of words, kept as its index */
	TYPE_BOOL,
	TYPE_PORT,
	TYPE_COUNT,
	TYPE_SIZE,
	TYPE_SPAN,
	TYPE_WHOLE_DAYS,	/* a number, kept as a span */
	TYPE_TIME,		/* of day */
	TYPE_TIME_OR_NONE,	/* the same, kept as a string */
	TYPE_WEEKDAYS,
	TYPE_BACKOFF,
	TYPE_STRINGS,
	TYPE_ADDRESSES,
	TYPE_SERVER,		/* names of sections, from here on */
	TYPE_MAILBOX,
	TYPE_ALERTS,
	TYPE_SERVERS,
	TYPES
};

#define NO_OFFSET	SIZE_MAX

struct option {
	const char		*name;
	enum value_type		 type;
	size_t			 offset;	/* in the kind's struct */
	/* As the file would have it, list members parted by blanks; NULL:
	 * must be set, or is worked out by config_check. */
	const char		*standard;
	int64_t			 min, max;
	const char *const	*words;		/* NULL-terminated */
};

struct section_kind {
	const char		*name;
	bool			 titled;
	size_t			 size;		/* of its struct */
	const struct option	*options;
	size_t			 count;
};

extern const struct section_kind	config_kinds[KINDS];

/* By name; -1 if there is none. */
int	 config_kind_of(const char *name, size_t len);
int	 config_option_of(enum kind, const char *name, size_t len);

/* The index of "include" outside of sections. */
int	 config_include(void);

/* The word that was probably meant; -1 if none is near. */
int	 config_kind_like(const char *name, size_t len);
int	 config_option_like(enum kind, const char *name, size_t len);

/*
 * The types: config_type.c
 */

/*
 * Reads values into field, which belongs to the struct afterwards.  Paths
 * begin in folder.  The types that name sections take nothing here.  0, or
 * -1 with why.
 */
int	 config_parse_value(const struct option *, const char *folder,
	    char *const *values, size_t count, void *field, char *why,
	    size_t whysize);
/* The same from the option's standard text, which cannot fail. */
void	 config_parse_standard(const struct option *, void *field);
/* In the file's syntax. */
void	 config_print_value(const struct option *, const void *field, FILE *);
void	 config_free_value(const struct option *, void *field);
bool	 config_type_is_list(enum value_type);
/* The kind of section that a value of this type names; -1: it does not. */
int	 config_type_names(enum value_type);

static inline void *
config_field(const struct option *o, void *base)
{
	return ((char *)base + o->offset);
}

/*
 * The text as tokens: config_lex.c.  The same tokens that libconfuse would
 * see, except that what it silently drops or runs into is a token as well,
 * with a sentence in bad.
 */

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,		/* a string without quotes */
	TOKEN_QUOTED,
	TOKEN_OPEN,		/* { */
	TOKEN_CLOSE,		/* } */
	TOKEN_EQUALS,
	TOKEN_APPEND,		/* += */
	TOKEN_COMMA,
	TOKEN_STRAY		/* ( ) and what has no meaning */
};

struct token {
	enum token_kind	 kind;
	int		 line;		/* where it begins, from 1 */
	size_t		 start, len;	/* its bytes, quotes and all */
	const char	*bad;		/* what is wrong with it; NULL */
};

/* The tokens of text up to TOKEN_END; owned by the caller. */
struct token	*config_lex(const char *text);

/*
 * The file as it was written: config_scan.c, config_read.c
 */

struct place {
	int	file;		/* index into files */
	int	line;		/* 0: nowhere */
};

struct setting {
	struct place	 place;		/* line 0: not given */
	bool		 bad;		/* reported: nothing follows from it */
	bool		 guessed;	/* a misspelt name was probably this */
	bool		 inherited;	/* from defaults: values are borrowed */
	size_t		 count;
	char		**values;	/* owned */
};

struct section {
	enum kind	 kind;
	struct place	 place;
	char		*title;		/* owned; "" if the kind has none */
	bool		 bad;		/* no usable title */
	struct setting	*settings;	/* owned; one per option of the kind */
	size_t		 number;	/* in file order, for config_index() */
	void		*built;		/* owned until it moves to the config */
};

struct source {
	char		*name;		/* owned; as it is shown */
	char		*folder;	/* owned; absolute */
	dev_t		 dev;
	ino_t		 ino;
	int		 depth;		/* 0: not included by another */
	struct section	*global;	/* owned; its own top level */
};

struct mistake {
	struct place	 place;
	bool		 warning;
	char		*text;		/* owned; "option: problem" */
};

struct document {
	struct source	*files;
	size_t		 file_count;
	struct section	**sections;	/* owned; in file order */
	size_t		 section_count;
	struct section	**index;	/* the same by kind and title */
	/* Titles of sections of no known kind: what refers to them is no
	 * second mistake. */
	char		**orphans;
	size_t		 orphan_count;
	/* Sections may be missing because some text was not read; that what
	 * refers to them finds nothing is no second mistake. */
	bool		 lost;
	struct mistake	*mistakes;
	size_t		 mistake_count;
	bool		 failed;	/* one of them was no warning */
};

void	 config_mistake(struct document *, struct place, const char *option,
	    const char *, ...) __attribute__((format(printf, 4, 5)));
void	 config_warning(struct document *, struct place, const char *option,
	    const char *, ...) __attribute__((format(printf, 4, 5)));

/* Reports them all, in file order. */
void	 config_tell(const struct document *, config_report, void *arg);
void	 config_document_free(struct document *);

struct section	*config_section_new(enum kind, struct place);
void		 config_section_free(struct section *);

/* Scans text, which is files[file]; appends its sections. */
void	 config_scan(struct document *, int file, const char *text);

/*
 * Has libconfuse read the clean text of one section, "kind "title" {...}"
 * or bare statements, into the settings that are given and not bad.
 */
void	 config_read(struct document *, struct section *, const char *text);

/*
 * From settings to structs: config_build.c, config_check.c
 */

struct build {
	struct document	*doc;
	struct section	*top;		/* owned; what stands in no section */
	struct section	*defaults;	/* borrowed; NULL: none */
	char		 host_name[256];
};

/* Warnings and mistakes go to the document; NULL if there was a mistake. */
struct config	*config_build(struct document *, const char *file);

/* Once all sections are built: what must hold in and between them. */
void	 config_check(struct build *);

/* Lists a finished kind for the look-ups. */
void	 config_sort(struct config *, enum kind, void *const *list, size_t count);

/* Frees what a section was built to. */
void		 config_built_free(enum kind, void *);

/* Sorts the sections for config_find(); those of one title in file order. */
void		 config_index(struct document *);

/* The first section of that kind and title; NULL. */
struct section	*config_find(const struct document *, enum kind,
		    const char *title);

/* What is promised but not built yet: config_later.c */

/* True if this value of the option is not available. */
bool	 config_later_value(enum kind, const struct option *,
	    char *const *values, size_t count);

#endif
