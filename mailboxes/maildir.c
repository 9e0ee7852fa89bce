#include "mailboxes/maildir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mailboxes/folder_name.h"
#include "mailboxes/maildir_names.h"
#include "monitor/clock.h"
#include "monitor/mem.h"
#include "monitor/text.h"

/*
 * How far back a folder is read: one never seen before, and one that was read
 * by a watcher before this one, whose removals may not have been done.
 */
#define FIRST_LOOK	200
#define LOOK_AGAIN_S	600
#define HEAD_MAX	(64 * 1024)	/* read at first */
#define REMOVE_TRIES	3
#define RECENT		16
#define MAILS_A_STEP	256		/* then the thread serves another */

static const char *const	subs[] = { "new", "cur" };
#define NEW	0
#define SUBS	NITEMS(subs)

/* A mail that has not been looked at. */
struct fresh {
	char		*name;		/* owned */
	unsigned	 sub;
	int64_t		 at_ms;		/* when it came: its file's date */
};

/* One that has been: its name need not be searched for. */
struct recent {
	char		*name;		/* owned */
	uint64_t	 hash;
	unsigned	 sub;
};

struct maildir_folder {
	struct maildir_names	 names[SUBS];
	struct recent		 recent[RECENT];
	size_t			 recent_next;
	struct fresh		*fresh;		/* owned list */
	size_t			 count;
	struct stamp		 seen;		/* when the first was learnt of */
};

struct mailbox_session {
	int			 dir;		/* the Maildir; owned */
	int			 notify;	/* inotify; owned; -1: none */
	int			 watches[SUBS];	/* its, on the first folder */
	struct maildir_folder	*folders;	/* owned; as the box's */
	size_t			 folder_count;
	bool			 overflow;	/* names were lost: scan */
	bool			 moved;		/* it is no longer there */
};

struct look {
	struct mailbox_box		*box;
	struct mailbox_folder		*folder;
	struct maildir_folder		*dir;
	unsigned			 sub;		/* being scanned */
	const struct mailbox_sink	*sink;
	struct stamp			 began;
	int				 mails;		/* left in this step */
};

/* Closing. */

static void
forget_mails(struct maildir_folder *f)
{
	for (size_t i = 0; i < f->count; i++)
		mem_free(f->fresh[i].name);
	mem_free(f->fresh);
	f->fresh = NULL;
	f->count = 0;
	for (size_t i = 0; i < RECENT; i++) {
		mem_free(f->recent[i].name);
		f->recent[i].name = NULL;
	}
}

static void
close_session(struct mailbox_box *box)
{
	struct mailbox_session	*s = box->session;

	if (s == NULL)
		return;
	box->session = NULL;
	for (size_t i = 0; i < s->folder_count; i++) {
		for (size_t k = 0; k < SUBS; k++)
			maildir_names_close(&s->folders[i].names[k]);
		forget_mails(&s->folders[i]);
	}
	mem_free(s->folders);
	if (s->dir >= 0)
		close(s->dir);
	if (s->notify >= 0)
		close(s->notify);
	mem_free(s);
}

static int
lost(struct mailbox_box *box, const char *what, struct mailbox_trouble *trouble)
{
	const char	*why = strerror(errno);

	trouble->retry = MAILBOX_BACK_OFF;
	trouble->class = CLASS_OTHER;
	trouble->reason[0] = '\0';
	(void)text_appendf(trouble->reason, sizeof trouble->reason,
	    "%s/%s: %s", box->maildir, what, why);
	close_session(box);
	return (-1);
}

/* Opening. */

/* Where a folder lies in the Maildir: itself for INBOX, else ".Name". */
static void
directory_of(const char *folder, const char *sub, char *buf, size_t size)
{
	bool	top = strcmp(folder, "INBOX") == 0;

	buf[0] = '\0';
	(void)text_appendf(buf, size, "%s%s%s%s", top ? "" : ".",
	    top ? "" : folder, top ? "" : "/", sub);
}

