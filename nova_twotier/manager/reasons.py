"""Why jobs wait: hundreds of them learn it at each poll, the others at the next ones.

A decision may change the reasons of all that wait. To find and write ten thousand of them each time
would take longer than the decision itself.
"""

from collections.abc import Callable, Container, Mapping
from itertools import chain, islice

from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.policies import Policy
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.db.models import Job

#: Reasons that are found at a poll.
AT_ONCE = 300
#: Of so many jobs, the first by arrival, they are found at each decision.
FIRST = 100


class Reasons:
    """
    :param policy: that decides.
    """

    def __init__(self, policy: Policy):
        self._policy = policy
        self._find: Callable[[CoreJob], str] | None = None
        self._given: Mapping[int, str] = {}
        #: The jobs that wait after the last decision.
        self._left: dict[int, CoreJob] = {}
        #: Numbers of those who have not learned yet why, in their turn.
        self._due: dict[int, None] = {}

    def renew(self, after: Snapshot, waiting: Container[int], given: Mapping[int, str]) -> None:
        """There was a decision: who was not there before it comes first, then who waits longest.

        :param after: as things are after the decision, also with whom it preempts; it is kept.
        :param waiting: numbers of the jobs that waited before.
        :param given: reasons that the policy does not know of, by number.
        """
        before = self._left
        self._left = {job.number: job for job in after.queue if job.number in waiting}
        new = self._left.keys() - before.keys()
        arrivals = (number for number in self._left if number in new)
        self._due = dict.fromkeys(chain(islice(self._left, FIRST), arrivals, self._due, self._left))
        self._given = given
        self._find = self._policy.reasons(after)

    def tell(self, waiting: Mapping[int, Job]) -> None:
        """Tell those whose turn it is, of the jobs that still wait."""
        if self._find is None:
            return
        for number in list(islice(self._due, AT_ONCE)):
            del self._due[number]
            if number in waiting and number in self._left:
                reason = self._given.get(number) or self._find(self._left[number])
                if waiting[number].reason != reason:
                    waiting[number].reason = reason
