"""Peers that are no mail servers at all: they swallow, stay silent, or tell
names.  Each is closed with its scratch directory.
"""
import socket
import struct
import threading

from ports import HOST, free_port


class BlackHole:
    """Answers no SYN: its accept queue is full, so the kernel drops what
    comes, as a firewall would."""

    def __init__(self, scratch):
        self.port = free_port()
        self.sockets = [socket.socket()]
        self.sockets[0].bind((HOST, self.port))
        self.sockets[0].listen(0)
        scratch.on_close(self.close)
        for _ in range(16):
            client = socket.socket()
            client.settimeout(0.3)
            self.sockets.append(client)
            try:
                client.connect((HOST, self.port))
            except TimeoutError:
                return
        raise OSError('the accept queue does not fill up')

    def close(self):
        for each in self.sockets:
            each.close()


class Accepting:
    """Accepts connections and hands each to serve(connection) in a thread."""

    def __init__(self, scratch, serve):
        self.port = free_port()
        self.serve, self.accepted = serve, 0
        self.connections = []
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((HOST, self.port))
        self.listener.listen(64)
        threading.Thread(target=self._run, daemon=True).start()
        scratch.on_close(self.close)

    def _run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            self.connections.append(connection)
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        try:
            self.serve(connection)
        except OSError:
            pass

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        for connection in self.connections:
            connection.close()


def Silent(scratch):
    """Accepts and never says a word."""
    return Accepting(scratch, lambda connection: None)


NXDOMAIN, SERVFAIL = 3, 2


class Names:
    """A name server for one scratch: hosts {name: address} or {name: [address,
    ...]}, mx {domain: [(preference, host)]}; any other name gets `otherwise`."""

    def __init__(self, scratch, hosts=None, mx=None, otherwise=NXDOMAIN, port=None):
        self.hosts, self.mx, self.otherwise = hosts or {}, mx or {}, otherwise
        self.asked = []
        self.port = port or free_port()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, self.port))
        self.address = '%s:%d' % (HOST, self.port)
        scratch.on_close(self.close)
        threading.Thread(target=self._run, daemon=True).start()

    def close(self):
        self.socket.close()

    def _run(self):
        while True:
            try:
                query, peer = self.socket.recvfrom(1500)
                self.socket.sendto(self._answer(query), peer)
            except OSError:
                return

    def _answer(self, query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode('ascii', 'replace').lower())
            at += 1 + query[at]
        name, question = '.'.join(labels), query[12:at + 5]
        kind, = struct.unpack('!H', query[at + 1:at + 3])
        self.asked.append((name, kind))
        records = self._records(name, kind)
        code = self.otherwise if records is None else 0
        body = b''.join(b'\xc0\x0c' + struct.pack('!HHIH', kind, 1, 0, len(data)) + data
                        for data in records or ())
        return (query[:2] + struct.pack('!HHHHH', 0x8580 | code, 1, len(records or ()), 0, 0)
                + question + body)

    def _records(self, name, kind):
        """The data of each answer; None for a name that does not exist."""
        if name not in self.hosts and name not in self.mx:
            return None
        if kind == 1 and name in self.hosts:
            found = self.hosts[name]
            return [socket.inet_aton(each) for each in ([found] if isinstance(found, str) else found)]
        if kind == 15 and name in self.mx:
            return [struct.pack('!H', preference) + _encode(host)
                    for preference, host in self.mx[name]]
        return []


def _encode(name):
    return b''.join(bytes([len(label)]) + label.encode('ascii')
                    for label in name.split('.')) + b'\0'
