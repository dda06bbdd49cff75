"""`twotier-api`: serves the REST API for small sites and demonstrations.

Larger sites run `nova_twotier.api.wsgi:application` in the WSGI server of their other services.
"""

import contextlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Listener

from oslo_log import log as logging

from nova_twotier import conf as config
from nova_twotier.api import patient
from nova_twotier.api.loopback import is_loopback
from nova_twotier.api.processes import SIGNALS, Processes
from nova_twotier.api.server import Server, listen
from nova_twotier.db.store import StoreError

LOG = logging.getLogger(__name__)

#: Seconds for which a thread computes while another one waits. Python's 5 ms would be waited for
#: after each of the several short queries of a request while a long list is written.
SWITCH = 0.0005

#: Signals that stop the service.
ENDS = (signal.SIGTERM, signal.SIGINT)

#: By how much the process that answers boards gives way to the other one, where cores are few.
NICE = 10
#: The environment variable with the directory in which processes count for prometheus_client.
COUNTS = "PROMETHEUS_MULTIPROC_DIR"

DESCRIPTION = "The REST API of the queue: takes the tenants' jobs, and shows what becomes of them."


def main(args: list[str] | None = None) -> int:
    try:
        load = partial(
            config.load, sys.argv[1:] if args is None else args, "twotier-api", DESCRIPTION
        )
        conf = load()
        _check_address(conf.api)
        with _counting_together(conf.api):
            # It imports prometheus_client, which then decides whether processes count together.
            from nova_twotier.api.app import make

            _serve(conf, make(conf), load)
    except (config.ConfigError, StoreError, OSError) as error:
        print(f"twotier-api: {error}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _counting_together(options) -> Iterator[None]:
    """Let the processes count requests in common files, which `/metrics` of each adds up."""
    with contextlib.ExitStack() as stack:
        if options.board and options.metrics and COUNTS not in os.environ:
            os.environ[COUNTS] = stack.enter_context(tempfile.TemporaryDirectory())
            stack.callback(os.environ.pop, COUNTS)
        yield


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
    with listen(conf.api) as listening:
        LOG.info("The API listens on %s port %s", *listening.getsockname()[:2])
        if conf.api.board:
            _with_boards(conf, application, check, listening)
        else:
            _answer(conf, application, check, listening)
    LOG.info("The API has stopped")


def _with_boards(conf, application, check, listening: socket.socket) -> None:
    """Serve with two processes: one for boards, and one for all others."""
    with patient.listener(conf.api.threads) as asked:
        others = patient.Elsewhere(application, asked.address, conf.api.threads)
        processes = Processes(
            {
                "all but boards": partial(_answer, conf, others, check, listening),
                "boards": partial(_answer_boards, conf, application, check, asked),
            }
        )
        _obey(conf, check, processes.pass_on)
        with contextlib.suppress(SystemExit):
            processes.run()


def _answer(conf, application, check, listening: socket.socket) -> None:
    _obey(conf, check)
    server = Server(conf.api, conf.oslo_middleware.max_request_body_size, application, listening)
    try:
        server.run()
    finally:
        server.close()


def _answer_boards(conf, application, check, asked: Listener) -> None:
    _obey(conf, check)
    # The other process may need it for the requests that it finishes; then the parent kills it.
    _ignore_ends()
    os.nice(NICE)
    patient.serve(asked, application)


def _obey(conf, check, pass_on: Callable[[int], None] | None = None) -> None:
    """Handle signals: SIGTERM and SIGINT stop this process, SIGHUP reloads its configuration.

    :param pass_on: sends SIGHUP to other processes, too.
    """

    def reload(number, _frame):
        config.reload(conf, check)
        if pass_on:
            pass_on(number)

    def end(_number, _frame):
        # systemd signals all processes, and our parent does so again: one signal is enough.
        _ignore_ends()
        sys.exit()

    for number in ENDS:
        signal.signal(number, end)
    signal.signal(signal.SIGHUP, reload)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _ignore_ends() -> None:
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
