"""The loop of a replay, on a cloud and a manager of a few lines, in no time."""

import itertools
import time
import types

import testtools
from novaclient import exceptions as nova_exc

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import waits
from nova_twotier.db.models import Action, Event
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.db.store import open_jobs
from nova_twotier.ledger.claims import Claim
from nova_twotier.tools.replay import player as player_module
from nova_twotier.tools.replay import summary
from nova_twotier.tools.replay.clock import Clock
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.invariants import CLEAN, WHOLE
from nova_twotier.tools.replay.player import Player
from nova_twotier.tools.replay.queue import Queue
from nova_twotier.tools.replay.roster import Roster
from nova_twotier.tools.replay.sampling import Sample
from nova_twotier.tools.replay.workload import ReplayJob
from tests.new_databases import new_store
from tests.unit.replay.fakes import FG, HOSTS

TOO_LARGE = waits.TOO_LARGE(size=9, slots=8)


class Time:
    def __init__(self):
        self.at = time.time()  # The store's own clock is real; the replay's goes on from there.

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.at += max(seconds, 0.01)


class World:
    """A manager that runs one single-process job at a time, and a cloud that does as it is told."""

    def __init__(self, store, time, largest=4):
        self.store, self.time, self.largest = store, time, largest
        self.running = None
        self.stopped = set()
        self.fail = []
        self.conflicts = 0
        self.losses, self.stopping = 0, set()
        self.groups, self.kept, self.migrations = set(), set(), {}
        servers = types.SimpleNamespace(stop=self.stop, reset_state=self.reset_state)
        self.nova = types.SimpleNamespace(servers=servers)

    def stop(self, server):
        if self.conflicts:
            self.conflicts -= 1
            raise nova_exc.Conflict(409)
        if self.losses:
            self.losses -= 1
            self.stopping.add(server)
        else:
            self.stopped.add(server)

    def reset_state(self, server, _state):
        self.stopping.remove(server)

    def sample(self, now):
        if self.fail:
            raise CloudError(self.fail.pop())
        self.manage(now)
        if self.running is None:
            return Sample(now, HOSTS, claims={vm: [Claim(vm, "h2", FG, 0)] for vm in self.kept})
        vm = f"vm{self.running}"
        status = "SHUTOFF" if vm in self.stopped else "ACTIVE"
        task = "powering-off" if vm in self.stopping else None
        server = Server(vm, self.store.job(self.running).uuid, 0, status, task, "h1")
        return Sample(now, HOSTS, (server,), {vm: [Claim(vm, "h1", FG, 0)]})

    def manage(self, now):
        with self.store.transaction() as session:
            for job in open_jobs(session):
                if job.state == JobState.QUEUED and job.size > self.largest:
                    job.state, job.reason, job.finished_at = JobState.FAILED, TOO_LARGE, now
                elif job.state == JobState.QUEUED and self.running is None:
                    job.state, job.tier, job.started_at = JobState.RUNNING, FG, now
                    self.running = job.number
                elif job.number == self.running and f"vm{job.number}" in self.stopped:
                    job.state, job.finished_at, self.running = JobState.FINISHED, now, None
                    session.add(Event(at=now, job=job.number, kind="finished"))

    def live_migrations(self, servers):
        return self.migrations

    def entries_held(self):
        return {}

    def server_groups(self):
        return self.groups


def job(number, submit, runtime=100.0, size=1):
    return ReplayJob(number, f"j-{number}", submit, runtime, None, size, (0.5,) * size)


