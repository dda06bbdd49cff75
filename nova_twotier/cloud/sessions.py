"""Sessions with Nova, Placement and Keystone, as the configuration file says."""

from typing import Any

from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import loading
from keystoneauth1.session import Session
from oslo_config import cfg
from oslo_log import log as logging
from requests import Response

from nova_twotier.conf import ConfigError, one_line
from nova_twotier.ledger.placement import Placement

#: Logger of requests to Nova: user data must not reach a log at any level.
SILENT = logging.getLogger(f"{__name__}.nova")
SILENT.setLevel(logging.INFO)


class _Session(Session):
    """A session that does not pace its requests.

    keystoneauth paces them by the wall clock even where no rate is set: if that is set back by an
    hour, every request waits for an hour.
    """

    def request(self, *args: Any, **options: Any) -> Response:
        options.pop("rate_semaphore", None)
        return super().request(*args, **options)


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
    except (ksa_exc.ClientException, cfg.ConfigFileValueError) as error:
        raise ConfigError(f"configuration group [{group}]: {one_line(error)}") from error
    if auth is None:
        raise ConfigError(f"configuration group [{group}] has no auth_type: say how to reach it")
    options = {
        "region_name": conf[group].region_name,
        "endpoint_override": conf[group].endpoint_override,
    }
    return session, {key: value for key, value in options.items() if value}


def placement_for(conf: cfg.ConfigOpts, kind: type[Placement] = Placement) -> Placement:
    """The client for Placement that `[placement]` describes.

    :raises ConfigError: if that group does not say how to authenticate.
    """
    session, options = session_for(conf, "placement")
    return kind(session, **options)
