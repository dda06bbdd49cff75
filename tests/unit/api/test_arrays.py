"""Job arrays: one request, one record and one trust of many jobs."""

from sqlalchemy import func, select

from nova_twotier.core.indexes import parse
from nova_twotier.db import arrays, submissions
from nova_twotier.db.arrays import Tasks
from nova_twotier.db.models import BUS, Array, Delivery, Event, Job
from nova_twotier.db.purge import purge
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase, KeystoneCase

QUOTA = "max_jobs_per_project = 5\nmax_processes_per_project = 8"


class ArrayCase(ApiCase):
    def create(self, by="alice:demo", **body):
        wanted = {"size": 1, "indexes": "0-3", **body}
        return self.answered(201, self.ask("POST", "/v1/arrays", by, json=wanted))

    def refusal(self, status, code, **body):
        answer = self.ask("POST", "/v1/arrays", json={"size": 1, "indexes": "0-3", **body})
        return self.refused(status, code, answer)

    def tasks(self, array):
        answer = self.get(f"/v1/jobs?array={array['number']}")
        return {job["array"]["index"]: job for job in self.answered(200, answer)["jobs"]}

    def show(self, array):
        return self.answered(200, self.get(f"/v1/arrays/{array['number']}"))

    def act(self, array, action, by="alice:demo", **rest):
        body = {"action": action, **rest}
        return self.ask("POST", f"/v1/arrays/{array['number']}/actions", by, json=body)

    def acted(self, array, action, **rest):
        found = self.answered(202, self.act(array, action, **rest))["jobs"]
        return [job["array"]["index"] for job in found]


class TestSubmission(ArrayCase):
    def test_each_task_is_a_job(self):
        self.submit()
        array = self.create(indexes="1,3,10-14:2", most_at_once=2, name="sweep", cpu=0.5)
        self.assertEqual(
            (2, "1,3,10-14:2", 2, "queued", "1,3,10-14:2"),
            tuple(array[it] for it in ("number", "indexes", "most_at_once", "state", "waiting")),
        )
        self.assertEqual(5, array["tasks"]["queued"])
        tasks = self.tasks(array)
        self.assertEqual([1, 3, 10, 12, 14], list(tasks))
        self.assertEqual({"sweep"}, {job["name"] for job in tasks.values()})
        self.assertEqual({2, 3, 4, 5, 6}, {job["number"] for job in tasks.values()})
        whys = {index: job["why"]["code"] for index, job in tasks.items()}
        limit = "array-limit"
        self.assertEqual({1: "undecided", 3: "undecided", 10: limit, 12: limit, 14: limit}, whys)
        for job in tasks.values():
            self.assertEqual(
                ["submitted"], [each.kind for each in self.store.events(job["number"])]
            )

    def test_user_data_is_stored_once(self):
        array = self.create(indexes="0-99", user_data="c2VjcmV0")
        with self.store.reading() as session:
            of_jobs = select(func.count()).where(Job.user_data.is_not(None))
            self.assertEqual(0, session.scalar(of_jobs))
            self.assertEqual("c2VjcmV0", session.get(Array, array["number"]).user_data)
        task = self.get(f"/v1/jobs/{array['number']}_7").json
        self.assertTrue(task["has_user_data"])
        self.assertEqual("c2VjcmV0", self.store.user_data(task["number"]))

    def test_wrong_indexes(self):
        for indexes, said in (
            ("5-1", "indexes: '5-1' ends before it begins"),
            ("a-b", "indexes: 'a-b' is not an index or a range"),
            ("-1", "indexes: '-1' is not an index or a range"),
            ("1,1", "indexes: '1,1' has the index 1 twice"),
            ("0-10000", "indexes: '0-10000' has more than 10,000 indexes"),
        ):
            [detail] = self.refusal(400, "request.invalid", indexes=indexes)
            self.assertTrue(detail.startswith(said), detail)
        self.refusal(400, "request.invalid", most_at_once=0)
        self.assertEqual([], self.store.jobs())

    def test_who_listens_hears_of_each_task(self):
        self.store.submit(1, [0.5], published=True, tasks=Tasks("0-2"))
        with self.store.reading() as session:
            found = session.execute(select(Delivery.route, Event.job).join(Event)).all()
        self.assertEqual([(BUS, 1), (BUS, 2), (BUS, 3)], sorted(map(tuple, found)))

    def test_a_task_by_its_name(self):
        array = self.create(indexes="0-98:2")
        task = self.answered(200, self.get(f"/v1/jobs/{array['number']}_4"))
        self.assertEqual({"number": array["number"], "index": 4}, task["array"])
        for name in ("1_3", "1_100", "2_0", f"1_{2**31}"):
            self.refused(404, "job.not_found", self.get(f"/v1/jobs/{name}"))

    def test_a_list_with_those_that_wait_in_one_line(self):
        self.submit(name="single")
        array = self.create(indexes="0-9", most_at_once=3)
        for index, state in ((0, "running"), (1, "finished"), (2, "queued")):
            saved = index == 2
            self.change(self.tasks(array)[index], state=state, saved=saved)
        jobs = self.get("/v1/jobs?collapsed=true&sort_dir=desc").json["jobs"]
        shown = [(job["array"] and job["array"]["index"], job["waiting"]) for job in jobs]
        self.assertEqual([(3, "3-9%3"), (2, None), (1, None), (0, None), (None, None)], shown)
        for index in (4, 6):
            self.change(self.tasks(array)[index], held=True)
        queued = self.get("/v1/jobs?collapsed=true&state=queued").json["jobs"]
        shown = [(job["held"], job["waiting"]) for job in queued if job["waiting"]]
        self.assertEqual([(False, "3-7:2,8-9%3"), (True, "4,6")], shown)
        running = self.get("/v1/jobs?collapsed=true&state=running").json["jobs"]
        self.assertEqual([0], [job["array"]["index"] for job in running])


