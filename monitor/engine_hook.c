#include "monitor/engine_internal.h"

#include "monitor/mem.h"

/*
 * The alerts sections' commands: handed out by the outbox after the commit,
 * as its mails are, and answered through engine_hooked().
 */

bool
engine_hook_run(void *arg, uint64_t handle, const char *alerts,
    const char *command, const char *input)
{
	struct engine		*e = arg;
	struct hook_order	*h;

	if (e->ops->hook == NULL)
		return (false);
	h = mem_alloc(sizeof *h);
	h->handle = handle;
	h->name = mem_strdup(alerts);
	h->command = mem_strdup(command);
	h->input = mem_strdup(input);
	e->hooks_in_flight++;
	engine_order_hook(e, h);
	return (true);
}

void
engine_hook_free(struct hook_order *h)
{
	mem_free(h->name);
	mem_free(h->command);
	mem_free(h->input);
	mem_free(h);
}

void
engine_hooked(struct engine *e, uint64_t handle, const struct outcome *o,
    int64_t now_ms)
{
	e->now_ms = now_ms;
	e->hooks_in_flight--;
	outbox_result(e->outbox, handle, o, now_ms);
}
