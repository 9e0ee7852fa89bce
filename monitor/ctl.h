#ifndef CTL_H
#define CTL_H

#include <jansson.h>
#include <stdbool.h>

/*
 * mailflowctl: what its commands share.
 */

struct ctl {
	const char	*socket;	/* borrowed; the daemon's control socket */
	const char	*config;	/* borrowed; the configuration's name */
};

/* The daemon refused: no such route, no such episode. */
#define CTL_REFUSED	1

/*
 * The commands: argv[0] is the command's name, argv[argc] is NULL.  Each
 * returns the exit code: 0, EX_USAGE after usage on stderr, CTL_REFUSED,
 * EX_UNAVAILABLE if the daemon cannot be reached; check and probe return a
 * plugin's 0 to 3.
 */
int	 ctl_status(const struct ctl *, int argc, char **argv);
int	 ctl_probes(const struct ctl *, int argc, char **argv);
int	 ctl_episodes(const struct ctl *, int argc, char **argv);
int	 ctl_probe(const struct ctl *, int argc, char **argv);
int	 ctl_check(const struct ctl *, int argc, char **argv);
int	 ctl_ack(const struct ctl *, int argc, char **argv);
int	 ctl_pause(const struct ctl *, int argc, char **argv);
int	 ctl_resume(const struct ctl *, int argc, char **argv);
int	 ctl_report(const struct ctl *, int argc, char **argv);
int	 ctl_test_alert(const struct ctl *, int argc, char **argv);
int	 ctl_windows(const struct ctl *, int argc, char **argv);
int	 ctl_reload(const struct ctl *, int argc, char **argv);

/* Prints how to call it on stderr; EX_USAGE. */
int	 ctl_usage(const char *how);

/*
 * Asks the daemon and says on stderr what went wrong.  The answer (owned by
 * the caller), or NULL with *rc_r the exit code.  Takes request.
 */
json_t	*ctl_ask(const struct ctl *, json_t *request, int *rc_r);

/* {"command": command}; the caller adds the rest. */
json_t	*ctl_request(const char *command);

/* The daemon's object as it is, for programs. */
void	 ctl_print_json(const json_t *);

/* A whole number > 0; false if it is none. */
bool	 ctl_read_number(const char *, json_int_t *r);

#endif
