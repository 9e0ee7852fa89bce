#include "monitor/config_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/secret.h"
#include "monitor/value.h"

/*
 * What must hold between values, and the defaults that depend on others.  A
 * setting that was reported is bad; what depends on a bad one is not looked
 * at, so that each mistake is told once and nothing follows from it.
 */

static struct setting *
setting(const struct section *s, const char *option)
{
	int	i = config_option_of(s->kind, option, strlen(option));

	if (i == -1)
		panic("no option %s", option);
	return (&s->settings[i]);
}

static bool
given(const struct section *s, const char *option)
{
	return (setting(s, option)->place.line != 0);
}

/* Where to point to: the option if it is there, else its section. */
static struct place
place_of(const struct section *s, const char *option)
{
	const struct setting	*set = setting(s, option);

	return (set->place.line != 0 ? set->place : s->place);
}

/* True if none of the options, a list that ends with NULL, is bad. */
static bool
all_good(const struct section *s, const char *const *options)
{
	for (; *options != NULL; options++)
		if (setting(s, *options)->bad)
			return (false);
	return (true);
}

#define GOOD(s, ...)	all_good((s), (const char *const []){ __VA_ARGS__, NULL })

/* Reports an option, once. */
#define MISTAKE(c, s, option, ...) do {					\
	config_mistake((c)->doc, place_of((s), (option)), (option),	\
	    __VA_ARGS__);						\
	setting((s), (option))->bad = true;				\
} while (0)

/*
 * Files that are named
 */

/* One that can be read, in PEM, as OpenSSL wants them. */
static bool
has_certificate(const char *path)
{
	X509	*x = NULL;
	BIO	*bio = BIO_new_file(path, "r");

	if (bio != NULL)
		x = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL);
	BIO_free(bio);
	ERR_clear_error();
	X509_free(x);
	return (x != NULL);
}

static void
check_ca_file(struct build *c, struct section *s, const char *path)
{
	struct stat	st;

	if (*path == '\0' || !GOOD(s, "ca_file"))
		return;
	if (access(path, R_OK) == -1 || stat(path, &st) == -1)
		MISTAKE(c, s, "ca_file", "%s: %m", path);
	else if (!S_ISREG(st.st_mode) || !has_certificate(path))
		MISTAKE(c, s, "ca_file", "%s: not a file of certificates",
		    path);
}

static void
check_secret_file(struct build *c, struct section *s,
    const struct secret_source *source)
{
	const char	*option = source->password_file[0] != '\0' ?
			    "password_file" : "credential";
	char		*buf, path[4096], why[160];

	if (source->password_file[0] == '\0' && source->credential[0] == '\0')
		return;
	if (secret_path(source, path, sizeof path, why, sizeof why) == -1) {
		/* Only the service manager's own start has the folder. */
		config_warning(c->doc, place_of(s, option), option,
		    "not checked: %s", why);
		return;
	}
	buf = mem_alloc(SECRET_MAX + 1);
	if (secret_read(source, buf, SECRET_MAX + 1, why, sizeof why) == -1)
		MISTAKE(c, s, option, "%s: %s", path, why);
	mem_wipe(buf, SECRET_MAX + 1);
	mem_free(buf);
}

/*
 * Servers and mailboxes
 */

static const char *const secrets[] = {
	"password_file", "password_command", "token_command", "credential",
	NULL
};

/* How many sources are set, the last of them in *last_r. */
static unsigned
count_secrets(const struct section *s, const char **last_r)
{
	unsigned	n = 0;
	size_t		i;

	for (i = 0; secrets[i] != NULL; i++) {
		if (given(s, secrets[i]) &&
		    setting(s, secrets[i])->values[0][0] != '\0') {
			*last_r = secrets[i];
			n++;
		}
	}
	return (n);
}

static void
check_secret(struct build *c, struct section *s, const char *user,
    const struct secret_source *source)
{
	const char	*last = NULL;
	unsigned	 n;

	if (!all_good(s, secrets) || !GOOD(s, "user"))
		return;
	n = count_secrets(s, &last);
	if (*user == '\0' && n > 0)
		MISTAKE(c, s, last, "is of no use without user");
	else if (*user != '\0' && n == 0)
		MISTAKE(c, s, "user", "needs one of password_file, "
		    "password_command, token_command and credential");
	else if (n > 1)
		MISTAKE(c, s, last, "one secret is enough: another of "
		    "password_file, password_command, token_command and "
		    "credential is set");
	else
		check_secret_file(c, s, source);
}

