#!/usr/bin/env python3
"""Plays every misbehaving server of tests/kit against one mailflow-sender.

    test_hostile_smtp.py [--build DIR] [--jobs N] [--seed N] [NAME ...]

Each scenario must end in the outcome that its row names, within the deadline,
twice in a row from the same process, which must then end well and must not
have grown.  Prints a line per scenario and "N passed, N failed".
"""
import argparse
import base64
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
KIT = os.path.join(os.path.dirname(HERE), 'kit')
sys.path[:0] = [HERE, KIT]
sys.dont_write_bytecode = True

import smtp_script                      # noqa: E402
from certificates import Certificates   # noqa: E402

BASE = {'helo': 'probe.example.org', 'connect_timeout_ms': 5000, 'timeout_ms': 5000,
        'dot_timeout_ms': 5000, 'deadline_ms': 20000, 'repeat': 2, 'wait': 30000}
# Where the time is to run out: soon.
SOON = {'connect_timeout_ms': 1500, 'timeout_ms': 1500, 'dot_timeout_ms': 1500, 'deadline_ms': 6000}
PLAIN, OPPORTUNISTIC, STARTTLS, IMPLICIT = range(4)
RSS_KB = 64 * 1024
RSS_SANITIZED_KB = 512 * 1024

LOGIN = {'user': 'probe@example.org', 'secret': 'correct horse battery', 'insecure_auth': 1}
TOKEN = {'user': 'probe@example.org', 'secret': 'ya29.token', 'oauth': 1, 'insecure_auth': 1}
FULL = 'temporary system-full'

# Scenario of hostile_smtp.py, what the job asks for, and what must come of it:
# "verdict class stage", then code=, blind=, has=words of the reply.
HOSTILE = [
    ('normal', {}, 'success accepted dot'),
    ('noenh', {}, 'success accepted dot'),
    ('greet421', {}, 'temporary congestion greeting code=421'),
    ('greet421close', {}, 'temporary congestion greeting code=421'),
    ('greet452', {}, FULL + ' greeting'),
    ('greet554', {}, 'permanent policy greeting code=554'),
    ('greetmulti', {}, 'success accepted dot'),
    ('ehlo421', {}, 'temporary rate-limit ehlo code=421'),
    ('ehlo554', {}, 'success accepted dot'),
    ('mail452', {}, FULL + ' mail'),
    ('mail452plain', {}, FULL + ' mail'),
    ('mail452noenh', {}, FULL + ' mail'),
    ('rcpt452', {}, FULL + ' rcpt'),
    ('rcpt452multi', {}, FULL + ' rcpt'),
    ('rcpt452mixedenh', {}, 'temporary mailbox-full rcpt'),
    ('rcpt452mixednone', {}, FULL + ' rcpt'),
    ('data452', {}, FULL + ' data'),
    ('dot452', {}, FULL + ' dot'),
    ('dot421close', {}, 'temporary congestion dot code=421'),
    ('closedata', {}, 'uncertain uncertain dot'),
    ('closedata', {'size': 9000000}, 'temporary network dot has=while the message was sent'),
    ('closemid', {}, 'temporary network mail has=closed by the server before its reply to MAIL'),
    ('dothang', {}, 'uncertain uncertain dot has=timed out'),
    ('greethang', {}, 'temporary network greeting has=timed out'),
    ('bannerdrip', {}, 'temporary network greeting has=timed out'),
    ('mailhang', {}, 'temporary network mail has=timed out'),
    ('datastall', {}, 'uncertain uncertain dot'),
    ('datastall', {'size': 9000000}, 'temporary network dot has=does not read'),
    ('endlessbanner', {}, 'temporary other greeting has=no end'),
    ('endlessehlo', {}, 'temporary other ehlo has=no end'),
    ('endlessehloauth', {}, 'temporary other ehlo has=no end'),
    ('ehlodrip', {}, 'temporary network ehlo has=timed out'),
    ('bigline10m', {}, 'temporary other greeting has=no end'),
    ('endlessline', {}, 'temporary other greeting has=no end'),
    ('longline1100', {}, 'success accepted dot'),
    ('longsmuggle', {}, 'success accepted dot'),
    ('garbage', {}, 'temporary other greeting has=not an SMTP reply'),
    ('code999', {}, 'temporary other greeting has=999 weird'),
    ('codeneg', {}, 'temporary other greeting'),
    ('codebig', {}, 'temporary other greeting'),
    ('mail999', {}, 'temporary other mail has=999 weird'),
    ('mail250none', {}, 'success accepted dot'),
    ('mail250sp', {}, 'success accepted dot'),
    ('nuls', {}, 'success accepted dot'),
    ('nulcode', {}, 'temporary other mail'),
    ('enhonly', {}, FULL + ' rcpt'),
    ('enhbig', {}, 'temporary other rcpt code=452'),
    ('enhhuge', {}, 'temporary other rcpt code=452'),
    ('enhneg', {}, 'temporary other rcpt code=452'),
    ('enhpart', {}, 'temporary other rcpt code=452'),
    ('enhclassmismatch', {}, FULL + ' rcpt'),
    ('lfonly', {}, 'success accepted dot'),
    ('dot354loop', {}, 'uncertain uncertain dot has=354 again'),
    ('data250', {}, 'temporary other data has=250 what'),
    ('rcpt_pipeline_close', {}, 'temporary network rcpt'),
    ('chunking', {}, 'success accepted dot'),
    ('starttls', {'tls': STARTTLS}, 'success accepted dot tls=TLSv1.3 verified'),
    ('starttls', {'tls': OPPORTUNISTIC, 'ca_file': ''}, 'success accepted dot tls=unverified'),
    ('starttls', {'tls': STARTTLS, 'ca_file': ''}, 'temporary tls starttls has=not trusted'),
    ('starttls_inject', {'tls': STARTTLS}, 'temporary tls starttls has=injected'),
    ('starttls_inject', {'tls': OPPORTUNISTIC}, 'success accepted dot tls=none'),
    ('starttls_stall', {'tls': STARTTLS}, 'temporary network starttls has=TLS handshake'),
    ('starttls_garbage', {'tls': STARTTLS}, 'temporary tls starttls'),
    ('starttls_garbage', {'tls': OPPORTUNISTIC}, 'success accepted dot tls=none: '),
    ('starttls_454', {'tls': STARTTLS}, 'temporary tls starttls code=454'),
    ('starttls_454', {'tls': OPPORTUNISTIC}, 'success accepted dot tls=none'),
    ('normal', {'tls': STARTTLS}, 'temporary tls starttls has=does not offer STARTTLS'),
    ('normal', {'tls': IMPLICIT}, 'temporary tls starttls'),
    ('auth', LOGIN, 'success accepted dot'),
    ('auth', dict(LOGIN, insecure_auth=0), 'temporary auth auth blind=1 has=withheld'),
    ('auth535', LOGIN, 'temporary auth auth blind=1 code=535'),
    ('normal', LOGIN, 'temporary auth auth blind=1 has=none'),
    ('authxoauth2', TOKEN, 'success accepted dot'),
    ('authxoauth2', LOGIN, 'temporary auth auth blind=1 has=XOAUTH2'),
    ('authloop', LOGIN, 'temporary auth auth blind=1 has=without end'),
    ('authbigchal', LOGIN, 'temporary auth auth blind=1'),
    ('authtraverse', LOGIN, 'temporary auth auth blind=1'),
    ('authcram', LOGIN, 'temporary auth auth blind=1 has=CRAM-MD5'),
    ('quithang', {}, 'success accepted dot'),
    ('unsolicited421', {}, 'temporary congestion ehlo code=421'),
    ('pipecrash', {}, 'temporary other rcpt'),
    ('pipecrash2', {}, 'temporary other rcpt'),
    ('pipeclose2', {}, 'temporary congestion rcpt code=421'),
    ('pipe421', {}, 'temporary congestion rcpt code=421'),
    ('normal', {'gate': 'no'}, 'temporary other data blind=1 has=withheld'),
    ('normal', {'gate': 'none'}, 'success accepted dot'),
    ('normal', {'kind': 2}, 'success accepted ehlo'),
    ('starttls', {'kind': 2, 'tls': STARTTLS}, 'success accepted ehlo2'),
    ('normal', {'to': 'd\u00fcr@example.org'}, 'permanent other  has=SMTPUTF8'),
    ('normal', {'to': 'a@b>\nRCPT TO:<c@d'}, 'permanent other '),
]

