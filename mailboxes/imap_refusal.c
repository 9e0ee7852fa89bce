#include "mailboxes/imap_refusal.h"

#include <stddef.h>
#include <string.h>

#include "monitor/mem.h"

/* Codes of which the text need not be asked. */
static const struct {
	const char	*code;
	bool		 refusal;
} codes[] = {
	{ "AUTHENTICATIONFAILED", true },
	{ "AUTHORIZATIONFAILED", true },
	{ "EXPIRED", true },
	{ "PRIVACYREQUIRED", true },
	{ "AUTH", true },
	{ "UNAVAILABLE", false },
	{ "INUSE", false },
	{ "LIMIT", false },
	{ "SERVERBUG", false },
	{ "CANNOT", false },
	{ "OVERQUOTA", false },
	{ "THROTTLED", false },
	{ "CONTACTADMIN", false },
	{ "SYS/TEMP", false },
};

/* Where no code decides: not the login, but load, bounds, or a fault. */
static const char *const other_trouble[] = { "try again", "later", "temporar",
	"too many", "too often", "unavailable", "not available", "overload",
	"internal ", "system error", "maximum number of", "simultaneous",
	"bandwidth", "busy", "rate limit", "rate-limit", "ratelimit",
	"throttl", "limit exceeded", "exceeded limit", "limit reached",
	"connection limit", "maintenance", "shutting down", "not responding",
	"timeout", "timed out" };

/* What BAD and BYE must say to be about the login. */
static const char *const login_trouble[] = { "password", "credential",
	"passwd", "login failed", "login failure", "login incorrect",
	"login denied", "invalid login", "login invalid", "log in failed",
	"authentication fail", "auth failed", "authentication error",
	"authentication unsuccessful", "not authenticated", "wrong user",
	"invalid user", "unknown user", "bad user" };

static bool
has(const char *text, const char *const *phrases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(text, phrases[i]) != NULL)
			return (true);
	return (false);
}

bool
imap_refusal(enum imap_condition said, const char *code, const char *text)
{
	for (size_t i = 0; i < NITEMS(codes); i++)
		if (strcmp(code, codes[i].code) == 0)
			return (codes[i].refusal);
	if (has(text, other_trouble, NITEMS(other_trouble)))
		return (false);
	return (said == IMAP_NO ||
	    has(text, login_trouble, NITEMS(login_trouble)));
}