/* A password goes to nobody who has not shown who he is. */
static void
check_exposure(struct build *c, struct section *s, const char *user,
    enum tls_mode tls, bool insecure)
{
	const char	*at = given(s, "tls") ? "tls" : "user";

	if (*user == '\0' || insecure || tls == TLS_STARTTLS ||
	    tls == TLS_IMPLICIT ||
	    !GOOD(s, "user", "tls", "insecure_auth"))
		return;
	MISTAKE(c, s, at, "the password would travel without verified TLS: "
	    "use starttls or implicit, or set insecure_auth = true");
}

/* The family of a source address must be one that is wanted. */
static void
check_source(struct build *c, struct section *s, const char *address,
    enum address_family family)
{
	const char	*why;
	bool		 v6;

	if (*address == '\0' || !GOOD(s, "source_address", "family") ||
	    value_ip(address, &v6, &why) == -1)
		return;
	if (family == (v6 ? FAMILY_IPV4 : FAMILY_IPV6))
		MISTAKE(c, s, "source_address",
		    "is not of the family that is asked for");
}

static void
replace(char **field, const char *value)
{
	mem_free(*field);
	*field = mem_strdup(value);
}

/* A server's port when none is given (RFC 5321, RFC 6409, RFC 8314). */
static uint16_t
server_port(const struct server *v)
{
	if (v->mx != MX_NONE)
		return (25);
	switch (v->tls) {
	case TLS_NONE:
	case TLS_OPPORTUNISTIC:
		return (25);
	case TLS_STARTTLS:
		return (587);
	case TLS_IMPLICIT:
		return (465);
	}
	return (25);
}

static void
check_server(struct build *c, struct section *s)
{
	struct server	*v = s->built;

	if (!given(s, "tls"))
		v->tls = v->mx == MX_NONE ? TLS_STARTTLS : TLS_OPPORTUNISTIC;
	if (!given(s, "port"))
		v->port = server_port(v);
	if (v->helo[0] == '\0')
		replace(&v->helo, c->host_name);
	if (v->system[0] == '\0')
		replace(&v->system, v->host);
	if (GOOD(s, "host", "mx")) {
		if (v->mx == MX_NONE && v->host[0] == '\0')
			MISTAKE(c, s, "host", "must be set");
		else if (v->mx != MX_NONE && v->host[0] != '\0')
			MISTAKE(c, s, "host", "is of no use beside mx");
		if (v->mx == MX_NONE && v->domain[0] != '\0' &&
		    GOOD(s, "domain"))
			MISTAKE(c, s, "domain", "is of no use without mx");
	}
	check_secret(c, s, v->user, &v->secret);
	if (GOOD(s, "mx"))
		check_exposure(c, s, v->user, v->tls, v->insecure_auth);
	check_source(c, s, v->source_address, v->family);
	check_ca_file(c, s, v->ca_file);
}

static void
check_mailbox(struct build *c, struct section *s)
{
	struct mailbox	*m = s->built;

	if (!given(s, "port"))
		m->port = m->tls == TLS_IMPLICIT ? 993 : 143;
	if (GOOD(s, "host", "maildir")) {
		if (m->host[0] == '\0' && m->maildir[0] == '\0')
			MISTAKE(c, s, "host", "must be set");
		else if (m->host[0] != '\0' && m->maildir[0] != '\0')
			MISTAKE(c, s, "maildir", "is of no use beside host");
	}
	if (GOOD(s, "user", "maildir") && m->maildir[0] == '\0' &&
	    m->user[0] == '\0')
		MISTAKE(c, s, "user", "must be set");
	if (m->junk[0] == '\0')
		replace(&m->junk, "none");
	check_secret(c, s, m->user, &m->secret);
	check_exposure(c, s, m->user, m->tls, m->insecure_auth);
	check_source(c, s, m->source_address, m->family);
	check_ca_file(c, s, m->ca_file);
}

/*
 * Routes
 */

static int64_t
smaller(int64_t a, int64_t b)
{
	return (a < b ? a : b);
}

static int64_t
larger(int64_t a, int64_t b)
{
	return (a > b ? a : b);
}

/*
 * warn_after <= late_after <= lost_after.  A limit that nobody set gives way
 * to those that are; only what was written can contradict itself.
 */
