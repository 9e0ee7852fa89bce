#!/usr/bin/env python3
"""Servers that mean harm: endless, silent, dripping, lying, malformed.

A batch of them is watched at once, beside an honest pair whose probes must go
on.  Each session ends in time, no process grows, and the monitor is well.
"""
import os
import re

from harness import TOP, Case, wait_for, main

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
        return wait_for('the hostile servers listen', read, within=30)

    def honest(self):
        m = self.usual(every='1s', late_after='1m')
        m.settings['senders'] = 32
        m.section('alerts', 'default', fail_for='1h', blind_after='1h')
        return m

    def assert_well(self):
        m = self.monitor
        have = len(m.finished('there', 'delivered'))
        m.wait_delivered('there', count=have + 5, within=60)
        for pid in [m.process.pid, *m.workers()]:
            self.assertLess(resident_kb(pid), MEMORY_KB, pid)
        self.assertEqual(m.stop(), 0)

    def trust(self, tls):
        """Settings that let the handshake succeed, so that worse can follow."""
        return {'tls': 'none'} if tls == 'none' else {
            'tls': tls, 'host': 'localhost', 'ca_file': self.peers.certificates.self_signed.crt}

    def smtp(self, names):
        m = self.honest()
        for name, port in self.ports('hostile_smtp.py', names).items():
            tls = 'starttls' if name.startswith('starttls') else 'none'
            m.server(name, port, system=name, connect_timeout='%ds' % TIMEOUT,
                     timeout='%ds' % TIMEOUT, dot_timeout='%ds' % TIMEOUT, **self.trust(tls))
            m.route(name, name, 'canary', every='1h', retry=['1h'], reject_backoff=['1h'])
        m.start()
        for name in names:
            row = m.wait('the session with %s ended' % name, lambda: m.attempts(name), within=60)[0]
            # A step each for greeting, EHLO ... QUIT may use its whole timeout.
            self.assertLess(float(row['total_ms']), 10 * TIMEOUT * 1000, name)
            self.assertTrue(row['reply'] or row['code'], name)
        self.assert_well()

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
            box['state'] in ('good', 'blind') for box in m.status()['mailboxes']), within=60)
        self.assert_well()


def _add(kind, program):
    for number, names in enumerate(batches(program), 1):
        def test(self, names=names):
            getattr(self, kind)(names)
        setattr(Hostile, 'test_hostile_%s_servers_do_no_harm_%d' % (kind, number), test)


_add('smtp', 'hostile_smtp.py')
_add('imap', 'hostile_imap.py')

if __name__ == '__main__':
    main()
