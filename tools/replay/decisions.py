"""Decisions in one form: those of the queue manager, from its database, and the simulator's."""

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nova_twotier.core import actions as core
from nova_twotier.core.actions import Tier
from nova_twotier.core.queue import Order
from nova_twotier.core.reasons import changes
from nova_twotier.core.reasons.reason import job_number
from nova_twotier.db.models import Action, Place
from nova_twotier.db.plans import (
    EvictPlan,
    MigratePlan,
    RelocatePlan,
    StartPlan,
    SwapPlan,
    VacatePlan,
)
from nova_twotier.db.states import ActionKind, ActionState, Preemption
from nova_twotier.sim.scripted import Decision

START, MOVE, EVICT, KILL = "start", "move", "evict", "kill"
#: By whom a job is preempted so that it can restart elsewhere.
ITSELF = "itself"
#: Lines of a difference before and after each line that differs, and in all.
CONTEXT, SHOWN = 5, 40


@dataclass(frozen=True, slots=True)
class Decided:
    """One action on one job.

    :param at: in seconds.
    :param tier: where it starts, or moves to.
    :param how: a start came about.
    :param by: who preempts it; empty if nobody.
    :param in_place: processes that change their tier where they are.
    :param migrating: those that change their host as well.
    """

    at: float
    kind: str
    job: int
    tier: Tier | None = None
    how: str = ""
    by: str = ""
    in_place: int = 0
    migrating: int = 0

    def __str__(self) -> str:
        return f"{self.at:.0f} s: {self.words}"

    @property
    def words(self) -> str:
        """Without the time."""
        words = f"{self.kind} job {self.job}"
        if self.tier:
            words += f" in {self.tier}" if self.kind == START else f" to {self.tier}"
        if self.kind == MOVE:
            words += f", {self.in_place} in place, {self.migrating} elsewhere"
        if self.how:
            words += f", {self.how}"
        return f"{words}, by {self.by}" if self.by else words


def recorded(actions: Iterable[Action], orders: Mapping[int, Order]) -> list[Decided]:
    """What the queue manager decided: its actions, in the order in which they were recorded.

    A relocation is how it carries out an eviction and a start that the policy decided together.

    :param orders: of the jobs, by number, as of `comparison.orders`.
    """
    found: list[Decided] = []
    restarts: list[Decided] = []
    places: dict[int, int] = {}
    for action in actions:
        at, job = action.created_at, action.job
        match action.plan:
            case StartPlan() as start:
                found.append(Decided(at, START, job, start.tier, how=start.how))
            case EvictPlan() as evict:
                kind = KILL if evict.mode is Preemption.REQUEUE else EVICT
                itself = evict.reason.code is changes.TO_FOREGROUND
                by = ITSELF if itself else _job(evict.reason.by)
                found.append(Decided(at, kind, job, by=by))
            case SwapPlan() as swap:
                for each in swap.changes:
                    places[each.number] = len(found)
                    moved = Decided(at, MOVE, each.number, each.tier, by=_job(each.by))
                    found.append(replace(moved, in_place=len(each.vms)))
            case RelocatePlan() as relocate:
                found.append(Decided(at, EVICT, job, by=_job(relocate.by)))
                restarts.append(Decided(at, START, job, Tier.BG, how=relocate.how))
            case VacatePlan():
                continue  # an operator drains a host: no policy has decided that
            case MigratePlan() as migrate:  # of a job in the swap before
                place = places[job]
                found[place] = replace(found[place], migrating=len(migrate.targets))
    for restart in restarts:
        found.insert(_place_of(restart, found, orders), restart)
    return found


def _job(number: int | None) -> str:
    return "" if number is None else job_number(number)


def _place_of(restart: Decided, found: Sequence[Decided], orders: Mapping[int, Order]) -> int:
    """Where a start belongs: among those of the same decision in the background, in order."""
    before = [
        index
        for index, one in enumerate(found)
        if one.at < restart.at
        or (
            one.at == restart.at
            and not (_is_background(one) and orders[one.job] > orders[restart.job])
        )
    ]
    return before[-1] + 1


def _is_background(one: Decided) -> bool:
    return one.kind == START and one.tier is Tier.BG


def kinds(decided: Iterable[Decided]) -> Counter[str]:
    """How often each kind of decision was taken, such as `start bg backfilled` or `kill by itself`.

    A job that starts after it was preempted starts `again`.
    """
    found: Counter[str] = Counter()
    started: set[int] = set()
    for one in decided:
        kind = one.kind
        if kind == START:
            again = " again" if one.job in started else ""
            kind += f"{again} {one.tier} {one.how}"
            started.add(one.job)
        elif kind == MOVE:
            elsewhere = "in part" if one.in_place else "elsewhere"
            kind += f" to {one.tier} {elsewhere if one.migrating else 'in place'}"
        elif one.by == ITSELF:
            kind += " by itself"
        found[kind] += 1
    return found


def placed(
    actions: Iterable[Action], places: Iterable[Place], hosts: Sequence[str]
) -> dict[int, list[tuple[int, ...]]]:
    """Where Nova put the jobs: of each, the hosts of its processes at each start and relocation.

    :param places: in the order in which they were taken.
    :param hosts: names; what is returned are indices of it.
    """
    index = {name: i for i, name in enumerate(hosts)}
    taken: dict[int, list[Place]] = {}
    for place in places:
        taken.setdefault(place.job, []).append(place)
    starts: dict[int, list[tuple[int, ...]]] = {}
    for action in actions:
        if action.kind in (ActionKind.START, ActionKind.RELOCATE) and (
            action.state == ActionState.DONE
        ):
            # It may have been promoted from there in the same second.
            tier = action.plan.tier if action.kind == ActionKind.START else Tier.BG
            found = {
                place.process: index[place.host]
                for place in taken[action.job]
                if place.tier == tier and place.since <= action.closed_at
            }
            hosts_of = tuple(host for _process, host in sorted(found.items()))
            starts.setdefault(action.job, []).append(hosts_of)
    return starts


def difference(simulated: Iterable[str], live: Iterable[str]) -> list[str]:
    """The first difference of two logs, and what comes before it; empty if there is none."""
    lines = difflib.unified_diff(
        list(simulated), list(live), "simulated", "live", n=CONTEXT, lineterm=""
    )
    return list(itertools.islice(lines, SHOWN))


def simulated(decisions: Iterable[Decision]) -> list[Decided]:
    """The same of the simulator."""
    return [_decided(action, at) for at, actions in decisions for action in actions]


def _decided(action: core.Action, at: float) -> Decided:
    job = action.job
    match action:
        case core.Start():
            return Decided(at, START, job.number, action.tier, how=action.how)
        case core.Move():
            migrating = len(action.migrating)
            by = action.by.label if action.by else ""
            rest = {"by": by, "in_place": job.size - migrating, "migrating": migrating}
            return Decided(at, MOVE, job.number, action.tier, **rest)
    kind = KILL if isinstance(action, core.Kill) else EVICT
    by = ITSELF if action.by.number == job.number else action.by.label
    return Decided(at, kind, job.number, by=by)
