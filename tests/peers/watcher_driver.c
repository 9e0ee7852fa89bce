#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/random.h>
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
 * Plays the monitor to one mailflow-watcher:
 *
 *	watcher_driver WATCHER
 *
 * reads commands from standard input, one a line, and prints what the
 * watcher sends as lines of key=value, tab-separated:
 *
 *	mailbox ID [key=value ...]	keys of struct frame_mailbox; secret=
 *	mark ID FOLDER UIDVALIDITY UID
 *	watch ID | forget ID
 *	expect ID TOKEN
 *	clean ID FOLDER UIDVALIDITY UID TOKEN
 *	token MAILBOX			makes one and prints it
 *	cpu				what the watcher has used so far
 *	slots				which mailboxes its threads have in hand
 *	quit
 *
 * Exit status 0: the watcher ended well once its socket was closed.
 */

#define WATCHER_FD	3
#define SLOTS_FD	4
#define BOXES		1024
#define INSTANCE	"driver"

struct waiting {
	STAILQ_ENTRY(waiting)	 next;
	size_t			 len;
	unsigned char		 bytes[];
};

struct driver {
	int		 fd;
	STAILQ_HEAD(, waiting) waiting;
	pid_t		 pid;
	struct token_key key;
	char		*secrets[BOXES];	/* owned; by id */
	const uint32_t	*slots;			/* mapped */
};

static const char *const	looks[] = { "good", "blind" };
static const char *const	cleans[] = { "removed", "gone", "left" };

/* What waits goes first; false while there is no room. */
static bool
send_waiting(struct driver *d)
{
	struct waiting	*x;

	while ((x = STAILQ_FIRST(&d->waiting)) != NULL) {
		if (send(d->fd, x->bytes, x->len, MSG_NOSIGNAL |
		    MSG_DONTWAIT) == -1) {
			if (errno == EAGAIN)
				return (false);
			fprintf(stderr, "send: %s\n", strerror(errno));
		}
		STAILQ_REMOVE_HEAD(&d->waiting, next);
		mem_free(x);
	}
	return (true);
}

/* Never blocks: the watcher may be waiting for us to read. */
static void
send_frame(struct driver *d, enum frame_type type, const void *body)
{
	static unsigned char	 buf[FRAME_MAX];
	struct waiting		*x;
	size_t			 len;

	if ((len = frame_encode(buf, type, body)) == 0)
		panic("frame %s does not fit", frame_name(type));
	x = mem_alloc(sizeof *x + len);
	x->len = len;
	memcpy(x->bytes, buf, len);
	STAILQ_INSERT_TAIL(&d->waiting, x, next);
	(void)send_waiting(d);
}

/* What the watcher says. */

static void
print_stamp(const char *name, const struct stamp *s)
{
	printf("\t%s=%lld", name, (long long)s->wall_ms);
}

static void
print_arrival(const struct frame_arrival *f)
{
	printf("arrival\tid=%u\ttoken=%s\tis_probe=%d\tfolder=%s\tjunk=%d"
	    "\tuidvalidity=%u\tuid=%u\tinternal_ms=%lld\thops=%d"
	    "\tslowest_hop=%s\tauth_results=%s", f->id, f->token, f->is_probe,
	    f->folder, f->junk, f->uidvalidity, f->uid,
	    (long long)f->internal_ms, f->hops, f->slowest_hop,
	    f->auth_results);
	print_stamp("seen", &f->seen);
	print_stamp("last_look", &f->last_look);
	putchar('\n');
}

static void
print_look(const struct frame_look *f)
{
	printf("look\tid=%u\tstate=%s\tclass=%s\tretry_ms=%lld\treason=%s"
	    "\twarning=%s\tignored=%u", f->id, looks[f->state],
	    class_name((enum outcome_class)f->class), (long long)f->retry_ms,
	    f->reason, f->warning, f->ignored);
	print_stamp("at", &f->at);
	putchar('\n');
}

static void
answer_secret(struct driver *d, uint32_t id)
{
	static struct frame_secret	f;
	const char			*secret;

	secret = id < BOXES ? d->secrets[id] : NULL;
	f = (struct frame_secret){ .id = id, .ok = secret != NULL };
	text_copy(f.secret, sizeof f.secret, secret != NULL ? secret : "");
	text_copy(f.why, sizeof f.why, secret != NULL ? "" : "no secret");
	printf("secret-ask\tid=%u\n", id);
	send_frame(d, FRAME_SECRET, &f);
}

