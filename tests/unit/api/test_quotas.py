"""How much a project may have."""

from nova_twotier.db import queue_policy
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase


class TestQuotas(ApiCase):
    OPTIONS = "max_jobs_per_project = 2\nmax_processes_per_project = 10\nmax_job_size = 8"

    def over(self, size):
        answer = self.ask("POST", "/v1/jobs", json={"size": size})
        [detail] = self.refused(403, "quota.exceeded", answer)
        [error] = answer.json["errors"]
        return detail, error["used"], error["allowed"]

    def test_size_of_a_job(self):
        expected = "a job may have 8 processes at most; this one has 9"
        self.assertEqual((expected, 0, 8), self.over(9))
        self.submit(size=8)

    def test_jobs(self):
        first = self.submit()
        self.submit()
        expected = "your project may have 2 jobs at most, and has 2 that are not over"
        self.assertEqual((expected, 2, 2), self.over(1))
        self.submit("bob:other")
        self.change(first, state=JobState.FINISHED)
        self.submit()

    def test_processes(self):
        self.submit(size=6)
        expected = (
            "the jobs of your project may have 10 processes at most; those that are not over have "
            "6, and this one has 5"
        )
        self.assertEqual((expected, 6, 10), self.over(5))
        self.submit(size=4)

    def test_they_are_shown(self):
        self.submit(size=6)
        self.assertEqual(
            {
                "job_size": 8,
                "jobs": {"used": 1, "allowed": 2},
                "processes": {"used": 6, "allowed": 10},
                "slots": dict.fromkeys(
                    (
                        *("foreground_slots_per_user", "background_slots_per_user"),
                        *("foreground_slots_per_project", "background_slots_per_project"),
                    ),
                    -1,
                ),
            },
            self.get("/v1/queue").json["limits"],
        )


class TestNoQuotas(ApiCase):
    OPTIONS = "max_jobs_per_project = -1\nmax_processes_per_project = -1\nmax_job_size = 1000000"

    def array(self, size):
        body = {"size": size, "indexes": "0-9999"}
        return self.ask("POST", "/v1/arrays", json=body)

    def test_more_processes_than_the_database_can_count(self):
        [detail] = self.refused(403, "quota.exceeded", self.array(214_749))
        self.assertIn(
            "2,147,483,647 processes together at most; those of this one have 2,147,490,", detail
        )
        self.assertIn("submit several arrays, or smaller tasks", detail)
        self.assertEqual([], self.store.jobs(limit=1))


class TestSlotLimits(ApiCase):
    OPTIONS = (
        "[manager]\nmax_foreground_slots_per_user = 4\nmax_foreground_slots_per_project = 6\n"
        "max_background_slots_per_project = 5"
    )

    def test_a_job_larger_than_those_of_all_tiers_is_refused(self):
        answer = self.ask("POST", "/v1/jobs", json={"size": 6})
        [detail] = self.refused(403, "quota.exceeded", answer)
        self.assertEqual(
            "a job of 6 processes could never start: users and projects may hold at most 5 slots "
            "of a tier at the same time; submit a smaller one",
            detail,
        )
        self.assertEqual(0, self.get("/v1/queue").json["limits"]["jobs"]["used"])
        self.submit(size=5)

    def test_they_are_shown(self):
        limits = self.get("/v1/queue").json["limits"]["slots"]
        self.assertEqual(
            (4, -1), (limits["foreground_slots_per_user"], limits["background_slots_per_user"])
        )


class TestNoSlots(ApiCase):
    OPTIONS = "[manager]\npolicy = easy\nmax_foreground_slots_per_project = 0"

    def test_nobody_is_advised_to_submit_a_smaller_job(self):
        [detail] = self.refused(
            403, "quota.exceeded", self.ask("POST", "/v1/jobs", json={"size": 1})
        )
        self.assertEqual(
            "no job could start: users and projects may hold no slots of the tiers that pool "
            "default uses; ask its operator",
            detail,
        )


class TestSlotLimitsWithoutBackground(ApiCase):
    OPTIONS = "[manager]\npolicy = easy\nmax_foreground_slots_per_user = 4"

    def test_only_the_foreground_counts(self):
        answer = self.ask("POST", "/v1/jobs", json={"size": 5})
        self.refused(403, "quota.exceeded", answer)
        self.submit(size=4)

    def test_the_background_of_a_manager_with_two_tiers_counts(self):
        self.begin("default")
        with self.store.transaction() as session:
            queue_policy.record_use(session, "default", "amcbf")
        self.submit(size=5)


class TestSlotLimitsUnderAnotherPolicy(ApiCase):
    OPTIONS = "[manager]\nmax_foreground_slots_per_user = 4"

    def test_a_job_that_could_start_under_the_configured_policy_is_accepted(self):
        queue_policy.choose(self.store, "default", "easy")
        self.submit(size=5)


class TestSlotLimitsOfOneTier(ApiCase):
    OPTIONS = "[manager]\nmax_foreground_slots_per_user = 4"

    def test_the_other_one_is_left(self):
        self.submit(size=5)


class TestDefaults(ApiCase):
    def test_a_job_that_is_too_large(self):
        answer = self.ask("POST", "/v1/jobs", json={"size": 20000})
        self.assertEqual(
            ["a job may have 10,000 processes at most; this one has 20,000"],
            self.refused(403, "quota.exceeded", answer),
        )

    def test_no_project_can_fill_the_manager(self):
        limits = self.get("/v1/queue").json["limits"]
        self.assertEqual(
            (10000, 10000, 100000),
            (limits["job_size"], limits["jobs"]["allowed"], limits["processes"]["allowed"]),
        )
