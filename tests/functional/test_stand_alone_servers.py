"""Stand-alone servers in the background make way for jobs, if flavor and option say so."""

import contextlib

from nova_twotier.core.actions import BG, FG
from nova_twotier.db.states import JobState, QueueMode
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import Conflict
from tests.functional.manager_case import ManagerTestCase
from tests.functional.queue_case import QueueTestCase
from tests.unit.manager import builders


class PreemptionTestCase(ManagerTestCase):
    HOSTS = 2
    SLOTS = 3
    OPTIONS = {}

    def setUp(self):
        super().setUp()
        self.cloud(seed=5)
        given = {"attempts": 4, "boot_grace": 3.0, "host_interval": 1e9, "preempt_servers": True}
        self.options = builders.options(**{**given, **self.OPTIONS})
        self.manager = self.engine("amcbf")
        self.busy = self.store.submit(6, [0.5], at=0)
        self.rounds(self.manager, 10)
        self.assertEqual((JobState.RUNNING, "fg"), self.state(self.busy))

    def alone(self, *hosts, tier=BG, preemptible="shelve", **values):
        return [self.nova.stand_alone(host, tier, preemptible, **values) for host in hosts]

    def full(self, **values):
        """All places of the background are taken; the newest come last."""
        return self.alone("host0", "host1", "host0", "host1", "host0", "host1", **values)

    def submit(self, size, cpu=0.5):
        return self.store.submit(size, [cpu], at=self.now)

    def state(self, job):
        found = self.store.job(job.number)
        return found.state, found.tier

    def on(self, servers):
        """Those of the servers that hold their slots."""
        held = claims.read_claims(self.ledger, self.tiers)
        return [vm for vm in servers if vm in held]

    def statuses(self, servers):
        return [self.nova.fleet[vm].status if vm in self.nova.fleet else "-" for vm in servers]