static void
check_limits(struct build *c, struct section *s)
{
	struct route	*r = s->built;
	bool		 warn = given(s, "warn_after");
	bool		 late = given(s, "late_after");
	bool		 lost = given(s, "lost_after");

	if (!GOOD(s, "warn_after", "late_after", "lost_after"))
		return;
	if (!late && warn)
		r->late_after_ms = larger(r->late_after_ms, r->warn_after_ms);
	if (!late && lost)
		r->late_after_ms = smaller(r->late_after_ms, r->lost_after_ms);
	if (!warn)
		r->warn_after_ms = smaller(r->warn_after_ms, r->late_after_ms);
	if (!lost)
		r->lost_after_ms = larger(r->lost_after_ms, r->late_after_ms);
	if (r->warn_after_ms > r->late_after_ms)
		MISTAKE(c, s, "warn_after", "is longer than %s",
		    late ? "late_after" : "lost_after");
	else if (r->late_after_ms > r->lost_after_ms)
		MISTAKE(c, s, "late_after", "is longer than lost_after");
}

static void
must_be_set(struct build *c, struct section *s, const char *option)
{
	const struct setting	*set = setting(s, option);

	if (!set->bad && (set->place.line == 0 || set->values[0][0] == '\0'))
		MISTAKE(c, s, option, "must be set");
}

static void
check_route(struct build *c, struct section *s)
{
	must_be_set(c, s, "server");
	must_be_set(c, s, "from");
	must_be_set(c, s, "to");
	must_be_set(c, s, "mailbox");
	check_limits(c, s);
}

/* Alerts that a route does not name: "default", or the only ones. */
static struct section *
usual_alerts(const struct document *doc, size_t *count_r)
{
	struct section	*only = NULL, *usual;
	size_t		 i;

	*count_r = 0;
	for (i = 0; i < doc->section_count; i++)
		if (doc->sections[i]->kind == KIND_ALERTS) {
			only = doc->sections[i];
			++*count_r;
		}
	usual = config_find(doc, KIND_ALERTS, "default");
	return (usual != NULL ? usual : *count_r == 1 ? only : NULL);
}

static void
assign_alerts(struct build *c)
{
	struct document	*doc = c->doc;
	size_t		 i, count;
	struct section	*usual = usual_alerts(doc, &count);

	for (i = 0; i < doc->section_count; i++) {
		struct section	*s = doc->sections[i];

		if (s->kind != KIND_ROUTE || given(s, "alerts"))
			continue;
		if (usual != NULL) {
			((struct route *)s->built)->alerts = usual->built;
			continue;
		}
		config_warning(doc, place_of(s, "alerts"), "alerts", count == 0
		    ? "there is no alerts section: nobody is told anything"
		    : "there is no alerts section \"default\": nobody is told "
		    "of this route");
		if (count == 0)
			return;
	}
}

/*
 * Alerts
 */

static void
check_alerts(struct build *c, struct section *s)
{
	struct alerts	*a = s->built;

	if (!GOOD(s, "to", "command"))
		return;
	if (a->to[0] == NULL) {
		if (a->command[0] == '\0')
			MISTAKE(c, s, "to", "must be set, or command");
		return;
	}
	if (GOOD(s, "from") && a->from[0] == '\0')
		MISTAKE(c, s, "from", "must be set");
	if (GOOD(s, "servers") && a->servers[0] == NULL)
		MISTAKE(c, s, "servers", "must name at least one server");
}

/* What the routes lead through and to, sorted and without repetition. */
struct probed {
	const char	**names;	/* owned list of borrowed */
	size_t		  count;
};

static int
compare_strings(const void *a, const void *b)
{
	return (strcasecmp(*(const char *const *)a, *(const char *const *)b));
}

/* The system that a route's server is, or its recipient's domain; "". */
static const char *
probed_system(const struct route *r)
{
	return (r->server != NULL ? r->server->system : "");
}

static const char *
probed_host(const struct route *r)
{
	return (r->server != NULL ? r->server->host : "");
}

static const char *
probed_server(const struct route *r)
{
	return (r->server != NULL ? r->server->name : "");
}

/* Whose mail hosts are looked up; "": the server's host is named. */
static const char *
probed_mx_domain(const struct route *r)
{
	if (r->server == NULL || r->server->mx == MX_NONE)
		return ("");
	return (r->server->domain[0] != '\0' ? r->server->domain :
	    value_address_domain(r->to));
}

static const char *
probed_domain(const struct route *r)
{
	return (value_address_domain(r->to));
}

