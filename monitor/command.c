#include "monitor/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

struct command {
	LIST_ENTRY(command) next;	/* of those that run */
	uv_process_t	 process;
	uv_pipe_t	 in, out, err;
	uv_timer_t	 timer;
	uv_write_t	 write;
	enum command_use use;
	unsigned	 open_handles;
	bool		 exited;
	bool		 out_ended;
	bool		 finished;
	bool		 ok;
	char		*name;		/* owned */
	char		*input;		/* owned */
	char		 why[512];
	char		 output[COMMAND_OUTPUT + 1];
	size_t		 output_len;
	char		 said[256];	/* the first of its standard error */
	char		 chunk[2048];
	command_done	 done;
	void		*arg;
};

static LIST_HEAD(, command)	running = LIST_HEAD_INITIALIZER(running);

static void
on_closed(uv_handle_t *handle)
{
	struct command	*c = handle->data;

	if (--c->open_handles > 0)
		return;
	mem_wipe(c->output, sizeof c->output);
	mem_wipe(c->chunk, sizeof c->chunk);
	mem_free(c->input);
	mem_free(c->name);
	mem_free(c);
}

static void
close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

/* Its last words may still be on their way when it has ended. */
static void
hear_last_words(struct command *c)
{
	char		bytes[sizeof c->said];
	uv_os_fd_t	fd;
	ssize_t		n = 0;

	if (c->said[0] == '\0' &&
	    uv_fileno((uv_handle_t *)&c->err, &fd) == 0)
		n = read(fd, bytes, sizeof bytes);	/* never waits */
	if (n > 0)
		text_clean(c->said, sizeof c->said, bytes, (size_t)n);
}

/* What a shell with -x tells may have the secret in it. */
static void
take_last_words(struct command *c)
{
	hear_last_words(c);
	text_scrub(c->said, c->output);
	if (c->said[0] == '\0')
		return;
	log_warn("command=%s says: %s", c->name, c->said);
	if (c->why[0] != '\0') {
		text_append(c->why, sizeof c->why, ": ");
		text_append(c->why, sizeof c->why, c->said);
	}
}

static void
finish(struct command *c)
{
	if (c->finished)
		return;
	c->finished = true;
	LIST_REMOVE(c, next);
	c->output[strcspn(c->output, "\r\n")] = '\0';
	take_last_words(c);
	c->done(c->arg, c->ok && c->why[0] == '\0', c->output, c->why);
	close_handle((uv_handle_t *)&c->process);
	close_handle((uv_handle_t *)&c->in);
	close_handle((uv_handle_t *)&c->out);
	close_handle((uv_handle_t *)&c->err);
	close_handle((uv_handle_t *)&c->timer);
}

/*
 * Its own group, which outlives it while a child of it is in the background.
 * A process that has its id by now is another one, and the group is gone.
 */
static void
kill_group(const struct command *c)
{
	pid_t	pid = c->process.pid;

	if (pid > 0 && (!c->exited || (kill(pid, 0) == -1 && errno == ESRCH)))
		(void)kill(-pid, SIGKILL);
}

static void
give_up(struct command *c, const char *why)
{
	if (c->why[0] == '\0')
		text_copy(c->why, sizeof c->why, why);
	kill_group(c);
}

/* False if that is more than it may say. */
static bool
keep(struct command *c, const char *bytes, size_t n)
{
	size_t	room = COMMAND_OUTPUT - c->output_len;

	memcpy(c->output + c->output_len, bytes, n < room ? n : room);
	c->output_len += n < room ? n : room;
	return (n <= room);
}

/* What it has said, and not whatever a child of it may yet say. */
static void
hear_rest(struct command *c)
{
	uv_os_fd_t	fd;
	ssize_t		n = 1;

	if (c->out_ended || uv_fileno((uv_handle_t *)&c->out, &fd) != 0)
		return;
	while (n > 0 && c->output_len < COMMAND_OUTPUT) {
		n = read(fd, c->chunk, sizeof c->chunk);	/* never waits */
		if (n > 0)
			(void)keep(c, c->chunk, (size_t)n);
	}
}

static void
maybe_finish(struct command *c)
{
	if (c->exited && c->out_ended)
		finish(c);
}

static void
on_exit_(uv_process_t *process, int64_t status, int signal_)
{
	struct command	*c = process->data;

	c->exited = true;
	c->ok = status == 0 && signal_ == 0;
	if (!c->ok && c->why[0] == '\0') {
		if (signal_ != 0)
			snprintf(c->why, sizeof c->why,
			    "the command died of signal %d", signal_);
		else
			snprintf(c->why, sizeof c->why,
			    "the command exited with status %lld",
			    (long long)status);
	}
	if (c->use == COMMAND_FOR_STATUS) {
		hear_rest(c);
		c->out_ended = true;
	}
	maybe_finish(c);
}

