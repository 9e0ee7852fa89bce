#include "monitor/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/tls.h"

/* A watcher holds thousands of these: no buffers in here. */
struct transport {
	int			 fd;		/* owned */
	SSL			*ssl;		/* owned; NULL: plain */
	int64_t			 deadline_boot_ms;
	size_t			 budget;	/* bytes that may still be read */
	short			 read_wants;	/* POLLIN, or as TLS says */
	short			 write_wants;	/* POLLOUT, or as TLS says */
	bool			 write_broken;	/* but words are left to read */
	bool			 verified;
	enum transport_error	 error;
	int32_t			 certificate_days;
	char			*reason;	/* owned; NULL: "" */
	char			*tls;		/* owned; NULL: "none" */
	char			 address[INET6_ADDRSTRLEN + IF_NAMESIZE];
};

/* errno of a socket call, as our error and as a sentence. */
static const struct {
	int			 number;
	enum transport_error	 error;
	const char		*reason;
} errnos[] = {
	{ ECONNREFUSED,	TRANSPORT_REFUSED,	"connection refused" },
	{ ENETUNREACH,	TRANSPORT_UNREACHABLE,	"network is unreachable" },
	{ EHOSTUNREACH,	TRANSPORT_UNREACHABLE,	"no route to host" },
	{ ENETDOWN,	TRANSPORT_UNREACHABLE,	"network is down" },
	{ EHOSTDOWN,	TRANSPORT_UNREACHABLE,	"host is down" },
	{ ETIMEDOUT,	TRANSPORT_TIMEOUT,	"connection timed out" },
	{ ECONNRESET,	TRANSPORT_RESET,	"connection reset by the server" },
	{ EPIPE,	TRANSPORT_RESET,	"connection reset by the server" },
	{ ECONNABORTED,	TRANSPORT_RESET,	"connection aborted" },
	{ EADDRNOTAVAIL, TRANSPORT_LOCAL,	"source address is not one of ours" },
	{ EACCES,	TRANSPORT_LOCAL,	"connecting is not permitted here" },
	{ EPERM,	TRANSPORT_LOCAL,	"connecting is not permitted here" },
	{ EMFILE,	TRANSPORT_LOCAL,	"out of descriptors" },
	{ ENFILE,	TRANSPORT_LOCAL,	"out of descriptors" },
};

static enum transport_error
errno_error(int number, char *reason_r)
{
	for (size_t i = 0; i < NITEMS(errnos); i++) {
		if (errnos[i].number != number)
			continue;
		text_copy(reason_r, TRANSPORT_REASON, errnos[i].reason);
		return (errnos[i].error);
	}
	text_copy(reason_r, TRANSPORT_REASON, strerror(number));
	return (TRANSPORT_LOCAL);
}

/* The first error sticks. */
static int
fail(struct transport *t, enum transport_error error, const char *reason)
{
	if (t->error == TRANSPORT_OK) {
		t->error = error;
		t->reason = mem_strdup(reason);
	}
	return (-1);
}

static int
fail_errno(struct transport *t)
{
	char			reason[TRANSPORT_REASON];
	enum transport_error	error = errno_error(errno, reason);

	return (fail(t, error, reason));
}

static bool
is_past(int64_t deadline_boot_ms)
{
	return (clock_boot_ms() >= deadline_boot_ms);
}

/* Waits until the deadline, and looks once when it is past; 0: too late. */
static int
wait_fd(int fd, short events, int64_t deadline_boot_ms)
{
	struct pollfd	p = { .fd = fd, .events = events };
	int64_t		left;
	int		n;

	do {
		left = deadline_boot_ms - clock_boot_ms();
		n = poll(&p, 1, left > INT_MAX ? INT_MAX :
		    left > 0 ? (int)left : 0);
		if (n > 0)
			return (1);
		if (n < 0 && errno != EINTR)
			panic("poll: %s", strerror(errno));
	} while (!is_past(deadline_boot_ms));
	return (0);
}

/* Connecting */

static socklen_t
address_length(const struct sockaddr_storage *a)
{
	return (a->ss_family == AF_INET ? sizeof (struct sockaddr_in) :
	    sizeof (struct sockaddr_in6));
}

