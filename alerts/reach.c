#include "alerts/reach.h"

#include <string.h>
#include <strings.h>

#include "monitor/text.h"

/* The entry of this host; else a free one, else the one seen longest ago. */
static struct reach_host *
entry(struct reach *r, const char *host)
{
	struct reach_host	*oldest = &r->hosts[0];

	for (size_t i = 0; i < r->count; i++) {
		if (strcasecmp(r->hosts[i].name, host) == 0)
			return (&r->hosts[i]);
		if (r->hosts[i].at_ms < oldest->at_ms)
			oldest = &r->hosts[i];
	}
	return (r->count < REACH_HOSTS ? &r->hosts[r->count++] : oldest);
}

void
reach_note(struct reach *r, const char *host, bool reached, bool lasting,
    int64_t now_ms)
{
	struct reach_host	*h;

	if (host[0] == '\0')
		return;
	h = entry(r, host);
	text_copy(h->name, sizeof h->name, host);
	h->reached = reached;
	h->lasting = lasting;
	h->at_ms = now_ms;
}

size_t
reach_none(const struct reach *r, int64_t now_ms)
{
	size_t	gone = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct reach_host	*h = &r->hosts[i];

		if (!h->lasting && now_ms - h->at_ms > REACH_STALE_MS)
			continue;
		if (h->reached)
			return (0);
		gone++;
	}
	return (gone >= REACH_QUORUM ? gone : 0);
}

void
reach_keep(struct reach *r, bool (*known)(const void *arg, const char *host),
    const void *arg)
{
	size_t	kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (known(arg, r->hosts[i].name))
			r->hosts[kept++] = r->hosts[i];
	r->count = kept;
}
