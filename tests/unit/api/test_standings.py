"""The jobs of the queues in any order, with their positions."""

from nova_twotier.core.reasons import waits
from nova_twotier.db.arrays import Tasks
from nova_twotier.db.states import JobState
from tests.unit.api.test_predictions import PredictedCase

OPERATOR = "carol:ops:admin"
#: Every one of `StandingsCase`.
NAMES = ["secret", "first", "mine"]


class StandingsCase(PredictedCase):
    """`secret` of the project other came first, then `first` and `mine` (8 processes) of demo."""

    def listed(self, query="", by=OPERATOR):
        query = query if by != OPERATOR else f"all_projects=true&{query}"
        return self.answered(200, self.get(f"/v1/queue/jobs?{query}", by))

    def names(self, query="", by=OPERATOR):
        return [job["name"] for job in self.listed(query, by)["jobs"]]

    def run_now(self, job, tier="fg", **values):
        self.change(job, state=JobState.RUNNING, tier=tier, started_at=self.now, **values)


class TestPositions(StandingsCase):
    def test_as_each_job_is_explained(self):
        self.change(self.submit(name="late"), qos="scavenger")
        self.submit(name="held")
        held = self.get("/v1/jobs?name=held").json["jobs"][0]
        self.ask("POST", f"/v1/jobs/{held['uuid']}/hold")
        self.change(self.first, queue_offset=1e6)
        self.run_now(self.submit(name="runs"))
        jobs = self.listed()["jobs"]
        self.assertEqual(["secret", "mine", "first", "late", "held", "runs"], self.names())
        self.assertEqual([1, 2, 3, 4, None, None], [job["position"] for job in jobs])
        for job in jobs:
            explained = self.get(f"/v1/jobs/{job['uuid']}/explain", OPERATOR).json
            self.assertEqual(explained["position"], job["position"], job["name"])

    def test_among_the_jobs_of_others(self):
        """A tenant learns the position in the whole queue, not that in the list."""
        [first, mine] = self.listed(by="alice:demo")["jobs"]
        self.assertEqual([2, 3], [first["position"], mine["position"]])

    def test_each_pool_has_a_queue(self):
        self.change(self.first, pool="gpu")
        positions = {job["name"]: job["position"] for job in self.listed()["jobs"]}
        self.assertEqual({"secret": 1, "first": 1, "mine": 2}, positions)
        self.assertEqual(["first"], self.names("pool=gpu"))

    def test_what_an_expected_start_depends_on(self):
        self.run_now(self.theirs)
        self.predict(self.job, starts_after=self.theirs["number"])
        self.predict_pool()
        [mine] = [job for job in self.listed()["jobs"] if job["name"] == "mine"]
        self.assertEqual("starts-after", mine["unblock"]["code"])
        self.assertEqual(self.theirs["uuid"], mine["unblock"]["by"])
        self.assertIsNotNone(mine["predicted_start"])
        answer = self.get("/v1/queue/jobs", "alice:demo")
        self.assertNotIn("secret", answer.text)
        self.assertNotIn(self.theirs["uuid"], answer.text)


class TestOrder(StandingsCase):
    def test_by_everything_in_both_directions(self):
        self.change(self.theirs, size=2, evictions=1, submitted_at=self.now - 9.0)
        self.change(self.first, size=4, submitted_at=self.now - 5.0)
        self.change(self.job, size=3, evictions=2, submitted_at=self.now - 1.0)
        self.predict(self.first, start=100.0)
        self.predict(self.job, start=50.0)
        self.change(self.theirs, reason=waits.PAUSED())
        self.change(self.first, reason=waits.OUTAGE())
        for key, names in (
            ("number", NAMES),
            ("size", ["secret", "mine", "first"]),
            ("evictions", ["first", "secret", "mine"]),
            ("age", ["mine", "first", "secret"]),
            ("reason", ["first", "secret", "mine"]),
        ):
            self.assertEqual(names, self.names(f"sort_key={key}"), key)
            self.assertEqual(names[::-1], self.names(f"sort_key={key}&sort_dir=desc"), key)
        # What has none is the last in both.
        self.assertEqual(["mine", "first", "secret"], self.names("sort_key=start"))
        self.assertEqual(["first", "mine", "secret"], self.names("sort_key=start&sort_dir=desc"))
        self.run_now(self.job, tier="bg")
        self.run_now(self.first)
        self.assertEqual(["mine", "first", "secret"], self.names("sort_key=tier"))

    def test_own_jobs_first(self):
        for by, names in (
            ("carol:demo:admin", ["first", "mine", "secret"]),
            ("carol:other:admin", NAMES),
        ):
            query = "all_projects=true&own_first=true"
            self.assertEqual(names, self.names(query, by), by)

    def test_a_part_of_them(self):
        for offset in range(4):
            answer = self.listed(f"offset={offset}&limit=2")
            self.assertEqual(NAMES[offset : offset + 2], [job["name"] for job in answer["jobs"]])
            self.assertEqual(3, answer["total"])


