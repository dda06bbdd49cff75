"""What a queue manager shows Prometheus is so, and the queries of the dashboard find it."""

import json
import pathlib
import re
import unittest
from collections import Counter
from dataclasses import replace
from unittest import mock

import fixtures
import testtools

from nova_twotier.api import queries
from nova_twotier.audit.findings import Kind
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import CODES
from nova_twotier.db import usage
from nova_twotier.db.models import Action
from nova_twotier.db.states import OVER, ActionKind, JobState, Preemption, QueueMode
from nova_twotier.db.usage import Question, Span
from nova_twotier.ledger.names import DEFAULT_POOL
from nova_twotier.manager import gauges, pool_metrics
from nova_twotier.manager.metrics import Metrics
from tests.functional.manager_case import InMemoryTestCase
from tests.functional.managers import PATIENCE, Site
from tests.ports import free_port
from tests.scraping import MISSING, Prometheus, families, samples
from tests.unit.manager import builders

ROOT = pathlib.Path(__file__).parents[2]
DASHBOARD = ROOT / "contrib/grafana/nova-twotier.json"
#: (round, size, cpu, preemption) of jobs, and rounds of work in each. With this seed, both tiers
#: are used, and jobs are swapped, evicted, restored and killed.
SEED = 6
ARRIVALS = [
    (4, 6, 0.6),
    (6, 6, 1.0),
    (10, 1, 0.6),
    (21, 6, 1.0, Preemption.REQUEUE),
    (24, 3, 0.4, Preemption.REQUEUE),
    (25, 6, 0.4),
    (25, 2, 1.0),
    (29, 6, 1.0, Preemption.REQUEUE),
]
LIVES = [50, 30, 5, 30, 50, 30, 50, 5]
#: What the labels may be: nothing else, however many jobs, users and projects there are.
LABELS = {
    "pool": {DEFAULT_POOL},
    "state": {str(state) for state in JobState},
    "tier": {str(tier) for tier in Tier},
    "reason": set(CODES),
    "kind": {
        *map(str, ActionKind),
        *gauges.FINDINGS,
        *("started", "restored", "evicted", "killed", "swap", "migration"),
    },
    "result": {"done", "failed"},
    "phase": set(pool_metrics.PHASES),
    "direction": {"earlier", "later"},
    "service": {"compute", "identity", "network", "placement", "other"},
    "code": {"none", *map(str, range(100, 600))},
}


class MetricsCase(InMemoryTestCase):
    def setUp(self):
        super().setUp()
        for name in ("PAUSE", "SHARE"):
            self.useFixture(fixtures.MockPatchObject(pool_metrics, name, 0.0))
        self.port, served = free_port(), Metrics()
        options = builders.options(metrics_port=self.port)
        self.enterContext(served.served(options))
        self.metrics = served.pool(DEFAULT_POOL)
        self.metrics.lead()

    def samples(self):
        return samples(self.port)


class TestQueue(MetricsCase):
    def test_it_is_as_in_the_database(self):
        self.cloud(seed=SEED)
        self.codes, self.tiers_used = set(), set()
        self.play("amcbf", ARRIVALS, LIVES)
        self.assertIn("slots", self.codes)
        self.assertEqual(set(Tier), self.tiers_used)

    def check(self, jobs):
        super().check(jobs)
        if self.now % 3:
            return
        self.metrics.show()
        found = self.samples()
        stored = queries.by_pool_and_state(self.store, [DEFAULT_POOL])
        for state in set(JobState) - set(OVER):
            shown = tuple(
                found[name, *_of(state)] for name in ("twotier_jobs", "twotier_processes")
            )
            self.assertEqual(stored[DEFAULT_POOL, state], shown, state)
        waiting = _labelled(found, "twotier_waiting_jobs")
        self.assertEqual(queries.waiting_by_reason(self.store), waiting)
        self.codes |= {code for _pool, code in waiting}
        places = self.HOSTS * self.SLOTS
        for tier in Tier:
            self.assertEqual(places, found["twotier_slots", *_of(tier)])
            used, free = (found[f"twotier_slots_{word}", *_of(tier)] for word in ("used", "free"))
            self.assertLessEqual(used + free, places)
            if tier is Tier.FG:
                self.assertEqual(places, used + free)
            self.tiers_used |= {tier} if used else set()
        self.assertEqual({0}, set(_labelled(found, "twotier_ledger_findings").values()))


