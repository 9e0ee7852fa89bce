#include "alerts/outbox.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "alerts/hook.h"
#include "alerts/lane.h"
#include "alerts/notice.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define SECOND_MS	INT64_C(1000)
#define MINUTE_MS	(60 * SECOND_MS)
#define HOUR_MS		(60 * MINUTE_MS)
#define DAY_MS		(24 * HOUR_MS)

/* Given up after this, and only after so many attempts: a clock that is set
 * forward by a week must not throw away what was owed a minute ago. */
#define EXPIRE_MS	(5 * DAY_MS)
#define EXPIRE_ATTEMPTS	20

/* Later than this it says why. */
#define LATE_MS		(10 * MINUTE_MS)

/* Wait when nobody could take a job. */
#define BUSY_MS		SECOND_MS

/* After each round through all servers. */
static const struct backoff gaps = { 7, {
	10 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS,
	15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS,
} };

/* After each failure of a command. */
static const struct backoff hook_gaps = { 4, {
	10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS,
} };

/* Nobody wants to read a test that comes tomorrow. */
#define TEST_EXPIRE_MS	(10 * MINUTE_MS)

/* A delivery not yet ended, and what of its notice decides when it goes. */
struct item {
	struct delivery		 d;
	int64_t			 episode;	/* 0: none */
	int64_t			 owed_ms;
	enum notice_kind	 kind;
	bool			 test;
	bool			 replaced;	/* by a newer sign of life */
	char			 alerts[65];
	uint64_t		 handle;	/* 0: not under way */
	struct lane		*lane;		/* borrowed: that it is under
						 * way by */
	bool			 waits;		/* its lane had no room */
	struct item		*before;	/* the same thread's, to the same
						 * person; must go first */
	TAILQ_ENTRY(item)	 entry;
};
TAILQ_HEAD(items, item);

struct outbox {
	const struct config	*config;	/* borrowed */
	struct store		*store;		/* borrowed */
	struct items		 items;		/* by notice, then recipient */
	struct notice		*notice;	/* owned; scratch, as is: */
	struct frame_job	*job;
	uint64_t		 next_handle;
	struct lanes		 lanes;		/* owned */
	unsigned		 waiting;
	int64_t			 newest;	/* highest id of a notice loaded */
	bool			 stale;		/* look for new rows */
};

/* The ways out, as outbox_run() was given them. */
struct ways {
	outbox_send	 send;
	outbox_hook	 hook;
	void		*arg;
};

static void
put(struct outbox *o, const struct item *i)
{
	if (store_delivery_put(o->store, &i->d) == -1)
		log_error("notice=%" PRId64 " to=%s not stored: %s",
		    i->d.notice, i->d.to, store_error(o->store));
}

static void
drop(struct outbox *o, struct item *i)
{
	struct item	*later = i;

	while ((later = TAILQ_NEXT(later, entry)) != NULL)
		if (later->before == i)
			later->before = i->before;
	TAILQ_REMOVE(&o->items, i, entry);
	o->waiting--;
	mem_free(i);
}

static void
give_up(struct outbox *o, struct item *i, const char *why, int64_t now_ms)
{
	log_error("notice=%" PRId64 " to=%s state=expired attempts=%u: %s: %s",
	    i->d.notice, i->d.to, i->d.attempts, why, i->d.last_reply);
	i->d.state = DELIVERY_EXPIRED;
	i->d.expired_ms = now_ms;
	put(o, i);
	drop(o, i);
}

/* Loading. */

/* Ids only grow, and a notice's deliveries are written together: what lies
 * beyond the newest is new. */
static void
take(void *arg, const struct delivery *d)
{
	struct outbox	*o = arg;
	struct item	*i;

	if (d->notice <= o->newest)
		return;
	i = mem_alloc(sizeof *i);
	i->d = *d;
	/* Being sent when the monitor stopped: perhaps sent, so send again. */
	i->d.repeat = d->repeat || d->state == DELIVERY_SENDING;
	i->d.state = DELIVERY_DUE;
	TAILQ_INSERT_TAIL(&o->items, i, entry);
	o->waiting++;
}

static bool
is_command(const struct item *i)
{
	return (strcmp(i->d.to, OUTBOX_COMMAND) == 0);
}

/* Of one section a reload may have made another; two that there are have each
 * a command of their own. */