/* 0, or -1 with errno, nothing open. */
static int
open_folder(const struct mailbox_session *s, const struct mailbox_folder *f,
    struct maildir_folder *out)
{
	char	path[PATH_MAX];
	size_t	i;

	for (i = 0; i < SUBS; i++)
		out->names[i].fd = -1;
	if (strchr(f->name, '/') != NULL) {
		errno = EINVAL;
		return (-1);
	}
	for (i = 0; i < SUBS; i++) {
		directory_of(f->name, subs[i], path, sizeof path);
		if (maildir_names_open(&out->names[i], s->dir, path) != 0) {
			maildir_names_close(&out->names[NEW]);
			return (-1);
		}
	}
	return (0);
}

static bool
has_folder(const struct mailbox_box *box, const char *name)
{
	for (size_t i = 0; i < box->folder_count; i++)
		if (strcmp(box->folders[i].name, name) == 0)
			return (true);
	return (false);
}

/* The junk folder by its name, looked for once in the life of a box. */
static void
find_junk(struct mailbox_box *box)
{
	const char	*role;
	struct dirent	*d;
	int		 fd;
	DIR		*dir;

	if (box->searched || strcmp(box->junk, "auto") != 0)
		return;
	fd = openat(box->session->dir, ".", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	if (fd < 0 || (dir = fdopendir(fd)) == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] != '.' || has_folder(box, d->d_name + 1))
			continue;
		role = folder_role(d->d_name + 1, strlen(d->d_name + 1), '.');
		if (role == NULL || strcmp(role, "\\Junk") != 0)
			continue;
		box->folders = mem_grow(box->folders, box->folder_count + 1,
		    sizeof *box->folders);
		box->folders[box->folder_count++] = (struct mailbox_folder){
			.name = mem_strdup(d->d_name + 1), .junk = true };
		break;
	}
	closedir(dir);
	box->searched = true;
}

/* Without it the poll finds everything, only later. */
static int
watch_first(struct mailbox_box *box)
{
	struct mailbox_session	*s = box->session;
	char			 path[PATH_MAX], sub[PATH_MAX];
	int			 fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0)
		return (-1);
	for (size_t i = 0; i < SUBS; i++) {
		directory_of(box->folders[0].name, subs[i], sub, sizeof sub);
		path[0] = '\0';
		(void)text_appendf(path, sizeof path, "%s/%s", box->maildir,
		    sub);
		s->watches[i] = inotify_add_watch(fd, path, IN_CREATE |
		    IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
		if (s->watches[i] < 0) {
			close(fd);
			return (-1);
		}
	}
	s->notify = fd;
	return (0);
}

