#include "alerts_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_store.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static const char	base[] =
"instance = \"probe1\"\n"
"server \"full\" { host = \"mx.example\" tls = \"none\" port = 25 }\n"
"server \"world\" { host = \"far.example\" tls = \"none\" port = 25 }\n"
"server \"relay\" { host = \"relay.example\" tls = \"none\" port = 25 }\n"
"server \"alert1\" { host = \"alert1.example\" tls = \"none\" port = 25 }\n"
"server \"alert2\" { host = \"alert2.example\" tls = \"none\" port = 25 }\n"
"mailbox \"box\" { host = \"imap.example\" user = \"u\" password_command = \"true\" }\n"
"mailbox \"other\" { host = \"imap.example\" user = \"u\" password_command = \"true\" }\n"
"route \"r1\" { server = \"full\" from = \"p@example.org\" to = \"a@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
"route \"r2\" { server = \"full\" from = \"p@example.org\" to = \"b@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
"route \"r3\" { server = \"full\" from = \"p@example.org\" to = \"c@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
"route \"r4\" { server = \"full\" from = \"p@example.org\" to = \"d@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
"route \"r5\" { server = \"full\" from = \"p@example.org\" to = \"e@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
"route \"w1\" { server = \"world\" from = \"p@example.org\" to = \"a@far.example\" mailbox = \"other\" alerts = \"default\" }\n"
"route \"w2\" { server = \"world\" from = \"p@example.org\" to = \"b@far.example\" mailbox = \"other\" alerts = \"default\" }\n"
"route \"hidden\" { server = \"relay\" from = \"p@example.org\" to = \"h@far.example\" mailbox = \"other\" alerts = \"default\" }\n";

static void
report(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, "warning") == NULL)
		print_error("%s\n", line);
}

void
world_configure(struct world *w, const char *alerts, const char *more)
{
	char		 path[] = "/tmp/alerts-world.XXXXXX";
	int		 fd = mkstemp(path);
	FILE		*f = fdopen(fd, "w");
	struct config	*old = w->config;

	assert_non_null(f);
	fputs(base, f);
	fprintf(f, "alerts \"default\" { from = \"mailflowd@example.org\" "
	    "to = {\"admin@example.org\"} servers = {\"alert1\", \"alert2\"} "
	    "%s }\n%s\n", alerts, more);
	fclose(f);
	w->config = config_load(path, report, NULL);
	unlink(path);
	assert_non_null(w->config);
	/* Found by MX: its hosts are known only when they are spoken to. */
	config_server(w->config, "world")->mx = MX_FIRST;
	config_server(w->config, "world")->host[0] = '\0';
	config_server(w->config, "world")->system[0] = '\0';
	if (w->follow != NULL) {
		follow_config(w->follow, w->config, w->now_ms);
		outbox_config(w->outbox, w->config);
	}
	config_free(&old);
}

static void
woken(void *arg)
{
	struct world	*w = arg;

	w->wakes++;
	outbox_wake(w->outbox);
}

static void
start(struct world *w)
{
	w->outbox = outbox_open(w->config, w->store, w->now_ms);
	w->follow = follow_open(w->config, w->store,
	    fake_store_csv(w->store), woken, w);
	assert_non_null(w->outbox);
	assert_non_null(w->follow);
}

void
world_open(struct world *w, const char *alerts, const char *more)
{
	memset(w, 0, sizeof *w);
	w->now_ms = INT64_C(1767225600000);	/* 2026-01-01 */
	w->store = fake_store_new();
	world_configure(w, alerts, more);
	start(w);
	world_outcome(w, &w->answer, "alert1.example", STAGE_DOT,
	    CLASS_ACCEPTED, "250 2.0.0 Ok");
}

void
world_close(struct world *w)
{
	follow_close(&w->follow);
	outbox_close(&w->outbox);
	config_free(&w->config);
	fake_store_free(&w->store);
}

void
world_restart(struct world *w, bool crash)
{
	follow_close(&w->follow);
	outbox_close(&w->outbox);
	if (crash)
		fake_store_crash(&w->store);
	start(w);
}

/* Alert mail. */

