"""Part a: the cost of a poll, and of the pass in it, over a long queue."""

import contextlib
import gc
import itertools
import pathlib
import statistics
import tempfile
from collections.abc import Callable

from nova_twotier.db.selection import Selection
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.manager.daemon import collect_seldom

from . import tables, workload
from .cloudless import Cloudless, ServerCache
from .stopwatch import WITHIN, Stopwatch

#: Slots of a host.
SLOTS = 16
NOW = 1.8e9
#: Looks after which a queue that is left alone has come to rest: few servers boot at a time.
REST = 5000
SEE = (Cloudless, "_observe", "see")
PARTS = ("pass", "play", "reasons", "see", "read jobs", "write", "poll")


class Site:
    """A queue before a cloud, and the manager that looks at both."""

    def __init__(self, directory: pathlib.Path, policy: str, waiting: int, slots: int):
        self._policy = policy
        self._waiting = waiting
        self.fleet = ServerCache(max(1, slots // SLOTS), min(SLOTS, slots), NOW)
        self.store = Store(f"sqlite:///{directory}/{policy}.sqlite")
        self._drawn = workload.jobs(NOW - 1e6, largest=max(1, slots // 8))
        self.engine = self.begin()

    def begin(self) -> Cloudless:
        """A manager that knows nothing yet."""
        self.engine = Cloudless(self.store, self.fleet, self._policy)
        return self.engine

    def close(self) -> None:
        self.engine.close()
        self.store.close()

    def submit(self, count: int) -> None:
        with self.store.transaction() as session:
            session.add_all(itertools.islice(self._drawn, count))

    def rest(self) -> None:
        """Look until nothing happens any more."""
        for _poll in range(REST):
            if not self.poll():
                return
        raise RuntimeError(f"{REST} polls, and it is not at rest")

    def poll(self) -> bool:
        self.fleet.now += 1
        return self.engine.poll()

    def end_one(self) -> None:
        """The job that has run longest ends."""
        running = self.store.jobs(selection=Selection(states=[JobState.RUNNING]))
        self.fleet.stop(min(running, key=lambda job: (job.run_since, job.number)).uuid)

    def count(self, state: JobState) -> int:
        return len(self.store.jobs(selection=Selection(states=[state])))


def table(policies: list[str], waiting: int, slots: int, rounds: int) -> None:
    """Print a line for each policy and happening."""
    collect_seldom()  # as the manager's process does
    print(f"\none poll without a cloud: {waiting:,} jobs wait for {slots:,} slots, ms of CPU\n")
    tables.head("policy", "after", "waiting", *PARTS)
    for policy in policies:
        with tempfile.TemporaryDirectory() as directory:
            site = Site(pathlib.Path(directory), policy, waiting, slots)
            with contextlib.closing(site):
                for name, happening in _happenings(site, waiting, rounds):
                    spent = happening()
                    tables.row(policy, name, spent["waiting"], *(f"{spent[p]:.1f}" for p in PARTS))


def _happenings(site: Site, waiting: int, rounds: int):
    def nothing():
        """The poll after one that changed nothing."""

    def submit():
        site.submit(1)

    yield "a start of the manager, cloud empty", lambda: _first(site, waiting)
    site.rest()
    site.submit(max(0, waiting - site.count(JobState.QUEUED)))
    site.rest()
    yield "a start of the manager, cloud full", lambda: _median(site, site.begin, 1)
    yield "one arrival", lambda: _median(site, submit, rounds)
    yield "one end", lambda: _median(site, site.end_one, rounds)
    yield "nothing", lambda: _median(site, nothing, rounds)


def _first(site: Site, waiting: int) -> dict:
    site.submit(waiting)
    return _decision(site)


def _median(site: Site, happening: Callable[[], object], rounds: int) -> dict:
    """The medians of what the polls took that followed it."""
    found = []
    for _round in range(rounds):
        happening()
        found.append(_decision(site))
        site.rest()
    return {part: statistics.median(each[part] for each in found) for part in found[0]}


def _decision(site: Site) -> dict:
    """Look until the policy was asked, or nothing is left to do: ms of the last poll."""
    while True:
        waiting = site.count(JobState.QUEUED)
        stopwatch = Stopwatch()
        gc.collect()
        with stopwatch.watching((*WITHIN, SEE)):
            again = stopwatch.timed(site.poll, "poll")()
        spent = stopwatch.cpu
        spent["poll"] -= spent["see"]
        if spent["play"] or not again:
            return {"waiting": waiting, **{part: 1000 * spent[part] for part in PARTS}}
