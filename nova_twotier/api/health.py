"""`/healthcheck`: oslo.middleware's, with a reason that says whether the pools have a manager."""

from types import SimpleNamespace

from oslo_middleware import Healthcheck
from oslo_middleware.healthcheck.pluginbase import HealthcheckResult

from nova_twotier.api.site import Site
from nova_twotier.db.heartbeats import absences
from nova_twotier.db.store import DATABASE_ERRORS


class Health(Healthcheck):
    """The API answers 200 without a manager, too.

    It still takes, shows and holds jobs then, and a load balancer that took all APIs out of service
    would help nobody.
    """

    def __init__(self, application, site: Site):
        super().__init__(application, site.conf)
        # Plugins that oslo.middleware loads by their names know the configuration only.
        self._backends.extensions.append(SimpleNamespace(obj=ManagerCheck(site)))


class ManagerCheck:
    """A plugin of the health check: never unavailable, its reason tells what is wrong."""

    def __init__(self, site: Site):
        self._site = site

    def healthcheck(self, _server_port) -> HealthcheckResult:
        try:
            found = self._site.heartbeats(self._site.conf.manager.pools)
        except DATABASE_ERRORS:
            return HealthcheckResult(True, "the database does not answer")
        return HealthcheckResult(True, "; ".join(absences(found)) or "OK")
