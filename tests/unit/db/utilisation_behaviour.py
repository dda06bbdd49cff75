"""The history of pools, on whatever database."""

from sqlalchemy import func, select

from nova_twotier.db import utilisation
from nova_twotier.db.models import Utilisation
from nova_twotier.db.utilisation import DAY, HOUR, KEPT, MINUTE, Sample, Window

#: The begin of a day.
START = 20_000 * DAY


def sample(fg_used=0, waiting=0, lost=0.0):
    return Sample(
        fg_slots=8,
        fg_used=fg_used,
        fg_free=7 - fg_used,
        bg_slots=8,
        bg_used=1,
        bg_free=2,
        waiting_jobs=waiting,
        running_jobs=3,
        waiting_processes=2 * waiting,
        running_processes=6,
        lost=lost,
    )


class UtilisationBehaviour:
    """Tests of `self.store`, which is empty."""

    def sampled(self, *samples, pool="default"):
        """Samples with their times, in seconds from the start."""
        with self.store.transaction() as session:
            for at, one in samples:
                utilisation.add(session, pool, START + at, one)

    def history(self, *pools, begin=0, end=HOUR, width=MINUTE, step=MINUTE):
        window = Window(START + begin, START + end, width, step)
        with self.store.reading() as session:
            return utilisation.read(session, pools or ["default"], window)

    def used(self, *pools, **window):
        """The used slots of the foreground by the times from the start."""
        found = self.history(*pools, **window).intervals
        return {each.at - START: each.means["fg_used"] for each in found}

    def test_a_queue_of_more_processes_than_a_peak_can_count(self):
        """They may wait where the API has no quotas: the manager goes on."""
        many = 2**31
        for count in range(1, 3):
            self.sampled((30, sample(waiting=many)))
            [found] = self.history().intervals
            self.assertEqual({2 * many}, {found.means["waiting_processes"]}, count)
            self.assertEqual(many - 1, found.peaks["waiting_processes"], count)

    def test_intervals_have_means_peaks_and_sums_of_their_samples(self):
        self.sampled((30, sample(2, 5, 1.5)), (65, sample(4, 1)), (600, sample(7)))
        first, second, _third = self.history().intervals
        self.assertEqual((START, 60), (first.at, first.seconds))
        expected = {
            "fg_slots": 8,
            "fg_used": 2,
            "fg_free": 5,
            "bg_slots": 8,
            "bg_used": 1,
            "bg_free": 2,
            "waiting_jobs": 5,
            "running_jobs": 3,
            "waiting_processes": 10,
            "running_processes": 6,
        }
        self.assertEqual((expected, 1.5), (first.means, first.lost))
        self.assertEqual(4, second.means["fg_used"])
        for shown in ({"width": 600}, {"width": 600, "step": 600}):
            [joined, later] = self.history(**shown).intervals
            self.assertEqual((START, 120, 1.5), (joined.at, joined.seconds, joined.lost))
            self.assertEqual((3, 3), (joined.means["fg_used"], joined.means["waiting_jobs"]), shown)
            peaks = {"fg_used": 4, "bg_used": 1, "waiting_jobs": 5, "waiting_processes": 10}
            self.assertEqual(peaks, joined.peaks)
            self.assertEqual((START + 600, 7), (later.at, later.means["fg_used"]))
        [whole] = self.history(width=HOUR, step=HOUR).intervals
        self.assertEqual((180, 13 / 3), (whole.seconds, whole.means["fg_used"]))

    def test_a_gap_is_a_gap(self):
        self.sampled(*((at, sample(1)) for at in (0, 60, 240)))
        self.assertEqual([0, 60, 240], list(self.used()))
        self.assertEqual([0, 240], list(self.used(width=120)))

    def test_the_window_has_whole_intervals_and_no_others(self):
        self.sampled(*((at, sample(1)) for at in range(0, 600, 60)))
        self.assertEqual([120, 180], list(self.used(begin=120, end=240)))

    def test_pools_are_added_up_where_all_are_known(self):
        self.sampled((0, sample(1)), (60, sample(1)), (120, sample(1)), (180, sample(1)))
        self.sampled((60, sample(4, lost=2.0)), (180, sample(5)), pool="gpu")
        both = ("default", "gpu")
        # The pool gpu began a minute later, and had no manager in another one.
        self.assertEqual({0: 1, 60: 5, 180: 6}, self.used(*both))
        found = self.history(*both)
        self.assertEqual(["default", "gpu"], found.pools)
        self.assertEqual((2.0, 5), (found.intervals[1].lost, found.intervals[1].peaks["fg_used"]))
        self.assertEqual({60: 4, 180: 5}, self.used("gpu"))
        self.assertEqual(["default"], self.history(*both, end=60).pools)
        self.assertEqual(([], []), self.history("none"))

    def test_the_summary_of_intervals_that_were_known_in_part(self):
        self.sampled((0, sample(6)), (60, sample(6)), (120, sample(0, 4, lost=3.0)))
        whole = utilisation.summary(self.history(width=120).intervals)
        self.assertEqual((180, 4, 3.0), (whole.seconds, whole.means["fg_used"], whole.lost))
        self.assertEqual((6, 4), (whole.peaks["fg_used"], whole.peaks["waiting_jobs"]))
        self.assertIsNone(utilisation.summary([]))

    def test_the_present(self):
        self.sampled((0, sample(1)), (60, sample(2)))
        self.sampled((0, sample(3)), pool="gpu")
        with self.store.reading() as session:

            def latest(*pools, at=100):
                found = utilisation.latest(session, pools, START + at)
                return found and (found.at - START, found.means["fg_used"])

            self.assertEqual((60, 2), latest("default"))
            self.assertEqual((0, 5), latest("default", "gpu"))
            self.assertEqual((0, 1), latest("default", at=60))
            self.assertIsNone(latest("default", "none"))
            self.assertIsNone(latest())
            self.assertIsNone(latest("default", at=60 + utilisation.PRESENT + 1))

    def test_the_number_of_rows_is_bounded(self):
        """Sixteen months, in which a manager takes a sample now and then."""
        every = 73 * HOUR
        with self.store.transaction() as session:
            utilisation.add(session, "gone", START, sample())
            for at in range(START, START + 500 * DAY, every):
                utilisation.add(session, "default", at, sample())
                utilisation.expire(session, at)
        columns = Utilisation.step, func.count(), func.min(Utilisation.at), Utilisation.pool
        query = select(*columns).group_by(Utilisation.step, Utilisation.pool)
        with self.store.reading() as session:
            found = {step: rest for step, *rest in session.execute(query)}
        for step, seconds in KEPT.items():
            number, first, pool = found.pop(step)
            self.assertEqual(("default", seconds // every + 1), (pool, number))
            self.assertLess(first, at - seconds + every)
        self.assertEqual({}, found)

    def test_the_state_changes_with_the_samples_alone(self):
        window = Window(START, START + HOUR, MINUTE, MINUTE)

        def state(now=90, pools=("default",)):
            with self.store.reading() as session:
                return utilisation.state(session, pools, window, START + now)

        self.sampled((0, sample()))
        before = state()
        self.store.submit(1, [])
        self.sampled((60, sample()), pool="gpu")
        self.assertEqual(before, state())
        self.sampled((60, sample()))
        after = state()
        self.assertNotEqual(before, after)
        self.sampled((61, sample()))
        self.assertNotEqual(after, state())
        self.assertEqual(state(), state(now=100))
