#!/usr/bin/env python3
"""Servers that mean harm: endless, silent, dripping, lying, malformed.

Many of them are watched at once, beside an honest pair whose probes must go
on.  Each session ends in time with the outcome that its row names, no process
grows or dies, and the monitor is well.
"""
import os
import re
import sys
import threading

from harness import TOP, Case, Certificates, wait_for, main

import test_hostile_smtp as alone
from scripted import Scripted

KIT = os.path.join(TOP, 'tests', 'kit')
TIMEOUT = 3             # seconds, of every server and mailbox here
BATCH = 24
MEMORY_KB = 300 * 1024  # of any one process, resident


def scenarios(program):
    with open(os.path.join(KIT, program)) as f:
        return re.findall(r"\bn=='(\w+)'", f.read())


def batches(program):
    names = scenarios(program)
    return [names[at:at + BATCH] for at in range(0, len(names), BATCH)]


def resident_kb(pid):
    try:
        with open('/proc/%d/status' % pid) as f:
            found = re.search(r'VmRSS:\s+(\d+)', f.read())
        return int(found.group(1)) if found else 0
    except OSError:
        return 0


class Hostile(Case):
    def serve(self, program, name):
        """The scenario's port."""
        portfile = self.scratch.sub('ports', name)
        certificates = self.scratch.directory('hostile-tls')
        good = self.peers.certificates.self_signed
        for link in ('self', 'good'):
            for end, path in (('crt', good.crt), ('key', good.key)):
                target = os.path.join(certificates, '%s.%s' % (link, end))
                if not os.path.exists(target):
                    os.symlink(path, target)
        self.scratch.start(['/usr/bin/python3', os.path.join(KIT, program), name, portfile],
                           'hostile-' + name, env=dict(os.environ, TLSDIR=certificates))
        return portfile

    def ports(self, program, names):
        files = {name: self.serve(program, name) for name in names}

        def read():
            out = {}
            for name, path in files.items():
                try:
                    with open(path) as f:
                        out[name] = int(f.read())
                except (OSError, ValueError):
                    return None
            return out
        return wait_for('the hostile servers listen', read)

    def honest(self):
        m = self.usual(every='1s', late_after='1m')
        m.settings['senders'] = 32
        m.section('alerts', 'default', fail_for='1h', blind_after='1h')
        return m

    def assert_well(self):
        m = self.monitor
        have = len(m.finished('there', 'delivered'))
        m.wait_delivered('there', count=have + 5)
        for pid in [m.process.pid, *m.workers()]:
            self.assertLess(resident_kb(pid), MEMORY_KB, pid)
        self.assertEqual(m.stop(), 0)

    def trust(self, tls):
        """Settings that let the handshake succeed, so that worse can follow."""
        return {'tls': 'none'} if tls == 'none' else {
            'tls': tls, 'host': 'localhost', 'ca_file': self.peers.certificates.self_signed.crt}

    def imap(self, names):
        m = self.honest()
        for name, port in self.ports('hostile_imap.py', names).items():
            tls = ('implicit' if name.startswith('tls_') else
                   'starttls' if name.startswith('starttls') else 'none')
            m.mailbox(name, port, 'user', 'password', **self.trust(tls), timeout='%ds' % TIMEOUT,
                      connect_timeout='%ds' % TIMEOUT, poll='1s')
            m.route(name, 'mail', name, every='1h', late_after='1h', lost_after='1d')
        m.start()
        m.wait('every mailbox was looked at', lambda: all(
            box['state'] in ('good', 'blind') for box in m.status()['mailboxes']))
        self.assert_well()


TLS = ('none', 'opportunistic', 'starttls', 'implicit')     # by their numbers in a job
SOON = '3s'         # where the time is to run out
IN_TIME_MS = 20000  # for any session here
PEAK_KB = 64 * 1024
PEAK_SANITIZED_KB = 512 * 1024

CLOSE = {'text': None, 'close': True}
GONE = ('network', 'temporary')
CLOSED = [      # how a server may leave, and what that is before the dot
    ('closes', CLOSE, GONE),
    ('resets', {'text': None, 'rst': True}, GONE),
    ('says 421', {'text': '421 4.3.2 shutting down', 'close': True}, ('congestion', 'temporary')),
    ('tears a reply', {'raw': '25', 'close': True}, GONE),
    ('tears a refusal', {'raw': '452 4.3.1 fu', 'close': True}, ('system-full', 'temporary')),
]


def closers():
    """Rows as in OWN: each way to leave at each step."""
    for stage in ('greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'):
        for words, reply, (klass, verdict) in CLOSED:
            if stage == 'dot' and klass == 'network':
                klass = verdict = 'uncertain'
            yield '%s at %s' % (words, stage), {stage: reply}, {}, ' '.join((verdict, klass, stage))


class InProcess:
    """hostile_smtp.py as a thread of ours: a process each would be much."""

    with open(os.path.join(KIT, 'hostile_smtp.py')) as f:
        code = compile(f.read(), 'hostile_smtp.py', 'exec')

    def __init__(self, name, portfile):
        sys.argv[1:] = [name, portfile]     # it looks at them before it writes the file
        threading.Thread(target=exec, args=(self.code, {'__name__': name}), daemon=True).start()
        wait_for('%s listens' % name, lambda: os.path.exists(portfile) and os.path.getsize(portfile))
        with open(portfile) as f:
            self.port = int(f.read())


def peak_kb(pid):
    try:
        with open('/proc/%d/status' % pid) as f:
            return int(re.search(r'VmHWM:\s+(\d+)|$', f.read()).group(1) or 0)
    except OSError:
        return 0        # a sender that has been put to rest


