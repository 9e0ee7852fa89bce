#!/usr/bin/env python3
"""One mailbox that crashes its watcher costs the others a moment, no more."""
import os
import signal
import struct
import threading
import time

from harness import main, wait_for
from scripted import Scripted, imap_script


class Isolation(Scripted):
    """Mailboxes "box" and "evil" on one server, in one watcher; the login of
    the evil one is not answered until self.release is set."""

    def setUp(self):
        super().setUp()
        self.release = threading.Event()
        self.addCleanup(self.release.set)
        honest = imap_script.Conn.dispatch
        self.addCleanup(setattr, imap_script.Conn, 'dispatch', honest)

        def dispatch(conn, tag, cmd, rest, lits):
            if cmd == 'LOGIN' and 'evil' in rest:
                self.release.wait(60)
            return honest(conn, tag, cmd, rest, lits)
        imap_script.Conn.dispatch = dispatch
        m = self.monitor
        m.section('mailbox', 'box', timeout='30s')
        m.mailbox('evil', self.imap.port, 'evil', 'password', timeout='30s')
        self.route('good', self.smtp('mail'))
        self.route('bad', 'mail', every='1h')
        m.section('route', 'bad', mailbox='evil')

    def route(self, name, server, **settings):
        self.monitor.route(name, 'mail', 'box', **{'to': 'box@mail.test', **settings})

    @staticmethod
    def holds(pid):
        try:
            with open('/proc/%d/fd/4' % pid, 'rb') as slots:
                return [number for number in struct.unpack('5I', slots.read(20)) if number]
        except (OSError, struct.error):
            return []

    def holder(self):
        """The watcher that has had one mailbox in hand for a while: the evil one."""
        for pid in self.monitor.workers('mailflow-watcher'):
            before = self.holds(pid)
            time.sleep(0.4)
            if set(before) & set(self.holds(pid)):
                return pid
        return 0

    def caught(self):
        """The holder, stopped while it has nothing else in hand."""
        pid = self.holder()
        if pid:
            os.kill(pid, signal.SIGSTOP)
            if len(self.holds(pid)) == 1:
                return pid
            os.kill(pid, signal.SIGCONT)

    def crash(self):
        pid = self.monitor.wait('a watcher is at it', self.caught)
        os.kill(pid, signal.SIGSEGV)
        os.kill(pid, signal.SIGCONT)
        return pid

    def good_goes_on(self):
        have = len(self.monitor.finished('good', 'delivered'))
        self.monitor.wait_delivered('good', count=have + 3)

    def reason(self):
        return next(box['reason'] for box in self.monitor.status()['mailboxes']
                    if box['mailbox'] == 'evil')

    def test_one_that_crashes_its_watcher_is_tried_alone_then_named_and_left_for_longer(self):
        m = self.monitor
        m.start()
        m.wait_delivered('good')
        self.assertEqual(len(m.workers('mailflow-watcher')), 1)
        self.crash()
        m.wait('it is tried alone', lambda: 'mailbox=evil was in the hands of' in m.log())
        m.wait('two watchers run', lambda: len(m.workers('mailflow-watcher')) == 2)
        self.good_goes_on()
        ours = set(m.workers('mailflow-watcher'))
        alone = self.crash()
        m.wait('it is named', lambda: 'mailbox=evil it crashes its watcher, 2 times now' in m.log())
        wait_for('status says so', lambda: 'crashes its watcher' in self.reason())
        self.good_goes_on()
        self.assertLessEqual(ours - {alone}, set(m.workers('mailflow-watcher')))
        self.assertNotIn('mailbox=box was in the hands', m.log())
        self.release.set()
        m.wait('it is looked at after all', lambda: 'mailbox=evil state=good' in m.log())
        self.good_goes_on()

    def test_a_watcher_killed_over_nothing_accuses_nobody(self):
        self.release.set()
        m = self.monitor
        m.start()
        m.wait_delivered('good')
        watcher, = m.workers('mailflow-watcher')

        def stopped_at_rest():
            os.kill(watcher, signal.SIGSTOP)
            if not self.holds(watcher):
                return True
            os.kill(watcher, signal.SIGCONT)
        m.wait('it has nobody in hand', stopped_at_rest)
        os.kill(watcher, signal.SIGKILL)
        m.wait('it is missed', lambda: 'ended: the watcher-1 process died' in m.log())
        self.good_goes_on()
        self.assertNotIn('in the hands of', m.log())


if __name__ == '__main__':
    main()
