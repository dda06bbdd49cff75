"""From the policy's decision to the records of actions, in the order in which they can be done."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from nova_twotier.core import actions as decided
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason, changes
from nova_twotier.db.models import Job
from nova_twotier.db.plans import (
    EvictPlan,
    MigratePlan,
    Plan,
    RelocatePlan,
    StartPlan,
    SwapPlan,
    TierChange,
    dump,
)
from nova_twotier.db.states import ActionKind, Preemption
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs

#: Slots are freed before they are taken, and the foreground, which closes slots, comes before the
#: background.
PHASE_EVICT, PHASE_SWAP, PHASE_MIGRATE, PHASE_START_FG, PHASE_START_BG = range(1, 6)
NONE_IDLE: Mapping[Tier, int] = MappingProxyType({})
NO_RELOCATIONS: Mapping[int, RelocatePlan] = MappingProxyType({})


class Record(NamedTuple):
    """What is to be recorded of an action: attributes of `models.Action`."""

    kind: ActionKind
    phase: int
    job: int | None
    plan: Plan
    created_at: float

    def columns(self) -> dict[str, Any]:
        """For an insert of many: by the mapped attributes of `models.Action`."""
        values = self._asdict()
        return values | {"plan_data": dump(values.pop("plan"))}


def records(
    decision: Iterable[decided.Action],
    jobs: Jobs,
    seen: Observation,
    now: float,
    idle: Mapping[Tier, int] = NONE_IDLE,
    relocated: Mapping[int, RelocatePlan] = NO_RELOCATIONS,
    max_mbps: int = 0,
) -> list[Record]:
    """The actions to record for a decision. Tiers that change in place are one transaction.

    :param idle: slots that are idle before it, by tier.
    :param relocated: how preempted jobs migrate to where the decision starts them, by number.
    :param max_mbps: Bmax by which the hosts of jobs with bandwidth were chosen, Mbit/s.
    """
    decision = [
        action
        for action in decision
        if not (isinstance(action, decided.Start) and action.job.number in relocated)
    ]
    freed = _freed(decision, idle, relocated)
    again = {action.job.number for action in decision if isinstance(action, decided.Start)}
    evictions: list[Record] = []
    migrations: list[Record] = []
    starts: list[Record] = []
    changes: list[TierChange] = []
    for action in decision:
        number = action.job.number
        match action:
            case decided.Evict() if number in relocated:
                plan = relocated[number]
                evictions.append(Record(ActionKind.RELOCATE, PHASE_EVICT, number, plan, now))
            case decided.Evict() | decided.Kill():
                evict = EvictPlan(_why(action), _mode(action, jobs[number], again))
                evictions.append(Record(ActionKind.EVICT, PHASE_EVICT, number, evict, now))
            case decided.Move():
                changes.append(_tier_change(action, jobs, seen))
                if action.migrating:
                    targets, origins = (
                        {i: seen.hosts[places[i]].name for i in action.migrating}
                        for places in (action.after, action.before)
                    )
                    move = MigratePlan(targets, origins)
                    migrations.append(Record(ActionKind.MIGRATE, PHASE_MIGRATE, number, move, now))
            case decided.Start():
                phase = PHASE_START_FG if action.tier is Tier.FG else PHASE_START_BG
                start = StartPlan(action.tier, action.how, freed=freed.get(number, 0))
                if action.job.mbps:
                    start = _with_bandwidth(start, action, jobs[number], seen, max_mbps)
                starts.append(Record(ActionKind.START, phase, number, start, now))
    swap = SwapPlan(tuple(changes))
    swaps = [Record(ActionKind.SWAP, PHASE_SWAP, None, swap, now)] if changes else []
    return [*evictions, *swaps, *migrations, *starts]


def _freed(
    decision: Sequence[decided.Action],
    idle: Mapping[Tier, int],
    relocated: Mapping[int, RelocatePlan],
) -> dict[int, int]:
    """Slots of each job to start that are not idle yet, by its number: the first jobs wait."""
    starts = [action for action in decision if isinstance(action, decided.Start)]
    if len(starts) == len(decision):
        return {}
    freed: dict[int, int] = {}
    for tier in Tier:
        alike = [start.job for start in starts if start.tier is tier]
        left = idle.get(tier, 0)
        if tier is Tier.BG:
            left -= sum(len(plan.targets) + len(plan.vms) for plan in relocated.values())
        missing = max(0, sum(job.size for job in alike) - left)
        for job in alike:
            freed[job.number] = min(job.size, missing)
            missing -= freed[job.number]
    return freed


def _with_bandwidth(
    plan: StartPlan, start: decided.Start, job: Job, seen: Observation, max_mbps: int
) -> StartPlan:
    """With the hosts of the processes, Mbit/s by link, and Bmax."""
    # A suspended job can only come back where it is.
    indices = seen.suspended_on(job) or start.hosts
    hosts = tuple(seen.hosts[index].name for index in indices)
    return replace(plan, hosts=hosts, links=seen.needs(job, hosts), max_mbps=max_mbps)


def _why(action: decided.Evict | decided.Kill) -> Reason:
    if action.by.number == action.job.number:
        return changes.TO_FOREGROUND()
    return changes.PREEMPTED(action.by.number)


def _mode(action: decided.Evict | decided.Kill, job: Job, again: set[int]) -> Preemption:
    """How a job is preempted: as it asked for, if possible.

    A policy that kills does not know which jobs can save their work: those that can are not killed.

    :param again: numbers of the jobs that start in the same pass, on other hosts than before.
    """
    if isinstance(action, decided.Kill) and not job.checkpoint:
        return Preemption.REQUEUE
    if job.preemption == Preemption.SUSPEND and job.number in again:
        return Preemption.SHELVE
    return Preemption(job.preemption)


def _tier_change(move: decided.Move, jobs: Jobs, seen: Observation) -> TierChange:
    job = jobs[move.job.number]
    gang = seen.gang(job)
    vms = tuple(server.id for server in gang if server.index not in move.migrating)
    by = move.by.number if move.by else None
    return TierChange(job.number, job.uuid, job.size, move.tier, vms, by)