static struct probed
list_probed(const struct document *doc, const char *(*of)(const struct route *))
{
	struct probed	p;
	size_t		i;

	p = (struct probed){
		.names = mem_alloc(doc->section_count * sizeof *p.names),
	};
	for (i = 0; i < doc->section_count; i++) {
		const char	*name;

		if (doc->sections[i]->kind != KIND_ROUTE)
			continue;
		name = of(doc->sections[i]->built);
		if (*name != '\0')
			p.names[p.count++] = name;
	}
	if (p.count > 0)
		qsort(p.names, p.count, sizeof *p.names, compare_strings);
	return (p);
}

static bool
is_probed(const struct probed *p, const char *name)
{
	return (p->count > 0 && bsearch(&name, p->names, p->count,
	    sizeof *p->names, compare_strings) != NULL);
}

/* All that makes an alert's server one that a route leads through. */
struct all_probed {
	struct probed	servers, systems, hosts, mx_domains, domains;
};

/* The mail hosts of a domain that a route goes to. */
static bool
mx_is_probed(const struct all_probed *p, const struct alerts *a,
    const struct server *server)
{
	if (server->mx == MX_NONE)
		return (false);
	if (server->domain[0] != '\0')
		return (is_probed(&p->mx_domains, server->domain));
	for (size_t i = 0; a->to[i] != NULL; i++)
		if (is_probed(&p->mx_domains, value_address_domain(a->to[i])))
			return (true);
	return (false);
}

/*
 * An alert that needs the very server it is about does not arrive.  Servers
 * of one system are one; those of one host are, too, unless the alert's has
 * the name of another system.
 */
static bool
server_is_probed(const struct all_probed *p, const struct alerts *a,
    const struct server *server)
{
	return (is_probed(&p->servers, server->name) ||
	    is_probed(&p->systems, server->system) ||
	    (strcasecmp(server->system, server->host) == 0 &&
	    is_probed(&p->hosts, server->host)) ||
	    mx_is_probed(p, a, server));
}

static void
check_alert_servers(struct build *c, struct section *s,
    const struct all_probed *p)
{
	const struct alerts	*a = s->built;
	size_t			 i;

	if (!GOOD(s, "servers", "allow_probed") || a->allow_probed)
		return;
	for (i = 0; a->servers[i] != NULL; i++) {
		if (!server_is_probed(p, a, a->servers[i]))
			continue;
		MISTAKE(c, s, "servers", "\"%s\" is probed itself: alerts "
		    "about it would be lost with it (or set allow_probed = "
		    "true)", a->servers[i]->name);
		return;
	}
}

static void
check_alert_domains(struct build *c, struct section *s, const struct probed *p)
{
	const struct alerts	*a = s->built;
	size_t			 i;

	if (!GOOD(s, "to", "command") || a->command[0] != '\0' ||
	    a->to[0] == NULL)
		return;
	for (i = 0; a->to[i] != NULL; i++)
		if (!is_probed(p, value_address_domain(a->to[i])))
			return;
	config_warning(c->doc, place_of(s, "to"), "to", "the domain of every "
	    "recipient is probed itself: alerts may be lost with it; add one "
	    "elsewhere, or a command");
}

static void
check_all_alerts(struct build *c)
{
	struct all_probed	p = {
		.servers = list_probed(c->doc, probed_server),
		.systems = list_probed(c->doc, probed_system),
		.hosts = list_probed(c->doc, probed_host),
		.mx_domains = list_probed(c->doc, probed_mx_domain),
		.domains = list_probed(c->doc, probed_domain),
	};
	size_t			i;

	for (i = 0; i < c->doc->section_count; i++) {
		struct section	*s = c->doc->sections[i];

		if (s->kind != KIND_ALERTS)
			continue;
		check_alert_servers(c, s, &p);
		check_alert_domains(c, s, &p.domains);
	}
	mem_free(p.servers.names);
	mem_free(p.systems.names);
	mem_free(p.hosts.names);
	mem_free(p.mx_domains.names);
	mem_free(p.domains.names);
}

static bool
names_a_route(const struct document *doc, const char *pattern)
{
	for (size_t i = 0; i < doc->section_count; i++) {
		const struct section	*s = doc->sections[i];

		if (s->kind == KIND_ROUTE && fnmatch(pattern,
		    ((const struct route *)s->built)->name, 0) == 0)
			return (true);
	}
	return (false);
}

