"""`twotier-sim what-if`: exact output, and one clear line for every mistake."""

import json
import pathlib
import textwrap
from unittest import mock

from nova_twotier.core import policies
from nova_twotier.core.queue_state import Measured, Server, dump, load, past_of, text
from nova_twotier.sim.cli.what_if_tables import span
from tests.unit.core.queue_state.builders import BG, small
from tests.unit.sim.test_cli import CommandCase


class WhatIfCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.state = self.write(small())

    def write(self, state, name="state.json"):
        pathlib.Path(self.path(name)).write_text(text(state))
        return self.path(name)

    def shown(self, output, *args):
        found = self.works("what-if", *args, "--estimator", "requested")
        self.assertEqual(textwrap.dedent(output), found)

    def rows(self, *args):
        return json.loads(self.works("what-if", *args, "--estimator", "requested", "-f", "json"))


class TestOutput(WhatIfCase):
    def test_a_new_job(self):
        self.shown(
            """\
            +---------------------------------+------------+-------------+
            | what                            | before     | after       |
            +---------------------------------+------------+-------------+
            | policy                          | easy       | easy        |
            | slots                           | 4          | 4           |
            | jobs that wait                  | 1          | 2           |
            | mean wait of those              | 2 min 28 s | 2 min 28 s  |
            | longest wait of those           | 2 min 28 s | 2 min 28 s  |
            | mean turnaround of all jobs     | 2 min 58 s | 2 min 58 s  |
            | jobs that never end             | 0          | 0           |
            | jobs that start sooner          | -          | 0           |
            | jobs that start later           | -          | 0           |
            | jobs that end sooner            | -          | 0           |
            | jobs that end later             | -          | 0           |
            | new job 3 starts in             | -          | 1 min 40 s  |
            | new job 3 starts, 80 % interval | -          | -           |
            | new job 3 starts on             | -          | fg on b (2) |
            | new job 3 ends in               | -          | 1 h 01 min  |
            | new job 3 ends, 80 % interval   | -          | -           |
            +---------------------------------+------------+-------------+
            """,
            *(self.state, "--add-job", "size=2,estimate=3600,cpu=0.9,user=ann,tier=fg"),
        )

    def test_several_changes_at_once(self):
        self.shown(
            """\
            +-----------------------------+------------+------------+
            | what                        | before     | after      |
            +-----------------------------+------------+------------+
            | policy                      | easy       | fcfs       |
            | slots                       | 4          | 6          |
            | jobs that wait              | 1          | 1          |
            | mean wait of those          | 2 min 28 s | 48 s       |
            | longest wait of those       | 2 min 28 s | 48 s       |
            | mean turnaround of all jobs | 2 min 58 s | 2 min 14 s |
            | jobs that never end         | 0          | 0          |
            | jobs that start sooner      | -          | 1          |
            | jobs that start later       | -          | 0          |
            | jobs that end sooner        | -          | 1          |
            | jobs that end later         | -          | 0          |
            | job 2 ends in               | 2 min 40 s | 1 min 10 s |
            +-----------------------------+------------+------------+
            """,
            *(self.state, "--policy", "fcfs", "--add-hosts", "1", "--estimate", "2=70"),
        )

    def test_each_job(self):
        self.shown(
            """\
            "job","size","state","start_before","start_after","start_low","start_high",\
"starts_on","end_before","end_after","end_low","end_high"
            1,3,"gone",0.0,"","","","fg on a (2), b",100.0,"","",""
            2,2,"waiting",100.0,0.0,"","","fg on a (2)",160.0,60.0,"",""
            3,5,"new","","","","","","","","",""
            """,
            *(self.state, "--jobs", "--without-job", "1", "--add-job", "size=5", "-f", "csv"),
        )

    def test_durations_are_those_of_job_create(self):
        for hour in ("1h", "60m", "1:00:00", "0-1:00", "3600"):
            args = ("--add-job", f"size=2,estimate={hour},walltime={hour},tier=fg")
            new = {row["what"]: row["after"] for row in self.rows(self.state, *args)}
            self.assertEqual(3700.0, new["new job 3 ends in"], hour)
            [_row, second] = self.rows(self.state, "--jobs", "--estimate", f"2={hour}")
            self.assertEqual(3700.0, second["end_after"], hour)

    def test_policies(self):
        self.shown(
            """\
            +-----------------+------------+--------------+-----------------+-------+------------+\
-----------+-------------+------------+
            | policy          | mean_wait  | longest_wait | mean_turnaround | never | end_sooner |\
 end_later | job_3_start | job_3_end  |
            +-----------------+------------+--------------+-----------------+-------+------------+\
-----------+-------------+------------+
            | easy (as it is) | 2 min 28 s | 2 min 28 s   | 2 min 58 s      |     0 | -          |\
 -         | -           | -          |
            | amcbf           | 48 s       | 48 s         | 2 min 08 s      |     0 | 1          |\
 0         | 0 s         | 30 s       |
            | easy            | 2 min 28 s | 2 min 28 s   | 2 min 58 s      |     0 | 0          |\
 0         | 1 min 40 s  | 2 min 10 s |
            +-----------------+------------+--------------+-----------------+-------+------------+\
-----------+-------------+------------+
            """,
            *(self.state, "--policy", "easy,amcbf", "--add-job", "size=2,estimate=30"),
        )

    def test_all_policies(self):
        rows = self.rows(self.state, "--policy", "all")
        self.assertEqual("easy (as it is)", rows[0]["policy"])
        self.assertEqual(set(policies.POLICIES), {row["policy"] for row in rows[1:]})
        turnarounds = [row["mean_turnaround"] for row in rows[1:]]
        self.assertEqual(sorted(turnarounds), turnarounds)

    def test_intervals(self):
        errors = tuple(0.01 * index for index in range(-20, 21))
        measured = Measured("requested", "easy", (errors, ()), (errors, ()))
        args = (self.write(small(measured=measured)), "--jobs")
        first, second = self.rows(*args)
        self.assertEqual((None, None), (first["start_low"], first["end_high"]))
        self.assertTrue(second["start_low"] < second["start_after"] < second["start_high"])
        others = self.rows(*args, "--policy", "fcfs")
        self.assertEqual([None, None], [row["start_low"] for row in others])

    def test_the_estimator_is_the_queue_managers(self):
        """Job 2 asks for 60 s; similar jobs took 6, of which `requested` learns nothing."""
        past = tuple(
            past_of(n, 2, 60.0, "bob", wait=0.0, elapsed=6.0, work=6.0) for n in range(10, 15)
        )
        for estimator, took in ((None, 6.0), ("hanzich", 6.0), ("requested", 60.0)):
            measured = estimator and Measured(estimator, "easy", ((), ()), ((), ()))
            file = self.write(small(past=past, measured=measured))
            second = json.loads(self.works("what-if", file, "--jobs", "-f", "json"))[1]
            self.assertEqual(took, second["end_after"] - second["start_after"], estimator)

    def test_bandwidth_is_said_to_be_left_out(self):
        data = dump(small())
        data["jobs"][0]["mbps"] = 100
        code, _out, err = self.main("what-if", self.write(load(data)))
        message = "twotier-sim: the bandwidth of jobs is left out of account\n"
        self.assertEqual((0, message), (code, err))

    def test_trace(self):
        """Jobs 2 and 3 wait for job 1; the state is the same when it is read from its file."""
        out = self.path("out.json")
        args = (self.source, "--at", "30", "--under", "fcfs", "--state-out", out)
        rows = self.rows(*args, "--jobs", "--without-job", "2")
        self.assertEqual(
            [[1, 90.0, 90.0], [2, 210.0, None], [3, 270.0, 150.0]],
            [[row["job"], row["end_before"], row["end_after"]] for row in rows],
        )
        self.assertEqual(rows, self.rows(out, "--jobs", "--without-job", "2"))

    def test_a_time_when_nobody_waits(self):
        code, _out, err = self.main("what-if", self.source, "--at", "0", "--under", "fcfs")
        self.assertEqual((0, "twotier-sim: no job waits at 0 s\n"), (code, err))
        late = self.trace("late.swf", (1, 1_700_000_000, 100, 2, 120))
        words = ("--at", "1700000012", "--under", "fcfs")
        code, _out, err = self.main("what-if", late, *words)
        self.assertEqual((0, "twotier-sim: no job waits at 1700000012 s\n"), (code, err))

    def test_jobs_that_are_numbered_from_0(self):
        source = self.trace("zero.swf", (0, 0, 100, 2, 120), (1, 10, 50, 2, 60))
        state = self.path("zero.json")
        at = ("--at", "15", "--under", "fcfs", "--state-out", state)
        for start in ((source, *at), (state,)):
            (_first, row) = self.rows(*start, "--without-job", "0", "--jobs")
            self.assertEqual((105.0, 0.0), (row["start_before"], row["start_after"]))
            (_first, row) = self.rows(*start, "--estimate", "0=70", "--jobs")
            self.assertEqual((105.0, 55.0), (row["start_before"], row["start_after"]))

    def test_spans(self):
        for seconds, shown in (
            (0, "0 s"),
            (59.6, "1 min 00 s"),
            (3599, "59 min 59 s"),
            (3660, "1 h 01 min"),
            (86400 * 2 + 3 * 3600, "2 d 03 h"),
            (float("inf"), "never"),
            (float("nan"), "-"),
        ):
            self.assertEqual(shown, span(seconds))


