#ifndef VALUE_H
#define VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The small languages inside configuration values.  Pure.  Each returns 0,
 * or -1 with *why_r (a static phrase for the error line).
 */

/*
 * A whole number in decimal, 0 to INT64_MAX.  No sign, and no leading zero:
 * some would read 010 as eight.
 */
int	 value_number(const char *, int64_t *number_r, const char **why_r);

/* "true", "yes", "on" or "false", "no", "off", in any case. */
int	 value_bool(const char *, bool *r, const char **why_r);

/*
 * "500ms", "20s", "5m", "4h", "5d"; "0" alone is zero.  Milliseconds, at
 * most VALUE_SPAN_MAX.
 */
#define VALUE_SPAN_MAX	(36500 * INT64_C(86400000))	/* a hundred years */
int	 value_span(const char *, int64_t *ms_r, const char **why_r);
/* Shortest exact form of a span, "5m"; buf of 32 is enough. */
const char *value_print_span(int64_t ms, char *buf, size_t size);

/* "0", "512", "10k", "5M", "1G" (powers of 1024).  Bytes. */
int	 value_size(const char *, int64_t *bytes_r, const char **why_r);
/* Shortest exact form of a size, "10k"; buf of 32 is enough. */
const char *value_print_size(int64_t bytes, char *buf, size_t size);

/* "22:00" -> minutes after midnight, 0-1439. */
int	 value_time_of_day(const char *, int *minutes_r, const char **why_r);

/* "sat", "mon-fri", "sat,sun", "daily": bit 0 is Sunday. */
int	 value_days(const char *, unsigned *days_r, const char **why_r);
/* "mon,tue" or "daily"; buf of 32 is enough. */
const char *value_print_days(unsigned days, char *buf, size_t size);

/*
 * A mailbox address local@domain as MAIL and RCPT take it (RFC 5321 4.1.2),
 * ASCII, no controls, local part <= 64, domain <= 255.
 */
int	 value_address(const char *, const char **why_r);

/* The domain of an address that value_address() took. */
const char *value_address_domain(const char *);

/* An IPv4 or IPv6 address literal without brackets; *v6_r may be NULL. */
int	 value_ip(const char *, bool *v6_r, const char **why_r);

/* A host name or an address literal without brackets. */
int	 value_host(const char *, const char **why_r);

/* "host:port" or "[v6]:port"; host_r has room for 256. */
int	 value_host_port(const char *, char *host_r, uint16_t *port_r,
	    const char **why_r);

/* A name of a section: letters, digits, "-", "_", ".", 1-64. */
int	 value_name(const char *, const char **why_r);

/* An instance name: small letters, digits, "-", 1-32. */
int	 value_instance(const char *, const char **why_r);

#endif
