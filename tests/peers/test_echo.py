#!/usr/bin/env python3
"""Routes whose recipient sends the probe back: by passing it on, by answering."""
import email
import email.policy
import smtplib
import threading
from email.message import EmailMessage

from harness import Case, main


def answer(probe):
    """What a rule that answers each mail sends."""
    mail = EmailMessage()
    mail['From'] = 'Responder <second@mail.test>'
    mail['To'] = probe['From']
    mail['Subject'] = 'Automatic reply: hello'
    mail['In-Reply-To'] = probe['Message-ID']
    mail['Auto-Submitted'] = 'auto-replied'
    mail.set_content('Thank you for your message.\n')
    return mail


def quote(probe):
    """The same by a program that knows no threads."""
    mail = answer(probe)
    del mail['In-Reply-To']
    mail.set_content('You wrote:\n' + ''.join(
        '> %s\n' % line for line in probe.get_content().splitlines()))
    return mail


def forward(probe):
    """A new message with the old one's subject and text."""
    mail = EmailMessage()
    mail['From'] = 'Second <second@mail.test>'
    mail['To'] = 'canary@mail.test'
    mail['Subject'] = 'Fwd: ' + probe['Subject']
    mail.set_content('---- Forwarded message ----\n' + probe.get_content())
    return mail


def redirect(probe):
    """The message itself, sent on."""
    return probe


def bounce(probe):
    """A bounce in words that quotes it."""
    mail = EmailMessage()
    mail['From'] = 'Mail Delivery System <mailer-daemon@mail.test>'
    mail['To'] = probe['From']
    mail['Subject'] = 'Undelivered Mail Returned to Sender'
    mail.set_content('This is the mail system. I could not deliver your message: '
                     'the user is unknown.\n\n' + probe.get_content())
    return mail


class Responder(threading.Thread):
    """Takes each mail of an address once and has what make() returns put
    into another mailbox."""

    def __init__(self, dovecot, address, to, make):
        super().__init__(daemon=True)
        self.dovecot, self.address, self.to, self.make = dovecot, address, to, make
        self.over = threading.Event()
        self.done = 0

    def run(self):
        while not self.over.wait(0.2):
            for raw in self.dovecot.messages(self.address)[self.done:]:
                probe = email.message_from_bytes(raw, policy=email.policy.default)
                self.deliver(self.make(probe))
                self.done += 1

    def deliver(self, mail):
        with smtplib.LMTP(self.dovecot.lmtp) as session:
            session.sendmail('', [self.to], mail.as_bytes())

    def stop(self):
        self.over.set()
        self.join()


class Echo(Case):
    def echo(self, make, mode, **more):
        """A route to somebody else's mailbox, of which the echo is seen."""
        m = self.usual(to='second@mail.test', echo=mode, every='1s', **more)
        responder = Responder(self.dovecot, 'second@mail.test', 'canary@mail.test', make)
        responder.start()
        self.scratch.on_close(responder.stop)
        m.start()
        return responder

    def assert_comes_back(self, make, mode, kept=True):
        self.echo(make, mode)
        rows = self.monitor.wait_delivered('there', count=3)
        self.assertEqual(self.monitor.stop(), 0)
        self.assertEqual(rows[0]['mailbox'], 'canary')
        self.assertEqual(len({row['probe'] for row in rows}), len(rows))
        if kept:
            self.assertGreaterEqual(len(self.dovecot.messages('canary@mail.test')), 3,
                                    'an echo is never removed')

    def test_a_mail_passed_on_as_a_new_message_has_arrived(self):
        self.assert_comes_back(forward, 'forward')

    def test_a_mail_passed_on_as_it_is_has_arrived(self):
        self.assert_comes_back(redirect, 'forward', kept=False)

    def test_an_answer_is_the_arrival(self):
        self.assert_comes_back(answer, 'autoreply')

    def test_an_answer_that_only_quotes_the_text_is_one_too(self):
        self.assert_comes_back(quote, 'autoreply')

    def test_an_answer_where_none_is_awaited_changes_nothing(self):
        self.echo(answer, 'none')
        self.monitor.route('other', 'mail', 'canary', every='1s')
        self.monitor.reload()
        self.monitor.wait('three answers came', lambda: len(
            self.dovecot.deliveries('canary@mail.test')) >= 6)
        self.monitor.wait_delivered('other', count=3)
        self.assertEqual(self.monitor.stop(), 0)
        self.assertFalse(self.monitor.finished('there'))

    def test_a_bounce_in_words_is_no_echo(self):
        self.echo(bounce, 'forward')
        self.monitor.wait('it bounced', lambda: len(
            self.monitor.finished('there', 'bounced')) >= 3)
        self.assertEqual(self.monitor.stop(), 0)
        self.assertFalse(self.monitor.finished('there', 'delivered'))

    def test_probes_to_a_responder_do_not_forbid_an_answer(self):
        self.echo(answer, 'autoreply')
        self.monitor.wait_delivered('there')
        raw = self.dovecot.messages('second@mail.test')[0]
        self.assertIsNone(email.message_from_bytes(raw)['Auto-Submitted'])


if __name__ == '__main__':
    main()
