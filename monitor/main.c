#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "alerts/window.h"
#include "alerts/zone.h"
#include "build.h"
#include "monitor/clock.h"
#include "monitor/config.h"
#include "monitor/log.h"
#include "monitor/loop.h"

#define EXIT_USAGE	64	/* sysexits(3) */
#define EXIT_OUTPUT	74
#define EXIT_CONFIG	78

static int
usage(FILE *f, int status)
{
	fputs("usage: mailflowd [-c file] [-n | -t | -V]\n"
	    "  -c file  configuration (default " SYSCONFDIR
	    "/mailflowd.conf)\n"
	    "  -n       print the effective configuration and exit\n"
	    "  -t       check the configuration and exit\n"
	    "  -V       print the version and exit\n"
	    "Runs in the foreground.  See mailflowd(8).\n", f);
	return (status);
}

static void
print_line(void *arg, const char *line)
{
	fprintf(arg, "%s\n", line);
}

static void
log_line(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, ": warning: ") != NULL)
		log_warn("%s", line);
	else
		log_error("%s", line);
}

/* "1 route, ", "2 mailboxes\n" */
static void
number(const void *list, const char *one, const char *plural, const char *end)
{
	void *const	*p = list;
	size_t		 n = 0;

	while (p[n] != NULL)
		n++;
	printf("%zu %s%s%s", n, one, n == 1 ? "" : plural, end);
}

/* When the next window of each kind takes place. */
static void
preview(const struct config *c)
{
	int64_t			now_ms = clock_now().wall_ms;
	struct window_span	s;
	char			start[ZONE_TIME], end[ZONE_TIME];

	for (struct window **w = c->windows; *w != NULL; w++) {
		if (!window_next(*w, now_ms, &s))
			continue;
		zone_local((*w)->timezone, s.start_ms, start, sizeof start);
		zone_local((*w)->timezone, s.end_ms, end, sizeof end);
		printf("window \"%s\": %s %s to %s\n", (*w)->name,
		    s.start_ms <= now_ms ? "now, from" : "next from", start,
		    end);
	}
}

static int
check(const char *file, bool print)
{
	struct config	*c = config_load(file, print_line, stderr);

	if (c == NULL)
		return (EXIT_CONFIG);
	if (print) {
		config_print(c, stdout);
	} else {
		printf("%s: good: ", file);
		number(c->routes, "route", "s", ", ");
		number(c->servers, "server", "s", ", ");
		number(c->mailboxes, "mailbox", "es", ", ");
		number(c->alerts, "alerts section", "s", "\n");
		preview(c);
	}
	config_free(&c);
	/* What was printed must have got there. */
	if (fflush(stdout) == 0 && !ferror(stdout))
		return (0);
	perror("mailflowd: stdout");
	return (EXIT_OUTPUT);
}

/* No dumps, no new privileges: secrets pass through this process. */
static void
harden(void)
{
	struct rlimit	none = { 0, 0 };

	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)umask(027);
}

static int
run(const char *file)
{
	const char	*workers = getenv("MAILFLOWD_WORKERS");
	struct config	*c;

	harden();
	if ((c = config_load(file, log_line, NULL)) == NULL)
		return (EXIT_CONFIG);
	log_open(c->log, "mailflowd");
	return (loop_run(c, workers != NULL ? workers : WORKERDIR));
}

int
main(int argc, char **argv)
{
	static const struct option	words[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char	*file = SYSCONFDIR "/mailflowd.conf";
	bool		 test = false, print = false;
	int		 option;

	while ((option = getopt_long(argc, argv, "c:hntV", words,
	    NULL)) != -1)
		switch (option) {
		case 'c':
			file = optarg;
			break;
		case 'h':
			return (usage(stdout, 0));
		case 'n':
			print = true;
			break;
		case 't':
			test = true;
			break;
		case 'V':
			puts("mailflowd " PACKAGE_VERSION);
			return (0);
		default:
			return (usage(stderr, EXIT_USAGE));
		}
	if (optind < argc)
		return (usage(stderr, EXIT_USAGE));
	return (test || print ? check(file, print) : run(file));
}