static bool
is_same_channel(const struct outbox *o, const struct item *a,
    const struct item *b)
{
	if (strcasecmp(a->d.to, b->d.to) != 0)
		return (false);
	return (!is_command(a) || strcmp(a->alerts, b->alerts) == 0 ||
	    config_alerts(o->config, a->alerts) == NULL);
}

/* An earlier notice of the same thread to the same person goes first. */
static struct item *
earlier(const struct outbox *o, const struct item *i)
{
	struct item	*e = TAILQ_PREV(i, items, entry);

	if (i->episode == 0 && !i->test)
		return (NULL);
	for (; e != NULL; e = TAILQ_PREV(e, items, entry))
		if (e->episode == i->episode && e->test == i->test &&
		    is_same_channel(o, e, i))
			return (e);
	return (NULL);
}

/* Signs of life do not queue up: the newest is the only one worth sending. */
static void
replace_older(struct outbox *o, const struct item *i, int64_t now_ms)
{
	struct item	*e = TAILQ_FIRST(&o->items), *after;

	for (; i->kind == NOTICE_HEARTBEAT && e != i; e = after) {
		after = TAILQ_NEXT(e, entry);
		if (e->kind != NOTICE_HEARTBEAT ||
		    strcmp(e->alerts, i->alerts) != 0 ||
		    strcasecmp(e->d.to, i->d.to) != 0)
			continue;
		e->replaced = true;
		if (e->handle == 0)
			give_up(o, e, "a newer one takes its place", now_ms);
	}
}

/* What the notice says about the delivery; the store cannot be asked while
 * it is being read. */
static int
complete(struct outbox *o, int64_t now_ms)
{
	struct item	*i, *after;
	int		 rc;

	for (i = TAILQ_FIRST(&o->items); i != NULL; i = after) {
		after = TAILQ_NEXT(i, entry);
		if (i->owed_ms != 0)
			continue;
		rc = store_notice_get(o->store, i->d.notice, o->notice);
		if (rc == -1)
			return (-1);
		if (rc == 0) {
			give_up(o, i, "its notice is gone", now_ms);
			continue;
		}
		i->episode = o->notice->episode;
		i->owed_ms = o->notice->owed_ms;
		i->kind = o->notice->kind;
		i->test = notice_is_test(o->notice);
		text_copy(i->alerts, sizeof i->alerts, o->notice->alerts);
		i->before = earlier(o, i);
		replace_older(o, i, now_ms);
		o->newest = i->d.notice;
	}
	return (0);
}

static int
reload(struct outbox *o, int64_t now_ms)
{
	if (store_delivery_each(o->store, take, o) == -1 ||
	    complete(o, now_ms) == -1) {
		log_error("outbox: %s", store_error(o->store));
		return (-1);
	}
	o->stale = false;
	return (0);
}

/* Something has ended or changed: whoever waits for a lane may try. */
static void
look_again(struct outbox *o)
{
	struct item	*i;

	TAILQ_FOREACH(i, &o->items, entry)
		i->waits = false;
}

struct outbox *
outbox_open(const struct config *config, struct store *store, int64_t now_ms)
{
	struct outbox	*o = mem_alloc(sizeof *o);
	struct item	*i;

	o->config = config;
	o->store = store;
	o->notice = mem_alloc(sizeof *o->notice);
	o->job = mem_alloc(sizeof *o->job);
	o->next_handle = 1;
	TAILQ_INIT(&o->items);
	LIST_INIT(&o->lanes);
	if (reload(o, now_ms) == -1) {
		outbox_close(&o);
		return (NULL);
	}
	/* A restart is a good moment to try what was waiting. */
	TAILQ_FOREACH(i, &o->items, entry)
		i->d.next_ms = now_ms;
	return (o);
}

void
outbox_close(struct outbox **op)
{
	struct outbox	*o = *op;
	struct item	*i;

	if (o == NULL)
		return;
	while ((i = TAILQ_FIRST(&o->items)) != NULL) {
		if (i->handle != 0)
			i->lane->in_flight--;
		drop(o, i);
	}
	lanes_forget(&o->lanes);
	mem_free(o->notice);
	mem_free(o->job);
	mem_free(o);
	*op = NULL;
}

void
outbox_config(struct outbox *o, const struct config *config)
{
	o->config = config;
	/* A server or command of the same name may be another now. */
	lanes_forget(&o->lanes);
	look_again(o);
}

void
outbox_wake(struct outbox *o)
{
	o->stale = true;
}

