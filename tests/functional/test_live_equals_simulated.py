"""Live equals simulated: fed with the events of a live run, the simulator decides the same.

The queue manager plays an excerpt of a trace, one event at a time: a job that is just starting can
neither be moved nor evicted, and the simulator knows no such thing. For the same reason the clock
stands still meanwhile: the time that Nova takes would shift what EASY reserves.
"""

import dataclasses
import os

import fixtures
from sqlalchemy import select

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.db.models import Action
from nova_twotier.db.states import ActionState, JobState
from nova_twotier.ledger import claims
from nova_twotier.manager import schedule
from nova_twotier.sim import scripted
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.workloads import swf
from nova_twotier.tools.replay import decisions, stepwise, workload
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.run import EXCERPT
from nova_twotier.tools.replay.sampling import Sample
from tests.functional.fake_nova import FakeNova
from tests.functional.fake_placement import FakePlacement
from tests.functional.manager_case import ENOUGH, ManagerTestCase

#: Records of the trace before those that are played; with the usual ones, every kind of decision
#: occurs. Others: `TWOTIER_TEST_SKIPPED=8 pytest tests/functional/test_live_equals_simulated.py`.
SKIPPED = os.environ.get("TWOTIER_TEST_SKIPPED")
#: The manager hears of an event a moment later, in seconds.
MOMENT = 0.25
#: Kinds of decisions that the usual jobs lead to, as `kinds` names them.
FCFS = {"start fg immediate"}
EASY = FCFS | {"start fg backfilled", "start fg reserved"}
AMCBF = {
    *("start fg immediate", "start fg backfilled", "start bg immediate", "start bg backfilled"),
    *("evict", "start again fg immediate", "start again bg immediate"),
    *("move to fg in place", "move to fg elsewhere", "move to fg in part", "move to bg in place"),
}
ACFCFS = {
    *("start fg immediate", "start fg tentative", "start bg tentative"),
    *("kill", "kill by itself", "start again fg immediate", "start again bg tentative"),
    *("move to fg in place", "move to bg in place"),
}


class PromptNova(FakeNova):
    """Schedules a server when it is asked to restore it, so one after the other."""

    def unshelve(self, server):
        super().unshelve(server)
        placed = self._claim(self.fleet[server.id])
        self._under_way[server.id] = self._place if placed else self._offload

    @property
    def busy(self):
        return bool(self._under_way)


class Remembering:
    """Placement, which is asked once for what has not changed since: only we write."""

    def __init__(self, placement):
        self._placement = placement
        self._answers = {}
        self._held = {}

    def get(self, url):
        if url not in self._answers:
            self._answers[url] = self._placement.get(url)
        return self._answers[url]

    def put(self, url, body=None):
        self._answers.clear()
        return self._placement.put(url, body)

    def delete(self, url):
        self._answers.clear()
        return self._placement.delete(url)

    def post(self, url, body):
        if url == "/allocations":
            self._forget(body)
        else:
            self._answers.clear()
        return self._placement.post(url, body)

    def _forget(self, changes):
        """What is known of these consumers, and of the providers that they hold or held."""
        changed = set(changes)
        for consumer, entry in changes.items():
            providers = set(entry["allocations"])
            changed |= providers | self._held.get(consumer, set())
            self._held[consumer] = providers
        for url in list(self._answers):
            if "?" in url or any(uuid in url for uuid in changed):
                del self._answers[url]


