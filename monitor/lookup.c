#include "monitor/lookup.h"

#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* Per server and try; c-ares doubles it with each round of tries. */
#define TRY_MS		2000
#define TRIES		3

/*
 * A channel is not thread-safe and costs a read of the resolver's
 * configuration: one per thread, made anew when that has changed.
 */
struct channel {
	ares_channel	 ares;		/* owned; NULL: none */
	char		*resolver;	/* owned; what it was made for */
	struct timespec	 resolv_mtime;
};

static pthread_once_t	 once = PTHREAD_ONCE_INIT;
static pthread_key_t	 channel_key;

static void
channel_drop(struct channel *c)
{
	if (c->ares != NULL)
		ares_destroy(c->ares);
	mem_free(c->resolver);
	*c = (struct channel){ 0 };
}

static void
channel_end(void *arg)
{
	channel_drop(arg);
	mem_free(arg);
}

static void
library_begin(void)
{
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS ||
	    pthread_key_create(&channel_key, channel_end) != 0)
		panic("c-ares does not start");
}

static struct timespec
resolv_mtime(void)
{
	struct stat	st = { 0 };

	(void)stat("/etc/resolv.conf", &st);
	return (st.st_mtim);
}

/* ARES_SUCCESS or an error; c is empty. */
static int
channel_open(struct channel *c, const char *resolver)
{
	struct ares_options	o = { .timeout = TRY_MS, .tries = TRIES };
	int			e;

	c->resolv_mtime = resolv_mtime();
	e = ares_init_options(&c->ares, &o,
	    ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
	if (e != ARES_SUCCESS) {
		c->ares = NULL;
		return (e);
	}
	c->resolver = mem_strdup(resolver);
	return (*resolver == '\0' ? ARES_SUCCESS :
	    ares_set_servers_ports_csv(c->ares, resolver));
}

/* This thread's channel for the resolver; NULL with *status_r set. */
static ares_channel
channel_get(const char *resolver, int *status_r)
{
	struct channel	*c;
	struct timespec	 now = resolv_mtime();

	pthread_once(&once, library_begin);
	if ((c = pthread_getspecific(channel_key)) == NULL) {
		c = mem_alloc(sizeof *c);
		if (pthread_setspecific(channel_key, c) != 0)
			panic("pthread_setspecific");
	}
	if (c->ares != NULL && strcmp(c->resolver, resolver) == 0 &&
	    c->resolv_mtime.tv_sec == now.tv_sec &&
	    c->resolv_mtime.tv_nsec == now.tv_nsec)
		return (c->ares);
	channel_drop(c);
	if ((*status_r = channel_open(c, resolver)) != ARES_SUCCESS)
		channel_drop(c);
	return (c->ares);
}

/* What c-ares waits for; its own macros shift into the sign bit. */
static nfds_t
gather_fds(ares_channel ares, struct pollfd *p)
{
	ares_socket_t	 socks[ARES_GETSOCK_MAXNUM];
	unsigned	 mask = (unsigned)ares_getsock(ares, socks,
			    ARES_GETSOCK_MAXNUM);
	nfds_t		 n = 0;
	short		 events;

	for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; i++) {
		events = (short)((mask >> i & 1 ? POLLIN : 0) |
		    (mask >> (i + ARES_GETSOCK_MAXNUM) & 1 ? POLLOUT : 0));
		if (events != 0)
			p[n++] = (struct pollfd){ .fd = socks[i],
			    .events = events };
	}
	return (n);
}

