"""`openstack twotier schedule list`."""

from tests.unit.api.test_schedule import ScheduleCase, text
from tests.unit.client.case import CommandCase


class TestSchedule(ScheduleCase, CommandCase):
    def setUp(self):
        super().setUp()
        self.run_now(self.first, hosts=("node1",))
        self.predict(self.first, start=None, start_low=None, start_high=None)
        self.predict(self.job)
        self.predict_pool()

    def rows(self, *words):
        return [list(row.values()) for row in self.shown("schedule", "list", *words)]

    def test_stays_and_those_to_come(self):
        since, begin, end = (text(self.now + at) for at in (-60.0, 1200.0, 4800.0))
        held, to_come = self.rows()
        number, host = str(self.first["number"]), held.pop()
        self.assertEqual(56, len(host))
        self.assertEqual([number, "first", "demo", 1, 0, 2, "fg", since, None, None, end], held)
        nothing = [None, None, None, None, None]
        expected = [str(self.job["number"]), "mine", "demo", 8, *nothing, begin, end, None]
        self.assertEqual(expected, to_come)

    def test_a_table(self):
        """What is recorded is not expected, and what is expected has no place yet."""
        table = self.succeed("schedule", "list", "--max-width", "0")
        held, to_come = [line for line in table.splitlines() if "first" in line or "mine" in line]
        since, begin = (f"{text(self.now + at)[:19]}Z" for at in (-60.0, 1200.0))
        self.assertIn(since, held)
        self.assertIn(begin, to_come)
        self.assertNotIn("None", table)

    def test_no_such_pool(self):
        self.assertIn("there is no such pool", self.refused("schedule", "list", "--pool", "nope"))

    def test_jobs_of_others(self):
        self.run_now(self.theirs, hosts=("node2",))
        anonymous = [row[:7] for row in self.rows() if row[0] is None]
        self.assertEqual([[None, None, None, 1, None, 2, "fg"]], anonymous)

    def test_a_window(self):
        window = "--from", text(self.now - 90.0), "--to", text(self.now)
        self.assertEqual(["first"], [row[1] for row in self.rows(*window)])
        self.assertEqual([], self.rows("--to", "2d"))

    def test_every_page(self):
        for each in range(3):
            self.hold_slot(self.job, 0, since=self.now - 9.0 + each, until=self.now)
        whole = self.rows()
        self.OPTIONS = "max_limit = 1"
        self.application = self.make()[1]
        self.assertEqual((5, whole), (len(whole), self.rows()))
