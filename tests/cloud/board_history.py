"""A history of a pool as a manager leaves it, for the view of the cluster."""

import math
import random
import time
from dataclasses import asdict

from sqlalchemy import insert

from nova_twotier.db.models import Utilisation
from nova_twotier.db.utilisation import DAY, KEPT, MINUTE, PEAKS, Sample

SLOTS = 768


def write(store, samples, pool="default"):
    """Write samples, with their times, as many rows at once: `utilisation.add` takes one by one."""
    rows = {}
    now = time.time()
    for at, sample in samples:
        values = asdict(sample)
        for step in (step for step, kept in KEPT.items() if at >= now - kept):
            begin = at // step * step
            row = rows.setdefault((step, begin), {"step": step, "at": begin, "pool": pool})
            row["samples"] = row.get("samples", 0) + 1
            for name, value in values.items():
                row[name] = row.get(name, 0) + value
            for name in PEAKS:
                row[f"most_{name}"] = max(row.get(f"most_{name}", 0), values[name])
    with store.transaction() as session:
        session.execute(insert(Utilisation), list(rows.values()))


def month(seed=3):
    """A month until now that is made up: busy days, quiet nights and weekends, an outage.

    And ten minutes more, in which the demand stays: a test takes some time.
    """
    chance = random.Random(seed)
    now = int(time.time()) // MINUTE * MINUTE
    demand = 0.0
    for at in range(now - 31 * DAY, now + 10 * MINUTE, MINUTE):
        day, hour = at // DAY % 7, at % DAY / 3600
        work = (0.6 if day in (2, 3) else 1.0) * (0.9 + 0.35 * math.sin((hour - 8) / 24 * math.tau))
        if at <= now:
            demand += 0.004 * (work - demand) + chance.gauss(0, 0.006)
        ago = now - at
        # A manager was away: half an hour today, and most of a day two weeks ago.
        if 7 * 3600 < ago < 7.5 * 3600 or 13.2 * DAY < ago < 14 * DAY:
            continue
        closed = int(90 + 40 * math.sin(at / 9000))
        drained = 48 if 3 * DAY < ago < 4 * DAY else 0
        wanted = max(0.0, demand) * SLOTS
        fg_open, bg_open = SLOTS - drained, SLOTS - drained - closed
        fg_used = int(min(fg_open, wanted))
        bg_used = int(max(0, min(bg_open, 1.25 * (wanted - 0.6 * SLOTS))))
        waiting = int(max(0.0, wanted - 0.97 * SLOTS) / 7)
        lost = chance.uniform(2, 18) * 3600 if chance.random() < 0.001 else 0.0
        yield (
            at,
            Sample(
                fg_slots=SLOTS,
                fg_used=fg_used,
                fg_free=fg_open - fg_used,
                bg_slots=SLOTS,
                bg_used=bg_used,
                bg_free=bg_open - bg_used,
                waiting_jobs=waiting,
                running_jobs=(fg_used + bg_used) // 9,
                waiting_processes=9 * waiting,
                running_processes=fg_used + bg_used,
                lost=lost,
            ),
        )
