#include "alerts/lane.h"

#include <string.h>

#include "monitor/mem.h"

static const char *const	prefixes[] = {
	[LANE_SERVER] = "server ", [LANE_COMMAND] = "command ",
};

struct lane *
lane_of(struct lanes *lanes, enum lane_kind kind, const char *name)
{
	const char	*prefix = prefixes[kind];
	size_t		 len = strlen(prefix);
	struct lane	*l;

	LIST_FOREACH(l, lanes, next)
		if (strncmp(l->name, prefix, len) == 0 &&
		    strcmp(l->name + len, name) == 0)
			return (l);
	l = mem_alloc(sizeof *l);
	l->name = mem_printf("%s%s", prefix, name);
	LIST_INSERT_HEAD(lanes, l, next);
	return (l);
}

bool
lane_has_room(const struct lane *l, int64_t now_ms)
{
	return (l->in_flight < (l->doubted ? 1 : LANE_MOST) &&
	    l->busy_until_ms <= now_ms);
}

/* The one that finds out may hang as the last one did: nobody waits for it. */
bool
lane_is_shunned(const struct lane *l, int64_t now_ms)
{
	return (l->doubted && (now_ms < l->shun_until_ms || l->in_flight > 0));
}

void
lane_took(struct lane *l)
{
	l->in_flight++;
	l->busy_until_ms = 0;
}

void
lane_busy(struct lane *l, int64_t until_ms)
{
	l->busy_until_ms = until_ms;
}

bool
lane_ended(struct lane *l, bool answered, int64_t now_ms)
{
	bool	doubted = l->doubted;

	l->in_flight--;
	l->busy_until_ms = 0;
	l->doubted = !answered;
	if (!answered)
		l->shun_until_ms = now_ms + LANE_SHUN_MS;
	return (l->doubted != doubted);
}

void
lanes_tick(struct lanes *lanes, int64_t now_ms)
{
	struct lane	*l;

	LIST_FOREACH(l, lanes, next)
		if (l->busy_until_ms <= now_ms)
			l->busy_until_ms = 0;
}

int64_t
lanes_retry_ms(const struct lanes *lanes)
{
	const struct lane	*l;
	int64_t			 at_ms = 0;

	LIST_FOREACH(l, lanes, next)
		if (l->busy_until_ms != 0 &&
		    (at_ms == 0 || l->busy_until_ms < at_ms))
			at_ms = l->busy_until_ms;
	return (at_ms);
}

void
lanes_forget(struct lanes *lanes)
{
	struct lane	*l, *next;

	for (l = LIST_FIRST(lanes); l != NULL; l = next) {
		next = LIST_NEXT(l, next);
		if (l->in_flight > 0)
			continue;
		LIST_REMOVE(l, next);
		mem_free(l->name);
		mem_free(l);
	}
}
