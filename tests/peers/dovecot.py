"""A private Dovecot: IMAP (plain and STARTTLS on one port, implicit TLS on
another), LMTP and a login service for Postfix, all below one directory.
"""
import datetime
import grp
import imaplib
import os
import pwd
import re
import ssl
from collections import namedtuple

from installation import installation, user
from ports import HOST, free_port, listening
from scratch import wait_for

Delivery = namedtuple('Delivery', 'at user message_id folder')

# The mail store belongs to a system user that is below Dovecot's usual limit.
OWNER = 'mail'

CONFIG = '''
protocols = imap lmtp
listen = 127.0.0.1
base_dir = %(dir)s/run
state_dir = %(dir)s/state
instance_name = %(name)s
libexec_dir = %(libexec)s
mail_plugin_dir = %(plugins)s
default_login_user = %(login_user)s
default_internal_user = %(internal_user)s
default_internal_group = %(internal_group)s
import_environment = TZ LC_ALL LD_LIBRARY_PATH LD_PRELOAD
log_path = %(dir)s/dovecot.log
log_timestamp = "%%Y-%%m-%%d %%H:%%M:%%S.%%{usecs} "
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
auth_verbose = yes
ssl = yes
ssl_cert = <%(crt)s
ssl_key = <%(key)s
first_valid_uid = 1
mail_location = maildir:~/Maildir
# The machine may have no inotify instance left for this one.
mailbox_idle_check_interval = 5s
mail_max_userip_connections = 1000
maildir_very_dirty_syncs = yes
submission_host =
protocol lmtp {
  mail_plugins = sieve
}
plugin {
  sieve = file:~/.dovecot.sieve
}
namespace inbox {
  inbox = yes
  mailbox Junk {
    auto = create
    special_use = \\Junk
  }
}
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%%u %(dir)s/users
}
userdb {
  driver = passwd-file
  args = username_format=%%u %(dir)s/users
}
service imap-login {
  inet_listener imap {
    address = 127.0.0.1
    port = %(imap_port)d
  }
  inet_listener imaps {
    address = 127.0.0.1
    port = %(imaps_port)d
    ssl = yes
  }
}
service lmtp {
  unix_listener %(dir)s/lmtp {
    mode = 0666
  }
}
service auth {
  unix_listener %(dir)s/login {
    mode = 0666
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
%(more)s
'''


STORED = re.compile(r"\S+ \S+ lmtp\((?P<user>[^)]*)\).*msgid=(?P<id>[^\s:]+): "
                    r"(?:saved mail to|stored mail into mailbox) '?(?P<folder>[^']*)'?$")
LOGGED_AT = re.compile(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}')