# Scripts of tests/kit/smtp whose connections all come to the same.
SCRIPTS = {
    'B078': 'temporary congestion greeting code=421',
    'B083': 'success accepted dot',
    'B084': FULL + ' mail',
    'B091': 'success accepted dot',
    'B092': FULL + ' dot',
    'B093': FULL + ' mail has=status.example.org',
    'B094': FULL + ' mail',
    'B096': FULL + ' mail | success accepted dot',
    'B098': 'temporary other mail code=421',
    'B099': 'temporary greylisting rcpt | temporary greylisting rcpt | success accepted dot',
    'B101': 'temporary rate-limit rcpt code=421',
    'B102': 'temporary no-such-user rcpt code=450',
    'B104': 'temporary other rcpt code=452',
    'B105': FULL + ' mail has=Insufficient / system storage / try later',
    'B108': 'temporary network greeting has=closed by the server before its greeting',
    'B109': 'temporary other greeting has=HTTP/1.1 400 Bad Request',
    'B110': 'success accepted dot',
    'B113': 'temporary congestion dot code=425',
    'B134': 'permanent policy rcpt has=he said "no, never"; then',
    'B139': FULL + ' mail | success accepted dot',
    'B140': ' | '.join([FULL + ' mail'] * 3 + ['success accepted dot']),
}
# What must be waited for; the rest is done with the default of two seconds.
SLOW = {'B110': {'timeout_ms': 10000, 'deadline_ms': 20000},
        'B086': {'dot_timeout_ms': 60000, 'deadline_ms': 70000, 'wait': 80000}}

OK = '250 2.0.0 Ok: queued as 4ABC'
A, MX, AAAA = 1, 15, 28             # types and result codes of the DNS
SERVFAIL, NXDOMAIN = 2, 3


