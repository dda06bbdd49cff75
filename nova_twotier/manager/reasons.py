"""The reasons why jobs wait: a few hundred are updated at each poll, in turn.

A decision may change the reasons of all waiting jobs. Finding and writing ten thousand of them
would take longer than the decision itself.
"""

from collections.abc import Callable, Container, Mapping
from itertools import chain, islice

from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.policies import Policy
from nova_twotier.core.reasons import Reason
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.db.models import Job

#: Number of reasons found at each poll.
AT_ONCE = 300
#: Number of jobs at the head of the queue that get their reasons at every decision.
FIRST = 100


class Reasons:
    """Keeps the reasons of a pool's waiting jobs up to date.

    :param policy: the pool's policy, which gives the reasons.
    """

    def __init__(self, policy: Policy):
        self._policy = policy
        self._find: Callable[[CoreJob], Reason] | None = None
        self._given: Mapping[int, Reason] = {}
        #: Jobs that still wait after the last decision.
        self._left: dict[int, CoreJob] = {}
        #: Numbers of the jobs whose reasons are due, in turn.
        self._due: dict[int, None] = {}

    def renew(self, after: Snapshot, waiting: Container[int], given: Mapping[int, Reason]) -> None:
        """Start over after a decision: after the queue's head come the new jobs, then the others.

        :param after: the state after the decision, its preemptions included; it is kept.
        :param waiting: numbers of the jobs that waited before the decision.
        :param given: reasons that the policy does not know, by number.
        """
        before = self._left
        self._left = {job.number: job for job in after.queue if job.number in waiting}
        new = self._left.keys() - before.keys()
        arrivals = (number for number in self._left if number in new)
        self._due = dict.fromkeys(chain(islice(self._left, FIRST), arrivals, self._due, self._left))
        self._given = given
        self._find = self._policy.reasons(after)

    def tell(self, waiting: Mapping[int, Job]) -> None:
        """Update the reasons that are due, of the jobs that still wait."""
        if self._find is None:
            return
        for number in list(islice(self._due, AT_ONCE)):
            del self._due[number]
            if number in waiting and number in self._left:
                reason = self._given.get(number) or self._find(self._left[number])
                waiting[number].reason = reason
