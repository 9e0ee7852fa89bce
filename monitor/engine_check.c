#include "monitor/engine_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "alerts/judge.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/strain.h"
#include "monitor/text.h"

/*
 * Connect checks: between probes a look at each server that has
 * connect_every, up to its reply to EHLO.  What they find is a hint in the
 * status, never an alarm: a greeting of 4yz, one far slower than usual, a
 * certificate that ends soon.  Probes teach what is usual, too.
 */

#define AGAIN_MS		1000	/* a probe was under way */
#define REPLY_MS		INT64_C(60000)	/* a check waits no longer */
#define CERTIFICATE_SOON	14	/* days */

struct check {
	struct item		 item;		/* first */
	const struct server	*server;	/* borrowed: config */
	char			*domain;	/* owned; of MX hosts, or "" */
	char			*host;		/* owned; "": the first MX */
	uint64_t		 job;		/* 0: none under way */
	bool			 wanted;	/* by the configuration */
	enum check_state	 state;
	int64_t			 at_ms;		/* the last one; 0: none */
	struct strain		 strain;
	char			 hint[CHECK_HINT];
	struct outcome		*seen;		/* owned: the last one's */
	struct check		*next;
};

/* What an outcome tells. */

static void	add_hint(char hint[static CHECK_HINT], const char *, ...)
		    __attribute__((format(printf, 2, 3)));

static void
add_hint(char hint[static CHECK_HINT], const char *fmt, ...)
{
	char	text[CHECK_HINT];
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (hint[0] != '\0')
		text_append(hint, CHECK_HINT, "; ");
	text_append(hint, CHECK_HINT, text);
}

/* Turned away at the door, for now. */
static bool
is_turned_away(const struct outcome *o)
{
	return (o->stage == STAGE_GREETING && o->code / 100 == 4);
}

static enum check_state
judge(const struct strain *usual, const struct outcome *o,
    char hint[static CHECK_HINT])
{
	int32_t			greeting_ms = o->stage_ms[STAGE_GREETING];
	enum check_state	state = CHECK_GOOD;

	hint[0] = '\0';
	if (is_turned_away(o)) {
		add_hint(hint, "turns callers away: %s", o->greeting);
		state = CHECK_SUSPECT;
	} else if (o->verdict != VERDICT_ACCEPTED) {
		add_hint(hint, "%s%s", o->code != 0 ? "refuses: " : "",
		    o->stage == STAGE_GREETING && o->code != 0 ?
		    o->greeting : o->reply);
		state = CHECK_FAILED;
	} else if (strain_is_slow(usual, greeting_ms)) {
		add_hint(hint, "greets after %d ms, usually after %d ms",
		    greeting_ms, strain_usual_ms(usual));
		state = CHECK_SUSPECT;
	}
	if (o->certificate_days != OUTCOME_NO_CERTIFICATE &&
	    o->certificate_days < 0)
		add_hint(hint, "its certificate has ended");
	else if (o->certificate_days != OUTCOME_NO_CERTIFICATE &&
	    o->certificate_days < CERTIFICATE_SOON)
		add_hint(hint, "its certificate ends in %d days",
		    o->certificate_days);
	return (state);
}

static const char *
name_of(const struct check *c)
{
	if (c->host[0] != '\0')
		return (c->host);
	return (c->seen->host[0] != '\0' ? c->seen->host : c->domain);
}

const char *
check_state_name(enum check_state s)
{
	static const char *const	names[] = {
		[CHECK_UNKNOWN]	= "unknown",
		[CHECK_GOOD]	= "good",
		[CHECK_SUSPECT]	= "suspect",
		[CHECK_FAILED]	= "failed",
	};

	return (names[s]);
}

static void
take(struct engine *e, struct check *c, const struct outcome *o)
{
	enum check_state	before = c->state;

	if (o->blind)
		return;			/* it says nothing of the server */
	c->state = judge(&c->strain, o, c->hint);
	c->at_ms = e->now_ms;
	*c->seen = *o;
	if (o->stage > STAGE_GREETING)
		strain_note(&c->strain, o->stage_ms[STAGE_GREETING]);
	if (c->state != before && (before != CHECK_UNKNOWN ||
	    c->state != CHECK_GOOD))
		log_info("server=%s host=%s check=%s->%s%s%s",
		    c->server->name, name_of(c), check_state_name(before),
		    check_state_name(c->state),
		    c->hint[0] != '\0' ? " " : "", c->hint);
}

/* Doing it. */

static bool
is_busy(struct engine *e, const struct check *c)
{
	const char	*name = judge_system(c->server, c->host);

	return (engine_system_busy(e, name[0] != '\0' ? name : c->domain));
}