class Dovecot:
    """users: {address: password}; the address is the login name.  `more` is
    configuration text of the test's own."""

    def __init__(self, scratch, users, certificate, name='dovecot', more=''):
        self.scratch, self.name = scratch, name
        self.installation = installation('dovecot')
        self.dir = scratch.directory(name)
        self.users = dict(users)
        self.imap_port, self.imaps_port = free_port(), free_port()
        self.lmtp = os.path.join(self.dir, 'lmtp')
        self.login_service = os.path.join(self.dir, 'login')
        self.log = os.path.join(self.dir, 'dovecot.log')
        self.process = None
        self._owner = pwd.getpwnam(OWNER)
        self._write_users()
        self._write_config(certificate, more)
        self.start()

    def _write_config(self, certificate, more):
        internal = pwd.getpwnam(user('dovecot', 'daemon'))
        scratch, where = self.scratch, self.installation
        self.config = scratch.write(self.name + '/dovecot.conf', CONFIG % {
            'dir': self.dir, 'name': self.name,
            'libexec': where.path('usr/lib/dovecot'),
            'plugins': where.path('usr/lib/dovecot/modules'),
            'login_user': user('dovenull', 'nobody'),
            'internal_user': internal.pw_name,
            'internal_group': _group_of(internal),
            'crt': certificate.crt, 'key': certificate.key,
            'imap_port': self.imap_port, 'imaps_port': self.imaps_port,
            'more': more})

    def _write_users(self):
        """Read anew by Dovecot at the next login when it changed."""
        lines = ['%s:{PLAIN}%s:%d:%d::%s::\n' % (address, password, self._owner.pw_uid,
                                                  self._owner.pw_gid, self.home(address))
                 for address, password in self.users.items()]
        self.scratch.write(self.name + '/users.new', ''.join(lines), 0o644)
        os.rename(os.path.join(self.dir, 'users.new'), os.path.join(self.dir, 'users'))
        for address in self.users:
            self._make_home(address)

    def _make_home(self, address):
        home = self.home(address)
        for path in (os.path.dirname(home), home):
            if not os.path.isdir(path):
                os.mkdir(path)
                os.chown(path, self._owner.pw_uid, self._owner.pw_gid)

    def set_password(self, address, password):
        self.users[address] = password
        self._write_users()

    def start(self):
        # dovecot itself would run /usr/bin/doveconf to read its file; the
        # other way round it works from any folder.
        path = self.installation.path
        self.process = self.scratch.start(
            [path('usr/bin/doveconf'), '-f', 'service=master', '-c', self.config,
             '-m', 'master', '-p', '-e', path('usr/sbin/dovecot'), '-F', '-c', self.config],
            self.name, env=self.installation.environment())
        wait_for('%s answers' % self.name, self._answers, within=60,
                 logs=(self.log, self.process.log))

    def _answers(self):
        """A greeting, not just an open port: with a missing library the
        master listens while every worker dies."""
        try:
            imaplib.IMAP4(HOST, self.imap_port, timeout=2).logout()
            return os.path.exists(self.lmtp)
        except (OSError, imaplib.IMAP4.error):
            if not self.process.alive():
                raise RuntimeError('dovecot ended: ' + self.process.output())
            return False

    def stop(self):
        self.process.stop()
        wait_for('%s stopped listening' % self.name,
                 lambda: not listening(self.imap_port), within=30)

    def home(self, address):
        return os.path.join(self.dir, 'mail', address)

    def maildir(self, address, folder=None):
        parts = ['Maildir'] + (['.' + folder] if folder else [])
        return os.path.join(self.home(address), *parts)

    def connect(self, address, tls='none', ca=None):
        """An imaplib connection, logged in."""
        context = ssl.create_default_context(cafile=ca) if tls != 'none' else None
        if tls == 'implicit':
            session = imaplib.IMAP4_SSL(HOST, self.imaps_port, ssl_context=context, timeout=10)
        else:
            session = imaplib.IMAP4(HOST, self.imap_port, timeout=10)
        if tls == 'starttls':
            session.starttls(context)
        session.login(address, self.users[address])
        return session

    def messages(self, address, folder='INBOX'):
        """The whole messages of a folder as bytes, oldest first."""
        session = self.connect(address)
        try:
            if session.select('"%s"' % folder, readonly=True)[0] != 'OK':
                return []
            found = session.uid('FETCH', '1:*', '(BODY.PEEK[])')[1]
            return [part[1] for part in found if isinstance(part, tuple)]
        finally:
            session.logout()

    def log_lines(self, pattern=''):
        """Its log so far, the lines in which the pattern is found."""
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return [line.rstrip('\n') for line in f if re.search(pattern, line)]

    def deliveries(self, address=None):
        """What LMTP stored, by Dovecot's own clock with microseconds."""
        out = []
        for line in self.log_lines(' lmtp'):
            found = STORED.match(line)
            if found and address in (None, found.group('user')):
                out.append(Delivery(logged_at(line), *found.group('user', 'id', 'folder')))
        return out

    def refused_logins(self, address):
        """Log lines of failed password checks for this user."""
        return self.log_lines(r'auth.*%s.*([Pp]assword mismatch|unknown user)'
                              % re.escape(address))


def logged_at(line):
    """The stamp of a log line as seconds since the epoch."""
    stamp = LOGGED_AT.match(line).group()
    return datetime.datetime.fromisoformat(stamp).timestamp()


def _group_of(entry):
    return grp.getgrgid(entry.pw_gid).gr_name
