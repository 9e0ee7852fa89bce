"""Scripted servers for the monitor: what the peer does is written down, so
what the monitor does can be counted.  No real server is started.
"""
import os
import re
import sys
import threading
import time
import unittest

from installation import TOP
from monitor import Monitor
from ports import HOST
from scratch import Scratch

sys.path.insert(0, os.path.join(TOP, 'tests', 'kit'))
import imap_script      # noqa: E402
import smtp_script      # noqa: E402


SEEN_LATE = 0.3         # seconds by which a busy machine shows us a beginning
ENDS_LATE = 1.0         # and an end


class Session:
    """One connection: when it began and ended (time.monotonic()), who came."""

    def __init__(self, peer):
        self.began, self.ended, self.peer = time.monotonic(), None, peer


class Smtp(smtp_script.Server):
    """smtp_script.Server that remembers its connections; .script may be set
    to another one at any time."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.sessions = []

    def one(self, connection, peer, number):
        session = Session(peer[0])
        with self.lock:
            self.sessions.append(session)
        try:
            super().one(connection, peer, number)
        finally:
            session.ended = time.monotonic()

    def gaps(self):
        """Seconds between the beginnings of its sessions."""
        began = [session.began for session in self.sessions]
        return [after - before for before, after in zip(began, began[1:])]

    def at_once(self, since=0.0):
        """The most sessions at a time, of those that began after `since`; let
        them last longer than ENDS_LATE."""
        edges = []
        for session in self.sessions:
            if session.began >= since:
                edges.append((session.began, 1))
                if session.ended:
                    edges.append((max(session.began, session.ended - ENDS_LATE), -1))
        most = now = 0
        for _, step in sorted(edges):
            now += step
            most = max(most, now)
        return most

    def commands(self, verb=''):
        """What the clients said, of all sessions: the lines that begin so."""
        said = (re.match(r'\s*[\d.]+ #\d+ C: (.*)', line) for line in list(self.transcript))
        return [found.group(1) for found in said
                if found and found.group(1).upper().startswith(verb.upper())]


class Scripted(unittest.TestCase):
    """A monitor, a mailbox "box" that shows what the servers store, and
    servers by name: self.smtp(name, script), self.route(name, server)."""

    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self.scratch.close)
        self.store = self.scratch.directory('store')
        self.imap = imap_script.Server(store=self.store, base=self.store).start()
        self.scratch.on_close(self.imap.stop)
        self.monitor = Monitor(self.scratch)
        self.monitor.mailbox('box', self.imap.port, 'user', 'password')

    def smtp(self, name, script=None, host=HOST, port=0, **settings):
        """A scripted server and the section for it."""
        server = Smtp(host=host, port=port, script=script or {}, store=self.store, base=self.store).start()
        self.scratch.on_close(server.stop)
        self.monitor.server(name, server.port, **{
            'host': host, 'system': name, 'connect_timeout': '5s', 'timeout': '10s', **settings})
        return server

    def route(self, name, server, **settings):
        self.monitor.route(name, server, 'box', **{'to': 'box@mail.test', **settings})

    def wait_sessions(self, server, count, within=30.0):
        return self.monitor.wait('%d sessions' % count,
                                 lambda: len(server.sessions) >= count and server.sessions, within)
