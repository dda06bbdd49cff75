"""Priorities: whoever has a higher one has an earlier place, and nobody else a later one."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import BG
from nova_twotier.db.states import JobState
from nova_twotier.manager.priorities import exchange
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase

JOBS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(-2, 2), st.integers(0, 4), st.booleans()),
    min_size=1,
    max_size=12,
)


def waiting(number, project="a", priority=0, at=None, **values):
    at = float(number) if at is None else float(at)
    return builders.job(
        state=JobState.QUEUED,
        tier=None,
        number=number,
        project_id=project,
        priority=priority,
        submitted_at=at,
        **values,
    )


def share_out(jobs):
    return exchange({job.number: job for job in jobs}, {j.number for j in jobs if j.priority})


def queue(jobs):
    """Numbers in the order of their places."""
    return [job.number for job in sorted(jobs, key=lambda job: (job.eligible_at, job.number))]


def drawn_jobs(drawn):
    """Jobs of two projects, of which only `a` has priorities."""
    return [
        waiting(number, project, priority if project == "a" else 0, at)
        for number, (project, priority, at, _goes) in enumerate(drawn, 1)
    ]


def ahead(jobs):
    """How many jobs of project `a` are before each job of `b`."""
    order, project = queue(jobs), {job.number: job.project_id for job in jobs}
    return {
        number: sum(project[n] == "a" for n in order[: order.index(number)])
        for number in order
        if project[number] == "b"
    }


class TestExchange(testtools.TestCase):
    @given(JOBS)
    def test_no_other_project_loses_by_it(self, drawn):
        jobs = drawn_jobs(drawn)
        before = ahead(jobs)
        share_out(jobs)
        after = ahead(jobs)
        self.assertEqual([], [key for key in before if after[key] > before[key]])

    @given(JOBS)
    def test_the_highest_comes_first(self, drawn):
        jobs = drawn_jobs(drawn)
        share_out(jobs)
        own = {job.number: job for job in jobs if job.project_id == "a"}
        ranks = [(-own[n].priority, own[n].submitted_at, n) for n in queue(own.values())]
        self.assertEqual(sorted(ranks), ranks)

    @given(JOBS)
    def test_once_is_enough(self, drawn):
        jobs = drawn_jobs(drawn)
        share_out(jobs)
        self.assertEqual([], share_out(jobs))

    @given(JOBS)
    def test_without_priorities_all_is_as_it_was(self, drawn):
        """Also if there were some before."""
        jobs = [waiting(n, "a", priority, at) for n, (_p, priority, at, _) in enumerate(drawn, 1)]
        before = queue(jobs)
        share_out(jobs)
        exchanged = {job.number for job in jobs}
        for job in jobs:
            job.priority = 0
        exchange({job.number: job for job in jobs}, exchanged)
        self.assertEqual(before, queue(jobs))

    @given(JOBS)
    def test_who_starts_takes_the_place_along(self, drawn):
        """Of the places of a project there are never more than it had."""
        jobs = drawn_jobs(drawn)
        before = ahead(jobs)
        share_out(jobs)
        gone = [job for job, (*_rest, goes) in zip(jobs, drawn, strict=True) if goes]
        for job in jobs:
            job.priority = -job.priority
        share_out([job for job in jobs if job not in gone])
        after = ahead(jobs)
        self.assertEqual([], [key for key in before if after[key] > before[key]])

    def test_only_jobs_of_the_same_tiers_exchange_places(self):
        jobs = [waiting(1), waiting(2), waiting(3, priority=5)]
        jobs[0].tiers = (BG,)
        share_out(jobs)
        self.assertEqual([1, 3, 2], queue(jobs))


class TestEngine(PollCase):
    def submit(self, size, project, **values):
        return self.store.submit(size, [0.5], project_id=project, **values)

    def prefer(self, job, priority=1):
        with self.store.transaction() as session:
            session.merge(self.store.job(job.number)).priority = priority

    def starts(self):
        self.poll()
        return {job for _kind, job in self.opened()}

    def test_a_preferred_job_starts_in_the_place_of_another(self):
        first, theirs = self.submit(8, "a", at=1), self.submit(8, "b", at=2)
        last = self.submit(8, "a", at=3)
        self.prefer(last)
        self.assertEqual({last.number}, self.starts())
        kept = [self.store.job(job.number).eligible_at for job in (last, theirs, first)]
        for place, expected in zip(kept, (1.0, 2.0, 3.0), strict=True):
            self.assertAlmostEqual(expected, place)

    def test_it_is_decided_anew_at_once(self):
        with self.store.transaction() as session:
            running = builders.job(size=1, number=1, started_at=0.0)
            session.add(running)
        gang = builders.servers(running)
        first, second = self.submit(8, "a", at=1), self.submit(2, "a", at=2)
        self.poll(gang)
        self.assertEqual([], self.opened())
        self.prefer(second)
        self.poll(gang)
        self.assertEqual([second.number], [job for _kind, job in self.opened()])
        self.assertAlmostEqual(2.0, self.store.job(first.number).eligible_at)

    def test_what_cannot_start_anyway_has_no_place_to_give(self):
        """Otherwise a project could keep early places in reserve."""
        self.submit(9, "a", at=1)
        self.submit(8, "a", at=1, held=True)
        theirs, mine = self.submit(8, "b", at=2), self.submit(8, "a", at=3)
        self.prefer(mine)
        self.assertEqual({theirs.number}, self.starts())

    def test_whoever_is_released_is_behind_again(self):
        first, last = self.submit(8, "a", at=1), self.submit(8, "a", at=3)
        self.prefer(last)
        self.poll()
        for held in (True, False):
            self.store.hold(last.number, held)
        kept = self.store.job(last.number)
        self.assertEqual((None, True), (kept.own_place, kept.eligible_at > 3.0))
        self.assertAlmostEqual(3.0, self.store.job(first.number).eligible_at)

    def test_a_new_walltime_of_a_running_job_is_decided_about(self):
        """A job that is too long to pass another one is not, once that has to wait for longer."""
        self.engine = self.make_engine("easy")
        running = self.running(size=6, walltime=50.0, estimate=50.0)
        gang = builders.servers(running, hosts=("a", "b"))
        self.submit(8, "b", at=1)
        small = self.submit(2, "b", at=2, estimate=500.0, walltime=500.0)
        self.poll(gang)
        self.assertEqual([], self.opened())
        with self.store.transaction() as session:
            row = session.merge(self.store.job(running.number))
            row.walltime = row.estimate = 1000.0
        self.poll(gang)
        self.assertEqual([small.number], [job for _kind, job in self.opened()])
