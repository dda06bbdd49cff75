"""EASY and conservative backfilling in time: no reservation is broken."""

import heapq
import math
from dataclasses import replace
from unittest import mock

import testtools
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies, queue
from nova_twotier.core.actions import StartKind
from nova_twotier.core.cluster import UNMANAGED, Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies.profile import Profile
from nova_twotier.core.policies.shadow import Shadow
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import FG, cluster, job

#: The properties are inherited: each policy's class runs them, which is meant.
inherited = settings(max_examples=100, suppress_health_check=[HealthCheck.differing_executors])


@st.composite
def workloads(draw, early=(0,), unknown=False):
    """Slots, and jobs with their run times, which are shorter by `early` than the estimates."""
    slots = draw(st.integers(1, 8))
    shape = st.tuples(
        st.integers(1, slots), st.integers(0, 3), st.integers(1, 20), st.sampled_from(early)
    )
    count = draw(st.integers(1, 20))
    shapes = draw(st.lists(shape, min_size=count, max_size=count))
    jobs, arrival = [], 0
    for number, (size, gap, expected, less) in enumerate(shapes, start=1):
        arrival += gap
        runtime = max(1, expected - less)
        known = not (unknown and draw(st.integers(0, 4)) == 0)
        estimate = float(expected) if known else None
        jobs.append((Job(number, size, float(arrival), (0.5,) * size, estimate=estimate), runtime))
    return slots, jobs


def bodies(slots):
    """The same slots as each kind of cluster has them."""
    half = slots // 2
    hosts = [Host("a", slots - half), Host("b", half)] if half else [Host("a", slots)]
    return Counted(slots), Nodes(slots), Hosts(hosts)


@st.composite
def in_the_way(draw, slots):
    """A drained host beside another one, jobs of both, and servers that are no job's.

    :param slots: of the other host, besides those of the servers.
    :returns: the cluster, and the jobs with their run times, none longer than estimated.
    """
    servers, jobs, places = draw(st.integers(0, 3)), [], []
    fields = st.integers(0, 4), st.integers(0, 4), st.integers(1, 20), st.sampled_from((0, 3, 19))
    for here, there, expected, less in draw(st.lists(st.tuples(*fields), max_size=5)):
        on = (0,) * min(here, slots - places.count(0)) + (1,) * there
        if on:
            number = 100 + len(jobs)
            # They were there before all others.
            each = job(number, len(on), arrival=-1.0, estimate=float(expected))
            jobs.append((each, max(1, expected - less), on))
            places += on
    made = Hosts([Host("a", slots + servers), Host("b", 20, enabled=False)])
    for each, _runtime, on in jobs:
        made.adopt(Run(each, FG, on, until=each.estimate))
    if servers:
        made.adopt(Run(job(UNMANAGED[FG], servers), FG, (0,) * servers, pinned=True))
    return made, [(each, runtime) for each, runtime, _on in jobs]


class Simulation:
    """Jobs arrive and end in time; `watch` sees the state before each decision, and the starts.

    :param there: jobs that run already, since the time 0, and their run times.
    """

    def __init__(self, policy, made, jobs, watch, there=()):
        self.policy = policies.get(policy)
        self.snapshot = Snapshot(made)
        self.runtimes = {each.number: runtime for each, runtime in jobs}
        self.arrivals = [each for each, _runtime in jobs]
        self.watch = watch
        self.begun = {each.number: 0.0 for each, _runtime in there}
        self.ends = [(float(runtime), each.number, each) for each, runtime in there]

    def run(self):
        ends, arrivals = self.ends, list(self.arrivals)
        heapq.heapify(ends)
        while arrivals or ends:
            now = min(
                arrivals[0].arrival if arrivals else math.inf, ends[0][0] if ends else math.inf
            )
            event = Event(0)
            while ends and ends[0][0] == now:
                self.snapshot.cluster.remove(heapq.heappop(ends)[2])
                event |= Event.FOREGROUND
            while arrivals and arrivals[0].arrival == now:
                self.snapshot.queue.add(arrivals.pop(0))
                event |= Event.ARRIVAL
            before = list(self.snapshot.queue), self.running(), self.snapshot.cluster.idle[FG]
            actions = self.policy.schedule(self.snapshot, event, now)
            for action in actions:
                self.begun[action.job.number] = now
                end = now + self.runtimes[action.job.number]
                heapq.heappush(ends, (end, action.job.number, action.job))
            self.watch(now, *before, actions)
        return self.begun

    def running(self):
        """Of each running job, how many slots will be idle after it, and its expected end."""
        cluster = self.snapshot.cluster
        lost = {index for index, host in enumerate(cluster.hosts) if not host.enabled}
        return [
            (
                run.job.size - sum(host in lost for host in run.hosts),
                self.begun[number] + run.job.expected,
            )
            for number, run in cluster.runs.items()
            if number > 0
        ]


