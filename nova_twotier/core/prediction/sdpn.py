"""SDPN, Slowdown-Processing-Networking: the estimator of CISNE (Lérida et al.)."""

from collections.abc import Iterator, Sequence

from nova_twotier.core.cluster import Cluster
from nova_twotier.core.prediction.from_history import FromHistory
from nova_twotier.core.prediction.node_rates import NodeRates, serves
from nova_twotier.core.prediction.nodes import Node, node_of
from nova_twotier.core.prediction.pace import DEDICATED, Pace, Process, Rates, Seated, Seats
from nova_twotier.core.prediction.present import Present
from nova_twotier.core.prediction.slot_rates import SlotRates
from nova_twotier.core.progress import MODELS, Progress


class Slowdowns:
    """Processing and communication slowdowns by power, availability and links (sections 2.1, 2.2).

    The availability A_i of a slot is what its other tenants leave: local processes; in the
    background the foreground VM, and in the foreground the loss by a background VM (TPDS 2013,
    section 5.1).

    :param nodes: of the hosts in their order; empty: all are full.
    """

    def __init__(self, nodes: Sequence[Node] = (), progress: Progress = MODELS["tpds"]):
        self._nodes = nodes
        self._progress = progress

    def processing(self, seats: Seats) -> Iterator[tuple[Process, float]]:
        """SP_i = 1 / (P_i * A_i), equation 2."""
        node = node_of(self._nodes, seats.index)
        if node.cpus is not None:
            yield from _time_shared(node, node.cpus, seats)
            return
        progress, power = self._progress, node.power
        there = 1 - node.local
        if not seats.bg:
            for process in seats.fg:
                yield process, 1 / (power * there)
            return
        for slot in seats.slots():
            idle = there
            if slot.fg is not None:
                share = progress.disturbed if slot.bg else 1.0
                yield slot.fg, 1 / (power * there * share)
                idle -= seats.fg[slot.fg].cpu[slot.fg[1]]
            alone = slot.fg is None
            for process in slot.bg:
                job = seats.bg[process]
                cpu = job.cpu[process[1]] or 1e-9
                share = there
                if not alone:
                    efficiency = progress.mean_single if job.size == 1 else progress.mean_parallel
                    share = efficiency * min(1.0, max(idle, progress.floor) / cpu)
                yield process, 1 / (power * share)
                idle -= cpu
                alone = False

    def link(self, seats: Seats) -> float:
        """SC = BW / BW assigned, equation 4: a saturated link is shared in proportion."""
        node = node_of(self._nodes, seats.index)
        wanted = sum([job.mbps for job in (*seats.fg.values(), *seats.bg.values())])
        return max(1.0, wanted / (node.mbps - node.local_mbps))


def _time_shared(node: Node, cpus: int, seats: Seats) -> Iterator[tuple[Process, float]]:
    """Processes that share CPUs: each finds what the others leave, or its fair share."""
    wanted = {process: job.cpu[process[1]] for process, job in seats.fg.items()}
    there, all_of_them = cpus * (1 - node.local), sum(wanted.values())
    for process, own in wanted.items():
        available = max(there - (all_of_them - own), there / len(wanted))
        yield process, 1 / (node.power * min(1 - node.local, available))


class Full:
    """A job advances as `Slowdowns` has it if all nodes are full."""

    def __init__(self, progress: Progress):
        self._progress = progress

    def on(self, cluster: Cluster) -> Rates:
        kind = NodeRates if serves(cluster) else SlotRates
        return kind(self._progress, cluster)


class Sdpn(FromHistory):
    name = "sdpn"
    summary = "A forward run by power, availability and links of the hosts (CISNE)."

    def __init__(self, progress: Progress = MODELS["tpds"]):
        super().__init__()
        self._progress = progress

    def pace(self, present: Present) -> Pace:
        if not present.shared:
            return DEDICATED
        if not present.nodes:
            return Full(self._progress)
        return Seated(Slowdowns(present.nodes, self._progress))
