"""Plays a stream of jobs under a policy, and checks every decision on the way."""

from collections import Counter
from dataclasses import replace
from unittest import mock

from nova_twotier.core import policies, queue
from nova_twotier.core.actions import Evict, Kill, Move, Start, StartKind, Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Counted
from nova_twotier.core.policies.backfilling import Backfilling
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.core.policies.migrating import Migrating
from nova_twotier.core.policies.tentative import Tentative
from nova_twotier.core.reasons import waits
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, forget_ends, held_by_later, recounted, state

#: Whose turn it is, under the policies with one tier that do not take jobs by arrival.
ORDERS = {
    "sdf": lambda job: (job.expected, job.order),
    "sbf": lambda job: (job.mbps, job.order),
    "smjf": lambda job: (job.size, job.order),
}


class Driver:
    """A body without time: jobs arrive and depart when the test says so.

    :param case: the test case, whose assertions are used.
    :param hosts: of a cluster to make, or the cluster.
    """

    def __init__(self, case, policy, hosts):
        self.case = case
        self.policy = policies.get(policy)
        self.cluster = hosts if isinstance(hosts, Cluster) else Hosts(hosts)
        self.waiting = []
        self.admitted = {job.number for job in (run.job for run in self.cluster.runs.values())}
        self.finished = set()
        #: Who wanted the foreground at the last decision, and who was in the background.
        self.wanted, self.below = [], []
        self.clock = 0.0

    def arrive(self, *jobs):
        self._admit(jobs)
        return self.decide(Event.ARRIVAL)

    def depart(self, *numbers):
        return self.decide(self._leave(numbers))

    def at_once(self, jobs, numbers):
        """Jobs arrive and others depart at the same instant."""
        self._admit(jobs)
        return self.decide(Event.ARRIVAL | self._leave(numbers))

    def change_policy(self, name):
        """Another policy takes over, as a new engine of the queue manager does."""
        self.policy = policies.get(name)
        runs = [run._replace(job=self._as_submitted(run.job)) for run in self.cluster.runs.values()]
        self.cluster = Hosts(self.cluster.hosts, self.cluster.threshold, runs=runs)
        self.waiting = sorted(map(self._as_submitted, self.waiting), key=lambda job: job.order)
        return self.decide(Event.ARRIVAL | Event.BACKGROUND | Event.FOREGROUND)

    def _as_submitted(self, job):
        return self.policy.admit(replace(job, rank=None))

    def _admit(self, jobs):
        numbers = {job.number for job in jobs}
        self.case.assertFalse(numbers & (self.admitted | self.finished), "a slip of the test")
        self.waiting += map(self.policy.admit, jobs)
        self.waiting.sort(key=lambda job: job.order)
        self.admitted |= numbers

    def _leave(self, numbers):
        event = Event(0)
        for number in numbers:
            run = self.cluster.remove(self.cluster.runs[number].job)
            event |= Event.FOREGROUND if run.tier is FG else Event.BACKGROUND
            self.admitted.remove(number)
            self.finished.add(number)
        return event

    def decide(self, event):
        """Ask the policy, check its answer, and carry it out."""
        snapshot = Snapshot(self.cluster, self.waiting)
        self.before = self.counts()
        self.hosts_before = {number: run.hosts for number, run in self.cluster.runs.items()}
        self.wanted = self.not_in_foreground()
        self.below = [run.job.number for run in self.cluster.running(BG)]
        actions = self.policy.schedule(snapshot.copy(), event, self.clock)
        # Time is nothing to a policy that has no estimates.
        later = self.clock + (not getattr(self.policy, "depth", 0))
        self.case.assertEqual(actions, self.policy.schedule(snapshot.copy(), event, later))
        self.check_actions(actions)
        waited = self.waiting
        left = self.scheduled(snapshot, event, actions)
        self.cluster.apply(actions)
        self.waiting = self.waiting_after(actions)
        self.case.assertEqual(self.waiting, list(left.queue), "what is left is not apply")
        self.case.assertEqual(state(forget_ends(self.cluster)), state(forget_ends(left.cluster)))
        self.cluster = left.cluster
        self.check_state()
        self.check_starts(actions, waited)
        self.check_reasons(event)
        self.clock += 10
        return actions

    def scheduled(self, snapshot, event, actions):
        """The snapshot as `schedule` leaves it."""
        left = snapshot.copy()
        # The jobs of a long queue are not looked at one by one, with the same result.
        with mock.patch.object(queue, "_SHORT", -1):
            self.case.assertEqual(actions, self.policy.schedule(left, event, self.clock))
        self.case.assertEqual(state(recounted(left.cluster)), state(left.cluster))
        return left

    def waiting_after(self, actions):
        lost = [action.job for action in actions if isinstance(action, Evict | Kill)]
        left = [job for job in (*self.waiting, *lost) if job.number not in self.cluster.runs]
        return sorted(left, key=lambda job: job.order)

    def check_actions(self, actions):
        kinds = {Evict: [], Kill: [], Move: [], Start: []}
        for action in actions:
            kinds[type(action)].append(action)
            self.case.assertNotIn(
                action.job.number, [a.job.number for a in kinds[type(action)][:-1]]
            )
        order = [[*kinds].index(type(action)) for action in actions]
        rank = [1 if kind == 0 else kind for kind in order]
        self.case.assertEqual(sorted(rank), rank, "room is made before it is taken")
        moved = {action.job.number for action in kinds[Move]}
        lost = [*kinds[Evict], *kinds[Kill]]
        self.case.assertEqual(len(lost), len({action.job.number for action in lost}))
        self.case.assertFalse(moved & {a.job.number for a in (*lost, *kinds[Start])})
        for action in (*lost, *kinds[Move]):
            run = self.cluster.runs[action.job.number]
            self.case.assertFalse(run.pinned, action)
            if isinstance(action, Move):
                self.check_move(action, run)
            else:
                self.case.assertEqual(run.tier, action.tier)
                self.case.assertIsNotNone(action.by)
        waiting = {job.number for job in self.waiting} | {a.job.number for a in lost}
        for action in kinds[Start]:
            self.case.assertIn(action.job.number, waiting)
            if not isinstance(self.cluster, Counted):
                self.case.assertEqual(action.job.size, len(action.hosts))
        self.check_kinds(kinds)

    def check_kinds(self, kinds):
        """What each family of policies does at all."""
        if isinstance(self.policy, Tentative):
            self.case.assertEqual([], kinds[Evict])
            for move in kinds[Move]:
                self.case.assertEqual((), move.migrating, "nothing migrates")
        else:
            self.case.assertEqual([], kinds[Kill])
        if isinstance(self.policy, Backfilling):
            self.case.assertEqual([], kinds[Evict])
        if self.policy.tiers == 1:
            self.case.assertEqual([], kinds[Move])
            self.case.assertEqual({FG}, {FG, *(action.tier for action in kinds[Start])})

    def check_move(self, move, run):
        self.case.assertEqual(run.hosts, move.before)
        self.case.assertEqual({FG, BG}, {run.tier, move.tier})
        if move.tier is BG:
            self.case.assertEqual(move.before, move.after, "who falls stays on its hosts")
            self.case.assertEqual((), move.migrating)
            self.case.assertIsNotNone(move.by)
        else:
            self.case.assertIsNone(move.by)
        changed = [i for i in range(run.job.size) if move.before[i] != move.after[i]]
        self.case.assertEqual(changed, list(move.migrating))
        if move.before == move.after:
            self.case.assertEqual((), move.migrating, "a swap moves nothing")

    def check_state(self):
        """No slot twice, none closed, no job lost, none both waiting and running."""
        running, waiting = set(self.cluster.runs), [job.number for job in self.waiting]
        self.case.assertEqual({}, {n: c for n, c in Counter(waiting).items() if c > 1})
        self.case.assertEqual(set(), running & set(waiting))
        self.case.assertEqual(self.admitted, running | set(waiting))
        self.case.assertEqual(set(), self.finished & self.admitted)
        if isinstance(self.cluster, Counted):
            used = sum(run.job.size for run in self.cluster.runs.values())
            self.case.assertEqual(self.cluster.hosts[0].slots - used, self.cluster.idle[FG])
            self.case.assertGreaterEqual(self.cluster.idle[FG], 0)
            return
        for index, host in enumerate(self.cluster.hosts):
            self.check_host(index, host)

    def check_host(self, index, host):
        """From the runs alone, whatever the cluster has counted."""
        there = {tier: self.there(tier, index) for tier in (FG, BG)}
        hot = sum(cpu >= self.cluster.threshold for _run, cpu in there[FG])
        # These policies evict nobody from the background; it waits for the foreground's idle time.
        stalls = isinstance(self.policy, Tentative) or self.policy.tiers == 1
        open_slots = host.slots if stalls else max(0, host.slots - hot)
        capacity = {FG: host.slots, BG: open_slots * (host.tiers - 1)}
        vms = {run.job.number for tier in (FG, BG) for run, _cpu in there[tier]}
        new = vms - {number for number, hosts in self.hosts_before.items() if index in hosts}
        self.case.assertFalse(new and not host.enabled, "a new VM on a disabled host")
        for tier in (FG, BG):
            if len(there[tier]) > self.before[tier][index]:
                raised = tier is FG and not host.enabled
                self.case.assertFalse(raised, "a promotion on a disabled host")
                self.case.assertLessEqual(len(there[tier]), capacity[tier], "a slot given twice")
        if hot and not stalls:
            movable = [run for run, _cpu in there[BG] if not run.pinned]
            over = len(there[BG]) - capacity[BG]
            self.case.assertFalse(movable and over > 0, "background under a closed slot")
            self.case.assertEqual(max(0, over), self.cluster.overfull(index))

    def there(self, tier, host):
        """The runs of a tier on a host, with the utilisation of each of their processes there."""
        return [
            (run, cpu)
            for run in self.cluster.running(tier)
            for at, cpu in zip(run.hosts, run.job.cpu, strict=True)
            if at == host
        ]

    def counts(self):
        """Processes by tier and host."""
        seats = Counter(
            (run.tier, host) for run in self.cluster.runs.values() for host in run.hosts
        )
        return {tier: [seats[tier, h] for h in range(len(self.cluster.hosts))] for tier in Tier}

    def check_starts(self, actions, waited):
        """How each start came about, and that none in the background is under a closed slot."""
        waiting = list(waited)
        starts = [action for action in actions if isinstance(action, Start)]
        for action in starts:
            job = action.job
            if isinstance(self.policy, Backfilling):
                # One after the other: who starts in its turn does so before the later ones.
                waiting = [each for each in waiting if each.number != job.number]
            else:
                waiting = self.waiting
            passed = any(each.order < job.order for each in waiting)
            how = StartKind.BACKFILLED if passed else StartKind.IMMEDIATE
            if action.how is StartKind.RESERVED:
                self.case.assertTrue(self.policy.depth and job.arrival < self.clock)
                self.case.assertFalse(passed)
            elif action.how is StartKind.TENTATIVE:
                self.case.assertIsInstance(self.policy, Tentative)
                self.case.assertTrue(self.policy.aggressive or action.tier is BG)
            else:
                self.case.assertEqual(how, action.how)
                self.case.assertFalse(isinstance(self.policy, Tentative) and action.tier is BG)
            if action.tier is BG:
                for host in action.hosts:
                    self.case.assertEqual(0, self.cluster.overfull(host), "started when closed")

    def check_reasons(self, event):
        """What the reasons say of the job and the cluster is so, and nothing is left out."""
        # JSS 2015 looks at the foreground when that changes: not when the first in line, of which
        # the others in line wait for their turn, ends in the background.
        as_before = isinstance(self.policy, Tentative) and event is Event.BACKGROUND
        reason_of = self.policy.reasons(Snapshot(self.cluster, self.waiting))
        idle, numbers = self.cluster.idle, {job.number for job in self.not_in_foreground()}
        for job in self.waiting:
            reason = reason_of(job)
            self.case.assertNotIn("?", str(reason))
            said = dict(reason.parameters)
            facts = {"size": job.size, "idle": idle[FG], "open": idle[BG]}
            if self.preempts:
                facts["later"] = self.could_have(job) - idle[FG]
            for name in facts.keys() & said:
                self.case.assertEqual(facts[name], said[name], reason)
            if reason.code is waits.SLOTS:
                if not as_before:
                    self.case.assertGreater(job.size, idle[FG], reason)
                self.case.assertEqual(facts.get("later", 0), said.get("later", 0))
            if reason.by is not None:
                self.case.assertIn(reason.by, numbers - {job.number})
            if isinstance(self.policy, Backfilling) and job.foreground:
                self.check_turn(job, reason)

    def check_turn(self, job, reason):
        """Who comes after the first waits for it, unless too few slots are idle to pass it."""
        queue = Snapshot(self.cluster, self.waiting).queue.allowed(FG)
        first = self.policy.first(queue)
        lacks = job.number == first.number or (
            self.policy.depth and job.size > self.cluster.idle[FG]
        )
        self.case.assertEqual(None if lacks else first.number, reason.by, reason)

    @property
    def preempts(self):
        """Whether the policy evicts later arrivals from the foreground, as its reasons say."""
        if isinstance(self.policy, Tentative):
            return self.policy.aggressive
        return not isinstance(self.policy, Backfilling | Guaranteeing)

    def not_in_foreground(self):
        """Who waits for the foreground, in the queue or in the background, by arrival."""
        below = [run.job for run in self.cluster.running(BG) if not run.pinned]
        return sorted([*self.waiting, *below], key=lambda job: job.order)

    def could_have(self, job):
        """Foreground slots that are idle or held by later arrivals that may be evicted."""
        runs = self.cluster.evictable()
        if isinstance(self.cluster, Counted):
            return self.cluster.idle[FG] + held_by_later(job, [run.job for run in runs])
        later = [run for run in runs if run.job.order > job.order]
        return self.cluster.idle[FG] + places(self.cluster, later)

    def finish(self):
        """Let the running jobs depart one by one until nothing is left.

        :returns: the number of departures.
        """
        departures = 0
        while self.admitted:
            self.case.assertNotEqual({}, self.cluster.runs, f"{self.waiting} wait for nothing")
            first = min(self.cluster.runs.values(), key=lambda run: (run.tier is BG, run.job.order))
            self.depart(first.job.number)
            departures += 1
        self.case.assertEqual({}, self.cluster.runs)
        self.case.assertEqual(state(recounted(self.cluster)), state(self.cluster))
        return departures


