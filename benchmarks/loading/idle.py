"""What polls cost while nothing happens, with what reading Nova and Placement costs."""

import contextlib
import gc
import pathlib
import statistics
import tempfile
import threading
import time
import uuid
from collections import Counter

from nova_twotier import conf as config
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import session_for
from nova_twotier.core import policies
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.daemon import collect_seldom
from nova_twotier.manager.engine import Engine

from . import passes, tables
from .generated import NOVA, PLACEMENT, Generated

OPTIONS = f"""
[nova]
auth_type = none
endpoint_override = {NOVA}
[placement]
auth_type = none
endpoint_override = {PLACEMENT}
[manager]
flavor = slot
image = 8c0d7d7e-6f5e-4c3c-9a3b-1f2e3d4c5b6a
prediction_interval = 0
"""
#: Seconds of Nova for each item of a list. A full list of all servers then takes as long as a real
#: one; polls that wait for it show it by the clock on the wall.
SECONDS = {"servers/detail": 0.001, "os-hypervisors/detail": 0.002}
#: Polls before those that count, until nothing is left to do.
REST = 5
#: Polls that are measured after a change.
CHANGES = 5


def table(policy: str, waiting: int, hosts: int, finished: int, polls: int) -> None:
    collect_seldom()
    with tempfile.TemporaryDirectory() as directory:
        site = passes.Site(pathlib.Path(directory), policy, waiting, hosts * passes.SLOTS)
        with contextlib.closing(site):
            _fill(site, waiting, finished)
            cloud = Generated(site.fleet, SECONDS)
            with contextlib.closing(_manager(site, cloud, directory, policy)) as engine:
                _print(site, cloud, engine, polls)


def _fill(site: passes.Site, waiting: int, finished: int) -> None:
    site.submit(waiting)
    site.rest()
    site.submit(max(0, waiting - site.count(JobState.QUEUED)))
    site.rest()
    with site.store.transaction() as session:
        session.add_all(_finished(number) for number in range(finished))
    site.engine.close()


def _finished(number: int) -> Job:
    at = passes.NOW - 1e5 + number
    return Job(
        number=10_000_000 + number,
        uuid=str(uuid.uuid4()),
        size=1,
        cpu=[0.5],
        submitted_at=at,
        preemption="shelve",
        retries=3,
        state=JobState.FINISHED,
        finished_at=at + 100.0,
    )


def _manager(site: passes.Site, generated: Generated, directory: str, policy: str) -> Engine:
    path = pathlib.Path(directory, "nova-twotier.conf")
    path.write_text(OPTIONS)
    conf = config.load(["--config-file", str(path)], "benchmark")
    cloud = Cloud(conf)
    session, options = session_for(conf, "placement")
    for each in (cloud._session, session):
        each.session.mount("http://", generated)
    placement = Placement(session, **options)
    clock = _Clock(passes.NOW + 1e4)
    return Engine(conf.manager, site.store, cloud, placement, policies.get(policy), clock)


class _Clock:
    """A clock that begins at a given time and goes as fast as the real one."""

    def __init__(self, at: float):
        self._shift = at - time.time()

    def __call__(self) -> float:
        return time.time() + self._shift


def _print(site: passes.Site, cloud: Generated, engine: Engine, polls: int) -> None:
    waiting, running = site.count(JobState.QUEUED), site.count(JobState.RUNNING)
    print(
        f"\nidle polls: {waiting:,} jobs wait, {running:,} run on {len(cloud._servers):,} servers, "
        f"{len(cloud._roots):,} hosts\n"
    )
    tables.head("polls", "number", "CPU, ms", "longest", "wall, ms", "longest", "requests", "most")
    first = _Cost(cloud)
    engine.poll()
    first.stop()
    _row("the first of a manager", [first])
    for _poll in range(REST):
        engine.poll()
    gc.collect()
    found = []
    used, asked = time.process_time(), Counter(cloud.asked)
    answering = sum(cloud.cpu.values())
    began = time.monotonic()
    for number in range(polls):
        time.sleep(max(0.0, began + number - time.monotonic()))
        cost = _Cost(cloud)
        engine.poll()
        cost.stop()
        found.append(cost)
    took = time.monotonic() - began
    own = threading.get_ident()
    asked = Counter(cloud.asked) - asked
    used = time.process_time() - used - (sum(cloud.cpu.values()) - answering)
    _row("while nothing happens", found)
    touched = []
    for _round in range(CHANGES):
        cloud.touch()
        cost = _Cost(cloud)
        engine.poll()
        cost.stop()
        touched.append(cost)
    _row("after a server changed", touched)
    print(f"\nCPU time of the process in {took:.0f} s: {used:.1f} s. Requests a minute:\n")
    tables.head("path", "within polls", "beside them")
    for path in sorted({path for _thread, path in asked}):
        within = asked[own, path]
        beside = sum(count for (_thread, each), count in asked.items() if each == path) - within
        tables.row(path, *(f"{60 * count / took:.0f}" for count in (within, beside)))


class _Cost:
    """What this thread uses from now until `stop`, without what the cloud does in it."""

    def __init__(self, cloud: Generated):
        self._cloud, self._own = cloud, threading.get_ident()
        self.wall, self.cpu, self.requests = self._now()

    def _now(self) -> tuple[float, float, int]:
        asked = sum(
            count for (thread, _p), count in self._cloud.asked.copy().items() if thread == self._own
        )
        return time.monotonic(), time.thread_time() - self._cloud.cpu[self._own], asked

    def stop(self) -> None:
        wall, cpu, requests = self._now()
        self.wall, self.cpu, self.requests = (
            wall - self.wall,
            cpu - self.cpu,
            requests - self.requests,
        )


def _row(name: str, found: list[_Cost]) -> None:
    cells = []
    for part, unit, digits in (("cpu", 1000, 1), ("wall", 1000, 1), ("requests", 1, 0)):
        values = [unit * getattr(each, part) for each in found]
        cells += [f"{statistics.median(values):.{digits}f}", f"{max(values):.{digits}f}"]
    tables.row(name, len(found), *cells)
