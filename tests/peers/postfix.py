"""A private Postfix: its own configuration, queue and log in one directory,
on unprivileged ports of 127.0.0.1.

Ports: .smtp (as port 25: STARTTLS offered, its own domains accepted),
.plain (the same without STARTTLS), .submission (STARTTLS and login needed),
.smtps (implicit TLS and login), .full (always out of queue space).

set_full(True) makes every port of it but .spare answer 452 4.3.1: smtpd compares
the free space with queue_minfree at MAIL, and here each session has a fresh
smtpd, which reads main.cf as it stands.  So it takes effect with the next
session, without a reload.
"""
import os
import pwd
import re
import smtplib
import time

from installation import group, installation, user
from ports import HOST, free_port, listening
from scratch import Failure, wait_for

NEVER_ENOUGH = 999999999999999

# Postfix waits until its files are no longer fresh, in case they are still
# being written; ours are renamed into place whole.
SETTLED = 60

QUEUES = ('active', 'bounce', 'corrupt', 'defer', 'deferred', 'flush', 'hold',
          'incoming', 'private', 'saved', 'trace')

SERVICES = '''\
postlog    unix-dgram n - n - 1 postlogd
pickup     unix n - n 60 1 pickup
cleanup    unix n - n - 0 cleanup
qmgr       unix n - n 300 1 qmgr
tlsmgr     unix - - n 1000? 1 tlsmgr
rewrite    unix - - n - - trivial-rewrite
bounce     unix - - n - 0 bounce
defer      unix - - n - 0 bounce
trace      unix - - n - 0 bounce
verify     unix - - n - 1 verify
flush      unix n - n 1000? 0 flush
proxymap   unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp       unix - - n - - smtp
relay      unix - - n - - smtp
showq      unix n - n - - showq
error      unix - - n - - error
retry      unix - - n - - error
discard    unix - - n - - discard
lmtp       unix - - n - - lmtp
anvil      unix - - n - 1 anvil
scache     unix - - n - 1 scache
'''

# What a port adds to main.cf.
PORTS = {
    'smtp': {},
    'plain': {'smtpd_tls_security_level': 'none'},
    'submission': {'smtpd_tls_security_level': 'encrypt',
                   'smtpd_sasl_auth_enable': 'yes',
                   'smtpd_client_restrictions': 'permit_sasl_authenticated,reject'},
    'smtps': {'smtpd_tls_wrappermode': 'yes', 'smtpd_sasl_auth_enable': 'yes',
              'smtpd_client_restrictions': 'permit_sasl_authenticated,reject'},
    'full': {'queue_minfree': NEVER_ENOUGH},
    'spare': {'queue_minfree': 0},
}


