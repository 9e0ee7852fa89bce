#!/usr/bin/env python3
"""What watching costs when a mailbox is full of old mail, and when there are
many mailboxes, on a private Dovecot.

usage: mailboxes.py [--probes N] [--old N] [--many N] [--quick]

CPU is that of all our processes; Dovecot's own is not counted.
"""
import argparse
import hashlib
import os
import pwd
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'peers'))
from harness import Certificates, Dovecot, Monitor, Peers, Scratch, wait_for     # noqa: E402
from test_many import MORE, PASSWORD                                    # noqa: E402
from watching import Watching                                    # noqa: E402

ROUTE = 'there'
EMPTY, FULL = 'empty@mail.test', 'full@mail.test'
EVERY, TURNS, WARM_UP = '1s', 3, 4    # a removal takes Dovecot that second
SPREAD = 1.2                # a full mailbox may cost so much more
IDLE_KIB = 96               # with TLS, beyond the first slice


def watcher_pid(watching):
    with open('/proc/%d/task/%d/children' % (watching.process.pid, watching.process.pid)) as f:
        return int(f.read().split()[0])


def cpu_ms(pids):
    """Of all their threads, in parts of a millisecond: ticks are too coarse."""
    total = 0
    for pid in pids:
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/schedstat' % (pid, task)) as f:
                total += int(f.read().split()[0])
    return total / 1e6


def cpu_by_program(m):
    return {'all': cpu_ms([m.process.pid, *m.workers()]),
            'watchers': cpu_ms(m.workers('mailflow-watcher'))}


def resident_kib(pid):
    with open('/proc/%d/status' % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith('VmRSS'))


def fill(dovecot, user, count):
    """Old, read mails of somebody, a hundred texts among them."""
    owner = pwd.getpwnam('mail')
    base = os.path.join(dovecot.home(user), 'Maildir')
    for path in [base] + [os.path.join(base, sub) for sub in ('cur', 'new', 'tmp')]:
        os.makedirs(path, exist_ok=True)
        os.chown(path, owner.pw_uid, owner.pw_gid)

    def name(number):
        return os.path.join(base, 'cur', '%d.M%dP1.old:2,S' % (1500000000 + number, number))
    for number in range(count):
        if number >= 100:
            os.link(name(number % 100), name(number))
            continue
        with open(name(number), 'w') as f:
            f.write('From: someone%d@example.net\nTo: %s\nSubject: Mail %d\n\nHello.\n' % (
                number, user, number))
        os.chown(name(number), owner.pw_uid, owner.pw_gid)
    session = dovecot.connect(user)
    session.select('INBOX')             # Dovecot's own index is its business
    session.logout()


def mails(dovecot, user):
    return sum(len(os.listdir(os.path.join(dovecot.maildir(user), folder)))
               for folder in ('cur', 'new'))


def whole(dovecot, user):
    """One checksum of what a mailbox has in it: names, flags and texts."""
    total = hashlib.sha256()
    texts = {}                          # many names, few files
    for folder in ('cur', 'new'):
        for name in sorted(os.listdir(os.path.join(dovecot.maildir(user), folder))):
            path = os.path.join(dovecot.maildir(user), folder, name)
            inode = os.stat(path).st_ino
            if inode not in texts:
                with open(path, 'rb') as f:
                    texts[inode] = hashlib.sha256(f.read()).digest()
            total.update(('%s/%s' % (folder, name)).encode() + texts[inode])
    return total.hexdigest()


def monitor_of(scratch, peers, user):
    """A monitor whose only route leads into that mailbox, plain."""
    name = user.partition('@')[0]
    m = Monitor(scratch, name='monitor-' + name, instance=name)
    m.server('mail', peers.postfix.smtp, host='localhost')
    m.mailbox(name, peers.dovecot.imap_port, user, peers.password, host='localhost',
              poll='60s', timeout='60s', connect_timeout='60s')
    m.route(ROUTE, 'mail', name, to=user, every=EVERY, late_after='5m', lost_after='10m')
    m.start()
    m.ctl('pause', ROUTE)
    return m


