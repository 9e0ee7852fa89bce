#ifndef LOOKUP_H
#define LOOKUP_H

#include "monitor/outcome.h"
#include "monitor/transport.h"

/*
 * Names to addresses and to mail hosts, by c-ares, within a deadline.
 * transport_lookup() lives here too.  Thread-safe: each thread has a channel
 * of its own, kept between look-ups.
 */

#define LOOKUP_HOSTS	16

struct lookup_host {
	char		name[OUTCOME_HOST];
	unsigned	preference;
};

struct lookup_hosts {
	size_t			count;
	struct lookup_host	list[LOOKUP_HOSTS];
	bool			null_mx;	/* RFC 7505: accepts no mail */
	bool			implicit;	/* no MX: the domain itself */
	enum transport_error	error;
	char			reason[TRANSPORT_REASON];
};

/*
 * The mail hosts of a domain in the order they are to be tried: by
 * preference, at random among equals; the domain itself when it has no MX
 * (RFC 5321 5.1).  resolver as in transport_lookup().  0, or -1 with error
 * and reason set; a null MX is TRANSPORT_NO_ADDRESS with null_mx true.
 */
int	 lookup_mx(const char *domain, const char *resolver,
	    int64_t deadline_boot_ms, struct lookup_hosts *out);

#endif
