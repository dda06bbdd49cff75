"""Usage through the API: whose, of which period, and by what."""

import time
from datetime import UTC, datetime

import fixtures
from sqlalchemy import update

from nova_twotier.db import purge
from nova_twotier.db.models import Job, Place, UsageDay
from nova_twotier.db.states import JobState
from tests.unit.api.case import ApiCase

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()
NONE = {"foreground": 0.0, "background": 0.0, "lost": 0.0, "jobs_started": 0, "jobs_ended": 0}


class UsageCase(ApiCase):
    """Alice of demo used 2 slots for 100 s, bob of demo one for 50 s, and eve of other one."""

    def setUp(self):
        super().setUp()
        self.ran("alice:demo", 2, "fg", NOON, NOON + 100, name="solver")
        self.ran("bob:demo", 1, "bg", NOON + 0.25, NOON + 50.25, discarded=NOON + 20.25)
        self.ran("eve:other", 1, "fg", NOON, None)

    def ran(self, by, size, tier, since, until, discarded=None, **body):
        job = self.submit(by, size=size, **body)
        over = {} if until is None else {"state": JobState.FINISHED, "finished_at": until}
        self.change(job, started_at=since, discarded_at=discarded, **over)
        with self.store.transaction() as session:
            session.add_all(
                Place(
                    job=job["number"],
                    process=process,
                    server=str(process),
                    host="secret",
                    tier=tier,
                    since=since,
                    until=until,
                )
                for process in range(size)
            )

    def usage(self, query="", by="alice:demo"):
        path = f"/v1/usage?start=2026-03-10T00:00:00Z&end=2026-03-11T00:00:00Z{query}"
        return self.answered(200, self.get(path, by))


class TestUsage(UsageCase):
    def test_of_ones_project(self):
        self.assertEqual(
            {
                "start": "2026-03-10T00:00:00.000+00:00",
                "end": "2026-03-11T00:00:00.000+00:00",
                "total": {
                    "foreground": 200.0,
                    "background": 50.0,
                    "lost": 20.0,
                    "jobs_started": 2,
                    "jobs_ended": 2,
                },
                "usage": [],
            },
            self.usage(),
        )

    def test_by_user_and_month(self):
        rows = self.usage("&by=user,month")["usage"]
        self.assertEqual(["alice", "bob"], [row["user_id"] for row in rows])
        [alice, bob] = rows
        self.assertEqual(
            (200.0, 0.0, 0.0), (alice["foreground"], alice["background"], bob["lost"] - 20)
        )
        self.assertEqual("2026-03-10T00:00:00.000+00:00", alice["start"])
        self.assertEqual((None, None), (alice["project_id"], alice["job"]))

    def test_by_job(self):
        [row, other] = self.usage("&by=job")["usage"]
        self.assertEqual(
            (1, "solver", "demo"), (row["job_number"], row["job_name"], row["project_id"])
        )
        self.assertEqual(self.store.job(2).uuid, other["job"])

    def test_by_class(self):
        """That of the stay; jobs of others, and of earlier releases, have none that is known."""
        with self.store.transaction() as session:
            session.execute(update(Place).where(Place.job == 1).values(qos="scavenger"))
            day = int(NOON // 86400)
            names = {"day": day, "project_id": "demo", "user_id": "u", "pool": "default", "qos": ""}
            sums = {"foreground": 7.0, "background": 0.0, "lost": 0.0, "started": 0, "ended": 1}
            session.add(UsageDay(**names, **sums))
        found = self.usage("&by=qos")
        self.assertEqual(
            {None: 7.0, "normal": 50.0, "scavenger": 200.0},
            {row["qos"]: row["foreground"] + row["background"] for row in found["usage"]},
        )
        total = found["total"]
        for name in total:
            self.assertEqual(total[name], sum(row[name] for row in found["usage"]), name)
        for row in self.usage("&by=job,qos")["usage"][1:]:
            self.assertEqual({1: "scavenger", 2: "normal"}.get(row["job_number"]), row["qos"])

    def test_of_a_user_or_a_pool(self):
        self.assertEqual(50.0, self.usage("&user_id=bob")["total"]["background"])
        self.assertEqual(NONE, self.usage("&user_id=eve")["total"])
        self.assertEqual(NONE, self.usage("&pool=gpu")["total"])

    def test_of_all_projects(self):
        rows = self.usage("&all_projects=true&by=project", "admin")["usage"]
        half_a_day = 12 * 3600.0
        self.assertEqual(
            {"demo": 200.0, "other": half_a_day},
            {row["project_id"]: row["foreground"] for row in rows},
        )
        self.assertEqual(200.0, self.usage("&project_id=demo", "admin")["total"]["foreground"])

    def test_other_projects_are_for_those_who_see_all(self):
        path = "/v1/usage?project_id=other"
        self.refused(403, "request.forbidden", self.get(path))
        self.answered(200, self.get("/v1/usage?project_id=demo"))
        self.answered(200, self.get(path, "carol:demo:service"))

    def test_the_default_is_this_month_until_now(self):
        self.useFixture(fixtures.MonkeyPatch("time.time", lambda: NOON + 10))
        found = self.answered(200, self.get("/v1/usage"))
        self.assertEqual("2026-03-01T00:00:00.000+00:00", found["start"])
        self.assertEqual("2026-03-10T12:00:10.000+00:00", found["end"])
        # Both ended later.
        self.assertEqual((20.0, 2), (found["total"]["foreground"], found["total"]["jobs_started"]))
        future = self.answered(200, self.get("/v1/usage?end=2030-01-01T00:00:00Z"))
        self.assertEqual(found, future)

    def test_the_month_before_an_end(self):
        found = self.answered(200, self.get("/v1/usage?end=2026-04-01T00:00:00Z"))
        self.assertEqual("2026-03-01T00:00:00.000+00:00", found["start"])

    def test_mistakes(self):
        for query, told in (
            ("start=2026-03-10T00:00:00Z&end=2026-03-09T00:00:00Z", "start: give a time before"),
            ("start=2999-01-01T00:00:00Z", "start: give a time before"),
            ("by=day,month", "by: give day or month, not both"),
            ("by=week", "by"),
            ("by=user,user", "by"),
            ("start=yesterday", "start"),
        ):
            [detail] = self.refused(400, "request.invalid", self.get(f"/v1/usage?{query}"))
            self.assertIn(told, detail, query)

    def test_too_many_rows(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.api.usage.MOST_ROWS", 1))
        path = "/v1/usage?start=2026-03-10T00:00:00Z&by=user"
        [detail] = self.refused(400, "request.invalid", self.get(path))
        self.assertIn("more than 1 rows; give a shorter period", detail)

    def test_purged_jobs_stay_in_the_sums(self):
        before = self.usage()["total"]
        purge.purge(self.store, time.time(), pause=lambda _seconds: None)
        with self.store.reading() as session:
            self.assertIsNone(session.get(Job, 1))
        self.assertEqual(before, self.usage()["total"])
        rows = self.usage("&by=job")["usage"]
        self.assertEqual({("alice", None), ("bob", None)}, {(r["user_id"], r["job"]) for r in rows})
