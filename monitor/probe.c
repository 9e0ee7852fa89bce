#include "monitor/probe.h"

#include <string.h>

#include "monitor/mem.h"

static const char *const states[PROBE_STATES] = {
	[PROBE_WAITING]		= "waiting",
	[PROBE_SENDING]		= "sending",
	[PROBE_COMMITTED]	= "committed",
	[PROBE_ACCEPTED]	= "accepted",
	[PROBE_UNCERTAIN]	= "uncertain",
	[PROBE_DONE]		= "done",
};

static const char *const ends[PROBE_ENDS] = {
	[PROBE_END_NONE]	= "",
	[PROBE_END_DELIVERED]	= "delivered",
	[PROBE_END_LATE]	= "late",
	[PROBE_END_JUNK]	= "junk",
	[PROBE_END_REJECTED]	= "rejected",
	[PROBE_END_BOUNCED]	= "bounced",
	[PROBE_END_EXPIRED]	= "expired",
	[PROBE_END_LOST]	= "lost",
	[PROBE_END_BLIND]	= "blind",
};

void
probe_init(struct probe *p)
{
	memset(p, 0, sizeof *p);
	p->hops = -1;
	p->slowest_hop_ms = STAMP_NO_SPAN;
	p->skew_ms = STAMP_NO_SPAN;
}

const char *
probe_state_name(enum probe_state state)
{
	return (states[state]);
}

enum probe_state
probe_state_of(const char *word)
{
	size_t	i;

	for (i = 0; i < NITEMS(states); i++)
		if (strcmp(states[i], word) == 0)
			break;
	return ((enum probe_state)i);
}

const char *
probe_end_name(enum probe_end end)
{
	return (ends[end]);
}

enum probe_end
probe_end_of(const char *word)
{
	for (size_t i = 0; i < NITEMS(ends); i++)
		if (strcmp(ends[i], word) == 0)
			return ((enum probe_end)i);
	return (PROBE_END_NONE);
}