class TestMistakes(WhatIfCase):
    def test_changes(self):
        for words, *args in (
            ("job 9 neither waits nor runs in this state", "--without-job", "9"),
            ("3 hosts cannot leave: there are 2", "--remove-hosts", "3"),
            ("'estimate=5' has no size, such as size=8", "--add-job", "estimate=5"),
            ("'mem=5' must be FIELD=VALUE, with one of: size,", "--add-job", "size=1,mem=5"),
            ("size is given twice", "--add-job", "size=1,size=2"),
            ("'0' must be a whole number, 1 or more", "--add-job", "size=0"),
            ("tier is 'top'; choose one of: any, fg, bg", "--add-job", "size=1,tier=top"),
            ("'1' must be N=TIME, such as 17=7200", "--estimate", "1"),
            ("'1:30' is not a time: give seconds", "--estimate", "2=1:30"),
            ("'1:30' is not a time: give seconds", "--add-job", "size=1,walltime=1:30"),
            ("'0' is not a run time: give more than 0", "--estimate", "2=0"),
            ("'0m' is not a run time: give more than 0", "--add-job", "size=1,estimate=0m"),
            ("there is no policy 'sjf'; choose one of", "--policy", "sjf"),
            ("there is no policy 'easy++'", "--policy", "easy,easy++"),
            ("there is no estimator 'oracle'", "--estimator", "oracle"),
            ("--jobs shows one policy", "--jobs", "--policy", "all"),
            ("there is no column 'x'; choose from: what, before, after", "-c", "what", "-c", "x"),
            ("there is no column 'what'; choose from: job, size", "--jobs", "-c", "what"),
            ("there is no column 'x'; choose from: policy,", "--policy", "all", "-c", "x"),
            (": --nodes is of a run: it needs --at SECONDS and --under POLICY", "--nodes", "5"),
            (": --keep-rank is of a run", "--keep-rank"),
            (": --exact-estimates is of a run", "--exact-estimates"),
            (": --no-closing is of a run", "--no-closing"),
            (": --no-queue is of a run", "--no-queue"),
            (": --estimates is of a run", "--estimates", "exact"),
            (": --progress/--model is of a run", "--model", "jss"),
            ("give both --at SECONDS and --under POLICY", "--at", "5"),
        ):
            self.refused(words, "what-if", self.state, *args)

    def test_a_time_when_all_is_over(self):
        self.refused(
            "t: all is over at 9999 s: the last job arrives at 20 s, and the last one ends at "
            "250 s; give an earlier time",
            *("what-if", self.source, "--at", "9999", "--under", "fcfs"),
        )

    def test_jobs_with_numbers_that_no_queue_has(self):
        """They would be taken for servers."""
        source = self.trace("low.swf", (-1, 0, 100, 2, 120), (5, 10, 100, 2, 120))
        words = "low: job -1: the jobs of a queue's state are numbered from 0"
        self.refused(words, "what-if", source, "--at", "15", "--under", "fcfs")

    def test_a_state_that_cannot_be_written_is_refused_before_the_run(self):
        at = ("--at", "15", "--under", "fcfs", "--state-out")
        with mock.patch("nova_twotier.sim.trace_state.state_at", side_effect=KeyError("begun")):
            words = "no/state.json: there is no directory "
            self.refused(words, "what-if", self.source, *at, self.path("no/state.json"))
            self.refused(": is a directory", "what-if", self.source, *at, self.directory)

    def test_files(self):
        self.refused("No such file or directory", "what-if", self.path("none.json"))
        self.refused("of a trace or a model, give both --at", "what-if", "lublin:300")
        self.refused("is not JSON", "what-if", self.source)
        for wrong in ("[" * 100_000, '{"at": ' * 100_000, "1" * 5000):
            pathlib.Path(self.path("x.json")).write_text(wrong)
            self.refused("x.json is not JSON", "what-if", self.path("x.json"))
        pathlib.Path(self.path("x.json")).write_text('{"format": "x"}')
        self.refused(
            "x.json is no state of a queue: its format is 'x'", "what-if", self.path("x.json")
        )
        twice = small(servers=(Server(BG, 0, 0.5),) * 3)
        self.refused(
            "a slot is given twice: host a has 2 places in bg, and 3 processes hold one",
            "what-if",
            self.write(twice),
        )
        self.refused(
            "is only in the simulator", "what-if", self.source, "--at", "9", "--under", "easy++"
        )
