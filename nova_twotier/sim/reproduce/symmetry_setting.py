"""Symmetry 2018, sections 5.1 and 5.2: the network, the workloads, and the runs on them."""

from collections.abc import Mapping
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.reproduce.archive import Source
from nova_twotier.sim.reproduce.experiment import Run, Settings
from nova_twotier.sim.reproduce.trials import MORE_SEEDS, bandwidth
from nova_twotier.sim.scenario import Scenario

#: k = 6: 54 hosts, each with 8 slots and links of 1 Gbit/s.
SLOTS = 8
NODES = 432
TRACES = {
    "KTH-SP2": Source("KTH-SP2-1996-2.1-cln", NODES),
    "NASA-iPSC": Source("NASA-iPSC-1993-3.1-cln", NODES),
}
#: "We select the first 1000 jobs."
JOBS = 1000

#: Jobs that ask for bandwidth as section 5.2 says, with known execution times.
BASE = Scenario(
    "fcfs",
    slots=SLOTS,
    topology="fat-tree:6:1000",
    bandwidth="by-size",
    estimates="exact",
)
EMBEDDINGS = {
    "AdaBa": "adaba",
    "Best fit": "best-fit",
    "Oktopus": "oktopus",
    "Greedy": "greedy",
    "Best fit anywhere": "best-fit-anywhere",
    "Greedy anywhere": "greedy-anywhere",
}

#: The networks, by what is added to the names of the places there: the whole fat-tree, one whose
#: edge switches have a single link up, and one where a pod has a single link up as well.
NARROW = ", edges 3:1"
ONE_PATH = ", one path"
NETWORKS = {
    "": BASE.topology,
    NARROW: f"{BASE.topology}:1:3",
    ONE_PATH: f"{BASE.topology}:1:1",
}
PLACES = tuple(trace + network for network in NETWORKS for trace in TRACES)
TREE = (
    "A link under which m of N VMs sit holds min(m, N - m) * B. Parallel links of the fat-tree "
    "count as one of their joint rate, as in Oktopus."
)
NARROWS = (
    f"'{NARROW[2:]}': an edge switch has one link up for its three hosts, a pod three, and not "
    "three and nine. The paper names the line rate only; the whole fat-tree is hardly ever short "
    "of anything but the hosts' own links, which does not give the paper's response times."
)
LITERAL = (
    f"'{ONE_PATH[2:]}': equations 5 and 6 to the letter: a job has one virtual switch on one "
    "switch, and one path from there to each server, so that it has one link up from an edge "
    "switch and one from a pod. Jobs that do not fit even the empty network are rejected."
)
ANYWHERE = (
    "The paper has a sentence on each rival. Best fit, Oktopus and Greedy are given AdaBa's search "
    "for the smallest subtree; the two 'anywhere' choose among all hosts at once, Greedy VM by VM."
)
BANDWIDTH = (
    "MaxB is read as link rate * ceil(N / 8) / N, the servers that a job needs; the clamp as "
    "min(max(...)). Whole Mbit/s."
)

#: Section 5.3.1: on both traces, the average bandwidth demands "are all around 250 Mbps". Perhaps
#: they do not depend on the size.
ON_TRACES = (MORE_SEEDS, bandwidth("by-size:250"), bandwidth("normal:250"))


def point(source: str, scenario: Scenario, load: float, seed: int, head: int | None) -> sweep.Point:
    return sweep.Point(source, replace(scenario, seed=seed), load=load, nodes=NODES, head=head)


def runs(settings: Settings, scenarios: Mapping[str, Scenario]) -> list[Run]:
    """Every series on both traces and both networks at every load; seeds draw the bandwidths.

    :raises archive.MissingTraces: if a trace is not there.
    """
    paths = archive.find(settings.traces, TRACES)
    head = min(JOBS, settings.head or JOBS)
    return [
        Run(
            series,
            trace + network,
            point(str(path.resolve()), replace(scenario, topology=topology), load, seed, head),
        )
        for network, topology in NETWORKS.items()
        for trace, path in paths.items()
        for load in sorted(settings.loads, reverse=True)
        for seed in range(settings.seeds)
        for series, scenario in scenarios.items()
    ]
