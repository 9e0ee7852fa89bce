#include "monitor/smtp_library.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <auth-client.h>
#include <libesmtp.h>

#include "monitor/mem.h"
#include "monitor/sasl.h"
#include "monitor/text.h"

/* Where libESMTP is told to go; nobody listens at discard. */
#define DOOR_TEXT	"127.0.0.1:9"
#define DOOR_PORT	9

/*
 * The plugin for PLAIN copies both into a fixed buffer of this much each,
 * without looking; the one for LOGIN goes through 2 KiB of base 64.
 */
#define PLAIN_MAX	255
#define LOGIN_MAX	1024

/* Where the source of the message stands. */
struct source {
	const struct frame_job	*job;		/* borrowed */
	bool			 begun;
	int64_t			 pad;		/* bytes still to be added */
	char			 line[SMTP_PAD_LINE];
};

struct smtp_library {
	const struct frame_job	*job;		/* borrowed */
	bool			 eightbit;
	bool			 login;
	pthread_t		 thread;
	int			 fd;		/* owned; our end */
	int			 door;		/* owned by the thread: its end */
	atomic_bool		 stop;
	struct source		 source;
};

/* The way in */

/* The thread's end while its one connect() is awaited; -1: not armed. */
static _Thread_local int	armed = -1;

static bool
is_door(const struct sockaddr *a, socklen_t len)
{
	const struct sockaddr_in	*in;

	if (a == NULL || len < sizeof *in || a->sa_family != AF_INET)
		return (false);
	in = (const struct sockaddr_in *)(const void *)a;
	return (in->sin_port == htons(DOOR_PORT) &&
	    in->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
}

/*
 * Every connect() of the program lands here, those of c-ares and others
 * too; only libESMTP's, once per session, is led elsewhere.  Default
 * visibility, or the library would not find it and dial for real.
 */
int	connect(int, const struct sockaddr *, socklen_t)
	    __attribute__((visibility("default")));

int
connect(int fd, const struct sockaddr *a, socklen_t len)
{
	int	end = armed;

	if (end == -1 || !is_door(a, len))
		return ((int)syscall(SYS_connect, fd, a, len));
	armed = -1;
	if (dup3(end, fd, O_CLOEXEC) == -1)
		end = -1;
	return (end == -1 ? -1 : 0);
}

/* The message */

int64_t
smtp_library_size(const struct frame_job *job)
{
	int64_t	len = (int64_t)strlen(job->message);

	return (job->size > len + 1 ? job->size : len);
}

/*
 * Called by libESMTP for the next bytes, with len NULL to begin anew.  *ctx
 * is for what the library should free: nothing.
 */
static const char *
next_bytes(void **ctx, int *len, void *arg)
{
	struct smtp_library	*lib = arg;
	struct source		*src = &lib->source;
	size_t			 n;

	(void)ctx;
	if (len == NULL) {
		src->begun = false;
		src->pad = smtp_library_size(src->job) -
		    (int64_t)strlen(src->job->message);
		return (NULL);
	}
	*len = 0;
	if (atomic_load(&lib->stop))
		return (NULL);
	if (!src->begun) {
		src->begun = true;
		*len = (int)strlen(src->job->message);
		return (src->job->message);
	}
	if ((n = smtp_pad_line(src->pad, src->line)) == 0)
		return (NULL);
	src->pad -= (int64_t)n;
	*len = (int)n;
	return (src->line);
}

static bool
has_8bit(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s >= 0x80)
			return (true);
	return (false);
}

/* The login */

unsigned
smtp_library_mechanism(const struct frame_job *job,
    const struct smtp_features *f)
{
	size_t	user = strlen(job->user), secret = strlen(job->secret);

	if ((f->auth & SASL_PLAIN) != 0 && user <= PLAIN_MAX &&
	    secret <= PLAIN_MAX)
		return (SASL_PLAIN);
	if ((f->auth & SASL_LOGIN) != 0 && user <= LOGIN_MAX &&
	    secret <= LOGIN_MAX)
		return (SASL_LOGIN);
	return (0);
}

/*
 * libESMTP asks for what a mechanism needs and only reads the answers, but
 * wants them without const.
 */
static int
answer(auth_client_request_t request, char **result, int fields, void *arg)
{
	struct smtp_library	*lib = arg;
	union {
		const char	*given;
		char		*taken;
	} u;

	for (int i = 0; i < fields; i++) {
		if ((request[i].flags & AUTH_USER) != 0)
			u.given = lib->job->user;
		else if ((request[i].flags & AUTH_PASS) != 0)
			u.given = lib->job->secret;
		else
			return (0);
		result[i] = u.taken;
	}
	return (1);
}

