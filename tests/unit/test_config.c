#include "monitor/config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/secret.h"
#include "monitor/text.h"

#define SAID_MAX	(64 * 1024)

/* Sections that are right; the rows add what is wrong. */
#define SERVER	"server \"out\" { host = \"smtp.example.org\" }\n"
#define MAILBOX	"mailbox \"in\" { host = \"imap.example.com\" user = \"u\" " \
		"password_command = \"true\" }\n"
#define RELAY	"server \"relay\" { host = \"relay.example.net\" }\n"
#define ALERTS	"alerts \"default\" { from = \"m@example.net\" " \
		"to = {\"a@example.net\"} servers = {\"relay\"} }\n"
#define ROUTE	"route \"r\" { server = \"out\" from = \"p@example.org\" " \
		"to = \"c@example.com\" mailbox = \"in\" }\n"
#define AROUND	SERVER MAILBOX RELAY ALERTS
#define REST	AROUND ROUTE

static char	 dir[] = "/tmp/mailflowd-config-XXXXXX";
static char	 said[SAID_MAX];

/* A line of the report, without the folder that changes from run to run. */
static void
hear(void *arg, const char *line)
{
	size_t		 n = strlen(dir) + 1;
	const char	*at;

	(void)arg;
	while ((at = strstr(line, dir)) != NULL) {
		text_appendf(said, sizeof said, "%.*s", (int)(at - line),
		    line);
		line = at + n;
	}
	assert_true(text_appendf(said, sizeof said, "%s\n", line));
}

static char *
path_of(const char *name)
{
	return (mem_printf("%s/%s", dir, name));
}

static void
write_file(const char *name, const char *text, mode_t mode)
{
	char	*path = path_of(name);
	size_t	 n = strlen(text);
	int	 fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd != -1);
	assert_int_equal(write(fd, text, n), n);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	mem_free(path);
}

static struct config *
load_file(const char *name)
{
	char		*path = path_of(name);
	struct config	*c;

	said[0] = '\0';
	c = config_load(path, hear, NULL);
	mem_free(path);
	return (c);
}

static struct config *
load(const char *text)
{
	write_file("m", text, 0644);
	return (load_file("m"));
}

/* A configuration that must be good, and silent. */
static struct config *
good(const char *text)
{
	struct config	*c = load(text);

	if (c == NULL || said[0] != '\0')
		fail_msg("%s: %s", text, said);
	return (c);
}

struct row {
	const char	*text;
	const char	*lines;	/* all that is said */
};

/* Each row must fail with just these lines. */
static void
refused(const struct row *rows, size_t n)
{
	struct config	*c;
	size_t		 i;

	for (i = 0; i < n; i++) {
		c = load(rows[i].text);
		if (c != NULL)
			fail_msg("accepted: %s", rows[i].text);
		if (strcmp(said, rows[i].lines) != 0)
			fail_msg("%s\nsaid:\n%sshould be:\n%s", rows[i].text,
			    said, rows[i].lines);
	}
}

static size_t
count_lines(const char *s)
{
	size_t	n = 0;

	for (; *s != '\0'; s++)
		n += *s == '\n';
	return (n);
}

static void
five_mistakes_of_any_mix_are_five_lines_in_file_order(void **state)
{
	static const struct row	rows[] = {
		{
			"senderz = 4\n"
			"server \"out\" {\n"
			"	port = 99999\n"
			"	timeout = 5 minutes\n"
			"}\n"
			MAILBOX
			"route \"r\" {\n"
			"	server = \"out\"\n"
			"	from = \"p@example.org\"\n"
			"	to = \"c@example.com\"\n"
			"	mailbox = \"inn\"\n"
			"}\n",
			"m:1: senderz: no such option (outside of sections); "
			    "senders is meant?\n"
			"m:2: host: must be set\n"
			"m:3: port: \"99999\": is not within 1 and 65535\n"
			"m:4: timeout: put the value in quotes\n"
			"m:11: mailbox: there is no mailbox \"inn\"\n"
		}, {
			"server \"out\" { hots = \"a\" }\n"
			"mailbox \"in\" { host = \"a\n"
			"	user = \"u\" }\n"
			"rout \"r\" { server = \"out\" from = \"p@a.example\"\n"
			"	to = \"c@a.example\" mailbox = \"in\" every = 5x }\n"
			"alerts \"a\" {\n"
			"	from = \"x\" command = \"y\" }\n",
			"m:1: hots: no such option (server); host is meant?\n"
			"m:2: host: the closing quote is missing on this "
			    "line\n"
			"m:3: user: needs one of password_file, "
			    "password_command, token_command and credential\n"
			"m:4: rout: no such section; route is meant?\n"
			"m:5: every: \"5x\": a span is one whole number and "
			    "ms, s, m, h or d\n"
			"m:7: from: \"x\": is not an address: it has no @\n"
		},
	};

	(void)state;
	assert_int_equal(count_lines(rows[0].lines), 5);
	refused(rows, NITEMS(rows));
}

