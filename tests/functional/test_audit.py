"""`twotier-manage ledger` on real Nova and Placement: each disorder is found, and repaired."""

import io
import json
import pathlib
import uuid
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import fixtures

from nova_twotier import conf as config
from nova_twotier.audit.comparison import compare
from nova_twotier.audit.nova import Nova
from nova_twotier.audit.reading import Reader
from nova_twotier.audit.repair import Left, Repairer
from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.cmd import manage
from nova_twotier.db import terms
from nova_twotier.db.states import JobState
from nova_twotier.ledger import claims, consumers, names, tree
from nova_twotier.manager.election import Candidate
from tests.functional.base import BG, FG, PROJECT, USER, TwoTierTestCase
from tests.functional.ledger_case import job_tier
from tests.functional.operator_case import OperatorMixin
from tests.new_databases import new_store

CPU = 0.5
POINTS = 50


class AuditTestCase(OperatorMixin, TwoTierTestCase):
    HOSTS = 2
    SLOTS = 2

    def setUp(self):
        super().setUp()
        self.aggregate = self.aggregate_of(self.hosts, slots=self.SLOTS, switch="core/rack1")
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.state_path = directory / "state"
        self.conf = directory / "nova-twotier.conf"
        self.conf.write_text(f"[DEFAULT]\nstate_path = {self.state_path}\n")
        self.store = new_store(self, f"sqlite:///{self.state_path}/twotier.sqlite")
        self.access_of("nova_twotier.cmd.manage_ledger")

    def running(self, tier, size):
        """A job of the manager as it is while it runs: its record and its servers."""
        job = self.store.submit(size, [CPU])
        with self.store.transaction() as database:
            record = database.get(type(job), job.number)
            record.state, record.tier = JobState.RUNNING, tier
        self.admit(tier, size, job.uuid)
        options = {"name": f"tt-{job.number}", "metadata": {JOB_KEY: job.uuid}}
        servers = self.boot(size, job=job.uuid, **options)
        points = {server["id"]: POINTS for server in servers}
        claims.set_cpu_points(self.ledger, self.tiers, points)
        return job, servers

    def manage(self, *args):
        """Exit code and rows of a command, while a manager leads the pool."""
        terms.begin(self.store, names.DEFAULT_POOL, "manager")
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = manage.main(["--config-file", str(self.conf), "ledger", *args, "-f", "json"])
        self.assertEqual("", err.getvalue())
        return code, json.loads(out.getvalue())

    def verify(self, *options):
        """Kind and subject of what is found."""
        code, rows = self.manage("verify", "--pause", "0", *options)
        self.assertEqual(1 if rows else 0, code)
        return [(row["kind"], row["subject"]) for row in rows]

    def repair(self, *options):
        """Exit code, and kind and first word of the outcome of each finding."""
        code, rows = self.manage("repair", "--pause", "0", *options)
        return code, [(row["kind"], row["repair"].partition(":")[0]) for row in rows]

    def hold(self, consumer, *places, points=POINTS):
        """Let a consumer hold these places, beside what it has of others than us."""
        ours = {provider for host in self.tiers for provider in host.provider.values()}
        slot = {names.SLOT: 1, **({names.CPU: points} if points else {})}
        wanted = {self.tiers[host].provider[tier]: slot for host, tier in places}

        def change(held):
            return {**{rp: held[rp] for rp in held if rp not in ours}, **wanted}

        owner = {"project_id": PROJECT, "user_id": USER, "consumer_type": names.VM_CONSUMER}
        consumers.rewrite(self.ledger, {consumer: change}, {}, owner)

    def at(self, server):
        """Index of a server's host, and of another one."""
        here = self.hosts.index(self.host_of(server))
        return here, 1 - here

    def servers(self):
        """What repair must not touch: every server with its host, status and last change."""
        seen = self.admin_api.get_servers(search_opts={"all_tenants": 1})
        return {s["id"]: (s["OS-EXT-SRV-ATTR:host"], s["status"], s["updated"]) for s in seen}


