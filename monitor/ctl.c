/* mailflowctl: asks a running mailflowd, and tells it what to do. */
#include "monitor/ctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "build.h"
#include "monitor/ctl_diagnose.h"
#include "monitor/ctl_explain.h"
#include "monitor/ctl_path.h"
#include "monitor/mem.h"

static const char	standard[] = SYSCONFDIR "/mailflowd.conf";

static const struct command {
	const char	*name;
	/* One of: with the daemon, without it. */
	int		(*ask)(const struct ctl *, int argc, char **argv);
	int		(*run)(int argc, char **argv);
	const char	*how;
	const char	*what;
} commands[] = {
	{ "status", ctl_status, NULL, "[--json]",
	    "routes, mailboxes and episodes" },
	{ "check", ctl_check, NULL, "[ROUTE]",
	    "good or bad, from what is known; a plugin's line and exit code" },
	{ "probe", ctl_probe, NULL, "ROUTE [--wait] [--timeout SPAN]",
	    "sends a probe now, or tries the kept one" },
	{ "probes", ctl_probes, NULL, "[--transcript ROUTE] [--json]",
	    "the probes under way; the last failed session" },
	{ "episodes", ctl_episodes, NULL, "[--all | --why EPISODE] [--json]",
	    "the trouble there is, was, and why" },
	{ "test-alert", ctl_test_alert, NULL, "[--timeout SPAN] [SECTION]",
	    "tells everybody, as a test, and says whom it reached" },
	{ "windows", ctl_windows, NULL, "",
	    "the maintenance windows to come" },
	{ "report", ctl_report, NULL,
	    "[--since SPAN] [--csv | --json | --html]",
	    "how the routes did" },
	{ "ack", ctl_ack, NULL, "EPISODE",
	    "no more reminders of it" },
	{ "pause", ctl_pause, NULL, "ROUTE",
	    "sends nothing on this route" },
	{ "resume", ctl_resume, NULL, "ROUTE",
	    "goes on" },
	{ "reload", ctl_reload, NULL, "",
	    "reads the configuration anew" },
	{ "explain", NULL, explain_main,
	    "[--stage STAGE] REPLY... | --tsv | --message FILE [--tsv]",
	    "what a mail server's reply means" },
	{ "diagnose", ctl_diagnose, NULL, "SERVER|DOMAIN|ADDRESS",
	    "connects to every MX and address, and says what it sees" },
};

static int
usage(FILE *f, int rc)
{
	fputs("usage: mailflowctl [-c FILE] [-s SOCKET] COMMAND [ARGUMENT...]\n"
	    "  -c, --config FILE    configuration that names the socket\n"
	    "                       (default " SYSCONFDIR "/mailflowd.conf)\n"
	    "  -s, --socket SOCKET  the control socket of mailflowd\n"
	    "  -h, --help           this text\n"
	    "  -V, --version        the version\n"
	    "commands:\n", f);
	for (size_t i = 0; i < NITEMS(commands); i++)
		fprintf(f, "  %s %s\n        %s\n", commands[i].name,
		    commands[i].how, commands[i].what);
	return (rc);
}

static const struct command *
find(const char *name)
{
	for (size_t i = 0; i < NITEMS(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return (&commands[i]);
	return (NULL);
}

/*
 * A file that was named must be there: the usual monitor is another one.  (To
 * diagnose takes no monitor, and says itself what it does without a file.)
 */
static int
cannot_read(const struct command *c, const char *config)
{
	if (c->ask == ctl_check || c->ask == ctl_probe) {
		printf("UNKNOWN - %s: %s\n", config, strerror(errno));
		return (3);
	}
	fprintf(stderr, "mailflowctl: %s: %s\n", config, strerror(errno));
	return (EX_CONFIG);
}

static int
with_daemon(const struct command *c, const char *config, const char *socket,
    int argc, char **argv)
{
	char		*path = socket != NULL ? mem_strdup(socket) :
			    ctl_path(config);
	struct ctl	 ctl = { .socket = path, .config = config };
	int		 rc = c->ask(&ctl, argc, argv);

	mem_free(path);
	return (rc);
}

static int
run(const char *config, const char *socket, int argc, char **argv)
{
	const struct command	*c = find(argv[0]);

	if (c == NULL) {
		fprintf(stderr, "mailflowctl: no such command: %s\n", argv[0]);
		return (usage(stderr, EX_USAGE));
	}
	if (config != NULL && socket == NULL && c->ask != NULL &&
	    c->ask != ctl_diagnose && access(config, R_OK) == -1)
		return (cannot_read(c, config));
	if (c->ask != NULL)
		return (with_daemon(c, config != NULL ? config : standard,
		    socket, argc, argv));
	return (c->run(argc, argv));
}

/* What was printed must have got there. */
static int
finish(int rc)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return (rc);
	perror("mailflowctl: stdout");
	return (rc == 0 ? EX_IOERR : rc);
}

int
main(int argc, char **argv)
{
	static const struct option	longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char	*config = NULL, *socket = NULL;
	int		 c;

	while ((c = getopt_long(argc, argv, "+c:s:hV", longs, NULL)) != -1)
		switch (c) {
		case 'c':
			config = optarg;
			break;
		case 's':
			socket = optarg;
			break;
		case 'h':
			return (finish(usage(stdout, 0)));
		case 'V':
			puts("mailflowctl " PACKAGE_VERSION);
			return (finish(0));
		default:
			return (usage(stderr, EX_USAGE));
		}
	if (optind == argc)
		return (usage(stderr, EX_USAGE));
	return (finish(run(config, socket, argc - optind, argv + optind)));
}