static void
what_libconfuse_would_swallow_is_a_mistake(void **state)
{
	static const struct row	rows[] = {
		{ REST "server \"a\" {\n\thost = \"a\"\n",
		  "m:6: server: the section has no }\n" },
		{ "server \"a\" {\n\thost = \"a\"\n" REST,
		  "m:1: server: the section has no } before the next one, "
		  "on line 3\n" },
		{ "server \"a\" {\n\thost = \"a\"\n" REST "}\n",
		  "m:1: server: the section has no } before the next one, "
		  "on line 3\n" },
		{ REST "}\n", "m:6: }: closes nothing\n" },
		{ "/* begins\n" REST,
		  "m:1: /* begins: this comment does not end\n" },
		{ REST "spacing = 5s /* begins", "m:6: /* begins: this "
		  "comment does not end\n" },
		{ REST "senders = 010\n",
		  "m:6: senders: \"010\": a number must not have a leading "
		  "zero\n" },
		{ REST "senders = 0x10\n",
		  "m:6: senders: \"0x10\": is not a whole number\n" },
		{ REST "log = \"syslog\nsenders = 4\n",
		  "m:6: log: the closing quote is missing on this line\n" },
		{ REST "log = 'syslog\n",
		  "m:6: log: the closing quote is missing on this line\n" },
		{ REST "log = \"sys\\999log\"\n",
		  "m:6: log: \\ and digits is an octal number up to 377\n" },
		{ REST "log = \"a\\0b\"\n", "m:6: log: a NUL byte\n" },
		{ REST "log = \"${MAILFLOWD_NOT_SET}\"\n",
		  "m:6: log: names an environment variable that is not set\n" },
		{ REST "log = \"${HOME\"\nsenders = 4 # }\n",
		  "m:6: log: ${ without a } after it\n" },
		{ REST "instance = a*b\n",
		  "m:6: instance: put the value in quotes\n" },
		{ REST "instance = a+b\n",
		  "m:6: instance: put the value in quotes\n" },
		{ REST "instance = a\"b\"\n",
		  "m:6: instance: put the value in quotes\n" },
		{ REST "instance = a b\nsenders = 4\n",
		  "m:6: instance: put the value in quotes\n" },
		{ REST "instance\nsenders = 4\n",
		  "m:6: instance: a = is missing behind it\n" },
		{ REST "instance =\nsenders = 4\n",
		  "m:6: instance: has no value\n" },
		{ REST "senders = {1, 2}\n",
		  "m:6: senders: takes one value, not a list\n" },
		{ REST "defaults { retry += {1m} }\n",
		  "m:6: retry: use =, with the whole list\n" },
		{ REST "defaults { retry = {1m 5m} }\n",
		  "m:6: retry: a comma is missing in the list\n" },
		{ REST "defaults {\n\tretry = {1m, 5m\n\tevery = 5m\n}\n",
		  "m:7: retry: the list has no }\n" },
		{ REST "defaults { retry = {1m,, 5m} }\n",
		  "m:6: retry: a list is {value, value}\n" },
		{ REST "( = 4\n", "m:6: (: does not make sense here\n" },
		{ REST "\"senders\" = 4\n",
		  "m:6: \"senders\": does not make sense here\n" },
		{ REST "server { host = \"a\" }\n",
		  "m:6: server: the section needs a name\n" },
		{ REST "server \"a\"\n\thost = \"a\"\n}\n",
		  "m:6: server: a { is missing\n" },
		{ REST "defaults \"a\" { every = 5m }\n",
		  "m:6: defaults: the section takes no name\n" },
		{ REST "server \"a b\" { host = \"a\" }\n",
		  "m:6: server: \"a b\": a name is 1 to 64 letters, digits, "
		  "hyphens, underscores and dots\n" },
	};

	(void)state;
	unsetenv("MAILFLOWD_NOT_SET");
	refused(rows, NITEMS(rows));
	/* Nothing of it is left behind in libconfuse. */
	config_free(&(struct config *){ good(REST) });
}

static void
twice_is_a_mistake(void **state)
{
	static const struct row	rows[] = {
		{ "senders = 4\nsenders = 5\n" REST,
		  "m:2: senders: given twice; first on line 1\n" },
		{ REST "server \"a\" {\n\thost = \"a\"\n\thost = \"a\"\n}\n",
		  "m:8: host: given twice; first on line 7\n" },
		{ REST SERVER,
		  "m:6: server: there is one named out already, in m, line 1\n" },
		{ REST "defaults { every = 5m }\ndefaults { size = 0 }\n",
		  "m:7: defaults: there is one already, in m, line 6\n" },
		{ REST "mailbox \"b\" { host = \"b\" user = \"u\" "
		  "password_command = \"true\" folders = {\"a\", \"a\"} }\n",
		  "m:6: folders: \"a\": is named twice\n" },
	};

	(void)state;
	refused(rows, NITEMS(rows));
}

static void
an_unknown_word_is_refused_with_the_word_that_was_meant(void **state)
{
	static const struct row	rows[] = {
		{ REST "smtp_hots = \"mx.example.org\"\n",
		  "m:6: smtp_hots: no such option (outside of sections)\n" },
		{ REST "every = 5m\n",
		  "m:6: every: no such option (outside of sections); it "
		  "belongs in route\n" },
		{ REST "server \"a\" { host = \"a\" senders = 4 }\n",
		  "m:6: senders: no such option (server); it belongs in no "
		  "section\n" },
		{ "probe \"out\" { host = \"a\" { nonsense } }\n" MAILBOX
		  RELAY ALERTS ROUTE,
		  "m:1: probe: no such section\n" },
		{ REST "server \"a\" { host = \"a\" tls = \"ssl\" }\n",
		  "m:6: tls: \"ssl\": must be none, opportunistic, starttls "
		  "or implicit\n" },
		{ REST "mailbox \"a\" { host = \"a\" user = \"u\" "
		  "password_command = \"true\" tls = \"opportunistic\" }\n",
		  "m:6: tls: \"opportunistic\": must be none, starttls or "
		  "implicit\n" },
		{ REST "server \"a\" { host = \"a\" family = 4 "
		  "insecure_auth = maybe }\n",
		  "m:6: insecure_auth: \"maybe\": is neither true nor false\n"
		  "m:6: family: \"4\": must be any, ipv4 or ipv6\n" },
	};

	(void)state;
	refused(rows, NITEMS(rows));
}

static void
what_must_be_set_is_asked_for(void **state)
{
	static const struct row	rows[] = {
		{ "", "m:1: route: there is none: nothing to watch\n" },
		{ "#", "m:1: route: there is none: nothing to watch\n" },
		{ AROUND, "m:1: route: there is none: nothing to watch\n" },
		{ AROUND "route \"r\" { }\n",
		  "m:5: server: must be set\n" "m:5: from: must be set\n"
		  "m:5: to: must be set\n" "m:5: mailbox: must be set\n" },
		{ REST "server \"a\" {\n\thost = \"\"\n\tport = 99999\n}\n",
		  "m:7: host: must be set\n"
		  "m:8: port: \"99999\": is not within 1 and 65535\n" },
		{ REST "mailbox \"a\" { }\n",
		  "m:6: host: must be set\nm:6: user: must be set\n" },
		{ REST "alerts \"a\" { }\n",
		  "m:6: to: must be set, or command\n" },
		{ REST "alerts \"a\" { to = {\"a@b\"} }\n",
		  "m:6: from: must be set\n"
		  "m:6: servers: must name at least one server\n" },
		{ "state_directory = \"\"\n" REST,
		  "m:1: state_directory: must not be empty\n" },
	};

	(void)state;
	refused(rows, NITEMS(rows));
}

