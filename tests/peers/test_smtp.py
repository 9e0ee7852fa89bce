#!/usr/bin/env python3
"""What a server sees of a session, and what is told of it afterwards."""
import base64
import email
import email.policy
import socket
import unittest

from harness import HOST, Names, free_port, main
from scripted import Scripted

BOTH = '127.0.0.2'      # a second address of this machine


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(('::1', 0))
        return True
    except OSError:
        return False


class Seen(Scripted):
    def test_a_size_is_filled_to_the_byte_and_declared(self):
        server = self.smtp('mail')
        self.route('big', 'mail', size=100000)
        self.route('odd', 'mail', size=4321, to='odd@mail.test')
        self.monitor.start()
        for route in ('big', 'odd'):
            self.monitor.wait_delivered(route)
        for envelope, data in list(server.messages):
            want = 100000 if envelope['rcpt'] == ['box@mail.test'] else 4321
            self.assertEqual(len(data), want)
            self.assertIn('SIZE=%d' % want, envelope['params'])
            self.assertLessEqual(max(map(len, data.split(b'\r\n'))), 998)
        row = self.monitor.finished('big')[0]
        self.assertEqual(row['size'], '100000')

    def test_a_message_that_is_too_large_is_refused_at_mail_for_good(self):
        server = self.smtp('mail', {'mail': '552 5.3.4 Message size exceeds fixed limit'})
        self.route('big', 'mail', size=100000, reject_backoff=['1h'])
        self.monitor.start()
        row = self.monitor.wait('it was refused', lambda: self.monitor.finished('big'))[0]
        self.assertEqual((row['outcome'], row['class'], row['code'], row['enhanced']),
                         ('rejected', 'size', '552', '5.3.4'))
        self.assertEqual(self.monitor.attempts('big')[0]['stage'], 'mail')
        self.assertFalse(server.commands('RCPT'))

    def test_no_size_is_declared_where_it_is_not_offered(self):
        server = self.smtp('mail', {'ehlo_keywords': ['8BITMIME']})
        self.route('r', 'mail')
        self.monitor.start()
        self.monitor.wait_delivered('r')
        self.assertEqual(server.commands('MAIL')[0], 'MAIL FROM:<probe@mail.test>')

    def test_the_name_in_ehlo_is_that_of_helo(self):
        server = self.smtp('mail', helo='probe7.example.org')
        self.route('r', 'mail')
        self.monitor.start()
        self.monitor.wait_delivered('r')
        self.assertEqual(set(server.commands('EHLO')), {'EHLO probe7.example.org'})

    def test_the_source_address_is_used(self):
        server = self.smtp('mail', source_address='127.0.0.9')
        self.route('r', 'mail')
        self.monitor.start()
        self.monitor.wait_delivered('r')
        self.assertEqual({session.peer for session in server.sessions}, {'127.0.0.9'})

    @unittest.skipUnless(has_ipv6(), 'this machine has no IPv6')
    def test_the_family_decides_on_the_address(self):
        four = self.smtp('four')
        six = self.smtp('six', host='::1', port=four.port)
        for name, family in (('four', 'ipv4'), ('six', 'ipv6')):
            self.monitor.section('server', name, host='localhost', port=four.port, family=family)
            self.route(name, name, to=name + '@mail.test')
        self.monitor.start()
        for name, server, address in (('four', four, '127.0.0.1'), ('six', six, '::1')):
            self.monitor.wait_delivered(name)
            self.assertEqual(self.monitor.attempts(name)[0]['address'], address)
            self.assertEqual({envelope['rcpt'][0] for envelope, _ in server.messages},
                             {name + '@mail.test'})

    def test_an_address_that_refused_is_told_beside_the_one_that_took_the_mail(self):
        names = Names(self.scratch, hosts={'mx.test': [BOTH, HOST]})
        self.monitor.settings['resolver'] = names.address
        server = self.smtp('mail')
        self.monitor.section('server', 'mail', host='mx.test')
        self.route('r', 'mail')
        self.monitor.start()
        self.monitor.wait_delivered('r', count=3)
        rows = self.monitor.attempts('r', address=HOST)
        self.assertTrue(rows)
        self.assertEqual({row['earlier'] for row in rows} - {''}, {BOTH + ': connection refused'})
        self.assertEqual({row['class'] for row in rows}, {'accepted'})
        server.script = {'rcpt': '450 4.2.1 not now'}
        self.monitor.wait('a refusal', lambda: self.monitor.attempts('r', stage='rcpt'))
        self.assertIn('connecting to %s' % HOST, self.transcript('r'))

    def transcript(self, route):
        return self.monitor.ctl('probes', '--transcript', route).stdout

    def test_all_addresses_that_failed_are_named(self):
        names = Names(self.scratch, hosts={'mx.test': [BOTH, HOST]})
        self.monitor.settings['resolver'] = names.address
        self.monitor.server('mail', free_port(), host='mx.test', system='mail')
        self.route('r', 'mail')
        self.monitor.start()
        row = self.monitor.wait('a failure', lambda: self.monitor.attempts('r'))[0]
        for address in (BOTH, HOST):
            self.assertIn(address + ': connection refused', row['reply'])
            self.assertIn('connecting to ' + address, self.transcript('r'))


