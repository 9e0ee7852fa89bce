#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/frame.h"
#include "monitor/mem.h"
#include "monitor/worker_child.h"

/* Each story has a child that plays the worker; the test is the monitor. */

struct child {
	pid_t	pid;
	int	fd;
};

/* Nothing of the worker's complaints on the terminal. */
static void
silence(void)
{
	int	null = open("/dev/null", O_WRONLY);

	dup2(null, STDERR_FILENO);
	close(null);
}

static struct child
start(void (*play)(void))
{
	struct child	c;
	int		ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	c.fd = ends[0];
	if ((c.pid = fork()) == 0) {
		silence();
		close(ends[0]);
		if (ends[1] != WORKER_FD) {
			dup2(ends[1], WORKER_FD);
			close(ends[1]);
		}
		play();
		_exit(99);
	}
	close(ends[1]);
	return (c);
}

/* How the child ended: its exit status, or 256 and the signal. */
static int
end_of(struct child *c)
{
	int	status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	close(c->fd);
	return (WIFEXITED(status) ? WEXITSTATUS(status) :
	    256 + WTERMSIG(status));
}

static enum frame_type
hear(struct child *c, union frame_body *body)
{
	unsigned char	 buf[FRAME_MAX];
	const char	*why;
	ssize_t		 n = recv(c->fd, buf, sizeof buf, 0);

	return (n <= 0 ? (enum frame_type)0 :
	    frame_decode(buf, (size_t)n, body, &why));
}

static void
tell(struct child *c, enum frame_type type, const void *body)
{
	unsigned char	buf[FRAME_MAX];
	size_t		len = frame_encode(buf, type, body);

	assert_int_equal(send(c->fd, buf, len, 0), (ssize_t)len);
}

/* Answers each GO with an ASK of the same job. */
static void
echo(void)
{
	union frame_body	*body = mem_alloc(sizeof *body);
	struct frame_ask	 ask;

	worker_child_begin("echo", 0, 32);
	while (worker_child_receive(body, -1) == FRAME_GO) {
		ask.job = body->go.job;
		worker_child_send(FRAME_ASK, &ask);
	}
}

static void
a_worker_says_who_it_is_first(void **state)
{
	union frame_body	*body = mem_alloc(sizeof *body);
	struct child		 c = start(echo);

	(void)state;
	assert_int_equal(hear(&c, body), FRAME_HELLO);
	assert_int_equal(body->hello.pid, c.pid);
	assert_string_equal(body->hello.program, "echo");
	assert_true(body->hello.version[0] != '\0');
	shutdown(c.fd, SHUT_RDWR);
	assert_int_equal(end_of(&c), 0);
	mem_free(body);
}

static void
frames_go_both_ways(void **state)
{
	union frame_body	*body = mem_alloc(sizeof *body);
	struct child		 c = start(echo);
	struct frame_go		 go;

	(void)state;
	assert_int_equal(hear(&c, body), FRAME_HELLO);
	for (uint64_t i = 0; i < 100; i++) {
		go = (struct frame_go){ .job = i, .allowed = true };
		tell(&c, FRAME_GO, &go);
		assert_int_equal(hear(&c, body), FRAME_ASK);
		assert_int_equal(body->ask.job, i);
	}
	shutdown(c.fd, SHUT_RDWR);
	assert_int_equal(end_of(&c), 0);
	mem_free(body);
}

static void
the_end_of_the_monitor_ends_the_worker(void **state)
{
	struct child	c = start(echo);

	(void)state;
	shutdown(c.fd, SHUT_RDWR);
	assert_int_equal(end_of(&c), 0);
}

static void
a_bad_frame_ends_the_worker(void **state)
{
	struct child	c = start(echo);

	(void)state;
	assert_int_equal(send(c.fd, "rubbish", 7, 0), 7);
	assert_int_equal(end_of(&c), EXIT_FAILURE);
}

static void
begin_only(void)
{
	worker_child_begin("by hand", 0, 32);
}

static void
a_worker_started_by_hand_says_so_and_ends(void **state)
{
	pid_t	pid = fork();
	int	status;

	(void)state;
	if (pid == 0) {
		silence();
		close(WORKER_FD);
		begin_only();
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 64);
}

/* Exits with 0 if all is as it must be, else with the number of the fault. */
static void
look_at_limits(void)
{
	struct rlimit	r;

	worker_child_begin("limits", 256 << 20, 32);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		_exit(1);
	if (getrlimit(RLIMIT_CORE, &r) != 0 || r.rlim_max != 0)
		_exit(2);
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_max != 32)
		_exit(3);
	if ((fcntl(WORKER_FD, F_GETFD) & FD_CLOEXEC) == 0)
		_exit(4);
	if (umask(0) != 077)
		_exit(5);
	if (signal(SIGPIPE, SIG_DFL) != SIG_IGN)
		_exit(6);
	_exit(0);
}

static void
a_worker_makes_itself_harmless(void **state)
{
	struct child	c = start(look_at_limits);

	(void)state;
	assert_int_equal(end_of(&c), 0);
}

/* Exits with 0 if nothing came within the time, and not before it either. */
static void
wait_in_vain(void)
{
	union frame_body	*body = mem_alloc(sizeof *body);

	worker_child_begin("waiting", 0, 32);
	_exit(worker_child_receive(body, 50) == 0 ? 0 : 1);
}

static void
a_wait_ends_with_its_time(void **state)
{
	struct child	c = start(wait_in_vain);

	(void)state;
	assert_int_equal(end_of(&c), 0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_worker_says_who_it_is_first),
		cmocka_unit_test(frames_go_both_ways),
		cmocka_unit_test(the_end_of_the_monitor_ends_the_worker),
		cmocka_unit_test(a_bad_frame_ends_the_worker),
		cmocka_unit_test(a_worker_started_by_hand_says_so_and_ends),
		cmocka_unit_test(a_worker_makes_itself_harmless),
		cmocka_unit_test(a_wait_ends_with_its_time),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
