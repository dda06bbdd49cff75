"""The bandwidth that a job's entry should reserve, computed from where its servers are."""

from collections import Counter

from nova_twotier.audit.state import JobRecord, State
from nova_twotier.ledger import shape


def links(state: State, job: JobRecord) -> dict[str, int] | None:
    """Mbit/s by link that a running job needs; None while its servers' hosts are unknown."""
    if not job.mbps:
        return {}
    shapes = {name: each for name, each in state.shapes.items() if each.pool == job.pool}
    hosts = [
        claim.host
        for vm in state.vms.values()
        if vm.job == job.uuid and vm.index is not None and state.certain(vm)
        for claim in state.claims.get(vm.id, ())
    ]
    if len(hosts) != job.size or not shapes.keys() >= set(hosts):
        return None
    counted, _problems = shape.capacities(shapes)
    return shape.needs(Counter(hosts), job.mbps, shapes, counted)
