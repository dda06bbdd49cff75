"""The claim cache: the claims on slots, kept up to date by reading only what has changed.

Reading all providers of all hosts would take longer than the rest of a poll.
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

#: Number of polls within which each provider is read again even if nothing seems to have changed,
#: unless there are more than this number times `MOST_RENEWED`.
RENEWAL = 30
#: Providers that a poll reads at most without a sign of a change, however many there are.
MOST_RENEWED = 16


class ClaimCache:
    """The claims on the slots of hosts.

    Placement increments a provider's generation when a claim on it is written, but not when a claim
    is deleted, or rewritten on other providers only. Neither happens to a VM that Nova is not
    working on; providers with claims of other consumers are read at each poll.
    """

    def __init__(self, placement: Placement):
        self._placement = placement
        #: Claims by provider; the provider read longest ago comes first.
        self._claims: dict[str, list[Claim]] = {}
        self._generations: dict[str, int | None] = {}

    def poll(
        self, hosts: Iterable[TierHost], settled: Mapping[str, str | None]
    ) -> dict[str, list[Claim]]:
        """All claims on the hosts' slots by consumer, like `claims.read_claims`.

        Two requests, one for each provider that may have changed, and up to `MOST_RENEWED` for
        others. A claim of a settled VM that somebody deletes disappears here within `RENEWAL`
        polls, or, in a large cloud, as soon as all others have been read again.

        :param settled: the host of each VM that is on one and that Nova is not working on.
        """
        places = {uuid: (host.name, tier) for host in hosts for tier, uuid in host.provider.items()}
        for gone in self._claims.keys() - places.keys():
            del self._claims[gone], self._generations[gone]
        now = self._listed() if places else {}
        share = math.ceil(len(self._claims) / RENEWAL)
        oldest = islice(self._claims, min(share, MOST_RENEWED))
        due = {uuid for uuid in places if self._changed(uuid, now, settled)}.union(oldest)
        read: set[str] = set()
        while due:
            for uuid in sorted(due):
                self._read(uuid, *places[uuid])
            read |= due
            # A VM with several claims has moved, perhaps from a provider with the same generation.
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
        """Whether the claims on a provider may have changed."""
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
