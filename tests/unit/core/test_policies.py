"""What every policy keeps, and what each promises, on random streams of jobs."""

import testtools
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from testtools.matchers import MatchesRegex

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Start, StartKind
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, cluster, hosts, job, jobs
from tests.unit.core.driver import Driver, promise

#: The properties are inherited: each policy's class runs them, which is meant.
inherited = settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


@st.composite
def streams(draw, **options):
    """Hosts, and jobs that fit them when they are empty, by arrival."""
    shapes = draw(hosts(**options))
    room = sum(shape.slots for shape in shapes)
    stream = draw(jobs(max_size=room))
    return shapes, sorted(stream, key=lambda each: each.order)


class Properties:
    """What holds for every policy; a subclass names it and adds what it promises."""

    policy = ""

    def play(self, drawn, data):
        """Arrivals and departures in any order, one or several at a time, until nothing is left."""
        shapes, stream = drawn
        driver = Driver(self, self.policy, shapes)
        total = len(stream)
        departures = 0
        while stream:
            running = sorted(driver.cluster.runs)
            if running and data.draw(st.booleans()):
                gone = data.draw(st.lists(st.sampled_from(running), min_size=1, unique=True))
                departures += len(gone)
                foreground = any(driver.cluster.runs[n].tier is FG for n in gone)
                actions = driver.depart(*gone)
                promise(driver, actions, Event.FOREGROUND if foreground else Event.BACKGROUND)
            else:
                count = data.draw(st.integers(1, len(stream)))
                actions = driver.arrive(*stream[:count])
                del stream[:count]
                promise(driver, actions, Event.ARRIVAL)
        self.assertEqual(total, departures + driver.finish())

    @inherited
    @given(streams(), st.data())
    def test_any_stream(self, drawn, data):
        self.play(drawn, data)

    @inherited
    @given(streams(tiers=(1,)), st.data())
    def test_without_background(self, drawn, data):
        self.play(drawn, data)

    def test_nothing_to_do(self):
        for event in (Event(0), Event.ARRIVAL, Event.FOREGROUND, Event.BACKGROUND):
            snapshot = Snapshot(cluster(2), ())
            self.assertEqual([], policies.get(self.policy).schedule(snapshot, event, 0.0))

    def test_reason_of_every_wait(self):
        driver = Driver(self, self.policy, [Host("a", 2)])
        driver.arrive(*(job(number, 2, cpu=0.9) for number in range(1, 5)))
        snapshot = Snapshot(driver.cluster, driver.waiting)
        head, *others = snapshot.queue
        needs = "2 foreground slots, 0 idle"
        self.assertIn(needs, str(driver.policy.reasons(snapshot)(head)))
        self.assertNotEqual([], others)
        for each in others:
            found = str(driver.policy.reasons(snapshot)(each))
            self.assertThat(found, MatchesRegex(f".*({needs}|{head.label})"))

    @inherited
    @given(streams(enabled=False), st.data())
    def test_hosts_that_change(self, drawn, data):
        """Hosts go down and shrink below their use while jobs run; no job is lost."""
        shapes, stream = drawn
        before = Driver(self, self.policy, [Host(h.name, h.slots, h.tiers) for h in shapes])
        before.arrive(*stream)
        shrunk = [
            Host(h.name, data.draw(st.integers(1, h.slots)), h.tiers, h.enabled) for h in shapes
        ]
        changed = Hosts(shrunk)
        for run in before.cluster.runs.values():
            changed.adopt(Run(run.job, run.tier, run.hosts))
        used = {tier: list(changed.used[tier]) for tier in (FG, BG)}
        left = Snapshot(changed, before.waiting).copy()
        actions = before.policy.schedule(left, Event.FOREGROUND | Event.ARRIVAL, 0.0)
        changed.apply(actions)
        self.assertEqual(set(changed.runs), set(left.cluster.runs))
        waiting = [each.number for each in left.queue]
        self.assertEqual(sorted(before.admitted), sorted([*changed.runs, *waiting]))
        for index, host in enumerate(changed.hosts):
            for tier, places in ((FG, host.slots), (BG, changed.open_background(index))):
                grown = changed.used[tier][index] > used[tier][index]
                if grown:
                    self.assertTrue(host.enabled, "a new VM on a disabled host")
                    self.assertLessEqual(changed.used[tier][index], places)


