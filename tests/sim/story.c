#include "tests/sim/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"

void
story_wrong(const struct story *s, const struct line *l, const char *why)
{
	fprintf(stderr, "%s:%d: %s: %s\n", s->file, l->number, why, l->text);
	exit(2);
}

size_t
story_split(char *text, char *words[static STORY_WORDS])
{
	size_t	n = 0;
	char	*p = text;

	while (n < STORY_WORDS) {
		p += strspn(p, " \t");
		if (*p == '\0')
			break;
		if (*p == '"') {
			words[n++] = ++p;
			p += strcspn(p, "\"");
		} else {
			words[n++] = p;
			p += strcspn(p, " \t");
		}
		if (*p != '\0')
			*p++ = '\0';
	}
	return (n);
}

/* Reading a story. */

static char *
read_block(FILE *f, int *number)
{
	char	line[1024], *text = mem_strdup("");

	while (fgets(line, sizeof line, f) != NULL) {
		char	*more;

		++*number;
		if (strcmp(line, "end\n") == 0)
			break;
		more = mem_printf("%s%s", text, line);
		mem_free(text);
		text = more;
	}
	return (text);
}

static void
add_line(struct story *s, const char *text, int number)
{
	s->lines = mem_grow(s->lines, s->count + 1, sizeof *s->lines);
	s->lines[s->count].text = mem_strdup(text);
	s->lines[s->count++].number = number;
}

void
story_read(struct story *s, const char *file)
{
	FILE	*f = fopen(file, "r");
	char	 line[1024];
	int	 number = 0;

	*s = (struct story){ .file = file };
	if (f == NULL)
		panic("cannot read %s", file);
	while (fgets(line, sizeof line, f) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (strncmp(line, "title ", 6) == 0)
			s->title = mem_strdup(line + 6);
		else if (strcmp(line, "config") == 0)
			s->config = read_block(f, &number);
		else if (strcmp(line, "config2") == 0)
			s->config2 = read_block(f, &number);
		else if (strcmp(line, "sweep") == 0)
			s->sweep = true;
		else
			add_line(s, line, number);
	}
	fclose(f);
	if (s->config == NULL || s->title == NULL)
		panic("%s: a story needs a title and a config", file);
}

void
story_free(struct story *s)
{
	for (size_t i = 0; i < s->count; i++)
		mem_free(s->lines[i].text);
	mem_free(s->lines);
	mem_free(s->title);
	mem_free(s->config);
	mem_free(s->config2);
}
