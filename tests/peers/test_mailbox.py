#!/usr/bin/env python3
"""The mailbox of people is also watched: nothing in it but our own probes may
be touched."""
import hashlib
import os
import pwd
import smtplib
import time

from harness import HOST, Case, main

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
            m.wait_delivered('there', count=have + 5, within=40)
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


if __name__ == '__main__':
    main()
