"""The exporter of the queue manager, and the table of metrics in doc/operator/monitoring.md."""

import pathlib
import socket
import types
from unittest import mock

import fixtures
import testtools
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from nova_twotier.cloud.sessions import Tally
from nova_twotier.conf import ConfigError
from nova_twotier.core.actions import Tier
from nova_twotier.db.states import ActionKind, ActionState
from nova_twotier.manager import gauges, metrics
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.metrics import Metrics
from nova_twotier.manager.operations.operation import Note
from nova_twotier.manager.pool_metrics import PoolMetrics
from nova_twotier.manager.round import Round
from tests.ports import free_port
from tests.scraping import samples
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase

GUIDE = pathlib.Path(__file__).parents[3] / "doc" / "operator" / "monitoring.md"
GAUGES = gauges.Gauges(
    jobs={"queued": (1, 2)},
    waiting={"slots": 1},
    oldest=None,
    slots=dict.fromkeys(Tier, 4),
    used=dict.fromkeys(Tier, 0),
    free=dict.fromkeys(Tier, 4),
    closed=0,
    findings=dict.fromkeys(gauges.FINDINGS, 0),
)


class TestTable(testtools.TestCase):
    def rows(self):
        shown = Metrics()
        pool = shown.pool("default")
        pool.lead()
        pool.gauges, pool.polled_at, pool.hosts_listed_at = GAUGES, 1.0, 1.0
        tally = Tally()
        tally.add("compute", "200")
        self.useFixture(fixtures.MockPatchObject(metrics, "TALLY", tally))
        registry = CollectorRegistry()
        registry.register(shown)
        for family in text_string_to_metric_families(generate_latest(registry).decode()):
            if family.name.endswith("_created"):
                continue
            total = "_total" if family.type == "counter" else ""
            names = {name for sample in family.samples for name in sample.labels} - {"le"}
            labels = ", ".join(sorted(names, key=lambda name: (name != "pool", name)))
            about = family.documentation
            yield f"| `{family.name}{total}` | {family.type} | {labels} | {about} |"

    def test_the_guide_has_each_metric_as_it_is(self):
        section = GUIDE.read_text().partition("## Metrics and alerts\n")[2].partition("\n## ")[0]
        listed = [line for line in section.splitlines() if line.startswith("| `twotier_")]
        expected = list(self.rows())
        self.assertEqual(expected, listed, "the table should be:\n" + "\n".join(expected))


class TestServed(PollCase):
    def test_nobody_is_answered_by_default(self):
        with mock.patch.object(metrics, "serve") as serve, Metrics().served(builders.options()):
            serve.assert_not_called()

    def test_gauges_are_not_even_taken_then(self):
        pool = Metrics().pool("default")
        pool.lead()
        self.engine = self.make_engine(metrics=pool)
        self.poll()
        with mock.patch.object(gauges, "take") as take:
            pool.show()
            take.assert_not_called()
        self.assertIsNone(pool.gauges)

    def test_the_port_is_free_again_afterwards(self):
        port = free_port()
        options = builders.options(metrics_port=port)
        for _time in range(2):
            with Metrics().served(options):
                self.assertIn("twotier_build_info", {name for name, *_labels in samples(port)})
        self.assertRaises(OSError, samples, port)

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            serving = Metrics().served(builders.options(metrics_port=port))
            error = self.assertRaises(ConfigError, serving.__enter__)
        self.assertIn(
            f"[manager]metrics_address and metrics_port: cannot listen on 127.0.0.1:{port}: ",
            str(error),
        )
        self.assertIn("choose another port", str(error))

    def test_a_scrape_waits_for_no_poll_and_asks_nobody(self):
        """What it shows was taken before; the store and the clouds are not there any more."""
        port = free_port()
        self.store.submit(2, [0.5], at=1)
        served = Metrics()
        with served.served(builders.options(metrics_port=port)):
            pool = served.pool("default")
            pool.lead()
            self.engine = self.make_engine(metrics=pool)
            self.poll()
            pool.show()
            self.store.close()
            self.store.reading = self.store.transaction = mock.Mock(side_effect=AssertionError)
            asked = len(self.cloud.mock_calls), len(self.placement.mock_calls)
            self.assertEqual(1, samples(port)["twotier_jobs", "default", "queued"])
            self.assertEqual(asked, (len(self.cloud.mock_calls), len(self.placement.mock_calls)))

    def test_gauges_are_taken_once_in_a_while(self):
        served = Metrics()
        with served.served(builders.options(metrics_port=free_port())):
            pool = served.pool("default")
            pool.lead()
            self.engine = self.make_engine(metrics=pool)
            with mock.patch.object(gauges, "take", wraps=gauges.take) as take:
                for _poll in range(3):
                    self.poll()
                    pool.show()
                self.assertEqual(1, take.call_count)

    def test_a_failed_write_counts_nothing(self):
        pool = Metrics().pool("default")
        pool.lead()
        self.engine = self.make_engine(metrics=pool)
        self.poll()
        self.store.submit(2, [0.5], at=1)
        counted = mock.Mock(side_effect=pool.polled)
        with mock.patch.object(pool, "polled", counted):
            with mock.patch.object(self.engine, "_write", side_effect=ZeroDivisionError):
                self.assertRaises(ZeroDivisionError, self.poll)
            counted.assert_not_called()
            self.poll()
            counted.assert_called_once()


class TestCounting(testtools.TestCase):
    def test_an_event_and_an_action_of_a_job_that_the_poll_does_not_have(self):
        counters = Counters()
        pool = PoolMetrics(counters, "default")
        pool.lead()
        gone = builders.action(ActionKind.END, types.SimpleNamespace(number=7))
        gone.state, gone.closed_at = ActionState.DONE, 2.0
        work = Round(
            seen=builders.seen(),
            env=types.SimpleNamespace(now=2.0),
            jobs={},
            plain_waiting={},
            behind_limit={},
            active=[],
            opened=[gone],
            mode="active",
            stand_alone={},
        )
        work.note(Note(7, "finished"))
        pool.polled(work, {})
        labels = {"pool": "default", "state": "finished"}
        self.assertEqual(1, counters.registry.get_sample_value("twotier_jobs_ended_total", labels))


class TestSeveralPools(testtools.TestCase):
    def test_each_has_series_of_its_own(self):
        shown = Metrics()
        for name in ("default", "gpu"):
            shown.pool(name).lead()
        shown.pool("gpu").judged(-5.0)
        shown.pool("gpu").judged(90.0)
        shown.pool("default").gauges = GAUGES
        registry = CollectorRegistry()
        registry.register(shown)

        def value(name, **labels):
            return registry.get_sample_value(name, labels)

        self.assertEqual(1, value("twotier_leader", pool="gpu"))
        self.assertEqual(2, value("twotier_processes", pool="default", state="queued"))
        self.assertIsNone(value("twotier_processes", pool="gpu", state="queued"))
        name = "twotier_predicted_start_error_seconds"
        self.assertEqual(5.0, value(f"{name}_sum", pool="gpu", direction="earlier"))
        self.assertEqual(90.0, value(f"{name}_sum", pool="gpu", direction="later"))
        self.assertEqual(0.0, value(f"{name}_sum", pool="default", direction="later"))
