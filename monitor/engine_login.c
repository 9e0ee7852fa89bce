#include "monitor/engine_internal.h"

#include <string.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * Logins that are refused, by host, user and secret: after the second one
 * none is tried for auth_pause, by this process or the next; until one is
 * taken they are tried one at a time.
 */

#define REFUSALS_MAX	2

static const char	pause_fact[] = "auth-pause";

static uint64_t
add_word(uint64_t h, const char *s)
{
	return (text_hash(text_hash(h, s), "\n"));
}

uint64_t
engine_login_mark(const char *host, const char *user,
    const struct secret_source *secret)
{
	uint64_t	h = TEXT_HASH;

	h = add_word(h, host);
	h = add_word(h, user);
	h = add_word(h, secret->password_file);
	h = add_word(h, secret->password_command);
	h = add_word(h, secret->token_command);
	return (add_word(h, secret->credential));
}

/* However many sections of the configuration have the same login. */
static struct breaker *
breaker_of(struct engine *e, const struct server *s)
{
	struct breaker	*b;
	char		 name[512] = "";

	/* By MX the hosts are of a section's own choice. */
	(void)text_appendf(name, sizeof name, "%s:%u %s %016llx",
	    s->mx == MX_NONE ? s->host : s->name, (unsigned)s->port, s->user,
	    (unsigned long long)engine_login_mark(s->host, s->user,
	    &s->secret));
	for (b = e->breakers; b != NULL; b = b->next)
		if (strcmp(b->name, name) == 0)
			return (b);
	b = mem_alloc(sizeof *b);
	b->name = mem_strdup(name);
	(void)store_fact_get(e->store, pause_fact, name, &b->until_ms, NULL,
	    0);
	b->next = e->breakers;
	e->breakers = b;
	return (b);
}

int64_t
engine_login_paused_ms(struct engine *e, const struct server *s)
{
	struct breaker	*b;

	if (s->user[0] == '\0')
		return (0);
	b = breaker_of(e, s);
	return (b->until_ms > e->now_ms ? b->until_ms : 0);
}

bool
engine_login_proven(struct engine *e, const struct server *s)
{
	return (s->user[0] == '\0' || breaker_of(e, s)->proven);
}

static void
pause_login(struct engine *e, struct breaker *b, const struct server *s,
    const struct outcome *o)
{
	b->refused = 0;
	b->until_ms = e->now_ms + s->auth_pause_ms;
	(void)store_fact_put(e->store, pause_fact, b->name, b->until_ms,
	    o->reply);
	log_warn("server=%s user=%s login refused twice, pausing for %lld s",
	    s->name, s->user, (long long)(s->auth_pause_ms / 1000));
}

/*
 * What a server has against the credentials.  A 4yz says that it could not
 * look, and one that offers no login was sent none.
 */
static bool
refuses_login(const struct outcome *o)
{
	return (o->class == CLASS_AUTH && (o->code / 100 == 5 ||
	    o->code == 334));
}

void
engine_login_note(struct engine *e, const struct server *s,
    const struct outcome *o)
{
	struct breaker	*b;

	if (s->user[0] == '\0' || o->stage < STAGE_AUTH)
		return;
	b = breaker_of(e, s);
	if (o->stage > STAGE_AUTH || o->class != CLASS_AUTH) {
		b->refused = 0;
		b->proven = b->proven || o->stage > STAGE_AUTH;
		return;
	}
	b->proven = false;
	if (refuses_login(o) && ++b->refused >= REFUSALS_MAX)
		pause_login(e, b, s, o);
}

/* A reload may have mended a login: what waits for its pause looks again. */
void
engine_login_resume(struct engine *e)
{
	struct probe_run	*pr;

	for (struct route_run **r = e->routes; *r != NULL; r++) {
		pr = (*r)->current;
		if (pr != NULL && pr->login_paused && !pr->queued)
			agenda_set(&e->agenda, &pr->item.agenda, e->now_ms);
	}
}

void
engine_login_free(struct engine *e)
{
	struct breaker	*b;

	while ((b = e->breakers) != NULL) {
		e->breakers = b->next;
		mem_free(b->name);
		mem_free(b);
	}
}
