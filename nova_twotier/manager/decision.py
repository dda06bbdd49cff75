"""When the policy is asked, what it is shown, and what becomes of its answer."""

import math
from collections.abc import Collection, Container, Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import compress
from operator import is_not
from types import MappingProxyType

from nova_twotier.cloud.servers import Server
from nova_twotier.core import actions as decided
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, OutOfSlots
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.jobs import Order
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.slots import is_hot
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.core.windows import Decision, decide
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager import (
    forecast,
    order,
    planning,
    preemption,
    priorities,
    relocations,
    settling,
    vacating,
)
from nova_twotier.manager.boots import BootLimit
from nova_twotier.manager.departures import LEAVING
from nova_twotier.manager.events import ALL, Events
from nova_twotier.manager.fair_share import NONE
from nova_twotier.manager.limits import Gate, held_tiers
from nova_twotier.manager.network import Network
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs
from nova_twotier.manager.reasons import Reasons
from nova_twotier.manager.releases import Releases
from nova_twotier.manager.settling import RECHECK
from nova_twotier.manager.windows import Windows

#: Why a suspended job waits although slots are free.
ELSEWHERE = waits.SUSPENDED_HOSTS()


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
        #: The queue at the last poll, with the jobs of `_cores`. It is kept, since few of ten
        #: thousand jobs change.
        self._queue = Queue()
        self._cores: dict[int, CoreJob] = {}
        #: The jobs that waited at the last poll.
        self._waiting: Mapping[int, Job] = {}
        #: Slots of a tier at the last poll.
        self._slots = 0
        self._reasons = Reasons(policy)
        self._releases = Releases()
        self._gate = Gate(options, policy.tiers)
        self._boots = BootLimit(options)
        #: How things are after the last decision; it is not changed any more. None: none was made
        #: since the queue went on.
        self.after: Snapshot | None = None
        #: Stand-alone servers that are to make way for jobs, see `preemption`.
        self.victims: Sequence[Server] = ()

    def forget_jobs(self) -> None:
        """What policies see of the jobs may have changed: all is decided anew."""
        self._queue, self._cores, self._waiting = Queue(), {}, {}
        self.after = None
        self._gate.forget()
        self.events.happened(ALL)

    def decide(
        self,
        jobs: Jobs,
        opened: Sequence[Action],
        seen: Observation,
        now: float,
        plain_waiting: Mapping[int, Job] = MappingProxyType({}),
        preemptible: Mapping[str, Server] = MappingProxyType({}),
        begun: Container[str] = (),
        prioritised: Set[int] = frozenset(),
        vacated: Collection[str] = (),
        short_of_quota: Mapping[int, float] = MappingProxyType({}),
        behind_limit: Set[int] = frozenset(),
    ) -> list[planning.Record]:
        """Ask the policy; returns the records of its decision. Jobs that still wait get a reason.

        :param plain_waiting: jobs for which `Job.plain_waiting` holds and that have no open action.
        :param preemptible: stand-alone servers that may become `victims`, by id.
        :param begun: ids of those that already are.
        :param prioritised: numbers of jobs with a priority other than 0, or another's place.
        :param vacated: names of the drained hosts whose jobs are to be moved to others.
        :param short_of_quota: until when jobs in the queue back off, see `Shortages`.
        :param behind_limit: numbers of jobs for which `Job.behind_array_limit` holds and that have
            no open action.
        """
        starting = {action.number: action for action in opened if action.kind == ActionKind.START}
        ending = [jobs[action.number] for action in opened if action.kind == ActionKind.END]
        releasing = self._releases.partial(opened, jobs, seen)
        departures = order.departures(opened, jobs)
        moving = {departure.job.number for departure in departures}
        slots = seen.shape_slots
        others = jobs.keys() - plain_waiting.keys() - behind_limit
        active = {number: jobs[number] for number in sorted(others)}
        queue, saved = dict(plain_waiting), dict[int, Job]()
        for number in queue.keys() & short_of_quota.keys():
            del queue[number]
        renewed = self._renewed(queue)
        running, pauses = list[Job](), list(short_of_quota.values())
        held, gated, linked, short = set[int](), set(behind_limit), False, False
        for number, job in active.items():
            state = job.state
            if state == JobState.QUEUED:
                if job.saved:
                    saved[number] = job
            elif state == JobState.RUNNING and number not in moving:
                running.append(job)
                if self._network.moves(job):
                    linked, short = True, short or job.tier == Tier.BG
            if job.gated:
                gated.add(number)
            elif job.held:
                held.add(number)
            elif job.requested_action:
                continue  # it ends at one of the next polls
            elif state == JobState.QUEUED and number not in starting:
                if not job.allowed_tiers:
                    _wait(job, waits.FLAVOR_FOREGROUND())
                elif job.size > slots:
                    _wait(job, _too_large(job, slots))
                elif job.bandwidth and (refusal := self._network.refusal(job, seen.hosts)):
                    _wait(job, refusal)
                elif number in short_of_quota:
                    pass
                elif job.not_before <= now:
                    queue[number] = job
                    renewed.append(job)  # A measurement may have changed it.
                    if job.bandwidth:
                        linked = short = True
                else:
                    pauses.append(job.not_before)
        # Those that have waited before fit, unless the pool has shrunk.
        for job in list(queue.values()) if slots < self._slots else renewed:
            # A core's fields are faster to get than a row's.
            if job.core.size > slots:
                del queue[job.number]
                _wait(job, _too_large(job, slots))
        self._slots = slots
        renewed += priorities.exchange(queue, prioritised)
        linked = linked and self._network.covers(seen.hosts)
        events = self.events
        if self._gate.active:
            apart = (job for number, job in active.items() if number not in queue)
            changed, news = self._gate.apply(queue, held_tiers(apart, starting, departures))
            renewed += changed
            if news:
                events.happened(ALL)
        events.notice_jobs(queue, held, now)
        if self._follow(queue, renewed):
            # The jobs that were behind it move up.
            events.happened(ALL)
        events.notice_terms(running)
        if self._arrived_ahead(queue, running):
            events.happened(ALL)
        events.notice_late(starting.values(), now)
        events.notice_unmanaged(active.values(), opened, seen)
        events.notice_preemptible(preemptible.keys())
        if not events.pending:
            self._reasons.tell(queue)
            return []
        restarting = {a.number for a in opened if a.kind == ActionKind.POWER_ON}
        pinned = {job.number for job in running if self._network.pins(job)} | restarting
        settled = settling.settled(running, pinned, seen, self._options, now)
        # What is being undone takes no more slots than it has.
        placing = {n: action for n, action in starting.items() if not action.progress.undoing}
        plans = {number: action.planned(StartPlan) for number, action in placing.items()}
        build = partial(
            forecast.cluster_of,
            seen,
            running,
            {jobs[number]: plan.tier for number, plan in plans.items()},
            [job for job in ending if job.tier],
            self._options.threshold,
            settled,
            [vm for job in saved.values() for vm in seen.resting(job)],
            {number: plan.hosts for number, plan in plans.items() if plan.hosts},
            self._network.cluster if linked else Hosts,
            departures,
            order.expectations(placing.values(), now),
            preemptible.keys(),
            releasing,
        )
        cluster = build()
        idle = dict(cluster.idle)
        if isinstance(cluster, Linked):
            self._network.limit(cluster)
        fixed = {number: seen.suspended_on(saved[number]) for number in saved.keys() & queue.keys()}
        windows = Windows(self._options, jobs, seen, now)
        away = order.earliest_coming(opened, jobs, now)
        recent = settling.recent(settled, placing.values(), jobs, seen, now)
        found, aside = self._ask(cluster, queue, fixed, windows, away, recent, now)
        decision, after = found.actions, found.after
        # Late actions are not waited for: the owner of a job can draw them out at will.
        passing = {
            action.number
            for action in opened
            if action.kind in (ActionKind.START, ActionKind.END) and not order.is_late(action, now)
        }
        if _closes_under(after.cluster, passing):
            return []
        unplaced = {
            number: action
            for number, action in placing.items()
            if order.is_unplaced(action, seen, jobs[number], now)
        }
        if unplaced and self._guesses(decision, unplaced, jobs):
            return []
        moved = {}
        if self._options.migrate_preempted:
            moved = relocations.find(decision, jobs, seen, build)
        max_mbps = self._network.max_mbps if linked else 0
        records = planning.records(decision, jobs, seen, now, idle, moved, max_mbps)
        records = [windows.bind(record, found) for record in records]
        held_back = self._boots.held_back(records, queue, placing.values(), jobs, seen, now)
        records = [record for record in records if record.job not in held_back]
        self.victims = []
        stranded = bool(vacated)
        if not records:
            # Only when the policy itself has nothing to move: it comes first.
            records, stranded = vacating.find(after.cluster, jobs, seen, now, vacated, windows.lead)
        if preemptible:
            shown = windows.lasting(self._without_suspended(decision, after, fixed))
            coming = _coming(after.cluster, passing & {job.number for job in ending})
            self.victims = preemption.victims(self._policy, shown, preemptible, seen, begun, coming)
        for number in held_back:
            after.cluster.remove(self._cores[number])
            after.queue.add(self._cores[number])
        held_up = windows.reasons(found, queue, self._policy.tiers > 1)
        given = dict.fromkeys(aside, ELSEWHERE) | held_up.alone
        given |= dict.fromkeys(held_back, self._boots.reason)
        self._reasons.renew(after, queue, given, held_up.besides)
        self.after = windows.lasting(after)
        self._reasons.tell(queue)
        # No event tells when others release bandwidth, what hinders servers to make way, when a job
        # can be moved off a drained host, or that starts take too long to hold others back.
        rechecks = (linked and short) or stranded or (preemptible and after.queue) or held_back
        again = [now + RECHECK] if rechecks else []
        if records and found.taking is not None:
            again.append(now)  # the other views of the cluster
        # And when a settled job may be moved again, or a job that backs off may start.
        due_at = min((*settled.values(), *pauses, *again), default=math.inf)
        events.decided(jobs.keys() - gated if gated else jobs, now, due_at)
        return records

    def _without_suspended(
        self,
        decision: Iterable[decided.Action],
        after: Snapshot,
        fixed: Mapping[int, tuple[int, ...] | None],
    ) -> Snapshot:
        """How things are after a decision, without the waiting jobs that are suspended: these can
        come back to their own hosts only, which a policy does not know."""
        waiting = after.queue.copy()
        started = {each.job.number for each in decision if isinstance(each, decided.Start)}
        for number in fixed.keys() - started:
            if fixed[number] is not None:
                waiting.remove(self._cores[number])
        return after.on(after.cluster, waiting)

    def _guesses(
        self, decision: Sequence[decided.Action], unplaced: Mapping[int, Action], jobs: Jobs
    ) -> bool:
        """Whether it matters for a decision where Nova puts the jobs that are just starting.

        :param unplaced: their actions, by number, without those that have not begun: in the
            background these follow whatever is decided for the foreground now; otherwise their
            slots are about to be freed, and known.
        """
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
        away: Order,
        recent: frozenset[int],
        now: float,
    ) -> tuple[Decision, set[int]]:
        """The policy's decision, and the numbers of the jobs that it was not shown.

        These are suspended on hosts that would have no slots for them after the decision: a policy
        does not know that they can only resume where they are, and would make room elsewhere.

        :param cluster: may be used up.
        :param fixed: the hosts on which each saved job has to resume; None: it may start on any.
        :param away: as of `Snapshot`.
        :param recent: as `settling` of `Snapshot`.
        """
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
                and not settling.may_resume(cluster, self._cores[number], hosts, recent)
            }
        while True:
            # To see who is stuck, it is needed as it was.
            played_on = cluster.copy() if bound else cluster
            since = self.events.decided_at
            shown = Snapshot(played_on, self._queue.copy(), since, away, recent)
            for number in aside:
                shown.queue.remove(self._cores[number])
            pending = self.events.pending
            found = decide(self._policy, shown, pending, now, lambda job: windows.lead(job.number))
            stuck = _stuck(found.actions, cluster, bound)
            if not stuck:
                for number in aside:
                    found.after.queue.add(self._cores[number])
                return found, aside
            aside |= stuck

    def _arrived_ahead(self, queue: Mapping[int, Job], running: Iterable[Job]) -> bool:
        """Whether a job has arrived ahead of others that wait or run, as `fair_share.is_ahead`.

        :param queue: the jobs that wait now, by number.
        """
        # Without fair share and gates, jobs that are not urgent arrive behind all others.
        placed = self._options.fair_share != NONE
        news = [
            job.core.order
            for job in self.events.arrived(queue)
            if placed or job.core.precedence < 0 or job.came_through or job.array is not None
        ]
        arrived = min(news, default=None)
        if arrived is None:
            return False
        return arrived < self._queue[-1].order or any(arrived < job.core.order for job in running)

    def _renewed(self, waiting: Mapping[int, Job]) -> list[Job]:
        """The jobs that are new, or were read anew, since the last poll."""
        jobs = waiting.values()
        return list(compress(jobs, map(is_not, jobs, map(self._waiting.get, waiting))))

    def _follow(self, queue: Mapping[int, Job], renewed: Iterable[Job]) -> bool:
        """Bring the queue that the policy is shown up to date.

        :param queue: the jobs that wait now, by number.
        :param renewed: those that may have changed; others are ignored.
        :returns: whether a job has another place than before, because it was held and released, or
            by its priority.
        """
        cores, shown = self._cores, self._queue
        changed = {
            core.number: core
            for job in renewed
            if (core := job.core).number in queue and cores.get(core.number) != core
        }
        moved = cores.keys() & changed.keys()
        for number in moved | (cores.keys() - queue.keys()):
            shown.remove(cores.pop(number))
        for core in sorted(changed.values(), key=lambda core: core.order):
            shown.add(core)
        cores.update(changed)
        self._waiting = queue
        return bool(moved)