class TestPreemption(PreemptionTestCase):
    def test_the_newest_make_way_and_no_more_than_are_needed(self):
        """The newest of the host that the policy prefers, which is the first of equals."""
        servers = self.full()
        job = self.submit(2)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual(sorted(set(servers) - {servers[2], servers[4]}), sorted(self.on(servers)))
        self.assertEqual({"ACTIVE", "SHELVED_OFFLOADED"}, set(self.statuses(servers)))

    def test_idle_slots_come_first(self):
        servers = self.full()[:-2]
        for vm in list(self.nova.fleet)[-2:]:
            self.nova.delete(self.nova.fleet[vm])
        self.rounds(self.manager, 5)
        job = self.submit(3)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual(3, len(self.on(servers)), self.statuses(servers))

    def test_nobody_makes_way_in_vain(self):
        """For a job that would not start for all that."""
        servers = self.alone("host0", "host1")
        for host in ("host0", "host0", "host1", "host1"):
            self.nova.stand_alone(host, BG)
        job = self.submit(3)
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.QUEUED, self.state(job)[0])
        self.assertEqual(["ACTIVE"] * 2, self.statuses(servers))

    def test_deleted_if_their_flavor_says_so(self):
        servers = self.full(preemptible="delete")
        job = self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual(1, self.statuses(servers).count("-"))

    def test_others_stay(self):
        servers = self.full(preemptible="")
        job = self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.QUEUED, self.state(job)[0])
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))

    def test_nobody_makes_way_in_a_paused_queue(self):
        servers = self.full()
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))

    def test_a_server_of_a_job_never_does(self):
        """Though its flavor says so; not even one of a job that this manager does not see to."""
        other = self.store.submit(1, [0.5], at=self.now, pool="other")
        servers = self.full(job=other.uuid)
        running = [vm for vm, server in self.nova.fleet.items() if server.job == self.busy.uuid]
        for vm in running:
            self.nova._change(vm, preemptible="delete")
        self.submit(2)
        self.rounds(self.manager, 15)
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))
        self.assertEqual(["ACTIVE"] * 6, self.statuses(running))

    def test_what_an_owner_writes_protects_no_server(self):
        owner = "their-project", "their-user"
        servers = self.full(job=self.busy.uuid, owner=owner)
        job = self.submit(6)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual([], self.on(servers))

    def test_another_manager_preempts_no_more(self):
        servers = self.full()
        self.nova.stuck = set(servers)
        job = self.submit(2)
        self.rounds(self.manager, 3)
        leaving = {vm for vm in servers if self.nova.fleet[vm].task == "shelving"}
        self.assertEqual(2, len(leaving))
        manager = self.engine("amcbf")
        self.rounds(manager, 10)
        self.assertEqual(leaving, {vm for vm in servers if self.nova.fleet[vm].task})
        self.nova.stuck = set()
        self.rounds(manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual(set(servers) - leaving, set(self.on(servers)))

    def test_a_busy_server_is_passed_over(self):
        """Its owner may make one image of it after the other."""
        servers = self.full()
        self.nova.stuck = {servers[-1]}
        self.nova.create_image(servers[-1])
        job = self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual(5, len(self.on(servers)))
        self.assertIn(servers[-1], self.on(servers))

    def test_one_that_nova_does_not_shelve_is_none(self):
        """Else it would be chosen again and again, and hide those that can make way."""
        servers = self.full()
        self.nova._change(servers[-2], status="RESCUE")
        job = self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual("RESCUE", self.nova.fleet[servers[-2]].status)

    def test_the_slot_of_one_that_leaves_is_counted(self):
        """Also if the policy prefers another host by then, or Nova lists the server no more."""
        servers = self.full()
        self.nova.stuck = set(servers)
        job = self.submit(1)
        self.rounds(self.manager, 3)
        [leaving] = [vm for vm in servers if self.nova.fleet[vm].task == "shelving"]
        host = self.nova.fleet[leaving].host
        hot = {server.id: 90 for server in self.nova.servers() if server.host == host}
        claims.set_cpu_points(self.ledger, self.tiers, hot)
        self.nova.unlisted.add(leaving)
        self.rounds(self.manager, 15)
        self.assertEqual([], [vm for vm in servers if vm != leaving and self.nova.fleet[vm].task])
        self.assertEqual(JobState.QUEUED, self.state(job)[0])
        self.nova.stuck = set()
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))

    def test_one_that_hangs_is_not_waited_for(self):
        servers = self.full()
        self.nova._change(servers[-1], task="shelving", updated_at=self.now - 3600.0)
        job = self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual("shelving", self.nova.fleet[servers[-1]].task)

    def test_slots_of_jobs_that_end_are_counted(self):
        before = self.submit(2)
        self.rounds(self.manager, 10)
        self.assertEqual((JobState.RUNNING, BG), self.state(before))
        servers = []
        for host in ("host0", "host1") * 3:
            with contextlib.suppress(Conflict):
                servers += self.alone(host)
        self.nova.stuck = {each.id for each in self.nova.servers() if each.job == before.uuid}
        self.store.request_action(before.number, "complete")
        self.rounds(self.manager, 2)
        job = self.submit(2)
        self.rounds(self.manager, 5)
        self.nova.stuck = set()
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))
        self.assertEqual(["ACTIVE"] * 4, self.statuses(servers))

    def test_one_that_could_not_be_shelved_is_started_again(self):
        servers = self.full()
        self.nova.unshelvable = set(servers)
        job = self.submit(1)
        self.rounds(self.manager, 12)
        self.assertEqual(1, self.statuses(servers).count("SHUTOFF"))
        self.assertEqual(JobState.QUEUED, self.state(job)[0])
        self.store.request_action(job.number, "cancel")
        self.rounds(self.manager, 12)
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))

    def test_also_if_that_is_not_known_yet_when_it_may_stay(self):
        self.assert_started_again(1)

    def test_also_if_it_is_chosen_twice_meanwhile(self):
        self.assert_started_again(2)

    def assert_started_again(self, times):
        """Cancel one job after the other, while Nova shelves a server that makes way for it."""
        servers = self.full()
        self.nova.unshelvable = self.nova.stuck = set(servers)
        for _time in range(times):
            job = self.submit(1)
            self.rounds(self.manager, 5)
            self.assertIn("shelving", {self.nova.fleet[vm].task for vm in servers})
            self.store.request_action(job.number, "cancel")
            self.rounds(self.manager, 5)
        self.nova.stuck = set()
        self.rounds(self.manager, 5)
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))


