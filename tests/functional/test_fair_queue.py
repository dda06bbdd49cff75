"""Fair share, limits of slots and classes of service while managers crash, under every policy."""

import itertools
from collections import Counter

import ddt

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.qos import NORMAL, SCAVENGER, URGENT
from nova_twotier.db.states import JobState
from tests.functional.manager_case import InMemoryTestCase
from tests.unit.manager import builders

USERS = ("alice", "bob", "alice")
#: Round, size and CPU utilisation of each job, and the rounds of work in it.
ARRIVALS = [(at, 1 + at % 3, 0.3 if at % 2 else 1.0) for at in range(1, 13)]
LIVES = [4 + at % 5 for at, _size, _cpu in ARRIVALS]
#: Jobs that ask for bandwidth, which these do not have.
POLICIES = sorted(set(policies.POLICIES) - {"sbf"})


class FairCase(InMemoryTestCase):
    HOSTS = 2
    SLOTS = 3
    OPTIONS: dict = {}

    def setUp(self):
        super().setUp()
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1e9, **self.OPTIONS
        )
        users, submit = itertools.cycle(USERS), self.store.submit
        self.store.submit = lambda *args, **rest: submit(
            *args, user_id=next(users), project_id="demo", **rest
        )

    def play_all(self, policy, crashes=0.02):
        self.cloud(seed=7, crashes=crashes)
        jobs = self.play(policy, ARRIVALS, LIVES)
        self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
        self.check_clean()


@ddt.ddt
class TestLimits(FairCase):
    """Each of the two users may hold half of the slots of a tier."""

    LIMIT = {Tier.FG: 3, Tier.BG: 3}
    OPTIONS = {"max_foreground_slots_per_user": 3, "max_background_slots_per_user": 3}

    def check(self, jobs):
        seen = super().check(jobs)
        users = {job.uuid: job.user_id for job in jobs}
        held = Counter()
        owners = {server.id: users.get(server.job) for server in self.nova.servers()}
        for vm, vm_claims in seen.items():
            for claim in vm_claims:
                held[owners.get(vm), claim.tier] += 1
        for (user, tier), slots in held.items():
            self.assertLessEqual(slots, self.LIMIT[tier], (user, tier))

    @ddt.data(*POLICIES)
    def test_no_user_holds_more(self, policy):
        self.play_all(policy)


@ddt.ddt
class TestClasses(FairCase):
    """Of three jobs, one is urgent and one a scavenger."""

    def setUp(self):
        super().setUp()
        classes, submit = itertools.cycle((SCAVENGER, NORMAL, URGENT)), self.store.submit
        self.store.submit = lambda *args, **rest: submit(*args, qos=next(classes), **rest)

    def check(self, jobs):
        seen = super().check(jobs)
        classes = {job.uuid: job.qos for job in jobs}
        owners = {server.id: classes.get(server.job) for server in self.nova.servers()}
        for vm, vm_claims in seen.items():
            if owners.get(vm) == SCAVENGER:
                self.assertEqual({Tier.BG}, {claim.tier for claim in vm_claims})

    @ddt.data("amcbf", "cmcbf", "acfcfs", "ktier-cmbf")
    def test_scavengers_stay_in_the_background_and_every_job_ends(self, policy):
        self.play_all(policy)


@ddt.ddt
class TestPlaces(FairCase):
    OPTIONS = {
        "fair_share": "user",
        "fair_share_half_life": 10.0,
        "fair_share_longest_offset": 20.0,
    }

    def setUp(self):
        super().setUp()
        self.offsets = {}

    def check(self, jobs):
        super().check(jobs)
        for job in jobs:
            if job.queue_offset is not None:
                self.assertTrue(0.0 <= job.queue_offset <= 20.0)
                self.assertEqual(
                    job.queue_offset, self.offsets.setdefault(job.number, job.queue_offset)
                )

    @ddt.data(*POLICIES)
    def test_every_job_gets_one_and_ends(self, policy):
        self.play_all(policy)
        self.assertEqual(len(ARRIVALS), len(self.offsets))
        self.assertGreater(max(self.offsets.values()), 0.0)
