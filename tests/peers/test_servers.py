#!/usr/bin/env python3
"""The private servers by themselves: what the other tests stand on."""
import email
import os
import smtplib
import ssl
import unittest

from harness import main, HOST, Peers, Scratch, descendants, held, listening, wait_for

MAIL = 'From: probe@mail.test\r\nTo: canary@mail.test\r\nSubject: %s\r\nMessage-ID: <%s@mail.test>\r\n\r\nHello.\r\n'


class Servers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch()
        cls.addClassCleanup(cls.scratch.close)
        cls.peers = Peers(cls.scratch)
        cls.postfix, cls.dovecot = cls.peers.postfix, cls.peers.dovecot
        cls.trust = ssl.create_default_context(cafile=cls.peers.certificates.ca)

    def deliver(self, session, subject):
        session.sendmail('probe@mail.test', ['canary@mail.test'], MAIL % (subject, subject))
        session.quit()
        wait_for('%s is in the mailbox' % subject, lambda: any(
            email.message_from_bytes(m)['Subject'] == subject
            for m in self.dovecot.messages('canary@mail.test')))

    def test_mail_sent_in_the_clear_is_delivered(self):
        self.deliver(smtplib.SMTP(HOST, self.postfix.plain), 'clear')

    def test_mail_sent_with_starttls_and_a_login_is_delivered(self):
        session = smtplib.SMTP('localhost', self.postfix.submission)
        session.starttls(context=self.trust)
        session.login('probe@mail.test', self.peers.password)
        self.deliver(session, 'submitted')

    def test_mail_sent_with_implicit_tls_is_delivered(self):
        session = smtplib.SMTP_SSL('localhost', self.postfix.smtps, context=self.trust)
        session.login('probe@mail.test', self.peers.password)
        self.deliver(session, 'wrapped')

    def test_submission_without_a_login_is_refused(self):
        session = smtplib.SMTP('localhost', self.postfix.submission)
        session.starttls(context=self.trust)
        with self.assertRaises(smtplib.SMTPRecipientsRefused):
            session.sendmail('probe@mail.test', ['canary@mail.test'], MAIL % ('x', 'x'))

    def test_the_full_port_answers_452_4_3_1(self):
        with smtplib.SMTP(HOST, self.postfix.full) as session:
            session.ehlo()
            code, text = session.mail('probe@mail.test')
        self.assertEqual((code, text), (452, b'4.3.1 Insufficient system storage'))

    def test_an_episode_can_be_switched_on_and_off_at_one_port(self):
        self.assertEqual(self.postfix.mail_code('smtp'), 250)
        self.postfix.set_full(True)
        self.assertEqual(self.postfix.mail_code('smtp'), 452)
        self.assertEqual(self.postfix.mail_code('spare'), 250)
        self.postfix.set_full(False)
        self.assertEqual(self.postfix.mail_code('smtp'), 250)

    def test_every_way_to_read_a_mailbox_works(self):
        for tls in ('none', 'starttls', 'implicit'):
            session = self.dovecot.connect('canary@mail.test', tls, self.peers.certificates.ca)
            self.assertEqual(session.select()[0], 'OK', tls)
            session.logout()

    def test_the_log_tells_when_a_mail_was_stored(self):
        self.deliver(smtplib.SMTP(HOST, self.postfix.plain), 'logged')
        stored = wait_for('Dovecot has logged it', lambda: [
            d for d in self.dovecot.deliveries('canary@mail.test') if d.message_id == '<logged@mail.test>'])
        self.assertEqual(len(stored), 1)
        self.assertEqual(stored[0].folder, 'INBOX')

    def test_refused_logins_are_counted(self):
        before = len(self.dovecot.refused_logins('admin@mail.test'))
        session = smtplib.SMTP('localhost', self.postfix.submission)
        session.starttls(context=self.trust)
        with self.assertRaises(smtplib.SMTPAuthenticationError):
            session.login('admin@mail.test', 'wrong')
        wait_for('the refusal is in the log', lambda: len(
            self.dovecot.refused_logins('admin@mail.test')) > before)


class Teardown(unittest.TestCase):
    def test_nothing_runs_or_listens_afterwards(self):
        with Scratch() as scratch:
            peers = Peers(scratch)
            started = [peers.postfix.process, peers.dovecot.process]
            self.assertTrue(all(process.alive() for process in started))
            path = scratch.path
        self.assertFalse(any(process.alive() for process in started))
        self.assertEqual(descendants(), [])
        self.assertEqual([port for port in held() if listening(port)], [])
        self.assertFalse(os.path.exists(path))


if __name__ == '__main__':
    main()
