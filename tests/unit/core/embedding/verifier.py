"""What an embedding has to keep, worked out again from names alone.

Nothing of the package is used but the fields of its answers.
"""

from itertools import product


def ways(paths):
    """The switches above each host, its own first."""
    found = {}
    for host, path in paths.items():
        steps = path.split("/")
        found[host] = ["/".join(steps[:length]) for length in range(len(steps), 0, -1)]
    return found


def hose(case, request, vms, switch):
    """Mbit/s that each link up to the switch needs; None if a VM is not below it."""
    below = {}
    for host, count in vms.items():
        up = ways(case.paths)[host]
        if switch not in up:
            return None
        for link in (host, *up[: up.index(switch)]):
            below[link] = below.get(link, 0) + count
    return {
        link: min(count, request.size - count) * request.mbps
        for link, count in below.items()
        if link in case.rates
    }


def faults(case, request, answer):
    """What is wrong with an embedding in a state, a sentence each."""
    if sum(answer.vms.values()) != request.size or min(answer.vms.values()) < 1:
        yield f"{request.size} VMs wanted, placed are {answer.vms}"
    for host, count in answer.vms.items():
        if host in case.closed or count > case.free.get(host, case.slots[host]):
            yield f"{count} VMs do not fit on {host}"
    needs = hose(case, request, answer.vms, answer.switch)
    if needs is None:
        yield f"not all of {answer.vms} are below {answer.switch}"
    elif {link: mbps for link, mbps in needs.items() if mbps} != answer.mbps:
        yield f"{answer.mbps} is reserved, {needs} are needed"
    for link, mbps in answer.mbps.items():
        if mbps > case.residual.get(link, case.rates[link]):
            yield f"{mbps} Mbit/s do not fit on the link of {link}"


def placements(case, request):
    """Every placement below any switch that keeps all constraints: VMs by host, and the switch."""
    above = ways(case.paths)
    hosts = [host for host in case.paths if host not in case.closed]
    free = [max(0, case.free.get(host, case.slots[host])) for host in hosts]
    switches = {switch for up in above.values() for switch in up}
    for counts in product(*(range(min(count, request.size) + 1) for count in free)):
        if sum(counts) != request.size:
            continue
        vms = {host: count for host, count in zip(hosts, counts, strict=True) if count}
        for switch in switches:
            needs = hose(case, request, vms, switch)
            if needs is not None and all(
                mbps <= max(0, case.residual.get(link, case.rates[link]))
                for link, mbps in needs.items()
            ):
                yield vms, switch
