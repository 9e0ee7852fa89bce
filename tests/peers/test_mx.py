#!/usr/bin/env python3
"""Mail hosts found by MX, on port 25 of hosts of their own."""
import json
import os
import unittest

from harness import SERVFAIL, TOP, Monitor, Names, Scratch, main, wait_for
from network import Dnsmasq, Namespace, Unavailable

KIT = os.path.join(TOP, 'tests', 'kit')
IMAP, ALERTS, LATE_DNS = 1143, 2525, 5353
FULL = {'mail': '452 4.3.1 Insufficient system storage'}

ZONE = (
    'host-record=mx1.far.test,10.77.1.2,fd77:1::2', 'host-record=mx2.far.test,10.77.2.2',
    'mx-host=far.test,mx1.far.test,10', 'mx-host=far.test,mx2.far.test,20',
    # The name that stands for "nowhere" is an empty one (RFC 7505).
    'dns-rr=null.test,15,000000', 'local=/null.test/', 'local=/far.test/', 'local=/nowhere.test/',
    'cname=alias.test,far.test', 'local=/alias.test/',
    'server=/late.test/127.0.0.1#%d' % LATE_DNS,
)


class World(unittest.TestCase):
    """The monitor's host, with its mailbox and its name server, and two mail
    hosts, mx1 and mx2, that put what they take into the mailbox."""

    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self._close)
        try:
            self.home, self.mx1, self.mx2 = (
                Namespace(self.scratch, name) for name in ('home', 'mx1', 'mx2'))
            self.home.cable(self.mx1, ['10.77.1.1/24', 'fd77:1::1/64'],
                            ['10.77.1.2/24', 'fd77:1::2/64'])
            self.home.cable(self.mx2, ['10.77.2.1/24'], ['10.77.2.2/24'])
            self.names = Dnsmasq(self.home, *ZONE)
        except Unavailable as why:
            self.skipTest(str(why))
        self.store = self.scratch.directory('store')
        self.mail(self.mx1, '10.77.1.2')
        self.mail(self.mx2, '10.77.2.2')
        self.told = self.scratch.directory('told')
        self.script(self.home, 'smtp', '127.0.0.1', ALERTS, '--store', self.told)
        self.script(self.home, 'imap', '127.0.0.1', IMAP, '--store', self.store)
        self.monitor = Monitor(self.scratch, resolver='127.0.0.1:53')
        self.monitor.prefix = self.home.prefix

    def _close(self):
        where = os.environ.get('MAILFLOW_FAILED')
        self.scratch.stop_all()
        if where and not self._outcome.success:
            self.scratch.keep = self.scratch.path
        self.scratch.close()

    # -- the servers

    def script(self, namespace, kind, host, port, *more):
        name = '%s-%s-%d' % (namespace.name, kind, port)
        namespace.start(['python3', os.path.join(KIT, kind + '_script.py'), '--host', host,
                         '--port', str(port), '--log', self.scratch.sub('log', name + '.log'),
                         *more], name)
        wait_for('%s listens' % name, lambda: namespace.listens(
            port, 'tcp6' if ':' in host else 'tcp'))

    def mail(self, namespace, address):
        script = self.scratch.write(namespace.name + '.json', json.dumps(
            {'control': namespace.name + '.control'}))
        self.script(namespace, 'smtp', address, 25, '--store', self.store, '--script', script)

    def becomes(self, namespace, **replies):
        """From now on its mail server answers so."""
        path = self.scratch.write(namespace.name + '.new', json.dumps(replies))
        os.rename(path, self.scratch.sub(namespace.name + '.control'))

    # -- the monitor

    def begin(self, to='canary@far.test', reject_backoff=('1s',), **server):
        m = self.monitor
        m.section('server', 'world', **{'mx': 'first', 'connect_timeout': '5s', 'timeout': '10s',
                                        **server})
        m.server('relay', ALERTS)
        m.mailbox('canary', IMAP, 'canary', 'secret')
        m.alerts(to=['admin@home.test'], servers=['relay'])
        m.route('far', 'world', 'canary', to=to, reject_backoff=reject_backoff, alerts='default',
                **{'from': 'probe@home.test'})
        return m.start()

    def open(self, scope, klass):
        return [episode for episode in self.monitor.status()['episodes']
                if episode['scope'] == scope and episode['class'] == klass]

    def failing(self, scope, klass):
        m = self.monitor
        return m.wait('%s of %s is told' % (klass, scope), lambda: [
            episode for episode in self.open(scope, klass) if episode['state'] == 'failing'])[0]

    def hosts(self, **fields):
        return {row['host'] for row in self.monitor.attempts('far', **fields)}


