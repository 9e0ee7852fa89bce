#!/usr/bin/env python3
"""Probes into the mailboxes of a Cyrus: what holds for one IMAP server only
would show here.  Left out, and said so, where its packages cannot be had."""
import time

from cyrus import Cyrus, unpacked
from harness import Case, Certificates, Monitor, Postfix, Scratch, instant, main
from network import Unavailable
from scripted import Smtp

USER = 'canary@mail.test'
PASSWORD = 'pa55 "word\\'
JUNK = 'INBOX.Junk'
NEVER = '10m'           # longer than any test


class SecondServer(Case):
    @classmethod
    def setUpClass(cls):
        cls.missing = None
        try:
            unpacked()
        except Unavailable as why:
            cls.missing = str(why)

    def setUp(self):
        if self.missing:
            self.skipTest(self.missing)
        self.scratch = Scratch()
        self.addCleanup(self._close)
        self.certificates = Certificates(self.scratch.directory('certificates'))
        self.cyrus = Cyrus(self.scratch, {USER: PASSWORD}, self.certificates.good)
        self.cyrus.make_junk(USER, JUNK)
        self.monitor = Monitor(self.scratch)

    # -- parts

    def real(self):
        """A Postfix before it, which takes user+Junk, too."""
        postfix = Postfix(self.scratch, self.certificates.good, self.cyrus,
                          settings={'recipient_delimiter': '+'})
        self.monitor.server('mail', postfix.smtp)

    def keeping(self):
        """A server that takes a mail and delivers nothing."""
        smtp = Smtp().start()
        self.scratch.on_close(smtp.stop)
        self.monitor.server('mail', smtp.port)
        return smtp

    def watch(self, password=PASSWORD, **settings):
        self.monitor.mailbox('canary', self.cyrus.imap_port, USER, password, **settings)

    def mailbox(self):
        return self.monitor.status()['mailboxes'][0]

    def left(self, folder='INBOX'):
        """(uid, flags, message) of what lies there; \\Recent is the server's
        own and says only who looked last."""
        return [(uid, set(flags.split()) - {'\\Recent'}, text)
                for uid, flags, text in self.cyrus.fetch(USER, folder)]

    def wait_left(self, count, folder='INBOX'):
        return self.monitor.wait('%d are left in %s' % (count, folder),
                                 lambda: len(self.left(folder)) == count)

    def probes(self, count):
        """The rows of that many probes, one after the other."""
        have = len(self.monitor.wait_delivered('there'))
        for number in range(have, count):
            self.monitor.ctl('probe', 'there')
            self.monitor.wait_delivered('there', count=number + 1)
        return self.monitor.finished('there')

    def fill(self, folder):
        """Mails of people: one new, one read and marked, one that its reader
        has flagged to be expunged some day."""
        for number in range(3):
            self.cyrus.deliver('From: someone@mail.test\r\nSubject: Mail %d\r\n'
                               'Message-ID: <%d@example.org>\r\n\r\nHello.\r\n' % (number, number),
                               USER if folder == 'INBOX' else 'canary+Junk@mail.test')
        session = self.cyrus.connect(USER)
        session.select(folder)
        session.uid('STORE', '2', '+FLAGS', r'(\Seen \Flagged)')
        session.uid('STORE', '3', '+FLAGS', r'(\Deleted)')
        session.unselect()
        session.logout()
        found = self.left(folder)
        self.assertEqual([flags for _, flags, _ in found],
                         [set(), {'\\Seen', '\\Flagged'}, {'\\Deleted'}])
        return found

    # -- tests

    def test_probes_come_home_and_are_removed_and_nothing_else_is(self):
        others = self.fill('INBOX')
        m = self.monitor
        self.real()
        self.watch(host='localhost', tls='starttls', ca_file=self.certificates.ca,
                   insecure_auth=False)
        m.route('there', 'mail', 'canary', every='1h')
        m.start()
        for row in self.probes(4):
            self.assertEqual((row['outcome'], row['folder'], row['attempts'], row['duplicates']),
                             ('delivered', 'INBOX', '1', '0'))
        self.wait_left(len(others))
        self.assertEqual(self.left(), others)
        self.assertEqual(m.stop(), 0)

    def test_one_in_the_junk_folder_is_told_and_removed_and_nothing_else_is(self):
        others = self.fill(JUNK)
        m = self.monitor
        self.real()
        self.watch(junk='auto', keep_bad='0')
        m.route('there', 'mail', 'canary', to='canary+Junk@mail.test', every='1h')
        m.start()
        row, = m.wait('it is found in Junk', lambda: m.finished('there'))
        self.assertEqual((row['outcome'], row['folder']), ('junk', JUNK))
        self.wait_left(len(others), JUNK)
        self.assertEqual(self.left(JUNK), others)
        self.assertEqual(self.left(), [])
        self.assertEqual(m.stop(), 0)

    def delivered_late(self, **mailbox):
        """A probe that comes when nobody looks for it any more.  Returns what
        the watcher had said by then and what it said until it was seen."""
        m, smtp = self.monitor, self.keeping()
        self.watch(burst='50ms', **mailbox)
        m.route('there', 'mail', 'canary', every='1h')
        m.start()
        m.wait('it looks', lambda: self.mailbox()['state'] == 'good')
        m.wait('it is sent', lambda: m.attempts('there', code='250'))
        m.wait('the burst is over', lambda: self.cyrus.silent_for(USER) > 0.5)
        before = self.watcher_said()
        (_, text), = smtp.messages
        self.cyrus.deliver(text, USER)
        m.wait_delivered('there')
        after = self.watcher_said()[len(before):]
        self.wait_left(0)
        self.assertEqual(m.stop(), 0)
        return before, after

    def watcher_said(self):
        said, = (lines for lines in self.cyrus.sessions(USER)
                 if any('SELECT' in line for line in lines))
        return said

    def test_a_mail_that_comes_later_is_seen_by_idle(self):
        before, after = self.delivered_late(poll=NEVER)
        self.assertTrue(before[-1].endswith(' IDLE'), before)
        self.assertEqual(after[0], 'DONE')

    def test_without_idle_the_poll_finds_it(self):
        before, after = self.delivered_late(poll='1s', idle=False)
        self.assertFalse([line for line in before + after if 'IDLE' in line])

    def test_a_reply_that_quotes_the_probe_is_left_alone(self):
        m = self.monitor
        self.real()
        self.watch()
        m.route('there', 'mail', 'canary', every='1h')
        m.start()
        token = self.probes(1)[0]['probe']
        self.cyrus.deliver(
            'From: someone@mail.test\r\nSubject: Re: Mail flow test %s\r\n'
            'In-Reply-To: <%s@mail.test>\r\nMessage-ID: <reply@mail.test>\r\n\r\nYes.\r\n'
            % (token, token), USER)
        reply = [mail for mail in self.left() if b'Re: Mail flow test' in mail[2]]
        self.assertEqual(len(reply), 1)
        self.probes(2)
        self.wait_left(1)
        self.assertEqual(self.left(), reply)
        self.assertEqual(m.stop(), 0)

    def test_a_server_that_went_away_is_watched_again(self):
        m = self.monitor
        self.real()
        self.watch()
        m.route('there', 'mail', 'canary', every='1h')
        m.start()
        self.probes(1)
        self.cyrus.stop()
        m.wait('it is blind', lambda: self.mailbox()['state'] == 'blind')
        self.cyrus.start()
        m.wait('it sees again', lambda: self.mailbox()['state'] == 'good')
        self.probes(2)
        self.wait_left(0)
        self.assertEqual(m.stop(), 0)

    def test_a_refused_password_is_tried_twice_and_then_not_for_an_hour(self):
        m = self.monitor
        self.keeping()
        self.watch(password='wrong')
        m.route('there', 'mail', 'canary', every='1h')
        m.start()
        m.wait('it pauses', lambda: self.mailbox()['retry_at'] and
               instant(self.mailbox()['retry_at']) > time.time() + 3000)
        self.assertEqual(self.mailbox()['state'], 'blind')
        self.assertEqual(self.cyrus.passwords.refused, 2)
        self.assertEqual(m.stop(), 0)


if __name__ == '__main__':
    main()
