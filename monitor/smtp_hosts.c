#include <string.h>

#include "monitor/clock.h"
#include "monitor/lookup.h"
#include "monitor/mem.h"
#include "monitor/route.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

/*
 * Which server the session is with: mail hosts and their addresses, one
 * after the other, until one greets.
 */

/* More MX hosts or addresses than a mail server would bother to try. */
#define TRIES_MAX	10

/* Which failure is told when several hosts and addresses failed. */
struct attempts {
	struct outcome	*first;		/* owned; NULL: none yet */
	bool		 has_reply;
};

static int
family_of(uint32_t family)
{
	return (family == FAMILY_IPV4 ? AF_INET :
	    family == FAMILY_IPV6 ? AF_INET6 : AF_UNSPEC);
}

/* "192.0.2.1: connection refused; mx2.example 192.0.2.2: timed out" */
static void
name_failure(struct smtp_session *s)
{
	bool	nowhere = s->out->address[0] == '\0';

	if (s->tried++ > 0)
		text_append(s->failures, sizeof s->failures, "; ");
	if (nowhere || s->job->mx != MX_NONE)
		text_append(s->failures, sizeof s->failures, s->host);
	if (!nowhere && s->job->mx != MX_NONE)
		text_append(s->failures, sizeof s->failures, " ");
	text_append(s->failures, sizeof s->failures, s->out->address);
	text_append(s->failures, sizeof s->failures, ": ");
	text_append(s->failures, sizeof s->failures, s->out->reply);
}

/*
 * Keeps the failure that is told if nothing better comes: the first host is
 * the one that matters, and a reply says more than a silence.
 */
static void
keep_failure(struct smtp_session *s, struct attempts *a)
{
	bool	has_reply = s->out->code != 0;

	name_failure(s);
	transport_close(&s->server);
	s->greeted = false;
	if (a->first == NULL)
		a->first = mem_alloc(sizeof *a->first);
	else if (a->has_reply || !has_reply)
		return;
	a->has_reply = has_reply;
	*a->first = *s->out;
}

/* Tells that failure as the session's, with all attempts named. */
static int
tell_failure(struct smtp_session *s, struct attempts *a)
{
	struct outcome	*o = s->out, *f = a->first;

	if (f == NULL)
		panic("no mail host to try");
	smtp_stage(s, STAGE_NONE);
	o->stage = f->stage;
	o->class = f->class;
	o->verdict = f->verdict;
	o->blind = f->blind;
	o->code = f->code;
	o->contradiction = f->contradiction;
	text_copy(o->enhanced, sizeof o->enhanced, f->enhanced);
	text_copy(o->host, sizeof o->host, f->host);
	text_copy(o->address, sizeof o->address, f->address);
	text_copy(o->tls, sizeof o->tls, f->tls);
	text_copy(o->reply, sizeof o->reply, s->tried > 1 && !a->has_reply ?
	    s->failures : f->reply);
	s->over = true;
	return (-1);
}

/*
 * The session goes on with the next address or host; that this one failed
 * stands beside whatever comes of it.
 */
static void
forget_failure(struct smtp_session *s)
{
	text_copy(s->out->earlier, sizeof s->out->earlier, s->failures);
	s->over = false;
	s->out->class = CLASS_NONE;
	s->out->verdict = VERDICT_NONE;
	s->out->blind = false;
	s->out->code = 0;
	s->out->contradiction = false;
	s->out->enhanced[0] = '\0';
	s->out->reply[0] = '\0';
}

/*
 * Is it worth to try another address?  A single server's reply is its word;
 * among MX hosts a greeting that refuses sends a mail server to the next.
 */
static bool
may_go_on(const struct smtp_session *s)
{
	if (s->tried >= TRIES_MAX || clock_boot_ms() >= s->deadline_boot_ms)
		return (false);
	return (s->job->mx != MX_NONE || s->out->code == 0);
}

/*
 * Each address gets an equal share of what is left, so that a black hole
 * cannot eat the time of those behind it.
 */
