"""Node agents toggle a trait of their host's foreground provider once a minute, so that the queue
manager sees which hosts they measure.

Placement tells nobody when something was written, and clocks of two machines may differ. So what
counts is how long ago the trait was last seen to change.
"""

import math

from nova_twotier.ledger import names, providers
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.retry import until_fresh

#: Seconds between two heartbeats of a host, and without one after which its agent counts as gone.
INTERVAL, LATEST = 60.0, 180.0
#: Seconds between two polls. Two changes between two polls would look like none.
POLL_INTERVAL = 20.0


class Heart:
    """The heartbeats of an agent."""

    def __init__(self, placement: Placement):
        self._placement = placement
        #: Whether Placement knew the trait at the last heartbeat.
        self._known = False

    def beat(self, provider: str) -> None:
        """Toggle the trait of a host.

        :param provider: uuid of the host's foreground.
        :raises PlacementError: if Placement does not answer, or somebody has deleted the trait,
            which the next heartbeat makes.
        """
        url = f"/resource_providers/{provider}/traits"

        def toggle() -> None:
            found = self._placement.get(url)
            traits = sorted({names.HEARTBEAT_TRAIT} ^ {*found["traits"]})
            self._placement.put(url, {**found, "traits": traits})

        if not self._known:
            self._placement.put(f"/traits/{names.HEARTBEAT_TRAIT}")
        self._known = False
        until_fresh(toggle)
        self._known = True


class Heartbeats:
    """Watches the heartbeats of all hosts."""

    def __init__(self, placement: Placement):
        self._placement = placement
        #: Since when it has watched without a break, and when it last polled.
        self._since = self._polled_at = -math.inf
        self._marked: frozenset[str] = frozenset()
        #: The last heartbeat of each provider that has recently had one.
        self._beats: dict[str, float] = {}

    def poll(self, now: float) -> None:
        """Read the traits if that is due: two requests.

        :param now: time in seconds, from any start.
        :raises PlacementError: if Placement does not answer.
        """
        if now < self._polled_at + POLL_INTERVAL:
            return
        # Placement refuses to search for a trait that it does not know: before the first agent, or
        # if somebody has deleted it.
        self._placement.put(f"/traits/{names.HEARTBEAT_TRAIT}")
        marked = frozenset(
            each["uuid"] for each in providers.listed(self._placement, names.HEARTBEAT_TRAIT)
        )
        if now > self._polled_at + INTERVAL:
            self._since = now
        beats = self._beats | dict.fromkeys(marked ^ self._marked, now)
        self._beats = {uuid: at for uuid, at in beats.items() if now < at + LATEST}
        self._marked, self._polled_at = marked, now

    def may_live(self, provider: str, now: float) -> bool:
        """Whether an agent measures a host, or has not been watched for long enough to tell.

        :param provider: uuid of the host's foreground.
        """
        return now < max(self._since, self._beats.get(provider, -math.inf)) + LATEST
