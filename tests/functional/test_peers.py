"""The queue manager tells the guests of a job who they are, and each of them only once."""

import dataclasses

from nova.api.metadata import base as metadata

from nova_twotier.cloud import peers
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.servers import NOTICE_KEY
from nova_twotier.db.states import JobState
from nova_twotier.manager import peers as manager_peers
from tests.functional.fake_nova import FakeNova
from tests.functional.manager_case import InMemoryTestCase
from tests.functional.queue_case import QueueTestCase
from tests.unit.client.guest_case import GuestCase
from tests.unit.manager import builders

LAN = "3c9b2a10-0000-4000-8000-000000000008"


class TellingNova(FakeNova):
    """Also keeps metadata and gives addresses; `told` are the requests to change metadata."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.told = []
        self.connected = True
        self.refusal = None
        self.quota = 128

    def boot(self, job, user_data=None, first=False):
        before = set(self.fleet)
        super().boot(job, user_data, first=first)
        given = {"metadata": peers.at_boot(job, job.networks or [LAN])}
        for server in set(self.fleet) - before:
            if self.connected and job.networks != ["none"]:
                self.connect(server, f"10.0.0.{len(self.fleet)}{self.fleet[server].index}")
            self._change(server, task=self.fleet[server].task, **given)

    def connect(self, server, address):
        where = {"lan": [{"addr": address, "OS-EXT-IPS:type": "fixed"}]}
        self._change(server, task=self.fleet[server].task, addresses=where)

    def set_metadata(self, server, items):
        found = self.fleet[server.id]
        self.told.append(server.id)
        if self.refusal:
            raise self.refusal
        if len({**found.metadata, **items}) > self.quota:
            raise CloudError("Maximum number of metadata items exceeds it", 403)
        if found.task or found.status not in peers.TAKES_METADATA:
            raise CloudError("Cannot 'update' instance while it is busy", 409)
        notice = items.get(NOTICE_KEY, found.notice)
        self._change(server.id, metadata={**found.metadata, **items}, notice=notice)


class TestPeers(InMemoryTestCase):
    def setUp(self):
        super().setUp()
        self.now = 10_000.0
        self.cloud(seed=3)

    def cloud(self, seed, **options):
        super().cloud(seed, **options)
        ours = {name: getattr(self.nova, name) for name in ("faults", "random", "clock")}
        self.nova = TellingNova(self.ledger, self.nova.roots, self.nova.shape, **ours)

    def running(self, size=2, rounds=12, **values):
        """Job 1 runs, and all that can be told has been told."""
        self.store.submit(size, [1.0], at=self.now, **{"retries": 1, "peers": True, **values})
        engine = self.engine("amcbf")
        self.rounds(engine, rounds)
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        return engine

    def gang(self, number=1):
        uuid = self.store.job(number).uuid
        found = [server for server in self.nova.servers() if server.job == uuid]
        return sorted(found, key=lambda server: server.index)

    def variables(self, server):
        words = server.metadata[peers.ENVIRONMENT].split()
        return dict(word.removeprefix("TWOTIER_").split("=") for word in words)

    def assert_known(self, number=1, restarts=0):
        """All servers of the job show the addresses of all of them, and how often it restarted."""
        gang = self.gang(number)
        expected = " ".join(server.addresses["lan"][0]["addr"] for server in gang)
        for server in gang:
            shown = server.metadata
            self.assertEqual(("1", expected), (shown["twotier_peers"], shown["twotier_peers_0"]))
            self.assertEqual(str(restarts), self.variables(server)["RESTARTS"])

    def test_one_request_for_each_server(self):
        engine = self.running(walltime=3600.5)
        self.assertEqual({server.id for server in self.gang()}, {*self.nova.told})
        self.assertEqual(2, len(self.nova.told))
        self.assert_known()
        shown = self.variables(self.gang()[1])
        expected = {"JOB_NUMBER": "1", "SIZE": "2", "RESTARTS": "0", "WALLTIME": "3600"}
        self.assertEqual(expected, shown)
        self.rounds(engine, 100)
        self.rounds(self.engine("amcbf"), 100)
        self.assertEqual(2, len(self.nova.told), "nor by a manager that has just started")

    def test_who_does_not_ask(self):
        self.running(peers=False)
        self.assertEqual([], self.nova.told)
        self.assertEqual([{}, {}], [server.metadata for server in self.gang()])

    def test_what_needs_no_addresses(self):
        """All that a single process and those without networks can know they know at their boot."""
        for number, values in enumerate(({"size": 1}, {"size": 2, "networks": ["none"]}), start=1):
            self.store.submit(cpu=[1.0], at=self.now, peers=True, **values)
            self.rounds(self.engine("amcbf"), 100)
            for server in self.gang(number):
                self.assertEqual("0", server.metadata[peers.ADDRESSES])
                self.assertEqual(str(number), self.variables(server)["JOB_NUMBER"])
        self.assertEqual([], self.nova.told)

    def test_addresses_that_come_late(self):
        self.nova.connected = False
        engine = self.running()
        self.assertEqual([], self.nova.told)
        for at, server in enumerate(self.gang()):
            self.nova.connect(server.id, f"10.0.0.{at}")
        self.rounds(engine, 2)
        self.assertEqual(2, len(self.nova.told))
        self.assert_known()

    def test_addresses_that_never_come(self):
        """The guests are told so, since they wait for it."""
        self.nova.connected = False
        engine = self.running()
        self.rounds(engine, int(manager_peers.ADDRESSES_DUE))
        shown = [server.metadata["twotier_peers"] for server in self.gang()]
        self.assertEqual((["0", "0"], 2), (shown, len(self.nova.told)))

    def test_an_address_that_changes(self):
        engine = self.running()
        self.nova.connect(self.gang()[0].id, "10.0.0.99")
        self.rounds(engine, 2)
        self.assert_known()
        self.assertEqual(4, len(self.nova.told))

    def test_a_request_that_fails(self):
        self.nova.refusal = CloudError("Nova answered 503", 503)
        engine = self.running()
        self.nova.refusal = None
        self.rounds(engine, int(manager_peers.RETRY_AFTER))
        self.assert_known()
        self.assertEqual(4, len(self.nova.told))

    def test_a_request_that_is_refused(self):
        """It is not repeated all the time: the quota has to change first."""
        self.nova.refusal = CloudError("Nova answered 400", 400)
        engine = self.running()
        self.rounds(engine, 100)
        self.assertEqual(2, len(self.nova.told))

    def test_a_quota_of_metadata_items_that_is_too_low(self):
        """The guests are told what fits, at once, and the owner that it is not all."""
        self.nova.quota = 3
        engine = self.running()
        for server in self.gang():
            self.assertEqual("0", server.metadata[peers.ADDRESSES])
        self.rounds(engine, 100)
        self.assertEqual(6, len(self.nova.told), "all, one address, none")
        told = [event for event in self.store.events(1) if event.kind == "peers"]
        self.assertEqual(["peers-left-out"], [event.reason.code.name for event in told])
        self.nova.quota = 128
        self.rounds(engine, int(manager_peers.RETRY_REFUSED_AFTER))
        self.assert_known()

    def preempted(self, mode="shelve", **options):
        """Job 3 was preempted; ids of its servers while it ran."""
        given = {"attempts": 3, "boot_grace": 3.0, "host_interval": 1e9, **options}
        self.options = builders.options(**given)
        for size, values in ((4, {}), (6, {}), (2, {"peers": True, "preemption": mode})):
            self.store.submit(size, [1.0], at=self.now, **values)
        engine = self.engine("amcbf")
        self.rounds(engine, 12)
        self.assertEqual(JobState.RUNNING, self.store.job(3).state)
        self.assert_known(3)
        servers = [server.id for server in self.gang(3)]
        self.store.request_action(1, "complete")
        self.rounds(engine, 30)
        self.assertEqual(JobState.QUEUED, self.store.job(3).state)
        return engine, servers

    def restored(self, engine):
        self.store.request_action(2, "complete")
        self.rounds(engine, 30)
        self.assertEqual(JobState.RUNNING, self.store.job(3).state)

    def test_a_restore(self):
        self.check_restore()

    def test_a_restore_after_a_notice(self):
        """It takes no more requests."""
        self.check_restore(preemption_grace=5.0)

    def check_restore(self, **options):
        """What the guests find when they boot again is void; they are told when all are there."""
        engine, servers = self.preempted(**options)
        for server in self.gang(3):
            self.assertEqual("", server.metadata["twotier_peers"])
            self.assertEqual("1", self.variables(server)["RESTARTS"])
        self.assertEqual(4, len(self.nova.told))
        self.restored(engine)
        self.assertEqual(servers, [server.id for server in self.gang(3)])
        self.assert_known(3, restarts=1)
        self.assertEqual(6, len(self.nova.told))

    def test_in_place(self):
        """A guest that was suspended never stopped: it is told of its restart afterwards."""
        engine, servers = self.preempted("suspend")
        self.assert_known(3)
        self.restored(engine)
        self.assertEqual(servers, [server.id for server in self.gang(3)])
        self.assert_known(3, restarts=1)

    def test_a_job_that_begins_anew(self):
        engine, servers = self.preempted("requeue")
        self.restored(engine)
        self.assertEqual(set(), {*servers} & {server.id for server in self.gang(3)})
        self.assert_known(3, restarts=1)

    def test_a_preemption_that_is_given_up(self):
        """The addresses hold again."""
        self.options = builders.options(
            attempts=3, boot_grace=3.0, host_interval=1e9, preemption_grace=3.0
        )
        for size, values in ((4, {}), (6, {}), (2, {"peers": True})):
            self.store.submit(size, [1.0], at=self.now, **values)
        engine = self.engine("amcbf")
        self.rounds(engine, 12)
        self.nova.unshelvable = {server.id for server in self.gang(3)}
        self.store.request_action(1, "complete")
        for _round in range(300):
            self.rounds(engine, 1)
            if "not evicted" in self.kinds(3):
                break
        self.assertIn("not evicted", self.kinds(3))
        self.store.request_action(2, "cancel")
        self.rounds(engine, 60)
        self.assertEqual(JobState.RUNNING, self.store.job(3).state)
        self.assertEqual(["", ""], [server.notice for server in self.gang(3)])
        self.assert_known(3)

    def test_the_servers_of_an_owner_who_changes_them(self):
        engine = self.running()
        [first, _second] = self.gang()
        spoiled = {**first.metadata, "twotier_peers_0": "10.6.6.6", "mine": "stays"}
        self.nova.fleet[first.id] = dataclasses.replace(first, metadata=spoiled)
        self.rounds(engine, int(manager_peers.RETRY_AFTER))
        self.assert_known()
        self.assertEqual("stays", self.gang()[0].metadata["mine"])


class TestRealNova(QueueTestCase, GuestCase):
    """What Nova's metadata service would say is read by the guest's own script."""

    HOSTS = 3
    SLOTS = 1

    def know(self, number):
        """What the guest of each process knows; None if it does not know all."""
        found = []
        for server in self.servers(number):
            shown = metadata.get_metadata_by_instance_id(server["id"], "127.0.0.1")
            self.service.content = shown.lookup("/openstack/latest/meta_data.json").decode()
            status, _said = self.refresh()
            if status:
                return None
            found.append((self.variables(), self.peers()))
        return found

    def addresses(self, number):
        return {
            server["name"]: server["addresses"]["private"][0]["addr"]
            for server in self.servers(number)
        }

    def test_a_gang(self):
        networks = [self.neutron.network_1["id"]]
        self.store.submit(1, [1.0])
        self.until(1, JobState.RUNNING)
        self.store.submit(3, [1.0])
        name = "it's \N{ROCKET} $HOME"
        self.store.submit(2, [1.0], peers=True, name=name, networks=networks)
        self.until(3, JobState.RUNNING)
        self.assert_gang_knows(name, 0)
        self.store.request_action(1, "complete")
        self.until(2, JobState.RUNNING)
        [first, _second] = self.servers(3)
        self.assertEqual("", first["metadata"]["twotier_peers"])
        self.store.request_action(2, "complete")
        self.until(3, JobState.RUNNING, restores=1)
        self.assert_gang_knows(name, 1)

    def assert_gang_knows(self, name, restarts):
        def known():
            self.engine.poll()
            return self.know(3)

        for variables, lines in self.poll(known, "all guests know all"):
            self.assertEqual(name, variables["TWOTIER_JOB_NAME"])
            self.assertEqual(str(restarts), variables["TWOTIER_RESTARTS"])
            mine = lines[int(variables["TWOTIER_RANK"])].split()
            where = self.addresses(3)
            self.assertEqual([mine[1], where[mine[1]]], mine[1:])
            self.assertEqual(sorted(where), [line.split()[1] for line in lines])
