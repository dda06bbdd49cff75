"""Reads the two-tier hosts from aggregates and services, and keeps them in the ledger's tree.

It also reads the flavors that bind jobs to a tier, which change as rarely.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from oslo_log import log as logging

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.listing import Lister, Listing
from nova_twotier.cloud.nova import Cloud
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import tree
from nova_twotier.ledger.names import DEFAULT_POOL
from nova_twotier.ledger.placement import Placement

LOG = logging.getLogger(__name__)

#: Seconds without a poll, more or less, after which nobody knows what has been in the meantime.
BLIND = 60.0

#: All hosts of Nova by name, and the tiers of jobs by flavor.
_Listed = tuple[dict[str, ComputeHost], Mapping[str | None, tuple[Tier, ...]]]


class Hosts:
    """Keeps the hosts of all pools in the ledger, and shows those of one pool.

    A leaving host is shown to all pools: its VMs may belong to any of them.

    Only the first poll waits until Nova has listed its hosts; later ones take what a thread has
    listed since, and go on with the hosts that they know if that has failed: hosts change rarely,
    and an overloaded Nova takes longest for this list. If Nova does not answer at all, polls fail
    by the list of servers.

    :param interval: seconds between two polls.
    :param lister: lists Nova's hosts while the manager polls.
    :param wake: called when news of which the poll was told has been listed.
    """

    def __init__(
        self,
        cloud: Cloud,
        placement: Placement,
        interval: float,
        pool: str = DEFAULT_POOL,
        lister: Lister | None = None,
        wake: Callable[[], object] = lambda: None,
    ):
        self._cloud = cloud
        self._lister = lister or Lister()
        self._listing: Listing[_Listed] = Listing(self._lister)
        self._wake = wake
        self._placement = placement
        self._interval = interval
        self._pool = pool
        #: Time of the last poll that learned what Nova says of its hosts.
        self.polled_at: float | None = None
        #: When Nova lists them next, unless there is news before.
        self._due_at = 0.0
        #: There is news that no listing has been begun for, or that none has shown yet.
        self._expired = self._awaited = False
        self._shapes: dict[str, tree.Shape] = {}
        self._all: tuple[tree.TierHost, ...] = ()
        self._closed: dict[str, int] = {}
        #: The problems that the last sync of the ledger found.
        self._told: set[str] = set()
        #: How many slots of each host are about to be closed by processes that migrate there.
        self.arriving: Mapping[str, int] = {}
        #: The pool's hosts, and the names of those that take new VMs by what Nova says.
        self.tree: tuple[tree.TierHost, ...] = ()
        self._in_service: frozenset[str] = frozenset()
        #: Names of hosts, of any pool, that operators drain: they take no new VMs.
        self.drained: frozenset[str] = frozenset()
        #: When they will begin to drain hosts, by name.
        self.closes: Mapping[str, float] = {}
        #: All hosts of Nova by name, and since when a host's nova-compute has been seen down, at
        #: every poll and without a long break between two.
        self.computes: dict[str, ComputeHost] = {}
        self.down: dict[str, float] = {}
        #: All existing pools: this one, and those of all hosts.
        self.pools: frozenset[str] = frozenset()
        #: The tiers of jobs by flavor, see `Cloud.limited_flavors`.
        self.limited_flavors: Mapping[str | None, tuple[Tier, ...]] = {}

    @property
    def enabled(self) -> frozenset[str]:
        """Names of the pool's hosts that take new VMs."""
        return self._in_service - self.drained

    def expire(self, drop: bool = False) -> None:
        """Make the next poll due at once.

        :param drop: what is being listed may be from before a change that was just made, and would
            undo it.
        """
        self._expired = True
        if drop:
            self._listing.drop()

    def refresh(self, now: float) -> bool:
        """Take what was listed, and list anew if that is due.

        Returns whether hosts came, went, or changed.

        :raises CloudError: at the first poll, if Nova does not list them.
        """
        if self.polled_at is None:
            pinned = self._cloud.check()
            self._expired = False
            changed = self._take(self._list(), now)
            if pinned and any(host.shape.tiers > 1 for host in self.tree):
                # The API refuses such a flavor only if a job names it.
                LOG.warning(
                    "VMs of [manager]flavor have CPUs of their own (%s), and share no slot with "
                    "another tier: take the extra spec away",
                    ", ".join(pinned),
                )
            return changed
        if not self._listing.under_way and (now >= self._due_at or self._expired):
            self._awaited |= self._expired
            self._listing.begin(self._list, self._wake if self._awaited else None)
            self._expired = False
        try:
            listed = self._listing.take()
        except CloudError as error:
            self._due_at = now + self._interval
            known = datetime.fromtimestamp(self.polled_at, UTC).isoformat(timespec="seconds")
            LOG.warning("The hosts stay as they were known at %s: %s", known, error)
            return False
        return listed is not None and self._take(listed, now)

    def _list(self) -> _Listed:
        return self._cloud.hosts(), self._cloud.limited_flavors()

    def _take(self, listed: _Listed, now: float) -> bool:
        self.computes, self.limited_flavors = listed
        found = self.computes
        since = {} if self.is_blind(now) else self.down
        self.down = {name: since.get(name, now) for name, host in found.items() if not host.up}
        shapes = {name: host.shape for name, host in found.items() if host.shape}
        pools = frozenset({self._pool, *(shape.pool for shape in shapes.values())})
        if pools != self.pools:
            tree.prepare(self._placement, pools)
        in_service = frozenset(
            name
            for name, shape in shapes.items()
            if found[name].enabled and shape.pool == self._pool
        )
        # Keep polling while hosts are about to enter or leave the ledger.
        moving = len(self._all) != len(shapes) or any(host.leaving for host in self._all)
        if shapes != self._shapes or moving:
            # At the first poll of a new cloud, all hosts get their providers.
            self._all = self._synced(shapes)
        before = self.tree
        shown = tuple(host for host in self._all if self._shown(host))
        if shown != before:
            self.tree = shown
        changed = in_service != self._in_service or self.tree is not before
        self._forget_changed(before)
        self._shapes, self._in_service, self.polled_at = shapes, in_service, now
        self._due_at, self._awaited = now + self._interval, False
        self.pools = pools
        return changed

    def _synced(self, shapes: Mapping[str, tree.Shape]) -> tuple[tree.TierHost, ...]:
        """Sync the ledger with the hosts; a problem is logged once while it lasts."""
        before, self._told = self._told, set()

        def tell(level: int, text: str) -> None:
            if text not in before:
                LOG.log(level, text)
            self._told.add(text)

        each = self._lister.map
        return tuple(tree.sync_hosts(self._placement, shapes, each=each, tell=tell))

    def is_blind(self, now: float) -> bool:
        """Whether the last list of hosts is so old that a host that was down may be up by now."""
        longest = max(BLIND, 2 * self._interval)
        return self.polled_at is not None and now > self.polled_at + longest

    def _shown(self, host: tree.TierHost) -> bool:
        return host.leaving or host.shape.pool == self._pool

    def _forget_changed(self, before: tuple[tree.TierHost, ...]) -> None:
        """Forget the closed slots of hosts that changed, so that they are written again."""
        known = {host.name: host for host in before}
        for host in self.tree:
            if known.get(host.name) != host:
                self._closed.pop(host.name, None)
                if host.leaving:
                    LOG.info("Host %s left the two-tier aggregates; its VMs stay", host.name)

    def close(self, closed: Mapping[str, int]) -> None:
        """Withhold the background places of so many slots of each host, and of those that are
        `arriving`."""
        counts = [(host, closed[host.name] + self.arriving.get(host.name, 0)) for host in self.tree]
        due = [(host, count) for host, count in counts if self._closed.get(host.name) != count]
        for host, _count in due:
            # Recorded only after Placement has accepted it.
            self._closed.pop(host.name, None)

        def write(each: tuple[tree.TierHost, int]) -> None:
            host, count = each
            tree.set_closed(self._placement, host, count)
            self._closed[host.name] = count

        # A manager that takes over looks at all hosts.
        self._lister.map(write, due)
