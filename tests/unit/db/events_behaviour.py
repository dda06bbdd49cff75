"""Lists of events, on whatever database: run by a test case for each of them."""

from itertools import product
from unittest import mock

from nova_twotier.api import queries
from nova_twotier.db.models import Event


class EventsBehaviour:
    """Tests of `self.store`, a new one for each."""

    def record_events(self):
        """Events of two projects' jobs, of the queue, and of hosts, in turn."""
        jobs = [self.store.submit(1, [1.0], at=1.0, project_id=each).number for each in "abab"]
        for at in range(2, 6):
            with self.store.transaction() as session:
                session.add_all(Event(at=float(at), job=job, kind="moved") for job in jobs[:2])
                session.add(Event(at=float(at), kind=queries.QUEUE_KINDS[0], detail="pool default"))
                session.add(Event(at=float(at), kind="drained", detail="host c1"))

    def ids(self, **asked):
        return [event.id for event, _job in queries.events(self.store, **asked)]

    def test_events_of_a_project_are_those_of_its_jobs_and_of_the_queue(self):
        self.record_events()
        every = queries.events(self.store)
        self.assertEqual(4 + 4 * 4, len(every))
        shown = [
            (event.id, event.at)
            for event, job in every
            if (job and job.project_id == "a") or event.kind in queries.QUEUE_KINDS
        ]
        # All ways to find them, see `queries._project` and `queries._are_few`.
        for many, name in product((0, 5000), ("MANY_JOBS", "MANY_EVENTS")):
            with mock.patch.object(queries, name, many):
                self.check_pages([each for each, _at in shown])
                since = [each for each, at in shown if at >= 4.0]
                self.assertEqual(since, self.ids(project_id="a", since=4.0))
                self.assertEqual(since[:3], self.ids(project_id="a", since=4.0, limit=3))
            owners = [job and job.project_id for _e, job in queries.events(self.store, after=2)]
            self.assertEqual({"a", "b", None}, set(owners))

    def test_events_since_a_time_in_the_order_of_their_records(self):
        """Whether they are found by the time or by their order, see `queries._are_few`."""
        self.record_events()
        with self.store.transaction() as session:
            session.add(Event(at=4.5, kind=queries.QUEUE_KINDS[0], detail="the clock was set back"))
        every = queries.events(self.store)
        for many in (0, 10_000):
            with mock.patch.object(queries, "MANY_EVENTS", many):
                for since in (0.0, 4.5, 5.0, 6.0):
                    ids = [event.id for event, _job in every if event.at >= since]
                    self.assertEqual(ids, self.ids(since=since))
                    self.assertEqual(ids[:2], self.ids(since=since, limit=2))
                    newest = self.ids(since=since, limit=2, newest_first=True)
                    self.assertEqual(ids[::-1][:2], newest)

    def check_pages(self, expected):
        for newest_first in (False, True):
            inorder = expected[::-1] if newest_first else expected
            found, after = [], None
            while True:
                page = {"after": after, "limit": 3, "newest_first": newest_first}
                some = self.ids(project_id="a", **page)
                if not some:
                    break
                found += some
                after = some[-1]
            self.assertEqual(inorder, found)

    def test_events_of_a_job_of_another_project(self):
        self.record_events()
        self.assertEqual(5, len(self.ids(project_id="a", job=1)))
        self.assertEqual([], self.ids(project_id="a", job=2))
        self.assertEqual(5, len(self.ids(job=2)))
