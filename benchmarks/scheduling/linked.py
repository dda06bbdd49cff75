"""The cloud with a network: racks, links of a rate, and VMs with bandwidth, of a job and others."""

import contextlib
from types import SimpleNamespace
from unittest import mock

from nova.objects.instance_mapping import InstanceMapping

from nova_twotier.core.actions import Tier
from nova_twotier.core.embedding import Request, State, Topology, adaba
from nova_twotier.ledger import names
from nova_twotier.ledger.shape import Shape, capacities

from . import answers
from .cloud import Cloud, aggregate

#: Hosts of a rack, the rate of each link, and what each VM asks for, in Mbit/s.
_RACK, _RATE, _VM = 40, 1000, 100


class LinkedCloud(Cloud):
    def __init__(self, size: int):
        super().__init__(size)
        # As of the request by which the queue manager boots a job.
        self.context.global_request_id = answers.job_entry(1, Tier.FG)["user_id"]
        shapes = {
            host.name: Shape(host.slots, 2, f"core/rack{number // _RACK}", (_RATE,))
            for number, host in enumerate(self.hosts)
        }
        self._rates, _problems = capacities(shapes)
        paths = {name: shape.switch for name, shape in shapes.items()}
        self._topology = Topology.from_paths(paths, self._rates)

    def _aggregates(self) -> list:
        everywhere = super()._aggregates()
        racks = {}
        for number, name in enumerate(self._services):
            racks.setdefault(f"core/rack{number // _RACK}", []).append(name)
        return everywhere + [
            aggregate(number, hosts, {"twotier:switch": switch, "twotier:uplink_mbps": str(_RATE)})
            for number, (switch, hosts) in enumerate(racks.items(), start=len(everywhere) + 1)
        ]

    def admit(self, size: int, tier: Tier) -> dict[str, list[str]]:
        hints = super().admit(size, tier)
        slots = {host.name: host.slots for host in self.hosts}
        free = {host.name: host.free(tier) for host in self.hosts}
        found = adaba.embed(Request(size, _VM), State(self._topology, slots, free=free))
        for link, mbps in found.mbps.items():
            held = {"generation": 1, "resources": {names.MBPS: mbps}}
            self.placement.entry["allocations"][names.link_uuid(link)] = held
        return {**hints, "twotier:bandwidth": [str(_VM)]}


class OwnCloud(LinkedCloud):
    """A cloud for multi-creates without a job; the links have half of their rate left.

    Nova's database, which is asked whether they boot, is stubbed.
    """

    def __init__(self, size: int):
        super().__init__(size)
        left = dict.fromkeys(self._rates, _RATE // 2)
        self.placement.prepare_network(answers.network(left, _RATE, _VM))

    def admit(self, size: int, tier: Tier) -> dict[str, list[str]]:
        return {}

    @contextlib.contextmanager
    def answering(self):
        nowhere = SimpleNamespace(cell_mapping=None)
        with (
            super().answering(),
            mock.patch.object(InstanceMapping, "get_by_instance_uuid", lambda *_args: nowhere),
        ):
            yield
