#!/usr/bin/env python3
"""What watching costs when a mailbox is full of old mail, and when there are
many mailboxes: one mailflow-watcher on a private Dovecot.

usage: mailboxes.py [--probes N] [--old N] [--many N] [--quick]

CPU is that of the watcher, all threads, for a probe that is expected and seen;
Dovecot's own is not counted.  The removal comes afterwards: Dovecot takes a
second for each in so large a Maildir and leaves the caches cold.
"""
import argparse
import os
import pwd
import smtplib
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'peers'))
from harness import Certificates, Dovecot, Scratch, wait_for     # noqa: E402
from test_many import MORE, PASSWORD                                    # noqa: E402
from watching import Watching, probe                                    # noqa: E402

SENDER = 'probe@example.org'
EMPTY, FULL = 'empty@mail.test', 'full@mail.test'
SPREAD = 1.2                # a full mailbox may cost so much more
IDLE_KIB = 96               # with TLS, beyond the first slice


def process_cpu_ms(pid):
    """Of all threads, in parts of a millisecond."""
    total = 0
    for task in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/schedstat' % (pid, task)) as f:
            total += int(f.read().split()[0])
    return total / 1e6


def watcher_pid(watching):
    with open('/proc/%d/task/%d/children' % (watching.process.pid, watching.process.pid)) as f:
        return int(f.read().split()[0])


def resident_kib(pid):
    with open('/proc/%d/status' % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith('VmRSS'))


def fill(dovecot, user, count):
    """Old, read mails of somebody, a hundred texts among them."""
    owner = pwd.getpwnam('mail')
    dovecot.connect(user).logout()
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


def play(watching, dovecot, user, number, rounds):
    """Probes one after the other; the watcher's ms for each."""
    pid, seen = watcher_pid(watching), []
    before = process_cpu_ms(pid)
    with smtplib.LMTP(dovecot.lmtp) as lmtp:
        for _ in range(rounds):
            token = watching.token(number)
            lmtp.sendmail(SENDER, [user], probe(token))
            watching.say('expect', number, token)
            seen.append(watching.arrival(token))
            time.sleep(0.1)
    cost = (process_cpu_ms(pid) - before) / rounds
    for found in seen:
        watching.say('clean', number, found['folder'], found['uidvalidity'], found['uid'],
                     found['token'])
    wait_for('they are removed', lambda: all(watching.count('cleaned', token=found['token'])
                                             for found in seen), within=60)
    return cost


def measure_old(scratch, certificates, old, rounds):
    dovecot = Dovecot(scratch, {EMPTY: PASSWORD, FULL: PASSWORD}, certificates.good, name='old')
    fill(dovecot, FULL, old)
    costs = {}
    watching = Watching(scratch.sub('watcher-old'))
    for number, user in enumerate((EMPTY, FULL), 1):
        watching.mailbox(number, port=dovecot.imap_port, user=user, secret=PASSWORD,
                         timeout_ms=60000, connect_timeout_ms=60000)
        watching.good(number, within=60)
    # In turn, so that what else this machine does falls on both.
    turns = [[play(watching, dovecot, user, number, rounds // 5)
              for number, user in enumerate((EMPTY, FULL), 1)] for _ in range(5)]
    watching.stop()
    dovecot.stop()
    costs = [statistics.median(turn[number] for turn in turns) for number in (0, 1)]
    print('CPU per probe in an empty mailbox      %7.3f ms' % costs[0])
    times = costs[1] / costs[0]
    print('CPU per probe beside %7d old mails  %7.3f ms, %.2f times that (goal %.1f: %s)' % (
        old, costs[1], times, SPREAD, 'met' if times <= SPREAD else 'missed'))


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
    parse.add_argument('--probes', type=int, default=100)
    parse.add_argument('--old', type=int, default=100000)
    parse.add_argument('--many', type=int, default=500)
    parse.add_argument('--quick', action='store_true', help='a tenth of everything')
    args = parse.parse_args()
    if args.quick:
        args.probes, args.old, args.many = args.probes // 10, args.old // 10, args.many // 10
    with Scratch() as scratch:
        certificates = Certificates(scratch.directory('certificates'))
        measure_old(scratch, certificates, args.old, args.probes)
        measure_many(scratch, certificates, args.many)


if __name__ == '__main__':
    main()
