#!/usr/bin/env python3
"""The watcher alone against IMAP servers that mean harm or are merely odd:
each scenario of tests/kit/hostile_imap.py and each script of tests/kit/imap.

A scenario has its own server and its own watcher; a dozen run at a time, once,
and each test then looks at what its own came to.
"""
import concurrent.futures
import glob
import json
import os
import re
import sys
import time
import unittest

from harness import TOP, Certificates, Failure, Scratch, main, wait_for
from watching import Watching, probe

KIT = os.path.join(TOP, 'tests', 'kit')
sys.path.insert(0, KIT)
import imap_script      # noqa: E402

AT_ONCE = 10
MEMORY_KIB = 120 * 1024     # resident, at the most; sanitizers included
CPU_MS = 1500
LOGINS = 6                  # in the few seconds of a scenario
NO_TOKEN = 'mf1' + 'a' * 33

# Hostile scenarios in which the watcher can look all the same.
GOOD = set('''normal greet_badcharset_quoted greet_permflags preauth bye_after_ok big_exists
    expunge_storm literal_nul cap_none login_cap_junk permflags2 permflags3 permflags4
    greet_permflags_ok badcharset2 ns_bad alert_notext alert_tagged alert_greet annot_unsol
    annot_unsol2 status_empty status_unsolicited status_none permflags_bad ext_bad flags_nested
    idate_bad list_weird list_bad1 list_bad2 list_bad3 list_bad4 list_8bit list_storm search_1e6
    search_odd envelope_bad bodystruct_bad bodystruct_empty bodystruct_nilnil idle_bad
    idle_unsol_first idle_burst idle_cont_badcharset idle_bye idle_cont_bye logout_hang logout_drip
    starttls_ok tls_normal auth_plus_loop auth_challenge_junk auth_challenge_huge'''.split())
# What the admin must be able to read, of some.
REASONS = {
    'bye_greeting': 'overloaded', 'http': 'not IMAP', 'smtp_banner': 'not IMAP',
    'never_answer': 'timed out', 'bye_on_cmd': 'shutting down', 'login_unavail': 'try later',
    'starttls_inject': 'tampering', 'literal_overflow': 'literal', 'exists_endless': 'allows',
}


class Outcome:
    """What became of one scenario."""
    failure = ''
    looks = arrivals = logins = 0


def hostile_names():
    with open(os.path.join(KIT, 'hostile_imap.py')) as f:
        return re.findall(r"\bn=='(\w+)'", f.read())


def scripts():
    return {os.path.basename(path)[:4]: path
            for path in sorted(glob.glob(os.path.join(KIT, 'imap', '*.json')))}


class Stage:
    """Runs everything once."""

    def __init__(self):
        self.scratch = Scratch()
        pair = Certificates(self.scratch.directory('certificates')).self_signed
        self.tls = self.scratch.directory('tls')
        for end, path in (('crt', pair.crt), ('key', pair.key)):
            os.symlink(path, os.path.join(self.tls, 'self.' + end))
        self.outcomes = {}

    def play(self, plays):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            todo = {name: pool.submit(self._guarded, act, *args)
                    for name, (act, *args) in plays.items()}
            self.outcomes = {name: future.result() for name, future in todo.items()}

    def _guarded(self, act, *args):
        try:
            return act(*args)
        except (Failure, OSError, ValueError) as why:
            out = Outcome()
            out.failure = str(why)
            return out

    def end(self, watching):
        out = Outcome()
        out.end = watching.stop()
        out.looks, out.arrivals = watching.looks(), watching.all('arrival')
        out.logins = watching.count('secret-ask')
        out.errors = watching.errors()
        return out

    # -- one hostile server

    def hostile(self, name):
        portfile = self.scratch.sub('port', name)
        server = self.scratch.start(
            ['/usr/bin/python3', os.path.join(KIT, 'hostile_imap.py'), name, portfile],
            'hostile-' + name, env=dict(os.environ, TLSDIR=self.tls))

        def port():
            try:
                with open(portfile) as f:
                    return int(f.read())
            except (OSError, ValueError):
                return 0
        watching = Watching(self.scratch.sub('watcher', name))
        try:
            watching.mailbox(
                port=wait_for('the server listens', port),
                tls={'starttls': 'starttls', 'tls': 'implicit'}.get(name.split('_')[0], 'none'),
                connect_timeout_ms=2000, timeout_ms=2000, poll_ms=1000, junk='auto')
            watching.wait('a first look', lambda line: line.kind == 'look')
            watching.say('expect', 1, NO_TOKEN)
            watching.say('clean', 1, 'INBOX', 77, 5, NO_TOKEN)
            time.sleep(4)
        finally:
            out = self.end(watching)
            server.kill()
        return out

    # -- one odd one

    def script(self, number, path):
        with open(path) as f:
            script = json.load(f)
        store = self.scratch.directory('store-' + number)
        server = imap_script.Server(script=script, store=store, base=os.path.dirname(path)).start()
        watching = Watching(self.scratch.sub('watcher', number))
        try:
            tokens = [watching.token() for _ in range(3)]
            seen = []
            self.put(store, probe(tokens[0]))
            watching.mailbox(port=server.port, connect_timeout_ms=2000, timeout_ms=3000,
                             poll_ms=6000, junk='none')
            self.see(watching, tokens[0], seen)
            time.sleep(4)                   # in which the script's oddity happens
            self.put(store, probe(tokens[1]))
            watching.say('expect', 1, tokens[1])
            self.see(watching, tokens[1], seen)
            time.sleep(2.5)
            self.put(store, probe(tokens[2]))
            self.see(watching, tokens[2], seen)
            time.sleep(1.5)
        finally:
            out = self.end(watching)
            server.stop()
        out.seen, out.transcript, out.sessions = seen, server.transcript, server.n
        out.left = [name for name in os.listdir(store) if name.endswith('.eml')]
        return out

    @staticmethod
    def put(store, text):
        hidden = os.path.join(store, '.%d' % time.monotonic_ns())
        with open(hidden, 'w', newline='') as f:
            f.write(text)
        os.rename(hidden, os.path.join(store, '%d.eml' % time.time_ns()))

    @staticmethod
    def see(watching, token, seen):
        try:
            found = watching.arrival(token, within=20)
        except Failure:
            return
        seen.append(found)
        watching.say('clean', 1, found['folder'], found['uidvalidity'], found['uid'], token)


