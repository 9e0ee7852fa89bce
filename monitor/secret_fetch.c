#include "monitor/secret_fetch.h"

#include "monitor/mem.h"
#include "monitor/secret.h"

#define COMMAND_DEADLINE_MS	30000

static void
from_file(const struct secret_source *source, command_done done, void *arg)
{
	char	*secret = mem_alloc(SECRET_MAX);
	char	 why[512] = "";
	int	 r;

	r = secret_read(source, secret, SECRET_MAX, why, sizeof why);
	done(arg, r == 0, r == 0 ? secret : "", why);
	mem_wipe(secret, SECRET_MAX);
	mem_free(secret);
}

void
secret_fetch(uv_loop_t *loop, const char *name,
    const struct secret_source *source, command_done done, void *arg)
{
	const char	*command = source->password_command[0] != '\0' ?
			    source->password_command : source->token_command;

	if (command[0] != '\0')
		command_run(loop, name, command, "", COMMAND_DEADLINE_MS, done,
		    arg);
	else
		from_file(source, done, arg);
}
