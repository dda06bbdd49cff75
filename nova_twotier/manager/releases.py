"""Lets policies see the slots of a job that ends become idle together.

Nova deletes the servers of a job one by one. A policy that saw the first slots idle would give them
to a later, smaller job, although the whole of them are for an earlier one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nova_twotier.db.models import Action
from nova_twotier.db.states import ActionKind
from nova_twotier.manager import ongoing
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server of a job that ends held a slot: the process that it is, and the host."""

    process: int
    host: str


#: The places of a job, by server.
Places = Mapping[str, Place]


class Releases:
    """Remembers the slots that ending jobs held. A new manager knows those that are left."""

    def __init__(self) -> None:
        self._held: dict[int, Places] = {}

    def partial(self, opened: Iterable[Action], jobs: Jobs, seen: Observation) -> dict[int, Places]:
        """The slots of the jobs that have released some of theirs, but not all, by job number.

        Late ends are left out: their slots count one by one, since an owner can draw an end out.
        """
        ends = [action for action in opened if action.kind == ActionKind.END]
        self._held = {
            end.number: self._held.get(end.number) or _places(seen, jobs, end.number)
            for end in ends
        }
        return {
            end.number: held
            for end in ends
            if not ongoing.is_late(end, seen.at)
            and (held := self._held[end.number])
            and 0 < sum(map(seen.claims_any, held)) < len(held)
        }


def _places(seen: Observation, jobs: Jobs, number: int) -> Places:
    return {
        server.id: Place(server.index, claim.host)
        for server in seen.gang(jobs[number])
        if (claim := seen.claims.get(server.id))
    }