static char
letter_of(const struct frame_job *job)
{
	static const struct { const char *kind; char letter; } kinds[] = {
		{ "failing", 'F' }, { "reminder", 'S' }, { "accepting", 'A' },
		{ "delivered", 'D' }, { "unwatched", 'U' },
	};
	const char	*at = strstr(job->message, "X-Mailflow-Notice: ");

	assert_non_null(at);
	at += strlen("X-Mailflow-Notice: ");
	for (size_t i = 0; i < NITEMS(kinds); i++)
		if (strncmp(at, kinds[i].kind, strlen(kinds[i].kind)) == 0)
			return (kinds[i].letter);
	return ('?');
}

static enum outbox_sent
take_job(void *arg, const struct server *s, const struct frame_job *job)
{
	struct world	*w = arg;
	char		*told = strcmp(job->to, "admin@example.org") == 0 ?
			    w->told : w->told_other;

	w->asked++;
	if (w->busy || (w->engaged != NULL && strcmp(s->name, w->engaged) == 0))
		return (OUTBOX_BUSY);
	if (w->shut != NULL && strcmp(s->name, w->shut) == 0)
		return (OUTBOX_NOT_BY_THIS);
	w->jobs++;
	w->last = *job;
	w->last_server = s->name;
	if (w->hangs != NULL && strcmp(s->name, w->hangs) == 0) {
		w->stuck[w->stucks++] = job->job;
		assert_true(w->stucks < NITEMS(w->stuck));
		return (OUTBOX_SENT);
	}
	w->held[w->holds++] = job->job;
	assert_true(w->holds < NITEMS(w->held));
	if (w->answer.verdict == VERDICT_ACCEPTED && strlen(told) < 200)
		told[strlen(told)] = letter_of(job);
	return (OUTBOX_SENT);
}

static bool
take_hook(void *arg, uint64_t handle, const char *alerts,
    const char *command, const char *input)
{
	struct world	*w = arg;

	if (w->busy)
		return (false);
	w->hooks++;
	text_copy(w->hook_alerts, sizeof w->hook_alerts, alerts);
	text_copy(w->hook_command, sizeof w->hook_command, command);
	text_copy(w->hook_input, sizeof w->hook_input, input);
	w->held[w->holds++] = handle;
	assert_true(w->holds < NITEMS(w->held));
	return (true);
}

static void
answer_jobs(struct world *w)
{
	unsigned	n = w->holds;

	w->holds = 0;
	for (unsigned i = 0; i < n; i++)
		outbox_result(w->outbox, w->held[i], &w->answer, w->now_ms);
}

void
world_turn(struct world *w)
{
	do {
		outbox_run(w->outbox, w->now_ms, take_job, take_hook, w);
		fake_store_flush(w->store);
		assert_int_equal(store_commit(w->store), 0);
		if (w->holding || w->holds == 0)
			break;
		answer_jobs(w);
	} while (true);
	assert_int_equal(store_commit(w->store), 0);
	if (w->restarts)
		world_restart(w, true);
}

/* Nobody has a probe to confirm with. */
static void
ignore(void *arg, const struct episode *e, const char *route)
{
	(void)arg;
	(void)e;
	(void)route;
}

static int64_t
next_ms(const struct world *w)
{
	int64_t	a = follow_next_ms(w->follow), b = outbox_next_ms(w->outbox);

	return (a == 0 || (b != 0 && b < a) ? b : a);
}

void
world_pass(struct world *w, int64_t span_ms)
{
	int64_t	end_ms = w->now_ms + span_ms, at;
	int	steps = 0;

	while ((at = next_ms(w)) != 0 && at <= end_ms) {
		if (at > w->now_ms)
			w->now_ms = at;
		else
			w->now_ms++;	/* a loop has a shortest turn */
		follow_tick(w->follow, w->now_ms);
		follow_confirms(w->follow, w->now_ms, ignore, NULL);
		world_turn(w);
		if (++steps > 100000)
			fail_msg("the loop spins");
	}
	w->now_ms = end_ms;
	follow_tick(w->follow, w->now_ms);
	world_turn(w);
}

/* Probes. */

const struct route *
world_route(const struct world *w, const char *name)
{
	const struct route	*r = config_route(w->config, name);

	assert_non_null(r);
	return (r);
}

static struct stamp
stamp_at(int64_t wall_ms)
{
	return ((struct stamp){ .wall_ms = wall_ms, .boot_ms = wall_ms - 1,
	    .boot_id = 7 });
}

