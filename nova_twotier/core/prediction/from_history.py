"""Forward runs in which jobs run as long as similar ones did, and slow each other down."""

from collections.abc import Hashable

from nova_twotier.core.cluster import Cluster
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction.estimator import Forward, within_request
from nova_twotier.core.prediction.history import History, quantile
from nova_twotier.core.prediction.pace import DEDICATED, Pace, Seated, Slowdowns
from nova_twotier.core.prediction.present import Past


class FromHistory(Forward):
    """A job takes the median run time of the past jobs most similar to it.

    The paper measures it on a dedicated cluster instead.

    :param slowdowns: how jobs slow each other down.
    :param shared: whether they may do so even under a policy with one tier.
    """

    def __init__(self, slowdowns: Slowdowns, shared: bool):
        self._run_times = History()
        self._seated = Seated(slowdowns)
        self._shared = shared

    def run_time(self, job: Job, user: Hashable, done: float) -> float:
        similar = self._run_times.similar(job, user, beyond=done)
        return within_request(quantile(similar, 0.5) if similar else None, job, done)

    def pace(self, cluster: Cluster, policy: Policy) -> Pace:
        return self._seated if self._shared or policy.tiers > 1 else DEDICATED

    def learn(self, past: Past) -> None:
        self._run_times.add(past.job, past.user, past.work)
