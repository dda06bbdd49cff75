"""The real policy run forward as if every job ran for the time that it asked for."""

from collections.abc import Hashable

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.estimator import Forward
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.prediction.work_left import within_request


class Requested(Forward):
    name = "requested"
    summary = "A forward run, with the times that jobs asked for."

    def run_time(self, job: Job, user: Hashable, done: float) -> float:
        return within_request(None, job, done)

    def learn(self, past: Past) -> None:
        """It learns nothing."""
