#!/usr/bin/env python3
"""Odd but real behaviour of servers, replayed from scripts: tests/kit/bugs.md
tells what each is and where it was met.

One monitor watches them all at once, each script on a server of its own, so
that a test only waits for what its script must come to.
"""
import glob
import json
import os
import sys
import unittest

from harness import TOP, Monitor, Scratch, main

KIT = os.path.join(TOP, 'tests', 'kit')
sys.path.insert(0, KIT)
import imap_script      # noqa: E402
import smtp_script      # noqa: E402

DELIVERED = 'delivered'

# What must become of the first probe: an outcome of the latency CSV, or the
# (stage, class, verdict) of its first session.
SMTP = {
    'B068': DELIVERED, 'B069': DELIVERED, 'B071': DELIVERED, 'B073': DELIVERED,
    'B074': DELIVERED,
    'B078': ('greeting', 'congestion|network|other', 'temporary'),
    'B081': DELIVERED, 'B082': DELIVERED,
    'B083': None,                   # handled or an error, but soon
    'B084': ('mail', 'system-full', 'temporary'),
    'B086': DELIVERED,              # seen although the dot is not answered
    'B091': DELIVERED,
    'B092': ('dot', 'system-full', 'temporary'),
    'B093': ('mail', 'system-full', 'temporary'),
    'B094': ('mail', 'system-full', 'temporary'),
    'B096': DELIVERED,
    'B098': ('mail', '(?!system-full).*', 'temporary'),
    'B099': DELIVERED,
    'B101': ('rcpt', 'rate-limit|policy|congestion|greylisting|other', 'temporary'),
    'B102': ('rcpt', 'no-such-user', 'temporary'),
    'B104': ('rcpt', '(?!system-full|mailbox-full).*', 'temporary'),
    'B105': ('mail', 'system-full', 'temporary'),
    'B108': ('greeting', 'network', 'temporary'),
    'B109': ('greeting', '.*', 'temporary'),
    'B110': DELIVERED, 'B111': DELIVERED,
    'B113': ('dot', '(?!system-full).*', 'temporary'),
    'B134': ('rcpt', 'policy', 'permanent'),
    'B139': DELIVERED, 'B140': DELIVERED,
}

# Of IMAP scripts the probe must be seen, but for these: nothing may be lost.
NOT_SEEN = {
    'B045',     # a literal that never comes
}
LATE = {'B086': 70}         # seconds, where the script itself takes long


def scripts(folder):
    """{B number: script}."""
    out = {}
    for path in sorted(glob.glob(os.path.join(KIT, folder, '*.json'))):
        with open(path) as f:
            out[os.path.basename(path)[:4]] = json.load(f)
    return out


class Replays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch()
        cls.addClassCleanup(cls.scratch.close)
        cls.monitor = Monitor(cls.scratch, senders=32)
        cls.alerts = smtp_script.Server().start()
        cls.scratch.on_close(cls.alerts.stop)
        cls.monitor.server('alerts', cls.alerts.port, system='alerts')
        cls.monitor.alerts(to=['admin@example.org'], servers=['alerts'], allow_probed=True)
        for name, script in scripts('smtp').items():
            cls.add('S' + name, script, {})
        for name, script in scripts('imap').items():
            cls.add('I' + name, {}, script)
        cls.monitor.start()

    @classmethod
    def add(cls, name, smtp, imap):
        store = cls.scratch.directory('store', name)
        one = smtp_script.Server(script=smtp, store=store, base=store).start()
        two = imap_script.Server(script=imap, store=store, base=store).start()
        cls.scratch.on_close(one.stop)
        cls.scratch.on_close(two.stop)
        m = cls.monitor
        m.server(name, one.port, system=name, timeout='90s', connect_timeout='5s')
        m.mailbox(name, two.port, 'user', 'password', timeout='5s')
        m.route(name, name, name, to='box@example.org', every='1h', alerts='default',
                late_after='5m', lost_after='10m')

    def expect(self, route, expected):
        m = self.monitor
        within = LATE.get(route[1:], 40)
        if expected == DELIVERED:
            m.wait_delivered(route, within=within)
            return
        rows = m.wait('a session of %s' % route, lambda: m.attempts(route), within=within)
        if expected is not None:
            stage, klass, verdict = expected
            self.assertEqual((rows[0]['stage'], rows[0]['temporary']), (stage, verdict), rows[0])
            self.assertRegex(rows[0]['class'], '^(?:%s)$' % klass)

    def test_z_the_monitor_is_well_after_all_that(self):
        m = self.monitor
        self.assertFalse(m.finished(outcome='lost'))
        probes = [row['probe'] for row in m.rows('latency')]
        self.assertEqual(len(probes), len(set(probes)), 'no probe is counted twice')
        for row in m.rows('latency'):
            if row['total_ms']:
                self.assertTrue(0 <= float(row['total_ms']) < 120000, row)
        self.assertEqual(m.stop(), 0)


def _smtp(name, expected):
    return lambda self: self.expect('S' + name, expected)


def _imap(name):
    def test(self):
        if name in NOT_SEEN:
            self.monitor.wait('it was sent', lambda: self.monitor.attempts('I' + name))
        else:
            self.expect('I' + name, DELIVERED)
    return test


def _words(folder, name):
    """The script's own title as a method's name."""
    path, = glob.glob(os.path.join(KIT, folder, name + '-*.json'))
    return 'test_%s_%s' % (folder, os.path.basename(path)[:-5].replace('-', '_'))


for _name, _expected in SMTP.items():
    setattr(Replays, _words('smtp', _name), _smtp(_name, _expected))
for _name in scripts('imap'):
    setattr(Replays, _words('imap', _name), _imap(_name))

if __name__ == '__main__':
    main()