/* False at the end of file. */
static bool
receive(struct driver *d)
{
	static union frame_body	body;
	unsigned char		buf[FRAME_MAX];
	const char		*why;
	ssize_t			n;
	enum frame_type		type;

	if ((n = recv(d->fd, buf, sizeof buf, 0)) <= 0)
		return (false);
	type = frame_decode(buf, (size_t)n, &body, &why);
	if (type == FRAME_HELLO)
		printf("hello\tprogram=%s\n", body.hello.program);
	else if (type == FRAME_ARRIVAL)
		print_arrival(&body.arrival);
	else if (type == FRAME_LOOK)
		print_look(&body.look);
	else if (type == FRAME_MARK)
		printf("mark\tid=%u\tfolder=%s\tuidvalidity=%u\tuid=%u\n",
		    body.mark.id, body.mark.folder, body.mark.uidvalidity,
		    body.mark.uid);
	else if (type == FRAME_CLEANED)
		printf("cleaned\tid=%u\tstate=%s\tfolder=%s\tuid=%u"
		    "\ttoken=%s\n", body.cleaned.id,
		    cleans[body.cleaned.state], body.cleaned.folder,
		    body.cleaned.uid, body.cleaned.token);
	else if (type == FRAME_SECRET_ASK)
		answer_secret(d, body.secret_ask.id);
	else
		printf("bad-frame\twhy=%s\n", type == 0 ? why :
		    frame_name(type));
	fflush(stdout);
	return (true);
}

/* What it is told. */

enum kind { TEXT, LIST, NUMBER, MILLISECONDS, FLAG };

static const struct {
	const char	*key;
	enum kind	 kind;
	size_t		 offset;
	size_t		 size;
} keys[] = {
#define M(k, m)	{ #m, k, offsetof(struct frame_mailbox, m), \
		    sizeof ((struct frame_mailbox *)NULL)->m }
	M(TEXT, name), M(TEXT, host), M(NUMBER, port), M(NUMBER, tls),
	M(TEXT, ca_file), M(FLAG, insecure_auth), M(TEXT, user),
	M(FLAG, oauth), M(TEXT, source_address), M(NUMBER, family),
	M(MILLISECONDS, connect_timeout_ms), M(MILLISECONDS, timeout_ms),
	M(MILLISECONDS, auth_pause_ms), M(LIST, folders), M(TEXT, junk),
	M(LIST, froms), M(MILLISECONDS, poll_ms), M(FLAG, idle),
	M(MILLISECONDS, burst_ms), M(NUMBER, expunge), M(TEXT, authserv_id), M(TEXT, maildir),
#undef M
};

/* Lists are given with commas, spaces as "%20". */
static void
set_text(char *dst, size_t size, const char *value, bool list)
{
	size_t	n = 0;

	for (; *value != '\0' && n + 1 < size; value++) {
		if (strncmp(value, "%20", 3) == 0) {
			dst[n++] = ' ';
			value += 2;
		} else
			dst[n++] = (char)(list && *value == ',' ? '\n' :
			    *value);
	}
	dst[n] = '\0';
}

static void
set(struct frame_mailbox *f, const char *key, const char *value)
{
	char	*at;
	size_t	 i;

	for (i = 0; i < NITEMS(keys) && strcmp(keys[i].key, key) != 0; i++)
		;
	if (i == NITEMS(keys)) {
		fprintf(stderr, "no such key: %s\n", key);
		return;
	}
	at = (char *)f + keys[i].offset;
	switch (keys[i].kind) {
	case TEXT:
	case LIST:
		set_text(at, keys[i].size, value, keys[i].kind == LIST);
		break;
	case NUMBER:
		*(uint32_t *)(void *)at = (uint32_t)strtoul(value, NULL, 10);
		break;
	case MILLISECONDS:
		*(int64_t *)(void *)at = strtoll(value, NULL, 10);
		break;
	case FLAG:
		*(bool *)at = strcmp(value, "1") == 0;
		break;
	}
}

