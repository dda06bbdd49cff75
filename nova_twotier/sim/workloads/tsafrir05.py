"""The model of user run time estimates of Tsafrir, Etsion and Feitelson (JSSPP 2005).

Users choose round times: 20 popular ones, the head, make up 89 % of the jobs, one of them the
longest that is allowed; the tail is many rare ones. The distribution comes first, then each job
gets an estimate that is not below its run time.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping

import numpy

from nova_twotier.sim.workloads.workload import InvalidWorkload, Workload

HOUR = 3600

#: Number of distinct estimates by number of jobs; linear between, constant above.
DISTINCT = ((0, 20, 200, 1000, 10_000, 70_000, 250_000), (0, 10, 20, 35, 90, 340, 565))

#: Seconds that users like everywhere, and the multiples that fill the head up.
COMMON = (
    *(60 * minutes for minutes in (5, 10, 15, 20, 30)),
    *(HOUR * hours for hours in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18)),
)
MULTIPLES = (*(HOUR * hours for hours in (200, 100, 50, 10, 5, 2, 1)), 1200, 600, 300)

#: Number of estimates in the head, and percent of all jobs that have one of them.
HEAD = 20
HEAD_SHARE = 89.0

#: The popularity of the head's estimates in four logs (SDSC, CTC, KTH, BLUE). Row 0 is the longest
#: allowed, the others ascend; 1 is the most popular.
SEEN = (
    (3, 1, 1, 1),
    (1, 3, 4, 6),
    (4, 4, 10, 5),
    (17, 2, 14, 3),
    (13, 12, 20, 7),
    (7, 9, 2, 2),
    (8, 8, 3, 18),
    (18, 18, 7, 19),
    (2, 6, 12, 4),
    (6, 7, 6, 11),
    (16, 11, 19, 20),
    (10, 20, 5, 9),
    (5, 16, 18, 10),
    (15, 5, 16, 14),
    (14, 14, 9, 13),
    (19, 13, 17, 16),
    (11, 10, 15, 15),
    (12, 15, 13, 17),
    (9, 17, 8, 8),
    (20, 19, 11, 12),
)


def estimates(
    workload: Workload,
    maxest: float | None = None,
    seed: int = 1,
    bins: Mapping[float, float] | None = None,
) -> Workload:
    """The workload with users' estimates; run times above `maxest` are cut to it, as it remarks.

    :param maxest: the longest estimate that is allowed, in seconds, at least an hour; without, the
        longest run time, in whole hours. The authors advise so for a model's jobs.
    :param bins: known estimates (seconds) and their shares of the jobs, 0..1; that of `maxest`
        tells most.
    :raises InvalidWorkload: if a parameter is out of its range, or too many jobs are too long for
        the estimates.
    """
    if maxest is None:
        maxest = HOUR * max(1, math.ceil(max(job.runtime for job in workload.jobs) / HOUR))
    # Not the random numbers of the model that made the jobs with the same seed.
    rng = numpy.random.default_rng([seed, 2005])
    try:
        counts = distribution(len(workload.jobs), maxest, rng, bins)
    except ValueError as error:
        raise InvalidWorkload(f"{workload.name}: {error}") from error
    cut = [job._replace(runtime=min(job.runtime, maxest)) for job in workload.jobs]
    cut.sort(key=lambda job: -job.runtime)
    given = _given([job.runtime for job in cut], counts, rng)
    if given is None:
        raise InvalidWorkload(
            f"{workload.name}: more jobs are long than estimates; "
            f"allow more than {maxest} seconds, or give that estimate a larger share"
        )
    jobs = (job._replace(estimate=value) for job, value in zip(cut, given, strict=True))
    remarks = workload.remarks
    if count := sum(job.runtime > maxest for job in workload.jobs):
        times = "1 run time was" if count == 1 else f"{count} run times were"
        remarks = (*remarks, f"{workload.name}: {times} cut to {maxest:g} s, the longest estimate")
    return dataclasses.replace(workload, jobs=tuple(jobs), remarks=remarks)


def distribution(
    jobs: int,
    maxest: float,
    rng: numpy.random.Generator,
    bins: Mapping[float, float] | None = None,
) -> dict[float, int]:
    """How many of `jobs` have each estimate (seconds), ascending; parameters as of `estimates`.

    :raises ValueError: if a parameter is out of its range.
    """
    bins = dict(bins or {})
    _check(maxest, bins)
    shares = _head(maxest, bins, rng)
    distinct = round(float(numpy.interp(jobs, *DISTINCT)))
    if distinct > HEAD:
        shares |= _tail(maxest, distinct, set(shares), rng)
    counts = {value: max(1, round(share * jobs / 100)) for value, share in shares.items()}
    counts |= {value: max(1, round(share * jobs)) for value, share in bins.items()}
    _balance(counts, bins.keys(), jobs)
    return {value: counts[value] for value in sorted(counts) if counts[value]}


def _check(maxest: float, bins: Mapping[float, float]) -> None:
    if not HOUR <= maxest < math.inf:
        raise ValueError(f"longest estimate is {maxest}; it must be {HOUR} seconds or more")
    if len(bins) > HEAD // 2:
        raise ValueError(f"{len(bins)} known estimates; give {HEAD // 2} or fewer")
    for value, share in bins.items():
        if not 0 < value <= maxest or not 0 < share < 1:
            raise ValueError(
                f"known estimate {value} with share {share}: give a time of up to {maxest} seconds "
                "and a share between 0 and 1"
            )
    if sum(bins.values()) > 1 or bins.get(maxest, 0) * 100 >= HEAD_SHARE:
        raise ValueError(
            "shares of known estimates: give 1 or less in all, "
            f"and the longest one less than {HEAD_SHARE / 100}"
        )


def _head(maxest: float, bins: Mapping[float, float], rng) -> dict[float, float]:
    """Popular estimates with their shares in percent."""
    values = _head_values(maxest, bins)
    ranked = _head_shares(maxest, bins)
    linked = {
        values.index(value): rank for rank, (_, value) in enumerate(ranked, 1) if value is not None
    }
    ranks = _popularity(len(values), linked, rng)
    return {value: ranked[rank - 1][0] for value, rank in zip(values, ranks, strict=True)}


def _head_values(maxest: float, bins: Iterable[float]) -> list[float]:
    """The longest first, then ascending; up to 20, as few are below a short `maxest`."""
    common = [value for value in COMMON if value < maxest]
    filling = []
    multiples = (
        multiple * step for step in MULTIPLES for multiple in range(int(maxest // step), 0, -1)
    )
    for value in multiples:
        if len(common) + len(filling) + 1 == HEAD:
            break
        if value != maxest and value not in common and value not in filling:
            filling.append(value)
    for value in bins:
        if value != maxest and value not in common and value not in filling:
            # The nearest makes room: of those that fill up, then of the common ones.
            room = [known for known in filling if known not in bins] or [
                known for known in common if known not in bins
            ]
            nearest = min(room, key=lambda known: abs(known - value))
            values = filling if nearest in filling else common
            values[values.index(nearest)] = value
    return [maxest, *sorted(common + filling)]


def _head_shares(maxest: float, bins: Mapping[float, float]) -> list[tuple[float, float | None]]:
    """Shares in percent, descending, each with the estimate it belongs to if that is settled."""
    others = [14.0491 * math.exp(-0.177531 * rank) + 0.462513 for rank in range(2, HEAD + 1)]
    most = HEAD_SHARE - sum(others)
    if maxest in bins:
        most = 100 * bins[maxest]
        scale = (HEAD_SHARE - most) / sum(others)
        others = [share * scale for share in others]
    shares = [(most, maxest)]
    for value, part in bins.items():
        if value != maxest:
            others.remove(min(others, key=lambda share: abs(share - 100 * part)))
            shares.append((100 * part, value))
    shares += [(share, None) for share in others]
    return sorted(shares, key=lambda pair: -pair[0])


def _popularity(count: int, linked: Mapping[int, int], rng) -> list[int]:
    """The popularity 1..20 of each of the head's estimates, drawn from those seen in the logs."""
    free = set(range(1, HEAD + 1)) - set(linked.values())
    last = {rank: max(row for row in range(HEAD) if rank in SEEN[row]) for rank in free}
    pool, ranks = [], []
    for row in range(count):
        pool += [rank for rank in SEEN[row] if rank in free]
        due = [rank for rank in free if last[rank] <= row]
        if row in linked:
            rank = linked[row]
        elif due:
            rank = min(due)
        elif pool:
            rank = min(pool[index] for index in rng.integers(len(pool), size=2))
        else:
            # Known estimates may have taken all that was seen so far.
            rank = min(free)
        ranks.append(rank)
        free.discard(rank)
        pool = [other for other in pool if other != rank]
    return ranks


