"""The monitor under test: its configuration, its processes, what it wrote."""
import csv
import datetime
import email
import email.policy
import glob
import io
import json
import os
import re
import signal
import socket
import subprocess

from installation import TOP
from ports import HOST
from scratch import Failure, command_of, descendants, processes, wait_for

BUILD = os.environ.get('MAILFLOW_BUILD', os.path.join(TOP, 'build'))

SANITIZER = r'(Address|Leak|Undefined\w*)Sanitizer|runtime error:'


def _value(value):
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, (list, tuple)):
        return '{%s}' % ', '.join(_value(item) for item in value)
    if isinstance(value, int):
        return str(value)
    return '"%s"' % value.replace('\\', '\\\\').replace('"', '\\"')


class Monitor:
    """Sections are added with server(), mailbox(), alerts() and route(), then
    start().  Times are short: what takes minutes in the field takes seconds."""

    def __init__(self, scratch, name='monitor', **settings):
        self.scratch, self.name = scratch, name
        self.dir = scratch.directory(name)
        self.file = os.path.join(self.dir, 'mailflowd.conf')
        self.csv = os.path.join(self.dir, 'csv')
        self.state = os.path.join(self.dir, 'state')
        self.settings = {
            'instance': 'test', 'state_directory': self.state, 'csv_directory': self.csv,
            'control': os.path.join(self.dir, 'control'), 'http': '', 'spacing': '0s',
            **settings}
        self.sections = {}
        self.process = None
        self.prefix = []        # put before each program, as nsenter(1) wants it

    # -- configuration

    def section(self, kind, title='', **settings):
        """Adds a section or changes one that is there."""
        self.sections.setdefault((kind, title), {}).update(settings)
        return self

    def server(self, title, port, **settings):
        return self.section('server', title, **{'host': HOST, 'port': port, 'tls': 'none', **settings})

    def mailbox(self, title, port, user, password, **settings):
        return self.section('mailbox', title, **{
            'host': HOST, 'port': port, 'tls': 'none', 'user': user, 'insecure_auth': True,
            'password_file': self.secret(password), 'poll': '2s', 'timeout': '5s',
            'connect_timeout': '5s', **settings})

    def alerts(self, title='default', **settings):
        return self.section('alerts', title, **{
            'from': 'mailflowd@mail.test', 'full_after': 1, 'fail_after': 2, 'fail_for': '1s',
            'blind_after': '2s', 'accept_after': 2, 'confirm': '1s', 'settle': '3s', **settings})

    def route(self, title, server, mailbox, **settings):
        return self.section('route', title, **{
            'server': server, 'mailbox': mailbox, 'from': 'probe@mail.test',
            'to': 'canary@mail.test', 'every': '1s', 'late_after': '20s', 'lost_after': '1m',
            'retry': ['1s', '2s'], **settings})

    def secret(self, text):
        """A file that holds it, readable by its owner alone."""
        path = os.path.join(self.dir, 'secret-%x' % (hash(text) & 0xffffffff))
        self.scratch.write(os.path.relpath(path, self.scratch.path), text + '\n', 0o600)
        return path

    def write(self):
        lines = ['%s = %s' % (key, _value(value)) for key, value in self.settings.items()]
        for (kind, title), settings in self.sections.items():
            lines.append('%s%s {' % (kind, ' "%s"' % title if title else ''))
            lines += ['\t%s = %s' % (key, _value(value)) for key, value in settings.items()]
            lines.append('}')
        with open(self.file, 'w') as f:
            f.write('\n'.join(lines) + '\n')

    # -- life

    def program(self, name):
        return os.path.join(BUILD, name)

    def environment(self):
        return dict(os.environ, MAILFLOWD_WORKERS=BUILD, LC_ALL='C')

    def start(self):
        self.write()
        return self.restart()

    def restart(self):
        """Starts it again on the configuration as it lies."""
        self.process = self.scratch.start([*self.prefix, self.program('mailflowd'), '-c', self.file],
                                          self.name, env=self.environment())
        wait_for('mailflowd answers', self._answers, within=60, logs=(self.process.log,))
        return self

    def _answers(self):
        if not self.process.alive():
            raise RuntimeError('mailflowd ended with %d: %s' % (
                self.process.popen.returncode, self.process.output()))
        try:
            return self.ask(command='status')['ok']
        except OSError:
            return False

    def check(self):
        """mailflowd -t."""
        self.write()
        return self._run(self.program('mailflowd'), '-c', self.file, '-t')

    def stop(self):
        """SIGTERM; its exit status.  Its workers must have ended with it."""
        return self.process.stop()

    def assert_sound(self):
        """No process of it may have been caught by a sanitizer."""
        if self.process:
            found = [line for line in self.log().splitlines() if re.search(SANITIZER, line)]
            if found:
                raise Failure('\n'.join(found[:20]))

    def kill(self):
        """SIGKILL to the daemon alone; its workers must end by themselves."""
        workers = self.workers()
        self.process.kill()
        wait_for('the workers ended with their daemon',
                 lambda: not [pid for pid in workers if alive(pid)], within=30)

    def reload(self):
        self.write()
        self.process.popen.send_signal(signal.SIGHUP)

    def workers(self, program='mailflow-'):
        """Process ids of its sender and watcher processes."""
        return [pid for pid in descendants(self.process.pid)
                if program in os.path.basename(command_of(pid).split(' ')[0])]

    # -- asking

    def ask(self, **request):
        """One request to the control socket, parsed; what mailflowctl does."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(30)
            control.connect(self.settings['control'])
            control.sendall(json.dumps(request).encode() + b'\n')
            with control.makefile('rb') as answer:
                return json.loads(answer.readline())

    def _run(self, *argv, **more):
        return subprocess.run([*self.prefix, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, env=self.environment(), **more)

    def ctl(self, *args):
        """mailflowctl; .returncode, .stdout and .stderr."""
        return self._run(self.program('mailflowctl'), '-c', self.file, *args)

    def status(self):
        """mailflowctl status --json, parsed."""
        return json.loads(self.ctl('status', '--json').stdout)

    def wait_sent(self):
        """Until every notice is sent, and that is on disk: the answer to a
        second request comes after the commit of the turn of the first."""
        self.wait('no notice waits', lambda: self.status()['notices_waiting'] == 0)
        self.status()

    def log(self):
        return self.process.output()

    # -- what it wrote

    def rows(self, kind):
        """The rows of 'latency', 'attempts' or 'episodes', oldest first."""
        out = []
        for path in sorted(glob.glob(os.path.join(self.csv, kind + '*.csv'))):
            with open(path, newline='', encoding='utf-8') as f:
                text = f.read()
            # Read at once and to its last whole line: it is being written.
            whole = io.StringIO(text[:text.rfind('\n') + 1], newline='')
            out += list(csv.DictReader(whole, strict=True))
        return out

    def finished(self, route=None, outcome=None):
        return [row for row in self.rows('latency')
                if route in (None, row['route']) and outcome in (None, row['outcome'])]

    def attempts(self, route=None, **fields):
        """SMTP sessions of a route whose columns have these values."""
        return [row for row in self.rows('attempts') if route in (None, row['route'])
                and all(row[key] == value for key, value in fields.items())]

    def wait(self, what, predicate, within=90.0):
        """wait_for() with the daemon's log in the failure."""
        return wait_for(what, predicate, within=within, every=0.05, logs=(self.process.log,))

    def wait_delivered(self, route=None, count=1, within=120.0):
        return self.wait('%d delivered on %s' % (count, route or 'any route'), lambda: len(
            self.finished(route, 'delivered')) >= count and self.finished(route), within)


def instant(stamp):
    """A stamp of the CSV as seconds since the epoch."""
    return datetime.datetime.fromisoformat(stamp.replace('Z', '+00:00')).timestamp()


def alive(pid):
    table = processes()
    return pid in table and table[pid][1] != 'Z'


def notices(dovecot, address='admin@mail.test'):
    """The messages that the admins got, oldest first."""
    return [email.message_from_bytes(raw, policy=email.policy.default)
            for raw in dovecot.messages(address)]


def thread_of(message):
    """The Message-ID of the first message of its thread."""
    return (message['References'] or message['Message-ID']).split()[0]
