"""Kills come when they are aimed at, and as many as were asked for."""

import pathlib
import random
import threading
from unittest import mock

import fixtures
import testtools

from nova_twotier.tools.faults import killer as killer_module
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.killer import Aim, Killer
from nova_twotier.tools.faults.proxy import Fault, Request

WRITE = Request("nova", "POST", "/servers")
READ = Request("nova", "GET", "/flavors")
LOOK = Request("nova", "GET", "/v2.1/servers/detail?all_tenants=1")


class Manager:
    """A supervisor of nothing."""

    def __init__(self):
        self.kills = 0

    def kill(self):
        self.kills += 1
        return True


class Always(random.Random):
    """Chance that has one aim, after so many polls and no more time."""

    def __init__(self, aim, looks):
        super().__init__(1)
        self.aim, self.looks = aim, looks

    def choice(self, _seq):
        return self.aim

    def randint(self, _low, _high):
        return self.looks

    def random(self):
        return 0.0


class TestKiller(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.manager = Manager()
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "faults.log")
        self.journal = Journal(self.file)
        self.recovery = mock.Mock()

    def killer(self, aim, kills=1, looks=0):
        killer = Killer(Always(aim, looks), kills, self.manager, self.journal, self.recovery)
        self.addCleanup(killer.join)
        self.addCleanup(killer.over.set)
        killer.start()
        return killer

    def told(self):
        return [line.partition(" ")[2] for line in self.file.read_text().splitlines()]

    def aimed(self, killer):
        """Wait until the next request of the kind will be hit."""
        killer.before(READ)
        for _ in range(6000):
            if killer._aim:
                return
            threading.Event().wait(0.01)
        self.fail("nothing is aimed at")

    def test_just_before_a_change(self):
        killer = self.killer(Aim.BEFORE)
        self.aimed(killer)
        self.assertIsNone(killer.before(READ))
        killer.after(WRITE)
        self.assertEqual(0, self.manager.kills)
        self.assertEqual(Fault.DROPPED, killer.before(WRITE))
        self.assertIsNone(killer.before(WRITE))
        self.assertEqual(1, self.manager.kills)
        self.assertEqual(["manager killed before nova POST /servers"], self.told())

    def test_just_after_a_change(self):
        killer = self.killer(Aim.AFTER)
        self.aimed(killer)
        killer.after(READ)
        self.assertIsNone(killer.before(WRITE))
        self.assertEqual(0, self.manager.kills)
        killer.after(WRITE)
        self.assertEqual(1, self.manager.kills)
        self.assertEqual(["manager killed after nova POST /servers"], self.told())

    def test_at_once_as_often_as_asked(self):
        killer = self.killer(Aim.AT_ONCE, kills=3)
        while killer.is_alive():
            killer.before(READ)
            threading.Event().wait(0.01)
        self.assertEqual(3, self.manager.kills)
        self.assertEqual({"manager killed": 3}, dict(self.journal.counts))

    def test_after_some_looks(self):
        killer = self.killer(Aim.AT_ONCE, looks=3)
        # Nothing counts before it has drawn how many.
        while not killer._looks:
            threading.Event().wait(0.01)
        for request in (LOOK, READ, LOOK, WRITE):
            killer.before(request)
        killer.join(0.3)
        self.assertEqual(0, self.manager.kills)
        killer.before(LOOK)
        killer.join(60)
        self.assertEqual(1, self.manager.kills)

    def test_after_some_time(self):
        self.useFixture(fixtures.MonkeyPatch(f"{killer_module.__name__}.WORK", 0.05))
        killer = self.killer(Aim.AT_ONCE, looks=3)
        while not killer._looks:
            threading.Event().wait(0.01)
        killer.before(READ)
        killer.join(0.3)
        self.assertEqual(0, self.manager.kills)
        killer.before(LOOK)
        killer.join(60)
        self.assertEqual(1, self.manager.kills)

    def test_at_once_when_no_change_comes(self):
        self.useFixture(fixtures.MonkeyPatch(f"{killer_module.__name__}.PATIENCE", 0.05))
        killer = self.killer(Aim.BEFORE)
        killer.before(READ)
        killer.join(60)
        self.assertEqual(["manager killed at once"], self.told())
