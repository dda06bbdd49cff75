"""What Prometheus reads."""

import os
import subprocess
import sys
import textwrap

from prometheus_client.parser import text_string_to_metric_families

from nova_twotier.core.reasons import failures, waits
from nova_twotier.db.models import Leader
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase


class TestMetrics(ApiCase):
    OPTIONS = "metrics = true\n[manager]\npools = default, gpu"

    def read(self):
        answer = self.get("/metrics", None)
        self.assertEqual(200, answer.status_code)
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    def test_jobs(self):
        self.submit(size=3, name="secret")
        self.change(self.submit("bob:other", size=4), state=JobState.RUNNING)
        found = self.read()
        self.assertEqual(1, found["twotier_jobs", "default", "queued"])
        self.assertEqual(3, found["twotier_processes", "default", "queued"])
        self.assertEqual(4, found["twotier_processes", "default", "running"])
        self.assertEqual(0, found["twotier_jobs", "default", "failed"])
        self.assertEqual(0, found["twotier_jobs", "gpu", "queued"])

    def test_jobs_by_class(self):
        self.submit()
        for state, qos in (
            (JobState.QUEUED, "scavenger"),
            (JobState.STARTING, "scavenger"),
            (JobState.PREEMPTING, "scavenger"),
            (JobState.FINISHED, "urgent"),
        ):
            self.change(self.submit("bob:other"), state=state, qos=qos)
        found = self.read()
        self.assertEqual(
            {
                ("waiting", "urgent"): 0,
                ("running", "urgent"): 0,
                ("waiting", "normal"): 1,
                ("running", "normal"): 0,
                ("waiting", "scavenger"): 1,
                ("running", "scavenger"): 2,
            },
            self.by_class(found, "default"),
        )
        self.assertEqual({0}, set(self.by_class(found, "gpu").values()))

    def by_class(self, found, pool):
        of_pool = {key: n for key, n in found.items() if key[0] == "twotier_jobs_by_qos"}
        # Labels are shown in the order of their names: phase, pool, qos.
        return {(key[1], key[3]): n for key, n in of_pool.items() if key[2] == pool}

    def test_waiting_jobs_by_reason(self):
        for reason in (waits.SLOTS(size=2, idle=1), waits.SLOTS(size=3, idle=1), waits.HELD()):
            self.change(self.submit(), reason=reason)
        self.submit("bob:other")
        self.change(self.submit(), state=JobState.FAILED, reason=failures.SERVERS_OFF())
        found = self.read()
        name = "twotier_waiting_jobs"
        waiting = {key[1:]: count for key, count in found.items() if key[0] == name}
        expected = {"slots": 2, "held": 1, "undecided": 1}
        self.assertEqual({("default", code): n for code, n in expected.items()}, waiting)

    def test_heartbeats_of_managers(self):
        self.last_beat(1e9)
        found = self.read()
        name = "twotier_manager_heartbeat_timestamp_seconds"
        self.assertEqual([1e9, 0], [found[name, pool] for pool in ("default", "gpu")])

    def test_polls_of_managers(self):
        self.last_beat(1e9)
        with self.store.transaction() as session:
            leader = session.get(Leader, "default")
            leader.since, leader.polled_at = 9e8, 9.5e8
        found = self.read()
        name = "twotier_manager_poll_timestamp_seconds"
        self.assertEqual([9.5e8, 0], [found[name, pool] for pool in ("default", "gpu")])

    def test_requests(self):
        job = self.submit(name="secret")
        self.get(f"/v1/jobs/{job['uuid']}")
        self.get("/v1/nothing/secret")
        self.ask("PUT", "/v1/jobs")
        found = self.read()
        name, seconds = "twotier_api_requests_total", "twotier_api_request_seconds_count"
        self.assertEqual(1, found[name, "POST", "/v1/jobs", "201"])
        self.assertEqual(1, found[name, "PUT", "/v1/jobs", "405"])
        self.assertEqual(1, found[name, "GET", "none", "404"])
        self.assertEqual(1, found[seconds, "GET", "/v1/jobs/{uuid}"])
        for hidden in ("secret", "demo", "alice", job["uuid"]):
            self.assertNotIn(hidden, self.get("/metrics", None).text)


class TestSeveralProcesses(ApiCase):
    OPTIONS = "metrics = true"

    def test_their_counts_are_added_up(self):
        script = textwrap.dedent(f"""\
            import os, sys
            from falcon import testing
            from nova_twotier import conf
            from nova_twotier.api.app import make
            path = {str(self.directory / "nova-twotier.conf")!r}
            made = make(conf.load(["--config-file", path], "twotier-api"))
            client = testing.TestClient(lambda environ, start: made(environ, start))
            client.simulate_get("/v1", host="localhost")
            print(client.simulate_get("/metrics", host="localhost").text)
            """)
        counts = self.directory / "counts"
        counts.mkdir()
        environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(counts)}
        for expected in ("1.0", "2.0"):
            out = subprocess.run(
                [sys.executable, "-c", script],
                env=environ,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            line = f'twotier_api_requests_total{{method="GET",route="/v1",status="200"}} {expected}'
            self.assertIn(line, out)
            self.assertIn('twotier_jobs{pool="default",state="queued"} 0.0', out)
