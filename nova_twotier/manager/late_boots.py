"""Deletes servers that Nova boots after their job has ended, or waits again.

Nova may carry out a boot long after the manager gave up waiting and the job ended. No action looks
at such servers any more, and those that found no slot, in ERROR, use up their owner's quota. So do
those of a job that waits again, until its next start.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial

from oslo_log import log as logging
from sqlalchemy import select

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.db.parts import in_parts
from nova_twotier.db.states import OVER
from nova_twotier.db.store import SHORT, Store
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest
from nova_twotier.manager.repeated import Repeated

LOG = logging.getLogger(__name__)

#: Seconds until a deletion that does not show is requested again.
RETRY_AFTER = 30.0
#: The status of what found no slot.
ERROR = "ERROR"


class LateBoots:
    """
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(
        self, store: Store, cloud: Cloud, pool: str, tell: Callable[[CloudRequest], Future]
    ):
        self._store, self._cloud, self._pool = store, cloud, pool
        self._deletions = Repeated(tell, "late", RETRY_AFTER)
        #: By the uuid that servers name: the job that is over, or None if it is none of the pool's.
        self._known: dict[str, Job | None] = {}

    def poll(self, active: Iterable[Job], seen: Observation) -> None:
        """Delete the servers that were made too late.

        :param active: all open jobs of the pool that may have servers.
        """
        self._deletions.begin()
        late = [(job, server) for job in self._over(active, seen) for server in seen.late(job)]
        waiting = [job for job in active if job.not_started and job.uuid in seen.servers]
        late += [(job, each) for job in waiting for each in seen.gang(job) if each.status == ERROR]
        for job, server in late:
            run = partial(self._cloud.delete, server)
            if self._deletions.ask(server.id, run, seen.at):
                LOG.warning("Job %s had given it up already: %s is deleted", job.label, server.id)

    def _over(self, active: Iterable[Job], seen: Observation) -> Iterator[Job]:
        """The jobs that are over, and that servers name all the same."""
        named = seen.servers.keys() - {job.uuid for job in active}
        # Many jobs may have kept theirs, and for long.
        named = {uuid for uuid in named if not all(server.shelved for server in seen.servers[uuid])}
        if new := named - self._known.keys():
            with self._store.reading() as session:
                # What is held of them is short.
                short = select(Job).options(*SHORT)
                queries = [short.where(Job.uuid.in_(part)) for part in in_parts(new)]
                found = {job.uuid: job for query in queries for job in session.scalars(query)}
            for uuid in new:
                job = found.get(uuid)
                if job is None or job.pool != self._pool:
                    self._known[uuid] = None
                elif job.state in OVER:
                    self._known[uuid] = job
        self._known = {uuid: self._known[uuid] for uuid in named & self._known.keys()}
        return filter(None, self._known.values())
