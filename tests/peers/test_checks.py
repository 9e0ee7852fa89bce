#!/usr/bin/env python3
"""Connect checks: what the status hints at between probes."""
import os
import sys
import unittest

from harness import TOP, Certificates, Monitor, Scratch, free_port, main

sys.path.insert(0, os.path.join(TOP, 'tests', 'kit'))
import imap_script      # noqa: E402
import smtp_script      # noqa: E402

SLOW = {'greeting': {'text': '220 mock.example.org at last', 'delay': 2.6}}


class Checks(unittest.TestCase):
    """A server that is checked ten times a second and probed once an hour."""

    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self.scratch.close)
        self.store = self.scratch.directory('store')
        self.imap = imap_script.Server(port=free_port(), store=self.store).start()
        self.scratch.on_close(self.imap.stop)
        self.monitor = Monitor(self.scratch)

    def begin(self, conn=None, pair=None, **server):
        script = {'conns': [conn or {}]}
        self.smtp = smtp_script.Server(port=free_port(), script=script, store=self.store,
                                       tls=pair and (pair.crt, pair.key)).start()
        self.scratch.on_close(self.smtp.stop)
        m = self.monitor
        m.server('it', self.smtp.port, connect_every='100ms', **server)
        m.mailbox('canary', self.imap.port, 'canary', 'secret')
        m.alerts(to=['admin@mail.test'], servers=['it'], allow_probed=True)
        m.route('there', 'it', 'canary', every='1h', alerts='default')
        return m.start()

    def becomes(self, **replies):
        self.smtp.script = {'conns': [replies]}

    def check(self):
        one, = self.monitor.status()['checks']
        return one

    def wait(self, state):
        self.monitor.wait('the check says %s' % state, lambda: self.check()['state'] == state)
        return self.check()

    def test_a_good_server_shows_what_it_says_of_itself(self):
        m = self.begin()
        m.wait('its usual delay is known',
               lambda: self.check()['usual_greeting_ms'] is not None)
        check = self.check()
        self.assertEqual((check['state'], check['hint'], check['size_limit'], check['tls']),
                         ('good', '', 52428800, 'none'))
        self.assertEqual(check['greeting'], '220 mock.example.org ESMTP scripted')
        self.assertIn('ENHANCEDSTATUSCODES', check['extensions'])
        self.assertRegex(m.ctl('status').stdout, r'it +good +')
        m.wait_delivered('there')
        self.assertEqual(len(m.attempts()), 1, 'checks are no probes')
        self.assertEqual(m.stop(), 0)

    def test_a_server_that_turns_callers_away_is_suspect_and_alarms_nobody(self):
        m = self.begin()
        m.wait_delivered('there')
        self.becomes(greeting='421 4.3.2 too busy')
        check = self.wait('suspect')
        self.assertIn('421 4.3.2 too busy', check['hint'])
        text = m.ctl('status').stdout
        self.assertRegex(text, r'it +suspect +')
        self.assertIn('turns callers away', text)
        self.assertEqual(m.status()['episodes'], [])
        self.assertEqual(m.ctl('check').returncode, 0)
        self.becomes()
        self.assertEqual(self.wait('good')['hint'], '')
        self.assertEqual(m.stop(), 0)

    def test_a_greeting_far_slower_than_usual_is_suspect(self):
        m = self.begin()
        m.wait('its usual delay is known',
               lambda: self.check()['usual_greeting_ms'] is not None)
        self.becomes(**SLOW)
        check = self.wait('suspect')
        self.assertRegex(check['hint'], r'greets after (2[6-9]|[3-9]\d|\d{3})\d\d ms, usually after \d+ ms')
        self.becomes()
        self.wait('good')
        self.assertEqual(m.stop(), 0)

    def test_a_server_that_is_not_there_is_said_so(self):
        m = self.begin()
        m.wait_delivered('there')
        self.smtp.stop()
        m.wait('it is refused', lambda: 'refused' in self.check()['hint'])
        self.assertEqual(self.check()['state'], 'failed')
        self.assertEqual(m.status()['episodes'], [], 'that is for the probes to say')
        self.assertEqual(m.stop(), 0)

    def test_a_certificate_that_has_ended_is_a_hint(self):
        certificates = Certificates(self.scratch.directory('certificates'))
        m = self.begin(pair=certificates.expired, tls='opportunistic')
        check = self.wait('good')
        self.assertLess(check['certificate_days'], 0)
        self.assertEqual(check['hint'], 'its certificate has ended')
        self.assertEqual(m.stop(), 0)

    def test_no_password_is_fetched_or_sent(self):
        m = self.begin(user='somebody', password_command='echo asked >&2; exit 1',
                       insecure_auth=True)
        self.wait('good')
        self.assertFalse([line for line in self.smtp.transcript if 'AUTH' in line
                          and 'C:' in line])
        self.assertEqual(m.stop(), 0)

    def test_a_reload_ends_and_begins_them(self):
        m = self.begin()
        self.wait('good')
        m.section('server', 'it', connect_every='0')
        m.reload()
        m.wait('there are no checks', lambda: m.status()['checks'] == [])
        m.section('server', 'it', connect_every='1s')
        m.reload()
        m.wait('there is one', lambda: m.status()['checks'])
        self.wait('good')
        self.assertEqual(m.stop(), 0)


if __name__ == '__main__':
    main()
