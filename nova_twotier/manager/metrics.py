"""The metrics of a queue manager, for Prometheus.

Polls count in memory. What a queue looks like is taken between two polls, and a scrape shows what
was taken last: it waits for nobody, and nobody waits for it.
"""

import contextlib
import importlib.metadata
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from nova_twotier.cloud.sessions import TALLY
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.pool_metrics import PoolMetrics
from nova_twotier.prometheus import queue
from nova_twotier.prometheus.server import serve


class Metrics(Collector):
    """What this process has counted, and what the pools that it leads look like."""

    def __init__(self) -> None:
        self._exported = False
        self._counters = Counters()
        self._pools: dict[str, PoolMetrics] = {}

    def pool(self, name: str) -> "PoolMetrics":
        """The metrics of a pool that this process serves."""
        if name not in self._pools:
            self._pools[name] = PoolMetrics(self._counters, name, self._exported)
        return self._pools[name]

    @contextlib.contextmanager
    def served(self, options) -> Iterator[None]:
        """Serve the metrics while the context is open, if a port is configured.

        Only pools named inside of it have gauges.

        :param options: group `[manager]`.
        :raises ConfigError: if the port cannot be had.
        """
        if not options.metrics_port:
            yield
            return
        stop = serve(self, options.metrics_address, options.metrics_port, "manager")
        self._exported = True
        try:
            yield
        finally:
            stop()

    def collect(self) -> Iterator[Metric]:
        """The metrics of one scrape."""
        build = GaugeMetricFamily(
            "twotier_build_info", "1; the label has the release", labels=["version"]
        )
        build.add_metric([importlib.metadata.version("nova-twotier")], 1)
        requests = CounterMetricFamily(
            "twotier_openstack_requests",
            "Requests of this process by service and HTTP status; none: no answer",
            labels=["service", "code"],
        )
        for labels, number in TALLY.counts().items():
            requests.add_metric(labels, number)
        yield from (build, requests)
        yield from self._counters.registry.collect()
        yield from self._gauges()

    def _gauges(self) -> Iterator[Metric]:
        pools = dict(self._pools)
        leader = GaugeMetricFamily(
            "twotier_leader", "1 if this process leads the pool, else 0", labels=["pool"]
        )
        for name, pool in pools.items():
            leader.add_metric([name], pool.leads)
        yield leader
        polled = {name: at for name, each in pools.items() if (at := each.polled_at) is not None}
        yield from queue.polled(polled)
        listed = GaugeMetricFamily(
            "twotier_manager_hosts_timestamp_seconds",
            "When Nova last told the leader which hosts there are, in seconds since the epoch",
            labels=["pool"],
        )
        for name, pool in pools.items():
            if (at := pool.hosts_listed_at) is not None:
                listed.add_metric([name], at)
        yield listed
        # As they are now: a loop may replace them at any time.
        shown = {name: gauges for name, each in pools.items() if (gauges := each.gauges)}
        yield from queue.jobs(
            {(pool, state): n for pool, each in shown.items() for state, n in each.jobs.items()}
        )
        yield from queue.waiting(
            {(pool, code): n for pool, each in shown.items() for code, n in each.waiting.items()}
        )
        oldest = GaugeMetricFamily(
            "twotier_oldest_wait_seconds",
            "Longest time that a job in the queue has waited for its turn; 0: none waits",
            labels=["pool"],
        )
        closed = GaugeMetricFamily(
            "twotier_slots_closed", "Slots that are closed to the background", labels=["pool"]
        )
        slots, used, free = (
            GaugeMetricFamily(name, text, labels=["pool", "tier"])
            for name, text in (
                ("twotier_slots", "Places of all hosts, with those of closed slots"),
                ("twotier_slots_used", "Places that VMs hold, of jobs or not"),
                ("twotier_slots_free", "Places that VMs can claim now"),
            )
        )
        findings = GaugeMetricFamily(
            "twotier_ledger_findings",
            "Servers of running jobs that hold other slots than recorded, as ledger verify calls "
            "it",
            labels=["pool", "kind"],
        )
        for name, each in shown.items():
            oldest.add_metric([name], pools[name].waited(each.oldest))
            closed.add_metric([name], each.closed)
            for family, counts in ((slots, each.slots), (used, each.used), (free, each.free)):
                for tier, number in counts.items():
                    family.add_metric([name, tier], number)
            for kind, number in each.findings.items():
                findings.add_metric([name, kind], number)
        yield from (oldest, slots, used, free, closed, findings)
