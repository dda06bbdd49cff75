"""The actions that a policy decides: start, move, evict or kill a job. Plain values."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from nova_twotier.core.jobs import Job


class Tier(StrEnum):
    """CPU priority class of a VM."""

    FG = "fg"
    BG = "bg"

    @property
    def other(self) -> "Tier":
        return BG if self is FG else FG


#: Shortcuts for code that runs for every process: an enum look-up takes five times longer. Compiled
#: code loads what is final without looking it up by name.
FG: Final = Tier.FG
BG: Final = Tier.BG


class StartKind(StrEnum):
    """Why a job could start."""

    IMMEDIATE = "immediate"  # no earlier arrival was waiting
    BACKFILLED = "backfilled"  # an earlier arrival was still waiting
    RESERVED = "reserved"  # in its turn, after it had waited under a reservation
    TENTATIVE = "tentative"  # out of turn, and it loses its work when its turn needs the slots


class Start(NamedTuple):  # the most frequent action: made in half the time of a frozen dataclass
    """Start (or restore) all processes of a waiting job in one tier.

    `hosts[i]` is the host of process i in the policy's own play-out; a simulator follows it, the
    live system lets Nova choose by the same ranking. It is empty on a cluster that only counts.
    """

    job: Job
    tier: Tier
    hosts: tuple[int, ...]
    how: StartKind


#: Makes a start from a tuple of its fields, in two thirds of the time.
make_start = partial(tuple.__new__, Start)


class Move(NamedTuple):
    """Change the tier of a running job.

    Processes whose host stays the same (`before[i] == after[i]`) swap in place; the others migrate.
    `by` is the preemptor, if the job did not gain by it.
    """

    job: Job
    tier: Tier
    before: tuple[int, ...]
    after: tuple[int, ...]
    by: Job | None = None

    @property
    def migrating(self) -> tuple[int, ...]:
        """Indices of the processes that change their host."""
        if self.before == self.after:
            return ()
        pairs = zip(self.before, self.after, strict=True)
        return tuple(i for i, (old, new) in enumerate(pairs) if old != new)


#: Makes a move from a tuple of its fields, all of them.
make_move = partial(tuple.__new__, Move)


@dataclass(frozen=True, slots=True)
class Evict:
    """Preempt a running job; its state is saved and it returns to the queue."""

    job: Job
    tier: Tier
    by: Job


@dataclass(frozen=True, slots=True)
class Kill:
    """Preempt a running job; its work is lost and it returns to the queue.

    `by` is the job itself when it is killed to start anew in the foreground.
    """

    job: Job
    tier: Tier
    by: Job


Action = Start | Move | Evict | Kill