/* One round of waiting and processing. */
static void
turn(ares_channel ares, int64_t left_ms)
{
	struct pollfd	 p[ARES_GETSOCK_MAXNUM];
	struct timeval	 most, tv, *t;
	nfds_t		 n = gather_fds(ares, p);
	int		 ms;

	most = (struct timeval){ .tv_sec = left_ms / 1000,
	    .tv_usec = left_ms % 1000 * 1000 };
	t = ares_timeout(ares, &most, &tv);
	ms = (int)(t->tv_sec * 1000 + (t->tv_usec + 999) / 1000);
	if (poll(p, n, ms) <= 0)
		ares_process_fd(ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	else
		for (nfds_t i = 0; i < n; i++)
			if (p[i].revents != 0)
				ares_process_fd(ares,
				    p[i].events & POLLIN ? p[i].fd :
				    ARES_SOCKET_BAD, p[i].events & POLLOUT ?
				    p[i].fd : ARES_SOCKET_BAD);
}

/* Until *done, or the deadline: then every question is called off. */
static void
run(ares_channel ares, const bool *done, int64_t deadline_boot_ms)
{
	int64_t	left;

	while (!*done) {
		left = deadline_boot_ms - clock_boot_ms();
		if (left > 0)
			turn(ares, left < 60000 ? left : 60000);
		else
			ares_cancel(ares);
	}
}

/*
 * What a status means.  Everything not listed is our resolver's trouble, not
 * the domain's: silence, SERVFAIL, refusal, nonsense.
 */
static enum transport_error
status_error(int status, const char *name, char *reason_r)
{
	reason_r[0] = '\0';
	switch (status) {
	case ARES_SUCCESS:
		return (TRANSPORT_OK);
	case ARES_ENOTFOUND:
	case ARES_ENONAME:
		text_appendf(reason_r, TRANSPORT_REASON,
		    "the name %s does not exist", name);
		return (TRANSPORT_NXDOMAIN);
	case ARES_ENODATA:
		text_appendf(reason_r, TRANSPORT_REASON,
		    "the name %s has no address of the family asked for", name);
		return (TRANSPORT_NO_ADDRESS);
	case ARES_EBADNAME:
		text_appendf(reason_r, TRANSPORT_REASON,
		    "%s is no valid name", name);
		return (TRANSPORT_NXDOMAIN);
	case ARES_ECANCELLED:
	case ARES_ETIMEOUT:
		text_appendf(reason_r, TRANSPORT_REASON,
		    "the resolver did not answer in time for %s", name);
		return (TRANSPORT_RESOLVER);
	default:
		text_appendf(reason_r, TRANSPORT_REASON,
		    "the resolver failed for %s: %s", name,
		    ares_strerror(status));
		return (TRANSPORT_RESOLVER);
	}
}

/* Addresses */

struct address_answer {
	bool				 done;
	int				 status;
	struct transport_addresses	*out;	/* borrowed */
};

static void
take_addresses(void *arg, int status, int timeouts, struct ares_addrinfo *ai)
{
	struct address_answer		*a = arg;
	struct transport_addresses	*out = a->out;
	struct ares_addrinfo_node	*n;

	(void)timeouts;
	a->done = true;
	a->status = status;
	for (n = ai != NULL ? ai->nodes : NULL;
	    n != NULL && out->count < TRANSPORT_ADDRESSES; n = n->ai_next)
		if (n->ai_addrlen <= sizeof out->list[0])
			memcpy(&out->list[out->count++], n->ai_addr,
			    n->ai_addrlen);
	if (ai != NULL)
		ares_freeaddrinfo(ai);
}

static int
ask_addresses(ares_channel ares, const char *host, int family,
    int64_t deadline_boot_ms, struct transport_addresses *out)
{
	struct ares_addrinfo_hints	hints = {
		.ai_family = family, .ai_socktype = SOCK_STREAM,
		/* RFC 6724 is about which family first; it costs a socket */
		.ai_flags = family == AF_UNSPEC ? 0 : ARES_AI_NOSORT,
	};
	struct address_answer		a = { .out = out };

	ares_getaddrinfo(ares, host, NULL, &hints, take_addresses, &a);
	run(ares, &a.done, deadline_boot_ms);
	if (a.status == ARES_SUCCESS && out->count == 0)
		return (ARES_ENODATA);
	return (a.status);
}

/*
 * With both families asked for, c-ares reports the answer that came last:
 * "no IPv6 address" may hide that the question for IPv4 failed.
 */
static int
ask_host(ares_channel ares, const char *host, int family,
    int64_t deadline_boot_ms, struct transport_addresses *out)
{
	int	status;

	status = ask_addresses(ares, host, family, deadline_boot_ms, out);
	if (status == ARES_ENODATA && family == AF_UNSPEC)
		status = ask_addresses(ares, host, AF_INET, deadline_boot_ms,
		    out);
	return (status);
}

/* 1: host is a literal, now in out; 0: a name; -1: of the other family. */
static int
take_literal(const char *host, int family, struct transport_addresses *out)
{
	struct addrinfo	 hints = { .ai_flags = AI_NUMERICHOST,
			    .ai_socktype = SOCK_STREAM }, *ai;
	char		 bare[OUTCOME_HOST];
	struct in_addr	 v4;
	size_t		 n;

	text_copy(bare, sizeof bare, *host == '[' ? host + 1 : host);
	n = strlen(bare);
	if (*host == '[' && n > 0 && bare[n - 1] == ']')
		bare[n - 1] = '\0';
	if (inet_pton(AF_INET, bare, &v4) != 1 && strchr(bare, ':') == NULL)
		return (0);
	if (getaddrinfo(bare, NULL, &hints, &ai) != 0)
		return (0);
	if (family != AF_UNSPEC && ai->ai_family != family) {
		freeaddrinfo(ai);
		return (-1);
	}
	memcpy(&out->list[0], ai->ai_addr, ai->ai_addrlen);
	out->count = 1;
	freeaddrinfo(ai);
	return (1);
}

/*
 * localhost means the loopback addresses and is nobody's to ask about (RFC
 * 6761 6.3): it works without a hosts file and with the resolver dead.
 */
static bool
take_localhost(const char *host, int family, struct transport_addresses *out)
{
	struct sockaddr_in	*v4 = (struct sockaddr_in *)&out->list[0];
	struct sockaddr_in6	*v6;

	if (strcasecmp(host, "localhost") != 0)
		return (false);
	if (family != AF_INET6) {
		*v4 = (struct sockaddr_in){ .sin_family = AF_INET };
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		out->count++;
	}
	if (family != AF_INET) {
		v6 = (struct sockaddr_in6 *)&out->list[out->count++];
		*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6 };
		v6->sin6_addr = in6addr_loopback;
	}
	return (true);
}