def rst(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    sock.close()


# More connection scripts for smtp_script.py, as HOSTILE.
OWN = [
    ('queue id', {'dot': OK}, {}, 'success accepted dot queue_id=4ABC'),
    ('reset at MAIL', {'mail': {'rst': True}}, {}, 'temporary network mail has=reset'),
    ('reset after the dot', {'dot': {'rst': True}}, {}, 'uncertain uncertain dot'),
    ('close after the dot', {'dot': {'text': None, 'close': True}}, {}, 'uncertain uncertain dot'),
    ('half a 250 after the dot', {'dot': {'raw': '250 2.0.0 O', 'close': True}}, {},
     'uncertain uncertain dot'),
    ('a torn refusal', {'rcpt': {'raw': '452 4.3.1 full', 'close': True}}, {}, FULL + ' rcpt'),
    ('421 after RCPT, unasked', {'rcpt': {'raw': '250 ok\r\n421 4.3.2 bye\r\n', 'close': True}}, {},
     'temporary congestion data code=421'),
    ('250 before it is asked for', {'rcpt': {'raw': '250 ok\r\n250 again\r\n'}}, {},
     'success accepted dot'),
    ('250 with the 354', {'data': {'raw': '354 go\r\n250 done\r\n'}}, {},
     'temporary other dot has=before the message'),
    ('452 with the 354', {'data': {'raw': '354 go\r\n452 4.3.1 full\r\n'}}, {}, FULL + ' dot'),
    ('drip at the dot', {'dot': {'text': OK, 'byte_delay': 0.4}}, {}, 'uncertain uncertain dot'),
    ('login', {'ehlo_keywords': ['AUTH PLAIN'], 'auth_users': {LOGIN['user']: LOGIN['secret']}},
     LOGIN, 'success accepted dot'),
    ('LOGIN', {'ehlo_keywords': ['AUTH LOGIN'], 'auth_users': {LOGIN['user']: LOGIN['secret']}},
     LOGIN, 'success accepted dot'),
    ('AUTH=LOGIN', {'ehlo_keywords': ['AUTH=LOGIN'], 'auth_users': {LOGIN['user']: LOGIN['secret']}},
     LOGIN, 'success accepted dot'),
    ('a long password', {'ehlo_keywords': ['AUTH PLAIN LOGIN'], 'auth_users': {'probe': 'x' * 400}},
     dict(LOGIN, user='probe', secret='x' * 400), 'success accepted dot'),
    ('wrong password', {'ehlo_keywords': ['AUTH PLAIN LOGIN'], 'auth_users': {'other': 'x'}},
     LOGIN, 'temporary auth auth blind=1 code=535'),
    ('AUTH while full', {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '452 4.3.1 full'}, LOGIN,
     FULL + ' auth blind=0'),
    ('AUTH with 421', {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '421 4.3.2 bye'}, LOGIN,
     'temporary congestion auth blind=0'),
    ('a login that is refused in the words of a full mailbox',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '535 5.2.2 account over quota'}, LOGIN,
     'temporary auth auth blind=1 code=535'),
    ('a login that is refused in the words of TLS',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '535 5.7.8 Login denied: use of SSL/TLS is required'},
     LOGIN, 'temporary auth auth blind=1 code=535'),
    ('passwords that are taken no more',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth':
      '550 5.7.30 Basic authentication is not supported for Client Submission.'}, LOGIN,
     'temporary auth auth blind=1 code=550'),
    ('a login that is greylisted',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '550 5.7.1 Greylisted, come back later'}, LOGIN,
     'temporary auth auth blind=1 code=550'),
    ('a login of an account that is disabled',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '550 5.2.1 Mailbox disabled'}, LOGIN,
     'temporary auth auth blind=1 code=550'),
    ('a sending limit that is told at the login',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '535 5.4.5 Daily sending limit exceeded'}, LOGIN,
     'temporary auth auth blind=1 code=535'),
    ('250 to AUTH', {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '250 ok'}, LOGIN,
     'temporary auth auth blind=1 code=250 has=250 ok'),
    ('354 to AUTH', {'ehlo_keywords': ['AUTH LOGIN'], 'auth': '354 go on'}, LOGIN,
     'temporary auth auth blind=1 code=354 has=354 go on'),
    ('AUTH before TLS', {'ehlo_keywords': ['AUTH PLAIN'], 'auth':
                         '530 5.7.0 Must issue a STARTTLS command first'}, LOGIN,
     'temporary tls auth blind=0 code=530'),
    ('AUTH without encryption', {'ehlo_keywords': ['AUTH PLAIN'], 'auth':
                                 '538 5.7.11 Encryption required for requested mechanism'}, LOGIN,
     'temporary tls auth blind=0 code=538'),
    ('the login repeated in the reply',
     {'ehlo_keywords': ['AUTH PLAIN'], 'auth': '535 5.7.8 no: ' + LOGIN['secret']}, LOGIN,
     'temporary auth auth blind=1'),
    ('the null sender', {}, {'from': ''}, 'success accepted dot'),
    ('a message of 5 MB', {}, {'size': 5000000}, 'success accepted dot'),
    ('only HELO', {'ehlo': '502 5.5.1 what'}, {}, 'success accepted dot'),
    ('neither EHLO nor HELO', {'ehlo': '502 5.5.1 what', 'helo': '502 5.5.1 what'}, {},
     'permanent other ehlo'),
    ('450 at EHLO', {'ehlo': '450 4.3.1 full'}, {}, FULL + ' ehlo'),
]


