#!/usr/bin/env python3
"""Logins by OAuth 2.0: the token comes from a command, anew for each login,
goes to the server and nowhere else; one that is refused is our own trouble."""
import base64
import hashlib
import hmac
import json
import os
import threading
import time

from harness import Case, Dovecot, descendants, main

USER = 'probe@mail.test'
KEY = b'a key of thirty-two bytes or more'

# Tokens are signed, so that Dovecot needs nobody to ask about them.
CONFIG = '''
auth_mechanisms = %s
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = %s
}
'''
OAUTH = '''
introspection_mode = local
local_validation_key_dict = fs:posix:prefix=%s/
username_attribute = sub
'''


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


def token(user=USER, lasts=3600, **claims):
    now = int(time.time())
    body = '.'.join(coded(json.dumps(part).encode()) for part in (
        {'alg': 'HS256', 'typ': 'JWT'},
        {'sub': user, 'iat': now - 60, 'exp': now + lasts, **claims}))
    return body + '.' + coded(hmac.new(KEY, body.encode(), hashlib.sha256).digest())


def traces(secret):
    """The secret as it may stand somewhere: as it is, and within base 64 at
    each of its three places."""
    out = [secret.encode()]
    for skip in range(3):
        whole = base64.b64encode(b'x' * skip + secret.encode())
        out.append(whole[4 if skip else 0:-4])
    return out


