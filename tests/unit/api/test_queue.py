"""The queue and the events through the API."""

import time
from datetime import datetime

from sqlalchemy import Engine, event

from nova_twotier.core.reasons import waits
from nova_twotier.db import queue_policy
from nova_twotier.db.event import User
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase


class TestQueue(ApiCase):
    def setUp(self):
        super().setUp()
        self.submit(size=3)
        self.change(self.submit(size=4), state=JobState.RUNNING, tier="fg")
        self.submit("bob:other", size=5)

    def counted(self, path, by="alice:demo"):
        queue = self.answered(200, self.get(path, by))
        return queue["jobs"]["queued"], queue["jobs"]["running"], queue["processes"]

    def test_of_a_project(self):
        self.assertEqual((1, 1, {"waiting": 3, "running": 4}), self.counted("/v1/queue"))
        self.assertEqual("demo", self.get("/v1/queue").json["project_id"])

    def test_of_all_projects(self):
        counted = self.counted("/v1/queue?all_projects=true", "admin")
        self.assertEqual((2, 1, {"waiting": 8, "running": 4}), counted)
        queue = self.get("/v1/queue?all_projects=True", "admin").json
        self.assertEqual((None, None), (queue["project_id"], queue["limits"]))

    def test_jobs_that_have_ended(self):
        for state in (JobState.FINISHED, JobState.FINISHED, JobState.FAILED):
            self.change(self.submit(), state=state)
        self.change(self.submit("bob:other"), state=JobState.FINISHED)
        for path, by, expected in (
            ("/v1/queue", "alice:demo", (2, 1, 0)),
            ("/v1/queue?all_projects=true", "admin", (3, 1, 0)),
        ):
            jobs = self.answered(200, self.get(path, by))["jobs"]
            names = ("finished", "failed", "cancelled")
            self.assertEqual(expected, tuple(jobs[name] for name in names))

    def test_no_query_reads_the_jobs_that_have_ended(self):
        asked = []
        record = lambda _c, _cursor, statement, values, *_rest: asked.append((statement, values))  # noqa: E731
        event.listen(Engine, "before_cursor_execute", record)
        self.answered(200, self.get("/v1/queue"))
        self.answered(200, self.get("/v1/queue?all_projects=true", "admin"))
        event.remove(Engine, "before_cursor_execute", record)
        steps = []
        with self.store.reading() as session:
            for statement, values in asked:
                if statement.startswith("SELECT"):
                    plan = f"EXPLAIN QUERY PLAN {statement}"
                    rows = session.connection().exec_driver_sql(plan, values)
                    steps += [row.detail for row in rows]
        of_jobs = [step for step in steps if step.split()[:2][1:] == ["job"]]
        self.assertGreater(len(of_jobs), 2, steps)
        for step in of_jobs:
            self.assertIn("ix_job_state (state=?)", step)

    def test_policy(self):
        policy = self.get("/v1/queue").json["policy"]
        self.assertTrue(policy.pop("description"))
        self.assertEqual({"name": "amcbf", "configured": "amcbf", "set_to": None}, policy)


class TestManager(ApiCase):
    OPTIONS = "[manager]\npools = default, gpu"

    def manager(self, path="/v1/queue"):
        return self.answered(200, self.get(path))["manager"]

    def test_at_work(self):
        found = self.manager()
        self.assertEqual((True, "running"), (found["running"], found["text"]))
        self.assertLess(time.time() - 60, datetime.fromisoformat(found["heartbeat_at"]).timestamp())

    def test_gone(self):
        self.last_beat(23_280.0)
        self.assertEqual(
            {
                "running": False,
                "heartbeat_at": "1970-01-01T06:28:00.000+00:00",
                "text": "no manager since 1970-01-01T06:28:00Z",
            },
            self.manager(),
        )

    def test_not_yet_there(self):
        self.assertEqual(
            {"running": False, "heartbeat_at": None, "text": "no manager yet"},
            self.manager("/v1/queue?pool=gpu"),
        )


