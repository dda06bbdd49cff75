"""Whole runs: what holds for every policy on every cluster, and how wrong scenarios are refused."""

import dataclasses
import math
from itertools import pairwise

import numpy
import pandas
import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.progress import InvalidModel
from nova_twotier.sim.job_table import COLUMNS
from nova_twotier.sim.recorder import Stay
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.utilisation import Utilisation
from tests.unit.sim.run_builders import (
    KILLING,
    ONE_TIER,
    TWO_TIER,
    scenarios,
    workload,
    workloads,
)

#: Rounding of a run.
NOTHING = 1e-6


def lublin(jobs=150, nodes=16, load=0.8):
    return catalogue.load(f"lublin:{jobs}", nodes=nodes, load=load)


def same(left, right):
    return left.equals(right)


class TestScenario(testtools.TestCase):
    def refuse(self, error, text, **fields):
        raised = self.assertRaises(error, Scenario, **({"policy": "cmcbf"} | fields))
        self.assertIn(text, str(raised))

    def test_unknown_policy(self):
        self.refuse(policies.UnknownPolicy, "choose one of: acfcfs", policy="sjf")

    def test_unknown_progress_model(self):
        self.refuse(InvalidModel, "tpds, jss", progress="no-such-model")

    def test_unknown_field_of_the_model(self):
        self.refuse(InvalidModel, "'speed' is unknown", reading={"speed": 1})

    def test_wrong_field_of_the_model(self):
        for reading in (
            {"processes": "fastest"},
            {"draw": "never"},
            {"floor": 2},
            {"loss": 0.1},
            {"loss": (0.3, 0.1)},
        ):
            self.refuse(InvalidModel, next(iter(reading)), reading=reading)

    def test_costs(self):
        for cost in (-1.0, math.inf, math.nan):
            self.refuse(InvalidScenario, "migration_cost is", migration_cost=cost)

    def test_shape_of_hosts(self):
        for name in ("slots", "tiers"):
            for count in (0, -1):
                self.refuse(InvalidScenario, f"{name} is {count}", **{name: count})

    def test_every_error_is_a_value_error(self):
        for error in (policies.UnknownPolicy, InvalidModel, InvalidScenario):
            self.assertTrue(issubclass(error, ValueError))

    def test_reading_changes_the_model_that_it_is_based_on(self):
        model = Scenario("cmcbf", progress="jss", reading={"floor": 0.1}).model()
        self.assertEqual((0.1, (0.005, 0.04)), (model.floor, model.loss))


