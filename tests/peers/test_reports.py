#!/usr/bin/env python3
"""Every kind of delivery report, filled in with the token of a real probe and
delivered to a real mailbox: what becomes of the probe, through the daemon.

A scripted server takes one probe a case and loses it; the report of that case
then comes back.  All cases run at once.
"""
import csv
import glob
import os
import re
import smtplib
import sqlite3

from harness import TOP, Case, main
from scripted import Smtp
import smtp_script

FOLDER = os.path.join(TOP, 'tests', 'kit', 'dsn')
NEWS = {'lost': 'lost', 'delayed': 'delayed', 'delivered': 'noted'}
REPORTS = ('dsn', 'text-bounce')


def cases():
    """{id: row of expected.tsv}, those that have a template."""
    with open(os.path.join(FOLDER, 'expected.tsv'), encoding='utf-8') as f:
        return {row['id']: row for row in csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE)}


def template(name):
    path, = glob.glob(os.path.join(FOLDER, name + '-*.tpl'))
    with open(path, 'rb') as f:
        return f.read()


class Reports(Case):
    def setUp(self):
        super().setUp()
        self.cases = cases()
        self.sent = 0
        self.server = Smtp().start()
        self.scratch.on_close(self.server.stop)
        m = self.monitor
        m.server('loses', self.server.port, system='loses', concurrency=8)
        self.mailbox()
        self.mailbox('return', 'probe@home.test')
        for name in self.cases:
            m.route(name, 'loses', 'canary', **{
                'from': 'probe@home.test', 'to': '%s@mail.test' % name.lower(),
                'bounces': 'return', 'every': '1h', 'late_after': '1h', 'lost_after': '2h'})

    def report(self, forge=lambda mail: mail):
        """Sends each probe's report to where it was sent from."""
        with smtplib.LMTP(self.dovecot.lmtp) as session:
            for envelope, data in self.server.messages:
                name = envelope['rcpt'][0].split('@')[0].upper()
                mail = forge(smtp_script.fill(template(name), envelope, data))
                session.sendmail('', ['probe@home.test'], mail)
                self.sent += 1

    def stored(self):
        """{route: (news, class)} of the reports that the monitor took in."""
        with sqlite3.connect('file:%s/mailflow.db?mode=ro' % self.monitor.state, uri=True) as db:
            return {route: tuple(rest) for route, *rest in db.execute(
                'SELECT route, news, report.class FROM report JOIN probe USING (token)')}

    def read_to(self):
        with sqlite3.connect('file:%s/mailflow.db?mode=ro' % self.monitor.state, uri=True) as db:
            found = db.execute("SELECT uid FROM mark WHERE mailbox = 'return'").fetchone()
        return found[0] if found else 0

    def expected_news(self, case):
        """What the monitor is to be told, of several answers that are right."""
        if case['kind'] not in REPORTS:
            return (None,)
        return tuple(None if word == 'unmatched' else NEWS.get(word, 'noted')
                     for word in case['outcome_for_probe'].split('-or-'))

    def play(self, **more):
        m = self.monitor
        m.start()
        m.wait('all probes were taken', lambda: len(m.attempts()) == len(self.cases))
        self.report(**more)
        m.wait('all reports were read', lambda: self.read_to() == self.sent)
        self.assertEqual(m.stop(), 0)

    def test_a_report_with_a_forged_token_moves_nothing(self):
        self.play(forge=lambda mail: re.sub(
            rb'(mf1[a-z2-7]{32})([a-z2-7])', lambda found: found.group(1) + (
                b'b' if found.group(2) == b'a' else b'a'), mail))
        self.assertEqual(self.stored(), {})
        self.assertEqual(self.monitor.finished(), [])

    def test_each_report_does_to_its_probe_what_it_says(self):
        m = self.monitor
        self.play()
        stored = self.stored()
        ended = {row['route']: row for row in m.finished()}
        for name, case in self.cases.items():
            with self.subTest(case=case['file_stem']):
                news, klass = stored.get(name, (None, ''))
                self.assertIn(news, self.expected_news(case))
                if news in ('lost', 'delayed'):
                    self.assertEqual(klass, case['class'])
                self.assertEqual(name in ended, news == 'lost')
                if news == 'lost':
                    self.assertEqual(ended[name]['outcome'], 'bounced')
                    self.assertEqual(ended[name]['class'],
                                     {'other': 'undelivered'}.get(klass, klass))
        self.assertGreater(len(ended), 20)


if __name__ == '__main__':
    main()
