"""The two-tier hosts: read from aggregates and services, and kept in the ledger's tree."""

from collections.abc import Mapping

from nova_twotier.ledger import tree
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.cloud import Cloud


class Hosts:
    """
    :param interval: seconds between two looks.
    """

    def __init__(self, cloud: Cloud, placement: Placement, interval: float):
        self._cloud = cloud
        self._placement = placement
        self._interval = interval
        self._looked_at: float | None = None
        self._shapes: dict[str, tree.Shape] = {}
        self._closed: dict[str, int] = {}
        self.tree: tuple[tree.TierHost, ...] = ()
        self.enabled: frozenset[str] = frozenset()

    def refresh(self, now: float) -> bool:
        """Look again if it is time. Returns whether hosts came, went, or changed."""
        if self._looked_at is not None and now < self._looked_at + self._interval:
            return False
        if self._looked_at is None:
            self._cloud.check()
            tree.prepare(self._placement)
        found = self._cloud.hosts()
        shapes = {name: host.shape for name, host in found.items()}
        enabled = frozenset(name for name, host in found.items() if host.enabled)
        changed = shapes != self._shapes or enabled != self.enabled
        before = len(self.tree)
        if changed or before < len(shapes):
            self.tree = tuple(tree.sync_hosts(self._placement, shapes))
            self._closed.clear()
        self._shapes, self.enabled, self._looked_at = shapes, enabled, now
        return changed or len(self.tree) != before

    def close(self, closed: Mapping[str, int]) -> None:
        """Withhold the background places of that many slots of each host."""
        for host in self.tree:
            if self._closed.get(host.name) != closed[host.name]:
                # Known again only after Placement has said yes.
                self._closed.pop(host.name, None)
                tree.set_closed(self._placement, host, closed[host.name])
                self._closed[host.name] = closed[host.name]
