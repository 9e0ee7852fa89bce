#include "monitor/control_json.h"

#include "monitor/clock.h"
#include "monitor/latency.h"
#include "monitor/mem.h"

static json_t *
checked(json_t *j)
{
	if (j == NULL)
		panic("out of memory for JSON");
	return (j);
}

json_t *
control_json_text(const char *s)
{
	json_t	*j = json_string(s);

	return (j != NULL ? j : checked(json_string("?")));
}

json_t *
control_json_time(int64_t wall_ms)
{
	char	buf[CLOCK_RFC3339];

	return (wall_ms == 0 ? json_null() :
	    control_json_text(clock_rfc3339(wall_ms, buf)));
}

static json_t *
span(int64_t ms)
{
	return (ms == STAMP_NO_SPAN ? json_null() : json_integer(ms));
}

json_t *
control_json_probe(const struct probe *p)
{
	struct latency	l;

	latency_of(p, &l);
	return (checked(json_pack(
	    "{so so so so so so so so so so so so so so so"
	    " si si si so so so so so so so so so sI sb}",
	    "probe", control_json_text(p->token),
	    "route", control_json_text(p->route),
	    "server", control_json_text(p->server),
	    "mailbox", control_json_text(p->mailbox),
	    "from", control_json_text(p->from),
	    "to", control_json_text(p->to),
	    "state", control_json_text(probe_state_name(p->state)),
	    "outcome", control_json_text(probe_end_name(p->end)),
	    "class", control_json_text(class_name(p->class)),
	    "scheduled_at", control_json_time(p->scheduled_ms),
	    "next_try_at", p->state == PROBE_WAITING ?
		control_json_time(p->next_try_ms) : json_null(),
	    "first_attempt_at", control_json_time(p->first_attempt.wall_ms),
	    "accepted_at", control_json_time(p->accepted.wall_ms),
	    "arrived_at", control_json_time(p->arrived.wall_ms),
	    "finished_at", control_json_time(p->finished_ms),
	    "attempts", (int)p->attempts,
	    "deferrals", (int)p->deferrals,
	    "code", p->code,
	    "enhanced", control_json_text(p->enhanced),
	    "reply", control_json_text(p->reply),
	    "host", control_json_text(p->host),
	    "queue_id", control_json_text(p->queue_id),
	    "folder", control_json_text(p->folder),
	    "total_ms", span(l.total_ms),
	    "accept_ms", span(l.accept_ms),
	    "transit_ms", span(l.transit_ms),
	    "note", control_json_text(p->note),
	    "duplicates", (json_int_t)p->duplicates,
	    "blind", p->blind)));
}

json_t *
control_json_episode(const struct episode *e)
{
	return (checked(json_pack(
	    "{sI so so so so so so so so so si si si so so so so so sI sb so sb}",
	    "episode", (json_int_t)e->id,
	    "scope", control_json_text(e->scope),
	    "class", control_json_text(class_name(e->class)),
	    "state", control_json_text(episode_state_name(e->state)),
	    "origin", control_json_text(episode_origin_name(e->origin)),
	    "first_miss_at", control_json_time(e->first_miss_ms),
	    "opened_at", control_json_time(e->opened_ms),
	    "last_miss_at", control_json_time(e->last_miss_ms),
	    "accepting_at", control_json_time(e->accepting_ms),
	    "delivered_at", control_json_time(episode_is_unwatched(e) ? 0 :
		e->delivered_ms),
	    "refusals", (int)e->refusals,
	    "swings", (int)e->swings,
	    "code", e->code,
	    "enhanced", control_json_text(e->enhanced),
	    "first_reply", control_json_text(e->first_reply),
	    "last_reply", control_json_text(e->last_reply),
	    "routes", control_json_text(e->routes),
	    "sentinel", control_json_text(e->sentinel),
	    "max_delay_ms", (json_int_t)e->max_delay_ms,
	    "acked", e->acked,
	    "stage", control_json_text(stage_name(e->stage)),
	    "held", e->held)));
}

json_t *
control_json_tally(const struct tally_line *l)
{
	json_t	*j = checked(json_pack("{so si si si so so so}",
		    "route", control_json_text(l->route),
		    "arrived", (int)l->arrived,
		    "failed", (int)l->failed,
		    "deferrals", (int)l->deferrals,
		    "p50_ms", span(l->latency.p50_ms),
		    "p95_ms", span(l->latency.p95_ms),
		    "max_ms", span(l->latency.max_ms)));

	for (int i = PROBE_END_NONE + 1; i < PROBE_ENDS; i++)
		json_object_set_new(j, probe_end_name((enum probe_end)i),
		    json_integer(l->ends[i]));
	return (j);
}

