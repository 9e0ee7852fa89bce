#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

#include <sys/queue.h>

#include "alerts/regular.h"
#include "monitor/agenda.h"
#include "monitor/engine.h"

/* What engine*.c share; nobody else includes this. */

/* What an agenda item sits in. */
enum item_kind { ITEM_ROUTE, ITEM_PROBE, ITEM_MX, ITEM_CHECK, ITEM_MAILBOX,
	ITEM_SILENCE };

struct item {
	struct agenda_item	agenda;		/* first */
	enum item_kind		kind;
};

struct route_run;
struct mailbox_run;

/* One probe that has not ended. */
struct probe_run {
	struct item		 item;		/* first */
	struct probe		 p;
	struct route_run	*route;		/* borrowed */
	struct mailbox_run	*mailbox;	/* borrowed; it is looked for in */
	struct system_run	*system;	/* borrowed; while queued or tried */
	uint64_t		 job;		/* 0: not with a sender */
	bool			 queued;	/* in its system's queue */
	bool			 held;		/* waits for the sentinel */
	bool			 asked;		/* by a person: need not wait */
	bool			 login_paused;	/* waits for the end of a pause */
	bool			 spaced;	/* has its slot of the domain */
	bool			 has_arrival;	/* seen before its outcome was */
	struct frame_arrival	 arrival;
	struct frame_report	*report;	/* owned: as early; or NULL */
	int64_t			 looked_base_ms;	/* mailbox's looked time then */
	TAILQ_ENTRY(probe_run)	 in_queue;
	TAILQ_ENTRY(probe_run)	 in_pending;	/* accepted, of its mailbox */
	TAILQ_ENTRY(probe_run)	 in_held;
	LIST_ENTRY(probe_run)	 in_job;
};
TAILQ_HEAD(probe_queue, probe_run);
LIST_HEAD(job_bucket, probe_run);

/* A route; with mx = "each" one for each mail host, see engine_mx.c. */
struct route_run {
	struct item		 item;		/* first */
	const struct route	*route;		/* borrowed: config */
	char			 host[OUTCOME_HOST];	/* the MX host; or "" */
	bool			 vanished;	/* starts no probe any more */
	struct mailbox_run	*mailbox;	/* borrowed */
	struct probe_run	*current;	/* being tried or kept; or NULL */
	unsigned		 pending;
	unsigned		 rejects;	/* permanent refusals in a row */
	int64_t			 due_ms;
	int64_t			 started_ms;	/* the last probe's start */
	int64_t			 delivered_ms;	/* the last delivery */
	uint64_t		 count;		/* probes started */
	bool			 paused;
	bool			 has_last;
	struct probe		 last;
};

struct mailbox_run {
	struct item		 item;		/* first; the next clean-up */
	struct item		 silence;	/* when its watcher should have
						 * spoken */
	int64_t			 silent_ms;	/* running time at which it is
						 * overdue */
	uint32_t		 id;
	const struct mailbox	*mailbox;	/* borrowed: config */
	bool			 known;
	bool			 good;
	int64_t			 since_ms;
	int64_t			 heard_ms;	/* steady, of the last good look */
	int64_t			 last_look_ms;
	int64_t			 retry_ms;
	int64_t			 paused_ms;	/* no login until then; 0: none */
	int64_t			 looked_ms;	/* good time in all, up to since_ms */
	uint32_t		 ignored;
	char			 reason[OUTCOME_REPLY];
	unsigned		 cleans_out;	/* ordered, not answered */
	bool			 cleans_wait;	/* for room among those */
	struct probe_queue	 pending;
};

/* A removal that was confirmed; to be written. */
struct cleaned {
	char			 mailbox[FRAME_NAME];
	struct frame_clean	 clean;
};

/* Where sessions go: how many at once, who waits. */
struct system_run {
	char			*name;		/* owned */
	unsigned		 in_flight;
	unsigned		 limit;
	bool			 unreachable;
	bool			 starved;	/* in the list of those */
	struct probe_queue	 queue;
	TAILQ_ENTRY(system_run)	 in_starved;
	struct system_run	*next;
};

/* The gap between probes to one destination domain. */
struct domain_run {
	char			*name;		/* owned */
	int64_t			 free_ms;
	struct domain_run	*next;
};

/* Two refused logins, then a long pause: per server and user. */
struct breaker {
	char			*name;		/* owned; of the login */
	unsigned		 refused;
	bool			 proven;	/* the last login was taken */
	int64_t			 until_ms;
	struct breaker		*next;
};

enum order_kind { ORDER_JOB, ORDER_GO, ORDER_CLEAN, ORDER_HOOK };

/* A section's command that is to run. */
struct hook_order {
	uint64_t	 handle;
	char		*name, *command, *input;	/* owned */
};

