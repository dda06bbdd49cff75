"""A host in a ledger that is real, and its agent, a process."""

import contextlib
import subprocess
import sys
import uuid

from nova_twotier import conf as configuration
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.core.actions import BG, FG
from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.claims import Swap

HOST, SLOT_CPU, EMULATOR_CPU = "host1", 1, 0
WEIGHT = {FG: 10000, BG: 100}
OPTIONS = f"""
[agent]
host = {HOST}
slot_cpus = {SLOT_CPU}
emulator_cpus = {EMULATOR_CPU}
poll_interval = 0.5
sweep_interval = 2
sample_interval = 1
window = 4
open_samples = 5
libvirt_uri = """


class Host:
    """The host's claims, and its agent.

    :param more: lines of the group `[agent]`, instead of some of ours.
    """

    def __init__(self, cloud, uri, directory, more="", slots=1):
        self._directory = directory
        options = directory / "agent.conf"
        options.write_text(f"{OPTIONS}{uri}\n{more}")
        self._files = [f"--config-file={cloud.layout.manager_conf}", f"--config-file={options}"]
        self.placement = placement_for(configuration.load(self._files, "test"))
        tree.prepare(self.placement)
        self._tiers = tree.sync_hosts(self.placement, {HOST: tree.Shape(slots, 2)})
        self._jobs = {}

    def claim(self, domain, tier):
        """What Nova's scheduler claims for a VM of a job of one process."""
        vm, job = domain.UUIDString(), str(uuid.uuid4())
        owner = {"project_id": "project", "user_id": "user"}
        claims.admit(self.placement, job, 1, tier, "project", "user")
        provider = self._tiers[0].provider[tier]
        self.placement.put(
            f"/allocations/{vm}",
            {
                "allocations": {provider: {"resources": {names.SLOT: 1}}},
                "consumer_generation": None,
                "consumer_type": names.VM_CONSUMER,
                **owner,
            },
        )
        self._jobs[vm] = job

    def withheld(self):
        """Background slots that are closed."""
        url = f"/resource_providers/{self._tiers[0].provider[BG]}/inventories"
        return self.placement.get(url)["inventories"][names.SLOT]["reserved"]

    def swap(self, front, back):
        swaps = [
            Swap(self._jobs[domain.UUIDString()], 1, tier, (domain.UUIDString(),))
            for domain, tier in ((front, BG), (back, FG))
        ]
        claims.swap(self.placement, self._tiers, swaps, "project", "user")

    def begin_migration(self, domain):
        """What Nova does first: the VM's claim becomes that of its migration."""
        vm, migration = domain.UUIDString(), str(uuid.uuid4())
        held = self.placement.get(f"/allocations/{vm}")
        same = {"project_id": "project", "user_id": "user"}
        nothing = {"allocations": {}, "consumer_type": names.VM_CONSUMER, **same}
        taken = {
            provider: {"resources": each["resources"]}
            for provider, each in held["allocations"].items()
        }
        moved = {"allocations": taken, "consumer_type": "MIGRATION", **same}
        self.placement.post(
            "/allocations",
            {
                vm: {**nothing, "consumer_generation": held["consumer_generation"]},
                migration: {**moved, "consumer_generation": None},
            },
        )
        self._jobs[migration] = self._jobs.pop(vm)

    def release(self):
        for vm, job in self._jobs.items():
            self.placement.delete(f"/allocations/{vm}")
            claims.release(self.placement, job)
        self._jobs.clear()

    @contextlib.contextmanager
    def agent(self):
        """The agent's process."""
        with open(self._directory / "agent.log", "a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "nova_twotier.cmd.agent", *self._files],
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()
                process.wait()

    def log(self):
        return (self._directory / "agent.log").read_text()
