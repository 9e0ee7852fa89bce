#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/ctl_explain.h"
#include "monitor/explain.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static void
check_line(const char *in, size_t len, const char *start)
{
	char	out[EXPLAIN_LINE];
	size_t	n, tabs = 0;

	n = explain_tsv_line(in, len, out, sizeof out);
	assert_int_equal(n, strlen(out));
	if (strncmp(out, start, strlen(start)) != 0)
		fail_msg("%s: %s", in, out);
	assert_null(strchr(out, '\n'));
	for (size_t i = 0; i < n; i++)
		tabs += out[i] == '\t';
	assert_int_equal(tabs, 4);
	assert_true(out[n - 1] != '\t');
}

static void
a_line_in_is_a_line_out(void **state)
{
	static const char *const	lines[][2] = {
		{ "-\t452 4.3.1 Insufficient system storage",
		    "system-full\ttemporary\t452\t4.3.1\t" },
		{ "mail\t452 Space shortage, please try later",
		    "system-full\ttemporary\t452\t-\t" },
		{ "dot\t550 5.3.1 Mail system full",
		    "system-full\tpermanent\t550\t5.3.1\t" },
		{ "-\t452-4.3.1 a\\n452 4.3.1 b",
		    "system-full\ttemporary\t452\t4.3.1\t" },
		{ "-\t\\r\\n550 5.1.1 no such user",
		    "no-such-user\tpermanent\t550\t5.1.1\t" },
		{ "-\t4.3.1 full", "system-full\ttemporary\t-\t4.3.1\t" },
		{ "-\t220 2.7.0 Ready\\n", "other\tsuccess\t220\t2.7.0\t" },
		{ "dot\t250 2.0.0 Ok", "accepted\tsuccess\t250\t2.0.0\t" },
		{ "dot\t", "uncertain\ttemporary\t-\t-\t" },
		{ "", "other\ttemporary\t-\t-\t" },
		{ "-", "other\ttemporary\t-\t-\t" },
		{ "-\t", "other\ttemporary\t-\t-\t" },
		{ "\t452 4.3.1 x", "system-full\ttemporary\t452\t4.3.1\t" },
		{ "DOT\t250 2.0.0 Ok", "accepted\tsuccess\t250\t2.0.0\t" },
		{ "nonsense\t452 4.3.1 x",
		    "system-full\ttemporary\t452\t4.3.1\t" },
		{ "452 4.3.1 no stage",
		    "system-full\ttemporary\t452\t4.3.1\t" },
		{ "-\t550 5.7.1 DOMAIN\\user\\\\x\\",
		    "policy\tpermanent\t550\t5.7.1\t" },
		{ "-\t550\t5.1.1\ttabs",
		    "no-such-user\tpermanent\t550\t5.1.1\t" },
		{ "-\t452 4.3.1 x\r", "system-full\ttemporary\t452\t4.3.1\t" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(lines); i++)
		check_line(lines[i][0], strlen(lines[i][0]), lines[i][1]);
}

static void
nul_bytes_and_long_lines_are_one_line_too(void **state)
{
	enum { LENGTH = 200000 };
	static const char	nul[] = "-\0\t452 4.3.1 a\0b";
	static const char	inside[] = "-\t452 4.3.1 a\0b\0";
	char			*big = mem_alloc(LENGTH);

	(void)state;
	check_line(nul, sizeof nul - 1, "system-full\ttemporary\t452\t4.3.1\t");
	check_line(inside, sizeof inside - 1,
	    "system-full\ttemporary\t452\t4.3.1\t");
	memset(big, 'x', LENGTH);
	check_line(big, LENGTH, "other\ttemporary\t-\t-\t");
	memcpy(big, "mail\t452 4.3.1 ", 15);
	check_line(big, LENGTH, "system-full\ttemporary\t452\t4.3.1\t");
	memset(big, '\\', LENGTH);
	check_line(big, LENGTH, "other\ttemporary\t-\t-\t");
	mem_free(big);
}

static void
a_small_buffer_is_never_overrun(void **state)
{
	char	out[64];

	(void)state;
	for (size_t size = 0; size <= sizeof out; size++) {
		memset(out, '#', sizeof out);
		explain_tsv_line("-\t452 4.3.1 x", 13, out, size);
		for (size_t i = size; i < sizeof out; i++)
			assert_int_equal(out[i], '#');
	}
	assert_false(explain_text(STAGE_MAIL, "452 4.3.1 x", out, sizeof out));
	assert_true(strlen(out) < sizeof out);
}

static size_t
count_lines(const char *text, size_t *widest_r)
{
	size_t	lines = 0, n;

	*widest_r = 0;
	for (; *text != '\0'; text += n + (text[n] == '\n'), lines++) {
		n = strcspn(text, "\n");
		if (n > *widest_r)
			*widest_r = n;
	}
	return (lines);
}

static void
a_full_system_is_explained_on_one_screen(void **state)
{
	static const char *const	wanted[] = {
		"452 4.3.1 Insufficient system storage", "system-full",
		"temporary", "not one mailbox", "4 to 5 days",
		"1.5 x message_size_limit", "queue and spool partitions",
		"back pressure", "backups", "loop", "spam", "5.3.1", "5.2.2",
		"4.2.2", "4.4.5",
	};
	char				text[EXPLAIN_TEXT];
	size_t				widest;

	(void)state;
	assert_true(explain_text(STAGE_MAIL,
	    "452 4.3.1 Insufficient system storage", text, sizeof text));
	for (size_t i = 0; i < NITEMS(wanted); i++)
		if (strstr(text, wanted[i]) == NULL)
			fail_msg("%s is missing in\n%s", wanted[i], text);
	assert_true(count_lines(text, &widest) < 24);
	assert_true(widest <= 80);
	assert_null(strstr(text, "disk is full"));
}

static void
a_final_refusal_says_that_retrying_does_not_help(void **state)
{
	char	text[EXPLAIN_TEXT];

	(void)state;
	assert_true(explain_text(STAGE_NONE, "550 5.3.1 Mail system full",
	    text, sizeof text));
	assert_non_null(strstr(text, "permanent"));
	assert_non_null(strstr(text, "Retrying at once does not help"));
	assert_non_null(strstr(text, "never stored"));
	assert_non_null(strstr(text, "tell the recipient another way"));
}

static void
codes_that_disagree_are_pointed_out(void **state)
{
	char	text[EXPLAIN_TEXT];

	(void)state;
	explain_text(STAGE_NONE, "552 4.3.1 x", text, sizeof text);
	assert_non_null(strstr(text, "disagree"));
	explain_text(STAGE_NONE, "452 4.3.1 x", text, sizeof text);
	assert_null(strstr(text, "disagree"));
	explain_text(STAGE_NONE, "hello", text, sizeof text);
	assert_non_null(strstr(text, "No reply code"));
}

static size_t
longest_word(const char *s)
{
	size_t	longest = 0, n;

	for (; *s != '\0'; s += n + (s[n] == ' ')) {
		n = strcspn(s, " ");
		if (n > longest)
			longest = n;
	}
	return (longest);
}

/* But for words that are too long by themselves: those stay whole. */
static void
no_explanation_is_wider_than_a_screen(void **state)
{
	const char	*srcdir = getenv("srcdir");
	char		 name[512], text[EXPLAIN_TEXT], *line = NULL;
	size_t		 size = 0, widest, rows = 0;
	FILE		*f;

	(void)state;
	snprintf(name, sizeof name, "%s/tests/unit/replies.tsv",
	    srcdir != NULL ? srcdir : ".");
	f = fopen(name, "r");
	assert_non_null(f);
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\t")] = '\0';
		assert_true(explain_text(STAGE_NONE, line, text, sizeof text));
		assert_true(count_lines(text, &widest) <= 40);
		if (widest > 80 && longest_word(line) <= 72)
			fail_msg("%zu columns:\n%s", widest, text);
		rows++;
	}
	free(line);
	fclose(f);
	assert_true(rows > 170);
}

