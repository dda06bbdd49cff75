"""Planned maintenance: no job starts on a host that would not end before its window begins.

To a policy all slots of a tier are alike. So while a window separates the waiting jobs, the policy
is asked about one view of the cluster after the other, each with hosts and jobs that all suit each
other, until it decides something. Every decision is the policy's own, on one consistent view:

1. hosts whose window begins late enough for the jobs at the head of the queue, and only these jobs;
   then fewer hosts and more jobs, up to all jobs on the hosts that suit all of them;
2. then the hosts left over, for the jobs that end in time there. These pass jobs that wait for
   hosts without a window, and take nothing that those could have.

A job that is larger than all hosts that close late enough for it holds up nobody, as if it were too
large for its pool. Without a window the policy is asked as ever. Slurm's maintenance reservations
have the same rule.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from nova_twotier.core.actions import Action, Move, Start, Tier
from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import Policy
from nova_twotier.core.snapshot import EVENTS, Event, Snapshot

#: Windows that are told apart at most, so that a decision takes no longer than so many passes, and
#: twice that; a host counts with the begin of an earlier window where there are more.
MOST_LEVELS = 6
#: Attempts to keep running jobs from moving to hosts that close too early for them.
ATTEMPTS = 5
ALL = EVENTS[-1]

#: Seconds that a job takes at most if it starts now; 0 if that is not known, and no window matters.
Lead = Callable[[Job], float]


class Decision(NamedTuple):
    """What a policy decides while windows are planned.

    :ivar actions: in the order in which they can be carried out.
    :ivar after: the state after them.
    :ivar taking: indices of the hosts that what starts may use; None: any that take new VMs.
    """

    actions: list[Action]
    after: Snapshot
    taking: frozenset[int] | None = None


class _View(NamedTuple):
    """What the policy is shown: the hosts, by index, that may be used, and the jobs to hide."""

    taking: frozenset[int]
    hidden: Sequence[Job]


def decide(policy: Policy, snapshot: Snapshot, event: Event, now: float, lead: Lead) -> Decision:
    """The actions that follow from `event`, as `Policy.schedule`; the snapshot may be used up.

    :param now: in seconds, as the times when hosts close.
    """
    cluster = snapshot.cluster
    if not any(host.enabled and host.closes < math.inf for host in cluster.hosts):
        return Decision(policy.schedule(snapshot, event, now), snapshot)
    hosts = cast(Hosts, cluster)  # those of other kinds never close
    levels = _levels(snapshot, now, lead)
    views = list(_views(snapshot, levels, now, lead))
    for view in views:
        asked = event if len(views) == 1 else ALL
        found = _play(policy, snapshot, hosts, view, asked, now, lead)
        if found.actions:
            return found
    return Decision([], snapshot)


def crosses(cluster: Cluster, host: int, end: float) -> bool:
    """Whether a job that may run until `end` would meet a planned window of a host."""
    return end > cluster.hosts[host].closes


def idle_for(cluster: Cluster, tiers: Iterable[Tier], end: float) -> int:
    """Idle places on the hosts that close no earlier than a job ends, in the tier with the most."""
    hosts = [host for host in range(len(cluster.hosts)) if not crosses(cluster, host, end)]
    return max(sum(cluster.room(tier, host) for host in hosts) for tier in tiers)


def slots_for(hosts: Iterable[Host], end: float) -> int:
    """The slots of the hosts that stay open until a job that ends then has ended."""
    return sum(host.slots for host in hosts if host.closes >= end)


def shut_out(
    hosts: Iterable[Host], ends: Iterable[tuple[Job, float]], begins: Sequence[float]
) -> list[Job]:
    """The jobs that are larger than all hosts that close late enough for them.

    :param ends: when each job would end.
    :param begins: when windows begin, ascending.
    """
    hosts, levels = list(hosts), {*begins, math.inf}
    slots = {level: slots_for(hosts, level) for level in levels}
    return [job for job, end in ends if job.size > slots[_level(end, begins)]]


def _levels(snapshot: Snapshot, now: float, lead: Lead) -> list[float]:
    """When the windows begin that separate the waiting jobs, and infinity, ascending.

    The first one is the earliest of all.
    """
    hosts = snapshot.cluster.hosts
    begins = sorted({host.closes for host in hosts if host.enabled and host.closes < math.inf})
    ends = [now + lead(job) for job in snapshot.queue]
    needed = {begins[0], *(_level(end, begins) for end in ends)}
    levels = sorted(needed - {math.inf})
    levels = levels[:: -(-len(levels) // MOST_LEVELS)]
    return [*levels, math.inf] if any(end > levels[-1] for end in ends) else levels


def _level(end: float, levels: Sequence[float]) -> float:
    """The earliest level at which a job that ends then may use the hosts."""
    return next((level for level in levels if end <= level), math.inf)


def _views(snapshot: Snapshot, levels: Sequence[float], now: float, lead: Lead) -> Iterator[_View]:
    """The views, in the order in which the policy is asked about them."""
    hosts = snapshot.cluster.hosts
    ends = [(job, now + lead(job)) for job in snapshot.queue]
    never = shut_out(hosts, ends, levels)
    if never:
        out = {job.number for job in never}
        ends = [(job, end) for job, end in ends if job.number not in out]
    jobs = [job for job, _end in ends]
    level_of = [_level(end, levels) for _job, end in ends]
    top = levels[-1]
    for level in levels:
        longer = (place for place, own in enumerate(level_of) if own > level)
        first = next(longer, len(jobs))
        if first or level == top:
            taking = frozenset(i for i, host in enumerate(hosts) if host.closes >= level)
            yield _View(taking, never + jobs[first:])
    for level in reversed(levels[:-1]):
        taking = frozenset(i for i, host in enumerate(hosts) if level <= host.closes < top)
        longer_ones = [job for job, own in zip(jobs, level_of, strict=True) if own > level]
        yield _View(taking, never + longer_ones)


def _play(
    policy: Policy,
    snapshot: Snapshot,
    hosts: Hosts,
    view: _View,
    event: Event,
    now: float,
    lead: Lead,
) -> Decision:
    """The policy's decision on one view; running jobs that it would move to hosts that close too
    early for them stay where they are."""
    pinned: set[int] = set()
    for _attempt in range(ATTEMPTS):
        limited = hosts.copy()
        shown = snapshot.on(limited, snapshot.queue.copy())
        for number in pinned:
            run = limited.remove(limited.runs[number].job)
            limited.adopt(run._replace(pinned=True))
        limited.limit_hosts(view.taking)
        for job in view.hidden:
            shown.queue.remove(job)
        actions = policy.schedule(shown, event, now)
        late = {
            action.job.number for action in actions if _late(action, hosts, now + lead(action.job))
        }
        if not late:
            for job in view.hidden:
                shown.queue.add(job)
            limited.replace_hosts(hosts.hosts)
            return Decision(actions, shown, view.taking)
        if not late <= hosts.runs.keys() - pinned:
            break
        pinned |= late
    return Decision([], snapshot)


def _late(action: Action, cluster: Cluster, end: float) -> bool:
    """Whether an action brings a process to a host that closes before the job ends."""
    if isinstance(action, Start):
        run = cluster.runs.get(action.job.number)
        before, after = (run.hosts if run else ()), action.hosts
    elif isinstance(action, Move):
        before, after = action.before, action.after
    else:
        return False
    stays = frozenset(before)
    return any(host not in stays and crosses(cluster, host, end) for host in after)
