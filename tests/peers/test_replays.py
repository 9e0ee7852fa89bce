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
from scripted import Scripted   # noqa: E402

DELIVERED = 'delivered'

FULL = ('mail', 'system-full', 'temporary', '452')

# What must become of the first probe: delivered, or how its first session
# ended (stage, class, verdict, code) and words of the reply; if DELIVERED
# stands behind them, a later session succeeded.
SMTP = {
    'B068': [DELIVERED], 'B069': [DELIVERED], 'B071': [DELIVERED], 'B073': [DELIVERED],
    'B074': [DELIVERED],
    'B078': [('greeting', 'congestion', 'temporary', '421'), 'Service not available'],
    'B081': [DELIVERED], 'B082': [DELIVERED], 'B083': [DELIVERED],
    'B084': [FULL, 'Insufficient system storage'],
    'B086': [DELIVERED],            # seen although the dot is not answered
    'B091': [DELIVERED],
    'B092': [('dot', 'system-full', 'temporary', '452'), 'Insufficient system storage'],
    'B093': [FULL, 'Insufficient system storage / see https://status.example.org/'],
    'B094': [FULL, 'Insufficient system storage'],
    'B096': [FULL, 'Insufficient system storage', DELIVERED],
    'B098': [('mail', 'other', 'temporary', '421'), 'Temporary Error'],
    'B099': [('rcpt', 'greylisting', 'temporary', '422'), 'Greylisted', DELIVERED],
    'B101': [('rcpt', 'rate-limit', 'temporary', '421'), 'temporarily deferred'],
    'B102': [('rcpt', 'no-such-user', 'temporary', '450'), 'User unknown in virtual alias table'],
    'B104': [('rcpt', 'other', 'temporary', '452'), 'Recipients belong to multiple regions'],
    'B105': [FULL, 'Insufficient / system storage / try later'],
    'B108': [('greeting', 'network', 'temporary', ''), 'before its greeting'],
    'B109': [('greeting', 'other', 'temporary', ''), 'HTTP/1.1 400 Bad Request'],
    'B110': [DELIVERED], 'B111': [DELIVERED],
    'B113': [('dot', 'congestion', 'temporary', '425'), 'Insufficient system storage'],
    'B134': [('rcpt', 'policy', 'permanent', '550'), 'he said "no, never"; then / tab here, comma / end'],
    'B139': [FULL, 'Insufficient system storage', DELIVERED],
    'B140': [FULL, 'Insufficient system storage', DELIVERED],
}

# Of IMAP scripts the probe must be seen, but for these: nothing may be lost.
NOT_SEEN = {
    'B045',     # a literal that never comes
}
LATE = {'B086': 180}        # seconds, where the script itself takes long


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

    def expect(self, route, *expected):
        m = self.monitor
        within = LATE.get(route[1:], 120)
        if expected[0] != DELIVERED:
            row = m.wait('a session of %s' % route, lambda: m.attempts(route), within=within)[0]
            self.assertEqual(tuple(row[key] for key in ('stage', 'class', 'temporary', 'code')),
                             expected[0], row)
            self.assertEqual(row['reply'].count(expected[1]), 1, row)
        if expected[-1] == DELIVERED:
            m.wait_delivered(route, within=within)

    def test_smtp_every_script_has_its_expectation(self):
        self.assertEqual(set(scripts('smtp')), set(SMTP))

    def test_z_the_monitor_is_well_after_all_that(self):
        m = self.monitor
        self.assertFalse(m.finished(outcome='lost'))
        probes = [row['probe'] for row in m.rows('latency')]
        self.assertEqual(len(probes), len(set(probes)), 'no probe is counted twice')
        for name in SMTP:
            sent = [m.attempts('S' + name, stage='dot', temporary=word)
                    for word in ('success', 'uncertain')]
            probe = [row['probe'] for rows in sent for row in rows]
            self.assertEqual(len(probe), len(set(probe)), 'no probe of %s is sent twice' % name)
        for row in m.rows('latency'):
            if row['total_ms']:
                self.assertTrue(0 <= float(row['total_ms']) < 120000, row)
        self.assertEqual(m.stop(), 0)


def _smtp(name, expected):
    return lambda self: self.expect('S' + name, *expected)


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

class Stories(Scripted):
    """What the same scripts must come to in time, not just at once."""

    def play(self, name, **settings):
        """The script as the server of one route, and a relay for notices."""
        self.server = self.smtp('mail', scripts('smtp')[name])
        self.relay = self.smtp('relay')
        self.monitor.alerts(to=['admin@example.org'], servers=['relay'], allow_probed=True,
                            **{'fail_for': '0s', **settings})
        self.route('r', 'mail', alerts='default', every='300ms', retry=['300ms'])
        self.monitor.start()

    def notices(self, word=''):
        subjects = [smtp_script.header(data, 'Subject') for _, data in list(self.relay.messages)]
        return [subject for subject in subjects if subject.startswith(word)]

    def test_b078_the_very_first_failure_alerts(self):
        self.play('B078', fail_after=1)
        self.monitor.wait('the notice', lambda: self.notices('FAILING'))
        self.assertEqual(self.monitor.stop(), 0)

    def test_b096_flapping_is_no_alert_for_each_probe(self):
        self.play('B096', settle='1m')
        self.monitor.wait('it flapped a while', lambda: len(self.server.sessions) > 30)
        self.assertEqual(len(self.notices()), 1, self.notices())
        self.assertEqual(len(self.notices('FAILING')), 1)

    def test_b139_without_a_problem_notice_no_recovery_notice(self):
        self.play('B139', full_after=2)
        self.monitor.wait_delivered('r', count=5)
        self.assertEqual(self.notices(), [])

    def test_b140_the_recovery_is_told_after_a_restart(self):
        self.play('B140')
        self.monitor.wait('the notice', lambda: self.notices('FAILING'))
        began = self.monitor.status()['episodes'][0]['opened_at']
        self.monitor.stop()
        self.monitor.restart()
        self.monitor.wait('both recoveries are told', lambda: len(self.notices()) >= 3)
        self.assertEqual(len(self.notices()), 3, self.notices())
        rows = self.monitor.wait('the episode is over', lambda: self.monitor.rows('episodes'))
        self.assertEqual(rows[0]['opened_at'], began)


if __name__ == '__main__':
    main()
