"""Events that are still to be delivered, on whatever database: run by a test case for each."""

from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from sqlalchemy import select

from nova_twotier.db import cancellation, deliveries, purge
from nova_twotier.db.models import BUS, Delivery, Job
from nova_twotier.db.states import JobState

HOOK = "https://hooks.example.org:8443/me?token=1"
ROUTE = "a https://hooks.example.org:8443"


class DeliveriesBehaviour:
    """Tests of `self.store`, a new one for each."""

    def submit_with_webhook(self, **values):
        return self.store.submit(
            1, [], webhook=HOOK, webhook_secret="key", at=0.0, project_id="a", **values
        )

    def left(self):
        with self.store.reading() as session:
            return list(session.scalars(select(Delivery).order_by(Delivery.id)))

    def claim_all(self, route=ROUTE, now=100.0):
        found = []
        while (claim := deliveries.claim(self.store, route, now)) is not None:
            found.append(claim)
        return found

    def kinds(self, claims):
        return [(claim.job.number, claim.event.kind) for claim in claims]

    def test_only_jobs_whose_events_somebody_wants(self):
        self.store.submit(1, [])
        self.assertEqual([], self.left())
        both = self.submit_with_webhook(published=True)
        self.assertEqual([ROUTE, BUS], [each.route for each in self.left()])
        self.assertCountEqual([ROUTE, BUS], deliveries.due_routes(self.store, 0.0))
        self.assertEqual([(both.number, "submitted")], self.kinds(self.claim_all()))

    def test_whatever_the_api_records(self):
        job, other = (self.submit_with_webhook() for _each in range(2))
        self.store.hold(job.number, True)
        self.store.hold(job.number, False)
        with self.store.transaction() as session:
            session.get(Job, job.number).state = JobState.RUNNING
        self.store.request_action(job.number, "complete")
        cancellation.request(self.store, [job.number, other.number])
        kinds = {(job.number, "submitted"), (job.number, "held"), (job.number, "released")}
        kinds |= {(job.number, "asked to complete"), (job.number, "asked to cancel")}
        kinds |= {(other.number, "submitted"), (other.number, "asked to cancel")}
        self.assertEqual(kinds, set(self.kinds(self.claim_all(now=2**40))))

    def test_each_is_claimed_once(self):
        for _each in range(20):
            self.submit_with_webhook()
        with ThreadPoolExecutor(4) as workers:
            found = list(workers.map(lambda _each: self.claim_all(), range(4)))
        numbers = [claim.job.number for claims in found for claim in claims]
        self.assertCountEqual(range(1, 21), numbers)

    def test_one_that_is_claimed_and_never_heard_of_is_due_again(self):
        self.submit_with_webhook()
        self.assertIsNotNone(deliveries.claim(self.store, ROUTE, 100.0, patience=30.0))
        self.assertIsNone(deliveries.claim(self.store, ROUTE, 129.0))
        self.assertIsNotNone(deliveries.claim(self.store, ROUTE, 130.0))

    def test_pauses_grow(self):
        self.submit_with_webhook()
        job, now, pauses = self.store.job(1), 0.0, []
        for _each in range(12):
            claim = deliveries.claim(self.store, ROUTE, now)
            deliveries.failed(self.store, claim, "HTTP 500" + "." * 300)
            [left] = self.left()
            pauses.append(left.due_at - now)
            now = left.due_at
        self.assertEqual([10.0, 20.0, 40.0, 80.0], pauses[:4])
        self.assertEqual([2560.0, 3600.0, 3600.0, 3600.0], pauses[-4:])
        behind = deliveries.backlog(self.store, job)
        self.assertEqual((1, 255, "HTTP 500"), (behind.count, len(behind.error), behind.error[:8]))

    def test_the_key_is_forgotten_after_the_last_one(self):
        job = self.submit_with_webhook()
        for claim in self.claim_all():
            deliveries.close(self.store, claim)
        self.assertEqual("key", self.store.job(job.number).webhook_secret)
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.state, row.finished_at = JobState.FINISHED, 50.0
            session.add_all([row.happening(50.0, "ending"), row.happening(50.0, "finished")])
        first, last = self.claim_all()
        deliveries.close(self.store, first)
        self.assertEqual("key", self.store.job(job.number).webhook_secret)
        deliveries.close(self.store, last)
        self.assertIsNone(self.store.job(job.number).webhook_secret)
        self.assertEqual([], self.left())

    def test_one_that_is_purged_while_it_is_claimed(self):
        """The next one is claimed instead."""
        job = self.submit_with_webhook()
        self.submit_with_webhook()
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.state, row.finished_at = JobState.CANCELLED, 50.0
        read = deliveries._claimed

        def purge_and_read(store, delivery):
            purge.purge(store, 60.0, pause=lambda _seconds: None)
            return read(store, delivery)

        with mock.patch.object(deliveries, "_claimed", purge_and_read):
            self.assertEqual([2], [claim.job.number for claim in self.claim_all()])

    def test_purged_with_their_jobs(self):
        job = self.submit_with_webhook()
        self.submit_with_webhook()
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.state, row.finished_at = JobState.CANCELLED, 50.0
        purge.purge(self.store, 60.0, pause=lambda _seconds: None)
        self.assertEqual([2], [claim.job.number for claim in self.claim_all()])