class First(World):
    """mx = "first"."""

    def test_the_preferred_host_takes_the_mail(self):
        m = self.begin()
        m.wait_delivered('far', count=2)
        self.assertEqual(self.hosts(), {'mx1.far.test'})
        self.assertEqual({row['host'] for row in m.finished('far')}, {'mx1.far.test'})
        self.assertEqual(m.stop(), 0)

    def test_another_host_s_accept_does_not_end_the_first_s_episode(self):
        self.becomes(self.mx1, **FULL)
        m = self.begin()
        self.failing('system mx1.far.test', 'system-full')
        # It falls silent, and what is sent goes to the second.
        self.becomes(self.mx1, greeting={'close': True, 'text': None})
        m.wait_delivered('far', count=4)
        self.assertEqual(self.hosts(**{'class': 'accepted'}), {'mx2.far.test'})
        self.assertTrue(self.open('system mx1.far.test', 'system-full'))
        # Only its own word does.
        self.becomes(self.mx1)
        m.wait('the episode is over', lambda: m.rows('episodes'))
        row, = m.rows('episodes')
        self.assertEqual((row['scope'], row['class']), ('system mx1.far.test', 'system-full'))
        self.assertEqual(m.stop(), 0)

    def test_a_dead_first_host_is_passed_over(self):
        self.becomes(self.mx1, greeting='421 4.3.2 not now')
        m = self.begin()
        m.wait_delivered('far', count=2)
        self.assertEqual(self.hosts(), {'mx2.far.test'})
        self.assertEqual(m.stop(), 0)

    def test_the_server_s_domain_is_used_where_it_names_one(self):
        m = self.begin(to='canary@nowhere.test', domain='far.test')
        m.wait_delivered('far')
        self.assertEqual(self.hosts(), {'mx1.far.test'})
        self.assertEqual(m.stop(), 0)

    def test_an_alias_of_a_domain_has_its_mail_hosts(self):
        m = self.begin(to='canary@alias.test')
        m.wait_delivered('far')
        self.assertEqual(self.hosts(), {'mx1.far.test'})
        self.assertEqual(m.stop(), 0)

    def test_ipv6_is_used_where_it_is_asked_for(self):
        self.script(self.mx1, 'smtp', 'fd77:1::2', 25, '--store', self.store)
        m = self.begin(family='ipv6')
        m.wait_delivered('far')
        self.assertEqual({row['address'] for row in m.attempts('far')}, {'fd77:1::2'})
        self.assertEqual(m.stop(), 0)


class Domains(World):
    """What a domain may be, and what its name servers may do."""

    def test_a_null_mx_is_the_domain_s_own_refusal(self):
        m = self.begin(to='canary@null.test')
        episode = self.failing('system null.test', 'dns')
        self.assertIn('accepts no mail (null MX', episode['last_reply'])
        row = m.wait('the probe is rejected', lambda: m.finished('far', 'rejected'))[0]
        self.assertEqual(row['attempts'], '1', 'no retry will help')
        self.assertEqual(m.stop(), 0)

    def test_a_domain_that_does_not_exist_is_the_domain_s_trouble(self):
        m = self.begin(to='canary@nowhere.test')
        episode = self.failing('system nowhere.test', 'dns')
        self.assertIn('does not exist', episode['last_reply'])
        self.assertFalse([e for e in m.status()['episodes'] if e['class'] == 'blind'])
        self.assertEqual(m.stop(), 0)

    def test_a_domain_without_mx_is_its_own_mail_host(self):
        m = self.begin(to='canary@mx2.far.test')
        m.wait_delivered('far')
        self.assertEqual(self.hosts(), {'mx2.far.test'})
        self.assertEqual(m.stop(), 0)

    def test_a_failing_name_server_makes_us_blind_and_then_all_is_well(self):
        late = self.home.inside(lambda: Names(self.scratch, otherwise=SERVFAIL, port=LATE_DNS))
        m = self.begin(to='canary@late.test')
        m.wait('we are blind', lambda: self.open('resolver', 'blind'))
        self.assertFalse(self.open('system late.test', 'dns'))
        self.assertFalse(m.finished('far'), 'the probe is kept')
        late.mx['late.test'] = [(10, 'mx1.late.test')]
        late.hosts['mx1.late.test'] = '10.77.1.2'
        row = m.wait_delivered('far')[0]
        self.assertGreater(int(row['attempts']), 1)
        m.wait('we see again', lambda: not m.status()['episodes'])
        self.assertEqual(m.stop(), 0)


