"""The table of a run, row by row."""

import math

import testtools

from nova_twotier.core.actions import StartKind, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.qos import Qos
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.job_table import COLUMNS, JobTable

LARGE = 2**53 + 1


def ended(number, estimate=None, qos=Qos.NORMAL, **statistics):
    job = Job(number, 2, 0.5, (1.0, 1.0), estimate, foreground=qos is not Qos.SCAVENGER, qos=qos)
    done = Execution(job, (1.0, 1.0), 0.1)
    done.start, done.finish = 1 / 3, 1e9
    done.how, done.first_tier = StartKind.IMMEDIATE, Tier.FG
    for name, value in statistics.items():
        setattr(done, name, value)
    return done


def table(*jobs):
    made = JobTable()
    made.fill(jobs)
    return made.frame()


class TestJobTable(testtools.TestCase):
    def test_a_row(self):
        counts = {"migrations": 1, "evictions": 2, "kills": 3, "swaps": 4}
        found = table(ended(LARGE, 7.0, background=0.2, lost=0.3, **counts))
        row = (LARGE, 0.5, 2, 0.1, 7.0, 1 / 3, 1e9, "immediate", "fg", 0.2, 0.3, 1, 2, 3, 4)
        self.assertEqual([(*row, "normal")], list(found.itertuples(index=False, name=None)))

    def test_by_number(self):
        self.assertEqual([1, 2, 3], list(table(ended(3), ended(1), ended(2))["job"]))

    def test_without_an_estimate(self):
        self.assertTrue(math.isnan(table(ended(1))["estimate"][0]))

    def test_words(self):
        """Each is a category of its own; those that no job has are none."""
        jobs = [ended(index, how=how) for index, how in enumerate(StartKind)]
        jobs += [ended(10 + index, qos=qos, first_tier=Tier.BG) for index, qos in enumerate(Qos)]
        found = table(*jobs)
        self.assertEqual(list(StartKind), list(found["how"][:4]))
        self.assertEqual(["bg", "fg"], list(found["tier"].cat.categories))
        self.assertEqual(list(Qos), list(found["qos"][4:]))
        self.assertEqual(["normal"], list(table(ended(1))["qos"].cat.categories))

    def test_of_no_job(self):
        found = table()
        self.assertEqual(COLUMNS, {name: str(kind) for name, kind in found.dtypes.items()})