class TestMode(ApiCase):
    OPTIONS = "[manager]\npools = default, gpu"

    def set(self, mode, path="/v1/queue", by="carol:ops:admin"):
        return self.ask("PATCH", path, by, json={"mode": mode})

    def mode(self, path="/v1/queue"):
        queue = self.answered(200, self.get(path))
        return queue["pool"], queue["mode"]

    def test_it_is_shown_and_changed(self):
        self.assertEqual(("default", "active"), self.mode())
        for mode in ("paused", "draining", "active"):
            answer = self.answered(200, self.set(mode))
            self.assertEqual(("default", mode, "amcbf"), _told(answer))
            self.assertEqual(("default", mode), self.mode())

    def test_each_pool_has_its_own(self):
        self.answered(200, self.set("paused", "/v1/queue?pool=gpu"))
        self.assertEqual(("gpu", "paused"), self.mode("/v1/queue?pool=gpu"))
        self.assertEqual(("default", "active"), self.mode())

    def test_a_pool_that_there_is_not(self):
        for answer in (self.get("/v1/queue?pool=fpga"), self.set("paused", "/v1/queue?pool=fpga")):
            [detail] = self.refused(404, "queue.not_found", answer)
            self.assertEqual("there is no such pool, only default, gpu", detail)

    def test_what_is_not_a_mode(self):
        for body, detail in (
            ({"mode": "asleep"}, "mode: give one of active, paused, draining"),
            ({}, "give mode, policy or both"),
            ({"mode": "paused", "pool": "gpu"}, "'pool' is not known; there are mode, policy"),
        ):
            answer = self.ask("PATCH", "/v1/queue", "admin", json=body)
            self.assertEqual([detail], self.refused(400, "request.invalid", answer))
        self.assertEqual(("default", "active"), self.mode())

    def test_a_paused_queue_takes_jobs_a_draining_one_does_not(self):
        self.set("paused")
        self.submit()
        self.set("draining")
        answer = self.ask("POST", "/v1/jobs", json={"size": 1})
        [detail] = self.refused(409, "queue.draining", answer)
        self.assertEqual(
            "the queue of pool default is draining and takes no jobs; submit the job when it is "
            "active again, see /v1/queue",
            detail,
        )
        self.submit(pool="gpu")
        self.assertEqual(2, len(self.store.jobs()))

    def test_tenants_are_told_of_it_but_not_who_it_was(self):
        job = self.submit("dave:other")
        self.happen(None, "host down", "node-7")
        self.set("paused")
        for by in ("alice:demo", "dave:other"):
            answer = self.get("/v1/events", by)
            told = [event for event in answer.json["events"] if not event["job"]]
            self.assertEqual(
                [("queue paused", "pool default", None)],
                [(event["kind"], event["detail"], event["project_id"]) for event in told],
            )
            self.assertEqual({"user_id": None, "project_id": None}, told[0]["asked_by"])
            self.assertNotIn("carol", answer.text)
        events = self.get(f"/v1/events?job={job['uuid']}", "dave:other").json["events"]
        self.assertEqual(["submitted"], [event["kind"] for event in events])
        self.assertIn("The queue of pool default is paused: user carol", self.logged.output)

    def test_pools_are_counted_apart(self):
        for pool in ("default", "gpu", "gpu"):
            job = self.submit(pool=pool)
        queue = self.get("/v1/queue?pool=gpu").json
        self.assertEqual((2, 3), (queue["jobs"]["queued"], queue["limits"]["jobs"]["used"]))
        self.assertEqual(1, self.get("/v1/queue").json["jobs"]["queued"])
        self.assertEqual(2, self.get(f"/v1/jobs/{job['uuid']}/explain").json["position"])
        jobs = self.get("/v1/jobs?pool=gpu").json["jobs"]
        self.assertEqual(["gpu", "gpu"], [each["pool"] for each in jobs])


