#ifndef TLS_H
#define TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/transport.h"

/*
 * What transport needs of OpenSSL beside moving bytes: contexts that are
 * shared, verification, and what is wrong with a certificate as a sentence.
 */

/*
 * A client session for host on fd, verifying by ca_file ("": the system's
 * store), ready for SSL_connect().  ca_file is read once and again when the
 * file changes.  Thread-safe.  NULL with reason_r[TRANSPORT_REASON] set when
 * ca_file cannot be read or the name is none.
 *
 * The handshake itself succeeds whatever the certificate is: OpenSSL drops
 * the certificate of a handshake that it fails, and then nobody can say what
 * was wrong with it.  The caller must ask tls_certificate_fault() before any
 * byte of its own passes.
 */
SSL	*tls_client(int fd, const char *host, const char *ca_file,
	    char *reason_r);

/* "" if the peer's certificate holds for host, else what is wrong with it. */
void	 tls_certificate_fault(const SSL *, const char *host, char *buf,
	    size_t size);

/* Whole days until the peer's certificate ends; INT32_MIN without one. */
int32_t	 tls_certificate_days(const SSL *);

/* What OpenSSL's error queue says about the last call, for an admin. */
void	 tls_error_text(char *buf, size_t size);

#endif
