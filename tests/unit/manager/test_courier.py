"""Events reach webhooks and the message bus in the end, once as a rule, whoever else is slow."""

import json
import time
import types
from unittest import mock

import fixtures
import testtools
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from nova_twotier.core.reasons import changes
from nova_twotier.db import deliveries
from nova_twotier.db.event import User
from nova_twotier.db.models import Delivery, Job, origin_of
from nova_twotier.manager.courier import Courier
from tests.new_databases import new_store
from tests.unit.cloud.receiver import Receiver

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#: Seconds after which a test gives up.
PATIENCE = 60.0


class CourierCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/jobs.sqlite")
        self.now = 1000.0
        self.receiver = self.useFixture(Receiver())
        self.options = types.SimpleNamespace(
            allowed_webhooks=[self.receiver.url],
            timeout=PATIENCE,
            retry_for=3600.0,
            cafile=None,
            transport_url=None,
            topics=["t"],
        )
        self.courier = self.new_courier()

    def new_courier(self):
        conf = types.SimpleNamespace(job_events=self.options)
        return Courier(conf, self.store, lambda: self.now)

    def submit(self, url=None, **values):
        url = f"{url or self.receiver.url}/hook"
        values = {"webhook": url, "webhook_secret": KEY, "project_id": "a", **values}
        return self.store.submit(2, [], at=self.now, **values)

    def happen(self, job, kind, reason=None):
        with self.store.transaction() as session:
            session.add(session.get(Job, job.number).happening(self.now, kind, reason))

    def look(self):
        """Look once, and wait until all that was due was tried."""
        self.courier.look()
        for thread in self.courier._serving.values():
            thread.join(PATIENCE)
            self.assertFalse(thread.is_alive())

    def left(self):
        with self.store.reading() as session:
            return list(session.scalars(select(Delivery)))

    def posted(self):
        return [json.loads(body) for _path, _headers, body in self.receiver.received]

    def until(self, seen):
        end = time.monotonic() + PATIENCE
        while not seen():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)


