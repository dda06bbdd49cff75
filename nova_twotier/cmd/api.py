"""`twotier-api`: serves the REST API for small sites and demonstrations.

Larger sites run `nova_twotier.api.wsgi:application` in the WSGI server of their other services.
"""

import signal
import socket
import sys
from collections.abc import Callable
from functools import partial

from oslo_log import log as logging

from nova_twotier import conf as config
from nova_twotier.api.app import make
from nova_twotier.api.loopback import is_loopback
from nova_twotier.api.server import Server
from nova_twotier.db.store import StoreError

LOG = logging.getLogger(__name__)

#: Seconds for which a thread computes while another one waits. Python's 5 ms would be waited for
#: after each of the several short queries of a request while a long list is written.
SWITCH = 0.0005

DESCRIPTION = "The REST API of the queue: takes the tenants' jobs, and shows what becomes of them."


def main(args: list[str] | None = None) -> int:
    try:
        load = partial(
            config.load, sys.argv[1:] if args is None else args, "twotier-api", DESCRIPTION
        )
        conf = load()
        _check_address(conf.api)
        _serve(conf, make(conf), load)
    except (config.ConfigError, StoreError, OSError) as error:
        print(f"twotier-api: {error}", file=sys.stderr)
        return 1
    return 0


def _check_address(options) -> None:
    """:raises ConfigError: if there is no such address, or noauth were served beyond loopback."""
    if options.auth_strategy == "noauth" and not is_loopback(options.listen):
        raise config.ConfigError(
            f"[api]auth_strategy is noauth, which is served on the loopback address only, "
            f"not on {options.listen}: use keystone, or listen on 127.0.0.1"
        )
    try:
        socket.getaddrinfo(options.listen, options.port, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise config.ConfigError(
            f"[api]listen is {options.listen!r}, which is no address: {error.strerror}"
        ) from error


def _serve(conf, application, check: Callable[[], object]) -> None:
    """Serve until a signal; requests in progress are still answered.

    SIGHUP rereads the configuration files, for the options that may change at run time.

    :param check: raises ConfigError if the files are wrong.
    """
    sys.setswitchinterval(SWITCH)
    server = Server(conf.api, conf.oslo_middleware.max_request_body_size, application)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit())
    signal.signal(signal.SIGHUP, lambda *_: config.reload(conf, check))
    LOG.info("The API listens on %s port %s", *server.address)
    try:
        server.run()
    finally:
        server.close()
        LOG.info("The API has stopped")


if __name__ == "__main__":
    sys.exit(main())
