"""The servers of a job, and how long it was in each tier."""

import time

from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase

ADMIN = "carol:ops:admin"


class TestServers(ApiCase):
    def shown(self, job, by="alice:demo"):
        return self.answered(200, self.get(f"/v1/jobs/{job['uuid']}", by))

    def test_none_before_the_first_start(self):
        job = self.submit(size=2)
        self.assertEqual([], job["servers"])
        self.assertEqual((0, 0), (job["foreground_elapsed"], job["background_elapsed"]))

    def test_the_present_place_of_each_process(self):
        job = self.submit(size=2)
        self.hold_slot(job, 1, "bg", "host2", since=100.0, until=150.0)
        self.hold_slot(job, 0, "bg", "host1", since=100.0, until=150.0)
        first = self.hold_slot(job, 0, "fg", "host1", since=150.0)
        second = self.hold_slot(job, 1, "fg", "host3", since=150.5)
        expected = [
            {
                "name": "tt-1-1",
                "uuid": first,
                "tier": "fg",
                "host": "host1",
                "since": "1970-01-01T00:02:30.000+00:00",
                "until": None,
            },
            {
                "name": "tt-1-2",
                "uuid": second,
                "tier": "fg",
                "host": "host3",
                "since": "1970-01-01T00:02:30.500+00:00",
                "until": None,
            },
        ]
        self.assertEqual(expected, self.shown(job, ADMIN)["servers"])

    def test_a_tenant_sees_no_hosts(self):
        job = self.submit()
        self.change(job, state=JobState.RUNNING)
        self.hold_slot(job, 0, host="host1")
        for method, path in (
            ("GET", ""),
            ("POST", "/hold"),
            ("POST", "/release"),
            ("POST", "/complete"),
            ("DELETE", ""),
        ):
            answer = self.ask(method, f"/v1/jobs/{job['uuid']}{path}")
            self.assertNotIn("host1", answer.text)
            [server] = answer.json["servers"]
            self.assertEqual({"name", "uuid", "tier", "since", "until"}, set(server))

    def test_where_it_was_last(self):
        job = self.submit()
        self.hold_slot(job, 0, "bg", "host2", since=10.0, until=20.0)
        self.change(job, state=JobState.FINISHED)
        [server] = self.shown(job, ADMIN)["servers"]
        self.assertEqual(
            ("bg", "host2", "1970-01-01T00:00:20.000+00:00"),
            (server["tier"], server["host"], server["until"]),
        )

    def test_a_list_of_jobs_has_none(self):
        self.hold_slot(self.submit(), 0)
        [listed] = self.get("/v1/jobs").json["jobs"]
        self.assertNotIn("servers", listed)


class TestTimeInTiers(ApiCase):
    def elapsed(self, job):
        shown = self.get(f"/v1/jobs/{job['uuid']}").json
        return shown["foreground_elapsed"], shown["background_elapsed"]

    def test_it_is_the_mean_of_the_processes(self):
        job = self.submit(size=2)
        for process in range(2):
            self.hold_slot(job, process, "bg", since=10.0, until=30.0)
            self.hold_slot(job, process, "fg", since=30.0, until=40.25)
        self.assertEqual((10.25, 20.0), self.elapsed(job))
        self.hold_slot(job, 1, "fg", since=50.0, until=51.0)
        self.assertEqual((10.75, 20.0), self.elapsed(job))

    def test_until_now_while_it_holds_the_slot(self):
        job, before = self.submit(), time.time()
        self.hold_slot(job, 0, "bg", since=before - 100)
        foreground, background = self.elapsed(job)
        self.assertEqual(0.0, foreground)
        self.assertTrue(100 <= background <= 100 + time.time() - before + 0.001, background)

    def test_a_clock_that_is_behind_the_managers(self):
        job = self.submit()
        self.hold_slot(job, 0, "fg", since=4e9)
        self.assertEqual((0.0, 0.0), self.elapsed(job))