class Each(World):
    """mx = "each": every mail host by probes of its own."""

    def delivered_by(self, host, count=1):
        m = self.monitor
        m.wait('%d delivered by %s' % (count, host), lambda: len(
            [row for row in m.finished('far', 'delivered') if row['host'] == host]) >= count)

    def shown(self):
        return {route['host']: route for route in self.monitor.status()['routes']}

    def test_every_host_has_probes_of_its_own(self):
        m = self.begin(mx='each')
        for host in ('mx1.far.test', 'mx2.far.test'):
            self.delivered_by(host, 2)
        self.assertEqual(sorted(self.shown()), ['mx1.far.test', 'mx2.far.test'])
        self.assertEqual(m.stop(), 0)

    def test_a_full_first_host_is_seen_and_the_second_s_accepts_do_not_end_it(self):
        self.becomes(self.mx1, **FULL)
        m = self.begin(mx='each')
        self.failing('system mx1.far.test', 'system-full')
        self.delivered_by('mx2.far.test', 5)
        self.assertEqual([e['scope'] for e in m.status()['episodes']], ['system mx1.far.test'])
        self.assertEqual(self.hosts(**{'class': 'system-full'}), {'mx1.far.test'})
        shown = self.shown()
        self.assertEqual(shown['mx1.far.test']['episode']['class'], 'system-full')
        self.assertIsNone(shown['mx2.far.test']['episode'])
        text = m.ctl('status').stdout
        self.assertRegex(text, r'far mx1.far.test +failing')
        self.assertRegex(text, r'far mx2.far.test +ok')
        self.assertEqual(m.ctl('check', 'far').returncode, 2)
        self.becomes(self.mx1)
        m.wait('the episode is over', lambda: m.rows('episodes'))
        row, = m.rows('episodes')
        self.assertEqual((row['scope'], row['class']), ('system mx1.far.test', 'system-full'))
        self.delivered_by('mx1.far.test')
        subjects = self.subjects(3)
        self.assertEqual(len(subjects), 3, subjects)
        self.assertEqual(m.stop(), 0)

    def subjects(self, count):
        def read():
            found = []
            for name in sorted(os.listdir(self.told)):
                if name.endswith('.eml'):
                    with open(os.path.join(self.told, name), encoding='utf-8') as f:
                        found += [line.strip() for line in f if line.startswith('Subject:')]
            return found
        self.monitor.wait('%d notices' % count, lambda: len(read()) >= count)
        return read()

    def test_a_kept_probe_goes_on_to_its_own_host_after_a_restart(self):
        self.becomes(self.mx1, **FULL)
        m = self.begin(mx='each')
        self.failing('system mx1.far.test', 'system-full')
        self.delivered_by('mx2.far.test')
        kept = self.shown()['mx1.far.test']['current']['probe']
        m.kill()
        m.restart()
        m.wait('the same probe is tried again', lambda: (self.shown().get(
            'mx1.far.test', {}).get('current') or {}).get('attempts', 0) > 1)
        self.assertEqual(self.shown()['mx1.far.test']['current']['probe'], kept)
        self.becomes(self.mx1)
        m.wait('it is delivered', lambda: [row for row in m.finished('far', 'delivered')
                                           if row['probe'] == kept])
        row, = [row for row in m.finished('far') if row['probe'] == kept]
        self.assertEqual(row['host'], 'mx1.far.test')
        self.assertEqual(m.stop(), 0)

    def test_a_host_that_is_no_longer_listed_gets_no_new_probes(self):
        m = self.begin(mx='each')
        self.delivered_by('mx1.far.test')
        self.delivered_by('mx2.far.test')
        self.names.tell(*[line for line in ZONE if line != 'mx-host=far.test,mx2.far.test,20'])
        m.stop()
        m.restart()         # the look-up of the hour comes at a start, too
        self.delivered_by('mx1.far.test', 3)
        m.wait('the other one is left', lambda: list(self.shown()) == ['mx1.far.test'])
        before = len(m.attempts('far', host='mx2.far.test'))
        self.delivered_by('mx1.far.test', 6)
        self.assertEqual(len(m.attempts('far', host='mx2.far.test')), before)
        self.assertEqual(list(self.shown()), ['mx1.far.test'])
        self.assertEqual(m.stop(), 0)

    def test_a_host_that_left_with_a_kept_probe_ends_gently(self):
        self.becomes(self.mx2, mail='451 4.7.1 come again later')
        m = self.begin(mx='each')
        m.wait('a probe is kept for the second', lambda: (self.shown().get(
            'mx2.far.test', {}).get('current') or {}).get('attempts', 0) > 0)
        self.names.tell(*[line for line in ZONE if 'mx2.far.test' not in line])
        m.stop()
        m.restart()
        rows = m.wait('the kept probe is ended', lambda: [
            row for row in m.finished('far') if row['host'] == 'mx2.far.test'])
        self.assertEqual((rows[0]['outcome'], rows[0]['note']), ('blind', 'mx-gone'))
        self.delivered_by('mx1.far.test', 2)
        self.assertFalse(self.open('system mx2.far.test', 'dns'))
        self.assertEqual(list(self.shown()), ['mx1.far.test'])
        self.assertEqual(m.stop(), 0)

    def test_a_reload_changes_between_first_and_each_and_back(self):
        m = self.begin()
        self.delivered_by('mx1.far.test')
        m.section('server', 'world', mx='each')
        m.reload()
        self.delivered_by('mx2.far.test', 2)
        self.assertEqual(sorted(self.shown()), ['mx1.far.test', 'mx2.far.test'])
        m.section('server', 'world', mx='first')
        m.reload()
        m.wait('one row is left', lambda: list(self.shown()) == [''])
        before = len(m.finished('far', 'delivered'))
        m.wait_delivered('far', before + 3)
        self.assertEqual(m.finished('far')[-1]['host'], 'mx1.far.test')
        self.assertEqual(m.stop(), 0)

    def test_a_domain_without_hosts_is_told_by_the_route_itself(self):
        m = self.begin(to='canary@null.test', mx='each')
        episode = self.failing('system null.test', 'dns')
        self.assertIn('accepts no mail (null MX', episode['last_reply'])
        self.assertEqual(list(self.shown()), [''])
        self.assertEqual(m.stop(), 0)

    def test_a_name_server_that_fails_at_first_delays_them(self):
        late = self.home.inside(lambda: Names(self.scratch, otherwise=SERVFAIL, port=LATE_DNS))
        m = self.begin(to='canary@late.test', mx='each')
        m.wait('we are blind', lambda: self.open('resolver', 'blind'))
        late.mx['late.test'] = [(10, 'mx1.late.test')]
        late.hosts['mx1.late.test'] = '10.77.1.2'
        m.wait_delivered('far')
        self.assertEqual(m.stop(), 0)


