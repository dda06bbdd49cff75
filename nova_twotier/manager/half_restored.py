"""Saves servers again that run although their job waits, saved: its restart failed halfway.

A start that fails saves them again, but not for ever, since Nova may never be done with others.
Until they are saved they keep their slots, which no policy can give to anybody.
"""

from collections.abc import Callable, Container, Iterable
from concurrent.futures import Future
from functools import partial

from oslo_log import log as logging

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest
from nova_twotier.manager.repeated import Repeated

LOG = logging.getLogger(__name__)

#: Seconds until a server is saved again: the image store may be away.
RETRY_AFTER = 60.0


class HalfRestored:
    """
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud = cloud
        self._saves = Repeated(tell, "save", RETRY_AFTER)

    def poll(self, jobs: Iterable[Job], busy: Container[int], seen: Observation) -> None:
        """Save the servers that run of jobs that wait, beside others that are saved.

        If all of them run, they may be a job's of which the database has forgotten the start.

        :param busy: numbers of jobs with an open action.
        """
        self._saves.begin()
        # Hosts that are silent may never carry out what Nova accepts for them.
        for job in () if seen.outage else jobs:
            if not job.saved or job.state != JobState.QUEUED or job.number in busy:
                continue
            gang = seen.gang(job)
            suspended = any(server.status == "SUSPENDED" for server in gang)
            if not (suspended or any(server.shelved for server in gang)):
                continue
            act = self._cloud.suspend if suspended else self._cloud.shelve
            for server in gang:
                if server.status != "ACTIVE" or server.busy:
                    continue
                if self._saves.ask(server.id, partial(act, server), seen.at):
                    LOG.warning("Job %s waits, but %s runs: it is saved", job.label, server.id)