class OAuth(Case):
    def setUp(self):
        super().setUp()
        scratch = self.scratch
        keys = scratch.directory('keys', 'default', 'HS256')
        scratch.write('keys/default/HS256/default', base64.b64encode(KEY).decode())
        self.settings = scratch.write('oauth2.conf.ext',
                                      OAUTH % os.path.dirname(os.path.dirname(keys)))
        self.login = self.tokens('plain login xoauth2 oauthbearer', 'login')
        self.postfix.set(smtpd_sasl_path=self.login.login_service)
        self.token_file = scratch.sub('token')
        self.runs = scratch.sub('runs')
        self.give(token())

    def tokens(self, mechanisms, name):
        """A Dovecot that takes them."""
        return Dovecot(self.scratch, {USER: 'unused'}, self.peers.certificates.good, name=name,
                       more=CONFIG % (mechanisms, self.settings))

    def give(self, text):
        """What the command prints from now on."""
        self.scratch.write('token.new', text + '\n')
        os.rename(self.scratch.sub('token.new'), self.token_file)

    def command(self):
        return 'echo run >>%s; cat %s' % (self.runs, self.token_file)

    def fetched(self):
        try:
            with open(self.runs) as f:
                return len(f.readlines())
        except FileNotFoundError:
            return 0

    def sent_by(self, command=None, **server):
        m = self.usual(every='1s')
        m.section('server', 'mail', port=self.postfix.submission, host='localhost', tls='starttls',
                  ca_file=self.peers.certificates.ca, user=USER,
                  token_command=command or self.command(), **server)
        return m

    def blind(self, words):
        """It is blind, and the reason has these words."""
        m = self.monitor
        return m.wait('an episode of blindness with "%s"' % words, lambda: [
            episode for episode in m.status()['episodes']
            if episode['class'] == 'blind' and words in episode['last_reply']])[0]

    def test_the_token_is_fetched_anew_for_each_login(self):
        m = self.sent_by()
        m.start()
        m.wait_delivered('there', count=2)
        first = token(lasts=7200)
        self.give(first)
        m.wait_delivered('there', count=4)
        self.assertGreaterEqual(self.fetched(), 4)
        self.assertFalse(m.attempts('there', stage='auth'))
        self.assertTrue(self.postfix.log_lines('sasl_method=OAUTHBEARER, sasl_username=' + USER))
        self.assertEqual(m.stop(), 0)

    def looks_by(self, **mailbox):
        """Mail for USER goes to the server with tokens, and is looked for there."""
        m = self.usual(every='1s', to=USER)
        self.postfix.set(transport_maps='inline:{%s=lmtp:unix:%s}' % (USER, self.login.lmtp))
        m.section('mailbox', 'canary', port=self.login.imaps_port, host='localhost', tls='implicit',
                  ca_file=self.peers.certificates.ca, user=USER, token_command=self.command(),
                  insecure_auth=False, **mailbox)
        del m.sections['mailbox', 'canary']['password_file']
        return m

    def test_a_mailbox_is_looked_into_with_a_token(self):
        m = self.looks_by()
        m.start()
        m.wait_delivered('there', count=2)
        self.assertTrue(self.login.log_lines('imap-login: .*method=OAUTHBEARER'))
        self.assertEqual(m.stop(), 0)

    def test_a_mailbox_that_has_only_xoauth2_is_looked_into(self):
        self.login.stop()
        self.login = self.tokens('plain xoauth2', 'other')
        m = self.looks_by()
        m.start()
        m.wait_delivered('there')
        self.assertTrue(self.login.log_lines('imap-login: .*method=XOAUTH2'))

    def test_a_long_token_opens_a_mailbox(self):
        self.give(token(groups=['x' * 40] * 50))
        m = self.looks_by()
        m.start()
        m.wait_delivered('there')

    def test_a_mailbox_that_refuses_the_token_is_tried_twice_and_blind(self):
        self.give(token(lasts=-30))
        m = self.looks_by(auth_pause='1h')
        m.start()
        box = m.wait('it is blind', lambda: [box for box in m.status()['mailboxes']
                                             if box['state'] == 'blind' and box['reason']])[0]
        self.assertIn('invalid_token', box['reason'])
        m.wait('two tokens were fetched', lambda: self.fetched() >= 2)
        self.assertEqual(m.stop(), 0)
        self.assertEqual(self.fetched(), 2, 'no third login within the pause')

    def test_where_there_is_only_xoauth2_it_is_used(self):
        m = self.sent_by()
        self.postfix.set(smtpd_sasl_mechanism_filter='xoauth2, plain, login')
        m.start()
        m.wait_delivered('there')
        self.assertTrue(self.postfix.log_lines('sasl_method=XOAUTH2, sasl_username=' + USER))

    def test_a_long_token_gets_through(self):
        self.give(token(groups=['x' * 40] * 50))        # as large as some providers make them
        m = self.sent_by()
        self.postfix.set(smtpd_sasl_response_limit=12288)
        m.start()
        m.wait_delivered('there')

    def test_a_refused_token_is_our_own_trouble_and_its_reason_is_told(self):
        self.give(token(lasts=-30))
        m = self.sent_by(auth_pause='1h')
        m.start()
        self.blind('invalid_token')
        rows = m.wait('two logins were refused', lambda: len(m.attempts('there')) >= 2 and
                      m.attempts('there'))
        self.assertEqual({(row['stage'], row['class'], row['temporary'], row['code']) for row in rows},
                         {('auth', 'auth', 'temporary', '535')})
        m.wait('the admin was told', lambda: any(
            b'invalid_token' in message for message in self.dovecot.messages('admin@mail.test')))
        self.assertEqual(len(m.attempts('there')), 2, 'no third try within the pause')
        self.assertEqual(self.fetched(), 2)
        self.assertFalse(self.postfix.log_lines('/submission.* client=.*sasl_method'))
        self.assertFalse(self.postfix.log_lines('/submission.*: NOQUEUE'), 'no MAIL without a login')

    def test_after_the_pause_a_new_token_serves(self):
        self.give(token(lasts=-30))
        m = self.sent_by(auth_pause='2s')
        m.start()
        m.wait('a login was refused', lambda: m.attempts('there', stage='auth'))
        self.give(token())
        m.wait_delivered('there')

    def test_a_command_that_fails_makes_no_attempt_and_gives_its_reason(self):
        before = self.postfix.log_lines('/submission.*connect from')
        for command, words in (
                ('echo the key ring is locked >&2; exit 3', 'status 3: the key ring is locked'),
                ('true', 'printed nothing'),
                ('echo "error: try later"', 'is no access token'),
                ('kill -9 $$', 'died of signal 9'),
                ('head -c 20000 /dev/zero | tr "\\\\0" x', 'more than 16 KiB'),
                ('no-such-program', 'no-such-program')):
            m = self.sent_by(command)
            if m.process is None or not m.process.alive():
                m.start()
            else:
                m.reload()
            self.blind(words)
            self.assertIn('token_command: ', self.blind(words)['last_reply'])
        self.assertEqual(self.postfix.log_lines('/submission.*connect from'), before)
        self.assertFalse(m.finished(outcome='lost'))
        rows = m.attempts('there')
        self.assertEqual({row['stage'] for row in rows}, {''})
        self.assertEqual(m.stop(), 0)

    def test_the_token_is_nowhere_but_on_the_wire(self):
        secret = token(jti='a-token-like-no-other')
        self.give(secret)
        m = self.sent_by('set -x; read t <%s; echo "$t"' % self.token_file)
        watch = Watch(m, traces(secret))
        m.start()
        watch.start()
        m.wait_delivered('there', count=2)
        self.postfix.set_full(True)
        m.wait('it was refused', lambda: m.attempts('there', code='452'))
        self.assertIn('MAIL FROM', m.ctl('probes', '--transcript', 'there').stdout)
        refused = token(lasts=-30, jti='a-token-like-no-other')
        self.give(refused)
        self.postfix.set_full(False)
        m.wait('the token was refused', lambda: m.attempts('there', stage='auth'))
        transcript = m.ctl('probes', '--transcript', 'there').stdout
        self.assertIn('AUTH OAUTHBEARER', transcript)
        self.assertIn('invalid_token', transcript)
        watch.stop()
        self.assertFalse(watch.found)
        self.assertGreater(watch.looked, 10)
        self.assertEqual(m.stop(), 0)
        look_for = traces(secret) + traces(refused)
        for folder, _, names in os.walk(m.dir):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, 'rb') as f:
                        data = f.read()
                    self.assertFalse([t for t in look_for if t in data], path)
        self.assertIn('says: + ', m.log(), 'what the shell told of its steps')
        for said in (m.log().encode(), *self.dovecot.messages('admin@mail.test')):
            self.assertFalse([t for t in look_for if t in said])


class Watch(threading.Thread):
    """Looks at the arguments and the environment of the monitor and of all
    below it, again and again."""

    def __init__(self, monitor, traces):
        super().__init__(daemon=True)
        self.monitor, self.traces = monitor, traces
        self.found, self.looked, self.over = [], 0, False

    def run(self):
        while not self.over:
            for pid in [self.monitor.process.pid, *descendants(self.monitor.process.pid)]:
                for name in ('cmdline', 'environ'):
                    self.look('/proc/%d/%s' % (pid, name))
            self.looked += 1
            time.sleep(0.02)

    def look(self, path):
        try:
            with open(path, 'rb') as f:
                data = f.read()
        except OSError:
            return
        if any(trace in data for trace in self.traces):
            self.found.append(path)

    def stop(self):
        self.over = True
        self.join()


if __name__ == '__main__':
    main()
