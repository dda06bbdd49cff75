"""FCFS and EASY as a textbook has them, to compare with: short, slow, and nothing of ours in it."""

import math
from itertools import accumulate


def starts(jobs, nodes, backfill):
    """When each job starts, by its number.

    All that happens at one instant is seen before anything starts.

    :param backfill: whether later jobs may pass a first one that does not fit, if by their
        estimates they do not delay it (EASY).
    """
    coming = sorted(jobs, key=lambda job: (job.arrival, job.number), reverse=True)
    waiting, running, begun = [], [], {}
    while coming or running:
        now = min([coming[-1].arrival] if coming else [], default=math.inf)
        now = min([now, *(begun[job.number] + job.runtime for job in running)])
        running = [job for job in running if begun[job.number] + job.runtime > now]
        while coming and coming[-1].arrival == now:
            waiting.append(coming.pop())
        free = nodes - sum(job.size for job in running)
        shadow = extra = None
        for job in list(waiting):
            if shadow is None and job.size > free:
                if not backfill:
                    break
                shadow, extra = _reservation(job, running, begun, free)
                continue
            beside = shadow is not None and now + job.estimate > shadow
            if job.size > free or (beside and job.size > extra):
                continue
            if beside:
                extra -= job.size
            waiting.remove(job)
            running.append(job)
            begun[job.number] = now
            free -= job.size
    return begun


def _reservation(head, running, begun, free):
    """When the head can start by the estimates, and how many nodes are left over then."""
    ends = sorted((begun[job.number] + job.estimate, job.size) for job in running)
    totals = accumulate((size for _end, size in ends), initial=free)
    shadow = next(
        end
        for (end, _size), total in zip(ends, list(totals)[1:], strict=True)
        if total >= head.size
    )
    return shadow, free + sum(size for end, size in ends if end <= shadow) - head.size