class TestCounters(MetricsCase):
    def test_counters_are_what_the_events_and_actions_tell(self):
        self.cloud(seed=SEED)
        self.engine("amcbf").poll()  # jobs that are there when a term begins do not count
        jobs = self.play("amcbf", ARRIVALS, LIVES)
        found, kinds = self.samples(), Counter(event.kind for event in self.store.events())
        self.assertEqual(len(jobs), found["twotier_jobs_submitted_total", "default"])
        for name, labels in (
            ("twotier_jobs_started_total", {"started": "started", "restored": "restored"}),
            ("twotier_jobs_ended_total", {str(state): str(state) for state in OVER}),
            ("twotier_preemptions_total", {"evicted": "evicted", "killed": "killed"}),
            ("twotier_moves_total", {"swapped": "swap", "migrated": "migration"}),
        ):
            expected = {("default", label): kinds[kind] for kind, label in labels.items()}
            self.assertEqual(expected, _labelled(found, name))
        for happened in ("started", "restored", "evicted", "killed", "swapped", "finished"):
            self.assertGreater(kinds[happened], 0, happened)
        with self.store.reading() as session:
            begun = session.query(Action).where(Action.begun_at.is_not(None))
            actions = Counter((action.kind, action.state) for action in begun)
        counts = _labelled(found, "twotier_operation_seconds_count")
        done = {labels[1:]: n for labels, n in counts.items() if n}
        self.assertEqual(actions, done)
        self.assertEqual(len(jobs), found["twotier_wait_seconds_count", "default"])
        waited = sum(job.started_at - job.eligible_at for job in jobs)
        self.assertEqual(waited, found["twotier_wait_seconds_sum", "default"])
        slowdown = sum(
            (job.finished_at - job.eligible_at) / max(10, job.run_before) for job in jobs
        )
        self.assertAlmostEqual(slowdown, found["twotier_bounded_slowdown_sum", "default"])

    def test_process_seconds_are_those_of_the_bills(self):
        self.cloud(seed=SEED)
        self.play("amcbf", ARRIVALS, LIVES)
        found = self.samples()
        with self.store.reading() as session:
            rows = usage.usage(session, Question(period=Span(0.0, self.now + 1), by=()), 1)
        billed = usage.total(rows.values())
        name = "twotier_process_seconds_total"
        held = _labelled(found, name)
        self.assertEqual({_of("fg"): billed.foreground, _of("bg"): billed.background}, held)
        self.assertEqual(billed.lost, found["twotier_lost_process_seconds_total", "default"])
        self.assertGreater(min(billed.foreground, billed.background, billed.lost), 0)

    def test_what_a_poll_sees_of_a_broken_ledger(self):
        self.cloud(seed=1)
        engine = self.engine("fcfs")
        number = self.store.submit(2, [0.5], at=1).number
        self.rounds(engine, 10)
        self.assertEqual(JobState.RUNNING, self.store.job(number).state)
        engine.poll()
        seen = self.metrics._work.seen
        vm = next(iter(seen.claims))
        claim = seen.claims.pop(vm)
        for kind, claims, others in (
            ("missing-claim", {}, ()),
            ("double-claim", {}, (claim, replace(claim, tier=Tier.BG))),
            ("wrong-host", {vm: replace(claim, host=self.other(claim.host))}, ()),
            ("wrong-tier", {vm: replace(claim, tier=Tier.BG)}, ()),
        ):
            broken = replace(seen, claims={**seen.claims, **claims}, others=others)
            with mock.patch.object(self.metrics._work, "seen", broken):
                self.metrics.show()
            found = _labelled(self.samples(), "twotier_ledger_findings")
            self.assertEqual({kind: 1}, {each: n for (_pool, each), n in found.items() if n})

    def other(self, host):
        return next(each.name for each in self.tiers if each.name != host)

    def test_findings_have_the_names_that_ledger_verify_gives_them(self):
        self.assertLessEqual(set(gauges.FINDINGS), set(map(str, Kind)))

    def test_phases_do_not_count_twice(self):
        self.cloud(seed=1)
        self.rounds(self.engine("fcfs"), 3)
        counts = _labelled(self.samples(), "twotier_decision_seconds_count")
        self.assertEqual({3}, set(counts.values()))
        clock = iter([0.0, 1.0, 4.0, 10.0])
        with mock.patch("time.perf_counter", lambda: next(clock)):
            inner = self.metrics.timed("decide", lambda: None)
            before = _labelled(self.samples(), "twotier_decision_seconds_sum")
            self.metrics.timed("advance", inner)()
        after = _labelled(self.samples(), "twotier_decision_seconds_sum")
        took = {phase: round(after[phase] - before[phase], 3) for phase in after}
        self.assertEqual(3.0, took["default", "decide"])
        self.assertEqual(7.0, took["default", "advance"])