#define REPORT(fields)							\
	"From: MAILER-DAEMON@example.net\nSubject: Undelivered\n"	\
	"Content-Type: message/delivery-status\n\n"			\
	"Reporting-MTA: dns; relay.example.net\n\n"			\
	"Final-Recipient: rfc822; box@example.net\n" fields

/* Runs the subcommand as the shell would; its exit code, output in text. */
static int
run(char **argv, const char *input, char *text, size_t size)
{
	FILE	*in = tmpfile(), *out = tmpfile();
	int	 argc = 0, status;
	pid_t	 pid;
	size_t	 n;

	assert_non_null(in);
	assert_non_null(out);
	fputs(input, in);
	rewind(in);
	while (argv[argc] != NULL)
		argc++;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fileno(in), STDIN_FILENO);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		_exit(explain_main(argc, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rewind(out);
	n = fread(text, 1, size - 1, out);
	text[n] = '\0';
	fclose(in);
	fclose(out);
	assert_true(WIFEXITED(status));
	return (WEXITSTATUS(status));
}

#define ARGV(...)	((char *[]){ strdupa("explain"), __VA_ARGS__, NULL })
#define ARG(s)		strdupa(s)

static void
the_command_explains_words_and_lines(void **state)
{
	char	text[EXPLAIN_TEXT], whole[EXPLAIN_TEXT];

	(void)state;
	assert_int_equal(run(ARGV(ARG("452"), ARG("4.3.1"), ARG("full")), "",
	    text, sizeof text), 0);
	assert_int_equal(run(ARGV(ARG("452 4.3.1 full")), "", whole,
	    sizeof whole), 0);
	assert_string_equal(text, whole);
	assert_non_null(strstr(text, "system-full"));
	assert_int_equal(run(ARGV(ARG("--stage"), ARG("dot"), ARG("250 ok")),
	    "", text, sizeof text), 0);
	assert_non_null(strstr(text, "accepted"));
	assert_int_equal(run(ARGV(ARG("--tsv")),
	    "-\t452 4.3.1 x\n\n-\t550 5.1.1 y", text, sizeof text), 0);
	assert_memory_equal(text, "system-full\ttemporary\t452\t4.3.1\t", 32);
	assert_non_null(strstr(text, "\nother\ttemporary\t-\t-\t"));
	assert_non_null(strstr(text, 
	    "\nno-such-user\tpermanent\t550\t5.1.1\t"));
	assert_int_equal(run(ARGV(ARG("--tsv")), "", text, sizeof text), 0);
	assert_string_equal(text, "");
}

static void
the_command_answers_every_overlong_line_once(void **state)
{
	enum { LENGTH = 300000, LINES = 3 };
	char	*input = mem_alloc(LINES * LENGTH + 1), text[4096];
	size_t	 lines = 0;

	(void)state;
	memset(input, 'x', LINES * LENGTH);
	for (size_t i = 0; i < LINES; i++) {
		memcpy(input + i * LENGTH, "-\t452 4.3.1 ", 12);
		input[(i + 1) * LENGTH - 1] = '\n';
	}
	assert_int_equal(run(ARGV(ARG("--tsv")), input, text, sizeof text), 0);
	for (char *s = text; (s = strchr(s, '\n')) != NULL; s++)
		lines++;
	assert_int_equal(lines, LINES);
	mem_free(input);
}

static void
the_command_says_which_lines_have_a_fault_and_goes_on(void **state)
{
	static const struct {
		const char	*line;
		bool		 fault;
	}	rows[] = {
		{ "-\t452 x", false }, { "DOT\t452 x", false },
		{ "", false }, { "\t452 x", true }, { "lunch\t452 x", true },
		{ "--\t452 x", true }, { "452 x", true },
		{ "452 x\t", true },
	};
	char	text[1024], *second;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++)
		assert_int_equal(explain_tsv_fault(rows[i].line,
		    strlen(rows[i].line)) != NULL, rows[i].fault);
	assert_int_equal(run(ARGV(ARG("--tsv")), "lunch\t452 4.3.1 x\n"
	    "550 5.1.1 y\n-\t452 4.2.2 z\n", text, sizeof text), 65);
	assert_memory_equal(text, "system-full\ttemporary\t452\t4.3.1\t", 32);
	second = strstr(text, "\nno-such-user\tpermanent\t550\t5.1.1\t");
	assert_non_null(second);
	assert_non_null(strstr(second, "\nmailbox-full\ttemporary\t452\t"));
}

