"""`/healthcheck`: oslo.middleware's, with a reason that says whether the pools have a manager."""

import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

from oslo_middleware import Healthcheck
from oslo_middleware.healthcheck.pluginbase import HealthcheckResult

from nova_twotier.api.site import Site
from nova_twotier.db.heartbeats import Heartbeat, absences
from nova_twotier.db.store import DATABASE_ERRORS

PATH = "/healthcheck"
#: Seconds that the database may take to answer: load balancers and monitoring wait not much longer.
TIMEOUT = 3.0


def is_check(path: str) -> bool:
    """Whether the path of a request is that of health checks."""
    return path.rstrip("/") == PATH


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
    """Health check plugin: 503 if the database does not answer in time; else 200, with a reason
    that names queue managers which are missing or stuck."""

    def __init__(self, site: Site):
        self._site = site
        self._lock = threading.Lock()
        self._answer: Future[dict[str, Heartbeat]] | None = None
        self._asked_at = 0.0

    def healthcheck(self, _server_port) -> HealthcheckResult:
        answer = self._ask()
        try:
            # While the database hangs, only the first checks wait for it.
            found = answer.result(max(0.0, self._asked_at + TIMEOUT - time.monotonic()))
        except (TimeoutError, *DATABASE_ERRORS):
            return HealthcheckResult(False, "the database does not answer")
        return HealthcheckResult(True, "; ".join(absences(found)) or "OK")

    def _ask(self) -> "Future[dict[str, Heartbeat]]":
        """The question to the database that is under way, or a new one.

        While it hangs there is one thread that waits for it, however often the API is checked.
        """
        with self._lock:
            answer = self._answer
            if answer is None or answer.done():
                answer = self._answer = Future()
                self._asked_at = time.monotonic()
                threading.Thread(target=self._read, args=(answer,), daemon=True).start()
            return answer

    def _read(self, answer: "Future[dict[str, Heartbeat]]") -> None:
        try:
            answer.set_result(self._site.heartbeats(self._site.conf.manager.pools))
        except Exception as error:
            answer.set_exception(error)
