"""Withdraws the notices of preemptions that were given up, so that guests go on working."""

from collections.abc import Callable, Container, Iterable
from concurrent.futures import Future
from functools import partial

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.gang import PREEMPTED
from nova_twotier.manager.operations.operation import CloudRequest

#: Seconds until a notice that still shows is withdrawn again.
RETRY_AFTER = 10.0


class Notices:
    """Finds servers that run on with the notice of a preemption.

    :param tell: sends a request; its future holds the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud, self._tell = cloud, tell
        #: The last request for each server.
        self._asked: dict[str, Asked] = {}

    def poll(self, jobs: Iterable[Job], busy: Container[int], seen: Observation) -> None:
        """Withdraw notices of jobs that run and that no open action is about.

        :param busy: numbers of jobs with an open action.
        """
        before, self._asked = self._asked, {}
        for job in jobs:
            if job.state != JobState.RUNNING or job.number in busy:
                continue
            for server in seen.gang(job) if job.uuid in seen.noticed else ():
                if not server.notice.startswith(PREEMPTED):
                    continue
                asked = before.get(server.id)
                if asked is None or asked.may_repeat(seen.at, RETRY_AFTER):
                    run = partial(self._cloud.notice, server, None)
                    request = CloudRequest(RequestKey("withdraw", server.id), run)
                    asked = Asked(seen.at, self._tell(request))
                self._asked[server.id] = asked
