#!/usr/bin/env python3
"""The mailbox of people is also watched: nothing in it but our own probes may
be touched."""
import hashlib
import os
import pwd
import signal
import smtplib
import sqlite3
import time
from email import message_from_bytes

from harness import HOST, Case, Monitor, instant, main

MANY = 10000


class Mailbox(Case):
    user = 'canary@mail.test'

    def fill(self, count):
        """That many read mails of others, with odd flags among them."""
        owner = pwd.getpwnam('mail')
        base = self.dovecot.maildir(self.user)
        for path in (base, *(os.path.join(base, name) for name in ('cur', 'new', 'tmp'))):
            os.makedirs(path, exist_ok=True)
            os.chown(path, owner.pw_uid, owner.pw_gid)
        for number in range(count):
            path = os.path.join(base, 'cur', '%d.M%dP1.host:2,%s' % (
                1600000000 + number, number, ('S', '', 'FS', 'RS', 'T')[number % 5]))
            with open(path, 'w') as f:
                f.write('From: someone%d@example.org\nTo: %s\nSubject: Mail %d\n'
                        'Message-ID: <%d@example.org>\n\nHello %d.\n' % (
                            number, self.user, number, number, number))
            os.chown(path, owner.pw_uid, owner.pw_gid)

    def others(self):
        """{file name: checksum} of every mail that is not a probe."""
        found = {}
        for folder, _, files in os.walk(self.dovecot.maildir(self.user)):
            if os.path.basename(folder) not in ('cur', 'new'):
                continue
            for name in files:
                try:
                    with open(os.path.join(folder, name), 'rb') as f:
                        text = f.read()
                except FileNotFoundError:
                    continue            # a probe on its way out
                if b'\nX-Mailflow-Probe:' not in text.split(b'\n\n')[0]:
                    found[name] = hashlib.sha256(text).hexdigest()
        return found

    def test_ten_thousand_mails_of_others_stay_as_they_are(self):
        self.fill(MANY)
        session = self.dovecot.connect(self.user)
        session.select('INBOX')
        session.logout()
        before = self.others()
        self.assertEqual(len(before), MANY)
        for expunge in ('uid', 'auto'):
            m = self.usual()
            m.section('mailbox', 'canary', expunge=expunge)
            m.start()
            have = len(m.finished('there', 'delivered'))
            m.wait_delivered('there', count=have + 5)
            self.assertEqual(m.stop(), 0)
            self.assertEqual(self.others(), before)

    def test_what_quotes_a_probe_is_read_but_never_flagged_or_removed(self):
        m = self.usual()
        m.start()
        token = m.wait_delivered('there')[0]['probe']
        head = {'Subject': 'Mail flow test ' + token, 'X-Mailflow-Probe': token,
                'Message-ID': '<%s@mail.test>' % token}
        quotes = (
            'From: someone@mail.test\r\nSubject: Re: %(Subject)s\r\nIn-Reply-To: %(Message-ID)s\r\n'
            'References: %(Message-ID)s\r\nMessage-ID: <reply@mail.test>\r\n\r\nYes.\r\n',
            'From: someone@mail.test\r\nSubject: Fwd: %(Subject)s\r\nMessage-ID: <fwd@mail.test>\r\n'
            '\r\nX-Mailflow-Probe: %(X-Mailflow-Probe)s\r\n',
            'From: MAILER-DAEMON@mail.test\r\nSubject: Undelivered\r\nMessage-ID: <b@mail.test>\r\n'
            'MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; '
            'boundary=x\r\n\r\n--x\r\n\r\nsorry\r\n--x\r\nContent-Type: text/rfc822-headers\r\n\r\n'
            'X-Mailflow-Probe: %(X-Mailflow-Probe)s\r\nMessage-ID: %(Message-ID)s\r\n--x--\r\n')
        with smtplib.SMTP(HOST, self.postfix.spare) as session:
            for quote in quotes:
                session.sendmail('someone@mail.test', [self.user], quote % head)
        m.wait('all are there', lambda: len(self.others()) == len(quotes))
        have = len(m.finished('there', 'delivered'))
        m.wait_delivered('there', count=have + 3)
        time.sleep(2)                   # clean-up and a poll have had their turn
        session = self.dovecot.connect(self.user)
        session.select('INBOX', readonly=True)
        flags = session.uid('FETCH', '1:*', '(FLAGS BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])')[1]
        shown = b''.join(b''.join(part) if isinstance(part, tuple) else part for part in flags)
        session.logout()
        for name in (b'<reply@mail.test>', b'<fwd@mail.test>', b'<b@mail.test>'):
            self.assertIn(name, shown)
        self.assertEqual(len(self.others()), len(quotes))
        for part in flags:
            if isinstance(part, tuple) and b'@mail.test>' in part[1] and any(
                    name in part[1] for name in (b'<reply@', b'<fwd@', b'<b@')):
                self.assertNotIn(b'\\Seen', part[0])
                self.assertNotIn(b'\\Deleted', part[0])

    def left(self, folder='INBOX'):
        return len(self.dovecot.messages(self.user, folder))

    def wait_left(self, m, count, folder='INBOX', within=45):
        m.wait('%d are left in %s' % (count, folder), lambda: self.left(folder) == count, within)

    def once(self, **mailbox):
        """A monitor that sends one probe when it begins, and no other for an
        hour."""
        m = self.usual(every='1h')
        m.section('mailbox', 'canary', **mailbox)
        return m.start()

    def junk_all(self):
        with open(self.dovecot.home(self.user) + '/.dovecot.sieve', 'w') as f:
            f.write('require "fileinto";\nfileinto "Junk";\n')

    def test_a_probe_is_kept_for_as_long_as_was_asked(self):
        m = self.once(keep='15s')
        row = m.wait_delivered('there')[0]
        self.assertEqual(self.left(), 1)
        self.wait_left(m, 0)
        self.assertGreater(time.time(), instant(row['arrived_at']) + 14.9)

    def test_what_is_kept_goes_after_a_restart_however_old_it_is(self):
        m = self.once(keep='15s')
        m.wait_delivered('there')
        self.fill(40)                   # more than a new watcher looks back
        self.wait_left(m, 41)
        m.kill()
        m.restart()
        self.wait_left(m, 40)
        self.assertEqual(len(self.others()), 40)

    def test_what_a_dead_watcher_was_to_remove_is_removed_by_the_next(self):
        m = self.once(keep='6s')
        m.wait_delivered('there')
        watcher, = m.workers('mailflow-watcher')
        os.kill(watcher, signal.SIGSTOP)
        time.sleep(7)                       # it is due now, and nobody hears it
        self.assertEqual(self.left(), 1)
        os.kill(watcher, signal.SIGKILL)
        self.wait_left(m, 0)

    def test_junk_stays_longer_than_the_rest(self):
        self.junk_all()
        m = self.once(keep='0', keep_bad='10s')
        row = m.wait('it is found in Junk', lambda: m.finished('there', 'junk'))[0]
        time.sleep(2.5)
        self.assertEqual(self.left('Junk'), 1)
        self.wait_left(m, 0, 'Junk')
        self.assertGreater(time.time(), instant(row['arrived_at']) + 9.9)

    def test_two_monitors_on_one_mailbox_leave_each_other_alone(self):
        ours = self.usual()
        ours.section('mailbox', 'canary', keep='1h')
        ours.start()
        mine, other = ours, Monitor(self.scratch, name='other', instance='other')
        self.monitor = other
        self.usual()
        other.start()
        mine.wait_delivered('there', count=4)
        other.wait_delivered('there', count=4)
        self.assertEqual((mine.stop(), other.stop()), (0, 0))
        left = [message_from_bytes(text)['X-Mailflow-Probe']
                for text in self.dovecot.messages(self.user)]
        kept = {row['probe'] for row in mine.finished('there', 'delivered')}
        removed = {row['probe'] for row in other.finished('there', 'delivered')}
        self.assertLessEqual(kept, set(left))
        self.assertLessEqual(len(removed & set(left)), 2)       # the very last ones
        self.assertEqual({row['duplicates'] for row in mine.rows('latency')}, {'0'})
        for token in removed:
            self.assertNotIn(token, mine.log())

    def test_what_earlier_runs_left_is_swept_from_junk_too(self):
        m = self.once(keep='1h', keep_bad='1h')
        m.wait_delivered('there')
        self.junk_all()
        m.ctl('probe', 'there')
        m.wait('it is found in Junk', lambda: m.finished('there', 'junk'))
        self.assertEqual(m.stop(), 0)
        for name in os.listdir(m.state):    # all is forgotten, but for the key
            if name.startswith('mailflow.db'):
                os.remove(os.path.join(m.state, name))
        m.section('mailbox', 'canary', keep='0', keep_bad='0')
        m.start()
        self.wait_left(m, 0)
        self.wait_left(m, 0, 'Junk')

    def test_a_mail_that_a_rule_moves_to_another_folder_is_no_duplicate(self):
        session = self.dovecot.connect(self.user)
        session.create('Sorted')
        m = self.once(keep='12s', folders=['INBOX', 'Sorted'])
        token = m.wait_delivered('there')[0]['probe']
        session.select('INBOX')
        session.uid('COPY', '1', 'Sorted')
        session.uid('STORE', '1', '+FLAGS', '(\\Deleted)')
        session.expunge()
        session.logout()

        def duplicates():
            with sqlite3.connect('file:%s/mailflow.db?mode=ro' % m.state, uri=True) as store:
                return store.execute('SELECT duplicates FROM probe WHERE token = ?', (token,)).fetchone()[0]
        m.wait('the second one is seen', lambda: duplicates() == 1)
        m.wait('the first one is missed', lambda: duplicates() == 0)
        self.wait_left(m, 0, 'Sorted')


if __name__ == '__main__':
    main()
