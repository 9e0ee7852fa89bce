#include "monitor/config_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * libconfuse stops at its first error and forgets where things were.  So the
 * file is walked here first: sections and options are noted with their
 * lines, what is wrong is reported and left out, and what remains, which
 * libconfuse can only agree with, is given to it section by section.
 */
struct scan {
	struct document	*doc;
	int		 file;
	const char	*text;
	struct token	*tokens;	/* owned */
	size_t		 at;
	/* Sections taken as closed before their "}" came; that many "}" may
	 * follow without an opening. */
	unsigned	 unclosed;
	bool		 broken;	/* this statement is reported already */
};

static const struct token *
peek(const struct scan *s, size_t ahead)
{
	size_t	i;

	for (i = s->at; ahead > 0 && s->tokens[i].kind != TOKEN_END; ahead--)
		i++;
	return (&s->tokens[i]);
}

static const struct token *
take(struct scan *s)
{
	const struct token	*t = &s->tokens[s->at];

	if (t->kind != TOKEN_END)
		s->at++;
	return (t);
}

static bool
is_string(const struct token *t)
{
	return (t->kind == TOKEN_WORD || t->kind == TOKEN_QUOTED);
}

static bool
is_brace(const struct token *t)
{
	return (t->kind == TOKEN_OPEN || t->kind == TOKEN_CLOSE);
}

static struct place
place(const struct scan *s, const struct token *t)
{
	return ((struct place){ .file = s->file, .line = t->line });
}

/* A token for an error line. */
static const char *
shown(const struct scan *s, const struct token *t, char *buf, size_t size)
{
	size_t	n = strcspn(s->text + t->start, "\r\n");

	if (t->kind == TOKEN_END)
		text_copy(buf, size, "the end of the file");
	else
		text_clean(buf, size, s->text + t->start,
		    n < t->len ? n : t->len);
	return (buf);
}

/*
 * One mistake per statement: what follows from the first would only confuse.
 * name is the option's token, or whatever stands for it.
 */
static void	complain(struct scan *, const struct token *name,
		    const struct token *where, const char *, ...)
		    __attribute__((format(printf, 4, 5)));

static void
complain(struct scan *s, const struct token *name, const struct token *where,
    const char *fmt, ...)
{
	char	word[48], problem[256];
	va_list	ap;

	if (s->broken)
		return;
	s->broken = true;
	va_start(ap, fmt);
	vsnprintf(problem, sizeof problem, fmt, ap);
	va_end(ap);
	config_mistake(s->doc, place(s, where),
	    shown(s, name, word, sizeof word), "%s", problem);
}

/* Past the block whose "{" is next, to behind its "}". */
static void
skip_block(struct scan *s)
{
	unsigned	depth = 0;

	do {
		const struct token	*t = take(s);

		if (t->kind == TOKEN_END)
			return;
		if (t->kind == TOKEN_OPEN)
			depth++;
		else if (t->kind == TOKEN_CLOSE)
			depth--;
	} while (depth > 0);
}

/* Past the rest of a line that makes no sense, and a block it opens. */
static void
skip_line(struct scan *s, int line)
{
	for (;;) {
		const struct token	*t = peek(s, 0);

		if (t->kind == TOKEN_END || t->line != line ||
		    t->kind == TOKEN_CLOSE)
			return;
		if (t->kind == TOKEN_OPEN)
			skip_block(s);
		else
			take(s);
	}
}

/* "name = ..." on a line of its own: the start of the next statement. */
static bool
next_statement(const struct scan *s, int line)
{
	return (peek(s, 0)->kind == TOKEN_WORD && peek(s, 0)->line != line &&
	    (peek(s, 1)->kind == TOKEN_EQUALS ||
	    peek(s, 1)->kind == TOKEN_APPEND));
}

static bool
touches(const struct token *a, const struct token *b)
{
	return (a->start + a->len == b->start && b->kind != TOKEN_END);
}

/* Whether a section begins here: "word {" or "word title {". */
static bool
begins_section(const struct scan *s)
{
	const struct token	*t = peek(s, 0);

	return (t->kind == TOKEN_WORD && (peek(s, 1)->kind == TOKEN_OPEN ||
	    (is_string(peek(s, 1)) && peek(s, 2)->kind == TOKEN_OPEN)));
}

