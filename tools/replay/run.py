"""One replay from configuration to files: what `twotier-replay run` does."""

import contextlib
import pathlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.core import policies
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.db import queue_policy
from nova_twotier.db.models import DEFAULT_POOL
from nova_twotier.db.store import Store
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.sim.plots import files
from nova_twotier.sim.plots.gantt import Chart
from nova_twotier.sim.workloads import swf
from nova_twotier.tools.replay import chart, live, summary
from nova_twotier.tools.replay.clock import Clock
from nova_twotier.tools.replay.errors import ReplayError, UsageError
from nova_twotier.tools.replay.guests import Harm
from nova_twotier.tools.replay.player import Player
from nova_twotier.tools.replay.queue import Queue
from nova_twotier.tools.replay.roster import Roster
from nova_twotier.tools.replay.sampling import Sampler
from nova_twotier.tools.replay.workload import ReplayJob, fit

DATA = pathlib.Path(__file__).parent / "data"
EXCERPT = DATA / "kth-sp2-excerpt.swf"
#: With these the first 60 jobs of the excerpt arrive in half a minute and keep 32 slots busy for
#: two: short enough to watch, long enough for Nova to boot and move their servers.
SPEEDUP = 1200.0
EXCERPT_LOAD = 2.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What to play, how, and where the results go."""

    trace: pathlib.Path
    out: pathlib.Path
    jobs: int = 60
    speedup: float = SPEEDUP
    load_scale: float = EXCERPT_LOAD
    seed: int = 1
    timeout: float = 1800.0
    name: str = ""
    #: How often a job may begin anew, and the patience of `Invariants`.
    retries: int = 0
    patience: int = 0
    #: Whether jobs have the classes of service for which their queues in the trace stand.
    classes: bool = False
    #: What a job asks for besides what the trace says, as `Store.submit` takes it.
    options: Callable[[ReplayJob], dict] = lambda _job: {}


def replay(
    conf,
    settings: Settings,
    console: Console,
    watch: Callable[[Player], None] = lambda _player: None,
    harm: Harm | None = None,
) -> dict:
    """Play, write the files, and return the summary.

    :param conf: the manager's configuration.
    :param watch: called now and then; what it raises ends the replay.
    :param harm: the faults of hosts and guests.
    :raises ReplayError: if it cannot begin, or the cloud goes away.
    """
    trace = _read(settings)
    try:
        settings.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"directory {settings.out} cannot be made: {error.strerror}") from error
    cloud = Cloud(conf)
    sampler = Sampler(cloud, placement_for(conf))
    try:
        shapes = sampler.shapes()
        sampler.sample(time.time())
    except (CloudError, PlacementError) as error:
        raise ReplayError(str(error)) from error
    if not shapes:
        raise ReplayError(
            "no host aggregate has twotier:slots; set it: openstack aggregate set "
            "--property twotier:slots=4 --property twotier:tiers=2 AGGREGATE"
        )
    slots = sum(shape.slots for shape in shapes.values())
    jobs = fitted(trace, settings, slots)
    store = Store(conf.database.connection)
    with contextlib.closing(store):
        with store.reading() as session:
            policy = queue_policy.chosen(session, DEFAULT_POOL) or conf.manager.policy
        require_background(policy, jobs)
        player = _play(store, cloud, sampler, jobs, settings, console, trace, watch, harm or Harm())
    title = settings.name or conf.manager.policy
    done = summary.summarise(
        player,
        {
            "name": title,
            "policy": conf.manager.policy,
            "trace": settings.trace.name,
            "speedup": settings.speedup,
            "load_scale": settings.load_scale,
            "seed": settings.seed,
            "slots": slots,
            "interrupted": player.interrupted,
        },
    )
    _write(settings.out, done, chart.of(player, _title(done), shapes), console)
    return done


def fitted(trace: swf.Trace, settings: Settings, slots: int) -> list[ReplayJob]:
    """The first jobs of the trace, scaled to the cluster."""
    return fit(
        trace.records[: settings.jobs],
        trace.processors,
        slots,
        prefix=settings.trace.name.partition("-")[0].partition(".")[0].lower(),
        seed=settings.seed,
        load_scale=settings.load_scale,
        classes=trace.classes if settings.classes else None,
    )


def _read(settings: Settings) -> swf.Trace:
    try:
        trace = swf.read(settings.trace)
    except swf.MalformedTrace as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"trace {settings.trace} cannot be read: {error.strerror}") from error
    if not trace.records:
        raise UsageError(f"{settings.trace} has no jobs with a run time and processors")
    if settings.classes and not trace.has_classes:
        raise UsageError(f"{settings.trace} {swf.NO_CLASSES}")
    return trace


def require_background(policy: str, jobs: list[ReplayJob]) -> None:
    """
    :raises UsageError: if there are scavengers, and the policy has no background for them.
    """
    if policies.get(policy).tiers == 1 and any(job.qos is SCAVENGER for job in jobs):
        raise UsageError(
            f"the trace has scavengers, which run in the background only, and {policy} does not "
            "use it: leave out --qos, or choose a policy of two tiers"
        )


def _play(store, cloud, sampler, jobs, settings: Settings, console, trace, watch, harm) -> Player:
    roster = Roster()
    with live.view(console) as shown:
        left_out = f", {trace.left_out} records without run time or processors left out"
        shown.say(
            f"{settings.trace.name}: {len(jobs)} jobs, {sum(job.size for job in jobs)} processes, "
            f"{settings.speedup:g} trace seconds a second{left_out if trace.left_out else ''}"
        )

        def each_round(player: Player) -> None:
            watch(player)
            shown(player)

        player = Player(
            jobs=jobs,
            queue=Queue(store, roster, settings.options, retries=settings.retries),
            roster=roster,
            cloud=cloud,
            sampler=sampler,
            clock=Clock(time.time(), settings.speedup),
            show=each_round,
            say=shown.say,
            harm=harm,
            patience=settings.patience,
        )
        player.play(settings.timeout)
    return player


def _title(done: dict) -> str:
    totals = done["totals"]
    return f"{done['name']}: {totals['jobs']} jobs of {done['trace']}, what Nova and Placement did"


def _write(out: pathlib.Path, done: dict, drawn: Chart, console: Console) -> None:
    summary.save(done, out)
    files.draw(drawn, out / "gantt.png")
    files.draw(drawn, out / "gantt.html")
    for name in (summary.FILE, "gantt.png", "gantt.html"):
        console.print(f"{out / name}", markup=False, highlight=False, soft_wrap=True)
