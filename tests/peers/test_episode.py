#!/usr/bin/env python3
"""A real "452 4.3.1 Insufficient system storage", from the first refusal to
the mail that says it is over; and the monitor stopped and killed meanwhile."""
from harness import Case, Postfix, main, notices, thread_of

KINDS = ('failing', 'accepting again', 'delivered again')


class Told(Case):
    """What the admins' mailbox and the files say."""

    def mails(self):
        return notices(self.dovecot)

    def kinds(self):
        """What each alert mail is, in the order of arrival."""
        return [next((kind for kind in KINDS if kind in mail['Subject'].lower()),
                     mail['Subject']) for mail in self.mails()]

    def refused(self, route=None):
        return self.monitor.attempts(route, **{'class': 'system-full'})


class Episodes(Told):
    def begin(self):
        """Normal mail, then full, until the admin knows."""
        self.monitor.start()
        self.monitor.wait_delivered('there')
        self.postfix.set_full(True)
        self.monitor.wait('the admin was told', lambda: self.kinds() == ['failing'])

    def recover(self):
        self.postfix.set_full(False)
        self.monitor.wait('the episode closed', lambda: self.monitor.rows('episodes'))
        self.monitor.wait('all was told', lambda: len(self.mails()) >= 3)

    def assert_told_once(self):
        """Three notices, in order, one thread, nothing twice; one episode."""
        self.assertEqual(self.monitor.stop(), 0)
        mails = self.mails()
        self.assertEqual(self.kinds(), list(KINDS))
        self.assertEqual(len({thread_of(mail) for mail in mails}), 1)
        self.assertEqual(len({mail['Message-ID'] for mail in mails}), 3)
        rows = self.monitor.rows('episodes')
        self.assertEqual([row['class'] for row in rows], ['system-full'])
        return rows[0]

    def test_a_full_system_is_followed_to_its_end(self):
        self.usual()
        self.begin()
        self.monitor.wait('the kept probe was retried', lambda: any(
            int(row['try']) >= 3 for row in self.refused()))
        self.recover()
        row = self.assert_told_once()
        self.assertIn('Insufficient system storage', row['first_reply'])
        self.assertTrue(row['accepting_at'] and row['delivered_at'])
        self.assertLessEqual(row['opened_at'], row['accepting_at'])
        self.assertLessEqual(row['accepting_at'], row['delivered_at'])
        self.assertEqual(int(row['refusals']), len(self.refused()))
        for refusal in self.refused():
            self.assertEqual((refusal['code'], refusal['enhanced'], refusal['temporary'],
                              refusal['stage']), ('452', '4.3.1', 'temporary', 'mail'))
        kept = {refusal['probe'] for refusal in self.refused()}
        delivered = {row['probe']: row for row in self.monitor.finished('there', 'delivered')}
        self.assertTrue(kept <= set(delivered), 'every refused probe was delivered in the end')
        for probe in kept:
            tries = self.monitor.attempts('there', probe=probe)
            self.assertEqual(int(delivered[probe]['deferrals']), len(tries) - 1)
            self.assertEqual([int(each['try']) for each in tries],
                             list(range(1, len(tries) + 1)))

    def test_one_probe_is_retried_for_the_whole_system_while_the_others_wait(self):
        m = self.usual()
        self.mailbox('second', 'second@mail.test')
        m.route('also-there', 'mail', 'second', to='second@mail.test', alerts='default')
        m.start()
        m.wait_delivered('there')
        m.wait_delivered('also-there')
        self.postfix.set_full(True)
        m.wait('the admin was told', lambda: self.kinds() == ['failing'])
        m.wait('there were six refusals', lambda: len(self.refused()) >= 6)
        retried = {row['probe'] for row in self.refused() if int(row['try']) > 2}
        self.assertEqual(len(retried), 1, 'the sentinel alone is retried')
        self.recover()
        m.wait('both routes deliver again', lambda: all(
            any(int(row['deferrals']) or row['probe'] not in
                {refusal['probe'] for refusal in self.refused()}
                for row in m.finished(route, 'delivered')[-1:])
            for route in ('there', 'also-there')))
        self.assert_told_once()

    def test_a_restart_in_the_middle_loses_and_doubles_nothing(self):
        self.usual()
        self.begin()
        kept = self.refused()[-1]['probe']
        self.assertEqual(self.monitor.stop(), 0)
        before = len(self.refused())
        self.monitor.restart()
        self.monitor.wait('it goes on with the kept probe', lambda: any(
            row['probe'] == kept for row in self.refused()[before:]))
        self.recover()
        self.assert_told_once()

    def test_a_restart_after_the_recovery_still_tells_of_it(self):
        self.usual()
        self.begin()
        self.assertEqual(self.monitor.stop(), 0)
        self.postfix.set_full(False)
        self.monitor.restart()
        self.recover()
        self.assert_told_once()

    def test_a_kill_in_the_middle_loses_and_doubles_nothing(self):
        self.usual()
        self.begin()
        self.monitor.wait_sent()
        for _ in range(3):
            self.monitor.kill()
            before = len(self.refused())
            self.monitor.restart()
            self.monitor.wait('it goes on', lambda: len(self.refused()) > before)
        self.recover()
        self.assert_told_once()
        tries = [(row['probe'], row['try']) for row in self.monitor.rows('attempts')]
        self.assertEqual(len(tries), len(set(tries)), 'no session has two rows')

    def test_a_second_spell_soon_after_is_the_same_episode(self):
        self.usual()
        self.monitor.section('alerts', 'default', settle='15s')
        self.begin()
        self.postfix.set_full(False)
        self.monitor.wait('the end was told', lambda: self.kinds() == list(KINDS))
        self.postfix.set_full(True)
        self.monitor.wait('the admin was told again', lambda: self.kinds().count('failing') >= 2)
        self.postfix.set_full(False)
        self.monitor.wait('and of its end', lambda: self.kinds()[-1] == 'delivered again'
                          and len(self.mails()) > 4)
        self.monitor.wait('the episode closed', lambda: self.monitor.rows('episodes'))
        self.assertEqual(self.monitor.stop(), 0)
        self.assertEqual(len({thread_of(mail) for mail in self.mails()}), 1)
        row, = self.monitor.rows('episodes')
        self.assertEqual(row['reopened'], '1')


