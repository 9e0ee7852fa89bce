#!/usr/bin/env python3
"""Alerts that arrive: by mail, by the section's command, and as a test of both."""
import json
import os
import signal
import time

from harness import main
from scripted import Scripted

FULL = {'mail': '452 4.3.1 Insufficient system storage'}
TEST_KINDS = ['failing', 'accepting', 'delivered']


class Alerts(Scripted):
    def setUp(self):
        super().setUp()
        self.heard = os.path.join(self.scratch.directory('heard'), 'heard')

    def hook(self, more=''):
        """A command that keeps what it gets, one JSON object a line."""
        return 'cat >> %s; %s' % (self.heard, more or 'true')

    def told(self):
        """What the command has heard."""
        try:
            with open(self.heard) as f:
                text = f.read()
            return [json.loads(line) for line in text[:text.rfind('\n') + 1].splitlines()]
        except FileNotFoundError:
            return []

    def section(self, title='default', **settings):
        return self.monitor.alerts(title, **{
            'to': ['admin@away.test'], 'servers': ['relay'], **settings})

    def ask(self, status, *args):
        out = self.monitor.ctl(*args)
        self.assertEqual(out.returncode, status, out.stdout + out.stderr)
        return out.stdout

    def quiet(self):
        self.smtp('mx')
        self.route('r', 'mx', every='1h')

    def test_a_test_goes_to_everybody_and_says_so(self):
        self.quiet()
        relay = self.smtp('relay')
        self.section(to=['admin@away.test', 'oncall@away.test'], command=self.hook())
        self.monitor.start()
        shown = self.ask(0, 'test-alert', 'default')
        for kind in TEST_KINDS:
            for to in 'admin@away.test', 'oncall@away.test', 'command:':
                self.assertRegex(shown, r'(?m)^default +%s +%s +sent$' % (kind, to))
        told = self.told()
        self.assertEqual([(one['kind'], one['test'], one['episode']) for one in told],
                         [(kind, True, None) for kind in TEST_KINDS])
        for one in told:
            self.assertTrue(one['subject'].startswith('TEST: '), one['subject'])
            self.assertTrue(one['body'].startswith('THIS IS A TEST'), one['body'])
        self.assertEqual(len(relay.commands('RCPT')), 6)

    def test_a_test_of_all_sections_tells_which_one_cannot_be_reached(self):
        self.quiet()
        self.smtp('relay')
        self.section()
        self.section('broken', to=[], command='echo out of paper >&2; exit 3')
        self.monitor.start()
        self.assertIn('sent', self.ask(0, 'test-alert', 'default'))
        out = self.monitor.ctl('test-alert', '--timeout', '8s')
        self.assertEqual(out.returncode, 2, out.stdout)
        self.assertRegex(out.stdout, r'(?m)^default +delivered +admin@away.test +sent$')
        self.assertRegex(out.stdout, r'(?m)^broken +failing +command: +not yet\n +.*status 3: out of paper')

    def test_who_asks_for_no_section_is_told_so(self):
        self.quiet()
        self.smtp('relay')
        self.section()
        self.monitor.start()
        self.ask(1, 'test-alert', 'nobody')
        self.ask(64, 'test-alert', 'one', 'two')

    def test_a_command_hears_the_episode_and_outlives_a_restart(self):
        relay = self.smtp('relay')
        mx = self.smtp('mx', FULL)
        self.route('r', 'mx', every='1s', retry=['1s'])
        self.section(command=self.hook())
        self.monitor.start()
        self.monitor.wait('failing is told', lambda: len(self.told()) == 1)
        self.monitor.stop()
        self.monitor.restart()
        mx.script = {}
        self.monitor.wait('all is told', lambda: len(self.told()) == 3)
        told = self.told()
        self.assertEqual([one['kind'] for one in told], TEST_KINDS)
        self.assertEqual({one['thread'] for one in told}, {told[0]['id']})
        self.assertEqual(told[0]['episode']['class'], 'system-full')
        self.assertEqual(told[0]['episode']['routes'], ['r'])
        self.assertEqual((told[2]['episode']['state'], told[2]['test']), ('quiet', False))
        self.monitor.wait('and by mail', lambda: len(relay.commands('RCPT')) == 3)

    def test_a_command_that_hangs_does_not_keep_the_monitor_from_ending(self):
        self.smtp('relay')
        self.smtp('mx', FULL)
        self.route('r', 'mx', every='1s', retry=['1s'])
        self.section(to=[], command=self.hook('sleep 25'))
        self.monitor.start()
        self.monitor.wait('the command runs', lambda: len(self.told()) == 1)
        began = time.monotonic()
        self.assertEqual(self.monitor.stop(), 0)
        self.assertLess(time.monotonic() - began, 10)
        self.monitor.restart()
        self.monitor.wait('it is told again', lambda: len(self.told()) == 2)
        self.assertEqual(self.told()[0]['id'], self.told()[1]['id'])

    def assert_not_held_up(self, **hanging):
        """A relay that says nothing, by which five people are to be told first."""
        self.quiet()
        silent = self.smtp('silent', {'greeting': None}, timeout='5m', **hanging)
        self.smtp('relay')
        self.section('a', to=['%s@away.test' % name for name in 'vwxyz'], servers=['silent'],
                     command=self.hook())
        self.section('b')
        self.monitor.start()
        out = self.monitor.ctl('test-alert', '--timeout', '10s')
        self.assertEqual(out.returncode, 2, out.stdout)
        for kind in TEST_KINDS:
            self.assertRegex(out.stdout, r'(?m)^a +%s +command: +sent$' % kind)
            self.assertRegex(out.stdout, r'(?m)^b +%s +admin@away.test +sent$' % kind)
        self.assertRegex(out.stdout, r'(?m)^a +failing +v@away.test +not yet$')
        return silent

    def test_a_silent_relay_holds_up_neither_the_command_nor_another_relay(self):
        silent = self.assert_not_held_up()
        self.assertEqual(len(silent.sessions), 4)

    def test_a_silent_relay_with_a_login_has_one_session_and_holds_up_nobody(self):
        silent = self.assert_not_held_up(user='alerts', insecure_auth=True,
                                         password_file=self.monitor.secret('secret'))
        self.assertEqual(len(silent.sessions), 1)

    def test_a_silent_relay_that_takes_all_senders_holds_up_nobody(self):
        self.monitor.settings['senders'] = 1
        self.assert_not_held_up()

    def test_a_relay_that_did_not_answer_is_not_the_first_choice(self):
        self.quiet()
        silent = self.smtp('silent', {'greeting': None}, timeout='2s')
        self.smtp('relay')
        self.section(servers=['silent', 'relay'])
        self.monitor.start()
        self.ask(0, 'test-alert')
        self.ask(0, 'test-alert')
        self.assertEqual(len(silent.sessions), 1)

    def test_a_command_that_succeeded_is_not_run_again_for_what_it_left_or_printed(self):
        self.quiet()
        self.smtp('relay')
        children = os.path.join(self.scratch.directory('children'), 'pids')
        self.section('leaves', to=[], command=self.hook('sleep 300 & echo $! >> %s' % children))
        self.section('prints', to=[], command=self.hook('head -c 100000 /dev/zero | tr "\\0" x'))
        self.monitor.start()
        shown = self.ask(0, 'test-alert')
        with open(children) as f:
            left = [int(line) for line in f]
        for pid in left:
            os.kill(pid, signal.SIGKILL)        # fails if it was not let be
        self.assertEqual(len(left), 3)
        for kind in TEST_KINDS:
            for section in 'leaves', 'prints':
                self.assertRegex(shown, r'(?m)^%s +%s +command: +sent$' % (section, kind))
        self.assertEqual(len(self.told()), 6)
        self.assertNotIn('command failed', self.monitor.log())

    def test_that_a_notice_may_come_twice_is_known_after_a_restart(self):
        relay = self.smtp('relay', {'dot': {'raw': '', 'hang': 20, 'store': True}}, dot_timeout='1s')
        self.smtp('mx', FULL)
        self.route('r', 'mx', every='1h')
        self.section()
        self.monitor.start()
        self.monitor.wait('no answer to the dot', lambda: 'state=due attempts=1' in self.monitor.log())
        self.assertEqual(self.monitor.stop(), 0)
        relay.script = {}
        self.monitor.restart()
        self.monitor.wait('it is told', lambda: 'state=sent attempts=2' in self.monitor.log())
        self.assertRegex(self.monitor.log(), 'state=sent attempts=2 perhaps a repeat')

    def test_status_shows_the_oldest_that_waits_and_why(self):
        relay = self.smtp('relay', {'mail': '451 4.3.0 no room for your news'})
        self.smtp('mx', FULL)
        self.route('r', 'mx', every='1h')
        self.section()
        self.monitor.start()
        self.monitor.wait('it was tried', lambda: 'state=due attempts=1' in self.monitor.log())
        shown = self.ask(0, 'status')
        self.assertRegex(shown, r'(?m)^senders .* notices waiting 1$')
        self.assertRegex(shown, r'(?m)^OLDEST NOTICE .*\nfailing +default +admin@away.test +(now|\d+s ago) +1 +(now|in \d+s)\n'
                                r' +.*no room for your news')
        oldest = self.monitor.status()['oldest_notice']
        self.assertEqual((oldest['kind'], oldest['alerts'], oldest['to'], oldest['attempts']),
                         ('failing', 'default', 'admin@away.test', 1))
        self.assertIn('no room', oldest['reply'])
        self.assertTrue(oldest['owed_at'] < oldest['next_try_at'])
        relay.script = {}
        self.monitor.wait('it is told', lambda: not self.monitor.status()['notices_waiting'])
        self.assertIsNone(self.monitor.status()['oldest_notice'])
        self.assertNotIn('OLDEST', self.ask(0, 'status'))

    def test_status_counts_what_was_given_up(self):
        self.quiet()
        self.smtp('relay')
        self.section(to=[], command='false')
        self.monitor.start()
        self.assertEqual(self.monitor.status()['notices_expired'], 0)
        self.monitor.ctl('test-alert', '--timeout', '1s')
        # Without a command there is nothing that could be tried again.
        self.section(to=['admin@away.test'], command='')
        self.monitor.write()
        self.ask(0, 'reload')
        self.monitor.wait('they are given up', lambda: self.monitor.status()['notices_expired'] == 3)
        self.assertRegex(self.ask(0, 'status'), r'(?m)^senders .* notices waiting 0, given up in 7 days 3$')

    def test_in_a_window_nobody_hears_and_the_tables_say_why(self):
        relay = self.smtp('relay')
        mx = self.smtp('mx', FULL)
        self.route('r', 'mx', every='1s', retry=['1s'])
        self.section()
        self.monitor.section('window', 'now', **{'from': '00:00', 'to': '00:00'})
        self.monitor.start()
        self.monitor.wait('it fails', lambda: 'keeps its notices back' in self.ask(0, 'episodes'))
        self.assertIn('held back: a maintenance window', self.ask(0, 'episodes', '--why', '1'))
        self.assertRegex(self.ask(0, 'windows'), r'(?m)^now +now +')
        self.assertRegex(self.monitor.check().stdout, r'(?m)^window "now": now, from ')
        self.assertEqual(relay.sessions, [])
        del self.monitor.sections['window', 'now']
        self.monitor.write()
        self.ask(0, 'reload')
        self.monitor.wait('it is told after all', lambda: len(relay.commands('RCPT')) == 1)
        mx.script = {}
        self.monitor.wait('and its end', lambda: len(relay.commands('RCPT')) == 3)

    def test_signs_of_life_come_as_mail_and_to_the_command(self):
        relay = self.smtp('relay')
        self.quiet()
        self.section(command=self.hook(), heartbeat='2s')
        self.monitor.start()
        self.monitor.wait('two signs of life', lambda: len(self.told()) >= 2)
        self.assertEqual({(one['kind'], one['test'], one['episode']) for one in self.told()},
                         {('heartbeat', False, None)})
        self.monitor.wait('by mail too', lambda: len(relay.commands('RCPT')) >= 2)


if __name__ == '__main__':
    main()