class TestResult(testtools.TestCase):
    def test_columns(self):
        frame = simulate(workload(2, (0, 1, 5)), Scenario("easy")).jobs
        self.assertEqual(COLUMNS, {name: str(kind) for name, kind in frame.dtypes.items()})

    def test_one_row_a_job_by_number(self):
        frame = simulate(workload(2, (9, 2, 50), (3, 1, 5), (0, 1, 500)), Scenario("fcfs")).jobs
        self.assertEqual([1, 2, 3], list(frame["job"]))
        self.assertEqual([9, 3, 0], list(frame["arrival"]))

    def test_about_the_run(self):
        found = simulate(workload(3, (10, 2, 50), (20, 1, 100)), Scenario("fcfs", seed=4))
        self.assertEqual(("t", 3, 110), (found.workload, found.nodes, found.span))
        self.assertEqual(4, found.scenario.seed)
        self.assertIsNone(found.schedule)

    def test_cpu_that_is_used(self):
        half = Utilisation(0.5, 0.5)
        found = simulate(workload(3, (10, 2, 50), (20, 1, 100)), Scenario("fcfs", utilisation=half))
        # A job of one process uses all of its slot.
        self.assertEqual(50 + 100, found.busy)

    def test_hosts_are_whole(self):
        for policy in ("fcfs", "cmcbf"):
            found = simulate(workload(4, (0, 6, 5)), Scenario(policy, slots=3))
            self.assertEqual((6, 1), (found.nodes, len(found.jobs)), policy)

    def test_rejected_jobs_are_reported_and_the_run_goes_on(self):
        for policy in sorted(policies.POLICIES):
            found = simulate(workload(2, (0, 3, 5), (1, 2, 5), (2, 9, 5)), Scenario(policy))
            self.assertEqual([2], list(found.jobs["job"]), policy)
            self.assertEqual([6], list(found.jobs["finish"]), policy)
            self.assertEqual(
                [
                    [1, 3, "needs 3 slots; the cluster has 2"],
                    [3, 9, "needs 9 slots; the cluster has 2"],
                ],
                found.rejected.to_numpy().tolist(),
            )

    def test_all_jobs_rejected(self):
        found = simulate(workload(1, (0, 3, 5)), Scenario("easy"), record=True)
        self.assertEqual((0, 1, 0), (len(found.jobs), len(found.rejected), len(found.schedule)))
        self.assertEqual((0, 0), (found.span, found.busy))
        self.assertEqual(list(COLUMNS), list(found.jobs.columns))

    def test_exact_estimates(self):
        jobs = workload(2, (0, 2, 10, 99), (1, 1, 5, 0))
        self.assertEqual([99, 0], list(simulate(jobs, Scenario("easy")).jobs["estimate"]))
        exact = simulate(jobs, Scenario("easy", estimates="exact")).jobs
        self.assertEqual([10, 5], list(exact["estimate"]))

    def test_schedule(self):
        found = simulate(workload(2, (0, 2, 10), (1, 1, 5)), Scenario("fcfs"), record=True)
        self.assertEqual(list(Stay._fields), list(found.schedule.columns))
        self.assertEqual(
            [[1, 0, 0, "fg", 0, 10], [1, 1, 1, "fg", 0, 10], [2, 0, 0, "fg", 10, 15]],
            found.schedule.to_numpy().tolist(),
        )

    def test_one_tier_turns_the_background_off(self):
        jobs = workload(4, (0, 2, 10), (1, 4, 10), (2, 2, 30))
        without = simulate(jobs, Scenario("cmcbf", tiers=1)).jobs
        self.assertEqual({"fg"}, set(without["tier"]))
        self.assertEqual([10, 20, 62], list(without["finish"]))

    def test_tiers_of_a_slot(self):
        jobs = workload(2, *([(0, 2, 10)] * 4))
        scenario = Scenario("ktier-cmbf", utilisation=Utilisation(0.1, 0.2))
        for tiers, running in ((None, 3), (1, 1), (2, 2), (3, 3), (4, 4)):
            frame = simulate(jobs, dataclasses.replace(scenario, tiers=tiers)).jobs
            self.assertEqual(running, (frame["start"] == 0).sum(), tiers)