static auth_context_t
login_context(struct smtp_library *lib)
{
	auth_context_t	auth;

	if (!lib->login || (auth = auth_create_context()) == NULL)
		return (NULL);
	auth_set_mechanism_flags(auth, AUTH_PLUGIN_PLAIN, 0);
	auth_set_interact_cb(auth, answer, lib);
	return (auth);
}

/* The session, in the thread */

/*
 * The pump keeps the time and hangs up; the library's own limits, in
 * milliseconds and per poll, only have to be longer.
 */
static void
set_timeouts(smtp_session_t session, int64_t deadline_ms)
{
	static const enum rfc2822_timeouts	all[] = {
		Timeout_GREETING, Timeout_ENVELOPE, Timeout_DATA,
		Timeout_TRANSFER, Timeout_DATA2,
	};
	long	ms = deadline_ms > INT32_MAX / 2 ? INT32_MAX / 2 :
		    (long)deadline_ms + 60000;

	for (size_t i = 0; i < NITEMS(all); i++)
		smtp_set_timeout(session,
		    (int)all[i] | Timeout_OVERRIDE_RFC2822_MINIMUM, ms);
}

static void
set_message(struct smtp_library *lib, smtp_session_t session)
{
	const struct frame_job	*job = lib->job;
	smtp_message_t		 message = smtp_add_message(session);
	smtp_recipient_t	 recipient;

	smtp_set_messagecb(message, next_bytes, lib);
	smtp_set_reverse_path(message, job->from[0] != '\0' ? job->from : NULL);
	recipient = smtp_add_recipient(message, job->to);
	smtp_size_set_estimate(message,
	    (unsigned long)smtp_library_size(job));
	smtp_dsn_set_ret(message, Ret_HDRS);
	if (job->envid[0] != '\0')
		smtp_dsn_set_envid(message, job->envid);
	smtp_dsn_set_notify(recipient, job->notify_never ? Notify_NEVER :
	    (enum notify_flags)(Notify_FAILURE | Notify_DELAY));
	if (lib->eightbit && has_8bit(job->message))
		smtp_8bitmime_set_body(message, E8bitmime_8BITMIME);
}

/* What it returns tells nothing that the pump does not know better. */
static void *
speak(void *arg)
{
	struct smtp_library	*lib = arg;
	smtp_session_t		 session = smtp_create_session();
	auth_context_t		 auth = login_context(lib);

	armed = lib->door;
	smtp_set_server(session, DOOR_TEXT);
	smtp_set_hostname(session, "mailflowd");
	smtp_option_require_all_recipients(session, 1);
	set_timeouts(session, lib->job->deadline_ms);
	set_message(lib, session);
	if (auth != NULL)
		smtp_auth_set_context(session, auth);
	(void)smtp_start_session(session);
	smtp_destroy_session(session);
	if (auth != NULL)
		auth_destroy_context(auth);
	armed = -1;
	close(lib->door);
	return (NULL);
}

struct smtp_library *
smtp_library_begin(const struct frame_job *job, const struct smtp_features *f)
{
	struct smtp_library	*lib = mem_alloc(sizeof *lib);
	int			 ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
	    ends) != 0)
		panic("socketpair: %s", strerror(errno));
	lib->job = job;
	lib->fd = ends[0];
	lib->door = ends[1];
	lib->eightbit = f->eightbit;
	lib->login = smtp_library_mechanism(job, f) != 0 && !job->oauth &&
	    job->user[0] != '\0';
	lib->source.job = job;
	if (pthread_create(&lib->thread, NULL, speak, lib) != 0)
		panic("pthread_create");
	return (lib);
}

int
smtp_library_fd(const struct smtp_library *lib)
{
	return (lib->fd);
}

void
smtp_library_hang_up(struct smtp_library *lib)
{
	atomic_store(&lib->stop, true);
	if (lib->fd != -1)
		close(lib->fd);
	lib->fd = -1;
}

bool
smtp_library_end(struct smtp_library **libp)
{
	struct smtp_library	*lib = *libp;
	struct timespec		 until;

	*libp = NULL;
	if (lib == NULL)
		return (true);
	smtp_library_hang_up(lib);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	if (pthread_clockjoin_np(lib->thread, NULL, CLOCK_MONOTONIC,
	    &until) != 0)
		return (false);
	mem_free(lib);
	return (true);
}
