"""What the API tells of predictions: nothing that is not true any more, nothing of others."""

import time

from nova_twotier.core.reasons import waits
from nova_twotier.db.models import PoolPrediction, Prediction
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase

TIMES = {
    "start": 1200.0,
    "start_low": 900.0,
    "start_high": 1800.0,
    "finish": 4800.0,
    "finish_low": 4000.0,
    "finish_high": 5000.0,
}


class PredictedCase(ApiCase):
    def setUp(self):
        super().setUp()
        self.now = time.time()
        self.theirs = self.submit("bob:other", name="secret")
        self.first = self.submit(name="first")
        self.job = self.submit(name="mine", size=8)

    def predict(self, job, ago=1.0, **values):
        """A prediction of a job, all times from now on."""
        times = {name: values.pop(name, at) for name, at in TIMES.items()}
        shifted = {name: None if at is None else self.now + at for name, at in times.items()}
        row = Prediction(
            job=job["number"], made_at=self.now - ago, work=0.0, ran=0.0, judged=0, **shifted
        )
        for name, value in values.items():
            setattr(row, name, value)
        with self.store.transaction() as session:
            session.merge(row)

    def predict_pool(self, ago=1.0, lasting=300.0, later_than=None, starts=(), finishes=()):
        with self.store.transaction() as session:
            session.merge(
                PoolPrediction(
                    pool="default",
                    made_at=self.now - ago,
                    valid_until=self.now - ago + lasting,
                    later_than=later_than,
                    estimator="sdpn",
                    calibration={"starts": [[0.1] * 9, starts], "finishes": [[], finishes]},
                )
            )


