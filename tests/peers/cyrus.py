"""A private Cyrus: the IMAP server that has least in common with Dovecot.
Mail lies in its own store, folders are parts of INBOX with a dot between
them, a removed mail stays on disk unseen, and its notifier is a daemon of
its own.  IMAP (plain and STARTTLS on one port) and LMTP, all below one
directory.
"""
import functools
import glob
import grp
import imaplib
import os
import pwd
import re
import shutil
import smtplib
import socket
import ssl
import struct
import subprocess
import threading
import time

from installation import TOP
from network import Unavailable
from ports import HOST, free_port, listening
from scratch import wait_for

# Cyrus never runs as root: it becomes this user of the system's.
OWNER = 'mail'

IMAPD = '''
configdirectory: %(dir)s/state
proc_path: %(dir)s/state/proc
mboxname_lockpath: %(dir)s/state/lock
defaultpartition: default
partition-default: %(dir)s/spool
sievedir: %(dir)s/sieve
cyrus_user: %(user)s
cyrus_group: %(group)s
servername: cyrus.test
admins: nobody
virtdomains: userid
defaultdomain: default.test
altnamespace: no
unixhierarchysep: no
autocreate_quota: 0
autocreate_post: yes
duplicatesuppression: no
allowplaintext: yes
failedloginpause: 0
sasl_mech_list: PLAIN LOGIN
sasl_pwcheck_method: saslauthd
sasl_saslauthd_path: %(dir)s/passwords
tls_server_cert: %(dir)s/server.crt
tls_server_key: %(dir)s/server.key
lmtpsocket: %(dir)s/lmtp
idlesocket: %(dir)s/state/socket/idle
imapidlepoll: %(idle_poll)d
'''

# The master does not hand the place of its configuration on.
SERVICES = '''
START {
	recover cmd="%(bin)s/ctl_cyrusdb -C %(conf)s -r"
}
DAEMON {
	idled cmd="%(bin)s/idled -C %(conf)s"
}
SERVICES {
	imap cmd="%(bin)s/imapd -C %(conf)s" listen="127.0.0.1:%(imap_port)d" prefork=0
	lmtp cmd="%(bin)s/lmtpd -C %(conf)s -a" listen="%(dir)s/lmtp" prefork=0
}
EVENTS {
}
'''

# Longer than any test: what is seen before has been told by idled.
IDLE_POLL = 3600


class Passwords:
    """What saslauthd(8) does: four counted strings (user, password, service,
    realm) in, one counted answer out.  Saves a daemon and a database."""

    def __init__(self, scratch, path, users):
        self.users, self.refused = users, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        os.chmod(path, 0o666)
        self.listener.listen(64)
        scratch.on_close(self.close)
        threading.Thread(target=self._run, daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)        # wakes the thread
        self.listener.close()

    def _run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile('rb') as asked:
                try:
                    connection.settimeout(5)
                    answer = self._answer(*(_counted(asked) for _ in range(4)))
                    connection.sendall(struct.pack('!H', len(answer)) + answer)
                except (OSError, EOFError):
                    pass

    def _answer(self, user, password, _service, realm):
        """The part of a user's name behind the @ comes as the realm."""
        if realm and '@' not in user:
            user += '@' + realm
        if self.users.get(user) == password:
            return b'OK'
        self.refused += 1
        return b'NO'


def _counted(stream):
    head = stream.read(2)
    if len(head) < 2:
        raise EOFError
    return stream.read(struct.unpack('!H', head)[0]).decode()


