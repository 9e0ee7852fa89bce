#!/usr/bin/env python3
"""The watcher alone on a real Dovecot: what it finds, when, and what it leaves."""
import os
import re
import smtplib
import sys
import time
import unittest

from harness import (TOP, BlackHole, Certificates, Dovecot, Scratch, main, wait_for)
from watching import Watching, probe

sys.path.insert(0, os.path.join(TOP, 'tests', 'kit'))
import imap_script      # noqa: E402

CANARY = 'canary@mail.test'
NEWEST = 200        # mails that a first look goes through
PASSWORD = 'pa55 "word\\'


class WatcherCase(unittest.TestCase):
    """One Dovecot for the class; a mailbox and a watcher new for each test."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = Scratch()
        cls.certificates = Certificates(cls.scratch.directory('certificates'))
        cls.users = 0
        names = ['u%d@mail.test' % n for n in range(40)]
        cls.dovecot = Dovecot(cls.scratch, {name: PASSWORD for name in names},
                              cls.certificates.good)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.stop_all()
        cls.scratch.close()

    def setUp(self):
        cls = type(self)
        self.user = 'u%d@mail.test' % cls.users
        cls.users += 1
        self.watchers = 0
        self.watching = self.start()

    def start(self):
        self.watchers += 1
        watching = Watching(self.scratch.sub('watcher', '%s-%d' % (self.id(), self.watchers)))
        self.addCleanup(self.stop, watching)
        return watching

    def stop(self, watching):
        if watching.process.poll() is not None:
            return
        end = watching.stop()
        self.assertEqual((end.get('status'), end.get('signal')), ('0', '0'), watching.errors())
        self.assertNotRegex(watching.errors(), 'Sanitizer|runtime error|panic')

    def watch(self, watching=None, number=1, good=True, **settings):
        settings.setdefault('port', self.dovecot.imap_port)
        settings.setdefault('user', self.user)
        settings.setdefault('secret', PASSWORD.replace(' ', '%20'))
        watching = watching or self.watching
        watching.mailbox(number, **settings)
        if good:
            watching.good(number)

    def deliver(self, text, sender='probe@example.org'):
        with smtplib.LMTP(self.dovecot.lmtp) as lmtp:
            lmtp.sendmail(sender, [self.user], text)

    def headers_read(self):
        """For each IMAP session of the mailbox that ended, how many."""
        return [int(re.search(r' hdr_count=(\d+)', line).group(1)) for line in
                self.dovecot.log_lines(r' imap\(%s\).* hdr_count=' % re.escape(self.user))]

    def clean(self, found):
        self.watching.say('clean', found['id'], found['folder'], found['uidvalidity'],
                          found['uid'], found['token'])

    def see(self, token, sent_ms):
        """Its arrival, with a stamp between the sending and now."""
        found = self.watching.arrival(token)
        self.assertGreaterEqual(int(found['seen']), int(sent_ms))
        self.assertLessEqual(int(found['seen']), time.time() * 1000)
        return found

    def left(self, folder='INBOX'):
        return len(self.dovecot.messages(self.user, folder))

    def wait_left(self, count, folder='INBOX'):
        wait_for('%d are left in %s' % (count, folder),
                 lambda: self.left(folder) == count, within=30, every=0.1)


class Seeing(WatcherCase):
    # The poll comes once a minute, so what is seen sooner was not found by it.
    # How many milliseconds sooner is for tests/bench to say.

    def test_an_expected_probe_is_seen_by_the_looks_that_follow(self):
        self.watch(idle=False, burst_ms=20000)
        for _ in range(15):
            token = self.watching.token()
            sent_ms = time.time() * 1000
            self.deliver(probe(token))
            self.watching.say('expect', 1, token)
            self.assertEqual(self.see(token, sent_ms)['is_probe'], '1')

    def test_a_probe_that_comes_while_they_go_on_is_seen(self):
        self.watch(idle=False, burst_ms=20000)
        token = self.watching.token()
        self.watching.say('expect', 1, token)
        time.sleep(0.25)
        sent_ms = time.time() * 1000
        self.deliver(probe(token))
        self.see(token, sent_ms)

    def test_one_that_nobody_expects_is_seen_by_idle(self):
        self.watch()
        token = self.watching.token()
        sent_ms = time.time() * 1000
        self.deliver(probe(token))
        found = self.see(token, sent_ms)
        self.assertGreater(int(found['internal_ms']), sent_ms - 2000)

    def test_without_idle_the_poll_finds_it(self):
        self.watch(idle=False, poll_ms=700)
        token = self.watching.token()
        sent_ms = time.time() * 1000
        self.deliver(probe(token))
        found = self.see(token, sent_ms)
        self.assertGreater(int(found['last_look']), 0)

    def test_what_lies_in_junk_is_found_and_said_to_be_there(self):
        self.scratch.write('%s/.dovecot.sieve' % os.path.relpath(
            self.dovecot.home(self.user), self.scratch.path),
            'require "fileinto"; fileinto "Junk";\n')
        self.watch(junk='auto')
        token = self.watching.token()
        self.watching.say('expect', 1, token)
        self.deliver(probe(token))
        found = self.watching.arrival(token)
        self.assertEqual((found['folder'], found['junk']), ('Junk', '1'))
        self.clean(found)
        self.wait_left(0, 'Junk')
        # And it goes on in INBOX.
        os.remove(os.path.join(self.dovecot.home(self.user), '.dovecot.sieve'))
        token = self.watching.token()
        self.deliver(probe(token))
        self.assertEqual(self.watching.arrival(token)['folder'], 'INBOX')

    def test_mail_that_came_before_the_first_start_is_reported(self):
        token = self.watching.token()
        self.deliver(probe(token))
        self.watch()
        self.assertEqual(self.watching.arrival(token)['uid'], '1')

    def test_after_a_restart_what_came_and_what_was_left_is_reported(self):
        self.watch()
        first = self.watching.token()
        self.deliver(probe(first))
        self.watching.arrival(first)
        mark = self.watching.wait('a mark', lambda line: line.kind == 'mark' and line['uid'] == '1')
        self.stop(self.watching)
        again = self.start()
        second = again.token()
        self.deliver(probe(second))
        self.watch(again, marks=[('INBOX', mark['uidvalidity'], mark['uid'])])
        self.assertEqual(again.arrival(second)['uid'], '2')
        # The first one was never removed, perhaps because nobody could.
        self.assertEqual(again.arrival(first)['uid'], '1')
        self.assertEqual(again.count('arrival'), 2)
        # Never a mark before the arrivals it covers.
        order = [line.kind for line in again.lines if line.kind in ('mark', 'arrival')]
        self.assertEqual(order, ['arrival', 'arrival', 'mark'])
        self.assertEqual(again.all('mark')[-1]['uid'], '2')

    def test_a_duplicate_is_another_arrival(self):
        self.watch()
        token = self.watching.token()
        for _ in range(2):
            self.deliver(probe(token))
        wait_for('two arrivals', lambda: self.watching.count('arrival', token=token) == 2)
        self.assertEqual({found['uid'] for found in self.watching.all('arrival')}, {'1', '2'})

    def test_a_token_that_only_the_body_still_carries_is_found(self):
        self.watch()
        token = self.watching.token()
        self.watching.say('expect', 1, token)
        self.deliver(probe(token, drop=('X-Mailflow-Probe', 'Message-ID'), subject='wrapped'))
        self.assertEqual(self.watching.arrival(token)['is_probe'], '1')

    def test_forged_and_foreign_tokens_are_counted_and_ignored(self):
        self.watch(poll_ms=1000)
        token = self.watching.token(2)          # of another mailbox
        self.deliver(probe(token))
        look = self.watching.wait('it is counted', lambda line: line.kind == 'look'
                                  and line['ignored'] == '1')
        self.assertEqual(look['state'], 'good')
        self.assertEqual(self.watching.count('arrival'), 0)

    def test_of_a_full_mailbox_the_newest_mails_alone_are_read(self):
        maildir = self.dovecot.maildir(self.user)
        session = self.dovecot.connect(self.user)
        session.select('INBOX')
        session.logout()
        text = probe('mf1' + 'x' * 33).replace('\r\n', '\n')
        owner = os.stat(maildir)
        for n in range(10000):
            path = os.path.join(maildir, 'cur', '%d.M%dP1.old:2,S' % (1700000000 + n, n))
            with open(path, 'w') as f:
                f.write(text)
            os.chown(path, owner.st_uid, owner.st_gid)
        session = self.dovecot.connect(self.user)
        session.select('INBOX')                 # Dovecot's own index is its business
        session.logout()
        wait_for('Dovecot has logged both', lambda: len(self.headers_read()) == 2)
        self.watch(connect_timeout_ms=20000, timeout_ms=20000)
        token = self.watching.token()
        self.deliver(probe(token))
        self.watching.say('expect', 1, token)
        self.assertEqual(self.watching.arrival(token)['uid'], '10001')
        self.stop(self.watching)
        read = wait_for('Dovecot says what we read', lambda: self.headers_read()[2:])
        self.assertLessEqual(sum(read), NEWEST + 1)


class Cleaning(WatcherCase):
    def test_the_probe_is_removed_and_nothing_else(self):
        self.watch()
        token = self.watching.token()
        quoting = [
            probe(token, sender='human@example.net'),
            probe(token, headers=[('In-Reply-To', '<%s@example.org>' % token)]),
            probe(token, subject='Re: Mail flow test ' + token),
            probe(token, subject='Fwd: Mail flow test ' + token, drop=('X-Mailflow-Probe',)),
            probe(token, headers=[('Auto-Submitted', 'auto-replied')], drop=('Auto-Submitted',)),
            probe(token, headers=[('Content-Type', 'multipart/report; boundary=x')],
                  drop=('Content-Type',)),
        ]
        for text in quoting + [probe(token)]:
            self.deliver(text)
        wait_for('all are told', lambda: self.watching.count('arrival', token=token) == 7)
        found = self.watching.all('arrival')
        self.assertEqual(sorted(line['is_probe'] for line in found), ['0'] * 6 + ['1'])
        for line in found:                      # even when told to remove them all
            self.clean(line)
        self.wait_left(6)
        time.sleep(0.5)
        self.assertEqual(self.left(), 6)

    def test_a_mail_with_another_token_at_that_uid_stays(self):
        self.watch()
        token, other = self.watching.token(), self.watching.token()
        self.deliver(probe(token))
        found = self.watching.arrival(token)
        self.watching.say('clean', 1, 'INBOX', found['uidvalidity'], found['uid'], other)
        self.watching.say('clean', 1, 'INBOX', int(found['uidvalidity']) + 1, found['uid'], token)
        self.watching.say('clean', 1, 'Nowhere', found['uidvalidity'], found['uid'], token)
        time.sleep(1.5)
        self.assertEqual(self.left(), 1)
        self.clean(found)
        self.wait_left(0)

    def test_many_are_removed_together(self):
        self.watch()
        tokens = [self.watching.token() for _ in range(50)]
        for token in tokens:
            self.deliver(probe(token))
        for token in tokens:
            self.clean(self.watching.arrival(token))
        self.wait_left(0)

    def test_trash_means_moved_not_gone(self):
        session = self.dovecot.connect(self.user)
        session.create('Trash')
        session.logout()
        self.watch(expunge='trash')
        token = self.watching.token()
        self.deliver(probe(token))
        self.clean(self.watching.arrival(token))
        self.wait_left(0)
        self.wait_left(1, 'Trash')

    def test_looking_sets_no_flag(self):
        self.watch()
        token = self.watching.token()
        self.deliver(probe(token, drop=('X-Mailflow-Probe', 'Message-ID'), subject='x'))
        self.watching.arrival(token)
        session = self.dovecot.connect(self.user)
        session.select('INBOX', readonly=True)
        flags = session.uid('FETCH', '1', '(FLAGS)')[1][0]
        session.logout()
        self.assertNotIn(b'Seen', flags)


    def test_what_it_was_told_to_remove_goes_before_it_forgets_the_mailbox(self):
        self.watch()
        token = self.watching.token()
        self.deliver(probe(token))
        self.clean(self.watching.arrival(token))
        self.watching.say('forget', 1)
        self.wait_left(0)


class Connecting(WatcherCase):
    def test_tls_is_verified_by_name_and_authority(self):
        ca = self.certificates.ca
        for number, (tls, port) in enumerate((('starttls', self.dovecot.imap_port),
                                              ('implicit', self.dovecot.imaps_port)), 1):
            self.watch(number=number, tls=tls, port=port, host='localhost', ca_file=ca,
                       insecure_auth=False)
        self.watch(number=3, tls='implicit', port=self.dovecot.imaps_port, host='localhost',
                   insecure_auth=False, good=False)
        blind = self.watching.blind(3)
        self.assertEqual(blind['class'], 'tls')
        self.assertEqual(self.watching.count('look', id=3, state='good'), 0)

    def test_no_password_without_tls_unless_told(self):
        self.watch(insecure_auth=False, good=False)
        blind = self.watching.blind()
        self.assertEqual(blind['class'], 'tls')
        self.assertFalse(self.dovecot.log_lines('Login: user=<%s>' % self.user))
        self.watch(number=2, tls='opportunistic', host='localhost', insecure_auth=False,
                   ca_file=self.certificates.ca)

    def test_a_refused_password_is_tried_twice(self):
        self.watch(secret='wrong', good=False)
        first = self.watching.blind()
        self.assertEqual(first['class'], 'auth')
        second = self.watching.wait('the pause', lambda line: line.kind == 'look'
                                    and int(line['retry_ms']) > 3000000)
        self.assertEqual(second['class'], 'auth')
        time.sleep(3)
        self.assertEqual(len(self.dovecot.refused_logins(self.user)), 2)

    def test_a_secret_that_the_monitor_cannot_give(self):
        self.watch(secret='', good=False)
        self.assertIn('no secret', self.watching.blind()['reason'])

    def test_a_missing_folder_is_a_warning_and_no_blindness(self):
        self.watch(folders='INBOX,Nowhere')
        look = self.watching.wait('a warning', lambda line: line.kind == 'look' and line['warning'])
        self.assertIn('Nowhere', look['warning'])
        self.assertEqual(look['state'], 'good')

    def test_a_missing_first_folder_is_blindness(self):
        self.watch(folders='Nowhere', good=False)
        self.assertEqual(self.watching.blind()['class'], 'other')

    def test_folder_names_beyond_ascii(self):
        session = self.dovecot.connect(self.user)
        session.create('"Entw&APw-rfe"')
        session.logout()
        self.watch(folders='INBOX,Entwürfe')
        mark = self.watching.wait('its mark', lambda line: line.kind == 'mark'
                                  and line['folder'] == 'Entwürfe')
        self.assertNotEqual(mark['uidvalidity'], '0')
        self.assertFalse(self.watching.all('look')[-1]['warning'])

    def test_a_server_that_does_not_answer_delays_nobody(self):
        hole = BlackHole(self.scratch)
        for number in range(10, 20):
            self.watch(number=number, port=hole.port, good=False, connect_timeout_ms=6000)
        self.watch(host='localhost')
        self.assertEqual(self.watching.count('look', state='blind'), 0, 'none has been given up yet')
        for number in range(10, 20):
            self.assertEqual(self.watching.blind(number)['class'], 'network')

    def test_a_forgotten_mailbox_is_left_alone(self):
        self.watch(poll_ms=500)
        self.watching.say('forget', 1)
        time.sleep(1)
        before = self.watching.count('look')
        time.sleep(1.5)
        self.assertEqual(self.watching.count('look'), before)
        self.watch(number=1)


class Scripted(WatcherCase):
    """What Dovecot cannot be made to do."""

    def serve(self, folders=(), **script):
        store = self.scratch.directory('store-' + self.id())
        for folder in folders:
            os.makedirs(os.path.join(store, folder), exist_ok=True)
        server = imap_script.Server(script=script, store=store).start()
        self.addCleanup(server.stop)
        self.store = store
        return server

    def put(self, text, folder=''):
        path = os.path.join(self.store, folder, '.%d' % time.monotonic_ns())
        with open(path, 'w', newline='') as f:
            f.write(text)
        os.rename(path, os.path.join(self.store, folder, '%d.eml' % time.time_ns()))

    def test_an_ampersand_in_a_folder_name_is_encoded(self):
        server = self.serve()
        os.mkdir(os.path.join(self.store, 'R&-D'))
        os.mkdir(os.path.join(self.store, 'Entw&APw-rfe'))
        self.watch(port=server.port, folders='INBOX,R&D,Entw&APw-rfe')
        for folder in 'R&D', 'Entw&APw-rfe':
            self.watching.wait('its mark', lambda line: line.kind == 'mark'
                               and line['folder'] == folder and line['uidvalidity'] != '0')

    def test_of_many_junk_folders_the_likeliest_is_looked_at(self):
        for number, (folder, listed) in enumerate((
                ('Junk', ['() "." Archive', '() "." Archive.Junk', '() "." INBOX', '() "." Junk']),
                ('INBOX.Spam', ['() "." Old.Junk', '() "." INBOX.Spam']),
                ('Quarantine 2', ['() "." Junk', '(\\Junk) "." "Quarantine 2"']),
                ('Spam', ['(\\Noselect) "/" Junk', '() "/" Spam']),
                ('My "odd" spam', ['(\\Junk) "/" "My \\"odd\\" spam"']),
                ('back\\slash', ['(\\Junk) "/" "back\\\\slash"']),
                ('INBOX\\Junk', ['() "\\\\" INBOX', '() "\\\\" "INBOX\\\\Junk"']),
                ('[Gmail]&Spam', ['(\\Junk) "/" "[Gmail]&Spam"'])), 1):
            server = self.serve([folder], hooks=[{'on': 'LIST', 'times': 0, 'instead':
                                ['* LIST ' + line for line in listed] + ['{tag} OK done']}])
            self.watch(number=number, port=server.port, junk='auto', poll_ms=500)
            token = self.watching.token(number)
            self.put(probe(token), folder)
            found = self.watching.arrival(token)
            self.assertEqual((found['folder'], found['junk']), (folder, '1'))

    def test_a_junk_folder_that_is_made_later_is_looked_at(self):
        for number, again in enumerate((
                lambda server: None,                        # within the session
                lambda server: server.event({'do': 'bye'})), 1):
            server = self.serve()
            self.watch(number=number, port=server.port, junk='auto', poll_ms=400)
            os.makedirs(os.path.join(self.store, 'Junk'))
            token = self.watching.token(number)
            self.watching.say('expect', number, token)
            self.put(probe(token), 'Junk')
            again(server)
            found = self.watching.arrival(token)
            self.assertEqual((found['folder'], found['junk']), ('Junk', '1'))
            for name in os.listdir(os.path.join(self.store, 'Junk')):
                os.unlink(os.path.join(self.store, 'Junk', name))
            os.rmdir(os.path.join(self.store, 'Junk'))

    def test_folders_are_listed_rarely(self):
        def said(server, command, until=None):
            return sum(' C: ' in line and line.endswith(command) for line in server.transcript[:until])

        for number, (folders, lists) in enumerate((([], 2), (['Junk'], 1)), 1):
            server = self.serve(folders)
            self.watch(number=number, port=server.port, junk='auto', poll_ms=200)
            wait_for('some polls', lambda: said(server, ' NOOP') >= 15)
            fifteenth = [n for n, line in enumerate(server.transcript)
                         if ' C: ' in line and line.endswith(' NOOP')][14]
            self.assertEqual(said(server, ' LIST "" "*"', fifteenth), lists, server.transcript)

    def test_login_disabled_means_authenticate_plain(self):
        for extra in ('', ' SASL-IR'):
            server = self.serve(users={'user': 'a b'},
                                capability='IMAP4rev1 IDLE LOGINDISABLED AUTH=PLAIN' + extra)
            self.watch(number=1 + bool(extra), port=server.port, user='user', secret='a%20b')
            said = '\n'.join(server.transcript)
            self.assertIn('AUTHENTICATE PLAIN', said)
            self.assertNotRegex(said, r'C: \S+ LOGIN ')

    def test_login_disabled_without_plain_is_said(self):
        server = self.serve(capability='IMAP4rev1 LOGINDISABLED')
        self.watch(port=server.port, good=False)
        self.assertIn('LOGIN', self.watching.blind()['reason'])
        self.assertNotIn('LOGIN', '\n'.join(line for line in server.transcript if ' C: ' in line))

    def test_a_server_that_opens_nothing_to_the_nameless_is_told_a_name(self):
        server = self.serve(hooks=[
            {'on': 'ID', 'set': {'select': {'named': True}, 'hooks': []}},
            {'on': 'SELECT', 'times': 0, 'instead': ['{tag} NO SELECT Unsafe Login. Please contact us']}])
        self.watch(port=server.port)
        self.assertEqual(sum(' ID (' in line for line in server.transcript), 1)

    def test_a_server_without_id_is_told_none_and_one_that_refuses_it_is_forgiven(self):
        for number, script in enumerate((
                {'capability': 'IMAP4rev1 IDLE UIDPLUS'},
                {'hooks': [{'on': 'ID', 'instead': ['{tag} BAD unknown']}]}), 1):
            server = self.serve(**script)
            self.watch(number=number, port=server.port)
            self.assertEqual(sum(' ID (' in line for line in server.transcript), number - 1)

    def test_a_fetch_that_is_refused_is_tried_again(self):
        for number, answer in enumerate((
                ['{tag} NO [SERVERBUG] not now'], ['{tag} BAD what'],
                ['* 1 FETCH (UID 1)', '{tag} NO some messages could not be fetched'],
                ['* NO something', '* OK [UNKNOWN-CODE x "y" (z)] hi', '{tag} NO [INUSE] x']), 1):
            server = self.serve(hooks=[{'on': 'UID FETCH', 'times': 1, 'instead': answer}])
            self.watch(number=number, port=server.port)
            token = self.watching.token(number)
            self.put(probe(token))
            self.watching.arrival(token)
            self.assertIsNone(self.watching.process.poll())

    def test_a_server_that_is_busy_has_not_refused_the_password(self):
        for number, said in enumerate(('[UNAVAILABLE] try again later', 'Server busy',
                                       '[ALERT] Too many simultaneous connections. (Failure)'), 1):
            server = self.serve(hooks=[{'on': 'LOGIN', 'times': 3, 'instead': ['{tag} NO ' + said]}])
            self.watch(number=number, port=server.port, good=False)
            self.assertNotEqual(self.watching.blind(number)['class'], 'auth')
        for number in range(1, 4):
            self.watching.good(number)

    def test_a_login_may_be_refused_by_bad_or_bye(self):
        servers = [self.serve(hooks=[{'on': 'LOGIN', 'times': 0, 'instead': [said], 'close': True}])
                   for said in ('{tag} BAD [AUTHENTICATIONFAILED] Invalid credentials',
                                '{tag} BAD Login failed: wrong user name or password',
                                '* BYE [AUTHENTICATIONFAILED] Authentication failed.')]
        for number, server in enumerate(servers):
            self.watch(number=number, port=server.port, good=False)
        for number, server in enumerate(servers):
            look = self.watching.wait('the pause', lambda line: line.kind == 'look' and line['id'] ==
                                      str(number) and int(line['retry_ms']) > 3000000)
            self.assertEqual(look['class'], 'auth')
            self.assertEqual(sum(' LOGIN ' in line for line in server.transcript), 2)

    def test_the_end_of_a_session_is_told_only_if_there_is_no_other(self):
        server = self.serve()
        self.watch(port=server.port)
        server.event({'do': 'bye'})
        wait_for('another session', lambda: server.n == 2)
        time.sleep(1)
        self.assertEqual(self.watching.count('look', state='blind'), 0)
        server.stop()
        server.event({'do': 'drop'})
        self.assertIn('refused', self.watching.blind()['reason'])
        again = imap_script.Server(port=server.port, store=self.store).start()
        self.addCleanup(again.stop)
        self.watching.good(since=len(self.watching.lines))

    def test_silence_is_blindness_within_the_timeout(self):
        server = self.serve(hooks=[{'on': 'NOOP', 'nth': 2, 'times': 1, 'silent': True}])
        self.watch(port=server.port, poll_ms=500, timeout_ms=1000)
        self.watching.blind()
        self.watching.good(since=len(self.watching.lines))

    def test_a_dead_connection_is_found_by_the_poll(self):
        server = self.serve()
        self.watch(port=server.port, poll_ms=1000, timeout_ms=1000)
        time.sleep(0.3)
        server.script['hooks'] = [{'on': '*', 'times': 0, 'silent': True}]
        for conn in server.conns:               # deaf: reads no more
            conn.put = lambda line: None
        self.watching.blind()

    def test_all_means_a_plain_expunge(self):
        server = self.serve()
        self.watch(port=server.port, expunge='all')
        token = self.watching.token()
        self.put(probe(token))
        self.clean(self.watching.arrival(token))
        wait_for('it is gone', lambda: not [name for name in os.listdir(self.store)
                                            if name.endswith('.eml')])
        self.assertRegex('\n'.join(server.transcript), r'C: \S+ EXPUNGE')

    def test_without_uidplus_it_is_only_flagged(self):
        server = self.serve(capability='IMAP4rev1 IDLE', no_uidplus=True)
        self.watch(port=server.port)
        token = self.watching.token()
        self.put(probe(token))
        self.clean(self.watching.arrival(token))
        wait_for('it is flagged', lambda: 'STORE' in '\n'.join(server.transcript))
        time.sleep(0.5)
        self.assertNotIn('EXPUNGE', '\n'.join(server.transcript))

    def test_gmail_gets_its_probes_in_the_trash(self):
        server = self.serve(capability='IMAP4rev1 IDLE UIDPLUS MOVE X-GM-EXT-1 SPECIAL-USE')
        os.mkdir(os.path.join(self.store, 'Trash'))
        self.watch(port=server.port, expunge='auto')
        token = self.watching.token()
        self.put(probe(token))
        self.clean(self.watching.arrival(token))
        wait_for('it is moved', lambda: os.listdir(os.path.join(self.store, 'Trash'))
                 or re.search(r'UID (MOVE|COPY)', '\n'.join(server.transcript)))
        self.assertNotRegex('\n'.join(server.transcript), r'C: \S+ (UID )?EXPUNGE')

    def test_the_trash_is_known_by_its_name(self):
        for number, (folder, listed) in enumerate((
                ('Gel&APY-schte Elemente', '() "/" "Gel&APY-schte Elemente"'),
                ('INBOX.Corbeille', '() "." INBOX.Corbeille'),
                ('Tr"ash', '(\\Trash) "/" "Tr\\"ash"')), 1):
            server = self.serve([folder], hooks=[{'on': 'LIST', 'times': 0, 'instead':
                                                  ['* LIST ' + listed, '{tag} OK done']}])
            self.watch(number=number, port=server.port, expunge='trash')
            token = self.watching.token(number)
            self.put(probe(token))
            self.clean(self.watching.arrival(token))
            cleaned = self.watching.wait('it is dealt with', lambda line: line.kind == 'cleaned'
                                         and line['id'] == str(number))
            self.assertEqual(cleaned['state'], 'removed')
            self.assertEqual(len(os.listdir(os.path.join(self.store, folder))), 1)

    def test_a_trash_that_is_missing_is_told_until_it_is_there(self):
        server = self.serve()
        self.watch(port=server.port, expunge='trash', junk='none', poll_ms=200)
        wait_for('some looks', lambda: self.watching.count('look', state='good') >= 4)
        for look in self.watching.looks():
            self.assertIn('no trash folder', look['warning'])
        os.mkdir(os.path.join(self.store, 'Papierkorb'))
        self.watching.wait('all is well', lambda line: line.kind == 'look' and not line['warning'])

    def spoil(self, answer):
        """From now on what answer(conn, tag, first, last) says in place of an
        honest FETCH of those UIDs, if it says anything."""
        honest = imap_script.Conn.fetch

        def fetch(conn, tag, cmd, rest, lits):
            first, _, last = rest.split(' ')[0].partition(':')
            if not answer(conn, tag, int(first), last or first):
                honest(conn, tag, cmd, rest, lits)
        imap_script.Conn.fetch = fetch
        self.addCleanup(setattr, imap_script.Conn, 'fetch', honest)

    def spoil_first(self, count, answer):
        """The first so many FETCHes are answered so."""
        tries = []

        def spoiled(conn, tag, first, last):
            tries.append(first)
            if len(tries) <= count:
                conn.put(tag + answer)
                return True
        self.spoil(spoiled)

    def one_is_left_out(self, answer):
        server = self.serve()
        tokens = [self.watching.token() for _ in range(3)]
        for token in tokens:
            self.put(probe(token))

        def spoiled(conn, tag, first, last):
            if first <= 2 and (last == '*' or int(last) >= 2):
                for line in answer:
                    conn.put(line.replace('{tag}', tag))
                return True
        self.spoil(spoiled)
        self.watch(port=server.port, good=False)
        self.watching.arrival(tokens[2])
        self.watching.arrival(tokens[0])
        look = self.watching.good()
        self.assertIn('UID 2', look['warning'])

    def test_one_mail_that_the_server_garbles_does_not_hide_the_others(self):
        self.one_is_left_out(['* 2 FETCH (UID 2 BODY[HEADER] {3}', 'abcdefgh)', '{tag} OK done'])

    def test_one_mail_that_the_server_cannot_read_does_not_hide_the_others(self):
        self.one_is_left_out(['{tag} NO Some messages could not be FETCHed (Failure)'])

    def test_a_server_that_refuses_every_fetch_for_a_while_has_no_bad_mail(self):
        server = self.serve()
        token = self.watching.token()
        self.put(probe(token))
        self.spoil_first(5, ' NO [EXPUNGEISSUED] not now')
        self.watch(port=server.port, good=False)
        self.watching.arrival(token)
        self.watching.good()
        self.assertFalse([look for look in self.watching.looks() if look['warning']])

    def test_a_session_in_which_nothing_is_done_any_more_is_ended(self):
        for number, commands in enumerate((['*'], ['UID FETCH', 'SELECT']), 1):
            server = self.serve()
            self.watch(number=number, port=server.port, idle=False, poll_ms=500)
            token = self.watching.token(number)
            self.watching.say('expect', number, token)
            server.script['hooks'] = [
                {'on': command, 'times': 0, 'instead': ['{tag} BAD User is authenticated but not connected.']}
                for command in commands]
            self.assertIn('not connected', self.watching.blind(number)['reason'])
            server.script['hooks'] = []
            self.put(probe(token))
            self.watching.arrival(token)

    def test_a_noop_that_is_refused_ends_the_session_at_once(self):
        server = self.serve()
        self.watch(port=server.port, idle=False, poll_ms=600000)
        server.script['hooks'] = [{'on': 'NOOP', 'times': 0, 'instead': ['{tag} NO [UNAVAILABLE] Backend down']}]
        self.watching.say('expect', 1, self.watching.token())
        self.assertIn('Backend down', self.watching.blind()['reason'])

    def test_a_mail_that_is_announced_before_it_can_be_fetched_is_seen(self):
        server = self.serve()
        self.watch(port=server.port)
        token = self.watching.token()
        self.spoil_first(3, ' OK nothing yet')
        self.watching.say('expect', 1, token)
        self.put(probe(token))
        self.assertEqual(self.watching.arrival(token)['uid'], '1')

    def test_a_view_that_only_select_makes_anew_is_made_anew(self):
        server = self.serve(noop={'notify': False}, idle={'notify': 'none'})
        self.watch(port=server.port, poll_ms=500)
        honest = imap_script.Conn.dispatch
        self.addCleanup(setattr, imap_script.Conn, 'dispatch', honest)

        def frozen(conn, tag, cmd, rest, lits):
            if cmd == 'UID FETCH' and not getattr(conn, 'fresh', True):
                conn.put(tag + ' OK as before')
                return None
            conn.fresh = cmd == 'SELECT'
            return honest(conn, tag, cmd, rest, lits)
        imap_script.Conn.dispatch = frozen
        token = self.watching.token()
        self.watching.say('expect', 1, token)
        self.put(probe(token))
        self.watching.arrival(token)

    def test_flags_that_are_told_of_a_new_mail_are_not_the_mail(self):
        server = self.serve()
        self.watch(port=server.port)
        tries = []

        def named(conn, tag, first, last):
            tries.append(first)
            if len(tries) % 2:
                conn.put('* %d FETCH (UID %d FLAGS (\\Seen))' % (first, first))
                conn.put(tag + ' OK done')
                return True
        self.spoil(named)
        for _ in range(3):
            token = self.watching.token()
            self.watching.say('expect', 1, token)
            self.put(probe(token))
            self.watching.arrival(token)
        self.assertFalse([line for line in server.transcript if 'BODY.PEEK[HEADER]' in line],
                         'it goes on asking for the fields alone')

    def test_a_range_without_mail_may_be_refused(self):
        for number, left in enumerate((0, 1), 1):
            server = self.serve(uidnext={'INBOX': 500})
            if left:
                self.put('From: somebody@mail.test\r\n\r\nhello\r\n')

            def refused(conn, tag, first, last):
                if not [m for m in conn.view if m.uid >= first]:
                    conn.put(tag + ' BAD The specified message set is invalid.')
                    return True
            self.spoil(refused)
            self.watch(number=number, port=server.port, poll_ms=300)
            wait_for('some looks', lambda: len(self.watching.looks(number)) >= 3)
            self.assertFalse(self.watching.all('look', id=number, state='blind'))
            token = self.watching.token(number)
            self.put(probe(token))
            self.watching.arrival(token)

    def test_a_slow_server_gets_its_time_for_each_reply(self):
        server = self.serve(['A', 'B', 'C', 'D', 'E'], hooks=[
            {'on': command, 'times': 0, 'delay': 0.5} for command in ('STATUS', 'UID FETCH')])
        for _ in range(8):      # of which each is looked into, as it may be one
            self.put('From: probe@example.org\r\nSubject: hello\r\n\r\nworld\r\n')
        token = self.watching.token()
        self.watch(port=server.port, folders='INBOX,A,B,C,D,E', timeout_ms=2000, poll_ms=1000, good=False)
        self.watching.say('expect', 1, token)
        self.put(probe(token))
        self.watching.arrival(token)
        self.watching.good()
        self.assertFalse(self.watching.all('look', state='blind'))
        self.assertEqual(server.n, 1)

    def test_a_list_of_folders_that_takes_too_long_is_done_without(self):
        server = self.serve(hooks=[{'on': 'LIST', 'times': 0, 'silent': True}])
        token = self.watching.token()
        self.put(probe(token))
        self.watch(port=server.port, junk='auto', timeout_ms=1000, good=False)
        self.watching.arrival(token)
        self.watching.wait('a warning', lambda line: line.kind == 'look'
                           and 'name the junk folder' in line['warning'])

    def test_news_that_never_ends_is_no_blindness(self):
        server = self.serve()
        self.watch(port=server.port)
        for _ in range(3000):
            server.event({'do': 'untagged', 'line': '* 1 FETCH (FLAGS (\\Seen \\Answered))'})
        wait_for('another session', lambda: server.n == 2)
        token = self.watching.token()
        self.put(probe(token))
        self.watching.arrival(token)
        self.assertFalse(self.watching.all('look', state='blind'))

    def test_the_words_before_an_end_are_the_reason(self):
        for number, script in enumerate((
                {'greeting': {'raw': '* NO Service temporarily unavailable: database down\r\n', 'close': True}},
                {'hooks': [{'on': 'LOGIN', 'times': 0, 'close': True,
                            'instead': ['* BAD database down for now']}]}), 1):
            server = self.serve(**script)
            self.watch(number=number, port=server.port, good=False)
            look = self.watching.blind(number)
            self.assertIn('database down', look['reason'])
            self.assertNotEqual(look['class'], 'auth')

    def test_a_thread_says_whom_it_serves(self):
        server = self.serve(hooks=[{'on': 'LOGIN', 'delay': 2}])
        self.watch(number=7, port=server.port, good=False)
        wait_for('it is in a slot', lambda: 7 in self.watching.slots())
        self.watching.good(7)
        wait_for('it is in none', lambda: not any(self.watching.slots()))

    def test_no_more_round_trips_than_needed(self):
        server = self.serve()
        self.watch(port=server.port)
        time.sleep(0.3)
        before = len(server.transcript)
        token = self.watching.token()
        self.put(probe(token))
        self.watching.say('expect', 1, token)
        self.watching.arrival(token)
        said = [line for line in server.transcript[before:] if ' C: ' in line]
        self.assertEqual(sum('FETCH' in line for line in said), 1, said)
        fetch = next(n for n, line in enumerate(said) if 'FETCH' in line)
        # One that IDLE told of before it was expected may be looked for again.
        self.assertLessEqual(fetch, 4, said)
        self.assertFalse(any('SEARCH' in line for line in server.transcript))


if __name__ == '__main__':
    main()
