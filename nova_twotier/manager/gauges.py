"""Prometheus gauges of a queue and its hosts, from what a poll saw."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.db.models import Job
from nova_twotier.db.states import OPEN, JobState
from nova_twotier.db.store import busy_jobs
from nova_twotier.manager.round import Round

#: The findings of `twotier-manage ledger verify` that a poll sees, too.
FINDINGS = ("missing-claim", "double-claim", "wrong-host", "wrong-tier")


@dataclass(frozen=True)
class Gauges:
    """
    :param jobs: numbers of jobs and of their processes, by state.
    :param waiting: numbers of queued jobs by the code of their reason.
    :param oldest: since when the job waits that has waited longest for its turn, in seconds since
        the epoch; None: no job waits for its turn.
    :param slots: places of all hosts, with those of closed slots.
    :param used: places that VMs hold, of jobs or not.
    :param free: places that VMs can claim now.
    :param closed: slots that are closed to the background.
    :param findings: numbers of servers of running jobs whose claims are not as recorded.
    """

    jobs: Mapping[str, tuple[int, int]]
    waiting: Mapping[str, int]
    oldest: float | None
    slots: Mapping[Tier, int]
    used: Mapping[Tier, int]
    free: Mapping[Tier, int]
    closed: int
    findings: Mapping[str, int]


def take(work: Round) -> Gauges:
    """The numbers after a poll. It goes through all jobs and claims."""
    seen, running, waiting = work.seen, list[Job](), Counter[str]()
    number, size, oldest = Counter[str](), Counter[str](), math.inf
    for job in work.jobs.values():
        state = job.state
        number[state] += 1
        size[state] += job.size
        if state == JobState.RUNNING:
            running.append(job)
        elif state == JobState.QUEUED:
            waiting[job.waiting_code] += 1
            if not (job.held or job.gated):
                oldest = min(oldest, job.eligible_at)
    closed = seen.closed(work.jobs.values(), work.env.threshold)
    used = Counter(claim.tier for claim in seen.all_claims())
    found = Counter(_findings(work, running))
    return Gauges(
        jobs={state: (number[state], size[state]) for state in OPEN},
        waiting=waiting,
        oldest=oldest if oldest < math.inf else None,
        slots={tier: sum(host.shape.places(tier) for host in seen.hosts) for tier in Tier},
        used={tier: used[tier] for tier in Tier},
        free={tier: seen.free(tier, closed) for tier in Tier},
        closed=sum(closed.values()),
        findings={kind: found[kind] for kind in FINDINGS},
    )


def _findings(work: Round, running: Iterable[Job]) -> Iterator[str]:
    """The findings about each server that neither the manager nor Nova is busy with."""
    busy, seen = busy_jobs(work.opened), work.seen
    for job in running:
        if job.number in busy:
            continue
        tier = job.tier
        for server in seen.gang(job):
            claim, host = seen.claims.get(server.id), server.host
            if claim is not None and claim.host == host and claim.tier == tier:
                continue
            if server.busy or host in seen.down:
                continue
            if claim is None:
                yield "double-claim" if server.id in seen.moving else "missing-claim"
            else:
                yield "wrong-tier" if claim.host == host else "wrong-host"