/* A second word behind a value that begins nothing: "5 minutes". */
static void
one_word(struct scan *s, const struct token *name, int line)
{
	const struct token	*t = peek(s, 0), *next = peek(s, 1);

	if (!is_string(t) || t->line != line || next->kind == TOKEN_EQUALS ||
	    next->kind == TOKEN_APPEND || begins_section(s))
		return;
	complain(s, name, t, "put the value in quotes");
	while (is_string(peek(s, 0)) && peek(s, 0)->line == line &&
	    peek(s, 1)->kind != TOKEN_EQUALS)
		take(s);
}

/*
 * A string as a value.  libconfuse ends one without quotes at + * # ( ) and
 * more, and would go on with the rest as if it were something else.
 */
static void
scan_string(struct scan *s, const struct token *name, bool in_list)
{
	const struct token	*t = take(s), *next = peek(s, 0);

	if (t->bad != NULL)
		complain(s, name, t, "%s", t->bad);
	if (touches(t, next) && next->kind != TOKEN_COMMA &&
	    next->kind != TOKEN_CLOSE) {
		complain(s, name, t, "put the value in quotes");
		for (; touches(t, peek(s, 0)) && !is_brace(peek(s, 0)); )
			t = take(s);
		if (touches(t, peek(s, 0)) && peek(s, 0)->kind == TOKEN_OPEN)
			skip_block(s);
	}
	if (!in_list)
		one_word(s, name, t->line);
	if (t->kind == TOKEN_WORD && s->text[t->start + t->len] == '#' &&
	    !s->broken)
		config_warning(s->doc, place(s, t), "#", "a comment begins "
		    "right behind a value: put the value in quotes if the # "
		    "belongs to it");
}

/* A list from its "{" to its "}". */
static void
scan_list(struct scan *s, const struct token *name)
{
	const struct token	*open = take(s), *t;
	bool			 separated = true;

	for (;;) {
		t = peek(s, 0);
		if (t->kind == TOKEN_CLOSE) {
			take(s);
			return;
		}
		if (t->kind == TOKEN_END || t->kind == TOKEN_OPEN ||
		    next_statement(s, open->line)) {
			complain(s, name, open, "the list has no }");
			return;
		}
		if (is_string(t)) {
			if (!separated)
				complain(s, name, t,
				    "a comma is missing in the list");
			scan_string(s, name, true);
			separated = false;
			continue;
		}
		if (t->kind != TOKEN_COMMA || separated)
			complain(s, name, t, "a list is {value, value}");
		take(s);
		separated = true;
	}
}

/* What follows "name =". */
static void
scan_value(struct scan *s, const struct token *name, const struct option *o)
{
	const struct token	*t = peek(s, 0);

	if (t->kind == TOKEN_OPEN) {
		if (o != NULL && !config_type_is_list(o->type))
			complain(s, name, t, "takes one value, not a list");
		scan_list(s, name);
	} else if (is_string(t) && !next_statement(s, name->line))
		scan_string(s, name, false);
	else {
		complain(s, name, name, "has no value");
		skip_line(s, name->line);
	}
}

/*
 * A growing string with the statements that are good, as libconfuse will
 * read them.
 */
struct clean {
	char	*text;
	size_t	 size;
	FILE	*f;
};

static void
clean_open(struct clean *c)
{
	if ((c->f = open_memstream(&c->text, &c->size)) == NULL)
		panic("open_memstream");
}

static void
clean_add(struct clean *c, const struct scan *s, size_t from, size_t to)
{
	for (; from < to; from++) {
		fwrite(s->text + s->tokens[from].start, 1,
		    s->tokens[from].len, c->f);
		fputc(' ', c->f);
	}
	fputc('\n', c->f);
}

/* Hands the text over and frees it. */
static void
clean_read(struct clean *c, struct scan *s, struct section *section)
{
	if (fclose(c->f) != 0)
		panic("open_memstream");
	config_read(s->doc, section, c->text);
	mem_free(c->text);
}

/* Where a word that is no option here would be one. */
static const char *
home_of(const struct scan *s, const struct token *name)
{
	int	i;

	for (i = 0; i < KINDS; i++)
		if (i != KIND_DEFAULTS && config_option_of((enum kind)i,
		    s->text + name->start, name->len) != -1)
			return (i == KIND_GLOBAL ? "no section" :
			    config_kinds[i].name);
	return (NULL);
}

