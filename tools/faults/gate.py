"""A TCP proxy before a server that does not speak HTTP; shutting it looks like a server restart."""

import contextlib
import socket
import threading

ADDRESS = "127.0.0.1"
_CHUNK = 65536


class Gate:
    """Passes connections on to `host:port` from a loopback port of its own while it is entered."""

    def __init__(self, host: str, port: int):
        self._target = host, port
        self._open = True
        self._lock = threading.Lock()
        #: Both ends of each connection: the client's, and ours to the server.
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._listener = socket.create_server((ADDRESS, 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def server_side(self) -> set[int]:
        """Local ports of our connections to the server, by which it knows them."""
        with self._lock:
            return {ours.getsockname()[1] for _client, ours in self._pairs}

    def shut(self) -> None:
        """End all connections, and accept none."""
        with self._lock:
            self._open = False
            pairs = list(self._pairs)
        for pair in pairs:
            self._close(pair)

    def open(self) -> None:
        with self._lock:
            self._open = True

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shut()
        # Only this wakes the thread that waits for connections.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            self._let_in(client)

    def _let_in(self, client: socket.socket) -> None:
        with self._lock:
            if not self._open:
                client.close()
                return
            try:
                ours = socket.create_connection(self._target)
            except OSError:
                client.close()
                return
            pair = client, ours
            self._pairs.add(pair)
        for source, sink in (pair, pair[::-1]):
            threading.Thread(target=self._pump, args=(pair, source, sink), daemon=True).start()

    def _pump(self, pair, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                sink.sendall(data)
        self._close(pair)

    def _close(self, pair) -> None:
        with self._lock:
            self._pairs.discard(pair)
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
