"""Ways to give the background a lower CPU priority than the foreground."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from nova_twotier.calibration.cgroups import FRONT_WEIGHT, Groups

#: The pairs of weights that are measured by default: the node agent's, and the papers'.
AGENT, PAPERS = (FRONT_WEIGHT, 100), (FRONT_WEIGHT, 1)


@dataclass(frozen=True)
class Mechanism:
    """One way to do it.

    :param weights: of the groups of a foreground and a background process; None: the same group,
        in which the kernel compares the processes themselves.
    :param idle: the background's group gets only what the foreground leaves.
    :param policy: of the kernel's scheduler, for the background's processes.
    :param nice: of the background's processes.
    """

    name: str
    weights: tuple[int, int] | None = None
    idle: bool = False
    policy: int = os.SCHED_OTHER
    nice: int = 0


class UnknownMechanism(ValueError):
    """A name that stands for no mechanism; the message says which there are."""


#: The reference: what happens on a host without tiers. The foreground has the same weight as with
#: tiers, and so the same share of the weight of the whole measurement.
EQUAL = Mechanism("equal", weights=(FRONT_WEIGHT, FRONT_WEIGHT))
_FIXED = {
    each.name: each
    for each in (
        EQUAL,
        Mechanism("cpu.idle", weights=(FRONT_WEIGHT, FRONT_WEIGHT), idle=True),
        Mechanism("sched_idle", policy=os.SCHED_IDLE),
        Mechanism("nice", nice=19),
    )
}


def get(name: str) -> Mechanism:
    """The mechanism of this name; `shares:FG:BG` is that of two weights.

    :raises UnknownMechanism: if there is none.
    """
    if name in _FIXED:
        return _FIXED[name]
    kind, *weights = name.split(":")
    if kind == "shares" and len(weights) == 2 and all(each.isdecimal() for each in weights):
        front, back = map(int, weights)
        return Mechanism(name, weights=(front, back))
    raise UnknownMechanism(
        f"{name!r} is not one of {', '.join(_FIXED)}, shares:FG:BG (such as {shares(AGENT)})"
    )


def shares(weights: tuple[int, int]) -> str:
    """The name of the mechanism of two weights."""
    return f"shares:{weights[0]}:{weights[1]}"


def names() -> list[str]:
    """All mechanisms that are measured unless others are chosen."""
    equal, *others = _FIXED
    return [equal, shares(AGENT), shares(PAPERS), *others]


def unavailable(mechanism: Mechanism, groups: Groups) -> str:
    """Why a mechanism cannot be measured here; empty if it can."""
    if mechanism.idle and not all(group.can_idle for group in groups.back.values()):
        return "this kernel has no cpu.idle (it came with Linux 5.15)"
    # Anyone may lower the priority of a process; only root may raise it again for the next turn.
    if (mechanism.nice or mechanism.policy != os.SCHED_OTHER) and os.geteuid():
        return "only root may raise priorities again"
    return ""


def apply(
    mechanism: Mechanism, groups: Groups, front: Mapping[int, int], back: Mapping[int, int]
) -> None:
    """Put processes that run or are paused under a mechanism, whatever they were under before.

    :param front: the foreground's process on each CPU, or the thread that is to compete for it.
    :param back: the background's.
    """
    for cpu, pid in front.items():
        groups.front[cpu].add(pid)
        _schedule(pid, os.SCHED_OTHER, 0)
    for cpu, pid in back.items():
        group = groups.back[cpu]
        if group.can_idle:
            group.idle(mechanism.idle)
        if mechanism.weights is None:
            groups.front[cpu].add(pid)
        else:
            groups.front[cpu].weigh(mechanism.weights[0])
            if not mechanism.idle:  # such a group has no weight
                group.weigh(mechanism.weights[1])
            group.add(pid)
        _schedule(pid, mechanism.policy, mechanism.nice)


def _schedule(pid: int, policy: int, nice: int) -> None:
    """Set how the kernel schedules a process or thread, whatever it was started with."""
    os.sched_setscheduler(pid, policy, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, pid, nice)
