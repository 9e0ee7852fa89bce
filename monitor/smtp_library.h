#ifndef SMTP_LIBRARY_H
#define SMTP_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/frame.h"
#include "monitor/smtp_filter.h"

/*
 * libESMTP, in a thread of its own, speaking SMTP to one end of a
 * socketpair.  It believes that it has connected to a server: the program's
 * own connect() gives it that end.  It may hang, spin or misread: nothing
 * that it says is believed about the outcome, and a thread that does not end
 * costs the process, after the outcome has been told.
 */

struct smtp_library;

/* Begins the session that the job asks for, which it borrows.  Never NULL. */
struct smtp_library	*smtp_library_begin(const struct frame_job *,
			    const struct smtp_features *);

/*
 * The bit of enum sasl_mechanism that the library can log in with on such a
 * server; 0: none.  Only one is ever offered to it: it would try
 * the next after a refusal, and servers count refusals.
 */
unsigned		 smtp_library_mechanism(const struct frame_job *,
			    const struct smtp_features *);

/* Our end of the socketpair, non-blocking; -1 after smtp_library_hang_up(). */
int	 smtp_library_fd(const struct smtp_library *);

/* The library sees the end of the connection. */
void	 smtp_library_hang_up(struct smtp_library *);

/* The bytes that the message comes to, padding included. */
int64_t	 smtp_library_size(const struct frame_job *);

/*
 * Hangs up and joins the thread.  False if it does not end within a second:
 * then its memory is lost and the process must end soon.
 */
bool	 smtp_library_end(struct smtp_library **);

#endif
