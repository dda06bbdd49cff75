"""From the policy's decision to the records of actions, in the order in which they can be done."""

from collections.abc import Iterable
from typing import NamedTuple

from nova_twotier.core import actions as decided
from nova_twotier.core.actions import Tier
from nova_twotier.db.models import ActionKind, Job, Preemption
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import Jobs

#: Room is made before it is taken, and the foreground, which closes slots, before the background.
PHASE_EVICT, PHASE_SWAP, PHASE_MIGRATE, PHASE_START_FG, PHASE_START_BG = range(1, 6)


class Record(NamedTuple):
    """What is to be recorded of an action: columns of `models.Action`."""

    kind: ActionKind
    phase: int
    job: int | None
    plan: dict
    created_at: float


def records(
    decision: Iterable[decided.Action], jobs: Jobs, seen: Observation, now: float
) -> list[Record]:
    """The actions to record for a decision. Tiers that change in place are one transaction."""
    decision = list(decision)
    again = {action.job.number for action in decision if isinstance(action, decided.Start)}
    evictions, migrations, starts, swaps = [], [], [], []
    for action in decision:
        number = action.job.number
        match action:
            case decided.Evict() | decided.Kill():
                plan = {"by": _by(action), "mode": _mode(action, jobs[number], again)}
                evictions.append(Record(ActionKind.EVICT, PHASE_EVICT, number, plan, now))
            case decided.Move():
                swaps.append(_swap(action, jobs, seen))
                if action.migrating:
                    plan = {
                        "targets": {
                            str(i): seen.hosts[action.after[i]].name for i in action.migrating
                        }
                    }
                    migrations.append(Record(ActionKind.MIGRATE, PHASE_MIGRATE, number, plan, now))
            case decided.Start():
                phase = PHASE_START_FG if action.tier is Tier.FG else PHASE_START_BG
                plan = {"tier": action.tier, "how": action.how}
                if action.job.mbps:
                    plan |= _reservation(action, jobs[number], seen)
                starts.append(Record(ActionKind.START, phase, number, plan, now))
    if swaps:
        swaps = [Record(ActionKind.SWAP, PHASE_SWAP, None, {"swaps": swaps}, now)]
    return [*evictions, *swaps, *migrations, *starts]


def _reservation(start: decided.Start, job: Job, seen: Observation) -> dict:
    """The hosts of the processes of a job with bandwidth, and Mbit/s by link."""
    # A suspended job can only come back where it is.
    indices = seen.suspended_on(job) or start.hosts
    hosts = [seen.hosts[index].name for index in indices]
    return {"hosts": hosts, "links": seen.needs(job, hosts)}


def _by(action: decided.Evict | decided.Kill) -> str:
    if action.by.number == action.job.number:
        return "itself, for the foreground"
    return action.by.label


def _mode(action: decided.Evict | decided.Kill, job: Job, again: set[int]) -> Preemption:
    """What becomes of a job that is preempted: what it asked for, if that can be.

    A policy that kills does not know which jobs can save their work: those are not killed.

    :param again: numbers of the jobs that start in the same pass, on other hosts than before.
    """
    if isinstance(action, decided.Kill) and not job.checkpoint:
        return Preemption.REQUEUE
    if job.preemption == Preemption.SUSPEND and job.number in again:
        return Preemption.SHELVE
    return Preemption(job.preemption)


def _swap(move: decided.Move, jobs: Jobs, seen: Observation) -> dict:
    job = jobs[move.job.number]
    gang = seen.gang(job)
    return {
        "number": job.number,
        "uuid": job.uuid,
        "size": job.size,
        "tier": move.tier,
        "vms": [server.id for server in gang if server.index not in move.migrating],
        "by": move.by.label if move.by else None,
    }
