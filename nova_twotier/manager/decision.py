"""When the policy is asked, what it is shown, and what becomes of its answer."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from nova_twotier.cloud.servers import Server
from nova_twotier.core import actions as decided
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.slots import is_hot
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.core.windows import Decision, decide
from nova_twotier.db.models import Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind
from nova_twotier.manager import (
    forecast,
    ongoing,
    planning,
    preemption,
    relocations,
    settling,
    suspended,
    vacating,
)
from nova_twotier.manager.boots import BootLimit
from nova_twotier.manager.candidates import Candidates, sort_out
from nova_twotier.manager.departures import LEAVING
from nova_twotier.manager.events import ALL, Events
from nova_twotier.manager.network import Network
from nova_twotier.manager.reasons import Reasons
from nova_twotier.manager.releases import Places, Releases
from nova_twotier.manager.settling import RECHECK
from nova_twotier.manager.shown_queue import ShownQueue
from nova_twotier.manager.situation import Situation
from nova_twotier.manager.windows import Windows


class Decisions:
    """Asks the policy when something has happened since the last time.

    :param options: the options of group `[manager]`.
    :param network: of the hosts.
    """

    def __init__(self, policy: Policy, options, network: Network):
        self._policy = policy
        self._options = options
        self._network = network
        self.events = Events(options)
        self._shown = ShownQueue(options, policy.tiers, self.events)
        self._reasons = Reasons(policy)
        self._releases = Releases()
        self._boots = BootLimit(options)
        #: How things are after the last decision; it is not changed any more. None: none was made
        #: since the queue went on.
        self.after: Snapshot | None = None
        #: Stand-alone servers that are to make way for jobs, see `preemption`.
        self.victims: Sequence[Server] = ()

    def forget_jobs(self) -> None:
        """What policies see of the jobs may have changed: all is decided anew."""
        self._shown.forget()
        self.after = None
        self.events.happened(ALL)

    def decide(self, present: Situation) -> list[planning.Record]:
        """Run a scheduling pass if anything has happened; returns the actions to record.

        Jobs that still wait get a reason.
        """
        found = sort_out(present, self._network)
        releasing = self._releases.partial(present.opened, present.jobs, present.seen)
        self._shown.update(present, found)
        self._notice(present, found)
        if not self.events.pending:
            self._reasons.tell(found.queue)
            return []
        return self._decide(present, found, releasing)

    def _notice(self, present: Situation, found: Candidates) -> None:
        """Note events of running and starting jobs, and of servers that belong to no job."""
        events = self.events
        events.notice_terms(found.running)
        events.notice_late(present.starting.values(), present.now)
        events.notice_unmanaged(found.active.values(), present.opened, present.seen)
        events.notice_preemptible(present.preemptible.keys())

    def _decide(
        self, present: Situation, found: Candidates, releasing: Mapping[int, Places]
    ) -> list[planning.Record]:
        """Run a scheduling pass; returns the actions to record, if all can be decided now."""
        jobs, seen, now, queue = present.jobs, present.seen, present.now, found.queue
        settled = self._settled(present, found)
        build = self._forecast(present, found, settled, releasing)
        cluster = build()
        idle = dict(cluster.idle)
        if isinstance(cluster, Linked):
            self._network.limit(cluster)
        saved = found.saved
        fixed = {number: seen.suspended_on(saved[number]) for number in saved.keys() & queue.keys()}
        windows = Windows(self._options, jobs, seen, now)
        recent = settling.recent(settled, present.placing.values(), jobs, seen, now)
        decision, aside = self._ask(cluster, queue, fixed, windows, present, recent)
        actions, after = decision.actions, decision.after
        if _closes_under(after.cluster, present.passing) or self._guesses(actions, present):
            return []
        moved = {}
        if self._options.migrate_preempted:
            moved = relocations.find(actions, jobs, seen, build)
        max_mbps = self._network.max_mbps if found.linked else 0
        records = planning.records(actions, jobs, seen, now, idle, moved, max_mbps)
        records = [windows.bind(record, decision) for record in records]
        placing = present.placing.values()
        held_back = self._boots.held_back(records, queue, placing, jobs, seen, now)
        records = [record for record in records if record.job not in held_back]
        stranded = bool(present.vacated)
        if not records:
            # Only when the policy itself has nothing to move: it comes first.
            records, stranded = vacating.find(
                after.cluster, jobs, seen, now, present.vacated, windows.lead
            )
        self.victims = []
        if present.preemptible:
            others = suspended.without(after, actions, fixed, self._shown.cores)
            shown = windows.lasting(others)
            self.victims = self._victims(present, shown, after.cluster)
        for number in held_back:
            after.cluster.remove(self._shown.cores[number])
            after.queue.add(self._shown.cores[number])
        held_up = windows.reasons(decision, queue, self._policy.tiers > 1)
        given = dict.fromkeys(aside, suspended.ELSEWHERE) | held_up.alone
        given |= dict.fromkeys(held_back, self._boots.reason)
        self._reasons.renew(after, queue, given, held_up.besides)
        self.after = windows.lasting(after)
        self._reasons.tell(queue)
        # No event tells when others release bandwidth, what hinders servers to make way, when a job
        # can be moved off a drained host, or that starts take too long to hold others back.
        rechecks = (
            (found.linked and found.short)
            or stranded
            or (present.preemptible and after.queue)
            or held_back
        )
        again = [now + RECHECK] if rechecks else []
        if records and decision.taking is not None:
            again.append(now)  # the other views of the cluster
        # And when a settled job may be moved again, or a job that backs off may start.
        due_at = min((*settled.values(), *found.pauses, *again), default=math.inf)
        self.events.decided(jobs.keys() - found.gated if found.gated else jobs, now, due_at)
        return records

    def _settled(self, present: Situation, found: Candidates) -> dict[int, float]:
        """Until when running jobs may not be moved or preempted, by number; see `settling`."""
        restarting = {a.number for a in present.opened if a.kind == ActionKind.POWER_ON}
        pinned = {job.number for job in found.running if self._network.pins(job)} | restarting
        return settling.settled(found.running, pinned, present.seen, self._options, present.now)

    def _forecast(
        self,
        present: Situation,
        found: Candidates,
        settled: Mapping[int, float],
        releasing: Mapping[int, Places],
    ) -> Callable[[], Hosts]:
        """A function that builds the cluster which the policy is shown."""
        return partial(
            forecast.of,
            present,
            found.running,
            found.saved.values(),
            self._options.threshold,
            releasing,
            settled,
            self._network.cluster if found.linked else Hosts,
        )

    def _victims(self, present: Situation, shown: Snapshot, after: Cluster) -> Sequence[Server]:
        """The stand-alone servers that are to make way for jobs.

        :param shown: what the policy may be asked about.
        :param after: the cluster after the decision.
        """
        over = present.passing & {job.number for job in present.ending}
        return preemption.victims(
            self._policy,
            shown,
            present.preemptible,
            present.seen,
            present.begun,
            _coming(after, over),
        )

    def _guesses(self, decision: Sequence[decided.Action], present: Situation) -> bool:
        """Whether it matters for a decision where Nova puts the jobs that are just starting.

        Those that have not begun do not count: in the background they follow whatever is decided
        for the foreground now; otherwise their slots are about to be freed, and known.
        """
        jobs, seen, now = present.jobs, present.seen, present.now
        unplaced = {
            number: action
            for number, action in present.placing.items()
            if ongoing.is_unplaced(action, seen, jobs[number], now)
        }
        if not unplaced:
            return False
        threshold = self._options.threshold
        heats = any(
            isinstance(action, decided.Start | decided.Move)
            and action.tier is Tier.FG
            and is_hot(action.job.hottest, threshold)
            for action in decision
        )
        leaves = not all(isinstance(action, decided.Start) for action in decision)
        for number, action in unplaced.items():
            if action.planned(StartPlan).tier is Tier.BG:
                # A slot might be closed above it.
                if heats:
                    return True
            elif leaves and is_hot(jobs[number].core.hottest, threshold):
                # It will close slots of the background, and it is not known which.
                return True
        return False

    def _ask(
        self,
        cluster: Cluster,
        queue: Mapping[int, Job],
        fixed: Mapping[int, tuple[int, ...] | None],
        windows: Windows,
        present: Situation,
        recent: frozenset[int],
    ) -> tuple[Decision, set[int]]:
        """The policy's decision, and the numbers of the jobs that it was not shown.

        These are suspended on hosts that would have no slots for them after the decision: a policy
        does not know that they can only resume where they are, and would make room elsewhere.

        :param cluster: may be used up.
        :param fixed: the hosts on which each saved job has to resume; None: it may start on any.
        :param recent: as `settling` of `Snapshot`.
        """
        now = present.now
        away = ongoing.earliest_coming(present.opened, present.jobs, now)
        bound = {number: hosts for number, hosts in fixed.items() if hosts is not None}
        aside = {
            number
            for number, hosts in bound.items()
            if not (hosts and windows.in_time(number, hosts))
        }
        if recent:
            # They would keep idle slots, and could not have them.
            aside |= {
                number
                for number, hosts in bound.items()
                if number not in aside
                and not settling.may_resume(cluster, self._shown.cores[number], hosts, recent)
            }
        while True:
            # To see who is stuck, it is needed as it was.
            played_on = cluster.copy() if bound else cluster
            since = self.events.decided_at
            shown = Snapshot(played_on, self._shown.jobs.copy(), since, away, recent)
            for number in aside:
                shown.queue.remove(self._shown.cores[number])
            pending = self.events.pending
            found = decide(self._policy, shown, pending, now, lambda job: windows.lead(job.number))
            stuck = suspended.stuck(found.actions, cluster, bound)
            if not stuck:
                for number in aside:
                    found.after.queue.add(self._shown.cores[number])
                return found, aside
            aside |= stuck


def _coming(cluster: Cluster, ending: Iterable[int]) -> int:
    """Background places that jobs are about to give up, to nobody in particular.

    :param ending: numbers of jobs that are over.
    """
    leaving = (cluster.runs.get(number) for number in (LEAVING[Tier.BG], *ending))
    return sum(len(run.hosts) for run in leaving if run and run.tier is Tier.BG)


def _closes_under(cluster: Cluster, passing: set[int]) -> bool:
    """Whether a slot would be closed under a job that is just starting or ending there.

    That lasts a moment; it is decided anew when it is over.
    """
    return any(
        cluster.overfull(host)
        for run in cluster.running(Tier.BG)
        if run.job.number in passing
        for host in run.hosts
    )
