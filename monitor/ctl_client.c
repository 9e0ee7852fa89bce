#include "monitor/ctl_client.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/* Ten thousand routes make some twenty; more is no answer of ours. */
#define ANSWER_MAX	(256U << 20)
#define CHUNK		65536

struct exchange {
	int	 fd;
	int64_t	 deadline_ms;		/* BOOTTIME */
	char	*text;			/* owned; what has come so far */
	size_t	 len, size;
};

static void fail(struct client_answer *, enum client_result, const char *, ...)
    __attribute__((format(printf, 3, 4)));

static void
fail(struct client_answer *a, enum client_result result, const char *fmt, ...)
{
	char	why[1024];
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	a->result = result;
	a->why = mem_strdup(why);
}

/* What to do about it, where that is known. */
static const char *
advice(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return (" (is mailflowd running?)");
	case EACCES:
	case EPERM:
		return (" (only root and the group of mailflowd may ask it)");
	default:
		return ("");
	}
}

/* A full queue of those who wait to be heard would hold connect() up. */
static void
limit_connect(int fd, int64_t timeout_ms)
{
	struct timeval	tv = { .tv_sec = timeout_ms / 1000,
			    .tv_usec = timeout_ms % 1000 * 1000 };

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
}

static int
open_socket(const char *path, int64_t timeout_ms, struct client_answer *a)
{
	struct sockaddr_un	sa = { .sun_family = AF_UNIX };
	int			fd, error;

	if (!text_copy(sa.sun_path, sizeof sa.sun_path, path)) {
		fail(a, CLIENT_UNREACHABLE,
		    "%s: the path is too long for a socket", path);
		return (-1);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd != -1)
		limit_connect(fd, timeout_ms);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sa, sizeof sa) == -1) {
		error = errno;
		fail(a, CLIENT_UNREACHABLE,
		    "mailflowd does not answer at %s: %s%s", path,
		    strerror(error), advice(error));
		if (fd != -1)
			close(fd);
		return (-1);
	}
	return (fd);
}

/* Waits until the socket is ready for events: false at the deadline. */
static bool
wait_for(const struct exchange *x, short events)
{
	struct pollfd	p = { .fd = x->fd, .events = events };
	int64_t		left_ms;
	int		n;

	do {
		left_ms = x->deadline_ms - clock_boot_ms();
		if (left_ms <= 0)
			return (false);
		n = poll(&p, 1, left_ms > 60000 ? 60000 : (int)left_ms);
	} while (n == 0 || (n == -1 && errno == EINTR));
	return (true);
}

static enum client_result
send_all(const struct exchange *x, const char *text, size_t len)
{
	ssize_t	n;

	while (len > 0) {
		if (!wait_for(x, POLLOUT))
			return (CLIENT_TIMEOUT);
		n = send(x->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			return (CLIENT_UNREACHABLE);
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return (CLIENT_ANSWER);
}

static void
make_room(struct exchange *x)
{
	if (x->size - x->len >= CHUNK)
		return;
	x->size = x->size == 0 ? 2 * CHUNK : 2 * x->size;
	x->text = mem_grow(x->text, x->size, 1);
}

/* Up to the end of the line, or of the connection. */
static enum client_result
receive_line(struct exchange *x)
{
	ssize_t	n;

	while (x->len < ANSWER_MAX) {
		make_room(x);
		if (!wait_for(x, POLLIN))
			return (CLIENT_TIMEOUT);
		n = recv(x->fd, x->text + x->len, CHUNK, MSG_DONTWAIT);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return (CLIENT_UNREACHABLE);
		x->len += (size_t)n;
		if (x->text[x->len - 1] == '\n')
			return (CLIENT_ANSWER);
	}
	return (CLIENT_UNREACHABLE);
}

static enum client_result
exchange(struct exchange *x, const json_t *request)
{
	char			*text = json_dumps(request, JSON_COMPACT), *line;
	enum client_result	 result;

	if (text == NULL)
		panic("out of memory for JSON");
	line = mem_printf("%s\n", text);
	result = send_all(x, line, strlen(line));
	if (result == CLIENT_ANSWER)
		result = receive_line(x);
	mem_free(line);
	mem_free(text);
	return (result);
}

/* What the daemon answered, once it is whole. */
static void
read_answer(const struct exchange *x, struct client_answer *a)
{
	json_error_t	 error;
	const char	*refusal;

	a->object = json_loadb(x->text, x->len, 0, &error);
	if (!json_is_object(a->object)) {
		fail(a, CLIENT_UNREACHABLE, "mailflowd's answer is not JSON: "
		    "do the versions of mailflowctl and mailflowd differ?");
	} else if (!json_is_true(json_object_get(a->object, "ok"))) {
		refusal = json_string_value(json_object_get(a->object,
		    "error"));
		a->result = CLIENT_REFUSED;
		a->why = mem_strdup(refusal != NULL ? refusal : "refused");
	} else {
		a->result = CLIENT_ANSWER;
		a->why = mem_strdup("");
		return;
	}
	json_decref(a->object);
	a->object = NULL;
}

void
client_ask(const char *path, const json_t *request, int64_t timeout_ms,
    struct client_answer *a)
{
	struct exchange		x = { .deadline_ms = clock_boot_ms() +
				    timeout_ms };
	enum client_result	result;

	*a = (struct client_answer){ .object = NULL };
	if ((x.fd = open_socket(path, timeout_ms, a)) == -1)
		return;
	result = exchange(&x, request);
	if (result == CLIENT_ANSWER)
		read_answer(&x, a);
	else if (result == CLIENT_TIMEOUT)
		fail(a, result, "mailflowd gave no answer within %lld s",
		    (long long)(timeout_ms + 999) / 1000);
	else
		fail(a, result, "mailflowd closed the connection without an "
		    "answer: it ended, or too many ask at once");
	close(x.fd);
	mem_free(x.text);
}

void
client_answer_free(struct client_answer *a)
{
	json_decref(a->object);
	mem_free(a->why);
	*a = (struct client_answer){ .object = NULL };
}