static void
the_command_reads_a_bounce(void **state)
{
	char	 name[] = "/tmp/explain.XXXXXX", text[EXPLAIN_TEXT];
	int	 fd = mkstemp(name);
	FILE	*f;

	(void)state;
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fputs(REPORT("Action: failed\nStatus: 4.3.1\n"
	    "Diagnostic-Code: smtp; 452 4.3.1 full\n"), f);
	fclose(f);
	assert_int_equal(run(ARGV(ARG("--message"), ARG(name)), "", text,
	    sizeof text), 0);
	assert_non_null(strstr(text, "this message was given up"));
	assert_non_null(strstr(text, "system-full"));
	assert_non_null(strstr(text, "relay.example.net"));
	assert_non_null(strstr(text, "until its time was over"));
	assert_non_null(strstr(text, "Send the message again"));
	assert_non_null(strstr(text, "action failed, status 4.3.1"));
	assert_int_equal(run(ARGV(ARG("--message"), ARG(name), ARG("--tsv")),
	    "", text, sizeof text), 0);
	assert_string_equal(text, "failed\t4.3.1\tsystem-full\tlost\n");
	unlink(name);
	assert_int_equal(run(ARGV(ARG("--message"), ARG(name)), "", text,
	    sizeof text), 66);
	/* Any other mail is answered too: it changes nothing. */
	assert_int_equal(run(ARGV(ARG("--message"), ARG("-"), ARG("--tsv")),
	    "From: a@example.net\nSubject: Lunch\n\nAt noon?\n", text,
	    sizeof text), 0);
	assert_string_equal(text, "(none)\t(none)\tother\tignore\n");
	assert_int_equal(run(ARGV(ARG("--message"), ARG("/dev/null")), "",
	    text, sizeof text), 0);
	assert_non_null(strstr(text, "no report of a mail system"));
}