class Cyrus:
    """users: {address: password}; the address is the login name.  Made for
    Postfix, it is what Postfix calls its Dovecot: .users and .lmtp."""

    login_service = 'none'      # Postfix's logins are not its business

    def __init__(self, scratch, users, certificate, name='cyrus'):
        self.scratch, self.name, self.users = scratch, name, dict(users)
        self.root, self.libraries = unpacked()
        self.dir = scratch.directory(name)
        self._within_reach()
        self.imap_port = free_port()
        self.lmtp = os.path.join(self.dir, 'lmtp')
        self.process = None
        self._owner = pwd.getpwnam(OWNER)
        self._make_directories()
        self._copy_certificate(certificate)
        self._write_config()
        self.passwords = Passwords(scratch, os.path.join(self.dir, 'passwords'), self.users)
        self.start()

    # -- files

    def _within_reach(self):
        """Cyrus starts its programs when it is root no longer, who alone may
        pass through his own folders."""
        path = os.path.realpath(self.root)
        while path != '/' and os.stat(path).st_mode & 0o001:
            path = os.path.dirname(path)
        if path == '/':
            return
        copy = os.path.join(self.scratch.path, 'cyrus-programs')
        if not os.path.isdir(copy):
            shutil.copytree(self.root, copy, symlinks=True)
        self.libraries = self.libraries.replace(self.root, copy)
        self.root = copy

    def _made(self, *names):
        path = self.scratch.directory(self.name, *names)
        os.chown(path, self._owner.pw_uid, self._owner.pw_gid)
        return path

    def _make_directories(self):
        for names in ((), ('spool',), ('sieve',), ('state',), *(('state', name) for name in (
                'db', 'lock', 'log', 'msg', 'proc', 'ptclient', 'quota', 'socket', 'user'))):
            self._made(*names)
        for address in self.users:
            self._made('state', 'log', address)     # Cyrus writes its sessions there

    def _copy_certificate(self, certificate):
        """Cyrus reads its key when it is root no longer."""
        for path, name in ((certificate.crt, 'server.crt'), (certificate.key, 'server.key')):
            copy = shutil.copy(path, os.path.join(self.dir, name))
            os.chmod(copy, 0o600)
            os.chown(copy, self._owner.pw_uid, self._owner.pw_gid)

    def _write_config(self):
        values = {'dir': self.dir, 'bin': os.path.join(self.root, 'usr/lib/cyrus/bin'),
                  'user': OWNER, 'group': grp.getgrgid(self._owner.pw_gid).gr_name,
                  'imap_port': self.imap_port, 'idle_poll': IDLE_POLL}
        self.imapd_conf = self.scratch.write(self.name + '/imapd.conf', IMAPD % values)
        values['conf'] = self.imapd_conf
        self.cyrus_conf = self.scratch.write(self.name + '/cyrus.conf', SERVICES % values)

    # -- life

    def start(self):
        self.process = self.scratch.start(
            [os.path.join(self.root, 'usr/lib/cyrus/bin/master'), '-D', '-C', self.imapd_conf,
             '-M', self.cyrus_conf, '-p', os.path.join(self.dir, 'state', 'master.pid')],
            self.name, env=dict(os.environ, LC_ALL='C', LD_LIBRARY_PATH=self.libraries))
        wait_for('%s answers' % self.name, self._answers, within=60, logs=(self.process.log,))

    def _answers(self):
        try:
            imaplib.IMAP4(HOST, self.imap_port, timeout=2).logout()
            return os.path.exists(self.lmtp)
        except (OSError, imaplib.IMAP4.error):
            if not self.process.alive():
                raise RuntimeError('cyrus ended: ' + self.process.output())
            return False

    def stop(self):
        self.process.stop()
        wait_for('%s stopped listening' % self.name,
                 lambda: not listening(self.imap_port), within=30)

    # -- its mailboxes

    def connect(self, address, ca=None):
        """An imaplib connection, logged in; the first login makes the INBOX."""
        session = imaplib.IMAP4(HOST, self.imap_port, timeout=10)
        if ca:
            session.starttls(ssl.create_default_context(cafile=ca))
        session.login(address, self.users[address])
        return session

    def deliver(self, text, *addresses):
        """As a mail server before it would."""
        with smtplib.LMTP(self.lmtp) as session:
            session.sendmail('someone@mail.test', addresses, text)

    def make_junk(self, address, name='INBOX.Junk'):
        """A folder for \\Junk into which mail for address+Junk is put."""
        session = self.connect(address)
        try:
            _must(session.xatom('CREATE', name, r'(USE (\Junk))'))
            _must(session.setacl(name, 'anyone', 'p'))
        finally:
            session.logout()

    def fetch(self, address, folder='INBOX'):
        """[(uid, flags, whole message)] of a folder, oldest first; looking
        changes nothing."""
        session = self.connect(address)
        try:
            _must(session.select(folder, readonly=True))
            found = _must(session.uid('FETCH', '1:*', '(FLAGS BODY.PEEK[])'))
            return [(int(re.search(rb'UID (\d+)', head).group(1)),
                     re.search(rb'FLAGS \(([^)]*)\)', head).group(1).decode(), text)
                    for head, text in (part for part in found if isinstance(part, tuple))]
        finally:
            session.logout()

    # -- what it was told

    def _transcripts(self, address):
        return glob.glob(os.path.join(self.dir, 'state', 'log', address, '*'))

    def sessions(self, address):
        """What the clients said once they had logged in, a list of lines for
        each process that served them."""
        found = []
        for path in self._transcripts(address):
            with open(path, encoding='utf-8', errors='replace') as f:
                found.append(re.findall(r'^<\d+<(.+)$', f.read(), re.M))
        return found

    def silent_for(self, address):
        """Seconds since anything was said, by them or to them."""
        return time.time() - max(map(os.path.getmtime, self._transcripts(address)))


def _must(answer):
    if answer[0] != 'OK':
        raise RuntimeError(answer)
    return answer[1]


@functools.lru_cache(None)
def unpacked():
    """(root, library path); Unavailable where the packages cannot be had."""
    done = subprocess.run(['sh', os.path.join(TOP, 'tests/setup/cyrus.sh')],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable('no Cyrus: %s' % done.stderr.strip())
    root, _, libraries = done.stdout.strip().partition(' ')
    return root, libraries
