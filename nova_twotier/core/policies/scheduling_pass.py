"""One scheduling pass: it changes the snapshot step by step, and returns what is to be done.

For policies that may take a step back within the pass. Where each step is final, as in
`backfilling` and `migrating`, it becomes an action at once.
"""

from nova_twotier.core.actions import (
    BG,
    FG,
    Action,
    Evict,
    Kill,
    Start,
    make_move,
    make_start,
)
from nova_twotier.core.cluster import Run
from nova_twotier.core.jobs import Job, Number, Order
from nova_twotier.core.policies.policy import TENTATIVE, in_turn
from nova_twotier.core.snapshot import Snapshot


class Pass:
    """The steps of a pass; each leaves the cluster and the queue consistent."""

    def __init__(self, snapshot: Snapshot):
        self.cluster = snapshot.cluster
        self.queue = snapshot.queue
        #: The earlier runs of the jobs that were changed, by number; None if a job had none.
        self._before: dict[Number, Run | None] = {}
        #: Whether any changed job ran before.
        self._removed = False
        self._preemptor: dict[int, Job] = {}
        self._killed: set[int] = set()
        self._tentative: set[int] = set()

    def remove(self, job: Job, by: Job | None = None) -> Run:
        """Take a job off its slots, to be started again or to wait.

        `by` is the preemptor; if the job loses one tier after the other, the first one counts.
        """
        run = self.cluster.remove(job)
        self._removed = True
        self._before.setdefault(job.number, run)
        if by is not None:
            self._preemptor.setdefault(job.number, by)
        return run

    def wait(self, job: Job) -> None:
        """Put a removed job into the queue, with its state saved."""
        self.queue.add(job)

    def kill(self, job: Job) -> None:
        """Put a removed job into the queue, with its work lost."""
        self._killed.add(job.number)
        self.queue.add(job)

    def ran(self, job: Job) -> bool:
        """Whether a job ran before this pass, and was removed in it."""
        return self._before.get(job.number) is not None

    def stays(self, before: Run, now: Run) -> bool:
        """Whether a job that was removed and started in the same tier has never left its hosts."""
        return before.hosts == now.hosts

    def actions(self) -> list[Action]:
        """What leads from the cluster before to the one now, in a feasible order; by arrival."""
        runs = self.cluster.runs
        starts: list[Action] = []
        if not self._removed:
            # By far the most frequent: most often one, for which a comprehension takes longer.
            for number in self._before:
                starts.append(self._started(runs[number]))
            if len(starts) > 1:
                starts.sort(key=_turn)
            return starts
        preemptions: list[Action] = []
        demotions: list[Action] = []
        promotions: list[Action] = []
        for number, before in self._before.items():
            now = runs.get(number)
            if before is None or self._has_left(before, now):
                if before is not None:
                    kind = Kill if number in self._killed else Evict
                    preemptions.append(kind(before.job, before.tier, self._preemptor[number]))
                if now is not None:
                    starts.append(self._started(now))
            elif now is not None and now.tier is not before.tier:
                by = None if now.tier is FG else self._preemptor[number]
                move = make_move((before.job, now.tier, before.hosts, now.hosts, by))
                (promotions if now.tier is FG else demotions).append(move)
        for actions in (preemptions, demotions, promotions, starts):
            if len(actions) > 1:
                actions.sort(key=_turn)
        return [*preemptions, *demotions, *promotions, *starts]

    def _has_left(self, before: Run, now: Run | None) -> bool:
        """Whether a job lost its slots, even if it was started again."""
        if now is None or before.job.number in self._killed:
            return True
        if now.tier is before.tier:
            return not self.stays(before, now)
        return now.tier is BG and now.hosts != before.hosts

    def _started(self, run: Run) -> Start:
        job, tier, hosts, _pinned, _until = run
        how = TENTATIVE if job.number in self._tentative else in_turn(self.queue, job)
        return make_start((job, tier, hosts, how))


def _turn(action: Action) -> tuple[bool, Order]:
    """Starts in the foreground come before others."""
    return isinstance(action, Start) and action.tier is BG, action.job.order
