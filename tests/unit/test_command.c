#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/command.h"
#include "monitor/text.h"

/* Long enough for whatever ends by itself, however busy the machine is. */
#define LONG_MS		INT64_C(30000)

static struct {
	unsigned	 calls;
	bool		 ok;
	char		 output[COMMAND_OUTPUT + 1];
	char		 why[512];
	uint64_t	 took_ms;
} end;

static void
on_end(void *arg, bool ok, const char *output, const char *why)
{
	(void)arg;
	end.calls++;
	end.ok = ok;
	text_copy(end.output, sizeof end.output, output);
	text_copy(end.why, sizeof end.why, why);
}

static void
run(enum command_use use, const char *command, const char *input,
    int64_t deadline_ms)
{
	uv_loop_t	loop;
	uint64_t	began;

	memset(&end, 0, sizeof end);
	assert_int_equal(uv_loop_init(&loop), 0);
	began = uv_hrtime();
	command_run(&loop, use, "test", command, input, deadline_ms,
	    on_end, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	end.took_ms = (uv_hrtime() - began) / 1000000;
	assert_int_equal(end.calls, 1);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* The process whose id is what the command printed. */
static pid_t
printed(void)
{
	pid_t	pid = (pid_t)atoi(end.output);

	assert_true(pid > 1);
	return (pid);
}

static bool
has_ended(pid_t pid)
{
	for (int i = 0; i < 500; i++) {
		char	 path[64], state = 'X';
		FILE	*f;

		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		if ((f = fopen(path, "r")) == NULL)
			return (true);
		(void)!fscanf(f, "%*d (%*[^)]) %c", &state);
		fclose(f);
		if (state == 'Z' || state == 'X')
			return (true);
		usleep(10000);
	}
	return (false);
}

static void
a_secret_is_the_first_line_that_is_printed(void **state)
{
	(void)state;
	run(COMMAND_FOR_OUTPUT, "cat; echo more", "secret\n", LONG_MS);
	assert_true(end.ok);
	assert_string_equal(end.output, "secret");
	assert_string_equal(end.why, "");
}

static void
a_status_that_is_not_0_is_a_failure_with_its_words(void **state)
{
	(void)state;
	run(COMMAND_FOR_OUTPUT, "echo out of paper >&2; exit 3", "", LONG_MS);
	assert_false(end.ok);
	assert_string_equal(end.why,
	    "the command exited with status 3: out of paper ");
	run(COMMAND_FOR_STATUS, "echo out of paper >&2; exit 3", "", LONG_MS);
	assert_false(end.ok);
	assert_string_equal(end.why,
	    "the command exited with status 3: out of paper ");
}

static void
a_secret_that_is_too_long_is_a_failure(void **state)
{
	(void)state;
	run(COMMAND_FOR_OUTPUT, "head -c 20000 /dev/zero | tr '\\0' x", "",
	    LONG_MS);
	assert_false(end.ok);
	assert_string_equal(end.why, "the command printed more than 16 KiB");
}

static void
a_secret_is_not_taken_while_somebody_may_add_to_it(void **state)
{
	(void)state;
	run(COMMAND_FOR_OUTPUT, "sleep 60 & echo $!", "", 1000);
	assert_false(end.ok);
	assert_string_equal(end.why, "the command took too long");
	assert_true(has_ended(printed()));
}

static void
a_command_for_its_status_is_over_when_it_exits(void **state)
{
	(void)state;
	run(COMMAND_FOR_STATUS, "sleep 60 & echo $!", "", LONG_MS);
	assert_true(end.ok);
	assert_string_equal(end.why, "");
	assert_true(end.took_ms < LONG_MS / 2);
	/* What it left is not ours to end. */
	assert_int_equal(kill(printed(), SIGKILL), 0);
}

static void
its_failure_is_known_as_soon(void **state)
{
	(void)state;
	run(COMMAND_FOR_STATUS, "sleep 60 & echo $!; exit 3", "", LONG_MS);
	assert_false(end.ok);
	assert_string_equal(end.why, "the command exited with status 3");
	assert_true(end.took_ms < LONG_MS / 2);
	assert_int_equal(kill(printed(), SIGKILL), 0);
}

static void
what_it_prints_beyond_the_bound_is_dropped(void **state)
{
	(void)state;
	run(COMMAND_FOR_STATUS, "echo sent; head -c 1000000 /dev/zero", "",
	    LONG_MS);
	assert_true(end.ok);
	assert_string_equal(end.output, "sent");
	assert_string_equal(end.why, "");
	run(COMMAND_FOR_STATUS, "head -c 1000000 /dev/zero | tr '\\0' x", "",
	    LONG_MS);
	assert_true(end.ok);
	assert_int_equal(strlen(end.output), COMMAND_OUTPUT);
}

static void
what_a_child_of_it_prints_without_end_is_not_waited_for(void **state)
{
	(void)state;
	run(COMMAND_FOR_STATUS, "echo $$; yes & exit 0", "", LONG_MS);
	assert_true(end.ok);
	assert_true(end.took_ms < LONG_MS / 2);
}

static void
at_the_deadline_its_whole_group_is_killed(void **state)
{
	(void)state;
	run(COMMAND_FOR_STATUS, "sleep 60 & echo $!; wait", "", 1000);
	assert_false(end.ok);
	assert_string_equal(end.why, "the command took too long");
	assert_true(has_ended(printed()));
}

static void
it_need_not_read_its_input(void **state)
{
	static char	input[200000];

	(void)state;
	memset(input, 'x', sizeof input - 1);
	run(COMMAND_FOR_STATUS, "exit 0", input, LONG_MS);
	assert_true(end.ok);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_secret_is_the_first_line_that_is_printed),
		cmocka_unit_test(
		    a_status_that_is_not_0_is_a_failure_with_its_words),
		cmocka_unit_test(a_secret_that_is_too_long_is_a_failure),
		cmocka_unit_test(
		    a_secret_is_not_taken_while_somebody_may_add_to_it),
		cmocka_unit_test(a_command_for_its_status_is_over_when_it_exits),
		cmocka_unit_test(its_failure_is_known_as_soon),
		cmocka_unit_test(what_it_prints_beyond_the_bound_is_dropped),
		cmocka_unit_test(
		    what_a_child_of_it_prints_without_end_is_not_waited_for),
		cmocka_unit_test(at_the_deadline_its_whole_group_is_killed),
		cmocka_unit_test(it_need_not_read_its_input),
	};

	signal(SIGPIPE, SIG_IGN);
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
