#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * One TCP connection of ours to a mail server, with or without TLS: the only
 * thing the protocol libraries ever speak through.  Every wait ends at an
 * absolute deadline (CLOCK_BOOTTIME, milliseconds), every step has a byte
 * budget, nothing blocks.  Used by the workers, never by the monitor.
 *
 * Errors are values: the first one sticks and says what went wrong in a
 * sentence for an admin.
 */

enum transport_error {
	TRANSPORT_OK,
	TRANSPORT_NXDOMAIN,	/* the name does not exist: the domain's trouble */
	TRANSPORT_RESOLVER,	/* SERVFAIL, time-out: our resolver's: BLIND */
	TRANSPORT_NO_ADDRESS,	/* exists, without an address of that family */
	TRANSPORT_REFUSED,
	TRANSPORT_UNREACHABLE,	/* no route, network down */
	TRANSPORT_TIMEOUT,	/* the deadline passed */
	TRANSPORT_RESET,
	TRANSPORT_EOF,		/* closed by the peer */
	TRANSPORT_BUDGET,	/* more bytes than the step allows */
	TRANSPORT_CERT,		/* certificate not trusted, expired, wrong name */
	TRANSPORT_TLS,		/* handshake or record failed otherwise */
	TRANSPORT_LOCAL		/* source address not ours, no descriptors, ... */
};

#define TRANSPORT_ADDRESSES	16
#define TRANSPORT_REASON	256

struct transport_addresses {
	size_t			count;
	struct sockaddr_storage	list[TRANSPORT_ADDRESSES];
	enum transport_error	error;
	char			reason[TRANSPORT_REASON];
};

/*
 * The addresses of host (a name or a literal, which asks no DNS), by c-ares.
 * family: AF_UNSPEC, AF_INET, AF_INET6.  resolver: "host:port", or "" for
 * the system's.  0, or -1 with error and reason set.
 */
int	 transport_lookup(const char *host, uint16_t port, int family,
	    const char *resolver, int64_t deadline_boot_ms,
	    struct transport_addresses *out);

struct transport;

/*
 * Connects to one address by the deadline; source_address may be "".
 * NULL on failure, with *error_r and reason_r[TRANSPORT_REASON] set.
 */
struct transport	*transport_connect(const struct sockaddr_storage *,
			    const char *source_address,
			    int64_t deadline_boot_ms,
			    enum transport_error *error_r, char *reason_r);

enum transport_verify {
	TRANSPORT_VERIFY,	/* chain and name, or fail */
	TRANSPORT_OPPORTUNISTIC	/* record what is wrong, go on */
};

/*
 * Puts TLS on the connection, as a client, with SNI unless host is a literal;
 * ca_file "" means the system's store.  Bytes that wait to be read before the
 * handshake are an injection and fail it; bytes that the caller has read
 * already and not used are the caller's to refuse.  0 or -1.
 */
int	 transport_starttls(struct transport *, const char *host,
	    const char *ca_file, enum transport_verify,
	    int64_t deadline_boot_ms);

/* Sets the bounds of the step that follows; the budget counts bytes read. */
void	 transport_arm(struct transport *, int64_t deadline_boot_ms,
	    size_t budget_bytes);

/*
 * Blocking door: waits within the armed bounds.  Bytes moved (>= 1; read: 0
 * at end of file), or -1.  A write that fails while the peer's last words
 * wait to be read counts as done, and the reads that follow tell.
 */
ptrdiff_t	 transport_read(struct transport *, void *, size_t);
ptrdiff_t	 transport_write(struct transport *, const void *, size_t);

/*
 * Non-blocking door, for a poll loop: bytes moved, 0 if it would block (then
 * transport_events() says what to poll for), -1 on error or end of file
 * (TRANSPORT_EOF).  The write is 0 too while last words wait: read first.
 */
ptrdiff_t	 transport_try_read(struct transport *, void *, size_t);
ptrdiff_t	 transport_try_write(struct transport *, const void *, size_t);
short		 transport_events(const struct transport *, bool want_write);

/* Bytes readable at once without any event on the descriptor (TLS records). */
bool	 transport_pending(const struct transport *);

int			 transport_fd(const struct transport *);
enum transport_error	 transport_error(const struct transport *);
const char		*transport_reason(const struct transport *);

/* "none", "TLSv1.3 verified", "TLSv1.2 unverified: <why>"; for the CSV. */
const char		*transport_tls(const struct transport *);
/* True when the peer's certificate was verified: credentials may pass. */
bool			 transport_verified(const struct transport *);
/* Whole days until the peer's certificate ends; INT32_MIN without one. */
int32_t			 transport_certificate_days(const struct transport *);

/* The peer as "192.0.2.1" or "2001:db8::1". */
const char		*transport_address(const struct transport *);

/* Closes without ceremony; NULL is fine. */
void	 transport_close(struct transport **);

/* Text for an address. */
void	 transport_print_address(const struct sockaddr_storage *, char *, size_t);

#endif