class TestFcfs(Properties, testtools.TestCase):
    policy = "fcfs"


class TestEasy(Properties, testtools.TestCase):
    policy = "easy"


class TestEasySjf(Properties, testtools.TestCase):
    policy = "easy-sjf"


class TestEasySaf(Properties, testtools.TestCase):
    policy = "easy-saf"


class TestConservative(Properties, testtools.TestCase):
    policy = "conservative"


class TestSdf(Properties, testtools.TestCase):
    policy = "sdf"


class TestSbf(Properties, testtools.TestCase):
    policy = "sbf"


class TestSmjf(Properties, testtools.TestCase):
    policy = "smjf"


class TestCmbf(Properties, testtools.TestCase):
    policy = "cmbf"


class TestAmbf(Properties, testtools.TestCase):
    policy = "ambf"


class TestCmcbf(Properties, testtools.TestCase):
    policy = "cmcbf"


class TestAmcbf(Properties, testtools.TestCase):
    policy = "amcbf"


class TestAmcbfDeadline(Properties, testtools.TestCase):
    policy = "amcbf-deadline"


class TestCcfcfs(Properties, testtools.TestCase):
    policy = "ccfcfs"


class TestAcfcfs(Properties, testtools.TestCase):
    policy = "acfcfs"


class TestKtierCmbf(Properties, testtools.TestCase):
    policy = "ktier-cmbf"