static int
open_maildir(struct mailbox_box *box, const char *secret,
    const struct mailbox_sink *sink, struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = mem_alloc(sizeof *s);

	(void)secret;
	box->session = s;
	s->notify = -1;
	s->dir = open(box->maildir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return (lost(box, "", trouble));
	find_junk(box);
	s->folders = mem_alloc(box->folder_count * sizeof *s->folders);
	s->folder_count = box->folder_count;
	for (size_t i = 0; i < s->folder_count; i++)
		if (open_folder(s, &box->folders[i], &s->folders[i]) != 0 &&
		    i == 0) {
			s->folder_count = 0;
			return (lost(box, "new", trouble));
		}
	if (watch_first(box) != 0)
		sink->warn(sink->arg, "inotify cannot be had: the Maildir is "
		    "looked at by the poll alone");
	return (0);
}

/* What is new. */

static void
add_fresh(struct maildir_folder *f, unsigned sub, const char *name)
{
	struct stat	st;

	if (fstatat(f->names[sub].fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return;
	if (f->count == 0)
		f->seen = clock_now();
	f->fresh = mem_grow(f->fresh, f->count + 1, sizeof *f->fresh);
	f->fresh[f->count++] = (struct fresh){ mem_strdup(name), sub,
	    st.st_mtim.tv_sec * INT64_C(1000) + st.st_mtim.tv_nsec / 1000000 };
}

/* One name of a directory; it may be known from the other one. */
static void
on_fresh(void *arg, const char *name)
{
	struct look	*l = arg;
	uint64_t	 hash = maildir_hash(name);

	if (!maildir_names_known(&l->dir->names[1 - l->sub], hash))
		add_fresh(l->dir, l->sub, name);
}

static void
on_event(struct mailbox_session *s, const struct inotify_event *e)
{
	struct maildir_folder	*f = &s->folders[0];
	unsigned		 sub = e->wd == s->watches[NEW] ? NEW : 1 - NEW;
	uint64_t		 hash;

	s->overflow |= (e->mask & IN_Q_OVERFLOW) != 0;
	s->moved |= (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) !=
	    0;
	if ((e->mask & (IN_CREATE | IN_MOVED_TO)) == 0 || e->len == 0 ||
	    e->name[0] == '.')
		return;
	hash = maildir_hash(e->name);
	if (maildir_names_known(&f->names[0], hash) ||
	    maildir_names_known(&f->names[1], hash))
		return;
	/* Before the first scan everything is told by that. */
	if (f->names[sub].scanned.tv_sec == 0) {
		s->overflow = true;
		return;
	}
	maildir_names_learn(&f->names[sub], hash);
	add_fresh(f, sub, e->name);
}

/* Takes the names that the kernel tells. */
static void
drain(struct mailbox_session *s)
{
	_Alignas(struct inotify_event) char	 buf[8192];
	const struct inotify_event		*e;
	ssize_t					 n, at;

	while (s->notify >= 0 && (n = read(s->notify, buf, sizeof buf)) > 0)
		for (at = 0; at < n; at += (ssize_t)sizeof *e + e->len) {
			e = (const struct inotify_event *)(const void *)
			    (buf + at);
			on_event(s, e);
		}
}

static int
oldest_first(const void *a, const void *b)
{
	const struct fresh	*x = a, *y = b;

	return (x->at_ms < y->at_ms ? -1 : x->at_ms > y->at_ms);
}

/* A folder with a past: what is older was told, or is too old to matter. */
static void
drop_old(struct look *l)
{
	struct maildir_folder	*d = l->dir;
	struct mailbox_folder	*f = l->folder;
	int64_t			 from_ms;
	size_t			 n = 0, i;

	if (f->uidvalidity == 0)
		n = d->count > FIRST_LOOK ? d->count - FIRST_LOOK : 0;
	else if (f->told) {
		from_ms = ((int64_t)f->uid - LOOK_AGAIN_S) * 1000;
		while (n < d->count && d->fresh[n].at_ms < from_ms)
			n++;
	}
	for (i = 0; i < n; i++)
		mem_free(d->fresh[i].name);
	memmove(d->fresh, d->fresh + n, (d->count - n) * sizeof *d->fresh);
	d->count -= n;
}

/* 0, or -1 with errno. */
static int
scan(struct look *l)
{
	bool	first = l->dir->names[NEW].scanned.tv_sec == 0;

	/* cur first: a mail that has moved there is still known from new. */
	for (l->sub = SUBS; l->sub-- > 0;)
		if (maildir_names_scan(&l->dir->names[l->sub], on_fresh, l) !=
		    0)
			return (-1);
	if (l->dir->count > 1)
		qsort(l->dir->fresh, l->dir->count, sizeof *l->dir->fresh,
		    oldest_first);
	if (first && l->dir->count > 0)
		drop_old(l);
	l->folder->uidvalidity = 1;
	l->folder->told = false;
	return (0);
}

/* Reading. */

/* A mail's beginning; owned; NULL if it is gone or no file. */
static char *
read_mail(int dir, const char *name, size_t most, size_t *len_r)
{
	int		 fd = openat(dir, name, O_RDONLY | O_NOFOLLOW |
			    O_NONBLOCK | O_CLOEXEC);
	struct stat	 st;
	char		*text;
	ssize_t		 n = 0;

	*len_r = 0;
	if (fd < 0)
		return (NULL);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return (NULL);
	}
	if ((uint64_t)st.st_size < most)
		most = (size_t)st.st_size;
	text = mem_alloc(most + 1);
	while (*len_r < most &&
	    (n = read(fd, text + *len_r, most - *len_r)) > 0)
		*len_r += (size_t)n;
	close(fd);
	if (n < 0) {
		mem_free(text);
		return (NULL);
	}
	return (text);
}

/* Where the body begins; len without one. */
static size_t
body_at(const char *text, size_t len)
{
	static const char *const	ends[] = { "\n\n", "\n\r\n" };
	const char			*at, *first = NULL;
	size_t				 n = 0;

	for (size_t i = 0; i < NITEMS(ends); i++) {
		at = memmem(text, len, ends[i], strlen(ends[i]));
		if (at != NULL && (first == NULL || at < first)) {
			first = at;
			n = strlen(ends[i]);
		}
	}
	return (first != NULL ? (size_t)(first - text) + n : len);
}

/* The name of the mail with that hash in a directory; owned; or NULL. */
static char *
name_of(const struct maildir_names *n, uint64_t hash)
{
	int		 fd = openat(n->fd, ".", O_RDONLY | O_DIRECTORY |
			    O_CLOEXEC);
	DIR		*dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent	*d;
	char		*name = NULL;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return (NULL);
	}
	while (name == NULL && (d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.' && maildir_hash(d->d_name) == hash)
			name = mem_strdup(d->d_name);
	closedir(dir);
	return (name);
}

/* A mail reader may have moved it meanwhile, to cur under another name. */
static char *
read_fresh(const struct look *l, const struct fresh *f, size_t most,
    size_t *len_r)
{
	char	*text, *name;

	text = read_mail(l->dir->names[f->sub].fd, f->name, most, len_r);
	for (unsigned i = SUBS; text == NULL && errno == ENOENT && i-- > 0;) {
		name = name_of(&l->dir->names[i], maildir_hash(f->name));
		if (name != NULL)
			text = read_mail(l->dir->names[i].fd, name, most,
			    len_r);
		errno = ENOENT;
		mem_free(name);
	}
	return (text);
}

/* What was read lately will be asked for to be removed. */
static void
note_recent(struct maildir_folder *d, const struct fresh *f)
{
	struct recent	*r = &d->recent[d->recent_next++ % RECENT];

	r->hash = maildir_hash(f->name);
	r->sub = f->sub;
	mem_free(r->name);
	r->name = mem_strdup(f->name);
}

static void
hand_up(struct look *l, const struct fresh *f)
{
	struct mailbox_mail	 m = {
		.folder = l->folder,
		.uidvalidity = (uint32_t)(maildir_hash(f->name) >> 32),
		.uid = (uint32_t)maildir_hash(f->name),
		.seen = l->dir->seen,
		.last_look = l->folder->looked,
		.internal_ms = f->at_ms,
	};
	enum mailbox_want	 want;
	size_t			 len, at;
	char			*text = read_fresh(l, f, HEAD_MAX, &len), *all;

	if (text == NULL)
		return;
	note_recent(l->dir, f);
	at = body_at(text, len);
	m.head = text;
	m.head_len = at;
	want = l->sink->mail(l->sink->arg, &m);
	if (want == MAILBOX_BODY) {
		m.body = text + at;
		m.body_len = len - at;
		(void)l->sink->mail(l->sink->arg, &m);
	} else if (want == MAILBOX_WHOLE &&
	    (all = read_fresh(l, f, MAILBOX_WHOLE_MAX, &len)) != NULL) {
		m.whole = all;
		m.whole_len = len;
		(void)l->sink->mail(l->sink->arg, &m);
		mem_free(all);
	}
	mem_free(text);
}

static void
mark(struct look *l, int64_t at_ms)
{
	uint32_t	at_s = (uint32_t)(at_ms / 1000);

	if (at_s <= l->folder->uid)
		return;
	l->folder->uid = at_s;
	l->sink->mark(l->sink->arg, l->folder);
}

/* 0, or 1: more. */
static int
read_on(struct look *l)
{
	struct maildir_folder	*d = l->dir;
	int64_t			 newest_ms = 0;
	size_t			 i;

	if (d->count == 0)
		return (0);
	for (i = 0; i < d->count && l->mails-- > 0; i++) {
		hand_up(l, &d->fresh[i]);
		if (d->fresh[i].at_ms > newest_ms)
			newest_ms = d->fresh[i].at_ms;
		mem_free(d->fresh[i].name);
	}
	memmove(d->fresh, d->fresh + i, (d->count - i) * sizeof *d->fresh);
	d->count -= i;
	mark(l, newest_ms);
	return (d->count > 0);
}

/* 0, 1: more, -1 with errno. */
static int
look_at(struct look *l, size_t i, bool thorough)
{
	struct mailbox_session	*s = l->box->session;

	l->folder = &l->box->folders[i];
	l->dir = &s->folders[i];
	l->began = clock_now();
	if (thorough && scan(l) != 0)
		return (-1);
	if (read_on(l) != 0)
		return (1);
	l->folder->looked = l->began;
	return (0);
}

/* A folder that was not there may be by now. */
static bool
is_there(struct look *l, size_t i)
{
	struct mailbox_session	*s = l->box->session;
	struct mailbox_folder	*f = &l->box->folders[i];
	char			 sentence[OUTCOME_HOST] = "";

	if (s->folders[i].names[NEW].fd >= 0 ||
	    open_folder(s, f, &s->folders[i]) == 0) {
		f->missing = false;
		return (true);
	}
	(void)text_appendf(sentence, sizeof sentence,
	    "the folder \"%s\" cannot be opened: %s", f->name,
	    strerror(errno));
	if (!f->missing)
		l->sink->warn(l->sink->arg, sentence);
	f->missing = true;
	return (false);
}

/* The path leads to what was opened. */
static bool
still_there(const struct mailbox_box *box)
{
	struct stat	is, was;

	return (stat(box->maildir, &is) == 0 &&
	    fstat(box->session->dir, &was) == 0 &&
	    is.st_dev == was.st_dev && is.st_ino == was.st_ino);
}

static int
look(struct mailbox_box *box, bool all, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;
	struct look		 l = { .box = box, .sink = sink,
				    .mails = MAILS_A_STEP };
	bool			 thorough;
	int			 r;

	drain(s);
	if (s->moved || (all && !still_there(box))) {
		errno = ENOENT;
		return (lost(box, "new", trouble));
	}
	thorough = all || s->overflow || s->notify < 0;
	s->overflow = false;
	if ((r = look_at(&l, 0, thorough)) != 0)
		return (r > 0 ? 1 : lost(box, "new", trouble));
	for (size_t i = 1; all && i < box->folder_count; i++) {
		if (!is_there(&l, i))
			continue;
		if ((r = look_at(&l, i, true)) != 0)
			return (r > 0 ? 1 : lost(box, box->folders[i].name,
			    trouble));
	}
	return (0);
}

/* Waiting. */

static int
begin_wait(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	(void)trouble;
	return (box->session->notify >= 0 ? 0 : 1);
}

static int
wait_fd(const struct mailbox_box *box)
{
	return (box->session->notify);
}

static enum mailbox_wake
wake(struct mailbox_box *box, struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;

	(void)trouble;
	drain(s);
	return (s->folders[0].count > 0 || s->overflow || s->moved ?
	    MAILBOX_NEWS : MAILBOX_ASLEEP);
}

/* Removing. */

/* Whether it is the probe of that very token. */
static bool
is_that_probe(int dir, const char *name, const struct mailbox_clean *c,
    const struct match_rules *rules)
{
	size_t		 len, at;
	char		*text = read_mail(dir, name, HEAD_MAX, &len);
	struct match	 m = { .is_probe = false };

	if (text == NULL)
		return (false);
	at = body_at(text, len);
	match_mail(rules, text, at, "", 0, &m);
	if (m.carrier == MATCH_NOWHERE && m.ours_perhaps)
		match_mail(rules, text, at, text + at, len - at, &m);
	mem_free(text);
	return (m.is_probe && strcmp(m.token, c->token) == 0);
}

/* The mail of that name, if it is the one. */
static enum clean_state
remove_one(const struct maildir_names *n, const char *name,
    const struct mailbox_clean *c, const struct match_rules *rules,
    const struct mailbox_sink *sink)
{
	char	sentence[OUTCOME_HOST] = "";

	if (!is_that_probe(n->fd, name, c, rules))
		return (CLEAN_GONE);
	if (unlinkat(n->fd, name, 0) == 0)
		return (CLEAN_REMOVED);
	if (errno == ENOENT)
		return (CLEAN_GONE);
	(void)text_appendf(sentence, sizeof sentence,
	    "probes are left in \"%s\": %s", c->folder, strerror(errno));
	sink->warn(sink->arg, sentence);
	return (CLEAN_LEFT);
}

static enum clean_state
remove_once(const struct maildir_folder *f, const struct mailbox_clean *c,
    const struct match_rules *rules, const struct mailbox_sink *sink)
{
	uint64_t		 hash = (uint64_t)c->uidvalidity << 32 | c->uid;
	enum clean_state	 state = CLEAN_GONE;
	char			*name;

	for (size_t i = 0; i < RECENT && state == CLEAN_GONE; i++)
		if (f->recent[i].name != NULL && f->recent[i].hash == hash)
			state = remove_one(&f->names[f->recent[i].sub],
			    f->recent[i].name, c, rules, sink);
	/* In cur last: that is where mails move to. */
	for (size_t i = 0; i < SUBS && state == CLEAN_GONE; i++) {
		if ((name = name_of(&f->names[i], hash)) == NULL)
			continue;
		state = remove_one(&f->names[i], name, c, rules, sink);
		mem_free(name);
	}
	return (state);
}

/*
 * A mail that is renamed while the folders are read may be missed in both; it
 * would be taken for gone and stay for ever.  So it is gone when it was not
 * found several times in a row.
 */
static enum clean_state
remove_from(const struct maildir_folder *f, const struct mailbox_clean *c,
    const struct match_rules *rules, const struct mailbox_sink *sink)
{
	enum clean_state	state = CLEAN_GONE;

	for (int i = 0; i < REMOVE_TRIES && state == CLEAN_GONE; i++)
		state = remove_once(f, c, rules, sink);
	return (state);
}

static int
clean(struct mailbox_box *box, struct mailbox_clean *list, size_t count,
    const struct match_rules *rules, const struct mailbox_sink *sink,
    struct mailbox_trouble *trouble)
{
	struct mailbox_session	*s = box->session;

	(void)count;
	(void)trouble;
	list->state = CLEAN_LEFT;
	for (size_t i = 0; i < s->folder_count; i++)
		if (strcmp(box->folders[i].name, list->folder) == 0 &&
		    s->folders[i].names[NEW].fd >= 0)
			list->state = remove_from(&s->folders[i], list, rules,
			    sink);
	return (1);
}

const struct mailbox_driver maildir_driver = {
	.name = "maildir",
	.open = open_maildir,
	.look = look,
	.wait = begin_wait,
	.fd = wait_fd,
	.wake = wake,
	.clean = clean,
	.close = close_session,
};
