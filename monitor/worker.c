#include "monitor/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define RETIRE_MS	3000	/* after its socket was closed */
#define BACKLOG_BYTES	(16 * 1024 * 1024)	/* unread frames */
#define FRAMES_A_TURN	64	/* so that no worker starves the others */
#define STDERR_LINE	512

/* A frame that the socket had no room for. */
struct waiting {
	STAILQ_ENTRY(waiting)	 next;
	size_t			 len;
	unsigned char		 bytes[];
};

struct worker {
	uv_process_t			 process;
	uv_poll_t			 poll;
	uv_pipe_t			 err;
	uv_timer_t			 timer;	/* after retirement */
	int				 fd;
	unsigned			 open_handles;
	bool				 ended;	/* exited and reaped */
	bool				 closing;
	char				*name;	/* owned */
	char				 why[256];
	const struct worker_events	*events;
	void				*arg;
	STAILQ_HEAD(, waiting)		 backlog;
	size_t				 backlog_bytes;
	char				 line[STDERR_LINE];	/* of stderr */
	size_t				 line_len;
	char				 chunk[STDERR_LINE];
};

static void
drop_backlog(struct worker *w)
{
	struct waiting	*x;

	while ((x = STAILQ_FIRST(&w->backlog)) != NULL) {
		STAILQ_REMOVE_HEAD(&w->backlog, next);
		mem_wipe(x->bytes, x->len);
		mem_free(x);
	}
	w->backlog_bytes = 0;
}

static void
on_closed(uv_handle_t *handle)
{
	struct worker	*w = handle->data;

	if (--w->open_handles > 0)
		return;
	if (w->fd >= 0)
		close(w->fd);
	drop_backlog(w);
	mem_free(w->name);
	mem_free(w);
}

static void
close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

void
worker_kill(struct worker *w, const char *why)
{
	if (w->ended)
		return;
	if (w->why[0] == '\0')
		text_copy(w->why, sizeof w->why, why);
	(void)uv_process_kill(&w->process, SIGKILL);
}

