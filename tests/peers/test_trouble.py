#!/usr/bin/env python3
"""Servers that cannot be reached or trusted: a clear reason, in time."""
import re

from harness import (HOST, SERVFAIL, BlackHole, Case, Dovecot, Names, Silent, free_port, main)

SECONDS = 2         # every timeout in these tests
SLACK = 15.0        # for a machine that is busy; the defaults are minutes


class Trouble(Case):
    def setUp(self):
        self.peers_options = {'listeners': {
            name.replace('_', '-'): {} for name in ('self_signed', 'wrong_name', 'expired')}}
        super().setUp()
        certificates = self.peers.certificates
        for name in ('self_signed', 'wrong_name', 'expired'):
            pair = getattr(certificates, name)
            self.postfix.listeners[name.replace('_', '-')] = {
                'smtpd_tls_cert_file': pair.crt, 'smtpd_tls_key_file': pair.key}
        self.postfix.stop()
        self.postfix.write_master()
        self.postfix.start()

    def attempt(self, route='there'):
        """The first session of the route, which must have failed in time."""
        rows = self.monitor.wait('a session of %s ended' % route,
                                 lambda: self.monitor.attempts(route), within=SECONDS + 60)
        self.assertLessEqual(float(rows[0]['total_ms']), (SECONDS + SLACK) * 1000)
        return rows[0]

    def refuse(self, stage, klass, words, port=None, **server):
        """One session with such a server: its stage, class and reason, which
        status and the CSV must both give."""
        self.usual(port=port, every='1h')
        self.monitor.section('server', 'mail', connect_timeout='%ds' % SECONDS,
                             timeout='%ds' % SECONDS, dot_timeout='%ds' % SECONDS, **server)
        self.monitor.start()
        row = self.attempt()
        self.assertEqual((row['stage'], row['class']), (stage, klass), row['reply'])
        self.assertRegex(row['reply'].lower(), words)
        self.assertRegex(self.monitor.ctl('status').stdout.lower(), words)
        self.assertEqual(self.monitor.stop(), 0)
        return row

    def test_an_unknown_host_is_told_as_such(self):
        names = Names(self.scratch, hosts={'mail.test': HOST})
        self.monitor.settings['resolver'] = names.address
        self.refuse('lookup', 'dns', 'no such host|not exist|nxdomain|unknown|not found',
                    host='nowhere.test')

    def test_a_name_server_that_fails_makes_the_monitor_blind(self):
        names = Names(self.scratch, otherwise=SERVFAIL)
        self.monitor.settings['resolver'] = names.address
        m = self.usual(every='1s')
        m.section('server', 'mail', host='anything.test', connect_timeout='2s', timeout='2s')
        m.start()
        row = m.wait('a session ended', lambda: m.attempts('there'))[0]
        self.assertEqual(row['stage'], 'lookup')
        m.wait('an episode of blindness is open', lambda: [
            episode for episode in m.status()['episodes'] if episode['class'] == 'blind'
            and 'resolver' in episode['last_reply']])
        self.assertFalse([episode for episode in m.status()['episodes']
                          if episode['class'] == 'dns'], 'it is not the server that is in trouble')

    def test_a_refused_connection_is_told_as_such(self):
        self.refuse('connect', 'network', 'refused', port=free_port())

    def test_a_black_hole_ends_at_the_connect_timeout(self):
        self.refuse('connect', 'network', 'time|answer', port=BlackHole(self.scratch).port)

    def test_a_silent_server_ends_at_the_timeout(self):
        self.refuse('greeting', 'network', 'time|silen|greeting|answer', port=Silent(self.scratch).port)

    def test_a_self_signed_certificate_is_refused_and_says_so(self):
        self.refuse('starttls', 'tls', 'self.signed', host='localhost', tls='starttls',
                    port=self.postfix.port['self-signed'], ca_file=self.peers.certificates.ca)

    def test_a_certificate_for_another_name_is_refused_and_says_so(self):
        self.refuse('starttls', 'tls', 'name|host', host='localhost', tls='starttls',
                    port=self.postfix.port['wrong-name'], ca_file=self.peers.certificates.ca)

    def test_an_expired_certificate_is_refused_and_says_so(self):
        self.refuse('starttls', 'tls', 'expired', host='localhost', tls='starttls',
                    port=self.postfix.port['expired'], ca_file=self.peers.certificates.ca)

    def test_a_server_without_starttls_is_refused_where_starttls_is_wanted(self):
        self.refuse('starttls', 'tls', 'starttls|tls', host='localhost', tls='starttls',
                    port=self.postfix.plain)

    def test_a_black_hole_does_not_hold_up_the_other_routes(self):
        m = self.usual(every='1s')
        hole = BlackHole(self.scratch)
        m.settings['senders'] = 2
        m.server('hole', hole.port, connect_timeout='5s', timeout='5s', system='hole', concurrency=4)
        for number in range(6):
            m.route('lost-%d' % number, 'hole', 'canary', every='1s')
        m.start()
        m.wait_delivered('there', count=5)
        self.assertEqual(m.stop(), 0)


class Blind(Case):
    """The same for mailboxes: the monitor cannot look; no mail is lost."""

    def refuse(self, words, title='canary', **mailbox):
        m = self.usual(every='1s', lost_after='3s', late_after='2s')
        m.section('mailbox', title, connect_timeout='2s', timeout='2s', **mailbox)
        m.start()
        m.wait('status gives the reason', lambda: self._shown(words))
        m.wait('the admin was told', lambda: any(
            'blind' in message.decode().lower()
            for message in self.dovecot.messages('admin@mail.test')))
        self.assertFalse(m.finished(outcome='lost'), 'not seen is not lost')
        self.assertFalse([row for row in m.status()['episodes'] if row['class'] == 'undelivered'])
        self.assertEqual(m.stop(), 0)

    def _shown(self, words):
        return re.search(words, self.monitor.ctl('status').stdout.lower())

    def test_an_unreachable_imap_server_makes_the_monitor_blind(self):
        self.refuse('refused', port=free_port())

    def test_an_imap_black_hole_makes_the_monitor_blind(self):
        self.refuse('time|answer', port=BlackHole(self.scratch).port)

    def test_a_silent_imap_server_makes_the_monitor_blind(self):
        self.refuse('time|silen|greeting|answer', port=Silent(self.scratch).port)

    def certificate(self, name, words):
        other = Dovecot(self.scratch, self.dovecot.users, getattr(self.peers.certificates, name),
                        name='other')
        self.refuse(words, host='localhost', port=other.imaps_port, tls='implicit',
                    ca_file=self.peers.certificates.ca, insecure_auth=False)
        self.assertFalse(other.log_lines('Login: '), 'no password went over it')

    def test_a_self_signed_imap_certificate_makes_the_monitor_blind(self):
        self.certificate('self_signed', 'self.signed')

    def test_an_imap_certificate_for_another_name_makes_the_monitor_blind(self):
        self.certificate('wrong_name', 'name|host')

    def test_an_expired_imap_certificate_makes_the_monitor_blind(self):
        self.certificate('expired', 'expired')

    def test_a_folder_that_is_missing_makes_the_monitor_blind(self):
        self.refuse('nothing-here', folders=['Nothing-Here'])


if __name__ == '__main__':
    main()
