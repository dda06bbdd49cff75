"""Deletes the surplus servers of jobs that were booted twice.

Nova may carry out a boot long after the manager gave up waiting and repeated the request.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial

from oslo_log import log as logging

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest
from nova_twotier.manager.repeated import Repeated

LOG = logging.getLogger(__name__)

#: Seconds until a deletion that does not show is requested again.
RETRY_AFTER = 30.0


class Surplus:
    """
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud = cloud
        self._deletions = Repeated(tell, "surplus", RETRY_AFTER)

    def poll(self, jobs: Iterable[Job], seen: Observation) -> None:
        """Delete the servers of these jobs that do not belong to their gangs."""
        self._deletions.begin()
        if not seen.crowded:
            return
        for job in jobs:
            for server in seen.surplus(job):
                run = partial(self._cloud.delete, server)
                if self._deletions.ask(server.id, run, seen.at):
                    LOG.warning("Job %s was booted twice: %s is deleted", job.label, server.id)