class TestDelivering(CourierCase):
    def test_what_is_told(self):
        mine, theirs = self.submit(name="solver"), self.submit(name="secret", project_id="b")
        self.happen(mine, "evicted", changes.PREEMPTED(by=theirs.number))
        self.look()
        told = {(each["type"], each["data"]["job"]["number"]): each for each in self.posted()}
        self.assertEqual(
            {("job.submitted", 1), ("job.submitted", 2), ("job.evicted", 1)}, told.keys()
        )
        self.assertEqual(
            {
                "type": "job.evicted",
                "timestamp": "1970-01-01T00:16:40.000+00:00",
                "data": {
                    "job": {
                        "uuid": mine.uuid,
                        "number": 1,
                        "name": "solver",
                        "project_id": "a",
                        "user_id": "",
                        "size": 2,
                        "pool": "default",
                        "array": None,
                    },
                    "event": {
                        "at": "1970-01-01T00:16:40.000+00:00",
                        "kind": "evicted",
                        "detail": "preempted by a job of another project",
                        "why": {
                            "code": "preempted",
                            "parameters": {},
                            "by": None,
                            "by_number": None,
                            "effect": None,
                            "text": "preempted by a job of another project",
                        },
                        "asked_by": None,
                    },
                },
            },
            told["job.evicted", 1],
        )
        ids = {headers["webhook-id"] for _path, headers, _body in self.receiver.received}
        self.assertEqual(3, len(ids))
        self.assertEqual([], self.left())

    def test_who_asked_is_told_of_the_own_project_only(self):
        job = self.submit()
        for kind, user in (
            ("held", User("bob", job.project_id)),
            ("released", User("carol", "ops")),
        ):
            with self.store.acting_for(user).transaction() as session:
                session.add(session.get(Job, job.number).happening(self.now, kind))
        self.look()
        told = {each["type"]: each["data"]["event"]["asked_by"] for each in self.posted()}
        self.assertEqual({"user_id": "bob", "project_id": job.project_id}, told["job.held"])
        self.assertEqual({"user_id": None, "project_id": None}, told["job.released"])

    def test_kinds_of_several_words(self):
        job = self.submit()
        self.happen(job, "not started")
        self.look()
        self.assertIn("job.not_started", [each["type"] for each in self.posted()])

    def test_repeated_until_it_is_accepted(self):
        self.submit()
        self.receiver.status = 500
        self.look()
        self.look()
        self.assertEqual(1, len(self.receiver.received))
        self.assertIn("HTTP status 500", self.left()[0].error)
        self.receiver.status = 200
        self.now += 2 * PATIENCE * 3
        self.look()
        self.assertEqual([], self.left())
        first, second = self.receiver.received
        self.assertEqual(first[1]["webhook-id"], second[1]["webhook-id"])

    def test_given_up_in_the_end(self):
        self.submit(name="solver")
        self.receiver.status = 410
        self.now += self.options.retry_for
        self.look()
        self.assertEqual([], self.left())
        self.assertIn("Job 1 (solver): its event 'submitted' is not delivered", self.log.output)
        self.assertNotIn("/hook", self.log.output)

    def test_one_that_hangs_holds_up_no_other(self):
        slow = self.useFixture(Receiver())
        slow.gate.clear()
        self.options.allowed_webhooks.append(slow.url)
        self.submit(slow.url)
        self.submit(slow.url)
        self.courier.look()
        self.until(lambda: slow.received)
        self.submit()
        self.courier.look()
        self.until(lambda: self.receiver.received)
        # And it has one connection at a time.
        self.courier.look()
        self.assertEqual(1, len(slow.received))
        slow.gate.set()
        self.until(lambda: not self.left())
        self.assertEqual(2, len(slow.received))

    def test_a_project_that_hangs_at_a_receiver_holds_up_no_other_there(self):
        self.submit()
        self.receiver.gate.clear()
        self.courier.look()
        self.until(lambda: self.receiver.received)
        self.submit(project_id="b")
        self.courier.look()
        self.until(lambda: len(self.receiver.received) == 2)
        self.receiver.gate.set()
        self.until(lambda: not self.left())

    def test_two_managers_do_not_both_deliver(self):
        for _each in range(10):
            self.submit()
        couriers = [self.new_courier() for _each in range(3)]
        for each in couriers:
            each.look()
        self.until(lambda: not self.left())
        self.assertEqual(10, len({each["data"]["job"]["number"] for each in self.posted()}))
        self.assertEqual(10, len(self.posted()))

    def test_the_next_manager_delivers_what_one_was_killed_over(self):
        self.submit()
        deliveries.claim(self.store, f"a {self.receiver.url}", self.now, PATIENCE)
        self.look()
        self.assertEqual((0, 1), (len(self.posted()), len(self.left())))
        self.now += PATIENCE
        self.look()
        self.assertEqual((1, []), (len(self.posted()), self.left()))

    def test_no_webhook_any_more(self):
        job = self.submit()
        with self.store.transaction() as session:
            session.get(Job, job.number).webhook_secret = None
        self.now += self.options.retry_for
        self.look()
        self.assertEqual(([], []), (self.posted(), self.left()))


class TestOrigins(testtools.TestCase):
    def test_one_for_each_receiver(self):
        for url in ("https://a.test/x", "https://A.TEST/y", "https://a.test", "HTTPS://a.test/?z"):
            self.assertEqual("https://a.test", origin_of(url))
        for url in ("https://a.test:8443/", "https://A.test:0008443/x"):
            self.assertEqual("https://a.test:8443", origin_of(url))
        self.assertEqual("http://[::1]:80", origin_of("http://[::1]:80/"))


class TestBus(CourierCase):
    def test_published(self):
        bus = self.courier._bus = mock.Mock(configured=True)
        self.submit(webhook=None, webhook_secret=None, published=True)
        self.look()
        [call] = bus.publish.mock_calls
        self.assertEqual("job.submitted", call.args[0]["type"])
        self.assertEqual([], self.left())

    def test_another_manager_has_the_bus(self):
        self.submit(webhook=None, webhook_secret=None, published=True)
        self.look()
        [left] = self.left()
        self.assertIn("[job_events]transport_url", left.error)


class TestRunning(CourierCase):
    def test_looks_until_it_is_stopped(self):
        self.submit()
        self.courier.start()
        self.until(lambda: self.receiver.received)
        self.courier.stop()

    def test_the_database_is_away_for_a_while(self):
        with mock.patch.object(self.courier, "look", side_effect=self.away):
            self.tries = 0
            self.courier.start()
            self.until(lambda: self.tries > 1)
        self.submit()
        self.until(lambda: self.receiver.received)
        self.courier.stop()
        self.assertEqual(1, self.log.output.count("it is away"))

    def away(self):
        self.tries += 1
        raise OperationalError("", {}, Exception("it is away"))
