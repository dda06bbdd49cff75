"""What the leader of a pool makes of drains, in its view of the hosts and in Nova."""

import threading
import types
import uuid
from concurrent import futures

import fixtures
import testtools

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.errors import CloudError
from nova_twotier.db import drains as db
from nova_twotier.ledger.shape import Shape
from nova_twotier.manager.drains import LONGEST, Drains
from nova_twotier.manager.requests import Requests
from tests.new_databases import new_store

OURS = "twotier drain: fan"


class TestDrains(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.store = new_store(self)
        self.calls, self.expired = [], 0
        cloud = types.SimpleNamespace(
            disable=lambda service, reason: self.call("disable", service, reason),
            enable=lambda service: self.call("enable", service),
        )
        #: What Nova says to each call, if it refuses it.
        self.refusal = None
        self.logged = self.useFixture(fixtures.FakeLogger())
        self.hosts = types.SimpleNamespace(
            computes={}, drained=frozenset(), closes={}, expire=self.expire
        )
        # As real ones, but one after the other, and a question is never asked.
        self.workers = futures.ThreadPoolExecutor(1)
        self.requests = Requests(self.workers, self.workers, lambda: None, lambda: None)
        self.addCleanup(self.requests.close)
        self.drains = Drains(self.store, cloud, self.hosts, "default", self.requests.tell)

    def expire(self, drop):
        self.expired += 1

    def call(self, *arguments):
        self.calls.append(arguments)
        if self.refusal:
            raise CloudError(f"{self.refusal} (Request-ID: req-{uuid.uuid4()})", 403)

    def drain(self, host, since=0.0, until=None, migrate=False, reason="fan"):
        values = {"since": since, "until": until, "migrate": migrate, "reason": reason}
        db.drain(self.store, host, now=0.0, **values)

    def compute(self, name, reason=None, pool="default"):
        """A nova-compute; disabled if there is a reason, and in no two-tier aggregate without a
        pool."""
        shape = Shape(2, 2, pool=pool) if pool else None
        self.hosts.computes[name] = ComputeHost(
            shape,
            enabled=reason is None,
            disabled=reason is not None,
            disabled_reason=reason or "",
            service=f"id-{name}",
        )

    def told(self):
        """What Nova is told after the hosts were read."""
        self.calls.clear()
        self.drains.follow()
        self.workers.submit(lambda: None).result(60)
        return self.calls

    def test_changes(self):
        self.drain("a", since=10.0, until=30.0)
        self.drain("b", since=20.0, migrate=True)
        found = []
        for now in (5.0, 10.0, 15.0, 20.0, 30.0):
            changed = self.drains.read(now)
            drained, vacated = sorted(self.hosts.drained), sorted(self.drains.vacated)
            found.append((changed, drained, vacated, self.hosts.closes))
        self.assertEqual(
            [
                (True, [], [], {"a": 10.0, "b": 20.0}),
                (True, ["a"], [], {"b": 20.0}),
                (False, ["a"], [], {"b": 20.0}),
                (True, ["a", "b"], ["b"], {}),
                (True, ["b"], ["b"], {}),
            ],
            found,
        )
        # Each time, the hosts are read anew.
        self.assertEqual(3, self.expired)
        self.drain("b")
        self.assertTrue(self.drains.read(30.0))
        self.assertEqual(frozenset(), self.drains.vacated)

    def test_of_its_own_pool(self):
        for host, pool in (("a", "default"), ("b", "gpu"), ("c", "")):
            self.drain(host)
            self.compute(host, pool=pool)
        self.compute("d")
        self.drains.read(1.0)
        self.assertEqual([("disable", "id-a", OURS)], self.told())

    def test_only_its_own_doing_is_undone(self):
        self.compute("a", OURS)
        self.compute("b", "broken")
        self.compute("c", "")
        self.compute("d", OURS, pool="gpu")
        # It has left the pools while it was drained.
        self.compute("e", "twotier drain", pool="")
        self.drains.read(1.0)
        self.assertEqual([("enable", "id-a"), ("enable", "id-e")], self.told())

    def test_what_is_as_it_should_be(self):
        self.drain("a")
        self.drain("b")
        self.compute("a", OURS)
        self.compute("b", "broken")
        self.drains.read(1.0)
        self.assertEqual([], self.told())

    def test_a_refusal_is_said_once(self):
        """A refusal is logged again if it is another one, or if a request was taken in between."""
        for host in "ab":
            self.drain(host)
            self.compute(host)
        self.drains.read(1.0)
        said = []
        for self.refusal in ("no", "no", "no", "never", None, "no"):
            before = len(self.logged.output)
            self.assertEqual(2, len(self.told()), "asked again each time")
            said.append(self.logged.output[before:].splitlines())
        doing = [f"Host {host} is drained: disabling its nova-compute" for host in "ab"]
        for lines, answer, begun in (
            (said[0], ": no", True),
            (said[1], "", False),
            (said[2], "", False),
            (said[3], ": never", False),
            (said[4], " has succeeded at last", False),
            (said[5], ": no", True),
        ):
            answers = [f"Request drain {host}{answer}" for host in "ab" if answer]
            shown = [line.partition(" (Request-ID")[0] for line in lines]
            self.assertCountEqual([*(doing if begun else ()), *answers], shown)

    def test_what_nova_has_not_answered_yet_is_not_asked_again(self):
        answer = threading.Event()
        self.addCleanup(answer.set)
        self.workers.submit(answer.wait, 60)
        self.drain("a")
        self.compute("a")
        self.drains.read(1.0)
        for _poll in range(3):
            self.drains.follow()
        answer.set()
        self.workers.submit(lambda: None).result(60)
        self.assertEqual([("disable", "id-a", OURS)], self.calls)

    def test_reasons_fit_into_novas_database(self):
        self.drain("a", reason="")
        self.drain("b", reason="x" * 255)
        for host in "ab":
            self.compute(host)
        self.drains.read(1.0)
        reasons = [reason for _call, _service, reason in self.told()]
        self.assertEqual("twotier drain", reasons[0])
        self.assertEqual(LONGEST, len(reasons[1]))