def places(cluster, runs):
    """How many processes of the runs are on hosts that take new VMs."""
    return sum(cluster.hosts[host].enabled for run in runs for host in run.hosts)


def promise(driver, actions, event):
    """What the policy promises after a decision about `event`."""
    case, policy, cluster = driver.case, driver.policy, driver.cluster
    if isinstance(policy, Backfilling):
        _backfilling(driver, actions)
    elif isinstance(policy, Migrating | Guaranteeing):
        only_head = isinstance(policy, Guaranteeing) or policy.only_head
        _nobody_has_more_right(driver, driver.waiting, only_head)
        for action in actions:
            if isinstance(action, Evict):
                case.assertLess(action.by.order, action.job.order)
    elif isinstance(policy, Tentative):
        _tentative(driver, actions, event)
    else:
        _consolidating(driver, actions, event)
    if policy.tiers > 1:
        for job in driver.waiting:
            case.assertFalse(cluster.fits(job, BG), f"{job} waits, the background has room")


def _backfilling(driver, actions):
    """The one whose turn it is does not fit; without reservations, nothing has passed it."""
    case, policy, idle = driver.case, driver.policy, driver.cluster.idle[FG]
    snapshot = Snapshot(driver.cluster, driver.waiting)
    if driver.waiting:
        head = policy.first(snapshot.queue)
        case.assertGreater(head.size, idle)
        key = ORDERS.get(policy.name, lambda job: job.order)
        case.assertEqual(min(driver.waiting, key=key), head)
        if not policy.depth:
            for action in actions:
                case.assertLess(key(action.job), key(head))
    if policy.name == "fcfs":
        case.assertEqual(
            {StartKind.IMMEDIATE}, {StartKind.IMMEDIATE, *(action.how for action in actions)}
        )