static void
do_mailbox(struct driver *d, uint32_t id, char *rest)
{
	struct frame_mailbox	f = {
		.id = id, .host = "127.0.0.1", .insecure_auth = true,
		.user = "user", .connect_timeout_ms = 5000,
		.timeout_ms = 5000, .auth_pause_ms = 3600000,
		.folders = "INBOX", .junk = "none",
		.froms = "probe@example.org", .poll_ms = 60000,
		.idle = true, .burst_ms = 2000,
	};
	char	*word, *equals, *save = NULL, secret[256];

	text_copy(f.name, sizeof f.name, "box");
	if (id < BOXES && d->secrets[id] == NULL)
		d->secrets[id] = mem_strdup("secret");
	for (word = strtok_r(rest, " ", &save); word != NULL;
	    word = strtok_r(NULL, " ", &save)) {
		if ((equals = strchr(word, '=')) == NULL)
			continue;
		*equals = '\0';
		if (strcmp(word, "secret") == 0 && id < BOXES) {
			set_text(secret, sizeof secret, equals + 1, false);
			mem_free(d->secrets[id]);
			d->secrets[id] = secret[0] != '\0' ?
			    mem_strdup(secret) : NULL;
		} else
			set(&f, word, equals + 1);
	}
	send_frame(d, FRAME_MAILBOX, &f);
}

static void
do_mark(struct driver *d, uint32_t id, char *rest)
{
	struct frame_mark	f = { .id = id };

	if (sscanf(rest, "%511s %u %u", f.folder, &f.uidvalidity,
	    &f.uid) == 3)
		send_frame(d, FRAME_MARK, &f);
}

static void
do_watch(struct driver *d, uint32_t id, char *rest)
{
	struct frame_watch	f = { .id = id };

	(void)rest;
	send_frame(d, FRAME_WATCH, &f);
}

static void
do_forget(struct driver *d, uint32_t id, char *rest)
{
	struct frame_forget	f = { .id = id };

	(void)rest;
	send_frame(d, FRAME_FORGET, &f);
}

static void
do_expect(struct driver *d, uint32_t id, char *rest)
{
	struct frame_expect	f = { .id = id, .accepted = clock_now() };

	text_copy(f.token, sizeof f.token, rest);
	send_frame(d, FRAME_EXPECT, &f);
}

static void
do_clean(struct driver *d, uint32_t id, char *rest)
{
	struct frame_clean	f = { .id = id };

	if (sscanf(rest, "%511s %u %u %36s", f.folder, &f.uidvalidity, &f.uid,
	    f.token) == 4)
		send_frame(d, FRAME_CLEAN, &f);
}

static void
do_token(struct driver *d, const char *mailbox)
{
	unsigned char	random[TOKEN_RANDOM];
	char		token[TOKEN_SIZE];

	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		panic("getrandom");
	token_make(token, &d->key, INSTANCE, mailbox, random);
	printf("token\t%s\n", token);
}

/* Ticks of the process, all its threads, from its stat file. */
static void
do_cpu(const struct driver *d)
{
	char		 path[64], line[1024], *p;
	unsigned long	 user = 0, system = 0;
	FILE		*f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)d->pid);
	if ((f = fopen(path, "re")) == NULL)
		return;
	if (fgets(line, sizeof line, f) != NULL &&
	    (p = strrchr(line, ')')) != NULL)
		(void)sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
		    "%*u %lu %lu", &user, &system);
	fclose(f);
	printf("cpu\tms=%lu\n", (user + system) * 1000 /
	    (unsigned long)sysconf(_SC_CLK_TCK));
}

static void
do_slots(const struct driver *d)
{
	printf("slots\tids=%u,%u,%u,%u\n", d->slots[0], d->slots[1],
	    d->slots[2], d->slots[3]);
}

static const struct {
	const char	*name;
	void		 (*act)(struct driver *, uint32_t, char *);
} commands[] = {
	{ "mailbox", do_mailbox },
	{ "mark", do_mark },
	{ "watch", do_watch },
	{ "forget", do_forget },
	{ "expect", do_expect },
	{ "clean", do_clean },
};

