"""Thousands of short jobs through one manager: how its memory and its database grow.

The manager, the database and Placement are real. Nova's servers are those of `light_nova`: a real
one needs a second for each boot and each deletion.
"""

import contextlib
import pathlib
import random
import statistics
import time
from collections.abc import Iterator

from sqlalchemy import func, select

from nova_twotier import conf as configuration
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.db.models import Event, Job
from nova_twotier.db.states import OVER, JobState
from nova_twotier.db.store import Store, open_store
from nova_twotier.ledger import names
from nova_twotier.tools.faults.clients import resident
from nova_twotier.tools.faults.files import configure
from nova_twotier.tools.faults.light_nova import LightNova, Servers, lives
from nova_twotier.tools.faults.outcome import Outcome
from nova_twotier.tools.faults.scenarios import SOAK
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.supervisor import Supervisor, python

#: Seconds that a job runs on average.
LIFE = 5.0
SIZES = (1, 1, 1, 2, 2, 4)
#: Jobs that wait or run at a time.
QUEUE = 150
#: Seconds between two polls, and after which a soak in which nothing ends has failed.
INTERVAL, STUCK = 1.0, 120.0
#: The part of the jobs after which the memory is taken as that of a manager in mid-work, and MiB
#: that it may grow by from there to the end.
WARM, GROWTH = 0.2, 50.0
_MIB = 2**20


def run(info: dict, out: pathlib.Path, seed: int, jobs: int) -> Outcome:
    """On an embedded cloud that nobody else uses.

    :raises ReplayError: if nothing ends any more.
    """
    out.mkdir(parents=True)
    chance = random.Random(f"{seed}/{SOAK.name}")  # noqa: S311
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        database = out / "queue.sqlite"
        url = {"database": {"connection": f"sqlite:///{database}"}}
        conf = configuration.load(configure(info, out, "direct.conf", url), "faults")
        store = stack.enter_context(contextlib.closing(open_store(conf)))
        ledger = placement_for(conf)
        providers = ledger.get("/resource_providers")["resource_providers"]
        roots = {rp["uuid"]: rp["name"] for rp in providers if rp["name"] in info["hosts"]}
        servers = Servers(ledger, roots, lives(chance, LIFE))
        nova = stack.enter_context(LightNova(servers, info["urls"]["compute"]))
        files = configure(
            info, out, "manager.conf", {"nova": {"endpoint_override": nova.url}, **url}
        )
        argv = python("nova_twotier.cmd.manager", *files)
        manager = Supervisor("manager", argv, out / "manager.log", lambda _line: None)
        stack.enter_context(manager)
        memory = list(_play(store, manager, chance, jobs))
        problems = _problems(store, manager, servers, ledger, memory)
        finished = _count(store, JobState.FINISHED)
        if doubled := _finished_twice(store):
            problems.append(f"{doubled} jobs finished more than once")
        size = sum(file.stat().st_size for file in out.glob("queue.sqlite*"))
    seconds = time.monotonic() - began
    return Outcome(
        SOAK.name,
        SOAK.about,
        seed,
        {"jobs": jobs, "finished": finished},
        lost=jobs - finished,
        doubled=doubled,
        seconds=seconds,
        problems=problems,
        figures={
            "memory of the manager in mid-work (MiB)": round(_warm(memory), 1),
            "memory of the manager at the end (MiB)": round(memory[-1], 1),
            "database at the end (MiB)": round(size / _MIB, 1),
            "database for each job (KiB)": round(size / 1024 / jobs, 2),
            "jobs a second": round(jobs / seconds, 2),
        },
    )


def _play(store: Store, manager: Supervisor, chance: random.Random, jobs: int) -> Iterator[float]:
    """Keep the queue filled until all jobs are over; the manager's memory, poll by poll."""
    submitted, over, moved_at = 0, 0, time.monotonic()
    while over < jobs:
        manager.check()
        known, over = over, _count(store, *OVER)
        if over > known:
            moved_at = time.monotonic()
        if time.monotonic() > moved_at + STUCK:
            raise ReplayError(f"no job has ended for {STUCK:.0f} s; {over} of {jobs} are over")
        for _ in range(min(QUEUE - (submitted - over), jobs - submitted)):
            store.submit(chance.choice(SIZES), [round(chance.uniform(0.1, 1.0), 2)], estimate=LIFE)
            submitted += 1
        time.sleep(INTERVAL)
        # Just now it may have died, which is counted.
        with contextlib.suppress(FileNotFoundError):
            yield resident(manager.pid)


def _problems(store: Store, manager: Supervisor, servers: Servers, ledger, memory) -> list[str]:
    found = []
    if manager.deaths:
        found.append(f"the manager died {manager.deaths} times")
    if not_finished := _count(store, JobState.FAILED, JobState.CANCELLED):
        found.append(f"{not_finished} jobs did not finish")
    if (grown := memory[-1] - _warm(memory)) > GROWTH:
        found.append(f"the manager grew by {grown:.0f} MiB from a fifth of the jobs to the end")
    # The last of them goes a moment after its job.
    time.sleep(5 * INTERVAL)
    if left := len(servers.listed(None)) + len(servers.groups):
        found.append(f"{left} servers and server groups are left")
    usages = ledger.get(f"/resource_providers/{names.jobs_uuid()}/usages")["usages"]
    if any(usages.values()):
        found.append(f"entries of jobs are left in the ledger: {usages}")
    return found


def _warm(memory: list[float]) -> float:
    around = int(WARM * len(memory))
    return statistics.median(memory[around : around + 5] or memory)


def _count(store: Store, *states: JobState) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count()).where(Job.state.in_(states)))


def _finished_twice(store: Store) -> int:
    with store.reading() as session:
        times = (
            select(func.count().label("times")).where(Event.kind == "finished").group_by(Event.job)
        ).subquery()
        return session.scalar(select(func.count()).where(times.c.times > 1))