static int
try_addresses(struct smtp_session *s, const struct transport_addresses *list,
    struct attempts *a)
{
	int64_t	until = smtp_step_deadline(s, s->job->connect_timeout_ms);
	int64_t	now;

	for (size_t i = 0; i < list->count; i++) {
		now = clock_boot_ms();
		if (smtp_reach(s, &list->list[i],
		    now + (until - now) / (int64_t)(list->count - i)) == 0)
			return (smtp_shake_hands(s, &list->list[i]));
		if (i + 1 == list->count)
			return (-1);
		if (!may_go_on(s))
			return (-1);
		keep_failure(s, a);
		forget_failure(s);
	}
	return (-1);
}

static int
try_host(struct smtp_session *s, const char *host, struct attempts *a)
{
	struct transport_addresses	list;

	smtp_stage(s, STAGE_LOOKUP);
	text_copy(s->host, sizeof s->host, host);
	text_copy(s->out->host, sizeof s->out->host, host);
	s->out->address[0] = '\0';
	if (transport_lookup(host, (uint16_t)s->job->port,
	    family_of(s->job->family), s->job->resolver,
	    smtp_step_deadline(s, s->job->connect_timeout_ms), &list) != 0)
		return (smtp_end_transport(s, list.error, list.reason));
	return (try_addresses(s, &list, a));
}

/* Still before the first reply that a later host could not better? */
static bool
before_ehlo(const struct smtp_session *s)
{
	return (!s->greeted && s->out->stage <= STAGE_GREETING);
}

static int
try_hosts(struct smtp_session *s, const struct lookup_hosts *hosts,
    struct attempts *a)
{
	for (size_t i = 0; i < hosts->count; i++) {
		if (try_host(s, hosts->list[i].name, a) == 0)
			return (0);
		if (!before_ehlo(s))
			return (-1);
		keep_failure(s, a);
		if (i + 1 < hosts->count && may_go_on(s))
			forget_failure(s);
		else
			break;
	}
	return (tell_failure(s, a));
}

static int
end_mx(struct smtp_session *s, const struct lookup_hosts *hosts)
{
	if (hosts->null_mx)	/* RFC 7505 4: no retry will help */
		return (smtp_end(s, CLASS_DNS, VERDICT_PERMANENT, false,
		    "%s: its own DNS says so, and no retry will help",
		    hosts->reason));
	return (smtp_end_transport(s, hosts->error, hosts->reason));
}

/* Whose MX: the configured domain, else the recipient's. */
static const char *
mail_domain(const struct frame_job *job)
{
	const char	*at = strrchr(job->to, '@');

	if (job->domain[0] != '\0' || at == NULL)
		return (job->domain);
	return (at + 1);
}

static int
find_hosts(struct smtp_session *s, struct lookup_hosts *hosts)
{
	const char	*domain = mail_domain(s->job);

	smtp_stage(s, STAGE_LOOKUP);
	if (s->job->mx == MX_NONE) {
		hosts->count = 1;
		text_copy(hosts->list[0].name, sizeof hosts->list[0].name,
		    s->job->host);
		return (0);
	}
	text_copy(s->out->host, sizeof s->out->host, domain);
	if (lookup_mx(domain, s->job->resolver,
	    smtp_step_deadline(s, s->job->connect_timeout_ms), hosts) != 0)
		return (end_mx(s, hosts));
	smtp_note(s, "%s: %zu mail host%s%s", domain, hosts->count,
	    hosts->count == 1 ? "" : "s",
	    hosts->implicit ? " (no MX, its address)" : "");
	return (0);
}

int
smtp_open(struct smtp_session *s)
{
	struct lookup_hosts	hosts = { 0 };
	struct attempts		a = { 0 };
	int			opened;

	opened = find_hosts(s, &hosts) != 0 ? -1 : try_hosts(s, &hosts, &a);
	mem_free(a.first);
	return (opened == 0 ? smtp_login(s) : -1);
}