static void
receive(struct worker *w)
{
	static unsigned char	buf[FRAME_MAX + 1];
	static union frame_body	body;
	const char		*why = "";
	char			text[128];
	enum frame_type		type;
	ssize_t			n;

	for (int i = 0; i < FRAMES_A_TURN && !w->closing; i++) {
		n = recv(w->fd, buf, sizeof buf, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {		/* it exits; on_exit_ tells how */
			uv_poll_stop(&w->poll);
			return;
		}
		type = frame_decode(buf, (size_t)n, &body, &why);
		if (type == 0) {
			snprintf(text, sizeof text,
			    "the %s process sent a bad frame: %s", w->name,
			    why);
			worker_kill(w, text);
			return;
		}
		w->events->frame(w->arg, w, type, &body);
	}
}

/* The process is reaped: tell, and let go of everything. */
static void
finish(struct worker *w)
{
	if (w->closing)
		return;
	receive(w);		/* what it still said before it went */
	w->closing = true;
	w->events->gone(w->arg, w, w->why);
	close_handle((uv_handle_t *)&w->poll);
	close_handle((uv_handle_t *)&w->err);
	close_handle((uv_handle_t *)&w->timer);
	close_handle((uv_handle_t *)&w->process);
}

static void
on_exit_(uv_process_t *process, int64_t status, int signal_)
{
	struct worker	*w = process->data;

	w->ended = true;
	if (w->why[0] == '\0') {
		if (signal_ != 0)
			snprintf(w->why, sizeof w->why,
			    "the %s process died of signal %d", w->name,
			    signal_);
		else
			snprintf(w->why, sizeof w->why,
			    "the %s process exited with status %lld", w->name,
			    (long long)status);
	}
	finish(w);
}

static void	on_poll(uv_poll_t *, int, int);

static void
poll_for(struct worker *w)
{
	int	events = UV_READABLE;

	if (!STAILQ_EMPTY(&w->backlog))
		events |= UV_WRITABLE;
	(void)uv_poll_start(&w->poll, events, on_poll);
}

/* 1 sent, 0 no room, -1 the socket is gone. */
static int
try_send(struct worker *w, const unsigned char *bytes, size_t len)
{
	ssize_t	n;

	do
		n = send(w->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return (1);
	return (errno == EAGAIN || errno == ENOBUFS ? 0 : -1);
}

static void
drain(struct worker *w)
{
	struct waiting	*x;

	while ((x = STAILQ_FIRST(&w->backlog)) != NULL) {
		if (try_send(w, x->bytes, x->len) == 0)
			return;
		STAILQ_REMOVE_HEAD(&w->backlog, next);
		w->backlog_bytes -= x->len;
		mem_wipe(x->bytes, x->len);
		mem_free(x);
	}
	poll_for(w);
}

static void
on_poll(uv_poll_t *poll, int status, int events)
{
	struct worker	*w = poll->data;

	if (status < 0) {
		uv_poll_stop(poll);
		return;
	}
	if ((events & UV_WRITABLE) != 0)
		drain(w);
	if ((events & UV_READABLE) != 0)
		receive(w);
}

void
worker_send(struct worker *w, enum frame_type type, const void *body)
{
	unsigned char	buf[FRAME_MAX];
	struct waiting	*x;
	size_t		 len;
	bool		 was_empty = STAILQ_EMPTY(&w->backlog);

	if (w->ended || w->closing || w->fd < 0)
		return;
	if ((len = frame_encode(buf, type, body)) == 0) {
		log_error("worker=%s frame=%s does not fit", w->name,
		    frame_name(type));
		return;
	}
	if (!was_empty || try_send(w, buf, len) == 0) {
		x = mem_alloc(sizeof *x + len);
		x->len = len;
		memcpy(x->bytes, buf, len);
		STAILQ_INSERT_TAIL(&w->backlog, x, next);
		w->backlog_bytes += len;
		if (w->backlog_bytes > BACKLOG_BYTES)
			worker_kill(w, "the process does not read its frames");
		if (was_empty)
			poll_for(w);
	}
	mem_wipe(buf, len);
}

static void
on_timer(uv_timer_t *timer)
{
	worker_kill(timer->data, "the process did not end when asked to");
}

void
worker_retire(struct worker *w)
{
	if (w->ended || w->fd < 0)
		return;
	text_copy(w->why, sizeof w->why, "retired");
	uv_poll_stop(&w->poll);
	shutdown(w->fd, SHUT_RDWR);
	(void)uv_timer_start(&w->timer, on_timer, RETIRE_MS, 0);
}

/* What the worker says on stderr goes to the log, line by line. */

static void
log_line(struct worker *w)
{
	if (w->line_len > 0)
		log_warn("worker=%s pid=%d says: %.*s", w->name,
		    (int)w->process.pid, (int)w->line_len, w->line);
	w->line_len = 0;
}

static void
on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
	struct worker	*w = handle->data;

	(void)hint;
	*buf = uv_buf_init(w->chunk, sizeof w->chunk);
}

static void
on_stderr(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct worker	*w = stream->data;

	if (n < 0) {
		log_line(w);
		uv_read_stop(stream);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (buf->base[i] == '\n' || w->line_len == sizeof w->line)
			log_line(w);
		if (buf->base[i] != '\n')
			w->line[w->line_len++] = buf->base[i];
	}
}

static int
spawn(struct worker *w, uv_loop_t *loop, const char *path, int child_fd,
    int slots_fd)
{
	char			*argv[] = { mem_strdup(path), NULL };
	static const char *const keep[] = { "ASAN_OPTIONS", "UBSAN_OPTIONS",
				    "SSL_CERT_FILE", "SSL_CERT_DIR" };
	char			*env[3 + NITEMS(keep) + 1] = {
				    mem_strdup("HOME=/nonexistent"),
				    mem_strdup("PATH=/usr/bin:/bin"),
				    mem_strdup("LANG=C.UTF-8") };
	uv_stdio_container_t	 stdio[5];
	uv_process_options_t	 options = { 0 };
	int			 r;

	for (size_t i = 0, n = 3; i < NITEMS(keep); i++)
		if (getenv(keep[i]) != NULL)
			env[n++] = mem_printf("%s=%s", keep[i],
			    getenv(keep[i]));
	stdio[0].flags = UV_IGNORE;
	stdio[1].flags = UV_IGNORE;
	stdio[2].flags = (uv_stdio_flags)(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
	stdio[2].data.stream = (uv_stream_t *)&w->err;
	stdio[3].flags = UV_INHERIT_FD;
	stdio[3].data.fd = child_fd;
	stdio[4].flags = UV_INHERIT_FD;
	stdio[4].data.fd = slots_fd;
	options.file = path;
	options.args = argv;
	options.env = env;
	options.exit_cb = on_exit_;
	options.stdio = stdio;
	options.stdio_count = slots_fd >= 0 ? 5 : 4;
	r = uv_spawn(loop, &w->process, &options);
	mem_free(argv[0]);
	for (size_t i = 0; i < NITEMS(env); i++)
		mem_free(env[i]);
	return (r);
}

struct worker *
worker_start(uv_loop_t *loop, const char *directory, const char *program,
    const char *name, int slots_fd, const struct worker_events *events,
    void *arg)
{
	struct worker	*w;
	char		 path[1024];
	int		 fds[2], r;

	snprintf(path, sizeof path, "%s/%s", directory, program);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
		log_error("worker=%s socketpair: %s", name, strerror(errno));
		return (NULL);
	}
	w = mem_alloc(sizeof *w);
	w->name = mem_strdup(name);
	w->events = events;
	w->arg = arg;
	w->fd = fds[0];
	STAILQ_INIT(&w->backlog);
	w->process.data = w->poll.data = w->err.data = w->timer.data = w;
	(void)uv_pipe_init(loop, &w->err, 0);
	(void)uv_timer_init(loop, &w->timer);
	(void)uv_poll_init(loop, &w->poll, w->fd);
	w->open_handles = 4;
	r = spawn(w, loop, path, fds[1], slots_fd);
	close(fds[1]);
	if (r != 0) {
		log_error("worker=%s cannot start %s: %s", name, path,
		    uv_strerror(r));
		w->ended = w->closing = true;
		close_handle((uv_handle_t *)&w->poll);
		close_handle((uv_handle_t *)&w->err);
		close_handle((uv_handle_t *)&w->timer);
		close_handle((uv_handle_t *)&w->process);
		return (NULL);
	}
	poll_for(w);
	(void)uv_read_start((uv_stream_t *)&w->err, on_alloc, on_stderr);
	return (w);
}

int
worker_pid(const struct worker *w)
{
	return ((int)w->process.pid);
}

const char *
worker_name(const struct worker *w)
{
	return (w->name);
}