class HostileSmtp(Scripted):
    """Every row of test_hostile_smtp.py, played to the daemon."""

    @classmethod
    def setUpClass(cls):
        cls.argv = list(sys.argv)

    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, sys, 'argv', self.argv)
        self.certificates = Certificates(self.scratch.directory('certificates'))
        for end in ('crt', 'key'):
            os.symlink(getattr(self.certificates.good, end), self.scratch.sub('tls', 'good.' + end))
        os.environ['TLSDIR'] = self.scratch.directory('tls')
        self.monitor.settings['senders'] = 32
        self.expected = {}
        self.smtp('honest')
        self.route('honest', 'honest', to='honest@mail.test')

    # -- a row of the tables

    def add(self, name, port, options, expect):
        """A server and a route for the row; False if a configuration cannot ask
        for such a job."""
        if {'gate', 'kind', 'to', 'from'} & set(options):
            return False
        title = 'h%d' % len(self.expected)
        soon = alone.runs_out(expect)
        server = {'host': 'localhost' if options.get('tls') else '127.0.0.1', 'system': title,
                  'tls': TLS[options.get('tls', 0)], 'connect_timeout': '5s',
                  'timeout': SOON if soon else '10s', 'dot_timeout': SOON if soon else '10s',
                  'ca_file': options.get('ca_file', self.certificates.ca), **self.login(options)}
        self.monitor.server(title, port, **server)
        self.route(title, title, every='1h', retry=['1h'], reject_backoff=['1h'], late_after='1h',
                   lost_after='1d', size=options.get('size', 0), to='%s@mail.test' % title)
        self.expected[title] = (name, expect.split(' | ')[0])
        return True

    def login(self, options):
        if 'user' not in options:
            return {}
        secret = options['secret']
        source = {'token_command': 'echo ' + secret} if options.get('oauth') else \
            {'password_file': self.monitor.secret(secret)}
        # What -t would refuse is what the sender must, too: it is tried alone.
        return {'user': options['user'], 'insecure_auth': True, **source}

    def judge(self, title):
        name, expect = self.expected[title]
        row = self.monitor.wait('the session with "%s" ended' % name,
                                lambda: self.monitor.attempts(title))[0]
        have = {'verdict': row['temporary'], 'class': row['class'], 'stage': row['stage'],
                'took_ms': row['total_ms'], 'tls': row['tls'], 'reply': row['reply'],
                'code': row['code'] or '0', 'host': row['host'],
                'accepted': '1' if row['temporary'] == 'success' and row['stage'] == 'dot' else '0'}
        expect = re.sub(r' (blind|queue_id)=\S+', '', expect)      # not in the CSV
        if name == 'resets at greeting' and have['stage'] == 'connect':
            have['stage'] = 'greeting'      # its reset may come before we know of the connection
        wrong = alone.mismatch(have, expect, IN_TIME_MS)
        return '%s: %s' % (name, wrong) if wrong else ''

    def finish(self):
        """All have ended as they should, nobody grew or died, and the honest
        pair has gone on."""
        m = self.monitor
        m.start()
        wrong = [said for said in map(self.judge, self.expected) if said]
        self.assertFalse(wrong, '\n'.join(wrong))
        with open(m.program('mailflow-sender'), 'rb') as f:
            limit = PEAK_SANITIZED_KB if b'__asan_init' in f.read() else PEAK_KB
        for pid in [m.process.pid, *m.workers()]:
            self.assertLess(peak_kb(pid), limit, pid)
        have = len(m.finished('honest', 'delivered'))
        self.assertGreater(have, 0, 'it went on meanwhile')
        m.wait_delivered('honest', count=have + 3)
        self.assertNotIn(' ended: ', m.log(), 'no sender died or was killed')
        self.assertEqual(m.stop(), 0)

    def test_every_hostile_server_comes_to_its_outcome(self):
        for number, (name, options, expect) in enumerate(alone.HOSTILE):
            if not {'gate', 'kind', 'to', 'from'} & set(options) and options.get('insecure_auth', 1):
                server = InProcess(name, self.scratch.sub('ports', str(number)))
                self.add('%s %s' % (name, options or ''), server.port, options, expect)
        self.assertEqual({name for name in scenarios('hostile_smtp.py')} -
                         {row[0] for row in alone.HOSTILE}, set(), 'a row for each')
        self.finish()

    def test_every_way_to_leave_at_every_step_comes_to_its_outcome(self):
        for name, script, options, expect in closers():
            self.add(name, self.peer(script).port, options, expect)
        self.finish()

    def test_odd_scripts_and_peers_come_to_their_outcome(self):
        for name, script, options, expect in alone.OWN:
            if not {'gate', 'kind', 'to', 'from'} & set(options):
                self.add(name, self.peer(script).port, options, expect)
        for name, play, options, expect in alone.RAW:
            server = alone.Raw(play)
            self.scratch.on_close(server.stop)
            self.add(name, server.port, options, expect)
        self.finish()

    def peer(self, script):
        server = alone.smtp_script.Server(script=script).start()
        self.scratch.on_close(server.stop)
        return server


def _add(kind, program):
    for number, names in enumerate(batches(program), 1):
        def test(self, names=names):
            getattr(self, kind)(names)
        setattr(Hostile, 'test_hostile_%s_servers_do_no_harm_%d' % (kind, number), test)


_add('imap', 'hostile_imap.py')

if __name__ == '__main__':
    main()
