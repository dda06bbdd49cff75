"""Submits jobs to two pools faster than Nova boots them, and kills one of two managers."""

import contextlib
import os
import subprocess
import time
from collections import Counter
from collections.abc import Mapping

from sqlalchemy import select

from nova_twotier import conf as config
from nova_twotier.db import terms
from nova_twotier.db.models import DEFAULT_POOL, Action, Job
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState
from nova_twotier.db.store import Store, open_store
from nova_twotier.tools.faults.databases import Database, database
from nova_twotier.tools.replay.roster import Roster

from . import plain_boots, tables
from .queue import COLUMNS, row
from .site import Site, cpu_seconds, memory, wait_for
from .traffic import Traffic
from .witness import Witness

__all__ = ["database", "options", "table"]

POOLS = (DEFAULT_POOL, "second")
#: The part of the time after which a manager is killed, and seconds until it is started again.
KILLED, AWAY = 0.5, 60.0
#: Seconds of a line of the table, between two looks, and for which the last jobs may take to end.
LINE, LOOK, ENDING = 60.0, 0.2, 1800.0


def options(database: Database, boots: int) -> list[str]:
    """The options with which the managers and the API run.

    :param boots: servers of each pool that boot at the same time; 0: any number.
    """
    server = database.url().partition("://")[0].partition("+")[0]
    return [
        f"database.connection={database.url()}",
        # tooz names its drivers by the server alone.
        f"coordination.backend_url={server}://{database.url().partition('://')[2]}",
        f"manager.pools={','.join(POOLS)}",
        f"manager.max_concurrent_boots={boots}",
    ]


def table(site: Site, rate: float, seconds: float, life: float, alone: float) -> None:
    """
    :param rate: jobs submitted a second.
    :param life: seconds that each job is left running.
    :param alone: seconds in which Nova boots servers without a queue, to compare with.
    """
    _divide(site)
    boots = plain_boots.rate(site, rate, alone, life)
    print(f"\nNova alone: {boots:.2f} servers a second (load {os.getloadavg()[0]:.1f})", flush=True)
    conf = config.load([f"--config-file={site.info['files']['manager_conf']}"], "benchmark")
    roster = Roster()
    with contextlib.closing(open_store(conf)) as store, contextlib.ExitStack() as stack:
        # Only the second one serves both: they lead a pool each until the first one is killed.
        managers = {}
        for name, pool, served in zip(
            ("first", "second"), POOLS, (POOLS[0], ",".join(POOLS)), strict=True
        ):
            manager = managers[name] = stack.enter_context(site.process(name, pools=served))
            wait_for(lambda p=pool, m=manager: _leads(store, p, m), f"{name} leads pool {pool}")
        traffic = Traffic(site, rate, life, POOLS, roster)
        witness = Witness(conf, store, roster, POOLS)
        fail_over = FailOver(store, *managers.values())
        usage = Usage({**{name: each.pid for name, each in managers.items()}, **site.info["pids"]})
        with witness.watching(), traffic.under_way():
            began = time.time()
            _play(site, stack, store, traffic, fail_over, usage, seconds)
            _settle(site, store, traffic)
        starts = _starts(store, began)
        _report(starts, boots, seconds, began)
        fail_over.report(starts)
        usage.report()
        print()
        tables.head("answers of the API, ms", *COLUMNS)
        for request, answers in traffic.answers.items():
            row(request, [took for _at, took in answers])
        print(f"\n{len(traffic.trouble)} requests failed {traffic.trouble[:3]}\n")
        for line in witness.verdict():
            print(f"- {line}")
        print(f"- {witness.samples} samples; {len(witness.missed)} failed {witness.missed[:3]}")
        print(f"- ledger verify: {site.manage('ledger', 'verify').stdout.strip()}")
        for name in (*managers, "again", "twotier"):
            _errors(site, name)


def _divide(site: Site) -> None:
    """Every other host belongs to the second pool."""
    aggregate = site.nova.aggregates.create(POOLS[1], None)
    site.nova.aggregates.set_metadata(aggregate, {"twotier:pool": POOLS[1]})
    for host in site.info["hosts"][1::2]:
        site.nova.aggregates.add_host(aggregate, host)


def _leads(store: Store, pool: str, manager: subprocess.Popen) -> bool:
    return terms.leader_of(store, pool).endswith(f":{manager.pid}")


class FailOver:
    """Measures a fail-over: a manager is killed (-9), and another one takes over its pool."""

    def __init__(self, store: Store, victim: subprocess.Popen, heir: subprocess.Popen):
        self._store, self._victim, self._heir = store, victim, heir
        self.killed_at = self._led_at = 0.0

    def kill(self) -> None:
        self._victim.kill()
        self.killed_at = time.time()

    def look(self) -> None:
        if self.killed_at and not self._led_at and _leads(self._store, POOLS[0], self._heir):
            self._led_at = time.time()

    def report(self, starts: list) -> None:
        after = [each for each in starts if each.pool == POOLS[0]]
        decided = [each.created_at for each in after if each.created_at > self.killed_at]
        up = [each.closed_at for each in after if each.closed_at > self.killed_at]
        print("\nseconds after a manager was killed\n")
        tables.head("until", "seconds")
        for what, times in (
            ("the other one leads its pool", [self._led_at] if self._led_at else []),
            ("it has decided to start a job there", decided),
            ("a job there has started", up),
        ):
            tables.row(what, f"{min(times) - self.killed_at:.1f}" if times else "never")


