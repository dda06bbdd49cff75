"""The findings of an audit, and the fixes that would repair them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nova_twotier.core.actions import Tier
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.names import DEFAULT_POOL


class Kind(StrEnum):
    """Kinds of findings, in the order of repair: room is made before it is used."""

    STRAY_HOST = "stray-host"
    WRONG_SLOTS = "wrong-slots"
    ORPHAN_CLAIM = "orphan-claim"
    ORPHAN_ENTRY = "orphan-entry"
    MISSING_ENTRY = "missing-entry"
    WRONG_ENTRY = "wrong-entry"
    DOUBLE_CLAIM = "double-claim"
    WRONG_HOST = "wrong-host"
    WRONG_TIER = "wrong-tier"
    MISSING_CLAIM = "missing-claim"
    MISSING_POINTS = "missing-points"
    WRONG_CLOSED = "wrong-closed"
    MISSING_SERVER = "missing-server"

    @property
    def order(self) -> int:
        return list(Kind).index(self)


@dataclass(frozen=True, slots=True)
class Sync:
    """Bring the providers of all hosts into line with the aggregates."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete all allocations of a consumer; no server of this uuid exists.

    :param moved: the server that was moved, if the consumer is a migration.
    """

    consumer: str
    moved: str | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """Remove a job's entry."""

    job: str


@dataclass(frozen=True, slots=True)
class Enter:
    """Write a job's entry.

    :param links: Mbit/s by link.
    """

    job: str
    size: int
    tier: Tier
    links: Mapping[str, int] = field(hash=False)
    pool: str = DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class Seat:
    """Make a VM hold exactly this slot.

    :param before: what it held when it was read.
    """

    vm: str
    host: str
    tier: Tier
    before: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Points:
    """Set the CPU points of a VM's claim."""

    vm: str
    points: int
    before: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Close:
    """Set the number of closed slots of a host."""

    host: str
    closed: int


Fix = Sync | Drop | Release | Enter | Seat | Points | Close


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement.

    :param subject: VM, job, consumer or host, by uuid or name.
    :param found: the actual state.
    :param wanted: the expected state.
    :param repair: how it is repaired or, without a fix, why it is not.
    """

    kind: Kind
    subject: str
    found: str
    wanted: str
    repair: str
    fix: Fix | None = None