static void
set_ports(struct transport_addresses *out, uint16_t port)
{
	for (size_t i = 0; i < out->count; i++) {
		if (out->list[i].ss_family == AF_INET)
			((struct sockaddr_in *)&out->list[i])->sin_port =
			    htons(port);
		else
			((struct sockaddr_in6 *)&out->list[i])->sin6_port =
			    htons(port);
	}
}

int
transport_lookup(const char *host, uint16_t port, int family,
    const char *resolver, int64_t deadline_boot_ms,
    struct transport_addresses *out)
{
	ares_channel	ares;
	int		literal, status;

	out->count = 0;
	out->error = TRANSPORT_OK;
	out->reason[0] = '\0';
	if ((literal = take_literal(host, family, out)) != 0)
		status = literal == 1 ? ARES_SUCCESS : ARES_ENODATA;
	else if (take_localhost(host, family, out))
		status = ARES_SUCCESS;
	else if ((ares = channel_get(resolver, &status)) != NULL)
		status = ask_host(ares, host, family, deadline_boot_ms, out);
	out->error = status_error(status, host, out->reason);
	set_ports(out, port);
	return (out->error == TRANSPORT_OK ? 0 : -1);
}

/* Mail hosts */

struct mx_answer {
	bool			 done;
	int			 status;
	struct lookup_hosts	*out;	/* borrowed */
};

static uint32_t
dice(void)
{
	uint32_t	n = 0;

	(void)!getrandom(&n, sizeof n, 0);
	return (n);
}

/*
 * Into its place by preference; among equals at a random place, so that the
 * load is spread (RFC 5321 5.1).  Of too many the worst fall off.
 */
static void
insert(struct lookup_hosts *out, const char *name, unsigned preference)
{
	size_t	at, equals = 0;

	for (at = 0; at < out->count &&
	    out->list[at].preference <= preference; at++)
		if (out->list[at].preference == preference)
			equals++;
	at -= equals > 0 ? dice() % (equals + 1) : 0;
	if (at == LOOKUP_HOSTS)
		return;
	if (out->count == LOOKUP_HOSTS)
		out->count--;
	memmove(&out->list[at + 1], &out->list[at],
	    (out->count - at) * sizeof out->list[0]);
	out->list[at].preference = preference;
	text_clean(out->list[at].name, sizeof out->list[at].name, name,
	    strlen(name));
	out->count++;
}

static void
take_mx(void *arg, int status, int timeouts, unsigned char *bytes, int len)
{
	struct mx_answer	*a = arg;
	struct ares_mx_reply	*list = NULL, *mx;

	(void)timeouts;
	a->done = true;
	a->status = status;
	if (status != ARES_SUCCESS)
		return;
	a->status = ares_parse_mx_reply(bytes, len, &list);
	for (mx = list; mx != NULL; mx = mx->next) {
		if (*mx->host == '\0' || strcmp(mx->host, ".") == 0)
			a->out->null_mx = true;
		else
			insert(a->out, mx->host, mx->priority);
	}
	ares_free_data(list);
}

int
lookup_mx(const char *domain, const char *resolver, int64_t deadline_boot_ms,
    struct lookup_hosts *out)
{
	struct transport_addresses	literal = { 0 };
	struct mx_answer		a = { .out = out };
	ares_channel			ares;

	*out = (struct lookup_hosts){ 0 };
	if (take_literal(domain, AF_UNSPEC, &literal) == 1 ||
	    take_localhost(domain, AF_UNSPEC, &literal))
		a.status = ARES_ENODATA;	/* user@[192.0.2.1] */
	else if ((ares = channel_get(resolver, &a.status)) != NULL) {
		ares_query(ares, domain, ns_c_in, ns_t_mx, take_mx, &a);
		run(ares, &a.done, deadline_boot_ms);
	}
	if (a.status == ARES_ENODATA ||
	    (a.status == ARES_SUCCESS && out->count == 0 && !out->null_mx)) {
		out->implicit = true;
		insert(out, domain, 0);
		a.status = ARES_SUCCESS;
	}
	out->error = status_error(a.status, domain, out->reason);
	if (out->error == TRANSPORT_OK && out->count == 0) {
		out->error = TRANSPORT_NO_ADDRESS;
		text_appendf(out->reason, sizeof out->reason,
		    "the domain %s accepts no mail (null MX)", domain);
	}
	return (out->error == TRANSPORT_OK ? 0 : -1);
}
