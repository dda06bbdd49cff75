"""Planned drains of hosts: what they mean for the jobs that wait (see `core.windows`)."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from nova_twotier.core import windows
from nova_twotier.core.actions import BG, FG, Start, Tier
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.reasons.reason import Value
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.db.models import Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.readers import instant
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.planning import Record

#: Characters of the uuid of a host's provider that name it to the scheduler: enough to tell hosts
#: apart, few enough to name a thousand in a request.
NAMED_BY = 12
#: What the hint that names hosts begins with: all hosts but these, or these only.
BUT, ONLY = "not:", "only:"


class Waits(NamedTuple):
    """How planned windows keep jobs from starting, by job number.

    :ivar alone: reasons, where slots would be enough without the windows, or are never enough on
        the other hosts.
    :ivar besides: further parameters of the policy's reason, where too few slots are idle anyway.
        They stay the same until the windows or hosts change.
    """

    alone: dict[int, Reason]
    besides: dict[int, dict[str, Value]]


class Windows:
    """
    :param options: the options of group `[manager]`.
    :param jobs: by number.
    """

    def __init__(self, options, jobs: Mapping[int, Job], seen: Observation, now: float):
        self._options, self._jobs, self._seen, self._now = options, jobs, seen, now
        #: When the planned drains of the pool's hosts begin, by name.
        self._closes = {
            host.name: seen.closes[host.name] for host in seen.hosts if host.name in seen.closes
        }

    def lead(self, number: int) -> float:
        """Seconds that a job takes at most if it starts now; 0 if nobody has said.

        The time that Nova may take to boot its servers is added, since its run begins afterwards.
        """
        job = self._jobs[number]
        limit = job.walltime
        if limit is None and self._options.drain_by_estimate:
            limit = job.estimate
        if limit is None:
            return 0.0
        return max(0.0, limit - job.ran(self._now)) + self._options.boot_grace

    def in_time(self, number: int, hosts: tuple[int, ...]) -> bool:
        """Whether a job would end before the windows of the hosts with these indices."""
        end = self._now + self.lead(number)
        names = (self._seen.hosts[host].name for host in hosts)
        return all(end <= self._closes.get(name, math.inf) for name in names)

    def bind(self, record: Record, decision: windows.Decision) -> Record:
        """A record of an action, with the hosts that the job may start on, and until when."""
        plan = record.plan
        if decision.taking is None or not isinstance(plan, StartPlan) or record.job is None:
            return record
        hosts = self._seen.hosts
        closes = [self._closes.get(hosts[i].name, math.inf) for i in decision.taking]
        lead = self.lead(record.job)
        by = min(closes, default=math.inf) - lead if lead else math.inf
        near, chosen = self._named(decision.taking, plan.tier), plan.hosts
        if near and self._jobs[record.job].saved and not chosen:
            # Nova keeps the hint of the boot: a server that comes back is told its host.
            [start] = [
                each
                for each in decision.actions
                if isinstance(each, Start) and each.job.number == record.job
            ]
            on = self._seen.suspended_on(self._jobs[record.job]) or start.hosts
            chosen = tuple(hosts[index].name for index in on)
        bound = replace(plan, hosts=chosen, near=near, by=None if by == math.inf else by)
        return record._replace(plan=bound)

    def lasting(self, after: Snapshot) -> Snapshot:
        """The snapshot after a decision, without what the planned windows rule out.

        It lacks the jobs that are too large for the hosts that close late enough for them. If a
        waiting job cannot use some hosts, it also lacks the places on all hosts with a window:
        nobody is to make way for a job there.
        """
        begins = sorted(set(self._closes.values()))
        if not begins:
            return after
        cluster, queue = after.cluster, after.queue
        ends = [(job, self._now + self.lead(job.number)) for job in queue]
        if never := windows.shut_out(cluster.hosts, ends, begins):
            queue = queue.copy()
            for job in never:
                queue.remove(job)
        if any(end > begins[0] and job.number in queue for job, end in ends):
            limited = cluster = cast(Hosts, cluster).copy()  # a pool has no other kind
            names = enumerate(self._seen.hosts)
            limited.limit_hosts({i for i, host in names if host.name not in self._closes})
        elif not never:
            return after
        return after.on(cluster, queue)

    def _named(self, taking: frozenset[int], tier: Tier) -> str:
        """The hosts for the scheduler: it names those that are fewer."""
        names: dict[bool, list[str]] = {True: [], False: []}
        for index, host in enumerate(self._seen.hosts):
            if tier in host.provider:
                names[index in taking].append(host.provider[tier][:NAMED_BY])
        if not names[False]:
            return ""
        only = len(names[True]) < len(names[False])
        return (ONLY if only else BUT) + ",".join(names[only])

    def reasons(
        self, decision: windows.Decision, waiting: Mapping[int, Job], background: bool
    ) -> Waits:
        """Why jobs wait because of the planned windows.

        :param background: whether the policy starts jobs there.
        """
        why, begins = Waits({}, {}), sorted(set(self._closes.values()))
        if not begins:
            return why
        cluster, first = decision.after.cluster, instant(begins[0])
        slots = windows.slots_for(cluster.hosts, 0.0)
        known = dict[tuple[float, bool, bool], tuple[int, int]]()
        for number, job in waiting.items():
            core, lead = job.core, self.lead(number)
            end = self._now + lead
            if not lead or end <= begins[0]:
                continue
            may = ((FG, core.foreground), (BG, core.background and background))
            tiers = [tier for tier, allowed in may if allowed]
            if not tiers:
                continue
            # The same hosts suit all jobs that end between two windows.
            level = next((begin for begin in begins if end <= begin), math.inf)
            kind = level, core.foreground, core.background
            if kind not in known:
                suiting = windows.slots_for(cluster.hosts, end)
                known[kind] = windows.idle_for(cluster, tiers, end), suiting
            (suits, suiting), idle = known[kind], max(cluster.idle[tier] for tier in tiers)
            said = {"begin": first, "limit": round(lead - self._options.boot_grace)}
            if core.size > suiting or suits < core.size <= idle:
                given = {"size": core.size, "idle": suits, "slots": suiting, **said}
                why.alone[number] = waits.WINDOW(**given)
            elif core.size > idle:
                why.besides[number] = {"barred": slots - suiting, **said}
        return why
