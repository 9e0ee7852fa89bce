"""A certification authority of our own and the certificates that tests need:
one that is right and one for each way to be wrong.
"""
import os
import subprocess
from collections import namedtuple

Certificate = namedtuple('Certificate', 'crt key')

NAMES = 'DNS:localhost,DNS:mail.test,DNS:*.mail.test,IP:127.0.0.1'
WRONG = 'DNS:other.invalid'

CONFIG = '''
[ca]
default_ca = own
[own]
dir = .
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = dn
[dn]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = %(names)s
[wrong]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = %(wrong)s
'''

LONG = ('20200101000000Z', '20491231000000Z')
OVER = ('20200101000000Z', '20200201000000Z')


class Certificates:
    """Made in `directory`: .ca (a file of trust), .good, .wrong_name,
    .self_signed, .expired."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        self._write('openssl.cnf', CONFIG % {'names': NAMES, 'wrong': WRONG})
        self._write('index.txt', '')
        self.ca = self._own('ca', 'authority', '/CN=mailflow test authority').crt
        self.good = self._signed('good', 'server', LONG)
        self.wrong_name = self._signed('wrong-name', 'wrong', LONG)
        self.expired = self._signed('expired', 'server', OVER)
        self.self_signed = self._own('self-signed', 'server', '/CN=localhost')

    def _write(self, name, text):
        with open(os.path.join(self.directory, name), 'w') as f:
            f.write(text)

    def _pair(self, name):
        return Certificate(*(os.path.join(self.directory, name + end) for end in ('.crt', '.key')))

    def _openssl(self, *args):
        subprocess.run(['openssl', *args], cwd=self.directory, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)

    def _own(self, name, extensions, subject):
        pair = self._pair(name)
        self._openssl('req', '-config', 'openssl.cnf', '-x509', '-newkey', 'ec',
                      '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650',
                      '-subj', subject, '-extensions', extensions,
                      '-keyout', pair.key, '-out', pair.crt)
        return pair

    def _signed(self, name, extensions, validity):
        pair = self._pair(name)
        self._openssl('req', '-config', 'openssl.cnf', '-new', '-newkey', 'ec',
                      '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                      '-subj', '/CN=%s' % name, '-keyout', pair.key, '-out', name + '.csr')
        self._openssl('ca', '-config', 'openssl.cnf', '-batch', '-notext',
                      '-cert', 'ca.crt', '-keyfile', 'ca.key', '-extensions', extensions,
                      '-startdate', validity[0], '-enddate', validity[1],
                      '-in', name + '.csr', '-out', pair.crt)
        return pair
