"""The plans of actions of each kind, as they are recorded before an action begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nova_twotier.core import reasons
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason
from nova_twotier.db.as_json import plain
from nova_twotier.db.states import ActionKind, JobState, Preemption


@dataclass(frozen=True, slots=True)
class StartPlan:
    """Boot or restore a job in a tier.

    :param how: how the start came about, see `core.actions.StartKind`.
    :param hosts: of a job with bandwidth, and of one that is restored while maintenance is planned:
        the host of each process.
    :param links: Mbit/s that are reserved for it, by link.
    :param freed: slots that were not idle when it was decided: those that the preemptions and moves
        of the same decision free are reserved for it, however long that takes.
    :param near: the hosts that it may start on, as the scheduler is told; empty: on any.
    :param by: when it must have begun, since it would not end before planned maintenance otherwise.
    :param max_mbps: of a job with bandwidth: Bmax by which its hosts were chosen, Mbit/s.
    """

    tier: Tier
    how: str
    hosts: tuple[str, ...] = ()
    links: Mapping[str, int] = field(default_factory=dict)
    freed: int = 0
    near: str = ""
    by: float | None = None
    max_mbps: int = 0


@dataclass(frozen=True, slots=True)
class EvictPlan:
    """Preempt a job.

    :param reason: why; it names the job that it makes room for.
    :param mode: what becomes of its work.
    :param repairs: it makes room for no job: the servers no longer run together.
    :param unmoved: the policy has started the job again elsewhere, and it could not be migrated.
    """

    reason: Reason
    mode: Preemption = Preemption.SHELVE
    repairs: bool = False
    unmoved: bool = False


@dataclass(frozen=True, slots=True)
class TierChange:
    """A job takes another tier: these VMs in place, the others by live migration.

    :param by: number of the job that it makes room for; None if the change benefits the job itself.
    """

    number: int
    uuid: str
    size: int
    tier: Tier
    vms: tuple[str, ...]
    by: int | None = None


@dataclass(frozen=True, slots=True)
class SwapPlan:
    """Change the tiers of several jobs in one transaction of the ledger."""

    changes: tuple[TierChange, ...]


@dataclass(frozen=True, slots=True)
class MigratePlan:
    """Live-migrate the processes that could not swap in place.

    :param targets: the host of each of them, by the index of the process.
    :param origins: the host that each of them leaves.
    """

    targets: Mapping[int, str]
    origins: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class VacatePlan(MigratePlan):
    """Live-migrate processes off hosts that are drained; their job keeps its tier."""


@dataclass(frozen=True, slots=True)
class RelocatePlan(MigratePlan):
    """Preempt a job by live migration into the background, where the policy starts it again.

    :param vms: the servers that only change their tier.
    :param by: number of the job that it makes room for.
    :param how: how that start came about, see `core.actions.StartKind`.
    :param mode: what becomes of its work if it cannot be migrated.
    """

    vms: tuple[str, ...]
    by: int
    how: str
    mode: Preemption


@dataclass(frozen=True, slots=True)
class PowerOnPlan:
    """Restart servers of a running job that are off although their guests had not ended.

    :param reason: why they are off.
    """

    reason: Reason


@dataclass(frozen=True, slots=True)
class EndPlan:
    """End a run of a job.

    :param then: the state that the job has afterwards: over, or queued to begin anew.
    :param reason: why; None if it has finished by itself.
    :param at: when it ended.
    :param exit_status: that of the job, if its guests reported one.
    :param lost: what it had done is lost, since its servers or their host failed.
    :param preempted: it makes room for another job, and what it had done is lost.
    """

    then: JobState
    reason: Reason | None
    at: float
    exit_status: int | None = None
    lost: bool = False
    preempted: bool = False


Moves = SwapPlan | MigratePlan | RelocatePlan | VacatePlan
Plan = StartPlan | EvictPlan | Moves | PowerOnPlan | EndPlan


def dump(plan: Plan) -> dict[str, Any]:
    """As JSON has it."""
    return plain(plan)


def load(kind: str, data: Mapping[str, Any]) -> Plan:
    """The plan of an action of this kind, from what `dump` made of it."""
    match ActionKind(kind):
        case ActionKind.START:
            return StartPlan(
                Tier(data["tier"]),
                data["how"],
                tuple(data["hosts"]),
                dict(data["links"]),
                data.get("freed", 0),
                # Those of older releases do not have the last three.
                data.get("near", ""),
                data.get("by"),
                data.get("max_mbps", 0),
            )
        case ActionKind.EVICT:
            unmoved = data.get("unmoved", False)
            reason = reasons.load(data["reason"])
            return EvictPlan(reason, Preemption(data["mode"]), data["repairs"], unmoved)
        case ActionKind.SWAP:
            return SwapPlan(tuple(_tier_change(change) for change in data["changes"]))
        case ActionKind.MIGRATE:
            # Those of older releases have no origins.
            return MigratePlan(_hosts(data["targets"]), _hosts(data.get("origins", {})))
        case ActionKind.RELOCATE:
            return RelocatePlan(
                _hosts(data["targets"]),
                _hosts(data["origins"]),
                tuple(data["vms"]),
                data["by"],
                data["how"],
                Preemption(data["mode"]),
            )
        case ActionKind.VACATE:
            return VacatePlan(_hosts(data["targets"]), _hosts(data["origins"]))
        case ActionKind.POWER_ON:
            return PowerOnPlan(reasons.load(data["reason"]))
        case ActionKind.END:
            # Those of older releases do not have the last three.
            status, lost = data.get("exit_status"), data.get("lost", False)
            preempted = data.get("preempted", False)
            why = reasons.load(data["reason"]) if data["reason"] else None
            return EndPlan(JobState(data["then"]), why, data["at"], status, lost, preempted)


def _hosts(data: Mapping[str, str]) -> dict[int, str]:
    """Hosts by process: the keys of a JSON object are text."""
    return {int(index): host for index, host in data.items()}


def _tier_change(data: Mapping[str, Any]) -> TierChange:
    return TierChange(**{**data, "tier": Tier(data["tier"]), "vms": tuple(data["vms"])})
