#ifndef CTL_DIAGNOSIS_H
#define CTL_DIAGNOSIS_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/outcome.h"
#include "monitor/route.h"

/*
 * What a look at the addresses of a mail server has shown, in a table and in
 * sentences.  Pure but for the stream it prints on.
 */

/* One address looked at; or a name that led to none. */
struct diagnosed {
	int		 preference;	/* of its MX record; -1: not by MX */
	bool		 skipped;	/* this machine has no way to its family */
	bool		 no_mail;	/* the domain has a null MX (RFC 7505) */
	enum tls_mode	 tls;		/* what was asked for */
	struct outcome	 o;
};

/* The exit codes. */
enum { DIAGNOSIS_FINE, DIAGNOSIS_TROUBLE, DIAGNOSIS_UNREACHABLE };

/* In the order in which a sender would try them. */
int	 diagnosis_of(const struct diagnosed *, size_t count);
void	 diagnosis_print(const struct diagnosed *, size_t count, FILE *,
	    bool colours);

#endif
