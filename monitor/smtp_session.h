#ifndef SMTP_SESSION_H
#define SMTP_SESSION_H

#include "monitor/reply.h"
#include "monitor/smtp_filter.h"
#include "monitor/smtp_library.h"
#include "monitor/sasl.h"
#include "monitor/smtp_send.h"
#include "monitor/transport.h"

/*
 * One SMTP session under way: what smtp_wire, smtp_open, smtp_pump and
 * smtp_send share.  Nobody else looks in here.
 *
 * Whoever finds out how the session ends writes it into *out and sets over;
 * after that only smtp_close() touches the server.
 */
struct smtp_session {
	const struct frame_job	*job;		/* borrowed */
	smtp_gate		 gate;
	void			*gate_arg;	/* borrowed */
	struct outcome		*out;		/* borrowed */
	struct transport	*server;	/* owned; NULL: none */
	struct smtp_library	*library;	/* owned; NULL: not begun */

	int64_t			 started_boot_ms;
	int64_t			 deadline_boot_ms;
	int64_t			 stage_boot_ms;	/* the stage began then */
	bool			 over;

	char			 host[OUTCOME_HOST];	/* being spoken to */
	char			 failures[OUTCOME_REPLY];	/* addresses tried in vain */
	unsigned		 tried;
	struct smtp_features	 features;
	bool			 plain_only;	/* opportunistic TLS failed */
	bool			 logged_in;
	bool			 dot_sent;	/* the kernel has all of it */
	bool			 greeted;	/* QUIT makes sense */
	bool			 transcript_full;

	struct smtp_gather	 in;
	char			 line[8192];	/* the library's command */
};

/* smtp_session.c: how it begins and how it ends. */

/* The outcome is begun, too. */
struct smtp_session	*smtp_begin(const struct frame_job *,
			    struct outcome *);
/* The server has shown what a check wants to see. */
void	 smtp_end_check(struct smtp_session *);
/* QUIT goes out unless the kernel has no room for it. */
void	 smtp_say_quit(struct smtp_session *);
/* Waits for its reply, for at most a second, and closes. */
void	 smtp_await_goodbye(struct smtp_session *);

/* smtp_wire.c: the dialogue with the server. */

/* Ends the clock of the stage under way and starts that of the next. */
void	 smtp_stage(struct smtp_session *, enum stage);

/* A line of our own in the transcript. */
void	 smtp_note(struct smtp_session *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));
/* One line of either side in the transcript: who is 'C' or 'S'. */
void	 smtp_note_line(struct smtp_session *, char who, const char *, size_t);

/* The absolute deadline of a step that may take ms. */
int64_t	 smtp_step_deadline(const struct smtp_session *, int64_t ms);

/*
 * Sends a command, CRLF included; shown is what the transcript says instead
 * (NULL: the command).  0, or -1 with the session over.
 */
int	 smtp_say(struct smtp_session *, const char *line, const char *shown);

/*
 * Waits for one reply.  0 with *r and, when bytes_r is not NULL, the raw
 * reply in a buffer of the caller's, bytes_r[SMTP_REPLY_MAX], and its length;
 * -1 with the session over.
 */
int	 smtp_hear(struct smtp_session *, int64_t timeout_ms, struct reply *r,
	    char *bytes_r, size_t *len_r);

/* A whole reply that has come already, if any: as smtp_hear(). */
bool	 smtp_take_reply(struct smtp_session *, struct reply *r, char *bytes_r,
	    size_t *len_r);

/* 0 if the reply begins with digit; else the session is over. */
int	 smtp_expect(struct smtp_session *, const struct reply *r, int digit);

/* How it ends.  Each returns -1. */
int	 smtp_end_reply(struct smtp_session *, const struct reply *r);
int	 smtp_end_transport(struct smtp_session *, enum transport_error,
	    const char *reason);
int	 smtp_end(struct smtp_session *, enum outcome_class, enum verdict,
	    bool blind, const char *, ...)
	    __attribute__((format(printf, 5, 6)));

/*
 * smtp_hosts.c: from look-up to a session that is ready for MAIL, or for the
 * login that is the library's part.
 */
int	 smtp_open(struct smtp_session *);

/* smtp_open.c: its steps on one address. */

/* From connect, by the deadline, to the greeting. */
int	 smtp_reach(struct smtp_session *, const struct sockaddr_storage *,
	    int64_t deadline_boot_ms);
/* EHLO, and TLS as the job wants it; may connect once more. */
int	 smtp_shake_hands(struct smtp_session *,
	    const struct sockaddr_storage *);

/*
 * smtp_login.c: the login as far as it is ours: whether it may pass, and
 * OAuth.
 */
int	 smtp_login(struct smtp_session *);

/* The reply that ends a login: 0 if it is taken, else the session is over. */
int	 smtp_login_taken(struct smtp_session *, const struct reply *r);

/* smtp_pump.c: lets the library speak, up to the reply to the dot. */
int	 smtp_pump(struct smtp_session *);

#endif
