"""Which open actions may proceed: those of one decision in order, independent of other decisions.

A tenant's guest can draw out an eviction or a migration. So no action waits for those of another
decision, and actions decided together with a slow one proceed without it as soon as there is room.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import failures
from nova_twotier.core.slots import is_hot
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, ActionState
from nova_twotier.manager import ongoing
from nova_twotier.manager.idle_slots import IdleSlots
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs
from nova_twotier.manager.planning import PHASE_START_BG, PHASE_START_FG


@dataclass
class Turns:
    """Finds the actions whose turn it is.

    :param opened: actions that are not over, as they were decided.
    :param threshold: the option of group `[manager]`.
    :ivar dropped: whether a start was dropped, since it has waited in vain for its slots.
    """

    opened: Sequence[Action]
    jobs: Jobs
    seen: Observation
    threshold: float
    now: float
    dropped: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._left = [each for each in self.opened if each.state == ActionState.EXPECTED]
        #: For each decision, the lowest phase that holds up the next ones, and the evictions.
        self._phases: dict[float, int] = {}
        self._evictions: dict[float, list[Action]] = {}
        for action in self._left:
            its = ongoing.decision(action)
            if its is None or self._is_placed(action):
                continue
            self._phases[its] = min(action.phase, self._phases.get(its, action.phase))
            if action.kind == ActionKind.EVICT:
                self._evictions.setdefault(its, []).append(action)
        #: By tier, where that was computed.
        self._idle: dict[Tier, IdleSlots] = {}

    def due(self) -> list[Action]:
        """Actions that have begun or were decided alone, and others with nothing before them."""
        due = [action for action in self._left if self._is_due(action)]
        waits = self._wait_for_placement(due)
        return [action for action in due if action not in waits] if waits else due

    def _is_due(self, action: Action) -> bool:
        its = ongoing.decision(action)
        if action.begun_at is not None or its is None:
            return True
        before = self._phases[its] < action.phase
        plan = action.plan
        if isinstance(plan, StartPlan) and plan.by is not None and self.now > plan.by:
            # It would not end before planned maintenance any more.
            ongoing.drop(action, None, self.now)
            self.dropped = True
            return False
        if not (isinstance(plan, StartPlan) and ongoing.is_late(action, self.now)):
            return not before
        if any(evict.job == action.job for evict in self._evictions.get(its, ())):
            return False
        if self._fits(action, plan.tier):
            return True
        if not before:
            ongoing.drop(action, failures.SLOTS_TAKEN(), self.now)
            self.dropped = True
        return False

    def _is_placed(self, action: Action) -> bool:
        """Whether it is a start whose servers hold their slots: others need not wait for the
        rest."""
        return (
            action.kind == ActionKind.START
            and action.begun_at is not None
            and self.seen.whole(self.jobs[action.number])
        )

    def _wait_for_placement(self, due: Sequence[Action]) -> set[Action]:
        """Starts that have to wait until Nova has placed the servers of others.

        No job is to be placed on a slot that another one is just about to close. The foreground
        begins first; but a job in the background that is late goes before those that close slots
        and were decided after it, so that neither waits forever. A job in the foreground that
        closes no slot never waits, and late ones in the background do not wait for it.
        """
        unbegun = [action for action in due if action.begun_at is None]
        moves = [each for each in unbegun if each.kind in (ActionKind.SWAP, *ongoing.MIGRATIONS)]
        fronts, backs = (_starts(unbegun, phase) for phase in (PHASE_START_FG, PHASE_START_BG))
        unplaced = [each for each in due if self._is_unplaced(each)]
        placing, below = (_starts(unplaced, phase) for phase in (PHASE_START_FG, PHASE_START_BG))
        closing = list(filter(self._closes, fronts))
        late = {back for back in backs if ongoing.is_late(back, self.now)}
        waits = set()
        if below or _oldest(late) < _oldest(closing):
            waits.update(closing)
        if moves or fronts or placing:
            waits.update(back for back in backs if back not in late)
        # What swaps and migrations close is known in the next round; but there may be others then.
        first = min(_oldest(closing), _oldest(moves))
        hot = any(map(self._closes, placing))
        waits.update(back for back in late if hot or first <= back.created_at)
        waits.update(_one_by_one(unbegun, unplaced))
        return waits

    def _is_unplaced(self, action: Action) -> bool:
        job = self.jobs.get(action.job or 0)
        return job is not None and ongoing.is_unplaced(action, self.seen, job, self.now)

    def _closes(self, start: Action) -> bool:
        """Whether its job closes a slot, if in the foreground."""
        return is_hot(self.jobs[start.number].core.hottest, self.threshold)

    def _fits(self, start: Action, tier: Tier) -> bool:
        """Whether the idle slots that are kept for nothing else are enough for a start."""
        if tier not in self._idle:
            self._idle[tier] = self._idle_slots(tier)
        size = self.jobs[start.number].size
        return self._idle[tier].take(start.created_at, size, self._claimed(start))

    def _idle_slots(self, tier: Tier) -> IdleSlots:
        """The slots of a tier that no start is just about to take."""
        room = self.seen.room(tier, self.jobs.values(), self.threshold)
        needs = Counter[float]()
        for action in self._left:
            plan = action.plan
            if not isinstance(plan, StartPlan) or plan.tier is not tier or action.progress.undoing:
                continue
            if action.begun_at is None:
                needs[action.created_at] += self._claimed(action)
            else:
                job = self.jobs[action.number]
                room -= max(0, job.size - self._held(job, tier))
        decided = [action for action in self._left if ongoing.decision(action) is not None]
        return IdleSlots(tier, self.seen, room, needs, ongoing.departures(decided, self.jobs))

    def _claimed(self, start: Action) -> int:
        """Slots that are kept for a start that is not begun."""
        late = ongoing.is_late(start, self.now)
        return start.planned(StartPlan).freed if late else self.jobs[start.number].size

    def _held(self, job: Job, tier: Tier) -> int:
        """Slots that a job holds in a tier."""
        claims = (self.seen.claims.get(server.id) for server in self.seen.gang(job))
        return sum(1 for claim in claims if claim is not None and claim.tier is tier)


def _one_by_one(unbegun: Sequence[Action], unplaced: Sequence[Action]) -> Sequence[Action]:
    """Starts of jobs with bandwidth that have to wait until the one before them is placed.

    They are placed one after the other, as they were planned: each on what the ones before it have
    left. At the same time, Nova could give one the slots that another needs on the links that it
    has reserved.
    """
    planned = [each for each in unbegun if _has_hosts(each)]
    return planned if any(map(_has_hosts, unplaced)) else planned[1:]


def _has_hosts(action: Action) -> bool:
    return isinstance(action.plan, StartPlan) and bool(action.plan.hosts)


def _starts(actions: Iterable[Action], phase: int) -> list[Action]:
    return [action for action in actions if action.phase == phase]


def _oldest(actions: Iterable[Action]) -> float:
    """When the oldest of these actions was decided; infinite without actions."""
    return min((action.created_at for action in actions), default=math.inf)