class TestQuotas(ArrayCase):
    OPTIONS = QUOTA

    def test_tasks_count(self):
        [detail] = self.refusal(403, "quota.exceeded", indexes="0-5")
        self.assertEqual(
            "your project may have 5 jobs at most, and has 0 that are not over; this array has 6 "
            "tasks",
            detail,
        )
        [detail] = self.refusal(403, "quota.exceeded", size=3, indexes="0-2")
        self.assertEqual(
            "the jobs of your project may have 8 processes at most; those that are not over have "
            "0, and the tasks of this array have 9",
            detail,
        )
        self.create(size=2)
        self.assertEqual([], self.store.events(9))
        self.refused(403, "quota.exceeded", self.ask("POST", "/v1/jobs", json={"size": 2}))

    def test_those_that_are_being_submitted_count(self):
        submissions.begin(self.store, "demo", 4, lambda *_counts: None, tasks=4)
        self.refusal(403, "quota.exceeded", indexes="0-1")


class TestActions(ArrayCase):
    def test_cancel_all_and_some(self):
        array = self.create(indexes="0-9")
        self.assertEqual([2, 4], self.acted(array, "cancel", indexes="2-4:2"))
        self.change(self.tasks(array)[0], state=JobState.FINISHED)
        self.assertEqual(list(range(1, 10)), self.acted(array, "cancel"))
        asked = {index: job["asked_to"] for index, job in self.tasks(array).items()}
        self.assertEqual({0: None} | dict.fromkeys(range(1, 10), "cancel"), asked)
        events = self.get(f"/v1/events?array={array['number']}").json["events"]
        self.assertEqual(9, sum(each["kind"] == "asked to cancel" for each in events))

    def test_events_of_an_array_that_the_caller_may_not_see(self):
        theirs, job = self.create("bob:other"), self.submit()
        for number in (theirs["number"], job["number"], 999):
            self.refused(404, "array.not_found", self.get(f"/v1/events?array={number}"))

    def test_hold_and_release(self):
        array = self.create()
        self.assertEqual([0, 1], self.acted(array, "hold", indexes="0-1"))
        self.assertEqual([0, 1, 2, 3], self.acted(array, "release"))
        self.assertEqual({False}, {job["held"] for job in self.tasks(array).values()})

    def test_requeue_only_what_has_started(self):
        array = self.create()
        answer = self.act(array, "requeue")
        self.refused(409, "array.no_such_tasks", answer)
        self.change(self.tasks(array)[1], state=JobState.RUNNING)
        self.assertEqual([1], self.acted(array, "requeue"))

    def test_complete_only_what_has_started(self):
        array = self.create()
        [detail] = self.refused(409, "array.no_such_tasks", self.act(array, "complete"))
        self.assertIn("have not started: cancel them instead", detail)
        self.change(self.tasks(array)[1], state=JobState.RUNNING)
        self.change(self.tasks(array)[2], saved=True)
        self.assertEqual([1, 2], self.acted(array, "complete"))

    def test_tasks_that_there_are_not(self):
        array = self.create()
        [detail] = self.refused(400, "request.invalid", self.act(array, "cancel", indexes="2-5"))
        self.assertEqual(f"indexes: array {array['number']} has no tasks 4-5", detail)

    def test_nobody_elses(self):
        array = self.create()
        for by, status, code in (
            ("bob:other", 404, "array.not_found"),
            ("eve:demo:reader", 403, "request.forbidden"),
        ):
            self.refused(status, code, self.act(array, "cancel", by))
        self.refused(404, "array.not_found", self.get("/v1/arrays/1", "bob:other"))
        self.refused(404, "array.not_found", self.get("/v1/arrays/x"))
        self.assertEqual(array["uuid"], self.get(f"/v1/arrays/{array['uuid']}").json["uuid"])

    def test_change(self):
        array = self.create(name="old")
        self.change(self.tasks(array)[0], state=JobState.RUNNING)
        body = {"name": "new", "walltime": 60, "most_at_once": 2}
        path = f"/v1/arrays/{array['number']}"
        changed = self.answered(200, self.ask("PATCH", path, json=body))
        self.assertEqual(("new", 2), (changed["name"], changed["most_at_once"]))
        tasks = self.tasks(array)
        self.assertEqual(["old", "new", "new", "new"], [job["name"] for job in tasks.values()])
        self.assertEqual([None, 60, 60, 60], [job["walltime"] for job in tasks.values()])

    def test_states(self):
        array = self.create(indexes="0-1")
        tasks = self.tasks(array)
        for states, expected in (
            (("running", "queued"), "running"),
            (("finished", "queued"), "running"),
            (("finished", "finished"), "finished"),
            (("finished", "cancelled"), "cancelled"),
            (("failed", "cancelled"), "failed"),
        ):
            for job, state in zip(tasks.values(), states, strict=True):
                self.change(job, state=state)
            self.assertEqual(expected, self.show(array)["state"])
        path = f"/v1/arrays/{array['number']}"
        self.refused(409, "job.over", self.ask("PATCH", path, json={"name": "x"}))


