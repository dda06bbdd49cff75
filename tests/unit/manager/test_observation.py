"""The cluster that a policy is shown."""

import dataclasses
import math

import testtools

from nova_twotier.db.states import JobState
from nova_twotier.ledger.claims import Claim
from nova_twotier.manager import forecast, measurements
from tests.unit.manager.builders import BG, FG, hosts, job, seen, servers, unmanaged_claim


class TestCluster(testtools.TestCase):
    def cluster(self, running=(), starting=None, ending=(), tiers=None, slots=2):
        gangs = [servers(one, hosts=("a", "b")) for one in (*running, *ending)]
        look = seen(*gangs, tiers=tiers, where=hosts("ab", slots=slots))
        return forecast.cluster_of(look, running, starting or {}, ending, 0.96)

    def test_running(self):
        front, back = job(), job(tier=BG)
        made = self.cluster([front, back], tiers=[FG, BG])
        self.assertEqual(
            {front.number: (FG, (0, 1), False), back.number: (BG, (0, 1), False)},
            {n: (run.tier, run.hosts, run.pinned) for n, run in made.runs.items()},
        )
        self.assertEqual({FG: 2, BG: 2}, made.idle)

    def test_expected_ends(self):
        """Known of a job that has started and has an estimate."""
        known = job(started_at=50.0, estimate=30.0)
        running = [known, job(size=1, started_at=50.0), job(size=1, estimate=30.0)]
        made = self.cluster(running, slots=3)
        self.assertEqual(
            [80.0, math.inf, math.inf], [made.runs[one.number].until for one in running]
        )
        self.assertEqual([(80.0, known.number, 2)], list(made.ends))

    def test_no_end_is_expected_after_the_walltime(self):
        """It counts all runs since the job last began anew."""
        running = [
            job(size=1, started_at=50.0, walltime=30.0),
            job(size=1, started_at=10.0, run_since=50.0, run_before=5.0, walltime=30.0),
            job(size=1, started_at=50.0, estimate=90.0, walltime=30.0),
            job(size=1, started_at=50.0, estimate=20.0, walltime=30.0),
        ]
        made = self.cluster(running)
        ends = [made.runs[one.number].until for one in running]
        self.assertEqual([80.0, 75.0, 80.0, 70.0], ends)

    def test_coming_and_going_jobs_are_pinned(self):
        new, old = job(size=3, state=JobState.QUEUED, tier=None), job(started_at=1.0, estimate=9.0)
        made = self.cluster(starting={new: BG}, ending=[old])
        self.assertTrue(all(run.pinned for run in made.runs.values()))
        self.assertEqual({FG: 2, BG: 1}, made.idle)
        self.assertEqual([], made.evictable())

    def test_a_gang_with_too_many_servers(self):
        """Nova may have carried out a request twice; they are about to be deleted."""
        coming, ending = job(size=2, state=JobState.STARTING), job(size=1)
        look = seen(servers(coming, count=2), servers(ending, count=1))
        for one in (coming, ending):
            twice = [dataclasses.replace(each, id=f"{each.id}b") for each in look.gang(one)]
            look.servers[one.uuid].extend(twice)
            look.claims.update(
                {each.id: Claim(each.id, each.host, FG, 50) for each in look.gang(one)}
            )
        made = forecast.cluster_of(look, (), {coming: FG}, [ending], 0.96)
        self.assertEqual([2, 1], [len(made.runs[one.number].hosts) for one in (coming, ending)])

    def test_what_is_placed_is_not_promised_to_others(self):
        """The first one would be ranked onto host `a`, where the second one is by now."""
        first, second = (job(size=1, state=JobState.STARTING) for _ in range(2))
        look = seen(servers(second), where=hosts("ab", slots=1))
        made = forecast.cluster_of(look, (), {first: FG, second: FG}, (), 0.96)
        places = {number: run.hosts for number, run in made.runs.items()}
        self.assertEqual({first.number: (1,), second.number: (0,)}, places)
        self.assertEqual(0, made.idle[FG])

    def test_what_is_placed_is_not_promised_to_the_rest_of_its_gang(self):
        """Host `a` is full of the first two processes: the third comes to host `b`."""
        new = job(size=3, state=JobState.STARTING)
        look = seen(servers(new, hosts=("a", "a", "b")), where=hosts("ab", slots=2))
        del look.claims[look.gang(new)[2].id]
        made = forecast.cluster_of(look, (), {new: FG}, (), 0.96)
        self.assertEqual((0, 0, 1), made.runs[new.number].hosts)

    def test_expected_ends_of_coming_and_going_jobs(self):
        """A job that starts runs from now on; one that ends is about to be gone."""
        new = job(size=1, state=JobState.QUEUED, tier=None, estimate=30.0)
        old = job(started_at=1.0, estimate=900.0)
        look = seen(servers(old, hosts=("a", "b")), where=hosts("ab", slots=2))
        made = forecast.cluster_of(look, (), {new: FG}, [old], 0.96)
        self.assertEqual(look.at + 30.0, made.runs[new.number].until)
        self.assertEqual(look.at, made.runs[old.number].until)


