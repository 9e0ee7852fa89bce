#!/usr/bin/env python3
"""One watcher, five hundred mailboxes over TLS, a real Dovecot."""
import smtplib
import time
import unittest

from harness import Certificates, Dovecot, Scratch, main, wait_for
from watching import Watching, probe

MANY = 500
PASSWORD = 'secret'
MORE = '''
default_client_limit = 4000
service imap-login {
  service_count = 0
  process_min_avail = 2
  process_limit = 4
  client_limit = 1000
}
service imap {
  process_limit = 1000
}
service imap-hibernate {
  unix_listener imap-hibernate {
    mode = 0666
  }
}
protocol imap {
  imap_hibernate_timeout = 2s
}
'''


class Many(unittest.TestCase):
    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self.scratch.close)
        self.certificates = Certificates(self.scratch.directory('certificates'))
        self.names = ['m%d@mail.test' % number for number in range(MANY)]
        self.dovecot = Dovecot(self.scratch, {name: PASSWORD for name in self.names},
                               self.certificates.good, more=MORE)
        self.watching = Watching(self.scratch.sub('watcher'))
        self.addCleanup(self.watching.stop)

    def good(self):
        return {look['id'] for look in self.watching.all('look', state='good')}

    def test_every_one_of_them_is_seen_and_removed(self):
        for number, name in enumerate(self.names, 1):
            self.watching.mailbox(number, host='localhost', port=self.dovecot.imaps_port,
                                  user=name, secret=PASSWORD, tls='implicit',
                                  ca_file=self.certificates.ca, insecure_auth=False,
                                  timeout_ms=30000, connect_timeout_ms=30000)
        began = time.monotonic()
        wait_for('all are good', lambda: len(self.good()) == MANY, within=300, every=0.2)
        opened = time.monotonic() - began
        tokens = {}
        with smtplib.LMTP(self.dovecot.lmtp) as lmtp:
            for number, name in enumerate(self.names, 1):
                tokens[number] = self.watching.token(number)
                self.watching.say('expect', number, tokens[number])
                lmtp.sendmail('probe@example.org', [name], probe(tokens[number]))
        wait_for('all are seen', lambda: self.watching.count('arrival') >= MANY,
                 within=120)
        for found in self.watching.all('arrival'):
            self.assertEqual(found['token'], tokens[int(found['id'])])
            self.watching.say('clean', found['id'], found['folder'], found['uidvalidity'],
                              found['uid'], found['token'])
        wait_for('all are removed', lambda: self.watching.count('cleaned', state='removed') == MANY,
                 within=120)
        self.assertEqual(self.watching.count('look', state='blind'), 0)
        end = self.watching.stop()
        self.assertEqual((end['status'], end['signal']), ('0', '0'))
        print('%d mailboxes: opened in %.1f s; %s ms of the processor and %s KiB in all' % (
            MANY, opened, end['cpu_ms'], end['max_rss_kib']))


if __name__ == '__main__':
    main()
