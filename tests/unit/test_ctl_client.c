#include "monitor/ctl_client.h"

#include <stdarg.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/ctl_path.h"
#include "monitor/mem.h"

static char	folder[64];
static char	path[96];

static int
setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/test-ctl-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return (-1);
	snprintf(path, sizeof path, "%s/file", folder);
	return (0);
}

static int
teardown(void **state)
{
	(void)state;
	(void)unlink(path);
	return (rmdir(folder));
}

/* A daemon that takes one request. */

static int
listen_here(void)
{
	struct sockaddr_un	sa = { .sun_family = AF_UNIX };
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sa.sun_path, sizeof sa.sun_path, "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 1), 0);
	return (fd);
}

/* In the child: reads a line, writes the answer in bits, waits for its end. */
static void
serve(int listener, const char *answer, size_t bit)
{
	char	buf[512];
	int	fd = accept(listener, NULL, NULL);
	ssize_t	n = read(fd, buf, sizeof buf);
	size_t	len = strlen(answer), part;

	if (n <= 0 || buf[n - 1] != '\n')
		_exit(1);
	while (len > 0) {
		part = len < bit ? len : bit;
		if (write(fd, answer, part) != (ssize_t)part)
			_exit(1);
		answer += part;
		len -= part;
	}
	if (bit != 0)		/* else it closes at once */
		(void)!read(fd, buf, sizeof buf);
	_exit(0);
}

static void
ask(const char *answer, size_t bit, int64_t timeout_ms,
    struct client_answer *a)
{
	int	 listener = listen_here(), status;
	json_t	*request = json_pack("{ss}", "command", "status");
	pid_t	 child = fork();