static void
on_timer(uv_timer_t *timer)
{
	struct command	*c = timer->data;

	give_up(c, "the command took too long");
	/* A grandchild that left the group may hold the pipe: do not wait. */
	c->out_ended = true;
	maybe_finish(c);
}

static void
on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
	struct command	*c = handle->data;

	(void)hint;
	*buf = uv_buf_init(c->chunk, sizeof c->chunk);
}

static void
on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct command	*c = stream->data;

	if (n < 0) {
		uv_read_stop(stream);
		c->out_ended = true;
		maybe_finish(c);
		return;
	}
	if (!keep(c, buf->base, (size_t)n) && c->use == COMMAND_FOR_OUTPUT)
		give_up(c, "the command printed more than 16 KiB");
}

static void
on_stderr(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct command	*c = stream->data;

	if (n < 0)
		uv_read_stop(stream);
	else if (n > 0 && c->said[0] == '\0')
		text_clean(c->said, sizeof c->said, buf->base, (size_t)n);
}

static void
on_written(uv_write_t *write, int status)
{
	struct command	*c = write->data;

	(void)status;			/* it need not read */
	close_handle((uv_handle_t *)&c->in);
}

static int
spawn(struct command *c, uv_loop_t *loop, const char *command)
{
	char			*argv[] = { mem_strdup("/bin/sh"),
				    mem_strdup("-c"), mem_strdup(command),
				    NULL };
	uv_stdio_container_t	 stdio[3] = {
		{ .flags = (uv_stdio_flags)(UV_CREATE_PIPE | UV_READABLE_PIPE),
		    .data.stream = (uv_stream_t *)&c->in },
		{ .flags = (uv_stdio_flags)(UV_CREATE_PIPE | UV_WRITABLE_PIPE),
		    .data.stream = (uv_stream_t *)&c->out },
		{ .flags = (uv_stdio_flags)(UV_CREATE_PIPE | UV_WRITABLE_PIPE),
		    .data.stream = (uv_stream_t *)&c->err },
	};
	uv_process_options_t	 options = {
		.file = "/bin/sh",
		.args = argv,
		.exit_cb = on_exit_,
		.flags = UV_PROCESS_DETACHED,
		.stdio = stdio,
		.stdio_count = 3,
	};
	int			 r;

	r = uv_spawn(loop, &c->process, &options);
	for (size_t i = 0; argv[i] != NULL; i++)
		mem_free(argv[i]);
	return (r);
}

static void
on_failed(uv_timer_t *timer)
{
	finish(timer->data);
}

void
command_run(uv_loop_t *loop, enum command_use use, const char *name,
    const char *command, const char *input, int64_t deadline_ms,
    command_done done, void *arg)
{
	struct command	*c = mem_alloc(sizeof *c);
	uv_buf_t	 buf;
	int		 r;

	LIST_INSERT_HEAD(&running, c, next);
	c->use = use;
	c->name = mem_strdup(name);
	c->input = mem_strdup(input);
	c->done = done;
	c->arg = arg;
	c->process.data = c->in.data = c->out.data = c->err.data =
	    c->timer.data = c->write.data = c;
	(void)uv_pipe_init(loop, &c->in, 0);
	(void)uv_pipe_init(loop, &c->out, 0);
	(void)uv_pipe_init(loop, &c->err, 0);
	(void)uv_timer_init(loop, &c->timer);
	c->open_handles = 5;
	if ((r = spawn(c, loop, command)) != 0) {
		snprintf(c->why, sizeof c->why, "cannot run the command: %s",
		    uv_strerror(r));
		(void)uv_timer_start(&c->timer, on_failed, 0, 0);
		return;
	}
	(void)uv_timer_start(&c->timer, on_timer, (uint64_t)deadline_ms, 0);
	(void)uv_read_start((uv_stream_t *)&c->out, on_alloc, on_output);
	(void)uv_read_start((uv_stream_t *)&c->err, on_alloc, on_stderr);
	buf = uv_buf_init(c->input, (unsigned)strlen(c->input));
	if (buf.len == 0 || uv_write(&c->write, (uv_stream_t *)&c->in, &buf, 1,
	    on_written) != 0)
		close_handle((uv_handle_t *)&c->in);
}

void
command_kill_all(void)
{
	struct command	*c, *next;

	for (c = LIST_FIRST(&running); c != NULL; c = next) {
		next = LIST_NEXT(c, next);
		give_up(c, "it was ended");
		/* As on_timer(): nobody waits for a grandchild. */
		c->out_ended = true;
		maybe_finish(c);
	}
}