void
transport_print_address(const struct sockaddr_storage *a, char *buf, size_t size)
{
	const void	*raw;

	if (a->ss_family == AF_INET)
		raw = &((const struct sockaddr_in *)a)->sin_addr;
	else
		raw = &((const struct sockaddr_in6 *)a)->sin6_addr;
	if (inet_ntop(a->ss_family, raw, buf, (socklen_t)size) == NULL)
		text_copy(buf, size, "?");
}

/* 0, or -1 with errno set; EAFNOSUPPORT: an address of the other family. */
static int
bind_source(int fd, int family, const char *source)
{
	struct sockaddr_storage	 a = { .ss_family = (sa_family_t)family };
	void			*raw;

	if (*source == '\0')
		return (0);
	if (family == AF_INET)
		raw = &((struct sockaddr_in *)&a)->sin_addr;
	else
		raw = &((struct sockaddr_in6 *)&a)->sin6_addr;
	if (inet_pton(family, source, raw) != 1) {
		errno = EAFNOSUPPORT;
		return (-1);
	}
	return (bind(fd, (const struct sockaddr *)&a, address_length(&a)));
}

/* 0, or -1 with errno set. */
static int
connect_by(int fd, const struct sockaddr_storage *a, int64_t deadline_boot_ms)
{
	int		error = 0;
	socklen_t	len = sizeof error;

	if (connect(fd, (const struct sockaddr *)a, address_length(a)) == 0)
		return (0);
	if (errno != EINPROGRESS && errno != EINTR)
		return (-1);
	if (wait_fd(fd, POLLOUT, deadline_boot_ms) == 0)
		error = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	errno = error;
	return (error == 0 ? 0 : -1);
}

