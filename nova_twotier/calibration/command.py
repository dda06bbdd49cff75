"""A calibration from beginning to end: what it will take, the measurement, and its files."""

import argparse
import contextlib
import json
import pathlib
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import tqdm

from nova_twotier.agent.cgroups import CpuController
from nova_twotier.calibration import (
    cgroups,
    host,
    loads,
    mechanisms,
    plot,
    processes,
    qemu,
    results,
    table,
    vms,
)
from nova_twotier.calibration.experiment import Experiment, Plan, Turn
from nova_twotier.calibration.layouts import LAYOUTS
from nova_twotier.calibration.model import NoModel, model
from nova_twotier.calibration.points import Bounds, Point, points
from nova_twotier.calibration.threshold import threshold

#: What `run` raises for reasons that its user can do something about.
ERRORS = (cgroups.CgroupsUnusable, loads.LoadFailed, qemu.NoQemu, results.NotResults, OSError)
#: Where the kernel lists what is mounted.
MOUNTS = pathlib.Path("/proc/self/mounts")


def run(options: argparse.Namespace) -> None:
    """Measure as the options say, print the table, and write the files.

    :raises KeyboardInterrupt: on SIGINT, SIGTERM or SIGHUP; nothing is left of the measurement.
    :raises CgroupsUnusable, LoadFailed, NoQemu, NotResults, OSError: if it cannot be done.
    """
    earlier = results.read_points(options.compare) if options.compare else None
    options.output.mkdir(parents=True, exist_ok=True)
    program = qemu.find() if options.vms else ""
    controller = cgroups.find(MOUNTS.read_text(), options.cgroup)
    with (
        _interruptible(),
        cgroups.Groups(controller, options.cpus, options.group_weight, bool(program)) as groups,
    ):
        plan = _plan(options, groups)
        kind, turns = _measure(plan, groups, options.vms, program)
    bounds = Bounds(options.max_drift, options.max_wait, options.least_gain)
    found = sorted(points(turns, bounds), key=partial(_place, plan))
    conditions = {"loads": kind, **_conditions(options, plan, controller)}
    results.write(options.output / "results.json", conditions, turns, found)
    plot.draw(found, kind, options.output / "plot.png")
    print(table.render(found, kind))
    _print_thresholds(found, options.least_gain)
    if earlier is not None:
        print(results.compare(found, earlier))
    print(f"Every measurement: {options.output}/results.json; plot: {options.output}/plot.png")
    path = options.output / "model.json"
    path.unlink(missing_ok=True)  # one of an earlier run would be taken for this one's
    try:
        content = model(found, options.model_of, options.least_gain, conditions)
    except NoModel as error:
        print(f"No model file: {error}")
        return
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"Model of {options.model_of}: {path}")


def _plan(options: argparse.Namespace, groups: cgroups.Groups) -> Plan:
    """What to measure of what the options name; says on stderr what is left out."""
    chosen = []
    for each in map(mechanisms.get, options.mechanisms):
        if reason := mechanisms.unavailable(each, groups):
            print(f"{each.name} is left out: {reason}", file=sys.stderr)
        else:
            chosen.append(each)
    if not chosen:
        raise cgroups.CgroupsUnusable("none of the mechanisms can be measured here")
    return Plan(
        cpus=tuple(options.cpus),
        utilisations=tuple(options.utilisations),
        layouts=tuple(LAYOUTS[name] for name in options.layouts),
        mechanisms=tuple(chosen),
        repetitions=options.repetitions,
        seconds=options.seconds,
        background=options.background,
    )


def _measure(
    plan: Plan, groups: cgroups.Groups, types: Sequence[str], program: str
) -> tuple[str, list[Turn]]:
    """Carry out the plan; the name of the kind of loads, and all turns.

    :param types: of VMs; none for plain processes.
    :param program: of QEMU.
    """
    # Its thread would be copied into the loads.
    tqdm.tqdm.monitor_interval = 0
    with host.punctual():
        kind = vms.kind(types, program, groups.rest, plan.cpus) if types else processes.kind()
        print(
            f"{plan.turns} turns with {kind.name} on CPU {', '.join(map(str, plan.cpus))} take "
            f"about {_minutes(plan.duration)}; Ctrl-C ends it and leaves nothing behind",
            file=sys.stderr,
        )
        turns = Experiment(plan, groups, kind).run()
        return kind.name, list(tqdm.tqdm(turns, total=plan.turns, unit="turn", disable=None))


def _place(plan: Plan, point: Point) -> tuple[int, int, float]:
    """Where a point stands in the table."""
    layouts = [layout.name for layout in plan.layouts]
    chosen = [mechanism.name for mechanism in plan.mechanisms]
    return layouts.index(point.layout), chosen.index(point.mechanism), point.nominal


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


def _conditions(
    options: argparse.Namespace, plan: Plan, controller: CpuController
) -> dict[str, Any]:
    return {
        **host.describe(),
        "cgroups": controller.version,
        "cpus": plan.cpus,
        "repetitions": plan.repetitions,
        "seconds": plan.seconds,
        "background": plan.background,
        "group_weight": options.group_weight or cgroups.DEFAULT_WEIGHTS[controller.version],
        "max_drift": options.max_drift,
        "max_wait": options.max_wait,
        "least_gain": options.least_gain,
    }


def _print_thresholds(found: list[Point], least_gain: float) -> None:
    print("Foreground utilisation from which on a background VM is not worth it:")
    for layout, mechanism in dict.fromkeys((point.layout, point.mechanism) for point in found):
        own = [each for each in found if (each.layout, each.mechanism) == (layout, mechanism)]
        print(f"  {layout}, {mechanism}: {threshold(own, least_gain)}")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let signals that end a process clean up first, as Ctrl-C does."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
