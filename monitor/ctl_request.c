#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "monitor/ctl.h"
#include "monitor/ctl_client.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* The daemon answers at once, unless its disk holds it up. */
#define ANSWER_MS	15000

json_t *
ctl_request(const char *command)
{
	json_t	*j = json_pack("{ss}", "command", command);

	if (j == NULL)
		panic("out of memory for JSON");
	return (j);
}

/* A configuration has as many lines of complaint as mistakes. */
static void
complain(const char *why)
{
	char	line[1024];
	size_t	n;

	for (; *why != '\0'; why += n + (why[n] == '\n')) {
		n = strcspn(why, "\n");
		text_clean(line, sizeof line, why, n);
		fprintf(stderr, "mailflowctl: %s\n", line);
	}
}

json_t *
ctl_ask(const struct ctl *ctl, json_t *request, int *rc_r)
{
	struct client_answer	 a;
	json_t			*object;

	client_ask(ctl->socket, request, ANSWER_MS, &a);
	json_decref(request);
	object = json_incref(a.object);
	if (object == NULL)
		complain(a.why);
	*rc_r = a.result == CLIENT_ANSWER ? 0 :
	    a.result == CLIENT_REFUSED ? CTL_REFUSED : EX_UNAVAILABLE;
	client_answer_free(&a);
	return (object);
}

int
ctl_usage(const char *how)
{
	fprintf(stderr, "usage: mailflowctl [-c FILE] [-s SOCKET] %s\n", how);
	return (EX_USAGE);
}

void
ctl_print_json(const json_t *j)
{
	(void)json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
}

bool
ctl_read_number(const char *s, json_int_t *r)
{
	char		*end;
	long long	 n;

	if (*s < '0' || *s > '9')
		return (false);
	errno = 0;
	n = strtoll(s, &end, 10);
	if (errno != 0 || *end != '\0' || n <= 0)
		return (false);
	*r = n;
	return (true);
}