/* False at "quit". */
static bool
obey(struct driver *d, char *line)
{
	char	*rest, *more;
	size_t	 i;

	line[strcspn(line, "\n")] = '\0';
	rest = line + strcspn(line, " ");
	if (*rest != '\0')
		*rest++ = '\0';
	if (strcmp(line, "quit") == 0)
		return (false);
	if (strcmp(line, "token") == 0)
		do_token(d, rest);
	else if (strcmp(line, "cpu") == 0)
		do_cpu(d);
	else if (strcmp(line, "slots") == 0)
		do_slots(d);
	for (i = 0; i < NITEMS(commands); i++)
		if (strcmp(line, commands[i].name) == 0) {
			uint32_t	id = (uint32_t)strtoul(rest, &more, 10);

			commands[i].act(d, id, more + strspn(more, " "));
		}
	fflush(stdout);
	return (true);
}

static void
say_key(struct driver *d)
{
	struct frame_key	f = { .instance = INSTANCE };
	size_t			i;

	memset(d->key.bytes, 0x42, sizeof d->key.bytes);
	for (i = 0; i < TOKEN_KEY; i++)
		snprintf(f.key_hex + 2 * i, 3, "%02x", d->key.bytes[i]);
	send_frame(d, FRAME_KEY, &f);
}

static void
start(struct driver *d, char *watcher)
{
	int	pair[2], slots;
	char	*argv[] = { watcher, NULL };

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		panic("socketpair: %s", strerror(errno));
	if ((slots = memfd_create("slots", MFD_CLOEXEC)) == -1 ||
	    ftruncate(slots, 4096) != 0)
		panic("memfd: %s", strerror(errno));
	d->slots = mmap(NULL, 4096, PROT_READ, MAP_SHARED, slots, 0);
	if (d->slots == MAP_FAILED)
		panic("mmap: %s", strerror(errno));
	if ((d->pid = fork()) == -1)
		panic("fork: %s", strerror(errno));
	if (d->pid == 0) {
		/* Out of the way of the numbers that are wanted. */
		int	fd = fcntl(pair[1], F_DUPFD, 16);
		int	memfd = fcntl(slots, F_DUPFD, 16);

		dup2(fd, WATCHER_FD);
		dup2(memfd, SLOTS_FD);
		close(fd);
		close(memfd);
		execv(watcher, argv);
		_exit(127);
	}
	close(pair[1]);
	close(slots);
	d->fd = pair[0];
}

static int
finish(struct driver *d)
{
	struct rusage	u;
	int		status;

	close(d->fd);
	if (wait4(d->pid, &status, 0, &u) != d->pid)
		return (1);
	printf("end\tstatus=%d\tsignal=%d\tcpu_ms=%ld\tmax_rss_kib=%ld\n",
	    WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	    WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	    u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000 +
	    u.ru_stime.tv_sec * 1000 + u.ru_stime.tv_usec / 1000, u.ru_maxrss);
	return (WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1);
}

int
main(int argc, char **argv)
{
	static struct driver	d;
	static char		buf[65536];
	size_t			have = 0;
	ssize_t			n;
	char			*lf;
	bool			go = true;

	if (argc != 2) {
		fprintf(stderr, "usage: watcher_driver WATCHER\n");
		return (64);
	}
	STAILQ_INIT(&d.waiting);
	start(&d, argv[1]);
	say_key(&d);
	while (go) {
		struct pollfd	p[] = { { .fd = d.fd, .events = POLLIN },
				    { .fd = 0, .events = POLLIN } };

		if (!STAILQ_EMPTY(&d.waiting))
			p[0].events |= POLLOUT;
		if (poll(p, NITEMS(p), -1) < 0 && errno != EINTR)
			break;
		if ((p[0].revents & POLLOUT) != 0)
			(void)send_waiting(&d);
		if ((p[0].revents & ~POLLOUT) != 0 && !receive(&d))
			break;
		if (p[1].revents == 0)
			continue;
		if ((n = read(0, buf + have, sizeof buf - 1 - have)) <= 0)
			break;
		have += (size_t)n;
		buf[have] = '\0';
		while (go && (lf = strchr(buf, '\n')) != NULL) {
			*lf = '\0';
			go = obey(&d, buf);
			have -= (size_t)(lf + 1 - buf);
			memmove(buf, lf + 1, have + 1);
		}
	}
	return (finish(&d));
}
