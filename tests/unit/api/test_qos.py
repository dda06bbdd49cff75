"""Classes of service through the API: who may have which, and when they change."""

from nova_twotier.core.qos import Qos
from nova_twotier.db import queue_policy
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase

#: A member who has the role for urgent jobs.
ALLOWED = "dora:demo:member,twotier_urgent"


class ClassCase(ApiCase):
    def ask_for(self, qos, by="alice:demo"):
        return self.ask("POST", "/v1/jobs", by, json={"size": 1, "qos": qos})

    def patch(self, job, by="alice:demo", **body):
        return self.ask("PATCH", f"/v1/jobs/{job['uuid']}", by, json=body)

    def queue(self, by="alice:demo"):
        return self.answered(200, self.get("/v1/queue", by))


class TestOff(ClassCase):
    def test_all_jobs_are_normal(self):
        self.assertEqual("normal", self.submit()["qos"])
        self.assertEqual("normal", self.submit(qos="normal")["qos"])
        for by in ("alice:demo", "carol:ops:admin"):
            for qos in ("urgent", "scavenger"):
                [detail] = self.refused(403, "request.forbidden", self.ask_for(qos, by))
                self.assertIn("an operator can switch them on with [manager]qos_classes", detail)
            self.assertEqual(["normal"], self.queue(by)["qos_allowed"])

    def test_jobs_keep_their_class_when_it_is_switched_off(self):
        job = self.submit()
        self.change(job, qos="urgent")
        self.assertEqual("after", self.answered(200, self.patch(job, name="after"))["name"])
        self.assertEqual("urgent", self.answered(200, self.patch(job, qos="urgent"))["qos"])
        self.assertEqual("normal", self.answered(200, self.patch(job, qos="normal"))["qos"])
        self.refused(403, "request.forbidden", self.patch(job, qos="urgent"))


