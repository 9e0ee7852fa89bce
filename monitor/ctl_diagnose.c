#include "monitor/ctl_diagnose.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "alerts/judge.h"
#include "monitor/clock.h"
#include "monitor/config.h"
#include "monitor/ctl_diagnosis.h"
#include "monitor/lookup.h"
#include "monitor/mem.h"
#include "monitor/smtp_check.h"
#include "monitor/text.h"
#include "monitor/value.h"

#define CONNECT_MS	10000		/* and for each look-up */
#define REPLY_MS	30000
#define LOOKS_MAX	32

/* What is being looked at, and what was seen. */
struct diagnosis {
	const struct config	*config;	/* borrowed; NULL: none */
	struct frame_job	*job;		/* owned: how to look */
	int			 family;
	size_t			 count;
	struct diagnosed	*seen;		/* owned */
};

static struct diagnosed *
more(struct diagnosis *d, const char *host, int preference)
{
	struct diagnosed	*one;

	d->seen = mem_grow(d->seen, d->count + 1, sizeof *d->seen);
	one = &d->seen[d->count++];
	*one = (struct diagnosed){ .preference = preference,
	    .tls = (enum tls_mode)d->job->tls };
	outcome_init(&one->o);
	text_copy(one->o.host, sizeof one->o.host, host);
	return (one);
}

/* A name that led nowhere. */
static void
no_way(struct diagnosis *d, const char *host, int preference,
    enum transport_error error, bool for_good, const char *reason)
{
	struct outcome	*o = &more(d, host, preference)->o;

	o->stage = STAGE_LOOKUP;
	o->class = CLASS_DNS;
	o->verdict = for_good ? VERDICT_PERMANENT : VERDICT_TEMPORARY;
	o->blind = error == TRANSPORT_RESOLVER;
	text_copy(o->reply, sizeof o->reply, reason);
}