class TestNotice(PreemptionTestCase):
    OPTIONS = {"preemption_grace": 10.0}

    def test_guests_are_told_first(self):
        servers = self.full()
        job = self.submit(1)
        self.rounds(self.manager, 6)
        [told] = [vm for vm in servers if self.nova.fleet[vm].notice]
        self.assertEqual("ACTIVE", self.nova.fleet[told].status)
        self.rounds(self.manager, 20)
        self.assertEqual("SHELVED_OFFLOADED", self.nova.fleet[told].status)
        self.assertEqual((JobState.RUNNING, BG), self.state(job))

    def test_and_when_they_may_stay(self):
        servers = self.full()
        job = self.submit(1)
        self.rounds(self.manager, 6)
        self.store.request_action(job.number, "cancel")
        self.rounds(self.manager, 20)
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))
        self.assertEqual([], [vm for vm in servers if self.nova.fleet[vm].notice])

    def test_whoever_gave_the_notice(self):
        """And if the option is not set any more."""
        servers = self.full()
        job = self.submit(1)
        self.rounds(self.manager, 6)
        self.store.request_action(job.number, "cancel")
        self.options.preempt_servers = False
        self.rounds(self.engine("amcbf"), 10)
        self.assertEqual([], [vm for vm in servers if self.nova.fleet[vm].notice])


class TestWithoutTheOption(PreemptionTestCase):
    OPTIONS = {"preempt_servers": False}

    def test_all_stay(self):
        servers = self.full()
        self.submit(1)
        self.rounds(self.manager, 15)
        self.assertEqual(["ACTIVE"] * 6, self.statuses(servers))


class TestForeground(ManagerTestCase):
    def test_no_server_in_the_foreground_makes_way(self):
        self.cloud(seed=5)
        self.options = builders.options(host_interval=1e9, preempt_servers=True)
        for host in ("host0", "host1") * 3:
            self.nova.stand_alone(host, FG, "shelve")
        self.rounds(self.engine("fcfs"), 1)
        job = self.store.submit(1, [0.5], at=self.now)
        self.rounds(self.engine("fcfs"), 10)
        self.assertEqual(JobState.QUEUED, self.store.job(job.number).state)
        self.assertEqual({"ACTIVE"}, {server.status for server in self.nova.fleet.values()})


class TestOnNova(QueueTestCase):
    """With flavor, filters, shelving and deletion of a real Nova."""

    HOSTS = 1
    SLOTS = 2

    def test_make_way(self):
        self.options.preempt_servers = True
        flavors = [
            self.tier_flavor(**{"twotier:tier": BG, "twotier:preemptible": mode})
            for mode in ("shelve", "delete")
        ]
        self.until(self.store.submit(2, [0.5]).number, JobState.RUNNING, tier=FG)
        shelved, deleted = (self.boot(flavor=flavor)[0] for flavor in flavors)
        self.until(self.store.submit(2, [0.5]).number, JobState.RUNNING, tier=BG)
        self.assertEqual("SHELVED_OFFLOADED", self.api.get_server(shelved["id"])["status"])
        self.assertNotIn(deleted["id"], [server["id"] for server in self.api.get_servers()])
        self.assertEqual((2, 2), self.totals())
