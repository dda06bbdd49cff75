"""The schedulers that are compared, and runs of them, in turns."""

import contextlib
import gc
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing.connection import Connection
from typing import NamedTuple

from nova_twotier.core.actions import Tier

from .cloud import BUILD_FAILURE, DEFAULT_WEIGHERS, OUR_WEIGHERS

#: Collections of the middle generation before a full one.
_NEVER = 2**30


class Variant(NamedTuple):
    """A configuration of the scheduler, and the kind of request it gets.

    :param ours: whether the request is a two-tier one.
    """

    plugin: bool
    weighers: tuple[str, ...]
    ours: bool


TWO_TIER = {
    "a": Variant(False, (DEFAULT_WEIGHERS,), ours=True),
    "b": Variant(True, (DEFAULT_WEIGHERS, OUR_WEIGHERS), ours=True),
    "c": Variant(True, (OUR_WEIGHERS, BUILD_FAILURE), ours=True),
}
#: Twice the same without the plugin: what differs between those two is noise.
PLAIN = {
    "a": Variant(False, (DEFAULT_WEIGHERS,), ours=False),
    "a again": Variant(False, (DEFAULT_WEIGHERS,), ours=False),
    "d": Variant(True, (DEFAULT_WEIGHERS, OUR_WEIGHERS), ours=False),
}

#: A job with bandwidth, without the plugin and with all of it.
GUARANTEED = {
    "a": Variant(False, (DEFAULT_WEIGHERS,), ours=True),
    "e": Variant(True, (DEFAULT_WEIGHERS, OUR_WEIGHERS), ours=True),
}
#: The same for VMs that are no job's.
OWN = {"f": GUARANTEED["e"]}


class Timing(NamedTuple):
    """Seconds of one run, by the clock on the wall and of this process's CPU time."""

    wall: float
    cpu: float


def timed(work) -> Timing:
    """Time of one call.

    Python collects garbage within it, but for full collections: one of those takes as long as there
    are objects in the process, most of which are the benchmark's, and falls into one run and not
    into the next. What lay about is collected before.
    """
    gc.collect()
    youngest, middle, oldest = gc.get_threshold()
    gc.set_threshold(youngest, middle, _NEVER)
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    timing = Timing(time.perf_counter() - wall, time.process_time() - cpu)
    gc.set_threshold(youngest, middle, oldest)
    return timing


class Bench:
    """A scheduler for each variant on one cloud."""

    def __init__(self, cloud, variants, tier: Tier):
        self.cloud = cloud
        self.variants = variants
        self.tier = tier
        self.schedulers = {
            name: cloud.scheduler(variant.plugin, list(variant.weighers))
            for name, variant in variants.items()
        }
        self._candidates = {
            variant.ours: cloud.candidates(tier if variant.ours else None)
            for variant in variants.values()
        }

    def rounds(self, size: int, rounds: int) -> dict[str, list[Timing]]:
        """Times of every variant, each in a process of its own.

        As of a nova-scheduler, which has one configuration: no variant finds the memory as another
        one left it. The processes are copies of this one, at work one at a time.

        :raises EOFError: if a variant fails; it has said why on the standard error.
        """
        for name in self.variants:
            # What the first request makes, such as Placement's answers, they all begin with.
            self.run(name, 1)
        with self._processes() as pipes:

            def run(name):
                pipes[name].send(size)
                return pipes[name].recv()

            return in_turns(list(self.variants), run, rounds)

    @contextlib.contextmanager
    def _processes(self) -> Iterator[Mapping[str, Connection]]:
        """A process for each variant; it gets sizes and sends timings."""
        fork = multiprocessing.get_context("fork")
        pipes, processes = {}, []
        try:
            for name in self.variants:
                pipes[name], theirs = fork.Pipe()
                process = fork.Process(target=self._serve, args=(name, theirs, pipes.values()))
                process.start()
                processes.append(process)
                theirs.close()
            yield pipes
        finally:
            for process in processes:
                process.kill()
                process.join()

    def _serve(self, name: str, pipe: Connection, copied: Iterable[Connection]) -> None:
        """Until nobody holds the other end any more: of that each process has got a copy."""
        for each in copied:
            each.close()
        with contextlib.suppress(EOFError):
            while True:
                pipe.send(self.run(name, pipe.recv()))

    def run(self, name: str, size: int) -> Timing:
        """`_schedule` of one request, host states included.

        :raises RuntimeError: if not every VM got a host.
        """
        variant, scheduler = self.variants[name], self.schedulers[name]
        spec, vms = self.cloud.request(size, self.tier if variant.ours else None)
        selected = []

        def work():
            selected.extend(
                scheduler._schedule(self.cloud.context, spec, vms, *self._candidates[variant.ours])
            )

        with self.cloud.answering():
            timing = timed(work)
        if len(selected) != size:
            raise RuntimeError(f"variant {name}: {len(selected)} of {size} VMs got a host")
        return timing


def in_turns(
    names: list[str], run: Callable[[str], Timing], rounds: int
) -> dict[str, list[Timing]]:
    """Times of runs by name, after one of each that does not count.

    Whoever was first in a round is last in the next.
    """
    for name in names:
        run(name)
    times = {name: [] for name in names}
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            times[name].append(run(name))
    return times


def best(times: list[Timing]) -> Timing:
    return Timing(min(each.wall for each in times), min(each.cpu for each in times))


def over(times: list[Timing], base: list[Timing]) -> float:
    """How much more CPU time than the base: 0.1 is 10 % more.

    The median of the ratios of each round: a machine may change its pace from one to the next.
    """
    return (
        statistics.median(each.cpu / other.cpu for each, other in zip(times, base, strict=True)) - 1
    )
