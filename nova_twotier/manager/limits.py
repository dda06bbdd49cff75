"""Limits of the slots that a user or a project may hold in each tier of a pool at the same time.

A job is shown to the policy only in the tiers in which it would keep to the limits whatever else
starts; if there is none, it is not shown at all, and its reason says why. An owner's jobs are
counted in the order of the queue, so that under a limit no job is passed by a smaller one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from nova_twotier.conf.manager import SLOT_LIMITS
from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import JobState
from nova_twotier.manager.departures import Departure

#: Number of jobs that are told a new reason at each poll: thousands may wait, and what their owners
#: hold changes with each start.
AT_ONCE = 300
_WORDS = {FG: "foreground", BG: "background"}


class Limit(NamedTuple):
    """At most so many slots of a tier for each user or each project."""

    per: str
    tier: Tier
    slots: int

    def owner(self, job: Job) -> str:
        return job.user_id if self.per == "user" else job.project_id


def limits(options) -> list[Limit]:
    """Those that the options of group `[manager]` set."""
    every = (Limit(per, tier, getattr(options, name)) for name, (per, tier) in SLOT_LIMITS.items())
    return [limit for limit in every if limit.slots >= 0]


class Bar(NamedTuple):
    """Why a job may not take a tier now.

    :ivar excess: slots by which it is larger than the limit: no waiting helps then; else 0.
    """

    reason: Reason
    excess: int


@lru_cache(4096)
def _bar(limit: Limit, used: int, size: int, by: int | None) -> Bar:
    reason = waits.SLOT_LIMIT(
        by, per=limit.per, limit=limit.slots, tier=_WORDS[limit.tier], used=used, size=size
    )
    return Bar(reason, max(0, size - limit.slots))


def barred(
    limited: Collection[Limit], waiting: Iterable[Job], holding: Mapping[Job, frozenset[Tier]]
) -> dict[int, dict[Tier, Bar]]:
    """The tiers that jobs may not take now, by number, and why.

    :param waiting: jobs that could start.
    :param holding: the other jobs, and the tiers in which they hold slots or are about to.
    """
    found: dict[int, dict[Tier, Bar]] = {}
    queue = sorted(waiting, key=lambda job: job.core.order)
    least: dict[Tier, int] = {}
    for limit in limited:
        least[limit.tier] = min(limit.slots, least.get(limit.tier, limit.slots))
    for limit in limited:
        tier = limit.tier
        used = Counter[str]()
        movable = []
        for job, tiers in holding.items():
            if tier in tiers:
                used[limit.owner(job)] += job.size
            elif tiers:
                movable.append(job)
        movable.sort(key=lambda job: job.core.order)
        # Jobs in the background rise to the foreground in the order of the queue. That others fall
        # to the background happens now and then: those that wait for it come first.
        turns = sorted([*queue, *movable], key=lambda job: job.core.order)
        taken = Counter[str]()
        # By owner: the earliest job for which room under the limit is set aside, and the earliest
        # that lacks room.
        first: dict[str, int] = {}
        lacking: dict[str, int] = {}
        for job in turns if tier is FG else [*queue, *movable]:
            bars = found.get(job.number, {})
            if tier not in job.allowed_tiers or tier in bars:
                continue
            owner, size = limit.owner(job), job.size
            free, by = limit.slots - used[owner], None
            if size > least[tier]:
                # It never fits, and holds up none. The least limit is the one that bars it.
                if limit.slots > least[tier]:
                    continue
            elif size <= free - taken[owner] and owner not in lacking:
                taken[owner] += size
                first.setdefault(owner, job.number)
                continue
            else:
                if size <= free:
                    # It would fit but for an earlier job of its owner.
                    by = lacking[owner] if owner in lacking else first[owner]
                lacking.setdefault(owner, job.number)
            found.setdefault(job.number, bars)[tier] = _bar(limit, used[owner], size, by)
    return found


def held_tiers(
    jobs: Iterable[Job], starting: Mapping[int, Action], departures: Iterable[Departure]
) -> dict[Job, frozenset[Tier]]:
    """The tiers in which jobs hold slots, or are about to by an open action.

    :param starting: actions that start jobs, by number.
    """
    coming = {departure.job.number: departure.tier for departure in departures}
    found = {}
    for job in jobs:
        number = job.number
        start = starting.get(number)
        tiers = {
            None if job.state == JobState.QUEUED or not job.tier else Tier(job.tier),
            coming.get(number),
            start.planned(StartPlan).tier if start else None,
        }
        found[job] = frozenset(tier for tier in tiers if tier is not None)
    return found


class Gate:
    """Keeps jobs that would exceed a limit from the policy.

    :param options: of group `[manager]`; they may change at run time.
    :param tiers: that the policy uses.
    """

    def __init__(self, options, tiers: int):
        self._options = options
        self._tiers = (FG,) if tiers == 1 else (FG, BG)
        #: The tiers that jobs may not take, by number, as of the last poll.
        self._barred: Mapping[int, frozenset[Tier]] = {}
        #: What jobs that were not shown have been told, by number.
        self._told: dict[int, Reason] = {}
        #: The jobs that the policy was shown.
        self._shown: set[int] = set()

    @property
    def active(self) -> bool:
        """Whether there are limits, or were at the last poll."""
        return bool(self._barred or limits(self._options))

    def forget(self) -> None:
        """Jobs may have got other reasons: all are told anew."""
        self._told.clear()

    def apply(
        self, queue: dict[int, Job], holding: Mapping[Job, frozenset[Tier]]
    ) -> tuple[list[Job], bool]:
        """Remove the jobs that may take no tier from the queue, and tell them why.

        :param queue: the jobs that could start, by number.
        :param holding: as of `barred`.
        :returns: jobs of the queue that may take other tiers than before, and whether that, or a
            removal, is news for the policy.
        """
        limited = limits(self._options)
        found = barred(limited, queue.values(), holding) if limited else {}
        gated: dict[int, tuple[Job, Reason]] = {}
        changed = []
        for number, job in [*queue.items(), *((job.number, job) for job in holding)]:
            bars = found.get(number, {})
            usable = [
                tier for tier in self._tiers if tier in job.allowed_tiers and tier not in bars
            ]
            # Limits of a tier that the policy does not use keep no job waiting.
            barring = [
                bars[tier] for tier in self._tiers if tier in job.allowed_tiers and tier in bars
            ]
            if barring and not usable and number in queue:
                # It waits for the tier whose limits it is not too large for, if there is one.
                gated[number] = job, min(barring, key=lambda bar: bar.excess).reason
                del queue[number]
            # A job that holds slots may do so in a tier that its flavor does not allow any more:
            # it is never barred from all.
            elif job.bar(frozenset(bars) if usable else frozenset()) and number in queue:
                changed.append(job)
        before, self._barred = self._barred, {n: frozenset(tiers) for n, tiers in found.items()}
        news = any(
            self._barred.get(number, frozenset()) != before.get(number, frozenset())
            for number in before.keys() | (self._barred.keys() & self._shown)
        )
        self._shown = set(queue)
        self._tell(gated)
        return changed, news

    def _tell(self, gated: Mapping[int, tuple[Job, Reason]]) -> None:
        told = self._told
        for number in told.keys() - gated.keys():
            del told[number]
        left = AT_ONCE
        for number, (job, reason) in gated.items():
            if told.get(number) != reason or job.reason is None:
                job.reason = told[number] = reason
                left -= 1
                if not left:
                    break