static void
order(struct engine *e, struct check *c)
{
	struct frame_job	*f = mem_alloc(sizeof *f);

	f->job = c->job = ++e->next_job | JOB_OF_CHECK;
	f->kind = JOB_CHECK;
	engine_fill_server(e, c->server, f);
	f->user[0] = '\0';		/* no login, no secret */
	f->oauth = false;
	text_copy(f->domain, sizeof f->domain, c->domain);
	if (c->host[0] != '\0') {
		f->mx = MX_NONE;
		text_copy(f->host, sizeof f->host, c->host);
	}
	if (f->timeout_ms > REPLY_MS)
		f->timeout_ms = REPLY_MS;
	engine_order_job(e, c->server, f);
}

void
check_due(struct engine *e, struct item *item)
{
	struct check	*c = (struct check *)item;

	if (c->job != 0)
		return;
	if (is_busy(e, c)) {
		agenda_set(&e->agenda, &c->item.agenda, e->now_ms + AGAIN_MS);
		return;
	}
	order(e, c);
}

static struct check *
find_job(struct engine *e, uint64_t job)
{
	struct check	*c;

	for (c = e->checks; c != NULL && c->job != job; c = c->next)
		continue;
	return (c);
}

void
check_outcome(struct engine *e, uint64_t job, const struct outcome *o)
{
	struct check	*c = find_job(e, job);

	if (c == NULL)
		return;
	c->job = 0;
	take(e, c, o);
	agenda_set(&e->agenda, &c->item.agenda, e->now_ms +
	    c->server->connect_every_ms);
}

/* A session for a probe has seen the greeting, too. */
void
check_learn(struct engine *e, const struct route_run *run,
    const struct outcome *o)
{
	for (struct check *c = e->checks; c != NULL; c = c->next)
		if (c->server == run->route->server &&
		    o->stage > STAGE_GREETING &&
		    strcasecmp(name_of(c), o->host) == 0)
			strain_note(&c->strain, o->stage_ms[STAGE_GREETING]);
}

/* Which there are. */

static struct check *
find(struct engine *e, const struct server *s, const char *domain,
    const char *host)
{
	struct check	*c;

	for (c = e->checks; c != NULL; c = c->next)
		if (strcmp(c->server->name, s->name) == 0 &&
		    strcasecmp(c->domain, domain) == 0 &&
		    strcasecmp(c->host, host) == 0)
			break;
	return (c);
}

static void
want(struct engine *e, const struct server *s, const char *domain,
    const char *host)
{
	struct check	*c = find(e, s, domain, host);

	if (c == NULL) {
		c = mem_alloc(sizeof *c);
		c->item.kind = ITEM_CHECK;
		c->domain = mem_strdup(domain);
		c->host = mem_strdup(host);
		c->seen = mem_alloc(sizeof *c->seen);
		outcome_init(c->seen);
		c->next = e->checks;
		e->checks = c;
		agenda_set(&e->agenda, &c->item.agenda, e->now_ms);
	}
	c->server = s;
	c->wanted = true;
	if (c->job == 0 && c->item.agenda.due_ms - e->now_ms >
	    s->connect_every_ms)	/* it is to be looked at more often */
		agenda_set(&e->agenda, &c->item.agenda, e->now_ms);
}

/* The domains it is used for, or the hosts found for them. */
static void
want_mx(struct engine *e, const struct server *s)
{
	for (struct route_run **r = e->routes; *r != NULL; r++)
		if ((*r)->route->server == s && !(*r)->vanished &&
		    !mx_is_asked(e, *r))
			want(e, s, judge_domain((*r)->route), (*r)->host);
}

static void
check_free(struct engine *e, struct check *c)
{
	agenda_clear(&e->agenda, &c->item.agenda);
	mem_free(c->domain);
	mem_free(c->host);
	mem_free(c->seen);
	mem_free(c);
}

static void
drop_unwanted(struct engine *e)
{
	struct check	**at = &e->checks, *c;

	while ((c = *at) != NULL) {
		if (c->wanted) {
			c->wanted = false;
			at = &c->next;
		} else {
			*at = c->next;
			check_free(e, c);
		}
	}
}

/* find() reads the names of servers that the old configuration holds: it
 * must still be there. */
void
check_take_config(struct engine *e)
{
	for (struct server **s = e->config->servers; *s != NULL; s++) {
		if ((*s)->connect_every_ms == 0)
			continue;
		if ((*s)->mx == MX_NONE)
			want(e, *s, "", (*s)->host);
		else
			want_mx(e, *s);
	}
	drop_unwanted(e);
}

void
checks_free(struct engine *e)
{
	drop_unwanted(e);
}

void
engine_checks(struct engine *e,
    void (*each)(void *arg, const struct check_view *), void *arg)
{
	for (struct check *c = e->checks; c != NULL; c = c->next) {
		struct check_view	v = {
			.server = c->server,
			.host = name_of(c),
			.state = c->state,
			.at_ms = c->at_ms,
			.due_ms = c->job != 0 ? 0 : c->item.agenda.due_ms,
			.usual_ms = strain_usual_ms(&c->strain),
			.hint = c->hint,
			.seen = c->seen,
		};

		each(arg, &v);
	}
}
