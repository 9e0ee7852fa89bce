#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/clock.h"
#include "monitor/lookup.h"
#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/transport.h"

/* A peer: one connection on 127.0.0.1, played by a thread */

struct peer {
	int		 listener;
	uint16_t	 port;
	pthread_t	 thread;
	void		(*play)(struct peer *, int fd);
	const char	*certificate;	/* one of those below */
	char		 sni[64];	/* what the client asked for */
	char		 from[64];	/* where it came from */
};

static void *
peer_run(void *arg)
{
	struct peer		*p = arg;
	struct sockaddr_in	 in;
	socklen_t		 len = sizeof in;
	int			 fd;

	fd = accept(p->listener, (struct sockaddr *)&in, &len);
	if (fd == -1)
		return (NULL);
	inet_ntop(AF_INET, &in.sin_addr, p->from, sizeof p->from);
	p->play(p, fd);
	close(fd);
	return (NULL);
}

static int
listener_on(uint16_t *port_r, int backlog)
{
	struct sockaddr_in	in = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t		len = sizeof in;
	int			fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof in), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	if (backlog >= 0)
		assert_int_equal(listen(fd, backlog), 0);
	*port_r = ntohs(in.sin_port);
	return (fd);
}

static void
peer_start(struct peer *p, void (*play)(struct peer *, int))
{
	p->play = play;
	p->listener = listener_on(&p->port, 8);
	assert_int_equal(pthread_create(&p->thread, NULL, peer_run, p), 0);
}

static void
peer_end(struct peer *p)
{
	pthread_join(p->thread, NULL);
	close(p->listener);
}

static void
put(int fd, const char *s)
{
	(void)!send(fd, s, strlen(s), MSG_NOSIGNAL);
}

/* Until the client closes. */
static void
drain(int fd)
{
	char	buf[4096];

	while (recv(fd, buf, sizeof buf, 0) > 0)
		continue;
}

static struct transport *
dial(uint16_t port, int64_t ms, enum transport_error *error_r)
{
	struct transport_addresses	 a;
	char				 reason[TRANSPORT_REASON];
	struct transport		*t;

	assert_int_equal(transport_lookup("127.0.0.1", port, AF_UNSPEC, "",
	    clock_boot_ms() + ms, &a), 0);
	t = transport_connect(&a.list[0], "", clock_boot_ms() + ms, error_r,
	    reason);
	if (t != NULL)
		transport_arm(t, clock_boot_ms() + ms, 1 << 20);
	return (t);
}

static struct transport *
dial_peer(struct peer *p)
{
	enum transport_error	 error;
	struct transport	*t = dial(p->port, 5000, &error);

	assert_non_null(t);
	return (t);
}

/* Reads until the text has come. */
static void
expect(struct transport *t, const char *text)
{
	char		buf[256] = "";
	size_t		len = 0;
	ptrdiff_t	n;

	while (len < strlen(text)) {
		n = transport_read(t, buf + len, strlen(text) - len);
		assert_true(n > 0);
		len += (size_t)n;
	}
	assert_string_equal(buf, text);
}

/* Connecting and moving bytes */

static void
echo(struct peer *p, int fd)
{
	char	buf[4096];
	ssize_t	n;

	(void)p;
	while ((n = recv(fd, buf, sizeof buf, 0)) > 0)
		(void)!send(fd, buf, (size_t)n, MSG_NOSIGNAL);
}

static void
bytes_go_both_ways(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	peer_start(&p, echo);
	t = dial_peer(&p);
	assert_int_equal(transport_write(t, "hello", 5), 5);
	expect(t, "hello");
	assert_string_equal(transport_address(t), "127.0.0.1");
	assert_string_equal(transport_tls(t), "none");
	assert_false(transport_verified(t));
	assert_int_equal(transport_certificate_days(t), INT32_MIN);
	transport_close(&t);
	assert_null(t);
	transport_close(&t);
	peer_end(&p);
}

static void
a_refused_connection_is_told_as_such(void **state)
{
	enum transport_error	error;
	uint16_t		port;
	int			fd = listener_on(&port, -1);

	(void)state;
	assert_null(dial(port, 2000, &error));
	assert_int_equal(error, TRANSPORT_REFUSED);
	close(fd);
}

