"""Measures the servers of jobs through Nova, for hosts without a node agent."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.meter import Meter, MeterRules
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.heartbeats import Heartbeats
from nova_twotier.manager.observation import Observation

LOG = logging.getLogger(__name__)

#: Requests to Nova at the same time.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """CPU seconds of a server, and the number of its virtual CPUs, at a time in seconds."""

    at: float
    cpu_time: float
    cpus: int


@dataclass(slots=True)
class _Measured:
    """A server that is measured, and the sample that is under way."""

    meter: Meter
    asked_at: float
    answer: Future | None = None


class Diagnostics:
    """Samples each server in the foreground on hosts that no node agent measures, as that would.

    What it finds goes to the ledger as the agent's measurements do, so that the manager takes them
    over in the same way.

    :param heartbeats: of the agents.
    :param interval: seconds between two samples of a server; 0: none.
    :param workers: make the requests, by default a few at once. Their answers do not wake the loop.
    :param clock: the time in seconds, from any start.
    """

    def __init__(
        self,
        cloud: Cloud,
        heartbeats: Heartbeats,
        rules: MeterRules,
        interval: float,
        workers: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._cloud, self._heartbeats = cloud, heartbeats
        self._rules, self._interval = rules, interval
        self._workers, self._clock = workers or ThreadPoolExecutor(AT_ONCE), clock
        self._measured: dict[str, _Measured] = {}

    def poll(self, jobs: Iterable[Job], seen: Observation) -> dict[str, int]:
        """Take the samples that have arrived, and ask for those that are due.

        :returns: CPU points, by server, that the ledger should have instead of its own.
        :raises PlacementError: if Placement does not answer.
        """
        if not self._interval:
            return {}
        self._heartbeats.poll(self._clock())
        before, self._measured = self._measured, {}
        left_to_agents = self._left_to_agents(seen)
        news = {}
        for server, claim in _in_foreground(jobs, seen):
            if claim.host in left_to_agents:
                continue
            points = claim.cpu_points or None
            entry = before.get(server.id)
            if entry is None:
                entry = _Measured(Meter(self._rules), self._clock() - self._interval)
            self._measured[server.id] = entry
            if entry.answer is not None and entry.answer.done():
                answer, entry.answer = entry.answer, None
                sample = answer.result()
                if sample is not None:
                    entry.meter.add(sample.at, sample.cpu_time, sample.cpus, points)
                    if (new := entry.meter.news(points)) is not None:
                        news[server.id] = new
            if entry.answer is None and self._clock() >= entry.asked_at + self._interval:
                entry.asked_at = self._clock()
                entry.answer = self._workers.submit(partial(self._sample, server))
        return news

    def close(self) -> None:
        """Wait for the requests under way, and drop the others."""
        self._workers.shutdown(cancel_futures=True)

    def _left_to_agents(self, seen: Observation) -> set[str]:
        """The hosts that agents measure."""
        now = self._clock()
        return {
            host.name
            for host in seen.hosts
            if Tier.FG in host.provider and self._heartbeats.may_live(host.provider[Tier.FG], now)
        }

    def _sample(self, server: Server) -> Sample | None:
        """None if Nova does not tell, as while the server is paused."""
        began = self._clock()
        try:
            cpu_time, cpus = self._cloud.cpu_time(server)
        except CloudError as error:
            LOG.debug("Server %s is not measured: %s", server.id, error)
            return None
        return Sample((began + self._clock()) / 2, cpu_time, cpus)


def _in_foreground(jobs: Iterable[Job], seen: Observation) -> Iterator[tuple[Server, Claim]]:
    """The servers in the foreground that run, on hosts that are up, and that Nova leaves alone."""
    for job in jobs:
        if job.state != JobState.RUNNING or job.tier != Tier.FG:
            continue
        for server in seen.gang(job):
            claim = seen.claims.get(server.id)
            # Nova would wait a minute for a dead host, and the other servers for Nova.
            if claim is None or claim.host in seen.down or server.busy:
                continue
            if claim.tier is Tier.FG and server.status == "ACTIVE":
                yield server, claim
