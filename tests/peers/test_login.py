#!/usr/bin/env python3
"""Passwords that are refused: two tries, then a pause, for accounts are
locked by less; and it is the monitor that is blind, not the mail that is lost."""
import base64
import os
import signal
import time

from harness import Case, instant, main


class Login(Case):
    def refused(self, user):
        return len(self.dovecot.refused_logins(user))

    def pauses(self, m):
        """The next login is not just a few seconds away."""
        retry_at = m.status()['mailboxes'][0]['retry_at']
        return retry_at and instant(retry_at) > time.time() + 600

    def test_a_refused_mailbox_password_is_tried_twice_and_never_again_in_the_pause(self):
        m = self.usual(every='1s')
        m.section('mailbox', 'canary', password_file=m.secret('wrong'), auth_pause='1h', poll='1s')
        m.start()
        m.wait('two logins were refused', lambda: self.refused('canary@mail.test') >= 2)
        time.sleep(6)               # six polls in which nothing may happen
        self.assertEqual(self.refused('canary@mail.test'), 2)
        self.assertFalse(m.finished(outcome='lost'))
        self.assertRegex(m.ctl('status').stdout.lower(), 'password|authentication')
        m.wait('the admin was told that it is blind', lambda: any(
            'blind' in message.decode().lower() for message in self.dovecot.messages('admin@mail.test')))

    def test_the_pause_outlives_a_restart(self):
        m = self.usual(every='1s')
        m.section('mailbox', 'canary', password_file=m.secret('wrong'), auth_pause='1h', poll='1s')
        m.start()
        m.wait('two logins were refused', lambda: self.refused('canary@mail.test') >= 2)
        m.wait('the monitor knows of the pause', lambda: self.pauses(m))
        self.assertEqual(m.stop(), 0)
        m.restart()
        time.sleep(4)
        self.assertEqual(self.refused('canary@mail.test'), 2)

    def test_the_pause_outlives_the_watcher(self):
        m = self.usual(every='1s')
        m.section('mailbox', 'canary', password_file=m.secret('wrong'), auth_pause='1h', poll='1s')
        m.start()
        m.wait('two logins were refused', lambda: self.refused('canary@mail.test') >= 2)
        m.wait('the monitor knows of the pause', lambda: self.pauses(m))
        first, = m.workers('mailflow-watcher')
        os.kill(first, signal.SIGKILL)
        m.wait('another watcher runs', lambda: [
            pid for pid in m.workers('mailflow-watcher') if pid != first])
        time.sleep(3)
        self.assertEqual(self.refused('canary@mail.test'), 2)

    def test_another_password_file_ends_the_pause(self):
        m = self.usual(every='1s')
        m.section('mailbox', 'canary', password_file=m.secret('wrong'), auth_pause='1h', poll='1s')
        m.start()
        m.wait('the monitor knows of the pause', lambda: self.pauses(m))
        self.assertRegex(m.status()['mailboxes'][0]['reason'],
                         r'^login refused \(wrong user or password\?\): NO \[AUTH')
        m.section('mailbox', 'canary', password_file=m.secret(self.peers.password))
        m.reload()
        m.wait_delivered('there')
        self.assertEqual(self.refused('canary@mail.test'), 2)
        self.assertEqual(m.stop(), 0)
        m.restart()                             # nothing is left of it
        have = len(m.finished('there', 'delivered'))
        m.wait_delivered('there', count=have + 1)

    def test_after_the_pause_the_mended_password_works(self):
        m = self.usual(every='1s')
        m.section('mailbox', 'canary', password_file=m.secret('wrong'), auth_pause='3s', poll='1s')
        m.start()
        m.wait('two logins were refused', lambda: self.refused('canary@mail.test') >= 2)
        self.dovecot.set_password('canary@mail.test', 'wrong')
        rows = m.wait('probes are seen again', lambda: m.finished('there', 'delivered'))
        self.assertTrue(rows)

    def test_a_refused_smtp_login_is_tried_twice_and_is_no_miss(self):
        m = self.usual(every='1s')
        m.section('server', 'mail', port=self.postfix.submission, host='localhost', tls='starttls',
                  ca_file=self.peers.certificates.ca, user='probe@mail.test',
                  password_file=m.secret('wrong'), auth_pause='1h')
        m.start()
        m.wait('two logins were refused', lambda: self.refused('probe@mail.test') >= 2)
        time.sleep(5)
        self.assertEqual(self.refused('probe@mail.test'), 2)
        attempt = m.attempts('there')[0]
        self.assertEqual((attempt['stage'], attempt['class'], attempt['code']), ('auth', 'auth', '535'))

    def test_the_password_is_in_no_log_row_or_transcript(self):
        self.passes_unseen('plain')

    def test_nor_is_it_after_a_login_by_login(self):
        self.passes_unseen('login')

    def passes_unseen(self, mechanism):
        m = self.usual()
        secret = 'only-the-server-may-see-this'
        self.postfix.set(smtpd_sasl_mechanism_filter=mechanism)
        self.dovecot.set_password('probe@mail.test', secret)
        m.section('server', 'mail', port=self.postfix.submission, host='localhost', tls='starttls',
                  ca_file=self.peers.certificates.ca, user='probe@mail.test',
                  password_file=m.secret(secret))
        m.start()
        m.wait_delivered('there')
        self.assertTrue(self.postfix.log_lines('sasl_method=%s, ' % mechanism.upper()))
        self.postfix.set_full(True)
        m.wait('it was refused', lambda: m.attempts('there', code='452'))
        notice = m.wait('the admin was told', lambda: self.dovecot.messages('admin@mail.test'))[0]
        self.assertIn(b'AUTH %s' % mechanism.upper().encode(), notice)
        shown = notice.decode() + m.log() + m.ctl('status').stdout + m.ctl('probes', '--transcript', 'there').stdout
        shown += repr(m.rows('attempts')) + repr(m.rows('latency'))
        self.assertNotIn(secret, shown)
        self.assertNotIn(base64.b64encode(secret.encode()).decode(), shown)
        self.assertNotIn(base64.b64encode(b'\0probe@mail.test\0' + secret.encode()).decode(), shown)


if __name__ == '__main__':
    main()
