"""The earliest job starts although later ones, just started, may not be evicted for a while."""

import testtools

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Move, Start
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.embedding import Topology
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.snapshot import EVENTS, Event, Snapshot
from tests.unit.core.builders import FG, cluster, job

#: Where later jobs may take the foreground before the earliest, and lose it to that one.
PREEMPTING = ("ambf", "amcbf", "amcbf-deadline", "cmbf", "cmcbf", "acfcfs", "bgmbf", "ktier-cmbf")
#: Seconds for which short jobs run, between their arrivals, and for which none is evicted.
RUN, GAP, REST = 90, 10, 30
#: Seconds between two decisions.
STEP = 5


#: Hosts at one switch.
STAR = Topology.from_paths(dict.fromkeys("abcd", "core"), dict.fromkeys("abcd", 1000))


class TestStream(testtools.TestCase):
    """A large job arrives in a stream of short ones, each of which could start at once."""

    SLOTS = 8

    def start_of_large(self, name, links=None):
        """Seconds until the large job has the foreground; None: it never has."""
        policy = policies.get(name)
        large = job(1000, self.SLOTS, cpu=0.99, arrival=200, mbps=1 if links else 0)
        began, runs, waiting = {}, {}, []
        for now in range(0, 2000, STEP):
            over = [number for number, at in began.items() if at + RUN <= now]
            for number in over:
                del began[number], runs[number]
            if now % GAP == 0:
                waiting.append(job(now + 1, cpu=0.99, arrival=now, mbps=1 if links else 0))
            if now == 200:
                waiting.append(large)
            settling = frozenset(number for number, at in began.items() if now < at + REST)
            shown = [run._replace(pinned=number in settling) for number, run in runs.items()]
            hosts = [Host(name, self.SLOTS // 4, policy.tiers) for name in "abcd"]
            on = Linked(hosts, links, tiers=policy.tiers) if links else Hosts(hosts)
            for run in sorted(shown, key=lambda run: (run.tier, run.job.order)):
                on.adopt(run)
            snapshot = Snapshot(on, waiting, settling=settling)
            for action in policy.schedule(snapshot, EVENTS[-1], now):
                if isinstance(action, Start):
                    began[action.job.number] = now
                elif isinstance(action, Evict):
                    began.pop(action.job.number, None)
                if isinstance(action, Start | Move) and (action.job, action.tier) == (large, FG):
                    return now - 200
            runs, waiting = dict(on.runs), list(snapshot.queue)
        return None

    def test_it_starts_when_the_others_may_be_evicted(self):
        for name in PREEMPTING:
            waited = self.start_of_large(name)
            self.assertIsNotNone(waited, name)
            # The earlier ones end, and then the last of the later ones may be evicted.
            self.assertLessEqual(waited, RUN + REST + 2 * STEP, name)

    def test_so_it_does_with_bandwidth(self):
        for name in PREEMPTING:
            if policies.get(name).embeds:
                waited = self.start_of_large(name, links=STAR)
                self.assertIsNotNone(waited, name)


class TestSettling(testtools.TestCase):
    """Of four slots one is idle; the job with the other three arrived later than a waiting one."""

    def asked(self, name, waiting, event, settling=(3,), pinned=True):
        policy = policies.get(name)
        on = cluster(4, tiers=policy.tiers)
        on.adopt(Run(job(3, 3), FG, (0, 0, 0), pinned=pinned))
        snapshot = Snapshot(on, waiting, settling=frozenset(settling))
        actions = policy.schedule(snapshot, event, 0.0)
        started = [
            each.job.number for each in actions if isinstance(each, Start) and each.tier is FG
        ]
        return started, policy.reasons(snapshot)

    def test_idle_slots_are_kept(self):
        large, small = job(2, 4), job(4, cpu=0.99)
        for name in PREEMPTING:
            for event in EVENTS[1:]:
                started, reason_of = self.asked(name, [large, small], event)
                self.assertEqual([], started, (name, event))
        started, reason_of = self.asked("ambf", [large, small], Event.FOREGROUND)
        self.assertIn("waits behind job 2", str(reason_of(small)))

    def test_not_for_a_job_that_lacks_more(self):
        for name in PREEMPTING:
            started, _reason = self.asked(name, [job(2, 5), job(4)], Event.FOREGROUND)
            self.assertEqual([4], started, name)

    def test_nor_while_the_others_never_make_way(self):
        for name in PREEMPTING:
            started, _reason = self.asked(name, [job(2, 4), job(4)], Event.FOREGROUND, settling=())
            self.assertEqual([4], started, name)

    def test_nor_for_one_that_came_after_them(self):
        for name in PREEMPTING:
            started, _reason = self.asked(name, [job(4, 4), job(5)], Event.FOREGROUND)
            self.assertEqual([5], started, name)

    def test_slots_of_hosts_that_take_no_new_vms_do_not_count(self):
        for name in PREEMPTING:
            policy = policies.get(name)
            on = Hosts([Host("a", 1, policy.tiers), Host("b", 3, policy.tiers, enabled=False)])
            on.adopt(Run(job(3, 3), FG, (1, 1, 1), pinned=True))
            snapshot = Snapshot(on, [job(2, 4), job(4)], settling=frozenset({3}))
            [start] = policy.schedule(snapshot, Event.FOREGROUND, 0.0)
            self.assertEqual((4, FG), (start.job.number, start.tier), name)

    def test_nor_is_anything_kept_for_a_job_that_lacks_bandwidth(self):
        """It has slots enough, but an earlier job has the link of one of them."""
        for name in PREEMPTING:
            policy = policies.get(name)
            if not policy.embeds:
                continue
            on = Linked([Host(each, 2, policy.tiers) for each in "abcd"], STAR, tiers=policy.tiers)
            on.adopt(Run(job(1, 4, cpu=0.99, mbps=900), FG, (0, 1, 2, 3), pinned=True))
            waiting = [job(2, 4, cpu=0.99, mbps=900), job(3, cpu=0.99)]
            snapshot = Snapshot(on, waiting, settling=frozenset({1}))
            started = [each.job.number for each in policy.schedule(snapshot, EVENTS[-1], 0.0)]
            self.assertEqual([3], started, name)

    def test_jobs_that_need_not_leave_stay(self):
        """The first waiting job needs the slot of one of them; the second one waits for 30."""
        for name in PREEMPTING:
            policy = policies.get(name)
            on = Hosts([Host("a", 5, policy.tiers)])
            for number in (10, 11, 12):
                on.adopt(Run(job(number, cpu=0.99), FG, (0,)))
            on.adopt(Run(job(30, 2, cpu=0.99), FG, (0, 0), pinned=True))
            waiting = [job(1, 1, cpu=0.99), job(2, 4, cpu=0.99)]
            snapshot = Snapshot(on, waiting, settling=frozenset({30}))
            actions = policy.schedule(snapshot, EVENTS[-1], 0.0)
            self.assertIn(1, [each.job.number for each in actions if isinstance(each, Start)], name)
            self.assertEqual(0, on.idle[FG], name)