def _tail(maxest: float, distinct: int, head: set[float], rng) -> dict[float, float]:
    """Rare estimates with their shares in percent."""
    count = distinct - HEAD
    bend = 1 + 12.1039 * distinct**-0.6026
    values = []
    taken = set(head)
    for index in range(1, count + 1):
        x = index / count
        nearest = 60 * round((bend - 1) * x / (bend - x) * maxest / 60)
        for shift in (0, 30, -30, 20, -20, 10, -10):
            value = nearest + shift
            if 0 < value < maxest and value not in taken:
                taken.add(value)
                values.append(value)
                break
    shares = 795.6 * numpy.arange(HEAD + 1, HEAD + 1 + len(values)) ** -2.267
    shares *= (100 - HEAD_SHARE) / shares.sum()
    return dict(zip(values, rng.permutation(shares).tolist(), strict=True))


def _balance(counts: dict[float, int], known: Iterable[float], jobs: int) -> None:
    """Correct the counts to sum to `jobs`, in proportion and not below 1; known ones stay.

    With fewer jobs than estimates the rarest ones go.
    """
    order = sorted(counts, key=lambda value: -counts[value])
    free = [value for value in order if value not in known] or order
    missing = jobs - sum(counts.values())
    part = abs(missing) / sum(counts[value] for value in free)
    for value in free:
        step = math.ceil(part * counts[value])
        change = min(step, missing) if missing > 0 else -min(step, -missing, counts[value] - 1)
        counts[value] += change
        missing -= change
    for least in (1, 0):
        for values in (free, [value for value in order if value in known]):
            for value in values if least else reversed(values):
                change = min(counts[value] - least, -missing) if missing < 0 else 0
                counts[value] -= change
                missing += change


def _given(runtimes: list[float], counts: Mapping[float, int], rng) -> list[float] | None:
    """An estimate for each run time, both descending; None if there are not enough long ones.

    Each job draws among all estimates that are left and not too short for it. Those of longer jobs
    were drawn before, so the place of one that is drawn can take the longest that is left.
    """
    values = [value for value in reversed(counts) for _ in range(counts[value])]
    enough = numpy.searchsorted(-numpy.array(values), -numpy.array(runtimes), side="right").tolist()
    draws = rng.random(len(runtimes)).tolist()
    given = []
    for place, (end, draw) in enumerate(zip(enough, draws, strict=True)):
        if end <= place:
            return None
        chosen = place + int(draw * (end - place))
        given.append(values[chosen])
        values[chosen] = values[place]
    return given
