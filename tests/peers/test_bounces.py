#!/usr/bin/env python3
"""A real relay that takes every mail, keeps it while the next system is full,
and tells of it by delivery reports."""
from harness import Case, Postfix, main, notices, thread_of

KINDS = ('still failing', 'failing', 'accepting again', 'delivered again')


class Bounces(Case):
    def setUp(self):
        super().setUp()
        self.relay = Postfix(
            self.scratch, self.peers.certificates.good, self.dovecot, name='relay',
            relay_to=('127.0.0.1', self.postfix.smtp), home=('home.test',), settings={
                'minimal_backoff_time': '1s', 'maximal_backoff_time': '1s',
                'queue_run_delay': '1s', 'delay_warning_time': '3s',
                'maximal_queue_lifetime': '8s', 'bounce_queue_lifetime': '8s',
                'relay_recipient_maps': ''})

    def configure(self, **route):
        m = self.usual(port=self.relay.smtp, **{
            'from': 'probe@home.test', 'bounces': 'return', 'every': '2s',
            'late_after': '5m', 'lost_after': '10m', **route})
        self.mailbox('return', 'probe@home.test')
        return m

    def kinds(self):
        """What each alert mail is, in the order of arrival."""
        return [next((kind for kind in KINDS if kind in mail['Subject'].lower()),
                     mail['Subject']) for mail in notices(self.dovecot)]

    def assert_reports_untouched(self):
        """They lie there as they came, unseen."""
        session = self.dovecot.connect('probe@home.test')
        session.select('INBOX', readonly=True)
        flags = session.uid('FETCH', '1:*', '(FLAGS)')[1]
        session.logout()
        self.assertTrue(flags[0])
        for line in flags:
            self.assertNotIn(b'\\Deleted', line)
            self.assertNotIn(b'\\Seen', line)
        reports = self.dovecot.deliveries('probe@home.test')
        self.assertEqual(len(flags), len(reports), 'none was removed')

    def test_a_delay_report_opens_the_episode_that_a_relay_hides(self):
        m = self.configure()
        m.start()
        m.wait_delivered('there')
        self.postfix.set_full(True)
        m.wait('the admin was told', lambda: self.kinds() == ['failing'])
        row = m.wait('a probe was given up by the relay',
                     lambda: m.finished('there', 'bounced'))[0]
        self.assertEqual((row['class'], row['code'], row['enhanced']),
                         ('system-full', '452', '4.3.1'))
        self.assertIn('Insufficient system storage', row['reply'])
        self.assertIn('reported-delayed', row['note'])
        self.assertTrue(row['accepted_at'], 'the relay had taken it')
        self.assertFalse(m.attempts('there', **{'class': 'system-full'}),
                         'no session of ours was refused')
        self.postfix.set_full(False)
        m.wait('the episode closed', lambda: m.rows('episodes'))
        m.wait('all was told', lambda: len(self.kinds()) >= 3)
        self.assertEqual(m.stop(), 0)
        self.assertEqual(self.kinds(), ['failing', 'accepting again', 'delivered again'])
        episode, = m.rows('episodes')
        self.assertEqual((episode['class'], episode['accepting_at']), ('system-full', ''))
        self.assertTrue(episode['scope'].startswith('system '), episode)
        self.assertIn('Insufficient system storage', episode['first_reply'])
        self.assertEqual(len({thread_of(mail) for mail in notices(self.dovecot)}), 1)
        ends = [row['outcome'] for row in m.finished('there')]
        self.assertTrue(set(ends) <= {'delivered', 'bounced'}, ends)
        self.assert_reports_untouched()

    def test_what_age_has_told_a_report_tells_better(self):
        m = self.configure()
        m.start()
        m.wait_delivered('there')
        self.postfix.set_full(True)
        m.section('route', 'there', late_after='1s')
        m.reload()
        m.wait('the report was told', lambda: self.kinds()[:2] == ['failing', 'still failing'])
        told = notices(self.dovecot)
        self.assertNotIn('Insufficient system storage', told[0].get_content())
        self.assertIn('Insufficient system storage', told[1].get_content())
        self.postfix.set_full(False)
        m.wait('the episode closed', lambda: m.rows('episodes'))
        self.assertEqual(m.stop(), 0)
        episode, = m.rows('episodes')
        self.assertEqual((episode['class'], episode['accepting_at']), ('system-full', ''))

    def test_a_recipient_that_the_next_system_does_not_know_bounces_at_once(self):
        m = self.configure(to='nobody@mail.test')
        m.start()
        row = m.wait('it bounced', lambda: m.finished('there', 'bounced'))[0]
        self.assertEqual((row['class'], row['code'], row['enhanced']),
                         ('no-such-user', '550', '5.1.1'))
        m.wait('the admin was told', lambda: self.kinds() == ['failing'])
        shown = m.ask(command='episodes')
        self.assertIn('recipient nobody@mail.test', str(shown))
        self.assertEqual(m.stop(), 0)

    def test_a_kill_between_report_and_end_counts_each_report_once(self):
        m = self.configure()
        m.start()
        m.wait_delivered('there')
        self.postfix.set_full(True)
        m.wait('the admin was told', lambda: self.kinds() == ['failing'])
        m.wait_sent()
        for _ in range(2):
            m.kill()
            m.restart()
            seen = len(m.finished('there', 'bounced'))
            m.wait('one more bounced', lambda: len(m.finished('there', 'bounced')) > seen)
        self.postfix.set_full(False)
        m.wait('the episode closed', lambda: m.rows('episodes'))
        m.wait('all was told', lambda: len(self.kinds()) >= 3)
        self.assertEqual(m.stop(), 0)
        probes = [row['probe'] for row in m.finished('there')]
        self.assertEqual(len(probes), len(set(probes)), 'no probe has two rows')
        self.assertEqual(self.kinds(), ['failing', 'accepting again', 'delivered again'])
        self.assertEqual(len(m.rows('episodes')), 1)


if __name__ == '__main__':
    main()
