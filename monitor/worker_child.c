#include "monitor/worker_child.h"

#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define EXIT_MISUSE	64

/*
 * The monitor is gone, or does not make sense: nobody is left to report to.
 * A sanitizer's search for leaks wants the long way out.
 */
static void __attribute__((noreturn))
end(int status)
{
#ifdef WITH_SANITIZERS
	/* Not from a pool's thread: what runs at exit would join it. */
	if (gettid() == getpid())
		exit(status);
#endif
	_exit(status);
}

static void
limit(__rlimit_resource_t resource, rlim_t most)
{
	struct rlimit	r;

	if (getrlimit(resource, &r) != 0)
		return;
	if (r.rlim_max != RLIM_INFINITY && most > r.rlim_max)
		most = r.rlim_max;
	r.rlim_cur = r.rlim_max = most;
	(void)setrlimit(resource, &r);
}

static void
check_socket(const char *program)
{
	int		domain = 0, type = 0;
	socklen_t	len = sizeof domain;

	if (getsockopt(WORKER_FD, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
	    getsockopt(WORKER_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	    domain == AF_UNIX && type == SOCK_SEQPACKET) {
		(void)fcntl(WORKER_FD, F_SETFD, FD_CLOEXEC);
		return;
	}
	fprintf(stderr, "%s: is started by mailflowd, not by hand\n", program);
	exit(EXIT_MISUSE);
}

/*
 * A core file or a debugger would show secrets.  The leak search of the
 * sanitizers traces its own process and needs it dumpable.
 */
static void
become_harmless(size_t memory_bytes, unsigned files)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* A terminal's ^C and a service manager's stop go to every process;
	 * the monitor alone answers them, and closes our socket. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, files);
#ifdef WITH_SANITIZERS
	(void)memory_bytes;
#else
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (memory_bytes > 0)
		limit(RLIMIT_AS, memory_bytes);
#endif
	umask(077);
}

/*
 * Ctrl-C at a terminal and a hang-up reach the whole group, but it is the
 * monitor that says when a worker ends.
 */
static void
settle_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

void
worker_child_begin(const char *program, size_t memory_bytes, unsigned files)
{
	struct frame_hello	hello = { .pid = getpid() };

	check_socket(program);
	become_harmless(memory_bytes, files);
	settle_signals();
	text_copy(hello.program, sizeof hello.program, program);
	text_copy(hello.version, sizeof hello.version, PACKAGE_VERSION);
	worker_child_send(FRAME_HELLO, &hello);
}

/* The socket may be non-blocking: an event loop may have made it so. */
static void
wait_writable(void)
{
	struct pollfd	p = { .fd = WORKER_FD, .events = POLLOUT };

	(void)poll(&p, 1, -1);
}

void
worker_child_send(enum frame_type type, const void *body)
{
	unsigned char	buf[FRAME_MAX];
	size_t		len;

	if ((len = frame_encode(buf, type, body)) == 0)
		panic("frame %s does not fit", frame_name(type));
	while (send(WORKER_FD, buf, len, MSG_NOSIGNAL) == -1) {
		if (errno == EAGAIN || errno == ENOBUFS)
			wait_writable();
		else if (errno != EINTR)
			end(0);
	}
}

/* True if something is there to read, the end included. */
static bool
wait_readable(int timeout_ms)
{
	struct pollfd	p = { .fd = WORKER_FD, .events = POLLIN };
	int64_t		until = clock_boot_ms() + timeout_ms, left;
	int		n;

	for (;;) {
		left = timeout_ms < 0 ? -1 : until - clock_boot_ms();
		n = poll(&p, 1, timeout_ms >= 0 && left < 0 ? 0 : (int)left);
		if (n >= 0)
			return (n > 0);
		if (errno != EINTR)
			panic("poll: %s", strerror(errno));
	}
}

/* A frame may carry a secret: nothing of it stays on the stack. */
static enum frame_type
decode(unsigned char *buf, size_t len, union frame_body *body)
{
	const char	*why = "";
	enum frame_type	 type;

	type = frame_decode(buf, len, body, &why);
	mem_wipe(buf, len);
	if (type != 0)
		return (type);
	fprintf(stderr, "bad frame from the monitor: %s\n", why);
	end(EXIT_FAILURE);
}

enum frame_type
worker_child_receive(union frame_body *body, int timeout_ms)
{
	unsigned char	buf[FRAME_MAX];
	ssize_t		n;

	while (wait_readable(timeout_ms)) {
		n = recv(WORKER_FD, buf, sizeof buf, MSG_DONTWAIT);
		if (n > 0)
			return (decode(buf, (size_t)n, body));
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			end(0);
	}
	return ((enum frame_type)0);
}
