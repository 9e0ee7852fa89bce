#include <stdio.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"
#include "tests/sim/world_internal.h"

/* What the admins were told. */

static bool
header(const char *message, const char *name, char *buf, size_t size)
{
	char		 line[64];
	const char	*at;
	size_t		 n;

	snprintf(line, sizeof line, "\r\n%s: ", name);
	buf[0] = '\0';
	if ((at = strstr(message, line)) == NULL)
		return (false);
	at += strlen(line);
	n = strcspn(at, "\r");
	if (n >= size)
		return (false);
	memcpy(buf, at, n);
	buf[n] = '\0';
	return (true);
}

static void
join(char **list, const char *separator, const char *more)
{
	char	*longer = mem_printf("%s%s%s", *list,
		    (*list)[0] != '\0' ? separator : "", more);

	mem_free(*list);
	*list = longer;
}

void
world_notice(struct world *w, const char *to, const char *message)
{
	struct told	*t = mem_alloc(sizeof *t);

	text_copy(t->to, sizeof t->to, to);
	t->at_ms = w->now_ms;
	if (!header(message, "Message-ID", t->id, sizeof t->id) ||
	    !header(message, "X-Mailflow-Notice", t->kind, sizeof t->kind))
		world_blame(w, "a notice without its headers", to);
	if (!header(message, "In-Reply-To", t->thread, sizeof t->thread))
		text_copy(t->thread, sizeof t->thread, t->id);
	for (const struct told *x = w->told; x != NULL; x = x->next)
		if (strcmp(x->id, t->id) == 0 && strcmp(x->to, to) == 0) {
			w->repeats++;
			mem_free(t);
			return;
		}
	*w->told_end = t;
	w->told_end = &t->next;
	join(&w->notices, " ", t->kind);
	join(&w->said, "\n", message);
}

const char *
world_notices(const struct world *w)
{
	return (w->notices);
}

const struct told *
world_told(const struct world *w)
{
	return (w->told);
}

unsigned
world_repeats(const struct world *w)
{
	return (w->repeats);
}

unsigned
world_said(const struct world *w, const char *words)
{
	unsigned	 n = 0;
	const char	*at = w->said;

	/* Once a notice: each begins with its date. */
	while ((at = strstr(at, words)) != NULL) {
		n++;
		if ((at = strstr(at, "\nDate: ")) == NULL)
			break;
	}
	return (n);
}

void
world_told_free(struct world *w)
{
	struct told	*t;

	while ((t = w->told) != NULL) {
		w->told = t->next;
		mem_free(t);
	}
	mem_free(w->notices);
	mem_free(w->said);
}
