#!/usr/bin/env python3
"""How often other people's servers see us: the waits of the configuration are
kept, whatever the server, the clock of the machine or a restart do."""
import signal
import time

from harness import command_of, descendants, main
from scripted import SEEN_LATE, Scripted

EARLY = 0.05        # seconds by which a timer may seem early, seen from outside
LATE = 2.5          # by which a busy machine may be late

FULL = {'mail': '452 4.3.1 Insufficient system storage'}
FULL_FOR_GOOD = {'mail': '554 5.3.1 mail system is full'}
RATE = {'rcpt': '450 4.7.1 rate limit exceeded, slow down'}
POLICY = {'rcpt': '550 5.7.1 not from there'}
WRONG = {'ehlo_keywords': ['AUTH PLAIN LOGIN'], 'auth_users': {'someone else': 'x'}}


class Polite(Scripted):
    def assert_distance(self, server, span):
        """So many seconds between its sessions, but for the first, which
        waits until there is a sender.  One that we see late makes one gap
        longer and the next one shorter, but not all of them."""
        gaps = server.gaps()[1:]
        for gap in gaps:
            self.assertGreaterEqual(gap, span - 2 * SEEN_LATE, gaps)
        self.assertGreaterEqual(sum(gaps), span * len(gaps) - SEEN_LATE, gaps)

    def assert_gaps(self, server, wanted):
        """The first gaps between its sessions are these, in seconds."""
        self.wait_sessions(server, len(wanted) + 1, within=sum(wanted) + LATE * len(wanted) + 15)
        for have, want in zip(server.gaps(), wanted):
            self.assertGreaterEqual(have, want - EARLY, server.gaps())
            self.assertLess(have, want + LATE, server.gaps())

    def test_the_waits_of_retry_grow_and_the_last_one_repeats(self):
        server = self.smtp('full', FULL)
        self.route('r', 'full', retry=['500ms', '1s', '2s'])
        self.monitor.start()
        self.assert_gaps(server, [0.5, 1, 2, 2])
        rows = self.monitor.attempts('r')
        self.assertEqual(len({row['probe'] for row in rows}), 1, 'it is one probe, kept')
        self.assertEqual([row['try'] for row in rows[:4]], ['1', '2', '3', '4'])

    def test_a_rate_limit_has_waits_of_its_own(self):
        server = self.smtp('rate', RATE)
        self.route('r', 'rate', retry=['100ms'], rate_retry=['1500ms', '2500ms'])
        self.monitor.start()
        self.assert_gaps(server, [1.5, 2.5, 2.5])

    def test_a_probe_is_given_up_after_give_up(self):
        self.smtp('full', FULL)
        self.route('r', 'full', retry=['500ms'], give_up='2s')
        self.monitor.start()
        row = self.monitor.wait('it expired', lambda: self.monitor.finished('r', 'expired'))[0]
        self.assertEqual((row['class'], row['attempts']), ('system-full', row['deferrals']))
        self.assertIn(int(row['attempts']), range(2, 6))
        self.monitor.wait('a new one is tried', lambda: len(
            {row['probe'] for row in self.monitor.attempts('r')}) > 1)

    def test_a_full_system_that_refuses_for_good_is_left_alone_for_resend_after(self):
        server = self.smtp('full', FULL_FOR_GOOD)
        self.route('r', 'full', every='200ms', retry=['100ms'], resend_after='3s', reject_backoff=['100ms'])
        self.monitor.start()
        self.assert_gaps(server, [3, 3])
        rows = self.monitor.finished('r')
        self.assertEqual({(row['outcome'], row['class'], row['attempts']) for row in rows},
                         {('rejected', 'system-full', '1')})

    def test_refusals_for_good_are_met_with_growing_waits_across_a_restart(self):
        server = self.smtp('policy', POLICY)
        self.route('r', 'policy', every='200ms', reject_backoff=['1s', '3s'])
        self.monitor.start()
        self.assert_gaps(server, [1, 3])
        self.monitor.wait('the last one is refused, too', lambda: len(
            self.monitor.finished('r')) == len(server.sessions))
        self.monitor.stop()
        self.monitor.restart()
        self.assert_gaps(server, [1, 3, 3, 3])

    def test_one_that_was_asked_for_and_accepted_ends_the_hold(self):
        server = self.smtp('full', FULL_FOR_GOOD)
        self.route('r', 'full', every='300ms', resend_after='1h')
        self.monitor.start()
        self.monitor.wait('it is refused', lambda: self.monitor.finished('r', 'rejected'))
        server.script = {}
        self.assertEqual(self.monitor.ctl('probe', 'r', '--wait').returncode, 0)
        self.monitor.wait_delivered('r', count=4)

    def test_an_accepted_probe_ends_the_growing_waits(self):
        server = self.smtp('policy', {'conns': [POLICY, POLICY, {}, POLICY, POLICY]})
        self.route('r', 'policy', every='200ms', reject_backoff=['1s', '3s'])
        self.monitor.start()
        self.assert_gaps(server, [1, 3, 0.2, 1])

    def test_probes_to_one_domain_keep_their_distance_and_others_do_not_wait(self):
        self.monitor.settings['spacing'] = '1500ms'
        one, other = self.smtp('one'), self.smtp('other')
        for number in range(4):
            self.route('r%d' % number, 'one', every='1s', to='box%d@one.test' % number)
        self.route('other', 'other', every='1s', to='box@other.test')
        self.monitor.start()
        self.wait_sessions(one, 8)
        self.assert_distance(one, 1.5)
        self.assertGreaterEqual(len(other.sessions), 4, 'a route of another domain keeps its pace')

    def test_retries_keep_the_distance_too(self):
        self.monitor.settings['spacing'] = '1500ms'
        server = self.smtp('full', POLICY)
        for number in range(3):
            self.route('r%d' % number, 'full', every='1h', to='box%d@one.test' % number,
                       retry=['100ms'])
        server.script = {'rcpt': '450 4.1.1 not known yet'}
        self.monitor.start()
        self.wait_sessions(server, 8)
        self.assert_distance(server, 1.5)

    def test_two_refused_logins_are_all_and_a_restart_does_not_forget_it(self):
        server = self.smtp('login', WRONG, user='probe', insecure_auth=True, auth_pause='1h',
                           password_file=self.monitor.secret('a wrong password'), concurrency=4)
        for number in range(6):
            self.route('r%d' % number, 'login', retry=['300ms'], every='500ms')
        self.monitor.start()
        self.monitor.wait('two logins', lambda: len(server.commands('AUTH')) >= 2)
        time.sleep(2)
        self.monitor.stop()
        self.monitor.restart()
        time.sleep(3)
        self.assertEqual(len(server.commands('AUTH')), 2)
        self.assertFalse(server.commands('MAIL'), 'nothing without a login')
        self.assertEqual(self.monitor.stop(), 0)

    def test_sections_of_one_login_have_two_tries_together(self):
        server = self.smtp('one', WRONG, user='probe', insecure_auth=True, auth_pause='1h',
                           password_file=self.monitor.secret('wrong'))
        self.monitor.section('server', 'two', **self.monitor.sections['server', 'one'])
        for name in ('one', 'two'):
            self.route(name, name, retry=['300ms'], every='500ms')
        self.monitor.start()
        self.monitor.wait('the pause', lambda: 'refused twice' in self.monitor.log())
        time.sleep(3)
        self.assertEqual(len(server.commands('AUTH')), 2)

    def test_a_login_that_cannot_be_checked_now_has_not_been_refused(self):
        server = self.smtp('login', {'ehlo_keywords': ['AUTH PLAIN'],
                                     'auth': '454 4.7.0 Temporary authentication failure'},
                           user='probe', insecure_auth=True, auth_pause='1h',
                           password_file=self.monitor.secret('right'))
        self.route('r', 'login', retry=['300ms'], every='500ms')
        self.monitor.start()
        self.monitor.wait('some logins', lambda: len(server.commands('AUTH')) >= 4)
        server.script = {}              # it offers none at all
        have = len(server.sessions)
        self.wait_sessions(server, have + 4)
        server.script = {'ehlo_keywords': ['AUTH PLAIN']}
        self.monitor.wait_delivered('r', count=2)
        self.assertNotIn('pausing', self.monitor.log())

    def test_alerts_do_not_lock_their_own_account(self):
        m = self.monitor
        self.smtp('full', FULL)
        bad = self.smtp('bad', WRONG, user='probe', insecure_auth=True, auth_pause='1h', concurrency=4,
                        password_file=m.secret('a wrong password'))
        good = self.smtp('good')
        m.alerts(to=['admin%d@else.test' % number for number in range(5)], servers=['bad', 'good'])
        self.route('r', 'full', alerts='default')
        m.start()
        m.wait('all were told', lambda: len(good.commands('RCPT')) >= 5)
        self.assertEqual(len(bad.commands('AUTH')), 2)
        self.assertFalse(bad.commands('MAIL'))
        self.assertEqual(len(set(good.commands('RCPT'))), 5)

    def test_a_reload_with_another_password_ends_the_pause(self):
        server = self.smtp('login', {'ehlo_keywords': ['AUTH PLAIN'], 'auth_users': {'probe': 'right'}},
                           user='probe', insecure_auth=True, auth_pause='1h',
                           password_file=self.monitor.secret('wrong'))
        self.route('r', 'login', retry=['300ms'], every='500ms')
        m = self.monitor
        m.start()
        m.wait('two logins', lambda: len(server.commands('AUTH')) >= 2)
        m.wait('the pause', lambda: 'refused twice' in m.log())
        m.reload()
        time.sleep(1)
        self.assertEqual(len(server.commands('AUTH')), 2, 'a reload alone ends nothing')
        m.section('server', 'login', password_file=m.secret('right'))
        m.reload()
        m.wait_delivered('r', count=2)
        m.stop()
        m.restart()                 # and nothing is left of it
        have = len(m.finished('r', 'delivered'))
        m.wait_delivered('r', count=have + 1)

    def test_a_command_that_hangs_does_not_delay_the_end(self):
        self.smtp('login', {'ehlo_keywords': ['AUTH PLAIN']}, user='probe', insecure_auth=True,
                  password_command='sleep 100; echo x')
        self.route('r', 'login')
        self.monitor.start()
        self.monitor.wait('the command runs', lambda: [
            pid for pid in descendants(self.monitor.process.pid) if command_of(pid) == 'sleep 100'])
        began = time.monotonic()
        self.assertEqual(self.monitor.stop(), 0)
        self.assertLess(time.monotonic() - began, 10)

    def test_a_password_that_is_taken_serves_all_sessions(self):
        server = self.smtp('login', {'ehlo_keywords': ['AUTH PLAIN'], 'auth_users': {'probe': 'right'},
                                     'mail': {'text': '250 2.1.0 Ok', 'delay': 2}},
                           user='probe', insecure_auth=True, concurrency=3,
                           password_file=self.monitor.secret('right'))
        for number in range(6):
            self.route('r%d' % number, 'login', every='500ms')
        self.monitor.start()
        self.monitor.wait('three at a time', lambda: server.at_once() >= 3)
        self.assertEqual(server.at_once(), 3)

    def test_no_more_sessions_at_a_time_than_concurrency(self):
        server = self.smtp('slow', {'mail': {'text': '250 2.1.0 Ok', 'delay': 2}}, concurrency=3)
        for number in range(8):
            self.route('r%d' % number, 'slow', every='500ms')
        self.monitor.start()
        self.wait_sessions(server, 15)
        self.assertEqual(server.at_once(), 3)

    def test_servers_of_one_system_share_its_sessions(self):
        slow = {'mail': {'text': '250 2.1.0 Ok', 'delay': 2}}
        one, two = (self.smtp(name, slow, system='both', concurrency=2) for name in ('one', 'two'))
        for number in range(4):
            self.route('one%d' % number, 'one', every='500ms')
            self.route('two%d' % number, 'two', every='500ms')
        self.monitor.start()
        self.wait_sessions(one, 5)
        self.wait_sessions(two, 5)
        one.sessions += two.sessions
        self.assertEqual(one.at_once(), 2)

    def test_a_system_that_cannot_be_reached_gets_one_session_at_a_time(self):
        server = self.smtp('dead', {'greeting': None}, concurrency=4, timeout='3s')
        for number in range(6):
            self.route('r%d' % number, 'dead', every='1s', retry=['100ms'])
        self.monitor.start()
        self.monitor.wait('the first one failed', lambda: self.monitor.attempts())
        since = time.monotonic() + 4        # those begun before it was known
        self.monitor.wait('more failed', lambda: len(
            [s for s in server.sessions if s.began > since and s.ended]) >= 4)
        self.assertEqual(server.at_once(since), 1)

    def test_after_a_stop_of_the_machine_what_was_missed_is_not_made_up_for(self):
        server = self.smtp('mail')
        for number in range(4):
            self.route('r%d' % number, 'mail', every='500ms')
        self.monitor.start()
        self.wait_sessions(server, 8)
        self.monitor.process.popen.send_signal(signal.SIGSTOP)
        time.sleep(5)
        before = len(server.sessions)
        began = time.monotonic()
        self.monitor.process.popen.send_signal(signal.SIGCONT)
        time.sleep(0.45)
        have = len(server.sessions) - before
        # Each route once for the time it slept, and once at each turn since.
        turns = int((time.monotonic() - began) / 0.5) + 1
        self.assertLessEqual(have, 4 * (1 + turns))
        self.wait_sessions(server, before + 12)
        self.assertEqual(self.monitor.stop(), 0)

    def test_a_probe_asked_for_by_hand_need_not_wait(self):
        server = self.smtp('full', FULL)
        self.route('r', 'full', retry=['1h'])
        self.monitor.start()
        self.monitor.wait('it is refused', lambda: self.monitor.attempts('r'))
        server.script = {}
        self.assertEqual(self.monitor.ctl('probe', 'r', '--wait').returncode, 0)
        self.assertEqual(len(server.sessions), 2)


if __name__ == '__main__':
    main()
