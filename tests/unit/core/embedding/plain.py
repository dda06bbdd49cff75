"""The rules of the paper as they are written, slowly: no bounds, no kinds, every m one by one."""

import math
from fractions import Fraction

from tests.unit.core.embedding.verifier import hose, ways


def in_order(case):
    """Hosts as they stand in the tree, and switches from the lowest up."""
    above = ways(case.paths)
    hosts = sorted(case.paths, key=lambda host: (above[host][0].split("/"), host))
    height = {}
    for host in hosts:
        for links, switch in enumerate(above[host], 1):
            height[switch] = max(links, height.get(switch, 0))
    first = {
        switch: min(number for number, host in enumerate(hosts) if switch in above[host])
        for switch in height
    }
    return hosts, sorted(height, key=lambda switch: (height[switch], first[switch]))


def free(case, host):
    return 0 if host in case.closed else max(0, case.free.get(host, case.slots[host]))


def feasible(case, request, vms, switch):
    """Equation 6 on every link up to the switch, for the VMs that are placed so far."""
    return all(
        mbps <= max(0, case.residual.get(link, case.rates[link]))
        for link, mbps in hose(case, request, vms, switch).items()
    )


def largest(case, request, vms, switch, host, left):
    """Lines 13-17: the largest m that keeps the constraint, 0 if none does."""
    assigned = 0
    for count in range(1, min(free(case, host), left) + 1):
        if feasible(case, request, {**vms, host: count}, switch):
            assigned = count
    return assigned


def by_weight(case, request, weight):
    """Lines 5-30: VMs by host and the switch, or None."""
    hosts, switches = in_order(case)
    for switch in switches:
        below = [host for host in hosts if switch in ways(case.paths)[host]]
        vms, left = {}, request.size
        for host in sorted(below, key=weight, reverse=True):
            if count := largest(case, request, vms, switch, host, left):
                vms[host] = count
                left -= count
        if not left:
            return vms, switch
    return None


def adaba(case, request):
    largest_ever = max(case.max_mbps, request.mbps)
    relative = Fraction(request.mbps, largest_ever) if largest_ever else 0

    def weight(host):
        residual = free(case, host)
        return -Fraction(1, 2) * residual**2 + case.slots[host] * relative * residual

    return by_weight(case, request, weight)


def best_fit(case, request):
    return by_weight(case, request, lambda host: -free(case, host))


def first_fit(case, request):
    return by_weight(case, request, lambda host: 0)


def greedy(case, request):
    hosts, switches = in_order(case)
    for switch in switches:
        options = [host for host in hosts if switch in ways(case.paths)[host]]
        vms, left = {}, request.size
        while left and options:
            counts = {host: largest(case, request, vms, switch, host, left) for host in options}
            best = min(
                options,
                key=lambda host: occupation(case, request, vms, switch, host, counts[host]),
            )
            options.remove(best)
            if counts[best]:
                vms[best] = counts[best]
                left -= counts[best]
        if not left:
            return vms, switch
    return None


def oktopus(case, request):
    """Ballani 2011, algorithm 1; a child takes the largest number that it and its link hold."""
    hosts, switches = in_order(case)
    for node in [*hosts, *switches]:
        if held(case, request, node)[-1] >= request.size or node in switches:
            vms = alloc(case, request, node, request.size)
            if sum(vms.values()) == request.size:
                return vms, node if node in switches else ways(case.paths)[node][0]
    return None


def children(case, node):
    hosts, switches = in_order(case)
    below = [switch for switch in sorted(switches) if switch.rpartition("/")[0] == node]
    return [host for host in hosts if case.paths[host] == node] + below


def held(case, request, node):
    """M_v: every number of VMs that fits below a node and through its link; 0 always does."""
    if node in case.paths:
        limit = free(case, node)
    else:
        limit = sum(held(case, request, child)[-1] for child in children(case, node))
    left = max(0, case.residual.get(node, case.rates.get(node, math.inf)))
    return [
        count
        for count in range(min(limit, request.size) + 1)
        if min(count, request.size - count) * request.mbps <= left
    ]


def alloc(case, request, node, limit):
    """VMs by host below a node, at most `limit`; that many or fewer, as its children take them."""
    if node in case.paths:
        return {node: limit} if limit else {}
    vms = {}
    for child in children(case, node):
        wanted = limit - sum(vms.values())
        for count in reversed(held(case, request, child)):
            taken = alloc(case, request, child, count) if count <= wanted else None
            if taken is not None and sum(taken.values()) == count:
                vms |= taken
                break
    return vms


def occupation(case, request, vms, switch, host, count):
    """The largest share of a rate that is reserved on the way of the host up to the switch."""
    if not count:
        return math.inf
    up = ways(case.paths)[host]
    needs = hose(case, request, {**vms, host: count}, switch)
    shares = [Fraction(0)]
    for link in {host, *up[: up.index(switch)]} & needs.keys():
        rate = case.rates[link]
        left = case.residual.get(link, rate)
        shares.append(Fraction(rate - left + needs[link], rate) if rate else Fraction(1))
    return max(shares)