static void
a_mistake_has_no_follow_ups(void **state)
{
	static const struct row	rows[] = {
		/* The route's server has an error, but is there. */
		{ "server \"out\" { host = \"a b\" }\n" MAILBOX RELAY ALERTS
		  ROUTE,
		  "m:1: host: \"a b\": the name has a character that none "
		  "may have\n" },
		/* Its kind is not known, or its name is missing. */
		{ "sevrer \"out\" { host = \"a\" }\n" MAILBOX RELAY ALERTS
		  ROUTE,
		  "m:1: sevrer: no such section; server is meant?\n" },
		{ "server { host = \"a\" }\n" MAILBOX RELAY ALERTS ROUTE,
		  "m:1: server: the section needs a name\n" },
		/* The one route is what is wrong. */
		{ AROUND "route { }\n",
		  "m:5: route: the section needs a name\n"
		  "m:5: server: must be set\n" "m:5: from: must be set\n"
		  "m:5: to: must be set\n" "m:5: mailbox: must be set\n" },
		/* One mistake in defaults is not one in every route. */
		{ "defaults { every = 5x mailbox = \"inn\" }\n" AROUND
		  "route \"r\" { server = \"out\" from = \"a@b\" "
		  "to = \"c@d\" }\n"
		  "route \"s\" { server = \"out\" from = \"a@b\" "
		  "to = \"c@d\" }\n",
		  "m:1: mailbox: there is no mailbox \"inn\"\n"
		  "m:1: every: \"5x\": a span is one whole number and ms, s, "
		  "m, h or d\n" },
		{ "defaults { warn_after = 2m late_after = 1m }\n" REST,
		  "m:1: warn_after: is longer than late_after\n" },
		/* A wrong user is not one without a password. */
		{ REST "server \"a\" { host = \"a\" user = \"a\\nb\" }\n",
		  "m:6: user: has a control character\n" },
		{ REST "server \"a\" { host = \"a\" tls = \"ssl\" "
		  "user = \"u\" password_command = \"true\" }\n",
		  "m:6: tls: \"ssl\": must be none, opportunistic, starttls "
		  "or implicit\n" },
	};

	(void)state;
	refused(rows, NITEMS(rows));
}

static void
references_lead_to_sections(void **state)
{
	static const struct row	rows[] = {
		{ AROUND "route \"r\" {\n\tserver = \"in\"\n"
		  "\tfrom = \"a@b\"\n\tto = \"c@d\"\n\tmailbox = \"out\"\n"
		  "\talerts = \"x\"\n}\n",
		  "m:6: server: there is no server \"in\"\n"
		  "m:9: mailbox: there is no mailbox \"out\"\n"
		  "m:10: alerts: there is no alerts \"x\"\n" },
		{ REST "alerts \"a\" { from = \"a@b\" to = {\"c@d\"} "
		  "servers = {\"relay\", \"nope\"} }\n",
		  "m:6: servers: there is no server \"nope\"\n" },
	};
	struct config	*c;

	(void)state;
	refused(rows, NITEMS(rows));
	c = good(REST);
	assert_ptr_equal(c->routes[0]->server, config_server(c, "out"));
	assert_ptr_equal(c->routes[0]->mailbox, config_mailbox(c, "in"));
	assert_ptr_equal(c->routes[0]->alerts, config_alerts(c, "default"));
	assert_ptr_equal(c->alerts[0]->servers[0], config_server(c, "relay"));
	assert_ptr_equal(c->routes[0], config_route(c, "r"));
	assert_null(config_route(c, "R"));
	assert_null(config_server(c, "in"));
	assert_null(c->routes[0]->bounces);
	config_free(&c);
	assert_null(c);
}

static void
addresses_and_text_cannot_inject_lines(void **state)
{
	static const struct row	rows[] = {
		{ AROUND "route \"r\" { server = \"out\" mailbox = \"in\"\n"
		  "\tfrom = \"a@b\\r\\nRCPT TO:<x@y>\"\n"
		  "\tto = \"c@d\\n\"\n}\n",
		  "m:6: from: \"a@b  RCPT TO:<x@y>\": has a control "
		  "character\n"
		  "m:7: to: \"c@d \": has a control character\n" },
		{ REST "alerts \"a\" { from = \"a@b\" servers = {\"relay\"}\n"
		  "\tto = {\"c@d\", \"e@f\\x0d\"} }\n",
		  "m:7: to: \"e@f \": has a control character\n" },
		{ REST "server \"a\" { host = \"a\"\n\thelo = \"x\\ty\"\n"
		  "\tsystem = \"x\\ny\"\n\tuser = \"u\"\n"
		  "\tpassword_command = \"a\\nsecret\"\n}\n",
		  "m:7: helo: \"x y\": the name has a character that none may "
		  "have\n"
		  "m:8: system: has a control character\n"
		  "m:10: password_command: has a control character\n" },
		{ REST "mailbox \"m\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_command = \"true\" folders = {\"a\\r\\nb\"} }\n",
		  "m:7: folders: \"a  b\": has a control character\n" },
	};

	(void)state;
	refused(rows, NITEMS(rows));
}

static void
an_address_that_needs_smtputf8_is_refused_plainly(void **state)
{
	static const struct row	rows[] = {
		{ AROUND "route \"r\" { server = \"out\" mailbox = \"in\"\n"
		  "\tfrom = \"d\xc3\xbcr@b\"\n"
		  "\tto = \"c@m\xc3\xbcnchen.example\"\n}\n",
		  "m:6: from: \"d\xc3\xbcr@b\": has letters beyond ASCII "
		  "before the @: that needs SMTPUTF8, which mailflowd does not "
		  "have\n"
		  "m:7: to: \"c@m\xc3\xbcnchen.example\": the name is not "
		  "ASCII: write its xn-- form\n" },
	};

	(void)state;
	refused(rows, NITEMS(rows));
}