static void
a_black_hole_costs_no_more_than_the_deadline(void **state)
{
	enum transport_error	error;
	struct transport	*fill[4];
	uint16_t		port;
	int64_t			began;
	int			fd = listener_on(&port, 0);

	(void)state;
	for (size_t i = 0; i < NITEMS(fill); i++)
		fill[i] = dial(port, 100, &error);
	began = clock_boot_ms();
	assert_null(dial(port, 200, &error));
	assert_int_equal(error, TRANSPORT_TIMEOUT);
	assert_in_range(clock_boot_ms() - began, 190, 1500);
	for (size_t i = 0; i < NITEMS(fill); i++)
		transport_close(&fill[i]);
	close(fd);
}

static void
the_source_address_is_used(void **state)
{
	struct peer			 p = { 0 };
	struct transport_addresses	 a;
	enum transport_error		 error;
	char				 reason[TRANSPORT_REASON];
	struct transport		*t;

	(void)state;
	peer_start(&p, echo);
	assert_int_equal(transport_lookup("127.0.0.1", p.port, AF_INET, "",
	    clock_boot_ms() + 2000, &a), 0);
	assert_null(transport_connect(&a.list[0], "192.0.2.1",
	    clock_boot_ms() + 2000, &error, reason));
	assert_int_equal(error, TRANSPORT_LOCAL);
	assert_string_equal(reason, "source address is not one of ours");
	assert_null(transport_connect(&a.list[0], "::1",
	    clock_boot_ms() + 2000, &error, reason));
	assert_int_equal(error, TRANSPORT_LOCAL);
	t = transport_connect(&a.list[0], "127.0.0.9", clock_boot_ms() + 2000,
	    &error, reason);
	assert_non_null(t);
	transport_close(&t);
	peer_end(&p);
	assert_string_equal(p.from, "127.0.0.9");
}

static void
drip(struct peer *p, int fd)
{
	struct pollfd	closed = { .fd = fd, .events = POLLIN };

	(void)p;
	while (poll(&closed, 1, 20) == 0)
		put(fd, "x");
}

static void
a_drip_does_not_move_the_deadline(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;
	char			 c;
	int64_t			 began = clock_boot_ms();
	ptrdiff_t		 n;

	(void)state;
	peer_start(&p, drip);
	t = dial_peer(&p);
	transport_arm(t, began + 300, 1000);
	while ((n = transport_read(t, &c, 1)) > 0)
		continue;
	assert_int_equal(n, -1);
	assert_int_equal(transport_error(t), TRANSPORT_TIMEOUT);
	assert_in_range(clock_boot_ms() - began, 290, 1500);
	transport_close(&t);
	peer_end(&p);
}

static void
flood(struct peer *p, int fd)
{
	char	buf[4096];

	(void)p;
	memset(buf, 'A', sizeof buf);
	while (send(fd, buf, sizeof buf, MSG_NOSIGNAL) > 0)
		continue;
}

static void
a_flood_ends_at_the_byte_budget(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;
	char			 buf[4096];
	size_t			 total = 0;
	ptrdiff_t		 n;

	(void)state;
	peer_start(&p, flood);
	t = dial_peer(&p);
	transport_arm(t, clock_boot_ms() + 5000, 10000);
	while ((n = transport_read(t, buf, sizeof buf)) > 0)
		total += (size_t)n;
	assert_int_equal(total, 10000);
	assert_int_equal(transport_error(t), TRANSPORT_BUDGET);
	transport_close(&t);
	peer_end(&p);
}

static void
hang_up(struct peer *p, int fd)
{
	(void)p;
	(void)fd;
}

static void
reset(struct peer *p, int fd)
{
	struct linger	l = { .l_onoff = 1 };
	char		c;

	(void)p;
	(void)!recv(fd, &c, 1, 0);	/* not before it has connected */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
}

