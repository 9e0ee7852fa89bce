#include "monitor/secret_fetch.h"

#include <stdio.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/secret.h"

#define COMMAND_DEADLINE_MS	30000

/* A command on its way. */
struct fetch {
	const char	*option;	/* borrowed; static: what to complain of */
	bool		 token;
	command_done	 done;
	void		*arg;
};

/* The letters of an access token (RFC 6750 2.1). */
static bool
is_token(const char *s)
{
	static const char	letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~+/=";

	return (s[strspn(s, letters)] == '\0');
}

/* What is no secret must not be tried: servers count refused logins. */
static const char *
what_is_wrong(const struct fetch *f, bool ok, const char *secret,
    const char *why)
{
	if (!ok)
		return (why);
	if (secret[0] == '\0')
		return ("the command printed nothing");
	if (f->token && !is_token(secret))
		return ("what the command printed is no access token");
	return ("");
}

static void
on_command(void *arg, bool ok, const char *secret, const char *why)
{
	struct fetch	*f = arg;
	const char	*wrong = what_is_wrong(f, ok, secret, why);
	char		 reason[512];

	if (wrong[0] == '\0') {
		f->done(f->arg, true, secret, "");
	} else {
		snprintf(reason, sizeof reason, "%s: %s", f->option, wrong);
		f->done(f->arg, false, "", reason);
	}
	mem_free(f);
}

static void
from_command(uv_loop_t *loop, const char *name,
    const struct secret_source *source, command_done done, void *arg)
{
	struct fetch	*f = mem_alloc(sizeof *f);

	f->token = source->token_command[0] != '\0';
	f->option = f->token ? "token_command" : "password_command";
	f->done = done;
	f->arg = arg;
	command_run(loop, COMMAND_FOR_OUTPUT, name, f->token ?
	    source->token_command : source->password_command, "",
	    COMMAND_DEADLINE_MS, on_command, f);
}

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
	if (source->password_command[0] != '\0' ||
	    source->token_command[0] != '\0')
		from_command(loop, name, source, done, arg);
	else
		from_file(source, done, arg);
}