static void
a_password_travels_only_where_it_is_safe(void **state)
{
	static const struct row	rows[] = {
		{ REST "server \"a\" { host = \"a\" tls = \"opportunistic\" "
		  "user = \"u\" password_command = \"true\" }\n",
		  "m:6: tls: the password would travel without verified TLS: "
		  "use starttls or implicit, or set insecure_auth = true\n" },
		{ REST "mailbox \"a\" { host = \"a\" tls = \"none\" "
		  "user = \"u\" password_command = \"true\" }\n",
		  "m:6: tls: the password would travel without verified TLS: "
		  "use starttls or implicit, or set insecure_auth = true\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\" }\n",
		  "m:6: user: needs one of password_file, password_command, "
		  "token_command and credential\n" },
		{ REST "server \"a\" { host = \"a\"\n"
		  "\tpassword_command = \"true\" }\n",
		  "m:7: password_command: is of no use without user\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_command = \"true\"\n\tcredential = \"c\" }\n",
		  "m:8: credential: one secret is enough: another of "
		  "password_file, password_command, token_command and "
		  "credential is set\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tcredential = \"../x\" }\n",
		  "m:7: credential: \"../x\": is not a file name\n" },
	};
	struct config	*c;

	(void)state;
	refused(rows, NITEMS(rows));
	c = good(REST "server \"a\" { host = \"a\" tls = \"none\" "
	    "insecure_auth = true user = \"u\" password_command = \"true\" }\n");
	assert_true(config_server(c, "a")->insecure_auth);
	config_free(&c);
}

static void
secret_files_are_closed_to_others(void **state)
{
	static const struct row	rows[] = {
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"none\" }\n",
		  "m:7: password_file: none: No such file or directory\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"open\" }\n",
		  "m:7: password_file: open: open to group or others (mode "
		  "0644): make it 0600 or 0400\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"group\" }\n",
		  "m:7: password_file: group: open to group or others (mode "
		  "0620): make it 0600 or 0400\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"empty\" }\n",
		  "m:7: password_file: empty: empty\n" },
		{ REST "server \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"blank\" }\n",
		  "m:7: password_file: blank: its first line is empty\n" },
		{ REST "mailbox \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \".\" }\n",
		  "m:7: password_file: .: not a regular file\n" },
		{ REST "mailbox \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"fifo\" }\n",
		  "m:7: password_file: fifo: not a regular file\n" },
		{ REST "mailbox \"a\" { host = \"a\" user = \"u\"\n"
		  "\tpassword_file = \"large\" }\n",
		  "m:7: password_file: large: larger than 16 KiB\n" },
		{ REST "server \"a\" { host = \"a\"\n\tca_file = closed2 }\n",
		  "m:7: ca_file: closed2: No such file or directory\n" },
		{ REST "server \"a\" { host = \"a\"\n\tca_file = open }\n",
		  "m:7: ca_file: open: not a file of certificates\n" },
		{ REST "server \"a\" { host = \"a\"\n\tca_file = \".\" }\n",
		  "m:7: ca_file: .: not a file of certificates\n" },
	};
	struct config	*c;
	char		*large = mem_alloc(SECRET_MAX + 2), *path;

	(void)state;
	memset(large, 'x', SECRET_MAX + 1);
	write_file("open", "s\n", 0644);
	write_file("group", "s\n", 0620);
	write_file("empty", "", 0600);
	write_file("blank", "\ns\n", 0600);
	write_file("large", large, 0600);
	path = path_of("fifo");
	assert_int_equal(mkfifo(path, 0600), 0);
	mem_free(path);
	refused(rows, NITEMS(rows));
	write_file("closed", "s\n", 0600);
	c = good(REST "server \"a\" { host = \"a\" user = \"u\" "
	    "password_file = closed }\n");
	path = path_of("closed");
	assert_string_equal(config_server(c, "a")->secret.password_file, path);
	mem_free(path);
	mem_free(large);
	config_free(&c);
}

static void
what_another_systems_editor_leaves_is_no_mistake(void **state)
{
	struct config	*c;

	(void)state;
	c = good("\357\273\277senders = 3\r\n" REST);
	assert_int_equal(c->senders, 3);
	config_free(&c);
}

static void
a_folder_that_cannot_be_made_is_a_mistake(void **state)
{
	static const struct row	rows[] = {
		{ REST "state_directory = open\n",
		  "m:6: state_directory: open: not a directory\n" },
		{ REST "state_directory = \"no/such\"\n",
		  "m:6: state_directory: no/such: the folder that it is to be "
		  "in does not exist\n" },
		{ REST "csv_directory = \"no/such\"\n",
		  "m:6: csv_directory: no/such: the folder that it is to be "
		  "in does not exist\n" },
		{ REST "state_directory = new\ncsv_directory = \"new/a/b\"\n",
		  "m:7: csv_directory: new/a/b: the folder that it is to be "
		  "in does not exist\n" },
	};
	struct config	*c;

	(void)state;
	write_file("open", "s\n", 0644);
	refused(rows, NITEMS(rows));
	c = good(REST "state_directory = new\ncsv_directory = \"new/a\"\n");
	config_free(&c);
	c = good(REST "state_directory = new\ncsv_directory = new\n");
	config_free(&c);
}

static void
a_credential_lies_in_the_service_managers_folder(void **state)
{
	static const struct row	row = {
		REST "server \"a\" { host = \"a\" user = \"u\"\n"
		"\tcredential = \"nope\" }\n",
		"m:7: credential: nope: No such file or directory\n"
	};
	struct config	*c;
	char		 buf[64], why[128];

	(void)state;
	unsetenv("CREDENTIALS_DIRECTORY");
	c = load(REST "server \"a\" { host = \"a\" user = \"u\"\n"
	    "\tcredential = \"cred\" }\n");
	assert_non_null(c);
	assert_string_equal(said, "m:7: credential: warning: not checked: "
	    "CREDENTIALS_DIRECTORY is not set\n");
	assert_int_equal(secret_read(&config_server(c, "a")->secret, buf,
	    sizeof buf, why, sizeof why), -1);
	setenv("CREDENTIALS_DIRECTORY", dir, 1);
	/* An access list of the service manager shows as a group bit. */
	write_file("cred", "s3cret\nnot this\n", 0440);
	assert_int_equal(secret_read(&config_server(c, "a")->secret, buf,
	    sizeof buf, why, sizeof why), 0);
	assert_string_equal(buf, "s3cret");
	config_free(&c);
	refused(&row, 1);
	unsetenv("CREDENTIALS_DIRECTORY");
}

