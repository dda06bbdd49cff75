"""Changes of jobs through the API, jobs that begin later, and what is refused."""

import time
from datetime import UTC, datetime, timedelta

from nova_twotier.core.reasons import failures, waits
from nova_twotier.db.dependencies import Condition
from nova_twotier.db.states import JobState
from tests.unit.api.case import OTHER, ApiCase


def in_(**delay):
    return (datetime.now(UTC) + timedelta(**delay)).isoformat()


class ChangeCase(ApiCase):
    def path(self, job, suffix=""):
        return f"/v1/jobs/{job['uuid']}{suffix}"

    def patch(self, job, by="alice:demo", **body):
        return self.ask("PATCH", self.path(job), by, json=body)

    def wrong(self, code="request.invalid", status=400, **body):
        return self.refused(status, code, self.ask("POST", "/v1/jobs", json={"size": 1, **body}))


class TestChange(ChangeCase):
    def test_each_attribute(self):
        job = self.submit(name="before", estimate=60, walltime=90)
        new = {"name": "after", "estimate": None, "walltime": 120.5, "priority": 7}
        for name, value in new.items():
            changed = self.answered(200, self.patch(job, **{name: value}))
            self.assertEqual({**job, name: value}, {**changed, "reason": job["reason"]})
            job = changed
        events = self.get("/v1/events?sort_dir=desc&limit=1").json["events"]
        self.assertEqual(
            ("changed", "priority: 7, before: 0"), (events[0]["kind"], events[0]["detail"])
        )

    def test_mistakes(self):
        job = self.submit()
        for body, words in (
            ({}, "What is to change"),
            ({"size": 2}, "'size' is not known; there are name, estimate, walltime, priority"),
            ({"name": None}, "name: give a text"),
            ({"walltime": 0}, "walltime: give more than 0"),
            ({"priority": 1001}, "priority: give at most 1000"),
            ({"priority": 0.5}, "priority: give a whole number"),
            ({"name": "a\u2028"}, "give one without the character U+2028"),
        ):
            [detail] = self.refused(400, "request.invalid", self.patch(job, **body))
            self.assertIn(words, detail)

    def test_a_job_that_has_run_that_long_already(self):
        job = self.submit(walltime=90)
        self.change(job, run_before=60.0, saved=True)
        [detail] = self.refused(400, "request.invalid", self.patch(job, walltime=60))
        self.assertIn("the job has run for 60 s; give more, or cancel it", detail)

    def test_only_operators_give_a_running_job_more_time(self):
        job = self.submit(walltime=3600)
        self.change(job, state=JobState.RUNNING, tier="fg", run_since=time.time())
        for by in ("alice:demo", "manager:demo:manager"):
            [detail] = self.refused(403, "request.forbidden", self.patch(job, by, walltime=7200))
            self.assertIn("twotier:jobs:set:extend", detail)
            self.assertIn("3600 s", detail)
        self.assertEqual(1800, self.answered(200, self.patch(job, walltime=1800))["walltime"])
        changed = self.answered(200, self.patch(job, "carol:ops:admin", walltime=7200))
        self.assertEqual(7200, changed["walltime"])

    def test_nothing_changes_in_a_job_that_is_over(self):
        job = self.submit()
        self.change(job, state=JobState.FAILED)
        self.refused(409, "job.over", self.patch(job, name="other"))

    def test_nobody_elses(self):
        job = self.submit("bob:other")
        self.refused(404, "job.not_found", self.patch(job, priority=1))


class TestRequeue(ChangeCase):
    def requeue(self, job):
        return self.ask("POST", self.path(job, "/requeue"))

    def test_a_running_job(self):
        job = self.submit()
        self.change(job, state=JobState.RUNNING, tier="fg")
        self.assertEqual("requeue", self.answered(202, self.requeue(job))["asked_to"])
        explained = self.get(self.path(job, "/explain")).json["reason"]
        asked = "a user asked to requeue it"
        self.assertEqual(f"runs in the foreground; {asked}", explained)

    def test_refusals(self):
        job = self.submit()
        self.refused(409, "job.not_started", self.requeue(job))
        self.change(job, state=JobState.ENDING)
        self.refused(409, "job.ending", self.requeue(job))


class TestBegin(ChangeCase):
    def test_a_time(self):
        begin = in_(hours=2)
        job = self.submit(begin_at=begin)
        kept = self.store.find(job["uuid"])
        self.assertEqual(datetime.fromisoformat(begin).timestamp(), kept.begin_at)
        self.assertEqual(begin[:23], job["begin_at"][:23])
        explained = self.get(self.path(job, "/explain")).json
        self.assertEqual((job["begin_at"], None), (explained["begin_at"], explained["position"]))
        self.assertEqual(1, self.get(self.path(self.submit(), "/explain")).json["position"])

    def test_null_is_none(self):
        job = self.submit(begin_at=None)
        self.assertIsNone(job["begin_at"])
        self.assertFalse(self.store.find(job["uuid"]).gated)

    def test_mistakes(self):
        for begin, words in (
            ("tomorrow", "begin_at: give a time with its zone"),
            ("2026-01-31T12:00:00", "begin_at: give a time with its zone"),
            ("9999-12-31T23:59:59-12:00", "begin_at: give a time within the next 30 years"),
            ("0001-01-01T00:00:00+12:00", "begin_at: give a time within the next 30 years"),
        ):
            [detail] = self.wrong(begin_at=begin)
            self.assertIn(words, detail)


