"""Tells dead hosts from an outage of the control plane.

Nova calls a nova-compute down when its heartbeats stop. Its host may have died, but it may also be
RabbitMQ, a conductor or a switch that failed, and all guests still run. So hosts that fall silent
together do not count as dead, as in the zone disruption mode of Kubernetes' node lifecycle
controller. A host that does count as dead is fenced first, if the operator has configured that.
"""

import math
from collections.abc import Iterable, Mapping, Set

from oslo_log import log as logging

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.manager.fencing import Fence

LOG = logging.getLogger(__name__)


class Outages:
    """Judges the silent hosts of a pool, and those that left it with servers of its jobs.

    :param options: group `[manager]`.
    :param fence: stops the guests of a dead host before its jobs are restarted elsewhere.
    """

    def __init__(self, options, fence: Fence, pool: str):
        self._options, self._fence, self._pool = options, fence, pool
        #: Hosts with servers of the pool's jobs, whatever aggregates they are in by now.
        self.occupied: Set[str] = frozenset()
        #: Hosts of the pool, or occupied, that are down and count as dead until they are back.
        self.dead: frozenset[str] = frozenset()
        #: The last heartbeats of the hosts that are down, as they were when the hosts were first
        #: seen down.
        self._heard_at: dict[str, float | None] = {}
        #: Why nothing is decided or restarted; None without an outage.
        self.reason: Reason | None = None
        #: When an outage was last seen, and when a host was last declared dead.
        self._outage_at = self._death_at = -math.inf

    def judge(
        self,
        hosts: Mapping[str, ComputeHost],
        down: Mapping[str, float],
        now: float,
        fresh: bool = True,
    ) -> None:
        """Find out which hosts are dead, and whether there is an outage.

        :param hosts: all of Nova's, by name.
        :param down: when each host that is down was first seen down.
        :param fresh: whether that has just been read: hosts may have come back since.
        """
        pools = {name: host.shape.pool for name, host in hosts.items() if host.shape}
        own = {name for name, pool in pools.items() if pool == self._pool}
        own |= self.occupied & hosts.keys()
        # What becomes of hosts without slots that run none of our jobs tells nothing of ours.
        counted = own | pools.keys()
        forced = {name for name in down if hosts[name].forced_down}
        dead = (self.dead & down.keys()) | forced
        silent = {name: hosts[name] for name in down.keys() & counted - dead}
        # Nova also changes this time when an operator disables the service.
        self._heard_at = {name: self._heard_at.get(name, hosts[name].heard_at) for name in down}
        self._fence.forget(hosts.keys() - down.keys())
        everywhere = self._together(silent, counted - dead)
        here = self._together(_only(silent, own), own - dead)
        # Other pools' hosts alone are no reason to stop this one.
        self._see_outage(max(everywhere if everywhere & own else set(), here, key=len), now)
        if fresh and not self.reason:
            dead |= self._died(_only(silent, own), down, now)
        # One that has left stays dead: who is on it is not known before the first poll is over.
        self.dead = frozenset(dead & (own | self.dead))

    def _together(self, silent: Mapping[str, ComputeHost], alive: set[str]) -> set[str]:
        """Silent hosts that went down together, if there are too many to be single failures.

        :param alive: all hosts that do not count as dead, including the silent ones.
        """
        most = max(1.0, self._options.outage_share * len(alive))
        largest: set[str] = set()
        heard_at = self._heard_at
        for one in silent:
            group = {
                other
                for other in silent
                if _apart(heard_at[one], heard_at[other]) <= self._options.outage_window
            }
            largest = max(largest, group, key=len)
        return largest if len(largest) > most else set()

    def _see_outage(self, group: set[str], now: float) -> None:
        before, self.reason = self.reason, None
        if group:
            self._outage_at = now
            self.reason = waits.OUTAGE()
        if self.reason and not before:
            LOG.error(
                "Outage in pool %s: %s. To declare them dead: openstack compute service set "
                "--down HOST nova-compute. The %s hosts: %s",
                self._pool,
                self.reason,
                len(group),
                ", ".join(sorted(group)),
            )
        elif before and not self.reason:
            LOG.info("The outage in pool %s is over", self._pool)

    def _died(
        self, silent: Mapping[str, ComputeHost], down: Mapping[str, float], now: float
    ) -> set[str]:
        """The next host to declare dead, if one is due: one at a time, after fencing it."""
        if now < self._death_at + self._options.dead_host_interval:
            return set()
        for name in sorted(silent, key=lambda name: (down[name], name)):
            # After an outage, hosts that are not back yet get the grace period once more.
            if now < max(down[name], self._outage_at) + self._options.host_down_grace:
                continue
            if self._fence.fenced(name, now):
                LOG.warning("Host %s counts as dead: its jobs are restarted elsewhere", name)
                self._death_at = now
                return {name}
            if self._fence.running:
                # Fence one host at a time. A host whose fencing failed does not block the next one.
                return set()
        return set()


def _only(hosts: Mapping[str, ComputeHost], names: Iterable[str]) -> dict[str, ComputeHost]:
    return {name: hosts[name] for name in names if name in hosts}


def _apart(one: float | None, other: float | None) -> float:
    """Seconds between the last heartbeats of two hosts; 0 if one of them is unknown."""
    return 0.0 if one is None or other is None else abs(one - other)