static void
a_secret_is_the_first_line_and_nothing_else(void **state)
{
	static const struct {
		const char	*text, *secret;
	} rows[] = {
		{ "a", "a" }, { "a\n", "a" }, { "a\r\n", "a" }, { "a\nb", "a" },
		{ " a b \n", " a b " }, { "1234567", "1234567" },
		{ "1234567\n", "1234567" }, { "12345678", NULL },
		{ "12345678\n", NULL },
	};
	char	buf[8], why[128], *path = path_of("secret");
	size_t	i;
	int	status;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++) {
		write_file("secret", rows[i].text, 0600);
		status = secret_read_file(path, buf, sizeof buf, why,
		    sizeof why);
		assert_int_equal(status, rows[i].secret != NULL ? 0 : -1);
		if (rows[i].secret != NULL)
			assert_string_equal(buf, rows[i].secret);
	}
	mem_free(path);
}

static void
a_nul_byte_in_a_secret_is_refused(void **state)
{
	char	 buf[64], why[128], *path = path_of("nul");
	int	 fd;

	(void)state;
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "a\0b\n", 4), 4);
	close(fd);
	assert_int_equal(secret_read_file(path, buf, sizeof buf, why,
	    sizeof why), -1);
	assert_string_equal(why, "holds a NUL byte");
	mem_free(path);
}

static void
defaults_are_those_of_the_manual(void **state)
{
	struct config		*c = good(REST "server \"t\" { host = \"a\" "
				    "tls = \"implicit\" }\n"
				    "server \"n\" { host = \"a\" "
				    "tls = \"none\" }\n");
	const struct server	*s = config_server(c, "out");
	const struct mailbox	*m = config_mailbox(c, "in");
	const struct route	*r = config_route(c, "r");
	const struct alerts	*a = config_alerts(c, "default");

	(void)state;
	assert_string_equal(c->csv_directory, "/var/lib/mailflowd/csv");
	assert_int_equal(c->keep_ms, 400 * INT64_C(86400000));
	assert_int_equal(c->senders, 16);
	assert_true(c->instance[0] != '\0');
	assert_int_equal(s->tls, TLS_STARTTLS);
	assert_int_equal(s->port, 587);
	assert_int_equal(config_server(c, "t")->port, 465);
	assert_int_equal(config_server(c, "n")->port, 25);
	assert_string_equal(s->system, "smtp.example.org");
	assert_true(s->helo[0] != '\0');
	assert_int_equal(s->dot_timeout_ms, 600000);
	assert_int_equal(m->tls, TLS_IMPLICIT);
	assert_int_equal(m->port, 993);
	assert_string_equal(m->folders[0], "INBOX");
	assert_null(m->folders[1]);
	assert_true(m->idle);
	assert_int_equal(m->expunge, EXPUNGE_AUTO);
	assert_int_equal(r->every_ms, 300000);
	assert_int_equal(r->retry.count, 4);
	assert_int_equal(backoff_wait_ms(&r->retry, 9), 900000);
	assert_int_equal(a->remind.count, 5);
	assert_int_equal(a->settle_ms, 1800000);
	config_free(&c);
}

static void
a_route_takes_from_defaults_what_it_does_not_set(void **state)
{
	struct config	*c;

	(void)state;
	c = good(AROUND "route \"r\" { from = \"a@b\" to = \"c@d\" "
	    "every = 1s }\n"
	    "defaults { server = \"out\" mailbox = \"in\" every = 7m "
	    "retry = {5ms, 1s} pending_max = 2 }\n");
	assert_string_equal(c->routes[0]->server->name, "out");
	assert_string_equal(c->routes[0]->mailbox->name, "in");
	assert_int_equal(c->routes[0]->every_ms, 1000);
	assert_int_equal(c->routes[0]->pending_max, 2);
	assert_int_equal(c->routes[0]->retry.wait_ms[0], 5);
	config_free(&c);
}

static void
limits_that_nobody_set_give_way(void **state)
{
	static const struct row	rows[] = {
		{ "defaults { warn_after = 2m\nlate_after = 90s }\n" REST,
		  "m:1: warn_after: is longer than late_after\n" },
		{ "defaults { lost_after = 2m\nlate_after = 3m }\n" REST,
		  "m:2: late_after: is longer than lost_after\n" },
		{ "defaults { lost_after = 2m\nwarn_after = 3m }\n" REST,
		  "m:2: warn_after: is longer than lost_after\n" },
		{ "defaults { every = 0 }\n" REST,
		  "m:1: every: \"0\": must be more than nothing\n" },
	};
	struct config		*c;
	const struct route	*r;

	(void)state;
	refused(rows, NITEMS(rows));
	c = good("defaults { late_after = 500ms }\n" REST);
	r = c->routes[0];
	assert_int_equal(r->warn_after_ms, 500);
	assert_int_equal(r->late_after_ms, 500);
	assert_int_equal(r->lost_after_ms, 86400000);
	config_free(&c);
	c = good("defaults { warn_after = 2d }\n" REST);
	r = c->routes[0];
	assert_int_equal(r->late_after_ms, 2 * 86400000);
	assert_int_equal(r->lost_after_ms, 2 * 86400000);
	config_free(&c);
	c = good("defaults { lost_after = 3s }\n" REST);
	r = c->routes[0];
	assert_int_equal(r->warn_after_ms, 3000);
	assert_int_equal(r->late_after_ms, 3000);
	config_free(&c);
}