/* A deed that waits for the commit. */
struct order {
	enum order_kind		 kind;
	union {
		struct {
			const struct server	*server;
			struct frame_job	*frame;	/* owned */
		} job;
		struct frame_go		 go;
		struct frame_clean	 clean;
		struct hook_order	*hook;	/* owned */
	} u;
	STAILQ_ENTRY(order)	 next;
};

STAILQ_HEAD(order_list, order);

/* A session that has had its outcome and is being closed. */
struct closing {
	uint64_t		 job;
	struct system_run	*system;	/* borrowed */
	LIST_ENTRY(closing)	 next;
};

#define JOB_BUCKETS	64

struct engine {
	const struct config	 *config;	/* borrowed, as are: */
	struct store		 *store;
	struct csv		 *csv;
	const struct engine_ops	 *ops;
	void			 *arg;
	struct follow		 *follow;	/* owned */
	struct outbox		 *outbox;	/* owned */
	struct regular		 *regular;	/* owned */
	struct token_key	  key;
	struct agenda		  agenda;
	struct route_run	**routes;	/* owned, NULL-terminated */
	struct mailbox_run	**mailboxes;	/* owned, NULL-terminated */
	struct system_run	 *systems;	/* owned list */
	struct domain_run	 *domains;	/* owned list */
	struct breaker		 *breakers;	/* owned list */
	struct mx_list		 *mx_lists;	/* owned list: engine_mx.c */
	struct check		 *checks;	/* owned list: engine_check.c */
	void			 *by_token;	/* tsearch(3) tree of probe_run */
	struct job_bucket	  jobs[JOB_BUCKETS];
	struct probe_queue	  held;
	TAILQ_HEAD(, system_run)  starved;
	struct order_list	  orders;
	struct cleaned		 *done;		/* owned */
	size_t			  done_count;
	char			  moved[16][TOKEN_SIZE];	/* lately, or "" */
	size_t			  moved_next;
	LIST_HEAD(, closing)	  closing;
	unsigned		  in_flight;	/* probe sessions */
	unsigned		  hooks_in_flight;	/* alerts by command */
	LIST_HEAD(, alert_run)	  alerts;	/* owned; alert mails under way */
	uint64_t		  next_job;
	uint32_t		  first_mailbox;	/* id of mailboxes[0] */
	uint32_t		  mailbox_count;
	int64_t			  now_ms;	/* of the call in progress */
	int64_t			  prune_ms;
	bool			  notices_owed;	/* since the last tick */
	bool			  broken;	/* a commit failed: no more deeds */
};

/* Jobs of the outbox and of the engine share one number space: this bit
 * says that it is the outbox's. */
#define JOB_OF_OUTBOX	(UINT64_C(1) << 63)
#define JOB_OF_MX	(UINT64_C(1) << 62)	/* a look-up */
#define JOB_OF_CHECK	(UINT64_C(1) << 61)	/* a connect check */

/* engine_config.c: routes and mailboxes, by name across configurations. */
/* The first run of that route: the only one but for mx = "each". */
struct route_run	*engine_find_route(struct engine *, const char *name);
/* The run of that very host, or NULL. */
struct route_run	*engine_find_run(struct engine *, const char *name,
	    const char *host);
struct route_run	*engine_add_run(struct engine *, const struct route *,
	    const char *host);
/* When its next probe is due, from what is stored. */
void	 route_run_schedule(struct engine *, struct route_run *);
/* Its next probe is due then, after a restart, too. */
void	 route_run_move(struct engine *, struct route_run *, int64_t due_ms);
/* No more waiting for what a permanent refusal asked for; due then, if that
 * is sooner. */
void	 route_run_end_hold(struct engine *, struct route_run *,
	    int64_t due_ms);
/* Its name among the stored facts. */
#define RUN_KEY	(PROBE_NAME + OUTCOME_HOST + 1)
const char *route_run_key(const struct route_run *, char buf[static RUN_KEY]);
/* Those of the new configuration; what has the same name goes on. */
void	 engine_take_mailboxes(struct engine *, const struct config *);
void	 engine_take_routes(struct engine *, const struct config *);
/* Ends a probe, not yet or no longer a run, that has no route or mailbox. */
void	 engine_end_orphan(struct engine *, const struct probe *);
/* No episode waits for a probe that is not there to be tried. */
void	 engine_drop_sentinels(struct engine *);
/*
 * All probe runs in an array that the caller may walk while they change, and
 * frees.  How many.
 */
size_t	 engine_all_probes(struct engine *, struct probe_run ***);

/* engine.c */
void	 engine_order_clean(struct engine *, const struct frame_clean *);
void	 engine_order_hook(struct engine *, struct hook_order *);	/* takes */
void	 engine_order_go(struct engine *, uint64_t job, bool allowed);
void	 engine_order_job(struct engine *, const struct server *,
	    struct frame_job *frame);	/* takes frame */
void	 engine_news(struct engine *, const struct probe *);

/* engine_probe.c: the life of a probe. */
struct probe_run *probe_run_new(struct engine *, struct route_run *,
	    const struct probe *);
