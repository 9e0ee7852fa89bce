"""Ports on 127.0.0.1 that nobody else uses.

Test programs run side by side, so a port that is free now must stay ours
until the server that gets it has bound it.  An abstract Unix socket per port,
held until we exit, tells the others; the kernel removes it with us.  Ports
lie below the range from which outgoing connections take theirs.
"""
import random
import socket

FIRST, LAST = 12000, 29999
HOST = '127.0.0.1'

_held = {}
_dice = random.SystemRandom()


def listening(port, host=HOST):
    """Whether something accepts connections there."""
    with socket.socket() as s:
        s.settimeout(1.0)
        return s.connect_ex((host, port)) == 0


def _claim(port):
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        lock.bind('\0mailflow-test-port-%d' % port)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((HOST, port))
    except OSError:
        lock.close()
        return False
    _held[port] = lock
    return True


def free_port():
    for _ in range(1000):
        port = _dice.randint(FIRST, LAST)
        if port not in _held and _claim(port):
            return port
    raise OSError('no free port between %d and %d' % (FIRST, LAST))


def held():
    """Every port handed out by this process."""
    return sorted(_held)
