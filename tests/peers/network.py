"""A network of its own: namespaces joined by cables, port 25 free in each.

Nothing of it is seen outside, and all of it goes with the processes that
hold the namespaces.
"""
import ctypes
import os
import subprocess
import threading

from installation import TOP
from scratch import wait_for

CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """This machine lets us make no such network; the text says why."""


def _run(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable('%s: %s' % (' '.join(argv), done.stderr.strip()))
    return done.stdout


class Namespace:
    """One host; .prefix goes before a program that is to run in it."""

    def __init__(self, scratch, name):
        self.name, self.scratch = name, scratch
        try:
            self.holder = scratch.start(['unshare', '--net', 'sleep', 'infinity'], 'net-' + name)
        except OSError as why:
            raise Unavailable('unshare: %s' % why)
        wait_for('a namespace of its own for %s' % name, self._apart, within=30)
        self.prefix = ['nsenter', '--target', str(self.holder.pid), '--net']
        self.run('ip', 'link', 'set', 'lo', 'up')

    def _apart(self):
        if not self.holder.alive():
            raise Unavailable(self.holder.output().strip())
        try:
            theirs = os.readlink('/proc/%d/ns/net' % self.holder.pid)
        except OSError:         # it has just ended: the next look says why
            return False
        return theirs != os.readlink('/proc/self/ns/net')

    def run(self, *argv):
        return _run(*self.prefix, *argv)

    def cable(self, other, ours, theirs):
        """A cable to another namespace, with an address at either end."""
        ends = ('to-' + other.name, 'to-' + self.name)
        self.run('ip', 'link', 'add', ends[0], 'type', 'veth', 'peer', 'name', ends[1])
        self.run('ip', 'link', 'set', ends[1], 'netns', str(other.holder.pid))
        for namespace, end, addresses in ((self, ends[0], ours), (other, ends[1], theirs)):
            for address in addresses:
                namespace.run('ip', 'address', 'add', address, 'dev', end,
                              *(['nodad'] if ':' in address else []))
            namespace.run('ip', 'link', 'set', end, 'up')

    def start(self, argv, name, env=None):
        return self.scratch.start([*self.prefix, *argv], name, env)

    def inside(self, make):
        """make(), called in the namespace: the sockets it opens belong there."""
        result = []

        def enter():
            with open('/proc/%d/ns/net' % self.holder.pid) as net:
                if libc.setns(net.fileno(), CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), 'setns')
            result.append(make())
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        return result[0]

    def listens(self, port, protocol='tcp'):
        """Does anybody, by the kernel's table?"""
        with open('/proc/%d/net/%s' % (self.holder.pid, protocol)) as table:
            rows = [line.split() for line in table.readlines()[1:]]
        state = '07' if protocol == 'udp' else '0A'
        return any(row[1].endswith(':%04X' % port) and row[3] == state for row in rows)


class Dnsmasq:
    """The name server of a namespace, on its port 53.  lines: its own options."""

    def __init__(self, namespace, *lines):
        done = subprocess.run(['sh', os.path.join(TOP, 'tests/setup/dnsmasq.sh')],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable('no dnsmasq: %s' % done.stderr.strip())
        program, _, libraries = done.stdout.strip().partition(' ')
        self.namespace, self.program, self.libraries = namespace, program, libraries
        self.process = None
        self.tell(*lines)

    def tell(self, *lines):
        """Starts it anew with these."""
        scratch = self.namespace.scratch
        if self.process is not None:
            self.process.stop()
        conf = scratch.write('dnsmasq.conf', '\n'.join((
            'no-resolv', 'no-hosts', 'cache-size=0', 'bind-interfaces', 'listen-address=127.0.0.1',
            'user=', 'pid-file=', *lines)) + '\n')
        env = dict(os.environ)
        if self.libraries:
            env['LD_LIBRARY_PATH'] = self.libraries
        self.process = self.namespace.start(
            [self.program, '--keep-in-foreground', '--log-facility=-', '--conf-file=' + conf],
            'dnsmasq', env)
        wait_for('dnsmasq answers', lambda: self.namespace.listens(53, 'udp'), within=60,
                 logs=(self.process.log,))
