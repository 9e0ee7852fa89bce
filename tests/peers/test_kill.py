#!/usr/bin/env python3
"""The monitor's processes die, hang or meet a rival; probes go on."""
import os
import signal
import unittest

from harness import Case, Monitor, alive, main


@unittest.skipUnless(os.path.exists('/proc/self/stat'), 'finds the processes in /proc')
class Kill(Case):
    def start(self):
        self.usual()
        self.monitor.start()
        self.monitor.wait_delivered('there')

    def assert_goes_on(self, count=3):
        """New probes are delivered, and no row is there twice."""
        m = self.monitor
        known = {row['probe'] for row in m.rows('latency')}
        m.wait('%d new probes delivered' % count, lambda: len(
            [row for row in m.finished('there', 'delivered') if row['probe'] not in known]) >= count)
        probes = [row['probe'] for row in m.rows('latency')]
        self.assertEqual(len(probes), len(set(probes)), 'one row for a probe')
        self.assertFalse(m.finished(outcome='lost'))

    def test_a_killed_sender_is_replaced_and_no_probe_is_lost(self):
        self.start()
        for _ in range(3):
            pid = self.monitor.wait('a sender runs', lambda: self.monitor.workers('mailflow-sender'))[0]
            os.kill(pid, signal.SIGKILL)
            self.assert_goes_on()
        self.assertEqual(self.monitor.stop(), 0)

    def test_a_killed_watcher_is_replaced_and_no_probe_is_lost(self):
        self.start()
        for _ in range(2):
            pid = self.monitor.wait('a watcher runs', lambda: self.monitor.workers('mailflow-watcher'))[0]
            os.kill(pid, signal.SIGKILL)
            self.assert_goes_on()
        self.assertEqual(self.monitor.stop(), 0)

    def test_a_watcher_that_hangs_is_ended_and_nothing_is_called_lost(self):
        self.usual(late_after='8s', lost_after='16s')
        self.monitor.section('mailbox', 'canary', poll='1s', timeout='2s', connect_timeout='2s')
        self.monitor.start()
        self.monitor.wait_delivered('there')
        stopped = self.monitor.workers('mailflow-watcher')
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        self.monitor.wait('the hanging watcher was ended', lambda: not [
            pid for pid in stopped if alive(pid)])
        self.assert_goes_on()
        self.assertIn('state=blind reason=the watcher process does not answer', self.monitor.log())
        self.assertNotIn('class=undelivered', self.monitor.log())

    def test_a_sender_that_hangs_is_killed_at_its_deadline(self):
        self.usual()
        self.monitor.section('server', 'mail', timeout='2s', dot_timeout='2s', connect_timeout='2s')
        self.monitor.start()
        self.monitor.wait_delivered('there')
        stopped = self.monitor.workers('mailflow-sender')
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        self.monitor.wait('the hanging sender was killed', lambda: not [
            pid for pid in stopped if alive(pid)])
        self.assert_goes_on()

    def test_a_killed_daemon_takes_its_workers_along_and_resumes(self):
        self.start()
        for _ in range(3):
            self.monitor.kill()         # waits for the workers' end
            self.monitor.restart()
            self.assert_goes_on()
        self.assertEqual(self.monitor.stop(), 0)

    def test_a_stopped_daemon_ends_with_status_0_and_within_seconds(self):
        self.start()
        self.assertEqual(self.monitor.stop(), 0)

    def test_a_second_daemon_on_the_same_state_is_refused(self):
        self.start()
        rival = Monitor(self.scratch, name='rival', state_directory=self.monitor.state)
        rival.sections = self.monitor.sections
        with self.assertRaises(RuntimeError) as refused:
            rival.start()
        self.assertIn(self.monitor.state, str(refused.exception))
        self.assert_goes_on()

    def test_a_mistaken_reload_keeps_the_old_configuration(self):
        self.start()
        with open(self.monitor.file, 'a') as f:
            f.write('route "broken" { }\n')
        self.monitor.process.popen.send_signal(signal.SIGHUP)
        self.monitor.wait('it says what is wrong', lambda: 'broken' in self.monitor.log()
                          or 'mailflowd.conf:' in self.monitor.log())
        self.assert_goes_on()


if __name__ == '__main__':
    main()