static void
a_close_and_a_reset_are_told_apart(void **state)
{
	struct peer		 p = { 0 }, q = { 0 };
	struct transport	*t;
	char			 c;

	(void)state;
	peer_start(&p, hang_up);
	t = dial_peer(&p);
	assert_int_equal(transport_read(t, &c, 1), 0);
	assert_int_equal(transport_error(t), TRANSPORT_EOF);
	assert_int_equal(transport_read(t, &c, 1), 0);
	transport_close(&t);
	peer_end(&p);

	peer_start(&q, reset);
	t = dial_peer(&q);
	assert_int_equal(transport_write(t, "x", 1), 1);
	assert_int_equal(transport_read(t, &c, 1), -1);
	assert_int_equal(transport_error(t), TRANSPORT_RESET);
	transport_close(&t);
	peer_end(&q);
}

static void
wait_for_close(struct peer *p, int fd)
{
	struct pollfd	closed = { .fd = fd, .events = POLLRDHUP };

	(void)p;
	(void)poll(&closed, 1, 5000);
}

static void
a_peer_that_does_not_read_costs_no_more_than_the_deadline(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;
	static char		 bytes[65536];
	ptrdiff_t		 n;

	(void)state;
	peer_start(&p, wait_for_close);
	t = dial_peer(&p);
	transport_arm(t, clock_boot_ms() + 300, 1000);
	while ((n = transport_write(t, bytes, sizeof bytes)) > 0)
		continue;
	assert_int_equal(n, -1);
	assert_int_equal(transport_error(t), TRANSPORT_TIMEOUT);
	transport_close(&t);
	peer_end(&p);
}

/* Closes with unread bytes: the kernel resets the connection. */
static void
refuse_and_close(struct peer *p, int fd)
{
	char	c;

	(void)p;
	(void)!recv(fd, &c, 1, 0);
	put(fd, "421 bye\r\n");
}

static void
last_words_are_read_after_a_write_has_failed(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;
	struct pollfd		 fd;

	(void)state;
	peer_start(&p, refuse_and_close);
	t = dial_peer(&p);
	assert_int_equal(transport_write(t, "MAIL\r\n", 6), 6);
	peer_end(&p);
	fd = (struct pollfd){ .fd = transport_fd(t), .events = POLLRDHUP };
	assert_int_equal(poll(&fd, 1, 5000), 1);
	assert_int_equal(transport_try_write(t, "RCPT\r\n", 6), 0);
	assert_int_equal(transport_write(t, "RCPT\r\n", 6), 6);
	expect(t, "421 bye\r\n");
	assert_int_equal(transport_try_write(t, "DATA\r\n", 6), -1);
	assert_int_equal(transport_error(t), TRANSPORT_RESET);
	transport_close(&t);
}

/* Certificates of our own making */

#define DAY	86400L

static char	ca_file[] = "/tmp/mf-transport-XXXXXX";

struct pair {
	EVP_PKEY	*key;
	X509		*cert;
};
static struct pair	ca;

static const struct kind {
	const char	*name;
	const char	*alt;		/* subjectAltName */
	long		 from, to;	/* seconds from now */
	bool		 self;
} kinds[] = {
	{ "good", "DNS:localhost,IP:127.0.0.1", -DAY, 30 * DAY + 60, false },
	{ "expired", "DNS:localhost", -20 * DAY, -10 * DAY, false },
	{ "early", "DNS:localhost", 10 * DAY, 20 * DAY, false },
	{ "wrong", "DNS:wrong.example,DNS:www.wrong.example", -DAY, DAY, false },
	{ "self", "DNS:localhost", -DAY, DAY, true },
};

static void
extend(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION	*e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	assert_non_null(e);
	X509_add_ext(cert, e, -1);
	X509_EXTENSION_free(e);
}

static struct pair
make_pair(const char *name, long from, long to)
{
	static _Atomic long serial = 1;
	struct pair	 p = { EVP_EC_gen("P-256"), X509_new() };
	X509_NAME	*n = X509_get_subject_name(p.cert);

	assert_non_null(p.key);
	X509_set_version(p.cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(p.cert), serial++);
	X509_gmtime_adj(X509_getm_notBefore(p.cert), from);
	X509_gmtime_adj(X509_getm_notAfter(p.cert), to);
	X509_set_pubkey(p.cert, p.key);
	X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC,
	    (const unsigned char *)name, -1, -1, 0);
	return (p);
}