def shadow_of(head, running, idle, now):
    """When the head fits by the estimates, and the slots that it leaves then: by definition."""
    for at in sorted({max(until, now) for _size, until in running if until < math.inf}):
        free = idle + sum(size for size, until in running if max(until, now) <= at)
        if free >= head.size:
            return at, free - head.size
    everything = idle + sum(size for size, _until in running)
    return math.inf, max(0, everything - head.size)


def easy_starts(queue, running, idle, now, turn):
    """EASY as it is described: the head in its turn, and whoever does not delay it.

    :param turn: what the jobs behind the head are sorted by.
    """
    queue, running, started = list(queue), list(running), []

    def start(one):
        nonlocal idle
        queue.remove(one)
        running.append((one.size, now + one.expected))
        started.append(one.number)
        idle -= one.size

    while queue and queue[0].size <= idle:
        start(queue[0])
    if not queue:
        return started
    at, extra = shadow_of(queue[0], running, idle, now)
    for one in sorted(queue[1:], key=turn):
        if one.size > idle:
            continue
        if at < math.inf and now + one.expected <= at:
            start(one)
        elif one.size <= extra:
            extra -= one.size
            start(one)
    return started


class TestEasy(testtools.TestCase):
    policy = "easy"

    def turn(self, job):
        return job.order

    def simulate(self, made, jobs, promises=True, there=()):
        promised = {}

        def watch(now, queue, running, idle, actions):
            started = [action.job.number for action in actions]
            self.assertEqual(easy_starts(queue, running, idle, now, self.turn), started)
            waiting = [one for one in queue if one.number not in started]
            if waiting:
                head = waiting[0]
                left = idle - sum(one.size for one in queue if one.number in started)
                both = running + [(o.size, now + o.expected) for o in queue if o.number in started]
                at, _extra = shadow_of(head, both, left, now)
                promised[head.number] = min(at, promised.get(head.number, math.inf))
            for action in actions:
                ahead = [one for one in waiting if one.order < action.job.order]
                how = StartKind.BACKFILLED if ahead else StartKind.IMMEDIATE
                if not ahead and action.job.arrival < now:
                    how = StartKind.RESERVED
                self.assertEqual(how, action.how)

        begun = Simulation(self.policy, made, jobs, watch, there).run()
        self.assertEqual(len(jobs) + len(there), len(begun))
        if promises:
            for number, at in promised.items():
                self.assertLessEqual(begun[number], at, f"job {number} was delayed")

    @inherited
    @given(workloads(early=(0, 0, 1, 5, 19)))
    def test_the_head_is_never_delayed(self, workload):
        """Jobs end when they are estimated to, or before."""
        slots, jobs = workload
        for made in bodies(slots):
            self.simulate(made, jobs)
        with mock.patch.object(queue, "_SHORT", -1):
            self.simulate(Counted(slots), jobs)

    @inherited
    @given(workloads(early=(0, 0, 1, 5, 19)), st.data())
    def test_slots_that_nobody_can_get_delay_the_head_neither(self, workload, data):
        """Those of a drained host, and of servers that are no job's."""
        slots, jobs = workload
        made, there = data.draw(in_the_way(slots))
        self.simulate(made, jobs, there=there)

    @inherited
    @given(workloads(early=(0, 5, -5, -30), unknown=True))
    def test_wrong_and_missing_estimates(self, workload):
        """Decides as described all the same, and every job runs."""
        slots, jobs = workload
        self.simulate(Counted(slots), jobs, promises=False)
        with mock.patch.object(queue, "_SHORT", -1):
            self.simulate(Counted(slots), jobs, promises=False)


class TestEasySjf(TestEasy):
    policy = "easy-sjf"

    def turn(self, job):
        return job.expected, job.order


class TestEasySaf(TestEasy):
    policy = "easy-saf"

    def turn(self, job):
        return job.size * job.expected, job.order


