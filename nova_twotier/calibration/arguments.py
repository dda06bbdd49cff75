"""The command line of `twotier-calibrate`."""

import argparse
import math
import os
import pathlib
from collections.abc import Callable
from typing import TypeVar

from nova_twotier.calibration import layouts, mechanisms, qemu
from nova_twotier.calibration.points import LEAST_REPETITIONS

Value = TypeVar("Value")

#: The types of VMs in the order in which they are tried, and the word for that.
VM_TYPES, AUTO = tuple(qemu.ACCELERATORS), "auto"
#: As many of the allowed CPUs are used unless others are chosen.
MOST_CPUS = 4
#: What `--quick` replaces.
QUICK = {
    "utilisations": (0.4, 0.9),
    "mechanisms": (mechanisms.EQUAL.name, mechanisms.shares(mechanisms.AGENT)),
    "repetitions": LEAST_REPETITIONS,
    "seconds": 0.3,
}
DESCRIPTION = """
Measures on this host what a background costs the foreground of a CPU (loss), how well it uses what
the foreground leaves (efficiency), and the foreground utilisation above which it is not worth it,
for each way to give it a lower priority. It keeps the CPUs busy: measure on a host without VMs.
"""


def parser() -> argparse.ArgumentParser:
    """The arguments of `twotier-calibrate`; `parse` checks how they go together."""
    parser = argparse.ArgumentParser("twotier-calibrate", description=DESCRIPTION)
    parser.add_argument(
        "--cpus",
        type=_cpus,
        default=sorted(os.sched_getaffinity(0))[:MOST_CPUS],
        metavar="CPUS",
        help="CPUs to measure on, e.g. 2-4,8; with one, there are no parallel jobs (default: the "
        f"first {MOST_CPUS} that this process may use)",
    )
    parser.add_argument(
        "--utilisations",
        type=_listed(_share),
        default=(0.4, 0.6, 0.8, 0.9, 0.96, 1.0),
        metavar="U[,U...]",
        help="CPU utilisations of the foreground, above 0 and up to 1 (default: "
        "0.4,0.6,0.8,0.9,0.96,1)",
    )
    parser.add_argument(
        "--layouts",
        type=_listed(_layout),
        metavar="L[,L...]",
        help="; ".join(f"{each.name}: {each.summary}" for each in layouts.LAYOUTS.values())
        + " (default: all that the CPUs allow)",
    )
    parser.add_argument(
        "--mechanisms",
        type=_listed(_mechanism),
        default=tuple(mechanisms.names()),
        metavar="M[,M...]",
        help="equal (the reference), shares:FG:BG (weights), cpu.idle, sched_idle, nice (default: "
        f"{','.join(mechanisms.names())})",
    )
    parser.add_argument(
        "--vms",
        type=_vm_types,
        nargs="?",
        const=VM_TYPES,
        default=(),
        metavar="TYPE",
        help="measure with VMs of this type instead of plain processes: kvm, qemu (emulated), or "
        f"{AUTO}: kvm where it works (default of TYPE: {AUTO}), e.g. --vms qemu",
    )
    parser.add_argument(
        "--repetitions",
        type=_at_least(LEAST_REPETITIONS, int),
        default=7,
        metavar="N",
        help=f"times that each point is measured, at least {LEAST_REPETITIONS} (default: 7)",
    )
    parser.add_argument(
        "--seconds",
        type=_at_least(0.2, float),
        default=0.5,
        metavar="S",
        help="length of each turn, at least 0.2 (default: 0.5)",
    )
    parser.add_argument(
        "--background",
        type=_share,
        default=0.7,
        metavar="U",
        help="CPU utilisation of a parallel background job (default: 0.7, the mean of the papers)",
    )
    parser.add_argument(
        "--max-drift",
        type=_at_least(0, float),
        default=0.05,
        metavar="D",
        help="a repetition does not count if the speed of a job alone differs by more before and "
        "after it (default: 0.05)",
    )
    parser.add_argument(
        "--max-wait",
        type=_at_least(0, float),
        default=0.05,
        metavar="W",
        help="nor if the processes of a job alone wait for a CPU for a larger share of their time, "
        "because others have it (default: 0.05)",
    )
    parser.add_argument(
        "--least-gain",
        type=float,
        default=0.0,
        metavar="G",
        help="a background VM is worth it if it does so much more work than the foreground loses, "
        "in CPUs (default: 0)",
    )
    parser.add_argument(
        "--model-of",
        type=_mechanism,
        default=mechanisms.shares(mechanisms.AGENT),
        metavar="M",
        help="the mechanism of the model file (default: "
        f"{mechanisms.shares(mechanisms.AGENT)}, the node agent's default weights)",
    )
    parser.add_argument(
        "--cgroup",
        type=pathlib.Path,
        metavar="DIR",
        help="an empty control group that was delegated to you, e.g. "
        "/sys/fs/cgroup/user.slice/calibration (default: the root, which needs root)",
    )
    parser.add_argument(
        "--group-weight",
        type=_at_least(1, int),
        metavar="W",
        help="CPU weight of the whole measurement against other processes of this host, e.g. 10000 "
        "where some cannot be stopped; they get little CPU time then (default: that of any group)",
    )
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path("calibration"),
        metavar="DIR",
        help="where to write model.json, results.json and plot.png (default: calibration)",
    )
    parser.add_argument(
        "--compare",
        type=pathlib.Path,
        metavar="FILE",
        help="results.json of an earlier run: tell in how many points it agrees",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a first look: two utilisations, two mechanisms, five repetitions, short turns; "
        "options that are given as well do not count",
    )
    return parser