class Usage:
    """CPU time and memory of processes, from now on."""

    def __init__(self, pids: Mapping[str, int]):
        self._pids = pids
        self._before = {name: cpu_seconds(pid) for name, pid in pids.items()}
        self._began = time.monotonic()
        self._rows: dict[str, tuple[float, float, float]] = {}

    def look(self) -> None:
        """Of those that are still there."""
        passed = time.monotonic() - self._began
        for name, pid in self._pids.items():
            with contextlib.suppress(FileNotFoundError, KeyError, ProcessLookupError):
                used = cpu_seconds(pid) - self._before[name]
                self._rows[name] = used / passed, *memory(pid)

    def report(self) -> None:
        print()
        tables.head("process", "CPU, share of a core", "memory, MiB", "at most")
        for name, (share, now, most) in self._rows.items():
            tables.row(name, f"{share:.1%}", f"{now:.0f}", f"{most:.0f}")


def _play(site, stack, store, traffic, fail_over, usage, seconds) -> None:
    """Print a line a minute; kill a manager, and start it again."""
    print()
    columns = ("submitted", "started", "ended", "wait", "submission, 95 %, ms", "load")
    tables.head("second", *columns)
    began = line_at = time.time()
    again = None
    while (now := time.time()) < began + seconds:
        time.sleep(LOOK)
        fail_over.look()
        if not fail_over.killed_at and now > began + KILLED * seconds:
            usage.look()
            fail_over.kill()
        if again is None and fail_over.killed_at and now > fail_over.killed_at + AWAY:
            again = stack.enter_context(site.process("again", pools=POOLS[0]))
        if now > line_at + LINE:
            _line(store, traffic, began, line_at)
            line_at += LINE
    _line(store, traffic, began, line_at)
    usage.look()


def _line(store: Store, traffic: Traffic, began: float, since: float) -> None:
    end = since + LINE
    starts = sum(since <= each.closed_at < end for each in _starts(store, since))
    with store.reading() as session:
        ended = list(session.scalars(select(Job.finished_at).where(Job.finished_at >= since)))
        states = Counter(session.scalars(select(Job.state)))
    took = [each for at, each in traffic.answers["submit"] if since <= at < end]
    high = sorted(took)[int(0.95 * len(took))] if took else 0.0
    waiting, load = states[JobState.QUEUED], os.getloadavg()[0]
    cells = len(took), starts, len(ended), waiting, f"{1000 * high:.0f}", f"{load:.1f}"
    tables.row(f"{end - began:.0f}", *cells)


def _settle(site: Site, store: Store, traffic: Traffic) -> None:
    """Nothing more is submitted or started; those that run end, others leave the queue.

    Nova would need hours to boot all servers that it has been asked for.
    """
    traffic.stop_submitting()
    for pool in POOLS:
        site.api("PATCH", f"/v1/queue?pool={pool}", json={"mode": "paused"})
    cancelled: set[str] = set()

    def over() -> bool:
        with store.reading() as session:
            jobs = session.execute(select(Job.uuid, Job.state).where(Job.state.not_in(OVER))).all()
        for uuid, state in jobs:
            if state == JobState.STARTING and uuid not in cancelled:
                site.api("DELETE", f"/v1/jobs/{uuid}")
                cancelled.add(uuid)
        return all(state == JobState.QUEUED for _uuid, state in jobs)

    began = time.monotonic()
    wait_for(over, "the jobs that have started end", 1.0, ENDING)
    print(
        f"\nthe last job ended {time.monotonic() - began:.0f} s after the last submission; "
        f"{len(cancelled):,} were starting, and cancelled"
    )


def _starts(store: Store, since: float) -> list:
    """Starts that came to an end: pool and size of the job, and both times."""
    query = (
        select(Action.created_at, Action.closed_at, Job.pool, Job.size)
        .join(Job, Action.job == Job.number)
        .where(Action.kind == ActionKind.START, Action.state == ActionState.DONE)
        .where(Action.closed_at >= since)
    )
    with store.reading() as session:
        return list(session.execute(query))


def _report(starts: list, boots: float, seconds: float, began: float) -> None:
    within = [each for each in starts if each.closed_at < began + seconds]
    jobs, servers = len(within), sum(each.size for each in within)
    print(f"\nwhile jobs were submitted, in {seconds:.0f} s:\n")
    tables.head("pool", "jobs started", "servers", "a second")
    for pool in POOLS:
        sizes = [each.size for each in within if each.pool == pool]
        tables.row(pool, len(sizes), sum(sizes), f"{sum(sizes) / seconds:.2f}")
    print(
        f"\n{jobs / seconds:.2f} jobs, {servers / seconds:.2f} servers a second; "
        f"Nova alone boots {boots:.2f}"
    )


def _errors(site: Site, name: str) -> None:
    """Print how many lines a process has logged at ERROR or CRITICAL, and the first of them."""
    log = site.log(name)
    if not log.exists():
        return
    lines = [
        line
        for line in log.read_text(errors="replace").splitlines()
        if " ERROR " in line or " CRITICAL " in line or line.startswith("Traceback")
    ]
    print(f"- errors in the log of {name}: {len(lines)}")
    for line in lines[:5]:
        print(f"  {line[:300]}")
