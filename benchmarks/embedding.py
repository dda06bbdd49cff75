"""Cost and quality of the embedding algorithms: python benchmarks/embedding.py [--exhaustive]

Prints milliseconds for one request of 64 VMs on fat-trees of 54 to 11,664 hosts. With --exhaustive,
prints instead how many requests each algorithm takes on a small tree, and how many it rejects that
a search of all placements has a place for; that takes some minutes. Figures, not tests.

States: empty; half full and nearly full, where 50 % and 15 % of the jobs left that had filled it;
narrow, made to cost AdaBa most: below each edge switch one slot too few is free, and the links up
from switches let next to nothing pass, so that every host is tried in vain again and again.
"""

import argparse
import heapq
import random
import statistics
import time
from collections.abc import Callable, Iterator

from nova_twotier.core import embedding
from nova_twotier.core.embedding import Embedding, Rejection, Request, State, Topology, hose

SLOTS = 8
RATE = 1000
PODS = (6, 10, 20, 36)
SIZE = 64
BANDWIDTHS = (50, 200, 350, 700)
#: Share of the jobs of a full cluster that stay.
STATES = {"empty": 0.0, "half full": 0.5, "nearly full": 0.85}

#: Of --exhaustive: jobs of a stream, its load, and the tree's racks, hosts a rack and slots a host.
JOBS = 400
LOAD = 0.6
RACKS, HOSTS, ROOM = 2, 3, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many counts")
    parser.add_argument("--exhaustive", action="store_true", help="quality instead of cost")
    parser.add_argument("--streams", type=int, default=10, help="of jobs, for --exhaustive")
    options = parser.parse_args()
    if options.exhaustive:
        quality(options.streams)
    else:
        cost(options.rounds)


def cost(rounds: int) -> None:
    """Milliseconds of each algorithm, by state, bandwidth and number of hosts."""
    trees = [Topology.fat_tree(k, RATE) for k in PODS]
    full = [_full(tree) for tree in trees]
    states = {name: [_thinned(*each, share) for each in full] for name, share in STATES.items()}
    states["narrow"] = [_narrow(k) for k in PODS]
    print(f"ms for {SIZE} VMs, best of {rounds}, k = {PODS}, {SLOTS} slots a host; r: rejected")
    for name, ours in states.items():
        print(f"{name:20}{'Mbit/s':>6}" + "".join(f"{len(t.hosts):>9,} hosts" for t in trees))
        for algorithm in embedding.ALGORITHMS:
            for mbps in BANDWIDTHS:
                row = [_embedding(algorithm, mbps, state, rounds) for state in ours]
                print(f"{algorithm:20}{mbps:>6}" + "".join(row))
        print(f"{'copy':26}" + "".join(f"{_best(state.copy, rounds):13.3f}  " for state in ours))
        row = [_back_and_forth(state, rounds) for state in ours]
        print(f"{'reserve and release':26}" + "".join(row))


def _embedding(algorithm: str, mbps: int, state: State, rounds: int) -> str:
    embed, request = embedding.get(algorithm), Request(SIZE, mbps)
    rejected = isinstance(embed(request, state), Rejection)
    return f"{_best(lambda: embed(request, state), rounds):13.3f} {'r' if rejected else ' '}"


def _back_and_forth(state: State, rounds: int) -> str:
    """Of one embedding of 64 VMs."""
    answer = embedding.get("first-fit")(Request(SIZE, 0), state)
    if isinstance(answer, Rejection):
        return f"{'-':>13}  "

    def change() -> None:
        state.reserve(answer)
        state.release(answer)

    return f"{_best(change, rounds):13.3f}  "


def _best(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _round in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times) * 1000


def _full(tree: Topology) -> tuple[Topology, list[Embedding]]:
    """The jobs of a cluster that is filled until ten of them in a row find no place in a pod.

    Each is within a pod, which is a tree of its own meanwhile: that takes seconds, not minutes.
    """
    rng = random.Random(1)  # noqa: S311
    held = []
    pods: dict[str, dict[str, str]] = {}
    for number, host in enumerate(tree.hosts):
        path = tree.switches[tree.parent[number]]
        pods.setdefault(path.split("/")[1], {})[host] = path
    for paths in pods.values():
        links = {*paths, *paths.values()}
        rates = {link: tree.rate[tree.link[link]] for link in links}
        rates |= {path.rpartition("/")[0]: 0 for path in paths.values()}
        pod = State(Topology.from_paths(paths, rates), SLOTS)
        failures = 0
        while failures < 10:
            request = _request(rng, 16, rng.choice(BANDWIDTHS))
            pod.saw(request.mbps)
            answer = embedding.get("adaba")(request, pod)
            if isinstance(answer, Rejection):
                failures += 1
            else:
                failures = 0
                pod.reserve(answer)
                held.append(answer)
    return tree, held


def _thinned(tree: Topology, held: list[Embedding], share: float) -> State:
    """The cluster with a share of these jobs, drawn at random."""
    state = State(tree, SLOTS, max_mbps=max(BANDWIDTHS))
    for each in random.Random(2).sample(held, round(share * len(held))):  # noqa: S311
        state.reserve(each)
    return state