/* Whose turn it is. */

/* The section it goes out by; if that is gone, any that can send. */
static const struct alerts *
section(const struct outbox *o, const struct item *i)
{
	const struct alerts	*a = config_alerts(o->config, i->alerts);

	if (a != NULL && a->servers[0] != NULL)
		return (a);
	for (size_t n = 0; o->config->alerts[n] != NULL; n++)
		if (o->config->alerts[n]->servers[0] != NULL)
			return (o->config->alerts[n]);
	return (NULL);
}

static unsigned
count_servers(const struct alerts *a)
{
	unsigned	n = 0;

	while (a->servers[n] != NULL)
		n++;
	return (n);
}

/* Sending. */

static void
say_late(struct notice *n, int64_t now_ms)
{
	char	from[NOTICE_TIME], to[NOTICE_TIME], line[256] = "";

	if (now_ms - n->owed_ms <= LATE_MS)
		return;
	text_appendf(line, sizeof line, "This notice is late: alert mail could "
	    "not be delivered from %s to %s.", notice_utc(n->owed_ms, from),
	    notice_utc(now_ms, to));
	notice_prefix(n, line);
}

/* Fills the mail of the job: 1, 0 if it cannot be written, -1. */
static int
fill(struct outbox *o, const struct item *i, const struct alerts *a,
    int64_t now_ms)
{
	struct frame_job	*job = o->job;

	int			 rc;

	if ((rc = store_notice_get(o->store, i->d.notice, o->notice)) != 1)
		return (rc);
	say_late(o->notice, now_ms);
	memset(job, 0, sizeof *job);
	job->job = o->next_handle;
	job->kind = JOB_ALERT;
	job->notify_never = true;
	return (text_copy(job->from, sizeof job->from, a->from) &&
	    text_copy(job->to, sizeof job->to, i->d.to) &&
	    notice_message(o->notice, a->from, i->d.to, now_ms, job->message,
	    sizeof job->message) > 0);
}

/*
 * The next server at once, until all have had their turn; then a gap that
 * grows.  After silence the message may be there: the same Message-ID makes
 * a second copy harmless, but there is no hurry to make one.
 */
static void
next_server(struct outbox *o, struct item *i, bool wait, int64_t now_ms)
{
	const struct alerts	*a = section(o, i);
	unsigned		 n = a != NULL ? count_servers(a) : 1;

	i->d.state = DELIVERY_DUE;
	i->d.server = (i->d.server + 1) % n;
	i->d.next_ms = now_ms;
	if (i->d.server == 0 || wait)
		i->d.next_ms += backoff_wait_ms(&gaps,
		    (i->d.attempts - 1) / n);
	put(o, i);
}

static void
pass_over(struct outbox *o, struct item *i, int64_t now_ms)
{
	i->d.attempts++;
	if (i->d.last_reply[0] == '\0')
		text_copy(i->d.last_reply, sizeof i->d.last_reply,
		    "the login was refused and is not tried for a while");
	next_server(o, i, false, now_ms);
}

/* By a command. */
static enum outbox_sent
run_command(struct outbox *o, const struct item *i, int64_t now_ms,
    const struct ways *w)
{
	const struct alerts	*a = config_alerts(o->config, i->alerts);
	struct episode		*e = mem_alloc(sizeof *e);
	char			*json;
	enum outbox_sent	 rc = OUTBOX_NEVER;

	if (a == NULL || a->command[0] == '\0')
		goto out;
	if (store_notice_get(o->store, i->d.notice, o->notice) != 1 ||
	    (i->episode != 0 &&
	    store_episode_get(o->store, i->episode, e) != 1)) {
		rc = OUTBOX_BUSY;	/* the store says why */
		goto out;
	}
	say_late(o->notice, now_ms);
	json = hook_json(o->notice, i->episode != 0 ? e : NULL,
	    o->config->instance);
	rc = w->hook(w->arg, o->next_handle, a->name, a->command, json) ?
	    OUTBOX_SENT : OUTBOX_BUSY;
	mem_free(json);
out:
	mem_free(e);
	return (rc);
}

static enum outbox_sent
run_mail(struct outbox *o, struct item *i, const struct alerts *a,
    unsigned server, int64_t now_ms, const struct ways *w)
{
	int	rc = fill(o, i, a, now_ms);

	if (rc != 1)
		return (rc == 0 ? OUTBOX_NEVER : OUTBOX_BUSY);
	return (w->send(w->arg, a->servers[server], o->job));
}

