"""Shows a pool's hosts as the ledger has them, and changes nothing there."""

from nova_twotier.cloud.hosts import Hosts
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names, providers
from nova_twotier.ledger.inventory import read_inventory
from nova_twotier.ledger.shape import Shape
from nova_twotier.ledger.tree import TierHost


class LedgerHosts(Hosts):
    """For callers that only look, also while a queue manager keeps the hosts in the ledger."""

    def refresh(self, now: float) -> bool:
        """Read aggregates, services and the ledger; hosts that it does not have yet are left out.

        A request for the list of all providers, and two for each host that is leaving.
        """
        self.computes = found = self._cloud.hosts()
        self.limited_flavors = self._cloud.limited_flavors()
        self._shapes = {name: host.shape for name, host in found.items() if host.shape}
        self._all = self._read()
        self.tree = tuple(host for host in self._all if self._shown(host))
        self._in_service = frozenset(
            host.name
            for host in self.tree
            if not host.leaving and host.name in found and found[host.name].enabled
        )
        self.polled_at = now
        return True

    def _read(self) -> tuple[TierHost, ...]:
        listed = providers.listed(self._placement)
        there = {each["uuid"] for each in listed}
        children = {
            each["name"]: pair for each in listed if (pair := _children(each["uuid"], there))
        }
        hosts = [
            TierHost(name, self._shapes[name], pair)
            for name, pair in children.items()
            if name in self._shapes
        ]
        left = children.keys() - self._shapes.keys()
        if left:
            theirs = {uuid for name in left for uuid in children[name].values()}
            roots = {names.jobs_uuid(), *(e["uuid"] for e in listed if e["name"] in left)}
            some = [each for each in listed if each["uuid"] in theirs | roots]
            for name, host in read_inventory(self._placement, some).items():
                shape = Shape(host.slots, host.tiers_a_slot)
                hosts.append(TierHost(name, shape, children[name], leaving=True))
        return tuple(sorted(hosts, key=lambda host: host.name))


def _children(root: str, there: set[str]) -> dict[Tier, str]:
    """The uuids of the providers of a host's tiers, as far as they are there."""
    found = {tier: names.child_uuid(root, tier) for tier in Tier}
    return {tier: uuid for tier, uuid in found.items() if uuid in there}
