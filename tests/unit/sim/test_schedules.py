"""Schedules in files: of the simulator and of the queue manager."""

import os
import pathlib

import fixtures
import pandas
import testtools

from nova_twotier.db.models import Place
from nova_twotier.manager import schedule as recorded
from nova_twotier.sim import schedules, tables
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads.workload import Submission, Workload

#: 2026-11-18 11:06:40 UTC.
EPOCH = 1_795_000_000.0


def place(job, host, tier, since, until):
    until = None if until is None else EPOCH + until
    return Place(
        job=job, process=0, server="s", host=host, tier=tier, since=EPOCH + since, until=until
    )


class ScheduleCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def recorded(self, *places, written):
        """What `twotier-manage schedule` writes, at this time after the epoch of the test."""
        path = self.directory / "live.csv"
        path.write_text(recorded.as_csv(places))
        os.utime(path, (EPOCH + written, EPOCH + written))
        return schedules.read(path)


class TestRecorded(ScheduleCase):
    def test_hosts_become_slots_in_the_order_of_their_names(self):
        read = self.recorded(
            place(1, "node10", "fg", 0, 60), place(2, "node2", "bg", 30, 90), written=100
        )
        self.assertEqual(("node2", "node10"), read.hosts)
        self.assertTrue(read.dated)
        columns = ["job", "process", "slot", "tier", "begin", "end"]
        self.assertEqual(
            [[1, 0, 1, "fg", EPOCH, EPOCH + 60], [2, 0, 0, "bg", EPOCH + 30, EPOCH + 90]],
            read.stays[columns].to_numpy().tolist(),
        )

    def test_a_held_place_ends_when_the_file_was_written(self):
        read = self.recorded(place(1, "a", "fg", 0, None), written=500)
        self.assertEqual([EPOCH + 500], read.stays["end"].tolist())
        self.assertEqual("Queue manager", read.title)

    def test_a_file_that_is_older_than_a_place(self):
        read = self.recorded(place(1, "a", "fg", 50, None), written=0)
        self.assertEqual([EPOCH + 50], read.stays["end"].tolist())

    def test_hosts_that_are_called_by_numbers(self):
        read = self.recorded(place(1, "10", "fg", 0, 5), place(2, "9", "fg", 0, 5), written=10)
        self.assertEqual((("9", "10"), [1, 0]), (read.hosts, read.stays["slot"].tolist()))

    def test_nothing_recorded(self):
        read = self.recorded(written=10)
        self.assertEqual((0, ()), (len(read.stays), read.hosts))


class TestSimulated(ScheduleCase):
    WORKLOAD = Workload(
        "two", 2, (Submission(1, 0.0, 2, 100.0, 120.0), Submission(2, 50.0, 1, 100.0, 100.0))
    )

    def written(self, suffix, load=0.75):
        result = simulate(self.WORKLOAD, Scenario("fcfs"), record=True)
        path = self.directory / f"schedule{suffix}"
        tables.write(schedules.table(result, load), path)
        return path

    def test_the_title_is_the_run(self):
        for suffix in (".csv", ".parquet"):
            read = schedules.read(self.written(suffix))
            self.assertEqual(("fcfs on two, load 0.75", False), (read.title, read.dated))

    def test_a_run_without_a_load(self):
        self.assertEqual("fcfs on two", schedules.read(self.written(".csv", float("nan"))).title)

    def test_a_schedule_of_before_has_no_title(self):
        path = self.written(".csv")
        tables.write(tables.read(path).drop(columns=list(schedules.ABOUT)), path)
        self.assertEqual("", schedules.read(path).title)

    def test_schedules_of_several_runs(self):
        table = tables.read(self.written(".csv"))
        path = self.directory / "both.csv"
        tables.write(pandas.concat([table, table.assign(policy="easy")]), path)
        error = self.assertRaises(tables.TableError, schedules.read, path)
        self.assertIn("holds the schedules of several runs (policy fcfs, easy)", str(error))