class Hidden(Told):
    """A relay accepts every mail and keeps it while the next system is full."""

    def setUp(self):
        super().setUp()
        self.relay = Postfix(
            self.scratch, self.peers.certificates.good, self.dovecot, name='relay',
            relay_to=('127.0.0.1', self.postfix.smtp), settings={
                'minimal_backoff_time': '1s', 'maximal_backoff_time': '1s',
                'queue_run_delay': '1s', 'maximal_queue_lifetime': '1h'})

    def test_mail_that_is_accepted_but_kept_by_a_relay_is_missed_by_its_age(self):
        m = self.usual(port=self.relay.smtp, pending_max=3)
        m.start()
        m.wait_delivered('there')
        self.postfix.set_full(True)
        m.section('route', 'there', late_after='3s')
        m.reload()
        m.wait('the admin was told', lambda: self.kinds() == ['failing'])
        self.assertFalse(self.refused(), 'the relay accepts all along')
        pending = self.relay.queued()
        self.assertGreaterEqual(pending, 1)
        self.assertLessEqual(pending, 3, 'pending_max bounds what waits in the relay')
        self.postfix.set_full(False)
        m.wait('the episode closed', lambda: m.rows('episodes'))
        m.wait('it was told', lambda: self.kinds()[-1:] == ['delivered again'])
        self.assertEqual(m.stop(), 0)
        row, = m.rows('episodes')
        self.assertEqual((row['class'], row['accepting_at']), ('undelivered', ''))
        self.assertTrue(m.finished('there', 'late'), 'what came late has its row')
        self.assertFalse(m.finished('there', 'lost'))
        self.assertEqual(len({thread_of(mail) for mail in self.mails()}), 1)


if __name__ == '__main__':
    main()