class TestInvariants(testtools.TestCase):
    """Of any run."""

    @settings(max_examples=150)
    @given(workloads(), scenarios())
    def test_every_run(self, workload, scenario):
        result = simulate(workload, scenario, record=True)
        self.check_jobs(workload, result)
        self.check_counts(result)
        self.check_schedule(result)
        if policies.get(scenario.policy).tiers == 1:
            self.check_work(result)

    def check_jobs(self, workload, result):
        frame, rejected = result.jobs, result.rejected
        capacity = math.ceil(workload.nodes / result.scenario.slots) * result.scenario.slots
        self.assertEqual(capacity, result.nodes)
        fitting = sorted(job.number for job in workload.jobs if job.size <= capacity)
        self.assertEqual(fitting, list(frame["job"]))
        self.assertEqual(
            sorted(job.number for job in workload.jobs if job.size > capacity),
            sorted(rejected["job"]),
        )
        self.assertTrue(all(rejected["reason"].str.contains(f"the cluster has {capacity}")))
        # Policies need not be told an estimate.
        self.assertFalse(frame.drop(columns="estimate").isna().any(axis=None))
        self.assertTrue((frame["start"] >= frame["arrival"]).all())
        self.assertTrue((frame["finish"] >= frame["arrival"] + frame["runtime"] - NOTHING).all())
        if len(frame):
            span = frame["finish"].max() - frame["arrival"].min()
            self.assertAlmostEqual(span, result.span)

    def check_counts(self, result):
        frame, name = result.jobs, result.scenario.policy
        self.assertTrue((frame.loc[:, "background_time":"swaps"] >= 0).all(axis=None))
        self.assertTrue((frame["kills"][frame["lost_time"] > 0] > 0).all())
        if name not in KILLING:
            self.assertEqual(0, frame["kills"].sum())
        else:
            self.assertEqual(0, frame["migrations"].sum() + frame["evictions"].sum())
        if name not in TWO_TIER:
            self.assertEqual({"fg"} if len(frame) else set(), set(frame["tier"]))
            self.assertEqual(0, frame["swaps"].sum() + frame["background_time"].sum())
            self.assertTrue((frame["migrations"] == frame["evictions"]).all())
        if name not in (*TWO_TIER, "cmbf", "ambf", "bgmbf", "bgmbf-sdf"):
            self.assertTrue((frame["finish"] - frame["start"] - frame["runtime"] < NOTHING).all())
        # A restore follows each eviction.
        self.assertTrue((frame["migrations"] >= frame["evictions"]).all())

    def check_schedule(self, result):
        stays = result.schedule
        self.assertTrue((stays["end"] > stays["begin"]).all())
        self.assertTrue(stays["slot"].between(0, result.nodes - 1).all())
        tiers = result.scenario.tiers or policies.get(result.scenario.policy).tiers
        for (_slot, tier), there in stays.groupby(["slot", "tier"]):
            self.assertLessEqual(most_at_once(there), 1 if tier == "fg" else tiers - 1)
        sizes = result.jobs.set_index("job")
        for number, of_job in stays.groupby("job"):
            job = sizes.loc[number]
            turns = []
            for begin, gang in of_job.groupby("begin"):
                self.assertEqual(list(range(job["size"])), list(gang["process"]))
                self.assertEqual(1, len(set(zip(gang["tier"], gang["end"], strict=True))))
                self.assertEqual(job["size"], gang[["slot"]].nunique().sum() + shared(gang))
                turns.append((begin, gang["end"].iloc[0]))
            self.assertTrue(all(end <= begin for (_, end), (begin, _) in pairwise(turns)))
            self.assertGreaterEqual(turns[0][0], job["start"])
            self.assertAlmostEqual(job["finish"], turns[-1][1], 6)
            there = sum(end - begin for begin, end in turns)
            behind = of_job[(of_job["tier"] == "bg") & (of_job["process"] == 0)]
            held = (behind["end"] - behind["begin"]).sum()
            self.assertAlmostEqual(held, job["background_time"], 6)
            # Nothing is faster than a slot of one's own, and what is lost has to be done again.
            self.assertGreaterEqual(there, job["runtime"] + job["lost_time"] - NOTHING)
        idle = set(sizes.index) - set(stays["job"])
        self.assertTrue((sizes.loc[sorted(idle), "runtime"] <= NOTHING).all())

    def check_work(self, result):
        """In one tier, time on slots is work, but for restores."""
        cost = result.scenario.migration_cost
        lengths = result.schedule["end"] - result.schedule["begin"]
        spent = lengths.groupby(result.schedule["job"]).sum()
        for row in result.jobs.itertuples():
            work = row.size * row.runtime
            slack = row.size * cost * row.migrations
            self.assertTrue(-NOTHING <= spent.get(row.job, 0) - work <= slack + NOTHING, row)
        # Slots cannot be busier than always.
        self.assertLessEqual(result.busy, result.nodes * result.span + NOTHING)

    @settings(max_examples=60)
    @given(workloads(), scenarios(ONE_TIER))
    def test_counted_slots_are_as_good_as_named_ones(self, workload, scenario):
        counted = simulate(workload, scenario)
        named = simulate(workload, scenario, record=True)
        pandas.testing.assert_frame_equal(counted.jobs, named.jobs, rtol=0, atol=0)
        self.assertEqual((counted.nodes, counted.span), (named.nodes, named.span))
        self.assertAlmostEqual(counted.busy, named.busy, 6)

    @settings(max_examples=60)
    @given(workloads(), scenarios(TWO_TIER))
    def test_deterministic_and_the_same_if_it_is_recorded(self, workload, scenario):
        runs = [simulate(workload, scenario, record=record) for record in (True, True, False)]
        for other in runs[1:]:
            self.assertTrue(same(runs[0].jobs, other.jobs))
            self.assertEqual(runs[0].busy, other.busy)
        self.assertTrue(same(runs[0].schedule, runs[1].schedule))

    @settings(max_examples=100)
    @given(workloads(), scenarios(TWO_TIER))
    def test_cpu_that_is_used_is_not_more_than_there_is(self, workload, scenario):
        result = simulate(workload, scenario)
        # What the model gives to the background at least, it takes from nobody.
        tiers = scenario.tiers or policies.get(scenario.policy).tiers
        most = 1 + (tiers - 1) * scenario.model().floor
        self.assertLessEqual(result.busy, most * result.nodes * result.span + NOTHING)

    @settings(max_examples=60)
    @given(workloads(), st.data())
    def test_cpu_that_is_used_if_slots_close_in_time(self, workload, data):
        """The background never has more than the foreground leaves."""
        exact = Utilisation(data.draw(st.sampled_from((0.1, 0.6))), 0.95)
        names = [name for name in TWO_TIER if name not in (*KILLING, "ktier-cmbf")]
        scenario = data.draw(scenarios(names, tiers=2, utilisation=exact, reading={"floor": 0.04}))
        result = simulate(workload, scenario)
        self.assertLessEqual(result.busy, result.nodes * result.span + NOTHING)