def play(m, rounds):
    """Lets it run for so many probes; what its programs spent on each, ms."""
    m.ctl('resume', ROUTE)
    have = len(m.finished())
    m.wait_delivered(count=have + WARM_UP, within=120)
    began, count = cpu_by_program(m), len(m.finished())
    m.wait_delivered(count=count + rounds, within=120 + rounds)
    ended, measured = cpu_by_program(m), len(m.finished()) - count
    m.ctl('pause', ROUTE)
    return {name: (ended[name] - began[name]) / measured for name in ended}


def measure_old(scratch, old, rounds):
    """Two monitors take turns, so that what else this machine does falls on
    both.  Nobody's mail may be touched."""
    peers = Peers(scratch, users=[EMPTY, FULL, 'probe@mail.test'], fresh_smtpd=False)
    fill(peers.dovecot, FULL, old)
    before = whole(peers.dovecot, FULL)
    monitors = [monitor_of(scratch, peers, user) for user in (EMPTY, FULL)]
    turns = [[play(m, rounds // TURNS) for m in monitors] for _ in range(TURNS)]
    wait_for('the probes are removed', lambda: mails(peers.dovecot, FULL) == old, within=120)
    for m in monitors:
        if m.stop() != 0:
            raise RuntimeError(m.log())
    costs = [statistics.median(turn[number]['all'] for turn in turns) for number in (0, 1)]
    watching = [statistics.median(turn[number]['watchers'] for turn in turns) for number in (0, 1)]
    times = costs[1] / costs[0]
    print('CPU per probe in an empty mailbox      %7.3f ms, the watcher %.3f' % (
        costs[0], watching[0]))
    print('CPU per probe beside %7d old mails  %7.3f ms, the watcher %.3f: %.2f times that '
          '(goal %.1f: %s)' % (old, costs[1], watching[1], times, SPREAD,
                               'met' if times <= SPREAD else 'missed'))
    print('The %d mails, names, flags and texts:  %s' % (
        old, 'as before' if whole(peers.dovecot, FULL) == before else 'CHANGED'))


def measure_many(scratch, certificates, many):
    names = ['m%d@mail.test' % number for number in range(many)]
    dovecot = Dovecot(scratch, {name: PASSWORD for name in names}, certificates.good,
                      name='many', more=MORE)
    watching = Watching(scratch.sub('watcher-many'))
    sizes = {}
    for count in (many // 2, many):
        for number in range(len(sizes) * (many // 2) + 1, count + 1):
            watching.mailbox(number, host='localhost', port=dovecot.imaps_port,
                             user=names[number - 1], secret=PASSWORD, tls='implicit',
                             ca_file=certificates.ca, insecure_auth=False,
                             timeout_ms=60000, connect_timeout_ms=60000)
        wait_for('%d are good' % count, lambda: len({
            look['id'] for look in watching.all('look', state='good')}) == count, within=120, every=0.2)
        time.sleep(3)                   # all of them idle now
        sizes[count] = resident_kib(watcher_pid(watching))
    each = (sizes[many] - sizes[many // 2]) / (many - many // 2)
    watching.stop()
    dovecot.stop()
    print('%d idle mailboxes with TLS            %7d KiB in all, %.1f KiB for one more '
          '(goal %d: %s)' % (many, sizes[many], each, IDLE_KIB,
                             'met' if each <= IDLE_KIB else 'missed'))


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument('--probes', type=int, default=90)
    parse.add_argument('--old', type=int, default=100000)
    parse.add_argument('--many', type=int, default=500)
    parse.add_argument('--quick', action='store_true', help='a tenth of everything')
    args = parse.parse_args()
    if args.quick:
        args.probes, args.old, args.many = args.probes // 10, args.old // 10, args.many // 10
    with Scratch() as scratch:
        certificates = Certificates(scratch.directory('certificates'))
        measure_old(scratch, args.old, args.probes)
        measure_many(scratch, certificates, args.many)


if __name__ == '__main__':
    main()
