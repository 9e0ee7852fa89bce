#!/usr/bin/env python3
"""Probes through real servers, by every way to send and every way to look."""
from harness import Case, instant, main

# name: (Postfix's port, tls of the server section, logs in, tls column)
SENDING = {
    'none': ('plain', 'none', False, 'none'),
    'opportunistic without an offer': ('plain', 'opportunistic', False, 'none'),
    'opportunistic': ('smtp', 'opportunistic', False, 'TLS'),
    'starttls': ('submission', 'starttls', True, 'TLS'),
    'implicit': ('smtps', 'implicit', True, 'TLS'),
}
# tls of the mailbox section: user
LOOKING = {
    'none': 'canary@mail.test',
    'starttls': 'second@mail.test',
    'implicit': 'oncall@mail.test',
}


class RoundTrip(Case):
    def configure(self):
        m, ca = self.monitor, self.peers.certificates.ca
        for name, (port, tls, login, _) in SENDING.items():
            more = {'ca_file': ca} if tls != 'none' else {}
            if login:
                more.update(user='probe@mail.test', password_file=m.secret(self.peers.password))
            m.server(name.replace(' ', '-'), self.postfix.port[port], host='localhost', tls=tls,
                     system=name.replace(' ', '-'), **more)
        for tls, user in LOOKING.items():
            port = self.dovecot.imaps_port if tls == 'implicit' else self.dovecot.imap_port
            more = {'ca_file': ca, 'insecure_auth': False} if tls != 'none' else {}
            m.mailbox(tls, port, user, self.peers.password, host='localhost', tls=tls, **more)
        for name in SENDING:
            m.route('send-' + name.replace(' ', '-'), name.replace(' ', '-'), 'none', every='3s')
        for tls, user in LOOKING.items():
            m.route('look-' + tls, 'none', tls, to=user, every='3s')

    def test_every_way_to_send_and_to_look_brings_the_probe_home(self):
        self.configure()
        self.monitor.start()
        for name, (_, _, _, column) in SENDING.items():
            route = 'send-' + name.replace(' ', '-')
            with self.subTest(sending=name):
                self.monitor.wait_delivered(route)
                tls = self.monitor.attempts(route)[0]['tls']
                self.assertTrue(tls.startswith(column), tls)
                if column == 'TLS':
                    self.assertIn('verified', tls)
        for tls in LOOKING:
            with self.subTest(looking=tls):
                self.monitor.wait_delivered('look-' + tls)
        self.assertEqual(self.monitor.stop(), 0)

    def test_the_row_of_a_probe_tells_what_happened_and_when(self):
        m = self.usual()
        m.start()
        row = m.wait_delivered('there')[0]
        mine = m.wait('Dovecot has logged it', lambda: [
            d for d in self.dovecot.deliveries('canary@mail.test') if row['probe'] in d.message_id])
        self.assertEqual(len(mine), 1, 'the Message-ID carries the token')
        self.assertLess(abs(instant(row['arrived_at']) - mine[0].at), 5)
        self.assertEqual((row['server'], row['from'], row['to'], row['mailbox'], row['folder']),
                         ('mail', 'probe@mail.test', 'canary@mail.test', 'canary', 'INBOX'))
        self.assertEqual((row['attempts'], row['deferrals'], row['code'], row['class']),
                         ('1', '0', '250', 'accepted'))
        self.assertTrue(self.postfix.log_lines(row['queue_id'] + ': message-id'))
        total = (instant(row['arrived_at']) - instant(row['first_attempt_at'])) * 1000
        self.assertLessEqual(abs(total - float(row['total_ms'])), 2)
        attempt = m.attempts('there', probe=row['probe'])
        self.assertEqual(len(attempt), 1)
        self.assertEqual(attempt[0]['try'], '1')
        self.assertEqual(attempt[0]['address'], '127.0.0.1')

    def empty(self):
        self.monitor.wait('the mailbox is empty again',
                          lambda: not self.dovecot.messages('canary@mail.test'))

    def test_probes_that_were_seen_are_cleaned_away(self):
        m = self.usual()
        m.start()
        m.wait_delivered('there', count=3)
        m.ctl('pause', 'there')
        self.empty()

    def test_what_was_seen_just_before_a_reload_is_cleaned_away_too(self):
        m = self.usual()
        m.start()
        m.wait_delivered('there', count=3)
        m.section('route', 'there', every='1h')
        m.reload()
        self.empty()

    def test_an_opportunistic_server_with_a_bad_certificate_is_used_and_recorded(self):
        m = self.usual()
        m.section('server', 'mail', tls='opportunistic', host='localhost')
        m.start()
        m.wait_delivered('there')
        tls = m.attempts('there')[0]['tls']
        self.assertTrue(tls.startswith('TLS'), tls)
        self.assertNotIn(' verified', tls)
        self.assertEqual(m.attempts('there')[0]['class'], 'accepted')

    def test_a_probe_in_the_junk_folder_is_found_and_says_so(self):
        home = self.dovecot.home('canary@mail.test')
        with open(home + '/.dovecot.sieve', 'w') as f:
            f.write('require "fileinto";\nif header :contains "Subject" "" { fileinto "Junk"; }\n')
        m = self.usual()
        m.start()
        rows = m.wait('a probe was found in Junk', lambda: m.finished('there', 'junk'))
        self.assertEqual(rows[0]['folder'], 'Junk')


if __name__ == '__main__':
    main()
