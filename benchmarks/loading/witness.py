"""Checks the replay's invariants on samples of a cloud while jobs come and go."""

import contextlib
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.db.states import OVER
from nova_twotier.db.store import Store
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import NotFound, PlacementError
from nova_twotier.tools.replay.invariants import CLOSED, Invariants
from nova_twotier.tools.replay.queue import Queue, never_finished
from nova_twotier.tools.replay.roster import Roster
from nova_twotier.tools.replay.sampling import Sampler

#: Seconds between two samples: each takes two requests for each host.
INTERVAL = 20.0


class Witness:
    """
    :param conf: of the managers.
    :ivar missed: messages of samples that could not be taken.
    """

    def __init__(self, conf, store: Store, roster: Roster, pools: tuple[str, ...]):
        self._queue, self._roster, self._pools = Queue(store, roster), roster, pools
        self._cloud, self._placement = Cloud(conf), placement_for(conf)
        self._sampler = Sampler(self._cloud, self._placement)
        self._sampler.shapes()
        # Nothing is closed here, so that nothing of that is checked.
        self._invariants = Invariants(roster)
        self._over = threading.Event()
        self.samples, self.missed = 0, list[str]()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        task = threading.Thread(target=self._watch)
        task.start()
        try:
            yield
        finally:
            self._over.set()
            task.join()

    def _watch(self) -> None:
        began = time.monotonic()
        while not self._over.wait(INTERVAL):
            running = self._queue.poll().running
            try:
                sample = self._sampler.sample(time.time())
            except (CloudError, PlacementError) as error:
                self.missed.append(str(error))
                continue
            running &= self._queue.poll().running
            self._invariants.see(sample, time.monotonic() - began, running)
            self.samples += 1

    def verdict(self) -> list[str]:
        """A line for each invariant, when no job is running any more."""
        jobs = self._queue.poll().jobs
        waiting = {number for number, job in jobs.items() if job.state not in OVER}
        ended = {number for number, job in jobs.items() if never_finished(job)}
        guests = SimpleNamespace(done=lambda _entry: True)
        self._invariants.end(self._queue.finishes(), waiting | ended, guests, self._left())
        lines = []
        for name, each in self._invariants.all.items():
            if name != CLOSED:
                word = "holds" if each.holds else "BROKEN" if each.checks else "never checked"
                lines.append(f"{word}: {name} ({each.checks:,} checks)")
                lines += [f"  {text}" for text in each.broken[:10]]
        finished, missing = len(jobs) - len(waiting) - len(ended), len(self._roster) - len(jobs)
        lines.append(
            f"{len(self._roster):,} submitted: {finished:,} finished, {len(waiting):,} wait, "
            f"{len(ended):,} cancelled or failed, {missing:,} not recorded"
        )
        return lines

    def _left(self) -> Iterator[str]:
        """What is still there although no job runs, in words."""
        sample = self._sampler.sample(time.time())
        groups = self._sampler.server_groups()
        for count, what in (
            (len(sample.servers), "servers"),
            (len(sample.claims), "consumers with claims"),
            (len(groups), "server groups"),
        ):
            if count:
                yield f"{count} {what}"
        for pool in self._pools:
            with contextlib.suppress(NotFound):
                url = f"/resource_providers/{names.jobs_uuid(pool)}/usages"
                if any(self._placement.get(url)["usages"].values()):
                    yield f"entries of jobs of pool {pool}"