class TestOn(ClassCase):
    OPTIONS = "[manager]\nqos_classes = true"

    def test_who_may_have_urgent_jobs(self):
        for by in (ALLOWED, "carol:ops:admin"):
            self.assertEqual("urgent", self.answered(201, self.ask_for("urgent", by))["qos"])
            self.assertEqual([*map(str, Qos)], self.queue(by)["qos_allowed"])
        for by in ("alice:demo", "manager:demo:manager"):
            [detail] = self.refused(403, "request.forbidden", self.ask_for("urgent", by))
            self.assertIn("twotier:jobs:qos:urgent does not let you", detail)
            self.assertEqual(["normal", "scavenger"], self.queue(by)["qos_allowed"])

    def test_mistakes(self):
        [detail] = self.refused(400, "request.invalid", self.ask_for("high"))
        self.assertIn("qos: ", detail)
        self.refused(400, "request.invalid", self.ask_for(None))

    def test_change(self):
        job = self.submit(qos="scavenger")
        self.assertEqual("normal", self.answered(200, self.patch(job, qos="normal"))["qos"])
        self.refused(403, "request.forbidden", self.patch(job, qos="urgent"))
        # An operator makes a tenant's job urgent; its owner may still change the rest of it.
        changed = self.answered(200, self.patch(job, "carol:ops:admin", qos="urgent"))
        self.assertEqual("urgent", changed["qos"])
        self.assertEqual(3, self.answered(200, self.patch(job, priority=3))["priority"])
        told = [event["detail"] for event in self.get("/v1/events").json["events"]]
        self.assertIn("qos: normal, before: scavenger", told)

    def test_a_job_with_slots_keeps_its_class(self):
        job = self.submit()
        self.change(job, state=JobState.RUNNING, tier="fg")
        [detail] = self.refused(409, "job.has_slots", self.patch(job, qos="scavenger"))
        self.assertIn("requeue it", detail)
        self.assertEqual("normal", self.answered(200, self.patch(job, qos="normal"))["qos"])

    def test_position(self):
        normal, scavenger, later = (self.submit(qos=q) for q in ("normal", "scavenger", "normal"))
        urgent = self.answered(201, self.ask_for("urgent", ALLOWED))
        positions = [
            self.get(f"/v1/jobs/{job['uuid']}/explain").json["position"]
            for job in (urgent, normal, later, scavenger)
        ]
        self.assertEqual([1, 2, 3, 4], positions)

    def test_counts(self):
        running, _waiting = self.submit(qos="scavenger"), self.submit(qos="scavenger")
        self.submit("bob:other", qos="scavenger")
        self.change(running, state=JobState.RUNNING, tier="bg")
        self.change(self.submit(), state=JobState.FINISHED)
        self.assertEqual(
            {
                "waiting": {"urgent": 0, "normal": 0, "scavenger": 1},
                "running": {"urgent": 0, "normal": 0, "scavenger": 1},
            },
            self.queue()["jobs_by_qos"],
        )

    def test_lists_and_cancellations_by_class(self):
        scavenger, normal = self.submit(qos="scavenger"), self.submit()
        urgent = self.answered(201, self.ask_for("urgent", ALLOWED))
        for query, expected in (
            ("qos=scavenger", [scavenger]),
            ("qos=urgent,normal", [normal, urgent]),
            ("qos=urgent,normal&user_id=dora", [urgent]),
            ("qos=urgent&state=running", []),
        ):
            found = self.answered(200, self.get(f"/v1/jobs?{query}"))["jobs"]
            self.assertEqual([job["uuid"] for job in expected], [job["uuid"] for job in found])
        [detail] = self.refused(400, "request.invalid", self.get("/v1/jobs?qos=high"))
        self.assertEqual("qos.0: give one of urgent, normal, scavenger", detail)
        self.refused(400, "request.invalid", self.ask("POST", "/v1/jobs/cancel", json={"qos": []}))
        body = {"qos": ["scavenger", "urgent"]}
        answer = self.answered(202, self.ask("POST", "/v1/jobs/cancel", json=body))
        self.assertEqual([1, 3], [job["number"] for job in answer["jobs"]])
        self.assertIsNone(self.store.job(normal["number"]).requested_action)

    def test_a_line_of_waiting_tasks_stands_for_those_of_the_class(self):
        array = self.answered(
            201, self.ask("POST", "/v1/arrays", json={"size": 1, "indexes": "0-2"})
        )
        tasks = self.get(f"/v1/jobs?array={array['number']}").json["jobs"]
        self.answered(200, self.patch(tasks[1], qos="scavenger"))
        for qos, index, waiting in (("normal", 0, "0,2"), ("scavenger", 1, "1")):
            [job] = self.get(f"/v1/jobs?collapsed=true&qos={qos}").json["jobs"]
            self.assertEqual((index, waiting), (job["array"]["index"], job["waiting"]))


class TestOneTier(ClassCase):
    OPTIONS = "[manager]\nqos_classes = true\npolicy = easy"

    def test_scavengers_are_refused(self):
        [detail] = self.refused(409, "qos.no_background", self.ask_for("scavenger"))
        self.assertIn("the policy easy of pool default does not use", detail)
        self.assertEqual(["normal"], self.queue()["qos_allowed"])
        self.refused(409, "qos.no_background", self.patch(self.submit(), qos="scavenger"))

    def test_the_policy_of_the_pools_manager_counts(self):
        self.begin("default")
        with self.store.transaction() as session:
            queue_policy.record_use(session, "default", "amcbf")
        self.assertEqual("scavenger", self.submit(qos="scavenger")["qos"])
        with self.store.transaction() as session:
            queue_policy.record_use(session, "default", "fcfs")
        [detail] = self.refused(409, "qos.no_background", self.ask_for("scavenger"))
        self.assertIn("the policy fcfs of pool default does not use", detail)
        # One that has stopped says nothing about its successor.
        self.last_beat(0.0)
        [detail] = self.refused(409, "qos.no_background", self.ask_for("scavenger"))
        self.assertIn("the policy easy of pool default does not use", detail)

    def test_the_policy_that_was_chosen_at_run_time_counts(self):
        self.answered(
            200, self.ask("PATCH", "/v1/queue", "carol:ops:admin", json={"policy": "amcbf"})
        )
        self.assertEqual("scavenger", self.submit(qos="scavenger")["qos"])
