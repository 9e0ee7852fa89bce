#!/usr/bin/env python3
"""The demonstration that demo.sh shows: an hour of normal mail in half a
minute, then a mail system that is full and recovers.

usage: demo.py DIRECTORY      what it leaves behind goes there
"""
import os
import shutil
import sys
import time

from certificates import Certificates
from dovecot import Dovecot
from monitor import Monitor, notices, thread_of
from ports import held, listening
from postfix import Postfix
from scratch import Failure, Scratch

PASSWORD = 'demonstration'
USERS = ('canary@mail.test', 'probe@mail.test', 'admin@admin.test')
PROBES = 20
KINDS = ('failing', 'accepting again', 'delivered again')


def heading(text):
    print('\n\033[1m%s\033[0m' % text if sys.stdout.isatty() else '\n== %s' % text, flush=True)


def say(text):
    print(text, flush=True)


def short(column, value):
    """A probe's token as the daemon's log shortens it."""
    return value[7:15] if column == 'probe' else value


def table(rows, columns):
    """Some columns of some rows, aligned."""
    cells = [list(columns)] + [[short(column, row[column]) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        say('  ' + '  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


class Demonstration:
    def __init__(self, scratch):
        self.scratch = scratch
        certificates = Certificates(scratch.directory('certificates'))
        self.dovecot = Dovecot(scratch, dict.fromkeys(USERS, PASSWORD), certificates.good)
        self.mail = Postfix(scratch, certificates.good, self.dovecot)
        self.alert_relay = Postfix(scratch, certificates.good, self.dovecot,
                                   name='alert-relay', domains=('admin.test',))
        self.monitor = self.configure(certificates.ca)

    def configure(self, ca):
        m = Monitor(self.scratch, instance='demo')
        password = m.secret(PASSWORD)
        m.server('mail', self.mail.submission, host='localhost', tls='starttls', ca_file=ca,
                 user='probe@mail.test', password_file=password)
        m.server('mail-in', self.mail.smtp, host='localhost', tls='opportunistic', ca_file=ca)
        m.server('alert-relay', self.alert_relay.smtp)
        m.mailbox('canary', self.dovecot.imaps_port, 'canary@mail.test', PASSWORD,
                  host='localhost', tls='implicit', ca_file=ca)
        m.alerts(**{'from': 'mailflowd@admin.test'}, to=['admin@admin.test'],
                 servers=['alert-relay'], allow_probed=False, settle='2s')
        for route, server in (('submission', 'mail'), ('incoming', 'mail-in')):
            m.route(route, server, 'canary', alerts='default', every='2s',
                    retry=['1s', '2s'], late_after='30s', lost_after='2m')
        return m

    def normal(self):
        heading('1. Normal mail: an hour in half a minute')
        say('Two routes send a probe every 2 s (in the field: every 5 min) to Postfix,\n'
            'one by submission with STARTTLS and a login, one as another mail server\n'
            'would; each is seen to arrive in a Dovecot mailbox over IMAPS.')
        self.monitor.start()
        self.monitor.wait_delivered(count=PROBES, within=60)
        rows = self.monitor.finished(outcome='delivered')
        say('%d probes delivered.  The last ones in %s:' % (
            len(rows), os.path.basename(self.latency_file())))
        table(rows[-6:], ('probe', 'route', 'accepted_at', 'outcome',
                          'accept_ms', 'transit_ms', 'total_ms'))

    def latency_file(self):
        return sorted(os.listdir(self.monitor.csv))[-1]

    def refusals(self):
        return [row for row in self.monitor.attempts(code='452', enhanced='4.3.1')
                if row['class'] == 'system-full']

    def alerts(self):
        return notices(self.dovecot, 'admin@admin.test')

    def full(self):
        heading('2. The mail system is full')
        self.mail.set_full(True)
        say('Postfix now finds too little room in its queue and answers every mail with\n'
            '452 4.3.1.  The monitor keeps its probes and retries one of them, as a mail\n'
            'server would, and tells the admin by another relay.')
        self.monitor.wait('the admin was told', lambda: len(self.alerts()) >= 1, within=30)
        self.monitor.wait('the kept probe was retried', lambda: any(
            int(row['try']) >= 3 for row in self.refusals()), within=30)
        say('The sessions, in attempts-*.csv:')
        table(self.refusals()[:6], ('probe', 'try', 'route', 'stage', 'class', 'code',
                                    'enhanced', 'reply'))
        say('mailflowctl episodes:')
        for line in self.monitor.ctl('episodes').stdout.splitlines():
            say('  ' + line)

    def recovery(self):
        heading('3. There is room again')
        self.mail.set_full(False)
        began = time.monotonic()
        self.monitor.wait('three alert mails came', lambda: len(self.alerts()) >= 3, within=40)
        say('The kept probe is accepted, a second one confirms it, and the first is seen to\n'
            'arrive: %.1f s after the room was back the admin has been told of both.  The\n'
            'recovery must hold for a while (settle, here 3 s); then the episode gets its\n'
            'row in episodes.csv:' % (time.monotonic() - began))
        self.monitor.wait('the episode closed', lambda: self.monitor.rows('episodes'), within=20)
        for name, value in self.monitor.rows('episodes')[0].items():
            say('  %-18s %s' % (name, value))
        kept = [row for row in self.monitor.finished(outcome='delivered')
                if int(row['deferrals']) > 0]
        if not kept:
            raise Failure('no probe was kept through the episode and delivered')
        say('The probes that were kept through it, in the latency CSV:')
        table(kept, ('probe', 'route', 'first_attempt_at', 'arrived_at', 'outcome', 'attempts',
                     'deferrals', 'total_ms'))

    def mails(self):
        heading('4. What the admin has read')
        mails = self.alerts()
        for number, mail in enumerate(mails, 1):
            name = 'alert-%d.eml' % number
            with open(self.scratch.sub('alerts', name), 'wb') as f:
                f.write(mail.as_bytes())
            say('-' * 72)
            for header in ('Date', 'From', 'To', 'Subject', 'Message-ID', 'In-Reply-To'):
                if mail[header]:
                    say('%s: %s' % (header, mail[header]))
            text, cut, _ = mail.get_content().partition('\nThe session\n')
            say('\n' + text.rstrip())
            if cut:
                say('\n(The SMTP session follows; the whole mail is alerts/%s.)' % name)
        say('-' * 72)
        self.verify(mails)

    def verify(self, mails):
        if len(mails) != 3:
            raise Failure('%d alert mails came instead of three' % len(mails))
        if len({thread_of(mail) for mail in mails}) != 1:
            raise Failure('the alert mails are not one thread')
        for kind, mail in zip(KINDS, mails):
            if kind not in mail['Subject'].lower():
                raise Failure('expected "%s", came "%s"' % (kind, mail['Subject']))
        if len(self.monitor.rows('episodes')) != 1:
            raise Failure('not one episode: %s' % self.monitor.rows('episodes'))

    def run(self):
        self.normal()
        self.full()
        self.recovery()
        self.mails()
        status = self.monitor.stop()
        if status != 0:
            raise Failure('mailflowd ended with %d' % status)


def leave(scratch, where):
    """Copies what is worth reading out of the scratch directory."""
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(scratch.path, where, symlinks=True, ignore=_unreadable)
    if 'SUDO_UID' in os.environ:
        owner = int(os.environ['SUDO_UID']), int(os.environ.get('SUDO_GID', -1))
        for folder, names, files in os.walk(where):
            for name in names + files + ['']:
                os.chown(os.path.join(folder, name), *owner, follow_symlinks=False)


def _unreadable(folder, names):
    """Sockets, FIFOs and the servers' insides stay behind."""
    out = {'queue', 'run', 'data'}
    for name in names:
        path = os.path.join(folder, name)
        if not (os.path.isfile(path) or os.path.isdir(path)) or os.path.islink(path):
            out.add(name)
    return out


def show(where):
    with Scratch() as scratch:
        try:
            heading('Private servers: Dovecot, Postfix and a second Postfix for the alerts')
            demonstration = Demonstration(scratch)
            say('They listen on unprivileged ports of 127.0.0.1 and end with this script.')
            demonstration.run()
        finally:
            leave(scratch, where)
    left = [port for port in held() if listening(port)]
    if left:
        raise Failure('something still listens on %s' % left)


def main():
    where = sys.argv[1]
    try:
        show(where)
    except (Failure, RuntimeError, OSError) as trouble:
        say('\nThis did not work: %s\n\nAll logs are in %s' % (trouble, where))
        return 1
    heading('Everything is in %s' % where)
    say('  monitor/mailflowd.conf   the configuration\n'
        '  monitor/csv/             latency, attempts and episodes\n'
        '  alerts/                  the three alert mails\n'
        '  log/, postfix/, dovecot/ what the programs said\n'
        'Nothing is left running.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
