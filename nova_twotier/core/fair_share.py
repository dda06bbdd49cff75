"""Fair share: the more its owner has used lately, the later is a job's place in the queue.

A job's place is its arrival plus an offset in seconds, from 0 to a bound:

    offset = longest * (1 - 2 ** -(use / due))

- `use` is what the owner has held lately: the mean of its slots over the past, in which a slot in
  the foreground counts 1 and one in the background less, and a moment counts half as much for each
  half-life that it is ago. Whoever has always held 10 foreground slots has a use of 10.
- `due` is the equal share of the pool: its slots divided by the number of owners with a use of at
  least `NEGLIGIBLE`, the job's own owner among them.

So an owner without recent use has an offset of 0, one that has used what is due half of the bound.
The curve is that of the fair-share factor in Slurm's multifactor priority, with slots of the pool
in the place of the use of all.

The offset is fixed when the job becomes eligible, and policies only see where the job is in the
queue. That is reproducible, costs nothing while the job waits, works with every policy that orders
by arrival (they need positions that stay), and starves nobody: a job's offset never grows while it
waits, so none is passed by jobs that become eligible more than `longest` after it. The price: jobs
that an owner submits at once all have the same offset, however many they are.
"""

import math
from dataclasses import dataclass

from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.snapshot import Snapshot

#: Mean slots below which an owner does not count among those who share the pool.
NEGLIGIBLE = 0.01
#: Half-lives after which use is forgotten: less than a thousandth of it would still count.
REMEMBERED = 10
#: The parameters by default: seconds, weight, seconds.
HALF_LIFE, BACKGROUND_WEIGHT, LONGEST_OFFSET = 7 * 86_400.0, 0.5, 86_400.0
_LN2 = math.log(2)


class InvalidFairShare(ValueError):
    """Parameters that are out of range; the message says which and what they may be."""


@dataclass(frozen=True)
class FairShare:
    """The parameters.

    :param half_life: seconds after which use counts half, above 0.
    :param background: weight of a slot in the background, 0 to 1.
    :param longest: upper bound of the offset in seconds, at least 0.
    :raises InvalidFairShare: if one of them is out of range.
    """

    half_life: float = HALF_LIFE
    background: float = BACKGROUND_WEIGHT
    longest: float = LONGEST_OFFSET

    def __post_init__(self) -> None:
        if not 0 < self.half_life < math.inf:
            raise InvalidFairShare(f"half-life is {self.half_life}; give more than 0 seconds")
        if not 0 <= self.background <= 1:
            raise InvalidFairShare(f"background weight is {self.background}; give 0 to 1")
        if not 0 <= self.longest < math.inf:
            raise InvalidFairShare(f"longest offset is {self.longest}; give 0 seconds or more")

    def offset(self, use: float, due: float) -> float:
        """Seconds by which a job's place is behind its arrival.

        :param use: of its owner, in slots; at least 0.
        :param due: the owner's share, in slots; above 0.
        """
        return self.longest * -math.expm1(-_LN2 * use / due)


class _Use:
    """The mean of the slots that one owner has held, and those that it holds, since some time."""

    __slots__ = ("at", "background", "foreground", "mean")

    def __init__(self, at: float):
        self.mean, self.at = 0.0, at
        self.foreground = self.background = 0

    def advance(self, rule: FairShare, now: float) -> float:
        """The mean at `now`; a time before that of the last change counts as that."""
        if now > self.at:
            kept = 2.0 ** -((now - self.at) / rule.half_life)
            held = self.foreground + rule.background * self.background
            self.mean = self.mean * kept + held * (1 - kept)
            self.at = now
        return self.mean


class Uses:
    """What the owners of a pool's jobs have used lately. Times are in seconds of one clock."""

    def __init__(self, rule: FairShare):
        self._rule = rule
        self._uses: dict[str, _Use] = {}

    def hold(self, owner: str, tier: Tier, slots: int, now: float) -> None:
        """The owner holds so many slots more from now on; with a negative number, fewer."""
        use = self._of(owner, now)
        use.advance(self._rule, now)
        if tier is FG:
            use.foreground += slots
        else:
            use.background += slots

    def add(self, owner: str, tier: Tier, slots: int, begin: float, end: float, now: float) -> None:
        """Add slots that the owner has held from `begin` until `end`, no later than `now`.

        To be called with the same `now` for all that is added, before anything is held.
        """
        use, half_life = self._of(owner, now), self._rule.half_life
        weight = slots if tier is FG else slots * self._rule.background
        left_of = 2.0 ** -((now - end) / half_life) - 2.0 ** -((now - begin) / half_life)
        use.mean += weight * max(0.0, left_of)

    def use(self, owner: str, now: float) -> float:
        """The recent use of an owner, in slots."""
        found = self._uses.get(owner)
        return found.advance(self._rule, now) if found else 0.0

    def offset(self, owner: str, slots: int, now: float) -> float:
        """The offset of a job that becomes eligible now, in seconds.

        :param slots: of the pool, in one tier.
        """
        rule, mine = self._rule, self.use(owner, now)
        sharing = sum([use.advance(rule, now) >= NEGLIGIBLE for use in self._uses.values()])
        if mine < NEGLIGIBLE:
            sharing += 1
        return rule.offset(mine, max(1, slots) / sharing)

    def _of(self, owner: str, now: float) -> _Use:
        use = self._uses.get(owner)
        if use is None:
            use = self._uses[owner] = _Use(now)
        return use


def is_ahead(snapshot: Snapshot, job: Job) -> bool:
    """Whether a job that has just joined the queue is ahead of others that wait or run.

    By arrival alone it never is, and policies rely on that when they are told of an arrival. If it
    is, they have to decide as if foreground slots had changed.
    """
    queue, runs = snapshot.queue, snapshot.cluster.runs
    return queue[-1].order > job.order or any(run.job.order > job.order for run in runs.values())
