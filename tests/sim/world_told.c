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

/* Takes t. */
static void
take(struct world *w, struct told *t, const char *message)
{
	for (const struct told *x = w->told; x != NULL; x = x->next)
		if (strcmp(x->id, t->id) == 0 && strcmp(x->to, t->to) == 0) {
			w->repeats++;
			mem_free(t);
			return;
		}
	*w->told_end = t;
	w->told_end = &t->next;
	join(&w->notices, " ", t->kind);
	join(&w->said, "\n", message);
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
	take(w, t, message);
}

/* Commands: they hear it at once, and end a little later. */

#define HOOK_MS		50

static void
json_text(const char *json, const char *name, char *buf, size_t size)
{
	char		 key[32];
	const char	*at;
	size_t		 n;

	snprintf(key, sizeof key, "\"%s\":\"", name);
	buf[0] = '\0';
	if ((at = strstr(json, key)) == NULL)
		return;
	at += strlen(key);
	n = strcspn(at, "\"");
	if (n < size) {
		memcpy(buf, at, n);
		buf[n] = '\0';
	}
}

/* "silent-fail" hears nothing and fails, all others do as they are told. */
void
world_op_hook(void *arg, uint64_t handle, const char *name,
    const char *command, const char *input)
{
	struct world	*w = arg;
	struct event	*e;
	struct told	*t;

	if (w->drop_orders)
		return;
	e = world_event(w, HOOK_ENDS, HOOK_MS);
	e->job.id = handle;
	e->overtaken = strcmp(command, "silent-fail") == 0;
	if (e->overtaken)
		return;
	t = mem_alloc(sizeof *t);
	snprintf(t->to, sizeof t->to, "command:%s", name);
	t->at_ms = w->now_ms;
	json_text(input, "kind", t->kind, sizeof t->kind - 1);
	json_text(input, "id", t->id, sizeof t->id);
	json_text(input, "thread", t->thread, sizeof t->thread);
	if (t->kind[0] == '\0' || t->id[0] == '\0' || t->thread[0] == '\0')
		world_blame(w, "a command got what it cannot read", input);
	text_append(t->kind, sizeof t->kind, "!");
	take(w, t, input);
}

void
world_hook_ends(struct world *w, struct event *e)
{
	struct outcome	*o;

	if (w->up && e->boot == w->boot) {
		o = mem_alloc(sizeof *o);
		outcome_init(o);
		o->verdict = e->overtaken ? VERDICT_TEMPORARY :
		    VERDICT_ACCEPTED;
		engine_hooked(w->engine, e->job.id, o, world_told_ms(w));
		mem_free(o);
	}
	world_event_free(e);
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