class TestTerms(MetricsCase):
    def test_only_the_leader_shows_the_queue(self):
        self.cloud(seed=1)
        self.store.submit(2, [0.5], at=1)
        self.rounds(self.engine("fcfs"), 10)
        self.metrics.show()
        found = self.samples()
        self.assertEqual(1, found["twotier_leader", "default"])
        stamps = {f"twotier_manager_{what}_timestamp_seconds" for what in ("poll", "hosts")}
        for name in stamps:
            self.assertIn((name, "default"), found)
        self.assertEqual(1, found["twotier_jobs", "default", "running"])
        started = found["twotier_jobs_started_total", "default", "started"]
        self.metrics.resign()
        found = self.samples()
        self.assertEqual(0, found["twotier_leader", "default"])
        for name in ("twotier_jobs", "twotier_slots", *stamps):
            self.assertEqual({}, _labelled(found, name))
        self.assertEqual(started, found["twotier_jobs_started_total", "default", "started"])

    def test_time_between_two_terms_does_not_count(self):
        self.cloud(seed=1)
        engine = self.engine("fcfs")
        self.store.submit(2, [0.5], at=1)
        self.rounds(engine, 10)
        name = ("twotier_process_seconds_total", "default", "fg")
        before = self.samples()[name]
        self.metrics.resign()
        self.now += 1000
        self.metrics.lead()
        self.rounds(self.engine("fcfs"), 2)
        self.assertEqual(before + 2, self.samples()[name])

    def test_a_paused_queue(self):
        self.cloud(seed=1)
        self.store.set_queue_mode(DEFAULT_POOL, QueueMode.PAUSED)
        self.store.submit(2, [0.5], at=1)
        self.rounds(self.engine("fcfs"), 1)
        self.metrics.show()
        found = self.samples()
        self.assertEqual(1, found["twotier_waiting_jobs", "default", "paused"])
        self.assertGreater(found["twotier_oldest_wait_seconds", "default"], 1e9)


class TestLabels(MetricsCase):
    def test_they_are_bounded(self):
        self.cloud(seed=SEED)
        values = {"project_id": "shop", "user_id": "alice", "name": "secret"}
        job = self.store.submit(2, [0.5], at=0, **values)
        self.rounds(self.engine("amcbf"), 10)
        self.metrics.show()
        self.assertEqual(1, self.samples()["twotier_jobs", "default", "running"])
        for name, family in families(self.port).items():
            self.assertTrue(name.startswith("twotier_"), name)
            for sample in family.samples:
                self.assertEqual(family.type == "counter", sample.name.endswith("_total"))
                for label, value in sample.labels.items():
                    if label not in ("le", "version"):
                        self.assertIn(value, LABELS[label], sample)
        text = str(families(self.port))
        for hidden in (*values.values(), job.uuid):
            self.assertNotIn(hidden, text)


class TestProcesses(testtools.TestCase):
    """Managers of one pool as processes, without a cloud."""

    def test_one_leads_and_each_counts_for_itself(self):
        site, ports = Site(self), [free_port(), free_port()]
        site.configure(f"metrics_port = {ports[0]}")
        first = site.start()
        site.leads(first)
        first.says("Nova does not answer")
        site.configure(f"metrics_port = {ports[1]}")
        second = site.start()
        second.says("Standing by")
        leading, standing = map(samples, ports)
        leads = [each["twotier_leader", "default"] for each in (leading, standing)]
        self.assertEqual([1, 0], leads)
        name = "twotier_openstack_requests_total"
        self.assertGreater(leading[name, "none", "compute"], 0)
        self.assertEqual({}, _labelled(standing, name))
        # No poll has ended, so that nothing is known of the queue.
        self.assertEqual({}, _labelled(leading, "twotier_jobs"))

        third = site.start()
        self.assertEqual(1, third.process.wait(PATIENCE))
        self.assertIn(f"cannot listen on 127.0.0.1:{ports[1]}: ", third.log())
        self.assertNotIn("Traceback", third.log())
        self.assertEqual(0, second.end())


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)} (Debian's package prometheus)")
class TestDashboard(MetricsCase):
    def test_prometheus_answers_every_query(self):
        self.cloud(seed=SEED)
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.store.submit(9, [0.5], at=0)  # waits for ever
        prometheus = Prometheus(self, directory, self.port)
        self.rounds(self.engine("amcbf"), 3)
        self.metrics.show()
        prometheus.until("count_over_time(twotier_leader[5m]) >= 2")
        dashboard = json.loads(DASHBOARD.read_text())
        targets = [target for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertGreater(len(targets), 20)
        for target in targets:
            expression = target["expr"].replace("$__rate_interval", "1m").replace("$pool", ".*")
            self.assertNotIn("$", expression)
            found = prometheus.query(expression)
            # In this process, no session of OpenStack makes requests.
            if "twotier_openstack_requests" not in expression:
                self.assertNotEqual([], found, expression)
            for legend in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                for series in found:
                    self.assertIn(legend, series["metric"], expression)

    def test_it_is_a_dashboard(self):
        dashboard = json.loads(DASHBOARD.read_text())
        ids = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        names = {variable["name"] for variable in dashboard["templating"]["list"]}
        self.assertEqual({"datasource", "pool"}, names)
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            self.assertTrue(panel["description"] and panel["targets"], panel["title"])


def _of(label):
    return DEFAULT_POOL, label


def _labelled(found, name):
    """The values of one metric by their labels."""
    return {key[1:]: value for key, value in found.items() if key[0] == name}
