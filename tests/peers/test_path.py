#!/usr/bin/env python3
"""What a row tells of the way that a probe took, and of what the receiver
thought of its sender."""
from harness import Case, main

VERDICT = 'spf=pass smtp.mailfrom=probe@mail.test; dkim=none; dmarc=fail (p=none)'


def prepend(*headers):
    """Postfix puts them before the token's header, the last one uppermost."""
    return {'header_checks': 'regexp:{ %s }' % ' '.join(
        '{ /^X-Mailflow-Probe:/ PREPEND %s }' % header for header in headers)}


class Path(Case):
    peers_options = {'settings': prepend('Authentication-Results: mx.mail.test; ' + VERDICT)}

    def row(self, **mailbox):
        m = self.usual(every='2s')
        m.section('mailbox', 'canary', **mailbox)
        m.start()
        # The first may come before the mailbox was ever looked at.
        return m.wait_delivered('there', count=2)[1]

    def test_hops_and_where_it_stayed_longest(self):
        row = self.row()
        self.assertEqual(row['hops'], '2')              # Postfix, then LMTP
        self.assertTrue(row['slowest_hop'], row)
        self.assertIn(int(row['slowest_hop_ms']), range(0, 10001, 1000))
        self.assertIn(int(row['skew_ms']), range(0, 10001, 1000))
        self.assertEqual(row['note'], '')

    def test_the_verdict_of_the_server_that_is_believed(self):
        self.assertEqual(self.row(authserv_id='mx.mail.test')['note'],
                         'spf=pass dkim=none dmarc=fail')

    def test_anybody_elses_verdict_is_not(self):
        self.assertEqual(self.row(authserv_id='mx.example.org')['note'], '')


if __name__ == '__main__':
    main()
