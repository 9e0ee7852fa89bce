#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/frame.h"
#include "monitor/mem.h"
#include "monitor/route.h"
#include "monitor/text.h"

/*
 * Plays the monitor to one mailflow-sender:
 *
 *	sender_driver SENDER [key=value ...]
 *
 * hands it a job (times if asked) and prints each outcome as one line of
 * key=value, tab-separated, then what the process cost.  Keys are those of
 * struct frame_job, and gate=yes|no|none, repeat=N, transcript=1, wait=MS.
 * Exit status 0: the sender answered each job and ended well.
 */

#define SENDER_FD	3

struct plan {
	struct frame_job	job;
	const char		*sender;	/* borrowed */
	const char		*gate;		/* borrowed: yes, no, none */
	long			 repeat;
	bool			 transcript;
	int			 wait_ms;	/* for an outcome, at most */
};

static const char	message[] =
    "From: <probe@example.org>\r\n"
    "To: <canary@example.com>\r\n"
    "Date: Sat, 31 Jan 2026 12:00:00 +0000\r\n"
    "Message-ID: <driver@example.org>\r\n"
    "Subject: driven\r\n"
    "\r\n"
    "A line.\r\n"
    ".A line with a dot before it.\r\n"
    ".\r\n"
    "The last line.\r\n";

enum kind { TEXT, NUMBER, MILLISECONDS, FLAG };

static const struct {
	const char	*key;
	enum kind	 kind;
	size_t		 offset;
	size_t		 size;
} keys[] = {
#define M(k, m)	{ #m, k, offsetof(struct frame_job, m), \
		    sizeof ((struct frame_job *)0)->m }
	M(TEXT, host), M(NUMBER, port), M(NUMBER, kind), M(NUMBER, tls),
	M(TEXT, ca_file), M(FLAG, insecure_auth), M(TEXT, user),
	M(TEXT, secret), M(FLAG, oauth), M(TEXT, helo),
	M(TEXT, source_address), M(NUMBER, family), M(NUMBER, mx),
	M(TEXT, domain), M(TEXT, resolver), M(TEXT, from), M(TEXT, to),
	M(TEXT, envid), M(FLAG, notify_never), M(TEXT, message),
	M(MILLISECONDS, size), M(MILLISECONDS, connect_timeout_ms),
	M(MILLISECONDS, timeout_ms), M(MILLISECONDS, dot_timeout_ms),
	M(MILLISECONDS, deadline_ms),
#undef M
};

static void __attribute__((noreturn))
die(const char *problem, const char *what)
{
	fprintf(stderr, "sender_driver: %s: %s\n", problem, what);
	exit(2);
}

static void
set_member(struct frame_job *job, size_t i, const char *value)
{
	char		*at = (char *)job + keys[i].offset;
	uint32_t	 u;
	int64_t		 ms;
	bool		 flag;

	switch (keys[i].kind) {
	case TEXT:
		if (!text_copy(at, keys[i].size, value))
			die("too long", keys[i].key);
		break;
	case NUMBER:
		u = (uint32_t)strtoul(value, NULL, 10);
		memcpy(at, &u, sizeof u);
		break;
	case MILLISECONDS:
		ms = strtoll(value, NULL, 10);
		memcpy(at, &ms, sizeof ms);
		break;
	case FLAG:
		flag = *value == '1';
		memcpy(at, &flag, sizeof flag);
		break;
	}
}

static bool
set_job(struct plan *p, const char *key, const char *value)
{
	for (size_t i = 0; i < NITEMS(keys); i++) {
		if (strcmp(keys[i].key, key) != 0)
			continue;
		set_member(&p->job, i, value);
		return (true);
	}
	return (false);
}

static void
set_option(struct plan *p, const char *key, const char *value)
{
	if (strcmp(key, "gate") == 0)
		p->gate = value;
	else if (strcmp(key, "repeat") == 0)
		p->repeat = strtol(value, NULL, 10);
	else if (strcmp(key, "transcript") == 0)
		p->transcript = *value == '1';
	else if (strcmp(key, "wait") == 0)
		p->wait_ms = (int)strtol(value, NULL, 10);
	else if (!set_job(p, key, value))
		die("no such key", key);
}

static void
read_plan(struct plan *p, int argc, char **argv)
{
	char	*equals;

	if (argc < 2)
		die("usage", "sender_driver SENDER [key=value ...]");
	p->sender = argv[1];
	p->gate = "yes";
	p->repeat = 1;
	p->wait_ms = 60000;
	p->job.port = 25;
	p->job.connect_timeout_ms = p->job.timeout_ms =
	    p->job.dot_timeout_ms = 5000;
	p->job.deadline_ms = 20000;
	text_copy(p->job.host, sizeof p->job.host, "127.0.0.1");
	text_copy(p->job.helo, sizeof p->job.helo, "probe.example.org");
	text_copy(p->job.from, sizeof p->job.from, "probe@example.org");
	text_copy(p->job.to, sizeof p->job.to, "canary@example.com");
	text_copy(p->job.envid, sizeof p->job.envid, "driver");
	text_copy(p->job.message, sizeof p->job.message, message);
	for (int i = 2; i < argc; i++) {
		if ((equals = strchr(argv[i], '=')) == NULL)
			die("not key=value", argv[i]);
		*equals = '\0';
		set_option(p, argv[i], equals + 1);
	}
	p->job.gate = strcmp(p->gate, "none") != 0;
}

