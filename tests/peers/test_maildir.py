#!/usr/bin/env python3
"""Mailboxes that lie on this machine as a Maildir; and mails with odd headers,
which must come out the same there as over IMAP."""
import glob
import os
import time

from harness import BUILD, TOP, Case, main, wait_for
from test_watcher import WatcherCase
from watching import probe

ODD = os.path.join(TOP, 'tests', 'kit', 'mail')


class Maildirs(WatcherCase):
    def setUp(self):
        super().setUp()
        self.path = self.scratch.directory('maildir', self.id())
        self.made = 0
        self.folder()

    def folder(self, name=''):
        for sub in ('tmp', 'new', 'cur'):
            os.makedirs(os.path.join(self.path, name, sub), exist_ok=True)

    def watch(self, watching=None, **settings):
        settings.setdefault('maildir', self.path)
        settings.setdefault('user', '')
        settings.setdefault('host', '')
        super().watch(watching, **settings)

    def put(self, text, folder='', sub='new', flags=''):
        """As a delivery agent does; its name."""
        self.made += 1
        name = '%d.M%dP%d.host%s' % (time.time(), self.made, os.getpid(), flags)
        written = os.path.join(self.path, folder, 'tmp', name)
        with open(written, 'w', newline='', encoding='utf-8', errors='surrogateescape') as f:
            f.write(text.replace('\r\n', '\n'))
        os.rename(written, os.path.join(self.path, folder, sub, name))
        return name

    def names(self, folder=''):
        return sorted(os.path.basename(path) for sub in ('new', 'cur')
                      for path in glob.glob(os.path.join(self.path, folder, sub, '*')))

    def cleaned(self, found):
        with self.watching._news:
            since = len(self.watching.lines)
        self.clean(found)
        return self.watching.wait('an answer', lambda line: line.kind == 'cleaned',
                                  since=since)['state']

    def test_a_probe_is_seen_without_being_expected(self):
        self.watch()                    # whose poll comes once a minute
        for _ in range(5):
            token = self.watching.token()
            sent_ms = time.time() * 1000
            name = self.put(probe(token))
            found = self.see(token, sent_ms)
            written = os.stat(os.path.join(self.path, 'new', name)).st_mtime_ns // 1000000
            self.assertEqual(int(found['internal_ms']), written)
            self.assertEqual((found['is_probe'], found['folder']), ('1', 'INBOX'))
            # A watcher that found something waits a little before it rests.
            time.sleep(1.2)

    def test_the_poll_finds_it_where_nothing_tells(self):
        self.folder('.Work')
        self.watch(folders='INBOX,Work', poll_ms=500)
        token = self.watching.token()
        self.put(probe(token), '.Work', sub='cur', flags=':2,S')
        self.assertEqual(self.watching.arrival(token)['folder'], 'Work')

    def test_junk_is_found_by_its_name(self):
        self.folder('.Spam')
        self.watch(junk='auto', poll_ms=500)
        token = self.watching.token()
        self.put(probe(token), '.Spam')
        found = self.watching.arrival(token)
        self.assertEqual((found['folder'], found['junk']), ('Spam', '1'))
        self.assertEqual(self.cleaned(found), 'removed')
        self.assertEqual(self.names('.Spam'), [])

    def test_only_the_probe_is_removed_and_only_if_it_still_is_one(self):
        self.watch()
        token, other = self.watching.token(), self.watching.token()
        reply = self.put(probe(token, subject='Re: Mail flow test ' + token))
        self.put(probe(token))
        wait_for('both are seen', lambda: self.watching.count('arrival', token=token) == 2)
        for found in self.watching.all('arrival', token=token):
            lies = type(found)(found.text.replace(token, other))
            self.assertEqual(self.cleaned(lies), 'gone')
            self.assertEqual(self.cleaned(found), 'removed' if found['is_probe'] == '1' else 'gone')
            self.assertEqual(self.cleaned(found), 'gone')
        self.assertEqual(self.names(), [reply])

    def test_a_mail_that_a_reader_has_moved_to_cur_is_the_same(self):
        self.watch(poll_ms=500)
        token = self.watching.token()
        name = self.put(probe(token))
        found = self.watching.arrival(token)
        os.rename(os.path.join(self.path, 'new', name), os.path.join(self.path, 'cur', name + ':2,S'))
        time.sleep(1.5)
        self.assertEqual(self.watching.count('arrival'), 1)
        self.assertEqual(self.cleaned(found), 'removed')
        self.assertEqual(self.names(), [])

    def test_after_a_restart_only_what_is_new_or_recent_is_told(self):
        old, token = self.watching.token(), self.watching.token()
        name = self.put(probe(old))
        os.utime(os.path.join(self.path, 'new', name), (1700000000, 1700000000))
        self.watch()
        self.put(probe(token))
        self.watching.arrival(token)
        mark = self.watching.wait('a mark of now', lambda line: line.kind == 'mark' and
                                  abs(int(line['uid']) - time.time()) < 30)
        self.stop(self.watching)
        self.watching = again = self.start()
        self.watch(again, marks=[('INBOX', mark['uidvalidity'], mark['uid'])])
        again.arrival(token)
        self.assertEqual(again.count('arrival'), 1)

    def test_what_is_no_mail_is_left_alone(self):
        token = self.watching.token()
        secret = self.scratch.write('secret', probe(token))
        os.symlink(secret, os.path.join(self.path, 'new', '1.link'))
        os.mkfifo(os.path.join(self.path, 'new', '2.fifo'))
        os.mkdir(os.path.join(self.path, 'new', '3.directory'))
        self.watch(poll_ms=500)
        time.sleep(1.2)
        self.assertEqual(self.watching.count('arrival'), 0)
        self.assertEqual(len(self.names()), 3)

    def test_one_that_is_not_there_is_blindness_until_it_is(self):
        self.path += '-later'
        self.watch(good=False, poll_ms=500)
        self.assertIn('No such file', self.watching.blind()['reason'])
        self.folder()
        token = self.watching.token()
        self.put(probe(token))
        self.watching.arrival(token)
        os.rename(self.path, self.path + '-gone')
        self.watching.blind(since=len(self.watching.lines))

    def test_a_hundred_thousand_old_mails_cost_nothing_more(self):
        text = probe('mf1' + 'x' * 33).replace('\r\n', '\n')
        with open(os.path.join(BUILD, 'mailflow-watcher'), 'rb') as f:
            sanitized = b'__asan_init' in f.read()      # their cost is not the mail's
        for number in range(5000 if sanitized else 100000):
            path = os.path.join(self.path, 'cur', '%d.M%dP1.old:2,S' % (1600000000 + number, number))
            if number < 100:
                with open(path, 'w') as f:
                    f.write(text)
            else:
                os.link(path.replace('%d.M%d' % (1600000000 + number, number),
                                     '%d.M%d' % (1600000000 + number % 100, number % 100)), path)
        before = self.watching.cpu_ms()
        self.watch(poll_ms=500)
        time.sleep(4)                   # the directory is at rest
        opened = self.watching.cpu_ms()
        for _ in range(10):
            token = self.watching.token()
            self.put(probe(token))
            self.assertEqual(self.cleaned(self.watching.arrival(token)), 'removed')
        if not sanitized:
            self.assertLess(self.watching.cpu_ms() - opened, opened - before)


