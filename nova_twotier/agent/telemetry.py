"""Publishes in the ledger what foreground VMs really use, and closes slots accordingly."""

from collections.abc import Mapping
from dataclasses import dataclass

from oslo_log import log as logging

from nova_twotier.agent.claims import HostClaims
from nova_twotier.agent.guests import Gone, Guest, Hypervisor, HypervisorError
from nova_twotier.agent.troubles import Troubles
from nova_twotier.core.actions import Tier
from nova_twotier.core.meter import Meter, MeterRules
from nova_twotier.core.slots import is_hot
from nova_twotier.ledger import claims, heartbeats, tree
from nova_twotier.ledger.placement import Placement, PlacementError

LOG = logging.getLogger(__name__)

#: Seconds until points are written again for which the host had no room.
_RETRY = 60.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a VM used at the last samples.

    :param cpus: the host CPUs that it may use.
    :param cpu_time: CPU seconds of its virtual CPUs since it was started.
    :param level: its mean utilisation, 0..1; None if it is too early to say, or if the VM is in the
        background, where it cannot use what it would.
    :param closed: whether its slot is closed to the background.
    """

    vm: str
    tier: Tier
    cpus: frozenset[int]
    cpu_time: float
    level: float | None
    closed: bool


class Telemetry:
    """Samples the CPU time of the virtual CPUs of a host's VMs.

    What a VM in the background uses says nothing about its needs, so that only VMs in the
    foreground are measured. The CPU points of their claims are replaced when the measurement
    contradicts them. As many slots are closed as there are foreground VMs with so many points.

    While it measures, the ledger has heartbeats of the host, so that nobody else does.

    It keeps no state that it could not measure again, but counts from the start then.

    :param interval: seconds between two samples.
    """

    def __init__(
        self, hypervisor: Hypervisor, placement: Placement, rules: MeterRules, interval: float
    ):
        self._hypervisor, self._placement = hypervisor, placement
        self._rules, self._interval = rules, interval
        self._heart = heartbeats.Heart(placement)
        self._due = self._beat_due = 0.0
        self._meters: dict[str, Meter] = {}
        self._troubles = Troubles(LOG)
        #: Until when no points are written for VMs that stayed without.
        self._without: dict[str, float] = {}
        #: The host and the number of slots that it has closed there; None: it does not know.
        self._closed: tuple[tree.TierHost, int] | None = None
        #: What was last sampled. Replaced, never changed: other threads may read it.
        self.readings: tuple[Reading, ...] = ()

    def step(self, now: float, found: HostClaims, guests: Mapping[str, Guest]) -> None:
        """Take a sample if one is due, and correct the ledger where the sample contradicts it.

        :param now: time in seconds, from any start.
        :param found: the host's claims.
        :param guests: the VMs that run here, by uuid.
        """
        if now < self._due:
            return
        self._due = now + self._interval
        self.readings = tuple(self._sample(now, found, guests))
        if found.host is None:
            self._closed = None
            return
        held = {vm: claim.points for vm, claim in found.claims.items() if claim.tier is Tier.FG}
        news = {
            vm: points
            for vm, meter in self._meters.items()
            if (points := meter.news(held[vm])) is not None
        }
        try:
            self._publish(now, found.host, held, news)
            self._close(found.host, held | news)
            if now >= self._beat_due:
                self._heart.beat(found.host.provider[Tier.FG])
                self._beat_due = now + heartbeats.INTERVAL
        except PlacementError as error:
            # The next sample tries again.
            self._troubles.has("placement", f"what was measured is not published: {error}")
        else:
            self._troubles.over("placement", "what is measured is published again")

    def _sample(self, now: float, found: HostClaims, guests: Mapping[str, Guest]) -> list[Reading]:
        readings = []
        meters, self._meters = self._meters, {}
        for vm in sorted(found.claims.keys() & guests.keys()):
            guest, claim = guests[vm], found.claims[vm]
            if guest.paused:
                continue
            try:
                cpu_time = self._hypervisor.cpu_time(vm)
            except Gone:
                continue
            except HypervisorError as error:
                self._troubles.has(vm, f"the CPU time of VM {vm} cannot be read: {error}")
                continue
            self._troubles.over(vm, f"the CPU time of VM {vm} can be read again")
            meter = None
            if claim.tier is Tier.FG:
                meter = self._meters[vm] = meters.get(vm) or Meter(self._rules)
                meter.add(now, cpu_time, guest.capacity, claim.points)
            readings.append(
                Reading(
                    vm,
                    claim.tier,
                    guest.cpus,
                    cpu_time,
                    meter.level if meter else None,
                    meter is not None and meter.closed,
                )
            )
        self._troubles.keep({"placement", *found.claims})
        return readings

    def _publish(
        self,
        now: float,
        host: tree.TierHost,
        held: Mapping[str, int | None],
        news: Mapping[str, int],
    ) -> None:
        """Write the news to the claims of the VMs."""
        self._without = {vm: until for vm, until in self._without.items() if vm in news}
        due = {vm: points for vm, points in news.items() if now >= self._without.get(vm, now)}
        if not due:
            return
        without = claims.set_cpu_points(self._placement, [host], due)
        self._without |= dict.fromkeys(without, now + _RETRY)
        for vm in sorted(due.keys() - without):
            LOG.info("VM %s uses %s %% of its slot, not %s", vm, due[vm], held[vm])

    def _close(self, host: tree.TierHost, held: Mapping[str, int | None]) -> None:
        """Close as many slots as there are hot VMs, if their number or the host has changed.

        Otherwise the closed slots are left alone: a queue manager closes some more for VMs that are
        on their way to the host. A host that has another shape, or has come back to the ledger, may
        have lost some.
        """
        hot = sum(
            1
            for points in held.values()
            if points is not None and is_hot(points / 100, self._rules.close_at)
        )
        if (host, hot) != self._closed:
            self._closed = None
            tree.set_closed(self._placement, host, hot)
            LOG.info("Closed slots on host %s: %s", host.name, hot)
            self._closed = host, hot
