"""Limits how many servers boot at the same time, so that Nova is not asked for all at once.

Nova starts on all servers that it is asked for, and boots fewer a second the more they are. So jobs
that would start on idle slots stay in the queue while enough others boot; the policy decides about
them anew when some of those have booted, with what has happened since. What preemptions make room
for is not held back: its slots would stand idle.
"""

from collections.abc import Collection, Iterable, Sequence

from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.models import Action
from nova_twotier.db.plans import StartPlan
from nova_twotier.manager import ongoing
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs
from nova_twotier.manager.planning import Record


class BootLimit:
    """Decides which jobs do not start yet, since enough servers of others boot.

    :param options: the options of group `[manager]`.
    """

    def __init__(self, options):
        self._options = options

    @property
    def reason(self) -> Reason:
        """The reason of a job that waits for servers of others to boot."""
        return waits.BOOTS(limit=self._options.max_concurrent_boots)

    def held_back(
        self,
        records: Sequence[Record],
        waiting: Collection[int],
        starts: Iterable[Action],
        jobs: Jobs,
        seen: Observation,
        now: float,
    ) -> set[int]:
        """The numbers of the jobs that the policy has started, but that wait for others to boot.

        Jobs start in the order of the decision, so that no smaller one passes a job that waits
        here. A job that is larger than the limit starts when no other servers boot.

        :param records: of the decision, in the order of the policy.
        :param waiting: numbers of the jobs in the queue.
        :param starts: the open starts.
        """
        limit = self._options.max_concurrent_boots
        held = set[int]()
        if not limit:
            return held
        booting = self._booting(starts, jobs, seen, now)
        for record in records:
            plan, number = record.plan, record.job
            if not isinstance(plan, StartPlan) or number is None:
                continue
            size = jobs[number].size
            fits = not held and (booting + size <= limit or not booting)
            if fits or plan.freed or number not in waiting:
                booting += size
            else:
                held.add(number)
        return held

    def _booting(self, starts: Iterable[Action], jobs: Jobs, seen: Observation, now: float) -> int:
        """The number of servers that Nova is booting, restoring, or about to be asked for.

        Starts that take long do not count, lest a host that hangs hold up all others.
        """
        count = 0
        for start in starts:
            job = jobs[start.number]
            if start.begun_at is None:
                count += 0 if ongoing.is_late(start, now) else job.size
            elif now < start.begun_at + self._options.boot_grace:
                count += job.size - sum(server.settled for server in seen.gang(job))
        return count
