"""Keystone's middleware, which validates the callers' tokens as `[keystone_authtoken]` says."""

import importlib

import webob.exc
from keystoneauth1 import loading
from keystoneauth1.exceptions import MissingRequiredOptions, Unauthorized
from keystonemiddleware.auth_token import AuthProtocol
from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.cloud.logins import Logins
from nova_twotier.conf import ConfigError
from nova_twotier.ledger.placement import login_refused

LOG = logging.getLogger(__name__)

GROUP = "keystone_authtoken"
#: Seconds that Keystone may take for a login, unless `http_connect_timeout` says otherwise.
LOGIN_TIMEOUT = 10


class Validation(AuthProtocol):
    """The middleware of keystonemiddleware, which also logs whose credentials are wrong.

    :param application: called with valid tokens only.
    :raises ConfigError: if the options do not say how to validate tokens.
    """

    def __init__(self, application, conf: cfg.ConfigOpts):
        try:
            super().__init__(application, {"oslo_config_config": conf})
        except MissingRequiredOptions as error:
            raise ConfigError(f"[{GROUP}]: {error}") from error
        options = conf[GROUP]
        if not (options.auth_type or options.auth_section):
            raise ConfigError(
                f"[api]auth_strategy is keystone, but [{GROUP}] has no auth_type: "
                "say how to reach Keystone"
            )
        if options.memcached_servers:
            _load_memcached()

    def fetch_token(self, token, **options):
        try:
            return super().fetch_token(token, **options)
        except webob.exc.HTTPServiceUnavailable as error:
            # The middleware itself logs that a token was not validated, but not why.
            if _follows_refusal(error):
                LOG.error("No token can be validated: %s", login_refused("Keystone", GROUP))
            raise


def logins(conf: cfg.ConfigOpts) -> Logins | None:
    """Where users of the board log in: at the Keystone that validates their tokens.

    None if there is no board, or no Keystone.

    :param conf: with the options that `Validation` registers.
    :raises ConfigError: if the options do not say where Keystone is.
    """
    if not conf.api.board or conf.api.auth_strategy == "noauth":
        return None
    auth = loading.load_auth_from_conf_options(conf, GROUP)
    url = getattr(auth, "auth_url", None)
    if not url:
        raise ConfigError(f"[api]board is on, but [{GROUP}] has no auth_url, where users log in")
    options = conf[GROUP]
    session = loading.session.Session().load_from_options(
        insecure=options.insecure,
        cacert=options.cafile,
        cert=options.certfile,
        key=options.keyfile,
        timeout=options.http_connect_timeout or LOGIN_TIMEOUT,
    )
    return Logins(url, session)


def _follows_refusal(error: BaseException | None) -> bool:
    """Whether an error was raised because Keystone refused credentials."""
    while error is not None and not isinstance(error, Unauthorized):
        error = error.__cause__ or error.__context__
    return error is not None


def _load_memcached() -> None:
    """Import the memcached client now, not in the thread of the first request.

    If eventlet is installed, the client's pool imports it; a thread that has done so never ends.
    """
    try:
        importlib.import_module("oslo_cache._memcache_pool")
    except ImportError as error:
        raise ConfigError(
            f"[{GROUP}]memcached_servers is set, but there is no client for it: "
            "install python-memcached"
        ) from error
