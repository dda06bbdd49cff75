"""Sessions with Nova, Placement and Keystone, as the configuration file says."""

import threading
from collections import Counter
from typing import Any

from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import loading
from keystoneauth1.session import Session
from oslo_config import cfg
from oslo_log import log as logging
from requests import Response
from requests.adapters import DEFAULT_POOLSIZE, HTTPAdapter

from nova_twotier.conf import ConfigError, one_line
from nova_twotier.ledger.placement import Placement

#: Logger of requests to Nova: user data must not reach a log at any level.
SILENT = logging.getLogger(f"{__name__}.nova")
SILENT.setLevel(logging.INFO)

#: The types of services whose requests are counted apart; of all others, such as questions for the
#: versions of an API, together.
SERVICES = ("compute", "identity", "network", "placement")
OTHER = "other"
NO_ANSWER = "none"
#: Options of keystoneauth's adapters that a configuration group may have.
_ADAPTER = (
    "service_type",
    "service_name",
    "interface",
    "region_name",
    "endpoint_override",
    "connect_retries",
    "connect_retry_delay",
    "status_code_retries",
    "status_code_retry_delay",
    "retriable_status_codes",
)
#: Idle connections to a service that are kept. By default there would be ten, and a manager has
#: more threads: further ones would make a new connection for each request.
CONNECTIONS = 100


class Tally:
    """Counts the requests of this process to OpenStack.

    By the type of the service, and the HTTP status of the answer as text; `NO_ANSWER` without one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, service: str, code: str) -> None:
        with self._lock:
            self._counts[service, code] += 1

    def counts(self) -> dict[tuple[str, str], int]:
        """A copy."""
        with self._lock:
            return dict(self._counts)


#: Of all sessions that this module has made.
TALLY = Tally()


class _Session(Session):
    """A session that counts its requests, and does not pace them.

    keystoneauth paces them by the wall clock even where no rate is set: if that is set back by an
    hour, every request waits for an hour.
    """

    def request(self, url: str, *args: Any, **options: Any) -> Response:
        options.pop("rate_semaphore", None)
        service = (options.get("endpoint_filter") or {}).get("service_type")
        if service not in SERVICES:
            service = "identity" if "/auth/tokens" in url else OTHER
        code = NO_ANSWER
        try:
            answer = super().request(url, *args, **options)
            code = str(answer.status_code)
        except ksa_exc.HttpError as error:
            code = str(error.http_status)
            raise
        finally:
            TALLY.add(service, code)
        return answer


class _Loader(loading.session.Session):
    @property
    def plugin_class(self) -> type[Session]:
        return _Session


def session_for(conf: cfg.ConfigOpts, group: str) -> tuple[Session, dict[str, Any]]:
    """A keystoneauth session of a configuration group, with its adapter's options.

    :raises ConfigError: if the group does not say how to authenticate.
    """
    try:
        auth = loading.load_auth_from_conf_options(conf, group)
        session = _Loader().load_from_conf_options(conf, group, auth=auth)
        adapter = loading.load_adapter_from_conf_options(conf, group, session=session)
    except (ksa_exc.ClientException, cfg.ConfigFileValueError, TypeError) as error:
        raise ConfigError(f"configuration group [{group}]: {one_line(error)}") from error
    if auth is None:
        raise ConfigError(f"configuration group [{group}] has no auth_type: say how to reach it")
    for each in session.session.adapters.values():
        if isinstance(each, HTTPAdapter):
            each.init_poolmanager(DEFAULT_POOLSIZE, CONNECTIONS)
    options = {name: getattr(adapter, name) for name in _ADAPTER}
    return session, {name: value for name, value in options.items() if value is not None}


def placement_for(conf: cfg.ConfigOpts, kind: type[Placement] = Placement) -> Placement:
    """The client for Placement that `[placement]` describes.

    :raises ConfigError: if that group does not say how to authenticate.
    """
    session, options = session_for(conf, "placement")
    return kind(session, **options)
