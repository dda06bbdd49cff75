"""Ports of 127.0.0.1 for servers that are given a port by number."""

import socket

#: Bound as long as this process lives.
_held = []


def free_port():
    """A port that nobody else gets while this process lives.

    The socket that holds it does not listen: connections are refused until a server binds the port
    with SO_REUSEADDR, as servers do, and again when it has ended.
    """
    held = socket.socket()
    _held.append(held)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held.getsockname()[1]
