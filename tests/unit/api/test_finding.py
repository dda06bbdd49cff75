"""How a request names a job: by number, by uuid, or by the beginning of its uuid."""

from nova_twotier.db.states import JobState
from tests.unit.api.case import OTHER, ApiCase

#: The first two begin alike.
FIRST, SECOND, THIRD = (
    f"{beginning}-5a3e-4d43-8f5c-5b1f3ab1b2c3" for beginning in ("beef0001", "beef0002", "0a1b2c3d")
)
DIGITS = "12345678-5a3e-4d43-8f5c-5b1f3ab1b2c3"
#: All that is asked of one job.
REQUESTS = (
    ("GET", ""),
    ("GET", "/explain"),
    ("POST", "/hold"),
    ("POST", "/release"),
    ("POST", "/requeue"),
    ("POST", "/complete"),
    ("DELETE", ""),
)


class FindingCase(ApiCase):
    def submitted(self, uuid, by="alice:demo", **body):
        """A job with this uuid."""
        job = self.submit(by, **body)
        self.change(job, uuid=uuid)
        return {**job, "uuid": uuid}

    def found(self, name, by="alice:demo"):
        """The uuid of the job that requests find."""
        paths = (f"/v1/jobs/{name}", f"/v1/jobs/{name}/explain")
        [uuid] = {self.answered(200, self.get(path, by))["uuid"] for path in paths}
        return uuid

    def details(self, status, code, name, by="alice:demo"):
        """What every request is refused with: the same for all."""
        paths = [(method, f"/v1/jobs/{name}{path}") for method, path in REQUESTS]
        refusals = {
            tuple(self.refused(status, code, self.ask(method, path, by)))
            for method, path in [*paths, ("GET", f"/v1/events?job={name}")]
        }
        [[detail]] = refusals
        return detail


class TestNames(FindingCase):
    def setUp(self):
        super().setUp()
        self.first = self.submitted(FIRST, name="solver")
        self.second = self.submitted(SECOND)
        self.third = self.submitted(THIRD)

    def test_number(self):
        for job in (self.first, self.second, self.third):
            self.assertEqual(job["uuid"], self.found(job["number"]))

    def test_uuid_in_every_form(self):
        for name in (FIRST, FIRST.upper(), FIRST.replace("-", "")):
            self.assertEqual(FIRST, self.found(name))

    def test_beginning(self):
        for name in ("beef0002", "BEEF0002", "beef0002-5a3e", "0a1b"):
            self.assertEqual(THIRD if name == "0a1b" else SECOND, self.found(name))

    def test_digits_are_a_number(self):
        self.submitted(DIGITS)
        for name in ("1234", "12345678"):
            self.details(404, "job.not_found", name)
        self.assertEqual(DIGITS, self.found("12345678-"))

    def test_none(self):
        number = self.third["number"] + 1
        for name in (number, "0", "-1", "beef1", "bee", "solver", "%25", "²", "9" * 10, "9" * 99):
            self.assertEqual(
                "there is no such job in your project", self.details(404, "job.not_found", name)
            )

    def test_several(self):
        first, second = self.first["number"], self.second["number"]
        self.assertEqual(
            "2 uuids begin with beef, so give a number or more of one: "
            f"{first} (solver): {FIRST}; {second}: {SECOND}",
            self.details(409, "job.ambiguous", "beef"),
        )
        self.assertEqual([None] * 3, [job["asked_to"] for job in self.get("/v1/jobs").json["jobs"]])

    def test_many(self):
        for last in range(10):
            self.submitted(f"{OTHER[:-1]}{last}")
        detail = self.details(409, "job.ambiguous", OTHER[:8])
        self.assertTrue(detail.startswith(f"10 uuids begin with {OTHER[:8]}"), detail)
        for last in "abcd":
            self.submitted(f"{OTHER[:-1]}{last}")
        detail = self.details(409, "job.ambiguous", OTHER[:8])
        self.assertTrue(detail.endswith("; and 4 more"), detail)

    def test_requests_reach_the_job(self):
        self.change({"uuid": SECOND}, state=JobState.RUNNING)
        for method, path in REQUESTS:
            name = self.second["number"] if path else "beef0002"
            answer = self.ask(method, f"/v1/jobs/{name}{path}")
            self.assertEqual(SECOND, answer.json["uuid"], path)
        self.assertEqual("cancel", self.get(f"/v1/jobs/{SECOND}").json["asked_to"])
        self.assertIsNone(self.get(f"/v1/jobs/{FIRST}").json["asked_to"])

    def test_events(self):
        for name in (self.first["number"], "beef0001", FIRST.upper()):
            [event] = self.answered(200, self.get(f"/v1/events?job={name}"))["events"]
            told = (event["job"], event["job_number"])
            self.assertEqual((FIRST, self.first["number"]), told)


class TestOtherProjects(FindingCase):
    """Nothing tells whether another project has a job of that number or beginning."""

    def setUp(self):
        super().setUp()
        self.theirs = self.submitted(FIRST, "bob:other", name="secret")

    def test_neither_number_nor_beginning_finds_theirs(self):
        details = {
            self.details(404, "job.not_found", name)
            for name in (self.theirs["number"], "beef0001", self.theirs["number"] + 1, "beef0009")
        }
        self.assertEqual(1, len(details))
        kept = self.store.find(FIRST)
        self.assertEqual((None, False), (kept.requested_action, kept.held))

    def test_theirs_makes_no_beginning_ambiguous(self):
        self.submitted(SECOND)
        self.assertEqual(SECOND, self.found("beef"))

    def test_theirs_are_no_candidates(self):
        self.submitted(SECOND)
        self.submitted("beef0003-5a3e-4d43-8f5c-5b1f3ab1b2c3")
        detail = self.details(409, "job.ambiguous", "beef")
        self.assertIn("2 uuids", detail)
        for hidden in (FIRST, "secret"):
            self.assertNotIn(hidden, detail)

    def test_administrators_find_all(self):
        for name in (self.theirs["number"], "beef"):
            self.assertEqual(FIRST, self.found(name, "carol:ops:admin"))
