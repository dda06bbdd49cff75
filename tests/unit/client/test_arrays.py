"""Job arrays on the command line, against the real API."""

import json
import pathlib
import re

import fixtures
from sqlalchemy import update

from nova_twotier.client import progress
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from tests.unit.client.case import CommandCase


class ArrayCase(CommandCase):
    def setUp(self):
        super().setUp()
        # Waiting takes no time.
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.arrays.time.sleep", self.sleep))
        self.slept = 0

    def sleep(self, _seconds):
        self.slept += 1

    def create(self, indexes="0-9", *options):
        return self.succeed("job", "create", "--size", "1", "--array", indexes, *options)

    def become(self, index, array=1, **values):
        self.change(self.get(f"/v1/jobs/{array}_{index}").json, **values)

    def numbers(self, *options):
        return [row["Number"] for row in self.shown("job", "list", *options)]


class TestCreate(ArrayCase):
    def test_one_line_and_one_request(self):
        said = self.create("0-99%8", "--name", "sweep")
        self.assertEqual(
            "Array 1 (sweep) with 100 tasks is queued, at most 8 at the same time.\n", said
        )
        self.assertEqual(["POST /v1/arrays"], self.wire.asked)

    def test_a_held_one(self):
        said = self.create("0-9", "--held")
        self.assertEqual("Array 1 with 10 tasks is queued, held until it is released.\n", said)

    def test_the_script_goes_to_each_task(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "job.sh"
        path.write_text("#!/bin/sh\nsolve $TWOTIER_ARRAY_INDEX\n")
        array = self.shown(
            *("job", "create", "--size", "1", "--array", "3,5", "--script", str(path))
        )
        self.assertEqual(("3,5", None), (array["indexes"], array["most_at_once"]))
        for number in (1, 2):
            job = self.store.job(number)
            self.assertTrue(job.peers and job.report_token and self.store.user_data(number))

    def test_mistakes(self):
        for text, said in (
            ("5-1", "ends before it begins"),
            ("a-b", "is not an index or a range"),
            ("0-9%0", "'0' tasks at the same time: give a number from 1 to 10,000"),
            ("0-9%", "'' tasks at the same time"),
            ("3,3", "has the index 3 twice"),
        ):
            code, out, error = self.openstack("job", "create", "--size", "1", "--array", text)
            self.assertEqual((2, ""), (code, out))
            self.assertIn(said, error)
        self.assertEqual([], self.wire.asked)

    def test_with_a_trace(self):
        error = self.refused("job", "create", "--from-swf", "x.swf", "--array", "0-9")
        self.assertEqual("--array is for one job, not for a trace", error)

    def test_wait(self):
        arrays = iter((1, 3))

        def sleep(_seconds):
            array = next(arrays)
            self.become(0, array, state=JobState.FINISHED)
            self.become(1, array, state=JobState.FAILED)

        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.arrays.time.sleep", sleep))
        error = self.refused(*("job", "create", "--size", "1", "--array", "0-1", "--wait=finished"))
        self.assertEqual("array 1 is failed: 1 finished, 1 failed", error)
        code, out, error = self.openstack(
            *("job", "create", "--size", "1", "--array", "0-1", "--wait=finished"),
            *("-f", "value", "-c", "state"),
        )
        self.assertEqual((1, "failed\n"), (code, out))
        self.assertEqual("array 3 is failed: 1 finished, 1 failed", error)


class TestList(ArrayCase):
    def test_those_that_wait_are_one_line(self):
        self.succeed("job", "create", "--size", "1")
        self.create("0-9%3")
        for index in (0, 1):
            self.become(index, array=2, state=JobState.RUNNING, tier="fg")
        self.assertEqual(["2_[2-9%3]", "2_1", "2_0", "1"], self.numbers())
        self.assertEqual(
            ["2_9", "2_8", "2_7", "2_6", "2_5", "2_4", "2_3", "2_2", "2_1", "2_0", "1"],
            self.numbers("-r"),
        )
        self.assertEqual(["2_1", "2_0"], self.numbers("--state", "running"))
        self.assertEqual(["2_[2-9%3]", "2_1"], self.numbers("--limit", "2"))
        self.assertIn("| 2_[2-9%3] |", self.succeed("job", "list"))
        for index in (4, 6):
            self.succeed("job", "set", f"2_{index}", "--name", "special")
        self.assertEqual(["2_[4,6%3]"], self.numbers("--name", "special"))

    def test_people_see_the_first_of_many_indexes(self):
        indexes = ",".join(str(index * index) for index in range(10, 30))
        for options, shown in ((f"{indexes}%8", ",...+12%8]"), (indexes, ",...+12]")):
            self.create(options)
            number = self.numbers("--limit", "1")[0]
            self.assertEqual(f"{number.partition('[')[0]}[{options}]", number)
            cut = number[: number.index(",324")] + shown
            self.assertIn(f"| {cut} |", self.succeed("job", "list", "--limit", "1"))
            for style in ("value", "csv"):
                self.assertIn(number, self.succeed("job", "list", "-f", style))
        array = self.succeed("job", "show", "1", "-c", "waiting")
        self.assertIn(f"| waiting | {indexes} |", array)

    def cut(self, *options):
        """The number in the table of the tasks of array 1 that wait and are not held."""
        return re.findall(r"1_\[\S*\.\.\.\S*\]", self.succeed("job", "list", *options))[-1]

    def asked(self):
        return {job.array_index for job in self.store.jobs() if job.requested_action}

    def test_what_people_see_is_accepted(self):
        squares = {index * index for index in range(10, 40)}
        self.create(",".join(map(str, sorted(squares))) + "%8")
        for index in (100, 144, 441):
            self.succeed("job", "hold", f"1_{index}")
        cut = self.cut()
        self.assertTrue(cut.endswith(",...+19%8]"), cut)
        self.become(121, state=JobState.RUNNING, tier="fg")
        self.succeed("job", "cancel", cut)
        self.assertEqual(squares - {100, 144, 441}, self.asked())

    def test_what_people_saw_is_refused_when_it_is_not_so_any_more(self):
        self.create(",".join(str(index * index) for index in range(10, 40)))
        cut = self.cut()
        self.become(900, state=JobState.CANCELLED)
        code, _out, _error = self.openstack("job", "cancel", cut)
        self.assertEqual(1, code)
        self.assertIn("there are no 22 such tasks of array 1 any more", self.logged.output)
        # Only those of a name, which the command does not know.
        for index in range(10, 29):
            self.succeed("job", "set", f"1_{index * index}", "--name", "special")
        self.assertEqual(1, self.openstack("job", "cancel", self.cut("--name", "special"))[0])
        self.assertEqual(set(), self.asked())

    def test_the_limit_of_the_list_is_ignored(self):
        self.create("0-9%3")
        self.assertEqual(["1_[0-9%3]"], self.numbers())
        self.succeed("job", "hold", "1_[8-9%3]")
        self.assertEqual({8, 9}, {job.array_index for job in self.store.jobs() if job.held})

    def test_sorted_by_array_and_index(self):
        self.create("9-10")
        self.create("0-1")
        options = ("-r", "--sort-column", "Number", "--sort-ascending")
        self.assertEqual(["1_9", "1_10", "3_0", "3_1"], self.numbers(*options))


class TestNames(ArrayCase):
    def setUp(self):
        super().setUp()
        self.create("0-9%3", "--name", "sweep")

    def asked(self):
        return {job.array_index for job in self.store.jobs() if job.requested_action}

    def test_show(self):
        for name in ("1", "sweep", self.get("/v1/arrays/1").json["uuid"]):
            array = self.shown("job", "show", name)
            self.assertEqual(
                (1, "0-9", 10), (array["number"], array["indexes"], array["tasks"]["queued"])
            )
        task = self.shown("job", "show", "1_0")
        self.assertEqual({"number": 1, "index": 0}, task["array"])
        self.assertNotIn("waiting", task)
        self.assertIn("1_0", self.succeed("job", "show", "1_0", "-c", "array"))

    def test_cancel(self):
        rows = self.shown("job", "cancel", "1_3", "1_[5-7]")
        self.assertEqual({"1_3", "1_5", "1_6", "1_7"}, {row["Number"] for row in rows})
        self.assertEqual({3, 5, 6, 7}, self.asked())
        self.assertEqual(10, len(self.shown("job", "cancel", "sweep")))
        self.assertEqual(set(range(10)), self.asked())

    def test_a_name_of_some_tasks_is_not_the_array(self):
        for index in (4, 6):
            self.succeed("job", "set", f"1_{index}", "--name", "special")
        self.assertEqual((1, "", ""), self.openstack("job", "cancel", "special"))
        said = "special: 2 tasks of array 1 are called 'special': give one, such as 1_4"
        self.assertIn(said, self.logged.output)
        self.assertEqual({None}, {job.requested_action for job in self.store.jobs()})

    def test_of_arrays_of_a_name_the_one_that_is_not_over(self):
        self.create("0-1", "--name", "sweep")
        said = "2 jobs are called 'sweep': give the number of one, 1, 11"
        self.assertEqual(said, self.refused("job", "show", "sweep"))
        for index in range(10):
            self.become(index, state=JobState.FINISHED)
        self.assertEqual(11, self.shown("job", "show", "sweep")["number"])

    def test_cancel_by_uuid(self):
        array = self.get("/v1/arrays/1").json["uuid"]
        job = self.shown("job", "create", "--size", "1")["uuid"]
        for words in ([array], [array, job]):
            with self.store.transaction() as session:
                session.execute(update(Job).values(requested_action=None))
            rows = self.shown("job", "cancel", *words)
            self.assertEqual(9 + len(words), len(rows))
            self.assertEqual(set(range(10)), self.asked() - {None})

    def test_what_is_not_there(self):
        for name, said in (
            ("1_12", "1_12: there is no job '1_12' in your project"),
            ("1_[12]", "1_[12]: array 1 (sweep) has no task 12"),
            ("7_[1]", "7_[1]: there is no such job array in your project (HTTP 404)"),
            ("1_[x]", "1_[x]: 'x' is not an index or a range"),
        ):
            code, out, _error = self.openstack("job", "cancel", name, "-f", "json")
            self.assertEqual((1, []), (code, json.loads(out)), name)
            self.assertIn(said, self.logged.output)
        self.assertEqual(set(), self.asked())

    def test_those_that_are_there_of_an_array_with_gaps(self):
        self.create("1,5,7", "--name", "gaps")
        for verb in ("hold", "cancel"):
            code, out, _error = self.openstack("job", verb, "11_[1-5]", "-f", "json")
            self.assertEqual(1, code)
            self.assertEqual(["11_1", "11_5"], [row["Number"] for row in json.loads(out)])
        said = "11_[1-5]: array 11 (gaps) has no tasks 2-4\n"
        self.assertEqual(2, self.logged.output.count(said), self.logged.output)
        self.assertEqual({1, 5}, self.asked())

    def test_hold_release_requeue(self):
        self.assertEqual(10, len(self.shown("job", "hold", "1")))
        self.assertEqual(2, len(self.shown("job", "release", "1_[0-1]")))
        self.become(0, state=JobState.RUNNING)
        self.assertEqual(["1_0"], [row["Number"] for row in self.shown("job", "requeue", "1")])

    def test_set(self):
        changed = self.shown("job", "set", "1", "--array-limit", "5", "--walltime", "2h")
        self.assertEqual(5, changed["most_at_once"])
        self.assertEqual({7200.0}, {job.walltime for job in self.store.jobs()})
        changed = self.shown("job", "set", "1", "--array-limit", "none")
        self.assertEqual(None, changed["most_at_once"])
        self.shown("job", "set", "1_4", "--name", "special")
        self.assertEqual("special", self.get("/v1/jobs/1_4").json["name"])
        error = self.refused("job", "set", "1_4", "--array-limit", "2")
        self.assertEqual("--array-limit is of a whole array: give its number, such as 12", error)

    def test_explain(self):
        self.become(0, state=JobState.RUNNING, tier="fg")
        explained = self.shown("job", "explain", "1")
        self.assertEqual(2, explained["number"])
        self.assertIn("task 1_1 is the first that waits", self.stderr.getvalue())
        task = self.shown("job", "explain", "1_9")
        self.assertEqual("array-limit", task["why"]["code"])
        self.assertEqual({"number": 1, "index": 9}, task["array"])
        self.assertRegex(self.succeed("job", "explain", "1_9"), r"\| array +\| 1_9 ")

    def test_after_all_tasks(self):
        job = self.shown("job", "create", "--size", "1", "--after-ok", "1", "--after", "1_2")
        shown = self.succeed("job", "show", str(job["number"]), "-c", "dependencies")
        self.assertIn("after 1_2, after-ok array 1", shown)
        said = self.succeed("job", "create", "--size", "1", "--after-ok", "1")
        self.assertIn("is queued; it waits for array 1 (after-ok).", said)
        said = self.succeed("job", "create", "--size", "1", "--after-ok", "1_2")
        self.assertIn("is queued; it waits for job 1_2 (after-ok).", said)

    def test_wait(self):
        for index in range(10):
            self.become(index, state=JobState.FINISHED)
        [row] = self.shown("job", "wait", "1", "--until", progress.FINISHED)
        self.assertEqual(("sweep", "finished"), (row["Name"], row["State"]))

    def test_wait_until_a_task_has_started(self):
        """Also one that is over before it is seen to run."""
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.arrays.time.sleep", self.fail))
        for state in (JobState.RUNNING, JobState.FINISHED, JobState.FAILED):
            self.become(3, state=state)
            self.become(4, state=JobState.CANCELLED)
            [row] = self.shown("job", "wait", "1", "--until", progress.STARTED)
            self.assertEqual("running", row["State"])

    def test_a_task_that_is_cancelled_while_it_waits_has_not_started(self):
        self.become(3, state=JobState.ENDING)

        def sleep(_seconds):
            self.slept += 1
            self.become(4, state=JobState.RUNNING)

        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.arrays.time.sleep", sleep))
        self.shown("job", "wait", "1", "--until", progress.STARTED)
        self.assertEqual(1, self.slept)

    def test_some_tasks_will_not_do(self):
        """They would be all of them."""
        said = "1_[0-1]: give a whole array, such as 12, or a task, such as 12_3"
        self.assertEqual(said, self.refused("job", "explain", "1_[0-1]"))
        self.assertEqual(said, self.refused("event", "list", "--job", "1_[0-1]"))
        self.assertEqual((1, "", ""), self.openstack("job", "wait", "1_[0-1]"))
        self.assertIn(said, self.logged.output)

    def test_events(self):
        self.succeed("job", "cancel", "1_3")
        rows = self.shown("event", "list", "--job", "1")
        self.assertEqual(11, len(rows))
        self.assertEqual(("asked to cancel", "1_3"), (rows[-1]["Event"], rows[-1]["Number"]))