static void
sign_pair(struct pair *p, const struct pair *issuer)
{
	X509_set_issuer_name(p->cert, X509_get_subject_name(issuer->cert));
	assert_true(X509_sign(p->cert, issuer->key, EVP_sha256()) > 0);
}

static void
free_pair(struct pair *p)
{
	X509_free(p->cert);
	EVP_PKEY_free(p->key);
}

static struct pair
pair_named(const char *name)
{
	const struct kind	*k = kinds;
	struct pair		 p;

	while (strcmp(k->name, name) != 0)
		k++;
	p = make_pair(k->self ? "self" : "leaf", k->from, k->to);
	extend(p.cert, NID_subject_alt_name, k->alt);
	sign_pair(&p, k->self ? &p : &ca);
	return (p);
}

static void
write_ca(const char *path, const struct pair *p)
{
	FILE	*f = fopen(path, "w");

	assert_non_null(f);
	PEM_write_X509(f, p->cert);
	fclose(f);
}

static struct pair
make_ca(void)
{
	struct pair	p = make_pair("test authority", -DAY, 100 * DAY);

	extend(p.cert, NID_basic_constraints, "critical,CA:TRUE");
	sign_pair(&p, &p);
	return (p);
}

static int
set_up(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	close(mkstemp(ca_file));
	ca = make_ca();
	write_ca(ca_file, &ca);
	return (0);
}

static int
tear_down(void **state)
{
	(void)state;
	free_pair(&ca);
	unlink(ca_file);
	return (0);
}

/* TLS */

static int
take_sni(SSL *ssl, int *alert, void *arg)
{
	struct peer	*p = arg;
	const char	*name;

	(void)alert;
	name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	text_copy(p->sni, sizeof p->sni, name != NULL ? name : "(none)");
	return (SSL_TLSEXT_ERR_OK);
}

static SSL *
serve_tls(struct peer *p, int fd)
{
	SSL_CTX		*ctx = SSL_CTX_new(TLS_server_method());
	struct pair	 pair = pair_named(p->certificate);
	SSL		*ssl;

	SSL_CTX_use_certificate(ctx, pair.cert);
	SSL_CTX_use_PrivateKey(ctx, pair.key);
	SSL_CTX_set_tlsext_servername_callback(ctx, take_sni);
	SSL_CTX_set_tlsext_servername_arg(ctx, p);
	ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	free_pair(&pair);
	SSL_set_fd(ssl, fd);
	if (SSL_accept(ssl) == 1)
		return (ssl);
	SSL_free(ssl);
	return (NULL);
}

static void
tls_echo(struct peer *p, int fd)
{
	SSL	*ssl = serve_tls(p, fd);
	char	 buf[4096];
	int	 n;

	while (ssl != NULL && (n = SSL_read(ssl, buf, sizeof buf)) > 0)
		(void)SSL_write(ssl, buf, n);
	SSL_free(ssl);
}

/* What starttls() with that certificate comes to; the transport stays. */
static int
encrypt_to(struct peer *p, const char *certificate, const char *host,
    enum transport_verify verify, struct transport **t_r)
{
	p->certificate = certificate;
	peer_start(p, tls_echo);
	*t_r = dial_peer(p);
	return (transport_starttls(*t_r, host, ca_file, verify,
	    clock_boot_ms() + 5000));
}

static void
a_good_certificate_is_verified_by_name(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	assert_int_equal(encrypt_to(&p, "good", "localhost", TRANSPORT_VERIFY,
	    &t), 0);
	assert_true(transport_verified(t));
	assert_string_equal(transport_tls(t), "TLSv1.3 verified");
	assert_int_equal(transport_certificate_days(t), 30);
	assert_int_equal(transport_write(t, "hello", 5), 5);
	expect(t, "hello");
	transport_close(&t);
	peer_end(&p);
	assert_string_equal(p.sni, "localhost");
}

