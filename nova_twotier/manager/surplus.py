"""Deletes the surplus servers of jobs that were booted twice.

Nova may carry out a boot long after the manager gave up waiting and repeated the request.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial

from oslo_log import log as logging

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest

LOG = logging.getLogger(__name__)

#: Seconds until a deletion that does not show is requested again.
RETRY_AFTER = 30.0


class Surplus:
    """
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud, self._tell = cloud, tell
        #: The last request to delete each server.
        self._asked: dict[str, Asked] = {}

    def poll(self, jobs: Iterable[Job], seen: Observation) -> None:
        """Delete the servers of these jobs that do not belong to their gangs."""
        before, self._asked = self._asked, {}
        if not seen.crowded:
            return
        for job in jobs:
            for server in seen.surplus(job):
                asked = before.get(server.id)
                if asked is None or asked.may_repeat(seen.at, RETRY_AFTER):
                    LOG.warning("Job %s was booted twice: %s is deleted", job.label, server.id)
                    run = partial(self._cloud.delete, server)
                    answer = self._tell(CloudRequest(RequestKey("surplus", server.id), run))
                    asked = Asked(seen.at, answer)
                self._asked[server.id] = asked
