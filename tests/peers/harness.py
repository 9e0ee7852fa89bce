"""What a test imports: one door to the parts beside it."""
from case import Case
from certificates import Certificates
from dovecot import Dovecot, logged_at
from installation import TOP
from listeners import NXDOMAIN, SERVFAIL, Accepting, BlackHole, Names, Silent
from monitor import BUILD, Monitor, alive, instant, notices, thread_of
from peers import Peers, USERS
from ports import HOST, free_port, held, listening
from postfix import Postfix
from running import main
from scratch import Failure, Scratch, command_of, descendants, wait_for

__all__ = [name for name in dir() if not name.startswith('_')]
