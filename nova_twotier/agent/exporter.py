"""Shows what the agent measures to Prometheus."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from nova_twotier.agent.telemetry import Telemetry
from nova_twotier.core.actions import Tier

#: Labels of a series of a VM. Slots are named by their CPUs: they have no other name on a host.
_LABELS = ("vm", "tier", "cpus")


class Exporter(Collector):
    """Exports the last sample of the telemetry as Prometheus metrics.

    :param host: the host's name, a label of all series.
    """

    def __init__(self, telemetry: Telemetry, host: str):
        self._telemetry = telemetry
        self._host = host

    def collect(self) -> Iterator[Metric]:
        """The metrics of one scrape."""
        readings = self._telemetry.readings
        labels = ("host", *_LABELS)
        seconds = CounterMetricFamily(
            "twotier_vm_cpu_seconds",
            "CPU time that a VM's virtual CPUs have used since it was started",
            labels=labels,
        )
        level = GaugeMetricFamily(
            "twotier_vm_cpu_utilisation",
            "Mean utilisation (0 to 1) of the CPUs of a foreground VM over the window",
            labels=labels,
        )
        closed = GaugeMetricFamily(
            "twotier_slot_closed",
            "1 if the slot of a foreground VM is closed to the background, else 0",
            labels=labels,
        )
        for each in readings:
            cpus = ",".join(map(str, sorted(each.cpus)))
            values = (self._host, each.vm, str(each.tier), cpus)
            seconds.add_metric(values, each.cpu_time)
            if each.level is not None:
                level.add_metric(values, each.level)
            if each.tier is Tier.FG:
                closed.add_metric(values, each.closed)
        return iter((seconds, level, closed))
