"""Small jobs to try the manager with, as a trace that `twotier-replay` plays as well."""

import pathlib
import random

from nova_twotier.sim.workloads import swf

#: Trace seconds that pass in a second: the jobs' minutes are seconds.
SPEEDUP = 60.0
#: Sizes in slots: most jobs are small, some take a good part of the cluster and make others leave.
SIZES = (1, 1, 2, 2, 3, 4, 4, 6, 8, 12)
#: The work that arrives, as a share of what the foreground slots can do.
LOAD = 1.1
_UNKNOWN = -1


def write(path: pathlib.Path, chance: random.Random, jobs: int, slots: int, span: float) -> None:
    """Write a trace of so many jobs for a cluster of `slots` foreground slots.

    :param span: seconds of wall time over which they are submitted.
    """
    sizes = [min(chance.choice(SIZES), slots // 2) for _ in range(jobs)]
    mean = LOAD * slots * span / sum(sizes)
    submits = sorted(chance.uniform(0, span) for _ in range(jobs))
    runs = [mean * chance.uniform(0.4, 1.6) for _ in range(jobs)]
    records = [
        _record(number, round(submit * SPEEDUP), round(run * SPEEDUP), size)
        for number, (submit, run, size) in enumerate(zip(submits, runs, sizes, strict=True), 1)
    ]
    swf.write(path, swf.Trace((f"MaxProcs: {slots}",), tuple(records)))


def _record(number: int, submit: int, run: int, size: int) -> swf.Record:
    unknown = dict.fromkeys(swf.Record._fields, _UNKNOWN)
    known = {
        "number": number,
        "submit": submit,
        "run": run,
        "requested": size,
        "requested_time": 2 * run,
    }
    return swf.Record(**{**unknown, **known})
