"""Which open actions may proceed: those of one decision in order, independent of other decisions.

A tenant's guest can draw out an eviction or a migration. So no action waits for those of another
decision, and actions decided together with a slow one proceed without it as soon as there is room.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import Order
from nova_twotier.core.reasons import Reason, failures
from nova_twotier.core.slots import is_hot
from nova_twotier.core.snapshot import NONE_AWAY
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import (
    EndPlan,
    EvictPlan,
    MigratePlan,
    PowerOnPlan,
    RelocatePlan,
    StartPlan,
    SwapPlan,
    VacatePlan,
)
from nova_twotier.db.states import ActionKind, ActionState
from nova_twotier.manager.departures import Departure, Expectation
from nova_twotier.manager.idle_slots import IdleSlots
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs
from nova_twotier.manager.planning import PHASE_START_BG, PHASE_START_FG

#: Seconds in which actions are expected to make room for others. Slower ones reserve no idle slots,
#: and only actions that have no room otherwise wait for them.
PATIENCE = 10.0
#: Seconds in which Nova is expected to place the servers of a start. No tenant can prolong that.
PLACING = 60.0
#: Actions by which processes come to another host in the foreground.
MIGRATIONS = (ActionKind.MIGRATE, ActionKind.VACATE)


def decision(action: Action) -> float | None:
    """When the policy decided on it: the same for all that it decided together.

    None: no policy did, and nothing else was decided with it.
    """
    plan = action.plan
    alone = isinstance(plan, EndPlan | PowerOnPlan) or (
        isinstance(plan, EvictPlan) and plan.repairs
    )
    return None if alone else action.created_at


def abandon(opened: Iterable[Action], failed: Action, now: float) -> None:
    """Drop actions that were decided together with a failed one and have not begun.

    Migrations of a job that has swapped are kept: half of it would stay in the other tier.
    """
    its = decision(failed)
    together = [action for action in opened if its is not None and decision(action) == its]
    swapped = not any(
        action.kind == ActionKind.SWAP and action.state != ActionState.DONE for action in together
    )
    for action in together:
        unbegun = action.state == ActionState.EXPECTED and action.begun_at is None
        if unbegun and not (swapped and action.kind == ActionKind.MIGRATE):
            drop(action, failures.EARLIER_FAILED(), now)


def abandon_all(opened: Sequence[Action], reason: Reason, now: float) -> None:
    """Drop all actions that policies decided and that have not begun, as `abandon` does."""
    swapping = {action.created_at for action in opened if action.kind == ActionKind.SWAP}
    for action in opened:
        unbegun = action.state == ActionState.EXPECTED and action.begun_at is None
        halfway = action.kind == ActionKind.MIGRATE and action.created_at not in swapping
        if unbegun and decision(action) is not None and not halfway:
            drop(action, reason, now)


def drop(action: Action, reason: Reason | None, now: float) -> None:
    """Close an action that has not begun."""
    action.state, action.closed_at = ActionState.FAILED, now
    action.reason = str(reason or "")


def departures(opened: Iterable[Action], jobs: Jobs) -> list[Departure]:
    """The jobs that open actions take off their slots or move to others, and where to."""
    leaving: list[Departure] = []
    tiers: dict[int, tuple[float, Tier]] = {}
    targets: dict[int, Mapping[int, str]] = {}
    for action in opened:
        match action.plan:
            case EvictPlan():
                leaving.append(Departure(jobs[action.number], action.created_at))
            case SwapPlan(changes=changes):
                tiers |= {each.number: (action.created_at, each.tier) for each in changes}
            case RelocatePlan(targets=hosts, origins=origins):
                job, decided_at = jobs[action.number], action.created_at
                leaving.append(Departure(job, decided_at, Tier.BG, hosts, origins))
            case VacatePlan(targets=hosts, origins=origins):
                job, tier = jobs[action.number], Tier(jobs[action.number].tier or "")
                leaving.append(Departure(job, action.created_at, tier, hosts, origins))
            case MigratePlan(targets=hosts):
                number = action.number
                targets[number] = hosts
                tiers.setdefault(number, (action.created_at, Tier(jobs[number].tier or "")))
    for number, (decided_at, tier) in tiers.items():
        hosts = targets.get(number, {})
        leaving.append(Departure(jobs[number], decided_at, tier, hosts))
    return leaving


def earliest_coming(opened: Iterable[Action], jobs: Jobs, now: float) -> Order:
    """The earliest position of the jobs that actions bring to the queue or to the background.

    Of those that will want the foreground there. Late actions do not count: the owner of a job can
    draw them out at will.
    """
    timely = [action for action in opened if not is_late(action, now)]
    coming = [
        jobs[action.number]
        for action in timely
        if action.kind == ActionKind.START
        and not action.progress.undoing
        and action.planned(StartPlan).tier is Tier.BG
    ]
    coming += [each.job for each in departures(timely, jobs) if each.tier is not Tier.FG]
    shown = (job for job in coming if not (job.gated or job.held or job.requested_action))
    return min((job.core.order for job in shown if job.core.foreground), default=NONE_AWAY)


def arriving(
    opened: Iterable[Action], jobs: Jobs, seen: Observation, threshold: float
) -> Counter[str]:
    """How many slots of each host are about to be closed by processes that migrate there."""
    closing: Counter[str] = Counter()
    for action in opened:
        if action.kind not in MIGRATIONS or action.begun_at is None:
            continue
        plan, job = action.planned(MigratePlan), jobs[action.number]
        if job.tier != Tier.FG:
            continue
        profile = job.profile
        for server in seen.gang(job):
            target, claim = plan.targets.get(server.index), seen.claims.get(server.id)
            there = claim is not None and (claim.tier, claim.host) == (Tier.FG, target)
            if target and not there and is_hot(profile[server.index], threshold):
                closing[target] += 1
    return closing


def expectations(opened: Iterable[Action], now: float) -> dict[int, Expectation]:
    """The slots that starts which have not begun count on, by the numbers of their jobs."""
    return {
        action.number: Expectation(action.created_at, plan.freed, is_late(action, now))
        for action in opened
        if isinstance(plan := action.plan, StartPlan) and action.begun_at is None
    }


def is_late(action: Action, now: float) -> bool:
    """Whether it has taken, or waited, longer than other actions wait for it."""
    since = action.created_at if action.begun_at is None else action.begun_at
    return now >= since + PATIENCE


def is_unplaced(start: Action, seen: Observation, job: Job, now: float) -> bool:
    """Whether Nova has yet to place the job's servers, so that their hosts are not known.

    Of a gang that its owner makes incomplete, all that are left are placed.
    """
    began = start.begun_at
    if start.kind != ActionKind.START or began is None or start.progress.undoing:
        return False
    gang = seen.gang(job)
    placed = gang and all(server.id in seen.claims for server in gang)
    return now < began + PLACING and not placed


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
            its = decision(action)
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
        its = decision(action)
        if action.begun_at is not None or its is None:
            return True
        before = self._phases[its] < action.phase
        plan = action.plan
        if isinstance(plan, StartPlan) and plan.by is not None and self.now > plan.by:
            # It would not end before planned maintenance any more.
            drop(action, None, self.now)
            self.dropped = True
            return False
        if not (isinstance(plan, StartPlan) and is_late(action, self.now)):
            return not before
        if any(evict.job == action.job for evict in self._evictions.get(its, ())):
            return False
        if self._fits(action, plan.tier):
            return True
        if not before:
            drop(action, failures.SLOTS_TAKEN(), self.now)
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
        moves = [each for each in unbegun if each.kind in (ActionKind.SWAP, *MIGRATIONS)]
        fronts, backs = (_starts(unbegun, phase) for phase in (PHASE_START_FG, PHASE_START_BG))
        unplaced = [each for each in due if self._is_unplaced(each)]
        placing, below = (_starts(unplaced, phase) for phase in (PHASE_START_FG, PHASE_START_BG))
        closing = list(filter(self._closes, fronts))
        late = {back for back in backs if is_late(back, self.now)}
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
        return job is not None and is_unplaced(action, self.seen, job, self.now)

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
        decided = [action for action in self._left if decision(action) is not None]
        return IdleSlots(tier, self.seen, room, needs, departures(decided, self.jobs))

    def _claimed(self, start: Action) -> int:
        """Slots that are kept for a start that is not begun."""
        late = is_late(start, self.now)
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