class TestShadow(testtools.TestCase):
    def shadow(self, *runs, now=10.0, head=3):
        made = cluster(4)
        for number, (size, until) in enumerate(runs, start=1):
            made.start(job(number, size), FG, until=until)
        found = Shadow(made, job(9, head), now)
        return found.at, found.extra

    def test_when_enough_have_ended(self):
        self.assertEqual((30.0, 0), self.shadow((1, 20.0), (1, 30.0), (2, 40.0), head=2))
        self.assertEqual((30.0, 2), self.shadow((1, 20.0), (3, 30.0), head=2))

    def test_all_that_end_together_count(self):
        self.assertEqual((20.0, 1), self.shadow((2, 20.0), (1, 20.0), head=3))

    def test_who_overran_ends_any_moment(self):
        self.assertEqual((10.0, 1), self.shadow((2, 5.0), (2, 7.0)))

    def test_without_estimates(self):
        """Of all slots it leaves what the head does not need."""
        self.assertEqual((math.inf, 1), self.shadow((2, math.inf), (2, math.inf)))
        self.assertEqual((math.inf, 1), self.shadow((2, 20.0), (2, math.inf)))

    def test_only_slots_that_become_idle_count(self):
        """Not those on hosts that take no new VMs, nor those of servers that are no job's."""
        hosts = [Host("a", 5), Host("b", 4, enabled=False)]
        for until, found in ((1000.0, (1000.0, 1)), (math.inf, (math.inf, 1))):
            runs = [
                Run(job(1, 4), FG, (0, 0, 0, 1), until=until),
                Run(job(2, 3), FG, (1,) * 3, until=100.0),
                Run(job(UNMANAGED[FG]), FG, (0,), pinned=True),
            ]
            shadow = Shadow(Hosts(hosts, runs=runs), job(3, 3), 10.0)
            self.assertEqual(found, (shadow.at, shadow.extra))

    def test_a_host_with_more_vms_than_slots(self):
        """One of them has to end before a slot becomes idle."""
        runs = [Run(job(1), FG, (0,), until=20.0), Run(job(2, 2), FG, (0, 0), until=30.0)]
        shadow = Shadow(Hosts([Host("a", 2)], runs=runs), job(3), 10.0)
        self.assertEqual((30.0, 1), (shadow.at, shadow.extra))

    def test_whoever_ends_before_takes_nothing_away(self):
        made = cluster(4)
        made.start(job(1, 3), FG, until=20.0)
        found = Shadow(made, job(2, 4), 10.0)
        self.assertEqual(0, found.extra)
        short = job(3, estimate=10.0)
        waiting = Queue([job(2, 4), short, job(4, estimate=10.5), job(5)])
        self.assertEqual(short, found.next(waiting, job(2, 4), 1))
        self.assertIsNone(found.next(waiting, short, 1))
        self.assertEqual(0, found.extra)

    def test_the_extra_slots_are_given_once(self):
        made = cluster(4)
        made.start(job(1, 3), FG, until=20.0)
        found = Shadow(made, job(2, 3), 10.0)
        waiting = Queue([job(2, 3), job(3), job(4)])
        self.assertEqual(job(3), found.next(waiting, job(2, 3), 1))
        self.assertIsNone(found.next(waiting, job(3), 1))

    def test_none_ends_in_time_when_nobody_knows_by_when(self):
        made = cluster(4)
        made.start(job(1, 3), FG)
        found = Shadow(made, job(2, 4), 10.0)
        self.assertIsNone(found.next(Queue([job(2, 4), job(3, estimate=0.0)]), job(2, 4), 1))


class TestTooLargeForNow(testtools.TestCase):
    def test_it_holds_up_nobody(self):
        """Nothing that ends makes room for the head: servers of no job have what it lacks."""
        for name in ("easy", "easy-sjf", "easy-saf", "conservative"):
            for until in (50.0, math.inf):
                on = cluster(10, tiers=1)
                servers = job(UNMANAGED[FG], 4)
                on.adopt(Run(servers, FG, (0,) * 4, pinned=True))
                on.adopt(Run(job(1, 2), FG, (0, 0), until=until))
                waiting = [job(2, 8, estimate=10.0), job(3, estimate=5.0), job(4)]
                actions = policies.get(name).schedule(Snapshot(on, waiting), Event.ARRIVAL, 0.0)
                started = sorted(each.job.number for each in actions)
                self.assertEqual([3, 4], started, (name, until))


