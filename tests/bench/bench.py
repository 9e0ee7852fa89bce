#!/usr/bin/env python3
"""What a probe costs and how exact its latency is, beside two others, on the
same servers in the same run.

usage: bench.py [--probes N] [--quick]

CPU is user and system time of all processes of a program, send, detection and
record together; the servers' own is not counted.  The error is the distance
between the moment at which a program says that the mail was there and the
moment at which Dovecot's log says that it was stored.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, 'tests', 'peers'))
from harness import HOST, Monitor, Peers, Scratch, instant, wait_for     # noqa: E402
from installation import installation                                     # noqa: E402

ROUTES = 4
EVERY = '250ms'
WARM_UP = 10 * ROUTES
PASSWORD = Peers.password
GOALS = {'plain': 1.0, 'tls': 4.0, 'error': 15.0}       # ms
RIVAL_PACKAGES = ('monitoring-plugins-contrib', 'libmail-imapclient-perl',
                  'libnet-smtp-tls-perl', 'libnet-smtp-ssl-perl', 'libemail-simple-perl',
                  'libdate-manip-perl')


def users():
    return ['bench%d@mail.test' % number for number in range(ROUTES)] + ['probe@mail.test']


class Result:
    def __init__(self, name, probes):
        self.name, self.probes = name, probes
        self.cpu = {}               # 'plain', 'tls': ms per probe
        self.errors = []            # ms
        self.parts = []             # where the CPU went, in words

    def line(self):
        def ms(value):
            return '%9.2f ms' % value if value is not None else '           -'
        median = statistics.median(self.errors) if self.errors else None
        worst = sorted(self.errors)[int(len(self.errors) * 0.99)] if self.errors else None
        return '%-30s %6d %s %s %s %s' % (self.name, self.probes, ms(self.cpu.get('plain')),
                                          ms(self.cpu.get('tls')), ms(median), ms(worst))


TITLES = '%-30s %6s %12s %12s %12s %12s' % (
    '', 'probes', 'CPU plain', 'CPU TLS', 'error median', 'error p99')


# -- the monitor

def cpu_ms(pid, children=True):
    """Of a process, its ended threads and (children) its reaped children."""
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rpartition(')')[2].split()
    ticks = sum(map(int, fields[11:15] if children else fields[11:13]))
    return ticks * 1000.0 / os.sysconf('SC_CLK_TCK')


def cpu_by_program(monitor):
    """{program: ms}; workers that ended in between count for the monitor,
    which has reaped them."""
    return {'monitor': cpu_ms(monitor.process.pid),
            'senders': sum(map(cpu_ms, monitor.workers('mailflow-sender'))),
            'watchers': sum(map(cpu_ms, monitor.workers('mailflow-watcher')))}


def configure(scratch, peers, tls):
    m = Monitor(scratch, name='monitor-' + tls)
    ca = peers.certificates.ca
    secure = tls == 'tls'
    m.server('mail', peers.postfix.smtp, host='localhost', concurrency=4,
             **(dict(tls='starttls', ca_file=ca) if secure else {}))
    for user in users()[:ROUTES]:
        name = user.partition('@')[0]
        m.mailbox(name, peers.dovecot.imaps_port if secure else peers.dovecot.imap_port, user,
                  PASSWORD, host='localhost', poll='60s',
                  **(dict(tls='implicit', ca_file=ca, insecure_auth=False) if secure else {}))
        m.route(name, 'mail', name, to=user, every=EVERY, late_after='1m')
    return m


def measure_monitor(scratch, peers, result, tls, probes):
    m = configure(scratch, peers, tls)
    m.start()
    m.wait_delivered(count=WARM_UP, within=60)
    began, count = cpu_by_program(m), len(m.finished())
    m.wait_delivered(count=count + probes, within=60 + probes)
    ended, measured = cpu_by_program(m), len(m.finished()) - count
    done = m.finished(outcome='delivered')
    parts = {name: (ended[name] - began[name]) / measured for name in ended}
    result.cpu[tls] = sum(parts.values())
    result.parts.append('%s: %s' % (tls, ', '.join(
        '%s %.2f ms' % part for part in parts.items())))
    if m.stop() != 0:
        raise RuntimeError(m.log())
    if tls == 'plain':
        stored = {delivery.message_id: delivery.at for delivery in peers.dovecot.deliveries()}
        at = {token.group(): when for key, when in stored.items()
              for token in [re.search('|'.join(re.escape(row['probe']) for row in done), key)] if token}
        result.errors = [abs(instant(row['arrived_at']) - at[row['probe']]) * 1000
                         for row in done[-probes:] if row['probe'] in at]


# -- the others

def children_ms():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1000


def run(argv, env=None):
    """Runs it; (CPU in ms, its output, when it ended)."""
    before = children_ms()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=env, timeout=120)
    ended = time.time()
    if done.returncode not in (0, 1):
        raise RuntimeError('%s: %s%s' % (argv[0], done.stdout, done.stderr))
    return children_ms() - before, done.stdout, ended


def measure_smtp_source(peers, result):
    """Sends only; one session a mail, one at a time."""
    where = installation('postfix')
    spent, _, _ = run([where.path('usr/sbin/smtp-source'), '-m', str(result.probes), '-s', '1',
                       '-f', 'probe@mail.test', '-t', users()[0],
                       '%s:%d' % (HOST, peers.postfix.smtp)], where.environment())
    result.cpu['plain'] = spent / result.probes


def rival_root():
    """Where the Perl plugins lie, unpacked, not installed."""
    where = os.path.join(TOP, '.work', 'rivals')
    os.makedirs(where, exist_ok=True)
    subprocess.run(['sh', os.path.join(TOP, 'tests/setup/unpack.sh'), where, *RIVAL_PACKAGES],
                   check=True, stdin=subprocess.DEVNULL)
    return os.path.join(where, 'root')


def perl_environment(root, ca):
    found = [os.path.join(root, 'usr/share/perl5')]
    for folder, names, _ in os.walk(os.path.join(root, 'usr/lib')):
        if os.path.basename(folder) == 'perl5':
            found += [os.path.join(folder, name) for name in names]
    return dict(os.environ, PERL5LIB=':'.join(found), SSL_CERT_FILE=ca, LC_ALL='C')


def measure_check_email_delivery(peers, result, tls):
    """Its two plugins, at the shortest waits that it allows."""
    root = rival_root()
    plugins = os.path.join(root, 'usr/lib/nagios/plugins')
    env = perl_environment(root, peers.certificates.ca)
    user, spent = users()[1], 0.0
    secure = tls == 'tls'
    # Over TLS its sender needs a login.
    port = peers.postfix.submission if secure else peers.postfix.smtp
    send = [plugins + '/check_smtp_send', '-H', 'localhost', '-p', str(port), '--mailto', user,
            '--mailfrom', 'probe@mail.test', '--header', "'Subject: %TOKEN1%'"]
    look = [plugins + '/check_imap_receive', '-H', 'localhost', '-p',
            str(peers.dovecot.imaps_port if secure else peers.dovecot.imap_port), '-U', user,
            '-P', "'%s'" % PASSWORD, '-s', 'SUBJECT', '-s', '%TOKEN1%',
            '--imap-check-interval', '1', '--imap-retries', '10']
    if secure:
        send += ['--tls', '-U', 'probe@mail.test', '-P', "'%s'" % PASSWORD]
        look += ['--ssl']
    for _ in range(result.probes):
        known = len(peers.dovecot.deliveries(user))
        cost, out, ended = run([plugins + '/check_email_delivery', '--libexec', plugins,
                                '--wait', '1', '-p', ' '.join(send), '-p', ' '.join(look)], env)
        if 'OK' not in out:
            raise RuntimeError('check_email_delivery: ' + out)
        spent += cost
        stored = wait_for('it was stored', lambda: peers.dovecot.deliveries(user)[known:])[-1]
        result.errors.append(abs(ended - stored.at) * 1000)
    result.cpu[tls] = spent / result.probes


def attempt(what, function, *args):
    """A rival that cannot run here leaves its cell empty and says why."""
    try:
        function(*args)
    except (OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as trouble:
        print('%s: %s' % (what, str(trouble).strip().splitlines()[-1:]), file=sys.stderr)


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument('--probes', type=int, default=400)
    parse.add_argument('--quick', action='store_true', help='the monitor alone')
    args = parse.parse_args()
    ours = Result('mailflowd', args.probes)
    results = [ours]
    with Scratch() as scratch:
        peers = Peers(scratch, users=users(), fresh_smtpd=False)
        for tls in ('plain', 'tls'):
            measure_monitor(scratch, peers, ours, tls, args.probes)
        if not args.quick:
            source = Result('smtp-source (sends only)', args.probes)
            perl = Result('check_email_delivery', 5)
            attempt(source.name, measure_smtp_source, peers, source)
            for tls in ('plain', 'tls'):
                attempt('%s (%s)' % (perl.name, tls), measure_check_email_delivery, peers, perl, tls)
            results += [source, perl]
    print(TITLES)
    for result in results:
        print(result.line())
    print('%-30s %6s %9.2f ms %9.2f ms %9.2f ms' % (
        'goal for mailflowd', '', GOALS['plain'], GOALS['tls'], GOALS['error']))
    for part in ours.parts:
        print('  mailflowd, ' + part)
    met = (ours.cpu['plain'] <= GOALS['plain'] and ours.cpu['tls'] <= GOALS['tls']
           and statistics.median(ours.errors) <= GOALS['error'])
    print('goals met' if met else 'goals not all met')     # a figure, not a failure
    return 0


if __name__ == '__main__':
    sys.exit(main())
