"""Utilisation over time as it is shown: which intervals, of which pools, and what has an ETag."""

import time
import types
from datetime import UTC, datetime

import fixtures

from nova_twotier.db import utilisation
from nova_twotier.db.utilisation import DAY, HOUR, MINUTE
from tests.unit.api.case import ApiCase
from tests.unit.db.utilisation_behaviour import sample

NEW = {"OpenStack-API-Version": "twotier 1.1"}


def text(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


class UtilisationCase(ApiCase):
    OPTIONS = "[manager]\npools = default, gpu"

    def setUp(self):
        super().setUp()
        #: The begin of the present minute, and a moment later.
        self.minute = int(time.time()) // MINUTE * MINUTE
        self.now = self.minute + 20.0
        clock = types.SimpleNamespace(time=lambda: self.now)
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.api.utilisation.time", clock))

    def sampled(self, *samples, pool="default"):
        """Samples by how many minutes ago they were taken."""
        with self.store.transaction() as session:
            for ago, one in samples:
                utilisation.add(session, pool, self.minute - ago * MINUTE, one)

    def shown(self, query="", by="alice:demo", **rest):
        return self.answered(200, self.get(f"/v1/utilisation?{query}", by, **rest))

    def used(self, query=""):
        """The used slots of the foreground by how many minutes ago."""
        rows = self.shown(query)["utilisation"]
        ago = (self.minute - datetime.fromisoformat(row["at"]).timestamp() for row in rows)
        return {at / MINUTE: row["foreground"]["used"] for at, row in zip(ago, rows, strict=True)}


class TestAnswer(UtilisationCase):
    def test_whole(self):
        self.sampled((1, sample(2, 4)), (0, sample(3, 1, 90.5)))
        found = self.shown(f"last={HOUR}&pool=default")
        latest = {
            "at": text(self.minute),
            "seconds": 60,
            "foreground": {"slots": 8, "open": 7, "used": 3, "most_used": 3},
            "background": {"slots": 8, "open": 3, "used": 1, "most_used": 1},
            "jobs": {"waiting": 1, "most_waiting": 1, "running": 3},
            "processes": {"waiting": 2, "most_waiting": 2, "running": 6},
            "lost": 90.5,
        }
        self.assertEqual((latest, latest), (found["latest"], found["utilisation"][-1]))
        self.assertEqual((60, ["default"]), (found["interval"], found["pools"]))
        begin, end = text(self.minute - HOUR), text(self.minute + MINUTE)
        self.assertEqual((begin, end), (found["from"], found["to"]))
        whole = found["summary"]
        self.assertEqual((text(self.minute - MINUTE), 120), (whole["at"], whole["seconds"]))
        self.assertEqual((2.5, 3), (whole["foreground"]["used"], whole["foreground"]["most_used"]))
        self.assertEqual((2.5, 4), (whole["jobs"]["waiting"], whole["jobs"]["most_waiting"]))
        self.assertEqual(90.5, whole["lost"])

    def test_nothing_is_known_yet(self):
        found = self.shown()
        self.assertEqual(
            ([], [], None, None),
            tuple(found[name] for name in ("utilisation", "pools", "latest", "summary")),
        )

    def test_a_gap_is_left_out(self):
        self.sampled((4, sample(1)), (3, sample(1)), (1, sample(2)))
        self.assertEqual({4: 1, 3: 1, 1: 2}, self.used(f"last={HOUR}"))

    def test_a_manager_that_is_missing(self):
        self.sampled((6, sample(1)))
        self.assertIsNone(self.shown()["latest"])
        self.assertEqual(1, self.shown()["summary"]["foreground"]["used"])

    def test_the_present_is_that_of_now_in_long_windows(self):
        self.sampled((60, sample(1)), (0, sample(4)))
        found = self.shown(f"last={30 * DAY}")
        self.assertEqual((7200, 4), (found["interval"], found["latest"]["foreground"]["used"]))

    def test_pools(self):
        self.sampled((2, sample(1)), (1, sample(1)), (0, sample(1)))
        self.sampled((2, sample(4)), (0, sample(5)), pool="gpu")
        self.sampled((0, sample(7)), pool="elsewhere")
        hour = f"last={HOUR}"
        self.assertEqual({2: 5, 0: 6}, self.used(hour))
        self.assertEqual({2: 1, 1: 1, 0: 1}, self.used(f"{hour}&pool=default"))
        self.assertEqual({2: 4, 0: 5}, self.used(f"{hour}&pool=gpu"))
        self.assertEqual({}, self.used(f"{hour}&pool=none"))

    def test_tenants_are_told_of_no_job_no_host_and_no_project(self):
        self.submit("bob:other", name="secret")
        self.sampled((0, sample(1)))
        told = self.shown(by="alice:demo:reader")
        self.assertEqual(told, self.shown(by="carol:ops:admin"))
        for hidden in ("secret", "bob", "other", "demo"):
            self.assertNotIn(hidden, str(told))


class TestWindow(UtilisationCase):
    def spans(self, query):
        """The begin, the end and the length of intervals of a query, in seconds before now."""
        found = self.shown(query.replace("+", "%2B"))
        times = (datetime.fromisoformat(found[name]).timestamp() for name in ("from", "to"))
        return tuple(self.now - at for at in times), found["interval"]

    def test_a_day_by_default(self):
        (begin, end), interval = self.spans("")
        self.assertEqual(300, interval)
        self.assertTrue(DAY <= begin < DAY + interval and -interval < end <= 0, (begin, end))

    def test_from_and_to(self):
        begin, end = (text(self.minute - hours * HOUR) for hours in (5, 4))
        self.assertEqual(((5 * HOUR + 20, 4 * HOUR + 20), 60), self.spans(f"from={begin}&to={end}"))
        self.assertEqual(((5 * HOUR + 20, 4 * HOUR + 20), 60), self.spans(f"last=3600&to={end}"))
        (_begin, end), interval = self.spans("to=9999-12-30T00:00:00Z")
        self.assertTrue(0 <= -end < interval, end)

    def test_points(self):
        for points in (2, 10, 144, 2000):
            (begin, end), interval = self.spans(f"points={points}")
            self.assertLessEqual((begin - end) / interval, points)
            self.assertEqual(0, interval % 60)

    def test_windows_that_are_none(self):
        late, early = text(self.now + 60), text(self.now - 60)
        for query, said in (
            (f"from={late}", "from: give a time before to, and before now"),
            (f"from={early}&to={early}", "from: give a time before to, and before now"),
            (f"from={early}&last=3600", "last: give it, or from, not both"),
            ("last=59", "last: give at least 60"),
            ("points=1", "points: give at least 2"),
            ("points=2001", "points: give at most 2000"),
        ):
            answer = self.get(f"/v1/utilisation?{query}".replace("+", "%2B"))
            self.assertEqual([said], self.refused(400, "request.invalid", answer))


class TestEtag(UtilisationCase):
    QUERY = f"/v1/utilisation?last={HOUR}"

    def tag(self):
        answer = self.get(self.QUERY, headers=NEW)
        self.answered(200, answer)
        return answer.headers["etag"]

    def status(self, tag):
        return self.get(self.QUERY, headers={**NEW, "If-None-Match": tag}).status_code

    def test_what_happens_to_jobs_changes_nothing(self):
        self.sampled((0, sample(1)))
        tag = self.tag()
        job = self.submit()
        self.happen(job, "started", at=self.now)
        self.now += 30.0
        self.assertEqual(304, self.status(tag))

    def test_a_sample_and_the_next_minute(self):
        tag = self.tag()
        self.sampled((0, sample(1)))
        self.assertEqual(200, self.status(tag))
        tag = self.tag()
        self.sampled((1, sample(1)), pool="gpu")
        self.assertEqual(200, self.status(tag))
        tag = self.tag()
        self.now += MINUTE
        self.assertEqual(200, self.status(tag))

    def test_there_is_none_before_its_microversion(self):
        answer = self.get(self.QUERY, headers={"If-None-Match": self.tag()})
        self.answered(200, answer)
        self.assertNotIn("etag", answer.headers)

    def test_it_is_of_one_query_and_one_reader(self):
        tag = self.tag()
        for query, by in ((f"{self.QUERY}&pool=gpu", "alice:demo"), (self.QUERY, "bob:other")):
            answer = self.get(query, by, headers={**NEW, "If-None-Match": tag})
            self.assertEqual(200, answer.status_code)
