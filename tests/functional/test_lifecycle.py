"""Operations on two-tier servers, and the resource tracker beside them."""

from tests.functional.base import BG, FG, TwoTierTestCase


class TestLifecycle(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 1

    def other(self, host):
        return next(name for name in self.hosts if name != host)

    def test_rebuild_keeps_the_claim(self):
        """Also when the entry has changed since, and the other tier is full."""
        job, [server] = self.boot_job(BG, 1)
        self.boot_job(FG, 2)
        seat = self.claim_of(server)
        self.admit(FG, 1, job)
        with self.placement_reads() as reads:
            image = self.glance.image2["id"]
            self.act(server, "rebuild", imageRef=image)
        self.assertEqual(seat, self.claim_of(server))
        self.assertEqual((2, 1), self.totals())
        self.assertEqual(image, self.api.get_server(server["id"])["image"]["id"])
        self.assertEqual([], [url for url in reads if "CUSTOM_TWOTIER" in url])

    def test_cold_migration(self):
        job, [server] = self.boot_job(FG, 1)
        source = self.claim_of(server)[0]
        self.admit(BG, 1, job)
        self.act(server, "migrate", "VERIFY_RESIZE")
        target = self.other(source)
        self.assertEqual((target, BG), self.claim_of(server))
        self.assertEqual((1, 1), self.totals(), "the source is held until the resize is confirmed")
        self.api.post_server_action(server["id"], {"confirmResize": None})
        self.settle(server)
        self.poll(lambda: self.totals() == (0, 1), "the source is free")
        self.assertEqual((target, BG), self.claim_of(server))

    def test_evacuation(self):
        _job, [server] = self.boot_job(FG, 1)
        source = self.claim_of(server)[0]
        target = self.other(source)
        self.computes[source].stop()
        service = self.api.get_services(host=source, binary="nova-compute")[0]
        self.api.put_service(service["id"], {"forced_down": True})
        self._evacuate_server(server, expected_host=target)
        self.assertEqual({(source, FG), (target, FG)}, self.seats_of(server))
        self.assertEqual((2, 0), self.totals(), "held until the source host returns")

        image = self.glance.image2["id"]
        self.act(server, "rebuild", "SHUTOFF", imageRef=image)
        self.assertEqual(image, self.api.get_server(server["id"])["image"]["id"])
        self.assertEqual({(source, FG), (target, FG)}, self.seats_of(server))

        self.computes[source] = self.restart_compute_service(self.computes[source])
        self.api.put_service(service["id"], {"forced_down": False})
        self.assertEqual((target, FG), self.claim_of(server))
        self.assertEqual((1, 0), self.totals())
        _job, [other] = self.boot_job(FG, 1)
        self.assertEqual((source, FG), self.claim_of(other))

    def test_disabled_host(self):
        """Takes no VM of ours by boot or unshelve, and keeps those it has."""
        _job, [stays] = self.boot_job(FG, 1)
        closed = self.claim_of(stays)[0]
        open_host = self.other(closed)
        service = self.api.get_services(host=closed, binary="nova-compute")[0]
        self.api.put_service(service["id"], {"status": "disabled"})
        _job, [front] = self.boot_job(FG, 1)
        self.assertEqual((open_host, FG), self.claim_of(front))
        _job, [server] = self.boot_job(BG, 1)
        self.assertEqual((open_host, BG), self.claim_of(server))
        for tier in (FG, BG):
            self.boot(1, job=self.admit(tier, 1), expect="ERROR")
        self.act(server, "shelve", "SHELVED_OFFLOADED")
        _job, [follower] = self.boot_job(BG, 1)
        self.assertEqual((open_host, BG), self.claim_of(follower))
        self.api.post_server_action(server["id"], {"unshelve": None})
        self.settle(server, "SHELVED_OFFLOADED")
        self.assertEqual((2, 1), self.totals())

        self.api.put_service(service["id"], {"status": "enabled"})
        self.act(server, "unshelve")
        self.assertEqual((closed, BG), self.claim_of(server))

    def seats_of(self, server):
        held = self.ledger.get(f"/allocations/{server['id']}")["allocations"]
        return {
            (host.name, tier)
            for host in self.tiers
            for tier, provider in host.provider.items()
            if provider in held
        }

    def test_resource_tracker_changes_nothing(self):
        _job, fronts = self.boot_job(FG, 2)
        _job, backs = self.boot_job(BG, 1)
        generations, usage = self.generations(), self.usage()
        for _round in range(2):
            self._run_periodics(raise_on_error=True)
            self.assertEqual(generations, self.generations())
            self.assertEqual(usage, self.usage())
        host = self.hosts[0]
        self.computes[host] = self.restart_compute_service(self.computes[host])
        self._run_periodics(raise_on_error=True)
        self.assertEqual(generations, self.generations())
        self.sync({host.name: host.shape for host in self.tiers})
        self.assertEqual(generations, self.generations())

        self.delete([*fronts, *backs])
        self.assertEqual({FG: [0, 0], BG: [0, 0]}, self.usage())
        held = self.ledger.get(
            f"/resource_providers/{self._get_provider_uuid_by_host(host)}/usages"
        )
        self.assertEqual({"VCPU": 0, "MEMORY_MB": 0, "DISK_GB": 0}, held["usages"])

    def test_shrinking_and_growing(self):
        """VMs beyond the new shape stay; none follows them; a larger shape takes more."""
        _job, [first] = self.boot_job(BG, 1)
        grown = {host.name: type(host.shape)(2, 2) for host in self.tiers}
        shrunk = {host.name: host.shape for host in self.tiers}
        self.tiers = self.sync(grown)
        _job, more = self.boot_job(BG, 3)
        self.assertEqual({FG: [0, 0], BG: [2, 2]}, self.usage())

        self.tiers = self.sync(shrunk)
        self.assertEqual({FG: [0, 0], BG: [2, 2]}, self.usage())
        self.boot(1, job=self.admit(BG, 1), expect="ERROR")
        at = self.claim_of(first)[0]
        self.delete([first])
        self.boot(1, job=self.admit(BG, 1), expect="ERROR")
        self.delete([server for server in more if self.claim_of(server)[0] == at])
        _job, [new] = self.boot_job(BG, 1)
        self.assertEqual((at, BG), self.claim_of(new))
