"""One mailflow-watcher alone, played to by tests/peers/watcher_driver."""
import os
import subprocess
import threading
import time

from monitor import BUILD
from scratch import Failure

TLS = {'none': 0, 'opportunistic': 1, 'starttls': 2, 'implicit': 3}
EXPUNGE = {'auto': 0, 'uid': 1, 'trash': 2, 'all': 3}


class Line(dict):
    """What the watcher sent: .kind, .at (monotonic), and its fields."""

    def __init__(self, text):
        self.at = time.monotonic()
        self.text = text
        self.kind, *fields = text.split('\t')
        super().__init__(field.split('=', 1) for field in fields if '=' in field)
        self.bare = fields[0] if fields else ''


class Watching:
    def __init__(self, log, build=BUILD):
        self.lines = []
        self.stderr = open(log, 'ab')
        self.log = log
        self.process = subprocess.Popen(
            [os.path.join(build, 'tests/peers/watcher_driver'),
             os.path.join(build, 'mailflow-watcher')],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
            env=dict(os.environ, ASAN_OPTIONS='detect_leaks=1:abort_on_error=0'),
            start_new_session=True)
        self._news = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for raw in self.process.stdout:
            line = Line(raw.decode('utf-8', 'replace').rstrip('\n'))
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def say(self, *words):
        self.process.stdin.write((' '.join(map(str, words)) + '\n').encode())
        self.process.stdin.flush()

    def wait(self, what, predicate, within=60.0, since=0):
        """The first line from lines[since:] that the predicate is true of."""
        deadline = time.monotonic() + within
        seen = since
        with self._news:
            while True:
                while seen < len(self.lines):
                    if predicate(self.lines[seen]):
                        return self.lines[seen]
                    seen += 1
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    raise Failure('%s: not within %g s%s\n%s\n%s' % (
                        what, within, ' (it ended)' if self._ended else '',
                        '\n'.join(line.text for line in self.lines[-20:]),
                        self.errors()[-3000:]))
                self._news.wait(left)

    def count(self, kind, **fields):
        return len(self.all(kind, **fields))

    def all(self, kind, **fields):
        with self._news:
            return [line for line in self.lines if line.kind == kind and all(
                line.get(key) == str(value) for key, value in fields.items())]

    def looks(self, number=1):
        return self.all('look', id=number)

    def mailbox(self, number=1, marks=(), begin=True, **settings):
        settings.setdefault('name', 'box%d' % number)
        for key, words in (('tls', TLS), ('expunge', EXPUNGE)):
            if key in settings:
                settings[key] = words[settings[key]]
        self.say('mailbox', number, *('%s=%s' % (key, int(value) if isinstance(value, bool) else value)
                                      for key, value in settings.items()))
        for mark in marks:
            self.say('mark', number, *mark)
        if begin:
            self.say('watch', number)

    def token(self, number=1):
        with self._news:
            since = len(self.lines)
        self.say('token', 'box%d' % number)
        return self.wait('a token', lambda line: line.kind == 'token', since=since).bare

    def good(self, number=1, within=60.0, since=0):
        return self.wait('box %d is good' % number, lambda line: line.kind == 'look'
                         and line['id'] == str(number) and line['state'] == 'good', within, since)

    def blind(self, number=1, within=60.0, since=0):
        return self.wait('box %d is blind' % number, lambda line: line.kind == 'look'
                         and line['id'] == str(number) and line['state'] == 'blind', within, since)

    def arrival(self, token, within=60.0, since=0):
        return self.wait('the arrival of ' + token, lambda line: line.kind == 'arrival'
                         and line['token'] == token, within, since)

    def cpu_ms(self):
        with self._news:
            since = len(self.lines)
        self.say('cpu')
        return int(self.wait('cpu', lambda line: line.kind == 'cpu', since=since)['ms'])

    def slots(self):
        """The mailboxes that the threads have in hand."""
        with self._news:
            since = len(self.lines)
        self.say('slots')
        line = self.wait('slots', lambda line: line.kind == 'slots', since=since)
        return [int(number) for number in line['ids'].split(',')]

    def errors(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return f.read()

    def stop(self):
        """Ends it and says how: its last line."""
        try:
            self.say('quit')
        except (OSError, ValueError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        with self._news:
            while not self._ended:
                self._news.wait(1)
        self.stderr.close()
        ends = self.all('end')
        return ends[-1] if ends else Line('end\tstatus=-1\tsignal=-1')


def probe(token, sender='probe@example.org', to='canary@example.com', headers=(),
          drop=(), body=None, subject=None):
    """The text of a probe as mailflowd composes it, or one that met somebody."""
    fields = [('From', sender), ('To', to),
              ('Subject', subject if subject is not None else 'Mail flow test ' + token),
              ('Message-ID', '<%s@example.org>' % token), ('X-Mailflow-Probe', token),
              ('Date', 'Sat, 31 Jan 2026 12:00:00 +0000'),
              ('Auto-Submitted', 'auto-generated'),
              ('Content-Type', 'text/plain; charset=utf-8')]
    fields = [field for field in fields if field[0] not in drop] + list(headers)
    text = ''.join('%s: %s\r\n' % field for field in fields) + '\r\n'
    return text + (body if body is not None else 'This is a test, %s.\r\n' % token)