static void
a_literal_is_verified_as_an_address_and_sends_no_sni(void **state)
{
	struct peer		 p = { 0 }, q = { 0 };
	struct transport	*t;

	(void)state;
	assert_int_equal(encrypt_to(&p, "good", "[127.0.0.1]",
	    TRANSPORT_VERIFY, &t), 0);
	transport_close(&t);
	peer_end(&p);
	assert_string_equal(p.sni, "(none)");
	assert_int_equal(encrypt_to(&q, "good", "127.0.0.2", TRANSPORT_VERIFY,
	    &t), -1);
	assert_int_equal(transport_error(t), TRANSPORT_CERT);
	assert_string_equal(transport_reason(t),
	    "certificate is for localhost, 127.0.0.1, not for 127.0.0.2");
	transport_close(&t);
	peer_end(&q);
}

static void
what_is_wrong_with_a_certificate_is_said(void **state)
{
	static const struct {
		const char	*certificate, *begins;
	} rows[] = {
		{ "expired", "certificate expired 20" },
		{ "early", "certificate is not valid before 20" },
		{ "wrong", "certificate is for wrong.example, "
		    "www.wrong.example, not for localhost" },
		{ "self", "self-signed certificate of localhost" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		struct peer		 p = { 0 };
		struct transport	*t;
		char			 c;

		assert_int_equal(encrypt_to(&p, rows[i].certificate,
		    "localhost", TRANSPORT_VERIFY, &t), -1);
		assert_int_equal(transport_error(t), TRANSPORT_CERT);
		assert_memory_equal(transport_reason(t), rows[i].begins,
		    strlen(rows[i].begins));
		assert_int_equal(transport_write(t, "secret", 6), -1);
		assert_int_equal(transport_read(t, &c, 1), -1);
		transport_close(&t);
		peer_end(&p);
	}
}

static void
opportunistic_tls_records_the_fault_and_goes_on(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	assert_int_equal(encrypt_to(&p, "self", "localhost",
	    TRANSPORT_OPPORTUNISTIC, &t), 0);
	assert_false(transport_verified(t));
	assert_string_equal(transport_tls(t),
	    "TLSv1.3 unverified: self-signed certificate of localhost");
	assert_int_equal(transport_write(t, "hello", 5), 5);
	expect(t, "hello");
	transport_close(&t);
	peer_end(&p);
}

static void
an_unknown_issuer_is_named(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	p.certificate = "good";
	peer_start(&p, tls_echo);
	t = dial_peer(&p);
	assert_int_equal(transport_starttls(t, "localhost", "",
	    TRANSPORT_VERIFY, clock_boot_ms() + 5000), -1);
	assert_string_equal(transport_reason(t), "certificate is issued by "
	    "test authority, which is not trusted, or its chain is incomplete");
	transport_close(&t);
	peer_end(&p);
}

static void
a_ca_file_that_changed_is_read_again(void **state)
{
	struct peer		 p = { 0 }, q = { 0 };
	struct transport	*t;
	struct pair		 other = make_ca();
	char			 path[] = "/tmp/mf-other-XXXXXX";

	(void)state;
	close(mkstemp(path));
	write_ca(path, &other);
	p.certificate = q.certificate = "good";
	peer_start(&p, tls_echo);
	t = dial_peer(&p);
	assert_int_equal(transport_starttls(t, "localhost", path,
	    TRANSPORT_VERIFY, clock_boot_ms() + 5000), -1);
	transport_close(&t);
	peer_end(&p);

	unlink(path);		/* as a package update does: a new file */
	write_ca(path, &ca);
	peer_start(&q, tls_echo);
	t = dial_peer(&q);
	assert_int_equal(transport_starttls(t, "localhost", path,
	    TRANSPORT_VERIFY, clock_boot_ms() + 5000), 0);
	transport_close(&t);
	peer_end(&q);
	unlink(path);
	free_pair(&other);
}

static void
a_ca_file_that_cannot_be_read_is_our_trouble(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	peer_start(&p, echo);
	t = dial_peer(&p);
	assert_int_equal(transport_starttls(t, "localhost", "/nonexistent",
	    TRANSPORT_VERIFY, clock_boot_ms() + 5000), -1);
	assert_int_equal(transport_error(t), TRANSPORT_LOCAL);
	assert_string_equal(transport_reason(t),
	    "cannot read ca_file /nonexistent");
	transport_close(&t);
	peer_end(&p);
}

static void
inject(struct peer *p, int fd)
{
	(void)p;
	put(fd, "250 injected\r\n");
	drain(fd);
}

static void
clear_text_before_the_handshake_fails_it(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;
	struct pollfd		 fd;

	(void)state;
	peer_start(&p, inject);
	t = dial_peer(&p);
	fd = (struct pollfd){ .fd = transport_fd(t), .events = POLLIN };
	assert_int_equal(poll(&fd, 1, 5000), 1);
	assert_int_equal(transport_starttls(t, "localhost", ca_file,
	    TRANSPORT_OPPORTUNISTIC, clock_boot_ms() + 5000), -1);
	assert_int_equal(transport_error(t), TRANSPORT_TLS);
	transport_close(&t);
	peer_end(&p);
}

static void
answer_in_clear(struct peer *p, int fd)
{
	char	c;

	(void)p;
	(void)!recv(fd, &c, 1, 0);
	put(fd, "220 mx.example ESMTP\r\n");
	drain(fd);
}

static void
a_server_that_speaks_no_tls_is_told_as_such(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	peer_start(&p, answer_in_clear);
	t = dial_peer(&p);
	assert_int_equal(transport_starttls(t, "localhost", ca_file,
	    TRANSPORT_VERIFY, clock_boot_ms() + 5000), -1);
	assert_int_equal(transport_error(t), TRANSPORT_TLS);
	assert_string_equal(transport_reason(t),
	    "what the server answers is not TLS");
	transport_close(&t);
	peer_end(&p);
}

static void
a_handshake_that_stalls_ends_at_the_deadline(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;

	(void)state;
	peer_start(&p, wait_for_close);
	t = dial_peer(&p);
	assert_int_equal(transport_starttls(t, "localhost", ca_file,
	    TRANSPORT_VERIFY, clock_boot_ms() + 200), -1);
	assert_int_equal(transport_error(t), TRANSPORT_TIMEOUT);
	transport_close(&t);
	peer_end(&p);
}

/* A poll loop that keeps 64 KiB under way: both doors block now and then. */
static void
a_megabyte_passes_through_tls_without_blocking(void **state)
{
	struct peer		 p = { 0 };
	struct transport	*t;
	static char		 out[65536], in[65536];
	const size_t		 total = 1 << 20;
	size_t			 sent = 0, got = 0;
	ptrdiff_t		 n;
	struct pollfd		 fd;

	(void)state;
	memset(out, 'x', sizeof out);
	assert_int_equal(encrypt_to(&p, "good", "localhost", TRANSPORT_VERIFY,
	    &t), 0);
	transport_arm(t, clock_boot_ms() + 20000, total);
	while (got < total) {
		bool	want = sent < total && sent - got < sizeof out;

		fd = (struct pollfd){ .fd = transport_fd(t),
		    .events = transport_events(t, want) };
		if (!transport_pending(t))
			assert_int_equal(poll(&fd, 1, 10000), 1);
		n = want ? transport_try_write(t, out, sizeof out -
		    (sent - got)) : 0;
		assert_true(n >= 0);
		sent += (size_t)n;
		n = transport_try_read(t, in, sizeof in);
		assert_true(n >= 0);
		got += (size_t)n;
	}
	assert_int_equal(sent, total);
	transport_close(&t);
	peer_end(&p);
}

static void *
one_of_many(void *arg)
{
	struct peer		 p = { .certificate = "good" };
	struct transport	*t;

	(void)arg;
	for (int i = 0; i < 5; i++) {
		peer_start(&p, tls_echo);
		t = dial_peer(&p);
		if (transport_starttls(t, "localhost", ca_file,
		    TRANSPORT_VERIFY, clock_boot_ms() + 20000) != 0)
			abort();
		transport_close(&t);
		peer_end(&p);
	}
	return (NULL);
}

static void
four_threads_share_the_contexts(void **state)
{
	pthread_t	threads[4];

	(void)state;
	for (size_t i = 0; i < NITEMS(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, one_of_many,
		    NULL), 0);
	for (size_t i = 0; i < NITEMS(threads); i++)
		pthread_join(threads[i], NULL);
}

/* Look-up; tests/peers/test_hostile_smtp.py has the name servers */

static void
a_literal_asks_nobody(void **state)
{
	static const struct {
		const char	*host;
		int		 family;
		const char	*address;	/* NULL: none */
	} rows[] = {
		{ "192.0.2.7",		AF_UNSPEC,	"192.0.2.7" },
		{ "2001:db8::7",	AF_UNSPEC,	"2001:db8::7" },
		{ "[2001:db8::7]",	AF_INET6,	"2001:db8::7" },
		{ "192.0.2.7",		AF_INET6,	NULL },
		{ "2001:db8::7",	AF_INET,	NULL },
	};
	struct transport_addresses	a;
	char				text[64];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		assert_int_equal(transport_lookup(rows[i].host, 25,
		    rows[i].family, "127.0.0.1:1", clock_boot_ms() + 2000, &a),
		    rows[i].address == NULL ? -1 : 0);
		if (rows[i].address == NULL) {
			assert_int_equal(a.error, TRANSPORT_NO_ADDRESS);
			continue;
		}
		assert_int_equal(a.count, 1);
		transport_print_address(&a.list[0], text, sizeof text);
		assert_string_equal(text, rows[i].address);
	}
}

