"""Fair share in the queue manager: places follow from the recorded schedule, and stay."""

from sqlalchemy import event, select

from nova_twotier.core.fair_share import FairShare, Uses
from nova_twotier.db import array_requests
from nova_twotier.db.arrays import Tasks
from nova_twotier.db.models import Job, Place
from nova_twotier.db.states import ActionKind, JobState, QueueMode
from nova_twotier.manager import fair_share
from tests.unit.manager import builders
from tests.unit.manager.builders import BG, FG, hosts, servers
from tests.unit.manager.decision_case import DecisionCase, waiting
from tests.unit.manager.engine_case import PollCase

OPTIONS = {
    "fair_share": "project",
    "fair_share_half_life": 1000.0,
    "fair_share_background_weight": 0.5,
    "fair_share_longest_offset": 500.0,
}
#: Slots of the pool, which has two hosts of one.
SLOTS = 2


class FairCase(PollCase):
    def setUp(self):
        super().setUp()
        self.now = 10_000.0
        self.options = dict(OPTIONS)
        self.engine = self.make_engine()

    def poll(self, *gangs, **options):
        return super().poll(*gangs, where=hosts("ab", slots=1), **options)

    def submit(self, project, **values):
        return self.store.submit(1, [1.0], at=self.now, project_id=project, **values)

    def offset(self, job):
        return self.store.job(job.number).queue_offset

    def stayed(self, project, since, until, tier=FG, count=1, **values):
        """A job of a project that held slots."""
        values = {"state": JobState.FINISHED, "run_since": None, **values}
        job = builders.job(size=count, tier=tier, project_id=project, **values)
        with self.store.transaction() as session:
            session.add(job)
            for process in range(count):
                session.add(
                    Place(
                        job=job.number,
                        process=process,
                        server=f"{job.number}/{process}",
                        host="ab"[process],
                        tier=tier,
                        since=since,
                        until=until,
                    )
                )
        return job

    def expected(self, use, sharing):
        return round(500.0 * (1 - 2 ** (-use * sharing / SLOTS)), 3)


class TestPlaces(FairCase):
    def test_a_task_that_comes_back_through_its_gate(self):
        """It has its new place from the first decision on."""
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        array = self.submit("new", tasks=Tasks("0-1", 2))
        last = array.number + 1
        self.poll()
        array_requests.change(self.store, array.number, {"most_at_once": 1})
        self.poll()
        self.stayed("new", 9000.0, 10_000.0, number=100)
        self.engine = self.make_engine()
        self.poll()
        with self.store.transaction() as session:
            session.get(Job, array.number).state = JobState.FINISHED
        self.poll()
        task = self.store.job(last)
        self.assertEqual((False, self.expected(0.5, 1)), (task.gated, task.queue_offset))

    def test_by_what_the_project_has_held(self):
        self.stayed("heavy", 8000.0, 9000.0, count=2)
        self.stayed("heavy", 9000.0, 10_000.0, BG)
        new, heavy = self.submit("new"), self.submit("heavy")
        self.poll()
        use = 2 * (0.5 - 0.25) + 0.5 * (1 - 0.5)
        self.assertEqual(self.expected(use, 1), self.offset(heavy))
        self.assertEqual(0.0, self.offset(new))

    def test_who_has_used_less_starts_first(self):
        self.stayed("heavy", 8000.0, 10_000.0)
        first, second, third = (self.submit(project) for project in ("heavy", "heavy", "new"))
        self.poll()
        self.assertEqual(
            [(ActionKind.START, third.number), (ActionKind.START, first.number)], self.opened()
        )
        self.assertEqual(self.offset(first), self.offset(second))

    def test_a_stay_that_an_earlier_release_has_left_open(self):
        """Its job is over, and so it does not count as held."""
        over = self.stayed("heavy", 8000.0, None).number
        with self.store.transaction() as session:
            job = session.get(Job, over)
            job.state, job.finished_at = JobState.FAILED, 9000.0
        self.engine = self.make_engine()
        heavy = self.submit("heavy")
        self.poll()
        self.assertEqual(self.expected(0.5 - 0.25, 1), self.offset(heavy))
        with self.store.reading() as session:
            [place] = session.scalars(select(Place).where(Place.job == over))
        self.assertEqual(9000.0, place.until)

    def test_off_nothing_is_put_back(self):
        self.options = {}
        self.engine = self.make_engine()
        self.stayed("heavy", 8000.0, 10_000.0)
        job = self.submit("heavy")
        self.poll()
        self.assertIsNone(self.offset(job))

    def test_by_user(self):
        self.options["fair_share"] = "user"
        self.engine = self.make_engine()
        self.stayed("p", 8000.0, 10_000.0, user_id="heavy")
        other, heavy = (self.submit("p", user_id=user) for user in ("other", "heavy"))
        self.poll()
        self.assertEqual(0.0, self.offset(other))
        self.assertGreater(self.offset(heavy), 0.0)

    def test_other_pools_do_not_count(self):
        self.stayed("p", 8000.0, 10_000.0, pool="gpu")
        job = self.submit("p")
        self.poll()
        self.assertEqual(0.0, self.offset(job))

    def test_it_stays_while_the_job_waits(self):
        held = self.stayed("p", 9000.0, None, count=2, state=JobState.RUNNING, run_since=9000.0)
        gang = servers(held, hosts=("a", "b"))
        job = self.submit("p")
        self.poll(gang)
        before = self.offset(job)
        self.now += 5000.0
        later = self.submit("p")
        self.poll(gang)
        self.assertEqual(before, self.offset(job))
        self.assertLess(before, self.offset(later))

    def test_held_jobs_get_their_place_when_they_are_released(self):
        """So does one that is held and released later."""
        self.stayed("p", 8000.0, 10_000.0)
        held, waits = self.submit("p", held=True), self.submit("p")
        blocker = self.running(size=2, number=1_000_000)
        gang = servers(blocker, hosts=("a", "b"))
        self.poll(gang)
        self.assertIsNone(self.offset(held))
        before = self.offset(waits)
        self.now += 2000.0
        self.store.hold(held.number, False)
        self.store.hold(waits.number, True)
        self.store.hold(waits.number, False)
        self.assertIsNone(self.offset(waits))
        self.poll(gang)
        for job in (held, waits):
            self.assertTrue(0.0 < self.offset(job) < before)

    def test_who_runs_when_it_is_switched_on_keeps_its_place(self):
        job = self.stayed("p", 9000.0, None, state=JobState.RUNNING, run_since=9000.0)
        self.poll(servers(job))
        self.assertEqual(0.0, self.offset(job))