/* A machine without IPv6 has no way to any address of it: not their fault. */
static bool
has_way(const struct sockaddr_storage *address)
{
	int	fd, rc;

	if (address->ss_family != AF_INET6)
		return (true);
	if ((fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0)
		return (false);
	rc = connect(fd, (const struct sockaddr *)address,
	    sizeof(struct sockaddr_in6));
	close(fd);
	return (rc == 0);
}

static void
look_at(struct diagnosis *d, const char *host, int preference,
    const struct sockaddr_storage *address)
{
	struct diagnosed	*one = more(d, host, preference);

	if (has_way(address)) {
		smtp_check(d->job, host, address, &one->o);
		return;
	}
	one->skipped = true;
	transport_print_address(address, one->o.address,
	    sizeof one->o.address);
}

static void
look_at_host(struct diagnosis *d, const char *host, int preference)
{
	struct transport_addresses	list;

	if (transport_lookup(host, (uint16_t)d->job->port, d->family,
	    d->job->resolver, clock_boot_ms() + CONNECT_MS, &list) != 0) {
		no_way(d, host, preference, list.error, false, list.reason);
		return;
	}
	for (size_t i = 0; i < list.count && d->count < LOOKS_MAX; i++)
		look_at(d, host, preference, &list.list[i]);
}

static void
look_at_domain(struct diagnosis *d, const char *domain)
{
	struct lookup_hosts	hosts;

	if (lookup_mx(domain, d->job->resolver, clock_boot_ms() + CONNECT_MS,
	    &hosts) != 0) {
		no_way(d, domain, -1, hosts.error, hosts.null_mx,
		    hosts.reason);
		d->seen[d->count - 1].no_mail = hosts.null_mx;
		return;
	}
	if (hosts.implicit)
		printf("%s has no MX: it is its own mail host.\n\n", domain);
	else
		printf("%s has %zu mail host%s by MX.\n\n", domain,
		    hosts.count, hosts.count == 1 ? "" : "s");
	for (size_t i = 0; i < hosts.count && d->count < LOOKS_MAX; i++)
		look_at_host(d, hosts.list[i].name,
		    hosts.implicit ? -1 : (int)hosts.list[i].preference);
}

/* A server section. */

static void
take_server(struct diagnosis *d, const struct server *s)
{
	struct frame_job	*j = d->job;

	j->port = s->port;
	j->tls = (uint32_t)s->tls;
	text_copy(j->ca_file, sizeof j->ca_file, s->ca_file);
	text_copy(j->helo, sizeof j->helo, s->helo);
	text_copy(j->source_address, sizeof j->source_address,
	    s->source_address);
	d->family = s->family == FAMILY_IPV4 ? AF_INET :
	    s->family == FAMILY_IPV6 ? AF_INET6 : AF_UNSPEC;
}

static bool
seen_before(const struct config *c, const struct route *r)
{
	for (struct route **x = c->routes; *x != r; x++)
		if ((*x)->server == r->server &&
		    strcasecmp(judge_domain(*x), judge_domain(r)) == 0)
			return (true);
	return (false);
}

/* The domain it names, else those that its routes send to. */
static void
look_at_domains(struct diagnosis *d, const struct server *s)
{
	if (s->domain[0] != '\0') {
		look_at_domain(d, s->domain);
		return;
	}
	for (struct route **r = d->config->routes; *r != NULL; r++)
		if ((*r)->server == s && !seen_before(d->config, *r))
			look_at_domain(d, judge_domain(*r));
}

static void
look_at_server(struct diagnosis *d, const struct server *s)
{
	take_server(d, s);
	if (s->mx != MX_NONE)
		look_at_domains(d, s);
	else
		look_at_host(d, s->host, -1);
}

/* Whatever it is. */

static bool
is_literal(const char *name)
{
	struct in6_addr	v6;
	struct in_addr	v4;

	return (name[0] == '[' || inet_pton(AF_INET, name, &v4) == 1 ||
	    inet_pton(AF_INET6, name, &v6) == 1);
}

/* "example.org." is the same name, as name servers write it. */
static void
take_name(const char *what, char name[OUTCOME_HOST])
{
	const char	*at = strrchr(what, '@');
	size_t		 n;

	text_copy(name, OUTCOME_HOST, at != NULL ? at + 1 : what);
	n = strlen(name);
	if (n > 1 && name[n - 1] == '.')
		name[n - 1] = '\0';
}

static int
look(struct diagnosis *d, const char *what)
{
	const struct server	*s = NULL;
	char			 name[OUTCOME_HOST];
	const char		*why;

	take_name(what, name);
	if (d->config != NULL)
		s = config_server(d->config, what);
	if (s != NULL)
		look_at_server(d, s);
	else if (is_literal(name))
		look_at_host(d, name, -1);
	else if (value_host(name, &why) == 0)
		look_at_domain(d, name);
	else {
		fprintf(stderr, "mailflowctl: %s: neither a server section, "
		    "nor a domain or an address: %s\n", what, why);
		return (-1);
	}
	if (d->count > 0)
		return (0);
	fprintf(stderr, "mailflowctl: server %s names no domain, and no route "
	    "uses it\n", what);
	return (-1);
}

/* Of the mistakes the first is enough: mailflowd -t tells them all. */
static void
say_first(void *arg, const char *line)
{
	bool	*said = arg;

	if (!*said && strstr(line, ": warning: ") == NULL) {
		*said = true;
		fprintf(stderr, "mailflowctl: %s\nmailflowctl: going on "
		    "without the configuration\n", line);
	}
}

static struct frame_job *
usual_job(const struct config *c)
{
	struct frame_job	*j = mem_alloc(sizeof *j);
	const char		*why;

	j->kind = JOB_CHECK;
	j->port = 25;
	j->tls = TLS_OPPORTUNISTIC;
	j->connect_timeout_ms = CONNECT_MS;
	j->timeout_ms = REPLY_MS;
	j->deadline_ms = CONNECT_MS + 6 * REPLY_MS;
	if (gethostname(j->helo, sizeof j->helo - 1) != 0 ||
	    value_host(j->helo, &why) != 0)
		text_copy(j->helo, sizeof j->helo, "localhost");
	if (c != NULL)
		text_copy(j->resolver, sizeof j->resolver, c->resolver);
	return (j);
}

static int
diagnose(const char *file, const char *what)
{
	bool			 said = false;
	struct config		*c = config_load(file, say_first, &said);
	struct diagnosis	 d = { .config = c, .job = usual_job(c),
				    .family = AF_UNSPEC };
	int			 rc = EX_USAGE;

	if (look(&d, what) == 0) {
		diagnosis_print(d.seen, d.count, stdout,
		    isatty(STDOUT_FILENO) == 1);
		rc = diagnosis_of(d.seen, d.count);
	}
	mem_free(d.seen);
	mem_free(d.job);
	config_free(&c);
	return (rc);
}

int
ctl_diagnose(const struct ctl *ctl, int argc, char **argv)
{
	if (argc != 2 || argv[1][0] == '-')
		return (ctl_usage("diagnose SERVER|DOMAIN|ADDRESS"));
	(void)signal(SIGPIPE, SIG_IGN);
	return (diagnose(ctl->config, argv[1]));
}