class TestDependencies(ArrayCase):
    def test_on_an_array(self):
        array = self.create()
        asked = [{"condition": "after-ok", "array": array["number"]}]
        job = self.submit(dependencies=asked)
        expected = {"condition": "after-ok", "number": 1, "array": True, "met_at": None}
        expected |= {"task": None}
        self.assertEqual([expected], job["dependencies"])
        self.change(self.tasks(array)[2], state=JobState.FAILED)
        answer = self.ask("POST", "/v1/jobs", json={"size": 1, "dependencies": asked})
        [detail] = self.refused(409, "dependency.failed", answer)
        self.assertIn("job 1_2 is failed", detail)

    def test_on_a_task(self):
        self.submit()
        self.create(indexes="0-3")
        single = {"condition": "after", "job": 1}
        task = {"condition": "after-ok", "job": "2_3"}
        job = self.submit(dependencies=[single, task])
        expected = [
            {"condition": "after", "number": 1, "task": None},
            {"condition": "after-ok", "number": 5, "task": {"number": 2, "index": 3}},
        ]
        expected = [{**each, "array": False, "met_at": None} for each in expected]
        path = f"/v1/jobs/{job['uuid']}"
        for answer in (job, self.get(path).json, self.get(f"{path}/explain").json):
            self.assertEqual(expected, answer["dependencies"])

    def test_mistakes(self):
        self.create("bob:other")
        for dependency, said in (
            ({"array": 1}, "dependencies: there is no array 1 in your project"),
            ({"array": 7}, "dependencies: there is no array 7 in your project"),
        ):
            asked = [{"condition": "after", **dependency}]
            answer = self.ask("POST", "/v1/jobs", json={"size": 1, "dependencies": asked})
            self.assertEqual([said], self.refused(400, "request.invalid", answer))
        both = [{"condition": "after", "array": 1, "job": 1}]
        answer = self.ask("POST", "/v1/jobs", json={"size": 1, "dependencies": both})
        self.refused(400, "request.invalid", answer)