static void
names_in_the_hosts_file_need_no_resolver(void **state)
{
	struct transport_addresses	a;

	(void)state;
	assert_int_equal(transport_lookup("localhost", 25, AF_INET,
	    "127.0.0.1:1", clock_boot_ms() + 2000, &a), 0);
	assert_int_equal(a.list[0].ss_family, AF_INET);
	assert_int_equal(ntohs(((struct sockaddr_in *)&a.list[0])->sin_port),
	    25);
}

static void
a_literal_domain_is_its_own_mail_host(void **state)
{
	struct lookup_hosts	*h = mem_alloc(sizeof *h);

	(void)state;
	assert_int_equal(lookup_mx("[192.0.2.7]", "127.0.0.1:1",
	    clock_boot_ms() + 2000, h), 0);
	assert_true(h->implicit);
	assert_string_equal(h->list[0].name, "[192.0.2.7]");
	mem_free(h);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(a_refused_connection_is_told_as_such),
		cmocka_unit_test(a_black_hole_costs_no_more_than_the_deadline),
		cmocka_unit_test(the_source_address_is_used),
		cmocka_unit_test(a_drip_does_not_move_the_deadline),
		cmocka_unit_test(a_flood_ends_at_the_byte_budget),
		cmocka_unit_test(a_close_and_a_reset_are_told_apart),
		cmocka_unit_test(
		    a_peer_that_does_not_read_costs_no_more_than_the_deadline),
		cmocka_unit_test(last_words_are_read_after_a_write_has_failed),
		cmocka_unit_test(a_good_certificate_is_verified_by_name),
		cmocka_unit_test(
		    a_literal_is_verified_as_an_address_and_sends_no_sni),
		cmocka_unit_test(what_is_wrong_with_a_certificate_is_said),
		cmocka_unit_test(opportunistic_tls_records_the_fault_and_goes_on),
		cmocka_unit_test(an_unknown_issuer_is_named),
		cmocka_unit_test(a_ca_file_that_changed_is_read_again),
		cmocka_unit_test(a_ca_file_that_cannot_be_read_is_our_trouble),
		cmocka_unit_test(clear_text_before_the_handshake_fails_it),
		cmocka_unit_test(a_server_that_speaks_no_tls_is_told_as_such),
		cmocka_unit_test(a_handshake_that_stalls_ends_at_the_deadline),
		cmocka_unit_test(a_megabyte_passes_through_tls_without_blocking),
		cmocka_unit_test(four_threads_share_the_contexts),
		cmocka_unit_test(a_literal_asks_nobody),
		cmocka_unit_test(names_in_the_hosts_file_need_no_resolver),
		cmocka_unit_test(a_literal_domain_is_its_own_mail_host),
	};

	return (cmocka_run_group_tests(tests, set_up, tear_down));
}
