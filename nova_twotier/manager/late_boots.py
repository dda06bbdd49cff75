"""Deletes servers that Nova made when their job was over already.

Nova may carry out a boot long after the manager gave up waiting and the job ended. No action looks
at such servers any more, and those that found no slot, in ERROR, use up their owner's quota.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial

from oslo_log import log as logging
from sqlalchemy import select

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.db.parts import in_parts
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import OVER
from nova_twotier.db.store import Store
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest

LOG = logging.getLogger(__name__)

#: Seconds until a deletion that does not show is requested again.
RETRY_AFTER = 30.0


class LateBoots:
    """
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(
        self, store: Store, cloud: Cloud, pool: str, tell: Callable[[CloudRequest], Future]
    ):
        self._store, self._cloud, self._pool, self._tell = store, cloud, pool, tell
        #: By the uuid that servers name: the job that is over, or None if it is none of the pool's.
        self._known: dict[str, Job | None] = {}
        #: The last request to delete each server.
        self._asked: dict[str, Asked] = {}

    def poll(self, active: Iterable[Job], seen: Observation) -> None:
        """Delete the servers that were made too late.

        :param active: all open jobs of the pool that may have servers.
        """
        before, self._asked = self._asked, {}
        for job in self._over(active, seen):
            for server in seen.late(job):
                asked = before.get(server.id)
                if asked is None or asked.may_repeat(seen.at, RETRY_AFTER):
                    LOG.warning("Job %s was over already: %s is deleted", job.label, server.id)
                    run = partial(self._cloud.delete, server)
                    answer = self._tell(CloudRequest(RequestKey("late", server.id), run))
                    asked = Asked(seen.at, answer)
                self._asked[server.id] = asked

    def _over(self, active: Iterable[Job], seen: Observation) -> Iterator[Job]:
        """The jobs that are over, and that servers name all the same."""
        named = seen.servers.keys() - {job.uuid for job in active}
        if new := named - self._known.keys():
            with self._store.reading() as session:
                queries = [select(Job).where(Job.uuid.in_(part)) for part in in_parts(new)]
                found = {job.uuid: job for query in queries for job in session.scalars(query)}
            for uuid in new:
                job = found.get(uuid)
                if job is None or job.pool != self._pool:
                    self._known[uuid] = None
                elif job.state in OVER:
                    self._known[uuid] = job
        self._known = {uuid: self._known[uuid] for uuid in named & self._known.keys()}
        return filter(None, self._known.values())
