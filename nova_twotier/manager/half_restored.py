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
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest

LOG = logging.getLogger(__name__)

#: Seconds until a server is saved again: the image store may be away.
RETRY_AFTER = 60.0


class HalfRestored:
    """
    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud, self._tell = cloud, tell
        #: The last request to save each server.
        self._asked: dict[str, Asked] = {}

    def poll(self, jobs: Iterable[Job], busy: Container[int], seen: Observation) -> None:
        """Save the servers that run of jobs that wait, beside others that are saved.

        If all of them run, they may be a job's of which the database has forgotten the start.

        :param busy: numbers of jobs with an open action.
        """
        before, self._asked = self._asked, {}
        # Hosts that are silent may never carry out what Nova accepts for them.
        for job in () if seen.outage else jobs:
            if not job.saved or job.state != JobState.QUEUED or job.number in busy:
                continue
            gang = seen.gang(job)
            suspended = any(server.status == "SUSPENDED" for server in gang)
            if not (suspended or any(server.status.startswith("SHELVED") for server in gang)):
                continue
            act = self._cloud.suspend if suspended else self._cloud.shelve
            for server in gang:
                if server.status != "ACTIVE" or server.busy:
                    continue
                asked = before.get(server.id)
                if asked is None or asked.may_repeat(seen.at, RETRY_AFTER):
                    LOG.warning("Job %s waits, but %s runs: it is saved", job.label, server.id)
                    request = CloudRequest(RequestKey("save", server.id), partial(act, server))
                    asked = Asked(seen.at, self._tell(request))
                self._asked[server.id] = asked
