#!/usr/bin/env python3
"""mailflowctl diagnose: what it says of servers, without the daemon."""
import os
import sys
import unittest

from harness import HOST, TOP, BlackHole, Certificates, Monitor, Names, Scratch, free_port, main

sys.path.insert(0, os.path.join(TOP, 'tests', 'kit'))
import smtp_script      # noqa: E402


class Diagnose(unittest.TestCase):
    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self.scratch.close)
        self.monitor = Monitor(self.scratch)
        self.monitor.mailbox('canary', free_port(), 'canary', 'secret')
        self.monitor.route('there', 'it', 'canary')

    def server(self, conn=None, pair=None, wrap=False):
        server = smtp_script.Server(port=free_port(), script={'conns': [conn or {}]},
                                    tls=pair and (pair.crt, pair.key), tls_wrap=wrap).start()
        self.scratch.on_close(server.stop)
        return server

    def diagnose(self, port, status, *words, **settings):
        """What it says of a server section; each of words is in it."""
        m = self.monitor
        m.server('it', port, **settings)
        m.write()
        done = m.ctl('diagnose', 'it')
        self.assertEqual((done.returncode, done.stderr), (status, ''), done.stdout)
        flat = ' '.join(done.stdout.split())
        for word in words:
            self.assertIn(word, flat)
        return flat

    def test_a_good_server_is_fine(self):
        server = self.server()
        said = self.diagnose(server.port, 0, HOST, '220 mock.example.org ESMTP scripted',
                             'offers PIPELINING SIZE 8BITMIME ENHANCEDSTATUSCODES DSN',
                             'up to 52428800 bytes', 'The server is fine')
        self.assertNotIn('-1', said)
        self.assertIn('QUIT', ' '.join(server.transcript))
        self.assertNotIn('MAIL', ' '.join(server.transcript))

    def test_a_good_certificate_is_told_with_its_days(self):
        certificates = Certificates(self.scratch.directory('certificates'))
        server = self.server(pair=certificates.good)
        self.diagnose(server.port, 0, 'TLSv1.3 verified; its certificate ends in',
                      host='localhost', family='ipv4', tls='starttls', ca_file=certificates.ca)

    def test_implicit_tls_is_looked_at_too(self):
        certificates = Certificates(self.scratch.directory('certificates'))
        server = self.server(pair=certificates.good, wrap=True)
        self.diagnose(server.port, 0, 'TLSv1.3 verified', host='localhost', family='ipv4',
                      tls='implicit', ca_file=certificates.ca)

    def test_a_bad_certificate_says_why_it_is_bad(self):
        certificates = Certificates(self.scratch.directory('certificates'))
        server = self.server(pair=certificates.self_signed)
        self.diagnose(server.port, 1, 'self-signed', '0 of 1 addresses are fine',
                      host='localhost', family='ipv4', tls='starttls', ca_file=certificates.ca)

    def test_where_tls_is_a_bonus_a_bad_certificate_is_but_a_remark(self):
        certificates = Certificates(self.scratch.directory('certificates'))
        server = self.server(pair=certificates.expired)
        self.diagnose(server.port, 0, 'unverified', 'days ago', 'does not hold',
                      'has ended', host='localhost', family='ipv4', tls='opportunistic')

    def test_clear_text_is_said_so(self):
        self.diagnose(self.server().port, 0, 'offers no TLS', tls='opportunistic')

    def test_a_server_that_turns_callers_away_is_explained(self):
        server = self.server({'greeting': '421 4.3.2 Service shutting down'})
        self.diagnose(server.port, 1, '421 4.3.2 Service shutting down',
                      '0 of 1 addresses are fine')

    def test_a_full_system_at_the_greeting_is_explained(self):
        server = self.server({'greeting': '452 4.3.1 Insufficient system storage'})
        self.diagnose(server.port, 1, 'mail system full')

    def test_tls_that_is_offered_and_refused_is_trouble(self):
        server = self.server({'ehlo_keywords': ['STARTTLS'], 'starttls': '454 4.7.0 not available'})
        said = self.diagnose(server.port, 1, 'STARTTLS was refused: 454 4.7.0 not available',
                             'travels in clear text', tls='opportunistic')
        self.assertNotIn('as wanted', said)

    def test_a_refused_ehlo_is_shown_with_its_code(self):
        server = self.server({'ehlo': '550 5.7.1 your HELO is bad', 'helo': '550 5.7.1 your HELO is bad'})
        self.diagnose(server.port, 1, 'EHLO: 550 5.7.1 your HELO is bad')

    def test_a_domain_that_takes_no_mail_is_told(self):
        names = Names(self.scratch, mx={'null.test': [(0, '')]})
        self.monitor.server('it', free_port())
        self.monitor.settings['resolver'] = names.address
        self.monitor.write()
        for name in 'null.test', 'null.test.', 'joe@null.test.':
            done = self.monitor.ctl('diagnose', name)
            self.assertIn('null.test: takes no mail at all', ' '.join(done.stdout.split()))
            self.assertNotIn('reached', done.stdout)
            self.assertEqual((done.returncode, done.stderr), (2, ''))

    def test_a_slow_greeting_is_told(self):
        server = self.server({'greeting': {'text': '220 at last', 'delay': 5.2}})
        self.diagnose(server.port, 0, 'to greet', 'under strain')

    def test_a_dead_port_is_unreachable(self):
        self.diagnose(free_port(), 2, 'refused', 'No server could be reached')

    def test_a_black_hole_is_unreachable_within_its_bound(self):
        self.diagnose(BlackHole(self.scratch).port, 2, 'No server could be reached')

    def test_nonsense_is_refused(self):
        self.monitor.server('it', free_port())
        self.monitor.write()
        for what in ('no such thing', '-x', ''):
            self.assertEqual(self.monitor.ctl('diagnose', what).returncode, 64, what)

    def test_it_goes_on_without_a_good_configuration_and_says_so(self):
        done = self.monitor.ctl('-c', '/nonexistent/mailflowd.conf', 'diagnose', '127.0.0.9')
        self.assertEqual(done.returncode, 2)
        self.assertIn('/nonexistent/mailflowd.conf', done.stderr)
        self.assertIn('No server could be reached', done.stdout)


if __name__ == '__main__':
    main()