# Zones, what answers on 127.0.0.N (a connection script; None: connections are
# refused; BLACK_HOLE: nothing comes back), the domain, and what comes of it.
BLACK_HOLE = 'black hole'
MX_ONLY = {'mx': 1}
DOMAINS = [
    ('one MX', {'d.test': [('MX', 10, 'a.test')], 'a.test': [('A', '127.0.0.1')]},
     {1: {}}, MX_ONLY, 'success accepted dot host=a.test'),
    ('order of preference', {'d.test': [('MX', 20, 'b.test'), ('MX', 10, 'a.test')],
                             'a.test': [('A', '127.0.0.2')], 'b.test': [('A', '127.0.0.1')]},
     {1: {}, 2: {}}, MX_ONLY, 'success accepted dot host=a.test'),
    ('the second MX when the first refuses', {'d.test': [('MX', 10, 'a.test'), ('MX', 20, 'b.test')],
                                              'a.test': [('A', '127.0.0.2')], 'b.test': [('A', '127.0.0.1')]},
     {1: {}, 2: None}, MX_ONLY,
     'success accepted dot host=b.test earlier=a.test 127.0.0.2: connection refused'),
    ('the second MX when the first greets with 421',
     {'d.test': [('MX', 10, 'a.test'), ('MX', 20, 'b.test')],
      'a.test': [('A', '127.0.0.2')], 'b.test': [('A', '127.0.0.1')]},
     {1: {}, 2: {'greeting': {'text': '421 4.3.2 not now', 'close': True}}}, MX_ONLY,
     'success accepted dot host=b.test'),
    ('no second MX after a reply to MAIL', {'d.test': [('MX', 10, 'a.test'), ('MX', 20, 'b.test')],
                                            'a.test': [('A', '127.0.0.2')], 'b.test': [('A', '127.0.0.1')]},
     {1: {}, 2: {'mail': '452 4.3.1 full'}}, MX_ONLY, FULL + ' mail host=a.test'),
    ('a refusal is told rather than a silence', {'d.test': [('MX', 10, 'a.test'), ('MX', 20, 'b.test')],
                                                 'a.test': [('A', '127.0.0.2')], 'b.test': [('A', '127.0.0.1')]},
     {1: {'greeting': {'text': '452 4.3.1 full', 'close': True}}, 2: None}, MX_ONLY,
     FULL + ' greeting host=b.test'),
    ('all refuse', {'d.test': [('MX', 10, 'a.test'), ('MX', 20, 'b.test')],
                    'a.test': [('A', '127.0.0.2')], 'b.test': [('A', '127.0.0.1')]},
     {1: None, 2: None}, MX_ONLY, 'temporary network connect has=b.test 127.0.0.1: connection refused'),
    ('an MX whose name does not exist', {'d.test': [('MX', 10, 'gone.test'), ('MX', 20, 'b.test')],
                                         'b.test': [('A', '127.0.0.1')]},
     {1: {}}, MX_ONLY, 'success accepted dot host=b.test'),
    ('no MX, but an address', {'d.test': [('A', '127.0.0.1')]},
     {1: {}}, MX_ONLY, 'success accepted dot host=d.test'),
    ('null MX', {'d.test': [('MX', 0, '')]}, {}, MX_ONLY,
     'permanent dns lookup blind=0 has=accepts no mail'),
    ('no such domain', {}, {}, MX_ONLY, 'temporary dns lookup blind=0 has=does not exist'),
    ('SERVFAIL for the domain', {'d.test': SERVFAIL}, {}, MX_ONLY, 'temporary dns lookup blind=1'),
    ('SERVFAIL for the MX host', {'d.test': [('MX', 10, 'a.test')], 'a.test': SERVFAIL}, {}, MX_ONLY,
     'temporary dns lookup blind=1'),
    ('SERVFAIL for IPv4 only, no IPv6', {'h.test': {A: SERVFAIL}}, {}, {'host': 'h.test'},
     'temporary dns lookup blind=1'),
    ('a silent resolver', {'d.test': None}, {}, dict(MX_ONLY, connect_timeout_ms=1000), 'temporary dns lookup blind=1'),
    ('two addresses, the first refuses', {'h.test': [('A', '127.0.0.2'), ('A', '127.0.0.1')]},
     {1: {}, 2: None}, {'host': 'h.test'},
     'success accepted dot host=h.test earlier=127.0.0.2: connection refused'),
    ('two addresses, the first is a black hole', {'h.test': [('A', '127.0.0.2'), ('A', '127.0.0.1')]},
     {1: {}, 2: BLACK_HOLE}, {'host': 'h.test', 'connect_timeout_ms': 2000},
     'success accepted dot address=127.0.0.1'),
    ('two addresses, both black holes', {'h.test': [('A', '127.0.0.2'), ('A', '127.0.0.1')]},
     {1: BLACK_HOLE, 2: BLACK_HOLE}, {'host': 'h.test'}, 'temporary network connect has=timed out; 127.0.0.'),
    ('two addresses, the first closes at once', {'h.test': [('A', '127.0.0.2'), ('A', '127.0.0.1')]},
     {1: {}, 2: {'greeting': {'text': None, 'close': True}}}, {'host': 'h.test'}, 'success accepted dot'),
    ('an address of the other family only', {'h.test': [('AAAA', '::1')]}, {}, {'host': 'h.test', 'family': 1},
     'temporary dns lookup blind=0 has=no address'),
]


class Raw:
    """A server that is a function of the connection."""

    def __init__(self, play, wrap=None):
        self.play, self.wrap = play, wrap
        self.sock = socket.socket()
        self.sock.bind(('127.0.0.1', 0))
        self.sock.listen(16)
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                c, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(c,), daemon=True).start()

    def one(self, c):
        try:
            if self.wrap:
                c = self.wrap(c)
            self.play(c)
        except (OSError, ValueError):
            pass
        finally:
            c.close()

    def stop(self):
        self.sock.close()


def until(c, word):
    """Reads up to a line that begins with the word; b'' on its end."""
    buf = b''
    while True:
        while b'\n' in buf:
            line, buf = buf.split(b'\n', 1)
            if line.upper().startswith(word):
                return line
        d = c.recv(4096)
        if not d:
            raise OSError('closed')
        buf += d


def to_data(c):
    """The dialogue up to the 354."""
    c.sendall(b'220 raw\r\n')
    for word, reply in ((b'EHLO', b'250 raw\r\n'), (b'MAIL', b'250 ok\r\n'),
                        (b'RCPT', b'250 ok\r\n'), (b'DATA', b'354 go\r\n')):
        until(c, word)
        c.sendall(reply)


