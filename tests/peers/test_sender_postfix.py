#!/usr/bin/env python3
"""mailflow-sender alone against a real Postfix: each way in, and many mails in
a row from one process.

    MAILFLOW_BUILD=DIR test_sender_postfix.py
"""
import os
import subprocess
import unittest

from harness import main, Peers, Scratch, wait_for

BUILD = os.path.abspath(os.environ.get('MAILFLOW_BUILD', '.'))
PLAIN, OPPORTUNISTIC, STARTTLS, IMPLICIT = range(4)


class Sender(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch()
        cls.addClassCleanup(cls.scratch.close)
        cls.peers = Peers(cls.scratch)
        cls.postfix = cls.peers.postfix
        cls.login = {'user': 'probe@mail.test', 'secret': cls.peers.password}

    def send(self, port, **options):
        o = {'host': 'localhost', 'port': port, 'ca_file': self.peers.certificates.ca,
             'from': 'probe@mail.test', 'to': 'canary@mail.test', 'helo': 'probe.mail.test'}
        o.update(options)
        p = subprocess.run([BUILD + '/tests/peers/sender_driver', BUILD + '/mailflow-sender'] +
                           ['%s=%s' % kv for kv in o.items()], capture_output=True, text=True, timeout=120)
        self.assertEqual((p.returncode, p.stderr), (0, ''), p.stdout)
        lines = [dict(f.split('=', 1) for f in l.split('\t') if '=' in f) for l in p.stdout.splitlines()]
        return lines[:-1], lines[-1]

    def accepted(self, port, **options):
        outcomes, cost = self.send(port, **options)
        for o in outcomes:
            self.assertEqual((o['verdict'], o['class'], o['stage']), ('success', 'accepted', 'dot'), o)
            self.assertRegex(o['queue_id'], r'^[0-9A-Za-z]{8,}$')
        return outcomes, cost

    def delivered(self):
        return len(self.peers.dovecot.messages('canary@mail.test'))

    def test_each_way_in_is_accepted_and_delivered(self):
        ways = [(self.postfix.plain, {'tls': PLAIN}, 'none'),
                (self.postfix.smtp, {'tls': OPPORTUNISTIC}, 'TLSv1.3 verified'),
                (self.postfix.smtp, {'tls': STARTTLS}, 'TLSv1.3 verified'),
                (self.postfix.submission, dict(self.login, tls=STARTTLS), 'TLSv1.3 verified'),
                (self.postfix.smtps, dict(self.login, tls=IMPLICIT), 'TLSv1.3 verified')]
        before = self.delivered()
        for port, options, tls in ways:
            outcomes, _ = self.accepted(port, **options)
            self.assertEqual(outcomes[0]['tls'], tls)
        wait_for('all are delivered', lambda: self.delivered() == before + len(ways))

    def test_the_episode_is_seen_as_it_is(self):
        outcomes, _ = self.send(self.postfix.full)
        self.assertEqual([outcomes[0][k] for k in ('verdict', 'class', 'stage', 'code', 'enhanced', 'reply')],
                         ['temporary', 'system-full', 'mail', '452', '4.3.1', 'Insufficient system storage'])

    def test_a_wrong_password_is_our_own_trouble(self):
        outcomes, _ = self.send(self.postfix.submission, tls=STARTTLS, user='probe@mail.test', secret='wrong')
        self.assertEqual([outcomes[0][k] for k in ('verdict', 'class', 'stage', 'code', 'blind')],
                         ['temporary', 'auth', 'auth', '535', '1'])

    def test_no_such_user(self):
        outcomes, _ = self.send(self.postfix.plain, to='nobody@mail.test')
        self.assertEqual([outcomes[0][k] for k in ('verdict', 'class', 'stage', 'code')],
                         ['permanent', 'no-such-user', 'rcpt', '550'])

    def test_many_in_a_row_keep_one_process_small(self):
        for port, options in ((self.postfix.plain, {}), (self.postfix.submission, dict(self.login, tls=STARTTLS))):
            outcomes, cost = self.accepted(port, repeat=200, **options)
            self.assertEqual(len(outcomes), 200)
            if not self.sanitized():
                self.assertLess(int(cost['rss_kb']), 32 * 1024)

    @staticmethod
    def sanitized():
        with open(BUILD + '/mailflow-sender', 'rb') as f:
            return b'__asan_init' in f.read()


if __name__ == '__main__':
    main()
