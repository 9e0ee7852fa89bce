"""The usual set: one Dovecot with a few users and one Postfix in front of it."""
from certificates import Certificates
from dovecot import Dovecot
from postfix import Postfix

USERS = ('canary@mail.test', 'second@mail.test', 'probe@mail.test',
         'admin@mail.test', 'oncall@mail.test', 'probe@home.test')


class Peers:
    """.certificates, .dovecot, .postfix; every user has the one .password."""

    password = 'pa55 "word\\'

    def __init__(self, scratch, users=USERS, **postfix):
        self.scratch = scratch
        self.certificates = Certificates(scratch.directory('certificates'))
        self.dovecot = Dovecot(scratch, {address: self.password for address in users},
                               self.certificates.good)
        postfix.setdefault('home', ('home.test',))
        self.postfix = Postfix(scratch, self.certificates.good, self.dovecot, **postfix)
