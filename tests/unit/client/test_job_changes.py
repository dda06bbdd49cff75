"""`openstack twotier job set` and `requeue`, and `job create` of what begins later."""

from datetime import UTC, datetime, timedelta

from nova_twotier.db import models
from nova_twotier.db.dependencies import Dependency
from tests.unit.client.case import CommandCase


class TestSet(CommandCase):
    def test_all_of_them(self):
        job = self.submit(name="before")
        shown = self.shown(
            *("job", "set", "before", "--name", "after", "--walltime", "1:00:00"),
            *("--estimate", "30m", "--priority", "-5"),
        )
        new = {"name": "after", "walltime": 3600, "estimate": 1800, "priority": -5}
        self.assertEqual(new, {name: shown[name] for name in new})
        self.assertEqual(job["uuid"], shown["uuid"])
        shown = self.shown("job", "set", "after", "--no-walltime", "--no-estimate")
        self.assertEqual(
            (None, None, -5), tuple(map(shown.get, ("walltime", "estimate", "priority")))
        )

    def test_mistakes(self):
        self.submit(name="job")
        self.assertIn("say what to change", self.refused("job", "set", "job"))
        self.assertIn("there is no job 'none'", self.refused("job", "set", "none", "--name", "x"))
        for verb in (("set", "job"), ("create", "--size", "1")):
            for given in ("high", "9999", "-1001"):
                code, _out, error = self.openstack("job", *verb, "--priority", given)
                self.assertEqual(2, code)
                self.assertIn(
                    f"argument --priority: '{given}': give a whole number from -1000 to 1000; of "
                    "your project's waiting jobs, those with higher ones come first (default: 0)",
                    error,
                )

    def test_the_answer_for_people(self):
        self.submit(name="job")
        first = "Job 1 (job) is queued, 1st in the queue.\n"
        moves = "Job 1 (job) is queued; its place changes at the manager's next poll.\n"
        self.assertEqual(first, self.succeed("job", "set", "job", "--walltime", "1h"))
        self.assertEqual(moves, self.succeed("job", "set", "job", "--priority", "5"))
        self.assertEqual(first, self.succeed("job", "set", "job", "--priority", "5"))
        self.succeed("job", "hold", "job")
        self.assertEqual(
            "Job 1 (job) is queued, held until it is released.\n",
            self.succeed("job", "set", "job", "--priority", "7"),
        )


class TestClasses(CommandCase):
    OPTIONS = "[manager]\nqos_classes = true"

    def test_create_set_and_show(self):
        shown = self.shown("job", "create", "--size", "1", "--qos", "scavenger", "--name", "job")
        self.assertEqual("scavenger", shown["qos"])
        [row] = self.shown("job", "list", "--long")
        self.assertEqual("scavenger", row["QoS"])
        queue = self.shown("queue", "show")
        self.assertEqual({"urgent": 0, "normal": 0, "scavenger": 1}, queue["waiting_by_qos"])
        self.assertEqual(["normal", "scavenger"], queue["qos_allowed"])
        self.assertEqual("normal", self.shown("job", "set", "job", "--qos", "normal")["qos"])
        self.assertEqual(
            "Job 1 (job) is queued; its place changes at the manager's next poll.\n",
            self.succeed("job", "set", "job", "--qos", "scavenger"),
        )

    def test_who_may_not(self):
        told = self.refused("job", "create", "--size", "1", "--qos", "urgent")
        self.assertIn("twotier:jobs:qos:urgent does not let you", told)


class TestRequeue(CommandCase):
    def test_requeue(self):
        self.change(self.submit(name="a"), state=models.JobState.RUNNING)
        self.submit(name="b")
        code, out, _error = self.openstack(
            "job", "requeue", "b", "a", "-f", "value", "-c", "Name", "-c", "Asked To"
        )
        self.assertEqual((1, "a requeue\n"), (code, out))
        self.assertIn("b: the job has not started: there is nothing to requeue", self.logged.output)


class TestLater(CommandCase):
    def create(self, *options):
        return self.shown("job", "create", "--size", "1", *options)

    def test_a_time(self):
        begin = datetime.fromisoformat(self.create("--begin", "now+2h")["begin_at"])
        expected = datetime.now(UTC) + timedelta(hours=2)
        self.assertTrue(expected - timedelta(hours=1) < begin <= expected)
        code, _out, error = self.openstack("job", "create", "--size", "1", "--begin", "soon")
        self.assertEqual(2, code)
        self.assertIn("'soon' is not a time", error)

    def test_a_time_that_is_past(self):
        for begin in ("2020-01-31T12:00:00Z", "1970-01-01T00:00:00Z"):
            told = self.refused("job", "create", "--size", "1", "--begin", begin)
            # The API gets it with its offset.
            self.assertRegex(
                told,
                rf"^begin_at: {begin[:4]}\S+ is past, it is 20\S+Z now; leave it out if the job "
                r"may start at once \(HTTP 400\)$",
            )
        self.assertTrue(self.create("--begin", "now")["begin_at"])

    def test_a_priority(self):
        self.assertEqual(-7, self.create("--priority", "-7")["priority"])
        self.assertEqual(0, self.create()["priority"])

    def test_other_jobs(self):
        numbers = [self.submit(name=name)["number"] for name in ("a", "b", "c")]
        job = self.create(
            *("--name", "last", "--after", "a", "--after-ok", "b", "--after-ok", str(numbers[2])),
            *("--after-any", "a"),
        )
        expected = [("after", 1), ("after-ok", 2), ("after-ok", 3), ("after-any", 1)]
        found = [(each["condition"], each["number"]) for each in job["dependencies"]]
        self.assertEqual(expected, found)
        with self.store.transaction() as session:
            row = session.get(models.Job, job["number"])
            row.dependencies = [
                Dependency(each.job, each.condition, 5.0 if each.job == 1 else None)
                for each in row.dependencies
            ]
        for verb in ("show", "explain"):
            shown = self.succeed("job", verb, "last", "-c", "dependencies")
            self.assertIn("after 1 (met), after-ok 2, after-ok 3, after-any 1 (met)", shown)

    def test_one_that_is_not_there(self):
        told = self.refused("job", "create", "--size", "1", "--after", "none")
        self.assertEqual("there is no job 'none' in your project", told)
        self.assertEqual([], self.store.jobs())
