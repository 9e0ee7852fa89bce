#ifndef COMPOSE_H
#define COMPOSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text of a probe: a decent mail (RFC 5322) that carries its token in
 * the Message-ID, X-Mailflow-Probe, the end of the Subject and the body, and
 * tells whoever finds it what it is and whom to ask.  Pure.
 */
struct compose {
	const char	*token;
	const char	*instance;
	const char	*route;
	const char	*from;		/* bare addresses, ASCII, checked */
	const char	*to;
	const char	*contact;	/* whom to ask; bare address */
	const char	*date;		/* RFC 5322 */
	bool		 autoreply;	/* a responder is to answer: so no
					 * Auto-Submitted (RFC 3834 2) */
};

/* CRLF text into buf; bytes written, 0 if it does not fit. */
size_t	 compose_probe(const struct compose *, char *buf, size_t size);

#endif
