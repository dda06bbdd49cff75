"""What every policy makes of a workload, in a line each: python -m tests.unit.sim.schedules."""

import hashlib
import sys

from nova_twotier.core import cluster, policies
from nova_twotier.sim import variants
from nova_twotier.sim.many_nodes import MANY
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue

SCENARIOS = {
    "nodes": {"progress": "jss"},
    "hosts": {"slots": 4},
    "own work": {"reading": {"processes": "own", "draw": "process"}},
}
LINKS = {"slots": 20, "topology": "fat-tree:4", "bandwidth": "by-size"}


def schedules(jobs):
    """For each policy and kind of run, a digest of what became of the jobs, and when and where."""
    workload = catalogue.load(f"feitelson:{jobs}", load=0.9)
    many = catalogue.load(f"feitelson:{jobs}", nodes=MANY, load=0.9)
    # Before other clusters have been used: isinstance is to know these without having seen others.
    for name in ("amcbf", "acfcfs", "easy"):
        yield f"{name}, many nodes: {_digest(many, Scenario(name))}"
    for name in ("amcbf", "acfcfs", "ktier-cmbf"):
        yield f"{name}, many hosts: {_digest(many, Scenario(name, slots=16))}"
    for name in (*policies.POLICIES, *variants.VARIANTS):
        scenarios = SCENARIOS
        if variants.get(name).embeds:
            scenarios = SCENARIOS | {"links": LINKS}
        for kind, fields in scenarios.items():
            yield f"{name}, {kind}: {_digest(workload, Scenario(name, **fields))}"


def _digest(workload, scenario):
    digest = hashlib.sha256()
    # With places that have names, and without where they need none.
    for record in (False, True):
        result = simulate(workload, scenario, record=record)
        digest.update(result.jobs.to_csv().encode())
    digest.update(result.schedule.to_csv().encode())
    return digest.hexdigest()


if __name__ == "__main__":
    print(cluster.__file__)
    print(*schedules(int(sys.argv[1])), sep="\n")