def parse(args: list[str]) -> argparse.Namespace:
    made = parser()
    parsed = made.parse_args(args)
    if parsed.quick:
        vars(parsed).update(QUICK)
    if missing := set(parsed.cpus) - os.sched_getaffinity(0):
        made.error(f"argument --cpus: this process may not use CPU {min(missing)}")
    able = [each.name for each in layouts.possible(parsed.cpus)]
    parsed.layouts = parsed.layouts or able
    if unable := set(parsed.layouts) - set(able):
        made.error(f"argument --layouts: {min(unable)} needs two CPUs")
    if parsed.model_of not in parsed.mechanisms:
        made.error(f"argument --model-of: {parsed.model_of} is not among the --mechanisms")
    return parsed


def _listed(read: Callable[[str], Value]) -> Callable[[str], tuple[Value, ...]]:
    """A type of values with commas, each once."""

    def values(text: str) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(read(word) for word in text.split(",")))

    return values


def _cpus(text: str) -> list[int]:
    cpus: list[int] = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        try:
            span = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            span = range(0)
        if not span:
            raise argparse.ArgumentTypeError(f"{text!r} must be CPU numbers, such as 2-4,8")
        cpus += span
    return list(dict.fromkeys(cpus))


def _share(text: str) -> float:
    value = _number(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0, up to 1")
    return value


def _at_least(least: float, kind: Callable[[float], Value]) -> Callable[[str], Value]:
    def number(text: str) -> Value:
        value = _number(text)
        if not least <= value < math.inf or kind(value) != value:
            raise argparse.ArgumentTypeError(f"{text!r} must be a number from {least} on")
        return kind(value)

    return number


def _number(text: str) -> float:
    """The number; NaN, which is within no bounds, if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _layout(text: str) -> str:
    if text not in layouts.LAYOUTS:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(layouts.LAYOUTS)}")
    return text


def _vm_types(text: str) -> tuple[str, ...]:
    if text == AUTO:
        return VM_TYPES
    if text not in VM_TYPES:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join((*VM_TYPES, AUTO))}")
    return (text,)


def _mechanism(text: str) -> str:
    try:
        return mechanisms.get(text).name
    except mechanisms.UnknownMechanism as error:
        raise argparse.ArgumentTypeError(str(error)) from None
