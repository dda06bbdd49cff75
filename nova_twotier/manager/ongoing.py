"""What the open actions of a pool are about to do, and which are dropped when another one fails."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs

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
    if (its := decision(failed)) is not None:
        together = [action for action in opened if decision(action) == its]
        _drop_unbegun(together, failures.EARLIER_FAILED(), now)


def abandon_all(opened: Iterable[Action], reason: Reason, now: float) -> None:
    """Drop all actions that policies decided and that have not begun, as `abandon` does."""
    _drop_unbegun([action for action in opened if decision(action) is not None], reason, now)


def _drop_unbegun(decided: Sequence[Action], reason: Reason, now: float) -> None:
    swapping = {
        action.created_at
        for action in decided
        if action.kind == ActionKind.SWAP and action.state != ActionState.DONE
    }
    for action in decided:
        unbegun = action.state == ActionState.EXPECTED and action.begun_at is None
        halfway = action.kind == ActionKind.MIGRATE and action.created_at not in swapping
        if unbegun and not halfway:
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
