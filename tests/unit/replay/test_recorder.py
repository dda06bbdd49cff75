"""What the recorder makes of samples."""

import testtools

from nova_twotier.tools.replay.recorder import Kind, Recorder
from tests.unit.replay.fakes import BG, FG, roster, sample


class TestRecorder(testtools.TestCase):
    def record(self, jobs, *samples):
        recorder = Recorder(roster(*jobs), began=100.0)
        for each in samples:
            recorder.see(each)
        return recorder

    def happened(self, recorder):
        return [(h.at, h.kind, h.job, h.tier, h.vms) for h in recorder.happenings]

    def test_life_of_a_job(self):
        recorder = self.record(
            [((0.5, 0.5), 60)],
            sample(101, (1, 0, "h1", FG, "BUILD", "spawning"), (1, 1, "h2", FG)),
            sample(102, (1, 0, "h1", FG), (1, 1, "h2", FG)),
            sample(105),
        )
        self.assertEqual(
            [(2, Kind.START, 1, FG, 2), (5, Kind.END, 1, FG, 2)], self.happened(recorder)
        )
        self.assertEqual(
            [("h1", 1, 5, Kind.START, Kind.END), ("h2", 1, 5, Kind.START, Kind.END)],
            [(i.host, i.begin, i.end, i.came, i.left) for i in recorder.intervals],
        )

    def test_swap_and_migration_in_one_move(self):
        recorder = self.record(
            [((0.5, 0.5), 60)],
            sample(101, (1, 0, "h1", BG), (1, 1, "h1", BG)),
            sample(102, (1, 0, "h1", FG), (1, 1, "h1", BG, "MIGRATING", "migrating")),
            sample(103, (1, 0, "h1", FG), (1, 1, "h2", FG)),
        )
        self.assertEqual(
            [(1, Kind.START, 1, BG, 2), (3, Kind.MIGRATE, 1, FG, 1), (3, Kind.SWAP, 1, FG, 1)],
            self.happened(recorder),
        )
        self.assertEqual(
            [Kind.START, Kind.START, Kind.SWAP, Kind.MIGRATE],
            [interval.came for interval in recorder.intervals],
        )

    def test_eviction_and_restore_elsewhere_is_no_migration(self):
        recorder = self.record(
            [((0.5, 0.5), 60)],
            sample(101, (1, 0, "h1", FG), (1, 1, "h1", FG)),
            sample(102, (1, 0, None, None, "SHELVED_OFFLOADED"), (1, 1, "h1", FG)),
            sample(103, *((1, i, None, None, "SHELVED_OFFLOADED") for i in range(2))),
            sample(104, (1, 0, "h2", BG), (1, 1, "h2", BG)),
        )
        self.assertEqual(
            [(1, Kind.START, 1, FG, 2), (3, Kind.EVICT, 1, FG, 2), (4, Kind.RESTORE, 1, BG, 2)],
            self.happened(recorder),
        )
        self.assertEqual(
            [(1, 2), (1, 3), (4, None), (4, None)], [(i.begin, i.end) for i in recorder.intervals]
        )

    def test_a_claim_that_a_read_missed_or_saw_twice_changes_nothing(self):
        recorder = self.record(
            [((0.5,), 60)],
            sample(101, (1, 0, "h1", FG)),
            sample(102, (1, 0, "h1", None)),
            sample(103, (1, 0, "h1", [FG, BG])),
            sample(104, (1, 0, "h1", FG)),
        )
        self.assertEqual(1, len(recorder.intervals))
        self.assertEqual([(1, Kind.START, 1, FG, 1)], self.happened(recorder))

    def test_servers_of_strangers_are_not_ours(self):
        recorder = self.record([((0.5,), 60)], sample(101, (9, 0, "h1", FG)))
        self.assertEqual(([], set()), (recorder.intervals, recorder.seen))

    def test_what_is_still_there_at_the_end_is_closed_without_a_reason(self):
        recorder = self.record([((0.5,), 60)], sample(101, (1, 0, "h1", FG)))
        recorder.finish(107)
        self.assertEqual([(7, None)], [(i.end, i.left) for i in recorder.intervals])