class TestPlayer(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.time = Time()
        self.store = new_store(self)
        self.world = World(self.store, self.time)
        self.said = []

    def player(self, *jobs, speedup=10.0):
        roster = Roster()
        return Player(
            jobs=list(jobs),
            queue=Queue(self.store, roster),
            roster=roster,
            cloud=self.world,
            sampler=self.world,
            clock=Clock(self.time.at, speedup),
            show=lambda player: None,
            say=self.said.append,
            now=self.time.now,
            sleep=self.time.sleep,
        )

    def summary(self, player):
        return summary.summarise(player, {"name": "x"})

    def test_jobs_run_one_after_the_other_and_all_invariants_hold(self):
        player = self.player(job(1, 0), job(2, 50))
        player.play(timeout=600)
        totals = self.summary(player)["totals"]
        said = summary.verdicts(self.summary(player))
        self.assertTrue(player.invariants.hold, said)
        self.assertEqual([f"✓ {name}" for name in player.invariants.all], said)
        self.assertEqual((2, 2, 0), (totals["jobs"], totals["finished"], totals["rejected"]))
        self.assertTrue(totals["response"] >= 100)
        self.assertAlmostEqual(totals["response"] - 100, totals["wait"])

    def test_starting_takes_a_share_of_a_stay(self):
        """The first start counts, not the restore."""
        player = self.player(job(1, 0))
        player.play(timeout=600)
        self.assertIsNone(self.summary(player)["totals"]["start_share"])
        (record,) = self.store.jobs()
        stay = record.finished_at - record.started_at
        with self.store.transaction() as session:
            for took in (stay / 4, stay / 2):
                session.add(
                    Action(
                        kind=ActionKind.START,
                        job=record.number,
                        phase=0,
                        plan_data={},
                        state=ActionState.DONE,
                        created_at=1000.0,
                        closed_at=1000.0 + took,
                    )
                )
                session.flush()
        self.assertAlmostEqual(0.25, self.summary(player)["totals"]["start_share"])

    def test_a_server_group_that_stays(self):
        player = self.player(job(1, 0))
        player.show = lambda player: self.world.groups.update(
            f"twotier-{entry.uuid}" for entry in player.roster
        )
        player.play(timeout=600)
        self.assertEqual(["1 server groups"], player.invariants.all[CLEAN].broken)

    def test_claims_that_stay(self):
        """Nova's own leak is said, and does not count."""
        self.world.kept = {"vm9", "migration"}
        self.world.migrations = {"migration": "error", "another": "completed"}
        player = self.player(job(1, 0))
        player.play(timeout=600)
        self.assertEqual(["claims of 1 consumers"], player.invariants.all[CLEAN].broken)
        self.assertIn("note: Nova keeps the claims of 1 migrations", self.said[-1])
        self.assertEqual(1, self.summary(player)["totals"]["live_migrations"])

    def test_a_job_that_counts_as_running_without_a_server(self):
        player = self.player(job(1, 0))
        rounds = []

        def take_away(_player):
            rounds.append(1)
            if len(rounds) == 3:
                self.world.sample = lambda now: Sample(now, HOSTS)
            if len(rounds) == 5:
                raise KeyboardInterrupt

        player.show = take_away
        player.play(timeout=600)
        self.assertEqual(2, len(player.invariants.all[WHOLE].broken))

    def test_a_job_that_the_manager_refuses_is_reported_and_the_replay_goes_on(self):
        player = self.player(job(1, 0, size=9), job(2, 0))
        player.play(timeout=600)
        totals = self.summary(player)["totals"]
        self.assertEqual((1, 1), (totals["finished"], totals["rejected"]))
        self.assertTrue(player.invariants.hold)

    def test_stopping_is_tried_again_after_a_conflict(self):
        self.world.conflicts = 3
        player = self.player(job(1, 0))
        player.play(timeout=600)
        self.assertEqual({"vm1"}, self.world.stopped)

    def test_stopping_is_tried_again_after_nova_has_forgotten_it(self):
        self.world.losses = 1
        player = self.player(job(1, 0))
        player.play(timeout=600)
        self.assertEqual({"vm1"}, self.world.stopped)
        self.assertEqual(1, len(self.said), self.said)

    def test_a_cloud_that_is_away_for_a_moment(self):
        self.world.fail = ["Nova does not answer"] * 3
        player = self.player(job(1, 0))
        player.play(timeout=600)
        self.assertTrue(player.invariants.hold)
        self.assertEqual(["warning: Nova does not answer; going on"] * 3, self.said)

    def test_a_cloud_that_stays_away_ends_the_replay(self):
        self.world.fail = ["Nova does not answer"] * 1000
        error = self.assertRaises(ReplayError, self.player(job(1, 0)).play, 600)
        self.assertEqual("no answer for 60 s, giving up: Nova does not answer", str(error))

    def test_without_a_manager_one_warning_says_what_to_do(self):
        self.world.manage = lambda now: None
        player = self.player(job(1, 0))
        player.play(timeout=60)
        warnings = [line for line in self.said if "twotier-manager" in line]
        self.assertEqual(1, len(warnings))
        self.assertEqual("not over after 60 s", player.interrupted)
        self.assertFalse(player.invariants.hold)

    def test_what_was_never_checked_does_not_count_as_held(self):
        self.world.manage = lambda now: None
        player = self.player(job(1, 0))
        player.play(timeout=60)
        said = summary.verdicts(self.summary(player))
        self.assertIn(f"✗ {WHOLE}: never checked", said)

    def test_an_interruption_ends_it_with_what_was_seen(self):
        player = self.player(job(1, 0, runtime=1e6))
        rounds = []

        def interrupt(_player):
            rounds.append(1)
            if len(rounds) == 5:
                raise KeyboardInterrupt

        player.show = interrupt
        player.play(timeout=600)
        self.assertEqual("interrupted", player.interrupted)
        self.assertEqual(1, len(player.recorder.intervals))
        self.assertEqual(0, self.summary(player)["totals"]["finished"])

    def test_samples_come_at_their_interval(self):
        player = self.player(job(1, 0))
        player.play(timeout=600)
        times = [length.at for length in player.queue_lengths]
        gaps = [late - early for early, late in itertools.pairwise(times)]
        self.assertGreater(len(gaps), 10)
        for gap in gaps:
            self.assertAlmostEqual(player_module.INTERVAL, gap, places=1)