class TestPolicy(ApiCase):
    OPTIONS = "[manager]\npools = default, gpu\npolicy = cmcbf"

    def set(self, path="/v1/queue", by="carol:ops:admin", **change):
        return self.ask("PATCH", path, by, json=change)

    def policy(self, path="/v1/queue"):
        found = self.answered(200, self.get(path))["policy"]
        return found["name"], found["configured"], found["set_to"]

    def use(self, policy, pool="default"):
        """The leader has noticed."""
        with self.store.transaction() as session:
            queue_policy.record_use(session, pool, policy)

    def test_it_is_set_and_unset(self):
        self.use("cmcbf")
        answer = self.answered(200, self.set(policy="easy"))
        self.assertEqual(("default", "active", "cmcbf"), _told(answer))
        self.assertEqual(("cmcbf", "cmcbf", "easy"), self.policy())
        self.use("easy")
        self.assertEqual(("easy", "cmcbf", "easy"), self.policy())
        self.answered(200, self.set(policy="default"))
        self.use("cmcbf")
        self.assertEqual(("cmcbf", "cmcbf", None), self.policy())

    def test_without_a_manager_the_next_one_will_use_it(self):
        self.use("cmcbf")
        self.answered(200, self.set(policy="easy"))
        self.last_beat(23_280.0)
        self.assertEqual(("easy", "cmcbf", "easy"), self.policy())

    def test_a_new_leader_has_not_said_yet(self):
        self.use("cmcbf")
        self.answered(200, self.set(policy="easy"))
        self.begin("default")
        self.assertEqual(("easy", "cmcbf", "easy"), self.policy())

    def test_mode_and_policy_are_kept_apart(self):
        self.set(mode="paused")
        self.set(policy="easy")
        self.assertEqual("paused", self.get("/v1/queue").json["mode"])
        self.set(mode="draining", policy="fcfs")
        self.set(mode="active")
        self.assertEqual("fcfs", self.policy()[2])

    def test_each_pool_has_its_own(self):
        self.answered(200, self.set("/v1/queue?pool=gpu", policy="easy"))
        self.assertEqual(("easy", "cmcbf", "easy"), self.policy("/v1/queue?pool=gpu"))
        self.assertEqual(("cmcbf", "cmcbf", None), self.policy())

    def test_those_of_the_simulator_alone_are_refused(self):
        for name in ("easy++", "slurm", "Easy", "", None):
            [detail] = self.refused(400, "request.invalid", self.set(policy=name))
            self.assertIn("policy: give one of fcfs, easy, ", detail)
        self.assertEqual(("cmcbf", "cmcbf", None), self.policy())

    def test_members_do_not(self):
        answer = self.set(policy="easy", by="alice:demo")
        self.refused(403, "request.forbidden", answer)

    def test_tenants_are_told(self):
        for policy in ("easy", "easy", "default"):
            self.set(policy=policy)
        events = self.get("/v1/events").json["events"]
        self.assertEqual(
            [
                ("queue policy", "pool default: easy"),
                ("queue policy", "pool default: as configured"),
            ],
            [(event["kind"], event["detail"]) for event in events],
        )
        self.assertIn("pool default was set to easy: user carol", self.logged.output)

    def test_a_policy_of_a_later_release(self):
        self.use("clairvoyant")
        found = self.answered(200, self.get("/v1/queue"))["policy"]
        self.assertEqual("A policy of another release.", found["description"])


def _told(queue):
    return queue["pool"], queue["mode"], queue["policy"]["name"]


class TestWhoAsked(ApiCase):
    """Operators see who asked for an event; a project sees which of its own users did."""

    def asked(self, by, job):
        events = self.answered(200, self.get(f"/v1/events?job={job['uuid']}", by))["events"]
        return {each["kind"]: each["asked_by"] for each in events}

    def test_a_user_of_the_project(self):
        job = self.submit("alice:demo")
        self.happen(job, "started")
        self.answered(202, self.ask("DELETE", f"/v1/jobs/{job['uuid']}", "bob:demo"))
        alice, bob = ({"user_id": user, "project_id": "demo"} for user in ("alice", "bob"))
        expected = {"submitted": alice, "started": None, "asked to cancel": bob}
        for by in ("alice:demo", "carol:admin:admin"):
            self.assertEqual(expected, self.asked(by, job))

    def test_an_operator(self):
        job = self.submit("alice:demo")
        body = {"json": {"uuids": [job["uuid"]]}}
        self.answered(202, self.ask("POST", "/v1/jobs/cancel", "carol:admin:admin", **body))
        carol = {"user_id": "carol", "project_id": "admin"}
        self.assertEqual(carol, self.asked("carol:admin:admin", job)["asked to cancel"])
        hidden = {"user_id": None, "project_id": None}
        self.assertEqual(hidden, self.asked("alice:demo", job)["asked to cancel"])
        explained = self.get(f"/v1/jobs/{job['uuid']}/explain", "alice:demo").json
        self.assertEqual(hidden, explained["events"][-1]["asked_by"])

    def test_operators_need_not_ask_for_all_projects(self):
        job = self.submit("carol:ops")
        self.answered(202, self.ask("DELETE", f"/v1/jobs/{job['uuid']}", "dave:admin:admin"))
        dave = {"user_id": "dave", "project_id": "admin"}
        self.assertEqual(dave, self.asked("carol:ops:admin", job)["asked to cancel"])
        hidden = {"user_id": None, "project_id": None}
        self.assertEqual(hidden, self.asked("eve:ops", job)["asked to cancel"])

    def test_whoever_acts_for_the_whole_system(self):
        job = self.submit("alice:demo")
        self.store.acting_for(User("root", "")).hold(self.store.find(job["uuid"]).number, True)
        root = {"user_id": "root", "project_id": ""}
        self.assertEqual(root, self.asked("carol:admin:admin", job)["held"])
        hidden = {"user_id": None, "project_id": None}
        self.assertEqual(hidden, self.asked("alice:demo", job)["held"])

    def test_tasks_of_an_array(self):
        body = {"json": {"size": 1, "indexes": "0-2"}}
        self.answered(201, self.ask("POST", "/v1/arrays", "alice:demo", **body))
        events = self.get("/v1/events", "alice:demo").json["events"]
        alice = {"user_id": "alice", "project_id": "demo"}
        self.assertEqual([alice] * 3, [each["asked_by"] for each in events])