# Which of tests/kit/mail is a probe; bugs.md says what each is about.
IS_PROBE = {'B048': '1', 'B049': '1', 'B056': '0', 'B059': '1', 'B060': '1', 'B061': '1',
            'B079': '0', 'B136': '1'}


def odd_mails(token):
    """{number: text} with our token in place of theirs."""
    out = {}
    for path in sorted(glob.glob(os.path.join(ODD, '*.eml'))):
        with open(path, encoding='utf-8', errors='surrogateescape', newline='') as f:
            text = f.read().replace('\r\n', '\n')
        out[os.path.basename(path)[:4]] = text.replace('probe-000123', token()).replace(
            'monitor.example.org', 'example.org').replace('\n', '\r\n')
    return out


class OddMails(Maildirs):
    """Each is seen, is a probe or not, and hides none of the others."""

    def check(self, put):
        given = {}

        def token():
            given[self.watching.token()] = None
            return list(given)[-1]
        mails = odd_mails(token)
        self.assertEqual(set(mails), set(IS_PROBE))
        for text in mails.values():
            put(text)
        for number, token in zip(mails, given):
            found = self.watching.arrival(token)
            self.assertEqual(found['is_probe'], IS_PROBE[number], number)
            self.assertEqual(self.cleaned(found), 'removed' if IS_PROBE[number] == '1' else 'gone')

    def test_odd_mails_in_a_maildir(self):
        self.watch(poll_ms=1000)
        self.check(self.put)
        self.assertEqual(len(self.names()), list(IS_PROBE.values()).count('0'))

    def test_odd_mails_over_imap(self):
        WatcherCase.watch(self, poll_ms=1000)
        self.check(lambda text: self.deliver(text.encode('utf-8', 'surrogateescape')))
        self.wait_left(list(IS_PROBE.values()).count('0'))


for _name in [name for name in dir(Maildirs) if name.startswith('test_')]:
    setattr(OddMails, _name, None)


class RoundTrip(Case):
    def test_through_postfix_and_dovecot_into_a_maildir(self):
        m = self.usual()
        self.dovecot.connect('canary@mail.test').logout()
        del m.sections[('mailbox', 'canary')]
        m.section('mailbox', 'canary', maildir=self.dovecot.maildir('canary@mail.test'), poll='5m')
        session = self.dovecot.connect('canary@mail.test')
        session.select('INBOX')
        session.logout()
        m.start()
        rows = m.wait_delivered('there', count=3)
        for row in rows:                # seen by its coming, not by a poll
            self.assertLess(float(row['transit_ms']), 20000)
        self.assertGreaterEqual(int(rows[0]['hops']), 1)
        m.wait('they are removed', lambda: len(self.dovecot.messages('canary@mail.test')) <= 1)

    def test_no_host_or_user_is_needed_and_both_are_refused(self):
        m = self.usual()
        m.section('mailbox', 'canary', maildir='/nowhere')
        self.assertIn('maildir: is of no use beside host', m.check().stderr)


if __name__ == '__main__':
    main()