class TestWorkThatIsLost(testtools.TestCase):
    """JSS: whoever is killed has lost what it had done."""

    def test_lost_if_killed(self):
        seen = 0
        for policy in KILLING:
            frame = simulate(lublin(), Scenario(policy)).jobs
            killed, lost = frame["kills"] > 0, frame["lost_time"] > 0
            self.assertTrue((killed | ~lost).all())
            seen += lost.sum()
            # All that were killed had run: no two events of this workload are at one instant.
            self.assertEqual(list(killed), list(lost), policy)
        self.assertGreater(seen, 10)

    def test_nobody_is_killed_otherwise(self):
        for policy in sorted({*ONE_TIER, *TWO_TIER} - {*KILLING}):
            frame = simulate(lublin(), Scenario(policy)).jobs
            self.assertEqual((0, 0), (frame["kills"].sum(), frame["lost_time"].sum()), policy)


class TestSeed(testtools.TestCase):
    def test_another_seed_is_another_outcome_in_two_tiers(self):
        for policy in TWO_TIER:
            first, again, other = (
                simulate(lublin(), Scenario(policy, seed=seed)).jobs for seed in (0, 0, 1)
            )
            self.assertTrue(same(first, again), policy)
            self.assertFalse(same(first, other), policy)

    def test_in_one_tier_it_is_the_cpu_only(self):
        for policy in ONE_TIER:
            first, other = (simulate(lublin(60), Scenario(policy, seed=seed)) for seed in (0, 1))
            self.assertTrue(same(first.jobs, other.jobs), policy)
            self.assertNotEqual(first.busy, other.busy)

    def places(self, seed, error, draws="mean"):
        alike = Utilisation(0.5, 0.5, error)
        scenario = Scenario("cmcbf", utilisation=alike, seed=seed, reading={"draw": draws})
        return simulate(lublin(60), scenario, record=True).schedule

    def test_places_are_drawn_if_nothing_is_known(self):
        first, again, other = (self.places(seed, None) for seed in (0, 0, 1))
        self.assertTrue(same(first, again))
        self.assertFalse(same(first, other))

    def test_places_are_ranked_otherwise(self):
        first, other = (self.places(seed, 0.0) for seed in (0, 1))
        self.assertTrue(same(first, other))
        self.assertFalse(same(first, self.places(0, None)))

    def test_efficiencies_are_drawn(self):
        for draws in ("job", "process"):
            first, again, other = (self.places(seed, 0.0, draws) for seed in (0, 0, 1))
            self.assertTrue(same(first, again))
            self.assertFalse(same(first, other))


def most_at_once(stays):
    """Stays of the instant that has most of them."""
    begins, ends = numpy.sort(stays["begin"]), numpy.sort(stays["end"])
    # What ends as another begins makes room for it.
    there = numpy.arange(1, len(begins) + 1) - numpy.searchsorted(ends, begins, side="right")
    return there.max()


def shared(gang):
    """Processes of a job that share a slot with another of it, as background ones may."""
    return len(gang) - gang["slot"].nunique() if gang["tier"].iloc[0] == "bg" else 0