class TestEvents(ApiCase):
    OPTIONS = "max_limit = 2"

    def kinds(self, path, by="alice:demo"):
        return [each["kind"] for each in self.answered(200, self.get(path, by))["events"]]

    def setUp(self):
        super().setUp()
        self.job = self.submit()
        self.theirs = self.submit("bob:other")
        self.happen(self.job, "started", "in fg", at=2e9)
        self.happen(self.theirs, "evicted", at=2e9)
        self.happen(self.job, "finished", at=3e9)

    def test_of_a_project_in_pages(self):
        page = self.get("/v1/events").json
        self.assertEqual(["submitted", "started"], [each["kind"] for each in page["events"]])
        self.assertEqual([self.job["uuid"]] * 2, [each["job"] for each in page["events"]])
        self.assertEqual("2033-05-18T03:33:20.000+00:00", page["events"][1]["at"])
        following = page["links"][0]["href"].removeprefix("http://localhost")
        self.assertEqual(["finished"], self.kinds(following))
        self.assertEqual([], self.get(following).json["links"])

    def test_since(self):
        self.assertEqual(
            ["started", "finished"], self.kinds("/v1/events?since=2033-05-18T03:33:20Z")
        )
        self.assertEqual(["finished"], self.kinds("/v1/events?since=2033-05-18T03:33:21Z"))

    def test_the_newest_first(self):
        page = self.get("/v1/events?sort_dir=desc").json
        self.assertEqual(["finished", "started"], [each["kind"] for each in page["events"]])
        following = page["links"][0]["href"].removeprefix("http://localhost")
        self.assertEqual(["submitted"], self.kinds(following))

    def test_of_a_job(self):
        self.assertEqual(["submitted", "started"], self.kinds(f"/v1/events?job={self.job['uuid']}"))

    def test_wishes(self):
        self.answered(202, self.ask("DELETE", f"/v1/jobs/{self.theirs['uuid']}", "bob:other"))
        self.assertEqual(["submitted", "evicted"], self.kinds("/v1/events", "bob:other"))
        self.assertEqual(["asked to cancel"], self.kinds("/v1/events?marker=5", "bob:other"))

    def test_the_largest_marker(self):
        self.assertEqual([], self.kinds("/v1/events?marker=2147483647"))
        for marker in ("2147483648", "9" * 18):
            answer = self.get(f"/v1/events?marker={marker}")
            [detail] = self.refused(400, "request.invalid", answer)
            self.assertIn("marker: give", detail)

    def test_no_query_reads_the_long_columns(self):
        """Lists of jobs of 10,000 processes would be hundreds of megabytes."""
        self.change(self.job, reason=waits.TURN(self.store.find(self.job["uuid"]).number))
        asked = []
        record = lambda _c, _cursor, statement, *_rest: asked.append(statement)  # noqa: E731
        event.listen(Engine, "before_cursor_execute", record)
        self.addCleanup(event.remove, Engine, "before_cursor_execute", record)
        for path in ("/v1/jobs", "/v1/events"):
            self.answered(200, self.get(path))
        self.assertTrue(any("job.reason" in statement for statement in asked))
        for column in ("job.cpu", "job.user_data"):
            self.assertEqual([], [statement for statement in asked if column in statement])

    def test_of_all_projects(self):
        path = f"/v1/events?all_projects=true&job={self.theirs['uuid']}"
        self.assertEqual(["submitted", "evicted"], self.kinds(path, "admin"))
        [first, _second] = self.get(path, "admin").json["events"]
        self.assertEqual("other", first["project_id"])

    def test_of_a_job_or_an_array_of_another_project(self):
        body = {"size": 1, "indexes": "0-1"}
        array = self.answered(201, self.ask("POST", "/v1/arrays", "bob:other", json=body))
        paths = f"/v1/events?job={self.theirs['uuid']}", f"/v1/events?array={array['number']}"
        expected = ["submitted", "evicted"], ["submitted"] * 2
        for path, kinds in zip(paths, expected, strict=True):
            self.assertEqual(kinds, self.kinds(path, "carol:ops:admin"))
            self.assertEqual(404, self.get(path).status_code)

    def test_an_event_of_no_job_is_the_operators(self):
        self.happen(None, "paused", at=4e9)
        self.assertEqual([], self.kinds("/v1/events?since=2090-01-01T00:00:00Z", "admin"))
        path = "/v1/events?since=2096-10-02T07:06:40Z"
        self.assertEqual([], self.kinds(path))
        self.assertEqual(["paused"], self.kinds(f"{path}&all_projects=true", "admin"))
