"""A test with servers and a monitor of its own."""
import os
import shutil
import unittest

from monitor import Monitor
from peers import Peers
from scratch import Scratch


class Case(unittest.TestCase):
    """self.scratch, self.peers and self.monitor, new for each test; a test
    that fails leaves its directory in the folder that MAILFLOW_FAILED names."""

    peers_options = {}

    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self._close)
        self.peers = Peers(self.scratch, **self.peers_options)
        self.dovecot, self.postfix = self.peers.dovecot, self.peers.postfix
        self.monitor = Monitor(self.scratch)

    def _close(self):
        try:
            self.scratch.stop_all()
        except Exception:
            self._keep()
            self.scratch.close()
            raise
        if not self._outcome.success:
            self._keep()
        self.scratch.close()

    def _keep(self):
        where = os.environ.get('MAILFLOW_FAILED')
        if where:
            shutil.copytree(self.scratch.path, os.path.join(where, self.id()),
                            symlinks=True, dirs_exist_ok=True,
                            ignore=lambda folder, names: {name for name in names if not (
                                os.path.isfile(os.path.join(folder, name))
                                or os.path.isdir(os.path.join(folder, name)))})

    # -- the usual configuration, piece by piece

    def mailbox(self, title='canary', user='canary@mail.test', **settings):
        self.monitor.mailbox(title, self.dovecot.imap_port, user,
                             settings.pop('password', self.peers.password), **settings)

    def usual(self, port=None, alerts=True, **route):
        """One server, one mailbox, one route, alerts by the spare port."""
        m = self.monitor
        m.server('mail', port or self.postfix.smtp, connect_timeout='5s', timeout='10s')
        m.server('alert-relay', self.postfix.spare, system='alert-relay')
        self.mailbox()
        if alerts:
            m.alerts(to=['admin@mail.test'], servers=['alert-relay'], allow_probed=True)
            route.setdefault('alerts', 'default')
        m.route('there', 'mail', 'canary', **route)
        return m
