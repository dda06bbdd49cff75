"""Withdraws the notices of preemptions that were given up, so that guests go on working."""

from collections.abc import Callable, Container, Iterable
from concurrent.futures import Future
from functools import partial

from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.gang import PREEMPTED
from nova_twotier.manager.operations.operation import CloudRequest
from nova_twotier.manager.repeated import Repeated

#: Seconds until a notice that still shows is withdrawn again.
RETRY_AFTER = 10.0


class Notices:
    """Finds servers that run on with the notice of a preemption.

    :param tell: sends a request; its future holds the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud = cloud
        self._withdrawals = Repeated(tell, "withdraw", RETRY_AFTER)

    def poll(self, jobs: Iterable[Job], busy: Container[int], seen: Observation) -> None:
        """Withdraw notices of jobs that run and that no open action is about.

        :param busy: numbers of jobs with an open action.
        """
        self._withdrawals.begin()
        for job in jobs:
            if job.state != JobState.RUNNING or job.number in busy:
                continue
            for server in seen.gang(job) if job.uuid in seen.noticed else ():
                if not server.notice.startswith(PREEMPTED):
                    continue
                run = partial(self._cloud.notice, server, None)
                self._withdrawals.ask(server.id, run, seen.at)