class TestWalltimes(testtools.TestCase):
    """A walltime is enforced: a job is expected to run no longer."""

    def test_what_is_expected(self):
        for estimate, walltime, expected in (
            (None, None, math.inf),
            (30.0, None, 30.0),
            (None, 20.0, 20.0),
            (30.0, 20.0, 20.0),
            (10.0, 20.0, 10.0),
        ):
            one = job(1, estimate=estimate, walltime=walltime)
            self.assertEqual(expected, one.expected)
            self.assertEqual(estimate, one.estimate)

    @settings(max_examples=60)
    @given(
        st.sampled_from(("easy", "easy-sjf", "easy-saf", "conservative", "sdf", "bgmbf-sdf")),
        workloads(),
        st.booleans(),
    )
    def test_policies_decide_by_it_as_by_an_estimate(self, policy, workload, overstated):
        slots, jobs = workload
        limited = [
            (replace(one, estimate=1e6 if overstated else None, walltime=one.estimate), runtime)
            for one, runtime in jobs
        ]

        def begun(told):
            made, seen = Counted(slots), []
            ignored = Simulation(policy, made, told, lambda *now: seen.append(now[-1]))
            if policy == "bgmbf-sdf":
                # It suspends jobs: only its first decision is simulated here.
                snapshot = Snapshot(made, [one for one, _runtime in told])
                return numbers(policies.get(policy).schedule(snapshot, Event.ARRIVAL, 0.0))
            ignored.run()
            return [numbers(actions) for actions in seen]

        self.assertEqual(begun(jobs), begun(limited))


def numbers(actions):
    return [action.job.number for action in actions]


def earliest_place(free, size, duration, begin):
    """The first time from `begin` on at which a free-slots timeline has room for so long."""
    while any(free[at] < size for at in range(begin, begin + duration)):
        begin += 1
    return begin


class TestConservative(testtools.TestCase):
    def test_who_waits_for_all_slots_is_not_passed_for_ever(self):
        """Slots that nobody can get do not stand in for those that a later job would take."""
        for unmanaged in (False, True):
            for estimate in (100.0, None):
                until = estimate or math.inf
                front = Run(job(1, 3, estimate=estimate), FG, (0,) * 3, until=until)
                number = UNMANAGED[FG] if unmanaged else 2
                end = math.inf if unmanaged else until
                back = Run(job(number, 4), FG, (1,) * 4, pinned=unmanaged, until=end)
                waits = [job(3, 4, estimate=500.0), job(4, estimate=1e5)]
                for name in ("conservative", "easy", "easy-sjf", "easy-saf"):
                    made = Hosts([Host("a", 4), Host("b", 4, enabled=unmanaged)])
                    made.adopt(front)
                    made.adopt(back)
                    snapshot = Snapshot(made, waits)
                    started = policies.get(name).schedule(snapshot, Event.ARRIVAL, 10.0)
                    self.assertEqual([], started, (name, unmanaged, estimate))

    def test_who_waits_for_an_unknown_end_is_not_passed_for_ever(self):
        """It has a place among all slots, whenever the job without an estimate ends."""
        made = Hosts([Host("a", 10)])
        made.start(job(1, 4), FG, until=100.0)
        made.start(job(2, 4), FG)
        waits = [job(3, 10, estimate=50.0), job(4, 2, estimate=1e6)]
        for name in ("conservative", "easy"):
            snapshot = Snapshot(made, waits)
            self.assertEqual([], policies.get(name).schedule(snapshot, Event.ARRIVAL, 0.0), name)

    @settings(max_examples=100)
    @given(workloads())
    def test_every_job_starts_when_it_was_promised_to(self, workload):
        """With exact estimates a reservation holds from the job's arrival on, whoever comes."""
        slots, jobs = workload
        free = [slots] * 1000
        promised = {}
        for one, runtime in jobs:
            begin = earliest_place(free, one.size, runtime, int(one.arrival))
            for at in range(begin, begin + runtime):
                free[at] -= one.size
            promised[one.number] = begin

        def watch(now, queue, running, idle, actions):
            waiting = [one for one in queue if one.number not in {a.job.number for a in actions}]
            for action in actions:
                ahead = any(one.order < action.job.order for one in waiting)
                waited = action.job.arrival < now
                how = (
                    StartKind.BACKFILLED
                    if ahead
                    else StartKind.RESERVED
                    if waited
                    else StartKind.IMMEDIATE
                )
                self.assertEqual(how, action.how)

        for made in bodies(slots):
            begun = Simulation("conservative", made, jobs, watch).run()
            self.assertEqual(promised, begun)

    def test_who_needs_no_time_is_not_passed_for_ever(self):
        """Job 2 needs both slots for an instant, and whoever came later used to take one again."""
        jobs = [(job(1, arrival=0.0, estimate=50.0), 50), (job(2, 2, estimate=0.0), 0)]
        for number in range(3, 8):
            arrival = 40.0 * (number - 3) + 2
            jobs.append((job(number, arrival=arrival, estimate=60.0), 60))
        for made in bodies(2):
            begun = Simulation("conservative", made, jobs, lambda *_: None).run()
            self.assertEqual((50.0, 50.0), (begun[2], begun[3]))

    @settings(max_examples=60)
    @given(workloads(early=(0, 5, -5, -30), unknown=True))
    def test_wrong_and_missing_estimates(self, workload):
        """Every decision is the plan that is made of what is known then; every job runs."""
        slots, jobs = workload

        def watch(now, queue, running, idle, actions):
            self.assertEqual(
                self.planned(queue, running, idle, now), [action.job.number for action in actions]
            )

        begun = Simulation("conservative", Counted(slots), jobs, watch).run()
        self.assertEqual(len(jobs), len(begun))

    @staticmethod
    def planned(queue, running, idle, now):
        """Who starts now when each in turn gets the first place that the earlier ones leave."""
        soon = math.nextafter(now, math.inf)
        # Who overran ends any moment, but has not.
        taken = [(now, max(until, soon), size) for size, until in running]
        slots = idle + sum(size for size, _until in running)

        # Slots that may be in use by those who come after a job that waits for an unknown end.
        limits = [(slots, 0)]

        def fits(one, begin):
            end = begin + one.expected
            instants = {begin, *(at for at, _until, _size in taken if begin < at < end)}
            return all(
                one.size + sum(size for at, until, size in taken[first:] if at <= instant < until)
                <= limit
                for instant in instants
                for limit, first in limits
            )

        started = []
        for one in queue:
            begins = sorted({now, *(until for _at, until, _size in taken if until < math.inf)})
            begin = next((begin for begin in begins if fits(one, begin)), None)
            if begin is not None:
                taken.append((begin, begin + one.expected, one.size))
            else:
                limits.append((max(0, limits[-1][0] - one.size), len(taken)))
            if begin == now:
                started.append(one.number)
        return started