class Played(unittest.TestCase):
    stage = None

    @classmethod
    def setUpClass(cls):
        cls.stage = Stage()
        cls.stage.play(cls.plays(cls.stage))

    @classmethod
    def tearDownClass(cls):
        cls.stage.scratch.stop_all()
        cls.stage.scratch.close()

    def outcome(self, name):
        """Of a scenario in which the watcher itself stayed well."""
        out = self.stage.outcomes[name]
        self.assertEqual(out.failure, '')
        self.assertEqual((out.end.get('status'), out.end.get('signal')), ('0', '0'), out.errors)
        self.assertNotRegex(out.errors, 'Sanitizer|runtime error|panic')
        self.assertLess(int(out.end['max_rss_kib']), MEMORY_KIB)
        self.assertLess(int(out.end['cpu_ms']), CPU_MS)
        self.assertLessEqual(out.logins, LOGINS)
        return out


class Hostile(Played):
    @staticmethod
    def plays(stage):
        return {name: (stage.hostile, name) for name in hostile_names()}

    def check(self, name):
        out = self.outcome(name)
        states = {look['state'] for look in out.looks}
        reasons = ' | '.join(look['reason'] for look in out.looks)
        self.assertEqual('good' in states, name in GOOD, reasons)
        self.assertEqual(out.arrivals, [])
        for look in out.looks:
            if look['state'] == 'blind':
                self.assertNotEqual(look['class'], '')
                self.assertGreater(int(look['retry_ms']), 0)
        self.assertRegex(reasons, REASONS.get(name, '.*'))


class Odd(Played):
    """tests/kit/bugs.md says what each of them is."""

    @staticmethod
    def plays(stage):
        return {number: (stage.script, number, path) for number, path in scripts().items()}

    # What stays in the mailbox: unreadable, or not ours to remove any more.
    kept = {'B045': [3], 'B052': [0, 1], 'B057': [3]}
    unseen = {'B045': 3}
    sessions = {'B009': 3, 'B016': 3, 'B020': 2, 'B008': 3, 'B021': 3, 'B026': 4, 'B028': 2,
                'B045': 9, 'B052': 2}

    def check(self, number):
        out = self.outcome(number)
        said = '\n'.join(out.transcript)
        self.assertEqual(len(out.seen), 3 - self.unseen.get(number, 0), said)
        self.assertIn(len(out.left), self.kept.get(number, [0]), said)
        self.assertLessEqual(out.sessions, self.sessions.get(number, 1), said)
        self.assertNotRegex(said, r'C: \S+ UID FETCH (0|1:0)\b')
        blind = [look for look in out.looks if look['state'] == 'blind']
        self.assertEqual(bool(blind), number in ('B026', 'B028', 'B045'), said)
        extra = getattr(self, 'more_' + number, None)
        if extra:
            extra(out, said)

    def more_B010(self, out, said):
        self.assertLessEqual(said.count(' IDLE'), 12)

    def more_B011(self, out, said):
        # Each session's IDLE is ended once.
        self.assertLessEqual(said.count('C: DONE'), len(re.findall(r'C: \S+ IDLE', said)))

    more_B013 = more_B011

    def more_B026(self, out, said):
        self.assertTrue(any('not connected' in look['reason'] for look in out.looks))

    def more_B057(self, out, said):
        warned = [look['warning'] for look in out.looks if look['warning']]
        self.assertEqual(len(warned), 1)
        self.assertIn('read-only', warned[0])

    def more_B064(self, out, said):
        self.assertEqual({found['internal_ms'] for found in out.seen}, {'0'})

    def more_B065(self, out, said):
        self.assertEqual({found['internal_ms'] for found in out.seen}, {'1772943407000'})


def _tests(case, names, sentence):
    for name in names:
        def test(self, name=name):
            self.check(name)
        setattr(case, 'test_' + sentence % name, test)


_tests(Hostile, hostile_names(), 'the_watcher_outlives_%s')
_tests(Odd, scripts(), 'the_watcher_copes_with_%s')


if __name__ == '__main__':
    main()
