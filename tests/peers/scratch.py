"""A place of its own for one test: a directory, the processes started in it,
and the promise that none of them outlives it.

Every process is a child in a session of its own.  A guard ends those groups
should we be killed before we could (PR_SET_PDEATHSIG would not do: Postfix
changes its identity, which clears it).  What a child leaves behind becomes our
child (PR_SET_CHILD_SUBREAPER), so that it can be found and named instead of
lingering under init.
"""
import atexit
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
STOP_WITHIN = 20.0

libc = ctypes.CDLL(None, use_errno=True)


class Failure(AssertionError):
    """Something did not come within its time; the text says what and where."""


def tail(path, lines=12):
    """The last lines of a file, for an error message; '' without it."""
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return ''.join(f.readlines()[-lines:])
    except OSError:
        return ''


def wait_for(what, predicate, within=60.0, every=0.02, logs=()):
    """The first true value of predicate(), looked at until `within` seconds
    have passed; then a Failure that says what was waited for and shows the
    ends of the logs."""
    deadline = time.monotonic() + within
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            shown = ''.join('\n--- %s\n%s' % (log, tail(log)) for log in logs)
            raise Failure('%s: not within %g s%s' % (what, within, shown))
        time.sleep(every)


def processes():
    """{pid: (parent, state, session)} of the whole machine; empty without /proc."""
    found = {}
    try:
        names = os.listdir('/proc')
    except OSError:
        return found
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open('/proc/%s/stat' % name) as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            continue
        found[int(name)] = (int(fields[1]), fields[0], int(fields[3]))
    return found


def descendants(of=None):
    """The living processes below `of` (default: us), parents first."""
    table = processes()
    out, todo = [], [of or os.getpid()]
    while todo:
        parent = todo.pop()
        for pid, (ppid, state, _) in sorted(table.items()):
            if ppid == parent:
                todo.append(pid)
                if state != 'Z':
                    out.append(pid)
    return out


def command_of(pid):
    try:
        with open('/proc/%d/cmdline' % pid, 'rb') as f:
            return f.read().replace(b'\0', b' ').decode('utf-8', 'replace').strip()
    except OSError:
        return ''


class Guard:
    """A shell that reads process groups and, when our end of the pipe closes
    without a farewell, ends them."""

    SCRIPT = '''
        while read -r group; do
                [ "$group" != farewell ] || exit 0
                groups="$groups -$group"
        done
        kill -s TERM -- $groups
        sleep 3
        kill -s KILL -- $groups'''

    def __init__(self):
        self.shell = subprocess.Popen(
            ['/bin/sh', '-c', self.SCRIPT], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.pid = self.shell.pid

    def tell(self, word):
        self.shell.stdin.write('%s\n' % word)
        self.shell.stdin.flush()

    def farewell(self):
        self.tell('farewell')
        self.shell.stdin.close()
        self.shell.wait()


class Process:
    """One child; its output goes to a file, never to a pipe that could fill
    up or be held open by a grandchild."""

    def __init__(self, argv, log, env=None, cwd=None):
        self.argv, self.log = argv, log
        with open(log, 'ab') as out:
            self.popen = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env,
                cwd=cwd, start_new_session=True)
        self.pid = self.popen.pid
        _started.append(self)
        _guard.tell(self.pid)

    def alive(self):
        return self.popen.poll() is None

    def kill(self):
        """SIGKILL to this process alone; its children live on."""
        self.popen.kill()
        self.popen.wait()

    def stop(self, within=STOP_WITHIN):
        """SIGTERM, and SIGKILL to the whole group of a process that does not
        end or that leaves others behind, which is then a Failure.  Returns
        the exit status as subprocess gives it (negative: the signal)."""
        if self.alive():
            self.popen.terminate()
        try:
            self.popen.wait(within)
            wait_for('the children of %s ended' % self.argv[0], self._group_gone, within=within)
        except (subprocess.TimeoutExpired, Failure):
            left = ['%d %s' % (pid, command_of(pid)) for pid in self.group()]
            os.killpg(self.pid, signal.SIGKILL)
            self.popen.wait()
            raise Failure('%s did not end: %s' % (self.argv[0], left))
        return self.popen.returncode

    def group(self):
        """The processes of its session, itself included."""
        return sorted(pid for pid, (_, state, session) in processes().items()
                      if session == self.pid and state != 'Z')

    def _group_gone(self):
        """To be asked after its own end: what is left of the group is ours by
        adoption, and ours to reap."""
        try:
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        try:
            os.killpg(self.pid, 0)
            return False
        except (ProcessLookupError, PermissionError):
            return True

    def output(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return f.read()


class Scratch:
    """The directory and what runs in it; a context manager.  `keep` names a
    directory that stays; otherwise it is removed at the end."""

    def __init__(self, keep=None):
        self.keep = keep
        self.closers = []
        if keep:
            os.makedirs(keep, exist_ok=True)
            self.path = os.path.abspath(keep)
        else:
            # Unix sockets lie below: their names have 107 bytes, no more.
            base = tempfile.gettempdir()
            self.path = tempfile.mkdtemp(prefix='mf-', dir=base if len(base) < 40 else '/tmp')
        # The servers' unprivileged parts must reach their sockets and queues.
        os.chmod(self.path, 0o755)
        if not _open:
            _begin()
        _open.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def sub(self, *names):
        """The path of a file in this directory; its parent is made."""
        path = os.path.join(self.path, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def directory(self, *names, mode=0o755):
        path = os.path.join(self.path, *names)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        return path

    def write(self, name, text, mode=0o644):
        path = self.sub(name)
        with open(path, 'w') as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def start(self, argv, name, env=None, cwd=None):
        process = Process(argv, self.sub('log', name + '.out'), env, cwd)
        self.closers.append(process.stop)
        return process

    def on_close(self, closer):
        """closer() is called at the end, last one first."""
        self.closers.append(closer)

    def stop_all(self):
        """Ends everything that runs here; the files stay until close()."""
        troubles = []
        while self.closers:
            try:
                self.closers.pop()()
            except Exception as trouble:        # the others must still stop
                troubles.append(trouble)
        if _open == [self]:
            _end_strays(troubles)
        if troubles:
            raise troubles[0]

    def close(self):
        if self not in _open:
            return
        try:
            self.stop_all()
        finally:
            _open.remove(self)
            if not _open:
                _guard.farewell()
            if not self.keep and not os.environ.get('MAILFLOW_KEEP'):
                shutil.rmtree(self.path, ignore_errors=True)


_guard = None
_open = []
_started = []


def _reap():
    """Collects adopted grandchildren; our own children are Popen's to collect."""
    ours = {process.pid for process in _started} | {_guard.pid}
    for pid, (parent, state, _) in processes().items():
        if parent == os.getpid() and state == 'Z' and pid not in ours:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def _end_strays(troubles):
    """Nothing may be left below us; what is gets a moment, then it is ended
    and reported: a server or a worker that survives its end is a fault."""
    def left():
        return [pid for pid in descendants() if pid != _guard.pid]

    def gone():
        _reap()
        return not left()
    try:
        wait_for('all processes ended', gone, within=30.0)
    except Failure:
        strays = [(pid, command_of(pid)) for pid in left()]
        for pid, _ in strays:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _reap()
        troubles.append(Failure('left running: %s' % strays))


def _close_all():
    for scratch in reversed(_open[:]):
        try:
            scratch.close()
        except Exception as trouble:
            print('teardown: %s' % trouble, file=sys.stderr)


def _leave(number, _frame):
    sys.exit(128 + number)


def _begin():
    global _guard
    _guard = Guard()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)


atexit.register(_close_all)