class TestDisorders(AuditTestCase):
    def repairs(self, kind, subject, *options):
        """It is found, alone, and left by a dry run; repair repairs it, and touches no server."""
        servers = self.servers()
        code, rows = self.manage("repair", "--pause", "0", "--dry-run", *options)
        self.assertEqual((1, [(kind, subject)]), (code, [(r["kind"], r["subject"]) for r in rows]))
        self.assertEqual((0, [(kind, "done")]), self.repair(*options))
        self.assertEqual([], self.verify(*options))
        self.assertEqual(servers, self.servers())

    def test_claims(self):
        _job, [server, _other] = self.running(FG, 2)
        here, there = self.at(server)
        vm = server["id"]
        whole = consumers.read(self.ledger, vm)
        self.assertEqual([], self.verify())

        ghost = str(uuid.uuid4())
        self.hold(ghost, (here, BG))
        self.repairs("orphan-claim", ghost)
        self.assertEqual({}, consumers.read(self.ledger, ghost))

        for kind, places in (
            ("wrong-tier", [(here, BG)]),
            ("wrong-host", [(there, FG)]),
            ("double-claim", [(here, FG), (there, FG)]),
            ("double-claim", [(here, FG), (here, BG)]),
        ):
            self.hold(vm, *places)
            self.repairs(kind, vm)
            self.assertEqual(whole, consumers.read(self.ledger, vm))
        self.hold(vm, (here, BG))
        self.repairs("wrong-tier", vm, "--no-database")
        self.hold(vm, (here, FG), points=0)
        self.repairs("missing-points", vm)
        self.assertEqual(whole, consumers.read(self.ledger, vm))

        # Without any claim of ours the points are gone, too: two repairs.
        self.hold(vm)
        self.assertEqual([("missing-claim", vm)], self.verify())
        expected = [("missing-claim", "done"), ("missing-points", "done")]
        self.assertEqual((0, expected), self.repair())
        self.assertEqual(whole, consumers.read(self.ledger, vm))
        self.assertEqual([], self.verify())

    def test_entries(self):
        job, _servers = self.running(BG, 1)
        orphan = self.admit(FG, 3)
        self.repairs("orphan-entry", orphan)
        claims.release(self.ledger, job.uuid)
        self.repairs("missing-entry", job.uuid)
        self.admit(FG, 1, job.uuid)
        self.repairs("wrong-entry", job.uuid)
        self.assertEqual(BG, job_tier(self.ledger, job.uuid))

    def test_hosts(self):
        _job, [server] = self.running(FG, 1)
        here, there = self.at(server)
        tree.set_closed(self.ledger, self.tiers[there], 1)
        self.repairs("wrong-closed", self.hosts[there])
        self.overcommit(self.tiers[there].provider[FG])
        self.repairs("wrong-slots", self.hosts[there])

        self.admin_api.remove_host_from_aggregate(self.aggregate, self.hosts[here])
        self.repairs("stray-host", self.hosts[here])
        self.assertEqual(self.hosts[here], self.claim_of(server)[0])
        self.admin_api.add_host_to_aggregate(self.aggregate, self.hosts[here])
        self.repairs("wrong-slots", self.hosts[here])
        self.assertEqual([], self.verify())

    def overcommit(self, provider):
        """Set an allocation ratio of 2 for slots, as an operator may by mistake."""
        url = f"/resource_providers/{provider}/inventories"
        held = self.ledger.get(url)
        held["inventories"][names.SLOT]["allocation_ratio"] = 2.0
        self.ledger.put(url, held)

    def test_looked_at_anew_before_the_write(self):
        """What has changed since the finding is left as it is."""
        _job, [server] = self.running(FG, 1)
        here, there = self.at(server)
        vm, ghost = server["id"], str(uuid.uuid4())
        reader = Reader(self.ledger, Nova(self.as_admin()), dict)

        def left(consumer, change):
            state = reader.state()
            [found] = [each for each in compare(state) if each.subject == consumer]
            change()
            before = consumers.read(self.ledger, consumer)
            self.assertRaises(Left, Repairer(reader, state).repair, found)
            self.assertEqual(before, consumers.read(self.ledger, consumer))

        self.hold(vm, (here, BG))
        left(vm, lambda: self.act(server, "os-stop", "SHUTOFF"))
        left(vm, lambda: self.hold(vm, (there, BG)))
        self.hold(ghost, (here, BG))
        lives = mock.patch.object(Nova, "vm", lambda *_: vm)
        left(ghost, lambda: self.enterContext(lives))

    def test_each_in_the_place_of_the_other(self):
        """All slots are full: only both claims at once can be put right."""
        _job, fronts = self.running(FG, 4)
        _job, backs = self.running(BG, 4)
        front = fronts[0]["id"]
        here, _there = self.at(fronts[0])
        [back, *_rest] = [s["id"] for s in backs if self.at(s)[0] == here]
        whole = {vm: consumers.read(self.ledger, vm) for vm in (front, back)}
        self.hold(back)
        self.hold(front, (here, BG))
        self.hold(back, (here, FG))
        wrong = sorted([("wrong-tier", front), ("wrong-tier", back)])
        self.assertEqual(wrong, sorted(self.verify()))
        self.assertEqual((0, [("wrong-tier", "done")] * 2), self.repair("--kind", "wrong-tier"))
        self.assertEqual(whole, {vm: consumers.read(self.ledger, vm) for vm in whole})
        self.assertEqual([], self.verify())

    def test_what_cannot_be_mended_is_left(self):
        """No room where the claim belongs; and a claim that a shelved server should not have."""
        _job, servers = self.running(FG, 4)
        vm = servers[0]["id"]
        here, _there = self.at(servers[0])
        self.hold(vm, (here, BG))
        ghost = str(uuid.uuid4())
        self.hold(ghost, (here, FG))
        shelved = self.boot(1, job=self.admit(BG, 1))[0]
        self.act(shelved, "shelve", "SHELVED_OFFLOADED")
        self.hold(shelved["id"], (here, BG))

        code, rows = self.manage("repair", "--pause", "0", "--kind", "wrong-tier")
        self.assertEqual(1, code)
        self.assertIn("left: no room on", rows[0]["repair"])
        before = consumers.read(self.ledger, shelved["id"])
        code, rows = self.manage("repair", "--pause", "0", "--no-database")
        self.assertEqual(1, code)
        self.assertEqual(
            {(ghost, "done"), (vm, "done"), (shelved["id"], "left")},
            {(row["subject"], row["repair"].partition(":")[0]) for row in rows},
        )
        self.assertEqual(before, consumers.read(self.ledger, shelved["id"]))


