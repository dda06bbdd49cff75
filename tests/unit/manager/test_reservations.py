"""What EASY and conservative backfilling reserve for the job whose turn it is."""

import dataclasses

from nova_twotier.core.policies import POLICIES
from nova_twotier.db.states import ActionKind
from nova_twotier.manager.situation import Situation
from tests.unit.manager.builders import hosts, job, seen, servers, unmanaged_claim
from tests.unit.manager.decision_case import DecisionCase, waiting

RESERVING = ("easy", "easy-sjf", "easy-saf", "conservative")


class TestReservations(DecisionCase):
    """Host `a` has 4 slots, of which running jobs hold three; the first waiting job needs all."""

    def passing(
        self,
        policy,
        other=(),
        unmanaged=(),
        enabled="ab",
        estimate=None,
        later=None,
        known="estimate",
    ):
        """Whether a small job passes it.

        :param other: jobs on host `b`.
        :param estimate: of the running jobs.
        :param later: that of the small job.
        :param known: "walltime" if these are walltimes.
        """
        front = [self.running(estimate, known=known) for _ in range(3)]
        gangs = [servers(one, hosts=("a",)) for one in front]
        gangs += [servers(one, hosts=("b",)) for one in other]
        jobs = [*front, *other, waiting(size=4), small := waiting(size=1, **{known: later})]
        names = "ab" if other or unmanaged else "a"
        where = hosts(names, slots=4, tiers=1)
        look = seen(*gangs, at=1000.0, where=where, unmanaged=unmanaged)
        look = dataclasses.replace(look, enabled=frozenset(enabled))
        plain = {one.number: one for one in jobs if one.plain_waiting}
        numbered = {one.number: one for one in jobs}
        records = self.decisions(policy).decide(Situation(numbered, (), look, 1000.0, plain))
        found = [(record.kind, record.job) for record in records]
        self.assertIn(found, ([], [(ActionKind.START, small.number)]))
        return bool(found)

    def running(self, estimate=None, size=1, known="estimate"):
        return job(size=size, started_at=900.0, run_since=900.0, **{known: estimate})

    def test_the_policies_that_reserve(self):
        self.assertEqual({*RESERVING}, {name for name, each in POLICIES.items() if reserves(each)})

    def test_a_host_alone(self):
        for policy in RESERVING:
            self.assertFalse(self.passing(policy), policy)
            self.assertFalse(self.passing(policy, estimate=500.0, later=1000.0), policy)
            self.assertTrue(self.passing(policy, estimate=500.0, later=10.0), policy)

    def test_walltimes_count_as_estimates(self):
        for policy in RESERVING:
            for later, passing in ((1000.0, False), (10.0, True)):
                found = self.passing(policy, estimate=500.0, later=later, known="walltime")
                self.assertEqual(passing, found, (policy, later))

    def test_beside_servers_of_no_job(self):
        for policy in RESERVING:
            theirs = [unmanaged_claim("b") for _ in range(4)]
            self.assertFalse(self.passing(policy, unmanaged=theirs), policy)

    def test_beside_a_drained_host(self):
        for policy in RESERVING:
            for estimate, later in ((None, None), (500.0, 1000.0)):
                theirs = [self.running(estimate and 200.0, size=4)]
                passing = self.passing(policy, theirs, (), "a", estimate, later)
                self.assertFalse(passing, (policy, estimate))

    def test_what_a_host_in_service_leaves_over(self):
        """Its own jobs may be followed by any other."""
        for policy in RESERVING:
            self.assertTrue(self.passing(policy, [self.running(200.0, size=4)]), policy)


def reserves(policy):
    return bool(getattr(policy, "depth", 0))
