"""Accounting, on whatever database: its sums are those of the recorded schedule."""

import csv
import io
from collections import Counter, defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from nova_twotier.db import purge, usage
from nova_twotier.db.models import Event, Job, Place, UsageDay
from nova_twotier.db.states import JobState
from nova_twotier.db.usage import By, InvalidUsage, Key, Question, Span
from nova_twotier.manager import schedule

DAY, HOUR = 86400, 3600
#: The last hour before a new month, in UTC.
BEGIN = 1793487600.0
MOST = 10_000

_times = st.integers(0, 60 * 4 * HOUR).map(lambda quarters: BEGIN + quarters / 4)
#: The times at which the processes of a job change their tier; the last: they give it up, or hold
#: it still.
_stays = st.fixed_dictionaries(
    {
        "size": st.integers(1, 3),
        "times": st.lists(_times, min_size=2, max_size=5, unique=True).map(sorted),
        "held": st.booleans(),
        "first": st.sampled_from(["fg", "bg"]),
        "project_id": st.sampled_from("ab"),
        "user_id": st.sampled_from("uv"),
        "pool": st.sampled_from(["default", "gpu"]),
        "qos": st.sampled_from(["normal", "scavenger"]),
        "then": st.sampled_from([None, "normal", "urgent"]),
        "discarded": st.one_of(st.none(), _times),
    }
)
_periods = st.tuples(_times, _times).filter(lambda pair: pair[0] < pair[1])


