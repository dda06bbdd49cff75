"""What Prometheus reads of the agent."""

import testtools
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from nova_twotier.agent.exporter import Exporter
from nova_twotier.agent.telemetry import Reading, Telemetry
from tests.unit.agent.builders import BG, FG, METER, FakeHost


class TestExporter(testtools.TestCase):
    def samples(self, *readings):
        telemetry = Telemetry(FakeHost(), None, METER, interval=1.0)
        telemetry.readings = readings
        registry = CollectorRegistry()
        registry.register(Exporter(telemetry, "host1"))
        families = text_string_to_metric_families(generate_latest(registry).decode())
        return {
            (sample.name, sample.labels["vm"]): (sample.value, sample.labels)
            for family in families
            for sample in family.samples
        }

    def test_a_slot_with_both_tiers(self):
        front = Reading("a", FG, frozenset({3, 2}), 60.0, 0.97, True)
        back = Reading("x", BG, frozenset({2, 3}), 5.0, None, False)
        found = self.samples(front, back)
        labels = {"host": "host1", "vm": "a", "tier": "fg", "cpus": "2,3"}
        self.assertEqual(
            {
                ("twotier_vm_cpu_seconds_total", "a"): (60.0, labels),
                ("twotier_vm_cpu_utilisation", "a"): (0.97, labels),
                ("twotier_slot_closed", "a"): (1.0, labels),
                ("twotier_vm_cpu_seconds_total", "x"): (5.0, {**labels, "vm": "x", "tier": "bg"}),
            },
            found,
        )

    def test_nothing_yet(self):
        self.assertEqual({}, self.samples())
