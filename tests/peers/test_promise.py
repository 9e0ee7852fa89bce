#!/usr/bin/env python3
"""The promise: one notice when it begins, one when the server accepts again,
one when mail is delivered again; whatever dies or refuses meanwhile."""
import email
import email.policy
import glob
import os
import random
import time

from harness import main, thread_of
from scripted import Scripted
from test_episode import KINDS, Told

FULL = {'mail': '452 4.3.1 Insufficient system storage'}
# What a relay for the alerts does, connection by connection, until it behaves.
BAD = [
    {'rcpt': '550 5.7.1 not today'},
    {'mail': '452 4.3.1 Insufficient system storage'},
    {'mail': {'text': None, 'hang': 3}},
    {'dot': {'raw': '', 'close': True, 'store': True}},
]


class Killed(Told):
    def test_ten_kills_at_random_moments_and_three_distinct_notices(self):
        seed = int(os.environ.get('MAILFLOW_SEED', 1))
        print('MAILFLOW_SEED=%d' % seed)
        dice = random.Random(seed)
        m = self.usual()
        m.start()
        m.wait_delivered('there')
        # The episode begins and ends somewhere among the kills.
        began, ended = dice.randint(0, 3), dice.randint(5, 9)
        for kill in range(10):
            if kill == began:
                self.postfix.set_full(True)
                m.wait('it is refused', lambda: self.refused())
            if kill == ended:
                m.wait('the admin was told', lambda: self.kinds()[:1] == ['failing'])
                self.postfix.set_full(False)
            time.sleep(dice.uniform(0, 1.5))       # the moment itself is the test
            m.kill()
            m.restart()
        m.wait('the episode closed', lambda: m.rows('episodes'))
        m.wait('all was told', lambda: self.kinds()[-1:] == ['delivered again'])
        self.assertEqual(m.stop(), 0)
        mails = self.mails()
        first = {}
        for mail, kind in zip(mails, self.kinds()):
            first.setdefault(mail['Message-ID'], kind)
        self.assertEqual(list(first.values()), list(KINDS), 'three distinct ones, in order')
        self.assertEqual(len({thread_of(mail) for mail in mails}), 1)
        self.assertEqual(len(m.rows('episodes')), 1)


class Relays(Scripted):
    def told(self, store, to):
        """Subjects' first words and Message-IDs of the mails to one admin, in
        the order in which the relay took them."""
        mails = []
        for path in sorted(glob.glob(os.path.join(store, '**', '*.eml'), recursive=True),
                           key=os.path.basename):
            with open(path, 'rb') as f:
                mail = email.message_from_binary_file(f, policy=email.policy.default)
            if to in mail['To']:
                mails.append((mail['Subject'].split(':')[0].lower(), mail['Message-ID']))
        return mails

    def test_a_relay_that_misbehaves_delays_but_loses_nothing(self):
        store = self.scratch.directory('alert-store')
        relay = self.smtp('relay', {'conns': BAD + [{}]}, timeout='2s', dot_timeout='2s')
        relay.store = relay.base = store
        mx = self.smtp('mx', FULL)
        admins = ('first@admin.test', 'second@admin.test')
        self.monitor.alerts(to=list(admins), servers=['relay'], settle='2s')
        self.route('r', 'mx', alerts='default', retry=['1s'])
        self.monitor.start()
        self.monitor.wait('the relay was tried in vain', lambda: len(relay.sessions) > len(BAD),
                          within=90)
        mx.script = {}
        for admin in admins:
            self.monitor.wait('all was told to ' + admin, lambda: KINDS[-1] in [
                kind for kind, _ in self.told(store, admin)], within=150)
        self.assertEqual(self.monitor.stop(), 0)
        log = self.monitor.log()
        for admin in admins:
            told = self.told(store, admin)
            distinct = list(dict.fromkeys(told))
            self.assertEqual([kind for kind, _ in distinct], list(KINDS), told)
            if len(told) > len(distinct):
                self.assertIn('repeat', log)


if __name__ == '__main__':
    main()
