"""Measures what Nova does to a busy background VM: python -m benchmarks.operations

    --weights W         of the background, default 2,20,100,idle
    --emulators E       emulator threads "off" the contended CPU, "on" it, or both, default off,on
    --agents A          "no", "yes" or both, default no,yes
    --repetitions N     default 3
    --patience S        after so many seconds an operation is helped to end, default 60

Two emulated guests spin on CPU 1 (real libvirt and QEMU, as in tests/cloud/test_agent.py; needs
root). One is in the foreground with weight 10000. Libvirt's part of what Nova does is done to the
other: pause, resume, suspend (a managed save), resume from that ("restore"), hard reboot (destroy,
define, start), and delete (destroy). Without an agent, weights and pins are set by hand before each
operation, and nobody raises them. With it, the agent of this checkout sets and raises them.

Prints seconds, smallest/median/largest. ">S" is an operation that would have taken longer. What
else the machine runs gets only what the guests leave of CPU 1. Figures, not tests.
"""

import argparse
import itertools
import pathlib
import statistics
import sys
import tempfile
import threading
import time

import libvirt

from nova_twotier.agent.cgroups import cpu_controller
from nova_twotier.agent.vm_groups import VmGroups
from nova_twotier.core.actions import BG, FG
from nova_twotier.tools.fakecloud.cloud import FakeCloud
from tests.cloud.agent_host import EMULATOR_CPU, SLOT_CPU, WEIGHT, Host
from tests.cloud.libvirtd import Libvirtd, missing, pins, undisturbed
from tests.cloud.waiting import wait_for

OPERATIONS = ("pause", "resume", "suspend", "restore", "hard reboot", "delete")
#: Seconds for which both guests spin between two operations.
SETTLE = 1.5
#: The weight that a background VM has when it starts, if it is idle otherwise.
IDLE_WEIGHT = 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="2,20,100,idle")
    parser.add_argument("--emulators", default="off,on")
    parser.add_argument("--agents", default="no,yes")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60.0)
    options = parser.parse_args()
    if missing():
        sys.exit(missing())
    with tempfile.TemporaryDirectory(prefix="op") as directory:
        measure(options, pathlib.Path(directory))


def measure(options, directory):
    cases = itertools.product(
        *(each.split(",") for each in (options.agents, options.emulators, options.weights))
    )
    row = "{:>6} {:>9} {:>7}" + "  {:>16}" * len(OPERATIONS)
    print(row.format("agent", "emulator", "weight", *OPERATIONS), flush=True)
    with (
        FakeCloud(directory / "cloud", hosts=1, slots=1) as cloud,
        Libvirtd(directory) as daemon,
    ):
        for agent, emulator, weight in cases:
            case = Case(options, cloud, daemon, directory, weight, emulator == "on")
            took = case.with_agent() if agent == "yes" else case.by_hand()
            cells = [shown(took[name], options.patience) for name in OPERATIONS]
            print(row.format(agent, emulator, weight, *cells), flush=True)


def shown(seconds, patience):
    parts = (min(seconds), statistics.median(seconds), max(seconds))
    return "/".join(f">{patience:.0f}" if part > patience else f"{part:.1f}" for part in parts)


class Case:
    """One weight of the background, and one place for emulator threads."""

    def __init__(self, options, cloud, daemon, directory, weight, on_slot_cpu):
        self._options, self._cloud, self._daemon = options, cloud, daemon
        self._directory = directory
        self._idle = weight == "idle"
        self._weight = IDLE_WEIGHT if self._idle else int(weight)
        self._emulator_cpu = SLOT_CPU if on_slot_cpu else EMULATOR_CPU
        self._groups = VmGroups(cpu_controller())
        self._took = {name: [] for name in OPERATIONS}

    def by_hand(self):
        """Seconds by operation, where priorities are set before each operation only."""
        for _ in range(self._options.repetitions):
            self._operate(self._rank, lambda *_: None)
        return self._took

    def with_agent(self):
        """Seconds by operation beside the agent, with the default intervals of its options."""
        more = (
            f"background_weight = {self._weight}\n"
            f"background_idle = {self._idle}\n"
            f"emulator_cpus = {self._emulator_cpu}\n"
            "poll_interval = 1\nsweep_interval = 30\nsample_interval = 0\n"
        )
        host = Host(self._cloud, self._daemon.uri, self._directory, more)
        with host.agent():
            for _ in range(self._options.repetitions):
                self._operate(self._await_rank, host.claim)
                host.release()
        return self._took

    def _rank(self, domain, tier):
        domain.pinVcpu(0, self._map(SLOT_CPU))
        domain.pinEmulator(self._map(self._emulator_cpu), libvirt.VIR_DOMAIN_AFFECT_LIVE)
        group = self._groups.find(domain.UUIDString())
        group.set_idle(False)
        weight = WEIGHT[FG] if tier is FG else self._weight
        domain.setSchedulerParametersFlags({"cpu_shares": weight}, libvirt.VIR_DOMAIN_AFFECT_LIVE)
        group.set_idle(self._idle and tier is BG)

    @staticmethod
    def _map(cpu):
        return tuple(each == cpu for each in range(cpu + 1))

    def _await_rank(self, domain, tier):
        idle = self._idle and tier is BG
        weight = WEIGHT[FG] if tier is FG else self._weight

        def has_it():
            group = self._groups.find(domain.UUIDString())
            return (
                group.idle == idle
                and (idle or group.weight == weight)
                and pins(domain) == ([SLOT_CPU], [self._emulator_cpu])
            )

        wait_for(has_it, f"the agent gives {domain.name()} its priority", patience=120)

    def _operate(self, rank, claim):
        """Do everything once.

        :param rank: sees to it that a domain has the priority of a tier.
        :param claim: has the agent do so.
        """
        front, back = self._daemon.spin(), self._daemon.spin()
        for domain, tier in ((front, FG), (back, BG)):
            claim(domain, tier)
            rank(domain, tier)
        does = dict(
            zip(
                OPERATIONS,
                (
                    back.suspend,
                    back.resume,
                    back.managedSave,
                    back.create,
                    lambda: self._daemon.hard_reboot(back),
                    back.destroy,
                ),
                strict=True,
            )
        )
        for name, operation in does.items():
            if name not in ("resume", "restore"):
                rank(back, BG)
            # Not before they are pinned: they would leave the agent no CPU.
            with undisturbed():
                time.sleep(SETTLE)
                self._time(name, operation, back.UUIDString())
        for domain in (front, back):
            if domain.isActive():
                domain.destroy()
            domain.undefine()

    def _time(self, name, operation, uuid):
        helper = threading.Timer(self._options.patience, self._help, [uuid])
        helper.start()
        began = time.monotonic()
        operation()
        self._took[name].append(time.monotonic() - began)
        helper.cancel()
        helper.join()

    def _help(self, uuid):
        group = self._groups.find(uuid)
        if group is not None:
            group.set_weight(WEIGHT[FG])


if __name__ == "__main__":
    main()