class TestRecords(FairCase):
    def test_followed_as_it_would_be_read(self):
        """A new leader puts jobs where the one before would have put them."""
        one, two = (
            self.running(size=1, project_id=project, tier=tier)
            for project, tier in (("p", BG), ("q", FG))
        )
        gangs = [servers(one, hosts=("a",)), servers(two, hosts=("b",))]
        self.poll(*gangs, tiers=[BG, FG])
        self.now += 600.0
        self.poll(gangs[0], tiers=[BG])
        self.now += 300.0
        followed = self.engine._recorded.sharing
        with self.store.reading() as session:
            read = fair_share.Sharing(self.engine._options, session, "default", self.now)
        for project in "pq":
            self.assertAlmostEqual(
                read._uses.use(project, self.now), followed._uses.use(project, self.now)
            )
        rule, uses = FairShare(1000.0, 0.5, 500.0), Uses(FairShare(1000.0, 0.5, 500.0))
        uses.add("p", BG, 1, 10_000.0, 10_900.0, self.now)
        uses.add("q", FG, 1, 10_000.0, 10_600.0, self.now)
        self.assertEqual(rule, fair_share.rule(self.engine._options))
        for project in "pq":
            use = uses.use(project, self.now)
            self.assertGreater(use, 0.1)
            self.assertAlmostEqual(use, read._uses.use(project, self.now))

    def test_the_history_is_read_once(self):
        self.stayed("p", 8000.0, 10_000.0)
        self.submit("p")
        self.poll()
        statements = []
        note = lambda *args: statements.append(args[2])  # noqa: E731
        event.listen(self.store._engine, "before_cursor_execute", note)
        for _poll in range(3):
            self.now += 1.0
            self.submit("p")
            self.poll()
        self.assertTrue(statements)
        self.assertEqual([], [each for each in statements if "FROM place" in each])

    def test_jobs_that_are_over_hold_nothing(self):
        """Even if nobody has seen them leave."""
        self.stayed("p", 8000.0, None, finished_at=9000.0)
        self.stayed("q", 8000.0, 9000.0)
        with self.store.reading() as session:
            read = fair_share.Sharing(self.engine._options, session, "default", self.now)
        for later in (0.0, 500.0):
            uses = [read._uses.use(project, self.now + later) for project in "pq"]
            self.assertEqual(uses[0], uses[1])
            self.assertGreater(uses[0], 0.0)

    def test_what_was_long_ago_is_not_read(self):
        self.now = 1e6
        self.stayed("p", 0.0, 1e6 - 10_001.0)
        with self.store.reading() as session:
            read = fair_share.Sharing(self.engine._options, session, "default", self.now)
        self.assertEqual(0.0, read._uses.use("p", self.now))


class TestArrivals(DecisionCase):
    def test_a_job_that_arrives_ahead_of_a_running_one_preempts_it_at_once(self):
        for mode, expected in (("project", ["evict", "start"]), ("none", [])):
            decisions = self.decisions("cmbf", fair_share=mode)
            runs = builders.job(size=2, cpu=1.0, submitted_at=10.0, queue_offset=90.0)
            gang = servers(runs, hosts=("a", "b"))
            self.assertEqual([], self.ask(decisions, [runs], gang))
            late = waiting(size=2, cpu=1.0, submitted_at=50.0, queue_offset=0.0)
            found = self.ask(decisions, [runs, late], gang, now=1001.0)
            self.assertEqual(expected, [kind for kind, _job in found], mode)

    def test_one_that_arrives_behind_it_does_not(self):
        decisions = self.decisions("cmbf", fair_share="project")
        runs = builders.job(size=2, cpu=1.0, submitted_at=10.0, queue_offset=30.0)
        gang = servers(runs, hosts=("a", "b"))
        self.ask(decisions, [runs], gang)
        late = waiting(size=2, cpu=1.0, submitted_at=50.0, queue_offset=0.0)
        self.assertEqual([], self.ask(decisions, [runs, late], gang, now=1001.0))

    def test_the_place_decides_among_those_that_wait(self):
        decisions = self.decisions("fcfs", fair_share="project")
        back = waiting(size=2, submitted_at=10.0, queue_offset=90.0)
        front = waiting(size=2, submitted_at=50.0, queue_offset=0.0)
        self.assertEqual(
            [(ActionKind.START, front.number)], self.ask(decisions, [back, front], levels=1)
        )


class TestCore(DecisionCase):
    def test_what_policies_see(self):
        job = waiting(submitted_at=10.0)
        self.assertEqual(10.0, job.core.order[0])
        job.place_behind(5.0)
        self.assertEqual((15.0, 10.0), (job.core.order[0], job.core.arrival))
        self.assertIsInstance(job, Job)