def refuse_within(c):
    to_data(c)
    c.recv(65536)
    c.sendall(b'552 5.3.4 too much for me\r\n')
    time.sleep(0.1)


def refuse_and_reset(c):
    to_data(c)
    c.recv(65536)
    c.sendall(b'421 4.3.0 going\r\n')
    c.shutdown(socket.SHUT_RDWR)


def stop_reading(c):
    to_data(c)
    time.sleep(20)


def stop_after_ehlo(c):
    c.sendall(b'220 raw\r\n')
    until(c, b'EHLO')
    rst(c)


def talk_within(c):
    to_data(c)
    c.recv(4096)
    while True:
        c.sendall(b'250-' + b'x' * 4000 + b'\r\n')


def silent_quit(c):
    to_data(c)
    until(c, b'.\r')
    c.sendall(b'250 2.0.0 Ok: queued as A1\r\n')
    time.sleep(5)


# What a server has against a token: {"status":"invalid_token"} in base 64.
AGAINST = b'334 eyJzdGF0dXMiOiJpbnZhbGlkX3Rva2VuIn0=\r\n'
LONG_TOKEN = {'user': 'probe@example.org', 'secret': 'ya29.' + 'x' * 3000, 'oauth': 1, 'insecure_auth': 1}


def oauth(mechanisms, *replies, after=True):
    """A server that answers each line of the login with the next of the
    replies, and takes a mail after it."""
    def play(c):
        c.sendall(b'220 raw\r\n')
        until(c, b'EHLO')
        c.sendall(b'250-raw\r\n250 AUTH %s\r\n' % mechanisms)
        for reply in replies:
            line = until(c, b'')
            c.sendall(reply.replace(b'%', line))
        if after:
            for word, reply in ((b'MAIL', b'250 ok\r\n'), (b'RCPT', b'250 ok\r\n'),
                                (b'DATA', b'354 go\r\n'), (b'.', b'250 ok\r\n'), (b'QUIT', b'')):
                until(c, word)
                c.sendall(reply)
    return play


def long_token(c):
    """No line of a command may be longer than 512 bytes."""
    c.sendall(b'220 raw\r\n')
    until(c, b'EHLO')
    c.sendall(b'250-raw\r\n250 AUTH XOAUTH2 PLAIN\r\n')
    line = until(c, b'')
    if line.strip() != b'AUTH XOAUTH2':
        c.sendall(b'500 5.5.6 line too long\r\n')
        return
    c.sendall(b'334 \r\n')
    line = until(c, b'')
    c.sendall(b'235 ok\r\n' if len(line) > 4000 else b'535 5.7.8 what\r\n')
    for word, reply in ((b'MAIL', b'250 ok\r\n'), (b'RCPT', b'250 ok\r\n'),
                        (b'DATA', b'354 go\r\n'), (b'.', b'250 ok\r\n'), (b'QUIT', b'')):
        until(c, word)
        c.sendall(reply)


SHREDS = [b'250 ok\r\n', b'250-ok\r\n', b'220 x\r\n', b'354 go\r\n', b'334 VXNlcg==\r\n', b'235 ok\r\n',
          b'421 4.3.2 bye\r\n', b'452 4.3.1 full\r\n', b'550 5.7.1 no\r\n', b'250 AUTH PLAIN LOGIN\r\n',
          b'250-SIZE 1\r\n', b'250-DSN\r\n', b'250-STARTTLS\r\n', b'xx\r\n', b'\r\n', b'\n', b'\0\0\0', b'2', b'250',
          b'999 x\r\n', b'250 ' + b'a' * 3000 + b'\r\n', b'\xff\xfe\r\n', b'250 2.0.0 Ok: queued as ' + b'Q' * 200 + b'\r\n']


def chaos(seed, login):
    """Each connection is another mess; most steps get the right reply, so that
    the later ones are reached too."""
    rng, lock = random.Random(seed), threading.Lock()

    def play(c):
        with lock:
            r = random.Random(rng.random())
        right = [b'220 x\r\n', b'250-x\r\n250 AUTH PLAIN\r\n'] + [b'235 ok\r\n'] * login + [
            b'250 ok\r\n', b'250 ok\r\n', b'354 go\r\n', b'250 ok\r\n', b'221 x\r\n']
        for reply in right:
            if r.random() < 0.15:
                reply = b''.join(r.choice(SHREDS) for _ in range(r.randint(1, 4)))
            piece = r.choice([1, 3, 5000]) if len(reply) < 100 else 5000
            for i in range(0, len(reply), piece):
                c.sendall(reply[i:i + piece])
            if r.random() < 0.05:
                return rst(c) if r.random() < 0.5 else None
            if not c.recv(65536):
                return None
    return play


def in_chaos(player, seed, options):
    """Any outcome will do, if there is one each time, in time."""
    server = Raw(chaos(seed, 'user' in options))
    try:
        o, outcomes, costs, p = player.drive(dict(options, port=server.port), True)
    finally:
        server.stop()
    if p.returncode != 0 or p.stderr:
        return 'status %d %s' % (p.returncode, p.stderr.decode('utf-8', 'replace')[-1500:])
    if len(outcomes) != o['repeat']:
        return '%d outcomes' % len(outcomes)
    late = [x for x in outcomes if int(x['took_ms']) > o['deadline_ms'] + 1500]
    odd = [x for x in outcomes if (x['accepted'] == '1') != (x['verdict'] == 'success')]
    return str(late or odd or '')