def _coming(cluster: Cluster, ending: Iterable[int]) -> int:
    """Background places that jobs are about to give up, to nobody in particular.

    :param ending: numbers of jobs that are over.
    """
    leaving = (cluster.runs.get(number) for number in (LEAVING[Tier.BG], *ending))
    return sum(len(run.hosts) for run in leaving if run and run.tier is Tier.BG)


def _too_large(job: Job, slots: int) -> Reason:
    return waits.TOO_LARGE(size=job.size, slots=slots)


def _wait(job: Job, reason: Reason) -> None:
    """Say why the pool cannot take a job, which no policy is shown: it would hold up others."""
    job.reason = reason


def _stuck(
    decision: Iterable[decided.Action], cluster: Cluster, fixed: dict[int, tuple[int, ...]]
) -> set[int]:
    """Numbers of the jobs that are to start, but would find no slots on their hosts.

    :param fixed: the hosts of those that may start on no others.
    """
    starts = [
        action
        for action in decision
        if isinstance(action, decided.Start) and action.job.number in fixed
    ]
    if not starts:
        return set()
    after = cluster.copy()
    after.apply(action for action in decision if not isinstance(action, decided.Start))
    stuck = set()
    for start in starts:
        hosts = fixed[start.job.number]
        try:
            after.start(start.job, start.tier, hosts)
        except OutOfSlots:
            stuck.add(start.job.number)
    return stuck


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
