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

static bool
has(const char *text, const char *const *phrases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(text, phrases[i]) != NULL)
			return (true);
	return (false);
}

bool
imap_refusal(const char *code, const char *text)
{
	for (size_t i = 0; i < NITEMS(codes); i++)
		if (strcmp(code, codes[i].code) == 0)
			return (codes[i].refusal);
	return (!has(text, other_trouble, NITEMS(other_trouble)));
}
