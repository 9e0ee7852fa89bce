#include "monitor/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * Contexts by ca_file: reading a bundle takes milliseconds, and a worker
 * lives for months.  Few in any sane configuration; the oldest goes first.
 */
#define CONTEXTS	32

struct context {
	SSL_CTX		*ctx;		/* owned */
	char		*ca_file;	/* owned */
	struct timespec	 mtime;
	ino_t		 inode;
	off_t		 size;
};

static struct context	 contexts[CONTEXTS];
static size_t		 context_next;
static pthread_mutex_t	 contexts_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * No session cache: a resumed session skips the verification that we are
 * here for, and a monitor wants to see each handshake.
 */
static SSL_CTX *
context_new(const char *ca_file)
{
	SSL_CTX	*ctx;

	if ((ctx = SSL_CTX_new(TLS_client_method())) == NULL)
		panic("SSL_CTX_new");
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
	    SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/* A flood of records without data must not hold SSL_read(). */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	if (*ca_file == '\0' ? SSL_CTX_set_default_verify_paths(ctx) == 1 :
	    SSL_CTX_load_verify_locations(ctx, ca_file, NULL) == 1)
		return (ctx);
	SSL_CTX_free(ctx);
	return (NULL);
}

static bool
context_is(const struct context *c, const char *ca_file, const struct stat *st)
{
	return (c->ctx != NULL && strcmp(c->ca_file, ca_file) == 0 &&
	    c->inode == st->st_ino && c->size == st->st_size &&
	    c->mtime.tv_sec == st->st_mtim.tv_sec &&
	    c->mtime.tv_nsec == st->st_mtim.tv_nsec);
}

static void
context_keep(SSL_CTX *ctx, const char *ca_file, const struct stat *st)
{
	struct context	*c = &contexts[context_next++ % CONTEXTS];

	for (size_t i = 0; i < CONTEXTS; i++)	/* the file has changed */
		if (contexts[i].ctx != NULL &&
		    strcmp(contexts[i].ca_file, ca_file) == 0)
			c = &contexts[i];
	SSL_CTX_free(c->ctx);
	mem_free(c->ca_file);
	*c = (struct context){
		.ctx = ctx, .ca_file = mem_strdup(ca_file),
		.mtime = st->st_mtim, .inode = st->st_ino, .size = st->st_size,
	};
}

/* The context for ca_file, a reference for the caller; NULL: unreadable. */
static SSL_CTX *
context_get(const char *ca_file)
{
	struct stat	 st = { 0 };
	SSL_CTX		*ctx = NULL;

	if (*ca_file != '\0' && stat(ca_file, &st) != 0)
		return (NULL);
	pthread_mutex_lock(&contexts_lock);
	for (size_t i = 0; i < CONTEXTS && ctx == NULL; i++)
		if (context_is(&contexts[i], ca_file, &st))
			ctx = contexts[i].ctx;
	if (ctx == NULL && (ctx = context_new(ca_file)) != NULL)
		context_keep(ctx, ca_file, &st);
	if (ctx != NULL)
		SSL_CTX_up_ref(ctx);
	pthread_mutex_unlock(&contexts_lock);
	return (ctx);
}

static bool
is_literal(const char *host)
{
	struct in6_addr	a;

	return (inet_pton(AF_INET, host, &a) == 1 ||
	    inet_pton(AF_INET6, host, &a) == 1);
}

/* Without brackets ("[2001:db8::1]") and the dot of an absolute name. */
static void
bare_host(char *dst, size_t size, const char *host)
{
	size_t	n;

	text_copy(dst, size, *host == '[' ? host + 1 : host);
	n = strlen(dst);
	if (n > 0 && (dst[n - 1] == ']' || dst[n - 1] == '.'))
		dst[n - 1] = '\0';
}

/* False for a name that TLS cannot ask for; it may come from an MX record. */
static bool
expect_name(SSL *ssl, const char *host)
{
	X509_VERIFY_PARAM	*param = SSL_get0_param(ssl);
	char			 sni[256];

	if (is_literal(host))
		return (X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1);
	X509_VERIFY_PARAM_set_hostflags(param,
	    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	/* SSL_set_tlsext_host_name(), whose macro casts const away */
	text_copy(sni, sizeof sni, host);
	return (*host != '\0' && SSL_set1_host(ssl, host) == 1 &&
	    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
	    TLSEXT_NAMETYPE_host_name, sni) == 1);
}

SSL *
tls_client(int fd, const char *host, const char *ca_file, char *reason_r)
{
	char	 name[256];
	SSL_CTX	*ctx;
	SSL	*ssl;

	ERR_clear_error();
	if ((ctx = context_get(ca_file)) == NULL) {
		text_copy(reason_r, TRANSPORT_REASON, "cannot read ca_file ");
		text_append(reason_r, TRANSPORT_REASON, ca_file);
		return (NULL);
	}
	if ((ssl = SSL_new(ctx)) == NULL || SSL_set_fd(ssl, fd) != 1)
		panic("SSL_new");
	SSL_CTX_free(ctx);
	bare_host(name, sizeof name, host);
	if (!expect_name(ssl, name)) {
		text_copy(reason_r, TRANSPORT_REASON,
		    "TLS cannot be asked for such a name");
		SSL_free(ssl);
		return (NULL);
	}
	SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
	SSL_set_connect_state(ssl);
	return (ssl);
}

/* The day of an ASN.1 time as "2025-01-02"; "?" for what is none. */
static void
day_text(const ASN1_TIME *t, char *buf, size_t size)
{
	struct tm	tm;

	text_copy(buf, size, "?");
	if (t != NULL && ASN1_TIME_to_tm(t, &tm) == 1)
		strftime(buf, size, "%Y-%m-%d", &tm);
}

