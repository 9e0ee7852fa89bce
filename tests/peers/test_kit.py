#!/usr/bin/env python3
"""The scripted servers' own tests."""
import os
import sys

from harness import TOP, main

sys.path.insert(0, os.path.join(TOP, 'tests', 'kit'))
from selftest import *      # noqa: E402,F401,F403: its test classes become ours

if __name__ == '__main__':
    main()
