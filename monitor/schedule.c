#include "monitor/schedule.h"

#include "monitor/text.h"

#define SPREAD_PER_ROUTE_MS	100
#define SPREAD_MAX_MS		300000

/* Half of it, and what steps of a millisecond leave over. */
static int64_t
half(struct steady *s, int64_t elapsed_ms)
{
	int64_t	walked_ms = (elapsed_ms + s->odd_ms) / 2;

	s->odd_ms = (elapsed_ms + s->odd_ms) % 2;
	return (walked_ms);
}

int64_t
steady_step(struct steady *s, const struct stamp *at)
{
	int64_t	elapsed = at->boot_ms - s->boot_ms;

	if (s->now_ms == 0)
		s->now_ms = at->wall_ms;
	else if (elapsed > 0 && at->wall_ms >= s->now_ms + elapsed)
		s->now_ms = at->wall_ms;
	else if (elapsed > 0)
		/* Behind or equal: full speed up to a second, else half. */
		s->now_ms += s->now_ms + elapsed - at->wall_ms < 1000 ?
		    elapsed : half(s, elapsed);
	s->boot_ms = at->boot_ms;
	return (s->now_ms);
}

int64_t
schedule_jitter_ms(const char *name, uint64_t n, int64_t span_ms)
{
	uint64_t	h = text_hash(TEXT_HASH ^ n, name);

	if (span_ms <= 0)
		return (0);
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdU;
	h ^= h >> 33;
	return ((int64_t)(h % (uint64_t)span_ms));
}

int64_t
schedule_first_ms(const char *route, int64_t every_ms, int64_t stored_ms,
    unsigned routes, int64_t now_ms)
{
	int64_t	spread = (int64_t)routes * SPREAD_PER_ROUTE_MS;

	if (stored_ms > now_ms && stored_ms - now_ms <= every_ms)
		return (stored_ms);
	if (spread > SPREAD_MAX_MS)
		spread = SPREAD_MAX_MS;
	if (spread > every_ms)
		spread = every_ms;
	return (now_ms + schedule_jitter_ms(route, 0, spread));
}

int64_t
schedule_next_ms(int64_t due_ms, int64_t every_ms, int64_t now_ms)
{
	int64_t	behind = now_ms - due_ms;

	if (behind < 0)
		behind = 0;
	return (due_ms + (behind / every_ms + 1) * every_ms);
}

/* The message was never stored: sending again at once does not help. */
static bool
system_full_for_good(const struct outcome *o)
{
	return (o->class == CLASS_SYSTEM_FULL);
}

static struct schedule_after
refused_for_good(const struct route *r, const struct outcome *o,
    unsigned rejects, int64_t now_ms)
{
	struct schedule_after	a = { .state = PROBE_DONE,
				    .end = PROBE_END_REJECTED };

	a.hold_ms = now_ms + (system_full_for_good(o) ? r->resend_after_ms :
	    backoff_wait_ms(&r->reject_backoff, rejects > 0 ? rejects - 1 : 0));
	return (a);
}

static struct schedule_after
refused_for_now(const struct route *r, const struct probe *p,
    const struct outcome *o, int64_t now_ms)
{
	const struct backoff	*b = o->class == CLASS_RATE_LIMIT ?
				    &r->rate_retry : &r->retry;
	struct schedule_after	 a = { .state = PROBE_WAITING };

	a.next_try_ms = now_ms + backoff_wait_ms(b,
	    p->deferrals > 0 ? p->deferrals - 1 : 0);
	if (now_ms - p->scheduled_ms >= r->give_up_ms) {
		a.state = PROBE_DONE;
		a.end = o->blind ? PROBE_END_BLIND : PROBE_END_EXPIRED;
	}
	return (a);
}

struct schedule_after
schedule_after(const struct route *r, const struct probe *p,
    const struct outcome *o, unsigned rejects, int64_t now_ms)
{
	switch (o->verdict) {
	case VERDICT_ACCEPTED:
		return ((struct schedule_after){ .state = PROBE_ACCEPTED });
	case VERDICT_UNCERTAIN:
		return ((struct schedule_after){ .state = PROBE_UNCERTAIN });
	case VERDICT_PERMANENT:
		return (refused_for_good(r, o, rejects, now_ms));
	case VERDICT_NONE:
	case VERDICT_TEMPORARY:
	case VERDICTS:
		break;
	}
	return (refused_for_now(r, p, o, now_ms));
}