RAW = [
    ('552 while the message is sent', refuse_within, {'size': 9000000},
     'permanent size dot code=552'),
    ('421 and a reset while the message is sent', refuse_and_reset, {'size': 9000000},
     'temporary other dot code=421'),
    ('a peer that stops reading', stop_reading, {'size': 9000000},
     'temporary network dot has=does not read'),
    ('reset at EHLO', stop_after_ehlo, {}, 'temporary network ehlo'),
    ('talks without end in the message', talk_within, {'size': 9000000},
     'temporary other dot has=without end'),
    ('hangs at QUIT', silent_quit, {}, 'success accepted dot'),
    ('a token by OAUTHBEARER', oauth(b'PLAIN XOAUTH2 OAUTHBEARER', b'235 ok\r\n'), TOKEN,
     'success accepted dot'),
    ('a server that asks for the token again', oauth(b'XOAUTH2', b'334 \r\n', b'235 ok\r\n'), TOKEN,
     'success accepted dot'),
    ('a long token', long_token, LONG_TOKEN, 'success accepted dot'),
    ('a token that is refused', oauth(b'XOAUTH2', AGAINST, b'535 5.7.8 go away\r\n', after=False), TOKEN,
     'temporary auth auth code=535 blind=1 has=go away {"status":"invalid_token"}'),
    ('a token that is refused at once', oauth(b'OAUTHBEARER', b'535 5.7.8 no\r\n', after=False), TOKEN,
     'temporary auth auth code=535 blind=1 has=no'),
    ('a token that is refused, and goodbye', oauth(b'OAUTHBEARER', AGAINST, after=False), TOKEN,
     'temporary auth auth code=334 blind=1 has=does not take the token: {"status":"invalid_token"}'),
    ('a token that is refused and then taken', oauth(b'XOAUTH2', AGAINST, b'235 ok\r\n'), TOKEN,
     'temporary auth auth blind=1 has=does not take the token'),
    ('a token that is answered by 250', oauth(b'XOAUTH2', b'250 ok\r\n', after=False), TOKEN,
     'temporary auth auth blind=1 code=250 has=250 ok'),
    ('a token that is refused without end', oauth(b'XOAUTH2', *[AGAINST] * 9, after=False), TOKEN,
     'temporary auth auth blind=1 has=does not take the token'),
    ('a token that is repeated', oauth(b'XOAUTH2', b'535-5.7.8 what is\r\n535 5.7.8 %?\r\n', after=False),
     dict(TOKEN, transcript=1), 'temporary auth auth blind=1 has=what is / AUTH XOAUTH2 ****'),
    ('a token asked for by a name that is no mechanism', oauth(b'OAUTHBEARERX'), TOKEN,
     'temporary auth auth blind=1 has=OAUTHBEARERX'),
]

TLS_ROWS = [
    ('good', IMPLICIT, {}, 'success accepted dot tls=verified'),
    ('good', STARTTLS, {}, 'success accepted dot tls=verified'),
    ('expired', IMPLICIT, {}, 'temporary tls starttls has=certificate expired 2020-02-01'),
    ('wrong_name', STARTTLS, {}, 'temporary tls starttls has=certificate is for other.invalid, not for'),
    ('self_signed', STARTTLS, {}, 'temporary tls starttls has=self-signed certificate'),
    ('self_signed', OPPORTUNISTIC, {}, 'success accepted dot tls=unverified: self-signed'),
    ('expired', OPPORTUNISTIC, {}, 'success accepted dot tls=unverified: certificate expired'),
    ('good', IMPLICIT, dict(LOGIN, insecure_auth=0), 'success accepted dot'),
    ('good', STARTTLS, dict(LOGIN, insecure_auth=0), 'success accepted dot'),
    ('expired', OPPORTUNISTIC, dict(LOGIN, insecure_auth=0), 'temporary auth auth blind=1 has=withheld'),
    ('good', STARTTLS, {'ca_file': '/nonexistent'}, 'temporary other starttls blind=1 has=ca_file'),
]

NETWORK = [
    ('nobody listens', {'host': '127.0.0.1'}, 'temporary network connect has=refused'),
    ('no such name', {'host': 'no-such-name.invalid', 'resolver': '%nx'},
     'temporary dns lookup blind=0 has=does not exist'),
    ('a resolver that fails', {'host': 'mail.example', 'resolver': '%servfail'},
     'temporary dns lookup blind=1'),
    ('a silent resolver', {'host': 'mail.example', 'resolver': '%silent', 'connect_timeout_ms': 1000},
     'temporary dns lookup blind=1 has=in time'),
    ('a source address that is not ours', {'source_address': '192.0.2.1'},
     'temporary other connect blind=1 has=source address'),
    ('a name of the other family', {'host': '127.0.0.1', 'family': 2},
     'temporary dns lookup'),
]