class TestPassing(AuditTestCase):
    """What is just changing is not a finding."""

    SLOTS = 1

    def test_migrations(self):
        _job, [server] = self.running(FG, 1)
        self.live_migrate(server)
        self.assertEqual([("missing-points", server["id"])], self.verify(), "Nova drops the points")
        self.assertEqual((0, [("missing-points", "done")]), self.repair())
        [move] = self.admin_api.api_get("/os-migrations").body["migrations"]
        self.hold(move["uuid"], (self.at(server)[1], BG))
        self.assertEqual([("orphan-claim", move["uuid"])], self.verify(), "the move is over")
        self.assertEqual((0, [("orphan-claim", "done")]), self.repair())
        self.act(server, "migrate", "VERIFY_RESIZE")
        self.assertEqual((2, 0), self.totals(), "the migration holds the source")
        self.assertEqual([], self.verify())
        self.api.post_server_action(server["id"], {"revertResize": None})
        self.settle(server)
        self.poll(lambda: self.totals() == (1, 0), "the target is free")
        self.assertEqual([], self.verify())

    def test_evacuation(self):
        _job, [server] = self.running(FG, 1)
        source = self.host_of(server)
        self.computes[source].stop()
        service = self.api.get_services(host=source, binary="nova-compute")[0]
        self.api.put_service(service["id"], {"forced_down": True})
        self._evacuate_server(server, expected_host=self.hosts[1 - self.hosts.index(source)])
        self.assertEqual((2, 0), self.totals(), "both hosts are claimed")
        self.assertEqual([], self.verify())

    def test_soft_deleted(self):
        self.flags(reclaim_instance_interval=3600)
        _job, [server] = self.running(FG, 1)
        self.api.delete_server(server["id"])
        self.poll(
            lambda: server["id"] not in self.servers(),
            "it is not listed any more",
        )
        self.assertEqual((1, 0), self.totals())
        self.assertEqual([], self.verify())


class TestCommands(AuditTestCase):
    def test_sync_and_show(self):
        """From nothing, by the aggregate alone."""
        for host in self.hosts:
            self.admin_api.remove_host_from_aggregate(self.aggregate, host)
        self.assertEqual(0, self.manage("sync")[0])
        self.assertEqual((0, []), self.manage("show"))
        for host in self.hosts:
            self.admin_api.add_host_to_aggregate(self.aggregate, host)
        code, rows = self.manage("sync", "--dry-run")
        self.assertEqual((1, self.hosts), (code, [row["subject"] for row in rows]))
        self.assertEqual([0, 0], [row["fg_total"] for row in self.manage("show")[1]])
        code, rows = self.manage("sync")
        self.assertEqual((0, ["done"] * 2), (code, [row["repair"] for row in rows]))
        self.assertEqual((0, []), self.manage("sync"))

        job, [server] = self.running(FG, 1)
        code, rows = self.manage("show")
        here, _there = self.at(server)
        self.assertEqual(
            {
                "host": self.hosts[here],
                "slots": 2,
                "tiers": 2,
                "fg_used": 1,
                "fg_total": 2,
                "bg_used": 0,
                "bg_total": 2,
                "closed": 0,
                "cpu_points": POINTS,
                "pool": "default",
                "switch": "core/rack1",
            },
            rows[here],
        )
        self.assertEqual(
            [{"job": job.uuid, "tier": "fg", "size": 1, "links": "", "vms": 1}],
            self.manage("show", "--jobs")[1],
        )

    def test_repair_and_the_manager_exclude_each_other(self):
        options = config.load(["--config-file", str(self.conf)], "test").coordination
        manager = Candidate(options, self.store, "default", "a manager")
        self.addCleanup(manager.close)
        self.assertTrue(manager.stand())
        err = io.StringIO()
        with redirect_stderr(err):
            code = manage.main(["--config-file", str(self.conf), "ledger", "repair"])
        self.assertEqual([], self.verify())
        self.assertEqual(2, code)
        self.assertEqual(
            "twotier-manage: pool default is led by a manager; stop it first\n", err.getvalue()
        )
        manager.resign()
        self.assertEqual((0, []), self.repair())
        self.assertTrue(manager.stand(), "the repair has given the lead back")
