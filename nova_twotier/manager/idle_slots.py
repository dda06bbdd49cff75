"""Idle slots of a tier, and for which decisions they are kept."""

from collections import Counter
from collections.abc import Iterable, Mapping

from nova_twotier.core.actions import Tier
from nova_twotier.manager.departures import Departure
from nova_twotier.manager.observation import Observation


class IdleSlots:
    """Idle slots that starts share, each decision's among themselves.

    What a decision frees is for its own starts and moves; for what it needs beyond that, idle slots
    are kept.

    :param room: all idle slots.
    :param needs: slots that the starts of each decision are to get.
    """

    def __init__(
        self,
        tier: Tier,
        seen: Observation,
        room: int,
        needs: Mapping[float, int],
        departures: Iterable[Departure],
    ):
        self._room, self._needs = room, Counter(needs)
        for each in departures:
            self._needs[each.decision] += _yet_to_take(each, tier, seen)

    def take(self, decision: float, size: int, claimed: int) -> bool:
        """Give slots to a start if there are enough that are not kept for others.

        :param claimed: what the needs of its decision contain for it.
        """
        needs = self._needs - Counter({decision: claimed})  # nothing below 0
        if size > self._room - needs.total():
            return False
        self._room -= size
        self._needs[decision] -= claimed
        return True


def _yet_to_take(departure: Departure, tier: Tier, seen: Observation) -> int:
    """Slots of a tier that a job is to take, less those that it is to give up."""
    balance = 0
    for server in seen.gang(departure.job):
        if server.id in seen.moving:
            continue  # It has what it is to take, and what becomes of the rest is not known.
        claim = seen.claims.get(server.id)
        target = departure.target(server.index, claim)
        place = None if claim is None else (claim.tier, claim.host)
        if place != target:
            balance += _counts(target, tier, seen) - _counts(place, tier, seen)
    return balance


def _counts(place: tuple[Tier, str] | None, tier: Tier, seen: Observation) -> bool:
    return place is not None and place[0] is tier and place[1] in seen.enabled
