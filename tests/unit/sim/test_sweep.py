"""Sweeps: every point once, whatever happens in between."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import warnings
from unittest import mock

import distributed
import fixtures
import testtools

from nova_twotier.sim import sweep
from nova_twotier.sim.background_use import BackgroundPoint
from nova_twotier.sim.scenario import Scenario
from tests.unit.sim.test_whole_file import full_disk

ROOT = pathlib.Path(__file__).parents[3]
SCENARIO = Scenario("fcfs")
#: Says whether a process begins with interrupts blocked.
MASK = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
LINE = "{number} {submit} 0 100 1 -1 -1 1 100 -1 1 3 3 -1 -1 -1 -1 -1\n"


def grid(*, sources=("lublin:30",), policies=("fcfs", "easy"), loads=(0.6, 0.9), seeds=(0, 1)):
    return sweep.grid(sources, policies, loads, seeds, SCENARIO, nodes=16)


class SweepCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def trace(self, *submits):
        path = self.directory / "t.swf"
        lines = (LINE.format(number=n, submit=at) for n, at in enumerate(submits, start=1))
        path.write_text("; MaxProcs: 2\n" + "".join(lines))
        return str(path)


class TestPoints(SweepCase):
    def test_neighbours_share_a_workload(self):
        points = grid()
        self.assertEqual(8, len(points))
        self.assertEqual(
            [("fcfs", 0.6, 0), ("easy", 0.6, 0), ("fcfs", 0.9, 0)],
            [(p.scenario.policy, p.load, p.scenario.seed) for p in points[:3]],
        )

    def test_every_parameter_makes_another_key(self):
        point = grid()[0]
        others = [
            dataclasses.replace(point, source="lublin:31"),
            dataclasses.replace(point, load=0.61),
            dataclasses.replace(point, load=None),
            dataclasses.replace(point, nodes=17),
            dataclasses.replace(point, head=5),
            *(
                dataclasses.replace(point, scenario=dataclasses.replace(point.scenario, **change))
                for change in (
                    {"policy": "easy"},
                    {"seed": 5},
                    {"slots": 2},
                    {"migration_cost": 0.0},
                    {"reading": {"floor": 0.1}},
                    {"utilisation": dataclasses.replace(SCENARIO.utilisation, lowest=0.2)},
                )
            ),
        ]
        keys = {each.key() for each in (point, *others)}
        self.assertEqual(1 + len(others), len(keys))
        self.assertEqual(point.key(), grid()[0].key())

    def test_other_metrics_of_the_same_run_make_another_key(self):
        """Experiments that share a directory do not take each other's rows."""
        point = grid()[0]
        fields = {field.name: getattr(point, field.name) for field in dataclasses.fields(point)}
        self.assertNotEqual(point.key(), BackgroundPoint(**fields).key())

    def test_another_trace_of_the_same_name_makes_another_key(self):
        keys = set()
        for submits in ((0, 10), (0, 20)):
            sweep._digest.cache_clear()
            keys.add(grid(sources=[self.trace(*submits)])[0].key())
        self.assertEqual(2, len(keys))

    def test_files_are_part_of_the_key_wherever_they_stand(self):
        path = self.trace(0, 10)
        model = self.directory / "model.json"
        model.write_text("{}")
        for source, digests in (
            ("lublin:30", 0),
            ("lublin:30+tsafrir", 0),
            (path, 1),
            (f"{path}+tsafrir", 1),
            (f"{path}+tsafrir:3600", 1),
            (f"jann:30:{model}", 1),
            (f"jann:30:{model}+tsafrir", 1),
        ):
            (point,) = sweep.grid([source], ["fcfs"], [None], [0], SCENARIO)
            self.assertEqual(source, point.source)
            self.assertEqual(digests, sum(digest is not None for digest in point.files()), source)

    def test_trace_is_found_from_any_directory(self):
        self.trace(0, 10)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.directory)
        path = str(self.directory.resolve() / "t.swf")
        for end in ("", "+tsafrir"):
            self.assertEqual(path + end, grid(sources=[f"t.swf{end}"])[0].source)


