"""Symmetry 2018, sections 5.1 and 5.2: the network, the workloads, and the runs on them."""

from collections.abc import Mapping
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.reproduce.archive import Source
from nova_twotier.sim.reproduce.experiment import Run, Settings
from nova_twotier.sim.simulation import Scenario

#: k = 6: 54 hosts, each with 8 slots and links of 1 Gbit/s.
SLOTS = 8
NODES = 432
TRACES = {
    "KTH-SP2": Source("KTH-SP2-1996-2.1-cln", NODES),
    "NASA-iPSC": Source("NASA-iPSC-1993-3.1-cln", NODES),
}
PLACES = tuple(TRACES)
#: "We select the first 1000 jobs."
JOBS = 1000

#: Jobs that ask for bandwidth as section 5.2 says, with known execution times.
BASE = Scenario(
    "fcfs",
    slots=SLOTS,
    topology="fat-tree:6:1000",
    bandwidth="by-size",
    exact_estimates=True,
)
EMBEDDINGS = {
    "AdaBa": "adaba",
    "Best fit": "best-fit",
    "Oktopus": "oktopus",
    "Greedy": "greedy",
    "Best fit anywhere": "best-fit-anywhere",
    "Greedy anywhere": "greedy-anywhere",
}

#: What is added to the name of a place where parallel links do not add up.
SINGLE = ", single links"
TREE = (
    "A link under which m of N VMs sit holds min(m, N - m) * B. Parallel links of the fat-tree "
    "count as one of their joint rate, as in Oktopus."
)
SINGLES = (
    f"'{SINGLE[2:]}': each of the tree's links has the rate of one, as the paper's figure 3 draws "
    "it."
)
ANYWHERE = (
    "The paper has a sentence on each rival. Best fit, Oktopus and Greedy are given AdaBa's search "
    "for the smallest subtree; the two 'anywhere' choose among all hosts at once, Greedy VM by VM."
)
BANDWIDTH = (
    "MaxB is read as link rate * ceil(N / 8) / N, the servers that a job needs; the clamp as "
    "min(max(...)). Whole Mbit/s."
)


def point(source: str, scenario: Scenario, load: float, seed: int, head: int | None) -> sweep.Point:
    return sweep.Point(source, replace(scenario, seed=seed), load=load, nodes=NODES, head=head)


def single(scenario: Scenario) -> Scenario:
    """The same where parallel links do not add up."""
    return replace(scenario, topology=f"{BASE.topology}:single")


def runs(settings: Settings, scenarios: Mapping[str, Scenario], suffix: str = "") -> list[Run]:
    """Every series on both traces at every load; seeds draw the bandwidths.

    :param suffix: of the names of the places.
    :raises archive.MissingTraces: if a trace is not there.
    """
    paths = archive.find(settings.traces, TRACES)
    head = min(JOBS, settings.head or JOBS)
    return [
        Run(series, place + suffix, point(str(path.resolve()), scenario, load, seed, head))
        for place, path in paths.items()
        for load in sorted(settings.loads, reverse=True)
        for seed in range(settings.seeds)
        for series, scenario in scenarios.items()
    ]
