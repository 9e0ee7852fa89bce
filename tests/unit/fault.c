#include "tests/unit/fault.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"

static enum fault_kind	kind;
static unsigned		hit_at, steps;

static sqlite3_vfs	*real_vfs, vfs;

/* SQLite's methods (the database has others than its log) and ours. */
static struct methods {
	const sqlite3_io_methods	*real;
	sqlite3_io_methods		 ours;
} methods[4];

ssize_t	 __real_write(int, const void *, size_t);
int	 __real_fsync(int);
int	 __real_fdatasync(int);
int	 __real_ftruncate(int, off_t);
ssize_t	 __wrap_write(int, const void *, size_t);
int	 __wrap_fsync(int);
int	 __wrap_fdatasync(int);
int	 __wrap_ftruncate(int, off_t);

void
fault_arm(enum fault_kind k, unsigned step)
{
	kind = k;
	hit_at = step;
	steps = 0;
}

unsigned
fault_disarm(void)
{
	kind = FAULT_NONE;
	return (steps);
}

/* Counts a step; true if it is to fail. */
static bool
hit(void)
{
	steps++;
	return ((kind == FAULT_LASTING && steps >= hit_at) ||
	    (kind != FAULT_NONE && steps == hit_at));
}

static void
die_if_told(void)
{
	if (kind == FAULT_KILL)
		kill(getpid(), SIGKILL);
}

ssize_t
__wrap_write(int fd, const void *bytes, size_t len)
{
	if (!hit())
		return (__real_write(fd, bytes, len));
	if (len / 2 > 0)
		(void)!__real_write(fd, bytes, len / 2);
	die_if_told();
	errno = ENOSPC;
	return (-1);
}

int
__wrap_fsync(int fd)
{
	if (!hit())
		return (__real_fsync(fd));
	die_if_told();
	errno = EIO;
	return (-1);
}

int
__wrap_fdatasync(int fd)
{
	static const char	lost[16];
	struct stat		st;

	if (!hit())
		return (__real_fdatasync(fd));
	die_if_told();
	/* The kernel forgets what it could not write. */
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof lost)
		(void)!pwrite(fd, lost, sizeof lost,
		    st.st_size - (off_t)sizeof lost);
	errno = EIO;
	return (-1);
}

int
__wrap_ftruncate(int fd, off_t length)
{
	if (!hit())
		return (__real_ftruncate(fd, length));
	die_if_told();
	errno = EIO;
	return (-1);
}

static const sqlite3_io_methods *
real_of(const sqlite3_file *f)
{
	for (size_t i = 0; i < NITEMS(methods); i++)
		if (f->pMethods == &methods[i].ours)
			return (methods[i].real);
	panic("fault: a file that is not ours");
}

static int
vfs_write(sqlite3_file *f, const void *bytes, int len, sqlite3_int64 at)
{
	if (!hit())
		return (real_of(f)->xWrite(f, bytes, len, at));
	if (len / 2 > 0)
		real_of(f)->xWrite(f, bytes, len / 2, at);
	die_if_told();
	return (SQLITE_FULL);
}

static int
vfs_sync(sqlite3_file *f, int flags)
{
	if (!hit())
		return (real_of(f)->xSync(f, flags));
	die_if_told();
	return (SQLITE_IOERR_FSYNC);
}

static int
vfs_truncate(sqlite3_file *f, sqlite3_int64 length)
{
	if (!hit())
		return (real_of(f)->xTruncate(f, length));
	die_if_told();
	return (SQLITE_IOERR_TRUNCATE);
}

static int
vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags,
    int *flags_r)
{
	struct methods	*m;
	int		 rc = real_vfs->xOpen(real_vfs, name, f, flags, flags_r);

	(void)v;
	if (rc != SQLITE_OK || f->pMethods == NULL)
		return (rc);
	for (m = methods; m->real != f->pMethods && m->real != NULL; m++)
		continue;
	m->real = f->pMethods;
	m->ours = *m->real;
	m->ours.xWrite = vfs_write;
	m->ours.xSync = vfs_sync;
	m->ours.xTruncate = vfs_truncate;
	f->pMethods = &m->ours;
	return (rc);
}

void
fault_install(void)
{
	if (real_vfs != NULL)
		return;
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "fault";
	vfs.xOpen = vfs_open;
	sqlite3_vfs_register(&vfs, 1);
}