class TestRun(SweepCase):
    def test_row_has_metrics_and_parameters(self):
        ((index, row),) = sweep.run(grid()[:1], jobs=1)
        self.assertEqual(0, index)
        self.assertEqual((30, 0.6, 16), (row["jobs"], row["load"], row["nodes"]))
        self.assertEqual(("lublin:30", None, 0.4), (row["source"], row["head"], row["cpu_lowest"]))
        self.assertEqual(("tpds", "{}"), (row["progress"], row["reading"]))
        json.dumps(row)

    def test_processes_and_dask_give_what_one_process_gives(self):
        points = grid(policies=("fcfs", "cmcbf"))
        alone = dict(sweep.run(points, jobs=1))
        self.assertEqual(len(points), len(alone))
        self.assertEqual(alone, dict(sweep.run(points, jobs=2)))
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster:
            found = dict(sweep.run(points, dask=cluster.scheduler_address))
        self.assertEqual(alone, found)

    def test_a_workload_is_read_once_for_all_its_runs(self):
        sweep._workload.cache_clear()
        load = sweep.catalogue.load
        with mock.patch.object(sweep.catalogue, "load", side_effect=load) as loading:
            list(sweep.run(grid(), jobs=1))
        self.assertEqual([0, 1], [call.kwargs["seed"] for call in loading.call_args_list])

    def test_the_load_is_that_of_the_first_jobs(self):
        point = dataclasses.replace(grid()[0], head=10)
        workload = sweep.workload_of(point)
        self.assertEqual(10, len(workload.jobs))
        self.assertAlmostEqual(0.6, workload.load)


