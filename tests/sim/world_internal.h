#ifndef WORLD_INTERNAL_H
#define WORLD_INTERNAL_H

#include <sys/queue.h>

#include "monitor/agenda.h"
#include "monitor/csv.h"
#include "monitor/schedule.h"
#include "tests/sim/world.h"

/* What world*.c share; nobody else includes this. */

enum happening { SESSION_ENDS, BODY_ANSWERED, HOSTS_FOUND, MAIL_ARRIVES,
	MAILBOX_LOOK, HOOK_ENDS, MONITOR_UP };

/* What a session needs to know of its job. */
struct job {
	uint64_t	 id;
	bool		 is_probe;
	bool		 is_check;
	bool		 gate;
	char		 host[OUTCOME_HOST];	/* that it goes to */
	char		 token[TOKEN_SIZE];
	char		 to[FRAME_LOCAL];
	char		*message;	/* owned; alerts only */
	char		 domain[OUTCOME_HOST];	/* look-ups only */
};

struct event {
	struct agenda_item	 item;		/* first */
	enum happening		 what;
	uint64_t		 boot;		/* of the monitor it belongs to */
	struct job		 job;
	struct server_state	*server;	/* borrowed; sessions */
	struct mailbox_state	*mailbox;	/* borrowed; arrivals, looks */
	char			 token[TOKEN_SIZE];
	bool			 junk;
	bool			 bounce;	/* a report about it arrives */
	bool			 overtaken;	/* its mail was seen first */
	TAILQ_ENTRY(event)	 in_hand;	/* awaiting go */
};

struct server_state {
	char			 name[PROBE_NAME];
	enum behaviour		 behaviour;
	enum stage		 stage;
	char			 reply[256];
	unsigned		 lucky;		/* probes it takes all the same */
	uint64_t		 attempts;
	struct server_state	*next;
};

struct recipient_state {
	char			 address[PROBE_ADDRESS];
	enum stage		 stage;
	char			 reply[256];	/* "": as the server does */
	struct recipient_state	*next;
};

/* The MX hosts of a domain. */
struct domain_state {
	char			 name[OUTCOME_HOST];
	char			 hosts[FRAME_HOSTS_SIZE];	/* by newline */
	struct domain_state	*next;
};

/* A mail in a mailbox, or held by a relay on its way there. */
struct mail {
	char		 token[TOKEN_SIZE];
	uint32_t	 uid;
	int64_t		 at_ms;		/* wall */
	bool		 junk;
	struct frame_report *report;	/* owned; NULL: a probe */
	struct mail	*next;
};

struct mailbox_state {
	char			 name[PROBE_NAME];
	bool			 blind;
	bool			 polled;	/* its looks have begun */
	char			 reason[256];
	int64_t			 delay_ms;
	enum fate		 fate;
	uint32_t		 next_uid;
	int64_t			 look_ms;	/* true time of the last good */
	struct mail		*mails;		/* owned */
	struct mail		*held;		/* owned */
	struct mailbox_state	*next;
};

/* What became of the body of one token. */
struct body {
	char		 token[TOKEN_SIZE];
	unsigned	 sent;
	unsigned	 refused;	/* after the dot */
};

struct world {
	char			*directory;	/* owned */
	char			*file;		/* owned: the configuration */
	struct config		*config;
	struct store		*store;
	struct csv		*csv;
	struct engine		*engine;
	int64_t			 now_ms;	/* true time */
	int64_t			 clock_ms;	/* the wall clock is off by */
	struct steady		 steady;	/* the monitor's line */
	uint64_t		 boot;		/* how often it began */
	bool			 up;
	bool			 early;
	bool			 forgetful;
	struct agenda		 agenda;
	TAILQ_HEAD(, event)	 in_hand;
	struct server_state	*servers;	/* owned lists */
	struct recipient_state	*recipients;
	struct domain_state	*domains;
	struct mailbox_state	*mailboxes;
	struct told		*told;
	struct told		**told_end;
	uint64_t		 random;
	uint64_t		 commits;
	uint64_t		 crash_at;
	enum crash		 crash;
	bool			 drop_orders;
	uint64_t		 attempts;
	uint64_t		 cleaned;
	int64_t			 hour_ms;	/* ticks are counted by hour */
	unsigned		 ticks;
	char			*notices;	/* owned */
	char			*said;		/* owned: their texts */
	unsigned		 repeats;
	char			 fault[256];
	void			*bodies;	/* tsearch(3) tree of body */
	unsigned		 most_bodies;
};

/* world.c */
struct stamp	 world_stamp(const struct world *);
int64_t		 world_told_ms(struct world *);	/* the monitor's time */
void		 world_blame(struct world *, const char *what,
		    const char *about);
struct event	*world_event(struct world *, enum happening, int64_t in_ms);
void		 world_event_free(struct event *);
bool		 world_commit(struct world *);

/* world_server.c: sessions. */
struct server_state *world_server_of(struct world *, const char *name);
void	 world_session_ends(struct world *, struct event *);
void	 world_body_answered(struct world *, struct event *);
void	 world_hosts_found(struct world *, struct event *);
void	 world_servers_free(struct world *);
void	 world_session_stale(struct world *, struct event *);
void	 world_body_forget(struct world *, const char *token);
void	 world_op_job(void *, const struct server *, const struct frame_job *);
void	 world_op_go(void *, uint64_t job, bool allowed);

/* world_mailbox.c: mail and looks. */
struct mailbox_state *world_mailbox_of(struct world *, const char *name);
void	 world_send_on(struct world *, const char *token, const char *to,
	    bool early);
void	 world_mail_arrives(struct world *, struct event *);
void	 world_mailbox_look(struct world *, struct event *);
void	 world_look_everywhere(struct world *);
void	 world_op_clean(void *, const struct frame_clean *);
void	 world_mailboxes_free(struct world *);

/* world_told.c: notices. */
void	 world_notice(struct world *, const char *to, const char *message);
void	 world_op_hook(void *, uint64_t handle, const char *name,
	    const char *command, const char *input);
void	 world_hook_ends(struct world *, struct event *);
void	 world_told_free(struct world *);

#endif