class TestPredictions(PredictedCase):
    def shown(self, by="alice:demo"):
        """The job by itself, in a list, and its explanation."""
        path = f"/v1/jobs/{self.job['uuid']}"
        listed = self.get("/v1/jobs?name=mine", by).json["jobs"][0]
        return self.get(path, by).json, listed, self.get(f"{path}/explain", by).json

    def unpredicted(self):
        """The code of the reason, after it was checked that nothing is predicted."""
        codes = set()
        for answer in self.shown():
            told = {name: it for name, it in answer.items() if name.startswith("predicted_")}
            self.assertEqual({None}, set(told.values()))
            self.assertEqual(7, len(told))
            codes.add(answer["unpredicted"] and answer["unpredicted"]["code"])
        [code] = codes
        return code

    def test_a_waiting_job(self):
        self.predict(self.job, starts_after=self.first["number"], smaller=6)
        self.predict_pool(starts=[True] * 83 + [False] * 17)
        for answer in self.shown():
            for name in ("start", "start_low", "start_high", "finish", "finish_low", "finish_high"):
                self.assertIsNotNone(answer[f"predicted_{name}"], name)
            self.assertLess(answer["predicted_start_low"], answer["predicted_start"])
            self.assertIsNone(answer["unpredicted"])
        explained = self.shown()[-1]
        self.assertEqual(
            f"starts when job {self.first['number']} (first) leaves, expected in 20 min; "
            "with 6 instead of 8 processes it would start now",
            explained["unblock"]["text"],
        )
        self.assertEqual({"held": 83, "of": 100}, explained["predictions"]["starts"])
        self.assertEqual({"held": 0, "of": 0}, explained["predictions"]["finishes"])
        self.assertEqual(explained["predictions"], self.get("/v1/queue").json["predictions"])

    def test_another_projects_job_is_not_named(self):
        self.predict(self.job, starts_after=self.theirs["number"])
        self.predict_pool()
        text = self.get(f"/v1/jobs/{self.job['uuid']}/explain").text
        self.assertIn("starts when a job of another project leaves, expected in 20 min", text)
        for hidden in ("secret", self.theirs["uuid"], f"job {self.theirs['number']}"):
            self.assertNotIn(hidden, text)
        seen = self.get(f"/v1/jobs/{self.job['uuid']}/explain", "carol:ops:admin").text
        self.assertIn(f"job {self.theirs['number']} (secret)", seen)

    def test_a_prediction_is_seen_by_those_who_see_the_job(self):
        self.predict(self.job)
        self.predict_pool()
        self.assertEqual([], self.get("/v1/jobs?name=mine", "bob:other").json["jobs"])
        self.refused(404, "job.not_found", self.get(f"/v1/jobs/{self.job['uuid']}", "bob:other"))

    def test_a_smaller_job_alone(self):
        self.predict(self.job, smaller=1)
        self.predict_pool()
        unblock = self.shown()[-1]["unblock"]
        self.assertEqual("with 1 instead of 8 processes it would start now", unblock["text"])
        self.assertEqual({"smaller": 1, "size": 8}, unblock["parameters"])

    def test_a_running_job(self):
        self.predict(self.job, start=None, start_low=None, start_high=None)
        self.predict_pool()
        self.change(self.job, state=JobState.RUNNING, tier="fg")
        for answer in self.shown():
            self.assertIsNone(answer["predicted_start"])
            self.assertIsNotNone(answer["predicted_finish"])
        self.assertIsNone(self.shown()[-1]["unblock"])
        # It has been preempted since.
        self.change(self.job, state=JobState.QUEUED, tier=None, saved=True)
        self.assertEqual("not-predicted", self.unpredicted())

    def test_a_job_that_is_over(self):
        self.predict(self.job)
        self.predict_pool()
        self.change(self.job, state=JobState.FINISHED, finished_at=self.now)
        self.assertIsNone(self.unpredicted())

    def test_nothing_outdated(self):
        self.assertEqual("not-predicted", self.unpredicted())
        self.predict(self.job)
        self.predict_pool()
        self.assertEqual("held", self.with_change(held=True))
        self.assertEqual(
            "begin", self.with_change(gated=True, reason=waits.BEGIN(begin="2026-01-01T12:00:00Z"))
        )
        self.assertEqual("outage", self.with_change(reason=waits.OUTAGE()))
        self.store.set_queue_mode("default", "paused")
        self.assertEqual("paused", self.unpredicted())
        self.store.set_queue_mode("default", "active")
        self.predict_pool(ago=301.0)
        self.predict(self.job, ago=301.0)
        self.assertEqual("not-predicted", self.unpredicted())
        self.predict_pool()
        self.predict(self.job)
        self.assertIsNotNone(self.shown()[0]["predicted_start"])
        self.last_beat(self.now - 86400)
        self.assertEqual("no-manager", self.unpredicted())

    def with_change(self, **values):
        before = self.store.find(self.job["uuid"])
        self.change(self.job, **values)
        code = self.unpredicted()
        self.change(self.job, held=False, gated=False, reason=before.reason)
        return code

    def test_a_job_that_was_not_among_those_that_were_predicted(self):
        self.predict(self.job, ago=61.0)  # it was earlier
        self.change(self.job, eligible_at=self.now - 100, reason=waits.TOO_LARGE(size=8, slots=4))
        self.predict_pool()
        self.assertEqual("too-large", self.unpredicted())
        self.predict_pool(later_than=1790000000.0)
        self.assertEqual("far-behind", self.unpredicted())
        self.assertIn("probably later than 2026-09-21T14:13:20Z", str(self.shown()[0]))
        self.change(self.job, eligible_at=self.now)
        self.assertEqual("not-predicted", self.unpredicted())

    def test_a_job_that_never_starts(self):
        self.predict(self.job, **dict.fromkeys(TIMES))
        self.predict_pool()
        self.assertEqual("never-starts", self.unpredicted())
        self.assertNotIn("maintenance", str(self.shown()[0]))

    def test_a_job_that_never_starts_because_of_planned_maintenance(self):
        self.predict(self.job, **dict.fromkeys(TIMES))
        self.predict_pool()
        window = {"limit": 3600, "begin": "2026-01-31T12:00:00+00:00"}
        for reason in (
            waits.SLOTS(size=8, idle=0, barred=4, **window),
            waits.WINDOW(size=8, idle=0, slots=12, **window),
        ):
            self.change(self.job, reason=reason)
            self.assertEqual("never-starts", self.unpredicted())
            self.assertIn("maintenance begins at 2026-01-31T12:00:00", str(self.shown()[0]))

    def test_a_job_that_is_larger_than_what_maintenance_leaves(self):
        """No policy is shown it, so that it is not predicted."""
        window = {"limit": 3600, "begin": "2026-01-31T12:00:00+00:00"}
        self.predict_pool(later_than=1790000000.0)
        for slots, code in ((7, "window"), (8, "far-behind")):
            reason = waits.WINDOW(size=8, idle=0, slots=slots, **window)
            self.change(self.job, eligible_at=self.now - 100, reason=reason)
            self.assertEqual(code, self.unpredicted())

    def test_a_queue_without_predictions(self):
        self.assertIsNone(self.get("/v1/queue").json["predictions"])