static void
alerts_do_not_depend_on_what_they_are_about(void **state)
{
	static const struct row	rows[] = {
		{ SERVER MAILBOX ROUTE "alerts \"default\" { from = \"a@b\" "
		  "to = {\"c@d\"}\n\tservers = {\"out\"} }\n",
		  "m:5: servers: \"out\" is probed itself: alerts about it "
		  "would be lost with it (or set allow_probed = true)\n" },
		/* The same host by another name. */
		{ SERVER MAILBOX ROUTE "alerts \"default\" { from = \"a@b\" "
		  "to = {\"c@d\"}\n\tservers = {\"same\"} }\n"
		  "server \"same\" { host = \"SMTP.example.org\" port = 25 }\n",
		  "m:5: servers: \"same\" is probed itself: alerts about it "
		  "would be lost with it (or set allow_probed = true)\n" },
		/* Another port of it, and the routes' system has a name. */
		{ "server \"out\" { host = \"smtp.example.org\" system = \"s\" }\n"
		  MAILBOX ROUTE "alerts \"default\" { from = \"a@b\" "
		  "to = {\"c@d\"}\n\tservers = {\"same\"} }\n"
		  "server \"same\" { host = \"smtp.example.org\" port = 26 }\n",
		  "m:5: servers: \"same\" is probed itself: alerts about it "
		  "would be lost with it (or set allow_probed = true)\n" },
		/* By MX: the same section, and another one to that domain. */
		{ "server \"out\" { mx = \"first\" }\n" MAILBOX ROUTE
		  "alerts \"default\" { from = \"a@b\" "
		  "to = {\"c@d\"}\n\tservers = {\"out\"} }\n",
		  "m:5: servers: \"out\" is probed itself: alerts about it "
		  "would be lost with it (or set allow_probed = true)\n" },
		{ "server \"out\" { mx = \"first\" }\n" MAILBOX ROUTE
		  "alerts \"default\" { from = \"a@b\" to = {\"c@d\", "
		  "\"a@EXAMPLE.com\"}\n\tservers = {\"too\"} }\n"
		  "server \"too\" { mx = \"each\" }\n",
		  "m:5: servers: \"too\" is probed itself: alerts about it "
		  "would be lost with it (or set allow_probed = true)\n" },
	};
	static const char	*const fine[] = {
		("server \"o\" { host = \"smtp.example.org\" port = 26 "
		"system = \"another\" }\n"),
		"server \"o\" { mx = \"first\" }\n",
		"server \"o\" { mx = \"first\" domain = \"example.edu\" }\n",
	};
	struct config	*c;
	char		*text;

	(void)state;
	refused(rows, NITEMS(rows));
	c = good(SERVER MAILBOX ROUTE "alerts \"default\" { from = \"a@b\" "
	    "to = {\"c@d\"} servers = {\"out\"} allow_probed = true }\n");
	config_free(&c);
	for (size_t i = 0; i < NITEMS(fine); i++) {
		text = mem_printf("%s%s", SERVER MAILBOX ROUTE "alerts "
		    "\"default\" { from = \"a@b\" to = {\"c@d\"} "
		    "servers = {\"o\"} }\n", fine[i]);
		c = good(text);
		config_free(&c);
		mem_free(text);
	}
}

static void
a_window_of_no_route_is_warned_of(void **state)
{
	struct config	*c;

	(void)state;
	c = load(REST "window \"w\" { from = \"22:00\" to = \"23:00\"\n"
	    "\troutes = {\"r*\", \"x*\", \"R\"} }\n");
	assert_non_null(c);
	assert_string_equal(said,
	    "m:7: routes: warning: no route has a name like \"x*\"\n"
	    "m:7: routes: warning: no route has a name like \"R\"\n");
	config_free(&c);
}

static void
alerts_into_a_probed_domain_are_warned_of(void **state)
{
	static const char	warning[] = "m:5: to: warning: the domain of "
				    "every recipient is probed itself: alerts "
				    "may be lost with it; add one elsewhere, "
				    "or a command\n";
	struct config		*c;

	(void)state;
	c = load(SERVER MAILBOX RELAY ROUTE "alerts \"default\" { "
	    "from = \"a@b\" servers = {\"relay\"} to = {\"x@example.com\", "
	    "\"y@EXAMPLE.com\"} }\n");
	assert_string_equal(said, warning);
	config_free(&c);
	c = good(SERVER MAILBOX RELAY ROUTE "alerts \"default\" { "
	    "from = \"a@b\" servers = {\"relay\"} to = {\"x@example.com\", "
	    "\"y@example.net\"} }\n");
	config_free(&c);
	c = good(SERVER MAILBOX RELAY ROUTE "alerts \"default\" { "
	    "from = \"a@b\" servers = {\"relay\"} to = {\"x@example.com\"} "
	    "command = \"true\" }\n");
	config_free(&c);
	c = good(SERVER MAILBOX ROUTE "alerts \"a\" { command = \"true\" }\n");
	assert_ptr_equal(c->routes[0]->alerts, c->alerts[0]);
	config_free(&c);
}

static void
a_route_without_alerts_is_warned_of(void **state)
{
	struct config	*c;

	(void)state;
	c = load(SERVER MAILBOX ROUTE);
	assert_string_equal(said, "m:3: alerts: warning: there is no alerts "
	    "section: nobody is told anything\n");
	assert_null(c->routes[0]->alerts);
	config_free(&c);
	c = load(SERVER MAILBOX ROUTE "alerts \"a\" { command = \"true\" }\n"
	    "alerts \"b\" { command = \"true\" }\n");
	assert_string_equal(said, "m:3: alerts: warning: there is no alerts "
	    "section \"default\": nobody is told of this route\n");
	config_free(&c);
	c = good(SERVER MAILBOX "route \"r\" { server = \"out\" "
	    "from = \"p@example.org\" to = \"c@example.com\" mailbox = \"in\" "
	    "alerts = \"\" }\n");
	assert_null(c->routes[0]->alerts);
	config_free(&c);
}

static void
a_comment_right_behind_a_value_is_warned_of(void **state)
{
	struct config	*c;

	(void)state;
	c = load("instance = probe#1\n" REST);
	assert_non_null(c);
	assert_string_equal(said, "m:1: #: warning: a comment begins right "
	    "behind a value: put the value in quotes if the # belongs to "
	    "it\n");
	assert_string_equal(c->instance, "probe");
	config_free(&c);
}