class TestStrangers(testtools.TestCase):
    """Two hosts of two slots; VMs that are no job's hold some."""

    def poll(self, *gangs, **options):
        return seen(*gangs, where=hosts("ab", slots=2), **options)

    def test_they_keep_their_slots(self):
        look = self.poll(
            unmanaged=[unmanaged_claim("a"), unmanaged_claim("b"), unmanaged_claim("b", BG)]
        )
        made = forecast.cluster_of(look, (), {}, (), 0.96)
        self.assertEqual({FG: 2, BG: 3}, made.idle)
        self.assertEqual([], made.evictable())
        self.assertEqual([(True, math.inf)] * 2, [(r.pinned, r.until) for r in made.runs.values()])

    def test_nothing_starts_in_their_places(self):
        new = job(size=2, state=JobState.STARTING)
        look = self.poll(unmanaged=[unmanaged_claim("a"), unmanaged_claim("a")])
        made = forecast.cluster_of(look, (), {new: FG}, (), 0.96)
        self.assertEqual((1, 1), made.runs[new.number].hosts)

    def test_hot_ones_close_their_slots(self):
        """For the ledger as for the policies."""
        hot = [
            unmanaged_claim("a", points=100),
            unmanaged_claim("b", points=95),
            unmanaged_claim("b", BG, points=100),
        ]
        look = self.poll(unmanaged=hot)
        closed = look.closed((), 0.96)
        self.assertEqual({"a": 1, "b": 0}, closed)
        self.assertEqual(list(closed.values()), forecast.cluster_of(look, (), {}, (), 0.96).closed)

    def test_each_server_counts_as_its_own_process(self):
        mixed = job(cpu=0.4)
        mixed.cpu = [0.4, 1.0]
        gang = servers(mixed, hosts=("a", "b"))
        look = self.poll(gang)
        for vm, claim in look.claims.items():
            look.claims[vm] = dataclasses.replace(claim, cpu_points=0)
        self.assertEqual({"a": 0, "b": 1}, look.closed([mixed], 0.96))
        self.assertEqual(({gang[0].id: 40, gang[1].id: 100}, {}), look.points([mixed]))
        made = forecast.cluster_of(look, [mixed], {}, (), 0.96)
        self.assertEqual([0, 1], made.closed)
        del look.claims[gang[0].id]
        made = forecast.cluster_of(look, (), {mixed: FG}, (), 0.96)
        self.assertEqual([0, 1], made.closed, "the first one is not placed yet")

    def test_what_was_measured_counts_instead_of_what_was_declared(self):
        """Points that are not the job's are a measurement: no others are written."""
        declared = job(cpu=0.5)
        gang = servers(declared, hosts=("a", "b"))
        look = self.poll(gang)
        self.assertEqual(({}, {}), look.points([declared]))
        hot = dataclasses.replace(look.claims[gang[1].id], cpu_points=97)
        look = dataclasses.replace(look, claims={**look.claims, hot.vm: hot})
        self.assertEqual(({}, {declared: {1: 0.97}}), look.points([declared]))
        note = measurements.record(declared, {1: 0.97}, 5.0)
        self.assertEqual("CPU of rank 1: 97% (50% before)", str(note.reason))
        self.assertEqual(([0.5, 0.5], [None, 0.97]), (declared.cpu, declared.measured))
        self.assertEqual(({}, {}), look.points([declared]))
        self.assertEqual({"a": 0, "b": 1}, look.closed([declared], 0.96))

    def test_a_job_counts_as_it_says_and_once(self):
        """Its claims have no points yet."""
        hot = job(cpu=1.0)
        gang = servers(hot, hosts=("a", "b"))
        look = self.poll(gang)
        look.claims.update({each.id: Claim(each.id, each.host, FG, 0) for each in gang})
        self.assertEqual({"a": 1, "b": 1}, look.closed([hot], 0.96))
        made = forecast.cluster_of(look, [hot], {}, (), 0.96)
        self.assertEqual(([1, 1], [hot.number]), (made.closed, list(made.runs)))

    def test_what_a_broken_gang_holds(self):
        """A server of it holds two slots, as while it is moved by force."""
        one = job(size=2)
        gang = servers(one, hosts=("a", "b"))
        twice = [Claim(gang[1].id, host, FG, 50) for host in "ab"]
        look = self.poll(gang, others=twice)
        del look.claims[gang[1].id]
        made = forecast.cluster_of(look, [one], {}, (), 0.96)
        self.assertEqual(([2, 1], False), (made.used[FG], one.number in made.runs))

    def test_the_slots_of_who_is_at_rest_are_free(self):
        one = job(state=JobState.QUEUED, tier=None, saved=True)
        gang = servers(one, "SUSPENDED", hosts=("a", "b"))
        look = self.poll(gang)
        self.assertEqual([each.id for each in gang], look.resting(one))
        made = forecast.cluster_of(look, (), {}, (), 0.96, resting=look.resting(one))
        self.assertEqual(4, made.idle[FG])

    def test_who_works_is_not_at_rest(self):
        one = job(size=3, state=JobState.QUEUED, tier=None, saved=True)
        up, busy = servers(one)[0], servers(one, "SUSPENDED", task="resuming")[1]
        off = servers(one, "SHUTOFF")[2]
        self.assertEqual([off.id], self.poll([up, busy, off]).resting(one))

    def test_room(self):
        others = [
            unmanaged_claim("a", points=100),
            unmanaged_claim("b", BG),
            unmanaged_claim("b", BG),
        ]
        look = self.poll(unmanaged=others)
        self.assertEqual([3, 1], [look.room(tier, (), 0.96) for tier in (FG, BG)])
        none = dataclasses.replace(look, enabled=frozenset("b"))
        self.assertEqual([2, 0], [none.room(tier, (), 0.96) for tier in (FG, BG)])

    def test_whose_they_are(self):
        one = job()
        fake = dataclasses.replace(servers(one)[0], id="fake", owner=("p", "u"))
        look = self.poll([*servers(one), fake], unmanaged=[theirs := unmanaged_claim("b")])
        self.assertEqual({"fake", theirs.vm}, {claim.vm for claim in look.unmanaged([one])})


class TestRemember(testtools.TestCase):
    """What was worked out of an observation is worked out again if jobs are not as they were."""

    def test_slots_that_a_measurement_closes(self):
        one = job(size=1, cpu=0.5)
        look = seen(servers(one))
        self.assertEqual(0, look.closed([one], 0.96)["a"])
        one.measure({0: 0.99}, 100.0)
        self.assertEqual(1, look.closed([one], 0.96)["a"])
        self.assertEqual(0, look.closed([one], 1.1)["a"])
        self.assertEqual(0, look.closed([], 0.96)["a"])

    def test_points_that_a_measurement_changes(self):
        one = job(size=1, cpu=0.5)
        look = seen(servers(one))
        self.assertEqual(({}, {}), look.points([one]))
        one.measure({0: 0.7}, 100.0)
        self.assertEqual(({}, {one: {0: 0.5}}), look.points([one]))
        self.assertEqual(({}, {}), look.points([]))

    def test_what_callers_do_with_an_answer_is_theirs(self):
        one = job(size=1, cpu=0.7)
        look = seen(servers(one))
        for _time in range(2):
            answers = look.closed([one], 0.96), look.points([one])[1], look.unmanaged([])
            self.assertTrue(all(answers))
            for answer in answers:
                answer.clear()
