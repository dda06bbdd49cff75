"""Who holds slots, kept up to date by reading what has changed.

To read all providers of all hosts at each poll would take longer than all the rest of it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, islice

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names, providers
from nova_twotier.ledger.claims import Claim, claims_on
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.tree import TierHost

#: Polls within which each provider is read anew, whatever is known of it.
RENEWAL = 30


class ClaimCache:
    """The claims on the slots of hosts.

    Placement raises a provider's generation at every write of a claim on it, but neither when a
    claim is deleted nor when it is written anew on other providers only. Neither happens to a VM
    that Nova leaves alone; who else holds a slot is looked up each time.
    """

    def __init__(self, placement: Placement):
        self._placement = placement
        #: By provider; those that were read longest ago come first.
        self._claims: dict[str, list[Claim]] = {}
        self._generations: dict[str, int | None] = {}

    def poll(
        self, hosts: Iterable[TierHost], settled: Mapping[str, str | None]
    ) -> dict[str, list[Claim]]:
        """All claims on the hosts' slots, by consumer, as `claims.read_claims` says.

        Two requests, and one for each provider that may have changed. That somebody deletes the
        claim of a settled VM shows within `RENEWAL` polls.

        :param settled: the host of each VM that is on one, and that Nova does nothing with.
        """
        places = {uuid: (host.name, tier) for host in hosts for tier, uuid in host.provider.items()}
        for gone in self._claims.keys() - places.keys():
            del self._claims[gone], self._generations[gone]
        now = self._listed() if places else {}
        oldest = islice(self._claims, math.ceil(len(self._claims) / RENEWAL))
        due = {uuid for uuid in places if self._changed(uuid, now, settled)}.union(oldest)
        read: set[str] = set()
        while due:
            for uuid in sorted(due):
                self._read(uuid, *places[uuid])
            read |= due
            # Who holds several has moved, perhaps from a provider that does not show it.
            count = Counter(claim.vm for claim in self._all())
            due = {
                uuid
                for uuid, claims in self._claims.items()
                if uuid not in read and any(count[claim.vm] > 1 for claim in claims)
            }
        found: dict[str, list[Claim]] = {}
        for uuid in places:
            for claim in self._claims[uuid]:
                found.setdefault(claim.vm, []).append(claim)
        return found

    def _changed(
        self, uuid: str, now: Mapping[str, int], settled: Mapping[str, str | None]
    ) -> bool:
        """Whether the claims on a provider may be others than those that are known."""
        return (
            uuid not in self._claims
            or self._generations[uuid] != now.get(uuid)
            or any(settled.get(claim.vm) != claim.host for claim in self._claims[uuid])
        )

    def _all(self) -> Iterable[Claim]:
        return chain.from_iterable(self._claims.values())

    def _listed(self) -> dict[str, int]:
        """The generations of the providers of all tiers."""
        return {
            provider["uuid"]: provider["generation"]
            for tier in Tier
            for provider in providers.listed(self._placement, names.TRAIT[tier])
        }

    def _read(self, uuid: str, host: str, tier: Tier) -> None:
        self._claims.pop(uuid, None)
        self._claims[uuid], self._generations[uuid] = claims_on(self._placement, uuid, host, tier)