static void
what_is_not_built_yet_is_said_so(void **state)
{
	struct config		*c;

	(void)state;
	c = load("http = \"127.0.0.1:9000\"\n" REST);
	assert_null(c);
	assert_int_equal(count_lines(said), 1);
	assert_string_equal(said, "m:1: http: not available yet\n");
	/* Their defaults may be written down, in any way. */
	c = good("http = \"\"\n" SERVER RELAY ALERTS ROUTE
	    "mailbox \"in\" { host = \"a\" user = \"u\" "
	    "password_command = \"true\" authserv_id = \"\" }\n"
	    "defaults { echo = \"none\" bounces = \"\" }\n");
	config_free(&c);
}

static void
an_include_is_relative_to_its_file_and_sorted(void **state)
{
	struct config	*c;
	char		*path = path_of("conf.d"), *deep = path_of("conf.d/x");

	(void)state;
	mkdir(path, 0700);
	mkdir(deep, 0700);
	write_file("conf.d/b.conf", MAILBOX "include = \"x/*.conf\"\n", 0644);
	write_file("conf.d/a.conf", SERVER RELAY, 0644);
	write_file("conf.d/x/c.conf", "\n\n" ALERTS ROUTE, 0644);
	c = good("include = {\"conf.d/*.conf\", \"none.d/*.conf\"}\n");
	assert_string_equal(c->routes[0]->server->name, "out");
	config_free(&c);
	/* Mistakes are in the order of the files and name them. */
	write_file("conf.d/a.conf", SERVER RELAY "\nsenders = x\n", 0644);
	write_file("conf.d/x/c.conf", ALERTS ROUTE SERVER
	    "password_file = \"x\"\n", 0644);
	assert_null(load("spacing = 5x\ninclude = {\"conf.d/*.conf\"}\n"
	    "csv_keep = 5x\n"));
	assert_string_equal(said,
	    "m:1: spacing: \"5x\": a span is one whole number and ms, s, m, h "
	    "or d\n"
	    "m:3: csv_keep: \"5x\": a span is one whole number and ms, s, m, "
	    "h or d\n"
	    "conf.d/a.conf:4: senders: \"x\": does not begin with a number\n"
	    "conf.d/x/c.conf:3: server: there is one named out already, in "
	    "conf.d/a.conf, line 1\n"
	    "conf.d/x/c.conf:4: password_file: no such option (outside of "
	    "sections); it belongs in server\n");
	/* Outside of sections all files are one. */
	write_file("conf.d/a.conf", SERVER RELAY "senders = 4\n", 0644);
	write_file("conf.d/x/c.conf", ALERTS ROUTE, 0644);
	assert_null(load("senders = 5\ninclude = \"conf.d/*.conf\"\n"));
	assert_string_equal(said, "conf.d/a.conf:3: senders: given twice; "
	    "first in m, line 1\n");
	mem_free(path);
	mem_free(deep);
}

static void
an_include_that_fails_is_one_mistake(void **state)
{
	static const struct row	rows[] = {
		{ "include = {\"none.conf\"}\n" ROUTE,
		  "m:1: include: \"none.conf\": No such file or directory\n" },
		{ "include = \"m\"\n" REST,
		  "m:1: include: \"m\": is read already\n" },
		{ "include = \"./m\"\n" REST,
		  "m:1: include: \"./m\": is read already\n" },
		{ "include = \".\"\n" REST,
		  "m:1: include: \".\": is a directory\n" },
		{ "include(\"x.conf\")\n",
		  "m:1: include: a = is missing behind it\n" },
		{ "include = \"\n" ROUTE, "m:1: include: the closing quote is "
		  "missing on this line\n" },
		{ "inclde = \"x\"\n" ROUTE, "m:1: inclde: no such option "
		  "(outside of sections); include is meant?\n" },
		{ "include = \"deep1\"\n" REST,
		  "deep8:1: include: \"deep9\": is included by too many files, "
		  "one inside the other\n" },
		{ "include = \"nul\"\n" REST, "m:1: include: \"nul\": has a "
		  "NUL byte: it is not text\n" },
	};
	char	 name[32], text[64];
	int	 i;

	(void)state;
	for (i = 1; i <= 9; i++) {
		snprintf(name, sizeof name, "deep%d", i);
		snprintf(text, sizeof text, "include = \"deep%d\"\n", i + 1);
		write_file(name, i < 9 ? text : "", 0644);
	}
	refused(rows, NITEMS(rows));
	assert_null(load_file("no-such-file"));
	assert_string_equal(said,
	    "no-such-file:1: file: No such file or directory\n");
}

static char *
printed(const struct config *c)
{
	char	*text = NULL;
	size_t	 size;
	FILE	*f = open_memstream(&text, &size);

	config_print(c, f);
	fclose(f);
	return (text);
}

static void
what_is_printed_reads_as_the_same(void **state)
{
	static const char	odd[] =
	    "state_directory = \"state\" keep_days = 3 senders = 7\n"
	    "resolver = \"[::1]:53\" log = journal\n"
	    "server \"out\" { host = \"2001:db8::1\" tls = \"implicit\"\n"
	    "	user = 'q\"u\\\\o$t{e}'\n"
	    "	password_command = \"echo \\${x} \\\"a\\\\\\\\b\\\"\"\n"
	    "	family = \"ipv6\" source_address = \"2001:db8::2\" }\n"
	    "mailbox \"in\" { host = \"a\" user = \"\xc3\xbc\"\n"
	    "	password_command = \"x\" folders = {\"A b\", \"\xc3\x84\"}\n"
	    "	idle = no expunge = \"uid\" poll = 1500ms }\n"
	    "alerts \"a\" { command = \"x\" remind = 90s }\n"
	    "alerts \"b\" { command = \"y\" }\n"
	    "defaults { size = 10k retry = {1ms, 2s} }\n"
	    "route \"r1\" { server = \"out\" from = \"a@b\" to = \"c+d@e\"\n"
	    "	mailbox = \"in\" alerts = \"b\" }\n"
	    "route \"r2\" { server = \"out\" from = '\"a b\"@c' to = \"c@e\"\n"
	    "	mailbox = \"in\" alerts = \"\" late_after = 5s }\n";
	const char	*const texts[] = { REST, odd };
	struct config	*c;
	char		*first, *second;
	size_t		 i;

	(void)state;
	for (i = 0; i < NITEMS(texts); i++) {
		c = good(texts[i]);
		first = printed(c);
		config_free(&c);
		c = good(first);
		second = printed(c);
		config_free(&c);
		assert_string_equal(first, second);
		free(first);
		free(second);
	}
	c = good(odd);
	assert_string_equal(c->servers[0]->user, "q\"u\\o$t{e}");
	assert_string_equal(c->servers[0]->secret.password_command,
	    "echo ${x} \"a\\\\b\"");
	config_free(&c);
}

