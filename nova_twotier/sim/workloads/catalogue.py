"""Workloads by name: a trace's file, or a model and a number of jobs."""

import dataclasses
import pathlib
from collections.abc import Callable

from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.sim.garbage import collected_seldom
from nova_twotier.sim.workloads import archive, swf, tsafrir05
from nova_twotier.sim.workloads.feitelson96 import Feitelson96
from nova_twotier.sim.workloads.jann97 import Jann97
from nova_twotier.sim.workloads.lublin99 import TYPES, Lublin99
from nova_twotier.sim.workloads.memoryless import Memoryless
from nova_twotier.sim.workloads.workload import Workload

#: The cluster of TPDS 2013, the default for models.
NODES = 320

#: Appended to a source: users' estimates instead of exact ones, or instead of a trace's.
ESTIMATES = "+tsafrir"


class SourceError(ValueError):
    """A source that is no workload; the message is one line for the user."""


@collected_seldom()
def load(
    source: str, *, nodes: int | None = None, seed: int = 1, load: float | None = None
) -> Workload:
    """The workload of a source.

    :param source: the path of a trace (.swf or .swf.gz), or `feitelson:JOBS`,
        `jann:JOBS[:MODEL.json]`, `lublin:JOBS[:type0|:type1]` or `memoryless:JOBS[:SIZE]`; each
        may end in `+tsafrir` or `+tsafrir:SECONDS`, SECONDS being the longest estimate that is
        allowed.
    :param nodes: slots of the cluster; without, the trace's machine, or 320 for a model.
    :param seed: of a model and of estimates; the same one gives the same workload.
    :param load: scale the times between arrivals to this offered load.
    :raises SourceError: if there is no such workload.
    """
    if seed < 0:
        raise SourceError(f"seed is {seed}; it must be 0 or more")
    if nodes is not None and nodes < 1:
        raise SourceError(f"nodes is {nodes}; it must be 1 or more")
    jobs, estimates, longest = _split(source)
    try:
        workload = _jobs(jobs, nodes, seed)
        if estimates:
            workload = tsafrir05.estimates(workload, _seconds(longest, source), seed)
        if load is not None:
            workload = workload.scaled(load)
    except OSError as error:
        raise SourceError(
            f"{error.filename} cannot be read: {error.strerror}{_hint(error)}"
        ) from error
    except ValueError as error:
        raise SourceError(str(error)) from error
    return workload


def _hint(error: OSError) -> str:
    """What to do about a file that is not there."""
    if not isinstance(error, FileNotFoundError):
        return ""
    path = pathlib.Path(error.filename)
    if log := archive.named(path):
        return f"; to fetch it: twotier-sim traces fetch {log.name} --out {path.parent}"
    if path.name in MODELS:
        return f"; for a model, say how many jobs, such as {path.name}:1000"
    return ""


def _split(source: str) -> tuple[str, bool, str]:
    """The source without estimates, whether it has them, and their longest."""
    jobs, found, longest = source.rpartition(ESTIMATES)
    # The archive's files of this model have its name in theirs.
    if not found or pathlib.Path(source).exists() or (longest and longest[0] != ":"):
        return source, False, ""
    return jobs, True, longest[1:]


def _seconds(text: str, source: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise SourceError(
            f"{source}: {text!r} is no number of seconds; write {ESTIMATES}:64800"
        ) from None


def _jobs(source: str, nodes: int | None, seed: int) -> Workload:
    path = pathlib.Path(source)
    model, colon, rest = source.partition(":")
    if path.exists() or not colon:
        name = path.name.removesuffix(".gz").removesuffix(".swf")
        return Workload.from_swf(swf.read(path), nodes, name)
    if model not in MODELS:
        raise SourceError(f"unknown model {model!r}; there are {', '.join(MODELS)}")
    count, _, option = rest.partition(":")
    if not (count.isdecimal() and int(count)):
        raise SourceError(f"{source}: {count!r} is no number of jobs; write {model}:1000")
    made = MODELS[model](option).generate(int(count), seed, nodes or NODES)
    return dataclasses.replace(made, name=source)


def _feitelson(option: str) -> Feitelson96:
    if option:
        raise SourceError(f"feitelson has no variant {option!r}")
    return Feitelson96()


def _jann(option: str) -> Jann97:
    return Jann97.load(option) if option else Jann97()


def _lublin(option: str) -> Lublin99:
    if option and option not in TYPES:
        raise SourceError(f"lublin has no variant {option!r}; there are {', '.join(TYPES)}")
    return Lublin99(TYPES[option or "type0"])


def _memoryless(option: str) -> Memoryless:
    try:
        return Memoryless(float(option)) if option else Memoryless()
    except ValueError:
        raise SourceError(
            f"memoryless has no average size {option!r}; give 1 to {MAX_SIZE}, such as "
            "memoryless:1000:8"
        ) from None


MODELS: dict[str, Callable[[str], Feitelson96 | Jann97 | Lublin99 | Memoryless]] = {
    "feitelson": _feitelson,
    "jann": _jann,
    "lublin": _lublin,
    "memoryless": _memoryless,
}