class TestSelection(StandingsCase):
    def test_phases_and_their_counts(self):
        self.run_now(self.first)
        self.change(self.job, state=JobState.FINISHED)
        for query, names, total in (
            ("", ["secret", "first"], 2),
            ("phase=waiting", ["secret"], 1),
            ("phase=started", ["first"], 1),
        ):
            answer = self.listed(query)
            self.assertEqual(names, [job["name"] for job in answer["jobs"]])
            self.assertEqual(total, answer["total"])
            self.assertEqual({"waiting": 1, "started": 1}, answer["counts"])

    def test_a_project(self):
        answer = self.listed("project_id=demo")
        self.assertEqual(["first", "mine"], [job["name"] for job in answer["jobs"]])
        self.assertEqual((2, ["demo", "other"]), (answer["total"], answer["projects"]))
        self.assertEqual(0, self.listed("project_id=none")["total"])

    def test_another_project_than_the_tokens_for_those_who_see_all(self):
        """As in the lists of other services, where administrators name the project."""
        for by in (OPERATOR, "sam:ops:service", "carol:other:admin"):
            answer = self.answered(200, self.get("/v1/queue/jobs?project_id=demo", by))
            self.assertEqual(["first", "mine"], [job["name"] for job in answer["jobs"]], by)
            self.assertEqual((2, 2), (answer["total"], answer["counts"]["waiting"]), by)
        # Their own project is no other one.
        answer = self.answered(200, self.get("/v1/queue/jobs?project_id=ops", OPERATOR))
        self.assertEqual((0, []), (answer["total"], answer["projects"]))

    def test_tenants_see_their_own_project_alone(self):
        for query in ("", "project_id=other", "search=secret", "own_first=true"):
            answer = self.listed(query, "alice:demo")
            self.assertNotIn("secret", [job["name"] for job in answer["jobs"]], query)
            self.assertNotIn("other", answer["projects"], query)
        self.assertEqual(0, self.listed("project_id=other", "alice:demo")["total"])
        refused = self.get("/v1/queue/jobs?all_projects=true", "alice:demo")
        self.assertEqual(403, refused.status_code)

    def test_who_may_not_list_jobs_may_not_list_them_here(self):
        (self.directory / "policy.yaml").write_text('"twotier:jobs:list": "role:manager"\n')
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {self.directory}/policy.yaml"
        self.application = self.make()[1]
        for by, status in (("alice:demo", 403), ("alice:demo:manager", 200)):
            self.assertEqual(status, self.get("/v1/queue/jobs", by).status_code, by)

    def test_a_search(self):
        self.change(self.first, reason=waits.OUTAGE())
        self.change(self.job, name="100%_done")
        self.submit(name="Ärger")
        for sought, names in (
            ("SECR", ["secret"]),
            (self.theirs["uuid"][:9], ["secret"]),
            ("bob", ["secret"]),
            ("other", ["secret"]),
            ("outage", ["first"]),
            ("%25_", ["100%_done"]),
            ("Ärg", ["Ärger"]),
            ("äRGER", ["Ärger"]),
            ("xyzzy", []),
        ):
            self.assertEqual(names, self.names(f"search={sought}"), sought)
            self.assertEqual(len(names), self.listed(f"search={sought}")["total"], sought)
        # Uuids may have it, too.
        self.assertIn("secret", self.names(f"search={self.theirs['number']}"))

    def test_the_waiting_tasks_of_an_array_are_one_line(self):
        array = self.store.submit(1, [], project_id="demo", user_id="alice", tasks=Tasks("0-99", 3))
        rows = self.listed("search=demo&sort_key=number")["jobs"]
        [task] = [row for row in rows if row["array"]]
        self.assertEqual(array.number, task["array"]["number"])
        self.assertEqual("0-99%3", task["waiting"])
        self.assertEqual({"waiting": 4, "started": 0}, self.listed()["counts"])

    def test_mistakes(self):
        for query, words in (
            ("sort_key=colour", "sort_key: give one of position"),
            ("phase=over", "phase: give one of"),
            ("offset=-1", "offset: give at least 0"),
        ):
            [detail] = self.refused(400, "request.invalid", self.get(f"/v1/queue/jobs?{query}"))
            self.assertIn(words, detail)
