#!/usr/bin/env python3
"""mailflowctl against a monitor that runs, as a person and as a plugin use it."""
import csv
import json
import os
import pwd
import re
import shutil
import subprocess

from harness import Case, main

OK, WARNING, CRITICAL, UNKNOWN = range(4)
FIGURES = r' \| total=\d+\.\d{3}s;20;20;0 accept=\d+\.\d{3}s'


class Ctl(Case):
    def ask(self, status, *args):
        """What it printed; its exit status must be this."""
        out = self.monitor.ctl(*args)
        self.assertEqual(out.returncode, status, out.stdout + out.stderr)
        return out.stdout

    def line(self, status, *args):
        """The same, one line."""
        out = self.ask(status, *args)
        self.assertEqual(out.count('\n'), 1, out)
        return out.rstrip('\n')

    def usual(self, **route):
        route.setdefault('every', '1h')
        return super().usual(**route)

    def test_a_configuration_that_was_named_must_be_there(self):
        for args, status in ((['status'], 78), (['pause', 'there'], 78), (['check'], UNKNOWN)):
            done = self.monitor._run(self.monitor.program('mailflowctl'), '-c', '/nowhere/x.conf', *args)
            self.assertEqual(done.returncode, status)
            self.assertIn('/nowhere/x.conf: No such file', done.stdout + done.stderr)

    def test_a_probe_that_is_waited_for_tells_how_it_went(self):
        m = self.usual()
        m.route('nobody', 'mail', 'canary', to='nobody@mail.test', every='1h')
        m.server('closed', 1)
        m.route('closed', 'closed', 'canary', every='1h')
        m.start()
        self.assertRegex(self.line(OK, 'probe', 'there', '--wait'),
                         r'^OK - there: delivered in \d\.\d\d s \((\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC\)' + FIGURES + '$')
        self.assertRegex(self.line(CRITICAL, 'probe', 'nobody', '--wait'),
                         r'^CRITICAL - nobody: rejected, 550 5\.1\.1 .*\(no-such-user\)$')
        self.assertRegex(self.line(CRITICAL, 'probe', 'closed', '--wait'),
                         r'^CRITICAL - closed: deferred, connection refused \(network\), next try in \d s$')
        self.assertEqual(self.line(UNKNOWN, 'probe', 'nowhere', '--wait'),
                         'UNKNOWN - nowhere: no such route')
        self.assertRegex(self.line(OK, 'probe', 'there'), '^mf1[a-z2-7]{33}$')

    def test_a_probe_that_cannot_be_seen_is_unknown_and_says_why(self):
        m = self.usual()
        m.mailbox('locked', self.dovecot.imap_port, 'second@mail.test', 'not the password')
        m.route('unseen', 'mail', 'locked', to='second@mail.test', every='1h')
        m.start()
        m.wait('the mailbox is blind', lambda: [
            box for box in m.status()['mailboxes'] if box['state'] == 'blind'])
        line = self.line(UNKNOWN, 'probe', 'unseen', '--wait', '--timeout', '2s')
        self.assertRegex(line, r'no result within 2 s: mailbox locked cannot be looked at: .+')
        self.assertRegex(self.line(UNKNOWN, 'check', 'unseen'), '^UNKNOWN - unseen: ')
        self.assertIn('blind', self.ask(0, 'status'))

    def test_check_follows_an_episode_from_its_begin_to_its_end(self):
        m = self.usual(every='1s')
        m.start()
        m.wait_delivered('there')
        self.assertRegex(self.line(OK, 'check'), '^OK - 1 route well, slowest there: ')
        self.postfix.set_full(True)
        m.wait('it fails', lambda: m.ctl('check', 'there').returncode == CRITICAL)
        line = self.line(CRITICAL, 'check', 'there')
        self.assertRegex(line, r'^CRITICAL - there: failing since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC: '
                         r'452 4\.3\.1 Insufficient system storage \(system-full\) \| ')
        self.assertRegex(self.line(CRITICAL, 'check'), '^CRITICAL - 1 of 1 route not well, there: ')
        shown = self.ask(0, 'episodes')
        number = re.search(r'^(\d+) +failing +system-full +system 127\.0\.0\.1 ', shown, re.M).group(1)
        self.assertIn('452 4.3.1 Insufficient system storage', shown)
        self.assertIn('452 4.3.1', self.ask(0, 'probes', '--transcript', 'there'))
        self.assertIn('told: failing', self.ask(0, 'episodes', '--why', number))
        self.ask(0, 'ack', number)
        self.assertIn('acknowledged', self.ask(0, 'episodes'))
        self.postfix.set_full(False)
        m.wait('it is over', lambda: m.ctl('check', 'there').returncode == OK)
        self.assertIn('over', self.ask(0, 'episodes', '--all'))
        self.ask(1, 'ack', number)

    def test_the_tables_say_what_is_wrong_with_each_route(self):
        m = self.usual(every='1s')
        m.route('other', 'mail', 'canary', every='1s', alerts='default')
        m.start()
        m.wait_delivered('there')
        m.wait_delivered('other')
        self.postfix.set_full(True)
        m.wait('both are in trouble', lambda: self.ask(0, 'status').count('452 4.3.1') >= 3)
        shown = self.ask(0, 'status')
        for route in ('there', 'other'):
            self.assertRegex(shown, r'(?m)^%s +(failing|held) .*\n    failing since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC: '
                             r'452 4\.3\.1 Insufficient system storage \(system-full\)$' % route)
        for line in shown.splitlines():
            self.assertLessEqual(len(line), 100, line)

    def test_pause_and_resume_hold_across_a_restart(self):
        m = self.usual()
        m.start()
        self.ask(0, 'pause', 'there')
        self.assertEqual(m.stop(), 0)
        m.restart()
        self.assertRegex(self.line(OK, 'check', 'there'), '^OK - there: paused')
        self.assertRegex(self.ask(0, 'status'), r'(?m)^there +paused ')
        self.ask(0, 'resume', 'there')
        self.assertNotIn('paused', m.ctl('check', 'there').stdout)
        self.ask(1, 'pause', 'nowhere')

    def test_reload_says_what_is_wrong_and_keeps_the_old(self):
        m = self.usual()
        m.start()
        with open(m.file, 'a') as f:
            f.write('nonsense = 5\n')
        out = m.ctl('reload')
        self.assertEqual(out.returncode, 78)
        self.assertIn('nonsense', out.stderr)
        m.write()
        self.ask(0, 'reload')

    def test_json_is_what_the_monitor_says(self):
        m = self.usual()
        m.start()
        self.ask(OK, 'probe', 'there', '--wait')
        status = json.loads(self.ask(0, 'status', '--json'))
        self.assertEqual([r['last']['outcome'] for r in status['routes']], ['delivered'])
        self.assertEqual(json.loads(self.ask(0, 'episodes', '--json'))['episodes'], [])
        self.assertIn('probes', json.loads(self.ask(0, 'probes', '--json')))

    def test_report_counts_what_ended_and_can_be_kept(self):
        m = self.usual()
        m.route('nobody', 'mail', 'canary', to='nobody@mail.test', every='1h')
        m.start()
        # Their own first probe of the hour may come in between.
        self.ask(OK, 'probe', 'there', '--wait')
        self.ask(CRITICAL, 'probe', 'nobody', '--wait')
        shown = self.ask(0, 'report')
        self.assertRegex(shown, r'(?m)^there +[12] +0 +0 +0 +[0-9ms]+ +[0-9ms]+ +[0-9ms]+$')
        self.assertRegex(shown, r'(?m)^nobody +0 +0 +[12] +\d +- +- +-$')
        self.assertLess(shown.index('nobody'), shown.index('there'), 'the worst comes first')
        rows = list(csv.DictReader(self.ask(0, 'report', '--csv', '--since', '1h').splitlines()))
        self.assertEqual([(row['route'], row['delivered'] != '0', row['rejected'] != '0', row['max_ms'] != '')
                          for row in rows], [('nobody', False, True, False), ('there', True, False, True)])
        page = self.ask(0, 'report', '--html')
        self.assertTrue(page.startswith('<!DOCTYPE html>') and page.endswith('</html>\n'))
        self.assertIn('<td>nobody</td>', page)
        self.assertEqual(json.loads(self.ask(0, 'report', '--json'))['partial'], False)
        self.ask(64, 'report', 'there')

    def test_who_may_not_ask_is_told_so(self):
        m = self.usual()
        m.start()
        os.chmod(self.scratch.path, 0o711)
        os.chmod(m.dir, 0o711)
        nobody = pwd.getpwnam('nobody')
        # Whom root's own folders let in is not what is asked here.
        program = shutil.copy(m.program('mailflowctl'), self.scratch.path)
        out = subprocess.run(
            [program, '-s', m.settings['control'], 'check'], capture_output=True,
            text=True, timeout=30, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])
        self.assertEqual(out.returncode, UNKNOWN)
        self.assertIn('Permission denied (only root and the group of mailflowd may ask it)', out.stdout)

    def test_without_a_monitor_every_command_says_so(self):
        self.monitor.write()
        for args in (['check'], ['check', 'there'], ['probe', 'there'], ['probe', 'there', '--wait']):
            with self.subTest(args=args):
                self.assertIn('is mailflowd running?', self.line(UNKNOWN, *args))
        for args in (['status'], ['episodes'], ['probes'], ['pause', 'there'], ['reload']):
            with self.subTest(args=args):
                self.assertEqual(self.ask(69, *args), '')


if __name__ == '__main__':
    main()