def name_server(answer):
    """Answers each question with answer(name, type): records of (type, bytes)
    and a result code, or None for silence.  Its host:port."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(('127.0.0.1', 0))

    def serve():
        while True:
            q, peer = s.recvfrom(4096)
            name, at = [], 12
            while q[at]:
                name.append(q[at + 1:at + 1 + q[at]].decode().lower())
                at += 1 + q[at]
            got = answer('.'.join(name), struct.unpack('!H', q[at + 1:at + 3])[0])
            if got is None:
                continue
            records, code = got
            s.sendto(q[:2] + bytes([0x85, 0x80 | code]) + struct.pack('!HHHH', 1, len(records), 0, 0)
                     + q[12:at + 5] + b''.join(
                         b'\xc0\x0c' + struct.pack('!HHIH', t, 1, 60, len(d)) + d for t, d in records), peer)
    threading.Thread(target=serve, daemon=True).start()
    return '127.0.0.1:%d' % s.getsockname()[1]


def labels(name):
    return b''.join(bytes([len(l)]) + l.encode() for l in name.split('.') if l) + b'\0'


def zone(records):
    """{'name': [('A', '127.0.0.1'), ('MX', 10, 'host'), ...] or a code, or such by
    type}; else NXDOMAIN."""
    def encode(r):
        if r[0] == 'A':
            return A, socket.inet_aton(r[1])
        if r[0] == 'AAAA':
            return AAAA, socket.inet_pton(socket.AF_INET6, r[1])
        return MX, struct.pack('!H', r[1]) + labels(r[2])

    def answer(name, kind):
        have = records.get(name, NXDOMAIN)
        if isinstance(have, dict):
            have = have.get(kind, [])
        if have is None or isinstance(have, int):
            return None if have is None else ([], have)
        return [e for e in map(encode, have) if e[0] == kind], 0
    return name_server(answer)


RESOLVERS = {'nx': lambda name, kind: ([], NXDOMAIN),
             'servfail': lambda name, kind: ([], SERVFAIL),
             'silent': lambda name, kind: None}


class Player:
    def __init__(self, build, scratch):
        self.sender = os.path.join(build, 'mailflow-sender')
        self.driver = os.path.join(build, 'tests/peers/sender_driver')
        self.scratch = scratch
        self.certificates = Certificates(os.path.join(scratch, 'tls'))
        self.link_good()
        with open(self.sender, 'rb') as f:
            self.sanitized = b'__asan_init' in f.read()
        self.resolvers = {k: name_server(v) for k, v in RESOLVERS.items()}

    def link_good(self):
        """hostile_smtp.py wants good.crt and good.key in one directory."""
        self.tlsdir = os.path.join(self.scratch, 'tlsdir')
        os.makedirs(self.tlsdir)
        for end in ('crt', 'key'):
            os.symlink(getattr(self.certificates.good, end),
                       os.path.join(self.tlsdir, 'good.' + end))

    def drive(self, options, soon):
        """Outcomes as dictionaries, the sender's costs, what it said on stderr."""
        o = BASE | {'ca_file': self.certificates.ca} | (SOON if soon else {})
        o.update(options)
        for k, v in o.items():
            if isinstance(v, str) and v.startswith('%'):
                o[k] = self.resolvers[v[1:]]
        env = dict(os.environ, UBSAN_OPTIONS='print_stacktrace=1')
        p = subprocess.run([self.driver, self.sender] + ['%s=%s' % kv for kv in o.items()],
                           capture_output=True, timeout=200, env=env)
        lines = [dict(f.split('=', 1) for f in l.split('\t') if '=' in f)
                 for l in p.stdout.decode().splitlines() if '\t' in l]
        outcomes = [l for l in lines if 'verdict' in l]
        costs = [l for l in lines if 'rss_kb' in l]
        return o, outcomes, costs[0] if costs else {}, p

    def check(self, options, expect):
        """'' or what is wrong."""
        o, outcomes, costs, p = self.drive(options, runs_out(expect))
        err = p.stderr.decode('utf-8', 'replace')
        if p.returncode != 0 or err:
            return 'status %d %s %s' % (p.returncode, p.stdout.decode()[-300:], err[-1500:])
        alternatives = expect.split(' | ')
        for i, out in enumerate(outcomes):
            wrong = mismatch(out, alternatives[min(i, len(alternatives) - 1)], int(o['deadline_ms']))
            if wrong:
                return 'outcome %d: %s' % (i + 1, wrong)
        if len(outcomes) != int(o['repeat']):
            return '%d outcomes' % len(outcomes)
        if int(costs['rss_kb']) > (RSS_SANITIZED_KB if self.sanitized else RSS_KB):
            return 'grew to %s KiB' % costs['rss_kb']
        secret = str(options.get('secret', ''))
        if secret and secret in p.stdout.decode():
            return 'tells the secret'
        for coded in traces(secret):
            if coded in p.stdout.decode():
                return 'tells the secret in base 64'
        return ''


def runs_out(expect):
    """Does it end by the time running out?  Else a busy machine gets more."""
    return any(words in expect for words in ('uncertain ', 'timed out', 'TLS handshake', 'not read'))


def traces(secret):
    """The middle of the secret in base 64, wherever it begins."""
    for skip in range(3 if len(secret) > 9 else 0):
        yield base64.b64encode(b'x' * skip + secret.encode()).decode()[4:-4]


def mismatch(out, expect, deadline_ms):
    words = expect.split(' ')
    got = [out['verdict'], out['class'], out['stage']]
    if got != words[:3]:
        return '%s, not %s: %s' % (' '.join(got), ' '.join(words[:3]), out)
    rest = ' '.join(words[3:])
    while rest:
        key, _, value = rest.partition('=')
        if key in ('has', 'tls', 'earlier'):
            value, rest = value, ''
            text = out['reply' if key == 'has' else key]
            if value not in text:
                return '"%s" is not in "%s"' % (value, text)
        else:
            value, _, rest = value.partition(' ')
            if out[key] != value:
                return '%s is %s, not %s: %s' % (key, out[key], value, out)
    if int(out['took_ms']) > deadline_ms + 500:
        return 'took %s ms' % out['took_ms']
    if (out['accepted'] == '1') != (out['verdict'] == 'success' and out['stage'] == 'dot'):
        return 'accepted=%s' % out['accepted']
    return ''


