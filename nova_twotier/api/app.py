"""The WSGI application: resources behind the usual middleware of OpenStack APIs."""

import json

import falcon
from oslo_config import cfg
from oslo_db.exception import DBError
from oslo_log import log as logging
from oslo_middleware import HTTPProxyToWSGI, RequestBodySizeLimiter, RequestId
from oslo_middleware.request_id import ENV_REQUEST_ID
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from nova_twotier.api import board, errors, health, keystone, metrics, openapi, policies, websso
from nova_twotier.api.auth import Identified, NoAuth, Private
from nova_twotier.api.errors import Refused
from nova_twotier.api.guard import OURS, Guard
from nova_twotier.api.hangs import HangReporter
from nova_twotier.api.loopback import LoopbackOnly
from nova_twotier.api.routes import ROUTES, operations
from nova_twotier.api.site import Site
from nova_twotier.api.throttle import Throttle
from nova_twotier.api.versions import Negotiation
from nova_twotier.conf import start_logging
from nova_twotier.core.jobs import InvalidJob
from nova_twotier.db.store import NoSuchJob, QueueDraining, Store, SubmissionLapsed, open_store
from nova_twotier.ledger.placement import PlacementError

LOG = logging.getLogger(__name__)

#: The only paths that need no token.
PUBLIC = {path for path, _method, operation in operations() if operation.rule is None}


def make(conf: cfg.ConfigOpts):
    """The WSGI application of a configuration, with its logging and its database.

    :raises ConfigError, StoreError: if the configuration or the database is unusable.
    """
    start_logging(conf)
    check(conf)
    store = open_store(conf)
    application = build(conf, store)
    # The server may fork now: each process must open its own connections.
    store.close()
    return HangReporter(application, store)


def check(conf: cfg.ConfigOpts) -> None:
    """Check the options, so that wrong ones are found before a database is made.

    :raises ConfigError: as `build`.
    """
    policies.enforcer(conf)
    Throttle(conf.api)
    if conf.api.auth_strategy != "noauth":
        keystone.Validation(None, conf)
        keystone.logins(conf)
        websso.providers(conf)


def build(conf: cfg.ConfigOpts, store: Store):
    """The WSGI application.

    :raises ConfigError: if the options do not say how to validate tokens, or the policy file or
        the rate limit is wrong.
    """
    site = Site(conf, store, policies.enforcer(conf), Throttle(conf.api))
    api = _resources(site)
    private = _authenticated(conf, Identified(api))
    if conf.api.board:
        _add_board(api, conf)
    application = _Door(site, api, private)
    for layer in (RequestBodySizeLimiter, HTTPProxyToWSGI):
        application = layer(application, conf)
    if conf.api.auth_strategy == "noauth":
        application = LoopbackOnly(application)
    return RequestId(Guard(application), conf)


def _resources(site: Site) -> falcon.App:
    counting = metrics.Metrics(site)
    api = falcon.App(middleware=[counting, Negotiation(), Private()])
    api.req_options.strip_url_path_trailing_slash = True
    for path, resource in ROUTES.items():
        api.add_route(path, resource(site))
    if site.conf.api.metrics:
        api.add_route(metrics.PATH, counting)
    # Of all handlers that match an error, falcon picks the one for the most specific class.
    for kind, translate in _TRANSLATIONS.items():
        api.add_error_handler(kind, _handler(translate))
    return api


def _add_board(api: falcon.App, conf: cfg.ConfigOpts) -> None:
    """:param conf: with the options of keystonemiddleware, unless nobody logs in."""
    strategy = conf.api.auth_strategy
    providers = [] if strategy == "noauth" else websso.providers(conf)
    for path, file in board.files(strategy, providers).items():
        api.add_route(path, file)


def _authenticated(conf: cfg.ConfigOpts, application):
    if conf.api.auth_strategy == "noauth":
        LOG.warning(
            "[api]auth_strategy is noauth: everybody may do everything. For demonstrations only!"
        )
        return NoAuth(application)
    return keystone.Validation(application, conf)


class _Door:
    """Lets public requests bypass the authentication."""

    def __init__(self, site: Site, public, private):
        self._public = public
        self._private = private
        self._health = health.Health(public, site)
        # Also if they are switched off: then nothing is there, with or without a token.
        self._open = PUBLIC | {metrics.PATH}

    def __call__(self, environ, start_response):
        path = environ.get("PATH_INFO", "").rstrip("/") or "/"
        if health.is_check(path):
            # Healthcheck answers keep oslo.middleware's format, which monitoring systems know.
            environ[OURS] = True
            return self._health(environ, start_response)
        application = self._public if self._is_open(path) else self._private
        return application(environ, start_response)

    def _is_open(self, path: str) -> bool:
        return path in self._open or path == board.PATH or path.startswith(f"{board.PATH}/")


def _handler(translate):
    def handle(req, resp, error, _params):
        refused = translate(error)
        req.env[OURS] = True
        resp.status = refused.status
        resp.set_headers(refused.headers)
        resp.content_type = falcon.MEDIA_JSON
        document = errors.document(req.env.get(ENV_REQUEST_ID, ""), refused)
        resp.text = json.dumps(document)

    return handle


def _of_falcon(error: falcon.HTTPError) -> Refused:
    status = falcon.http_status_to_code(error.status)
    detail = {
        404: "there is nothing of that name; see /v1/openapi.json",
        405: "this cannot be done here; see /v1/openapi.json",
    }.get(status, error.description or "")
    return errors.plain(status, detail, dict(error.headers or {}))


def _of_placement(error: PlacementError) -> Refused:
    LOG.error("%s", error)
    return errors.unavailable("the ledger in Placement")


def _of_database(error: Exception) -> Refused:
    LOG.error("The database does not answer: %s", str(error).splitlines()[0])
    return errors.unavailable("the database")


def _of_mistake(_error: Exception) -> Refused:
    LOG.exception("A request failed")
    return errors.failure()


_TRANSLATIONS = {
    Exception: _of_mistake,
    falcon.HTTPError: _of_falcon,
    Refused: lambda refused: refused,
    InvalidJob: lambda error: errors.invalid(str(error)),
    # A purge has deleted it since it was found.
    NoSuchJob: lambda _error: errors.no_such_job(),
    QueueDraining: lambda error: errors.draining(error.pool),
    SubmissionLapsed: lambda _error: errors.unavailable("the queue manager's API"),
    PlacementError: _of_placement,
    DBError: _of_database,
    DBAPIError: _of_database,
    PoolTimeout: _of_database,
}

openapi.DOCUMENT = openapi.document(operations())