static void
no_secret_is_ever_printed(void **state)
{
	struct config	*c;
	char		*text;

	(void)state;
	write_file("closed", "hunter2\n", 0600);
	c = good(REST "server \"a\" { host = \"a\" user = \"u\" "
	    "password_file = \"closed\" }\n");
	text = printed(c);
	assert_non_null(strstr(text, "/closed\""));
	assert_null(strstr(text, "hunter2"));
	free(text);
	config_free(&c);
}

static void
the_sample_has_no_mistakes(void **state)
{
	const char	*srcdir = getenv("srcdir");
	struct config	*c;
	char		*path = mem_printf("%s/etc/mailflowd.conf.sample",
			    srcdir != NULL ? srcdir : ".");

	(void)state;
	said[0] = '\0';
	c = config_load(path, hear, NULL);
	if (c == NULL || said[0] != '\0')
		fail_msg("%s", said);
	assert_int_equal(config_route(c, "out")->every_ms, 900000);
	config_free(&c);
	mem_free(path);
}

static void
ten_thousand_routes_load_at_once(void **state)
{
	struct config	*c;
	char		*text = NULL, name[32];
	size_t		 size;
	FILE		*f = open_memstream(&text, &size);
	int		 i;

	(void)state;
	fputs(AROUND, f);
	for (i = 0; i < 10000; i++)
		fprintf(f, "mailbox \"m%d\" { host = \"imap.example.com\" "
		    "user = \"u%d\" password_command = \"true\" }\n"
		    "route \"r%d\" { server = \"out\" from = \"a@b\" "
		    "to = \"c%d@d\" mailbox = \"m%d\" }\n", i, i, i, i, i);
	fclose(f);
	c = good(text);
	for (i = 0; i < 10000; i += 97) {
		snprintf(name, sizeof name, "r%d", i);
		assert_ptr_equal(config_route(c, name), c->routes[i]);
		assert_string_equal(c->routes[i]->mailbox->name + 1, name + 1);
	}
	config_free(&c);
	free(text);
}

static void
garbage_is_bounded(void **state)
{
	char	*text = NULL;
	size_t	 size;
	FILE	*f = open_memstream(&text, &size);
	int	 i;

	(void)state;
	for (i = 0; i < 5000; i++)
		fputs("x\n", f);
	fclose(f);
	assert_null(load(text));
	assert_int_equal(count_lines(said), 1001);
	assert_non_null(strstr(said, "there may be more mistakes\n"));
	free(text);
}

static int
begin(void **state)
{
	(void)state;
	return (mkdtemp(dir) == NULL ? -1 : 0);
}

static int
end(void **state)
{
	char	*command = mem_printf("rm -rf '%s'", dir);
	int	 status = system(command);

	(void)state;
	mem_free(command);
	return (status);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(
		    five_mistakes_of_any_mix_are_five_lines_in_file_order),
		cmocka_unit_test(what_libconfuse_would_swallow_is_a_mistake),
		cmocka_unit_test(twice_is_a_mistake),
		cmocka_unit_test(
		    an_unknown_word_is_refused_with_the_word_that_was_meant),
		cmocka_unit_test(what_must_be_set_is_asked_for),
		cmocka_unit_test(a_mistake_has_no_follow_ups),
		cmocka_unit_test(references_lead_to_sections),
		cmocka_unit_test(addresses_and_text_cannot_inject_lines),
		cmocka_unit_test(an_address_that_needs_smtputf8_is_refused_plainly),
		cmocka_unit_test(a_password_travels_only_where_it_is_safe),
		cmocka_unit_test(secret_files_are_closed_to_others),
		cmocka_unit_test(
		    what_another_systems_editor_leaves_is_no_mistake),
		cmocka_unit_test(
		    a_credential_lies_in_the_service_managers_folder),
		cmocka_unit_test(a_secret_is_the_first_line_and_nothing_else),
		cmocka_unit_test(a_nul_byte_in_a_secret_is_refused),
		cmocka_unit_test(defaults_are_those_of_the_manual),
		cmocka_unit_test(
		    a_route_takes_from_defaults_what_it_does_not_set),
		cmocka_unit_test(limits_that_nobody_set_give_way),
		cmocka_unit_test(a_folder_that_cannot_be_made_is_a_mistake),
		cmocka_unit_test(a_window_of_no_route_is_warned_of),
		cmocka_unit_test(alerts_do_not_depend_on_what_they_are_about),
		cmocka_unit_test(alerts_into_a_probed_domain_are_warned_of),
		cmocka_unit_test(a_route_without_alerts_is_warned_of),
		cmocka_unit_test(a_comment_right_behind_a_value_is_warned_of),
		cmocka_unit_test(what_is_not_built_yet_is_said_so),
		cmocka_unit_test(an_include_is_relative_to_its_file_and_sorted),
		cmocka_unit_test(an_include_that_fails_is_one_mistake),
		cmocka_unit_test(what_is_printed_reads_as_the_same),
		cmocka_unit_test(no_secret_is_ever_printed),
		cmocka_unit_test(the_sample_has_no_mistakes),
		cmocka_unit_test(ten_thousand_routes_load_at_once),
		cmocka_unit_test(garbage_is_bounded),
	};

	return (cmocka_run_group_tests(tests, begin, end));
}