def body_of(message):
    return email.message_from_bytes(message, policy=email.policy.default).get_content()


class Evidence(Scripted):
    """The transcript of the last failed attempt: in mailflowctl, and in the
    notice; bounded, readable, without a secret."""

    secret = 'only-the-server-may-see-this'

    def setUp(self):
        super().setUp()
        self.relay = self.smtp('relay')
        self.monitor.alerts(to=['admin@mail.test'], servers=['relay'], allow_probed=True,
                            blind_after='1s')

    def plain(self, script, oauth=False, **settings):
        kind = 'token_command' if oauth else 'password_file'
        source = 'echo ' + self.secret if oauth else self.monitor.secret(self.secret)
        server = self.smtp('mail', script, user='probe', insecure_auth=True, **{kind: source}, **settings)
        self.route('r', 'mail', alerts='default', retry=['300ms'])
        self.monitor.start()
        return server

    def shown(self, words):
        """The transcript and the failing notice, once the latter has come."""
        m = self.monitor
        m.wait('a failed attempt', lambda: m.attempts('r'))
        notice = m.wait('the notice', lambda: [
            body_of(data) for _, data in list(self.relay.messages) if b'The session' in data])[0]
        transcript = m.ctl('probes', '--transcript', 'r').stdout
        for text in (notice, transcript):
            for word in words:
                self.assertIn(word, text)
            self.without_secret(text)
            self.assertLess(len(text), 16 * 1024)
            self.assertLess(max(map(len, text.split('\n'))), 400)
        self.without_secret(m.log() + repr(m.rows('attempts')) + repr(m.rows('latency')))

    def without_secret(self, text):
        for login in (self.secret, '\0probe\0' + self.secret):
            self.assertNotIn(base64.b64encode(login.encode()).decode()[:-4], text)
        self.assertNotIn(self.secret, text)

    def test_a_refusal_after_plain(self):
        self.plain({'ehlo_keywords': ['AUTH PLAIN'], 'mail': '452 4.3.1 Insufficient system storage'})
        self.shown(['AUTH PLAIN ***', '235 2.7.0', 'MAIL FROM:<probe@mail.test>', 'S: 452 4.3.1'])

    def test_a_refusal_after_login(self):
        self.plain({'ehlo_keywords': ['AUTH LOGIN'], 'mail': '452 4.3.1 Insufficient system storage'})
        self.shown(['AUTH LOGIN', '***', '235 2.7.0', 'S: 452 4.3.1'])

    def test_a_refusal_after_xoauth2(self):
        self.plain({'ehlo_keywords': ['AUTH XOAUTH2'], 'mail': '452 4.3.1 Insufficient system storage'},
                   oauth=True)
        self.shown(['AUTH XOAUTH2 ***', '235 2.7.0', 'S: 452 4.3.1'])

    def test_a_server_that_repeats_the_login(self):
        coded = base64.b64encode(b'\0probe\0' + self.secret.encode()).decode()
        self.plain({'ehlo_keywords': ['AUTH PLAIN'],
                    'auth': '535-5.7.8 bad login: %s\n535 5.7.8 that is %s' % (coded, self.secret)},
                   auth_pause='1h')
        self.shown(['AUTH PLAIN ***', 'S: 535-5.7.8 bad login: ****'])

    def test_a_server_that_talks_without_end(self):
        self.plain({'ehlo_keywords': ['AUTH PLAIN'],
                    'mail': '\n'.join(['452-4.3.1 ' + 'blah ' * 60] * 40 + ['452 4.3.1 full'])})
        self.shown(['AUTH PLAIN ***', 'S: 452-4.3.1 blah', 'cut'])


if __name__ == '__main__':
    main()