class TestPurge(ArrayCase):
    def test_all_tasks_go_together(self):
        array, later = self.create(indexes="0-2"), self.submit()
        tasks = self.tasks(array)
        for index, at in ((0, 10.0), (1, 20.0), (2, 90.0)):
            self.change(tasks[index], state=JobState.FINISHED, finished_at=at)
        self.assertEqual(0, purge(self.store, 50.0, pause=lambda _seconds: None).jobs)
        self.assertEqual(3, self.show(array)["tasks"]["finished"])
        self.assertEqual(3, purge(self.store, 95.0, dry_run=True).jobs)
        self.assertEqual(3, purge(self.store, 95.0, pause=lambda _seconds: None).jobs)
        self.refused(404, "array.not_found", self.get(f"/v1/arrays/{array['number']}"))
        self.assertEqual(200, self.get(f"/v1/jobs/{later['uuid']}").status_code)

    def test_one_with_a_trust_stays_until_that_is_deleted(self):
        array, _later = self.create(indexes="0-1"), self.submit()
        with self.store.transaction() as session:
            session.get(Array, array["number"]).trust_id = "trust-1"
        for job in self.tasks(array).values():
            self.change(job, state=JobState.FINISHED, finished_at=10.0, trust_id="trust-1")
        self.assertEqual(0, purge(self.store, 95.0, pause=lambda _seconds: None).jobs)
        with self.store.transaction() as session:
            arrays.close(session, [array["number"]], 20.0)
        self.assertEqual(2, purge(self.store, 95.0, pause=lambda _seconds: None).jobs)

    def test_more_end_at_once_than_one_statement_can_name(self):
        array = self.create(indexes="0-1")
        with self.store.transaction() as session:
            arrays.close(session, range(300_000), 20.0)
            self.assertEqual(20.0, session.get(Array, array["number"]).finished_at)

    def test_what_others_wait_for_stays(self):
        array = self.create(indexes="0-1")
        self.submit(dependencies=[{"condition": "after-ok", "array": array["number"]}])
        for job in self.tasks(array).values():
            self.change(job, state=JobState.FINISHED, finished_at=10.0)
        self.assertEqual(0, purge(self.store, 95.0, pause=lambda _seconds: None).jobs)


class TestTrust(KeystoneCase, ArrayCase):
    def setUp(self):
        super().setUp()
        self.token = self.token_for("member", "reader", project_id="demo")

    def test_one_for_all_tasks(self):
        array = self.create(self.token, indexes="0-99")
        self.assertEqual(1, len(self.trusts.made))
        self.assertEqual({"trust-1": array["uuid"]}, self.trusts.there)
        trusts = {job.trust_id for job in self.store.jobs()}
        self.assertEqual({"trust-1"}, trusts)

    def test_a_sweep_leaves_that_of_open_tasks(self):
        array = self.create(self.token, indexes="0-1")
        first, second = self.store.jobs()
        self.change({"uuid": first.uuid}, state=JobState.FINISHED)
        submissions.sweep(self.store, self.trusts)
        self.assertEqual([], self.trusts.deleted)
        self.change({"uuid": second.uuid}, state=JobState.FAILED)
        submissions.sweep(self.store, self.trusts)
        self.assertEqual(["trust-1"], self.trusts.deleted)
        self.assertEqual([0, 1], parse(array["indexes"]))

    def test_no_array_no_trust(self):
        body = {"size": 1, "indexes": "0-1"}
        self.store.set_queue_mode("default", "draining")
        answer = self.ask("POST", "/v1/arrays", self.token, json=body)
        self.refused(409, "queue.draining", answer)
        self.assertEqual(["trust-1"], self.trusts.deleted)
        with self.store.reading() as session:
            self.assertEqual(0, session.scalar(select(func.count()).select_from(Array)))