class TestResume(SweepCase):
    def test_what_is_there_is_not_run_again(self):
        out = self.directory / "out"
        self.assertEqual(8, sweep.resume(grid(), out, jobs=1))
        self.assertEqual(0, sweep.resume(grid(), out, jobs=1))
        self.assertEqual(2, sweep.resume(grid(loads=(0.6, 0.9, 0.7), seeds=(0,)), out, jobs=1))
        table = sweep.tables.read(out / sweep.TABLE)
        self.assertEqual(6, len(table))
        self.assertEqual(["easy", 0.6], list(table.iloc[0][["policy", "load"]]))
        self.assertEqual(10, len(sweep.collect(out)))

    def sweep_of(self, *submits, policies=("fcfs",), say=None):
        """Of one trace with these contents; the policies and arrivals that are collected then."""
        sweep._digest.cache_clear()
        sweep._workload.cache_clear()
        out = self.directory / "out"
        points = sweep.grid([self.trace(*submits)], policies, [None], [0], SCENARIO)
        sweep.resume(points, out, jobs=1)
        self.assertEqual(len(policies), len(sweep.tables.read(out / sweep.TABLE)))
        table = sweep.collect(out, say)
        return list(zip(table["policy"], table["jobs"], strict=True))

    def test_runs_of_another_trace_of_the_same_name_are_left_out(self):
        said = []
        self.sweep_of(0, 10, policies=("fcfs", "easy"))
        self.assertEqual([("fcfs", 3)], self.sweep_of(0, 10, 20, say=said.append))
        (line,) = said
        self.assertIn("2 of 3 runs are left out", line)
        self.assertEqual(
            [("easy", 2), ("fcfs", 2)], self.sweep_of(0, 10, policies=("fcfs", "easy"))
        )
        self.assertEqual([("easy", 2), ("fcfs", 2)], self.sweep_of(0, 10), "no other runs than now")

    def test_runs_of_another_program_are_left_out(self):
        self.sweep_of(0, 10)
        with mock.patch.object(sweep, "_program", return_value="later"):
            self.assertEqual([("easy", 2)], self.sweep_of(0, 10, policies=("easy",)))

    def test_a_directory_of_an_older_release_is_read(self):
        self.sweep_of(0, 10, policies=("fcfs", "easy"))
        for path in (self.directory / "out" / sweep.RUNS).iterdir():
            row = json.loads(path.read_text())
            del row[sweep.INPUTS]
            path.write_text(json.dumps(row))
        said = []
        self.assertEqual(2, len(sweep.collect(self.directory / "out", said.append)))
        self.assertEqual([], said)

    def test_a_failed_run_keeps_those_before_it(self):
        out = self.directory / "out"
        simulate = sweep.simulation.simulate
        with mock.patch.object(sweep.simulation, "simulate") as fake:
            fake.side_effect = [simulate(sweep.workload_of(p), p.scenario) for p in grid()[:3]] + [
                KeyboardInterrupt
            ]
            self.assertRaises(KeyboardInterrupt, sweep.resume, grid(), out, jobs=1)
        self.assertEqual(3, len(sweep.collect(out)))
        self.assertEqual(5, sweep.resume(grid(), out, jobs=1))
        self.assertEqual(8, len(sweep.collect(out)))

    def test_an_interrupt_while_workers_start(self):
        """It waits until they are there, and never comes to them."""
        blocked = []

        def start(_tasks):
            os.kill(os.getpid(), signal.SIGINT)
            blocked.append(subprocess.check_output([sys.executable, "-c", MASK], text=True))
            return (row for row in ())

        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        with mock.patch.object(sweep.joblib, "Parallel", return_value=start):
            self.assertRaises(KeyboardInterrupt, list, sweep.run(grid()))
        self.assertEqual(["True\n"], blocked)
        self.assertEqual(signal.default_int_handler, signal.getsignal(signal.SIGINT))
        self.assertEqual(before, signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    def test_who_stops_early_is_not_warned(self):
        """For example because the disk is full."""

        def start(_tasks):
            try:
                yield 0, {}
            except GeneratorExit:
                warnings.warn("some tasks were cancelled", stacklevel=1)
                raise

        with (
            mock.patch.object(sweep.joblib, "Parallel", return_value=start),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            rows = sweep.run(grid())
            next(rows)
            rows.close()
        self.assertEqual([], said)

    def test_a_run_that_was_written_in_part_is_left_out(self):
        out = self.directory / "out"
        points = grid(loads=(0.6,), seeds=(0,))
        with (
            mock.patch.object(pathlib.Path, "replace", side_effect=SystemExit),
            mock.patch.object(pathlib.Path, "unlink"),
        ):
            self.assertRaises(SystemExit, sweep.resume, points, out, jobs=1)
        (part,) = (out / sweep.RUNS).iterdir()
        part.write_text(part.read_text()[:-9])
        self.assertEqual(2, sweep.resume(points, out, jobs=1))
        self.assertEqual(2, len(sweep.collect(out)))

    def test_a_full_disk(self):
        """The error names the run's file, and nothing is left of it."""
        out = self.directory / "out"
        (point, *_others) = grid()
        with full_disk():
            error = self.assertRaises(OSError, sweep.resume, [point], out, jobs=1)
        self.assertEqual(str(out / sweep.RUNS / f"{point.key()}.json"), error.filename)
        self.assertEqual([], list((out / sweep.RUNS).iterdir()))

    def test_a_killed_sweep_goes_on(self):
        out = self.directory / "out"
        command = [sys.executable, "-m", "nova_twotier.sim.cli", "sweep", "lublin:300"]
        command += ["--policy", "fcfs,easy", "--seeds", "100", "--jobs", "1", "--nodes", "32"]
        child = subprocess.Popen([*command, "--out", str(out)], cwd=ROOT)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        deadline = time.monotonic() + 120
        while not list(out.glob("runs/[!.]*.json")):
            self.assertIsNone(child.poll(), "the sweep ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        there = len(sweep.collect(out))
        self.assertFalse((out / sweep.TABLE).exists())
        points = sweep.grid(
            ["lublin:300"], ["fcfs", "easy"], [None], range(100), SCENARIO, nodes=32
        )
        kept = [point for point in points if (out / "runs" / f"{point.key()}.json").exists()]
        self.assertEqual(there, len(kept))
        few = [*kept, *points[there : there + 2]]
        self.assertEqual(2, sweep.resume(few, out, jobs=1))
        self.assertEqual(there + 2, len(sweep.tables.read(out / sweep.TABLE)))

    def test_a_terminated_sweep_ends_its_workers(self):
        out = self.directory / "out"
        command = [sys.executable, "-m", "nova_twotier.sim.cli", "sweep", "lublin:300"]
        command += ["--policy", "fcfs,easy", "--seeds", "999", "--jobs", "2", "--nodes", "32"]
        child = subprocess.Popen(
            [*command, "--out", str(out)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.addCleanup(child.wait)
        self.addCleanup(self.kill_group, child.pid)
        deadline = time.monotonic() + 120
        while not list(out.glob("runs/[!.]*.json")):
            self.assertIsNone(child.poll(), "the sweep ended before it could be terminated")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        # It ends when no process is left that could write to the pipe.
        said, _nothing = child.communicate(timeout=180)
        self.assertEqual((143, b""), (child.returncode, said))
        self.assertEqual([], list(out.glob("runs/.*")))

    def kill_group(self, group):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    def test_a_directory_without_runs(self):
        error = self.assertRaises(sweep.NoResults, sweep.collect, self.directory)
        self.assertEqual(f"{self.directory}: has no finished runs", str(error))