static int
open_socket(const struct sockaddr_storage *a, const char *source)
{
	int	fd, saved, one = 1;

	fd = socket(a->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (-1);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (bind_source(fd, a->ss_family, source) == 0)
		return (fd);
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

struct transport *
transport_connect(const struct sockaddr_storage *a, const char *source_address,
    int64_t deadline_boot_ms, enum transport_error *error_r, char *reason_r)
{
	struct transport	*t;
	int			 fd, saved;

	if ((fd = open_socket(a, source_address)) == -1 ||
	    connect_by(fd, a, deadline_boot_ms) != 0) {
		saved = errno;
		*error_r = errno_error(saved, reason_r);
		if (saved == EAFNOSUPPORT)
			text_copy(reason_r, TRANSPORT_REASON, "no source "
			    "address or no network of that family");
		if (fd != -1)
			close(fd);
		return (NULL);
	}
	t = mem_alloc(sizeof *t);
	t->fd = fd;
	t->deadline_boot_ms = deadline_boot_ms;
	t->read_wants = POLLIN;
	t->write_wants = POLLOUT;
	t->certificate_days = INT32_MIN;
	transport_print_address(a, t->address, sizeof t->address);
	*error_r = TRANSPORT_OK;
	reason_r[0] = '\0';
	return (t);
}

void
transport_close(struct transport **tp)
{
	struct transport	*t = *tp;

	*tp = NULL;
	if (t == NULL)
		return;
	SSL_free(t->ssl);
	close(t->fd);
	mem_free(t->reason);
	mem_free(t->tls);
	mem_free(t);
}

/* TLS */

/* A server that speaks first before our ClientHello does not do TLS. */
static bool
spoke_too_early(const struct transport *t)
{
	char	byte;

	return (recv(t->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}

static int
fail_handshake(struct transport *t, int ssl_error)
{
	char	reason[TRANSPORT_REASON];

	if (ssl_error != SSL_ERROR_SSL)
		return (fail(t, TRANSPORT_TLS,
		    "the server closed the connection in the TLS handshake"));
	tls_error_text(reason, sizeof reason);
	return (fail(t, TRANSPORT_TLS, reason));
}

/* 0, or -1 with the error set. */
static int
handshake(struct transport *t, int64_t deadline_boot_ms)
{
	short	events;
	int	n, e;

	for (;;) {
		ERR_clear_error();
		if ((n = SSL_connect(t->ssl)) == 1)
			return (0);
		e = SSL_get_error(t->ssl, n);
		if (e != SSL_ERROR_WANT_READ && e != SSL_ERROR_WANT_WRITE)
			return (fail_handshake(t, e));
		events = e == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
		if (is_past(deadline_boot_ms) ||
		    wait_fd(t->fd, events, deadline_boot_ms) == 0)
			return (fail(t, TRANSPORT_TIMEOUT,
			    "timed out in the TLS handshake"));
	}
}

/*
 * What came of the handshake, before any byte of ours passes: 0, or -1 when
 * the certificate does not hold and must.
 */
static int
judge_certificate(struct transport *t, const char *host,
    enum transport_verify verify)
{
	char	fault[TRANSPORT_REASON];

	tls_certificate_fault(t->ssl, host, fault, sizeof fault);
	t->verified = fault[0] == '\0';
	t->certificate_days = tls_certificate_days(t->ssl);
	t->tls = t->verified ?
	    mem_printf("%s verified", SSL_get_version(t->ssl)) :
	    mem_printf("%s unverified: %s", SSL_get_version(t->ssl), fault);
	if (!t->verified && verify == TRANSPORT_VERIFY)
		return (fail(t, TRANSPORT_CERT, fault));
	return (0);
}

int
transport_starttls(struct transport *t, const char *host, const char *ca_file,
    enum transport_verify verify, int64_t deadline_boot_ms)
{
	char	reason[TRANSPORT_REASON];

	if (t->error != TRANSPORT_OK)
		return (-1);
	if (t->ssl != NULL)
		panic("transport_starttls: twice");
	if (spoke_too_early(t))
		return (fail(t, TRANSPORT_TLS,
		    "the server sent plain text where TLS must begin"));
	if ((t->ssl = tls_client(t->fd, host, ca_file, reason)) == NULL)
		return (fail(t, TRANSPORT_LOCAL, reason));
	if (handshake(t, deadline_boot_ms) != 0)
		return (-1);
	return (judge_certificate(t, host, verify));
}

/* Moving bytes */

void
transport_arm(struct transport *t, int64_t deadline_boot_ms, size_t budget)
{
	t->deadline_boot_ms = deadline_boot_ms;
	t->budget = budget;
}

/* What a TLS call that did not move bytes came to: 0 or -1. */
static ptrdiff_t
tls_stalled(struct transport *t, int n, short *wants)
{
	char	reason[TRANSPORT_REASON];

	switch (SSL_get_error(t->ssl, n)) {
	case SSL_ERROR_WANT_READ:
		*wants = POLLIN;
		return (0);
	case SSL_ERROR_WANT_WRITE:
		*wants = POLLOUT;
		return (0);
	case SSL_ERROR_ZERO_RETURN:
		return (fail(t, TRANSPORT_EOF, "connection closed by the server"));
	case SSL_ERROR_SYSCALL:
		if (errno != 0)
			return (fail_errno(t));
		return (fail(t, TRANSPORT_EOF, "connection closed by the server"));
	default:
		tls_error_text(reason, sizeof reason);
		return (fail(t, TRANSPORT_TLS, reason));
	}
}

/*
 * A server that refuses in the middle says why and closes; our next write
 * fails while its last words wait to be read.  They are worth more than
 * "connection reset", so the error is left to the read that follows them.
 */
static bool
has_last_words(struct transport *t)
{
	char	byte;

	t->write_broken = (errno == EPIPE || errno == ECONNRESET) &&
	    recv(t->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
	return (t->write_broken);
}

static ptrdiff_t
tls_read(struct transport *t, void *buf, size_t size)
{
	int	n;

	ERR_clear_error();
	errno = 0;
	t->read_wants = POLLIN;
	n = SSL_read(t->ssl, buf, size > INT_MAX ? INT_MAX : (int)size);
	return (n > 0 ? n : tls_stalled(t, n, &t->read_wants));
}

static ptrdiff_t
tls_write(struct transport *t, const void *buf, size_t size)
{
	int	n;

	ERR_clear_error();
	errno = 0;
	t->write_wants = POLLOUT;
	n = SSL_write(t->ssl, buf, size > INT_MAX ? INT_MAX : (int)size);
	if (n > 0)
		return (n);
	if (SSL_get_error(t->ssl, n) == SSL_ERROR_SYSCALL && has_last_words(t))
		return (0);
	return (tls_stalled(t, n, &t->write_wants));
}

static bool
would_block(void)
{
	return (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static ptrdiff_t
plain_read(struct transport *t, void *buf, size_t size)
{
	ssize_t	n = recv(t->fd, buf, size, 0);

	if (n > 0)
		return (n);
	if (n == 0)
		return (fail(t, TRANSPORT_EOF, "connection closed by the server"));
	return (would_block() ? 0 : fail_errno(t));
}

static ptrdiff_t
plain_write(struct transport *t, const void *buf, size_t size)
{
	ssize_t	n = send(t->fd, buf, size, MSG_NOSIGNAL);

	if (n >= 0)
		return (n);
	return (would_block() || has_last_words(t) ? 0 : fail_errno(t));
}

ptrdiff_t
transport_try_read(struct transport *t, void *buf, size_t size)
{
	ptrdiff_t	n;

	if (t->error != TRANSPORT_OK)
		return (-1);
	if (t->budget == 0)
		return (fail(t, TRANSPORT_BUDGET,
		    "the server sent more than this step allows"));
	if (size > t->budget)
		size = t->budget;
	n = t->ssl != NULL ? tls_read(t, buf, size) : plain_read(t, buf, size);
	if (n > 0)
		t->budget -= (size_t)n;
	return (n);
}

/*
 * A server whose socket has Nagle's algorithm on keeps its answer back while
 * something it sent before (the session tickets after a handshake) is not
 * acknowledged, and the kernel delays that by 40 ms because we have just
 * written.  Those 40 ms would be ours in every latency.
 */
static void
acknowledge_at_once(const struct transport *t)
{
	int	one = 1;

	(void)setsockopt(t->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
}

ptrdiff_t
transport_try_write(struct transport *t, const void *buf, size_t size)
{
	ptrdiff_t	n;

	if (t->error != TRANSPORT_OK)
		return (-1);
	if (size == 0)
		return (0);
	n = t->ssl != NULL ? tls_write(t, buf, size) :
	    plain_write(t, buf, size);
	if (n > 0)
		acknowledge_at_once(t);
	return (n);
}

short
transport_events(const struct transport *t, bool want_write)
{
	return ((short)(t->read_wants | (want_write ? t->write_wants : 0)));
}

bool
transport_pending(const struct transport *t)
{
	return (t->ssl != NULL && SSL_pending(t->ssl) > 0);
}

ptrdiff_t
transport_read(struct transport *t, void *buf, size_t size)
{
	ptrdiff_t	n;

	while ((n = transport_try_read(t, buf, size)) == 0)
		if (is_past(t->deadline_boot_ms) || wait_fd(t->fd,
		    t->read_wants, t->deadline_boot_ms) == 0)
			return (fail(t, TRANSPORT_TIMEOUT,
			    "timed out waiting for the server"));
	return (n == -1 && t->error == TRANSPORT_EOF ? 0 : n);
}

ptrdiff_t
transport_write(struct transport *t, const void *buf, size_t size)
{
	ptrdiff_t	n;

	if (size == 0)
		return (0);
	while ((n = transport_try_write(t, buf, size)) == 0) {
		if (t->write_broken)
			return ((ptrdiff_t)size);
		if (is_past(t->deadline_boot_ms) || wait_fd(t->fd,
		    t->write_wants, t->deadline_boot_ms) == 0)
			return (fail(t, TRANSPORT_TIMEOUT,
			    "timed out: the server does not read"));
	}
	return (n);
}

/* What is known about it */

int
transport_fd(const struct transport *t)
{
	return (t->fd);
}

enum transport_error
transport_error(const struct transport *t)
{
	return (t->error);
}

const char *
transport_reason(const struct transport *t)
{
	return (t->reason != NULL ? t->reason : "");
}

const char *
transport_tls(const struct transport *t)
{
	return (t->tls != NULL ? t->tls : "none");
}

bool
transport_verified(const struct transport *t)
{
	return (t->verified);
}

int32_t
transport_certificate_days(const struct transport *t)
{
	return (t->certificate_days);
}

const char *
transport_address(const struct transport *t)
{
	return (t->address);
}