class Diagnose(World):
    """mailflowctl diagnose, of domains."""

    def diagnose(self, what, status, *words):
        m = self.monitor
        m.section('server', 'world', mx='first')
        m.mailbox('canary', IMAP, 'canary', 'secret')
        m.route('far', 'world', 'canary', to='canary@mx2.far.test')
        m.write()
        done = self.monitor.ctl('diagnose', what)
        self.assertEqual((done.returncode, done.stderr), (status, ''), done.stdout)
        flat = ' '.join(done.stdout.split())
        for word in words:
            self.assertIn(word, flat)
        return flat

    def test_every_address_of_every_mail_host_is_looked_at(self):
        self.script(self.mx1, 'smtp', 'fd77:1::2', 25, '--store', self.store)
        for what in ('far.test', 'canary@far.test', 'alias.test'):
            said = self.diagnose(what, 0, '2 mail hosts by MX', '10 mx1.far.test 10.77.1.2',
                                 '10 mx1.far.test fd77:1::2', '20 mx2.far.test 10.77.2.2',
                                 'All 3 addresses are fine')
            self.assertLess(said.index('mx1.far.test'), said.index('mx2.far.test'))

    def test_a_first_host_in_trouble_is_told_with_where_mail_goes_instead(self):
        self.becomes(self.mx1, greeting='421 4.3.2 not now')
        self.diagnose('far.test', 1, '421 4.3.2 not now', '1 of 3 addresses is fine',
                      'passes over mx1.far.test and hands its mail to mx2.far.test')

    def test_a_server_section_with_mx_means_the_domains_of_its_routes(self):
        self.diagnose('world', 0, 'mx2.far.test has no MX', '10.77.2.2', 'The server is fine')

    def test_domains_that_take_no_mail_and_those_that_are_not(self):
        self.diagnose('null.test', 2, 'accepts no mail (null MX)',
                      'takes no mail at all, and says so by a null MX')
        self.diagnose('nowhere.test', 2, 'does not exist')

    def test_an_address_alone(self):
        self.diagnose('10.77.2.2', 0, '10.77.2.2', 'The server is fine')
        self.diagnose('10.77.2.9', 2, 'No server could be reached')


if __name__ == '__main__':
    main()
