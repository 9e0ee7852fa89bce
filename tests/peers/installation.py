"""Where the servers' programs are: the machine's own installation or the
folder into which tests/setup/servers.sh unpacked the packages.
"""
import functools
import glob
import grp
import os
import pwd
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


class Installation:
    """root: '' for the machine's own."""

    def __init__(self, root):
        self.root = root

    def path(self, *names):
        return os.path.join(self.root or '/', *names)

    def library_path(self):
        """For LD_LIBRARY_PATH; '' where the run path in the binaries is right."""
        if not self.root:
            return ''
        found = [self.path('usr/lib/postfix')]
        # Some of Dovecot's programs are linked with its modules.
        found += sorted(where for where, _, _ in os.walk(self.path('usr/lib/dovecot')))
        found += sorted(glob.glob(self.path('usr/lib/*-linux-gnu*')))
        found += sorted(glob.glob(self.path('lib/*-linux-gnu*')))
        return ':'.join(found)

    def environment(self):
        env = dict(os.environ, LC_ALL='C')
        if self.root:
            env['LD_LIBRARY_PATH'] = self.library_path()
            env['LD_PRELOAD'] = self.path('relocate.so')
        return env


@functools.lru_cache(None)
def _roots():
    out = subprocess.run(['sh', os.path.join(TOP, 'tests/setup/servers.sh')],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if out.returncode != 0:
        raise RuntimeError('no servers: %s' % out.stderr.strip())
    lines = (line.partition(' ') for line in out.stdout.splitlines())
    return {name: root for name, _, root in lines}


def installation(server):
    """'postfix' or 'dovecot'."""
    return Installation(_roots()[server])


def user(*names):
    """The first of these users that the machine has."""
    for name in names:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            pass
    raise LookupError('none of the users %s' % ', '.join(names))


def group(*names):
    for name in names:
        try:
            return grp.getgrnam(name).gr_name
        except KeyError:
            pass
    raise LookupError('none of the groups %s' % ', '.join(names))
