"""Keeps the ledger in line with running jobs: closed slots, CPU points, slots left over."""

from nova_twotier.cloud.hosts import Hosts
from nova_twotier.cloud.nova import Cloud
from nova_twotier.core.meter import MeterRules
from nova_twotier.db.states import JobState
from nova_twotier.ledger import claims
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.heartbeats import Heartbeats
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager import measurements, ongoing
from nova_twotier.manager.diagnostics import Diagnostics
from nova_twotier.manager.round import Round

#: Seconds until points for which a host has no room are written again.
RETRY_AFTER = 60.0


class Upkeep:
    """Compares a pool's running jobs with the ledger at every poll, and writes what differs.

    :param options: the options of group `[manager]`.
    :param hosts: the pool's, whose slots it closes.
    """

    def __init__(self, options, cloud: Cloud, placement: Placement, hosts: Hosts):
        self._threshold = options.threshold
        self._placement, self._hosts = placement, hosts
        interval = options.diagnostics_interval
        meter = MeterRules(window=3 * interval, close_at=options.threshold)
        self._diagnostics = Diagnostics(cloud, Heartbeats(placement), meter, interval)
        #: Until when VMs are left without points, by the claim for which their host had no room.
        self._without: dict[Claim, float] = {}

    def poll(self, work: Round) -> bool:
        """Close the slots under hot processes, enter the CPU points that are missing, take over
        those that were measured, and release the slots of suspended jobs whose restart was
        interrupted before it was recorded.

        :returns: whether a measurement has changed what policies see of a job.
        """
        seen, jobs = work.seen, work.active
        points, measured = seen.points(jobs)
        now = work.env.now
        work.note(*(measurements.record(job, found, now) for job, found in measured.items()))
        self._hosts.arriving = ongoing.arriving(work.opened, work.jobs, seen, self._threshold)
        self._hosts.close(seen.closed(jobs, self._threshold))
        self._without = {claim: until for claim, until in self._without.items() if now < until}
        points = {
            vm: amount for vm, amount in points.items() if seen.claims[vm] not in self._without
        }
        points |= self._diagnostics.poll(jobs, seen)
        if points:
            full = claims.set_cpu_points(self._placement, seen.hosts, points, work.env.each)
            self._without |= dict.fromkeys(map(seen.claims.__getitem__, full), now + RETRY_AFTER)
        busy = work.busy
        idle = (job for job in jobs if job.state == JobState.QUEUED and job.number not in busy)
        if left := [vm for job in idle for vm in seen.resting(job) if vm in seen.claims]:
            claims.vacate(self._placement, seen.hosts, left, work.env.each)
        return bool(measured)

    def close(self) -> None:
        """Wait for the requests under way."""
        self._diagnostics.close()