static void
check_window(struct build *c, struct section *s)
{
	const struct window	*w = s->built;

	must_be_set(c, s, "from");
	must_be_set(c, s, "to");
	if (!GOOD(s, "routes"))
		return;
	for (char **pattern = w->routes; *pattern != NULL; pattern++)
		if (!names_a_route(c->doc, *pattern))
			config_warning(c->doc, place_of(s, "routes"),
			    "routes", "no route has a name like \"%s\"",
			    *pattern);
}

/*
 * The top
 */

/* The first label of the host name in an instance's letters. */
static void
host_instance(const char *host, char *buf, size_t size)
{
	size_t	i, n = strcspn(host, ".");

	for (i = 0; i < n && i < size - 1; i++) {
		char	ch = host[i];

		if (ch >= 'A' && ch <= 'Z')
			ch = (char)(ch - 'A' + 'a');
		buf[i] = ch;
		if ((ch < 'a' || ch > 'z') && (ch < '0' || ch > '9'))
			buf[i] = '-';
	}
	buf[i] = '\0';
	if (i == 0)
		snprintf(buf, size, "%s", "localhost");
}

/* The folder that a path is in, as stat(2) finds it; -1 and errno. */
static int
stat_above(const char *path, struct stat *st)
{
	char	*above = mem_strdup(path), *slash = strrchr(above, '/');
	int	 r, error;

	if (slash != NULL)
		slash[slash == above] = '\0';
	r = stat(slash != NULL ? above : ".", st);
	error = errno;
	mem_free(above);
	errno = error;
	return (r);
}

/* The path is that of something in the folder itself. */
static bool
is_just_in(const char *path, const char *folder)
{
	size_t	n = strlen(folder);

	return (n > 0 && strncmp(path, folder, n) == 0 && path[n] == '/' &&
	    strchr(path + n + 1, '/') == NULL);
}

/*
 * One that is there, or that can be made where it is named: inside of a
 * folder that is there, or inside of `made`, which is made before it.
 */
static void
check_directory(struct build *c, struct section *s, const char *option,
    const char *path, const char *made)
{
	struct stat	st;

	if (!GOOD(s, option))
		return;
	if (*path == '\0') {
		MISTAKE(c, s, option, "must not be empty");
		return;
	}
	if (stat(path, &st) == 0) {
		if (!S_ISDIR(st.st_mode))
			MISTAKE(c, s, option, "%s: not a directory", path);
	} else if (errno == ENOENT && strcmp(path, made) != 0 &&
	    !is_just_in(path, made) &&
	    (stat_above(path, &st) == -1 || !S_ISDIR(st.st_mode)))
		MISTAKE(c, s, option, "%s: the folder that it is to be in "
		    "does not exist", path);
}

static void
check_top(struct build *c, struct section *s)
{
	struct config	*g = s->built;
	char		 instance[33];

	if (g->instance[0] == '\0') {
		host_instance(c->host_name, instance, sizeof instance);
		replace(&g->instance, instance);
	}
	if (g->csv_directory[0] == '\0') {
		mem_free(g->csv_directory);
		g->csv_directory = mem_printf("%s/csv", g->state_directory);
	}
	check_directory(c, s, "state_directory", g->state_directory, "");
	check_directory(c, s, "csv_directory", g->csv_directory,
	    g->state_directory);
	if (GOOD(s, "control") && *g->control == '\0')
		MISTAKE(c, s, "control", "must not be empty");
	if (GOOD(s, "control") && strlen(g->control) >=
	    sizeof ((struct sockaddr_un *)NULL)->sun_path)
		MISTAKE(c, s, "control",
		    "the path is too long for a socket, at most 107");
}

static void	(*const checks[KINDS])(struct build *, struct section *) = {
	[KIND_GLOBAL]	= check_top,
	[KIND_SERVER]	= check_server,
	[KIND_MAILBOX]	= check_mailbox,
	[KIND_DEFAULTS]	= check_limits,
	[KIND_ROUTE]	= check_route,
	[KIND_ALERTS]	= check_alerts,
	[KIND_WINDOW]	= check_window,
};

void
config_check(struct build *c)
{
	struct document	*doc = c->doc;
	size_t		 i, routes = 0;

	check_top(c, c->top);
	for (i = 0; i < doc->section_count; i++) {
		struct section	*s = doc->sections[i];

		routes += s->kind == KIND_ROUTE;
		checks[s->kind](c, s);
	}
	assign_alerts(c);
	check_all_alerts(c);
	if (routes == 0 && !doc->lost)
		config_mistake(doc, (struct place){ .file = 0, .line = 1 },
		    "route", "there is none: nothing to watch");
}
