#!/usr/bin/env python3
"""Runs the test programs of this folder, a few at a time, and counts.

usage: run.py [--logs DIRECTORY] [--jobs N] [NAME...]

Each program's output goes to DIRECTORY/NAME.log; one line a program is
printed, and at the end "PASSED FAILED SKIPPED" as three numbers go to the
file DIRECTORY/counts.  What a failed test's programs left is in
DIRECTORY/failed.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WITHIN = 900        # seconds for one program; the slowest takes some 120
SHOWN = 24          # lines of each failed test
GRACE = 20          # to stop its servers after that


def run(name, logs):
    """(passed, failed, skipped, seconds)"""
    counts, log = (os.path.join(logs, name + end) for end in ('.counts', '.log'))
    if os.path.exists(counts):
        os.remove(counts)
    began = time.monotonic()
    with open(log, 'w') as out:
        program = subprocess.Popen(
            [sys.executable, os.path.join(HERE, name + '.py')], stdin=subprocess.DEVNULL,
            stdout=out, stderr=out, env=dict(os.environ, MAILFLOW_COUNTS=counts,
                                             MAILFLOW_FAILED=os.path.join(logs, 'failed')))
        try:
            program.wait(WITHIN)
        except subprocess.TimeoutExpired:
            out.write('\nnot ended within %d s\n' % WITHIN)
            program.send_signal(signal.SIGTERM)
            try:
                program.wait(GRACE)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
    passed, failed, skipped = counted(counts, log)
    if program.returncode != 0 and not failed:
        failed = 1
    return passed, failed, skipped, time.monotonic() - began


def counted(counts, log):
    """What the program left in its counts, or said in its last line; a
    program that did neither has failed."""
    try:
        with open(counts) as f:
            return tuple(map(int, f.read().split()))
    except (OSError, ValueError):
        pass
    with open(log, errors='replace') as f:
        said = re.findall(r'^(\d+) passed, (\d+) failed$', f.read(), re.M)
    return (*map(int, said[-1]), 0) if said else (0, 1, 0)


def complaints(log):
    """What the log says of each failed test: its name and the end of what was
    wrong with it, short enough for a CI page."""
    with open(log, errors='replace') as f:
        text = f.read()
    found = re.findall(r'^=+\n((?:FAIL|ERROR): .*?)\n-+\n(.*?)(?=\n=+\n|\n-+\nRan |\Z)', text,
                       re.M | re.S)
    for name, what in found or [(os.path.basename(log), text)]:
        yield name
        yield from ('  ' + line[:160] for line in what.splitlines()[-SHOWN:])


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument('--logs', default='.')
    parse.add_argument('--jobs', type=int, default=3)
    parse.add_argument('names', nargs='*')
    args = parse.parse_args()
    os.makedirs(args.logs, exist_ok=True)
    shutil.rmtree(os.path.join(args.logs, 'failed'), ignore_errors=True)
    names = [os.path.basename(name).removesuffix('.py') for name in args.names]
    names = names or sorted(os.path.basename(path)[:-3]
                            for path in glob.glob(os.path.join(HERE, 'test_*.py')))
    totals, bad = [0, 0, 0], []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        todo = {pool.submit(run, name, args.logs): name for name in names}
        for done in concurrent.futures.as_completed(todo):
            passed, failed, skipped, seconds = done.result()
            totals = [a + b for a, b in zip(totals, (passed, failed, skipped))]
            word = '%d FAILED, see %s.log' % (
                failed, os.path.join(args.logs, todo[done])) if failed else 'ok'
            print('  %-28s %3d passed  %5.1f s  %s' % (todo[done], passed, seconds, word),
                  flush=True)
            bad += [todo[done]] if failed else []
    for name in bad:
        print('\n'.join(complaints(os.path.join(args.logs, name + '.log'))))
    with open(os.path.join(args.logs, 'counts'), 'w') as f:
        f.write('%d %d %d\n' % tuple(totals))
    return 1 if totals[1] or not totals[0] else 0


if __name__ == '__main__':
    sys.exit(main())