class LiveEqualsSimulated(ManagerTestCase):
    HOSTS = 4
    SLOTS = 3
    JOBS = 40
    USUAL = 4

    def setUp(self):
        super().setUp()
        self.cloud(seed=1)
        nova = self.nova
        self.nova = PromptNova(nova.placement, nova.roots, nova.shape, nova.faults, nova.random)

    def compare(self, policy, expected):
        """Order, jobs, tiers and preemptors of all decisions, where Nova's scheduler put the jobs.

        :param expected: kinds of decisions that are among them.
        """
        self.live(policy)
        live = self.decided()
        simulated, stays = self.simulate(policy, self.placed())
        self.alike(simulated, live)
        self.alike(stays, self.stays())
        if SKIPPED is None:
            self.assertEqual(set(), expected - kinds(live))

    def compare_places(self, policy):
        """Nova's scheduler put them where the policy thought.

        Not so where the policy thinks otherwise while it plays a decision out: it places smaller
        jobs first on trial, and does not know yet who has to leave the background in the end.
        """
        if SKIPPED is None:
            _simulated, stays = self.simulate(policy)
            self.alike(stays, self.stays())

    def alike(self, simulated, live):
        self.assertEqual([], decisions.difference(map(str, simulated), map(str, live)))

    # The live run

    def live(self, policy):
        trace = swf.read(EXCERPT)
        skipped = int(SKIPPED or self.USUAL)
        records = trace.records[skipped : skipped + self.JOBS]
        jobs = workload.fit(records, trace.processors, self.HOSTS * self.SLOTS)
        self.manager = self.engine(policy)
        stepwise.play(jobs, Roster(), self)
        self.assertEqual({JobState.FINISHED}, {job.state for job in self.store.jobs()})
        self.check_clean()

    def submit(self, job, now):
        row = self.store.submit(job.size, list(job.cpu), estimate=job.estimate, at=now)
        self.now = now + MOMENT
        return Entry(row.number, row.uuid, job)

    def stop(self, servers, now):
        for server in servers:
            self.nova.guest_stops(server.id)
        self.now = now + MOMENT

    def settle(self):
        for _round in range(ENOUGH):
            if not (self.manager.poll() or self.nova.busy or self.left()):
                return self.sample()
            self.nova.work()
        raise AssertionError(f"still at work after {ENOUGH} rounds: {self.left()}")

    def left(self):
        """Actions that are not over."""
        return [action for action in self.actions() if action.state == ActionState.EXPECTED]

    def sample(self):
        held = claims.read_claims(self.ledger, self.tiers)
        return Sample(self.now, self.tiers, tuple(self.nova.servers()), held)

    # What became of it

    def actions(self):
        with self.store.reading() as session:
            return list(session.scalars(select(Action).order_by(Action.id)))

    def places(self):
        with self.store.reading() as session:
            return list(schedule.places(session))

    def decided(self):
        actions = self.actions()
        failed = [action.reason for action in actions if action.state != ActionState.DONE]
        self.assertEqual([], failed)
        return [_whole(one) for one in decisions.recorded(actions)]

    def placed(self):
        hosts = [host.name for host in self.tiers]
        return decisions.placed(self.actions(), self.places(), hosts)

    def stays(self):
        """Job, process, host, tier, begin and end of each stay, in whole seconds."""
        return sorted(
            (p.job, p.process, p.host, Tier(p.tier), int(p.since), int(p.until))
            for p in self.places()
            if p.until > p.since
        )

    # The simulation

    def simulate(self, policy, placed=None):
        """What the simulator decides, and its stays, when jobs arrive and end as they did.

        :param placed: where they were put; by default, the policy puts them somewhere.
        """
        hosts = [host.name for host in self.tiers]
        cluster = Cluster([Host(name, self.SLOTS, self.TIERS) for name in hosts])
        jobs = [self.store.job(number) for number in range(1, self.JOBS + 1)]
        recorder = Recorder(self.SLOTS)
        try:
            decided = scripted.decide(
                [job.core for job in jobs],
                {job.number: job.finished_at for job in jobs},
                policies.get(policy),
                cluster,
                placed,
                recorder,
            )
        except scripted.Diverged as diverged:
            decided = diverged.decisions
        stays = sorted(
            (s.job, s.process, hosts[s.slot // self.SLOTS], s.tier, int(s.begin), int(s.end))
            for s in recorder.stays()
        )
        return [_whole(one) for one in decisions.simulated(decided)], stays


class TestOnPlacement(LiveEqualsSimulated):
    """A few of the jobs, since Placement takes nearly all of the time."""

    JOBS = 14
    USUAL = 8

    def setUp(self):
        super().setUp()
        self.nova.placement = self.ledger = Remembering(self.ledger)

    def test_amcbf(self):
        expected = {"start bg immediate", "evict", "start again bg immediate"}
        moves = {"move to fg elsewhere", "move to fg in part", "move to bg in place"}
        self.compare("amcbf", expected | moves)


class TestInMemory(LiveEqualsSimulated):
    """All of them under each policy, in a tenth of the time."""

    def setUp(self):
        placement = "placement.tests.functional.fixtures.placement.PlacementFixture"
        self.useFixture(fixtures.MonkeyPatch(placement, fixtures.Fixture))
        client = "tests.functional.ledger_case.client_of"
        self.useFixture(fixtures.MonkeyPatch(client, lambda _fixture: FakePlacement()))
        super().setUp()

    def test_fcfs(self):
        self.compare("fcfs", FCFS)
        self.compare_places("fcfs")

    def test_easy(self):
        self.compare("easy", EASY)
        self.compare_places("easy")

    def test_amcbf(self):
        self.compare("amcbf", AMCBF)
        self.compare_places("amcbf")

    def test_acfcfs(self):
        self.compare("acfcfs", ACFCFS)


def kinds(log):
    """What kinds of decisions there are in a log."""
    found, started = set(), set()
    for one in log:
        if one.kind == decisions.START:
            again = " again" if one.job in started else ""
            found.add(f"start{again} {one.tier} {one.how}")
            started.add(one.job)
        elif one.kind == decisions.MOVE:
            how = "in part" if one.in_place else "elsewhere"
            found.add(f"move to {one.tier} {how if one.migrating else 'in place'}")
        else:
            found.add(f"{one.kind} by itself" if one.by == decisions.ITSELF else one.kind)
    return found


def _whole(decided):
    """At a whole second."""
    return dataclasses.replace(decided, at=int(decided.at))
