"""Reasons as programs and people read them: nobody learns of another project's jobs."""

from nova_twotier.core.reasons import CODES, LEGACY, Effect, changes, failures, waits
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase


class TestReasons(ApiCase):
    def setUp(self):
        super().setUp()
        self.theirs = self.submit("bob:other", name="secret")
        self.first = self.submit(name="first")
        self.job = self.submit(name="mine")

    def number(self, job):
        return self.store.find(job["uuid"]).number

    def shown(self, by="alice:demo", query=""):
        """The job, the same in a list, its explanation, and its last event."""
        path = f"/v1/jobs/{self.job['uuid']}"
        listed = self.get(f"/v1/jobs?name=mine{query}", by).json["jobs"][0]
        explained = self.get(f"{path}/explain", by).json
        events = self.get(f"/v1/events?job={self.job['uuid']}{query}", by).json["events"]
        return self.get(path, by).json, listed, explained, events[-1]

    def test_code_parameters_and_text(self):
        self.change(self.job, reason=waits.SLOTS(size=4, idle=1, open=0))
        text = "needs 4 foreground slots, 1 idle; or 4 background slots, 0 open and idle"
        expected = {
            "code": "slots",
            "parameters": {"size": 4, "idle": 1, "open": 0},
            "by": None,
            "by_number": None,
            "effect": None,
            "text": text,
        }
        for answer in self.shown()[:3]:
            self.assertEqual((text, expected), (answer["reason"], answer["why"]))
        self.assertEqual(waits.SLOTS.cure, self.shown()[2]["cure"])

    def test_the_cure_of_a_job_that_did_not_start(self):
        unfit = failures.UNFIT_FLAVOR(flavor="plain", wanted="resources:CUSTOM_TWOTIER_SLOT")
        taken = failures.SLOTS_TAKEN()
        again = "It was tried as often as is allowed: submit it anew, or tell the operator."
        for reason, cure in ((unfit, failures.UNFIT_FLAVOR.cure), (taken, again)):
            reason = reason.led_to(Effect.NOT_STARTED)
            self.change(self.job, state=JobState.FAILED, reason=reason)
            explained = self.shown()[2]
            self.assertEqual(cure, explained["cure"])
            self.assertEqual(
                f"failed to start: {reason._replace(effect=None)}", explained["reason"]
            )

    def test_a_job_that_nobody_has_decided_about(self):
        for answer in self.shown()[:3]:
            self.assertEqual("undecided", answer["why"]["code"])
            self.assertEqual(str(waits.UNDECIDED()), answer["reason"])

    def test_a_job_without_a_reason(self):
        self.change(self.job, state=JobState.RUNNING, tier="fg")
        job, listed, explained, event = self.shown()
        for answer in (job, listed):
            self.assertEqual(("", None), (answer["reason"], answer["why"]))
        self.assertEqual("runs in the foreground", explained["reason"])
        self.assertEqual((None, None), (explained["why"], explained["cure"]))
        self.assertEqual(("submitted", "", None), (event["kind"], event["detail"], event["why"]))

    def preempted_by(self, job):
        reason = changes.PREEMPTED(self.number(job)).led_to(Effect.SAVED)
        self.change(self.job, reason=reason, saved=True)
        self.happen(self.job, "evicted", reason=reason, at=2e9)

    def check(self, answers, name, uuid, number=None):
        text = f"preempted by {name}, state saved"
        for answer in answers:
            why = answer["why"]
            self.assertEqual(text, answer.get("reason") or answer["detail"])
            self.assertEqual(("preempted", "saved"), (why["code"], why["effect"]))
            self.assertEqual(text, why["text"])
            self.assertEqual((uuid, number), (why["by"], why["by_number"]))
            self.assertEqual({}, why["parameters"])

    def test_a_job_of_the_same_project_is_named(self):
        self.preempted_by(self.first)
        number = self.first["number"]
        self.check(self.shown(), f"job {number} (first)", self.first["uuid"], number)

    def test_one_of_another_project_is_not(self):
        self.preempted_by(self.theirs)
        self.check(self.shown(), "a job of another project", None)
        for path in (f"/v1/jobs/{self.job['uuid']}", "/v1/jobs", "/v1/events"):
            for hidden in ("secret", self.theirs["uuid"], f"job {self.number(self.theirs)}"):
                self.assertNotIn(hidden, self.get(path).text)

    def test_operators_see_every_name(self):
        self.preempted_by(self.theirs)
        answers = self.shown("admin:admin", "&all_projects=true")
        number = self.theirs["number"]
        self.check(answers, f"job {number} (secret)", self.theirs["uuid"], number)

    def test_one_that_was_purged(self):
        self.change(self.job, reason=waits.TURN(999))
        for by, name in (
            ("alice:demo", "a job that is no longer recorded"),
            ("admin:admin", "job 999, which is no longer recorded"),
        ):
            job = self.get(f"/v1/jobs/{self.job['uuid']}", by).json
            self.assertEqual(f"waits behind {name}", job["reason"])

    def test_a_text_of_an_earlier_release(self):
        number = self.number(self.theirs)
        self.change(self.job, reason=LEGACY(number, before="preempted by ", after=", state saved"))
        for by, name in (
            ("alice:demo", "a job of another project"),
            ("admin:admin", f"job {number} (secret)"),
        ):
            job = self.get(f"/v1/jobs/{self.job['uuid']}", by).json
            self.assertEqual(f"preempted by {name}, state saved", job["reason"])

    def test_the_document_has_all_codes(self):
        schema = self.get("/v1/openapi.json").json["components"]["schemas"]["Reason"]
        self.assertEqual(list(CODES), schema["properties"]["code"]["enum"])