static const char *
where_is(const struct section *section)
{
	return (section->kind == KIND_GLOBAL ? "outside of sections" :
	    config_kinds[section->kind].name);
}

/* Not ours; the option it resembles counts as given and bad. */
static void
unknown_option(struct scan *s, struct section *section,
    const struct token *name)
{
	const struct section_kind	*k = &config_kinds[section->kind];
	const char			*home = home_of(s, name);
	struct setting			*set;
	int				 like;

	like = config_option_like(section->kind, s->text + name->start,
	    name->len);
	if (like != -1) {
		complain(s, name, name, "no such option (%s); "
		    "%s is meant?", where_is(section), k->options[like].name);
		set = &section->settings[like];
		if (set->place.line == 0) {
			set->place = place(s, name);
			set->bad = set->guessed = true;
		}
	} else if (home != NULL)
		complain(s, name, name, "no such option (%s); "
		    "it belongs in %s", where_is(section), home);
	else
		complain(s, name, name, "no such option (%s)",
		    where_is(section));
}

/* The setting of a known option, to be filled; NULL if it has one. */
static struct setting *
claim(struct scan *s, struct section *section, int option,
    const struct token *name)
{
	struct setting	*set = &section->settings[option];

	if (set->place.line != 0 && !set->guessed) {
		complain(s, name, name, "given twice; first on line %d",
		    set->place.line);
		return (NULL);
	}
	*set = (struct setting){ .place = place(s, name) };
	return (set);
}

/* "name = value"; both are there. */
static void
scan_option(struct scan *s, struct section *section, struct clean *clean)
{
	const struct section_kind	*k = &config_kinds[section->kind];
	size_t				 start = s->at;
	const struct token		*name = take(s), *sign = take(s);
	struct setting			*set = NULL;
	int				 i;

	i = config_option_of(section->kind, s->text + name->start, name->len);
	if (i == -1)
		unknown_option(s, section, name);
	else
		set = claim(s, section, i, name);
	if (sign->kind == TOKEN_APPEND)
		complain(s, name, name, "use =, with the whole list");
	scan_value(s, name, i != -1 ? &k->options[i] : NULL);
	if (set != NULL)
		set->bad = s->broken;
	if (!s->broken)
		clean_add(clean, s, start, s->at);
}

/* The same without its "{", which only the top level can tell. */
static bool
begins_without_brace(const struct scan *s)
{
	const struct token	*t = peek(s, 0);

	return (t->kind == TOKEN_WORD && is_string(peek(s, 1)) &&
	    config_kind_of(s->text + t->start, t->len) != -1);
}

/* What begins a statement but not one that exists. */
static void
nonsense(struct scan *s)
{
	const struct token	*t = take(s), *next = peek(s, 0);

	if (t->bad != NULL) {
		complain(s, t, t, "%s", t->bad);
		s->doc->lost = s->doc->lost || next->kind == TOKEN_END;
	} else if (t->kind == TOKEN_WORD && next->kind != TOKEN_EQUALS) {
		complain(s, t, t, "a = is missing behind it");
		if (config_option_of(KIND_GLOBAL, s->text + t->start,
		    t->len) == config_include())
			s->doc->lost = true;
	} else
		complain(s, t, t, "does not make sense here");
	if (t->kind == TOKEN_OPEN) {
		s->at--;
		skip_block(s);
	}
	skip_line(s, t->line);
}

/* One statement that is no section. */
static void
scan_statement(struct scan *s, struct section *section, struct clean *clean)
{
	s->broken = false;
	if (peek(s, 0)->kind == TOKEN_WORD && peek(s, 0)->bad == NULL &&
	    (peek(s, 1)->kind == TOKEN_EQUALS ||
	    peek(s, 1)->kind == TOKEN_APPEND))
		scan_option(s, section, clean);
	else
		nonsense(s);
}

/* The statements of a section up to its "}". */
static void
scan_body(struct scan *s, struct section *section, const struct token *head,
    struct clean *clean)
{
	for (;;) {
		const struct token	*t = peek(s, 0);

		if (t->kind == TOKEN_CLOSE) {
			take(s);
			return;
		}
		s->broken = false;
		if (t->kind == TOKEN_END) {
			complain(s, head, head, "the section has no }");
			return;
		}
		if (begins_section(s)) {
			complain(s, head, head, "the section has no } before "
			    "the next one, on line %d", t->line);
			s->unclosed++;
			return;
		}
		scan_statement(s, section, clean);
	}
}