static pid_t
start(const char *sender, int *fd_r)
{
	int	ends[2];
	pid_t	pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair", strerror(errno));
	if ((pid = fork()) == -1)
		die("fork", strerror(errno));
	if (pid == 0) {
		if (ends[1] == SENDER_FD)
			(void)fcntl(SENDER_FD, F_SETFD, 0);
		else
			dup2(ends[1], SENDER_FD);
		execl(sender, sender, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	*fd_r = ends[0];
	return (pid);
}

static void
say(int fd, enum frame_type type, const void *body)
{
	unsigned char	buf[FRAME_MAX];
	size_t		len = frame_encode(buf, type, body);

	if (len == 0 || send(fd, buf, len, MSG_NOSIGNAL) == -1)
		die("cannot send", frame_name(type));
}

/* The next frame's type; 0 when the sender is gone, silent or babbling. */
static enum frame_type
hear(int fd, int wait_ms, union frame_body *body)
{
	unsigned char	 buf[FRAME_MAX];
	struct pollfd	 p = { .fd = fd, .events = POLLIN };
	const char	*why = "";
	ssize_t		 n;
	enum frame_type	 type;

	if (poll(&p, 1, wait_ms) <= 0) {
		puts("no answer in time");
		return ((enum frame_type)0);
	}
	if ((n = recv(fd, buf, sizeof buf, 0)) <= 0) {
		puts("the sender is gone");
		return ((enum frame_type)0);
	}
	if ((type = frame_decode(buf, (size_t)n, body, &why)) == 0)
		printf("bad frame: %s\n", why);
	return (type);
}

static void
print_outcome(const struct plan *p, const struct outcome *o, int64_t took_ms)
{
	printf("verdict=%s\tclass=%s\tstage=%s\tcode=%d\tenhanced=%s\t"
	    "blind=%d\ttls=%s\thost=%s\taddress=%s\tearlier=%s\tqueue_id=%s\ttook_ms=%lld",
	    verdict_name(o->verdict), class_name(o->class),
	    stage_name(o->stage), o->code, o->enhanced, o->blind, o->tls,
	    o->host, o->address, o->earlier, o->queue_id, (long long)took_ms);
	for (int i = 1; i < STAGES; i++)
		if (o->stage_ms[i] >= 0)
			printf("\t%s_ms=%d", stage_name((enum stage)i),
			    o->stage_ms[i]);
	printf("\taccepted=%d\treply=%s\n", o->accepted.wall_ms != 0, o->reply);
	if (p->transcript)
		fputs(o->transcript, stdout);
}

/* One job: false if no outcome came. */
static bool
drive(const struct plan *p, int fd, union frame_body *body)
{
	int64_t		 began = clock_boot_ms();
	struct frame_go	 go = { .job = p->job.job };

	say(fd, FRAME_JOB, &p->job);
	for (;;) {
		switch (hear(fd, p->wait_ms, body)) {
		case FRAME_ASK:
			go.allowed = strcmp(p->gate, "yes") == 0;
			say(fd, FRAME_GO, &go);
			break;
		case FRAME_OUTCOME:
			print_outcome(p, &body->outcome.outcome,
			    clock_boot_ms() - began);
			return (true);
		case FRAME_OVER:		/* of the job before */
			break;
		default:
			return (false);
		}
	}
}

static long
milliseconds(const struct timeval *tv)
{
	return ((long)(tv->tv_sec * 1000 + tv->tv_usec / 1000));
}

/* Ends the sender by closing its socket; its exit status, -1: by a signal. */
static int
stop(pid_t pid, int fd, long jobs)
{
	struct rusage	u;
	int		status;

	close(fd);
	while (wait4(pid, &status, 0, &u) == -1 && errno == EINTR)
		continue;
	printf("sender: jobs=%ld\tuser_ms=%ld\tsystem_ms=%ld\trss_kb=%ld\t"
	    "switches=%ld\tstatus=%d\n", jobs, milliseconds(&u.ru_utime),
	    milliseconds(&u.ru_stime), u.ru_maxrss, u.ru_nvcsw,
	    WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return (WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int
main(int argc, char **argv)
{
	static struct plan	 p;
	union frame_body	*body = mem_alloc(sizeof *body);
	int			 fd;
	pid_t			 pid;
	bool			 good;

	read_plan(&p, argc, argv);
	pid = start(p.sender, &fd);
	good = hear(fd, p.wait_ms, body) == FRAME_HELLO;
	for (long i = 0; good && i < p.repeat; i++) {
		p.job.job = (uint64_t)i + 1;
		good = drive(&p, fd, body);
	}
	good = stop(pid, fd, p.repeat) == 0 && good;
	mem_free(body);
	return (good ? 0 : 1);
}
