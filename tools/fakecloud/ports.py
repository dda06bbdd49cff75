"""Free loopback ports, held as listening sockets until a child takes them over."""

import socket

from nova_twotier.tools.fakecloud.errors import FakeCloudError

ADDRESS = "127.0.0.1"

# Room for the clients that connect while their server still imports OpenStack.
BACKLOG = 128


def listen(names: list[str], port_base: int | None = None) -> dict[str, socket.socket]:
    """A listening socket for each name; parallel starters never get the same port."""
    sockets = {}
    candidate = port_base or 0
    try:
        for name in names:
            while True:
                try:
                    sockets[name] = listen_on(candidate)
                    break
                except OSError as error:
                    if not port_base or candidate >= min(port_base + 500, 65535):
                        raise FakeCloudError(
                            f"no free port on {ADDRESS} for {name}: {error.strerror}; "
                            f"try another --port-base"
                        ) from error
                    candidate += 1
            if port_base:
                candidate += 1
    except BaseException:
        close(sockets)
        raise
    return sockets


def listen_on(port: int) -> socket.socket:
    """A listening socket; with port 0, on a port that the system chooses."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind((ADDRESS, port))
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


def close(sockets: dict[str, socket.socket]) -> None:
    for sock in sockets.values():
        sock.close()