def hostile(player, name, options, expect):
    d = tempfile.mkdtemp(dir=player.scratch)
    portfile = os.path.join(d, 'port')
    p = subprocess.Popen([sys.executable, os.path.join(KIT, 'hostile_smtp.py'), name, portfile],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env=dict(os.environ, TLSDIR=player.tlsdir))
    try:
        end = time.monotonic() + 20
        while not os.path.exists(portfile) or not os.path.getsize(portfile):
            if time.monotonic() > end or p.poll() is not None:
                return 'the server does not start'
            time.sleep(0.02)
        with open(portfile) as f:
            return player.check(dict(options, port=f.read()), expect)
    finally:
        p.kill()
        p.wait()


def scripted(player, script, options, expect, tls=None, wrap=False):
    server = smtp_script.Server(script=script, tls=tls, tls_wrap=wrap).start()
    try:
        return player.check(dict(options, port=server.port), expect)
    finally:
        server.stop()


def raw(player, play, options, expect):
    server = Raw(play)
    try:
        return player.check(dict(options, port=server.port), expect)
    finally:
        server.stop()


def tls_row(player, certificate, mode, options, expect):
    pair = tuple(getattr(player.certificates, certificate))
    script = {'ehlo_keywords': ['AUTH PLAIN']} if 'user' in options else {}
    return scripted(player, script, dict(options, tls=mode), expect, tls=pair, wrap=mode == IMPLICIT)


def network(player, options, expect):
    s = socket.socket()
    s.bind(('127.0.0.1', 0))       # bound, not listening: refused
    try:
        return player.check(dict({'port': s.getsockname()[1]}, **options), expect)
    finally:
        s.close()


def answerers(plan):
    """Starts them all at one port; the port and what to close."""
    for _ in range(50):
        s = socket.socket()
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
        s.close()
        closers = []
        try:
            for n, script in plan.items():
                closers += answerer('127.0.0.%d' % n, port, script)
            return port, closers
        except OSError:
            for c in closers:
                c()
    raise OSError('no port is free on all addresses')


def answerer(host, port, script):
    if isinstance(script, dict):
        server = smtp_script.Server(host=host, port=port, script=script).start()
        return [server.stop]
    s = socket.socket()
    s.bind((host, port))
    closers = [s.close]
    if script is BLACK_HOLE:        # a full backlog drops what knocks
        s.listen(0)
        for _ in range(4):
            c = socket.socket()
            c.setblocking(False)
            c.connect_ex((host, port))
            closers.append(c.close)
        time.sleep(0.1)
    return closers


def domain(player, records, plan, options, expect):
    port, closers = answerers(plan)
    try:
        return player.check(dict(options, port=port, domain='d.test', resolver=zone(records)), expect)
    finally:
        for c in closers:
            c()


def from_kit():
    for file in sorted(os.listdir(os.path.join(KIT, 'smtp'))):
        with open(os.path.join(KIT, 'smtp', file)) as f:
            script = json.load(f)
        name = script['name']
        expect = SCRIPTS.get(name, 'success accepted dot')
        repeat = max(2, expect.count('|') + 1)
        yield ('script ' + name, scripted, script, dict(SLOW.get(name, {}), repeat=1 if name in SLOW else repeat), expect)


SEED = 1


def scenarios():
    for name, options, expect in HOSTILE:
        more = ' '.join('%s=%s' % kv for kv in options.items() if kv[0] != 'secret')
        yield ('hostile %s %s' % (name, more.replace('\n', ' ')), hostile, name, options, expect)
    yield from from_kit()
    for name, script, options, expect in OWN:
        yield ('own ' + name, scripted, script, options, expect)
    for name, play, options, expect in RAW:
        yield ('raw ' + name, raw, play, options, expect)
    for login in ({}, LOGIN):
        yield ('chaos seed %d%s' % (SEED, ' login' if login else ''), in_chaos, SEED,
               dict(login, repeat=150, timeout_ms=150, dot_timeout_ms=150, deadline_ms=1000))
    for certificate, mode, options, expect in TLS_ROWS:
        yield ('tls %s mode %d %s' % (certificate, mode, 'login' if 'user' in options else ''),
               tls_row, certificate, mode, options, expect)
    for name, records, plan, options, expect in DOMAINS:
        yield ('domain ' + name, domain, records, plan, options, expect)
    for name, options, expect in NETWORK:
        yield ('network ' + name, network, options, expect)


def main():
    global SEED
    ap = argparse.ArgumentParser()
    ap.add_argument('--seed', type=int, default=SEED, help='for the random server')
    ap.add_argument('--build', default=os.environ.get('MAILFLOW_BUILD', '.'))
    ap.add_argument('--jobs', type=int, default=6)
    ap.add_argument('names', nargs='*')
    a = ap.parse_args()
    SEED = a.seed
    chosen = [s for s in scenarios() if not a.names or any(n in s[0] for n in a.names)]
    failed = 0
    with tempfile.TemporaryDirectory(prefix='mf-hostile-') as scratch:
        player = Player(os.path.abspath(a.build), scratch)
        with ThreadPoolExecutor(a.jobs) as pool:
            futures = [(s[0], pool.submit(s[1], player, *s[2:])) for s in chosen]
            for name, future in futures:
                try:
                    wrong = future.result()
                except Exception as e:      # a scenario's own fault is a failure of it
                    wrong = '%s: %s' % (type(e).__name__, e)
                failed += wrong != ''
                print('%s %s%s' % ('not ok' if wrong else 'ok    ', name.strip(), ': ' + wrong if wrong else ''), flush=True)
    print('%d passed, %d failed' % (len(chosen) - failed, failed))
    return 1 if failed or not chosen else 0


if __name__ == '__main__':
    sys.exit(main())