class UsageBehaviour:
    """Tests of `self.store`, a new one for each."""

    def stay(
        self, size=1, times=(0.0, 1.0), first="fg", held=False, discarded=None, then=None, **owner
    ):
        """Record the stays of a new job; returns its number.

        :param then: its class in them; None: an earlier release has recorded them.
        """
        job = self.store.submit(size, [1.0], at=times[0], **owner)
        tiers = ["fg", "bg"] if first == "fg" else ["bg", "fg"]
        spans = list(zip(times, [*times[1:-1], None if held else times[-1]], strict=False))
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.started_at, row.discarded_at = times[0], discarded
            row.state = JobState.RUNNING
            if not held:
                row.state, row.finished_at = JobState.FINISHED, times[-1]
            session.add_all(
                Place(
                    job=job.number,
                    process=process,
                    server=f"{job.number}-{process}",
                    host="h",
                    tier=tiers[turn % 2],
                    since=since,
                    until=until,
                    qos=then,
                )
                for turn, (since, until) in enumerate(spans)
                for process in range(size)
            )
        return job.number

    def ask(self, start, end, *by, **selected):
        question = Question(period=Span(start, end), by=by, **selected)
        with self.store.reading() as session:
            return usage.usage(session, question, MOST)

    def total(self, start, end, *by, **selected):
        return usage.total(self.ask(start, end, *by, **selected).values())

    def scheduled(self, start, end):
        """Slot-seconds by job and tier in a period, from the export of the schedule."""
        with self.store.reading() as session:
            rows = list(csv.DictReader(io.StringIO(schedule.as_csv(schedule.places(session)))))
        found = Counter()
        for row in rows:
            until = min(float(row["to"] or end), end)
            seconds = until - max(float(row["from"]), start)
            found[int(row["job"]), row["tier"]] += max(0.0, seconds)
        return found

    def empty(self):
        with self.store.transaction() as session:
            for table in (Event, Place, UsageDay, Job):
                session.execute(delete(table))

    def check_sums(self, stays, period):
        self.empty()
        numbers = {self.stay(**each): each for each in stays}
        scheduled = self.scheduled(*period)
        for by in ((), *((each,) for each in By), (By.PROJECT, By.MONTH), (By.QOS, By.DAY)):
            total = self.total(*period, *by)
            for tier, found in (("fg", total.foreground), ("bg", total.background)):
                wanted = sum(value for (_job, of), value in scheduled.items() if of == tier)
                self.assertAlmostEqual(wanted, found, 3, by)
            self.assertLessEqual(total.lost, total.used + 0.001)
        sums = defaultdict(float)
        for (number, _tier), seconds in scheduled.items():
            sums[numbers[number]["project_id"], numbers[number]["user_id"]] += seconds
        for (project, user), seconds in sums.items():
            of_both = self.total(*period, project_id=project, user_id=user)
            self.assertAlmostEqual(seconds, of_both.used, 3)
        classes = Counter()
        for (number, _tier), seconds in scheduled.items():
            classes[numbers[number]["then"] or numbers[number]["qos"]] += seconds
        for key, row in self.ask(*period, By.QOS).items():
            self.assertAlmostEqual(classes[key.qos], row.used, 3)
        for key, row in self.ask(*period, By.JOB).items():
            mine = scheduled[key.job, "fg"] + scheduled[key.job, "bg"]
            self.assertAlmostEqual(mine, row.used, 3)
            before = numbers[key.job]["discarded"] or period[0]
            cut = self.scheduled(period[0], max(period[0], min(period[1], before)))
            self.assertAlmostEqual(cut[key.job, "fg"] + cut[key.job, "bg"], row.lost, 3)

    def test_the_sums_are_those_of_the_schedule(self):
        # Made here, since each database is a test case of its own. They may be slow.
        @settings(max_examples=30, deadline=None)
        @given(st.lists(_stays, max_size=4), _periods)
        def check(stays, period):
            self.check_sums(stays, period)

        check()

    def check_purge(self, stays, first, length):
        self.empty()
        for each in stays:
            self.stay(**each)
        # The newest job and the newest event are never purged.
        self.store.submit(1, [1.0], project_id="newest")
        start = (BEGIN // DAY + first) * DAY
        end = start + length * DAY
        groups = ((By.PROJECT,), (By.USER, By.DAY), (By.POOL, By.MONTH), (By.QOS, By.DAY), ())
        before = [self.ask(start, end, *by) for by in groups]
        purged = purge.purge(self.store, BEGIN + 60 * DAY, pause=lambda _seconds: None)
        self.assertEqual(sum(not each["held"] for each in stays), purged.jobs)
        for by, rows in zip(groups, before, strict=True):
            after = self.ask(start, end, *by)
            self.assertEqual(rows.keys(), after.keys(), by)
            for key, row in rows.items():
                for name, value in vars(row).items():
                    self.assertAlmostEqual(value, getattr(after[key], name), 3, (by, name))

    def test_the_sums_outlive_a_purge(self):
        @settings(max_examples=15, deadline=None)
        @given(st.lists(_stays, max_size=4), st.integers(0, 2), st.integers(1, 3))
        def check(stays, first, length):
            self.check_purge(stays, first, length)

        check()

    def test_a_purge_meanwhile_changes_no_sum(self):
        for purged_before in range(5):
            self.empty()
            for project in "ab":
                self.stay(2, (BEGIN, BEGIN + 10.0, BEGIN + 30.0), project_id=project)
            self.store.submit(1, [1.0])
            question = Question(period=Span(BEGIN - DAY, BEGIN + DAY), by=[By.PROJECT])
            alone = self.ask(BEGIN - DAY, BEGIN + DAY, By.PROJECT)
            with self.store.snapshot() as session:
                asked, execute = [], session.execute

                def slowly(query, asked=asked, execute=execute, turn=purged_before):
                    if len(asked) == turn:
                        purge.purge(self.store, BEGIN + 60 * DAY, pause=lambda _seconds: None)
                    asked.append(query)
                    return execute(query)

                session.execute = slowly
                found = usage.usage(session, question, MOST)
            self.assertEqual(alone, found, purged_before)

    def test_after_a_snapshot_others_write_as_before(self):
        job = self.store.submit(1, [1.0])
        with self.store.snapshot() as session:
            session.get(Job, job.number)
        with self.store.transaction() as session:
            before = session.get(Job, job.number)
            with self.store.reading() as other:
                other.get(Job, job.number)
            before.name = "new"
        self.assertEqual("new", self.store.job(job.number).name)

    def test_a_slot_that_is_held_counts_until_the_end_of_the_period(self):
        self.stay(2, (BEGIN, BEGIN + 1.0), held=True)
        for seconds in (10.0, 20.0):
            self.assertEqual(2 * seconds, self.total(BEGIN, BEGIN + seconds).foreground)

    def test_days_and_months_are_those_of_utc(self):
        self.stay(1, (BEGIN, BEGIN + 3 * HOUR), project_id="a")
        for by in (By.DAY, By.MONTH):
            rows = self.ask(BEGIN - HOUR, BEGIN + 10 * HOUR, by)
            self.assertEqual(
                {0: HOUR, 1: 2 * HOUR}, {key.span: row.used for key, row in rows.items()}
            )
        spans = Question(period=Span(BEGIN, BEGIN + 40 * DAY), by=[By.MONTH]).spans
        self.assertEqual([HOUR, 30 * DAY], [span.end - span.start for span in spans[:2]])

    def test_counts_the_jobs_that_started_and_ended(self):
        self.stay(1, (BEGIN, BEGIN + 10), user_id="u")
        self.stay(1, (BEGIN + 5, BEGIN + 20), user_id="u")
        self.stay(1, (BEGIN + 6, BEGIN + 20), user_id="v", held=True)
        row = self.total(BEGIN + 1, BEGIN + 20, user_id="u")
        self.assertEqual((1, 1), (row.started, row.ended))
        row = self.total(BEGIN, BEGIN + 21)
        self.assertEqual((3, 2), (row.started, row.ended))

    def test_a_job_is_of_a_project_a_user_and_a_pool(self):
        number = self.stay(1, (BEGIN, BEGIN + 10), project_id="a", user_id="u", pool="gpu")
        [key] = self.ask(BEGIN, BEGIN + 20, By.JOB)
        self.assertEqual(Key(0, "a", "u", "gpu", None, number), key)

    def test_a_stay_counts_for_the_class_that_the_job_had_then(self):
        """It started and ended in the class that it had at its end."""
        begin = BEGIN // DAY * DAY
        times = (begin + 5, begin + 15)
        self.stay(2, times, qos="normal", then="scavenger", project_id="a")
        self.stay(1, times, qos="urgent", project_id="a")
        purge_before = begin + DAY
        self.store.submit(1, [1.0])
        for _purged in (False, True):
            rows = self.ask(begin, begin + DAY, By.PROJECT, By.QOS)
            self.assertEqual(
                {"normal": (0.0, 1, 1), "scavenger": (20.0, 0, 0), "urgent": (10.0, 1, 1)},
                {key.qos: (row.used, row.started, row.ended) for key, row in rows.items()},
            )
            self.assertEqual(self.total(begin, begin + DAY), usage.total(rows.values()))
            purge.purge(self.store, purge_before, pause=lambda _seconds: None)
        self.assertEqual([None], [key.job for key in self.ask(begin, begin + DAY, By.JOB)])

    def test_a_stay_that_ends_before_it_begins_counts_nothing(self):
        self.stay(1, (BEGIN + 10, BEGIN))
        self.assertEqual(0.0, self.total(BEGIN - DAY, BEGIN + DAY).used)

    def test_what_is_purged_in_several_steps_is_added_up(self):
        for _each in range(2):
            self.stay(1, (BEGIN, BEGIN + 10))
            self.store.submit(1, [1.0])
            purge.purge(self.store, BEGIN + DAY, pause=lambda _seconds: None)
        row = self.total(BEGIN // DAY * DAY, BEGIN + DAY)
        self.assertEqual((20.0, 2, 2), (row.foreground, row.started, row.ended))

    def test_questions_that_have_no_answer(self):
        for start, end, by, told in (
            (5.0, 5.0, (), "start: give a time before the end"),
            (0.0, 1.0, (By.DAY, By.MONTH), "by: give day or month, not both"),
        ):
            error = self.assertRaises(InvalidUsage, Question, period=Span(start, end), by=by)
            self.assertIn(told, str(error))
        for user in "abc":
            self.stay(1, (BEGIN, BEGIN + 10), user_id=user)
        question = Question(period=Span(BEGIN, BEGIN + 20), by=[By.USER])
        with self.store.reading() as session:
            error = self.assertRaises(InvalidUsage, usage.usage, session, question, 2)
        self.assertIn("more than 2 rows", str(error))

    def test_many_days_in_one_answer(self):
        self.stay(1, (0.0, 500.0 * DAY))
        rows = self.ask(0.0, 600.0 * DAY, By.DAY)
        used = {key.span: row.used for key, row in rows.items() if row.used}
        self.assertEqual(dict.fromkeys(range(500), float(DAY)), used)
