"""The reasons why jobs wait: a few hundred are updated at each poll, in turn.

A decision may change the reasons of all waiting jobs. Finding and writing ten thousand of them
would take longer than the decision itself.
"""

from collections.abc import Callable, Mapping
from itertools import chain, islice

from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.policies import Policy
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason
from nova_twotier.core.reasons.reason import Value
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
        self._besides: Mapping[int, Mapping[str, Value]] = {}
        #: As the last decision left it.
        self._queue = Queue()
        #: Numbers of the jobs that waited at the last decision, in turn; who gets a reason goes to
        #: the end.
        self._turns: dict[int, None] = {}
        #: How many of the first of them have got none since.
        self._due = 0

    def renew(
        self,
        after: Snapshot,
        waiting: Mapping[int, Job],
        given: Mapping[int, Reason],
        besides: Mapping[int, Mapping[str, Value]],
    ) -> None:
        """Start over after a decision: after the queue's head come the new jobs, then the others.

        :param after: the state after the decision, its preemptions included; it is kept.
        :param waiting: the jobs that waited before the decision, by number.
        :param given: reasons that the policy does not know, by number.
        :param besides: parameters that the policy does not know, for its reasons that have them.
        """
        turns, queue = self._turns, after.queue
        for gone in turns.keys() - waiting.keys():
            del turns[gone]
        heads = [queue[position].number for position in range(min(FIRST, len(queue)))]
        arrived = waiting.keys() - turns.keys()
        new = [number for number in waiting if number in arrived] if arrived else []
        first = [number for number in heads if number in waiting]
        self._turns = dict.fromkeys(chain(first, new)) | turns
        self._due = len(self._turns)
        self._queue, self._given, self._besides = queue, given, besides
        self._find = self._policy.reasons(after)

    def tell(self, waiting: Mapping[int, Job]) -> None:
        """Update the reasons that are due, of the jobs that still wait."""
        if self._find is None:
            return
        turns = self._turns
        numbers = list(islice(turns, min(AT_ONCE, self._due)))
        self._due -= len(numbers)
        for number in numbers:
            del turns[number]
            turns[number] = None
            if number in waiting and number in self._queue:
                job = waiting[number]
                job.reason = self._given.get(number) or self._with_more(
                    self._find(job.core), number
                )

    def _with_more(self, reason: Reason, number: int) -> Reason:
        more = self._besides.get(number)
        if more is None or not more.keys() <= set(reason.code.fields):
            return reason
        return reason.plus(**more)
