"""Measures CPU time, memory and requests of the node agent: python benchmarks/agent.py

    --domains N   VMs on the host, a multiple of 2, default 64; 2 of them in the foreground
    --seconds S   how long it is watched, default 60
    --swaps N     swaps in that time, each of the tiers of two VMs, default 10
    --poll-interval S    [agent]poll_interval, default 1

The agent is a process of its own, with the options that it has by default; Placement is real, in
another process, and so are the claims. The VMs are those of libvirt's test driver, in the agent's
own process: they cost no time, but know no weights, so that a swap changes nothing on the host. The
host has CPUs 0, 2 and 4, two of them for slots.

CPU time and memory are the agent's, after its first sweep, as the kernel counts them; requests are
those in Placement's own log. Figures, not tests.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid

from nova_twotier import conf as configuration
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.core.actions import BG, FG
from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.claims import Swap
from nova_twotier.tools.fakecloud.cloud import FakeCloud

HOST, PROJECT, USER = "host1", "project", "user"
DOMAIN = """
<domain type="test">
  <name>{vm}</name><uuid>{vm}</uuid><memory>8192</memory><vcpu>1</vcpu>
  <os><type arch="x86_64">hvm</type></os>
</domain>
"""
NODE = """
<node>
  {domains}
  <cpu><nodes>1</nodes><sockets>1</sockets><cores>8</cores><threads>1</threads></cpu>
</node>
"""
SLOTS = 2
AGENT = """
[agent]
host = {host}
libvirt_uri = test://{node}
slot_cpus = 0,2
poll_interval = {interval}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--domains", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--swaps", type=int, default=10)
    parser.add_argument("--poll-interval", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        measure(options, pathlib.Path(directory))


def measure(options, directory):
    vms = [str(uuid.uuid4()) for _ in range(options.domains)]
    node = directory / "node.xml"
    domains = "".join(DOMAIN.format(vm=vm) for vm in vms)
    node.write_text(NODE.format(domains=domains))
    files = directory / "agent.conf"
    files.write_text(AGENT.format(host=HOST, node=node, interval=options.poll_interval))
    with FakeCloud(
        directory / "cloud", hosts=1, slots=SLOTS, tiers=options.domains // SLOTS
    ) as cloud:
        arguments = [f"--config-file={cloud.layout.manager_conf}", f"--config-file={files}"]
        placement = placement_for(configuration.load(arguments, "benchmark"))
        tree.prepare(placement)
        tiers = tree.sync_hosts(placement, {HOST: tree.Shape(SLOTS, options.domains // SLOTS)})
        jobs = {vm: claim(placement, tiers[0], vm, tier(vms, vm)) for vm in vms}
        with agent(arguments) as process:
            time.sleep(10)
            if process.poll() is not None:
                sys.exit("the agent has ended")
            requests = log_of(cloud)
            began, cpu = time.monotonic(), cpu_seconds(process.pid)
            made = sum(1 for _ in swaps(placement, tiers, jobs, vms, options))
            took = time.monotonic() - began
            used = cpu_seconds(process.pid) - cpu
            lines = log_of(cloud)[len(requests) :].splitlines()
            # The agent's reads; the swaps' own are of allocations of consumers.
            reads = sum(1 for line in lines if '"GET /resource_providers' in line)
            print(f"domains                     {options.domains}")
            print(f"swaps                       {made} in {took:.0f} s")
            print(f"CPU of the agent            {100 * used / took:.2f} % of a core")
            print(f"memory of the agent         {memory(process.pid):.0f} MiB")
            print(f"reads of Placement          {60 * reads / took:.0f} a minute")


def tier(vms, vm):
    return FG if vms.index(vm) < SLOTS else BG


def claim(placement, host, vm, tier):
    """What Nova and the queue manager claim for a VM and its job of one process."""
    job = str(uuid.uuid4())
    claims.admit(placement, job, 1, tier, PROJECT, USER)
    body = {
        "allocations": {host.provider[tier]: {"resources": {names.SLOT: 1, names.CPU: 50}}},
        "project_id": PROJECT,
        "user_id": USER,
        "consumer_generation": None,
        "consumer_type": names.VM_CONSUMER,
    }
    placement.put(f"/allocations/{vm}", body)
    return job


def swaps(placement, tiers, jobs, vms, options):
    """Swap the first two VMs again and again, evenly over the time."""
    began, pair = time.monotonic(), (vms[0], vms[-1])
    for number in range(options.swaps):
        front, back = pair if number % 2 == 0 else reversed(pair)
        both = [Swap(jobs[vm], 1, new, (vm,)) for vm, new in ((front, BG), (back, FG))]
        claims.swap(placement, tiers, both, PROJECT, USER)
        yield
        until = began + options.seconds * (number + 1) / options.swaps
        time.sleep(max(0.0, until - time.monotonic()))
    time.sleep(max(0.0, began + options.seconds - time.monotonic()))


@contextlib.contextmanager
def agent(arguments):
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "nova_twotier.cmd.agent", *arguments]
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def log_of(cloud):
    return (cloud.layout.logs / "placement.log").read_text()


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Resident memory, MiB."""
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