static void
name_text(const X509_NAME *name, char *buf, size_t size)
{
	char	raw[128];
	int	n;

	n = X509_NAME_get_text_by_NID(name, NID_commonName, raw, sizeof raw);
	if (n <= 0)
		n = X509_NAME_get_text_by_NID(name, NID_organizationName, raw,
		    sizeof raw);
	if (n <= 0)
		text_copy(buf, size, "an unnamed issuer");
	else
		text_clean(buf, size, raw, strnlen(raw, sizeof raw));
}

/* One subject alternative name; false if it is of no kind that names hosts. */
static bool
altname_text(const GENERAL_NAME *gn, char *buf, size_t size)
{
	const ASN1_STRING	*s;
	char			 raw[INET6_ADDRSTRLEN];

	if (gn->type == GEN_DNS) {
		s = gn->d.dNSName;
		text_clean(buf, size, (const char *)ASN1_STRING_get0_data(s),
		    (size_t)ASN1_STRING_length(s));
		return (true);
	}
	if (gn->type != GEN_IPADD)
		return (false);
	s = gn->d.iPAddress;
	return (inet_ntop(ASN1_STRING_length(s) == 4 ? AF_INET : AF_INET6,
	    ASN1_STRING_get0_data(s), raw, sizeof raw) != NULL &&
	    (ASN1_STRING_length(s) == 4 || ASN1_STRING_length(s) == 16) &&
	    text_copy(buf, size, raw));
}

/* The first names a certificate is for: "a.example, b.example, ..." */
static void
subject_text(X509 *cert, char *buf, size_t size)
{
	GENERAL_NAMES	*names;
	char		 one[128];
	int		 i, shown = 0;

	buf[0] = '\0';
	names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	for (i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		if (!altname_text(sk_GENERAL_NAME_value(names, i), one,
		    sizeof one))
			continue;
		if (shown++ == 3) {
			text_append(buf, size, ", ...");
			break;
		}
		text_appendf(buf, size, "%s%s", shown > 1 ? ", " : "", one);
	}
	GENERAL_NAMES_free(names);
	if (shown == 0)
		name_text(X509_get_subject_name(cert), buf, size);
}

/* The certificate of the chain that is out of its time; the leaf if none. */
static X509 *
out_of_time(const SSL *ssl, X509 *leaf)
{
	STACK_OF(X509)	*chain = SSL_get_peer_cert_chain(ssl);
	X509		*cert;

	for (int i = 0; i < sk_X509_num(chain); i++) {
		cert = sk_X509_value(chain, i);
		if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0 ||
		    X509_cmp_current_time(X509_get0_notBefore(cert)) > 0)
			return (cert);
	}
	return (leaf);
}

static void
time_fault(const SSL *ssl, X509 *leaf, bool expired, char *buf, size_t size)
{
	X509	*cert = out_of_time(ssl, leaf);
	char	 day[32];

	day_text(expired ? X509_get0_notAfter(cert) :
	    X509_get0_notBefore(cert), day, sizeof day);
	text_copy(buf, size, X509_cmp(cert, leaf) == 0 ? "certificate " :
	    "certificate of an issuer ");
	text_appendf(buf, size, expired ? "expired %s" :
	    "is not valid before %s", day);
}

void
tls_certificate_fault(const SSL *ssl, const char *host, char *buf, size_t size)
{
	X509	*cert = SSL_get0_peer_certificate(ssl);
	long	 result = SSL_get_verify_result(ssl);
	char	 name[256];

	buf[0] = '\0';
	if (cert == NULL) {
		text_copy(buf, size, "the server shows no certificate");
		return;
	}
	switch (result) {
	case X509_V_OK:
		break;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		subject_text(cert, name, sizeof name);
		text_appendf(buf, size, "certificate is for %s, not for %s",
		    name, host);
		break;
	case X509_V_ERR_CERT_HAS_EXPIRED:
		time_fault(ssl, cert, true, buf, size);
		break;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		time_fault(ssl, cert, false, buf, size);
		break;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
		subject_text(cert, name, sizeof name);
		text_appendf(buf, size, "self-signed certificate of %s", name);
		break;
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		name_text(X509_get_issuer_name(cert), name, sizeof name);
		text_appendf(buf, size, "certificate is issued by %s, which is "
		    "not trusted, or its chain is incomplete", name);
		break;
	default:
		text_appendf(buf, size, "certificate is not trusted: %s",
		    X509_verify_cert_error_string(result));
		break;
	}
}

int32_t
tls_certificate_days(const SSL *ssl)
{
	X509	*cert = SSL_get0_peer_certificate(ssl);
	int	 days, seconds;

	if (cert == NULL || ASN1_TIME_diff(&days, &seconds, NULL,
	    X509_get0_notAfter(cert)) != 1)
		return (INT32_MIN);
	return (seconds < 0 ? days - 1 : days);
}

/* Errors that mean: what answers is not TLS at all. */
static bool
speaks_no_tls(unsigned long e)
{
	static const int	reasons[] = {
		SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST,
		SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_UNKNOWN_PROTOCOL,
	};

	for (size_t i = 0; i < NITEMS(reasons); i++)
		if (ERR_GET_LIB(e) == ERR_LIB_SSL &&
		    ERR_GET_REASON(e) == reasons[i])
			return (true);
	return (false);
}

void
tls_error_text(char *buf, size_t size)
{
	unsigned long	 e = ERR_peek_error();
	const char	*text = e == 0 ? NULL : ERR_reason_error_string(e);

	if (speaks_no_tls(e)) {
		text_copy(buf, size, "what the server answers is not TLS");
		return;
	}
	text_copy(buf, size, "TLS failed: ");
	text_append(buf, size, text != NULL ? text : "no reason given");
}