static json_t *
probe_or_null(const struct probe *p)
{
	return (p != NULL ? control_json_probe(p) : json_null());
}

json_t *
control_json_route(const struct route_view *v)
{
	const struct route	*r = v->route;

	return (checked(json_pack(
	    "{so so so so so so sI sI sI sb so so si so so so so sb}",
	    "route", control_json_text(r->name),
	    "host", control_json_text(v->host),
	    "server", control_json_text(r->server->name),
	    "mailbox", control_json_text(r->mailbox->name),
	    "from", control_json_text(r->from),
	    "to", control_json_text(r->to),
	    "every_ms", (json_int_t)r->every_ms,
	    "warn_after_ms", (json_int_t)r->warn_after_ms,
	    "late_after_ms", (json_int_t)r->late_after_ms,
	    "paused", v->paused,
	    "due_at", control_json_time(v->due_ms),
	    "current", probe_or_null(v->current),
	    "pending", (int)v->pending,
	    "oldest_pending", probe_or_null(v->oldest_pending),
	    "last", probe_or_null(v->last),
	    "last_delivered_at", control_json_time(v->last_delivered_ms),
	    "episode", v->episode != NULL ?
		control_json_episode(v->episode) : json_null(),
	    "blind", v->blind)));
}

static json_t *
span_32(int32_t ms)
{
	return (ms >= 0 ? json_integer(ms) : json_null());
}

json_t *
control_json_check(const struct check_view *v)
{
	const struct outcome	*o = v->seen;

	return (checked(json_pack(
	    "{so so so so so so so so so so so so so so so so so so}",
	    "server", control_json_text(v->server->name),
	    "host", control_json_text(v->host),
	    "address", control_json_text(o->address),
	    "state", control_json_text(check_state_name(v->state)),
	    "hint", control_json_text(v->hint),
	    "checked_at", control_json_time(v->at_ms),
	    "due_at", control_json_time(v->due_ms),
	    "connect_ms", span_32(o->stage_ms[STAGE_CONNECT]),
	    "greeting_ms", span_32(o->stage_ms[STAGE_GREETING]),
	    "usual_greeting_ms", span_32(v->usual_ms),
	    "greeting", control_json_text(o->greeting),
	    "extensions", control_json_text(o->extensions),
	    "size_limit", o->size_limit > 0 ? json_integer(o->size_limit) :
		json_null(),
	    "tls", control_json_text(o->tls),
	    "certificate_days",
		o->certificate_days != OUTCOME_NO_CERTIFICATE ?
		json_integer(o->certificate_days) : json_null(),
	    "class", control_json_text(class_name(o->class)),
	    "code", json_integer(o->code),
	    "reply", control_json_text(o->reply))));
}

json_t *
control_json_mailbox(const struct mailbox_view *v, int64_t now_ms)
{
	const char	*state = !v->known ? "starting" : v->good ? "good" :
			    "blind";

	return (checked(json_pack("{so so so so so so so so sI}",
	    "mailbox", control_json_text(v->mailbox->name),
	    "host", control_json_text(v->mailbox->host),
	    "state", control_json_text(state),
	    "since", control_json_time(v->since_ms),
	    "last_look_at", control_json_time(v->last_look_ms),
	    "last_look_age_ms", v->last_look_ms == 0 ? json_null() :
		json_integer(now_ms - v->last_look_ms),
	    "retry_at", v->good ? json_null() : control_json_time(v->retry_ms),
	    "reason", control_json_text(v->reason),
	    "ignored", (json_int_t)v->ignored)));
}

json_t *
control_json_waiting(const struct outbox_view *v)
{
	const struct delivery	*d = v->delivery;

	return (checked(json_pack("{so so so so si so so}",
	    "alerts", control_json_text(v->alerts),
	    "kind", control_json_text(notice_kind_name(v->kind)),
	    "to", control_json_text(d->to),
	    "owed_at", control_json_time(v->owed_ms),
	    "attempts", (int)d->attempts,
	    "next_try_at", d->state == DELIVERY_DUE ?
		control_json_time(d->next_ms) : json_null(),
	    "reply", control_json_text(d->last_reply))));
}