static void
add_section(struct document *doc, struct section *section)
{
	if ((doc->section_count & (doc->section_count - 1)) == 0)
		doc->sections = mem_grow(doc->sections,
		    doc->section_count == 0 ? 1 : doc->section_count * 2,
		    sizeof *doc->sections);
	doc->sections[doc->section_count++] = section;
}

/* Remembers the title of a section of no kind; quotes are taken off. */
static void
add_orphan(struct scan *s, const struct token *title)
{
	struct document	*doc = s->doc;
	size_t		 quotes = title->kind == TOKEN_QUOTED ? 1 : 0;

	if (title->bad != NULL || doc->orphan_count >= 100)
		return;
	doc->orphans = mem_grow(doc->orphans, doc->orphan_count + 1,
	    sizeof *doc->orphans);
	doc->orphans[doc->orphan_count++] = mem_printf("%.*s",
	    (int)(title->len - 2 * quotes), s->text + title->start + quotes);
}

/* The kind of section that a word names or is meant to; -1: none. */
static int
kind_of(struct scan *s, const struct token *head)
{
	const char	*word = s->text + head->start;
	int		 kind = config_kind_of(word, head->len);

	if (kind != -1)
		return (kind);
	kind = config_kind_like(word, head->len);
	if (kind != -1)
		complain(s, head, head, "no such section; %s is meant?",
		    config_kinds[kind].name);
	else
		complain(s, head, head, "no such section");
	return (kind);
}

static void
check_title(struct scan *s, struct section *section, const struct token *head,
    const struct token *title)
{
	bool	titled = config_kinds[section->kind].titled;

	if (title == NULL && titled)
		complain(s, head, head, "the section needs a name");
	else if (title != NULL && !titled)
		complain(s, head, head, "the section takes no name");
	else if (title != NULL && title->bad != NULL)
		complain(s, head, title, "%s", title->bad);
	section->bad = titled && (title == NULL || title->bad != NULL);
}

/* "word title {" or "word {", and all up to its "}". */
static void
scan_section(struct scan *s)
{
	const struct token	*head = take(s), *title = NULL;
	struct section		*new;
	struct clean		 clean;
	int			 kind;

	s->broken = false;
	kind = kind_of(s, head);
	if (is_string(peek(s, 0)))
		title = take(s);
	if (kind == -1) {
		if (title != NULL)
			add_orphan(s, title);
		s->doc->lost = true;
		skip_block(s);
		return;
	}
	if (peek(s, 0)->kind == TOKEN_OPEN)
		take(s);
	else
		complain(s, head, head, "a { is missing");
	new = config_section_new((enum kind)kind, place(s, head));
	check_title(s, new, head, title);
	clean_open(&clean);
	fprintf(clean.f, "%s ", config_kinds[kind].name);
	if (config_kinds[kind].titled && new->bad)
		fputs("\"\" ", clean.f);
	else if (config_kinds[kind].titled)
		clean_add(&clean, s, (size_t)(title - s->tokens),
		    (size_t)(title - s->tokens) + 1);
	fputs("{\n", clean.f);
	scan_body(s, new, head, &clean);
	fputs("}\n", clean.f);
	clean_read(&clean, s, new);
	add_section(s->doc, new);
}

static void
stray_close(struct scan *s)
{
	const struct token	*t = take(s);

	if (s->unclosed > 0) {
		s->unclosed--;
		return;
	}
	s->broken = false;
	complain(s, t, t, "closes nothing");
}

void
config_scan(struct document *doc, int file, const char *text)
{
	struct scan	s = {
		.doc = doc,
		.file = file,
		.text = text,
		.tokens = config_lex(text),
	};
	struct section	*global = doc->files[file].global;
	struct clean	 clean;

	clean_open(&clean);
	while (peek(&s, 0)->kind != TOKEN_END) {
		if (peek(&s, 0)->kind == TOKEN_CLOSE)
			stray_close(&s);
		else if (begins_section(&s) || begins_without_brace(&s))
			scan_section(&s);
		else
			scan_statement(&s, global, &clean);
	}
	clean_read(&clean, &s, global);
	mem_free(s.tokens);
}
