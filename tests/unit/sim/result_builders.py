"""Small results, made by hand or by a seed, without the engine."""

import random
from types import SimpleNamespace

import pandas

JOB = {
    "job": 1,
    "arrival": 0.0,
    "size": 1,
    "runtime": 10.0,
    "estimate": 10.0,
    "start": 0.0,
    "finish": 10.0,
    "how": "immediate",
    "tier": "fg",
    "background_time": 0.0,
    "lost_time": 0.0,
    "migrations": 0,
    "evictions": 0,
    "kills": 0,
    "swaps": 0,
    "qos": "normal",
}


def jobs(*rows):
    """A jobs frame; each row says how it differs from JOB."""
    return pandas.DataFrame(
        [JOB | {"job": number} | row for number, row in enumerate(rows, start=1)],
        columns=list(JOB),
    )


def rejected(*rows):
    return pandas.DataFrame(rows, columns=["job", "size", "reason"])


def result(frame, *, nodes=4, busy=0.0, span=None, policy="fcfs", seed=0, left_out=()):
    """What `simulate` answers."""
    return SimpleNamespace(
        workload="t",
        scenario=SimpleNamespace(policy=policy, seed=seed, slots=2, qos=None),
        jobs=frame,
        rejected=rejected(*left_out),
        busy=busy,
        span=frame["finish"].max() - frame["arrival"].min() if span is None else span,
        nodes=nodes,
        schedule=None,
    )


def schedule(slots=8, jobs=20, seed=1, background=1):
    """A schedule in which no two stays share a lane."""
    draw = random.Random(seed)
    free = {(slot, lane): 0.0 for slot in range(slots) for lane in range(1 + background)}
    rows = []
    for job in range(1, jobs + 1):
        size = min(slots, draw.choice((1, 2, 4, 8, 16)))
        lane = 0 if draw.random() < 0.7 else draw.randint(1, background)
        length = draw.uniform(200, 6000)
        chosen = sorted(range(slots), key=lambda slot: (free[slot, lane], slot))[:size]
        begin = max(free[slot, lane] for slot in chosen)
        for process, slot in enumerate(chosen):
            free[slot, lane] = begin + length
            tier = "bg" if lane else "fg"
            rows.append((job, process, slot, tier, begin, begin + length))
    return pandas.DataFrame(rows, columns=["job", "process", "slot", "tier", "begin", "end"])


def runs(policies=("amcbf", "cmcbf", "easy", "fcfs"), loads=(0.5, 0.7, 0.9), seeds=(0, 1, 2)):
    """The table of a sweep."""
    rows = []
    for order, policy in enumerate(policies, start=1):
        for load in loads:
            for seed in seeds:
                slowdown = order * 5 / (1.02 - load) * (1 + 0.1 * (seed - 1))
                rows.append(
                    {
                        "policy": policy,
                        "workload": "t",
                        "nodes": 4,
                        "load": load,
                        "seed": seed,
                        "average_bounded_slowdown": slowdown,
                        "average_wait_seconds": 60 * slowdown,
                        "utilisation": load * 0.7,
                        "slots": 1,
                    }
                )
    return pandas.DataFrame(rows)
