#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "monitor/ctl.h"

/*
 * Orders: what changes something and answers yes or no.
 */

/* Takes request. */
static int
order(const struct ctl *ctl, json_t *request)
{
	int	 rc;
	json_t	*answer = ctl_ask(ctl, request, &rc);

	json_decref(answer);
	return (rc);
}

static int
order_route(const struct ctl *ctl, int argc, char **argv)
{
	json_t	*request;

	if (argc != 2)
		return (EX_USAGE);
	request = ctl_request(argv[0]);
	json_object_set_new(request, "route", json_string(argv[1]));
	return (order(ctl, request));
}

int
ctl_pause(const struct ctl *ctl, int argc, char **argv)
{
	int	rc = order_route(ctl, argc, argv);

	return (rc == EX_USAGE ? ctl_usage("pause ROUTE") : rc);
}

int
ctl_resume(const struct ctl *ctl, int argc, char **argv)
{
	int	rc = order_route(ctl, argc, argv);

	return (rc == EX_USAGE ? ctl_usage("resume ROUTE") : rc);
}

int
ctl_ack(const struct ctl *ctl, int argc, char **argv)
{
	json_t		*request;
	json_int_t	 episode;

	if (argc != 2 || !ctl_read_number(argv[1], &episode))
		return (ctl_usage("ack EPISODE"));
	request = ctl_request("ack");
	json_object_set_new(request, "episode", json_integer(episode));
	return (order(ctl, request));
}

int
ctl_reload(const struct ctl *ctl, int argc, char **argv)
{
	int	rc;

	(void)argv;
	if (argc != 1)
		return (ctl_usage("reload"));
	rc = order(ctl, ctl_request("reload"));
	return (rc == CTL_REFUSED ? EX_CONFIG : rc);
}