/*
 * The server whose turn it is; or, while that one is shunned, the next of the
 * round that is not.  If all are, any that may find out.  Never back to the
 * round's beginning: there the gap comes first.
 */
static unsigned
choose(struct outbox *o, const struct item *i, const struct alerts *a,
    int64_t now_ms)
{
	unsigned	 count = count_servers(a);
	unsigned	 first = i->d.server % count, room = first;
	struct lane	*l;

	for (unsigned n = count; n-- > first;) {
		l = lane_of(&o->lanes, LANE_SERVER, a->servers[n]->name);
		if (lane_has_room(l, now_ms))
			room = n;
	}
	for (unsigned n = first; n < count; n++) {
		l = lane_of(&o->lanes, LANE_SERVER, a->servers[n]->name);
		if (!lane_is_shunned(l, now_ms))
			return (n);
	}
	return (room);
}

static void
under_way(struct outbox *o, struct item *i, struct lane *l)
{
	i->handle = o->next_handle++;
	i->lane = l;
	lane_took(l);
	i->d.state = DELIVERY_SENDING;
	i->d.attempts++;
	put(o, i);
}

static void
command_turn(struct outbox *o, struct item *i, int64_t now_ms,
    const struct ways *w)
{
	struct lane	*l = lane_of(&o->lanes, LANE_COMMAND, i->alerts);

	i->waits = !lane_has_room(l, now_ms);
	if (i->waits)
		return;
	switch (run_command(o, i, now_ms, w)) {
	case OUTBOX_SENT:
		under_way(o, i, l);
		break;
	case OUTBOX_BUSY:
	case OUTBOX_NOT_BY_THIS:
		lane_busy(l, now_ms + BUSY_MS);
		i->waits = true;
		break;
	case OUTBOX_NEVER:
		give_up(o, i, "there is no command any more", now_ms);
		break;
	}
}

static void
mail_turn(struct outbox *o, struct item *i, const struct alerts *a,
    int64_t now_ms, const struct ways *w)
{
	unsigned	 server = choose(o, i, a, now_ms);
	struct lane	*l = lane_of(&o->lanes, LANE_SERVER,
			    a->servers[server]->name);

	i->waits = !lane_has_room(l, now_ms);
	if (i->waits)
		return;
	switch (run_mail(o, i, a, server, now_ms, w)) {
	case OUTBOX_SENT:
		i->d.server = server;
		under_way(o, i, l);
		break;
	case OUTBOX_BUSY:
		lane_busy(l, now_ms + BUSY_MS);
		i->waits = true;
		break;
	case OUTBOX_NOT_BY_THIS:
		i->d.server = server;
		pass_over(o, i, now_ms);
		break;
	case OUTBOX_NEVER:
		give_up(o, i, "it cannot be written", now_ms);
		break;
	}
}

static void
no_server(struct outbox *o, struct item *i, int64_t now_ms)
{
	i->d.next_ms = now_ms + HOUR_MS;
	text_copy(i->d.last_reply, sizeof i->d.last_reply,
	    "no alerts section has a server to send by");
	put(o, i);
}

/* What cannot go now stands in nobody's way. */
static void
take_turn(struct outbox *o, struct item *i, int64_t now_ms,
    const struct ways *w)
{
	const struct alerts	*a = section(o, i);

	if (is_command(i))
		command_turn(o, i, now_ms, w);
	else if (a == NULL)
		no_server(o, i, now_ms);
	else
		mail_turn(o, i, a, now_ms, w);
}

static bool
has_expired(const struct item *i, int64_t now_ms)
{
	if (i->test)
		return (now_ms - i->owed_ms > TEST_EXPIRE_MS);
	return (now_ms - i->owed_ms > EXPIRE_MS &&
	    i->d.attempts >= EXPIRE_ATTEMPTS);
}

void
outbox_run(struct outbox *o, int64_t now_ms, outbox_send send,
    outbox_hook hook, void *arg)
{
	const struct ways	 w = { send, hook, arg };
	struct item		*i, *after;

	if (o->stale && reload(o, now_ms) == -1)
		return;
	lanes_tick(&o->lanes, now_ms);
	for (i = TAILQ_FIRST(&o->items); i != NULL; i = after) {
		after = TAILQ_NEXT(i, entry);
		if (i->handle != 0)
			continue;
		if (has_expired(i, now_ms)) {
			give_up(o, i, "too old", now_ms);
			continue;
		}
		if (i->d.next_ms <= now_ms && i->before == NULL)
			take_turn(o, i, now_ms, &w);
	}
}

