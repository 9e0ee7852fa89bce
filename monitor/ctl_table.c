#include "monitor/ctl_table.h"

#include <string.h>
#include <sys/queue.h>

#include "monitor/mem.h"
#include "monitor/reason.h"
#include "monitor/text.h"

#define CELL		1100	/* a reply and what stands around it */
#define GAP		2
#define INDENT		"    "

struct row {
	char			*cells[TABLE_COLUMNS];	/* owned */
	char			*remark;	/* owned: lines, or NULL */
	size_t			 painted;	/* a column; TABLE_COLUMNS: none */
	enum level		 level;
	TAILQ_ENTRY(row)	 next;
};

struct table {
	const char *const	*heads;		/* borrowed */
	size_t			 columns;
	TAILQ_HEAD(row_list, row)	 rows;
};

static const char *const colours_of[LEVELS] = {
	[LEVEL_OK]		= "\033[32m",	/* green */
	[LEVEL_WARNING]		= "\033[33m",	/* yellow */
	[LEVEL_CRITICAL]	= "\033[1;31m",	/* bold red */
	[LEVEL_UNKNOWN]		= "\033[35m",	/* magenta */
};
#define PLAIN	"\033[0m"

struct table *
table_new(const char *const *heads)
{
	struct table	*t = mem_alloc(sizeof *t);

	t->heads = heads;
	while (heads[t->columns] != NULL)
		t->columns++;
	if (t->columns > TABLE_COLUMNS)
		panic("table: %zu columns", t->columns);
	TAILQ_INIT(&t->rows);
	return (t);
}

void
table_free(struct table **tp)
{
	struct table	*t = *tp;
	struct row	*r;

	if (t == NULL)
		return;
	*tp = NULL;
	while ((r = TAILQ_FIRST(&t->rows)) != NULL) {
		TAILQ_REMOVE(&t->rows, r, next);
		for (size_t i = 0; i < t->columns; i++)
			mem_free(r->cells[i]);
		mem_free(r->remark);
		mem_free(r);
	}
	mem_free(t);
}

static struct row *
last_row(const struct table *t)
{
	struct row	*r = TAILQ_LAST(&t->rows, row_list);

	if (r == NULL)
		panic("table: no row yet");
	return (r);
}

void
table_row(struct table *t, const char *const *cells)
{
	struct row	*r = mem_alloc(sizeof *r);
	char		 clean[CELL];

	for (size_t i = 0; i < t->columns; i++) {
		text_clean(clean, sizeof clean, cells[i], strlen(cells[i]));
		r->cells[i] = mem_strdup(clean[0] != '\0' ? clean : "-");
	}
	r->painted = TABLE_COLUMNS;
	TAILQ_INSERT_TAIL(&t->rows, r, next);
}

void
table_remark(struct table *t, const char *text)
{
	struct row	*r = last_row(t);
	char		 clean[CELL], filled[2 * CELL] = "", *more;

	if (text[0] == '\0')
		return;
	text_clean(clean, sizeof clean, text, strlen(text));
	(void)reason_wrap(filled, sizeof filled, clean, TABLE_WIDTH, INDENT,
	    INDENT);
	more = mem_printf("%s%s", r->remark != NULL ? r->remark : "", filled);
	mem_free(r->remark);
	r->remark = more;
}

void
table_paint(struct table *t, size_t column, enum level level)
{
	struct row	*r = last_row(t);

	r->painted = column;
	r->level = level;
}

bool
table_is_empty(const struct table *t)
{
	return (TAILQ_EMPTY(&t->rows));
}

/* Characters, not bytes. */
static size_t
width(const char *s)
{
	size_t	n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return (n);
}

static void
measure(const struct table *t, size_t widths[static TABLE_COLUMNS])
{
	const struct row	*r;
	size_t			 n;

	for (size_t i = 0; i < t->columns; i++) {
		widths[i] = width(t->heads[i]);
		TAILQ_FOREACH(r, &t->rows, next)
			if ((n = width(r->cells[i])) > widths[i])
				widths[i] = n;
	}
}

static void
print_cells(const struct table *t, const char *const *cells,
    const size_t *widths, const struct row *paint, FILE *f)
{
	for (size_t i = 0; i < t->columns; i++) {
		bool	painted = paint != NULL && paint->painted == i;

		fprintf(f, "%s%s%s", painted ? colours_of[paint->level] : "",
		    cells[i], painted ? PLAIN : "");
		if (i + 1 < t->columns)
			fprintf(f, "%*s", (int)(widths[i] - width(cells[i]) +
			    GAP), "");
	}
	putc('\n', f);
}

void
table_print(const struct table *t, FILE *f, bool colours)
{
	size_t			 widths[TABLE_COLUMNS];
	const struct row	*r;

	measure(t, widths);
	print_cells(t, t->heads, widths, NULL, f);
	TAILQ_FOREACH(r, &t->rows, next) {
		print_cells(t, (const char *const *)r->cells, widths,
		    colours ? r : NULL, f);
		if (r->remark != NULL)
			fputs(r->remark, f);
	}
}
