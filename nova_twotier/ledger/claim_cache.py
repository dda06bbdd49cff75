"""The claim cache: the claims on slots, kept up to date by reading only what has changed.

Reading all providers of all hosts would take longer than the rest of a poll.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
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
MOST_RENEWED = 4
#: So many providers are read at once, not one by one.
MANY = 32
#: The generation of a provider that was not read yet.
_UNREAD = -1


class ClaimCache:
    """The claims on the slots of hosts.

    Placement increments a provider's generation when a claim on it is written, but not when a claim
    is deleted, or rewritten on other providers only. Neither happens to a VM that Nova is not
    working on; providers with claims of other consumers are read at each poll.
    """

    def __init__(self, placement: Placement, workers: Executor | None = None):
        """
        :param workers: read many providers at once, as at the first poll; None: one by one.
        """
        self._placement = placement
        self._map = map if workers is None else workers.map
        #: Claims by provider; the provider read longest ago comes first.
        self._claims: dict[str, list[Claim]] = {}
        self._generations: dict[str, int | None] = {}
        #: How many claims each VM has, and the VMs with several.
        self._count: Counter[str] = Counter()
        self._several: set[str] = set()
        #: As they were given at the last poll; what follows was worked out of them.
        self._hosts: Iterable[TierHost] = ()
        self._settled: Mapping[str, str | None] = {}
        self._places: dict[str, tuple[str, Tier]] = {}
        #: Providers with claims of VMs that are not settled there.
        self._unsettled: set[str] = set()
        #: The claims by consumer, as last returned; None: they have changed.
        self._found: dict[str, list[Claim]] | None = None

    def poll(
        self, hosts: Iterable[TierHost], settled: Mapping[str, str | None]
    ) -> Mapping[str, list[Claim]]:
        """All claims on the hosts' slots by consumer, like `claims.read_claims`.

        Two requests, one for each provider that may have changed, and up to `MOST_RENEWED` for
        others. A claim of a settled VM that somebody deletes disappears here within `RENEWAL`
        polls, or, in a large cloud, as soon as all others have been read again.

        It costs little if it gets the same objects as at the last poll, and is the same object if
        no claim has changed.

        :param settled: the host of each VM that is on one and that Nova is not working on.
        """
        if hosts is not self._hosts:
            self._place(hosts)
        if settled is not self._settled:
            self._settled = settled
            self._unsettled = {uuid for uuid in self._claims if not self._is_settled(uuid)}
        places = self._places
        now = self._listed() if places else {}
        share = math.ceil(len(self._claims) / RENEWAL)
        oldest = islice(self._claims, min(share, MOST_RENEWED))
        generations = self._generations
        due = {uuid for uuid in places if generations.get(uuid, _UNREAD) != now.get(uuid)}
        due.update(self._unsettled, oldest)
        read: set[str] = set()
        while due:
            self._read(sorted(due))
            read |= due
            # A VM with several claims has moved, perhaps from a provider with the same generation.
            due = {
                uuid
                for uuid, claims in (self._claims.items() if self._several else ())
                if uuid not in read and any(claim.vm in self._several for claim in claims)
            }
        if self._found is None:
            self._found = {}
            for uuid in places:
                for claim in self._claims[uuid]:
                    self._found.setdefault(claim.vm, []).append(claim)
        return self._found

    def _place(self, hosts: Iterable[TierHost]) -> None:
        """Take over which hosts there are."""
        places = {uuid: (host.name, tier) for host in hosts for tier, uuid in host.provider.items()}
        for gone in self._claims.keys() - places.keys():
            self._keep(gone, [])
            del self._claims[gone], self._generations[gone]
            self._unsettled.discard(gone)
        self._hosts, self._places, self._found = hosts, places, None

    def _is_settled(self, uuid: str) -> bool:
        """Whether Nova leaves all VMs alone that have claims on a provider."""
        return all(self._settled.get(claim.vm) == claim.host for claim in self._claims[uuid])

    def _listed(self) -> dict[str, int]:
        """The generations of the providers of all tiers."""
        return {
            provider["uuid"]: provider["generation"]
            for tier in Tier
            for provider in providers.listed(self._placement, names.TRAIT[tier])
        }

    def _read(self, due: list[str]) -> None:
        def claims(uuid: str) -> tuple[list[Claim], int | None]:
            return claims_on(self._placement, uuid, *self._places[uuid])

        answers = (self._map if len(due) >= MANY else map)(claims, due)
        for uuid, (found, self._generations[uuid]) in zip(due, answers, strict=True):
            self._keep(uuid, found)
            (self._unsettled.discard if self._is_settled(uuid) else self._unsettled.add)(uuid)

    def _keep(self, uuid: str, claims: list[Claim]) -> None:
        """Take over the claims on a provider, which becomes the one that was read last."""
        before = self._claims.pop(uuid, None)
        self._claims[uuid] = claims
        if before == claims:
            return
        self._found = None
        self._count.subtract(claim.vm for claim in before or ())
        self._count.update(claim.vm for claim in claims)
        for vm in {claim.vm for claim in chain(before or (), claims)}:
            if self._count[vm] > 1:
                self._several.add(vm)
            else:
                self._several.discard(vm)
                if not self._count[vm]:
                    del self._count[vm]