def _narrow(k: int) -> State:
    tree = Topology.fat_tree(k, RATE, uplinks=(1, 1))
    switches = {node for node in tree.link.values() if node >= len(tree.hosts)}
    free = {}
    for first, end in tree.span[: k * k // 2]:
        left = min(SIZE - 1, SLOTS * (end - first))
        for place, host in enumerate(range(first, end)):
            free[tree.hosts[host]] = (left + place) // (end - first)
    residual = {tree.names[node]: 240 for node in switches}
    return State(tree, SLOTS, free=free, residual=residual, max_mbps=max(BANDWIDTHS))


def _request(rng: random.Random, largest: int, mean: float) -> Request:
    """Of a bandwidth as in Symmetry 2018, section 5.2: normal, MaxB ten times MinB."""
    size = min(largest, round(2 ** rng.uniform(0, largest.bit_length() - 0.5)))
    mbps = rng.normalvariate(mean, 0.2 * mean)
    return Request(size, round(max(0.18 * mean, min(mbps, 1.8 * mean))))


def quality(streams: int) -> None:
    """Accepted and missed requests, in streams of jobs that come and go without a queue."""
    print(f"{RACKS} racks of {HOSTS} hosts of {ROOM} slots, links of hosts {RATE} Mbit/s")
    print(f"{streams} streams of {JOBS} jobs at load {LOAD}, no queue")
    print(
        "accepted: percent of all requests. missed: percent of all that were rejected though some"
    )
    print("placement keeps all constraints in that state. exhaustive: takes the placement, of all")
    print("there are, that reserves the least bandwidth in sum, the first of several.")
    names = [*embedding.ALGORITHMS, "exhaustive"]
    for uplinks in (RATE * HOSTS, RATE):
        print(f"\nlinks up from the racks: {uplinks} Mbit/s, accepted (missed)")
        print(f"{'mean Mbit/s':12}" + "".join(f"{name:>16}" for name in names))
        for mean in (100, 300, 500, 700):
            row = []
            for name in names:
                runs = [_stream(name, uplinks, mean, seed) for seed in range(streams)]
                accepted, missed = (statistics.mean(each) for each in zip(*runs, strict=True))
                row.append(f"{accepted:8.1f} ({missed:4.1f}) ")
            print(f"{mean:<12}" + "".join(row))


def _stream(name: str, uplinks: int, mean: float, seed: int) -> tuple[float, float]:
    """Percent of the requests that are accepted, and that are rejected without need."""
    rng = random.Random(seed)  # noqa: S311
    state = State(_small(uplinks), ROOM)
    requests = [_request(rng, 8, mean) for _job in range(JOBS)]
    # Runtimes are 1 on average.
    gap = statistics.mean(each.size for each in requests) / (LOAD * RACKS * HOSTS * ROOM)
    now, accepted, missed = 0.0, 0, 0
    running: list[tuple[float, int, Embedding]] = []
    for number, request in enumerate(requests):
        now += rng.expovariate(1 / gap)
        runtime = rng.expovariate(1)
        while running and running[0][0] <= now:
            state.release(heapq.heappop(running)[2])
        state.saw(request.mbps)
        if name == "exhaustive":
            answer = _narrowest(request, state)
        else:
            answer = embedding.get(name)(request, state)
        if isinstance(answer, Embedding):
            accepted += 1
            state.reserve(answer)
            heapq.heappush(running, (now + runtime, number, answer))
        elif next(placements(request, state), None):
            missed += 1
    return 100 * accepted / JOBS, 100 * missed / JOBS


def _small(uplinks: int) -> Topology:
    paths = {f"r{rack}h{host}": f"core/r{rack}" for rack in range(RACKS) for host in range(HOSTS)}
    rates = dict.fromkeys(paths, RATE) | dict.fromkeys(paths.values(), uplinks)
    return Topology.from_paths(paths, rates)


def _narrowest(request: Request, state: State) -> Embedding | None:
    """The placement that reserves the least bandwidth in sum."""
    every = placements(request, state)
    return min(every, key=lambda answer: sum(answer.mbps.values()), default=None)


def placements(request: Request, state: State) -> Iterator[Embedding]:
    """Every placement that keeps all constraints, by exhaustive search."""
    tree = state.topology
    for vms in _shares(request.size, state.free):
        # With the virtual switch at the root, links above all VMs still need nothing.
        answer = hose.embedding(request, state, len(tree.switches) - 1, vms)
        if all(state.residual[tree.link[link]] >= mbps for link, mbps in answer.mbps.items()):
            yield answer


def _shares(size: int, free: list[int], host: int = 0) -> Iterator[dict[int, int]]:
    """All ways to share VMs out to the hosts from this one on."""
    if not size:
        yield {}
    elif host < len(free):
        for count in range(min(size, free[host]), -1, -1):
            for rest in _shares(size - count, free, host + 1):
                yield {host: count, **rest}


if __name__ == "__main__":
    main()
