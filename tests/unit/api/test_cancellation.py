"""Many jobs cancelled in one request: which, by whom, and what is said of the others."""

from nova_twotier.db import cancellation
from nova_twotier.db.states import JobState
from tests.unit.api.case import OTHER, ApiCase


class CancelCase(ApiCase):
    def cancel(self, by="alice:demo", query="", **body):
        return self.ask("POST", f"/v1/jobs/cancel{query}", by, json=body)

    def cancelled(self, by="alice:demo", query="", **body):
        """Names of the jobs, and details of the refusals by uuid."""
        answer = self.answered(202, self.cancel(by, query, **body))
        names = [job["name"] for job in answer["jobs"]]
        for job in answer["jobs"]:
            self.assertEqual("cancel", self.store.find(job["uuid"]).requested_action)
        return names, {each["uuid"]: each["detail"] for each in answer["refused"]}

    def asked(self):
        return [job.name for job in self.store.jobs() if job.requested_action == "cancel"]


class TestSelection(CancelCase):
    def setUp(self):
        super().setUp()
        self.jobs = {
            name: self.submit(by, name=name)
            for by, name in (
                ("alice:demo", "solver-1"),
                ("bob:demo", "solver-2"),
                ("alice:demo", "over"),
                ("alice:demo", "runs"),
                ("eve:other", "theirs"),
            )
        }
        self.change(self.jobs["over"], state=JobState.FINISHED)
        self.change(self.jobs["runs"], state=JobState.RUNNING)

    def test_all(self):
        self.assertEqual((["solver-1", "solver-2", "runs"], {}), self.cancelled(all=True))
        self.assertEqual(["solver-1", "solver-2", "runs"], self.asked())

    def test_what_matches(self):
        for body, expected in (
            ({"state": ["queued"]}, ["solver-1", "solver-2"]),
            ({"state": ["queued"], "user_id": "bob"}, ["solver-2"]),
            ({"name_pattern": "*s*"}, ["solver-1", "solver-2", "runs"]),
            ({"name": "runs"}, ["runs"]),
            ({"name": "over"}, []),
            ({"pool": "gpu"}, []),
        ):
            self.assertEqual((expected, {}), self.cancelled(**body), body)

    def test_named_ones_that_do_not_match_are_not_absent(self):
        uuids = [self.jobs[name]["uuid"] for name in ("solver-1", "runs", "theirs")]
        names, refused = self.cancelled(uuids=uuids, state=["queued"])
        self.assertEqual((["solver-1"], {uuids[2]}), (names, refused.keys()))

    def test_an_empty_name(self):
        self.submit()
        for field in ("name", "name_pattern", "user_id", "pool"):
            [detail] = self.refused(400, "request.invalid", self.cancel(**{field: ""}))
            self.assertTrue(detail.startswith(f"{field}: "), detail)
        self.assertEqual([], self.asked())

    def test_of_all_projects(self):
        everywhere = "?all_projects=true"
        self.refused(403, "request.forbidden", self.cancel(query=everywhere, all=True))
        self.assertEqual([], self.asked())
        self.assertEqual((["theirs"], {}), self.cancelled("root:other:admin", all=True))
        names, _refused = self.cancelled("root:other:admin", everywhere, all=True)
        self.assertEqual(["solver-1", "solver-2", "runs", "theirs"], names)

    def test_named_jobs(self):
        uuids = [self.jobs[name]["uuid"] for name in ("over", "runs", "theirs")]
        self.assertEqual(
            (
                ["runs"],
                {
                    uuids[0]: "the job is finished: nothing can be asked of it",
                    uuids[2]: "there is no such job in your project",
                    OTHER: "there is no such job in your project",
                },
            ),
            self.cancelled(uuids=[*uuids, OTHER.upper()]),
        )
        self.assertEqual(["runs"], self.asked())
        names, _refused = self.cancelled("root:other:admin", uuids=uuids)
        self.assertEqual(["runs", "theirs"], names)

    def test_an_event_tells_of_it_once(self):
        for _twice in range(2):
            self.assertEqual((["runs"], {}), self.cancelled(name="runs"))
        events = self.get(f"/v1/events?job={self.jobs['runs']['uuid']}").json["events"]
        self.assertEqual(["submitted", "asked to cancel"], [event["kind"] for event in events])

    def test_the_manager_sees_the_change(self):
        before = self.store.find(self.jobs["runs"]["uuid"]).revision
        self.cancelled(name="runs")
        self.assertEqual(before + 1, self.store.find(self.jobs["runs"]["uuid"]).revision)

    def test_it_must_say_which(self):
        for body, expected in (
            ({}, "Say which jobs to cancel"),
            ({"all": False}, "all: give true"),
            ({"uuids": []}, "uuids: give at least 1"),
            ({"uuids": [OTHER] * 1001}, "uuids: give at most 1000"),
            ({"state": ["finished"]}, "state.0: give one of queued, "),
        ):
            [detail] = self.refused(400, "request.invalid", self.cancel(**body))
            self.assertTrue(detail.startswith(expected), detail)
        self.assertEqual([], self.asked())

    def test_more_than_one_batch(self):
        numbers = [self.store.submit(1, [1.0], project_id="many").number for _ in range(3)]
        self.patch(cancellation, "BATCH", 2)
        self.assertEqual(set(numbers), cancellation.request(self.store, numbers))
        self.assertEqual(3, len(self.asked()))


class TestPolicy(CancelCase):
    def make(self):
        (self.directory / "policy.yaml").write_text(
            '"twotier:jobs:cancel": "user_id:%(user_id)s"\n'
        )
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {self.directory}/policy.yaml"
        return super().make()

    def test_each_job_is_checked(self):
        self.submit(name="mine")
        theirs = self.submit("bob:demo", name="theirs")
        names, refused = self.cancelled(all=True)
        self.assertEqual((["mine"], [theirs["uuid"]]), (names, list(refused)))
        self.assertIn(
            "the policy rule twotier:jobs:cancel does not let you", refused[theirs["uuid"]]
        )
        self.assertEqual(["mine"], self.asked())
