#ifndef SECRET_FETCH_H
#define SECRET_FETCH_H

#include <uv.h>

#include "monitor/command.h"
#include "monitor/route.h"

/*
 * A secret when it is needed: from its file, or from the command that
 * prints it.  name is for the log.  done is called exactly once, perhaps
 * before this returns (a file), perhaps later (a command); the secret is
 * wiped after the call.  A command that prints nothing, or a token_command
 * that prints what no access token looks like, has failed.
 */
void	 secret_fetch(uv_loop_t *, const char *name,
	    const struct secret_source *, command_done done, void *arg);

#endif
