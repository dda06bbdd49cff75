"""Submits jobs through the API at a given rate, reads them, and completes them."""

import contextlib
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.workload import ReplayJob

from .site import Site

#: Processes of a job; CPU utilisation of each.
SIZES, CPU = (1, 1, 1, 2), 0.5
#: Submissions at the same time; seconds between two looks for jobs to end, and two readers' looks.
AT_ONCE, LOOK, READ = 8, 1.0, 0.5


class Traffic:
    """
    :param rate: jobs a second.
    :param life: seconds that a job is left running.
    :ivar answers: when each request was made, and the seconds that its answer took, by what it is.
    :ivar trouble: messages of requests that failed.
    """

    def __init__(self, site: Site, rate: float, life: float, pools: Sequence[str], roster: Roster):
        self._site, self._rate, self._life, self._pools = site, rate, life, pools
        self._roster = roster
        self._chance = random.Random(1)  # noqa: S311
        self._submitting, self._over = threading.Event(), threading.Event()
        self.answers: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.trouble: list[str] = []

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """Jobs are ended while it is entered, and submitted until `stop_submitting`."""
        tasks = [threading.Thread(target=each) for each in (self._submit, self._end, self._read)]
        for task in tasks:
            task.start()
        try:
            yield
        finally:
            self._submitting.set()
            self._over.set()
            for task in tasks:
                task.join()

    def stop_submitting(self) -> None:
        self._submitting.set()

    def _ask(self, what: str, method: str, path: str, **options) -> dict | None:
        at, began = time.time(), time.perf_counter()
        try:
            return self._site.api(method, path, **options)
        except (RuntimeError, OSError) as error:
            self.trouble.append(str(error))
            return None
        finally:
            self.answers[what].append((at, time.perf_counter() - began))

    def _submit(self) -> None:
        began, number = time.monotonic(), 0
        with ThreadPoolExecutor(AT_ONCE) as requests:
            while not self._submitting.wait(
                max(0.0, began + number / self._rate - time.monotonic())
            ):
                job = {
                    "size": self._chance.choice(SIZES),
                    "cpu": CPU,
                    "pool": self._pools[number % len(self._pools)],
                }
                requests.submit(self._submit_one, job)
                number += 1

    def _submit_one(self, job: dict) -> None:
        if made := self._ask("submit", "POST", "/v1/jobs", json=job):
            size = job["size"]
            known = ReplayJob(0, "", 0.0, self._life, None, size, (CPU,) * size)
            self._roster.add(Entry(made["number"], made["uuid"], known))

    def _end(self) -> None:
        """End each job when it has run for its life."""
        since: dict[str, float] = {}
        ended: set[str] = set()
        while not self._over.wait(LOOK):
            found = self._ask("list of running jobs", "GET", "/v1/jobs?state=running")
            running = {job["uuid"] for job in found["jobs"]} if found else set()
            for uuid in running - ended:
                since.setdefault(uuid, time.monotonic())
                if time.monotonic() > since[uuid] + self._life and self._ask(
                    "complete", "POST", f"/v1/jobs/{uuid}/complete"
                ):
                    ended.add(uuid)

    def _read(self) -> None:
        while not self._over.wait(READ):
            self._ask("list of 100", "GET", "/v1/jobs?limit=100")
            known = list(self._roster)
            if known:
                uuid = self._chance.choice(known).uuid
                self._ask("show", "GET", f"/v1/jobs/{uuid}")
                self._ask("explain", "GET", f"/v1/jobs/{uuid}/explain")