class TestExamples(testtools.TestCase):
    def test_evicts_when_a_slot_closes(self):
        driver = Driver(self, "cmcbf", [Host("a", 1)])
        driver.arrive(job(1, cpu=0.5))
        driver.arrive(job(2, cpu=0.5))
        self.assertEqual({1: FG, 2: BG}, {n: run.tier for n, run in driver.cluster.runs.items()})
        driver.arrive(job(3, cpu=1.0))
        [rise, start] = driver.depart(1)
        self.assertEqual((2, FG, ()), (rise.job.number, rise.tier, rise.migrating))
        self.assertEqual((3, BG), (start.job.number, start.tier))
        [rise] = driver.depart(2)
        self.assertEqual((3, FG), (rise.job.number, rise.tier))
        driver.arrive(job(4))
        self.assertEqual([4], [each.number for each in driver.waiting])

    def test_swap_in_place_of_two_jobs(self):
        """The earlier job takes the foreground over from the later one, on the same hosts."""
        driver = Driver(self, "cmcbf", [Host("a", 1), Host("b", 1), Host("c", 1)])
        driver.arrive(job(1, 2))
        driver.arrive(job(2, 2))
        driver.arrive(job(3, 1))
        self.assertEqual(
            {1: FG, 2: BG, 3: FG}, {n: run.tier for n, run in driver.cluster.runs.items()}
        )
        actions = driver.depart(1)
        self.assertEqual([(2, FG)], [(each.job.number, each.tier) for each in actions])

    def test_migrates_what_cannot_swap(self):
        driver = Driver(self, "cmcbf", [Host("a", 1), Host("b", 1), Host("c", 1)])
        driver.cluster.start(job(1), FG, [0])
        driver.cluster.start(job(2, 2), FG, [1, 2])
        driver.cluster.start(job(3, 2), BG, [0, 1])
        driver.admitted = {1, 2, 3}
        [move] = driver.depart(2)
        self.assertEqual((3, FG, (0,)), (move.job.number, move.tier, move.migrating))
        self.assertEqual(((0, 1), (2, 1)), (move.before, move.after))

    def test_who_loses_the_foreground_stays_on_its_host(self):
        made = cluster(1, 1, 1)
        made.start(job(2), FG, [2])
        [fall, start] = policies.get("cmcbf").schedule(
            Snapshot(made, [job(1, 3)]), Event.FOREGROUND, 0.0
        )
        self.assertEqual((2, BG, (2,), (2,)), (fall.job.number, fall.tier, fall.before, fall.after))
        self.assertEqual(1, fall.by.number)
        self.assertEqual((1, FG, StartKind.IMMEDIATE), (start.job.number, start.tier, start.how))

    def test_who_loses_the_foreground_returns_to_the_queue_without_room(self):
        made = cluster(1, 1)
        made.start(job(2, cpu=0.6), FG, [1])
        made.start(job(3), BG, [1])
        actions = policies.get("amcbf").schedule(
            Snapshot(made, [job(1, 2, cpu=1.0)]), Event.FOREGROUND, 0.0
        )
        self.assertEqual(
            [(Evict, 2), (Evict, 3), (Start, 1)],
            [(type(each), each.job.number) for each in actions],
        )
        self.assertEqual([1, 1], [each.by.number for each in actions[:2]])

    def test_the_preemptor_is_who_took_the_foreground(self):
        """2 falls in place for 1, and has to leave there because 3 closes one of its slots."""
        made = cluster(1, 1, 1)
        made.start(job(2, 2), FG, [0, 1])
        snapshot = Snapshot(made, [job(1, 2), job(3, cpu=1.0)])
        actions = policies.get("cmcbf").schedule(snapshot, Event.FOREGROUND, 0.0)
        self.assertEqual(
            [(Evict, 2), (Start, 1), (Start, 3), (Start, 2)],
            [(type(each), each.job.number) for each in actions],
        )
        self.assertEqual((FG, 1), (actions[0].tier, actions[0].by.number))

    def test_a_pinned_run_is_left_alone(self):
        """One that could rise, one that would be evicted, one under a slot that closes."""
        for policy in ("cmcbf", "amcbf", "ktier-cmbf", "ccfcfs", "acfcfs", "cmbf", "ambf"):
            for number, tier in ((2, FG), (0, BG), (2, BG)):
                made = cluster(1, 1)
                made.adopt(Run(job(number), tier, (0,), pinned=True))
                snapshot = Snapshot(made, [job(1, 2, cpu=1.0), job(3, cpu=1.0)])
                actions = policies.get(policy).schedule(snapshot, Event.FOREGROUND, 0.0)
                touched = [action.job.number for action in actions]
                self.assertNotIn(number, touched, (policy, tier))

    def test_only_the_head_evicts_though_it_cannot_have_enough(self):
        """A host is down: the head has to wait for it, and the next is not the head for that."""
        made = Hosts([Host("a", 1), Host("down", 1, enabled=False)])
        made.start(job(3), FG, [0])
        made.start(job(4, cpu=0.9), BG, [0])
        snapshot = Snapshot(made, [job(1, 2), job(2)])
        for policy in ("ambf", "amcbf"):
            actions = policies.get(policy).schedule(snapshot, Event.FOREGROUND, 0.0)
            self.assertEqual([], actions, policy)

    def test_whose_turn_it_is_may_run_in_the_background(self):
        """2 needs all slots; 3 would fit the idle ones, but 2 arrived earlier."""
        driver = Driver(self, "ccfcfs", [Host("a", 3)])
        driver.arrive(job(1, 1, cpu=0.5), job(2, 3, cpu=0.5))
        self.assertEqual({1: FG, 2: BG}, {n: run.tier for n, run in driver.cluster.runs.items()})
        driver.arrive(job(3, 2))
        [waiting] = driver.waiting
        reason = driver.policy.reasons(Snapshot(driver.cluster, driver.waiting))(waiting)
        self.assertEqual(
            "waits behind job 2, then needs 2 foreground slots, 2 idle; or 2 background slots, 0 "
            "open and idle",
            str(reason),
        )

    def test_unknown_policy(self):
        error = self.assertRaises(policies.UnknownPolicy, policies.get, "sjf")
        self.assertIn(", ".join(sorted(policies.POLICIES)), str(error))

    def test_takes_nothing_from_hosts_that_give_nothing(self):
        """Slots of a host that is down, or has less than it holds, are no use to a preemptor."""
        for closing in (Host("a", 1, enabled=False), Host("a", 1)):
            made = Hosts([closing, Host("b", 1)])
            made.adopt(Run(job(2), FG, (0,)))
            if closing.enabled:
                made.adopt(Run(job(3), FG, (0,)))
            for policy in ("cmcbf", "amcbf"):
                snapshot = Snapshot(made.copy(), [job(1, 2)])
                actions = policies.get(policy).schedule(snapshot, Event.FOREGROUND, 0.0)
                made.copy().apply(actions)
                self.assertEqual(
                    [], [a for a in actions if isinstance(a, Evict)], (policy, closing)
                )
