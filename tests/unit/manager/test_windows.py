"""What planned drains mean for waiting jobs: of the pool's own hosts only."""

import dataclasses

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.reasons import waits
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.core.windows import Decision
from nova_twotier.manager.windows import Windows
from tests.unit.manager.builders import hosts, options, seen
from tests.unit.manager.decision_case import DecisionCase, waiting

NOW = 1000.0


class TestWindows(DecisionCase):
    def windows(self, job, closes):
        look = dataclasses.replace(seen(at=NOW, where=hosts("ab")), closes=closes)
        return Windows(options(boot_grace=0.0), {job.number: job}, look, NOW)

    def after(self, job, closes):
        cluster = Hosts([Host(name, 4, **closes.get(name, {})) for name in "ab"])
        return Snapshot(cluster, [job.core])

    def test_those_of_other_pools_do_not_count(self):
        """The other one is earlier, and the job would run into it."""
        job = waiting(size=8, walltime=500.0)
        after = self.after(job, {})
        for closes in ({"z": NOW + 100.0}, {"z": NOW + 100.0, "b": NOW + 600.0}):
            windows = self.windows(job, closes)
            self.assertIs(after, windows.lasting(after))
            found = windows.reasons(Decision([], after), {job.number: job}, True)
            self.assertEqual(({}, {}), found)

    def test_the_reason_names_the_earliest_of_its_own(self):
        job = waiting(size=8, walltime=500.0)
        windows = self.windows(job, {"z": 1.0, "b": NOW + 60.0})
        after = self.after(job, {"b": {"closes": NOW + 60.0}})
        self.assertEqual(
            [4, 4], [windows.lasting(after).cluster.room(FG, 0), after.cluster.room(FG, 1)]
        )
        reason = windows.reasons(Decision([], after), {job.number: job}, True).alone[job.number]
        self.assertIn("1970-01-01T00:17:40", str(reason))

    def held_up(self, size, busy, background, walltime=500.0):
        """The window's part in why a job waits for two hosts of 4 slots, of which b is maintained
        from `NOW + 60` on, while one job holds some of the slots of a, or all of a and some of b.
        """
        job = waiting(size=size, walltime=walltime)
        windows = self.windows(job, {"b": NOW + 60.0})
        after = self.after(job, {"b": {"closes": NOW + 60.0}})
        if busy:
            other = waiting(size=busy)
            on = tuple(0 if process < 4 else 1 for process in range(busy))
            after.cluster.adopt(Run(other.core, FG, on))
            if background:
                after.cluster.adopt(Run(waiting(size=busy).core, BG, on))
        found = windows.reasons(Decision([], after), {job.number: job}, background)
        return found.alone.get(job.number), found.besides.get(job.number)

    def test_which_cause_holds(self):
        said = {"begin": "1970-01-01T00:17:40Z", "limit": 500}
        barred = {"barred": 4, **said}
        alone = lambda size, idle: waits.WINDOW(size=size, idle=idle, slots=4, **said)  # noqa: E731
        for size, busy, expected in (
            # Without the window, slots would be enough.
            (6, 0, (alone(6, 4), None)),
            (4, 1, (alone(4, 3), None)),
            # Slots are short; the other host is never large enough, or would be if it were idle.
            (6, 3, (alone(6, 1), None)),
            (6, 8, (alone(6, 0), None)),
            (4, 5, (None, barred)),
            (4, 8, (None, barred)),
            # Nothing keeps it from starting.
            (4, 0, (None, None)),
        ):
            # A policy of one tier does not use the idle background.
            for background in (True, False):
                found = self.held_up(size, busy, background)
                self.assertEqual(expected, found, (size, busy, background))
                short = self.held_up(size, busy, background, walltime=50.0)
                self.assertEqual((None, None), short)

    def test_who_cannot_start_before_all_close_is_left_out(self):
        """The others see all places."""
        long, short = waiting(size=5, walltime=500.0), waiting(size=8, walltime=50.0)
        closes = dict.fromkeys("ab", NOW + 100.0)
        look = dataclasses.replace(seen(at=NOW, where=hosts("ab")), closes=closes)
        jobs = {job.number: job for job in (long, short)}
        cluster = Hosts([Host(name, 4, closes=at) for name, at in closes.items()])
        after = Snapshot(cluster, [long.core, short.core])
        shown = Windows(options(boot_grace=0.0), jobs, look, NOW).lasting(after)
        self.assertEqual([short.number], [job.number for job in shown.queue])
        self.assertEqual(8, shown.cluster.idle["fg"])
        self.assertEqual(2, len(after.queue))
