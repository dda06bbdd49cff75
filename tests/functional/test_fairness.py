"""No tenant's guest holds up the others: jobs that fit into idle slots start within two polls.

Guests may ignore ACPI, dirty their memory or be imaged by their owner again and again: what the
manager asks Nova to do with their servers never comes to an end.
"""

from nova_twotier.db.states import JobState, Preemption
from nova_twotier.manager.ongoing import PATIENCE
from tests.functional.manager_case import InMemoryTestCase
from tests.unit.manager import builders

#: Polls after which a job runs that found room: it is decided upon, begun, and Nova takes a moment.
SOON = 2


class FairnessCase(InMemoryTestCase):
    """Eight slots; jobs are hot unless they say so, and so close the background."""

    HOSTS = 4
    SLOTS = 2

    def setUp(self):
        super().setUp()
        self.cloud(seed=5)
        self.random.random = lambda: 0.5  # each round, all that is not stuck comes to its end
        self.options = builders.options(boot_grace=3.0, host_interval=1e9)
        self.hostile = set()

    def begin(self, policy="amcbf"):
        self.manager = self.engine(policy)

    def submit(self, size, cpu=1.0, **values):
        self.now += 0.001
        return self.store.submit(size, [cpu], at=self.now, **values).number

    def work(self, rounds=6):
        for _round in range(rounds):
            self.now += 1
            self.manager.poll()
            self.check(self.store.jobs())
            theirs = {self.store.job(number).uuid for number in self.hostile}
            self.nova.stuck = {each.id for each in self.nova.servers() if each.job in theirs}
            self.nova.work()

    def end(self, number):
        self.store.request_action(number, "complete")

    def state(self, number):
        return self.store.job(number).state

    def begins(self, number, polls=SOON):
        """A job leaves the queue within so many polls."""
        self.work(polls)
        self.assertNotEqual(JobState.QUEUED, self.state(number), self.store.job(number).reason)

    def crowd(self, count, mode=Preemption.SHELVE):
        """A job waits for the slots of so many guests that do not go, and for those of one that
        has just ended. Returns it, and the job that holds the last two slots."""
        first = self.submit(6 - count)
        last = self.submit(2)
        self.work()
        waiting = self.submit(6)
        guests = [self.submit(1, preemption=mode) for _guest in range(count)]
        self.work()
        self.hostile = set(guests)
        self.end(first)
        self.work()
        self.assertEqual({JobState.PREEMPTING}, {self.state(guest) for guest in guests})
        self.assertEqual(JobState.QUEUED, self.state(waiting))
        return waiting, last


class TestStuckEvictions(FairnessCase):
    def beside(self, count, mode):
        self.begin()
        waiting, last = self.crowd(count, mode)
        self.end(last)
        self.work(3)
        # What has become idle since is promised to nobody.
        self.begins(self.submit(1))
        # What was idle before is kept for who waits, but not for long.
        self.work(int(PATIENCE))
        for _job in range(6 - count + 1):
            self.begins(self.submit(1))
        self.assertEqual(JobState.QUEUED, self.state(waiting))

    def test_who_waits_takes_idle_slots_instead(self):
        self.begin()
        waiting, last = self.crowd(2)
        self.end(last)
        self.work(int(PATIENCE))
        self.assertEqual(JobState.RUNNING, self.state(waiting))
        # What was to be freed for it is theirs again, who are next.
        guests, self.hostile = self.hostile, set()
        self.work(10)
        self.assertEqual({JobState.RUNNING}, set(map(self.state, guests)))

    def test_what_is_freed_is_not_taken_by_others(self):
        """One guest after the other goes; jobs that would fit in between wait for their turn."""
        self.begin()
        waiting, _last = self.crowd(5)
        self.work(int(PATIENCE))
        others = [self.submit(1) for _job in range(3)]
        self.work(3)
        # One took the slot that was idle all the time.
        self.assertEqual([JobState.RUNNING, *[JobState.QUEUED] * 2], list(map(self.state, others)))
        for guest in sorted(self.hostile):
            self.hostile.remove(guest)
            self.work(4)
            self.assertEqual(JobState.QUEUED, self.state(others[1]))
        # The one that took a slot past it makes room.
        self.work(10)
        self.assertEqual(JobState.RUNNING, self.state(waiting))


class TestBusyForItsOwner(FairnessCase):
    """An owner who has a server imaged again and again is preempted as all others are."""

    PATIENCE = 20.0

    def setUp(self):
        super().setUp()
        self.options.preemption_timeout = self.PATIENCE

    def work(self, rounds=6):
        for _round in range(rounds):
            super().work(1)
            for server in self.nova.servers():
                if server.id in self.nova.stuck and not server.task and server.status == "ACTIVE":
                    self.nova.create_image(server.id)

    def test_it_is_preempted_all_the_same(self):
        self.begin()
        first, _last = self.submit(5), self.submit(2)
        self.work()
        waiting = self.submit(6)
        guest = self.submit(1)
        self.work()
        self.hostile = {guest}
        self.work(2)
        self.end(first)
        self.work(4)
        self.assertEqual(JobState.PREEMPTING, self.state(guest))
        self.work(int(self.PATIENCE) + 6)
        self.assertEqual(JobState.RUNNING, self.state(waiting))
        self.assertIn("killed", self.kinds(guest))


class TestStuckMigration(FairnessCase):
    """A guest dirties its memory faster than it can be moved to the foreground."""

    def setUp(self):
        super().setUp()
        self.options.preemption_timeout = 40.0

    def stuck(self):
        """Job 2 runs below job 1, on the same hosts and others; part of it is to migrate."""
        self.begin()
        self.front = [self.submit(1, 0.5) for _job in range(8)]
        self.work()
        self.guest = self.submit(3, 0.5)
        self.work()
        self.hostile = {self.guest}
        below = {each.host for each in self.gang(self.guest)}
        # The slots that come free are not above it.
        apart = [n for n in self.front if self.gang(n)[0].host not in below]
        above = [n for n in self.front if n not in apart]
        for number in (*apart, above[0]):
            self.end(number)
        self.work(4)
        self.assertIn("migrating", {each.task for each in self.gang(self.guest)})

    def gang(self, number):
        uuid = self.store.job(number).uuid
        return [each for each in self.nova.servers() if each.job == uuid]

    def test_others_start_meanwhile(self):
        self.stuck()
        self.begins(self.submit(1, 0.5))

    def test_it_begins_anew_in_the_end(self):
        self.stuck()
        self.work(60)
        self.assertIn("killed", self.kinds(self.guest))
        self.hostile = set()
        self.work(4)
        self.assertEqual(JobState.RUNNING, self.state(self.guest))


def _add(count, mode):
    def test(self):
        self.beside(count, mode)

    setattr(TestStuckEvictions, f"test_a_job_starts_beside_{count}_in_{mode}", test)


for _count in (3, 4, 5):
    for _mode in (Preemption.SHELVE, Preemption.SUSPEND):
        _add(_count, _mode)