/* Answers. */

static void
sent(struct outbox *o, struct item *i, int64_t now_ms)
{
	log_info("notice=%" PRId64 " to=%s state=sent attempts=%u%s",
	    i->d.notice, i->d.to, i->d.attempts, i->d.repeat ?
	    " perhaps a repeat: an earlier try was cut off" : "");
	i->d.state = DELIVERY_SENT;
	i->d.sent_ms = now_ms;
	put(o, i);
	drop(o, i);
}

static void
failed(struct outbox *o, struct item *i, const struct outcome *out,
    int64_t now_ms)
{
	if (out->verdict == VERDICT_UNCERTAIN)
		i->d.repeat = true;
	next_server(o, i, out->verdict == VERDICT_UNCERTAIN, now_ms);
	log_warn("notice=%" PRId64 " to=%s state=due attempts=%u class=%s: %s",
	    i->d.notice, i->d.to, i->d.attempts, class_name(out->class),
	    out->reply);
}

/* A few times, with gaps; what it says then is old. */
static void
hook_failed(struct outbox *o, struct item *i, int64_t now_ms)
{
	if (i->d.attempts >= OUTBOX_HOOK_TRIES) {
		give_up(o, i, "the command keeps failing", now_ms);
		return;
	}
	i->d.state = DELIVERY_DUE;
	i->d.next_ms = now_ms + backoff_wait_ms(&hook_gaps,
	    i->d.attempts - 1);
	put(o, i);
	log_warn("notice=%" PRId64 " alerts=%s command failed attempts=%u: %s",
	    i->d.notice, i->alerts, i->d.attempts, i->d.last_reply);
}

/* Where nobody answered, the next notice begins with another server. */
static void
lane_news(struct item *i, const struct outcome *out, int64_t now_ms)
{
	struct lane	*l = i->lane;
	bool		 answered = is_command(i) || out->code != 0 ||
			    out->verdict == VERDICT_ACCEPTED;

	i->lane = NULL;
	if (!lane_ended(l, answered, now_ms))
		return;
	if (answered)
		log_info("alerts: %s answers again", l->name);
	else
		log_warn("alerts: %s does not answer, others go first for "
		    "%lld min", l->name, (long long)(LANE_SHUN_MS / MINUTE_MS));
}

void
outbox_result(struct outbox *o, uint64_t handle, const struct outcome *out,
    int64_t now_ms)
{
	struct item	*i;

	TAILQ_FOREACH(i, &o->items, entry)
		if (i->handle == handle)
			break;
	if (handle == 0 || i == NULL)
		return;
	i->handle = 0;
	lane_news(i, out, now_ms);
	look_again(o);
	text_copy(i->d.last_reply, sizeof i->d.last_reply, out->reply);
	if (out->verdict == VERDICT_ACCEPTED)
		sent(o, i, now_ms);
	else if (i->replaced)
		give_up(o, i, "a newer one takes its place", now_ms);
	else if (is_command(i))
		hook_failed(o, i, now_ms);
	else
		failed(o, i, out, now_ms);
}

int64_t
outbox_next_ms(const struct outbox *o)
{
	const struct item	*i;
	int64_t			 at_ms = 0, due_ms;
	int64_t			 retry_ms = lanes_retry_ms(&o->lanes);

	if (o->stale)
		return (1);		/* at once */
	TAILQ_FOREACH(i, &o->items, entry) {
		due_ms = i->waits ? retry_ms : i->d.next_ms;
		if (i->handle == 0 && i->before == NULL && due_ms != 0 &&
		    (at_ms == 0 || due_ms < at_ms))
			at_ms = due_ms;
	}
	return (at_ms);
}

bool
outbox_oldest(const struct outbox *o, struct outbox_view *v)
{
	const struct item	*i = TAILQ_FIRST(&o->items);

	if (i == NULL)
		return (false);
	*v = (struct outbox_view){
		.delivery = &i->d, .alerts = i->alerts, .kind = i->kind,
		.owed_ms = i->owed_ms,
	};
	return (true);
}

unsigned
outbox_waiting(const struct outbox *o)
{
	return (o->waiting);
}
