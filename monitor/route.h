#ifndef ROUTE_H
#define ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the configuration says, as every other part sees it.  The sections
 * are named, refer to each other by pointer and belong to the struct config
 * that config_load() made; nobody else changes or frees them.  Spans are
 * milliseconds.  Strings are never NULL; "" means not set.
 */

enum tls_mode { TLS_NONE, TLS_OPPORTUNISTIC, TLS_STARTTLS, TLS_IMPLICIT };
enum address_family { FAMILY_ANY, FAMILY_IPV4, FAMILY_IPV6 };
enum mx_mode { MX_NONE, MX_FIRST, MX_EACH };
enum expunge_mode { EXPUNGE_AUTO, EXPUNGE_UID, EXPUNGE_TRASH, EXPUNGE_ALL };
enum echo_mode { ECHO_NONE, ECHO_FORWARD, ECHO_AUTOREPLY };

/* Where a secret comes from; one of them or none. */
struct secret_source {
	char	*password_file;		/* owned; first line, mode 0600-like */
	char	*password_command;	/* owned; run by the monitor, sh -c */
	char	*token_command;		/* owned; an OAuth 2.0 access token */
	char	*credential;		/* owned; a file in $CREDENTIALS_DIRECTORY */
};

/* A growing list of waits; the last one repeats. */
#define BACKOFF_MAX	16
struct backoff {
	size_t	count;			/* >= 1 */
	int64_t	wait_ms[BACKOFF_MAX];
};

struct server {
	char			*name;		/* owned */
	char			*host;		/* owned */
	uint16_t		 port;
	char			*system;	/* owned; default: host */
	enum tls_mode		 tls;
	char			*ca_file;	/* owned */
	bool			 insecure_auth;
	char			*user;		/* owned */
	struct secret_source	 secret;
	char			*helo;		/* owned; default: host name */
	char			*source_address;	/* owned */
	enum address_family	 family;
	unsigned		 concurrency;
	int64_t			 connect_timeout_ms;
	int64_t			 timeout_ms;
	int64_t			 dot_timeout_ms;
	int64_t			 auth_pause_ms;
	int64_t			 connect_every_ms;	/* 0: never */
	enum mx_mode		 mx;
	char			*domain;	/* owned; for mx, default: recipient's */
};

struct mailbox {
	char			*name;		/* owned */
	char			*host;		/* owned */
	uint16_t		 port;
	enum tls_mode		 tls;
	char			*ca_file;	/* owned */
	bool			 insecure_auth;
	char			*user;		/* owned */
	struct secret_source	 secret;
	char			*source_address;	/* owned */
	enum address_family	 family;
	int64_t			 connect_timeout_ms;
	int64_t			 timeout_ms;
	int64_t			 auth_pause_ms;
	char			**folders;	/* owned list, NULL-terminated */
	char			*junk;		/* owned; "auto", "none", a name */
	int64_t			 poll_ms;
	bool			 idle;
	int64_t			 burst_ms;	/* how long NOOPs follow a 250 */
	enum expunge_mode	 expunge;
	int64_t			 keep_ms;
	int64_t			 keep_bad_ms;
	char			*authserv_id;	/* owned */
	char			*maildir;	/* owned */
};

struct alerts {
	char		 *name;			/* owned */
	char		 *from;			/* owned */
	char		**to;			/* owned list, NULL-terminated */
	struct server	**servers;		/* owned list of borrowed, NULL-terminated */
	bool		  allow_probed;
	unsigned	  full_after;
	unsigned	  fail_after;
	int64_t		  fail_for_ms;
	int64_t		  greylist_grace_ms;
	int64_t		  blind_after_ms;
	unsigned	  accept_after;
	int64_t		  confirm_ms;
	int64_t		  settle_ms;
	struct backoff	  remind;
	char		 *command;		/* owned */
	int64_t		  heartbeat_ms;		/* 0: none */
	char		 *digest;		/* owned; "HH:MM" or "" */
	char		 *timezone;		/* owned */
};

struct route {
	char		*name;			/* owned */
	struct server	*server;		/* borrowed */
	char		*from;			/* owned */
	char		*to;			/* owned */
	struct mailbox	*mailbox;		/* borrowed */
	struct mailbox	*bounces;		/* borrowed; NULL: none */
	int64_t		 every_ms;
	int64_t		 warn_after_ms;
	int64_t		 late_after_ms;
	int64_t		 lost_after_ms;
	int64_t		 give_up_ms;
	struct backoff	 retry;
	struct backoff	 rate_retry;
	int64_t		 resend_after_ms;
	struct backoff	 reject_backoff;
	unsigned	 pending_max;
	int64_t		 size;			/* bytes; 0: as composed */
	enum echo_mode	 echo;
	struct alerts	*alerts;		/* borrowed; NULL: none */
};

struct window {
	char	 *name;			/* owned */
	char	**routes;		/* owned list of glob patterns */
	unsigned  days;			/* bit 0: Sunday .. bit 6: Saturday */
	int	  from_min;		/* minutes after local midnight */
	int	  to_min;		/* <= from_min: ends the next day */
	char	 *timezone;		/* owned */
};

struct config {
	char		 *file;			/* owned; as given */
	char		 *instance;		/* owned; [a-z0-9-], 1-32 */
	char		 *state_directory;	/* owned */
	char		 *csv_directory;	/* owned */
	int64_t		  csv_keep_ms;
	int64_t		  keep_ms;		/* keep_days, as a span */
	char		 *log;			/* owned */
	unsigned	  senders;
	int64_t		  spacing_ms;
	char		 *resolver;		/* owned */
	char		 *http;			/* owned */
	char		 *control;		/* owned */
	struct server	**servers;		/* owned, NULL-terminated, as are: */
	struct mailbox	**mailboxes;
	struct alerts	**alerts;
	struct route	**routes;
	struct window	**windows;
	struct config_index	*index;		/* owned; for the look-ups */
};

/* By name; NULL if there is none. */
struct server	*config_server(const struct config *, const char *name);
struct mailbox	*config_mailbox(const struct config *, const char *name);
struct alerts	*config_alerts(const struct config *, const char *name);
struct route	*config_route(const struct config *, const char *name);

/* The nth wait (0-based) of a list; the last repeats. */
static inline int64_t
backoff_wait_ms(const struct backoff *b, unsigned n)
{
	if (b->count == 0)
		return (0);
	return (b->wait_ms[n < b->count ? n : b->count - 1]);
}

#endif
