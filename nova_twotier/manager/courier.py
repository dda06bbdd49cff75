"""Tells webhooks and the message bus about the events of jobs.

Every route, which is a project with the origin of its webhooks, or the bus, has a thread of its own
while something is due on it: one that does not answer holds up no other.
"""

import threading
import time
from collections.abc import Callable

from oslo_log import log as logging

from nova_twotier.cloud.job_bus import JobBus
from nova_twotier.cloud.webhooks import DeliveryError, Webhooks
from nova_twotier.db import deliveries
from nova_twotier.db.deliveries import Claim
from nova_twotier.db.models import BUS, Event, Job, origin_of
from nova_twotier.db.readers import Reader, rfc3339
from nova_twotier.db.store import DATABASE_ERRORS, Store
from nova_twotier.manager.election import brief

LOG = logging.getLogger(__name__)

#: Seconds between two looks for what is due.
INTERVAL = 1.0
#: Routes that are served at the same time.
MOST_ROUTES = 32


class Courier:
    """Delivers the events of all pools, whoever leads them: no two managers deliver the same one.

    :param conf: options with group `[job_events]`.
    :param clock: seconds since the epoch.
    :raises ConfigError: if there is a message bus, and the library for it is missing.
    """

    def __init__(self, conf, store: Store, clock: Callable[[], float] = time.time):
        self._options = conf.job_events
        self._store, self._clock = store, clock
        self._webhooks, self._bus = Webhooks(self._options, clock), JobBus(conf)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)
        self._serving: dict[str, threading.Thread] = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Start no other delivery. Those under way are repeated if the process ends before them."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        trouble = ""
        while not self._stopping.wait(INTERVAL):
            try:
                self.look()
                trouble = ""
            except DATABASE_ERRORS as error:
                if brief(error) != trouble:
                    LOG.error("Events are not delivered: %s", trouble := brief(error))

    def look(self) -> None:
        """Serve each route on which something is due, unless it is being served."""
        self._serving = {route: each for route, each in self._serving.items() if each.is_alive()}
        for route in deliveries.due_routes(self._store, self._clock()):
            if route not in self._serving and len(self._serving) < MOST_ROUTES:
                # A bus that cannot be reached must not hold up the end of this process.
                thread = threading.Thread(target=self._serve, args=(route,), daemon=True)
                self._serving[route] = thread
                thread.start()

    def _serve(self, route: str) -> None:
        # A webhook may take its time twice: to accept the connection, and to answer.
        patience = 3 * self._options.timeout
        try:
            while not self._stopping.is_set():
                claim = deliveries.claim(self._store, route, self._clock(), patience)
                if claim is None:
                    return
                self._deliver(route, claim)
        except DATABASE_ERRORS as error:
            LOG.warning("Events for %s are delivered later: %s", route, brief(error))

    def _deliver(self, route: str, claim: Claim) -> None:
        event, job = claim.event, claim.job
        message = content(self._store, event, job)
        try:
            if route == BUS:
                self._publish(message)
            else:
                self._post(event, job, message)
        except DeliveryError as error:
            if self._clock() - event.at < self._options.retry_for:
                deliveries.failed(self._store, claim, str(error))
                return
            where = "the bus" if route == BUS else origin_of(job.webhook or "")
            words = "Job %s: its event '%s' is not delivered to %s: %s"
            LOG.warning(words, job.label, event.kind, where, error)
        deliveries.close(self._store, claim)

    def _publish(self, message: dict) -> None:
        if not self._bus.configured:
            raise DeliveryError("[job_events]transport_url is not set here")
        self._bus.publish(message)

    def _post(self, event: Event, job: Job, message: dict) -> None:
        if not (job.webhook and job.webhook_secret):
            raise DeliveryError("the job has no webhook")
        self._webhooks.post(job.webhook, job.webhook_secret, f"{job.uuid}.{event.id}", message)


def content(store: Store, event: Event, job: Job) -> dict:
    """What a receiver is told about an event, as the project of the job may know it."""
    told = Reader(store, job.project_id, [event.reason]).event(event)
    names = ("uuid", "number", "name", "project_id", "user_id", "size", "pool")
    array = None if job.array is None else {"number": job.array, "index": job.array_index}
    return {
        "type": f"job.{event.kind.replace(' ', '_')}",
        "timestamp": rfc3339(event.at),
        "data": {
            "job": {name: getattr(job, name) for name in names} | {"array": array},
            "event": told,
        },
    }
