"""Checks the Host header of what is served on the loopback address only.

A page of any other site can have its name resolve to 127.0.0.1 once it is loaded (DNS rebinding):
to the browser, our answers are then of the page's own origin. The Host header still has that name.
"""

import ipaddress
from urllib.parse import urlsplit

from nova_twotier.api.errors import Refused


def is_loopback(name: str) -> bool:
    """Whether a host name or an IP address, without a port, can only be the loopback address."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False  # another host name, which may be any address


def check_host(header: str) -> None:
    """Check the Host header of a request, with any port: a tunnel may have another one.

    :raises Refused: if it is not the loopback address.
    """
    try:
        name = urlsplit(f"//{header}").hostname or ""
    except ValueError:
        name = ""
    if not is_loopback(name):
        raise Refused(
            421,
            "request.misdirected_request",
            "this is for the loopback address only: ask for 127.0.0.1 or localhost, "
            "not for a name of this machine",
        )


class LoopbackOnly:
    """Refuses requests whose Host header is not the loopback address.

    It must be outside of what believes the headers of proxies, which any page can send.
    """

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        check_host(environ.get("HTTP_HOST", ""))
        return self._application(environ, start_response)