class TestDependencies(ChangeCase):
    def after(self, *jobs, condition="after-ok", by="alice:demo"):
        given = [{"condition": condition, "job": job} for job in jobs]
        return self.ask("POST", "/v1/jobs", by, json={"size": 1, "dependencies": given})

    def test_by_number_uuid_and_its_beginning(self):
        first = self.submit()
        self.change(first, uuid=OTHER)
        for name in (first["number"], str(first["number"]), OTHER, OTHER[:9]):
            job = self.answered(201, self.after(name))
            expected = {"condition": "after-ok", "number": first["number"], "met_at": None}
            expected |= {"array": False, "task": None}
            self.assertEqual([expected], job["dependencies"])
            self.assertEqual([expected], self.get(self.path(job)).json["dependencies"])
            self.assertEqual([expected], self.get(self.path(job, "/explain")).json["dependencies"])
        self.assertNotIn("dependencies", self.get("/v1/jobs").json["jobs"][0])

    def test_each_counts_once(self):
        first = self.submit()
        job = self.answered(201, self.after(first["number"], first["uuid"]))
        self.assertEqual(1, len(job["dependencies"]))

    def test_all_conditions(self):
        first = self.submit()
        for condition in Condition:
            job = self.answered(201, self.after(first["uuid"], condition=str(condition)))
            self.assertEqual(condition, job["dependencies"][0]["condition"])

    def test_only_jobs_that_there_are_so_there_are_no_cycles(self):
        """Neither on the job itself, whose number is the next one, nor on one to come."""
        last = self.submit()["number"]
        for number in (last + 1, last + 2):
            [detail] = self.refused(400, "request.invalid", self.after(number))
            self.assertEqual(f"dependencies: there is no job {number} in your project", detail)
        self.assertEqual(last, self.store.jobs()[-1].number)
        job = self.submit()
        answer = self.ask("PATCH", self.path(job), json={"dependencies": []})
        self.assertIn("is not known", self.refused(400, "request.invalid", answer)[0])

    def test_only_of_the_same_project(self):
        theirs = self.submit("bob:other", name="secret")
        [unseen] = self.refused(400, "request.invalid", self.after(theirs["uuid"]))
        [absent] = self.refused(400, "request.invalid", self.after(OTHER))
        self.assertEqual(absent.replace(OTHER, theirs["uuid"]), unseen)
        answer = self.after(theirs["uuid"], by="carol:ops:admin")
        [detail] = self.refused(400, "request.invalid", answer)
        self.assertEqual("dependencies: job 1 (secret) is of another project", detail)

    def test_what_can_never_be_is_refused(self):
        for state in (JobState.FAILED, JobState.CANCELLED):
            first = self.submit(name="solver")
            self.change(first, state=state)
            [detail] = self.refused(409, "dependency.failed", self.after(first["uuid"]))
            self.assertIn(f"job {first['number']} (solver) is {state}", detail)
            self.answered(201, self.after(first["uuid"], condition="after-any"))

    def test_mistakes(self):
        for given, words in (
            ({"condition": "afterok", "job": "1"}, "give one of after, after-ok, after-any"),
            ({"condition": "after"}, "give job or array"),
            ({"condition": "after", "job": ""}, "give a text that is not empty"),
        ):
            [detail] = self.wrong(dependencies=[given])
            self.assertIn(words, detail)
        many = [{"condition": "after", "job": "1"}] * 101
        self.assertEqual(["dependencies: give at most 100"], self.wrong(dependencies=many))

    def test_reasons_name_jobs_only_to_those_who_may_see_them(self):
        first = self.submit(name="solver")
        job = self.answered(201, self.after(first["uuid"]))
        reason = waits.DEPENDENCY(first["number"], wanted="finish")
        for values, text in (
            ({"reason": reason}, "waits for job 1 (solver) to finish"),
            (
                {
                    "state": JobState.CANCELLED,
                    "reason": failures.DEPENDENCY(first["number"], state="failed"),
                },
                "was to start only after the success of job 1 (solver), which is failed",
            ),
        ):
            self.change(job, **values)
            self.assertEqual(text, self.get(self.path(job)).json["reason"])
        self.change(first, project_id="other")
        self.assertIn("a job of another project", self.get(self.path(job)).json["reason"])