struct probe_run *probe_run_find(struct engine *, const char *token);
void	 probe_run_resume(struct engine *, struct probe_run *);
void	 probe_run_due(struct engine *, struct probe_run *);
void	 probe_run_retry_now(struct engine *, struct probe_run *);
void	 probe_run_finish(struct engine *, struct probe_run *, enum probe_end,
	    const char *note);
void	 probe_run_arrived(struct engine *, struct probe_run *,
	    const struct frame_arrival *);
void	 probe_take_arrival(struct probe *, const struct frame_arrival *,
	    int64_t poll_ms);
void	 probe_run_not_found(struct engine *, struct probe_run *);
void	 probe_run_watch_age(struct engine *, struct probe_run *);
void	 probe_run_free(struct engine *, struct probe_run *);
/* asked: by a person.  episode: to confirm its recovery; 0: no. */
void	 route_run_start(struct engine *, struct route_run *, bool asked,
	    int64_t episode);
/* The part of a job that says where it goes. */
void	 engine_fill_server(struct engine *, const struct server *,
	    struct frame_job *);
/* Is a probe being tried on the system of that name? */
bool	 engine_system_busy(const struct engine *, const char *name);
void	 engine_release_held(struct engine *);
void	 engine_dispatch_starved(struct engine *);
void	 engine_dispatch_all(struct engine *);
void	 engine_save(struct engine *, const struct probe_run *);

/* engine_report.c: judges what came before its outcome, if anything did. */
void	 probe_run_take_report(struct engine *, struct probe_run *);

/* engine_mx.c: the mail hosts of domains. */
void	 mx_take_config(struct engine *);
void	 mx_free(struct engine *);
void	 mx_list_due(struct engine *, struct item *);
void	 mx_job_lost(struct engine *, uint64_t job);
/* A host that is no longer listed has lost its address, too. */
bool	 mx_is_gone(const struct route_run *, const struct outcome *);
/* A probe of this run has ended. */
void	 mx_run_ended(struct engine *, const struct route_run *);
/* The hosts of its domain are being looked up for the first time. */
bool	 mx_is_asked(struct engine *, const struct route_run *);

/* engine_check.c: connect checks. */
void	 check_take_config(struct engine *);
void	 checks_free(struct engine *);
void	 check_due(struct engine *, struct item *);
void	 check_outcome(struct engine *, uint64_t job, const struct outcome *);
void	 check_learn(struct engine *, const struct route_run *,
	    const struct outcome *);

/* engine_alert.c: alert mails under way. */
enum outbox_sent engine_alert_send(void *engine, const struct server *,
	    const struct frame_job *mail);
void	 engine_alert_outcome(struct engine *, uint64_t job,
	    const struct outcome *);
void	 engine_alerts_free(struct engine *);

/* engine_login.c: refused logins of servers. */
/* Until when this server is not to be logged in to; 0: it may be. */
int64_t	 engine_login_paused_ms(struct engine *, const struct server *);
/* May there be several sessions at once? */
bool	 engine_login_proven(struct engine *, const struct server *);
void	 engine_login_note(struct engine *, const struct server *,
	    const struct outcome *);
void	 engine_login_resume(struct engine *);
void	 engine_login_free(struct engine *);
/* Another user or another place of the secret is another login. */
uint64_t engine_login_mark(const char *host, const char *user,
	    const struct secret_source *);

/* engine_hook.c: alerts by command; the outbox calls it. */
bool	 engine_hook_run(void *engine, uint64_t handle, const char *alerts,
	    const char *command, const char *input);
void	 engine_hook_free(struct hook_order *);

/* engine_mailbox.c: looks, arrivals, marks. */
void	 mailbox_run_silent(struct engine *, struct item *);
void	 mailbox_run_await(struct engine *, struct mailbox_run *,
	    int64_t retry_ms);
struct mailbox_run *mailbox_run_find(struct engine *, uint32_t id);
struct mailbox_run *mailbox_run_named(struct engine *, const char *name);
int64_t	 mailbox_run_looked_ms(const struct engine *,
	    const struct mailbox_run *);
void	 engine_expect(struct engine *, const struct probe_run *);
/* Takes up the login pauses of the mailboxes, but for logins that changed. */
void	 engine_resume_pauses(struct engine *);

/* engine_clean.c: the mails go, at once or when they have been kept. */
void	 engine_clean(struct engine *, struct mailbox_run *,
	    const struct frame_arrival *, int64_t keep_ms);
/* For how long such a mail is kept. */
int64_t	 engine_keep_ms(const struct mailbox_run *,
	    const struct frame_arrival *, bool late);
/* Has a mail of that token been moved?  Asked once for each. */
bool	 engine_was_moved(struct engine *, const char *token);
/* Before a commit that is due anyway. */
void	 engine_write_cleaned(struct engine *);
void	 mailbox_run_due(struct engine *, struct mailbox_run *);

#endif