static void
a_wrong_use_is_told(void **state)
{
	char	text[256];

	(void)state;
	assert_int_equal(run((char *[]){ ARG("explain"), NULL }, "", text,
	    sizeof text), 64);
	assert_int_equal(run(ARGV(ARG("--bogus")), "", text, sizeof text), 64);
	assert_int_equal(run(ARGV(ARG("--stage"), ARG("lunch"), ARG("452")),
	    "", text, sizeof text), 64);
	assert_int_equal(run(ARGV(ARG("--tsv"), ARG("452")), "", text,
	    sizeof text), 64);
	assert_int_equal(run(ARGV(ARG("--message")), "", text, sizeof text),
	    64);
	assert_string_equal(text, "");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_line_in_is_a_line_out),
		cmocka_unit_test(nul_bytes_and_long_lines_are_one_line_too),
		cmocka_unit_test(a_small_buffer_is_never_overrun),
		cmocka_unit_test(a_full_system_is_explained_on_one_screen),
		cmocka_unit_test(
		    a_final_refusal_says_that_retrying_does_not_help),
		cmocka_unit_test(codes_that_disagree_are_pointed_out),
		cmocka_unit_test(no_explanation_is_wider_than_a_screen),
		cmocka_unit_test(the_command_explains_words_and_lines),
		cmocka_unit_test(the_command_answers_every_overlong_line_once),
		cmocka_unit_test(
		    the_command_says_which_lines_have_a_fault_and_goes_on),
		cmocka_unit_test(the_command_reads_a_bounce),
		cmocka_unit_test(a_wrong_use_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