	assert_true(child >= 0);
	if (child == 0)
		serve(listener, answer, bit);
	close(listener);
	client_ask(path, request, timeout_ms, a);
	json_decref(request);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
an_answer_may_come_in_pieces(void **state)
{
	struct client_answer	a;

	(void)state;
	ask("{\"ok\": true, \"instance\": \"probe1\"}\n", 3, 10000, &a);
	assert_int_equal(a.result, CLIENT_ANSWER);
	assert_string_equal(json_string_value(json_object_get(a.object,
	    "instance")), "probe1");
	assert_string_equal(a.why, "");
	client_answer_free(&a);
}

static void
a_large_answer_comes_whole(void **state)
{
	struct client_answer	 a;
	json_t			*big = json_pack("{sbs[]}", "ok", 1, "routes");
	char			*text, *line;

	(void)state;
	for (int i = 0; i < 20000; i++)
		json_array_append_new(json_object_get(big, "routes"),
		    json_string("a route with a name of some length"));
	text = json_dumps(big, JSON_COMPACT);
	line = mem_printf("%s\n", text);
	ask(line, 100000, 10000, &a);
	assert_int_equal(a.result, CLIENT_ANSWER);
	assert_true(json_equal(a.object, big));
	client_answer_free(&a);
	mem_free(line);
	free(text);
	json_decref(big);
}

static void
a_refusal_is_told_in_the_daemon_s_words(void **state)
{
	struct client_answer	a;

	(void)state;
	ask("{\"ok\": false, \"error\": \"no such route\"}\n", 100, 10000, &a);
	assert_int_equal(a.result, CLIENT_REFUSED);
	assert_null(a.object);
	assert_string_equal(a.why, "no such route");
	client_answer_free(&a);
}

static void
an_answer_that_does_not_come_is_a_timeout(void **state)
{
	struct client_answer	a;

	(void)state;
	ask("{\"ok\": true", 100, 1000, &a);
	assert_int_equal(a.result, CLIENT_TIMEOUT);
	assert_null(a.object);
	assert_string_equal(a.why, "mailflowd gave no answer within 1 s");
	client_answer_free(&a);
}

static void
a_daemon_that_hangs_up_or_babbles_is_unreachable(void **state)
{
	struct client_answer	a;

	(void)state;
	ask("", 0, 10000, &a);
	assert_int_equal(a.result, CLIENT_UNREACHABLE);
	assert_non_null(strstr(a.why, "closed the connection"));
	client_answer_free(&a);
	(void)unlink(path);
	ask("220 mx.example ESMTP\n", 100, 10000, &a);
	assert_int_equal(a.result, CLIENT_UNREACHABLE);
	assert_non_null(strstr(a.why, "not JSON"));
	client_answer_free(&a);
}

static void
a_daemon_that_does_not_run_is_said_to_by_the_socket_s_path(void **state)
{
	struct client_answer	 a;
	json_t			*request = json_object();
	char			 expected[256];

	(void)state;
	client_ask(path, request, 1000, &a);
	assert_int_equal(a.result, CLIENT_UNREACHABLE);
	snprintf(expected, sizeof expected, "mailflowd does not answer at %s: "
	    "%s (is mailflowd running?)", path, strerror(ENOENT));
	assert_string_equal(a.why, expected);
	client_answer_free(&a);
	close(listen_here());		/* a socket nobody listens on */
	client_ask(path, request, 1000, &a);
	assert_int_equal(a.result, CLIENT_UNREACHABLE);
	assert_non_null(strstr(a.why, "is mailflowd running?"));
	client_answer_free(&a);
	json_decref(request);
}

static void
a_path_too_long_for_a_socket_is_refused_not_cut(void **state)
{
	struct client_answer	 a;
	json_t			*request = json_object();
	char			 longer[200];

	(void)state;
	memset(longer, 'x', sizeof longer - 1);
	longer[0] = '/';
	longer[sizeof longer - 1] = '\0';
	client_ask(longer, request, 1000, &a);
	assert_int_equal(a.result, CLIENT_UNREACHABLE);
	assert_non_null(strstr(a.why, "too long"));
	client_answer_free(&a);
	json_decref(request);
}

/* Where the socket is. */

static void
is_found(const char *configuration, const char *expected)
{
	FILE	*f = fopen(path, "w");
	char	*found;

	assert_non_null(f);
	fputs(configuration, f);
	fclose(f);
	found = ctl_path(path);
	if (strcmp(found, expected) != 0)
		fail_msg("%s in %s", found, configuration);
	mem_free(found);
}

static void
the_socket_is_found_in_a_configuration_that_is_wrong(void **state)
{
	char	relative[128];

	(void)state;
	is_found("control = \"/run/x/control\"\n", "/run/x/control");
	is_found("server \"a\" {\n host = \"h\"\n"
	    " password_file = \"/nowhere/secret\"\n}\n"
	    "control = \"/run/y\"\n", "/run/y");
	is_found("nonsense = 5\nroute {\n}\ncontrol = /run/z # where\n",
	    "/run/z");
	is_found("server \"a\" {\n control = \"/run/not-this\"\n}\n",
	    "/run/mailflowd/control");
	is_found("# control = \"/run/nor-this\"\n", "/run/mailflowd/control");
	is_found("", "/run/mailflowd/control");
	is_found("control = \"\"\n", "/run/mailflowd/control");
	snprintf(relative, sizeof relative, "%s/here", folder);
	is_found("control = \"here\"\n", relative);
}

static void
the_socket_is_found_in_what_a_wrong_configuration_includes(void **state)
{
	char	relative[128], more[160];
	FILE	*f;

	(void)state;
	snprintf(more, sizeof more, "%s/more", folder);
	f = fopen(more, "w");
	assert_non_null(f);
	fputs("control = \"there\"\n", f);
	fclose(f);
	snprintf(relative, sizeof relative, "%s/there", folder);
	is_found("include = {\"more\"}\nserver \"a\" { password_file = "
	    "\"/nowhere\" }\n", relative);
	unlink(more);
	is_found("include = {\"more\"}\n", "/run/mailflowd/control");
}

static void
the_socket_is_the_standard_one_without_a_configuration(void **state)
{
	char	*found = ctl_path(path);

	(void)state;
	assert_string_equal(found, "/run/mailflowd/control");
	mem_free(found);
	found = ctl_path(folder);	/* not a file at all */
	assert_string_equal(found, "/run/mailflowd/control");
	mem_free(found);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		TEST(an_answer_may_come_in_pieces),
		TEST(a_large_answer_comes_whole),
		TEST(a_refusal_is_told_in_the_daemon_s_words),
		TEST(an_answer_that_does_not_come_is_a_timeout),
		TEST(a_daemon_that_hangs_up_or_babbles_is_unreachable),
		TEST(a_daemon_that_does_not_run_is_said_to_by_the_socket_s_path),
		TEST(a_path_too_long_for_a_socket_is_refused_not_cut),
		TEST(the_socket_is_found_in_a_configuration_that_is_wrong),
		TEST(the_socket_is_found_in_what_a_wrong_configuration_includes),
		TEST(the_socket_is_the_standard_one_without_a_configuration),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