struct probe *
world_probe(struct world *w, const char *route)
{
	const struct route	*r = world_route(w, route);
	struct probe		*p = NULL;

	for (size_t i = 0; i < WORLD_PROBES; i++) {
		p = &w->probes[i];
		if (p->token[0] == '\0' || strcmp(p->route, route) == 0)
			break;
	}
	if (p->token[0] != '\0')
		return (p);
	probe_init(p);
	snprintf(p->token, sizeof p->token, "mf1token%u", ++w->tokens);
	text_copy(p->route, sizeof p->route, r->name);
	text_copy(p->mailbox, sizeof p->mailbox, r->mailbox->name);
	text_copy(p->to, sizeof p->to, r->to);
	p->state = PROBE_WAITING;
	p->scheduled_ms = w->now_ms;
	return (p);
}

void
world_outcome(const struct world *w, struct outcome *o, const char *host,
    enum stage stage, enum outcome_class class, const char *answer)
{
	const char	*text = answer;

	outcome_init(o);
	o->stage = stage;
	o->class = class;
	o->started = stamp_at(w->now_ms);
	o->finished = stamp_at(w->now_ms);
	text_copy(o->host, sizeof o->host, host);
	o->code = atoi(answer);
	if (o->code != 0 && strlen(answer) > 4) {
		text = answer + 4;
		if (text[0] != '\0' && text[1] == '.')
			snprintf(o->enhanced, sizeof o->enhanced, "%.*s",
			    (int)strcspn(text, " "), text);
		if (o->enhanced[0] != '\0')
			text += strcspn(text, " ") + 1;
	}
	text_copy(o->reply, sizeof o->reply, text);
	o->verdict = o->code >= 500 ? VERDICT_PERMANENT :
	    o->code >= 400 || o->code == 0 ? VERDICT_TEMPORARY :
	    VERDICT_ACCEPTED;
	if (class == CLASS_UNCERTAIN)
		o->verdict = VERDICT_UNCERTAIN;
	if (o->verdict == VERDICT_ACCEPTED)
		o->accepted = stamp_at(w->now_ms);
}

void
world_attempt(struct world *w, const char *route, const char *host,
    enum stage stage, enum outcome_class class, const char *answer)
{
	struct outcome	*o = mem_alloc(sizeof *o);
	struct probe	*p = world_probe(w, route);

	w->now_ms += SECOND;
	world_outcome(w, o, host, stage, class, answer);
	o->blind = class == CLASS_BLIND;
	if (p->first_attempt.wall_ms == 0)
		p->first_attempt = o->started;
	p->attempts++;
	p->class = class;
	p->code = o->code;
	text_copy(p->host, sizeof p->host, host);
	text_copy(p->reply, sizeof p->reply, o->reply);
	if (o->verdict == VERDICT_ACCEPTED)
		p->accepted = o->accepted;
	else if (o->verdict == VERDICT_UNCERTAIN)
		p->accepted = o->finished;
	else
		p->deferrals++;
	store_probe_put(w->store, p);
	follow_attempt(w->follow, world_route(w, route), p, o, w->now_ms);
	if (o->verdict == VERDICT_PERMANENT) {
		follow_gone(w->follow, p->token, w->now_ms);
		memset(p->token, 0, sizeof p->token);
	}
	mem_free(o);
	world_turn(w);
}

void
world_accept(struct world *w, const char *route, const char *host)
{
	world_attempt(w, route, host, STAGE_DOT, CLASS_ACCEPTED,
	    "250 2.0.0 Ok: queued");
}

void
world_full(struct world *w, const char *route)
{
	world_attempt(w, route, "mx.example", STAGE_MAIL, CLASS_SYSTEM_FULL,
	    "452 4.3.1 Insufficient system storage");
}

void
world_arrive(struct world *w, const char *route)
{
	struct probe	*p = world_probe(w, route);

	w->now_ms += SECOND;
	p->arrived = stamp_at(w->now_ms);
	text_copy(p->folder, sizeof p->folder, "INBOX");
	store_probe_put(w->store, p);
	follow_delivered(w->follow, world_route(w, route), p, w->now_ms);
	follow_gone(w->follow, p->token, w->now_ms);
	memset(p->token, 0, sizeof p->token);
	world_turn(w);
}

bool
world_may_try(struct world *w, const char *route)
{
	bool	may = follow_may_try(w->follow, world_route(w, route), "",
		    world_probe(w, route)->token, w->now_ms);

	world_turn(w);
	return (may);
}