def _nobody_has_more_right(driver, candidates, only_head):
    case, cluster = driver.case, driver.cluster
    for job in candidates[:1] if only_head else candidates:
        case.assertGreater(job.size, driver.could_have(job), job)
    for job in candidates:
        case.assertGreater(job.size, cluster.idle[FG], job)


def _consolidating(driver, actions, event):
    case, policy = driver.case, driver.policy
    rearranges = policy.reorders or Event.FOREGROUND in event
    if not rearranges:
        for action in actions:
            case.assertFalse(isinstance(action, Move), "moves only when the foreground changes")
            if isinstance(action, Evict):
                case.assertIs(BG, action.tier)
                case.assertIn(Event.ARRIVAL, event, "only a new hot foreground closes a slot")
    if Event.ARRIVAL in event:
        for job in driver.waiting:
            case.assertGreater(job.size, driver.cluster.idle[FG])
    for action in actions:
        if isinstance(action, Evict) and action.tier is FG:
            case.assertLess(action.by.order, action.job.order)
    if rearranges:
        _nobody_has_more_right(driver, driver.not_in_foreground(), policy.only_head)


def _tentative(driver, actions, event):
    """The foreground is first come, first served: none is in its way who came later."""
    case, policy, cluster = driver.case, driver.policy, driver.cluster
    if event is Event.BACKGROUND:
        for action in actions:
            case.assertIsInstance(action, Start)
            case.assertIs(BG, action.tier)
        return
    running = {run.job.number for run in cluster.running(FG)}
    first = next((job for job in driver.wanted if job.number not in running), None)
    if first is not None:
        free = driver.could_have(first) if policy.aggressive else cluster.idle[FG]
        case.assertGreater(first.size, free)
    for action in actions:
        if (
            isinstance(action, Start)
            and action.tier is FG
            and action.how is not StartKind.TENTATIVE
        ):
            case.assertTrue(first is None or action.job.order < first.order, "not in its turn")
        if isinstance(action, Kill):
            below = action.job.number in driver.below
            case.assertIs(BG if below else FG, action.tier)
            if below:
                case.assertEqual(action.job, action.by, "only to start anew in the foreground")
                case.assertIs(FG, cluster.runs[action.job.number].tier)
            else:
                case.assertTrue(policy.aggressive)
                case.assertLess(action.by.order, action.job.order)
        if isinstance(action, Move) and not policy.aggressive:
            case.assertIs(FG, action.tier)
    if policy.aggressive:
        for job in driver.waiting:
            case.assertGreater(job.size, cluster.idle[FG])
