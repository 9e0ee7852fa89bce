#ifndef DATE_H
#define DATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Dates as mail and IMAP write them.  Pure.  All results are milliseconds
 * since the epoch, 0 for what is no date between 1980 and 2199: a wrong date
 * is worse than none.
 */

/*
 * RFC 5322 3.3 with its obsolete forms (4.3): comments, a missing day name,
 * two-digit years, named zones.  A zone name that is not known means +0000.
 */
int64_t	 date_mail_ms(const char *, size_t len);

/*
 * INTERNALDATE (RFC 3501 date-time, without its quotes); a one-digit day
 * without its space is taken too, some servers send it.
 */
int64_t	 date_imap_ms(const char *, size_t len);

/* The canonical form of the latter, in UTC. */
#define DATE_IMAP	32
const char	*date_imap_print(int64_t ms, char buf[static DATE_IMAP]);

#endif