class Postfix:
    """domains: accepted; their mail goes to `dovecot` by LMTP, or, with
    `relay_to` = (host, port), on to that server.  `home` is a domain that goes
    to Dovecot even so (for bounces).  settings: more lines for main.cf.
    listeners: {name: {setting: value}}: more ports of the test's own."""

    def __init__(self, scratch, certificate, dovecot, name='postfix',
                 domains=('mail.test',), relay_to=None, home=(), settings=None,
                 listeners=None, fresh_smtpd=True):
        if os.geteuid() != 0:
            raise PermissionError('Postfix must be started by root')
        self.scratch, self.name, self.dovecot = scratch, name, dovecot
        self.installation = installation('postfix')
        self.dir = scratch.directory(name)
        self.log = os.path.join(self.dir, 'postfix.log')
        self.listeners = {**PORTS, **(listeners or {})}
        self.port = {key: free_port() for key in self.listeners}
        self.process = None
        self._make_directories()
        self._write_maps(domains, relay_to, home)
        self.settings = {**self._main(certificate, domains, fresh_smtpd, home), **(settings or {})}
        self._write_main()
        self.write_master()
        self.start()

    def __getattr__(self, key):
        """postfix.smtp, postfix.submission ...: the ports by name."""
        try:
            return self.__dict__['port'][key]
        except KeyError:
            raise AttributeError(key)

    # -- files

    def _make_directories(self):
        owner = pwd.getpwnam(user('postfix', 'mail'))
        self.owner = owner.pw_name
        self.queue = self.scratch.directory(self.name, 'queue')
        self.data = self.scratch.directory(self.name, 'data', mode=0o700)
        os.chown(self.data, owner.pw_uid, owner.pw_gid)
        os.makedirs(os.path.join(self.queue, 'pid'))
        for name in QUEUES:
            self._owned(name, owner.pw_uid, 0o700)
        self._owned('maildrop', owner.pw_uid, 0o730)
        self._owned('public', owner.pw_uid, 0o710)

    def _owned(self, name, uid, mode):
        path = self.scratch.directory(self.name, 'queue', name, mode=mode)
        os.chown(path, uid, -1)

    def _write_maps(self, domains, relay_to, home):
        local = 'lmtp:unix:%s' % self.dovecot.lmtp
        lines = ['%s %s\n' % (domain, local) for domain in home]
        onward = 'smtp:[%s]:%d' % relay_to if relay_to else local
        lines += ['%s %s\n' % (domain, onward) for domain in domains]
        self._place('transport', ''.join(lines))
        self._place('users', ''.join('%s x\n' % address for address in self.dovecot.users))

    def _main(self, certificate, domains, fresh_smtpd, home):
        where = self.installation
        settings = {
            'compatibility_level': 3.6,
            'myhostname': 'mx.mail.test',
            'mydestination': '',
            'mynetworks': '127.0.0.0/8',
            'inet_interfaces': HOST,
            'inet_protocols': 'ipv4',
            'smtp_dns_support_level': 'disabled',
            'smtp_host_lookup': 'native',
            'daemon_directory': where.path('usr/lib/postfix/sbin'),
            'command_directory': where.path('usr/sbin'),
            'shlib_directory': where.path('usr/lib/postfix'),
            'meta_directory': self.dir,
            'queue_directory': self.queue,
            'data_directory': self.data,
            'mail_owner': self.owner,
            'setgid_group': group('postdrop', 'man'),
            'default_privs': 'nobody',
            'maillog_file': self.log,
            'maillog_file_prefixes': self.scratch.path,
            'import_environment': 'MAIL_CONFIG MAIL_DEBUG MAIL_LOGTAG TZ LANG=C '
                                  'POSTLOG_SERVICE POSTLOG_HOSTNAME LD_LIBRARY_PATH',
            'notify_classes': '',
            'smtpd_error_sleep_time': 0,
            'alias_maps': '', 'alias_database': '', 'local_recipient_maps': '',
            'relay_domains': ' '.join([*domains, *home]),
            'relay_recipient_maps': 'texthash:%s/users' % self.dir,
            'transport_maps': 'texthash:%s/transport' % self.dir,
            'smtpd_recipient_restrictions': 'reject_unauth_destination',
            'smtpd_relay_restrictions': 'reject_unauth_destination',
            'smtpd_sasl_type': 'dovecot',
            'smtpd_sasl_path': self.dovecot.login_service,
            'smtpd_tls_security_level': 'may',
            'smtpd_tls_cert_file': certificate.crt,
            'smtpd_tls_key_file': certificate.key,
            'smtpd_tls_loglevel': 1,
            'smtpd_client_connection_count_limit': 0,
            'tls_random_source': 'dev:/dev/urandom',
            'lmtp_destination_concurrency_limit': 1,    # in the order in which it came
            'queue_minfree': 0,
            'queue_run_delay': '2s', 'minimal_backoff_time': '2s',
            'maximal_backoff_time': '2s',
        }
        if fresh_smtpd:
            settings['max_use'] = 1
        return settings

    def _place(self, name, text):
        """Renamed into place whole, with an older stamp."""
        path = os.path.join(self.dir, name)
        with open(path + '.new', 'w') as f:
            f.write(text)
        then = time.time() - SETTLED
        os.utime(path + '.new', (then, then))
        os.rename(path + '.new', path)

    def _write_main(self):
        self._place('main.cf', ''.join('%s = %s\n' % pair for pair in self.settings.items()))

    def write_master(self):
        lines = []
        for name, options in self.listeners.items():
            lines.append('%s:%d inet n - n - - smtpd' % (HOST, self.port[name]))
            lines.append('  -o syslog_name=postfix/%s' % name)
            lines += ['  -o { %s = %s }' % pair for pair in options.items()]
        self._place('master.cf', '\n'.join(lines) + '\n' + SERVICES)

    # -- life

    def start(self):
        self.process = self.scratch.start(
            [self.installation.path('usr/lib/postfix/sbin/master'), '-c', self.dir, '-d'],
            self.name, env=self.installation.environment())
        wait_for('%s answers' % self.name, self._answers, within=60,
                 logs=(self.log, self.process.log))

    def _answers(self):
        try:
            smtplib.SMTP(HOST, self.port['spare'], timeout=2).quit()
            return True
        except (OSError, smtplib.SMTPException):
            if not self.process.alive():
                raise Failure('postfix ended: ' + self.process.output() + self.log_text())
            return False

    def stop(self):
        self.process.stop()
        wait_for('%s stopped listening' % self.name,
                 lambda: not listening(self.port['smtp']), within=30)

    def set(self, **settings):
        """Changes main.cf; the next session sees it."""
        self.settings.update(settings)
        self._write_main()

    def set_full(self, on):
        """Out of queue space, or no longer; returns when a session has seen it."""
        self.set(queue_minfree=NEVER_ENOUGH if on else 0)
        code = 452 if on else 250
        wait_for('%s answers %d to MAIL' % (self.name, code),
                 lambda: self.mail_code() == code, within=60)

    def mail_code(self, port='plain'):
        """What a port answers to MAIL just now."""
        with smtplib.SMTP(HOST, self.port[port], timeout=5) as session:
            session.ehlo('harness.test')
            return session.mail('look@mail.test')[0]

    # -- what it did

    def log_text(self):
        try:
            with open(self.log, encoding='utf-8', errors='replace') as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def log_lines(self, pattern=''):
        return [line for line in self.log_text().splitlines() if re.search(pattern, line)]

    def queued(self):
        """How many messages wait in its queue."""
        found = set()
        for name in 2 * ('incoming', 'active', 'deferred', 'hold'):     # they move
            for _, _, files in os.walk(os.path.join(self.queue, name)):
                found.update(files)
        return len(found)
