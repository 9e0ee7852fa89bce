#!/usr/bin/env python3
"""What the programs are made of: the monitor speaks no SMTP, IMAP, DNS or TLS."""
import subprocess
import unittest

from harness import BUILD, main


def needed(program):
    """The libraries that a program names."""
    out = subprocess.run(['readelf', '-d', '%s/%s' % (BUILD, program)], check=True,
                         capture_output=True, text=True).stdout
    return [line.split('[')[1].split(']')[0] for line in out.splitlines() if '(NEEDED)' in line]


class Linkage(unittest.TestCase):
    def has(self, program, library):
        return any(name.startswith(library) for name in needed(program))

    def test_the_monitor_links_no_network_library(self):
        for library in ('libesmtp', 'libetpan', 'libssl', 'libcares', 'libgnutls'):
            self.assertFalse(self.has('mailflowd', library), library)

    def test_only_the_sender_links_libesmtp_and_only_the_watcher_libetpan(self):
        for program in ('mailflowd', 'mailflowctl', 'mailflow-sender', 'mailflow-watcher'):
            self.assertEqual(self.has(program, 'libesmtp'), program == 'mailflow-sender', program)
            self.assertEqual(self.has(program, 'libetpan'), program == 'mailflow-watcher', program)

    def test_the_sender_shows_its_connect_to_libesmtp(self):
        out = subprocess.run(['readelf', '--dyn-syms', '-W', BUILD + '/mailflow-sender'],
                             check=True, capture_output=True, text=True).stdout
        ours = [line.split() for line in out.splitlines() if line.split()[-1:] == ['connect']]
        self.assertTrue(any('UND' not in line and 'DEFAULT' in line for line in ours), ours)


if __name__ == '__main__':
    main()
