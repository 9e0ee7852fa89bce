#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/*
 * Runs a configured command by /bin/sh -c, with a deadline and a bound on
 * what it may say.  Its standard error goes to the log.  The monitor waits
 * for nothing: the answer comes by call.
 */

#define COMMAND_OUTPUT	16384

/*
 * What is wanted of it.  Its whole output, a secret: only what has been ended
 * by end of file, within the deadline and the bound, is good.  Or its status:
 * it is over when it exits, whoever still holds its output; of that counts
 * what is there then, and what is beyond the bound is dropped.
 *
 * At the deadline its process group is killed.  What has left the group, or
 * goes on in the background after a command for its status has exited, is
 * let be: it belongs to who wrote the command.
 */
enum command_use { COMMAND_FOR_OUTPUT, COMMAND_FOR_STATUS };

/*
 * ok: exit status 0 within the deadline, and what its use asks for.  output
 * is its standard output up to the first newline, then NUL, wiped after the
 * call; why says what was wrong, with the first words of its standard error.
 */
typedef void	(*command_done)(void *arg, bool ok, const char *output,
		    const char *why);

/*
 * name is for the log; input goes to its standard input ("" for none).
 * done is called exactly once, never before command_run() returns.
 */
void	 command_run(uv_loop_t *, enum command_use, const char *name,
	    const char *command, const char *input, int64_t deadline_ms,
	    command_done, void *arg);

/* Ends all of them now; each done is called as for one that took too long. */
void	 command_kill_all(void);

#endif