class TestProfile(testtools.TestCase):
    @given(
        st.integers(0, 6),
        st.lists(st.tuples(st.integers(1, 3), st.integers(0, 30)), max_size=5),
        st.lists(st.tuples(st.integers(1, 8), st.integers(0, 12)), max_size=8),
    )
    def test_against_whole_seconds(self, idle, runs, wanted):
        now, horizon = 10, 200
        made = cluster(idle + sum(size for size, _until in runs) or 1)
        for number, (size, until) in enumerate(runs, start=1):
            made.start(job(number, size), FG, until=float(now + 1 + until))
        profile = Profile(made, float(now))
        free = [made.idle[FG]] * horizon
        for size, until in runs:
            for at in range(now + 1 + until, horizon):
                free[at] += size
        for size, duration in wanted:
            begin = profile.earliest(size, float(duration))
            if size > free[-1]:
                self.assertEqual(math.inf, begin)
                continue
            # No time at all is a place, too, where there is room at that instant.
            self.assertEqual(earliest_place(free, size, max(1, duration), now), begin)
            if not duration:
                continue
            profile.take(begin, float(duration), size)
            for at in range(int(begin), int(begin) + duration):
                free[at] -= size

    def test_who_overran_is_not_gone_yet(self):
        made = cluster(2)
        made.start(job(1, 2), FG, until=5.0)
        profile = Profile(made, 10.0)
        self.assertEqual(math.nextafter(10.0, 11.0), profile.earliest(2, 1.0))

    def test_no_time_at_all_is_reserved_like_any_other(self):
        """Nobody runs across the instant; who comes afterwards may begin at once."""
        made = cluster(2)
        made.start(job(1), FG, until=50.0)
        profile = Profile(made, 10.0)
        begin = profile.earliest(2, 0.0)
        profile.take(begin, 0.0, 2)
        self.assertEqual(50.0, begin)
        self.assertEqual(10.0, profile.earliest(1, 40.0))
        after = math.nextafter(50.0, math.inf)
        self.assertEqual((after, after), (profile.earliest(1, 41.0), profile.earliest(2, 0.0)))

    def test_never(self):
        made = cluster(2)
        made.start(job(1), FG)
        self.assertEqual(math.inf, Profile(made, 0.0).earliest(2, 1.0))
        self.assertEqual(0.0, Profile(made, 0.0).earliest(1, math.inf))
